"""A fleet on one store: two workers, an operator, a leader; every part is the product's own and is turned by hand.

What has a thread of its own in the program (intake, finisher, keeper, leader) is called here step by step.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from services import assembly
from services import settings as config
from services.clock import ManualClock
from services.domain.change import Op, Renew
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task import retry
from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.domain.types import task_type
from services.engine.dispatch import Dispatcher
from services.engine.lead.archiver import Archiver
from services.engine.lead.reconcile import Reconciler
from services.engine.lead.shop_queues import ShopQueues
from services.engine.producer import Producer
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.executors.base import Fitness, Job, JobContext, Outcome
from services.monitor.tasks import TaskQueries
from services.workers.abilities import Abilities
from services.workers.burst import Burst, Room
from services.workers.finisher import Finisher
from services.workers.intake import Intake
from services.workers.prefetch import PrefetchWindow
from services.workers.runner import Runner
from services.workers.slots import ClaimedTask
from tests.stateful.bag import DEAD, Bag, BagConsumer, Message
from tests.stateful.drivers import Ordered

LEASE_MS = 20_000
SLOTS = 3
DELAYS = (30, 60, 120)
POLICY = retry.RetryPolicy()
#: of the task types: what differs from the default
TYPES: dict[str, dict[str, Any]] = {
    "plain": {"uniqueness": "none"},
    "work": {"max_retries": 1},
    "once": {"idempotent": False, "uniqueness": "shop_type"},
    "lab": {"executor": "lab", "uniqueness": "none"},
}


class Hands:
    """An executor that does as it is told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outcome = Outcome(ok=True)

    def fitness(self) -> Fitness:
        """It can."""
        return Fitness()

    def run(self, job: Job, context: JobContext) -> Outcome:
        """What it was told."""
        return self.outcome

    def close(self) -> None:
        """Nothing runs."""


class _Pool:
    """The slots as ``PrefetchWindow`` looks at them."""

    slots = SLOTS

    def running(self) -> list[ClaimedTask]:
        return []


class Hand:
    """A worker. One that is cut off neither renews nor hears; its results may come late."""

    def __init__(self, world: World, name: str, number: int, executors: tuple[str, ...]) -> None:
        self.world, self.name, self.cut_off = world, name, False
        self.held: list[ClaimedTask] = []
        self.executors = {one: Hands(one) for one in executors}
        self.registry = Registry(world.store, world.clock, task_type.TaskType.default("default"))
        self.consumer = BagConsumer(world.bag, f"{name}#{number}")
        steps = Steps(world.store, Dispatcher(world.store, world.bag, DELAYS))
        abilities = Abilities(self.executors, self.registry)
        prefetch = PrefetchWindow(_Pool(), world.clock)  # type: ignore[arg-type]
        self.intake = Intake(
            world.store, self.consumer, steps, self.registry, world.clock,  # type: ignore[arg-type]
            worker=name, session=str(number), lease_ms=LEASE_MS, put=self.held.append,
            burst=Burst(world.clock, prefetch), able=abilities.takes,
        )  # fmt: skip
        self.runner = Runner(
            world.store, world.clock, self.registry, self.executors, worker=name, abilities=abilities, policy=POLICY
        )
        self.finisher = Finisher(world.store, steps, self.consumer, world.clock, name)  # type: ignore[arg-type]
        self.finisher.close(30)  # its thread; what it does is done by ``settle``
        self._abilities = abilities

    @property
    def free(self) -> int:
        return SLOTS - len(self.held)

    def take(self, message: Message) -> None:
        """Claim by a delivery."""
        delivery = self.world.bag.hand(message, self.consumer.name)
        self.intake.accept([delivery], Room(self.free, self.free, {}))

    def finish(self, held: ClaimedTask, outcome: Outcome) -> None:
        """The attempt ends so; the outcome is recorded, published, acknowledged."""
        self.held.remove(held)
        for executor in self.executors.values():
            executor.outcome = outcome
        self.finisher.put(self.runner.run(held, 0), held.delivery)
        self.settle()

    def give_back(self, held: ClaimedTask) -> None:
        """Claimed, and not begun."""
        self.held.remove(held)
        self.finisher.put(self.runner.unstarted(held), held.delivery)
        self.settle()

    def settle(self) -> None:
        """What the finisher's thread does once it has something."""
        batch, _ = self.finisher._collect()
        self.finisher._commit(batch)

    def pay(self) -> None:
        """What the finisher does now and then."""
        self.finisher._pay()

    def beat(self) -> None:
        """Renew, say that it lives, hear what is wished."""
        renewals: list[Op] = [
            Renew(
                task_id=one.task.task_id, owner=one.owner, lease_ms=LEASE_MS, attempt=one.task.attempt,
                worker=one.task.worker, started_at=one.task.started_at,
            )
            for one in self.held
        ]  # fmt: skip
        for one, answer in zip(self.held, self.world.store.apply(renewals) if renewals else [], strict=True):
            if answer.code != "ok":
                one.cancel("lost")
            elif answer.task is not None and answer.task.cancel:
                one.cancel("requested")
        heard = self.world.store.heartbeat(self.info())
        for order in heard.orders:
            for one in self.held:
                if order == f"cancel={one.task.task_id}":
                    one.cancel("requested")
        if self.free > 0 and (kinds := [kind for kind in sorted(heard.unserved) if self._abilities.fetches(kind[1])]):
            self.intake.fetch(kinds, self.free, 0, dict.fromkeys(("high", "normal", "low"), self.free))

    def info(self) -> WorkerInfo:
        """What it says of itself."""
        return WorkerInfo(
            worker=self.name, host="h", pid=1, slots=(SlotState(),) * SLOTS, executors=tuple(sorted(self.executors))
        )


