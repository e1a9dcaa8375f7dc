"""The forecast behind New task and Republish."""

from __future__ import annotations

import pytest

from services.domain.insight.forecast.outlook import POINTS, Load, forecast

BUSY = Load(slots=10, busy=10, waiting=100, mean_s=10.0)


def test_a_free_slot_starts_at_once_and_a_full_fleet_after_those_that_wait() -> None:
    assert forecast(Load(slots=4, busy=1, waiting=0), 1).first_s == 0
    assert forecast(BUSY, 1).first_s == pytest.approx(101.0)


def test_without_workers_nothing_ever_starts() -> None:
    found = forecast(Load(waiting=3), 5)
    assert (found.first_s, found.done_s, found.delay_s) == (None, None, None)
    assert found.with_them[-1] == 8


def test_all_at_once_is_the_soonest_and_delays_others_most() -> None:
    now, slow = forecast(BUSY, 60), forecast(BUSY, 60, per_minute=6)
    assert (now.published_s, slow.published_s) == (0.0, pytest.approx(590.0))
    assert now.done_s is not None
    assert slow.done_s is not None
    assert now.done_s < slow.done_s
    assert now.delay_s == pytest.approx(60.0)
    assert slow.delay_s is not None
    assert slow.delay_s < 60.0


def test_the_curves_begin_now_and_differ_by_what_is_added() -> None:
    found = forecast(BUSY, 50)
    assert len(found.without) == len(found.with_them) == POINTS + 1
    assert (found.without[0], found.with_them[0]) == (100, 150)
    assert found.without[-1] == found.with_them[-1] == 0
    assert all(more >= less for more, less in zip(found.with_them, found.without, strict=True))


def test_a_shop_that_runs_one_by_one_sets_the_end() -> None:
    assert forecast(Load(slots=50, mean_s=10.0), 20, most_per_shop=20).done_s == pytest.approx(200.0)


@pytest.mark.parametrize("per_minute", [0, 6, 30, 6000])
def test_nothing_at_all_is_a_forecast_too(per_minute: float) -> None:
    found = forecast(Load(), 0, per_minute=per_minute)
    assert found.published_s == 0
    assert found.horizon_s > 0


def test_the_end_has_a_spread_that_narrows_with_what_was_measured() -> None:
    def width(measured: int) -> float:
        found = forecast(Load(slots=10, busy=10, waiting=100, mean_s=10.0, deviation_s=4.0, measured=measured), 50)
        assert found.done_low_s is not None
        assert found.done_s is not None
        assert found.done_high_s is not None
        assert found.done_low_s < found.done_s < found.done_high_s
        return found.done_high_s - found.done_low_s

    assert width(100) < width(4)
