"""A store under test with the hand that turns its time, and short ways to bring a task into a state."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
import redis

from services.clock import ManualClock
from services.domain.change import Answer, Cancel, Claim, Create, Finish, Op, OpenShop, Published
from services.domain.fleet.shop import Shop
from services.domain.task.event import Event
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Counts
from services.domain.task.status import ACTIVE, TERMINAL, Status, Triage
from services.ports import Store
from services.store.redis import keys
from tests.conftest import IN_CI
from tests.contract.waiting import eventually

#: real time that a test may let pass on a driver whose clock cannot be turned; CI has the patience for leases
REAL_SECONDS = 40.0 if IN_CI else 2.0


@dataclass
class Rig:
    """``clock`` is None where the store takes its time from its server, whose address is ``redis_url``."""

    store: Store
    clock: ManualClock | None
    redis_url: str = ""
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    # ------------------------------------------------------------------ time
    def pass_time(self, seconds: float) -> None:
        """Turn the clock, or wait for the real one if it is not long."""
        if self.clock is not None:
            self.clock.advance(seconds)
            return
        if seconds > REAL_SECONDS:
            pytest.skip(f"{seconds} s of real time")
        until = self.store.now_ms() + round(seconds * 1000)
        eventually(lambda: self.store.now_ms() > until, seconds + 5)

    def pass_life(self, seconds: float) -> None:
        """As ``pass_time``; on a real server what expires there by itself, and heartbeats, grow so much older."""
        if self.clock is not None:
            self.clock.advance(seconds)
            return
        with closing(redis.Redis.from_url(self.redis_url)) as client:
            for key in client.scan_iter():
                if (left := client.pttl(key)) > 0:
                    client.pexpire(key, max(1, left - round(seconds * 1000)))
            for name, beat in client.hgetall(keys.WORKERS).items():
                client.hset(keys.WORKERS, name, b"%d" % (int(beat[:13]) - round(seconds * 1000)) + beat[13:])
        until = self.store.now_ms() + 10
        eventually(lambda: self.store.now_ms() > until, 5)

    # ---------------------------------------------------------------- states
    def task(self, **fields: Any) -> Task:
        """A record that is not stored yet, of shop pdd:s1 unless told otherwise."""
        number = next(self._numbers)
        base: dict[str, Any] = {
            "task_id": f"pdd_sync_order_s1_{number:04d}{secrets.token_hex(4)}",
            "shop_id": "s1",
            "platform": "pdd",
            "task_type": "sync_order",
            "payload": json.dumps({"n": number}),
            "origin": "cli",
            "created_by": "ann@desk",
        }
        return Task(**(base | fields))

    def ask(self, op: Op) -> Answer:
        """Apply one operation."""
        (answer,) = self.store.apply([op])
        return answer

    def record(self, task: Task | str) -> Task:
        """The stored record."""
        (found,) = self.store.get([task if isinstance(task, str) else task.task_id])
        assert found is not None
        return found

    def create(self, **fields: Any) -> Task:
        """A stored pending (or scheduled, or dead) task."""
        answer = self.ask(Create(task=self.task(**fields)))
        assert answer.code == "created"
        assert answer.task is not None
        return answer.task

    def confirm(self, task: Task) -> Answer:
        """Tell that the broker holds the message of this state."""
        return self.ask(Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt))

    def queued(self, **fields: Any) -> Task:
        """A stored task whose message is confirmed."""
        task = self.create(**fields)
        assert self.confirm(task).code == "ok"
        return self.record(task)

    def claim(self, task: Task, owner: str = "w1#1", **fields: Any) -> Answer:
        """Claim by the message of this state of the record."""
        base: dict[str, Any] = {
            "task_id": task.task_id,
            "gen": task.gen,
            "attempt": task.attempt,
            "owner": owner,
            "worker": owner.partition("#")[0],
            "lease_ms": 60_000,
        }
        return self.ask(Claim(**(base | fields)))

    def running(self, owner: str = "w1#1", lease_ms: int = 60_000, **fields: Any) -> Task:
        """A running task."""
        answer = self.claim(self.queued(**fields), owner, lease_ms=lease_ms)
        assert answer.code == "run", answer.code
        assert answer.task is not None
        return answer.task

    def finish(self, task: Task, to: str = "succeeded", **fields: Any) -> Answer:
        """End the attempt that ``task`` shows."""
        base: dict[str, Any] = {"task_id": task.task_id, "owner": task.owner, "to": to, "attempt": attempt_of(task, to)}
        return self.ask(Finish(**(base | fields)))

    def dead(self, **fields: Any) -> Task:
        """A dead letter with triage open."""
        answer = self.finish(
            self.running(**fields), "dead", error="login expired", error_kind="login_expired", fingerprint="9ac1"
        )
        assert answer.code == "ok"
        assert answer.task is not None
        return answer.task

    def retrying(self, delay_ms: int = 30_000, **fields: Any) -> Task:
        """A task that failed once and waits for its next attempt."""
        answer = self.finish(self.running(**fields), "retrying", delay_ms=delay_ms, error="net", error_kind="network")
        assert answer.code == "ok"
        assert answer.task is not None
        return answer.task

    def held(self, **fields: Any) -> Task:
        """A task whose outcome is unknown."""
        answer = self.finish(self.running(**fields), "held", error="worker lost", error_kind="worker_lost", lost=True)
        assert answer.code == "ok"
        assert answer.task is not None
        return answer.task

    def blocked(self, owner: str = "w9#9", **fields: Any) -> Task:
        """A task in the lot of a shop that is busy (the caller keeps it busy)."""
        answer = self.claim(self.queued(**fields), owner)
        assert answer.code == "blocked"
        assert answer.task is not None
        return answer.task

    def in_status(self, status: str, **fields: Any) -> Task:
        """A task in any status; blocked needs a shop of its own and keeps a running task there."""
        if status == Status.BLOCKED:
            self.running(**(fields | {"uniq": ""}), owner="keeps#busy")
            return self.blocked(**fields)
        if status == Status.CANCELLED:
            task = self.queued(**fields)
            answer = self.ask(Cancel(task_id=task.task_id, by="ann@desk"))
            assert answer.task is not None
            return answer.task
        if status == Status.SUCCEEDED:
            answer = self.finish(self.running(**fields))
            assert answer.task is not None
            return answer.task
        if status == Status.SCHEDULED:
            return self.create(**({"due_at": self.store.now_ms() + 3_600_000} | fields), status=status)
        made = {
            Status.PENDING: self.create,
            Status.QUEUED: self.queued,
            Status.RUNNING: self.running,
            Status.RETRYING: self.retrying,
            Status.HELD: self.held,
            Status.DEAD: self.dead,
        }
        return made[Status(status)](**fields)

    def open(self, shop: str = "pdd:s1") -> list[str]:
        """Ids that the shop's lot releases now."""
        answer = self.ask(OpenShop(shop=shop))
        assert answer.code == "ok"
        return [task.task_id for task in answer.released]

    def shop(self, shop_id: str = "s1", concurrency: int = 1, **fields: Any) -> None:
        """Register a shop."""
        self.store.put_shops([Shop(platform="pdd", shop_id=shop_id, concurrency=concurrency, **fields)])

    # ---------------------------------------------------------------- events
    def all_events(self, cursor: str) -> list[Event]:
        """What happened since the cursor."""
        found: list[Event] = []
        while True:
            batch = self.store.events(cursor, 1000, 0.0)
            assert not batch.gap
            if not batch.events:
                return found
            found += batch.events
            cursor = batch.cursor

    def outbox(self) -> set[str]:
        """Ids with an outbox mark."""
        return {task.task_id for task in self.store.outbox(0, 100_000)}