@dataclass(eq=False)
class World:
    """Two workers of these names; one more each time one of them is started anew."""

    name: str
    store: Any
    clock: ManualClock
    bag: Bag = field(init=False)
    hands: dict[str, Hand] = field(init=False)
    closed: set[str] = field(default_factory=set)  #: shops whose session gate was closed after the last step
    gone: list[tuple[Hand, ClaimedTask]] = field(
        default_factory=list
    )  #: attempts of ended lives, whose result may come late

    def __post_init__(self) -> None:
        self.store = Ordered(self.store)
        self.bag = Bag(self.clock)
        self._lives = itertools.count(1)
        for name, fields in TYPES.items():
            kind = task_type.TaskType(**({"name": name, "executor": "hands", "version": 1} | fields))
            self.store.put_document("type", name, task_type.dump(kind))
        self.store.index_fields(["n"])
        while self.store.index_more():
            pass
        self.hands = {"A": self._hand("A"), "B": self._hand("B")}
        self.engine = self._engine()
        self.commands = assembly.commands(self.engine)
        self.queries = TaskQueries(self.store, self.engine.registry)
        self._lead()
        for hand in self.hands.values():
            hand.beat()

    def _hand(self, name: str) -> Hand:
        return Hand(self, name, next(self._lives), ("hands", "lab") if name == "A" else ("hands",))

    def _engine(self) -> Any:
        registry = Registry(self.store, self.clock, task_type.TaskType.default("default"))
        steps = Steps(self.store, Dispatcher(self.store, self.bag, DELAYS))
        return SimpleNamespace(
            settings=config.Settings(), clock=self.clock, store=self.store, broker=self.bag, registry=registry,  # type: ignore[arg-type]
            steps=steps, producer=Producer(self.store, steps, registry), policy=POLICY, name="desk",
            artifacts=None, acting=None, via="", closed="",
        )  # fmt: skip

    def _lead(self) -> None:
        registry = Registry(self.store, self.clock, task_type.TaskType.default("default"))
        steps = Steps(self.store, Dispatcher(self.store, self.bag, DELAYS))
        parts = (self.store, self.bag, steps, registry, self.clock)
        self.reconciler = Reconciler(*parts, POLICY)
        self.queues = ShopQueues(*parts)
        self.archiver = Archiver(*parts, "leader")

    # ---------------------------------------------------------------------- life
    def start_anew(self, name: str) -> None:
        """A worker is killed and comes up again; what it ran may still come to an end somewhere."""
        old = self.hands[name]
        self.gone += [(old, held) for held in old.held]
        self.bag.drop_owner(old.consumer.name)
        self.hands[name] = self._hand(name)
        self.hands[name].beat()

    def new_leader(self) -> None:
        """Another process leads; it remembers nothing."""
        self._lead()

    def tick(self) -> None:
        """A second of a leader, and of the workers that are there."""
        for hand in self.hands.values():
            if not hand.cut_off:
                hand.pay()
        letters = [self.bag.hand(message, "archiver") for message in self.bag.waiting(DEAD)]
        kept = self.archiver.archive(letters)
        BagConsumer(self.bag, "archiver").ack(kept)
        self.reconciler.tick()
        self.queues.tick()

    def live(self, seconds: int) -> None:
        """Time goes by, and everybody who is there does what is to be done; the clock is turned by whoever calls."""
        for hand in self.hands.values():
            if not hand.cut_off:
                hand.beat()
        self.tick()

    # --------------------------------------------------------------------- looking
    def tasks(self) -> dict[str, Task]:
        """All records by id."""
        return {task.task_id: task for task in self.store.query(Query(limit=1000, want_total=False)).tasks}

    def owners(self) -> Mapping[str, Hand]:
        """Who believes to run what, by claim."""
        found = {held.owner: hand for hand, held in self.gone}
        return found | {held.owner: hand for hand in self.hands.values() for held in hand.held}
