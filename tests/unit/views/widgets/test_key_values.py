"""Names and values."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from views.widgets.key_values import KeyValues


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
