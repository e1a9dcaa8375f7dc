"""A long stretch of the past in few marks: what failed and waited in each part of it, and what else stood out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from services.domain.past.frame import UNTOLD, WORKER, Change, Gap, Numbers, Things

SILENT = ("late", "silent", "cut_off")
#: what a worker is that nothing was heard of for so long that its work was given to others
GIVEN_UP = ("gone", "")


class Span(NamedTuple):
    """Something held between two instants (UTC ms)."""

    begin: int
    end: int
    name: str = ""
    back: bool = True  #: of a worker: False where it was given up at the end, and was not heard of after that either


class Lanes(msgspec.Struct, frozen=True, kw_only=True):
    """``failed`` and ``waiting`` have a number for each part, ``UNTOLD`` where nobody recorded any of it."""

    begin: int  #: UTC ms
    end: int
    step_ms: int
    failed: tuple[int, ...] = ()  #: tasks that became dead letters
    waiting: tuple[int, ...] = ()  #: the most that waited
    silent: tuple[Span, ...] = ()  #: of each worker that was not heard of
    deploys: tuple[Span, ...] = ()  #: when a version of the worker came that nobody had before; ``name``: that version
    acts: tuple[int, ...] = ()  #: when people acted
    more_acts: bool = False  #: those are the newest, there were more
    alerts: tuple[Span, ...] = ()  #: incidents that somebody was told of
    gaps: tuple[Gap, ...] = ()
    first_ms: int = 0  #: of which anything is known, whenever that is; 0: nothing was ever recorded


def in_parts(rows: Sequence[Numbers], begin: int, step_ms: int, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Failures and the most that waited in each part; a row counts where it ends."""
    failed, waiting = [UNTOLD] * count, [UNTOLD] * count
    for row in rows:
        place = (row.at_ms - 1 - begin) // step_ms
        if 0 <= place < count:
            failed[place] = max(0, failed[place]) + row.failed
            waiting[place] = max(waiting[place], row.peak_waiting, row.waiting)
    return tuple(failed), tuple(waiting)


def of_workers(things: Things, changes: Iterable[Change], begin: int, end: int) -> tuple[list[Span], list[Span]]:
    """When workers were silent, and when a version came that no worker had before. ``things``: those at ``begin``."""
    since = {name: begin for (kind, name), state in things.items() if kind == WORKER and _head(state) in SILENT}
    known = {_version(state) for (kind, _name), state in things.items() if kind == WORKER}
    silent: list[Span] = []
    deploys = []
    for change in changes:
        if change.kind != WORKER:
            continue
        quiet, version = _head(change.after) in SILENT, _version(change.after)
        if quiet:
            since.setdefault(change.name, change.at_ms)
        elif change.name in since:
            lost = _head(change.after) in GIVEN_UP
            silent.append(Span(since.pop(change.name), change.at_ms, change.name, back=not lost))
        elif place := _given_up(silent, change):
            silent[place - 1] = silent[place - 1]._replace(end=change.at_ms, back=True)
        if version and version not in known:
            if known:
                deploys.append(Span(change.at_ms, change.at_ms, version))
            known.add(version)
    silent += [Span(at, end, name) for name, at in since.items()]
    return sorted(silent), deploys


def _given_up(silent: Sequence[Span], change: Change) -> int:
    """Which of them, from 1 on, this worker comes back from; 0 for none."""
    if _head(change.after) in GIVEN_UP:
        return 0
    places = (place for place, span in enumerate(silent, 1) if span.name == change.name and not span.back)
    return next(places, 0)


def _head(state: str) -> str:
    return state.partition(" ")[0]


def _version(state: str) -> str:
    return state.split(" ")[1] if state.count(" ") else ""
