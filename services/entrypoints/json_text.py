"""Reads JSON that a person has typed or put into a file: what JSON cannot mean exactly is refused, not guessed."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from services.domain.errors import UsageError


def read_object(text: str, name: str, *, field: str = "payload") -> dict[str, Any]:
    """The object of a JSON text.

    Raises:
        UsageError: it is none; the sentence begins with ``name``.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError as exc:
        raise UsageError(f"{name} is nested too deeply", field=field) from exc
    except ValueError as exc:
        raise UsageError(f"{name} is not JSON: {exc}"[:300], field=field) from exc
    if not isinstance(value, dict):
        raise UsageError(f"{name} must be a JSON object, e.g. '{{\"page_size\": 50}}'", field=field)
    return value


def read_document(text: str) -> Any:
    """The value of a whole JSON text.

    Raises:
        UsageError: it is not JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError as exc:
        raise UsageError("nested too deeply", field="FILE") from exc
    except ValueError as exc:
        raise UsageError(f"not JSON: {exc}"[:300], field="FILE") from exc


def read_value(text: str) -> Any:
    """The value of a cell: JSON where it is some, else the text itself."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.60} stands twice in one object")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text:.40} is too large")
    return number
