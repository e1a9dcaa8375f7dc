"""Toasts leave by themselves; errors do not."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QEnterEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from views.widgets.buttons import Button
from views.widgets.toast import Toast, ToastAction, ToastSpec


def make(qtbot: QtBot, spec: ToastSpec) -> Toast:
    toast = Toast(spec)
    qtbot.addWidget(toast)
    toast.show()
    return toast


def button(toast: Toast, text: str) -> Button:
    return next(b for b in toast.findChildren(Button) if b.text() == text)


def test_it_leaves_by_itself(qtbot: QtBot) -> None:
    # Not shown: the pointer may rest where it would come up, and then it waits.
    toast = Toast(ToastSpec(text="Done", seconds=0.001))
    qtbot.addWidget(toast)
    toast.grab()
    with qtbot.waitSignal(toast.closed):
        pass


@pytest.mark.parametrize("spec", [ToastSpec(text="No", status="dead", seconds=0.001), ToastSpec(text="x", sticky=True)])
def test_what_must_be_read_stays(qtbot: QtBot, spec: ToastSpec) -> None:
    toast = make(qtbot, spec)
    assert spec.stays
    assert not toast._timer.isActive()
    QApplication.sendEvent(toast, QEvent(QEvent.Type.Leave))
    assert not toast._timer.isActive()


def test_a_click_on_a_verb_leaves_the_focus_where_it_was(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    field = QLineEdit(host)
    toast = Toast(ToastSpec(text="Gone", actions=(ToastAction(text="Undo", call=lambda: None),)), host)
    toast.move(0, 40)
    host.resize(400, 200)
    host.show()
    host.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    QTest.mouseClick(button(toast, "Undo"), Qt.MouseButton.LeftButton)
    assert field.hasFocus()


def test_verbs_act_and_close(qtbot: QtBot) -> None:
    done: list[str] = []
    toast = make(
        qtbot,
        ToastSpec(text="128 tasks created.", actions=(ToastAction(text="Undo", call=lambda: done.append("undo")),)),
    )
    with qtbot.waitSignal(toast.closed):
        button(toast, "Undo").click()
    assert done == ["undo"]


def test_details_can_be_copied(qtbot: QtBot) -> None:
    toast = make(qtbot, ToastSpec(text="No", detail="line\nline", status="dead", copy="trace"))
    button(toast, "Copy details").click()
    assert QGuiApplication.clipboard().text() == "trace"
    assert toast.accessibleName() == "No line\nline"


def test_it_waits_under_the_mouse(qtbot: QtBot) -> None:
    toast = make(qtbot, ToastSpec(text="Done"))
    QApplication.sendEvent(toast, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    assert not toast._timer.isActive()
    QApplication.sendEvent(toast, QEvent(QEvent.Type.Leave))
    assert toast._timer.isActive()
    toast.close_now()


@pytest.mark.parametrize("hidden", [False, True])
def test_what_leaves_however_bad_it_is_waits_until_its_window_is_in_front(qtbot: QtBot, hidden: bool) -> None:
    window, other = QWidget(), QWidget()
    for widget in (window, other):
        qtbot.addWidget(widget)
        widget.resize(800, 600)
        widget.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    window.setHidden(hidden)
    QCursor.setPos(window.mapToGlobal(QPoint(1, 1)))  # not where it comes up
    toast = Toast(ToastSpec(text="9 shops must be logged in again", status="dead", seconds=0.02, leaves=True), window)
    toast.move(400, 400)
    toast.show()
    closed: list[bool] = []
    toast.closed.connect(lambda: closed.append(True))
    qtbot.wait(60)
    assert closed == []
    window.show()
    window.activateWindow()
    qtbot.waitUntil(lambda: closed == [True])


def test_its_words_change_in_place(qtbot: QtBot) -> None:
    toast = Toast(ToastSpec(text="1 of 9", key="run", sticky=True))
    qtbot.addWidget(toast)
    toast.change_words(ToastSpec(text="2 of 9", detail="soon", key="run", update=True))
    assert toast.accessibleName() == "2 of 9 soon"
    assert toast.spec.sticky, "only the words are others"
