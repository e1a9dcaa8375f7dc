"""The popover of a chip."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget
from pytestqt.qtbot import QtBot

from views.widgets.filter.bar import Choice, ValuePopup

CHOICES = (Choice("dead", "Dead letter", ("ph.x-circle-fill", "dead"), 143), Choice("held", "Held"))


@pytest.fixture
def popup(qtbot: QtBot) -> ValuePopup:
    popup = ValuePopup("Status")
    qtbot.addWidget(popup)
    popup.fill(CHOICES, ("dead", "other"), negated=False, free=True)
    return popup


def items(popup: ValuePopup) -> QListWidget:
    return popup.list


def test_chosen_values_are_ticked_also_unknown_ones(popup: ValuePopup) -> None:
    assert popup.chosen() == ("dead", "other")
    assert items(popup).item(0).text() == "Dead letter   143"


def test_a_number_that_is_not_all_says_so(qtbot: QtBot) -> None:
    popup = ValuePopup("Gate")
    qtbot.addWidget(popup)
    popup.fill([Choice("paused", "Paused", count=4000, exact=False)], (), negated=False, free=True)
    assert items(popup).item(0).text() == "Paused   ≥ 4,000"


def test_ticking_tells_all_values(qtbot: QtBot, popup: ValuePopup) -> None:
    with qtbot.waitSignal(popup.changed) as signal:
        items(popup).item(1).setCheckState(Qt.CheckState.Checked)
    assert signal.args == [("dead", "held", "other"), False]
    with qtbot.waitSignal(popup.changed) as signal:
        popup.mode.choose("exclude")
    assert signal.args[1] is True


def test_searching_hides_and_enter_takes_the_only_one(qtbot: QtBot, popup: ValuePopup) -> None:
    popup.search.setText("hel")
    assert items(popup).item(0).isHidden()
    with qtbot.waitSignal(popup.changed) as signal:
        qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert "held" in signal.args[0]


def test_down_leads_from_the_search_to_what_it_found_and_space_takes_it(qtbot: QtBot, popup: ValuePopup) -> None:
    popup.show()
    popup.activateWindow()
    popup.search.setFocus()
    qtbot.waitUntil(popup.search.hasFocus)
    popup.search.setText("hel")
    qtbot.keyClick(popup.search, Qt.Key.Key_Down)
    assert items(popup).hasFocus()
    assert items(popup).currentItem().text() == "Held"
    qtbot.keyClick(items(popup), Qt.Key.Key_Space)
    assert "held" in popup.chosen()


def test_a_typed_value_is_taken(qtbot: QtBot, popup: ValuePopup) -> None:
    popup.search.setText("shop01*")
    with qtbot.waitSignal(popup.changed) as signal:
        qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert signal.args[0] == ("dead", "other", "shop01*")


def test_without_free_values_nothing_is_taken(qtbot: QtBot) -> None:
    popup = ValuePopup("Status")
    qtbot.addWidget(popup)
    popup.fill(CHOICES, (), negated=True, free=False)
    assert popup.search.isHidden()
    popup.search.setText("nothing")
    with qtbot.assertNotEmitted(popup.changed):
        popup.search.returnPressed.emit()
    popup.search.setText("")
    with qtbot.assertNotEmitted(popup.changed):
        popup.search.returnPressed.emit()
