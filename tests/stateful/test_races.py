"""A thousand races of each kind, on both stores: one outcome, never two, and the loser is told who won."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from services.commands.outcome import Outcome
from services.domain.change import Answer
from services.domain.task.record import Task
from services.domain.task.status import TERMINAL
from tests.stateful.arena import RACES, Arena, finish, one, opened, race
from tests.stateful.lives import MEMORY


@pytest.fixture(params=["embedded", pytest.param("redis", marks=pytest.mark.redis)])
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """An empty store with two parties."""
    if request.param == "redis":
        with opened("redis", request.getfixturevalue("redis_url")) as found:
            yield found
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, opened("embedded", Path(folder) / "fleet.sqlite") as found:
        yield found


def ends(task: Task) -> list[str]:
    """How often it has ended, and how."""
    return [step.to for step in task.steps if step.to in TERMINAL and step.from_ != step.to]


class Told:
    """What an operator was told, item by item."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        self.pending: set[str] = set()
        self.skipped: dict[str, str] = {}  #: the status or the id that the reason names
        self.made: dict[str, str] = {}

    def hear(self, outcome: Outcome) -> None:
        """One answer."""
        assert not outcome.failed
        self.done.update(outcome.done)
        self.pending.update(outcome.pending)
        self.made.update(outcome.made)
        for refusal in outcome.skipped:
            self.skipped[refusal.task_id] = str(refusal.why.params.get("status", refusal.why.params.get("id", "")))


def test_a_cancel_and_a_delivery(arena: Arena) -> None:
    ids, told = arena.queued(), Told()
    race(ids, lambda some: told.hear(arena.a.commands.tasks.cancel(some)), lambda some: arena.take(arena.b, "B", some))
    taken = {held.task.task_id for held in arena.b.held}
    for task in arena.records(ids):
        if task.task_id in told.done:
            assert (task.status, task.attempt, ends(task)) == ("cancelled", 0, ["cancelled"])
            assert task.task_id not in taken
        else:
            assert task.task_id in told.pending, "it runs, and was told so"
            assert (task.status, task.attempt, task.worker, task.cancel) == ("running", 1, "B", "requested")
            assert task.task_id in taken
    assert told.done
    assert told.pending
    assert not arena.bag.waiting(), "what was cancelled first is settled as well"


def test_a_new_priority_and_a_delivery(arena: Arena) -> None:
    ids, told = arena.queued(), Told()
    race(
        ids,
        lambda some: told.hear(arena.a.commands.tasks.prioritize(some, "high")),
        lambda some: arena.take(arena.b, "B", some),
    )
    arena.take(arena.b, "B", told.done)
    assert sorted(held.task.task_id for held in arena.b.held) == sorted(ids), "each of them is started once"
    for task in arena.records(ids):
        moved = task.task_id in told.done
        assert moved != (told.skipped.get(task.task_id) == "running"), "the reason why not is that it runs"
        assert (task.status, task.attempt, task.gen) == ("running", 1, int(moved))
        assert task.lane == ("high" if moved else "normal")
    assert told.done
    assert told.skipped
    assert not arena.bag.waiting()


def test_two_operators_republish_one_letter(arena: Arena) -> None:
    ids, told = arena.ended("dead"), (Told(), Told())
    race(
        ids,
        lambda some: told[0].hear(arena.a.commands.dead_letters.republish(some)),
        lambda some: told[1].hear(arena.b.commands.dead_letters.republish(some)),
    )
    assert told[0].done.isdisjoint(told[1].done)
    assert all(one.done and one.skipped for one in told)
    for task in arena.records(ids):
        winner, loser = told if task.task_id in told[0].done else told[::-1]
        assert winner.made[task.task_id] == task.successor
        assert loser.skipped[task.task_id] == task.successor, "the second is told which task it lives on as"
    fresh = {task.task_id for task in arena.records([*told[0].made.values(), *told[1].made.values()])}
    assert len(fresh) == RACES
    assert arena.a.store.counts().total == 2 * RACES
    assert len(arena.bag.waiting()) == RACES


