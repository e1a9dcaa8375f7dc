"""Spans of time in words, for sentences that carry a number of seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services import i18n, spans


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (7, "7 s"),
        (7.96, "7.9 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3_600, "1 h"),
        (200_000, "2 d 7 h"),
        (-372, "-6 m 12 s"),
        (-0.44, "-0.4 s"),
    ],
)
def test_so_many_seconds(seconds: float, words: str) -> None:
    assert spans.english(seconds) == words
    assert spans.of_seconds(seconds) == words.replace(" ", spans.THIN)


def test_the_language_of_machines_stays(chinese: None) -> None:
    assert spans.of_seconds(372) == "6\u202f分 12\u202f秒"
    assert spans.english(372) == "6 m 12 s"
    assert spans.of_seconds(1800) == "30\u202f分钟"
