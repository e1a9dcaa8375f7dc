"""Where the window stands on screens of any size, also those that are gone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMargins, QRect

from console.main_window import fitted, most_of

FRAME = QMargins(8, 31, 8, 8)
SMALL = QRect(0, 0, 1366, 728)
LEFT, RIGHT = QRect(0, 0, 1920, 1040), QRect(1920, 0, 2560, 1400)


@pytest.mark.parametrize(
    "wanted",
    [
        QRect(0, 0, 1600, 1000),
        QRect(-400, -50, 960, 540),
        QRect(1300, 700, 960, 540),
        QRect(3000, 2000, 1600, 1000),
        QRect(8, 31, 1350, 689),
    ],
    ids=["larger", "beyond the left", "beyond the right", "on a screen that is gone", "exactly"],
)
def test_window_and_frame_lie_within_the_room(wanted: QRect) -> None:
    placed = fitted(wanted, FRAME, SMALL)
    assert SMALL.contains(placed.marginsAdded(FRAME))
    assert placed.width() == min(wanted.width(), 1350)
    assert placed.height() == min(wanted.height(), 689)


def test_what_fits_stays_where_it_is() -> None:
    wanted = QRect(100, 60, 1000, 600)
    assert fitted(wanted, FRAME, SMALL) == wanted


def test_it_belongs_to_the_screen_that_shows_most_of_it() -> None:
    assert most_of(QRect(1800, 100, 1000, 600), [LEFT, RIGHT]) == RIGHT
    assert most_of(QRect(1000, 100, 1000, 600), [LEFT, RIGHT]) == LEFT


def test_where_no_screen_shows_it_the_first_does() -> None:
    assert most_of(QRect(9000, 100, 1000, 600), [LEFT, RIGHT]) == LEFT
