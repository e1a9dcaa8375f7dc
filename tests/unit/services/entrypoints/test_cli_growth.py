"""A queue that grows stands among what needs attention, on the command line as in the window."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.domain.change import Claim, Create
from services.domain.task import Task
from services.domain.worker import SlotState, WorkerInfo
from services.entrypoints import cli
from services.store.embedded import EmbeddedStore

MINUTES, EVERY_S = 4, 5


@pytest.fixture
def grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For minutes a task has come every few seconds; the only slot still works on the first."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    monkeypatch.setattr(cli.logs, "set_up", lambda *, verbose: None)  # the log of this process is that of the tests
    clock = ManualClock(round(time.time() * 1000) - MINUTES * 60_000)
    store = EmbeddedStore(tmp_path / "local.sqlite", clock)
    for number in range(MINUTES * 60 // EVERY_S):
        task = Task(task_id=f"t{number}", platform="pdd", shop_id=f"s{number}", task_type="work")
        store.apply([Create(task=task)])
        if not number:
            store.apply([Claim(task_id="t0", gen=0, attempt=0, owner="t0", worker="w", lease_ms=600_000)])
        clock.advance(EVERY_S)
    busy = SlotState(task_id="t0", shop="pdd:s0", task_type="work")
    store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, version="1.0", slots=(busy,)))
    store.close()


@pytest.mark.usefixtures("grown")
@pytest.mark.parametrize("words", [("stats",), ("doctor",)])
def test_a_queue_that_grows_is_an_item(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    cli.run([*words, "--json"], lambda _request: 0)
    items = {item["key"]: item for item in json.loads(capsys.readouterr().out)["attention"]}
    assert "growing" in items, list(items)
    assert items["growing"]["text"].startswith("The queue grows: 47 tasks waiting")
    assert set(items["growing"]) == {"key", "code", "params", "since_ms", "verbs", "text"}
    cli.run(list(words), lambda _request: 0)
    assert "needs attention: The queue grows" in capsys.readouterr().out
