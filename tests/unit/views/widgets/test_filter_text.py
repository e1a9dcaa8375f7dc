"""Filters taken apart and put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.called import LANE_WORDS, STATUS_WORDS, TRIAGE_WORDS
from services.domain.fleet.shop_filter import CHINESE_STATES
from services.domain.insight.shop import STATES
from services.domain.task.search.filter import CHINESE_WORDS, parse
from services.domain.task.search.query import Term
from services.i18n import _, pgettext, speaking
from services.monitor import schedules
from views.pages.schedules import words as schedules_words
from views.support.words import shop
from views.widgets.filter.text import Chip, as_words, combine, split

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
        ('x  y shop:"never closed platform:pdd', (), 'x  y shop:"never closed platform:pdd'),
        (r'shop:"say \"hi\""', (Chip("shop", ('say "hi"',)),), ""),
        ("shop:pdd:10021", (Chip("shop", ("pdd:10021",)),), ""),
        ("status:", (), "status:"),
        ("status: shop:a", (Chip("shop", ("a",)),), "status:"),
        ("登录 状态", (), "登录 状态"),
        ("status：dead，held -platform：pdd", (Chip("status", ("dead", "held")), Chip("platform", ("pdd",), True)), ""),
        ("shop：“柚子 家纺”，pdd:2 “两个 词”", (Chip("shop", ("柚子 家纺", "pdd:2")),), "“两个 词”"),
        ("状态:死信,held 店铺:a", (Chip("status", ("dead", "held")), Chip("shop", ("a",))), ""),
        ("STATUS=dead age＞1h", (Chip("status", ("dead",)),), "age＞1h"),
    ],
)
def test_splitting(expression: str, chips: tuple[Chip, ...], words: str) -> None:
    assert split(expression, FIELDS) == (chips, words)


def test_words_of_columns_in_chinese_are_those_that_stand_there() -> None:
    with speaking("zh_CN"):
        lanes = {pgettext("lane", word): lane for lane, word in LANE_WORDS.items()}
        shown = {
            "status": {_(word): status for status, word in STATUS_WORDS.items()},
            "triage": {_(word): triage for triage, word in TRIAGE_WORDS.items()},
            "lane": lanes,
        }
        states = {shop.word(state): state for state in STATES}
        of_schedules = {_(word): state for state, word in schedules_words.STATES.items()}
    assert {field: shown[field] | words for field, words in CHINESE_WORDS.items()} == CHINESE_WORDS
    assert CHINESE_STATES | states == CHINESE_STATES
    assert of_schedules == schedules.CHINESE_STATES


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


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3, unique=True))
def test_a_chip_means_its_values(values: list[str]) -> None:
    (term,) = parse(Chip("shop", tuple(values)).text(), now_ms=0)
    assert term == Term(field="shop", op="=", values=tuple(values))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("shop01*", "shop:shop01*"),
        ("pdd:1", "shop:pdd:1"),
        ("a b", 'shop:"a b"'),
        ("a，b", 'shop:"a，b"'),
        ("“a”", 'shop:"“a”"'),
        ("a*b", 'shop:"a*b"'),
        ("DOMAIN\\ann", "shop:DOMAIN\\ann"),
        ("", 'shop:""'),
    ],
)
def test_a_value_stands_in_quotes_where_it_would_end_early(value: str, text: str) -> None:
    assert Chip("shop", (value,)).text() == text
    assert split(text, FIELDS) == ((Chip("shop", (value,)),), "")


def test_chips_gain_values() -> None:
    chip = Chip("status", ("dead",))
    assert chip.with_value("dead") is chip
    assert chip.with_value("held").text() == "status:dead,held"
    assert combine([Chip("status", ()), chip], " x ") == "status:dead x"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("login", "login"),
        ("two words", "two words"),
        ("age>1h x", "age>1h x"),
        ("age＞1h x", "age＞1h x"),
        ("LoginExpired: redirected", '"LoginExpired: redirected"'),
        ("LoginExpired： 重定向", '"LoginExpired： 重定向"'),
        ("登录：失败", '"登录：失败"'),
        ("stauts:dead", "stauts:dead"),
        ("status：dead", "status：dead"),
        ('"a b', '"a b'),
        ("“两个 词”", "“两个 词”"),
        ("  ", ""),
    ],
)
def test_typed_words_become_terms(typed: str, words: str) -> None:
    assert as_words(typed) == words


def test_from_and_up_to_become_chips_where_the_field_says_so() -> None:
    expression = "type:a updated>=2026-11-29T12:00:00.000+00:00 updated<2026-11-30 -created<=2h age>1h login"
    chips, words = split(expression, ("type", "updated", "created", "age"), ("updated", "created"))
    assert [(chip.field, chip.op, chip.negated) for chip in chips] == [
        ("type", "=", False),
        ("updated", ">=", False),
        ("updated", "<", False),
        ("created", "<=", True),
    ]
    assert words == "age>1h login"
    assert combine(chips, words) == expression
