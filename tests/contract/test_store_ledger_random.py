"""A thousand random histories of one work each: fail, lose, force, republish, foreign programs, schedules."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from typing import Any

from services.domain.change import Claim, Create, Finish, Op, Republish, Resolve
from services.domain.task.ledger import DAY_MS, Day, Ran, is_red
from services.domain.task.record import Task
from services.domain.task.status import CLAIMABLE, Status
from tests.contract.rig import Rig, attempt_of

HISTORIES, STEPS = 1_000, 14
SINCE = 1  #: no work is to be done a second time, ever
ASKED = frozenset({"forced", "again"})


def check(history: list[Task], ran: Ran | None) -> None:
    """The model: nothing open that a later success has overtaken; every success but one was asked for by a person; the
    last ends and the days are those of the tasks.
    """
    done = [task for task in history if task.status == Status.SUCCEEDED]
    last = max((task.ended_at for task in done), default=0)
    assert not [task for task in history if is_red(task.status, task.triage) and task.updated_at < last]
    asked = [task for task in done if task.reason or ASKED & set(task.marks)]
    assert len(done) - len(asked) <= 1
    dead = [task for task in history if task.status == Status.DEAD and task.attempt]  # what never ran did not fail
    told = ran or Ran()
    assert (told.done.at if told.done else 0) == last
    assert (told.failed.at if told.failed else 0) == max((task.ended_at for task in dead), default=0)
    days: dict[int, list[Task]] = {}
    for task in sorted((*done, *dead), key=lambda task: task.ended_at):
        days.setdefault(task.ended_at // DAY_MS, []).append(task)
    assert [counted(day) for day in told.days] == [
        (ends[0].ended_at, ends[-1].ended_at, *(sum(task in kind for task in ends) for kind in (done, dead)))
        for _, ends in sorted(days.items())
    ]
    ended = {task.task_id: task.ended_at for task in (*done, *dead)}
    assert all((ended[day.first_id], ended[day.last_id]) == counted(day)[:2] for day in told.days)


def counted(day: Day) -> tuple[int, int, int, int]:
    """All but the ids, which two of one instant may share."""
    return day.first_at, day.last_at, day.succeeded, day.failed


class Histories:
    """All of them side by side, one step of each in one batch; each has a shop and a work of its own."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.ids: list[list[str]] = [[] for _ in range(HISTORIES)]

    def records(self) -> list[list[Task]]:
        """What has become of the tasks of each."""
        known = {
            task.task_id: task for task in self.rig.store.get(list(chain.from_iterable(self.ids))) if task is not None
        }
        return [[known[one] for one in names] for names in self.ids]

    def check(self) -> None:
        """Each against the model."""
        known = self.rig.store.ran([f"work{number}" for number in range(HISTORIES)])
        for history, ran in zip(self.records(), known, strict=True):
            check(history, ran)

    def step(self, chance: random.Random) -> None:
        """One of each."""
        chosen = [self.choose(number, tasks, chance) for number, tasks in enumerate(self.records())]
        ops = [(number, op) for number, op in enumerate(chosen) if op is not None]
        for (number, op), answer in zip(ops, self.rig.store.apply([op for _, op in ops]), strict=True):
            if isinstance(op, Create | Republish) and answer.code in ("created", "ok"):
                self.ids[number].append(op.task.task_id)

    def fresh(self, number: int, **fields: Any) -> Task:
        """A new task of this history."""
        return self.rig.task(shop_id=f"s{number}", uniq=f"work{number}", **fields)

    def choose(self, number: int, tasks: Sequence[Task], chance: random.Random) -> Op | None:
        """What happens next."""
        ways = [self._create, self._create, self._end, self._end, self._claim, self._claim, self._again, self._brought]
        return chance.choice(ways)(number, tasks, chance)

    def _create(self, number: int, tasks: Sequence[Task], chance: random.Random) -> Op:
        how = chance.randrange(5)
        if how == 0:
            return Create(task=self.fresh(number, reason="it must"), on_duplicate="force")
        if how == 1:
            return Create(task=self.fresh(number, origin="foreign", status="queued"), on_duplicate="queue")
        if how == 2:
            return Create(task=self.fresh(number), on_duplicate="queue", done_since=SINCE)
        return Create(task=self.fresh(number, origin=("schedule", "cli")[how % 2]), done_since=SINCE)

    def _brought(self, number: int, tasks: Sequence[Task], chance: random.Random) -> Op:
        """One that ended on a day of before, in another store."""
        at = self.rig.store.now_ms() - chance.randrange(20 * DAY_MS)
        status, attempt = chance.choice([("succeeded", 1), ("dead", 1), ("dead", 0)])
        triage = "archived" if status == "dead" else ""
        at_then = {"created_at": at, "updated_at": at, "ended_at": at}
        fields = at_then | {"triage": triage, "attempt": attempt, "reason": "it was moved here"}
        return Create(task=self.fresh(number, status=status, **fields))

    def _claim(self, number: int, tasks: Sequence[Task], chance: random.Random) -> Op | None:
        able = [task for task in tasks if task.status in CLAIMABLE]
        if not able:
            return None
        task = chance.choice(able)
        owner = f"w#{chance.randrange(10**9)}"
        return Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner=owner, worker="w", lease_ms=60_000,
            done_since=SINCE,
        )  # fmt: skip

    def _end(self, number: int, tasks: Sequence[Task], chance: random.Random) -> Op | None:
        running = [task for task in tasks if task.status == Status.RUNNING]
        if not running:
            return None
        task, to = chance.choice(running), chance.choice(["succeeded", "succeeded", "dead", "held", "retrying"])
        kind = "worker_lost" if to == "held" else "bad_payload" if to != "succeeded" else ""
        return Finish(
            task_id=task.task_id, owner=task.owner, to=to, attempt=attempt_of(task, to), error_kind=kind,
            lost=to == "held", delay_ms=0,
        )  # fmt: skip

    def _again(self, number: int, tasks: Sequence[Task], chance: random.Random) -> Op | None:
        red = [task for task in tasks if is_red(task.status, task.triage)]
        if not red:
            return None
        task = chance.choice(red)
        if task.status == Status.HELD:
            return Resolve(task_id=task.task_id, to=chance.choice(["pending", "dead"]), by="ann@desk")
        reason = chance.choice(["", "the shop lost it"])
        fresh = self.fresh(number, parent=task.task_id, reason=reason)
        return Republish(task_id=task.task_id, task=fresh, by="ann@desk", done_since=0 if reason else SINCE)


def test_nothing_is_done_twice_unasked_and_nothing_done_stays_open(rig: Rig) -> None:
    chance = random.Random(12)
    histories = Histories(rig)
    for _ in range(STEPS):
        histories.step(chance)
        histories.check()
        if rig.clock is not None:
            rig.clock.advance(chance.choice([0.01, 5 * 3600]))
    every = list(chain.from_iterable(histories.records()))
    assert sum(task.triage == "overtaken" for task in every) > 10
    assert sum(task.error_kind == "already_done" for task in every) > 10
    assert sum(len(ran.days) for ran in rig.store.ran([f"work{one}" for one in range(HISTORIES)]) if ran) > HISTORIES
    assert rig.store.recount(mend=False) == []