def test_two_dispatchers_publish_one_entry(arena: Arena) -> None:
    """Two messages of one task may come of it; one starts it, the other is a twin to whoever gets it."""
    ids = arena.created()
    pending = {task.task_id: task for task in arena.records(ids)}

    def send(some: Sequence[str], party: str) -> None:
        steps = (arena.a if party == "A" else arena.b).steps
        assert all(receipt.ok for receipt in steps.publish([pending[task_id] for task_id in some]))

    race(ids, lambda some: send(some, "A"), lambda some: send(some, "B"))
    assert {(task.status, len(task.steps)) for task in arena.records(ids)} == {("queued", 2)}
    assert not arena.a.store.outbox(0, RACES)
    assert len(arena.bag.waiting()) == 2 * RACES
    race(ids, lambda some: arena.take(arena.a, "A", some), lambda some: arena.take(arena.b, "B", some))
    assert sorted(held.task.task_id for held in arena.a.held + arena.b.held) == sorted(ids)
    assert {(task.status, task.attempt) for task in arena.records(ids)} == {("running", 1)}


def test_a_decision_and_a_late_result(arena: Arena) -> None:
    """The person's word counts; what came too late is kept as evidence, once."""
    ids, told, late = arena.ended("held"), Told(), dict[str, Answer]()
    again = set(ids[::2])

    def decide(some: Sequence[str]) -> None:
        for to, chosen in (("pending", again.intersection(some)), ("succeeded", set(some) - again)):
            told.hear(arena.a.commands.tasks.resolve(sorted(chosen), to, note="looked"))

    def report(some: Sequence[str]) -> None:
        late.update({task_id: one(arena.b.store, finish(task_id, "succeeded")) for task_id in some})

    race(ids, decide, report)
    assert told.done == set(ids)
    assert {answer.code for answer in late.values()} == {"fenced"}, "the worker is told that it counts no more"
    for task in arena.records(ids):
        assert task.status == ("queued" if task.task_id in again else "succeeded")
        assert [attempt.outcome for attempt in task.attempts] == ["lost", "fenced"]
        assert len(ends(task)) == (task.task_id not in again)


def test_a_lost_worker_that_is_not(arena: Arena) -> None:
    """Its lease ran out and it answers after all: either its result stands, or the task is held and it is told."""
    ids = arena.running()
    taken, late = dict[str, Answer](), dict[str, Answer]()

    def take_over(some: Sequence[str]) -> None:
        taken.update({task_id: one(arena.a.store, finish(task_id, "held", lost=True)) for task_id in some})

    def report(some: Sequence[str]) -> None:
        late.update({task_id: one(arena.b.store, finish(task_id, "succeeded")) for task_id in some})

    race(ids, take_over, report)
    seen = set()
    for task in arena.records(ids):
        codes = (taken[task.task_id].code, late[task.task_id].code)
        assert codes == (("ok", "fenced") if task.status == "held" else ("fenced", "ok"))
        assert sum(attempt.outcome != "fenced" for attempt in task.attempts) == 1
        seen.add(str(task.status))
    assert seen == {"held", "succeeded"}


def test_a_cancel_and_an_end(arena: Arena) -> None:
    """What has succeeded has; what failed is not tried again once its cancellation was asked for."""
    ids, told = arena.running(), Told()
    well = set(ids[::2])

    def end(some: Sequence[str]) -> None:
        for task_id in some:
            op = finish(task_id, "succeeded" if task_id in well else "retrying")
            assert one(arena.b.store, op).code == "ok"

    race(ids, lambda some: told.hear(arena.a.commands.tasks.cancel(some)), end)
    for task in arena.records(ids):
        assert len(ends(task)) == 1
        assert [attempt.number for attempt in task.attempts] == [1]
        if task.task_id in well:
            assert task.status == "succeeded"
            assert task.task_id in told.pending or told.skipped[task.task_id] == "succeeded"
        else:
            assert task.status == "cancelled"
            assert task.task_id in told.pending | told.done
    assert told.pending
    assert told.skipped
    assert told.done
