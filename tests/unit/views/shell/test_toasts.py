"""At most three toasts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.i18n import _
from views.shell.toasts import Toasts
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.layout import in_column
from views.widgets.scroll_pane import ScrollPane
from views.widgets.toast import Toast, ToastAction, ToastSpec, failure, lasting, undo_action


@pytest.fixture
def toasts(qtbot: QtBot) -> Toasts:
    return made(qtbot)


@pytest.fixture
def others(qtbot: QtBot) -> Toasts:
    """Those of another window."""
    return made(qtbot)


def made(qtbot: QtBot) -> Toasts:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1000, 700)
    host.show()
    return Toasts(host)


def texts(toasts: Toasts) -> list[str]:
    return [toast.spec.text for toast in toasts.toasts()]


def test_the_oldest_that_may_leave_makes_room(toasts: Toasts) -> None:
    toasts.show(ToastSpec(text="error", status="dead"))
    for number in range(4):
        toasts.show(ToastSpec(text=str(number)))
    assert texts(toasts) == ["error", "2", "3"]
    toasts.clear()
    for number in range(4):
        toasts.show(ToastSpec(text=str(number), sticky=True))
    assert texts(toasts) == ["1", "2", "3"]
    toasts.clear()
    assert texts(toasts) == []


def test_the_same_key_replaces(toasts: Toasts) -> None:
    toasts.show(ToastSpec(text="10 left", key="bulk"))
    toasts.show(ToastSpec(text="9 left", key="bulk"))
    assert texts(toasts) == ["9 left"]
    toasts.clear()


def test_an_update_changes_what_stands_and_brings_nothing_back(toasts: Toasts) -> None:
    toasts.say(ToastSpec(text="1 of 9", key="run", sticky=True))
    before = toasts.toasts()
    toasts.say(ToastSpec(text="2 of 9", key="run", update=True))
    assert toasts.toasts() == before, "nothing moves under the mouse"
    assert texts(toasts) == ["2 of 9"]
    before[0].close_now()
    toasts.say(ToastSpec(text="3 of 9", key="run", update=True))
    assert texts(toasts) == [], "a person closed it"


def test_closing_closes_the_gap(qtbot: QtBot, toasts: Toasts) -> None:
    with qtbot.waitSignal(toasts.shown) as signal:
        first = toasts.show(ToastSpec(text="first", sticky=True))
    assert signal.args[0].text == "first"
    second = toasts.show(ToastSpec(text="second", sticky=True))
    assert first.y() < second.y()
    below = second.y()
    second.close_now()
    assert texts(toasts) == ["first"]
    assert first.y() == below
    toasts.clear()


def test_they_follow_the_window(toasts: Toasts) -> None:
    toast = toasts.show(ToastSpec(text="x", sticky=True))
    host = toast.parentWidget()
    host.resize(800, 500)
    assert toast.geometry().right() < 800
    assert toast.geometry().bottom() < 500 - 26 - 49, "the verbs in the foot of a page stay free"
    toasts.clear()


def test_what_lasts_speaks_the_language_of_the_moment(toasts: Toasts) -> None:
    called: list[str] = []

    def say() -> ToastSpec:
        stop = ToastAction(text=_("Stop"), call=lambda: called.append("stop"))
        return ToastSpec(text=_("Cannot connect."), actions=(stop,), sticky=True)

    lasts, passing = toasts.show(lasting(say)), toasts.show(ToastSpec(text=_("Cannot connect.")))
    broken = toasts.show(failure(RuntimeError("refused by 10.0.0.1")))
    i18n.set_language("zh_CN")
    try:
        assert lasts.accessibleName() == "无法连接。"
        assert passing.accessibleName() == "Cannot connect."
        assert broken.accessibleName().endswith("refused by 10.0.0.1")
        assert not broken.accessibleName().startswith("That did not work.")
        stop = next(one for one in lasts.findChildren(Button) if one.text() == "停止")
        stop.click()
        assert called == ["stop"]
        assert lasts not in toasts.toasts()
    finally:
        i18n.set_language("en")


def test_a_message_does_not_lie_on_what_is_pressed_next(toasts: Toasts) -> None:
    first = toasts.show(ToastSpec(text="x", status="dead"))
    usual = first.geometry()
    host = first.parentWidget()
    older = QPushButton("older", host)
    older.move(usual.center())
    older.show()
    toasts.arrange()
    assert not first.geometry().intersects(older.geometry())
    older.hide()
    aside = first.geometry()
    toasts.show(ToastSpec(text="y", status="dead"))
    assert first.x() == aside.x(), "it does not jump about where it is well"
    toasts.clear()
    assert toasts.show(ToastSpec(text="z", sticky=True)).geometry() == usual
    toasts.clear()


def test_a_message_does_not_lie_on_the_words_of_an_empty_page(toasts: Toasts) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    words = "Every act that changes something is written here before it is done, with who did it"
    page = EmptyState("Nothing was done yet.", words)
    page.setParent(host)
    page.setGeometry(0, 0, 1000, 600)
    page.show()
    QApplication.processEvents()
    (told,) = [one for one in page.findChildren(QLabel) if one.text() == words]
    message = toasts.show(ToastSpec(text="x", status="dead"))
    page.move(0, message.y() + 4 - told.y())
    toasts.arrange()
    assert not message.geometry().intersects(QRect(told.mapTo(host, told.rect().topLeft()), told.size()))
    toasts.clear()


def test_it_looks_again_when_what_a_page_shows_has_come(qtbot: QtBot, toasts: Toasts) -> None:
    first = toasts.show(ToastSpec(text="x", status="dead"))
    host = first.parentWidget()
    toasts.arrange()  # another page is seen, whose buttons come a moment later
    late = QPushButton("late", host)
    late.move(first.geometry().center())
    late.show()
    qtbot.waitUntil(lambda: not first.geometry().intersects(late.geometry()))
    toasts.clear()


def test_it_stands_below_a_row_of_buttons_where_nothing_is_below_that(toasts: Toasts) -> None:
    first = toasts.show(ToastSpec(text="x", status="dead"))
    host, usual = first.parentWidget(), first.geometry()
    row = QPushButton("a legend", host)
    row.setGeometry(0, usual.top(), host.width(), 20)
    row.show()
    toasts.arrange()
    assert first.geometry().top() > row.geometry().bottom()
    assert first.geometry().right() == usual.right()
    toasts.clear()


def test_what_leaves_by_itself_comes_beside_what_is_pressed_next_and_stays_there(toasts: Toasts) -> None:
    usual = toasts.show(ToastSpec(text="3 tasks cancelled")).geometry()
    host = toasts.parent()
    assert isinstance(host, QWidget)
    toasts.clear()
    legend = QPushButton("a legend", host)
    legend.setGeometry(0, usual.top(), host.width(), 20)
    legend.show()
    came = toasts.show(ToastSpec(text="3 tasks cancelled"))
    assert not came.geometry().intersects(legend.geometry())
    at = came.geometry()
    legend.move(0, at.top())
    toasts.arrange()  # another page is seen
    assert came.geometry() == at, "its verb is where somebody has seen it"
    toasts.clear()


def test_the_keyboard_closes_the_newest(qtbot: QtBot, toasts: Toasts) -> None:
    host = toasts.show(ToastSpec(text="1", status="dead")).parentWidget()
    toasts.show(ToastSpec(text="2", status="dead"))
    host.activateWindow()
    qtbot.waitUntil(host.isActiveWindow)
    QTest.keyClick(host, Qt.Key.Key_Escape, Qt.KeyboardModifier.ShiftModifier)
    assert texts(toasts) == ["1"]
    toasts.clear()


def test_a_message_leaves_while_nothing_has_the_keyboard(qtbot: QtBot, toasts: Toasts) -> None:
    if (focus := QApplication.focusWidget()) is not None:
        focus.clearFocus()
    assert QApplication.focusWidget() is None
    toasts.show(ToastSpec(text="done", seconds=0.1))
    qtbot.waitUntil(lambda: texts(toasts) == [], timeout=5_000)


def test_a_message_that_has_the_keyboard_waits_and_gives_it_back(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1000, 700)
    field = QPushButton("page", host)
    host.show()
    host.activateWindow()
    field.setFocus()
    toasts, pressed = Toasts(host), []
    one = ToastSpec(text="held", actions=(ToastAction(text="Send now", call=lambda: pressed.append(1)),), seconds=0.2)
    toast = toasts.show(one)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is field)
    button = next(found for found in toast.findChildren(Button) if found.text() == "Send now")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    toasts.show(ToastSpec(text="by itself", seconds=0.4))
    qtbot.waitUntil(lambda: texts(toasts) == ["held"], timeout=5_000)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert (pressed, texts(toasts), QApplication.focusWidget()) == ([1], [], field)
    toast = toasts.show(one)
    button = next(found for found in toast.findChildren(Button) if found.text() == "Send now")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    field.setFocus()
    qtbot.waitUntil(lambda: texts(toasts) == [], timeout=5_000)


def test_a_verb_that_somebody_aims_at_stays_under_the_mouse(qtbot: QtBot, toasts: Toasts) -> None:
    def said(number: int, *, update: bool = True) -> ToastSpec:
        stop = ToastAction(text="Stop", call=lambda: None)
        return ToastSpec(text=f"{number} of 9", key="run", sticky=True, actions=(stop,), update=update)

    toasts.show(said(0, update=False))
    (run,) = toasts.toasts()
    host, at = run.parentWidget(), run.geometry()
    came = QPushButton("came later", host)
    came.move(at.center())
    came.show()
    toasts.say(said(1))
    assert run.geometry() == at
    toasts.show(ToastSpec(text="another", status="dead")).close_now()
    assert run.geometry() == at
    QApplication.sendEvent(run, QEnterEvent(QPointF(), QPointF(), QPointF()))
    toasts.arrange()
    assert run.geometry() == at
    QApplication.sendEvent(run, QEvent(QEvent.Type.Leave))
    toasts.arrange()  # another page is seen
    assert not run.geometry().intersects(came.geometry())
    came.move(run.geometry().center())
    host.resize(host.width() + 1, host.height())
    qtbot.waitUntil(lambda: not run.geometry().intersects(came.geometry()), timeout=30_000)


def test_what_is_pressed_in_a_dialog_or_on_another_page_moves_no_message(toasts: Toasts) -> None:
    host = toasts.show(ToastSpec(text="x", sticky=True)).parentWidget()
    (usual,) = (toast.geometry() for toast in toasts.toasts())
    dialog, hidden = QDialog(host), QWidget(host)
    dialog.resize(host.size())
    hidden.resize(host.size())
    for inside in (dialog, hidden):
        QPushButton("verb", inside).move(usual.center())
    dialog.show()
    toasts.arrange()
    assert [toast.geometry() for toast in toasts.toasts()] == [usual]
    hidden.show()
    toasts.arrange()
    assert [toast.geometry() for toast in toasts.toasts()] != [usual]


@pytest.mark.parametrize("rows", [16, 19, 200])
def test_the_last_row_of_a_table_can_be_scrolled_out_from_under_them(toasts: Toasts, rows: int) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    model: RecordModel[str] = RecordModel((Column(key="n", title="N", value=str, stretch=True),), key=str)
    model.apply([str(number) for number in range(rows)])
    table = TableView(model, "Numbers", parent=host)
    table.setGeometry(0, 100, 1000, 560)
    table.show()
    QApplication.processEvents()
    before = table.verticalScrollBar().maximum()
    message = toasts.show(ToastSpec(text="3 new incidents", status="dead", detail="a page has changed " * 9))
    bar = table.verticalScrollBar()
    bar.setValue(bar.maximum())
    model.apply([str(number) for number in range(rows - 1)])
    model.apply([str(number) for number in range(rows)])
    QApplication.processEvents()
    last = table.visualRect(model.index(rows - 1, 0))
    assert table.viewport().mapTo(host, last.bottomLeft()).y() <= message.y(), (
        "also after the table has laid itself out"
    )
    message.close_now()
    QApplication.processEvents()
    assert bar.maximum() == before


def acts(parent: QWidget, left: int = 600) -> ScrollPane:
    """A pane up to the right edge that is too low for what it holds."""
    pane = ScrollPane(parent)
    pane.setGeometry(left, 100, 1000 - left, 550)
    for number in range(30):
        pane.body.addWidget(Button(f"Act {number}"))
    pane.body.addStretch(1)
    return pane


def test_what_a_pane_ends_in_can_be_scrolled_out_from_under_them(toasts: Toasts) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    pane = acts(host, left=0)  # nowhere would it lie on fewer of them
    pane.show()
    QApplication.processEvents()
    before, last = pane.verticalScrollBar().maximum(), pane.findChildren(Button)[-1]
    message = toasts.show(ToastSpec(text="Cancelled 3 tasks.", seconds=600))
    QApplication.processEvents()
    pane.verticalScrollBar().setValue(pane.verticalScrollBar().maximum())
    assert last.mapTo(host, last.rect().bottomLeft()).y() < message.y()
    message.close_now()
    QApplication.processEvents()
    assert pane.verticalScrollBar().maximum() == before


@pytest.mark.parametrize("comes", ["shown", "resized"])
def test_so_can_the_end_of_a_pane_that_comes_below_them_later(qtbot: QtBot, toasts: Toasts, comes: str) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    pane = acts(host)
    if comes == "resized":
        pane.resize(400, 100)
        pane.show()
    QApplication.processEvents()
    bar, last = pane.verticalScrollBar(), pane.findChildren(Button)[-1]
    message = toasts.show(ToastSpec(text="refused", status="dead"))
    pane.resize(400, 550)
    pane.show()

    def seen() -> bool:
        bar.setValue(bar.maximum())
        return bar.maximum() > 0 and last.mapTo(host, last.rect().bottomLeft()).y() < message.y()

    qtbot.waitUntil(seen)


def test_what_scrolls_in_a_dialog_keeps_no_room_for_what_lies_below_it(toasts: Toasts) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    dialog = QDialog(host)
    dialog.resize(host.size())
    pane = acts(dialog)
    dialog.show()
    QApplication.processEvents()
    before = pane.verticalScrollBar().maximum()
    toasts.show(ToastSpec(text="refused", status="dead"))
    QApplication.processEvents()
    assert pane.verticalScrollBar().maximum() == before


def test_several_that_would_lie_on_something_one_above_the_other_stand_beside_each_other(toasts: Toasts) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    host.resize(1300, 700)
    verbs = []
    for top in range(20, 521, 100):
        verbs.append(QPushButton("verb", host))
        verbs[-1].setGeometry(0, top, 1300, 24)
        verbs[-1].show()
    for number in range(3):
        toasts.show(ToastSpec(text=str(number)))
        stand = [toast.geometry() for toast in toasts.toasts()]
        assert [one.text() for one in verbs if any(rect.intersects(one.geometry()) for rect in stand)] == []
    assert len({rect.top() for rect in stand}) == 1
    toasts.clear()


def test_a_message_leaves_a_field_of_many_lines_free(toasts: Toasts) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    field, told = QPlainTextEdit(host), QPlainTextEdit(host)
    field.setGeometry(600, 100, 400, 600)
    told.setGeometry(0, 100, 600, 600)
    told.setReadOnly(True)
    for one in (field, told):
        one.show()
    toast = toasts.show(ToastSpec(text="3 tasks cancelled"))
    assert not toast.geometry().intersects(field.geometry())
    toasts.clear()


def panel_in(toasts: Toasts) -> tuple[QWidget, QPushButton]:
    """One that is not open yet, and its verb where messages stand."""
    host = toasts.parent()
    assert isinstance(host, QWidget)
    panel, verb = QWidget(host), QPushButton("Pause shop")
    in_column(ScrollPane(), verb, owner=panel)
    panel.setGeometry(600, 0, 400, 600)
    panel.hide()
    return panel, verb


def covers(toast: Toast, button: QWidget) -> bool:
    place = QRect(button.mapTo(toast.parentWidget(), QPoint(0, 0)), button.size())
    return toast.geometry().intersects(place)


def test_it_makes_way_for_a_panel_that_somebody_opens(qtbot: QtBot, toasts: Toasts) -> None:
    panel, verb = panel_in(toasts)
    toast = toasts.show(ToastSpec(text="3 tasks cancelled"))
    assert toast.geometry().intersects(panel.geometry())
    panel.show()
    assert covers(toast, verb)
    qtbot.waitUntil(lambda: not covers(toast, verb))
    toasts.clear()


def test_what_a_second_message_lies_on_counts_with_all_its_height(toasts: Toasts) -> None:
    host = toasts.parent()
    assert isinstance(host, QWidget)
    first = toasts.show(ToastSpec(text="3 tasks cancelled"))
    verb = QPushButton("Peek", host)
    verb.setGeometry(first.x(), first.y() - 70, 100, 24)  # above where a low second one would lift the first
    verb.show()
    toasts.show(ToastSpec(text="3 tasks cancelled", detail="They can be created again. " * 6))
    assert not [one for one in toasts.toasts() if one.geometry().intersects(verb.geometry())]
    toasts.clear()


def test_an_undo_that_somebody_aims_at_stays_though_a_panel_opens(qtbot: QtBot, toasts: Toasts, others: Toasts) -> None:
    (panel, verb), (beside, its_verb) = panel_in(toasts), panel_in(others)
    aimed_at, free = (one.show(ToastSpec(text="3 tasks cancelled")) for one in (toasts, others))
    QApplication.sendEvent(aimed_at, QEnterEvent(QPointF(), QPointF(), QPointF()))
    panel.show()
    beside.show()
    assert covers(free, its_verb)
    qtbot.waitUntil(lambda: not covers(free, its_verb))
    assert covers(aimed_at, verb)
    for one in (toasts, others):
        one.clear()


def test_an_undo_stays_where_somebody_has_seen_it_though_something_comes_below(
    qtbot: QtBot, toasts: Toasts, others: Toasts
) -> None:
    (panel, verb), (beside, its_verb) = panel_in(toasts), panel_in(others)
    plain, free = (one.show(ToastSpec(text="3 tasks cancelled", seconds=600)) for one in (toasts, others))
    undo = toasts.show(ToastSpec(text="3 tasks held", actions=(undo_action(lambda: None),), seconds=600))
    at = undo.geometry()
    panel.show()
    beside.show()
    qtbot.waitUntil(lambda: not covers(free, its_verb))
    assert undo.geometry() == at
    assert covers(undo, verb)
    undo.close_now()
    assert covers(plain, verb)
    qtbot.waitUntil(lambda: not covers(plain, verb))
    for one in (toasts, others):
        one.clear()
