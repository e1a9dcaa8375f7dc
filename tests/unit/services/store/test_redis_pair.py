"""The same operations on both stores: the answers, records, gates, counters and pages must be the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from services.clock import SystemClock
from services.domain.change import (
    Answer,
    Cancel,
    Claim,
    Create,
    Finish,
    GiveUp,
    Move,
    Nudge,
    Op,
    OpenShop,
    Postpone,
    Progress,
    Published,
    Relink,
    Renew,
    Republish,
    Resolve,
    SetTriage,
    TellDependants,
)
from services.domain.fleet.shop import Pause, Shop
from services.domain.task.record import Attempt, Task
from services.domain.task.search import query
from services.ports import Store
from services.store.redis.store import RedisStore
from services.store.sqlite.store import EmbeddedStore
from tests.support.services import Redis

BEGIN = 1_700_000_000_000
#: an instant that no driver chose by itself
INSTANTS = ("updated_at", "due_at", "queued_at", "started_at", "ended_at", "lease_until", "losses")
SHOPS = (("pdd", "a"), ("pdd", "b"), ("temu", "a"))
SCOPES = ("all", "platform:pdd", "shop:pdd:a", "type:t1")
ENDS = ("succeeded", "retrying", "dead", "held", "cancelled", "pending")
ACTS = (
    "create", "create", "create", "publish", "publish", "claim", "claim", "claim", "claim", "finish", "finish", "late",
    "renew", "progress", "cancel", "move", "republish", "triage", "resolve", "nudge", "open", "pause", "resume",
    "give_up", "postpone", "adopt", "slots", "foreign", "depend", "depend", "tell",
)  # fmt: skip
STEP = st.tuples(st.sampled_from(ACTS), st.integers(0, 9), st.integers(0, 5))
BATCHES = st.lists(st.lists(STEP, min_size=1, max_size=8), min_size=1, max_size=14)


def plain(task: Task | None) -> Task | None:
    """A record without what the clock wrote into it; whether an instant is set stays visible."""
    if task is None:
        return None
    known = {name: bool(getattr(task, name)) for name in INSTANTS if name != "losses"}
    return structs.replace(
        task,
        **{name: int(value) for name, value in known.items()},
        losses=(0,) * len(task.losses),
        steps=tuple(structs.replace(step, at=0) for step in task.steps),
    )


def told(answer: Answer) -> tuple[Any, ...]:
    """An answer to compare."""
    others = (tuple(plain(task) for task in tasks) for tasks in (answer.released, answer.ended))
    return answer.code, plain(answer.task), *others


class Twins:
    """Both stores, and the operations that the state of one of them suggests."""

    def __init__(self, left: Store, right: Store) -> None:
        self.left, self.right = left, right
        self.ids: list[str] = []
        self.messages: list[Task] = []
        for platform, shop_id in SHOPS[:2]:
            self.both("put_shops", [Shop(platform=platform, shop_id=shop_id, concurrency=1 + (shop_id == "b"))])

    def both(self, method: str, *arguments: Any) -> Any:
        """Ask both; the answers must be equal."""
        one, other = getattr(self.left, method)(*arguments), getattr(self.right, method)(*arguments)
        assert one == other
        return one

    def play(self, batch: list[tuple[str, int, int]]) -> None:
        """Make operations of the steps, apply them as one batch, compare everything."""
        ops = [op for step in batch if (op := self._op(*step)) is not None]
        answers = self.left.apply(ops), self.right.apply(ops)
        for op, one, other in zip(ops, *answers, strict=True):
            assert told(one) == told(other), op
        for answer in answers[0]:
            self.messages += answer.released
        self.messages = self.messages[-12:]
        self._compare()

    def _compare(self) -> None:
        records = [[plain(task) for task in store.get(self.ids)] for store in (self.left, self.right)]
        assert records[0] == records[1]
        marked = [{task.task_id for task in store.outbox(0, 1000)} for store in (self.left, self.right)]
        assert marked[0] == marked[1]
        delivered = [set(store.delivered()) for store in (self.left, self.right)]
        assert delivered[0] == delivered[1]
        counts = [structs_of(store.counts()) for store in (self.left, self.right)]
        assert counts[0] == counts[1]
        assert sorted(self.left.parked_shops(100)) == self.right.parked_shops(100)
        for task_id in self.ids:
            self.both("needs", task_id)
        looks: list[Op] = [Relink(task_id=task_id, look=True) for task_id in self.ids]
        for store in (self.left, self.right):
            assert not [answer.task for answer in store.apply(looks) if answer.code == "ok"]
        self.both("untold", 10)
        for terms in ((), (query.equals("shop", "a"),), (query.equals("status", "queued", "blocked", "dead"),)):
            for sort in ("created", "priority"):
                asked = query.Query(terms=terms, sort=sort, limit=500)
                pages = [store.query(asked) for store in (self.left, self.right)]
                assert [task.task_id for task in pages[0].tasks] == [task.task_id for task in pages[1].tasks]
                assert pages[0].total == pages[1].total

    # ------------------------------------------------------------------ operations
    def _op(self, act: str, pick: int, how: int) -> Op | None:
        if act in ("create", "adopt", "open", "pause", "resume", "slots"):
            found: Op | None = getattr(self, f"_{act}")(pick, how)
            return found
        if not self.ids:
            return None
        (task,) = self.left.get([self.ids[pick * 7 % len(self.ids)]])
        return getattr(self, f"_{act}")(task, how) if task is not None else None

    def _new(self, pick: int, how: int, **fields: Any) -> Task:
        number = len(self.ids)
        platform, shop_id = SHOPS[pick % 3]
        task = Task(
            task_id=f"t{number:03d}", shop_id=shop_id, platform=platform, task_type=f"t{how % 3}",
            payload=f'{{"n": {number}}}', priority=1 + pick, lane=("low", "normal", "high")[pick % 3],
            created_at=BEGIN + (number * 37) % 50, uniq=f"U{shop_id}{platform}{pick % 2}" if how < 4 else "",
            created_by="ann", origin="cli",
        )  # fmt: skip
        self.ids.append(task.task_id)
        return structs.replace(task, **fields)

    def _create(self, pick: int, how: int) -> Op:
        way = ("reject", "queue", "force", "queue", "reject", "reject")[how]
        if pick == 9:
            return Create(task=self._new(pick, how, status="scheduled", due_at=BEGIN + how), on_duplicate=way)
        if how == 5:  # what no caller should ask for
            fields = {"triage": "open", "ended_at": 5, "due_at": 7}
            return Create(task=self._new(pick, how, **fields), on_duplicate=way)
        if pick == 8:
            return Create(task=self._new(pick, how, status="dead", error_kind="bad_message"), on_duplicate=way)
        return Create(task=self._new(pick, how), on_duplicate=way)

    def _depend(self, task: Task, how: int) -> Op:
        other = self.ids[how * 5 % len(self.ids)]
        fields: dict[str, Any] = {
            "depends_on": (task.task_id, other) if how % 3 else (task.task_id,),
            "on_dependency_failure": ("hold", "cancel")[how % 2],
        }
        plan = {"status": "scheduled", "due_at": BEGIN + how} if how == 4 else {}
        return Create(task=self._new(how, how, **fields, **plan), on_duplicate=("reject", "queue")[how % 2])

    def _tell(self, task: Task, how: int) -> Op:
        return TellDependants(task_id=task.task_id)

    def _adopt(self, pick: int, how: int) -> Op:
        task = self._new(pick, how, status="held" if how == 5 else "queued", attempt=how)
        return self._claimed(task, how, adopt=task)

    def _claimed(self, task: Task, how: int, **fields: Any) -> Claim:
        owner = f"w{how}#{task.task_id}{task.attempt}"
        return Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner=owner, worker=f"w{how}", lease_ms=3_600_000,
            **fields,
        )  # fmt: skip

    def _publish(self, task: Task, how: int) -> Op:
        return Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt)

    def _claim(self, task: Task, how: int) -> Op:
        late = self.messages[how % len(self.messages)] if how == 5 and self.messages else task
        return self._claimed(late, how)

    def _foreign(self, task: Task, how: int) -> Op:
        return self._claimed(task, how, foreign_done=how == 0)

    def _ended(self, task: Task, how: int, **fields: Any) -> Finish:
        number = task.attempt + (how == 4)  # of a claim that the store forgot
        attempt = Attempt(number, task.worker, BEGIN, BEGIN + 5, ("succeeded", "failed", "lost")[how % 3])
        if task.attempts and task.status != "running" and how % 2:
            attempt = task.attempts[-1]  # the same again, after a lost reply
        owner = task.owner or "nobody"
        base: dict[str, Any] = {"owner": owner, "to": ENDS[how], "attempt": attempt, "error": "e" * how}
        return Finish(
            task_id=task.task_id,
            **(base | {"error_kind": "network" if how else "", "fingerprint": "ff" * how} | fields),
        )

    def _finish(self, task: Task, how: int) -> Op:
        return self._ended(task, how, lost=how == 3, delay_ms=3_600_000)

    def _late(self, task: Task, how: int) -> Op:
        return self._ended(task, how, owner="somebody else", if_expired=how == 2)

    def _renew(self, task: Task, how: int) -> Op:
        forgotten = {"attempt": task.attempt + how - 3, "worker": f"w{how}", "started_at": BEGIN}
        return Renew(task_id=task.task_id, owner=task.owner, lease_ms=3_600_000, **forgotten)

    def _progress(self, task: Task, how: int) -> Op:
        return Progress(
            task_id=task.task_id, owner=task.owner, progress=how * 10 - 10, note="页" * how, stopping=how == 4
        )

    def _cancel(self, task: Task, how: int) -> Op:
        return Cancel(task_id=task.task_id, by="ann", reason="why" if how else "")

    def _move(self, task: Task, how: int) -> Op:
        return Move(task_id=task.task_id, by="ann", lane="high", priority=8 + how % 3, run_now=how > 2)

    def _republish(self, task: Task, how: int) -> Op:
        fresh = self._new(how, 5, parent=task.task_id, uniq=task.work, shop_id=task.shop_id, platform=task.platform)
        way = ("reject", "queue", "force")[how % 3]
        return Republish(task_id=task.task_id, task=fresh, by="ann", on_duplicate=way)

    def _triage(self, task: Task, how: int) -> Op:
        names = ("open", "archived", "ignored", "republished", "archived", "nonsense")
        return SetTriage(task_id=task.task_id, triage=names[how], by="ann", note="n" * (how % 2))

    def _resolve(self, task: Task, how: int) -> Op:
        to = ("pending", "succeeded", "dead", "cancelled")[how % 4]
        return Resolve(task_id=task.task_id, to=to, by=("ann", "bob")[how // 4], note="n" * (how % 2))

    def _nudge(self, task: Task, how: int) -> Op:
        return Nudge(task_id=task.task_id, gen=task.gen + (how == 5), attempt=task.attempt)

    def _give_up(self, task: Task, how: int) -> Op:
        gen = task.gen + (how == 5)
        to = "held" if how == 4 else "dead"
        return GiveUp(
            task_id=task.task_id, gen=gen, attempt=task.attempt, error="e" * how, error_kind="bad_message", to=to
        )

    def _postpone(self, task: Task, how: int) -> Op:
        return Postpone(task_id=task.task_id)

    def _open(self, pick: int, how: int) -> Op:
        platform, shop_id = SHOPS[pick % 3]
        return OpenShop(shop=f"{platform}:{shop_id}")

    def _pause(self, pick: int, how: int) -> None:
        for store in (self.left, self.right):
            store.set_pause(Pause(scope=SCOPES[pick % 4], by="ann", at=1))

    def _resume(self, pick: int, how: int) -> None:
        self.both("clear_pause", SCOPES[pick % 4])

    def _slots(self, pick: int, how: int) -> None:
        platform, shop_id = SHOPS[pick % 3]
        self.both("put_shops", [Shop(platform=platform, shop_id=shop_id, concurrency=1 + how % 3)])


def structs_of(counts: query.Counts) -> tuple[Any, ...]:
    """Counters without their place in the stream."""
    return counts.status, counts.lanes, counts.shops, counts.triage, counts.total


@contextmanager
def twins(url: str) -> Iterator[Twins]:
    with tempfile.TemporaryDirectory() as folder:
        left, right = EmbeddedStore(Path(folder) / "fleet.sqlite", SystemClock()), RedisStore(url, SystemClock())
        try:
            yield Twins(left, right)
        finally:
            left.close()
            right.close()


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(batches=BATCHES)
def test_both_stores_do_the_same(redis_server: Redis, batches: list[list[tuple[str, int, int]]]) -> None:
    redis_server.flush()
    with twins(redis_server.url) as pair:
        for batch in batches:
            pair.play(batch)
