"""What must be true of a fleet at every moment, said once more and in other words than the program says it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from services.domain.change import Answer
from services.domain.gates import listed, session
from services.domain.gates.limit import scopes
from services.domain.task import classify
from services.domain.task.event import Event
from services.domain.task.ledger import is_red
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import ACTIVE, TERMINAL, Status
from services.ports import Store
from services.workers.slots import ClaimedTask
from tests.contract.rig import recount, same_counts
from tests.stateful.world import World
from tests.support.moves import may_become

Tasks = Mapping[str, Task]
S = Status
DEPENDENCY = "dependency"
RESERVED_MS = 30_000


# ------------------------------------------------------------------------------------------------------- one record
def check_record(task: Task) -> None:
    """What a record must look like, whatever happened to it."""
    assert (task.gate != "") == (task.status == S.BLOCKED), task
    assert (task.ended_at > 0) == (task.status in TERMINAL), task
    assert (task.triage != "") == (task.status == S.DEAD), task
    assert (task.lease_until > 0) == (task.status == S.RUNNING), task
    assert (task.due_at > 0) == (task.status in (S.SCHEDULED, S.RETRYING)), task
    assert (task.successor != "") == (task.triage in ("republished", "overtaken")), task
    assert not task.cancel or task.status == S.RUNNING, task
    assert task.retries <= task.max_retries, task
    assert task.steps[-1].to == task.status, task
    for before, after in zip(task.steps, task.steps[1:], strict=False):
        assert after.from_ == before.to, task
        assert after.gen >= before.gen, task
        assert after.attempt >= before.attempt, task
        assert after.from_ == after.to or may_become(Status(after.from_), Status(after.to)), task
    # every attempt that is over has one outcome, and the one that runs has none
    if len(task.attempts) < 25 and len(task.steps) < 25:
        numbers = [one.number for one in task.attempts if one.outcome != "fenced"]
        assert sorted(numbers) == list(range(1, task.attempt + (task.status != S.RUNNING))), task


def check_change(before: Task, after: Task) -> None:
    """What no step may do to a record."""
    assert after.gen >= before.gen
    assert after.attempt - before.attempt in (0, 1), (before, after)
    same = ("task_id", "shop_id", "platform", "task_type", "payload", "created_at", "depends_on", "parent", "batch")
    for name in same:
        assert getattr(before, name) == getattr(after, name), (name, before, after)
    if before.status in TERMINAL:
        assert after.status == before.status, (before, after)
        assert after.ended_at == before.ended_at
    assert after.attempts[: len(before.attempts)] == before.attempts or len(after.attempts) >= 30


# ---------------------------------------------------------------------------------------------------- all together
def check_fleet(world: World, tasks: Tasks, before: Tasks) -> None:
    """Uniqueness, leases, slots."""
    started = [task for task in tasks.values() if task.status in (S.RUNNING, S.HELD)]
    kinds = [task.guard for task in started if task.guard]
    assert len(kinds) == len(set(kinds)), "two tasks of one uniqueness have begun"
    owners = world.owners()
    for task in tasks.values():
        if task.status == S.RUNNING:
            assert task.owner in owners, "somebody runs it who does not know"
            assert owners[task.owner].name == task.worker
    _check_slots(world, tasks, before)
    closed = {one.shop for one in world.store.sessions()}
    for task in tasks.values():
        if task.status == S.RUNNING and task.shop in closed & world.closed:
            assert before[task.task_id].status == S.RUNNING, "it began although its shop waits for a person"
    world.closed = closed


def _check_slots(world: World, tasks: Tasks, before: Tasks) -> None:
    now, was = _running(tasks.values()), _running(before.values())
    for shop in world.store.shops():
        most = max(shop.concurrency, was[f"shop:{shop.key}"])
        assert now[f"shop:{shop.key}"] <= most, f"{shop.key} runs {now[f'shop:{shop.key}']} of {most}"
    for one in world.store.limits():
        scope, most = one.limit.scope, one.limit.concurrency
        assert one.running == now[scope], scope
        assert not most or now[scope] <= max(most, was[scope]), scope


def _running(tasks: Iterable[Task]) -> Counter[str]:
    found: Counter[str] = Counter()
    for task in tasks:
        if task.status == S.RUNNING:
            found.update((f"shop:{task.shop}", *scopes(task)))
    return found


def check_indexes(world: World, tasks: Tasks, turn: int, gone: Iterable[Task] = ()) -> None:
    """Counters, lists and queries say what the records say; of the queries one each ``turn``."""
    store, records = world.store, list(tasks.values())
    assert same_counts(store.counts(), recount(records))
    if turn % 3 == 0:
        assert store.recount(mend=False) == []
    status = list(Status)[turn % len(Status)]
    _same(store.query(Query(terms=(equals("status", status),), limit=1000)).tasks, records, "status", status)
    for shop in sorted({task.shop for task in records})[turn % 3 :][:1]:
        _same(store.query(Query(terms=(equals("shop", shop),), limit=1000)).tasks, records, "shop", shop)
    for batch in {task.batch for task in records} - {""}:
        expected = Counter(str(task.status) for task in (*records, *gone) if task.batch == batch)
        assert store.batch_counts([batch])[0] == expected
    for value in ("0", "1", "true", "false"):
        page = store.query(Query(terms=(equals("payload.n", value),), limit=1000))
        assert not page.searched
        assert {task.task_id for task in page.tasks} == {task.task_id for task in records if _says(task, value)}
    lots = {task.shop for task in records if task.status == S.BLOCKED and task.gate not in ("no_worker", DEPENDENCY)}
    assert set(store.parked_shops(100)) == lots
    unserved = Counter((str(task.lane), task.task_type) for task in records if task.gate == "no_worker")
    assert store.unserved() == unserved
    uniqs = sorted({task.guard for task in records} - {""})
    for uniq, holder in zip(uniqs, store.holders(uniqs), strict=True):
        assert (holder.guard == uniq and holder.status in ACTIVE) if holder else not _active(records, uniq)
    _check_ledger(store, records)
    waiting = {task.task_id for task in records if task.status == S.PENDING}
    assert waiting <= {task.task_id for task in store.outbox(0, 1000)}, "pending without an outbox mark is lost"


def _check_ledger(store: Store, records: Sequence[Task]) -> None:
    """The last ends of each work and their days; nothing red that was overtaken but for what a person took up again."""
    works = sorted({task.work for task in records} - {""})
    for work, done in zip(works, store.last_done(works), strict=True):
        ends = [task.ended_at for task in records if task.work == work and task.status == S.SUCCEEDED]
        assert (done.at if done else 0) >= max(ends, default=0), work
        red = [task for task in records if task.work == work and is_red(task.status, task.triage)]
        assert all(done is None or task.updated_at >= done.at for task in red), work
    for work, ran in zip(works, store.ran(works), strict=True):
        dead = [task.ended_at for task in records if task.work == work and task.status == S.DEAD and task.attempt > 0]
        assert (ran.failed.at if ran and ran.failed else 0) >= max(dead, default=0), work
        ended = [
            task
            for task in records
            if task.work == work and (task.status == S.SUCCEEDED or (task.status == S.DEAD and task.attempt > 0))
        ]
        days = ran.days if ran else ()
        assert sum(day.count for day in days) >= len(ended), work
        assert all(any(day.first_at <= task.ended_at <= day.last_at for day in days) for task in ended), work


def _says(task: Task, value: str) -> bool:
    payload = json.loads(task.payload)
    return isinstance(payload, dict) and "n" in payload and json.dumps(payload["n"]) == value


def _active(records: Sequence[Task], uniq: str) -> bool:
    return any(task.guard == uniq and task.status in ACTIVE for task in records)


def _same(found: Sequence[Task], records: Sequence[Task], field: str, value: str) -> None:
    expected = {task.task_id for task in records if getattr(task, field) == value}
    assert {task.task_id for task in found} == expected, (field, value)


def check_events(told: dict[str, str], events: Iterable[Event], tasks: Tasks) -> None:
    """Each event goes on from where the one before left the task; all together give the records."""
    for event in events:
        assert told.get(event.task_id, "") == event.from_, event
        told[event.task_id] = event.to
        if not event.to:  # its record was removed
            del told[event.task_id]
    assert told == {task_id: str(task.status) for task_id, task in tasks.items()}


# ------------------------------------------------------------------------------------------------------ what follows
def may_follow(before: Task, after: Task, tasks: Tasks, *, leads: bool, now: int) -> bool:
    """Whether a task that nobody named may have gone so: released, told of a dependency's end, or by the leader."""
    a, b = before.status, after.status
    if (a == S.BLOCKED and before.gate == DEPENDENCY) or (a == S.SCHEDULED and b == S.CANCELLED):
        if b == S.CANCELLED:
            return before.on_dependency_failure == "cancel" and S.SUCCEEDED not in _stand(before, tasks, failed=True)
        if b in (S.PENDING, S.QUEUED):
            return all(one == S.SUCCEEDED for one in _stand(before, tasks))
    if a == S.BLOCKED and b in (S.PENDING, S.QUEUED) and before.gate != DEPENDENCY:
        return True
    return leads and _by_leader(before, after, now)


