"""When a draining worker may leave."""

from __future__ import annotations

import pytest

from services.cli.run import LED_S, OTHERS_S, QUIET_S, Idle
from services.domain.task.order import QueueDepth
from services.domain.task.search.query import Counts


def lane(ready: int = 0, unacked: int | None = 0, name: str = "normal") -> QueueDepth:
    return QueueDepth(name=f"rpa_tasks_{name}", ready=ready, unacked=unacked, consumers=1)


def dead(ready: int) -> QueueDepth:
    return QueueDepth(name="rpa_dead_queue", ready=ready, unacked=0, consumers=1, kind="dead")


def counts(**status: int) -> Counts:
    return Counts(lanes={"normal": status})


@pytest.fixture
def idle() -> Idle:
    return Idle(("high", "normal"))


@pytest.mark.parametrize("status", ["pending", "queued", "running", "retrying"])
def test_unfinished_tasks_keep_it(idle: Idle, status: str) -> None:
    assert idle.left(counts(**{status: 2}), [lane()]) == 2


@pytest.mark.parametrize("status", ["scheduled", "held", "blocked"])
def test_what_waits_for_somebody_else_is_no_work(idle: Idle, status: str) -> None:
    assert idle.left(counts(**{status: 2}), [lane()]) == 0


def test_messages_without_a_record_keep_it(idle: Idle) -> None:
    assert idle.left(counts(), [lane(ready=3, unacked=2), lane(ready=9, name="low")]) == 5
    assert idle.left(counts(), [lane(unacked=None)]) == 0


def test_other_lanes_are_not_its_business(idle: Idle) -> None:
    assert idle.left(Counts(lanes={"low": {"queued": 5}}), [lane(ready=5, name="low")]) == 0


def test_it_leaves_after_a_quiet_moment(idle: Idle) -> None:
    assert not idle.over(idle.left(counts(), []), 10.0)
    assert not idle.over(idle.left(counts(), []), 10.0 + QUIET_S)
    assert not idle.over(idle.left(counts(queued=1), []), 10.9 + QUIET_S), "something came: the wait begins anew"
    assert not idle.over(idle.left(counts(), []), 12.0)
    assert idle.over(idle.left(counts(), []), 12.1 + QUIET_S)


@pytest.mark.parametrize(("status", "depths"), [({"blocked": 1}, []), ({}, [dead(1)])])
def test_parked_tasks_and_letters_get_time_but_not_for_ever(
    idle: Idle, status: dict[str, int], depths: list[QueueDepth]
) -> None:
    assert not idle.over(idle.left(counts(**status), depths), 0.0)
    assert not idle.over(idle.left(counts(**status), depths), OTHERS_S - 1)
    assert idle.over(idle.left(counts(**status), depths), OTHERS_S + 1)
    assert not idle.over(idle.left(counts(queued=1, **status), depths), OTHERS_S + 2)


def test_who_leads_itself_waits_for_no_new_leader(idle: Idle) -> None:
    left = idle.left(counts(blocked=1), [])
    assert not idle.over(left, 0.0, leads=True)
    assert not idle.over(left, LED_S - 1, leads=True)
    assert not idle.over(left, LED_S + 1, leads=False), "another leads, or nobody yet"
    assert idle.over(left, LED_S + 1, leads=True)


def test_a_worker_stays_for_parked_tasks_that_it_can_run_and_not_for_those_that_it_cannot() -> None:
    parked = {("high", "mail"): 2, ("normal", "flow"): 3, ("low", "mail"): 4}
    idle = Idle(("high", "normal"))
    counted = counts(blocked=5)

    def mails(lane: str, task_type: str) -> bool:
        return lane != "low" and task_type == "mail"

    assert idle.left(counted, [], parked, mails) == 2
    assert not idle.over(2, 0.0)
    assert idle.left(counted, [], parked) == 0
    assert not idle.over(0, 10.0)
    assert idle.over(0, 10.1 + QUIET_S), "nobody here can run them: they keep no one waiting"


def test_other_parked_tasks_are_waited_for_beside_those_that_nobody_can_run() -> None:
    idle = Idle(("high", "normal"))
    assert idle.left(counts(blocked=5), [], {("normal", "flow"): 4}) == 0
    assert not idle.over(0, 0.0)
    assert not idle.over(0, OTHERS_S - 1)
    assert idle.over(0, OTHERS_S + 1)
