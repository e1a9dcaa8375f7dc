"""What became of the same work that was asked for again."""

from __future__ import annotations

from services.domain.insight import same_work
from services.domain.task.notes import Suppressed
from services.domain.task.record import Task
from services.messages import english


def remark(at: int, task_id: str, holder: str, outcome: str = "refused") -> Suppressed:
    return Suppressed(at, task_id, "pdd", "s1", "sync_order", "ann@desk", "cli", outcome, holder, "running")


def task(task_id: str) -> Task:
    return Task(task_id=task_id, shop_id="s1", platform="pdd", task_type="sync_order")


def test_a_refused_order_is_told_of_who_runs_and_of_who_waits_behind_it() -> None:
    first, second = task("first"), task("second")
    remarks = [
        remark(9000, "fourth", "first"), remark(8000, "third", "first"), remark(7000, "second", "first", "queued"),
        remark(6000, "x", "elsewhere"),
    ]  # fmt: skip
    assert [one.task_id for one in same_work.met(first, None, remarks)] == ["second", "third", "fourth"]
    found = same_work.met(second, first, remarks)
    assert [one.task_id for one in found] == ["third", "fourth"], "its own place behind it is its status"
    said = same_work.refused(found, 12_000)
    assert said is not None
    assert english(said) == (
        "The same work was asked for again and refused (2 in all), last 3 s ago by ann@desk: no further task was"
        " created."
    )


def test_where_nobody_was_refused_nothing_is_said() -> None:
    assert same_work.refused(same_work.met(task("a"), None, [remark(1, "b", "a", "queued")]), 10) is None
