"""The Settings page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.errors import ConsoleError
from tests.unit.views.pages.fleet_rig import Fleet
from views.pages.settings.page import SettingsPage
from views.theme import theme


@pytest.fixture
def page(qtbot: QtBot, fleet: Fleet) -> SettingsPage:
    """The page, applied as the console applies it."""
    made = SettingsPage(fleet.context, data_folder="/data/fleetdeck")
    qtbot.addWidget(made)
    made.theme_chosen.connect(theme().set_mode)
    made.language_chosen.connect(i18n.set_language)
    made.show()
    made.activate()
    return made


def test_another_theme_is_in_use_at_once(page: SettingsPage) -> None:
    page.theme_choice.choose("light")
    assert not theme().is_dark
    page.theme_choice.choose("dark")
    assert theme().is_dark
    theme().set_mode("light")
    assert page.theme_choice.current() == "light", "it follows what others choose"


def test_another_language_is_spoken_at_once(page: SettingsPage) -> None:
    page.language_choice.choose("zh_CN")
    assert i18n.language() == "zh_CN"
    assert page.header._title.text() == "设置"
    page.language_choice.choose("en")
    assert page.header._title.text() == "Settings"


def test_it_says_what_this_program_is(page: SettingsPage) -> None:
    about = page._facts.values()
    assert about["Profile"] == "local"
    assert about["Data folder"] == "/data/fleetdeck"
    assert about["Engine"] == "everything on this machine"
    assert about["Version"]


def test_the_sample_fleet_is_loaded_once(qtbot: QtBot, fleet: Fleet, page: SettingsPage) -> None:
    page.sample_button.click()
    assert not page.sample_button.isEnabled()
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert fleet.context.sample.loaded
    assert page.sample_button.toolTip() == "It is loaded already"


def test_a_sample_that_fails_says_why(
    qtbot: QtBot, fleet: Fleet, page: SettingsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ConsoleError("the sample storefront did not start")

    load: Callable[[], None] = fail
    monkeypatch.setattr(fleet.context.sample, "load", load)
    page.sample_button.click()
    qtbot.waitUntil(page.error.isVisible)
    assert "did not start" in page.error.accessibleName()
    assert page.sample_button.isEnabled()
