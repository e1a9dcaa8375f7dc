"""The frame of the state machine: the same step in every world, what is compared after it, and the way to rest."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from services.domain.fleet.shop import Shop
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.task import ids
from services.domain.task.record import Task
from services.domain.task.status import ACTIVE, Status
from services.executors.base import Outcome
from tests.stateful import rules
from tests.stateful.drivers import HandClock, open_embedded, open_redis
from tests.stateful.world import World

S = Status
#: nothing here outlives a power cut, so nothing need wait for a disk
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
SHOPS = (("pdd", "a"), ("pdd", "b"), ("temu", "c"))
PAUSES = ("all", "platform:pdd", "shop:pdd:a", "shop:temu:c", "type:work", "type:once")
KINDS = ("plain", "work", "work", "once", "lab")
ENDS = (
    ("", True), ("", True), ("", True), ("network", False), ("timeout", False), ("login_expired", False),
    ("crashed", False), ("bad_payload", False), ("unknown", False),
)  # fmt: skip
NUMBER = st.integers(0, 1000)
SMALL = st.integers(0, 11)
Allowed = Mapping[str, set[str]]


class Lives(RuleBasedStateMachine):
    """One history, lived by each store; all of them must tell the same of it.

    What happens is in ``work``, ``wishes`` and ``machine``.
    """

    redis_url = ""
    embedded = True

    def __init__(self) -> None:
        super().__init__()
        self.clock = HandClock()
        self.folder = Path(tempfile.mkdtemp(prefix="fleetdeck-life-", dir=MEMORY))
        stores = [open_embedded(self.folder, self.clock)] if self.embedded else []
        stores += [open_redis(self.redis_url, self.clock)] if self.redis_url else []
        self._counter = itertools.count(1)
        self._real_new_id = ids.new_task_id
        ids.new_task_id = self._new_id  # the same in all stores
        self.worlds = [World(type(store).__name__, store, self.clock) for store in stores]
        self._numbers = {world.name: itertools.count(1) for world in self.worlds}
        self.tasks: dict[str, Task] = {}
        self.gone: dict[str, Task] = {}  #: whose record was removed, as it was then
        self.turn, self.changed = 0, True
        self.told: dict[str, dict[str, str]] = {world.name: {} for world in self.worlds}
        self.cursors = {world.name: world.store.events("", 1, 0).cursor for world in self.worlds}
        self.shops = [Shop(platform=platform, shop_id=name, concurrency=1 + (name == "b")) for platform, name in SHOPS]
        for world in self.worlds:
            world.commands.fleet.import_shops(self.shops)
        for n in range(3):
            self.create(n, 0, n, "queue")

    def _new_id(self, platform: str, kind: str, shop_id: str) -> str:
        return ids.task_id(platform, kind, shop_id, f"{next(self._counter):08x}")

    def teardown(self) -> None:
        try:
            if self.worlds:
                self.rest()
        finally:
            ids.new_task_id = self._real_new_id
            for world in self.worlds:
                world.store.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    # ------------------------------------------------------------------ one step in all worlds
    def act(self, do: Callable[[World], Any], allowed: Allowed | None = None, *, leads: bool = False) -> Any:
        """Do the same everywhere. ``allowed``: the statuses in which a named task may be afterwards, and must."""
        answers = []
        for world in self.worlds:
            self._counter = self._numbers[world.name]
            answers.append(do(world))
        assert all(one == answers[0] for one in answers), answers
        self.look(allowed or {}, leads=leads)
        return answers[0]

    def look(self, allowed: Allowed, *, leads: bool) -> None:
        """Compare the worlds with each other and with what may have come of the step."""
        before, found = self.tasks, [world.tasks() for world in self.worlds]
        self.changed |= before != found[0]
        self.tasks = found[0]
        for other in found[1:]:
            assert plain(other) == plain(found[0])
        closed = [world.store.sessions() for world in self.worlds]
        assert all(one == closed[0] for one in closed), closed
        for task_id, task in self.tasks.items():
            rules.check_record(task)
            if task_id not in before:
                continue
            was = before[task_id]
            rules.check_change(was, task)
            if task_id in allowed:
                assert task.status in allowed[task_id], (allowed[task_id], was, task)
            elif (was.status, was.gate) != (task.status, task.gate):
                assert rules.may_follow(was, task, self.known, leads=leads, now=self.clock.now_ms()), (was, task)
        assert before.keys() - self.tasks.keys() <= self.gone.keys(), "a task is gone"
        for world in self.worlds:
            rules.check_fleet(world, self.tasks, before)

    @invariant()
    def everything_agrees(self) -> None:
        for world in self.worlds:
            batch = world.store.events(self.cursors[world.name], 1000, 0.0)
            self.cursors[world.name] = batch.cursor
            assert not batch.gap
            rules.check_events(self.told[world.name], batch.events, self.tasks)
            if self.changed:
                rules.check_indexes(world, self.tasks, self.turn, self.gone.values())
        self.turn, self.changed = self.turn + 1, False

    @property
    def known(self) -> dict[str, Task]:
        """All tasks that ever were, as they stand or stood."""
        return self.gone | self.tasks

    def running(self) -> bool:
        """Whether some worker has something in hand."""
        return any(hand.held for hand in self.worlds[0].hands.values())

    def pick(self, n: int, *statuses: str) -> Task | None:
        """Some task, in one of these statuses if there is any."""
        chosen = sorted(one for one, task in self.tasks.items() if not statuses or task.status in statuses)
        return self.tasks[chosen[n % len(chosen)]] if chosen else None

    # --------------------------------------------------------------------------------- rest
    def rest(self) -> None:
        """All gates open, all workers well: everything comes to its end, or somebody can say why not."""
        self._open_everything()
        for turn in range(60):
            if not self._waiting():
                break
            self._work()
            self.clock.advance(5 if turn % 8 else 65 if turn < 40 else 700)
            self._live()
        left = self._waiting()
        assert not left, [(task.task_id, task.status, task.gate) for task in left]
        for self.turn in range(len(Status)):
            self.changed = True
            self.everything_agrees()

    def _open_everything(self) -> None:
        def do(world: World) -> None:
            world.bag.down = False
            for hand in world.hands.values():
                hand.cut_off = False
            for scope in PAUSES:
                world.commands.fleet.resume(scope)
                world.commands.quiet.remove(scope.replace(":", "-"))
            world.commands.breakers.set_rule(Rule(failures=0))
            for platform, shop_id in SHOPS:
                world.commands.breakers.close(f"{platform}:{shop_id}")
                world.commands.sessions.open(f"{platform}:{shop_id}")
            world.commands.fleet.set_limit(Limit(scope="platform:pdd"))

        self.act(do)

    def _work(self) -> None:
        for name in "AB":
            for _ in range(12):
                if not self.worlds[0].bag.waiting():
                    break
                self._finish(0, name, "", True)
                self.deliver(0, name)
            while self.worlds[0].hands[name].held:
                self._finish(0, name, "", True)

    def _waiting(self) -> list[Task]:
        """Active tasks that neither a person nor a failed dependency holds back."""
        return [task for task in self.tasks.values() if task.status in ACTIVE and not self._stands(task)]

    def _stands(self, task: Task, behind: frozenset[str] = frozenset()) -> bool:
        if task.status == S.HELD:
            return True
        if task.status == S.BLOCKED:
            gates = gates_of(self.worlds[0], task.task_id)
            stop = next((code for _, state, code, _ in gates if state == "closed"), "")
            return stop in ("gate.twin_held", "gate.dependency_dead", "gate.dependency_cancelled") or (
                stop in ("gate.dependency", "gate.dependencies", "gate.twin_first") and self._hopeless(task, behind)
            )
        return False

    def _hopeless(self, task: Task, behind: frozenset[str]) -> bool:
        """Whether whom it waits for stands still for a reason of its own."""
        named = [self.known[name] for name in task.depends_on]
        first = [one for one in self.tasks.values() if task.guard and one.guard == task.guard and one.status in ACTIVE]
        others = [one for one in named + first if one.task_id != task.task_id]
        behind = behind | {task.task_id}
        others = [one for one in others if one.task_id not in behind]
        return any(one.status in (S.DEAD, S.CANCELLED, S.HELD) or self._stands(one, behind) for one in others)


def plain(tasks: Mapping[str, Task]) -> dict[str, Task]:
    """The records without what chance has part in."""
    return {
        one: msgspec.structs.replace(task, marks=tuple(sorted(task.marks)), owner=task.owner.partition("archiver-")[0])
        for one, task in tasks.items()
    }


def outcome_of(kind: str, ok: bool) -> Outcome:
    return Outcome(ok=ok, error="" if ok else f"it failed: {kind}", error_kind=kind, timed_out=kind == "timeout")


def outline(outcome: Any) -> str:
    return "done" if outcome.done else "pending" if outcome.pending else "skipped"


def gates_of(world: World, task_id: str) -> list[tuple[str, str, str, dict[str, Any]]]:
    detail = world.queries.detail(task_id)
    assert detail is not None
    return [(gate.name, gate.state, gate.code, dict(gate.params)) for gate in detail.gates]
