"""The filter of a page."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from services import i18n
from tests.unit.views.samples import FIELDS
from views.support.memory import ShortMemory
from views.widgets.filter.bar import FilterBar, FilterField, FilterValue, ValuePopup

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def bar(qtbot: QtBot) -> FilterBar:
    bar = FilterBar(FIELDS, placeholder="Filter")
    qtbot.addWidget(bar)
    bar.resize(1100, 43)
    bar.show()
    return bar


def shown(bar: FilterBar) -> list[str]:
    return [view.accessibleName() for view in bar.chip_views() if not view.isHidden()]


def test_an_expression_becomes_chips_and_words(bar: FilterBar) -> None:
    bar.set_expression('status:running,dead -platform:pdd "login expired"')
    assert shown(bar)[:2] == ["Status is Running, Dead letter", "Platform is not Pinduoduo"]
    assert bar.field.text() == '"login expired"'
    assert bar.expression() == 'status:running,dead -platform:pdd "login expired"'


def test_several_values_are_listed_as_the_language_does(bar: FilterBar) -> None:
    bar.set_expression("status:running,dead")
    i18n.set_language("zh_CN")
    try:
        assert "," not in bar.said()
        assert "执行中，死信" in bar.said()
    finally:
        i18n.set_language("en")


def test_what_else_is_filtered_for_leaves_out_values_that_are_typed_too(bar: FilterBar) -> None:
    bar.set_expression("status:dead -platform:pdd")
    bar.field.setText("status:held expired")
    assert bar.without("status") == "-platform:pdd expired"
    assert bar.without("platform") == "status:dead status:held expired"


def test_chinese_punctuation_typed_as_a_line_becomes_chips(qtbot: QtBot, bar: FilterBar) -> None:
    bar.text_button.click()
    with qtbot.waitSignal(bar.changed) as signal:
        typed = QInputMethodEvent()
        typed.setCommitString("status：dead，running -platform：“pdd” “登录 失效”")
        QApplication.sendEvent(bar.line, typed)
    assert signal.args == ["status：dead，running -platform：“pdd” “登录 失效”"]
    bar.text_button.click()
    assert shown(bar)[:2] == ["Status is Dead letter, Running", "Platform is not Pinduoduo"]
    assert bar.field.text() == "“登录 失效”"
    assert bar.expression() == "status:dead,running -platform:pdd “登录 失效”"


def test_setting_is_silent(qtbot: QtBot, bar: FilterBar) -> None:
    with qtbot.assertNotEmitted(bar.changed, wait=1):
        bar.set_expression("status:dead x")


def test_typing_tells_after_a_pause(qtbot: QtBot, bar: FilterBar) -> None:
    with qtbot.waitSignal(bar.changed) as signal:
        qtbot.keyClicks(bar.field, "login")
    assert signal.args == ["login"]


@pytest.mark.parametrize(
    ("typed", "expression"),
    [("two words", "two words"), ("age>1h", "age>1h"), ("batch:B", "batch:B"), ("  ", "")],
)
def test_typed_terms_stay_terms(bar: FilterBar, typed: str, expression: str) -> None:
    bar.field.setText(typed)
    assert bar.expression() == expression


def test_enter_does_not_wait(qtbot: QtBot, bar: FilterBar) -> None:
    bar.field.setText("login")
    with qtbot.waitSignal(bar.changed):
        qtbot.keyClick(bar.field, Qt.Key.Key_Return)


def test_slash_and_backspace(qtbot: QtBot, bar: FilterBar) -> None:
    with qtbot.waitActive(bar):
        bar.activateWindow()
    bar.setFocus()
    qtbot.keyClick(bar, Qt.Key.Key_Slash)
    assert bar.field.hasFocus()
    bar.set_expression("status:dead platform:pdd")
    with qtbot.waitSignal(bar.changed) as signal:
        qtbot.keyClick(bar.field, Qt.Key.Key_Backspace)
    assert signal.args == ["status:dead"]
    bar.field.setText("abc")
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert bar.field.text() == ""


def test_values_of_a_table_are_added(qtbot: QtBot, bar: FilterBar) -> None:
    with qtbot.waitSignal(bar.changed) as signal:
        bar.add_value("status", "dead")
    assert signal.args == ["status:dead"]
    bar.add_value("status", "held")
    bar.add_value("status", "running", include=False)
    bar.add_value("batch", "B 1")
    assert bar.expression() == 'status:dead,held -status:running batch:"B 1"'


def test_clearing(qtbot: QtBot, bar: FilterBar) -> None:
    bar.set_expression("status:dead x")
    with qtbot.waitSignal(bar.changed) as signal:
        bar.clear()
    assert signal.args == [""]
    bar.remove_last()


def test_a_cross_removes_its_chip(qtbot: QtBot, bar: FilterBar) -> None:
    bar.set_expression("status:dead platform:pdd")
    with qtbot.waitSignal(bar.changed) as signal:
        bar.chip_views()[0].removed.emit()
    assert signal.args == ["platform:pdd"]


def test_an_offer_opens_its_values(qtbot: QtBot, bar: FilterBar) -> None:
    bar.set_counts("status", {"dead": 143})
    bar.chip_views()[0].opened.emit()
    popup = bar.findChild(ValuePopup)
    with qtbot.waitSignal(bar.changed) as signal:
        popup.changed.emit(("dead",), False)
        popup.changed.emit(("dead", "held"), True)
    assert signal.args == ["-status:dead,held"]
    popup.changed.emit((), True)
    assert bar.expression() == ""
    popup.close()


def test_values_that_are_open_say_how_many_they_have_by_now(qtbot: QtBot, bar: FilterBar) -> None:
    with qtbot.waitSignal(bar.opened) as opened:
        bar.chip_views()[0].opened.emit()
    assert opened.args == ["status"]
    popup = bar.findChild(ValuePopup)
    before = [popup.list.item(row).text() for row in range(popup.list.count())]
    popup.changed.connect(lambda *_chosen: pytest.fail("nobody chose anything"))
    bar.set_counts("platform", {"pdd": 1})
    bar.set_counts("status", {"dead": 14_300}, ["dead"])
    now = [popup.list.item(row).text() for row in range(popup.list.count())]
    assert [text for text in now if text not in before] == ["Dead letter   ≥ 14,300"]
    popup.close()


def test_where_it_is_narrow_offers_go_behind_more(qtbot: QtBot, bar: FilterBar) -> None:
    bar.set_expression("status:running,retrying")
    bar.resize(520, 43)
    QApplication.processEvents()
    assert len(shown(bar)) < 4
    assert bar.chips.more.isVisible()
    bar.chips.more.opened.emit()
    (menu,) = bar.findChildren(QMenu)
    assert "Shop" in [action.text() for action in menu.actions()]
    next(action for action in menu.actions() if action.text() == "Shop").trigger()
    popup = bar.findChild(ValuePopup)
    popup.changed.emit(("pdd:1",), False)
    assert bar.expression() == "status:running,retrying shop:pdd:1"
    popup.close()
    menu.close()


def test_a_value_beyond_those_that_are_listed_is_found_by_what_is_typed(qtbot: QtBot, bar: FilterBar) -> None:
    every = [FilterValue(f"pdd:{number}", f"Harbour {number}") for number in range(5_000)]
    find = lambda typed: [one for one in every if typed in one.word.casefold()][:50]  # noqa: E731
    bar.set_fields((FilterField("shop", "Shop", tuple(every[:3]), free=True, find=find),))
    bar.chip_views()[0].opened.emit()
    popup = bar.findChild(ValuePopup)
    qtbot.keyClicks(popup.search, "HARBOUR 4321")
    items = [popup.list.item(row) for row in range(popup.list.count())]
    assert [item.text() for item in items if not item.isHidden()] == ["Harbour 4321"]
    qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert bar.expression() == "shop:pdd:4321"


def test_fields_may_be_known_later(bar: FilterBar) -> None:
    bar.set_expression("status:dead")
    bar.set_fields((FilterField("status", "Status", (FilterValue("dead", "Gone"),)), FilterField("x", "X")))
    assert shown(bar)[0] == "Status is Gone"
    assert bar.expression() == "status:dead"


def test_a_value_picked_while_others_become_known_is_told(qtbot: QtBot, bar: FilterBar) -> None:
    bar.chip_views()[0].opened.emit()
    popup = bar.findChild(ValuePopup)
    popup.list.item(0).setCheckState(Qt.CheckState.Checked)
    with qtbot.waitSignal(bar.changed) as signal:
        bar.set_fields((*FIELDS, FilterField("x", "X")))
    popup.close()
    assert signal.args == [bar.expression()] != [""]


def test_words_typed_just_before_the_filter_is_shown_as_text_are_told(qtbot: QtBot, bar: FilterBar) -> None:
    qtbot.keyClicks(bar.field, "login")
    with qtbot.waitSignal(bar.changed) as signal:
        bar.text_button.click()
    assert (signal.args, bar.line.text()) == (["login"], "login")


def test_what_a_person_filtered_for_is_kept_and_no_link(qtbot: QtBot, bar: FilterBar) -> None:
    memory = ShortMemory()
    bar.remember(memory, "filter")
    qtbot.keyClicks(bar.field, "login")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    bar.set_expression("status:dead")
    assert memory.get("filter") == "login"


def test_values_that_are_known_later_leave_a_chip_and_the_keyboard_on_it_where_they_are(bar: FilterBar) -> None:
    bar.set_fields((FilterField("x", "X", (FilterValue("a", "A"),)), FilterField("status", "Status")))
    bar.set_expression("x:b")
    chips = bar.chip_views()
    chips[-1].setFocus()
    bar.set_fields((FilterField("x", "X", (FilterValue("c", "C"),)), FilterField("status", "Status")))
    assert bar.chip_views() == chips
    assert bar.chip_views()[-1].hasFocus()
    chips[0].opened.emit()
    popup = bar.findChild(ValuePopup)
    assert [popup.list.item(row).text() for row in range(popup.list.count())] == ["C", "b"]
    popup.close()


def test_names_follow_the_language(bar: FilterBar) -> None:
    bar.add_action(QPushButton("x"))
    bar.set_expression("status:dead")
    i18n.set_language("zh_CN")
    assert bar.field.placeholderText() == bar.field.accessibleName() == "筛选"
    assert "死信" in shown(bar)[0]


def test_the_field_shows_its_key_while_empty(qtbot: QtBot, bar: FilterBar) -> None:
    bar.field.clearFocus()
    empty = bar.field.grab().toImage()
    bar.field.setText("x")
    assert bar.field.grab().toImage() != empty
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))


def test_a_span_of_time_is_said_in_chips_and_none_of_it_stands_in_the_field(qtbot: QtBot) -> None:
    said = {"2026-11-29T12:00": "11-29 12:00"}
    bar = FilterBar((FilterField("updated", "Changed last", say=lambda value: said.get(value, value), bound=True),))
    qtbot.addWidget(bar)
    expression = "updated>=2026-11-29T12:00 updated<2h"
    bar.set_expression(expression)
    assert (bar.field.text(), bar.expression()) == ("", expression)
    assert [chip.accessibleName() for chip in bar.chip_views()] == [
        "Changed last is from 11-29 12:00 on",
        "Changed last is < 2h",
    ]
    bar.add_value("updated", "today")
    assert bar.expression() == f"{expression} updated:today"
