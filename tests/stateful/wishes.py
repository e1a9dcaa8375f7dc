"""What an operator does."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import Once, QuietHours
from services.domain.task.status import CANCELLABLE, MOVABLE
from services.domain.types import task_type
from tests.stateful.lives import NUMBER, PAUSES, SHOPS, Lives, S, gates_of, outline
from tests.stateful.world import TYPES, World

WAITS = ("", "queued", "blocked", "retrying", "scheduled")


class Wishes(Lives):
    """Rules of an operator."""

    @rule(n=NUMBER, status=st.sampled_from(["", "running", "queued", "blocked", "retrying", "held"]))
    @precondition(lambda self: self.tasks)
    def cancel(self, n: int, status: str) -> None:
        task = self.pick(n, status) if status else self.pick(n)
        if task is None:
            return
        to = {S.CANCELLED} if task.status in CANCELLABLE else {str(task.status)}
        done = self.act(lambda world: outline(world.commands.tasks.cancel([task.task_id])), {task.task_id: to})
        assert done == ("pending" if task.status == S.RUNNING else "done" if task.status in CANCELLABLE else "skipped")
        after = self.tasks[task.task_id]
        assert after.status != S.RUNNING or after.cancel

    @rule(n=NUMBER, level=st.integers(1, 10), now=st.booleans(), status=st.sampled_from(WAITS))
    @precondition(lambda self: self.tasks)
    def move(self, n: int, level: int, now: bool, status: str) -> None:
        task = self.pick(n, status) if status else self.pick(n)
        if task is None:
            return
        going = {S.PENDING, S.QUEUED}
        to: set[str] = {str(task.status)}
        if task.status in (S.PENDING, S.QUEUED) or (now and task.status in (S.SCHEDULED, S.RETRYING)):
            # a plan may end at the gate of its dependencies, or in the lot of a crowded shop
            to = going | ({S.BLOCKED} if task.status in (S.SCHEDULED, S.RETRYING) else set())
        if task.status == S.BLOCKED and task.gate != "dependency":
            to = going | {S.BLOCKED}

        def do(world: World) -> Any:
            verbs = world.commands.tasks
            return outline(verbs.run_now([task.task_id]) if now else verbs.prioritize([task.task_id], level))

        done = self.act(do, {task.task_id: to})
        assert done == ("done" if task.status in MOVABLE else "skipped")
        after = self.tasks[task.task_id]
        assert after.gen == task.gen + (task.status in MOVABLE)
        assert after.priority == ((10 if now else level) if task.status in MOVABLE else task.priority)

    @rule(n=NUMBER, to=st.sampled_from(["pending", "succeeded", "dead"]))
    @precondition(lambda self: self.pick(0, S.HELD))
    def resolve(self, n: int, to: str) -> None:
        task = self.pick(n, S.HELD)
        if task is not None:
            wanted = {S.PENDING, S.QUEUED} if to == "pending" else {to}
            call = lambda world: outline(world.commands.tasks.resolve([task.task_id], to, note="looked"))  # noqa: E731
            assert self.act(call, {task.task_id: wanted}) == "done"

    @rule(n=NUMBER)
    @precondition(lambda self: self.pick(0, S.HELD, S.RETRYING, S.DEAD))
    def retry(self, n: int) -> None:
        task = self.pick(n, S.HELD, S.RETRYING, S.DEAD)
        if task is None:
            return
        to = {S.DEAD} if task.status == S.DEAD else {S.PENDING, S.QUEUED}
        to |= {S.BLOCKED} if task.status == S.RETRYING else set()  # its shop may be crowded
        self.act(
            lambda world: outline(world.commands.tasks.retry_waiting([task.task_id], reason="looked")),
            {task.task_id: to},
        )

    @rule(n=NUMBER, edit=st.booleans(), duplicate=st.sampled_from(["reject", "queue", "force"]))
    @precondition(lambda self: self.pick(0, S.DEAD))
    def republish(self, n: int, edit: bool, duplicate: str) -> None:
        task = self.pick(n, S.DEAD)
        if task is None:
            return
        payload = {"n": 1 + n % 2} if edit else None
        call = lambda world: world.commands.dead_letters.republish(  # noqa: E731
            [task.task_id], payload=payload, if_duplicate=duplicate, reason="it must"
        )
        outcome = self.act(call, {task.task_id: {S.DEAD}})
        after = self.tasks[task.task_id]
        if task.triage == "republished":
            assert not outcome.done
            assert after.successor == task.successor
        elif outcome.done:
            made = self.tasks[outcome.made[task.task_id]]
            assert (after.triage, after.successor, made.parent) == ("republished", made.task_id, task.task_id)
        else:
            assert duplicate == "reject" or task.task_id.startswith("bad_")  # not a task unless somebody mends it
            assert after == task

    @rule(n=NUMBER, triage=st.sampled_from(["open", "archived", "ignored"]))
    @precondition(lambda self: self.pick(0, S.DEAD))
    def triage(self, n: int, triage: str) -> None:
        task = self.pick(n, S.DEAD)
        if task is not None:
            self.act(lambda world: outline(world.commands.dead_letters.set_triage([task.task_id], triage)))
            assert self.tasks[task.task_id].triage == ("republished" if task.triage == "republished" else triage)

    @rule(scope=st.sampled_from(PAUSES), begins_s=st.integers(-10, 20), lasts_s=st.integers(0, 90))
    def quiet(self, scope: str, begins_s: int, lasts_s: int) -> None:
        """Some seconds in which nothing of the scope starts, or none of this name any more."""

        def do(world: World) -> None:
            now = world.store.now_ms()
            window = Once(start=now + 1000 * begins_s, end=now + 1000 * (begins_s + lasts_s))
            if window.end > max(now, window.start):
                name = scope.replace(":", "-")
                world.commands.quiet.set(QuietHours(name=name, scope=scope, once=(window,), reason="sale"))
            else:
                world.commands.quiet.remove(scope.replace(":", "-"))

        self.act(do)

    @rule(scope=st.sampled_from(PAUSES), close=st.booleans())
    def pause(self, scope: str, close: bool) -> None:
        self.act(lambda world: world.commands.fleet.pause(scope) if close else world.commands.fleet.resume(scope))

    @rule(n=NUMBER, most=st.integers(1, 3))
    def shop_limit(self, n: int, most: int) -> None:
        self.act(lambda world: world.commands.fleet.set_concurrency(":".join(SHOPS[n % 3]), most))

    @rule(most=st.integers(0, 3), starts=st.sampled_from([0, 0, 2]))
    def platform_limit(self, most: int, starts: int) -> None:
        limit = Limit(scope="platform:pdd", concurrency=most, per_minute=starts)
        self.act(lambda world: world.commands.fleet.set_limit(limit))

    @rule(most=st.integers(0, 2), starts=st.sampled_from([0, 0, 3]))
    def type_limit(self, most: int, starts: int) -> None:
        kind = task_type.TaskType(
            name="work", executor="hands", concurrency=most or None, rate_per_minute=starts or None, **TYPES["work"]
        )
        body = task_type.dump(kind)
        self.act(lambda world: len(world.commands.fleet.import_types([body], force=True)))

    @rule(on=st.booleans())
    def breaker_rule(self, on: bool) -> None:
        found = Rule(failures=2, of=3, cooldown_s=40, max_cooldown_s=80) if on else Rule(failures=0)
        self.act(lambda world: world.commands.breakers.set_rule(found))

    @rule(n=NUMBER)
    def breaker_closed(self, n: int) -> None:
        self.act(lambda world: world.commands.breakers.close(":".join(SHOPS[n % 3])))

    @rule(n=NUMBER, closes=st.booleans())
    def session(self, n: int, closes: bool) -> None:
        key = ":".join(SHOPS[n % 3])
        self.act(lambda world: world.commands.sessions.close(key) if closes else world.commands.sessions.open(key))

    @rule(n=NUMBER, on=st.booleans())
    def queue_of_its_own(self, n: int, on: bool) -> None:
        key = ":".join(SHOPS[n % 3])
        moving = {S.PENDING, S.QUEUED}
        allowed = {
            one: moving if task.status in moving else {str(task.status)}
            for one, task in self.tasks.items()
            if task.shop == key
        }
        fleet = lambda world: world.commands.fleet  # noqa: E731
        self.act(lambda world: fleet(world).dedicate(key) if on else fleet(world).undedicate(key), allowed)

    @rule(n=NUMBER)
    @precondition(lambda self: self.tasks)
    def explain(self, n: int) -> None:
        task = self.pick(n, S.PENDING, S.BLOCKED, S.SCHEDULED, S.QUEUED, S.RETRYING)
        if task is None:
            return
        gates = self.act(lambda world: gates_of(world, task.task_id))
        if task.status == S.BLOCKED:
            assert any(state != "ok" for _, state, _, _ in gates), (task, gates)
