"""Attempts are timed by the events that tell their begin and end."""

from __future__ import annotations

from typing import Any

from services.domain.task.event import Event
from services.monitor import stopwatch
from services.monitor.stopwatch import Stopwatch


def event(task_id: str, from_: str, to: str, at: int, *, kind: str = "work", attempt: int = 1) -> Event:
    return Event(
        cursor="e/1", task_id=task_id, shop_id="s", platform="pdd", task_type=kind, from_=from_, to=to, at=at,
        worker="w", gen=0, attempt=attempt,
    )  # fmt: skip


def numbers(watch: Stopwatch) -> dict[tuple[Any, ...], float]:
    return {
        (one.name.rpartition("_")[2], one.labels["type"], one.labels["became"], one.labels.get("le")): one.value
        for family in watch.families()
        for one in family.samples
    }


def test_an_attempt_counts_in_every_bucket_above_it() -> None:
    watch = Stopwatch()
    watch.note([event("a", "queued", "running", 1_000), event("a", "running", "succeeded", 3_000)])
    watch.note([event("b", "queued", "running", 1_000), event("b", "running", "dead", 8_000_000)])
    found = numbers(watch)
    assert [found["bucket", "work", "succeeded", le] for le in ("1.0", "5.0", "+Inf")] == [0, 1, 1]
    assert (found["sum", "work", "succeeded", None], found["count", "work", "succeeded", None]) == (2.0, 1)
    assert (found["bucket", "work", "dead", "3600.0"], found["bucket", "work", "dead", "+Inf"]) == (0, 1)


def test_what_began_unseen_or_before_a_gap_is_not_timed() -> None:
    watch = Stopwatch()
    watch.note([event("a", "running", "succeeded", 3_000), event("b", "queued", "running", 4_000)])
    watch.forget()
    watch.note([event("b", "running", "succeeded", 9_000), event("c", "pending", "cancelled", 9_000)])
    assert numbers(watch) == {}


def test_types_without_end_are_told_together() -> None:
    watch = Stopwatch()
    for number in range(stopwatch.MOST_TYPES + 5):
        kind = f"t{number}"
        watch.note([event(kind, "queued", "running", 0, kind=kind), event(kind, "running", "dead", 1, kind=kind)])
    kinds = {name for _, name, _, _ in numbers(watch)}
    assert len(kinds) == stopwatch.MOST_TYPES + 1
    assert numbers(watch)["count", stopwatch.OTHERS, "dead", None] == 5
