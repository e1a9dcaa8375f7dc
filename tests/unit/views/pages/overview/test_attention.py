"""Items in words."""

from __future__ import annotations

import pytest

from services.monitor.overview import Attention
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource, attention
from views.pages.overview.attention import WORDS, markers, row_of
from views.support.text import THIN


def test_every_item_has_a_title_a_sentence_an_age_and_verbs() -> None:
    rows = {row.key: row for row in (row_of(item, NOW_MS) for item in attention())}
    login = rows["cause:login"]
    assert (login.title, login.sentence) == ("Seller login expired", "58 dead letters in 9 shops")
    assert login.age == f"34{THIN}min"
    assert [words for _verb, _target, words in login.verbs] == ["Triage", "Show tasks"]
    assert rows["cause:selector"].sentence.endswith("all on Pinduoduo")
    assert rows["silent:rpa-06"].title == "Worker rpa-06 is silent"
    assert rows["silent:rpa-06"].age.replace(THIN, " ") == "1 m 14 s"


def test_an_unknown_code_falls_back_to_the_message() -> None:
    row = row_of(Attention(key="x", severity="dead", code="no.such.code", verbs=(("odd", "1"),)), NOW_MS)
    assert row.title == "no.such.code"
    assert row.verbs == (("odd", "1", "odd"),)
    assert row.age == ""


@pytest.mark.parametrize("code", sorted(WORDS))
def test_a_missing_parameter_stays_visible(code: str) -> None:
    row = row_of(Attention(key="x", severity="dead", code=code), NOW_MS)
    assert row.title


def test_silence_and_blocking_are_marked_in_the_chart() -> None:
    marks = markers(SampleSource().now())
    assert [mark.text for mark in marks] == ["rpa-06 silent", "publishers blocked"]
    assert marks[0].at_ms == NOW_MS - 74_000
