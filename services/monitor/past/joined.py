"""The samples of a window and the rows of the flight recorder as one series: what nobody saw in the one, the other may
have recorded. What neither knows stays a gap. Pure.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from services.domain.past.frame import UNTOLD, Numbers
from services.monitor.history import Sample


def joined(samples: Sequence[Sample], rows: Sequence[Numbers]) -> list[Sample]:
    """Both, oldest first; where both speak for an instant, the finer samples do. Both have to be in order of time."""
    if not rows:
        return list(samples)
    ends = [one.at_ms for one in samples]
    kept = [row for row in rows if not _speaks(samples, ends, row.at_ms)]
    every = sorted([*samples, *_as_samples(kept, samples)], key=lambda one: one.at_ms)
    known = _stretches(rows)
    starts = [begin for begin, _end in known]
    found: list[Sample] = []
    for one in every:
        before = found[-1].at_ms if found else 0
        if before and one.since_ms > before:
            place = bisect_left(starts, before + 1) - 1
            # the recorder knows of all the time between both, so nothing is missing
            if place >= 0 and known[place][1] >= one.since_ms:
                one = replace(one, since_ms=before)
        elif before:
            one = replace(one, since_ms=before)
        found.append(one)
    return found


def _speaks(samples: Sequence[Sample], ends: Sequence[int], at_ms: int) -> bool:
    """Whether a sample knows of this instant."""
    place = bisect_left(ends, at_ms)
    return place < len(samples) and samples[place].since_ms < at_ms


def _stretches(rows: Sequence[Numbers]) -> list[tuple[int, int]]:
    """Of what times the recorder knows, without gaps."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and row.since_ms <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], row.at_ms))
        else:
            found.append((row.since_ms, row.at_ms))
    return found


def _as_samples(rows: Sequence[Numbers], samples: Sequence[Sample]) -> Iterator[Sample]:
    """Rows as samples, whose counters go on where those of the samples around them stand.

    The record has no sum of what went well: it is what went and did not fail. How many attempts began is not recorded.
    """
    good, bad, place = _before_first(rows, samples)
    for row in rows:
        while place < len(samples) and samples[place].at_ms < row.at_ms:
            good, bad = samples[place].succeeded, samples[place].failed
            place += 1
        good, bad = good + max(0, row.went - row.failed), bad + row.failed
        yield _sample(row, good, bad)


def _before_first(rows: Sequence[Numbers], samples: Sequence[Sample]) -> tuple[int, int, int]:
    """Where the counters stood before the first row, so that they meet the first sample."""
    if not samples:
        return 0, 0, 0
    first = samples[0]
    early = [row for row in rows if row.at_ms < first.at_ms]
    failed = sum(row.failed for row in early)
    return first.succeeded - sum(max(0, row.went - row.failed) for row in early), first.failed - failed, 0


def _sample(row: Numbers, good: int, bad: int) -> Sample:
    told = row.high != UNTOLD
    seconds = (row.at_ms - row.since_ms) / 1000
    every_s = 1 / seconds if seconds > 0 else math.nan  # the first row behind a gap speaks for one instant
    lanes = {name: getattr(row, name) if told else 0 for name in ("high", "dedicated", "normal", "low")}
    return Sample(
        at_ms=row.at_ms,
        **lanes,
        unacked=row.unacked if row.unacked != UNTOLD else 0,
        running=row.running,
        retrying=row.retrying,
        dead=row.dead,
        publish=row.came * every_s,
        deliver=math.nan,
        ack=row.went * every_s,
        succeeded=good,
        failed=bad,
        oldest_waiting_s=float(row.peak_oldest_s),
        since_ms=row.since_ms,
        told=told,
        waiting=row.peak_waiting,
    )
