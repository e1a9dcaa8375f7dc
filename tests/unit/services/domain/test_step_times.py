"""How long the steps of an attempt took."""

from __future__ import annotations

from services.domain.task.step_times import MOST, took


def test_each_step_lasts_until_the_next() -> None:
    assert took([("log in", 1.0), ("orders", 3.5)], 10.0) == (("log in", 2.5), ("orders", 6.5))


def test_a_step_that_comes_again_is_one_step() -> None:
    marks = [("page # of #", 0.0), ("save", 2.0), ("page # of #", 3.0)]
    assert took(marks, 4.0) == (("page # of #", 3.0), ("save", 1.0))


def test_one_step_is_the_whole_run_and_says_nothing() -> None:
    assert took([("page # of #", 0.0)], 4.0) == ()
    assert took([], 4.0) == ()


def test_many_steps_are_cut() -> None:
    assert len(took([(f"s{number}", float(number)) for number in range(99)], 100.0)) == MOST
