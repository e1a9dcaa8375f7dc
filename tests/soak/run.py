"""One pair for so many hours: work, restarts, samples; then what is left, and what is told of it."""

from __future__ import annotations

import argparse
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from services.domain.errors import ConsoleError
from services.version import VERSION
from tests.soak.account import Account
from tests.soak.load import Load
from tests.soak.sampler import Sampler, Table, bound_of
from tests.soak.verdict import Kind, Verdict, curve, judge
from tests.soak.world import World, opened

#: seconds until all that was accepted has to have ended, once nothing comes any more
SETTLE_S = 300.0
#: events of one call, and so many records at once
EVENTS, RECORDS = 5_000, 500
#: every so many restarts one is a kill
KILLED = 3
#: samples of the shortest run
SAMPLES = 60
SAMPLE_S = 30.0
#: how a series is told while the run goes on
SHOWN = (
    "elder.rss_mb",
    "watcher.rss_mb",
    "home_mb",
    "sqlite_mb",
    "redis.used_mb",
    "lag_ms",
    "p99_start_ms",
    "unfinished",
)


class Follower(threading.Thread):
    """Hears of every event, as a console does, and books it."""

    def __init__(self, world: World, account: Account) -> None:
        super().__init__(name="follower", daemon=True)
        self._store, self._account = world.fleet.open().store, account
        self._cursor = self._store.events("", 1, 0.0).cursor
        self.stop = threading.Event()
        self.failed = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                try:
                    self._go_on()
                except ConsoleError:
                    self.failed += 1
                    self.stop.wait(1.0)
        except BaseException as exc:
            self.error = exc

    def _go_on(self) -> None:
        batch = self._store.events(self._cursor, EVENTS, 0.5)
        self._cursor = batch.cursor
        if batch.gap:
            self._account.missed()
            self._account.looked_up(self.standing(self._account.unfinished()))
        self._account.note(batch.events, self._store.now_ms())

    def standing(self, task_ids: list[str]) -> dict[str, str]:
        """The status of each by its record or, where that was removed, by its tombstone; "" where there is neither."""
        found: dict[str, str] = {}
        for start in range(0, len(task_ids), RECORDS):
            some = task_ids[start : start + RECORDS]
            # a record may go away in between, never its tombstone: that is asked for last
            records, stones = self._store.get(some), self._store.tombstones(some)
            for task_id, task, stone in zip(some, records, stones, strict=True):
                left = task or stone
                found[task_id] = "" if left is None else str(left.status)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how hard."""

    hours: float
    rate: float  #: tasks a second
    factor: float  #: how much sooner than in days everything is let go
    restart_s: float
    workers: int
    seed: int
    folder: Path  #: of the CSV

    @property
    def sample_s(self) -> float:
        """Seconds between samples."""
        return min(SAMPLE_S, self.hours * 3600 / SAMPLES)


def main(args: argparse.Namespace, factor: float) -> int:
    """Every pair one after the other; 0 where nothing grows, is lost or is done twice."""
    good = True
    for kind in ("fleet", "embedded") if args.pair == "both" else (args.pair,):
        plan = Plan(
            hours=args.hours, rate=args.rate, factor=factor, restart_s=args.restart, workers=args.workers,
            seed=args.seed, folder=Path(args.out),
        )  # fmt: skip
        with opened(kind, factor, args.workers) as world:
            good &= run(world, plan)
    return 0 if good else 1


def run(world: World, plan: Plan) -> bool:
    """One pair: work, peace, verdict."""
    account = Account()
    follower, load = Follower(world, account), Load(world, account, plan.rate, plan.seed)
    table = Table(plan.folder / f"soak-{world.kind}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.csv")
    follower.start()
    load.prepare()
    world.keep()
    load.start()
    print(f"{world.kind}: {plan.hours:g} h from now, samples in {table.path}", flush=True)
    try:
        _go_on(world, plan, Sampler(world, account), table)
        load.stop.set()
        load.join(SETTLE_S)
        load.pause()
        settled = _settle(world, account)
        account.close(follower.standing(account.unfinished()))
    finally:
        load.stop.set()
        follower.stop.set()
    world.stop()
    follower.join(10.0)
    for error in (load.error, follower.error):
        if error is not None:
            raise error
    return tell(world, plan, account, load, table, settled)


def _go_on(world: World, plan: Plan, sampler: Sampler, table: Table) -> None:
    """Restart and sample until the time is over."""
    begun = time.monotonic()
    until, restart_at, sample_at = begun + plan.hours * 3600, begun + plan.restart_s, begun + plan.sample_s
    told_at = begun
    while (now := time.monotonic()) < until:
        world.keep()
        if now >= restart_at:
            world.replace(kill=world.restarts % KILLED == KILLED - 1)
            restart_at = now + plan.restart_s
        if now >= sample_at:
            sample_at = now + plan.sample_s
            found = sampler.sample()
            table.add((now - begun) / 3600, found)
            if now - told_at >= max(60.0, plan.hours * 3600 / 100):
                told_at = now
                told = ", ".join(f"{name} {found[name]:.3g}" for name in SHOWN if name in found)
                print(f"{(now - begun) / 3600:.2f} h: {told}", flush=True)
        time.sleep(0.2)


def _settle(world: World, account: Account) -> float:
    """Seconds until everything had ended, or patience had."""
    begun = time.monotonic()
    while account.unfinished() and time.monotonic() - begun < SETTLE_S:
        world.keep()
        time.sleep(0.5)
    return time.monotonic() - begun


def tell(world: World, plan: Plan, account: Account, load: Load, table: Table, settled: float) -> bool:
    """Print curve and verdict; False where something grows, is lost, was done twice or ended by itself."""
    found = {name: judge(points, bound_of(name)) for name, points in table.series().items()}
    grows = [name for name, verdict in found.items() if verdict.kind is Kind.GROWS]
    ended = ", ".join(f"{count} {status}" for status, count in account.ended.most_common())
    rows = [
        ("date, version", f"{datetime.now(UTC):%Y-%m-%d}, Fleetdeck {VERSION}"),
        (
            "run",
            f"{plan.hours:g} h, {plan.rate:g} tasks/s, kept things go {plan.factor:g} times as early, seed {plan.seed}",
        ),
        ("tasks", f"{account.created} created; ended: {ended or 'none'}"),
        ("letters", f"{load.republished} republished, {load.archived} put away"),
        (
            "workers",
            f"{world.restarts} restarts, of them {world.kills} kills; tracebacks printed: {world.tracebacks()}",
        ),
        ("lost (aim 0)", f"{len(account.lost)}"),
        ("ended twice (aim 0)", f"{len(account.twice)}"),
        ("times that events were missed", f"{account.gaps}"),
        ("calls refused", f"{load.refused}"),
        ("all ended after the last task", f"{settled:.0f} s"),
        ("grows (aim none)", ", ".join(grows) or "none"),
        ("samples", f"{len(table.rows)} in {table.path}"),
    ]
    print(f"\n| {world.kind} | |\n| --- | --- |")
    print("\n".join(f"| {name} | {value} |" for name, value in rows))
    print("\nEach series over the whole run; judged is the second half.\n")
    always: dict[float, list[str]] = {}
    for name, points in table.series().items():
        values = {value for _, value in points}
        if len(values) == 1:
            always.setdefault(values.pop(), []).append(name)
        else:
            print(_line(name, points, found[name]))
    for value, names in sorted(always.items()):
        print(f"always {value:g}: {', '.join(names)}")
    for line in (*world.wrong, *(f"lost: {one}" for one in account.lost[:10])):
        print(line)
    for one in account.twice[:10]:
        print(f"ended twice: {one}")
    print(flush=True)
    return not (grows or account.lost or account.twice or world.wrong)


def _line(name: str, points: list[tuple[float, float]], verdict: Verdict) -> str:
    values = [value for _, value in points]
    span = f"{min(values):.3g} to {max(values):.3g}" if values else "-"
    return f"{name:28} {curve(points):60} {span:>20}  {verdict.words}"