def _stand(task: Task, tasks: Tasks, *, failed: bool = False) -> list[str]:
    """How its dependencies stand; ``failed``: only the one that stands worst for it."""
    found = [str(_now(tasks[name], tasks).status) for name in task.depends_on]
    return [one for one in found if one in (S.DEAD, S.CANCELLED)] or [S.SUCCEEDED] if failed else found


def _now(task: Task, tasks: Tasks) -> Task:
    while task.successor:
        task = tasks[task.successor]
    return task


def _by_leader(before: Task, after: Task, now: int) -> bool:
    a, b = before.status, after.status
    if a in (S.PENDING, S.QUEUED) and b == S.QUEUED:
        return True
    if a == S.SCHEDULED:
        return (before.due_at <= now and b in (S.PENDING, S.QUEUED, S.BLOCKED)) or _overdue(before, b, now)
    if a == S.RETRYING:
        return before.due_at <= now and b in (S.PENDING, S.QUEUED, S.BLOCKED)
    if a == S.RUNNING:
        return before.lease_until <= now and b in after_loss(before, now)
    return a in (S.PENDING, S.QUEUED, S.BLOCKED) and _overdue(before, b, now)


def _overdue(before: Task, to: str, now: int) -> bool:
    return to == S.DEAD and 0 < before.deadline <= now and before.attempt == 0


