"""What a few letters find."""

from __future__ import annotations

import pytest

from views.support.fuzzy import match
from views.support.pinyin import initials


@pytest.mark.parametrize(
    ("query", "words", "spans"),
    [
        ("ret", "Retry failed tasks", ((0, 3),)),
        ("ret pdd", "Retry of pdd-10021", ((0, 3), (9, 12))),
        ("rft", "Retry failed tasks", ((0, 1), (6, 7), (13, 14))),
        ("ail", "Retry failed", ((7, 10),)),
        ("柚子", "柚子家纺旗舰店", ((0, 2),)),
        ("交班", "交接班", ((0, 1), (2, 3))),
        ("暂停pdd", "暂停或限制 PDD", ((0, 2), (6, 9))),
        ("", "anything", ()),
        ("retyr", "Retry failed tasks", ((0, 5),)),
        ("faield ret", "Retry failed tasks", ((0, 3), (6, 12))),
        ("shops", "Open shop settings", ((5, 9),)),
    ],
)
def test_letters_that_are_meant_are_marked(query: str, words: str, spans: tuple[tuple[int, int], ...]) -> None:
    found = match(query, words)
    assert found is not None
    assert found.spans == spans


def test_every_word_must_occur() -> None:
    assert match("retry xyz", "Retry failed tasks") is None
    assert match("wgsm", "微光数码专卖店", (initials("微光数码专卖店"),)) is not None


@pytest.mark.parametrize("query", ["10022", "pdd10022", "rtr", "tabel", "rarely"])
def test_what_is_alike_by_chance_is_not_meant(query: str) -> None:
    assert match(query, "Retry of pdd-10021, unstable") is None


@pytest.mark.parametrize("query", ["班交", "店10023", "店102"])
def test_in_chinese_neither_the_order_nor_a_number_is_another(query: str) -> None:
    assert match(query, "交接班的店 10022 号") is None


def test_a_slip_ranks_below_what_was_typed() -> None:
    meant, alike = match("shops", "All shops"), match("shops", "Shop list")
    assert meant is not None
    assert alike is not None
    assert meant.score > alike.score


def test_beginnings_count_most() -> None:
    ranked = ["Retry", "Set retry delays", "Unretried"]
    scores = [match("ret", words) for words in ranked]
    assert all(scores)
    assert sorted(scores, key=lambda one: -one.score if one else 0) == scores


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("微光数码专卖店", "wgsmzmd"),
        ("Lumo 家居", "lumo jj"),
        ("", ""),
        ("阿啊座", "aaz"),
        ("重新发布", "cxfb"),
        ("囍", "·"),
        ("😀", "·"),
    ],
)
def test_initials_of_common_characters(name: str, letters: str) -> None:
    assert initials(name) == letters
