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
from views.widgets.view_tabs import ViewTabs

VIEWS = (View(key="all", title="All"), View(key="refused", title="Refused", filter="state:refused"))
Open = Callable[[], tuple[FilterTabs, ViewTabs, QWidget]]


@pytest.fixture
def open_tabs(qtbot: QtBot) -> Open:
    memory = ShortMemory()

    def make() -> tuple[FilterTabs, ViewTabs, QWidget]:
        owner = QWidget()
        qtbot.addWidget(owner)
        tabs = ViewTabs(owner, shares=False)
        tabs.resize(900, 34)
        return FilterTabs(tabs, memory, VIEWS, "audit", owner), tabs, owner

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
    (own,) = set(tabs.shown()) - {"all", "refused"}
    assert (tabs.current(), tabs.text_of(own)) == (own, "Ann")
    again, others, _other = open_tabs()
    again.follow("who:ann since:7d")
    assert others.current() == own
    tabs.rename_wanted.emit(own)
    name_it(owner, "Ann of this week")
    assert tabs.text_of(own) == "Ann of this week"
    tabs.remove_wanted.emit(own)
    assert (set(tabs.shown()), tabs.current()) == ({"all", "refused"}, "all")


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
    assert [bar.tabText(place) for place in (2, MOST_OWN + 1)] == ["view 0", f"view {MOST_OWN - 1}"]
