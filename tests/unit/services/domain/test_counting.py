"""Sentences that count are true of the instant at which they are read."""

from __future__ import annotations

import pytest

from services.domain.text.counting import left_s, read_at
from services.domain.text.message import Message
from services.messages import english

NOW = 1_700_000_000_000


@pytest.mark.parametrize(("ahead_ms", "left"), [(2_001, 3), (2_000, 2), (1, 1), (0, 0), (-5_000, 0)])
def test_begun_seconds_count(ahead_ms: int, left: int) -> None:
    assert left_s(NOW + ahead_ms, NOW) == left


def test_what_is_ahead_comes_nearer_and_is_over_once_it_has_come() -> None:
    told = Message("gate.scheduled", {"seconds": 41, "until": NOW + 41_000})
    assert english(read_at(told, NOW)) == "Starts in 41 s, as planned."
    assert english(read_at(told, NOW + 10_500)) == "Starts in 31 s, as planned."
    assert english(read_at(told, NOW + 41_000)) == "Its time has come."


def test_what_was_goes_further_away() -> None:
    told = Message("gate.overdue", {"seconds": 5, "since": NOW - 5_000})
    assert read_at(told, NOW + 60_000).params["seconds"] == 65


def test_a_spread_is_of_the_instant_at_which_it_was_asked() -> None:
    told = Message("gate.estimate_measured", {"low_s": 5.0, "mid_s": 8.0, "high_s": 12.0, "asked_at": NOW})
    assert english(read_at(told, NOW)) == "It starts in about 5–12 s, by how long such tasks took lately."
    assert english(read_at(told, NOW + 4_000)) == "It starts in about 1–8 s, by how long such tasks took lately."


def test_a_sentence_that_does_not_count_stays() -> None:
    for told in (Message("gate.paused", {"since": NOW}), Message("bulk.probe_late", {"seconds": 60})):
        assert read_at(told, NOW + 9_000) is told
