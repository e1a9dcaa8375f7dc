"""Somebody else's pause, or one with a note, ends only after a look at it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services.domain.fleet.shop import Pause
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.resuming import ask_to_resume

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
    ask_to_resume(pause, "TEMU", (ME, 90_000), owner, lambda: gone.append(1))
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
