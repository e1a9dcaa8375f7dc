"""What is kept of one moment: numbers of the whole fleet, and the state of each thing that can be in one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

#: kinds of things; a thing that is as it should be is not kept
SHOP, WORKER, SWITCH, LEADER, BROKER = "shop", "worker", "switch", "leader", "broker"
#: depths of lanes that the broker did not tell
UNTOLD = -1


class Numbers(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What was counted at ``at_ms``. It speaks for the time since ``since_ms``: of what lies between the row before it
    and that instant nobody knows anything. ``came``, ``went`` and ``failed`` are sums over that time.
    """

    at_ms: int  #: UTC ms
    since_ms: int
    waiting: int = 0  #: records that wait, by their own status
    running: int = 0
    retrying: int = 0
    scheduled: int = 0
    held: int = 0
    dead: int = 0  #: open dead letters
    high: int = 0  #: what the broker holds of a lane and what is parked at gates, ``UNTOLD`` where it did not answer
    dedicated: int = 0
    normal: int = 0
    low: int = 0
    unacked: int = 0  #: messages held by consumers, ``UNTOLD`` likewise
    oldest_s: int = 0  #: age of the task that waits longest
    workers: int = 0  #: heard of
    slots: int = 0
    busy: int = 0
    came: int = 0  #: tasks that became work
    went: int = 0  #: tasks whose work ended
    failed: int = 0  #: tasks that became dead letters
    peak_waiting: int = 0  #: highest of the time it speaks for
    peak_unacked: int = 0
    peak_oldest_s: int = 0
    counted: bool = True  #: False where what came, went and failed is not counted task by task
    #: what rules of alerts are tried on, ``UNTOLD`` in rows of programs that did not keep it
    waits_high_s: int = UNTOLD  #: how long the task waits that could start and has waited longest, by lane
    waits_normal_s: int = UNTOLD
    waits_low_s: int = UNTOLD
    held_s: int = UNTOLD  #: how long a worker that is heard of holds the task that it holds longest
    broken: int = UNTOLD  #: shops whose breaker is open for one kind of failure, of the kind with the most
    tries: int = UNTOLD  #: attempts that ended, by what workers count; sums over its time
    tries_failed: int = UNTOLD
    letters: int = UNTOLD  #: open dead letters of one kind of failure, of each flow where it lies with flows: the most
    hanging: int = UNTOLD  #: tasks that seem to hang
    together: int = UNTOLD  #: tasks of one type and platform that are slow at once, where most are
    unserved: int = UNTOLD  #: tasks that wait where no worker takes them
    late_s: int = UNTOLD  #: how late the schedule is that has not fired for longest
    drifted: int = UNTOLD  #: hundredths of how many times another a flow is than it was, of that which changed most
    broken_in: int = UNTOLD  #: shops in which one promise is broken, of that with the most
    at_risk_in: int = UNTOLD  #: shops in which one is broken or going to break, likewise


class Change(NamedTuple):
    """One thing is in another state than before. "" is as it should be, or not there."""

    at_ms: int
    kind: str
    name: str
    before: str
    after: str


Things = Mapping[tuple[str, str], str]


class Frame(msgspec.Struct, frozen=True):
    """One look."""

    numbers: Numbers
    things: Things  #: (kind, name) -> state


class Gap(NamedTuple):
    """Nobody recorded between these instants (UTC ms)."""

    begin: int
    end: int


def changed(before: Things, after: Things, at_ms: int) -> list[Change]:
    """What differs, by kind and name."""
    if before == after:  # of a fleet at rest, each time
        return []
    return [
        Change(at_ms, *key, before.get(key, ""), after.get(key, ""))
        for key in sorted(before.keys() | after.keys())
        if before.get(key, "") != after.get(key, "")
    ]


def changes_applied(things: Things, changes: Iterable[Change]) -> dict[tuple[str, str], str]:
    """The things after changes in order of time."""
    found = dict(things)
    for change in changes:
        if change.after:
            found[change.kind, change.name] = change.after
        else:
            found.pop((change.kind, change.name), None)
    return found


def rolled(rows: Sequence[Numbers]) -> list[Numbers]:
    """Rows of one span of time as few: one for each stretch without a gap, as it was at its end, with sums and peaks.

    Raises:
        IndexError: there are none.
    """
    parts: list[list[Numbers]] = [[rows[0]]]
    for row in rows[1:]:
        if row.since_ms > parts[-1][-1].at_ms:
            parts.append([])
        parts[-1].append(row)
    return [_joined(part) for part in parts]


def _joined(part: Sequence[Numbers]) -> Numbers:
    sums = {name: sum(getattr(row, name) for row in part) for name in ("came", "went", "failed")}
    for name in ("tries", "tries_failed"):
        told = [number for row in part if (number := getattr(row, name)) != UNTOLD]
        sums[name] = sum(told) if told else UNTOLD
    highest = ("peak_waiting", "peak_unacked", "peak_oldest_s")
    peaks = {name: max(getattr(row, name) for row in part) for name in highest}
    counted = all(row.counted for row in part)
    return replace(part[-1], since_ms=part[0].since_ms, counted=counted, **sums, **peaks)


def gaps(rows: Sequence[Numbers], begin: int, end: int) -> list[Gap]:
    """Where between two instants nobody recorded; ``rows``: all that speak for any of that time, oldest first."""
    found, known = [], begin
    for row in rows:
        if row.since_ms > known:
            found.append(Gap(known, min(row.since_ms, end)))
        known = max(known, row.at_ms)
    if known < end:
        found.append(Gap(known, end))
    return [gap for gap in found if gap.begin < gap.end]
