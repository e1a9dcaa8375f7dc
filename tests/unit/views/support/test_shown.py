"""Sentences of the services use the words of the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services import i18n
from services.domain.text.message import Message
from views.support import shown


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


def test_states_lanes_and_kinds_are_called_as_elsewhere() -> None:
    assert shown.say(Message("task.refused", {"status": "queued"})) == "Not possible while the task is waiting."
    assert (
        shown.say(Message("gate.no_worker", {"lane": "high"})) == "No running worker serves the lane high; start one."
    )
    kind = shown.say(Message("verdict.stopped_before_work", {"kind": "login_expired"}))
    assert kind == ("No work would be done twice: every attempt ended before its work began (Seller login expired).")


def test_what_nobody_named_stays_as_it_is() -> None:
    assert shown.say(Message("task.refused", {"status": "odd"})) == "Not possible while the task is odd."
    assert "(odd)" in shown.say(Message("verdict.stopped_before_work", {"kind": "odd"}))
    assert shown.lane_word("odd") == "odd"


@pytest.mark.parametrize(
    ("scope", "words"),
    [("platform:temu", "TEMU"), ("all", "Everything"), ("type:own", "own"), ("shop:pdd:s1", "pdd:s1")],
)
def test_what_is_paused_is_called_as_elsewhere(scope: str, words: str) -> None:
    said = shown.say(Message("gate.paused", {"scope": scope, "by": "ann", "reason": "new page"}))
    assert said == f"{words} is paused by ann: new page"


def test_no_english_word_is_left_in_a_chinese_sentence(chinese: None) -> None:
    for code, params in (
        ("task.refused", {"status": "queued"}),
        ("gate.no_worker", {"lane": "high"}),
        ("verdict.stopped_before_work", {"kind": "login_expired"}),
    ):
        sentence = shown.say(Message(code, params))
        assert not any(letter.isascii() and letter.isalpha() for letter in sentence), sentence
