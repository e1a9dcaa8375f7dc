"""What somebody chose under Appearance, in the window and after the next start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from console.lifecycle import Console
from console.main_window import MainWindow
from services.cli.window import pages
from tests.gui.test_console import play, until
from views.pages.settings.page import SettingsPage
from views.theme import theme

pytestmark = pytest.mark.deep


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The home of somebody who works on this machine."""
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    yield tmp_path
    theme().set_density("normal")
    theme().set_contrast("system")
    theme().set_text_size(100)


async def opened() -> MainWindow:
    """The window, once it is there."""

    def found() -> list[MainWindow]:
        windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        return [one for one in windows if one.isVisible() and one.current in pages()]

    await until(lambda: bool(found()), "the window")
    return found()[0]


def test_rows_contrast_and_text_hold_at_once_and_after_the_next_start(qapp: QApplication, home: Path) -> None:
    async def choose(_console: Console) -> None:
        window = await opened()
        window.open_page("settings")
        settings = window.page("settings")
        assert isinstance(settings, SettingsPage)
        weak = theme().hex("line2")
        settings.rows_choice.choose("roomy")
        settings.contrast_choice.choose("high")
        settings.text_choice.choose("120")
        assert theme().row_height == 41
        assert theme().hex("line2") != weak

    play(qapp, home, choose)
    theme().set_density("normal")
    theme().set_contrast("system")
    theme().set_text_size(100)

    async def look(_console: Console) -> None:
        window = await opened()
        window.open_page("settings")
        settings = window.page("settings")
        assert isinstance(settings, SettingsPage)
        assert theme().row_height == 41
        chosen = (settings.rows_choice, settings.contrast_choice, settings.text_choice)
        assert [one.current() for one in chosen] == ["roomy", "high", "120"]

    play(qapp, home, look)


def test_a_word_that_is_no_choice_is_passed_over(qapp: QApplication, home: Path) -> None:
    kept = {"chosen": "local", "slots": 1, "rows": "huge", "contrast": 7, "text": "big"}
    (home / "console.json").write_text(json.dumps(kept), encoding="utf-8")

    async def look(_console: Console) -> None:
        await opened()
        assert theme().row_height == 28
        assert not theme().high_contrast

    play(qapp, home, look)
