"""Saved filters of a page as tabs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTabBar, QWidget
from pytestqt.qtbot import QtBot

from views.dialogs.name import NameDialog
from views.kit.filter_tabs import FilterTabs
from views.kit.saved_views import MOST_OWN, View
from views.support.memory import ShortMemory
from views.widgets.toast import ToastSpec
from views.widgets.view_tabs import ViewTabs

VIEWS = (View(key="all", title="All"), View(key="refused", title="Refused", filter="state:refused"))
HOUR = View(key="hour", title="Last hour", filter="since:1h")
Open = Callable[[], tuple[FilterTabs, ViewTabs, QWidget]]


@pytest.fixture
def told() -> list[ToastSpec]:
    """What was told."""
    return []


@pytest.fixture
def open_tabs(qtbot: QtBot, told: list[ToastSpec]) -> Open:
    memory = ShortMemory()

    def make() -> tuple[FilterTabs, ViewTabs, QWidget]:
        owner = QWidget()
        qtbot.addWidget(owner)
        tabs = ViewTabs(owner, shares=False)
        tabs.resize(900, 34)
        return FilterTabs(tabs, memory, (*VIEWS, HOUR), "audit", owner, told.append, lambda: ""), tabs, owner

    return make


def name_it(owner: QWidget, name: str) -> None:
    (dialog,) = owner.findChildren(NameDialog)
    dialog.field.setText(name)
    dialog.done_button.click()
    dialog.setParent(None)


def test_a_tab_asks_for_its_filter_and_follows_what_is_shown(qtbot: QtBot, open_tabs: Open) -> None:
    views, tabs, _owner = open_tabs()
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose("refused")
    assert wanted.args == ["state:refused"]
    views.follow("who:ann")
    assert tabs.current() == "all"
    views.follow("state:refused since:7d")
    assert tabs.current() == "refused"


def test_a_tab_keeps_the_time_that_is_shown_unless_it_has_one_of_its_own(qtbot: QtBot, open_tabs: Open) -> None:
    views, tabs, owner = open_tabs()
    views.follow("who:ann since:7d")
    tabs.save_wanted.emit()
    name_it(owner, "Ann")
    own = tabs.current()
    views.follow("who:bob since:90d until:1d")
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose("refused")
    assert wanted.args == ["state:refused since:90d until:1d"]
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose(own)
    assert wanted.args == ["who:ann since:7d"]


def test_the_tab_that_is_current_leads_back_from_another_filter(qtbot: QtBot, open_tabs: Open) -> None:
    views, tabs, owner = open_tabs()
    owner.show()
    views.follow("who:ann")
    bar = tabs.findChild(QTabBar)
    with qtbot.waitSignal(views.wanted) as wanted:
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    assert wanted.args == [""]


def test_one_s_own_is_kept_renamed_and_removed(open_tabs: Open) -> None:
    views, tabs, owner = open_tabs()
    views.follow("who:ann since:7d")
    tabs.save_wanted.emit()
    name_it(owner, "Ann")
    (own,) = set(tabs.shown()) - {"all", "refused", "hour"}
    assert (tabs.current(), tabs.text_of(own)) == (own, "Ann")
    again, others, _other = open_tabs()
    again.follow("who:ann since:7d")
    assert others.current() == own
    tabs.rename_wanted.emit(own)
    name_it(owner, "Ann of this week")
    assert tabs.text_of(own) == "Ann of this week"
    tabs.remove_wanted.emit(own)
    assert (set(tabs.shown()), tabs.current()) == ({"all", "refused", "hour"}, "all")


def save_as(views: FilterTabs, tabs: ViewTabs, owner: QWidget, name: str, expression: str) -> str:
    views.follow(expression)
    tabs.save_wanted.emit()
    name_it(owner, name)
    return tabs.current()


def test_one_that_was_removed_is_there_again_by_undo_where_it_was(
    qtbot: QtBot, open_tabs: Open, told: list[ToastSpec]
) -> None:
    views, tabs, owner = open_tabs()
    first, second = (save_as(views, tabs, owner, name, f"who:{name}") for name in ("ann", "bob"))
    tabs.remove_wanted.emit(first)
    assert first not in tabs.shown()
    assert told[-1].text == "ann is removed"
    tabs.remove_wanted.emit(first)
    assert len(told) == 1, "another window removed it before"
    told[-1].actions[0].call()
    assert tabs.shown()[-2:] == (first, second)
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose(first)
    assert wanted.args == ["who:ann"]


def test_one_s_own_stays_while_its_filter_is_changed_and_takes_that(
    qtbot: QtBot, open_tabs: Open, told: list[ToastSpec]
) -> None:
    views, tabs, owner = open_tabs()
    own = save_as(views, tabs, owner, "ann", "who:ann")
    views.follow("who:ann state:failed")
    assert tabs.current() == own
    tabs.change_wanted.emit(own)
    assert told[-1].text == "ann is what is shown here now"
    views.follow("")
    assert tabs.current() == "all"
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose(own)
    assert wanted.args == ["who:ann state:failed"]
    told[-1].actions[0].call()
    views.follow("who:ann")
    assert tabs.current() == own, "it is what it was"


def test_the_time_of_a_view_goes_with_it(qtbot: QtBot, open_tabs: Open) -> None:
    views, tabs, _owner = open_tabs()
    views.follow("since:1h")
    assert tabs.current() == "hour"
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose("all")
    assert wanted.args == [""]


def test_where_many_are_kept_none_is_lost_to_another(open_tabs: Open) -> None:
    views, tabs, owner = open_tabs()
    for number in range(MOST_OWN):
        views.follow(f"who:w{number}")
        tabs.save_wanted.emit()
        name_it(owner, f"view {number}")
    views.follow("who:one-more")
    tabs.save_wanted.emit()
    (dialog,) = owner.findChildren(NameDialog)
    dialog.field.setText("one more")
    assert not dialog.done_button.isEnabled()
    assert dialog.done_button.toolTip() == "30 views are saved already; remove one first"
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog.field.setText("view 0")
    assert dialog.done_button.isEnabled(), "the same name again replaces it"
    dialog.done_button.click()
    dialog.setParent(None)
    _views, kept, _owner = open_tabs()
    bar = kept.findChild(QTabBar)
    assert bar is not None
    assert [bar.tabText(place) for place in (3, MOST_OWN + 2)] == ["view 0", f"view {MOST_OWN - 1}"]


def test_undo_of_a_change_leaves_the_name_that_was_given_since(
    qtbot: QtBot, open_tabs: Open, told: list[ToastSpec]
) -> None:
    views, tabs, owner = open_tabs()
    own = save_as(views, tabs, owner, "ann", "who:ann")
    views.follow("who:ann state:failed")
    tabs.change_wanted.emit(own)
    tabs.rename_wanted.emit(own)
    name_it(owner, "Ann's failures")
    told[-1].actions[0].call()
    assert tabs.text_of(own) == "Ann's failures"
    tabs.choose("refused")
    with qtbot.waitSignal(views.wanted) as wanted:
        tabs.choose(own)
    assert wanted.args == ["who:ann"]
