"""Whether a field of a payload is as a filter asks: ``payload.order_id:8841``, ``payload.address.city~杭州``; and under
what an index keeps such a field.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.task.search.query import PAYLOAD, Term
from services.domain.text.mask import DOTS, alike, masked
from services.domain.text.said import said

_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: between field and digest in what an index keeps
BETWEEN = "|"
_MOST = 10_000  #: values looked at in one payload: half a megabyte may hold a hundred thousand
_DIGEST = 10  #: bytes of the digest that stands for a value: short, and no key shows what a payload says


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
        words = text.lower() if term.op == "~" else text
        if needles and "\\u" not in text and not any(needle in words for needle in needles):
            return False  # reading and masking costs a hundred times as much
        return any(fits(value) for value in _looked_at(_read(text), names))

    return holds


def index_terms(payload: str, names: Iterable[str]) -> list[str]:
    """Under what an index of these fields keeps a payload, each once: where ``condition`` holds for a whole value,
    ``asked_of_index`` of the same term names one of these. The same in every process, whatever secrets it knows.
    """
    wanted = [name for name in names if _may_hold(payload, name)]
    if not wanted:
        return []
    with alike():
        read = _read(payload)
    said = ((name, _said(value)) for name in wanted for value in _looked_at(read, name))
    return list(dict.fromkeys(_kept_as(name, words) for name, words in said if words is not None))


def asked_of_index(term: Term) -> tuple[str, ...] | None:
    """What an index of its field knows of a term, one for each value; None where only the payloads can tell."""
    whole = term.op == "=" and not term.negated and term.values
    # dots may stand for a secret that only some process knows, which the index leaves as it is
    if not whole or any(value.endswith("*") or DOTS in value for value in term.values):
        return None
    return tuple(_kept_as(term.field.removeprefix(PAYLOAD), value) for value in dict.fromkeys(term.values))


def _kept_as(name: str, words: str) -> str:
    digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()
    return f"{name}{BETWEEN}{digest}"


def _may_hold(payload: str, name: str) -> bool:
    """Whether a payload can have such a field: most of those that have not are told without reading them."""
    last = name.rpartition(".")[2]
    return last in payload or not last.isascii() or "\\u" in payload


def _read(text: str) -> Any:
    """What a payload says, as the screen shows it; None for a text that is no JSON."""
    try:
        return masked(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return None


def _looked_at(payload: Any, names: str) -> Iterator[Any]:
    return (value for value, _ in zip(_values(payload, names), range(_MOST), strict=False))


def _test(term: Term) -> Callable[[Any], bool]:
    if (compare := _ORDERS.get(term.op)) is not None:
        return lambda value: type(value) in (int, float) and compare(value, term.number)
    if term.op == "~":
        wanted = tuple(value.lower() for value in term.values)
        return lambda value: (said := _said(value)) is not None and any(word in said.lower() for word in wanted)
    if term.op != "=":
        raise UsageError(said("query.op_payload", field=term.field, op=f"{term.op!r:.10}"), field="filter")
    whole = frozenset(value for value in term.values if not value.endswith("*"))
    heads = tuple(value[:-1] for value in term.values if value.endswith("*"))
    return lambda value: (said := _said(value)) is not None and (said in whole or said.startswith(heads))


def _needles(term: Term) -> tuple[str, ...]:
    """Of which one must stand in the text as it is; none where JSON may write it in another way, or dots hide it."""
    if term.op in _ORDERS:
        return ()
    words = [value.removesuffix("*").lower() if term.op == "~" else value.removesuffix("*") for value in term.values]
    plain = all(word and word.isprintable() and DOTS not in word and not set(word) & set('"\\/') for word in words)
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
