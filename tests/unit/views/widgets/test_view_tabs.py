"""Tabs of views: never cut, never scrolled."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QTabBar, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.task.search.query import Counts
from views.pages.tasks.views import BUILT_IN, numbers
from views.widgets.view_tabs import ViewTab, ViewTabs


def make(qtbot: QtBot, width: int, *more: ViewTab) -> ViewTabs:
    tabs = ViewTabs()
    qtbot.addWidget(tabs)
    tabs.resize(width, 34)
    tabs.set_views([*(ViewTab(key=view.key, title=view.shown) for view in BUILT_IN), *more])
    tabs.set_numbers(dict.fromkeys(numbers(Counts()), "999.9k"))
    tabs.show()
    return tabs


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_all_views_fit_beside_the_rail_of_a_small_screen(qtbot: QtBot, code: str) -> None:
    i18n.set_language(code)
    tabs = make(qtbot, 1280 - 196)
    assert tabs.shown() == tuple(view.key for view in BUILT_IN)
    assert not tabs._more.isVisibleTo(tabs)


def test_what_does_not_fit_stands_in_the_menu(qtbot: QtBot) -> None:
    tabs = make(qtbot, 420)
    assert 0 < len(tabs.shown()) < len(BUILT_IN)
    hidden = [view for view in BUILT_IN if view.key not in tabs.shown()]
    menu = tabs.more_menu()
    words = [action.text() for action in menu.actions()]
    assert all(any(view.title in word for word in words) for view in hidden)
    with qtbot.waitSignal(tabs.chosen) as chosen:
        menu.actions()[0].trigger()
    assert chosen.args == [hidden[0].key]
    assert hidden[0].key in tabs.shown()


def test_no_tab_is_cut_that_got_other_words_while_it_was_hidden(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    tabs = ViewTabs()
    QVBoxLayout(page).addWidget(tabs)
    page.resize(900, 80)
    tabs.set_views([ViewTab(key="all", title="全部"), ViewTab(key="bad", title="未成功")])
    page.show()
    qtbot.waitExposed(page)
    page.hide()
    tabs.set_views([ViewTab(key="all", title="All of them"), ViewTab(key="bad", title="Did not end well")])
    page.show()
    qtbot.waitExposed(page)
    (bar,) = tabs.findChildren(QTabBar)
    qtbot.waitUntil(lambda: bar.tabRect(1).right() <= bar.width())


def test_the_current_view_stays_when_views_come_and_go(qtbot: QtBot) -> None:
    own = ViewTab(key="own-1", title="Slow <b>& co", own=True)
    tabs = make(qtbot, 1400, own)
    tabs.set_current("own-1")
    assert tabs.current() == "own-1"
    assert tabs.text_of("own-1") == "Slow <b>&& co"
    words = [action.text() for action in tabs.more_menu().actions()]
    assert words[-2:] == ["Rename view", "Remove view"]
    tabs.set_views([ViewTab(key=view.key, title=view.title) for view in BUILT_IN])
    assert tabs.current() == "all"


def test_the_menu_key_is_for_the_tab_that_is_current(qtbot: QtBot) -> None:
    own = [ViewTab(key=key, title=key, own=True) for key in ("slow", "late")]
    tabs = make(qtbot, 1400, *own)
    bar = tabs.findChild(QTabBar)
    assert bar is not None
    middle = bar.rect().center()
    for key in ("slow", "late", "all"):
        tabs.set_current(key)
        asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, bar.mapToGlobal(middle))
        QApplication.sendEvent(bar, asked)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        remove = next((action for action in menu.actions() if action.text() == "Remove view"), None)
        assert (remove is None) == (key == "all")
        if remove is not None:
            with qtbot.waitSignal(tabs.remove_wanted) as wanted:
                remove.trigger()
            assert wanted.args == [key]
        menu.close()


def test_only_the_left_button_chooses_a_view_or_chooses_it_again(qtbot: QtBot) -> None:
    """A right one opens the menu, which is about the filter that stands there now."""
    own = [ViewTab(key=key, title=key, own=True) for key in ("slow", "late")]
    tabs = make(qtbot, 1400, *own)
    tabs.set_current("slow")
    bar = tabs.findChild(QTabBar)
    assert bar is not None
    here, other = (bar.tabRect(bar.count() - n).center() for n in (2, 1))
    chosen: list[str] = []
    tabs.chosen.connect(chosen.append)
    tabs.chosen_again.connect(lambda key: chosen.append(f"{key} again"))
    for button in (Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton):
        for place in (here, other):
            qtbot.mouseClick(bar, button, pos=place)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=here)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=other)
    assert chosen == ["slow again", "late"]
