"""The last attempt is named before it fails, and a cancelled task tells who ended it."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import attempts
from services.domain.task.record import Attempt, Step, Task
from services.messages import english


def task(**fields: Any) -> Task:
    return Task(**({"task_id": "t", "shop_id": "s", "platform": "pdd", "task_type": "work"} | fields))


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": "retrying", "retries": 3, "max_retries": 3}, "attempts.next_last"),
        ({"status": "queued", "retries": 3, "max_retries": 3}, "attempts.next_last"),
        ({"status": "running", "retries": 3, "max_retries": 3}, "attempts.last"),
        ({"status": "queued", "retries": 0, "max_retries": 0}, "attempts.only"),
        ({"status": "running", "attempt": 2, "losses": (1,), "max_retries": 0}, "attempts.last"),
        ({"status": "retrying", "retries": 2, "max_retries": 3}, ""),
        ({"status": "dead", "retries": 3, "max_retries": 3}, ""),
        ({"status": "held", "retries": 3, "max_retries": 3}, ""),
    ],
)
def test_the_last_attempt_is_named_before_it_fails(fields: dict[str, Any], code: str) -> None:
    said = attempts.last(task(**fields))
    assert (said.code if said is not None else "") == code


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({"status": "queued", "attempt": 0}, 4),
        ({"status": "running", "attempt": 1}, 4),
        ({"status": "retrying", "attempt": 1, "retries": 1}, 4),
        ({"status": "dead", "attempt": 1}, 4),
        ({"status": "dead", "attempt": 4, "retries": 3}, 4),
        ({"status": "running", "attempt": 2, "losses": (1,)}, 5),
        ({"status": "queued", "attempt": 1, "losses": (1,), "max_retries": 0}, 2),
        ({"status": "succeeded", "attempt": 2, "losses": (1,), "max_retries": 0}, 2),
        ({"status": "cancelled", "attempt": 0, "max_retries": 0}, 1),
    ],
)
def test_an_attempt_that_did_not_count_comes_on_top(fields: dict[str, Any], most: int) -> None:
    assert attempts.most(task(**fields)) == most


@pytest.mark.parametrize(
    ("steps", "words", "by"),
    [
        ((Step(1, "", "queued"), Step(2, "queued", "cancelled", note="ann")), "Cancelled by ann", "ann"),
        (
            (
                Step(1, "queued", "running", "w1", 0, 1),
                Step(2, "running", "running", "", 0, 1, "ben"),
                Step(3, "running", "cancelled", "w1", 0, 1, "cancelled"),
            ),
            "Cancelled by ben",
            "ben",
        ),
        (
            (Step(1, "", "blocked", note="dependency"), Step(2, "blocked", "cancelled", note="dependency")),
            "Cancelled, because a task that it depends on failed",
            "",
        ),
        ((), "Cancelled; the record does not say by whom", ""),
    ],
)
def test_a_cancelled_task_names_who(steps: tuple[Step, ...], words: str, by: str) -> None:
    found = attempts.cancelled(task(status="cancelled", steps=steps, reason="wrong prices"))
    assert found is not None
    assert (english(found.sentence), found.by, found.reason) == (words, by, "wrong prices")


@pytest.mark.parametrize(("seen_at", "sign_at"), [(500, 500), (50, 0), (2000, 0)])
def test_the_last_sign_of_a_worker_that_was_lost_is_the_one_that_its_silence_counts_from(
    seen_at: int, sign_at: int
) -> None:
    lost = Attempt(number=1, worker="w1", started_at=100, ended_at=1000, outcome="lost")
    workers = (
        WorkerInfo(worker="w1", host="a", pid=1, seen_at=seen_at),
        WorkerInfo(worker="w2", host="a", pid=2, seen_at=900),
    )
    end = attempts.unknown_end(task(status="held", attempts=(lost,)), workers)
    assert end is not None
    assert (end.sign_at, end.at) == (sign_at, 1000), "one heard of later has lived on and says nothing"


def test_a_worker_that_came_back_is_the_one_that_was_lost_and_may_say_that_it_ended_well() -> None:
    lost = Attempt(number=1, worker="w1", started_at=100, ended_at=1000, outcome="lost")
    late = Attempt(number=1, worker="w1", started_at=100, ended_at=2000, outcome="fenced")
    failed = Attempt(number=1, worker="w1", started_at=100, ended_at=2000, outcome="fenced", error_kind="network")
    for told, well in ((late, True), (failed, False)):
        end = attempts.unknown_end(task(status="held", attempts=(lost, told)))
        assert end is not None
        assert (end.worker, end.lost, end.late, end.at) == ("w1", True, well, 1000)


def test_any_other_end_names_nobody() -> None:
    assert attempts.cancelled(task(status="dead")) is None
