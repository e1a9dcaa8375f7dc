"""A fleet in compressed time, and how well promises are warned of there: the product's own store, broker, scheduler,
reconciler and judge on a clock that is turned by hand; only what a worker does in its slots is played, from a seed.

Each shape is a morning of some hours. A warning is true where the break came. It is false where it was taken back
without one although nothing had changed from outside, also where it was said again later. Where something did (an
operator resumed, slots came back, a page was mended: ``World.mended``) it is *averted*: the forecast says what comes
if nothing changes, so nobody can tell any more whether it was right. Averted ones are counted apart and prove nothing:
the share of false ones is taken of those that are true or false, which makes it larger, never smaller. A break that
is over before the next look counts by its success, which came behind the limit, whether it was said or not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from services.domain.change import Claim, CloseSession, Finish, Op, OpenSession, Renew
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import Once, QuietHours, Weekly
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.promises import promise as promises
from services.domain.promises import standing
from services.domain.promises.judge import AT_RISK, BROKEN, CREATED
from services.domain.promises.promise import BY, STATE, Promise
from services.domain.promises.standing import Row
from services.domain.task import fingerprint, retry
from services.domain.task.record import Attempt, Task
from services.engine import quiet
from services.engine.lead.firing import Firing
from services.engine.lead.reconcile import Reconciler
from services.engine.producer import TaskSpec
from services.engine.zone import set_fleet_zone
from services.ports import Consumer, ScheduleEntry
from services.scheduler.loop import Scheduler
from services.watch.promises.keeper import EVERY_S, PromiseKeeper
from tests.unit.services.engine.room import POLICY, Room, opened

MINUTE = 60_000
#: the morning begins at 05:00 in the fleet's zone
DAY = 1_795_046_400_000 - 1_795_046_400_000 % 86_400_000
BEGIN = DAY + 5 * 60 * MINUTE
EARLY_MS = 10 * MINUTE
LEASE_MS = 60_000
#: the engine looks every second in the product; what comes due between two looks is not all sent at one instant
STEP_S = 6.0
LANES = ("high", "normal", "low")
ORDERS, GOODS, FOREIGN, NOISE = "sync_order", "refresh_goods", "reply", "screenshot"
#: usual seconds of a run, and how far one is from that (standard deviation of the logarithm)
LASTS = {ORDERS: 90.0, GOODS: 90.0, FOREIGN: 20.0, NOISE: 60.0}
UNEVEN = 0.25
TRANSIENT = 0.01  #: of all attempts fail for once
PLATFORMS = ("pdd", "temu", "tiktok")


@dataclass
class Hand:
    """A worker as the fleet sees it."""

    name: str
    slots: int
    consumer: Consumer
    alive: bool = True
    running: list[Begun] = field(default_factory=list)


@dataclass(frozen=True)
class Begun:
    """An attempt; what becomes of it is drawn when it begins. ``error``: kind of its failure, "" for a success."""

    task: Task
    ends_at: int
    error: str


@dataclass(frozen=True, slots=True)
class Warned:
    """One promise in one shop: from when it was said to be at risk (0: never) to its break, or to when it was well."""

    promise: str
    shop: str
    risk_at: int
    break_at: int = 0
    mended: bool = False  #: somebody had done something about it
    code: str = ""

    @property
    def early_ms(self) -> int:
        """How long before its break it was said."""
        return max(0, self.break_at - self.risk_at) if self.risk_at else 0


@dataclass
class Tally:
    """What came of the warnings of some loads."""

    found: list[Warned] = field(default_factory=list)
    noticed_ms: list[int] = field(default_factory=list)  #: how late a run that was never created was said to be missing

    @property
    def breaks(self) -> list[Warned]:
        """What broke."""
        return [one for one in self.found if one.break_at]

    @property
    def early(self) -> list[Warned]:
        """Of those what was said ten minutes before."""
        return [one for one in self.breaks if one.early_ms >= EARLY_MS]

    @property
    def averted(self) -> list[Warned]:
        """What somebody mended before it broke."""
        return [one for one in self.found if not one.break_at and one.mended]

    @property
    def false(self) -> list[Warned]:
        """What never broke, and nobody had done anything."""
        return [one for one in self.found if not one.break_at and not one.mended]

    @property
    def false_share(self) -> float:
        """Of the warnings of which one can tell, per cent."""
        told = self.said - len(self.averted)
        return 100 * len(self.false) / max(1, told)

    @property
    def said(self) -> int:
        """All warnings."""
        return sum(1 for one in self.found if one.risk_at)

    def __iadd__(self, other: Tally) -> Tally:
        self.found += other.found
        self.noticed_ms += other.noticed_ms
        return self

    def line(self, name: str) -> str:
        """For a table."""
        early = sorted(one.early_ms for one in self.breaks)
        leads = [round(early[round(share * (len(early) - 1))] / MINUTE) if early else 0 for share in (0, 0.1, 0.5)]
        noticed = f"{max(self.noticed_ms) / 1000:.0f} s" if self.noticed_ms else ""
        return (
            f"{name:<22}{len(self.breaks):>7}{len(self.early):>7}{leads[0]:>6}{leads[1]:>6}{leads[2]:>6}"
            f"{self.said:>9}{len(self.averted):>9}{len(self.false):>7}  {noticed}"
        )


HEAD = f"{'load':<22}{'breaks':>7}{'early':>7}{'least':>6}{'p10':>6}{'p50':>6}"
HEAD += f"{'warned':>9}{'averted':>9}{'false':>7}  noticed"


class World:
    """One morning."""

    def __init__(self, room: Room, seed: int, shops: int, tick_s: float) -> None:
        #: ``tick_s``: seconds from one look to the next; while a run is awaited that never comes, as in the product
        self.room, self.seed, self.tick_s = room, seed, tick_s
        self.chance = random.Random(seed)
        self.shops = [Shop(platform=PLATFORMS[n % 3], shop_id=f"s{n}") for n in range(shops)]
        self.store = room.store
        room.clock.advance((BEGIN - room.clock.now_ms()) / 1000)
        room.store.put_shops(self.shops)
        set_fleet_zone(room.store, "UTC")
        for name in LASTS:
            room.define(name, expected_s=LASTS[name], uniqueness="shop_type")
        self.scheduler = Scheduler(room.store, Firing(room.store, room.producer, room.registry), room.clock, "lead")
        self.reconciler = Reconciler(room.store, room.broker, room.steps, room.registry, room.clock, POLICY)
        self.keeper = PromiseKeeper(room.store, room.registry, room.clock, "lead")
        self.hands: list[Hand] = []
        self.slow: dict[str, float] = {}  #: by platform, times as long
        self.fails: dict[str, str] = {}  #: by platform or shop: kind of the failure of each attempt
        self.flaky = TRANSIENT  #: share of all attempts that fail for once
        self.uneven = UNEVEN  #: standard deviation of the logarithm of how long a run takes
        self.fires = True  #: somebody fires the schedules
        self.sources: list[Source] = []
        self.mended_at: list[tuple[int, str]] = []
        self.watch: dict[tuple[str, str], int] = {}  #: promise and shop of runs that were to be there: when
        self.longest_ms = 0  #: 0 there: that long after the last one, which is the longest that it ever took
        self.tally = Tally()
        self._risks: dict[tuple[str, str], tuple[int, str]] = {}
        self._broken: set[tuple[str, str]] = set()
        self._done: dict[str, dict[str, int]] = {}  #: last successes by type and shop, as the look before saw them

    # ----------------------------------------------------------------- what there is
    @property
    def now(self) -> int:
        """UTC ms."""
        return self.room.clock.now_ms()

    @property
    def minute(self) -> float:
        """Since the morning began."""
        return (self.now - BEGIN) / MINUTE

    def pick(self, options: Sequence[float]) -> float:
        """Another one for each seed, so that a few seeds show all."""
        return options[self.seed % len(options)]

    def hire(self, slots: int) -> Hand:
        """One more worker."""
        name = f"w{len(self.hands)}"
        hand = Hand(name, slots, self.room.broker.consumer(LANES, window=slots, name=name))
        self.hands.append(hand)
        return hand

    def kill(self, hand: Hand) -> None:
        """Its process is gone; nobody is told."""
        hand.alive, hand.running = False, []
        hand.consumer.close()

    def promise(self, name: str, task_type: str, limit_min: int, **fields: object) -> None:
        """Never older than so many minutes."""
        self._keep(Promise(name=name, task_type=task_type, limit_s=limit_min * 60, **_of(fields)))

    def promise_by(self, name: str, task_type: str, end_min: int, **fields: object) -> None:
        """Done by this minute of the day."""
        window = Weekly(days=tuple(range(7)), start=0, end=end_min)
        self._keep(Promise(name=name, task_type=task_type, kind=BY, window=window, **_of(fields)))

    def _keep(self, made: Promise) -> None:
        made = msgspec.structs.replace(made, version=1, since=BEGIN)
        self.store.put_document(promises.KIND, made.name, promises.DOCUMENT.dump(made))

    def plan(self, task_type: str, every_min: int, first_min: float, spread_min: float = 0) -> None:
        """A schedule for all shops."""
        at = BEGIN + round(first_min * MINUTE)
        made = Schedule(
            name=task_type, uid=task_type, task_type=task_type, every_s=every_min * 60, first_at=at, all_shops=True,
            spread_s=round(spread_min * 60),
        )  # fmt: skip
        body = schedules.dump(Planned(schedule=made))
        self.store.put_schedule(ScheduleEntry(name=task_type, body=body, next_at=at), 0)

    def unplan(self, task_type: str) -> None:
        """Somebody removes it."""
        for one in self.store.schedules():
            if one.name == task_type:
                self.store.remove_schedule(one.name, one.version)

    def create(self, task_type: str, shops: Sequence[Shop], **fields: object) -> None:
        """Another program, or a person, asks for these."""
        specs = [
            TaskSpec(platform=one.platform, shop_id=one.shop_id, task_type=task_type, **fields)  # type: ignore[arg-type]
            for one in shops
        ]
        self.room.producer.submit(specs)

    def mended(self, scope: str = "") -> None:
        """Somebody has put right what held back all shops, those of a platform, or one."""
        self.mended_at.append((self.now, scope))

    def pause(self, scope: str) -> None:
        """An operator closes a switch."""
        self.store.set_pause(Pause(scope=scope, by="ann@desk"))

    def resume(self, scope: str) -> None:
        """And opens it."""
        self.store.clear_pause(scope)
        self.mended(scope if scope.startswith(("platform:", "shop:")) else "")

    def log_out(self, shop: Shop) -> None:
        """It asks for a person."""
        self.room.ask(CloseSession(shop=shop.key, kind="login_expired", by="ann@desk"))

    def log_in(self, shop: Shop) -> None:
        """Somebody has seen to it."""
        self.room.ask(OpenSession(shop=shop.key, by="ann@desk"))
        self.mended(f"shop:{shop.key}")

    def quiet(self, scope: str, minutes: float, after_min: float = 0.0) -> None:
        """Quiet hours from now on, or from so many minutes later on."""
        begins = self.now - 1000 + round(after_min * MINUTE)
        once = (Once(start=begins, end=begins + 1000 + round(minutes * MINUTE)),)
        quiet.put(self.store, QuietHours(name="sale", scope=scope, once=once, reason="sale", by="ann"), "UTC")

    def limit(self, scope: str, concurrency: int = 0, per_minute: int = 0) -> None:
        """Somebody limits a platform or a type; both 0: not any more."""
        self.store.put_limit(Limit(scope=scope, concurrency=concurrency, per_minute=per_minute))

    # -------------------------------------------------------------------- how it goes
    def go(self, minutes: float, shape: Callable[[World], Iterator[float]]) -> Tally:
        """Let it be morning. ``shape`` yields the minute at which it wants to go on."""
        acts = shape(self)
        due = next(acts, float("inf"))
        while self.minute < minutes:
            until = self.now + round(1000 * (min(EVERY_S, self.tick_s) if self.watch else self.tick_s))
            while self.now < until:
                self._pass(min(STEP_S, (until - self.now) / 1000))
                while self.minute >= due:
                    due = next(acts, float("inf"))
                self._work()
            self._look()
        return self.tally  # what is still at risk has no end yet: nobody can tell what it was

    def _pass(self, seconds: float) -> None:
        """Attempts end in their order, and slots that come free take what waits."""
        until = self.now + round(seconds * 1000)
        while True:
            ends = [
                (one.ends_at, hand.name, one.task.task_id, hand, one)
                for hand in self.hands if hand.alive for one in hand.running if one.ends_at <= until
            ]  # fmt: skip
            if not ends:
                break
            at, _, _, hand, one = min(ends, key=lambda end: end[:3])
            self._turn_to(at)
            self._end(hand, one)
            self._take(hand)
        self._turn_to(until)

    def _turn_to(self, at: int) -> None:
        if at > self.now:
            self.room.clock.advance((at - self.now) / 1000)

    def _work(self) -> None:
        """What engine and workers do all the time."""
        for source in self.sources:
            source.turn(self)
        if self.fires:
            self.scheduler.tick()
        self._renew()
        self.reconciler.tick()
        for hand in self.hands:
            if hand.alive:
                self._take(hand)

    def _look(self) -> None:
        self._beat()
        self.keeper.tick()
        self._note()

    def _beat(self) -> None:
        for hand in self.hands:
            if not hand.alive:
                continue
            slots = [
                SlotState(
                    task_id=one.task.task_id, task_type=one.task.task_type, shop=one.task.shop, lane=one.task.lane,
                    attempt=one.task.attempt, since=one.task.started_at,
                ) for one in hand.running
            ]  # fmt: skip
            slots += [SlotState()] * (hand.slots - len(slots))
            info = WorkerInfo(
                worker=hand.name, host="h", pid=1, slots=tuple(slots), executors=("rpa", "python"), node="desk"
            )
            self.store.heartbeat(info)

    def _renew(self) -> None:
        ops: list[Op] = [
            Renew(task_id=one.task.task_id, owner=one.task.owner, lease_ms=LEASE_MS)
            for hand in self.hands if hand.alive for one in hand.running
        ]  # fmt: skip
        self.room.steps.apply(ops)

    def _take(self, hand: Hand) -> None:
        while (free := hand.slots - len(hand.running)) > 0:
            found = hand.consumer.take(free, 0.0)
            if not found:
                return
            for one in found:
                known = self.store.get([one.message_id])[0]
                if known is None:
                    continue
                claim = Claim(
                    task_id=known.task_id, gen=known.gen, attempt=known.attempt, owner=f"{hand.name}#1",
                    worker=hand.name, lease_ms=LEASE_MS,
                )  # fmt: skip
                (answer,) = self.room.steps.apply([claim])
                if answer.code == "run" and answer.task is not None:
                    hand.running.append(self._begun(answer.task))
            hand.consumer.ack(found)

    def _begun(self, task: Task) -> Begun:
        lasts = LASTS[task.task_type] * self.slow.get(task.platform, 1.0) * self.chance.lognormvariate(0.0, self.uneven)
        error = self.fails.get(task.shop) or self.fails.get(task.platform, "")
        if not error and self.chance.random() < self.flaky:
            error = "network"
        return Begun(task, self.now + round(lasts * 1000), error)

    def _end(self, hand: Hand, one: Begun) -> None:
        hand.running.remove(one)
        task, to, delay = one.task, "succeeded", 0
        if one.error:
            decided = retry.decide(task, one.error, POLICY, self.now)
            to, delay = str(decided.to), decided.delay_s * 1000
        done = Attempt(
            number=task.attempt, worker=hand.name, started_at=task.started_at, ended_at=self.now,
            outcome="failed" if one.error else "succeeded", error_kind=one.error,
        )  # fmt: skip
        text = f"{one.error} happened" if one.error else ""
        self.room.steps.apply(
            [
                Finish(
                    task_id=task.task_id, owner=task.owner, to=to, attempt=done, delay_ms=delay, error=text,
                    error_kind=one.error,
                    fingerprint=fingerprint.fingerprint(task.task_type, one.error, text) if text else "",
                )
            ]
        )  # fmt: skip

    # -------------------------------------------------------------- what is said of it
    def _note(self) -> None:
        known = promises.readable(self.store.documents(promises.KIND), lambda *_: None)
        made = {one.name: one for one in known}
        done = {one.task_type: dict(self.store.successes_of(one.task_type)) for one in made.values()}
        for name, body in self.store.documents(STATE).items():
            found = standing.DOCUMENT.load(body)
            rows = {row.shop: row for row in found.rows}
            assert len(rows) == found.broken + found.at_risk
            for shop in self.shops:
                self._note_between((name, shop.key), made[name], done[made[name].task_type].get(shop.key, 0))
                self._note_shop((name, shop.key), rows.get(shop.key))
        self._done = done

    def _note_between(self, key: tuple[str, str], made: Promise, done_at: int) -> None:
        """A break that began and was over between two looks, so that no look could say so."""
        before = self._done.get(made.task_type, {}).get(key[1], 0)
        if made.kind == BY:
            break_at = DAY + made.window.end * MINUTE
            passed = not before and break_at < done_at
        else:
            break_at = before + made.limit_s * 1000
            passed = bool(before) and break_at < done_at
        if passed and key not in self._broken:
            risk_at, code = self._risks.pop(key, (0, ""))
            self.tally.found.append(Warned(*key, risk_at, break_at, code=code))

    def _note_shop(self, key: tuple[str, str], row: Row | None) -> None:
        state = row.state if row is not None else ""
        if row is not None and row.check == CREATED and key in self.watch:
            at = self.watch.pop(key) or row.done_at + self.longest_ms
            self.tally.noticed_ms.append(max(0, self.now - at))
        if state == AT_RISK:
            self._risks.setdefault(key, (self.now, row.code if row else ""))
            self._broken.discard(key)
        elif state == BROKEN:
            if key not in self._broken:
                risk_at, code = self._risks.pop(key, (0, row.code if row else ""))
                self.tally.found.append(Warned(*key, risk_at, row.break_at if row else 0, code=code))
            self._broken.add(key)
        else:
            self._broken.discard(key)
            if key in self._risks:
                risk_at, code = self._risks.pop(key)
                self.tally.found.append(Warned(*key, risk_at, mended=self._was_mended(key[1], risk_at), code=code))

    def _was_mended(self, shop: str, since: int) -> bool:
        scopes = {"", f"platform:{shop.partition(':')[0]}", f"shop:{shop}"}
        return any(at >= since and scope in scopes for at, scope in self.mended_at)


@dataclass
class Source:
    """Another program that asks for a task of each shop again and again, as regularly as such programs are."""

    task_type: str
    every_s: float
    uneven_s: float
    silent: bool = False
    due: dict[str, int] = field(default_factory=dict)

    def turn(self, world: World) -> None:
        """Ask for what is due."""
        for shop in world.shops:
            at = self.due.setdefault(shop.key, BEGIN + round(world.chance.uniform(0, self.every_s) * 1000))
            if world.now < at:
                continue
            self.due[shop.key] = at + round((self.every_s + world.chance.gauss(0, self.uneven_s)) * 1000)
            if not self.silent:
                world.create(self.task_type, [shop])


def _of(fields: dict[str, object]) -> dict[str, object]:
    return fields if fields.keys() & {"shops", "platforms", "groups"} else {"all_shops": True, **fields}


# ---------------------------------------------------------------------------------------------------------- shapes
Shape = Callable[[World], Iterator[float]]


def usual(world: World) -> None:
    """What every morning has: orders every 20 minutes, goods by eight, another program that asks for replies."""
    for _ in range(3):
        world.hire(max(2, len(world.shops) // 12))
    world.plan(ORDERS, 20, 1, spread_min=5)
    world.plan(GOODS, 24 * 60, 60, spread_min=30)
    world.sources.append(Source(FOREIGN, 600, 30))
    world.promise("orders", ORDERS, 60)
    world.promise("replies", FOREIGN, 45)
    world.promise_by("goods", GOODS, 8 * 60)


def steady(world: World) -> Iterator[float]:
    """Nothing happens."""
    usual(world)
    yield 0


def burst(world: World) -> Iterator[float]:
    """Somebody asks for hours of other work at once, before what was promised."""
    usual(world)
    yield 70
    slots = sum(hand.slots for hand in world.hands)
    minutes = world.pick((25, 50, 80, 110))
    world.room.define(NOISE, expected_s=60.0, uniqueness="none")
    for n in range(round(minutes * slots / len(world.shops))):
        world.create(NOISE, world.shops, priority="high", payload={"n": n})


def worker_loss(world: World) -> Iterator[float]:
    """All workers are gone; later they are started again."""
    usual(world)
    yield world.chance.uniform(50, 80)
    for hand in list(world.hands):
        world.kill(hand)
    yield world.minute + world.pick((25, 70, 95))
    world.hire(6)
    world.mended()


def fewer_workers(world: World) -> Iterator[float]:
    """All but one slot are gone."""
    usual(world)
    yield world.chance.uniform(50, 80)
    for hand in list(world.hands):
        world.kill(hand)
    world.hire(1)
    yield world.minute + world.pick((60, 90))
    world.hire(6)
    world.mended()


def slow_platform(world: World) -> Iterator[float]:
    """One platform answers many times slower."""
    usual(world)
    yield world.chance.uniform(50, 70)
    world.slow["temu"] = world.pick((6.0, 20.0, 40.0))


def quiet_hours(world: World) -> Iterator[float]:
    """Quiet hours for a platform: short ones that break nothing, or long ones."""
    usual(world)
    yield world.chance.uniform(50, 70)
    world.quiet("platform:tiktok", world.pick((20, 90, 75)))


def paused_type(world: World) -> Iterator[float]:
    """A type is paused and resumed later."""
    usual(world)
    yield world.chance.uniform(50, 70)
    world.pause(f"type:{ORDERS}")
    yield world.minute + world.pick((15, 70, 90))
    world.resume(f"type:{ORDERS}")


def logged_out(world: World) -> Iterator[float]:
    """Some shops ask for a login; somebody gets to them after a while."""
    usual(world)
    chosen = world.chance.sample(world.shops, max(2, len(world.shops) // 4))
    at = sorted(world.chance.uniform(45, 75) for _ in chosen)
    for moment, shop in zip(at, chosen, strict=True):
        yield moment
        world.log_out(shop)
    for shop in chosen:
        yield world.minute + world.pick((5, 15))
        world.log_in(shop)


def broken_page(world: World) -> Iterator[float]:
    """The page of a platform has changed: all its runs fail, until somebody mends the flow."""
    usual(world)
    yield world.chance.uniform(50, 70)
    world.fails["pdd"] = "element_not_found"
    yield world.minute + world.pick((15, 75, 100))
    world.fails.clear()
    world.mended("platform:pdd")


def unfired(world: World) -> Iterator[float]:
    """Who leads judges, and its scheduler is stuck."""
    usual(world)
    yield world.chance.uniform(50, 70)
    world.fires = False
    for entry in world.store.schedules():
        if entry.name == ORDERS:
            world.watch |= {("orders", shop.key): entry.next_at for shop in world.shops}
    yield world.minute + world.pick((75, 110))
    world.fires = True
    world.mended()


def unplanned(world: World) -> Iterator[float]:
    """Somebody removes the schedule."""
    usual(world)
    yield world.chance.uniform(50, 70)
    world.unplan(ORDERS)


def silent_source(world: World) -> Iterator[float]:
    """The program that asks for replies has stopped."""
    usual(world)
    yield world.chance.uniform(80, 100)
    (source,) = world.sources
    source.silent = True
    found = standing.DOCUMENT.load(world.store.documents(STATE)["replies"])
    world.longest_ms = max(found.gaps) * 1000
    world.watch |= {("replies", shop.key): 0 for shop in world.shops}
    yield world.minute + world.pick((60, 90))
    source.silent = False
    world.mended()


def slow_spell(world: World) -> Iterator[float]:
    """A platform is slow for a while and recovers by itself: nobody has mended anything."""
    usual(world)
    yield world.chance.uniform(40, 90)
    world.slow["tiktok"] = world.pick((4.0, 9.0, 15.0))
    yield world.minute + world.pick((30, 60))
    world.slow.clear()


def slots_one_by_one(world: World) -> Iterator[float]:
    """One worker after the other is lost, and they come back as slowly."""
    usual(world)
    yield world.chance.uniform(40, 60)
    for hand in list(world.hands)[: world.pick((1, 2))]:
        world.kill(hand)
        yield world.minute + world.chance.uniform(10, 25)
    yield world.minute + world.pick((40, 60, 80))
    for _ in range(2):
        world.hire(2)
        world.mended()
        yield world.minute + world.chance.uniform(5, 15)


def more_and_more(world: World) -> Iterator[float]:
    """Other work comes in portions, each larger than the one before, until somebody stops it."""
    usual(world)
    world.room.define(NOISE, expected_s=60.0, uniqueness="none")
    yield world.chance.uniform(30, 50)
    for number in range(6):
        for n in range(1 + number // world.pick((1, 2))):
            world.create(NOISE, world.shops[::2], payload={"n": [number, n]})
        yield world.minute + world.chance.uniform(12, 18)


SHAPES: dict[str, Shape] = {
    "steady": steady,
    "morning burst": burst,
    "workers gone": worker_loss,
    "fewer slots": fewer_workers,
    "slow platform": slow_platform,
    "quiet hours": quiet_hours,
    "type paused": paused_type,
    "logins needed": logged_out,
    "page changed": broken_page,
    "schedule not fired": unfired,
    "schedule removed": unplanned,
    "source silent": silent_source,
}
#: nothing was adjusted by these
HELD_OUT: dict[str, Shape] = {
    "slow for a while": slow_spell,
    "slots one by one": slots_one_by_one,
    "more and more work": more_and_more,
}


@contextmanager
def _world(folder: Path, seed: int, shops: int, tick_s: float) -> Iterator[World]:
    with opened(folder) as room:
        world = World(room, seed, shops, tick_s)
        try:
            yield world
        finally:
            for hand in world.hands:
                if hand.alive:
                    world.kill(hand)


def play(
    folder: Path, shape: str | Shape, seed: int, *, shops: int = 24, minutes: float = 240, tick_s: float = EVERY_S
) -> Tally:
    """One morning of a shape, or of one of these by its name; ``folder`` holds its file."""
    with _world(folder, seed, shops, tick_s) as world:
        return world.go(minutes, (SHAPES | HELD_OUT)[shape] if isinstance(shape, str) else shape)
