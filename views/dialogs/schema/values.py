"""What is typed into a line of a form, as a value of the document and back. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from services.domain.text.words import between_commas
from views.dialogs.schema import read as plan


def plain(value: Any) -> str:
    """A value as a person types it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _join(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return plain(value)


def _split(text: str) -> Any:
    return between_commas(text)


def _number(text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) and not isinstance(found, bool) else text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(text: str) -> Any:
    return text


def _stripped(text: str) -> Any:
    return text.strip()


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


#: what is typed -> value; text that is no number stays text, so that the schema can say so
READ: dict[str, Callable[[str], Any]] = {
    plan.TEXT: _text,
    plan.DATE: _stripped,
    plan.WHOLE: _number,
    plan.NUMBER: _number,
    plan.LIST: _split,
    plan.JSON: _json,
}
#: value -> what is typed
WRITE: dict[str, Callable[[Any], str]] = {plan.LIST: _join, plan.JSON: _dump}
