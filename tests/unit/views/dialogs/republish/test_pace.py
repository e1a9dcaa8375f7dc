"""The slider's steps."""

from __future__ import annotations

import pytest

from services import i18n
from views.dialogs.republish import speed


def test_it_rises_from_the_slowest_to_all_at_once() -> None:
    rates = [speed.rate_at(step) for step in range(speed.STEPS + 1)]
    assert (rates[0], rates[-2], rates[-1]) == (speed.SLOWEST, speed.FASTEST, speed.ALL)
    assert rates[:-1] == sorted(rates[:-1])
    assert speed.rate_at(speed.STEPS // 2) == pytest.approx(60, abs=3), "the middle is the geometric mean"


@pytest.mark.parametrize("rate", [6, 30, 60, 120, 600, 0])
def test_a_rate_has_its_step(rate: int) -> None:
    assert speed.rate_at(speed.step_of(rate)) == pytest.approx(rate, rel=0.05)


def test_rates_beyond_the_slider_stand_at_its_ends() -> None:
    assert speed.step_of(1) == 0
    assert speed.step_of(60_000) == speed.STEPS - 1


def test_words() -> None:
    assert (speed.words(30), speed.words(0)) == ("30 a minute", "all at once")
    i18n.set_language("zh_CN")
    assert speed.words(30) == "每分钟 30 个"
