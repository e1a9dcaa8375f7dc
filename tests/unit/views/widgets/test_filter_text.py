"""Filters taken apart and put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from views.widgets.filter.text import Chip, as_words, combine, quote, split, unquote, without_prefix

FIELDS = ("status", "shop", "platform")


@pytest.mark.parametrize(
    ("expression", "chips", "words"),
    [
        ("", (), ""),
        ("status:dead,held", (Chip("status", ("dead", "held")),), ""),
        ("-platform:pdd", (Chip("platform", ("pdd",), True),), ""),
        ('shop:"a b","c,d"', (Chip("shop", ("a b", "c,d")),), ""),
        ('error~"login expired" status:dead x', (Chip("status", ("dead",)),), 'error~"login expired" x'),
        ("age>1h batch:B", (), "age>1h batch:B"),
        ('shop:"never closed', (Chip("shop", ("never closed",)),), ""),
        (r'shop:"say \"hi\""', (Chip("shop", ('say "hi"',)),), ""),
        ("shop:pdd:10021", (Chip("shop", ("pdd:10021",)),), ""),
        ("status:", (), "status:"),
    ],
)
def test_splitting(expression: str, chips: tuple[Chip, ...], words: str) -> None:
    assert split(expression, FIELDS) == (chips, words)


@given(
    st.lists(
        st.builds(
            Chip,
            st.sampled_from(FIELDS),
            st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3).map(tuple),
            st.booleans(),
        ),
        max_size=4,
    )
)
def test_what_is_put_together_comes_apart_again(chips: list[Chip]) -> None:
    assert split(combine(chips, ""), FIELDS) == (tuple(chips), "")


@pytest.mark.parametrize(
    ("value", "text"), [("dead", "dead"), ("shop01*", "shop01*"), ("a b", '"a b"'), ("-x", '"-x"'), ("", '""')]
)
def test_quoting(value: str, text: str) -> None:
    assert quote(value) == text
    assert unquote(text) == value


def test_chips_gain_values() -> None:
    chip = Chip("status", ("dead",))
    assert chip.with_value("dead") is chip
    assert chip.with_value("held").text() == "status:dead,held"
    assert combine([Chip("status", ()), chip], " x ") == "status:dead x"


@pytest.mark.parametrize(
    ("typed", "plain", "behind_error"),
    [
        ("login", "login", "error~login"),
        ("two words", "two words", 'error~"two words"'),
        ("age>1h x", "age>1h x", "age>1h x"),
        ("LoginExpired: redirected", '"LoginExpired: redirected"', 'error~"LoginExpired: redirected"'),
        ("stauts:dead", "stauts:dead", "stauts:dead"),
        ('"a b', '"a b', '"a b'),
        ("  ", "", ""),
    ],
)
def test_typed_words_become_terms(typed: str, plain: str, behind_error: str) -> None:
    assert as_words(typed) == plain
    assert as_words(typed, "error~") == behind_error


def test_terms_are_shown_as_typed() -> None:
    assert without_prefix('error~"two words"', "error~") == "two words"
    assert without_prefix('error~"a: b"', "error~") == 'error~"a: b"'
    assert without_prefix("two words", "") == "two words"
