"""The dialog that asks for a file: what it shows of others, and what it calls the one that is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QFileInfo
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from views.dialogs.file import FileDialog, ask_file


def test_no_file_is_read_to_know_what_it_looks_like(qtbot: QtBot, tmp_path: Path) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    for name in ("told", "unread"):
        (tmp_path / name).mkdir()
    (tmp_path / "told" / "kmsg").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
    (tmp_path / "unread" / "kmsg").touch()
    looks = FileDialog(owner, "", lambda _path: None).iconProvider()
    told, unread = (QFileInfo(str(tmp_path / name / "kmsg")) for name in ("told", "unread"))
    assert "PNG" in QFileDialog(owner).iconProvider().type(told), "Qt's own reads it"
    assert looks.type(told) == looks.type(unread)
    assert looks.icon(told).cacheKey() == looks.icon(unread).cacheKey()
    assert looks.type(QFileInfo(str(tmp_path))) == "Folder"


def test_what_is_written_has_the_ending_of_the_form_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    owner, chosen = QWidget(), list[Path]()
    qtbot.addWidget(owner)
    ask_file(owner, "Export", "tasks", chosen.append)
    (dialog,) = owner.findChildren(FileDialog)
    assert (Path(dialog.selectedFiles()[0]).name, dialog.defaultSuffix()) == ("tasks.csv", "csv")
    dialog.selectNameFilter("Excel (*.xlsx)")
    dialog.filterSelected.emit("Excel (*.xlsx)")
    assert dialog.defaultSuffix() == "xlsx"
    dialog.fileSelected.emit(str(tmp_path / "tasks.xlsx"))
    assert chosen == [tmp_path / "tasks.xlsx"]
    dialog.reject()


def test_the_next_file_is_looked_for_beside_the_last_one(qtbot: QtBot, tmp_path: Path) -> None:
    """The rows with errors of a file were to be kept in the folder from which the program was started."""
    owner = QWidget()
    qtbot.addWidget(owner)
    read = FileDialog(owner, "", lambda _path: None)
    read.fileSelected.emit(str(tmp_path / "tasks.csv"))
    kept = FileDialog(owner, "", lambda _path: None)
    kept.write("rows-with-errors.xlsx")
    assert Path(kept.directory().absolutePath()) == tmp_path
    assert kept.selectedFiles() == [str(tmp_path / "rows-with-errors.xlsx")]
    kept.reject()


def test_a_folder_that_is_not_there_does_not_stand_in_the_field_as_a_file(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    owner = QWidget()
    qtbot.addWidget(owner)
    FileDialog(owner, "", lambda _path: None).fileSelected.emit(str(tmp_path / "gone" / "tasks.csv"))
    asked = FileDialog(owner, "", lambda _path: None)
    assert Path(asked.directory().absolutePath()) == tmp_path
    (tmp_path / "Documents").mkdir()
    owner = QWidget()
    qtbot.addWidget(owner)
    assert Path(FileDialog(owner, "", lambda _path: None).directory().absolutePath()) == tmp_path / "Documents"
