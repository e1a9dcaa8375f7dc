"""JSON as it was meant: what does not say exactly one thing (a key twice, NaN, 1e999) is refused, not guessed."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from services.domain.text.said import said

#: of a whole number: all that follow (checks, sheets, other programs) can still take it for the same one
MAX_DIGITS = 308
#: characters of a text: a payload of the largest size that a task may have, with room for blanks and line ends
MAX_TEXT = 2 * 1024 * 1024


class Inexact(ValueError):
    """Valid for Python's reader, but no exact JSON; the text says what and stands by itself."""


def loads(text: str, *, number: Callable[[str], Any] | None = None, most: int = MAX_TEXT) -> Any:
    """The value of a JSON text of up to ``most`` characters. ``number`` makes of the text of a number what it shall be.

    Raises:
        Inexact: it does not say exactly one thing.
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    if len(text) > most:  # it would be taken apart first and refused then: each of its keys is an object for a while
        raise Inexact(said("json.long", size=len(text), most=most))
    if text.startswith("\ufeff"):
        raise Inexact(said("json.bom"))
    return _decoder(number).decode(text)


def first(text: str, *, number: Callable[[str], Any] | None = None) -> tuple[Any, int]:
    """The value with which a text begins, and where it ends; it may be cut off there.

    Raises:
        Inexact: it does not say exactly one thing.
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    return _decoder(number).raw_decode(text)


@functools.lru_cache(maxsize=8)
def _decoder(number: Callable[[str], Any] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique,
        parse_constant=_no_constant,
        parse_float=number or _finite,
        parse_int=number or _whole,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Inexact(said("json.twice", name=f"{twice!r:.60}"))
    return found


def _no_constant(word: str) -> NoReturn:
    raise Inexact(said("json.constant", word=word))


def _whole(text: str) -> int:
    digits = len(text.removeprefix("-"))
    if digits > MAX_DIGITS:
        raise Inexact(said("json.digits", digits=digits))
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Inexact(said("json.large", number=f"{text:.40}"))
    return number
