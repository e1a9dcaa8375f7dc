"""``fleetdeck``: what other Python code may import, tried as that code would."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import fleetdeck
from services.settings import Settings
from tests.integration.cli_rig import ROOT, Cli, configure
from tests.integration.fleet_rig import Fleet

HANDLER = """
from fleetdeck import HandlerError, Job, task_handler

@task_handler("greet")
def greet(payload: dict, job: Job) -> dict:
    if not payload:
        raise HandlerError("nobody to greet", "invalid_payload")
    job.progress(50, "writing")
    return {"greeted": payload["name"], "in": job.shop_id}
"""

SUBMIT = """
from fleetdeck import submit
first = submit("greet", "pdd:s1", {"name": "Ann"})
again = submit("greet", "pdd:s1", {"name": "Ann"})
print(first.task_id, first.created, again.task_id, again.created)
"""


def test_a_handler_and_a_program_need_nothing_else(tmp_path: Path) -> None:
    configure(tmp_path / "home")
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "greetings.py").write_text(HANDLER, encoding="utf-8")
    cli = Cli(tmp_path / "home", environment={"PYTHONPATH": f"{modules}:{ROOT}"})
    done = subprocess.run(
        [sys.executable, "-c", SUBMIT], env=cli.variables(), cwd=tmp_path, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, done.stderr[-2000:]
    task_id, created, same, again = done.stdout.split()
    assert (created, again, same) == ("True", "False", task_id)
    words = cli.argv("worker", "--drain", "--handlers", "greetings")
    worked = subprocess.run(
        [sys.executable, *words], env=cli.variables(), cwd=tmp_path, capture_output=True, text=True, timeout=90
    )
    assert worked.returncode == 0, worked.stderr[-2000:]
    shown = cli.run("task", "show", task_id)
    assert (shown["task"]["status"], shown["task"]["origin"]) == ("succeeded", "python")
    assert shown["task"]["result"] in ({"greeted": "Ann", "in": "s1"}, '{"greeted":"Ann","in":"s1"}')
    assert [entry["action"] for entry in cli.run("audit", "list", "--filter", "action:task.create")["entries"]] == [
        "task.create",
        "task.create",
    ]


def test_a_task_is_submitted_where_the_settings_lead(
    fleet: Fleet, place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(place.home))
    if not place.embedded:
        monkeypatch.setenv("FLEETDECK_BROKER__URL", place.broker.url)
        monkeypatch.setenv("FLEETDECK_BROKER__PROFILE", place.broker.profile)
        monkeypatch.setenv("FLEETDECK_STORE__URL", place.store.url)
    made = fleetdeck.submit("sync_order", "pdd:s1", {"since": "2026-11-20"}, priority="high", delay_s=60)
    task = fleet.engine.store.get([made.task_id])[0]
    assert task is not None
    assert (task.lane, task.shop_id, made.created, made.sent) == ("high", "s1", True, True)
    again = fleetdeck.submit("sync_order", "pdd:s1", {"since": "2026-11-20"})
    assert (again.task_id, again.created) == (made.task_id, False)
    forced = fleetdeck.submit(
        "sync_order", "pdd:s1", {"since": "2026-11-20"}, if_duplicate="force", reason="the first one stands still"
    )
    assert forced.created


def test_what_was_just_done_is_answered_with_who_did_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    configure(home)
    cli = Cli(home)
    kind = {"name": "once", "executor": "python", "uniqueness": "shop_type", "unique_for": "1d"}
    (tmp_path / "once.json").write_text(json.dumps(kind), encoding="utf-8")
    cli.run("type", "import", tmp_path / "once.json")
    monkeypatch.setenv("FLEETDECK_HOME", str(home))
    first = fleetdeck.submit("once", "pdd:s1")
    cli.drain()
    again = fleetdeck.submit("once", "pdd:s1")
    assert (again.task_id, again.created, again.sent) == (first.task_id, False, True)
    assert fleetdeck.submit("once", "pdd:s1", reason="the shop lost it").created


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("sync_order", "s1"), "shop"),
        (("sync order", "pdd:s1"), "task_type"),
        (("sync_order", "pdd:s 1"), "shop"),
        (("sync_order", "pdd:s1", {"since": {1, 2}}), "payload"),
    ],
)
def test_what_is_not_acceptable_names_its_field(
    words: tuple[object, ...], field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path / "home")
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path / "home"))
    with pytest.raises(fleetdeck.UsageError) as caught:
        fleetdeck.submit(*words)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_handler_of_it_costs_no_driver() -> None:
    loaded = "import sys, fleetdeck; print({'pika', 'redis', 'sqlite3', 'PySide6', 'jsonschema'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    ("arguments", "named", "field"),
    [
        (("greet", None), {}, "shop"),
        (("greet", "pdd:high"), {}, "shop"),
        (("gr eet", "pdd:s1"), {}, "task_type"),
        (("greet", "pdd:s1", [1]), {}, "payload"),
        (("greet", "pdd:s1"), {"delay_s": -1}, "delay_s"),
        (("greet", "pdd:s1"), {"delay_s": "5"}, "delay_s"),
        (("greet", "pdd:s1"), {"delay_s": timedelta(seconds=5)}, "delay_s"),
        (("greet", "pdd:s1"), {"depends_on": 5}, "depends_on"),
        (("greet", "pdd:s1"), {"depends_on": None}, "depends_on"),
        (("greet", "pdd:s1"), {"depends_on": [5]}, "depends_on"),
        (("greet", "pdd:s1"), {"reason": 5}, "reason"),
        (("greet", "pdd:s1"), {"batch": "a\nb"}, "batch"),
        (("greet", "pdd:s1"), {"if_duplicate": "x"}, "if_duplicate"),
        (("greet", "pdd:s1"), {"profile": "nope"}, "profile"),
    ],
)
def test_what_is_refused_names_the_argument(
    arguments: tuple[str, ...], named: dict[str, Any], field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    with pytest.raises(fleetdeck.UsageError) as refused:
        fleetdeck.submit(*arguments, **named)
    assert refused.value.field == field


def test_one_id_alone_is_what_it_waits_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is a sequence of texts to Python: each letter was looked for as a task."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    first = fleetdeck.submit("greet", "pdd:s1")
    assert fleetdeck.submit("greet", "pdd:s2", depends_on=first.task_id).created
