"""How far a flow has come, as its record tells it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.domain.types.flow_trace import Trace, trace

STEPS: list[dict[str, Any]] = [
    {"do": "goto", "name": "open", "url": "/orders"},
    {"do": "if_visible", "selector": ".next", "then": [{"do": "click", "name": "open", "selector": "a"}]},
    {"do": "click", "selector": "#print"},
    {"do": "click", "name": "open", "selector": "#second"},
]
TASK = Task(
    task_id="t1",
    platform="pdd",
    shop_id="s1",
    task_type="browser_flow",
    payload=json.dumps({"steps": STEPS}),
    attempt=1,
)


def shown(error: str = "", **more: Any) -> Trace:
    """The trace of the task after an attempt that ended so."""
    one = Attempt(number=1, worker="w1", started_at=1, ended_at=2, outcome="failed", error=error)
    task = msgspec.structs.replace(TASK, **{"status": Status.DEAD, "attempts": (one,), **more})
    found = trace(task, "browser")
    assert found is not None
    return found


def states(found: Trace) -> str:
    """First letters: done, failed, now, stopped, ahead."""
    return "".join(one.state[0] for one in found.steps)


@pytest.mark.parametrize(
    ("error", "place", "letters"),
    [
        ("step 3 click: nothing fit", "3", "ddfa"),
        ("step 1 open: nothing fit", "1", "faaa"),
        ("step 2.then.1 open: nothing fit\nno end within 600 s", "2.then.1", "dffaa"),
        ("step 4 open: nothing fit", "4", "dddf"),
        ("step 2 if_visible: nothing fit", "2", "dfaa"),
        ("step open: nothing fit", "1", "faaa"),  # as older programs wrote it
    ],
)
def test_the_failed_step_is_the_one_that_the_error_names(error: str, place: str, letters: str) -> None:
    found = shown(error)
    assert found.failure is not None
    assert found.failure.place == place
    assert found.said.startswith("nothing fit")
    assert states(found) == letters


@pytest.mark.parametrize("error", ["no end within 600 s", "step 9 click: that is of another payload", "step 3 clic"])
def test_an_end_that_names_no_step_says_where_it_stopped(error: str) -> None:
    found = shown(error, progress=50, note="3 click")
    assert (found.failed, states(found)) == (-1, "ddsa")


def test_what_runs_and_what_is_done() -> None:
    assert states(shown(status=Status.RUNNING, progress=75, note="open", attempt=2)) == "dddn"
    assert states(shown(status=Status.SUCCEEDED)) == "dddd"
    assert states(shown(status=Status.QUEUED, attempts=(), attempt=0)) == "aaaa"


def test_only_a_flow_that_can_be_read_has_steps() -> None:
    assert trace(TASK, "rpa") is None
    assert trace(msgspec.structs.replace(TASK, payload='{"steps": [{"do": "fly"}]}'), "browser") is None
    assert trace(msgspec.structs.replace(TASK, payload="no JSON"), "browser") is None


def test_a_short_type_has_steps_only_where_one_failed() -> None:
    short = {"task_type": "screenshot", "payload": '{"url": "/orders"}'}
    task = msgspec.structs.replace(TASK, **short, status=Status.SUCCEEDED)
    assert trace(task, "browser") is None, "a program of the worker may have done it"
    assert states(shown("step 1 open: /orders did not load within 30 s", **short)) == "fa"


def test_what_looks_like_a_secret_is_dots() -> None:
    steps = [{"do": "goto", "url": "https://example.com/?token=hunter2"}]
    found = trace(msgspec.structs.replace(TASK, payload=json.dumps({"steps": steps})), "browser")
    assert found is not None
    assert "hunter2" not in found.steps[0].about
