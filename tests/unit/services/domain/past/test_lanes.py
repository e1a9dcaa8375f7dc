"""A long stretch in few marks: sums in parts, silent workers as spans, versions where they first came."""

from __future__ import annotations

from services.domain.past.frame import UNTOLD, WORKER, Change, Numbers
from services.domain.past.lanes import Span, in_parts, of_workers

T0, MINUTE = 1_795_000_000_000, 60_000


def row(minute: int, failed: int = 0, waiting: int = 0, peak: int = 0) -> Numbers:
    at = T0 + minute * MINUTE
    return Numbers(at_ms=at, since_ms=at - MINUTE, failed=failed, waiting=waiting, peak_waiting=peak)


def worker(minute: int, before: str, after: str, name: str = "w1") -> Change:
    return Change(T0 + minute * MINUTE, WORKER, name, before, after)


def test_each_part_has_its_sum_and_its_peak_and_what_nobody_saw_is_unknown() -> None:
    rows = [row(1, failed=2, waiting=5), row(5, failed=1, waiting=3, peak=9), row(6, failed=4), row(21, failed=7)]
    failed, waiting = in_parts(rows, T0, 5 * MINUTE, 4)
    assert failed == (3, 4, UNTOLD, UNTOLD), "a row counts in the part that it ends in; later ones are out of sight"
    assert waiting == (9, 0, UNTOLD, UNTOLD)


def test_a_silent_worker_is_a_span_from_the_first_doubt_on() -> None:
    changes = [
        worker(2, "running 0.4.2 5", "late 0.4.2 5"),
        worker(3, "late 0.4.2 5", "silent 0.4.2 5"),
        worker(7, "silent 0.4.2 5", "running 0.4.2 5"),
        worker(9, "running 0.4.2 5", "silent 0.4.2 5", "w2"),
    ]
    begin, end = T0, T0 + 10 * MINUTE
    silent, _deploys = of_workers({(WORKER, "w0"): "silent 0.4.2 5"}, changes, begin, end)
    assert silent == [
        Span(begin, end, "w0"),
        Span(T0 + 2 * MINUTE, T0 + 7 * MINUTE, "w1"),
        Span(T0 + 9 * MINUTE, end, "w2"),
    ]


def test_a_worker_that_was_given_up_is_away_until_it_comes_back() -> None:
    lost = [
        worker(2, "running 0.4.2 5", "silent 0.4.2 5"),
        worker(3, "silent 0.4.2 5", "gone 0.4.2 5"),
        worker(5, "gone 0.4.2 5", ""),
    ]
    silent, _deploys = of_workers({}, lost, T0, T0 + 10 * MINUTE)
    assert silent == [Span(T0 + 2 * MINUTE, T0 + 3 * MINUTE, "w1", back=False)]
    again = [*lost, worker(7, "", "running 0.4.2 5"), worker(8, "running 0.4.2 5", "stopped 0.4.2 5")]
    silent, _deploys = of_workers({}, again, T0, T0 + 10 * MINUTE)
    assert silent == [Span(T0 + 2 * MINUTE, T0 + 7 * MINUTE, "w1")]


def test_a_version_is_new_once_and_the_first_ever_is_none() -> None:
    changes = [
        worker(1, "", "running 0.4.2 5"),
        worker(2, "running 0.4.2 5", ""),
        worker(3, "", "running 0.4.3 5"),
        worker(4, "", "running 0.4.3 5", "w2"),
        worker(5, "", "running 0.4.2 5", "w3"),
    ]
    _silent, deploys = of_workers({}, changes, T0, T0 + 10 * MINUTE)
    assert deploys == [Span(T0 + 3 * MINUTE, T0 + 3 * MINUTE, "0.4.3")]
    _silent, deploys = of_workers({(WORKER, "old"): "running 0.4.1 5"}, changes[:1], T0, T0 + 10 * MINUTE)
    assert [one.name for one in deploys] == ["0.4.2"]
