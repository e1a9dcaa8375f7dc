"""The samples of a window and the flight recorder as one series."""

from __future__ import annotations

import itertools
import math

from services.domain.past.frame import UNTOLD, Change, Numbers
from services.domain.past.marks import ALERT, DEPLOY, PAUSE, Mark, gathered, pauses
from services.monitor.history import Sample
from services.monitor.past.joined import joined

T0 = 1_795_000_000_000


def seen(second: int, since: int | None = None, **more: int) -> Sample:
    """A sample of the window."""
    return Sample(at_ms=T0 + second * 1000, since_ms=T0 + 1000 * (second - 1 if since is None else since), **more)


def kept(second: int, step: int = 60, **more: int) -> Numbers:
    """A row of the recorder."""
    return Numbers(at_ms=T0 + second * 1000, since_ms=T0 + (second - step) * 1000, **more)


def gaps(rows: list[Sample]) -> list[tuple[int, int]]:
    """Between which seconds nothing is known."""
    both = itertools.pairwise(rows)
    return [((a.at_ms - T0) // 1000, (b.since_ms - T0) // 1000) for a, b in both if b.since_ms > a.at_ms]


def test_what_no_window_saw_comes_from_the_recorder_and_the_rest_stays_as_it_is() -> None:
    window = [seen(1000), seen(1001), seen(1500, since=1500), seen(1501)]
    rows = [kept(second, running=second) for second in range(900, 1620, 60)]
    found = joined(window, rows)
    assert [(one.at_ms - T0) // 1000 for one in found] == [
        900, 960, 1000, 1001, 1020, 1080, 1140, 1200, 1260, 1320, 1380, 1440, 1500, 1500, 1501, 1560,
    ]  # fmt: skip
    assert gaps(found) == []
    assert [one.running for one in found if one.at_ms == T0 + 1_380_000] == [1380]


def test_what_neither_knows_stays_a_gap() -> None:
    window = [seen(1000, since=1000), seen(2000, since=2000)]
    rows = [kept(1060), kept(1120), kept(1900)]
    assert gaps(joined(window, rows)) == [(1120, 1840), (1900, 2000)]


def test_counters_go_on_through_both() -> None:
    window = [seen(1000, succeeded=100, failed=7), seen(1400, since=1400, succeeded=130, failed=9)]
    rows = [kept(960, went=12, failed=2), kept(1060, went=5, failed=1), kept(1120, went=3)]
    found = joined(window, rows)
    assert [(one.succeeded, one.failed) for one in found] == [(100, 7), (100, 7), (104, 8), (107, 8), (130, 9)]
    assert [round(found[2].ack, 3), math.isnan(found[2].deliver)] == [round(5 / 60, 3), True]


def test_lanes_that_the_broker_did_not_tell_are_not_known() -> None:
    (one,) = joined([], [kept(60, high=UNTOLD, dedicated=UNTOLD, normal=UNTOLD, low=UNTOLD, unacked=UNTOLD)])
    assert not one.told


def test_marks_that_lie_close_are_one_of_their_kind() -> None:
    marks = [
        Mark(T0, PAUSE, "shop:a"),
        Mark(T0 + 5_000, PAUSE, "shop:b"),
        Mark(T0 + 6_000, ALERT),
        Mark(T0 + 90_000, PAUSE),
    ]
    found = gathered(marks, 60_000)
    assert [(one.kind, one.number) for one in found] == [(PAUSE, 2), (ALERT, 1), (PAUSE, 1)]


def test_only_a_switch_that_was_closed_is_a_pause() -> None:
    changes = [
        Change(T0, "switch", "paused platform:temu", "", "ben"),
        Change(T0 + 1, "switch", "paused platform:temu", "ben", ""),
        Change(T0 + 2, "switch", "quiet_hours shop:a", "", "rule"),
        Change(T0 + 3, "worker", "desk-01", "", "running 0.4.3 4"),
    ]
    assert pauses(changes, "paused") == [Mark(T0, PAUSE, "platform:temu")]
    assert DEPLOY not in {mark.kind for mark in pauses(changes, "paused")}
