"""The page that is seen as a file: a PDF with text in it, a light picture, and a word where that cannot be."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage
from PySide6.QtPrintSupport import QPrintDialog
from PySide6.QtWidgets import QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from views.theme import theme


def told(console: Console) -> str:
    """The newest message in the corner, "" while there is none."""
    toasts = console.window.toasts.toasts()
    return toasts[-1].spec.text if toasts else ""


def test_a_view_is_saved_as_pdf_and_as_a_picture(console: Console, qtbot: QtBot, tmp_path: Path) -> None:
    console.window.open_page("workers")
    theme().set_mode("dark")
    size = theme().font("label").pixelSize()
    console.keys.paper.save(tmp_path / "a" / "view.pdf")
    qtbot.waitUntil((tmp_path / "a" / "view.pdf").exists)
    data = (tmp_path / "a" / "view.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert b"/Font" in data  # words, not a picture of them
    qtbot.waitUntil(lambda: told(console) == "The view is saved as view.pdf")
    console.keys.paper.save(tmp_path / "view.png")
    qtbot.waitUntil((tmp_path / "view.png").exists)
    picture = QImage(str(tmp_path / "view.png"))
    assert picture.width() == console.window.page("workers").width()
    assert picture.pixelColor(picture.width() // 2, picture.height() - 2).lightness() > 200
    assert (theme().is_dark, theme().font("label").pixelSize()) == (True, size)


def test_where_nothing_can_be_written_it_says_so(console: Console, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    console.keys.paper.save(tmp_path / "file" / "view.pdf")
    qtbot.waitUntil(lambda: told(console) == "The view is not saved.")
    assert not list(tmp_path.glob("*.pdf"))


class Dressed(QObject):
    """Counts how often a part of the window is dressed anew."""

    def __init__(self, part: QWidget) -> None:
        super().__init__(part)
        self.times = 0
        part.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.StyleChange
        return False


def test_only_the_page_is_dressed_for_paper_and_looks_as_before_afterwards(
    console: Console, qtbot: QtBot, tmp_path: Path
) -> None:
    console.window.open_page("settings")
    theme().set_mode("dark")
    page = console.window.page("settings")
    qtbot.waitUntil(lambda: page.isVisible())
    labels = [one for one in page.findChildren(QLabel) if one.isVisible()]
    before = page.palette(), [label.palette().color(label.foregroundRole()) for label in labels]
    dressed = Dressed(console.window.rail), Dressed(page)
    console.keys.paper.save(tmp_path / "view.pdf")
    assert (dressed[0].times, dressed[1].times > 0) == (0, True), "a full window would be held for seconds"
    assert (page.palette(), [label.palette().color(label.foregroundRole()) for label in labels]) == before
    qtbot.waitUntil(lambda: told(console) == "The view is saved as view.pdf")


def test_words_on_paper_are_as_large_as_in_the_window_after_their_size_was_changed(
    console: Console, qtbot: QtBot
) -> None:
    console.window.open_page("settings")
    theme().set_mode("dark")
    page = console.window.page("settings")
    qtbot.waitUntil(lambda: page.isVisible())

    def sizes() -> list[int]:
        return [one.font().pixelSize() for one in page.findChildren(QLabel) if one.isVisible()]

    usual = sizes()
    theme().set_text_size(130)
    try:
        larger = sizes()
        with theme().lit(page):
            assert sizes() == larger
        assert sizes() == larger > usual
    finally:
        theme().set_text_size(100)


class Stubborn(QWidget):
    """A part that cannot be dressed."""

    def setStyleSheet(self, _sheet: str) -> None:
        raise RuntimeError


def test_a_part_that_cannot_be_dressed_leaves_the_program_as_it_was(console: Console, qtbot: QtBot) -> None:
    theme().set_mode("dark")
    part = Stubborn()
    qtbot.addWidget(part)
    with pytest.raises(RuntimeError), theme().lit(part):
        pytest.fail("it is not dressed")
    assert theme().tokens.name == "dark"


def asked(console: Console) -> list[QDialog]:
    """The dialogs that ask for a printer."""
    return [one for one in console.window.findChildren(QDialog) if one.windowTitle() == "Print this view"]


def test_printers_that_say_nothing_do_not_hold_up_the_window(
    console: Console, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        monkeypatch.setenv("CUPS_SERVER", f"127.0.0.1:{server.getsockname()[1]}")
        console.keys.paper.print_out()
        says = "The printers of this computer do not answer. Save the view as PDF instead."
        qtbot.waitUntil(lambda: told(console) == says, timeout=30_000)
        assert not asked(console)


@pytest.mark.qt_log_ignore("QPainter::begin", extend=True)
def test_where_there_is_no_printer_the_view_can_still_be_printed_to_a_file(
    console: Console, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        free = gone.getsockname()[1]
    monkeypatch.setenv("CUPS_SERVER", f"127.0.0.1:{free}")
    console.keys.paper.print_out()
    qtbot.waitUntil(lambda: bool(asked(console)), timeout=30_000)
    (dialog,) = asked(console)
    assert isinstance(dialog, QPrintDialog)
    dialog.printer().setOutputFileName(str(tmp_path / "view.pdf"))
    dialog.accepted.emit(dialog.printer())
    assert told(console) == "The view is printed: view.pdf"
    assert (tmp_path / "view.pdf").read_bytes().startswith(b"%PDF")
    dialog.printer().setOutputFileName(str(tmp_path / "nowhere" / "view.pdf"))
    dialog.accepted.emit(dialog.printer())
    assert told(console) == "view.pdf takes nothing: the view is not printed."
    dialog.reject()
