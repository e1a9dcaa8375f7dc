"""A window that is closed while its other pages are about to be made, or work here is about to begin."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from console import lifecycle, pages
from console.connection.open_connection import OpenConnection
from console.lifecycle import Console
from services.commands.outcome import Outcome
from services.domain.errors import StoreUnavailable
from tests.gui.test_appearance import opened
from tests.gui.test_console import play, until
from views.shell.closing import Closing
from views.support import operation
from views.support.acting import Acting


@pytest.mark.deep
def test_no_page_is_made_for_a_window_that_closes(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    asked, end = threading.Event(), operation.shut_down

    def modules() -> list[str]:
        asked.set()
        return []

    def slowly(**words: float) -> None:
        asked.wait(6)
        end(**words)

    monkeypatch.setattr(lifecycle, "AHEAD_S", 3.0)
    monkeypatch.setattr(pages, "modules", modules)

    async def close(_console: Console) -> None:
        await opened()
        monkeypatch.setattr(operation, "shut_down", slowly)

    play(qapp, tmp_path, close)
    assert not asked.is_set()


def test_nothing_begins_to_work_for_a_window_that_closes(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    begun, lead = threading.Event(), OpenConnection.lead

    def leads(session: OpenConnection) -> None:
        begun.set()
        lead(session)

    monkeypatch.setattr(OpenConnection, "lead", leads)

    async def close(console: Console) -> None:
        while console.opened is None or not console.opened.window.isVisible():
            await asyncio.sleep(0)
        console.end()  # before its first answers

    play(qapp, tmp_path, close)
    assert not begun.is_set()


def test_what_keeps_work_from_beginning_is_told_in_a_window_that_is_open(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    gone = threading.Event()

    def leads(_session: OpenConnection) -> None:
        gone.wait(30)
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(OpenConnection, "lead", leads)

    async def close(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        first = console.opened
        assert first is not None
        first.keys.another_wanted.emit()
        first.window.close()
        await until(lambda: not isValid(first.window), "it is gone")
        gone.set()
        await until(lambda: console.opened is not None and bool(console.opened.window.toasts.toasts()), "it is told")

    play(qapp, tmp_path, close)


def test_a_question_that_takes_long_keeps_no_window_from_closing(
    qapp: QApplication, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    asked, gate, over = threading.Event(), threading.Event(), threading.Event()

    async def close(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        assert console.connection is not None
        registry = console.connection.engine.registry

        def ask() -> None:
            asked.set()
            gate.wait(100)
            registry.forget()
            try:
                registry.shops()
            finally:
                over.set()

        operation.Operation(console.opened.window).start(ask)
        await until(asked.is_set, "it is asked")

    play(qapp, tmp_path, close)
    assert not over.is_set(), "the window closed without its answer"
    gate.set()
    assert over.wait(20)
    assert "is closed" not in caplog.text, "nobody is told of what was closed on purpose"


def test_a_window_that_is_left_says_so_until_what_was_asked_for_is_done(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    asked, gate, done = threading.Event(), threading.Event(), threading.Event()

    def act() -> Outcome:
        asked.set()
        gate.wait(30)
        done.set()
        return Outcome()

    async def close(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        window = console.opened.window
        Acting(window, lambda _spec: None).at_once(act, lambda _outcome: "")
        await until(asked.is_set, "it is under way")
        console.end()
        await until(lambda: bool(window.findChildren(Closing)), "it says that it closes")
        (said,) = window.findChildren(Closing)
        assert (window.isVisible(), said.isVisible(), window.isEnabled()) == (True, True, False)
        assert said.accessibleName().startswith("Closing… ")
        assert not done.is_set()
        gate.set()
        await until(lambda: not isValid(window) or not window.isVisible(), "it goes")
        assert done.is_set()

    play(qapp, tmp_path, close)
