"""First pages of many filters and orders over a store of a given size, filled at once as some busy weeks would."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from redis import Redis

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.limit import Limit
from services.domain.insight.gates import GATES
from services.domain.task.lane import lane_of
from services.domain.task.record import Attempt, Task
from services.domain.types.task_type import TaskType
from services.engine.registry import Registry
from services.monitor.tasks import TaskQueries
from services.ports import Store
from services.store.redis.store import RedisStore
from services.store.sqlite.store import EmbeddedStore
from tests.support.counting import CountingStore

T = TypeVar("T")
ROWS = 1_000_000
AIM = {"embedded": 100.0, "fleet": 200.0}  #: milliseconds
SHOPS, TYPES, WORKERS, BATCHES, CAUSES = 10_000, 12, 40, 2_000, 300
PLATFORMS = ("pdd", "temu", "tiktok", "other")
#: of a hundred tasks
STATUSES = {
    "succeeded": 58, "queued": 18, "dead": 9, "cancelled": 6, "blocked": 4, "scheduled": 2, "retrying": 2, "held": 1,
}  # fmt: skip
DAYS_MS = 14 * 86_400_000
BATCH = 2_000
QUESTIONS = (
    "", "status:active", "status:queued", "status:dead", "status:dead triage:open", "status:succeeded type:type03",
    "status:queued shop:pdd:shop00008", "shop:pdd:shop00008", "shop:shop001*", "platform:temu",
    "platform:temu status:dead", "type:type03 lane:normal", "lane:high status:queued", "worker:w7",
    "worker:w7 status:succeeded", "batch:batch0077", "fp:000000000000002a", "fp:000000000000002a triage:open", "age<1h",
    "age<1d status:succeeded", "age>10d status:dead", "updated>2026-01-01", "kind:login_expired",
    "kind:login_expired status:dead", "kind:worker_lost", "attempts>=3", "attempts>=9", "priority>=9", "priority:3",
    "gate:paused", "status:held", "-status:succeeded", "-status:succeeded,queued platform:other",
    "payload.order_id:8841", "payload.order_id:8841,17,90210", "payload.order_id:8841 status:dead",
    "shop:pdd:shop00008 kind:timeout", "batch:batch0077 attempts>=2", "status:dead type:type03 kind:login_expired",
)  # fmt: skip
#: filters that look into the records: a page may come short, with a place to go on from
LOOKS = ("error~nothing", "status:dead error~expired", "status:dead error~nothing", "shop00077")
#: what people put beside a gate
BESIDE = ("", " platform:temu", " type:type03", " shop:pdd:shop00008", " status:waiting")
#: shops that are logged out, and such that run what they may, when gates are asked for
LOGGED_OUT, BUSY = 60, 40


def measure(pair: str, rows: int, folder: Path, redis: str = "") -> dict[str, float]:
    """Processor ms of the first page by filter and order, here and in Redis: the clock tells more of a busy machine."""
    clock = SystemClock()
    store: Store = RedisStore(redis, clock) if redis else EmbeddedStore(folder / "pages.sqlite", clock)
    try:
        begun = time.perf_counter()
        fill(store, rows)
        out = {f"{rows:,} tasks put there, s": time.perf_counter() - begun}
        out |= _pages(store, _server(redis))
        close_gates(store)
        out |= gates(store, _server(redis))
    finally:
        store.close()
    aim = AIM[pair]
    waits = [took for name, took in out.items() if name.startswith(("page:", "gate page:")) and ";" not in name]
    out[f"pages within {aim:.0f} ms, %"] = 100 * sum(took <= aim for took in waits) / len(waits)
    return out


def fill(store: Store, rows: int, shops: int = SHOPS) -> None:
    """Put tasks of so many shops there until there are so many."""
    there = store.counts().total
    store.index_fields(["order_id"])
    while store.index_more():
        pass
    made = _tasks(random.Random(there), store.now_ms(), shops)
    for start in range(there, rows, BATCH):
        store.apply([Create(task=next(made)) for _ in range(min(BATCH, rows - start))])
    if store.counts().total != max(there, rows):
        raise AssertionError(f"{store.counts().total} tasks are there instead of {rows}")


def _server(redis: str) -> Callable[[], float]:
    """Processor seconds of Redis so far; none without one."""
    if not redis:
        return lambda: 0.0
    client = Redis.from_url(redis)

    def spent() -> float:
        found = client.info("cpu")
        return float(found["used_cpu_user"] + found["used_cpu_sys"])

    return spent


def _pages(store: Store, server: Callable[[], float] = lambda: 0.0) -> dict[str, float]:
    questions = TaskQueries(store, Registry(store, SystemClock(), TaskType.default("default")))
    out: dict[str, float] = {}
    for sort in ("created", "updated", "priority", "due"):
        for text in (*QUESTIONS, *LOOKS):
            for descending in (True, False):
                times = []
                for _ in range(3):
                    start = time.thread_time() + server()
                    questions.page(text, sort=sort, descending=descending, limit=50)
                    times.append((time.thread_time() + server() - start) * 1000)
                out[f"page: {text or 'everything'}, {sort} {'down' if descending else 'up'}"] = min(times)
    return out


def close_gates(store: Store) -> None:
    """Close every gate somewhere: pauses, logins, running tasks, a limit, twins, a type that no worker runs."""
    store.set_pause(Pause(scope="platform:other", by="bench"))
    store.set_pause(Pause(scope="type:type05", by="bench"))
    store.put_limit(Limit(scope="type:type07", concurrency=1))
    declines = (f"type{TYPES - 1:02d}",)
    worker = WorkerInfo(worker="w0", host="h", pid=1, slots=(SlotState(),) * 8, executors=("rpa",), declines=declines)
    store.heartbeat(worker)
    for number in range(LOGGED_OUT + BUSY):
        shop, kind = f"shop{4 * number:05d}", f"type{number % 5:02d}"
        task_id = f"pdd_{kind}_{shop}_{time.time_ns():x}"
        task = Task(task_id=task_id, shop_id=shop, platform="pdd", task_type=kind, uniq=f"u{number}")
        claim = Claim(task_id=task_id, gen=0, attempt=0, owner=task_id, worker="w0", lease_ms=3_600_000)
        *_, answer = store.apply([Create(task=task), claim])
        if number < LOGGED_OUT and answer.task is not None:
            begun = answer.task.started_at
            end = Attempt(number=1, worker="w0", started_at=begun, ended_at=begun + 1, outcome="failed")
            store.apply([Finish(task_id=task_id, owner=task_id, to="blocked", attempt=end, error_kind="login_expired")])


def gates(store: Store, server: Callable[[], float] = lambda: 0.0) -> dict[str, float]:
    """First pages of lists with a gate in their filter: processor ms, ms by the clock, questions to the store, and how
    many were counted; the page of all tasks that wait, for the ratio; the counts of all gates at once.
    """
    counting = CountingStore(store)
    questions = TaskQueries(counting.port, Registry(counting.port, SystemClock(), TaskType.default("default")))
    out: dict[str, float] = {}

    def took(name: str, ask: Callable[[], T]) -> T:
        times, walls = [], []
        answer = ask()
        for _ in range(3):
            counting.spent()
            wall, start = time.perf_counter(), time.thread_time() + server()
            answer = ask()
            times.append((time.thread_time() + server() - start) * 1000)
            walls.append((time.perf_counter() - wall) * 1000)
        out[name] = min(times)
        out[f"{name}; by the clock"] = min(walls)
        out[f"{name}; questions"] = sum(counting.spent().values())
        return answer

    took("gate page: status:waiting", lambda: questions.page("status:waiting", limit=50))
    for gate in GATES:
        for rest in BESIDE:
            text = f"gate:{gate}{rest}"
            page = took(f"gate page: {text}", lambda text=text: questions.page(text, limit=50))
            out[f"gate page: {text}; counted"] = page.at_least
    took("gate page: -gate:paused", lambda: questions.page("-gate:paused", limit=50))
    took("counts of all gates", questions.gate_counts)
    return out


def _tasks(dice: random.Random, now: int, shops: int) -> Iterator[Task]:
    statuses, weights = list(STATUSES), list(STATUSES.values())
    while True:
        (status,) = dice.choices(statuses, weights)
        shop = min(int(dice.expovariate(5 / shops)), shops - 1)  # some shops have much more to do than others
        priority = dice.choices(range(1, 11), (1, 2, 3, 10, 10, 50, 10, 8, 4, 2))[0]
        cause = int(dice.expovariate(5 / CAUSES)) % CAUSES
        failed = status in ("dead", "retrying", "held")
        kind = ("timeout", "login_expired", "captcha", "crashed")[cause % 4] if failed else ""
        error = f"step {cause} of the flow ended: {kind.replace('_', ' ')}" if failed else ""
        task_type, platform = f"type{dice.randrange(TYPES):02d}", PLATFORMS[shop % len(PLATFORMS)]
        started = status not in ("queued", "blocked", "scheduled")
        attempt = dice.choice((1, 1, 1, 2, 3, 4)) if started else 0
        at = now - dice.randrange(DAYS_MS)
        worker = f"w{dice.randrange(WORKERS)}" if started else ""
        yield Task(
            task_id=f"{platform}_{task_type}_shop{shop:05d}_{dice.getrandbits(48):012x}",
            shop_id=f"shop{shop:05d}",
            platform=platform,
            task_type=task_type,
            payload=f'{{"since":"2026-11-20","order_id":{dice.randrange(ROWS)},"page_size":50}}',
            lane=lane_of(priority),
            priority=priority,
            status=status,
            gate=("paused", "shop_busy", "no_worker")[cause % 3] if status == "blocked" else "",
            attempt=attempt,
            created_at=at,
            due_at=now + dice.randrange(DAYS_MS) if status in ("scheduled", "retrying") else 0,
            started_at=at if started else 0,
            worker=worker,
            error=error,
            error_kind=kind,
            fingerprint=f"{cause:016x}" if failed else "",
            batch=f"batch{dice.randrange(BATCHES):04d}" if dice.random() < 0.3 else "",
            origin="bench",
            triage=dice.choice(("open", "open", "archived", "ignored")) if status == "dead" else "",
            attempts=tuple(
                Attempt(number=n + 1, worker=worker, started_at=at, ended_at=at, outcome="failed", error_kind=kind)
                for n in range(attempt)
            ),
        )
