"""Names and values."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.support import widgets
from views.theme import theme
from views.widgets.key_values import KeyValues
from views.widgets.layout import in_column
from views.widgets.scroll_pane import ScrollPane


def test_rows_are_reused_and_foreign_text_is_made_safe(qtbot: QtBot) -> None:
    view = KeyValues(mono=True)
    qtbot.addWidget(view)
    view.set_rows((("x-attempt", "2"), ("x-trace", "a\u202eb"), ("long", "x" * 80, "dead")))
    assert view.values() == {"x-attempt": "2", "x-trace": "a<U+202E>b", "long": "x" * 80}
    view.set_rows((("x-attempt", "3"),))
    assert view.values() == {"x-attempt": "3"}
    view.set_rows(())
    assert view.values() == {}


def test_values_may_stand_at_the_right(qtbot: QtBot) -> None:
    view = KeyValues(spread=True)
    qtbot.addWidget(view)
    view.set_rows((("Shared lane", "119"),))
    view.grab()


def test_a_value_of_several_lines_is_shown_to_its_last_one(qtbot: QtBot) -> None:
    panel, view, below = QWidget(), KeyValues(spread=True), QLabel("below")
    qtbot.addWidget(panel)
    column = in_column(view, below, owner=panel)
    column.addStretch(1)
    panel.resize(210, 400)
    panel.show()
    said = "5 wait for 1 task, 288 have none open"
    view.set_rows((("After batch_products", said),))
    value = widgets.find(view, QLabel, said)
    lines = set()
    for width in (180, 210, 700):
        panel.resize(width, 400)
        qtbot.waitUntil(lambda: value.height() >= value.heightForWidth(value.width()) and below.y() > 0)
        qtbot.waitUntil(lambda: value.height() == value.heightForWidth(value.width()))
        lines.add(value.height() // value.fontMetrics().height())
    assert len(lines) == 3, lines
    assert min(lines) == 1


def test_an_id_that_has_no_room_beside_its_name_stands_whole_below_it(qtbot: QtBot) -> None:
    pane = ScrollPane()
    qtbot.addWidget(pane)
    view = KeyValues(mono=True)
    pane.body.addWidget(view)
    task = "pdd_batch_reply_pdd-10112_2159b7f5aa49"
    view.set_rows((("x-attempt", "2"), ("x-rpa-first-queued", task)))
    named, value = (widgets.find(view, QLabel, text) for text in ("x-rpa-first-queued", task))
    pane.resize(360, 200)
    pane.show()
    try:
        for letters in (100, 130):
            theme().set_text_size(letters)
            qtbot.waitUntil(lambda: value.y() > named.y(), timeout=3000)
            assert value.width() >= value.minimumSizeHint().width()
            assert value.mapTo(pane, value.rect().topRight()).x() < pane.viewport().width()
    finally:
        theme().set_text_size(100)
    pane.resize(700, 200)
    qtbot.waitUntil(lambda: abs(value.y() - named.y()) < 4 and value.x() > named.x())