def attempt_of(task: Task, outcome: str) -> Attempt:
    """The attempt that a running record shows, ended."""
    words = {"retrying": "failed", "dead": "failed", "held": "lost", "pending": "returned"}
    return Attempt(
        number=task.attempt,
        worker=task.worker,
        started_at=task.started_at,
        ended_at=task.started_at + 5,
        outcome=words.get(outcome, outcome),
    )


def recount(tasks: Iterable[Task]) -> Counts:
    """The counters that these records should have."""
    status: dict[str, int] = {}
    lanes: dict[str, dict[str, int]] = {}
    shops: dict[str, dict[str, int]] = {}
    triage: dict[str, int] = {}
    total = 0
    for task in tasks:
        total += 1
        status[task.status] = status.get(task.status, 0) + 1
        if task.status in ACTIVE:
            lane = lanes.setdefault(task.lane, {})
            lane[task.status] = lane.get(task.status, 0) + 1
        if task.status in ACTIVE or task.triage == Triage.OPEN:
            shop = shops.setdefault(task.shop, {})
            shop[task.status] = shop.get(task.status, 0) + 1
        if task.status == Status.DEAD:
            triage[task.triage] = triage.get(task.triage, 0) + 1
    return Counts(status=status, lanes=lanes, shops=shops, triage=triage, total=total)


def same_counts(left: Counts, right: Counts) -> bool:
    """Equal but for the cursor and for entries of zero."""
    return _plain(left) == _plain(right)


def _plain(counts: Counts) -> tuple[Any, ...]:
    def strip(table: dict[str, Any]) -> dict[str, Any]:
        cleaned = {key: strip(value) if isinstance(value, dict) else value for key, value in table.items()}
        return {key: value for key, value in cleaned.items() if value}

    return strip(counts.status), strip(counts.lanes), strip(counts.shops), strip(counts.triage), counts.total


def shown(task: Task) -> list[tuple[Any, ...]]:
    """The transitions of a record as its events should show them."""
    return [(step.from_, step.to, step.at, step.worker, step.gen, step.attempt) for step in task.steps]


def told(events: Iterable[Event], task: Task) -> list[tuple[Any, ...]]:
    """The events of one task in the form of ``shown``."""
    return [(e.from_, e.to, e.at, e.worker, e.gen, e.attempt) for e in events if e.task_id == task.task_id]


def ended(events: Iterable[Event]) -> dict[str, int]:
    """How often each task reached a terminal status."""
    found: dict[str, int] = {}
    for event in events:
        if event.to in TERMINAL and event.from_ != event.to:
            found[event.task_id] = found.get(event.task_id, 0) + 1
    return found


def changed(task: Task, **fields: Any) -> Task:
    """A copy with other fields."""
    return msgspec.structs.replace(task, **fields)
