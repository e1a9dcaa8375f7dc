"""Somebody else's pause, or one with a note, ends only after a look at it."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services.domain.fleet.shop import Pause
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.resuming import ask_to_resume, ask_why_paused
from views.support.operation import Start

ME = "ann@desk"


@pytest.mark.parametrize(
    ("pause", "asks"),
    [
        (None, False),
        (Pause(scope="platform:temu", by=ME, at=1), False),
        (Pause(scope="platform:temu", by=ME, at=1, reason="ask Li first"), True),
        (Pause(scope="platform:temu", by="li@desk", at=1), True),
    ],
)
def test_only_ones_own_pause_without_a_note_ends_at_once(
    qtbot: QtBot, language: str, pause: Pause | None, asks: bool
) -> None:
    owner, gone = QWidget(), list[int]()
    qtbot.addWidget(owner)
    ask_to_resume(pause, lambda: "TEMU", (ME, 90_000), owner, lambda: gone.append(1))
    dialogs = owner.findChildren(ConfirmDialog)
    assert (len(dialogs), len(gone)) == ((1, 0) if asks else (0, 1))
    for dialog in dialogs:
        read = " ".join(label.text() for label in dialog.findChildren(QLabel))
        assert pause is not None
        assert pause.reason in read
        assert pause.by in read
        dialog.confirmed.emit()
        assert gone == [1]
        dialog.reject()


def test_why_it_is_paused_was_said_by_whoever_closes_the_dialog_while_it_is_written_down(qtbot: QtBot) -> None:
    owner, free = QWidget(), threading.Event()
    unasked, written = list[int](), list[str]()
    qtbot.addWidget(owner)

    def go(note: str, start: Start) -> None:
        def write() -> str:
            free.wait(30)
            return note

        start(write, written.append)

    def asked() -> ConfirmDialog:
        ask_why_paused(lambda: (("paused", "TEMU"),), owner, go, lambda: unasked.append(1))
        return owner.findChildren(ConfirmDialog)[-1]

    dialog = asked()
    dialog.note_field.setText("stock-taking")
    dialog.verb_button.click()
    dialog.reject()
    free.set()
    qtbot.waitUntil(lambda: written == ["stock-taking"])
    assert unasked == []
    asked().reject()
    assert unasked == [1], "and nothing was, where it is left"
