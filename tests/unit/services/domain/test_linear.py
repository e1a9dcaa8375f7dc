"""Patterns of people: those that could take for ever are refused with what to write instead, the rest mean the same."""

from __future__ import annotations

import re

import pytest

from services.domain.types import linear

#: pattern → texts that it finds, texts that it does not
MEANINGS: dict[str, tuple[list[str], list[str]]] = {
    r"^(\w+\s?)*$": (["a b c", "订单 同步", ""], ["a" * 5_000 + "!"]),
    r"^[\w-]+$": (["a-b_9", "中文-商品", "Ünïté"], ["a b", "，", "a\u202eb"]),
    r"^\W$": (["，", " ", "-", "\u202e"], ["中", "a", "_", "9"]),
    r"^[^\W_]+$": (["ab9中"], ["a_b", "a b"]),
    r"^[\s\S]{2}$": (["\n中", "ab"], ["a", "abc"]),
    r"^\d+$": (["0123", "０１"], ["1a", ""]),
    r"^[\D]+$": (["ab中"], ["a1"]),
    r"^\s$": ([" ", "\u3000", "\xa0", "\t"], ["a", "\u200b"]),
    r"^[\u4e00-\u9fa5]{2,4}$": (["商品", "促销活动"], ["ab", "一"]),
    r"^\ud83d\ude00$": (["\U0001f600"], ["x"]),
    r"^\u{1f600}|\U0001f601$": (["\U0001f600", "\U0001f601"], ["x"]),
    r"^a{,2}$": (["", "aa"], ["aaa"]),
    r"^(?P<n>a)(?<m>b)(?:c)$": (["abc"], ["ab"]),
    r"\Aa\/b\Z": (["a/b"], ["a/b\n", "xa/b"]),
    r"^[]a]+$": (["]a"], ["b"]),
    r"^[^]a]+$": (["bc"], ["]"]),
    r"^[\]\\]$": (["]", "\\"], ["a"]),
    r"^[\b]$": (["\b"], ["b"]),
    r"^\é$": (["é"], ["e"]),
    r"^\cJ$": (["\n"], ["J"]),
    r"(?i)^sku$": (["SKU", "sku"], ["sk"]),
    "^$": ([""], ["\n"]),
    "": (["", "anything"], []),
}
#: pattern → what its refusal says
REFUSED = {
    r"(?=a)b": "looks ahead",
    r"(?!a)b": "looks ahead",
    r"(?<=a)b": "behind",
    r"^(?<!a)b": "behind",
    r"^(?=.*\d)(?=.*[a-z]).{8,}$": "allOf",
    r"(a)\1": "refers back",
    r"(?P<x>a)(?P=x)": "refers back",
    r"(?<x>a)\k<x>": "refers back",
    r"(a": "correct it",
    r"[z-a]": "correct it",
    r"a**": "correct it",
    r"a++": "correct it",
    r"(?>a)": "correct it",
    r"(?(1)a|b)": "correct it",
    r"\C": "correct it",
    r"\Qa\E": "correct it",
    "\ud800": "correct it",
    r"a{1001}": "too large",
    r"((a{100}){100}){100}": "too large",
    r"(\w{1,900}x){1,900}": "too large",
    "a" * 20_000: "too large",
}


@pytest.mark.parametrize("pattern", MEANINGS)
def test_a_pattern_means_what_it_means_in_a_schema(pattern: str) -> None:
    found, not_found = MEANINGS[pattern]
    made = linear.compiled(pattern)
    assert [made.search(text) for text in found] == [True] * len(found)
    assert [made.search(text) for text in not_found] == [False] * len(not_found)
    assert linear.problem_of(pattern) == ""


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: repr(pattern)[:40])
def test_what_cannot_be_run_is_refused_with_the_remedy(pattern: str) -> None:
    with pytest.raises(linear.Unmatchable, match=REFUSED[pattern]) as caught:
        linear.compiled(pattern)
    assert len(str(caught.value)) < 400
    assert linear.problem_of(pattern) == str(caught.value)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"^(a|aa)+$", r"(a|a)*b", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(.*)*x", r"(\w*)*\d(\w*)*!"]
)
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    assert linear.compiled(pattern).search("a" * 50_000 + "!\n") is False


def test_letters_of_every_script_are_letters() -> None:
    word, other, blank, ink = (linear.compiled(rf"^\{name}$") for name in "wWsS")
    for code in (*range(0x3000), *range(0x3000, 0xD800, 7), *range(0xE000, 0x110000, 61)):
        char = chr(code)
        assert word.search(char) != other.search(char), hex(code)
        assert blank.search(char) == bool(re.match(r"\s", char)) != ink.search(char), hex(code)
        if char.isalpha() and char != "\N{VERTICAL TILDE}":
            assert word.search(char), hex(code)
