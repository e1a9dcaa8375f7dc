"""The Settings page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.errors import ConsoleError
from services.settings import Settings
from services.settings.values import RetrySettings
from tests.unit.views.pages.fleet_rig import Fleet
from views.pages.settings import page as settings_page
from views.pages.settings.page import SettingsPage
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN
from views.widgets.card import Card


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


def test_a_narrow_page_has_one_column_so_that_no_name_is_cut(qtbot: QtBot, page: SettingsPage) -> None:
    def beside() -> bool:
        people, sample = (one.mapTo(page, QPoint(0, 0)).x() for one in (page.people, page.sample))
        return people > sample

    for width, wanted in ((800, False), (1200, True), (900, False)):
        page.resize(width, 700)
        qtbot.waitUntil(lambda wanted=wanted: beside() == wanted)  # type: ignore[misc]


def test_rows_and_contrast_are_offered(qtbot: QtBot, page: SettingsPage) -> None:
    with qtbot.waitSignal(page.rows_chosen) as rows:
        page.rows_choice.choose("compact")
    with qtbot.waitSignal(page.contrast_chosen) as contrast:
        page.contrast_choice.choose("high")
    assert (rows.args, contrast.args) == (["compact"], ["high"])


def test_another_language_is_spoken_at_once(page: SettingsPage) -> None:
    page.language_choice.choose("zh_CN")
    assert i18n.language() == "zh_CN"
    assert page.header.title() == "设置"
    page.language_choice.choose("en")
    assert page.header.title() == "Settings"


def test_the_cards_stand_below_the_title_where_there_is_more_room(qtbot: QtBot, page: SettingsPage) -> None:
    page.resize(2200, 1200)
    card = page.about.mapTo(page, QPoint(0, 0)).x()
    qtbot.waitUntil(lambda: page.about.width() >= 600)
    first = min(one.mapTo(page, QPoint(0, 0)).x() for one in page.findChildren(Card) if one.isVisible())
    assert first == PAGE_MARGIN
    assert card + page.about.width() <= PAGE_MARGIN + 2 * 620 + CARD_GAP + 4


def test_it_says_what_this_program_is(page: SettingsPage) -> None:
    about = page.about.facts.values()
    assert about["Profile"] == "Local"
    assert about["Data folder"] == "/data/fleetdeck"
    assert about["Engine"] == "everything on this machine"
    assert about["Version"]


def test_the_sample_fleet_is_loaded_and_stopped_by_one_button(qtbot: QtBot, fleet: Fleet, page: SettingsPage) -> None:
    button = page.sample.button
    button.click()
    assert not button.isEnabled()
    assert button.text() == "Loading"
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert fleet.context.sample.loaded
    assert button.text() == "Stop the sample fleet"
    assert "Its shops, ended tasks and dead letters stay" in page.sample.words()[1]
    button.click()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2)
    assert not fleet.context.sample.loaded
    assert (fleet.toasts[-1].text, fleet.toasts[-1].detail) == (
        "The sample fleet is stopped.",
        "3 waiting tasks cancelled.",
    )
    assert button.text() == "Load the sample fleet"


def test_why_there_is_no_sample_in_a_fleet_can_be_read(qtbot: QtBot, fleet: Fleet) -> None:
    made = SettingsPage(replace(fleet.context, embedded=False))
    qtbot.addWidget(made)
    assert not made.sample.button.isEnabled()
    assert made.sample.words()[1] == "Only on this machine's own engine, not in a fleet that others use"


def test_it_says_by_which_rules_tasks_run(qtbot: QtBot, fleet: Fleet) -> None:
    made = SettingsPage(fleet.context, data_folder="/data/fleetdeck", settings=Settings())
    qtbot.addWidget(made)
    rules = made.rules.values()
    assert (
        rules["Failed attempts"]
        == "again after 30\u202fs, 1\u202fmin, 2\u202fmin; as often as its type says, else 3 times"
    )
    assert rules["Lanes here"] == "High, Normal, Low"
    assert made.where.text().startswith("Set in /data/fleetdeck/config.toml;")
    never = Settings(retry=RetrySettings(max_retries=0))
    assert (
        dict(settings_page.rule_rows(never))["Failed attempts"]
        == "as often as its type says; else a dead letter at once"
    )


def test_all_keys_are_a_click_away(qtbot: QtBot, page: SettingsPage) -> None:
    with qtbot.waitSignal(page.keys_wanted):
        page.keys_button.click()


def test_limits_are_a_click_away(qtbot: QtBot, page: SettingsPage) -> None:
    with qtbot.waitSignal(page.navigate) as asked:
        page.limits_button.click()
    assert asked.args == ["shops", "limits of "]


def test_a_sample_that_fails_says_why(
    qtbot: QtBot, fleet: Fleet, page: SettingsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ConsoleError("the sample storefront did not start")

    load: Callable[[], None] = fail
    monkeypatch.setattr(fleet.context.sample, "load", load)
    page.sample.button.click()
    qtbot.waitUntil(page.sample.error.isVisible)
    assert "did not start" in page.sample.error.accessibleName()
    assert page.sample.button.isEnabled()


@pytest.mark.parametrize("tray", [True, False])
def test_a_desktop_that_shows_no_notifications_is_told(
    page: SettingsPage, monkeypatch: pytest.MonkeyPatch, tray: bool
) -> None:
    for name in ("isSystemTrayAvailable", "supportsMessages"):
        monkeypatch.setattr(QSystemTrayIcon, name, lambda: tray)
    page.refresh()
    assert page.no_notifications.isHidden() == tray
    assert page.no_notifications.text().startswith("This desktop shows none: ")
