"""Which shops a text means: ``platform:temu state:login dead>0 group:a* name``, all of which must hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.insight import shop as insight
from services.domain.task.search import filter
from services.domain.task.search.filter import Piece
from services.domain.task.search.query import GROUP, Term
from services.domain.text.said import said

#: of a shop as the list tells it
WORDS = ("shop", "platform", "group", "tag", "name", "home", "state")
NUMBERS = ("active", "dead", "concurrency")
TRUTHS = ("paused", "dedicated", "enabled", "unregistered")
FIELDS = (*WORDS, *NUMBERS, *TRUTHS)
#: names of tasks beside them are known and refused, not looked for as words
_NAMES = filter.Names({
    **filter.CHINESE, "状态": "state", "标签": "tag", "名称": "name", "归属": "home", "归属节点": "home",
    "进行中": "active", "死信": "dead", "上限": "concurrency", "并发": "concurrency", "暂停": "paused",
    "已暂停": "paused", "独立队列": "dedicated", "专用队列": "dedicated", "启用": "enabled",
})  # fmt: skip
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_SIGNS: dict[str, Callable[[int, int], bool]] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_NUMBER = re.compile(r"[0-9]{1,9}\Z")

#: a shop as the list tells it: its fields and those of its state
Row = Mapping[str, Any]
Test = Callable[[Row], bool]


def parse(text: str) -> Test:
    """What tells whether a shop is meant; an empty text means all.

    Raises:
        UsageError: it is no such filter, and what there is instead.
    """
    if len(text) > filter.MAX_TEXT:
        raise UsageError(said("query.length", most=filter.MAX_TEXT), field="filter")
    tests = [_negated(_test(one, text), one) for one in filter.pieces(text, _NAMES)]
    return lambda row: all(test(row) for test in tests)


def of_groups(terms: Sequence[Term], shops: Callable[[], Mapping[str, Shop]]) -> tuple[Term, ...]:
    """Terms of tasks with those on ``group`` put into terms on the shops that are in such a group now.

    ``group:*`` are the shops of any group, ``-group:*`` those without one.
    """
    if all(term.field != GROUP for term in terms):
        return tuple(terms)
    known = shops()
    return tuple(_of_shops(term, known) if term.field == GROUP else term for term in terms)


def _of_shops(term: Term, shops: Mapping[str, Shop]) -> Term:
    grouped = ((key, shop.group) for key, shop in shops.items() if shop.group)
    found = (key for key, group in grouped if any(_same(group, value, term.op) for value in term.values))
    return Term(field="shop", op="=", values=tuple(sorted(found)), negated=term.negated)


def _negated(test: Test, one: Piece) -> Test:
    return (lambda row: not test(row)) if one.negated else test


def _test(one: Piece, text: str) -> Test:
    values = [value for value, _quoted in one.values]
    if one.field == "text" and values:
        return lambda row: any(_contains(row, value) for value in values)
    if one.field not in FIELDS:
        where = repr(text[one.at : one.end])[:80]
        raise UsageError(said("shop_filter.field", where=where, known=", ".join(FIELDS)), field="filter")
    if one.field in NUMBERS:
        return _of_number(one, values)
    if one.op not in ("=", "~"):
        raise UsageError(said("shop_filter.op", field=one.field, op=f"{one.op!r}"), field="filter")
    if one.field in TRUTHS:
        wanted = {_YES.get(value.casefold()) for value in values}
        if None in wanted:
            raise UsageError(said("shop_filter.yes_no", field=one.field, value=f"{values[0]!r:.40}"), field="filter")
        return lambda row: bool(row[one.field]) in wanted
    if one.field == "state" and (wrong := [value for value in values if value not in insight.STATES]):
        known = ", ".join(insight.STATES)
        raise UsageError(said("shop_filter.never", value=f"{wrong[0]!r:.40}", known=known), field="filter")
    return lambda row: any(_same(word, value, one.op) for word in _words(row, one.field) for value in values)


def _of_number(one: Piece, values: list[str]) -> Test:
    if one.op not in _SIGNS or not all(_NUMBER.match(value) for value in values):
        raise UsageError(said("shop_filter.number", field=one.field), field="filter")
    sign, numbers = _SIGNS[one.op], [int(value) for value in values]
    return lambda row: any(sign(int(row[one.field]), number) for number in numbers)


def _words(row: Row, field: str) -> tuple[str, ...]:
    if field == "shop":
        return (str(row["shop_id"]), f"{row['platform']}:{row['shop_id']}")
    if field == "name":
        return (str(row["name"]), str(row["name_en"]))
    if field == "tag":
        return tuple(map(str, row.get("tags", ())))
    return (str(row[field]),)


def _same(word: str, value: str, op: str) -> bool:
    word, value = word.casefold(), value.casefold()
    if op == "~":
        return value in word
    return word.startswith(value[:-1]) if value.endswith("*") else word == value


def _contains(row: Row, value: str) -> bool:
    part = value.casefold()
    return any(part in word.casefold() for field in ("shop", "name", "group", "tag") for word in _words(row, field))
