"""Whether a field of a payload is as a filter asks: ``payload.order_id:8841``, ``payload.address.city~杭州``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.task.search.query import PAYLOAD, Term
from services.domain.text.mask import masked

_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST = 10_000  #: values looked at in one payload: half a megabyte may hold a hundred thousand


def condition(term: Term) -> Callable[[Any], bool]:
    """The condition of a term on a payload, its negation left aside. What the screen shows masked is compared masked.

    Of a list, any element will do; names in a row lead through objects, and a name that has points in it is tried whole
    first. A switch is ``true`` or ``false``, nothing is ``null``; whole numbers are as they are written.

    Raises:
        UsageError: an operator that is none.
    """
    names = term.field.removeprefix(PAYLOAD)
    fits = _test(term)
    needles = _needles(term)

    def holds(task: Any) -> bool:
        text: str = task.payload
        if needles and not any(needle in (text.lower() if term.op == "~" else text) for needle in needles):
            return False  # reading and masking costs a hundred times as much
        try:
            payload = masked(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError):
            return False
        return any(fits(value) for value, _ in zip(_values(payload, names), range(_MOST), strict=False))

    return holds


def _test(term: Term) -> Callable[[Any], bool]:
    if (compare := _ORDERS.get(term.op)) is not None:
        return lambda value: type(value) in (int, float) and compare(value, term.number)
    if term.op == "~":
        wanted = tuple(value.lower() for value in term.values)
        return lambda value: (said := _said(value)) is not None and any(word in said.lower() for word in wanted)
    if term.op != "=":
        raise UsageError(f"{term.field} cannot be compared with {term.op!r:.10}; use : ~ < or >", field="filter")
    whole = frozenset(value for value in term.values if not value.endswith("*"))
    heads = tuple(value[:-1] for value in term.values if value.endswith("*"))
    return lambda value: (said := _said(value)) is not None and (said in whole or said.startswith(heads))


def _needles(term: Term) -> tuple[str, ...]:
    """Of which one must stand in the text as it is; none where JSON may write it in another way."""
    if term.op in _ORDERS:
        return ()
    words = [value.removesuffix("*").lower() if term.op == "~" else value.removesuffix("*") for value in term.values]
    plain = all(word and word.isprintable() and not set(word) & set('"\\/') for word in words)
    return tuple(words) if plain else ()


def _values(part: Any, names: str) -> Iterator[Any]:
    """What stands under a name, element by element of a list."""
    if isinstance(part, list):
        for element in part:
            yield from _values(element, names)
    elif not names:
        yield part
    elif isinstance(part, dict):
        if names in part:
            yield from _values(part[names], "")
        head, _, rest = names.partition(".")
        if rest and head in part:
            yield from _values(part[head], rest)


def _said(value: Any) -> str | None:
    """As a person would write it; None for an object."""
    if isinstance(value, str):
        return value
    return None if isinstance(value, dict) else msgspec.json.encode(value).decode()
