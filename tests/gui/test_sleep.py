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

from console.bootstrap import Desk
from console.desk import Console
from services.commands.tasks import TaskSpec
from services.domain.task.status import Status
from tests.gui.desk import SHOPS
from tests.gui.test_console import play, until

HOURS = 2
FLOW = "import sys, time; open(sys.argv[1], 'a').write('x'); time.sleep(2.5); print('{\"result\": 1}')"


def sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a suspended machine finds: the wall clock has gone on, and on Linux nothing else has."""
    true = time.time_ns
    monkeypatch.setattr("services.clock.time", SimpleNamespace(time_ns=lambda: true() + HOURS * 3_600 * 10**9))


def test_the_window_says_that_it_slept_and_acts_on_nothing_of_before(
    qtbot: QtBot, console: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, reasons = console.window, set[str]()
    qtbot.waitUntil(lambda: window.top_bar.create_button.isEnabled(), timeout=20_000)
    act = window.set_acting
    monkeypatch.setattr(window, "set_acting", lambda reason: (reasons.add(reason), act(reason)))
    sleep(monkeypatch)
    qtbot.waitUntil(lambda: any("slept from" in toast.accessibleName() for toast in window.toasts.toasts()))
    assert any("this computer slept" in reason for reason in reasons)
    qtbot.waitUntil(lambda: window.top_bar.create_button.isEnabled(), timeout=20_000)
    assert not window.top_bar.is_stale


def test_a_task_that_ran_when_the_computer_slept_ran_once(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    command = json.dumps([sys.executable, "-S", "-c", FLOW, str(ran)])
    (tmp_path / "config.toml").write_text(f"[executors.rpa]\ncommand = {command}\n", encoding="utf-8")
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.session is not None and bool(console.session.local.name), "a local worker")
        assert console.session is not None
        session, store = console.session, console.session.engine.store
        session.commands.fleet.import_shops(SHOPS)
        spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order", payload={"since": "2026-11-20"})
        made = session.commands.tasks.create([spec], origin="console").created[0].task_id
        await until(ran.exists, "it runs")
        sleep(monkeypatch)

        def ended() -> bool:
            task = store.get([made])[0]
            return task is not None and task.status not in (Status.RUNNING, Status.QUEUED)

        await until(ended, "its end")
        (task,) = store.get([made])
        assert task is not None
        assert (task.status, len(task.attempts), ran.read_text()) == (Status.SUCCEEDED, 1, "x")

    play(qapp, tmp_path, scene)
