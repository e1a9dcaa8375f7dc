"""What it costs to know the fleet, and whether what is known is true: 1,000 queues on a real RabbitMQ, then the same
work with everything that watches and without it.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import psutil

from services import assembly, workforce
from services.api import server
from services.assembly import Engine
from services.broker.rabbitmq.management import TOTALS
from services.domain.fleet.shop import Shop
from services.domain.promises.promise import Promise
from services.engine.lead.leader import ROLE
from services.engine.producer import TaskSpec
from services.monitor.live import Snapshot
from services.workers.host import Steward
from tests.bench.pairs import SHOPS, CountMismatch, Pair
from tests.support.services import RabbitMQ

QUEUES, CHUNK = 1_000, 500
#: seconds of each measured stretch
STRETCH_S = 60.0
#: tasks of a round, and rounds with and without
TASKS, ROUNDS, SETTLE_S = 20_000, 4, 3.0
OFF, ON, ASKED = WAYS = ("off", "on", "asked")
LOOK_S, PATIENCE_S = 0.25, 120.0
SCRAPE_S = 5.0


# ------------------------------------------------------------------------------------------------------- 1,000 queues
@dataclass
class Seen:
    """What the broker itself told, over time."""

    rows: list[tuple[float, float, dict[str, int]]] = field(default_factory=list)  #: asked, answered, ready by queue

    def between(self, begin: float, end: float) -> list[dict[str, int]]:
        """All that may speak for a part of that time: the last before it and the first after it among them."""
        before = [row for _asked, answered, row in self.rows if answered < begin][-1:]
        during = [row for asked, answered, row in self.rows if answered >= begin and asked <= end]
        after = [row for asked, _answered, row in self.rows if asked > end][:1]
        return [*before, *during, *after] if before and after else []


def figures(rabbit: RabbitMQ, scale: float, **urls: str) -> dict[str, float]:
    """Figures of a console beside those of the broker, and what looking costs the broker.

    Raises:
        CountMismatch: a figure is none that the broker told within its age.
    """
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), **urls)
        try:
            shops = [Shop(platform="pdd", shop_id=f"shop{number:04d}", dedicated=True) for number in range(QUEUES)]
            for first in range(0, QUEUES, CHUNK):
                assembly.commands(pair.engine).fleet.import_shops(shops[first : first + CHUNK])
            for first in range(0, QUEUES, CHUNK):
                pair.create([_spec(shop.shop_id, 0) for shop in shops[first : first + CHUNK]])
            return _figures(pair, rabbit, urls["broker"].rpartition("/")[2], STRETCH_S * scale)
        finally:
            pair.close()


def _figures(pair: Pair, rabbit: RabbitMQ, vhost: str, stretch_s: float) -> dict[str, float]:
    idle = _share(rabbit, stretch_s)
    with _leading(pair.engine):
        time.sleep(2.0)
        led = _share(rabbit, stretch_s)
        live = assembly.live(pair.engine)
        live.start()
        try:
            time.sleep(2.0)
            both = _share(rabbit, stretch_s)
            compared, oldest = _compared(pair, rabbit, vhost, live.snapshot, stretch_s)
        finally:
            live.close()
    cores = psutil.cpu_count() or 1
    return {
        "queues of shops": QUEUES,
        "looks of a console, each queue as RabbitMQ told it within the age that is stated": compared,
        "longest time between two looks, s": oldest,
        "processor of RabbitMQ, nobody looks, % of one": idle,
        "the same, somebody leads (recorder, alerts, promises)": led,
        "the same, and a console looks": both,
        "looking costs RabbitMQ, % of one processor": both - idle,
        "the same, % of the processors of this machine (aim 2)": (both - idle) / cores,
    }


def _compared(
    pair: Pair, rabbit: RabbitMQ, vhost: str, snapshot: Callable[[], Snapshot], seconds: float
) -> tuple[int, float]:
    """While messages come for one queue after the other: how many looks fit, and the longest pause."""
    seen, ended = Seen(), threading.Event()

    def ask() -> None:
        while not ended.wait(LOOK_S):
            asked = time.monotonic()
            rows: list[dict[str, Any]] = rabbit.api("GET", f"/api/queues/{vhost}?{TOTALS}")
            ready = {row["name"]: int(row.get("messages_ready", 0)) for row in rows}
            seen.rows.append((asked, time.monotonic(), ready))

    thread = threading.Thread(target=ask, name="broker")
    thread.start()
    shown: dict[float, Snapshot] = {}
    try:
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            number += 1
            pair.create([_spec(f"shop{number % QUEUES:04d}", number)])
            now = snapshot()
            shown.setdefault(now.depths_taken, now)
            time.sleep(0.05)
        time.sleep(8 * LOOK_S)
    finally:
        ended.set()
        thread.join()
    return _check(shown, seen)


def _check(shown: Mapping[float, Snapshot], seen: Seen) -> tuple[int, float]:
    """``shown``: by when the broker was asked, as the first snapshot had it."""
    oldest = max((after - before for before, after in itertools.pairwise(sorted(shown))), default=0.0)
    compared = 0
    for asked, one in shown.items():
        told = {depth.name: depth.ready for depth in one.depths if depth.kind == "shop"}
        if len(told) != QUEUES or not one.depths_fresh:
            raise CountMismatch(f"{len(told)} of {QUEUES} queues are shown")
        rows = seen.between(asked, one.taken)
        if not rows:
            continue
        wrong = [name for name, ready in told.items() if not _within(ready, [row[name] for row in rows])]
        if wrong:
            name = wrong[0]
            text = f"{name} is shown with {told[name]}, while the broker told {[row[name] for row in rows]}"
            raise CountMismatch(f"{len(wrong)} queues are wrong: {text}")
        compared += 1
    return compared, oldest


def _within(number: int, told: list[int]) -> bool:
    return min(told) <= number <= max(told)


def _share(rabbit: RabbitMQ, seconds: float) -> float:
    """Percent of one processor that RabbitMQ takes."""
    first = psutil.Process(rabbit.pid)
    before, begun = _spent(first), time.monotonic()
    time.sleep(seconds)
    return 100 * (_spent(first) - before) / (time.monotonic() - begun)


def _spent(first: psutil.Process) -> float:
    times = [one.cpu_times() for one in (first, *first.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def _spec(shop: str, number: int) -> TaskSpec:
    payload = {"n": number, "shop": shop}
    return TaskSpec(platform="pdd", shop_id=shop, task_type="noop", payload=payload, origin="bench")


# ------------------------------------------------------------------------------------------------------- on and off
def cost(scale: float, servers: Mapping[str, int], **urls: str) -> dict[str, float]:
    """No-op tasks a second and processor time a task, in turns: nobody watches, everything watches, and a server is
    asked for numbers, its page and every event besides.
    """
    count = round(TASKS * scale)
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), servers=servers, **urls)
        try:
            _round(pair, count // 2, OFF)  # whatever is slow only once
            _promise(pair.engine)
            _round(pair, count // 4, ASKED)
            found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
            for place in range(ROUNDS):  # there and back: what gets slower with time hits all alike
                for way in WAYS if place % 2 == 0 else reversed(WAYS):
                    found[way].append(_round(pair, count, way))
        finally:
            pair.close()
    (off, off_spent), (on, on_spent), (asked, asked_spent) = (_middle(found[way]) for way in WAYS)
    return {
        "tasks a round": count,
        "no-op tasks /s, nobody watches": off,
        "no-op tasks /s, recorder, promises and alerts": on,
        "slower by, % (aim 3)": 100 * (1 - on / off),
        "no-op tasks /s, and numbers, page and events over REST": asked,
        "slower by, %": 100 * (1 - asked / off),
        "µs a task of engine, store and broker, nobody watches": off_spent,
        "µs a task, recorder, promises and alerts": on_spent,
        "µs a task, and over REST": asked_spent,
        "watching takes, % of one processor": (on_spent - off_spent) * on / 1e4,
    }


def _middle(rounds: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(rate for rate, _spent in rounds), statistics.median(spent for _rate, spent in rounds)


def _round(pair: Pair, count: int, way: str) -> tuple[float, float]:
    """Rate, and microseconds of processor a task."""
    for first in range(0, count, 5_000):
        pair.create(pair.specs(min(5_000, count - first)))
    with _leading(pair.engine, watched=way != OFF), _asked(pair.engine) if way == ASKED else contextlib.nullcontext():
        time.sleep(SETTLE_S)
        before = pair.spent.now()
        rate = pair.drain()
        spent = sum(seconds - before[name] for name, seconds in pair.spent.now().items())
    return rate, spent * 1e6 / count


class _Nobody:
    """A duty that does nothing."""

    def start(self) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""


@contextlib.contextmanager
def _leading(engine: Engine, *, watched: bool = True) -> Iterator[Steward]:
    """This process leads, with or without what watches for people."""
    with contextlib.ExitStack() as changed:
        if not watched:
            changed.enter_context(mock.patch.object(workforce, "watchers", return_value=()))
            changed.enter_context(mock.patch.object(workforce, "alerts", return_value=_Nobody()))
        steward = workforce.steward(engine)
    steward.start()
    try:
        until = time.monotonic() + PATIENCE_S
        while not engine.store.leader(ROLE):
            if time.monotonic() > until:
                raise CountMismatch("nobody leads")
            time.sleep(0.05)
        yield steward
    finally:
        steward.close()


@contextlib.contextmanager
def _asked(engine: Engine) -> Iterator[None]:
    """A server that somebody reads numbers, the page for a phone and every event from."""
    ended = threading.Event()
    place = server.Place(host="127.0.0.1", port=0)
    with server.serving(engine, place) as address:

        def listen() -> None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api/v1/events", timeout=60) as stream:
                while not ended.is_set() and stream.readline():
                    pass

        def scrape() -> None:
            while True:
                for path in ("/metrics", "/api/v1/status"):
                    with contextlib.suppress(OSError), urllib.request.urlopen(address + path, timeout=60) as answer:
                        answer.read()
                if ended.wait(SCRAPE_S):
                    return

        threads = [threading.Thread(target=one, daemon=True) for one in (listen, scrape)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
    for thread in threads:
        thread.join(10.0)


def _promise(engine: Engine) -> None:
    """Of all shops."""
    commands = assembly.commands(engine)
    commands.fleet.import_shops([Shop(platform="pdd", shop_id=f"shop{number:03d}") for number in range(SHOPS)])
    commands.promises.set(Promise(name="fresh", task_type="noop", limit_s=3600, all_shops=True))
