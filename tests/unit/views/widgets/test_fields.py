"""Fields."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.theme.qss import make_qss
from views.theme.theme import draw_glyphs
from views.theme.tokens import tokens
from views.widgets.fields import ChoiceField, ClearAction, DateTimeField, Labelled, NumberField, SpanField


def number() -> QWidget:
    return NumberField(50, 1, 100)


def choice() -> QWidget:
    field = ChoiceField()
    field.addItems(["a", "b"])
    return field


def when() -> QWidget:
    field = DateTimeField()
    field.show_moment(datetime(2026, 11, 21, 14, 32, 7, tzinfo=UTC))
    return field


@pytest.mark.parametrize("make", [number, choice, when])
def test_the_wheel_is_left_to_the_page(qtbot: QtBot, make: object) -> None:
    field = make()  # type: ignore[operator]
    qtbot.addWidget(field)
    event = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(0, 120), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(field, event)
    assert not event.isAccepted()


def test_values_and_forms(qtbot: QtBot) -> None:
    field, time, now = NumberField(500, 1, 100), when(), DateTimeField()
    for widget in (field, time, now):
        qtbot.addWidget(widget)
    assert field.value() == 100
    assert isinstance(time, DateTimeField)
    assert time.text() == "2026-11-21 14:32"
    assert now.dateTime().isValid()


def test_labels_name_and_errors_mark(qtbot: QtBot) -> None:
    field = Labelled("Filters", QLineEdit(), hint="Loading")
    qtbot.addWidget(field)
    field.show()
    field.set_error("100 at most")
    assert field.error() == field.field.accessibleDescription() == "100 at most"
    assert field.field.property("invalid") is True
    field.set_error("")
    assert not field.field.property("invalid")
    i18n.set_language("zh_CN")
    assert field.field.accessibleName() == "筛选条件"


def test_the_cross_of_a_field_stands_there_while_there_is_something_to_empty(qtbot: QtBot) -> None:
    field = QLineEdit()
    qtbot.addWidget(field)
    clear = ClearAction(field)
    assert not clear.isVisible()
    field.setText("rpa")
    assert clear.isVisible()
    clear.trigger()
    assert (field.text(), clear.isVisible()) == ("", False)


def test_the_cross_stands_in_the_middle_of_the_field_as_it_is_dressed(qtbot: QtBot) -> None:
    field = QLineEdit("rpa")
    qtbot.addWidget(field)
    ClearAction(field)
    dark = tokens("dark")
    field.setStyleSheet(make_qss(dark, draw_glyphs(dark)))
    field.resize(200, 28)
    field.show()
    (cross,) = field.findChildren(QToolButton)
    assert abs(cross.geometry().center().y() - field.rect().center().y()) <= 1
    assert field.rect().contains(cross.geometry())


def test_one_of_thousands_is_found_by_what_its_name_holds(qtbot: QtBot) -> None:
    field = ChoiceField()
    qtbot.addWidget(field)
    field.addItems(["Order sync · sync_order", "Shop crawl · shop_crawl", "Single product · single_product"])
    field.addItems([f"Type number {number} · type_{number:04}" for number in range(2_000)])
    field.show()
    qtbot.keyClicks(field, "1987")
    assert field.currentText() == "Type number 1987 · type_1987"
    QTest.qWait(QApplication.keyboardInputInterval() + 50)
    qtbot.keyClicks(field, "sh")
    assert field.currentText() == "Shop crawl · shop_crawl", "what begins so comes first"
    QTest.qWait(QApplication.keyboardInputInterval() + 50)
    qtbot.keyClicks(field, "s")
    qtbot.keyClicks(field, "s")
    assert field.currentText() in ("Shop crawl · shop_crawl", "Single product · single_product")


def test_a_long_list_does_not_cover_the_window(qtbot: QtBot, qapp: QApplication) -> None:
    colors = tokens("dark")
    page = QWidget()
    qtbot.addWidget(page)
    page.setStyleSheet(make_qss(colors, draw_glyphs(colors)))
    field = ChoiceField(page)
    field.addItems([f"Type number {number}" for number in range(2_000)])
    page.show()
    field.showPopup()
    assert field.view().window().height() < 16 * field.view().sizeHintForRow(0) + 40
    field.hidePopup()


def test_names_of_a_narrow_field_are_whole_in_its_list(qtbot: QtBot) -> None:
    colors, names = tokens("dark"), [f"Parameters: {part}" for part in ("page size", "since", "a name that is long")]
    page = QWidget()
    qtbot.addWidget(page)
    page.setStyleSheet(make_qss(colors, draw_glyphs(colors)))
    field = ChoiceField(page)
    field.addItems(names * 10)
    field.setFixedWidth(80)
    screen = page.screen().availableGeometry()
    page.move(screen.right() - 90, 100)  # nor does the list leave the screen
    page.show()
    field.showPopup()
    room = field.view().viewport().width()
    assert room >= field.view().sizeHintForColumn(0) > 80
    assert screen.contains(field.view().window().geometry())
    field.hidePopup()


def test_a_span_is_said_as_people_say_it_and_seen_in_the_dress_of_the_program(qtbot: QtBot) -> None:
    colors = tokens("dark")
    page = QWidget()
    qtbot.addWidget(page)
    page.setStyleSheet(make_qss(colors, draw_glyphs(colors)))
    some, never = SpanField(600, 86_400, ""), SpanField(0, 86_400, "never")
    for field in (some, never):
        field.setParent(page)
        field.setFixedWidth(90)
    page.show()
    line = some.lineEdit()
    assert line.width() > line.fontMetrics().horizontalAdvance(line.text()) > 20, "and not a strip of one pixel"
    some.setValue(0)
    assert [one.text().replace("\u202f", " ") for one in (some, never)] == ["0 s", "never"]
    i18n.set_language("zh_CN")
    for field in (some, never):
        field.say_again()
    assert [one.text().replace("\u202f", " ") for one in (some, never)] == ["0 秒", "从不"]
    QTest.keyClick(never, Qt.Key.Key_Up)
    assert never.value() == 10


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "Europe/Berlin"])
def test_a_moment_is_read_as_it_was_shown_in_its_zone(qtbot: QtBot, zone: str) -> None:
    """Also an hour that the clock of another zone leaves out."""
    field = DateTimeField()
    qtbot.addWidget(field)
    moment = datetime(2026, 3, 29, 2, 30, 15, tzinfo=ZoneInfo(zone))
    field.show_moment(moment)
    assert field.text() == "2026-03-29 02:30"
    assert field.moment(ZoneInfo(zone)) == moment
