"""Focus moves through each page as it is read: by rows, and within a row from left to right, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services.cli.window import pages
from services.domain.fleet.worker import SlotState, WorkerInfo
from tests.gui.desk import Desk
from tests.gui.test_masking import settle
from views.support.look import focus_chain
from views.widgets.filter.bar import FilterBar


def stops(root: QWidget) -> Iterator[QWidget]:
    """What the tab key comes to within it, in that order."""
    for one in focus_chain(root):
        tabs = bool(one.focusPolicy().value & Qt.FocusPolicy.TabFocus.value) and one.focusProxy() is None
        if tabs and root.isAncestorOf(one) and one.isVisible() and one.isEnabled():
            yield one


def parts(root: QWidget, one: QWidget, other: QWidget) -> tuple[QWidget, QWidget]:
    """The largest parts of the page that hold one and not the other."""
    above, beside = [[*_line(root, widget)] for widget in (one, other)]
    place = next(place for place, (a, b) in enumerate(zip(above, beside, strict=False)) if a is not b)
    return above[place], beside[place]


def _line(root: QWidget, widget: QWidget) -> Sequence[QWidget]:
    line = [widget]
    while line[-1] is not root:
        above = line[-1].parentWidget()
        assert above is not None
        line.append(above)
    return line[::-1]


def box(root: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(root, QPoint(0, 0)), widget.size())


def backwards(root: QWidget, first: QWidget, then: QWidget) -> bool:
    """Whether what comes first is read after the other."""
    if first.isAncestorOf(then) or then.isAncestorOf(first):
        return False
    before, after = (box(root, part) for part in parts(root, first, then))
    shared = min(before.bottom(), after.bottom()) - max(before.top(), after.top())
    if 2 * shared >= min(before.height(), after.height()):
        return before.left() >= after.right()
    beside = min(before.right(), after.right()) < max(before.left(), after.left())
    return not beside and before.top() >= after.bottom()


@pytest.mark.parametrize("name", pages())
def test_a_page_is_gone_through_as_it_is_read(name: str, console: Console, desk: Desk, qtbot: QtBot) -> None:
    desk.fail(desk.create(0))
    desk.create(1)
    for worker in ("w1", "w2"):
        slots = (SlotState(),) * 2
        desk.session.engine.store.heartbeat(WorkerInfo(worker=worker, host="desk", pid=1, slots=slots))
    console.window.open_page(name)
    page = console.window.page(name)
    settle(qtbot, page)
    for bar in page.findChildren(FilterBar):
        if bar.isVisible() and "status" in bar.chips.fields:
            bar.set_expression("status:dead")
    found = list(stops(page))
    wrong = [f"{a!r} before {b!r}" for a, b in combinations(found, 2) if backwards(page, a, b)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["tasks", "settings"])
def test_the_status_bar_comes_after_the_page(name: str, console: Console, qtbot: QtBot) -> None:
    window = console.window
    window.open_page(name)
    settle(qtbot, window.page(name))
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    order = (window.rail, window.top_bar, window.page(name), window.status_bar)
    first = next(stops(window.rail))
    first.setFocus()
    met = []
    while not met or QApplication.focusWidget() is not first:
        at_it = QApplication.focusWidget()
        assert at_it is not None
        met.append(next(place for place, part in enumerate(order) if part.isAncestorOf(at_it)))
        qtbot.keyClick(at_it, Qt.Key.Key_Tab)
    assert met == sorted(met)
    assert set(met) == set(range(len(order)))
