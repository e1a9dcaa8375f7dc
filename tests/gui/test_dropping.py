"""What is dropped on the window: tasks of a spreadsheet, what a link shows, and a word about anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from tests.gui.desk import Desk
from tests.support.widgets import words
from views.dialogs.new_task.dialog import NewTaskDialog

COPY, MOVE, LEFT = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction, Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier


def drop(console: Console, files: Sequence[Path] = (), link: str = "") -> bool:
    """As the desktop does; whether it was taken."""
    return send(console.window, files, link)


def send(target: QWidget, files: Sequence[Path] = (), link: str = "") -> bool:
    """The same over a part of a window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    if link:
        data.setText(link)
    enter = QDragEnterEvent(QPoint(400, 400), COPY | MOVE, data, LEFT, SHIFT)
    QApplication.sendEvent(target, enter)
    if enter.isAccepted():
        dropped = QDropEvent(QPointF(400, 400), COPY | MOVE, data, LEFT, SHIFT)
        assert dropped.proposedAction() == MOVE
        QApplication.sendEvent(target, dropped)
        assert dropped.dropAction() == COPY, "a file that was moved is deleted where it came from"
    return enter.isAccepted()


def test_a_spreadsheet_becomes_rows_of_new_tasks(console: Console, desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    qtbot.waitUntil(console.window.top_bar.create_button.isEnabled)
    sheet = tmp_path / "orders.csv"
    sheet.write_text("shop,type\npdd:pdd-10021,refresh_goods\npdd:pdd-10025,refresh_goods\n", encoding="utf-8")
    assert drop(console, [sheet])
    (dialog,) = console.window.findChildren(NewTaskDialog)
    qtbot.waitUntil(dialog.sheet.isVisible, timeout=20_000)
    dialog.reject()


def test_a_link_opens_and_anything_else_is_told(console: Console, qtbot: QtBot, tmp_path: Path) -> None:
    qtbot.waitUntil(console.window.top_bar.create_button.isEnabled)
    assert drop(console, link="fleetdeck:///workers")
    assert console.window.current == "workers"
    assert drop(console, link="fleetdeck://elsewhere/tasks")
    assert console.window.current == "workers"
    assert "elsewhere" in console.window.toasts.toasts()[-1].spec.text
    assert drop(console, link="fleetdeck://local/nowhere")
    assert "does not have" in console.window.toasts.toasts()[-1].spec.text
    assert drop(console, [tmp_path / "picture.png"])
    assert console.window.toasts.toasts()[-1].spec.text.startswith("picture.png is no spreadsheet")
    assert not drop(console, link="some words")


@pytest.mark.parametrize(("name", "said"), [("old.xls", "save it as .xlsx"), ("rows.jsonl", "")])
def test_what_the_dialog_reads_or_has_a_word_for_can_be_dropped(
    console: Console, qtbot: QtBot, tmp_path: Path, name: str, said: str
) -> None:
    qtbot.waitUntil(console.window.top_bar.create_button.isEnabled)
    (tmp_path / name).write_text('{"shop": "pdd:pdd-10021", "type": "refresh_goods"}\n', encoding="utf-8")
    assert drop(console, [tmp_path / name])
    (dialog,) = console.window.findChildren(NewTaskDialog)
    if said:
        qtbot.waitUntil(lambda: said in dialog.shops.picker.file.state(), timeout=20_000)
    else:
        qtbot.waitUntil(dialog.sheet.isVisible, timeout=20_000)
    dialog.reject()


def test_of_several_files_one_is_taken_and_the_others_are_not_passed_over(
    console: Console, qtbot: QtBot, tmp_path: Path
) -> None:
    qtbot.waitUntil(console.window.top_bar.create_button.isEnabled)
    sheet = tmp_path / "orders.csv"
    sheet.write_text("shop,type\npdd:pdd-10021,refresh_goods\n", encoding="utf-8")
    assert drop(console, [tmp_path / "picture.png", sheet, tmp_path / "more.xlsx"])
    (dialog,) = console.window.findChildren(NewTaskDialog)
    told = "Of 3 files only orders.csv was taken: drop one at a time"
    assert told in words(dialog.notice), "seen above the window"
    qtbot.waitUntil(dialog.sheet.isVisible, timeout=20_000)
    send(dialog.shops.picker, [sheet])
    assert not dialog.notice.isVisible(), "it is not so of the next file"
    send(dialog.shops.picker, [tmp_path / "more.csv", sheet])
    assert "Of 2 files only more.csv was taken: drop one at a time" in words(dialog.notice)
    dialog.reject()
