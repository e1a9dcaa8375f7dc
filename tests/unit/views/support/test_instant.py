"""The instant that all windows tell."""

from __future__ import annotations

from PySide6.QtCore import QObject

from views.support.instant import Ticks


def test_it_stands_still_until_the_last_window_that_holds_it_lets_go() -> None:
    told = Ticks()
    first, second = QObject(), QObject()
    told.hold(first, on=True)
    told.hold(second, on=True)
    told.hold(second, on=False)
    assert told.held, "the other one is frozen still"
    told.hold(first, on=False)
    assert not told.held
