"""What stands in a document at a dotted name, as templates of flows and of foreign queues name it."""

from __future__ import annotations

from typing import Any

#: nothing stands there: ``null`` does
ABSENT = object()
#: digits of a place in a list; Python refuses to read thousands
_MOST = 9


def at(document: Any, name: str) -> Any:
    """The value at a dotted name (numbers count into lists), ``ABSENT`` where there is none."""
    for step in name.split("."):
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and _is_place(step) and int(step) < len(document):
            document = document[int(step)]
        else:
            return ABSENT
    return document


def _is_place(step: str) -> bool:
    return len(step) <= _MOST and step.isascii() and step.isdigit()
