"""Where the number must be typed before anything is republished."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from views.dialogs.republish.dialog import ConfirmRow


def test_work_that_is_done_once_more_asks_for_the_number_however_small(qtbot: QtBot) -> None:
    row = ConfirmRow("")
    qtbot.addWidget(row)
    row.ask_for(2)
    assert row.problem() == ""
    row.ask_for(2, always=True)
    assert row.problem() == "Type 2 first"
    row.field.setText("2")
    assert row.problem() == ""
    row.ask_for(0, always=True)
    assert row.problem() == ""
