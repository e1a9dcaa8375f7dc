"""The small curve."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from views.charts.sparkline import Sparkline, points_in, scale, thin
from views.theme import theme


def test_thinning_keeps_lows_highs_and_the_last() -> None:
    values = [0.0] * 500
    values[123], values[321], values[-1] = 9, -9, 5
    kept = thin(values, 60)
    assert len(kept) <= 62
    assert max(kept) == 9
    assert min(kept) == -9
    assert kept[-1] == 5
    assert thin([1, 2, 3], 60) == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "limit", "base"), [([3, 3, 3], None, None), ([0, 0], 0, None), ([1, 5], 4, 0), ([-2, 2], None, 0)]
)
def test_the_scale_is_never_empty(values: list[float], limit: float | None, base: float | None) -> None:
    low, high = scale(values, limit, base=base)
    assert low < high
    assert low <= min(values)
    assert high >= max(values)


def test_nothing_all_the_time_lies_on_the_ground() -> None:
    from PySide6.QtCore import QRectF

    low, high = scale([0, 0, 0], base=0)
    assert all(point.y() > 56 for point in points_in(QRectF(0, 20, 100, 40), [0, 0, 0], low, high))


def test_a_limit_is_in_sight_when_it_is_near() -> None:
    assert scale([90, 110], 100)[1] < 112
    assert scale([70, 100], 120)[1] >= 120
    assert scale([70, 71], 20_000)[1] < 100


def test_points_fill_the_room() -> None:
    from PySide6.QtCore import QRectF

    points = points_in(QRectF(10, 20, 100, 40), [0, 10], 0, 10)
    assert [(point.x(), point.y()) for point in points] == [(10, 60), (110, 20)]


def test_what_is_not_known_breaks_the_curve(qtbot: QtBot) -> None:
    nan = float("nan")
    assert any(value != value for value in thin([1.0] * 400 + [nan] + [2.0] * 199, 60))
    line = Sparkline("Success, 24 h")
    qtbot.addWidget(line)
    line.resize(120, 22)
    line.show_values([4.0] * 50 + [nan] * 50 + [4.0] * 50)
    line.show()
    image = line.grab().toImage()
    drawn = [any(image.pixel(x, y) != image.pixel(0, 0) for y in range(22)) for x in range(5, 110)]
    assert drawn[10]
    assert not any(drawn[43:62])
    assert drawn[90]
    assert line.accessibleDescription() == "now 4, lowest 4, highest 4"


def test_it_is_drawn_again_only_when_something_changed(qtbot: QtBot) -> None:
    line = Sparkline("Success, 24 h")
    qtbot.addWidget(line)
    line.show_values([1, 2, 3])
    line.show()
    first = line.grab().toImage()
    drawn = line._picture
    line.show_values([1, 2, 3])
    line.grab()
    assert line._picture is drawn
    line.show_values([3, 2, 1])
    assert line.grab().toImage() != first
    theme().set_mode("light")
    assert line._picture is None


def test_it_speaks(qtbot: QtBot) -> None:
    line = Sparkline("Success, 24 h")
    qtbot.addWidget(line)
    assert line.accessibleDescription() == ""
    line.show_values([1, 4, 2])
    assert line.accessibleName() == "Success, 24 h"
    assert line.accessibleDescription() == "now 2, lowest 1, highest 4"
    line.show_values([])
    assert not line.grab().isNull()
