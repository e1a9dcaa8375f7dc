"""The text of a filter taken apart into chips and free words, and put together again. Pure.

The grammar is that of ``services.domain.task.search.filter``, read by it, full-width punctuation included; only terms
of the form ``field:value,value`` of known fields become chips, and of some also ``field>=value``; the rest stays text
as typed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec.structs import replace

from services.domain.task.search import filter


class Chip(msgspec.Struct, frozen=True):
    """One condition shown as a chip: any of `values`, or none of them."""

    field: str
    values: tuple[str, ...]
    negated: bool = False
    op: str = "="  #: or one of ``BOUNDS``

    def text(self) -> str:
        """Return the term as the grammar writes it."""
        sign = ":" if self.op == "=" else self.op
        return f"{'-' if self.negated else ''}{self.field}{sign}{','.join(map(filter.written, self.values))}"

    def with_value(self, value: str) -> Chip:
        """Return the chip with `value` added."""
        return self if value in self.values else replace(self, values=(*self.values, value))


BOUNDS = (">=", ">", "<", "<=")


def split(
    expression: str, fields: Collection[str], bound: Collection[str] = (), names: filter.Names = filter.TASKS
) -> tuple[tuple[Chip, ...], str]:
    """Return the chips of known `fields`, of those in `bound` also from and up to a value, and the rest as text."""
    chips: list[Chip] = []
    words: list[str] = []
    after = 0
    for piece in filter.pieces(expression, names):
        if piece.field not in fields or (piece.op != "=" and not (piece.op in BOUNDS and piece.field in bound)):
            continue
        chips.append(Chip(piece.field, tuple(value for value, _quoted in piece.values), piece.negated, piece.op))
        words.append(expression[after : piece.at].strip())
        after = piece.end
    words.append(expression[after:].strip())
    return tuple(chips), " ".join([word for word in words if word])


def combine(chips: Iterable[Chip], words: str) -> str:
    """Return the expression of chips and words."""
    terms = [chip.text() for chip in chips if chip.values]
    return " ".join([*terms, words.strip()]).strip()


#: what may stand in the text of an error, and would be read as the sign between a field and its value
_SIGNS = frozenset(':=~<>"：＝～＜＞')


def as_words(typed: str, names: filter.Names = filter.TASKS) -> str:
    """Return what was typed as terms: a filter as it stands, other words as words; a text with a colon in its middle,
    as errors have, is searched as a whole.
    """
    text = typed.strip()
    return text if filter.has_conditions(text, names) or _SIGNS.isdisjoint(text) else filter.quoted(text)
