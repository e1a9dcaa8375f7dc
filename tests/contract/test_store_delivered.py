"""What tells that a message is lost: what came out of its queue although it was published later."""

from __future__ import annotations

from services.domain.change import Nudge
from services.domain.task.record import Task
from tests.contract.rig import Rig


def nudged(rig: Rig, task: Task) -> Task:
    """Published once more, as after a look that did not find its message."""
    assert rig.ask(Nudge(task_id=task.task_id, gen=task.gen, attempt=task.attempt)).code == "ok"
    assert rig.confirm(rig.record(task)).code == "ok"
    return rig.record(task)


def test_a_delivery_moves_the_mark_of_its_queue_and_priority(rig: Rig) -> None:
    assert rig.store.delivered() == {}
    first = rig.queued(priority=6)
    rig.claim(first)
    assert rig.store.delivered() == {("normal", 6): first.queued_at}
    rig.pass_time(1.1)
    later, other = rig.queued(priority=6, shop_id="s2"), rig.queued(priority=9, lane="high", queue="s3", shop_id="s3")
    rig.claim(later)
    rig.claim(other)
    assert rig.store.delivered() == {("normal", 6): later.queued_at, ("s3", 9): other.queued_at}


def test_it_never_goes_back(rig: Rig) -> None:
    old = rig.queued()
    rig.pass_time(1.1)
    new = rig.queued(shop_id="s2")
    rig.claim(new)
    rig.claim(old)
    assert rig.store.delivered() == {("normal", 6): new.queued_at}


def test_a_parked_task_was_delivered_too(rig: Rig) -> None:
    rig.running()
    rig.pass_time(1.1)
    parked = rig.blocked()
    assert rig.store.delivered() == {("normal", 6): parked.queued_at}


def test_what_does_not_tell_when_it_was_published_moves_nothing(rig: Rig) -> None:
    """A foreign message may have waited for hours; of two messages nobody knows which one came."""
    foreign = rig.task(status="queued")
    assert rig.claim(foreign, adopt=foreign).code == "run"
    twice = rig.queued(shop_id="s2")
    rig.pass_time(0.01)
    assert rig.claim(nudged(rig, twice)).code == "run"
    retry = rig.retrying(shop_id="s3")
    known = rig.store.delivered()
    assert rig.claim(retry).code == "run"
    assert rig.store.delivered() == known


def test_what_is_published_once_more_waits_from_then_on(rig: Rig) -> None:
    task = rig.queued()
    rig.pass_time(0.1)
    start = rig.store.events("", 1, 0).cursor
    again = nudged(rig, task)
    assert again.queued_at > task.queued_at
    assert (again.updated_at, again.steps, rig.all_events(start)) == (task.updated_at, task.steps, [])
    assert rig.confirm(again).code == "ok", "said twice"
    assert rig.record(task) == again


def test_queued_tasks_by_their_creation(rig: Rig) -> None:
    base = rig.store.now_ms() - 100_000
    old = [rig.queued(priority=6, created_at=base + number) for number in range(4)]
    rig.queued(priority=5, created_at=base)
    rig.queued(priority=6, created_at=base, lane="low")
    rig.create(priority=6, created_at=base)
    found = rig.store.queued_before({("normal", 6): base + 3}, 10)
    assert [task.task_id for task in found] == [task.task_id for task in old[:3]]
    assert len(rig.store.queued_before({("normal", 6): base + 9, ("normal", 5): base + 9}, 2)) == 3
    assert rig.store.queued_before({}, 10) == []
