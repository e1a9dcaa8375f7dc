"""A page is a folder and a line: a made-up one is found wherever pages are."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

import views.pages
from console.bootstrap import OpenWindow as Console
from services import i18n
from services.cli import program, window
from views.shell.key_help import KeyHelp

PAGE = '''
"""Where boxes stand."""
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from views.page import Page

class SpareBoxesPage(Page):
    page_id = "spare_boxes"

    def __init__(self, context):
        super().__init__("Spare boxes")
        self.body.addWidget(QLabel(f"boxes of {context.commands.operator.who}"))
'''


@pytest.fixture
def spare_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder, one line."""
    folder = tmp_path / "spare_boxes"
    folder.mkdir()
    (folder / "page.py").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(views.pages, "__path__", [*views.pages.__path__, str(tmp_path)])
    line = window.PageLine("spare_boxes", "Spare boxes", "ph.package", "Z")
    monkeypatch.setattr(window, "SITEMAP", (*window.SITEMAP, line))


def test_rail_palette_key_and_key_help_have_it(spare_boxes: None, console: Console, qtbot: QtBot) -> None:
    shell = console.window
    assert shell.rail.item("spare_boxes").accessibleName().startswith("Spare boxes")
    shell.activateWindow()
    qtbot.keyClick(shell, Qt.Key.Key_G)
    qtbot.keyClick(shell, Qt.Key.Key_Z)
    assert shell.current == "spare_boxes"
    who = console.context.commands.operator.who
    assert f"boxes of {who}" in [one.text() for one in shell.page("spare_boxes").findChildren(QLabel)]
    console.keys.show_help()
    (help_,) = shell.findChildren(KeyHelp)
    said = [one.text() for one in help_.findChildren(QLabel)]
    assert said[said.index("G Z") + 1] == "Spare boxes"
    help_.close()
    shell.open_page("overview")
    palette = console.keys.palette
    palette.ask()
    qtbot.keyClicks(palette.field, "spare")
    entry = palette.current()
    assert entry is not None
    assert (entry.words, entry.keys) == ("Spare boxes", "G Z")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert shell.current == "spare_boxes"


def test_the_command_line_opens_it_and_its_help_names_it(
    spare_boxes: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    opened: list[str] = []
    assert program.run(["--page", "spare_boxes"], lambda request: opened.append(request.page) or 0) == 0
    assert opened == ["spare_boxes"]
    with pytest.raises(SystemExit):
        program.run(["--help"], lambda _request: 0)
    assert "settings, spare_boxes" in " ".join(capsys.readouterr().out.split())


def test_the_keys_are_told_in_the_language_of_the_moment(console: Console, qtbot: QtBot) -> None:
    console.keys.show_help()
    (shown,) = console.window.findChildren(KeyHelp)
    assert "Dead letters" in [one.text() for one in shown.findChildren(QLabel)]
    shown.close()
    qtbot.waitUntil(lambda: console.window.findChildren(KeyHelp) == [])
    i18n.set_language("zh_CN")
    console.keys.show_help()
    (shown,) = console.window.findChildren(KeyHelp)
    assert "死信" in [one.text() for one in shown.findChildren(QLabel)]
    shown.close()


class _Shown(QObject):
    """Which widgets became a window of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.windows: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.windows.append(type(watched).__name__)
        return False


def test_no_part_of_a_page_is_shown_before_it_has_its_place(console: Console, qapp: QApplication) -> None:
    """It would be a window of its own for a moment, and leave old words beside the new ones ever after."""
    watch = _Shown()
    qapp.installEventFilter(watch)
    for name in ("shops", "tasks"):  # with sections, empty lists and a panel
        console.window.open_page(name)
        qapp.processEvents()
    qapp.removeEventFilter(watch)
    assert watch.windows == []


def test_whoever_clicks_on_the_icon_is_shown_why_no_window_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There nobody sees what is written; a command is not clicked on."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('zone = "Asia/Shanghai"\n', encoding="utf-8")
    told: list[str] = []
    assert program.run([], lambda _request: 0, told.append) == 2
    assert len(told) == 1
    assert "zone" in told[0]
    assert program.run(["task", "list"], lambda _request: 0, told.append) == 2
    assert len(told) == 1
