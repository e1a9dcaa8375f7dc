"""Equal failures share a fingerprint, different ones do not."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.domain.task.fingerprint import fingerprint, normalise

NUMBERS = st.integers(0, 10**12).map(str)
HEX = st.binary(min_size=4, max_size=16).map(bytes.hex)
UUIDS = st.uuids().map(str)
SHOPS = st.from_regex(r"shop[0-9]{1,6}", fullmatch=True)
IDS = st.builds("pdd_sync_order_{}_{}".format, SHOPS, HEX)
TIMES = st.datetimes().map(lambda moment: moment.isoformat(sep=" "))
URLS = st.builds("https://{}.example.com/{}?q={}".format, SHOPS, NUMBERS, HEX)
MAILS = st.builds("{}@{}.com".format, SHOPS, SHOPS)
PATHS = st.one_of(st.builds("/home/u/{}/x.py".format, HEX), st.builds("C:\\Users\\{}\\x.py".format, SHOPS))
NAMES = st.text(alphabet="小明的旗舰店官方数码服饰", min_size=1, max_size=8)
QUOTED = st.one_of(st.builds("“{}”".format, NAMES), st.builds("「{}」".format, NAMES), st.builds("'{}'".format, HEX))
TEMPLATES = [
    "Order {} of the shop failed",
    "订单 {} 同步失败",
    "OrderError: could not read {}: no rows",
    "Step {}: no rows",
]


@pytest.mark.parametrize("values", [NUMBERS, HEX, UUIDS, IDS, TIMES, URLS, MAILS, PATHS, QUOTED], ids=str)
@pytest.mark.parametrize("template", TEMPLATES)
def test_what_differs_from_task_to_task_does_not_count(template: str, values: st.SearchStrategy[str]) -> None:
    @given(values, values)
    def check(one: str, other: str) -> None:
        first, second = (fingerprint("sync", "unknown", template.format(value)) for value in (one, other))
        assert first == second

    check()


@given(st.from_regex(r"[A-Z][a-z]{3,9}", fullmatch=True), st.from_regex(r"[A-Z][a-z]{3,9}", fullmatch=True), NUMBERS)
def test_the_class_of_the_error_counts(one: str, other: str, number: str) -> None:
    assume(one != other)
    first, second = (fingerprint("sync", "unknown", f"{name}Error: order {number}") for name in (one, other))
    assert first != second


@given(st.text())
def test_task_type_and_kind_count(error: str) -> None:
    prints = {
        fingerprint("a", "timeout", error),
        fingerprint("b", "timeout", error),
        fingerprint("a", "network", error),
    }
    assert len(prints) == 3
    assert all(re.fullmatch(r"[0-9a-f]{16}", each) for each in prints)


@given(st.text())
def test_normalising_twice_changes_nothing_more_than_the_marks(text: str) -> None:
    once = normalise(text)
    assert once == normalise(text)
    assert "\n" not in once


def test_line_numbers_do_not_count_but_the_function_does() -> None:
    text = "Traceback (most recent call last):\n  File \"/a/b.py\", line {}, in {}\n    x()\nKeyError: 'k{}'"
    same = {fingerprint("t", "unknown", text.format(line, "fetch", line)) for line in (3, 99)}
    assert len(same) == 1
    assert fingerprint("t", "unknown", text.format(3, "store", 3)) not in same


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("店铺「小明的店」订单 123 同步失败", "店铺<q>订单 # 同步失败"),
        ("GET https://x.cn/a?b=1 failed after 3.5 s", "get <url> failed after # s"),
        ("a@b.cn doesn't answer; it can't", "<mail> doesn't answer; it can't"),
        ("at 2026-11-20T08:00:01+08:00 on 10.0.0.7:5672", "at # on #"),
        ("ＨＴＴＰ　５００", "http #"),
    ],
)
def test_normalised_texts_are_still_readable(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    "text", ["a" * 300_000, "'" * 300_000, "/a" * 100_000, "a@" * 100_000, "1-" * 100_000, "a." * 100_000]
)
def test_hostile_texts_are_normalised_quickly(text: str) -> None:
    assert fingerprint("t", "unknown", text)
