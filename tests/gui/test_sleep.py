"""A computer that slept: the window says so, no figure of before passes for one of now, and what ran ran once."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow
from console.lifecycle import Console
from services.commands.tasks import TaskSpec
from services.domain.task.status import Status
from tests.gui.desk import SHOPS
from tests.gui.test_console import play, until

HOURS = 2
AWAKE_S = 2.0  #: time for whoever would take the task away
#: ends once its second file is there
FLOW = """
import os, sys, time
open(sys.argv[1], 'a').write('x')
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
print('{"result": 1}')
"""


def sleep(monkeypatch: pytest.MonkeyPatch, *, suspended: bool = True) -> None:
    """What a suspended machine finds: the wall clock has gone on, and on Linux the one that counts sleep, and no other.
    A clock that was put right has gone on alone.
    """
    faked = SimpleNamespace(
        time_ns=lambda: time.time_ns() + HOURS * 3_600 * 10**9,
        clock_gettime=lambda which: time.clock_gettime(which) + suspended * HOURS * 3_600,
        monotonic=time.monotonic,
        CLOCK_BOOTTIME=getattr(time, "CLOCK_BOOTTIME", 0),
    )
    monkeypatch.setattr("services.clock.time", faked)


@pytest.mark.parametrize(
    ("suspended", "told", "reason"),
    [
        pytest.param(
            True,
            "slept from",
            "this computer slept",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="untold"),
        ),
        (False, "The clock went ahead by 2", "the clock went ahead"),
    ],
    ids=["slept", "put right"],
)
def test_the_window_says_that_time_went_by_and_acts_on_nothing_of_before(
    qtbot: QtBot, console: OpenWindow, monkeypatch: pytest.MonkeyPatch, suspended: bool, told: str, reason: str
) -> None:
    window, reasons = console.window, set[str]()
    qtbot.waitUntil(lambda: window.top_bar.create_button.isEnabled(), timeout=20_000)
    act = window.set_acting
    monkeypatch.setattr(window, "set_acting", lambda reason: (reasons.add(reason), act(reason)))
    sleep(monkeypatch, suspended=suspended)
    qtbot.waitUntil(lambda: any(told in toast.accessibleName() for toast in window.toasts.toasts()))
    assert not any("What ran here" in toast.accessibleName() for toast in window.toasts.toasts()), "nothing ran"
    assert any(reason in one for one in reasons)
    qtbot.waitUntil(lambda: window.top_bar.create_button.isEnabled(), timeout=20_000)
    assert not window.top_bar.is_stale


def test_a_task_that_ran_when_the_computer_slept_ran_once(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, enough = tmp_path / "ran", tmp_path / "enough"
    command = json.dumps([sys.executable, "-S", "-c", FLOW, str(ran), str(enough)])
    (tmp_path / "config.toml").write_text(f"[executors.rpa]\ncommand = {command}\n", encoding="utf-8")
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.connection is not None and bool(console.connection.local.name), "a local worker")
        assert console.connection is not None
        session, store = console.connection, console.connection.engine.store
        session.commands.fleet.import_shops(SHOPS)
        spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order", payload={"since": "2026-11-20"})
        made = session.commands.tasks.create([spec], origin="console").created[0].task_id
        await until(ran.exists, "it runs")
        sleep(monkeypatch)
        woken = time.monotonic()
        await until(lambda: time.monotonic() - woken > AWAKE_S, "it runs on after that")
        assert console.opened is not None
        toasts = console.opened.window.toasts
        await until(lambda: any("What ran here" in one.accessibleName() for one in toasts.toasts()), "that it goes on")
        enough.touch()

        def ended() -> bool:
            task = store.get([made])[0]
            return task is not None and task.status not in (Status.RUNNING, Status.QUEUED)

        await until(ended, "its end")
        (task,) = store.get([made])
        assert task is not None
        assert (task.status, len(task.attempts), ran.read_text()) == (Status.SUCCEEDED, 1, "x")

    play(qapp, tmp_path, scene)