# ---------------------------------------------------------------------------------------------------- how it must go
def after_loss(task: Task, now: int) -> set[str]:
    """What becomes of a task whose worker was lost."""
    if not task.idempotent:
        return {S.HELD}
    if sum(1 for at in task.losses if now - at <= 72 * 3_600_000) >= 2:
        return {S.DEAD}
    return {S.CANCELLED} if task.cancel else {S.PENDING, S.QUEUED}


def after_end(world: World, task: Task, held: ClaimedTask, ok: bool, kind: str) -> set[str]:
    """What becomes of a running task whose attempt ends so under a lease that is still its own."""
    if held.cancel_reason in ("requested", "lost"):
        return {S.CANCELLED}
    if 0 < task.deadline <= task.started_at and task.attempt == 1:
        return {S.DEAD}
    if ok:
        return {S.SUCCEEDED}
    if kind in session.KINDS:
        login = world.store.logins().get(task.shop)
        anew = login is not None and login.at > task.started_at
        return {S.CANCELLED} if task.cancel else {S.PENDING, S.QUEUED} if anew else {S.BLOCKED}
    if kind in classify.PERMANENT:
        return {S.DEAD}
    if kind == classify.TIMEOUT and not task.idempotent:
        return {S.HELD}
    if task.retries >= task.max_retries:
        return {S.DEAD}
    return {S.CANCELLED} if task.cancel else {S.RETRYING}


def gates_for(world: World, task: Task, tasks: Tasks, *, able: bool) -> set[str]:
    """The answers that a claim may get now: "run" or names of gates; several only where promises of slots play in."""
    now, store = world.store.now_ms(), world.store
    if task.gate == DEPENDENCY:
        return {DEPENDENCY}
    mine = {"all", f"platform:{task.platform}", f"shop:{task.shop}", f"type:{task.task_type}"}
    for gate in listed.SWITCHES:
        if mine & {one.scope for one in store.switches() if one.gate == gate}:
            return {gate}
    if any(one.shop == task.shop for one in store.sessions()):
        return {"session"}
    others = [one for one in tasks.values() if one.shop == task.shop and one.task_id != task.task_id]
    running = sum(1 for one in others if one.status == S.RUNNING)
    slots = next((shop.concurrency for shop in store.shops() if shop.key == task.shop), 1)
    waits = (S.PENDING, S.QUEUED, S.BLOCKED)  # blocked: on its way from a worker that cannot run it to one that can
    promised = sum(1 for one in others if one.status in waits and _released(one, now))
    busy = "shop_busy"
    broken = next((one for one in store.breakers() if one.shop == task.shop), None)
    if broken is not None:
        busy, slots = "breaker", 0 if broken.until > now else 1
    if running >= slots:
        return {busy}
    found = {busy} if running + promised >= slots else set()
    if any(one.limit.limits and one.limit.scope in scopes(task) for one in store.limits()):
        found |= {"quota", "shop_busy"}
    twins = [one for one in others if task.guard and one.guard == task.guard and one.status in ACTIVE]
    if any(_goes_first(one, task) for one in twins):
        return found | {"twin"}
    return found | ({"run"} if able else {"no_worker"})


def done_by_another(world: World, task: Task) -> bool:
    """Whether a claim may find that what may not run twice has been done: it waits for a person then."""
    if task.idempotent or not task.work:
        return False
    (done,) = world.store.last_done([task.work])
    return done is not None and done.task_id != task.task_id


def _goes_first(one: Task, task: Task) -> bool:
    if one.status in (S.RUNNING, S.HELD):
        return True
    stands_back = one.status == S.SCHEDULED or one.gate == DEPENDENCY
    return not stands_back and (one.created_at, one.task_id) < (task.created_at, task.task_id)


def _released(task: Task, now: int) -> bool:
    """Whether it may have a slot promised."""
    return any(step.from_ == S.BLOCKED and step.to == S.PENDING and now - step.at < RESERVED_MS for step in task.steps)


def codes(answers: Sequence[Answer]) -> list[str]:
    """What was answered."""
    return [answer.code for answer in answers]
