"""Pauses between attempts."""

from __future__ import annotations

import pytest

from services.broker.rabbitmq.timing import FIRST_RETRY, REACH_CAP, REFUSED_CAP, Backoff


@pytest.mark.parametrize("cap", [REACH_CAP, REFUSED_CAP])
def test_pauses_begin_small_double_and_stop_at_the_cap(cap: float) -> None:
    backoff = Backoff()
    wanted = [FIRST_RETRY, 1, 2, 4, 8, 16, 30, 30, 30]
    for seconds in wanted:
        assert 0.75 * min(seconds, cap) <= backoff.pause(cap) <= 1.25 * min(seconds, cap)
    backoff.reset()
    assert backoff.pause(cap) <= 1.25 * FIRST_RETRY


def test_a_fleet_does_not_return_in_one_moment() -> None:
    assert len({Backoff().pause(REACH_CAP) for _ in range(20)}) > 10


def test_ten_seconds_after_the_broker_everyone_is_back() -> None:
    assert REACH_CAP * 1.25 <= 10
