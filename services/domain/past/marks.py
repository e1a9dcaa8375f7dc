"""Instants worth a line in a chart: a version came, somebody paused, a worker fell silent, somebody was told. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from services.domain.alerts.incident import Words
from services.domain.past.frame import SWITCH, Change

DEPLOY, SILENT, PAUSE, ALERT = "deploy", "silent", "pause", "alert"


class Mark(NamedTuple):
    """``name``: the version, the worker or what is paused; ``words``: of an alert; ``number``: that it is for."""

    at_ms: int
    kind: str
    name: str = ""
    words: Words | None = None
    number: int = 1


def pauses(changes: Iterable[Change], gate: str) -> list[Mark]:
    """When a switch of this gate was closed, by whatever scope."""
    found = []
    for change in changes:
        name, _space, scope = change.name.partition(" ")
        if change.kind == SWITCH and name == gate and change.after and not change.before:
            found.append(Mark(change.at_ms, PAUSE, scope))
    return found


def gathered(marks: Iterable[Mark], apart_ms: int) -> tuple[Mark, ...]:
    """In order of time; those of a kind that lie closer than ``apart_ms`` to the first of them are one."""
    found: list[Mark] = []
    last: dict[str, int] = {}  # by kind: where the newest of it stands in what was found
    for mark in sorted(marks, key=lambda one: (one.at_ms, one.kind, one.name)):
        place = last.get(mark.kind)
        if place is not None and mark.at_ms - found[place].at_ms < apart_ms:
            found[place] = found[place]._replace(number=found[place].number + mark.number)
        else:
            last[mark.kind] = len(found)
            found.append(mark)
    return tuple(found)
