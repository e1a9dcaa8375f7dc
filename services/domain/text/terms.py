"""The words of a filter for lists that are looked through one by one: ``who:ann* -state:open age<2h "two words"``."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from services.domain.errors import UsageError
from services.domain.text.said import said

_WORD = re.compile(r"(-?)(?:([a-z]+)([:<>]))?((?:\"[^\"]*\"|\S)(?:\"[^\"]*\"|[^\s\"]|\"(?![^\"]*\"))*)")
#: a name and a sign, behind which nothing or a blank stands: the sign would be searched for
_NO_VALUE = re.compile(r"([a-z]+)[:<>]")
_ITEM = re.compile(r"\"([^\"]*)\"|([^,]+)")


class Term(msgspec.Struct, frozen=True):
    """One word. ``name`` is "" for a bare one, ``op`` one of ``:<>``, ``text`` as it was typed behind it."""

    negated: bool
    name: str
    op: str
    text: str

    @property
    def value(self) -> str:
        """The text without quotes around the whole of it."""
        whole = len(self.text) > 1 and self.text[0] == self.text[-1] == '"' and self.text.count('"') == 2
        return self.text[1:-1] if whole else self.text

    @property
    def values(self) -> frozenset[str]:
        """What stands between the commas, without regard to case."""
        return frozenset((quoted or plain).casefold() for quoted, plain in _ITEM.findall(self.text))


def terms(text: str, fields: Collection[str]) -> list[Term]:
    """The words of a filter; all of them are meant at once. ``fields``: names that must have a value; any other one
    alone, as ``error:`` in a log, is a word to search for.

    Raises:
        UsageError: the text is no such filter.
    """
    found: list[Term] = []
    text, at = text.strip(), 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            raise UsageError(said("query.unread", value=f"{text[at : at + 40]!r}"), field="filter")
        sign, name, op, value = match.groups()
        if not name and (head := _NO_VALUE.fullmatch(value)) and head[1] in fields:
            raise UsageError(said("query.no_value", name=head[1]), field="filter")
        found.append(Term(bool(sign), name or "", op or ":", value))
        at = match.end()
        while at < len(text) and text[at].isspace():
            at += 1
    return found
