"""Which rows of a list a text means: ``platform:temu state:login dead>0 group:a* name``, all of which must hold. Pure.

SHELVES = Fields(words={"name": words(lambda row: (row.name,))}, bare=("name",))
wanted = SHELVES.parse("name:a* -b")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.task.search import filter
from services.domain.task.search.filter import Names, Piece
from services.domain.text.said import said

#: whether a row is meant
Test = Callable[[Any], bool]
#: whether a word is one of those that stand behind a field
Same = Callable[[str], bool]

_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
#: a name and a sign, behind which nothing or a blank stands
_NO_VALUE = re.compile(r"-?([A-Za-z_]+|[\u4e00-\u9fff]+)(?:<=|>=|[:=~<>：＝～＜＞])")
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,3})?%?\Z")


def words(read: Callable[[Any], Iterable[str]]) -> Callable[[Same], Test]:
    """Rows that have such a word."""
    return lambda same: lambda row: any(map(same, read(row)))


class Fields(msgspec.Struct, frozen=True, kw_only=True):
    """What the rows of one list have. ``words``: by field, which rows are meant by what stands behind it; ``bare``: the
    fields in which words without one are looked for; ``known``: fields with these values only.
    """

    words: Mapping[str, Callable[[Same], Test]]
    bare: Collection[str]
    names: Names
    known: Mapping[str, Collection[str]] = {}
    numbers: Mapping[str, Callable[[Any], float]] = {}
    truths: Mapping[str, Callable[[Any], bool]] = {}

    def parse(self, text: str, platforms: Collection[str] = ()) -> Test:
        """What tells whether a row is meant; an empty text means all. ``platforms``: behind the code of one of these
        stands the id of a shop.

        Raises:
            UsageError: it is no such filter, and what there is instead.
        """
        if len(text) > filter.MAX_TEXT:
            raise UsageError(said("query.length", most=filter.MAX_TEXT), field="filter")
        codes = {*platforms} - {*self.words, *self.numbers, *self.truths}
        tests = [
            _negated(self._of_key(one) if one.field in codes and one.op == "=" else self._test(one, text), one)
            for one in filter.pieces(text, self.names)
        ]
        return tests[0] if len(tests) == 1 else lambda row: all(test(row) for test in tests)

    def _test(self, one: Piece, text: str) -> Test:
        values = [value for value, _quoted in one.values]
        if one.field == "text" and values:
            parts = [value.casefold() for value in values]
            inside = [
                self.words[field](lambda word: any(part in word.casefold() for part in parts)) for field in self.bare
            ]
            return lambda row: any(test(row) for test in inside)
        if one.field in self.numbers:
            return self._of_number(one, values)
        if not one.field and (head := _NO_VALUE.fullmatch(text[one.at : one.end])):
            raise filter.FilterError("filter.no_value", one.at, field=head[1])
        if one.field not in (*self.words, *self.truths):
            fields = ", ".join((*self.words, *self.numbers, *self.truths))
            where = repr(text[one.at : one.end])[:80]
            raise UsageError(said("row_filter.field", where=where, known=fields), field="filter")
        if one.op not in ("=", "~"):
            raise UsageError(said("row_filter.op", field=one.field, op=f"{one.op!r}"), field="filter")
        if one.field in self.truths:
            return self._of_truth(one, values)
        known = self.known.get(one.field)
        if known is not None and (wrong := [value for value in values if value not in known]):
            instead = ", ".join(self.names.instead(one.field, wrong[0], known))
            about = {"field": one.field, "value": f"{wrong[0]!r:.40}", "known": instead}
            raise UsageError(said("row_filter.never", **about), field="filter")
        return self.words[one.field](lambda word: any(same(word, value, one.op) for value in values))

    def _of_key(self, one: Piece) -> Test:
        """Shops by their keys, or by what these begin with: a star behind that says what holds of any."""
        ids = (value if in_quotes else value.removesuffix("*") for value, in_quotes in one.values)
        keys = [f"{one.field}:{shop_id}" for shop_id in ids]
        return self.words["shop"](lambda word: any(same(word, key, "~") for key in keys))

    def _of_truth(self, one: Piece, values: list[str]) -> Test:
        wanted, read = {_YES.get(value.casefold()) for value in values}, self.truths[one.field]
        if None in wanted:
            raise UsageError(said("row_filter.yes_no", field=one.field, value=f"{values[0]!r:.40}"), field="filter")
        return lambda row: bool(read(row)) in wanted

    def _of_number(self, one: Piece, values: list[str]) -> Test:
        if one.op not in _SIGNS or not all(_NUMBER.match(value) for value in values):
            raise UsageError(said("row_filter.number", field=one.field), field="filter")
        sign, numbers, read = _SIGNS[one.op], [float(value.rstrip("%")) for value in values], self.numbers[one.field]
        return lambda row: any(sign(read(row), number) for number in numbers)


def _negated(test: Test, one: Piece) -> Test:
    return (lambda row: not test(row)) if one.negated else test


def same(word: str, value: str, op: str) -> bool:
    """Whether a word is a value, begins as one that ends in a star, or has it in it; without regard to case."""
    word, value = word.casefold(), value.casefold()
    if op == "~":
        return value in word
    return word.startswith(value[:-1]) if value.endswith("*") else word == value
