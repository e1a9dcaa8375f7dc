"""What the four steps of a task (Create, Published, Claim, Finish) cost Redis and the process that asks for them:
applied by a script, by the same script kept as a function, and with the decision outside; alone and in batches.

The last is a floor for a kernel that decides on this side: it reads what the steps read, decides nothing, and lets one
generic script compare what was read and write what the steps write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import redis as plain_redis

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish, Published
from services.domain.task.record import Attempt, Task
from services.store.redis import keys
from services.store.redis.client import make_client
from services.store.redis.store import RedisStore
from tests.bench.spent import Spent
from tests.support.services import Redis

BATCHES, ROUNDS, TASKS, SHOPS = (1, 20), 3, 3_000, 500
Command = tuple[Any, ...]
_COMMIT = """
local place, stale = 2, 0
for _ = 1, tonumber(ARGV[1]) do
  local size = tonumber(ARGV[place])
  local got = redis.call(unpack(ARGV, place + 1, place + size))
  place = place + size + 1
  local want = ARGV[place]
  if type(got) == 'table' then
    if tonumber(want) ~= #got then stale = stale + 1 end
    for k = 1, #got do
      if (got[k] or '') ~= ARGV[place + k] then stale = stale + 1 end
    end
    place = place + #got
  elseif (got or '') ~= want and tonumber(want) ~= got then
    stale = stale + 1
  end
  place = place + 1
end
while place <= #ARGV do
  local size = tonumber(ARGV[place])
  redis.call(unpack(ARGV, place + 1, place + size))
  place = place + size + 1
end
return stale
"""
#: read once for a batch
_ALL = (
    ("HMGET", keys.META, "writer", "epoch"), ("HGETALL", keys.LIMITS), ("HKEYS", keys.PAUSES),
    ("EXISTS", keys.SESSIONS), ("EXISTS", keys.RESERVING), ("EXISTS", keys.BREAKERS), ("EXISTS", keys.NEEDED),
    ("EXISTS", keys.LOTS),
)  # fmt: skip
Run = Callable[[Sequence[tuple[str, str]]], None]


def measure(redis: Redis, scale: float) -> dict[str, float]:
    """Microseconds of processor time a task: of Redis, and of this process; medians of rounds that take turns."""
    found: dict[str, list[float]] = {}
    with make_client(redis.url, 5.0) as raw:
        raw.execute_command("ACL", "SETUSER", "scripts", "reset", "on", ">secret", "~*", "&*", "+@all", "-fcall")
        ways = {
            "a script": _store(redis.url.replace("//", "//scripts:secret@")),
            "a function": _store(redis.url),
            "decided outside, floor": _outside(raw),
        }
        for turn in range(ROUNDS):
            for name, run in ways.items():
                for size in BATCHES:
                    raw.flushdb()
                    for what, cost in _spend(redis, run, size, max(size, round(TASKS * scale)), f"{turn}{name[2]}"):
                        found.setdefault(f"{name}, batches of {size}: {what}, µs a task", []).append(cost)
    return {what: median(costs) for what, costs in found.items()}


def _spend(redis: Redis, run: Run, size: int, count: int, name: str) -> Iterator[tuple[str, float]]:
    spent = Spent(Redis=redis.pid)
    run([("s0", f"{name}-first")])
    before = spent.now()
    for start in range(0, count, size):
        run([(f"s{(start + k) % SHOPS}", f"{name}-{start + k}") for k in range(size)])
    after = spent.now()
    for what in after:
        yield what, (after[what] - before[what]) * 1e6 / count


def _store(url: str) -> Run:
    store = RedisStore(url, SystemClock())
    done = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="succeeded")

    def run(tasks: Sequence[tuple[str, str]]) -> None:
        fresh = [Task(task_id=name, platform="pdd", shop_id=shop, task_type="w", uniq=shop) for shop, name in tasks]
        store.apply([Create(task=task) for task in fresh])
        store.apply([Published(task_id=name, status="pending", gen=0, attempt=0) for _, name in tasks])
        lease = {"worker": "w", "lease_ms": 60_000}
        store.apply([Claim(task_id=name, gen=0, attempt=0, owner=name, **lease) for _, name in tasks])  # type: ignore[arg-type]
        answers = store.apply([Finish(task_id=name, owner=name, to="succeeded", attempt=done) for _, name in tasks])
        assert {answer.code for answer in answers} == {"ok"}

    return run


def _outside(raw: plain_redis.Redis) -> Run:
    loaded = raw.script_load(_COMMIT)
    sha = loaded.decode() if isinstance(loaded, bytes) else str(loaded)
    raw.response_callbacks.clear()

    def run(tasks: Sequence[tuple[str, str]]) -> None:
        now = str(time.time_ns() // 1_000_000)
        steps = [list(_commands(shop, name, now)) for shop, name in tasks]
        for number in range(4):
            reads = list(dict.fromkeys([one for step in steps for one in step[number][0]])) + list(_ALL)
            pipe = raw.pipeline(transaction=False)
            for command in (("TIME",), *reads):
                pipe.execute_command(*command)
            words: list[Any] = [len(reads)]
            for command, reply in zip(reads, pipe.execute()[1:], strict=True):
                words += [len(command), *command]
                words += [len(reply), *(one or b"" for one in reply)] if isinstance(reply, list) else [reply or b""]
            for command in [one for step in steps for one in step[number][1]]:
                words += [len(command), *command]
            raw.execute_command("EVALSHA", sha, 0, *words)

    return run


def _commands(shop: str, name: str, now: str) -> Iterator[tuple[list[Command], list[Command]]]:
    """What each step reads and writes of a task whose record takes some 500 bytes."""
    task, shop, twins, work = keys.TASK + name, f"pdd:{shop}", f"{keys.UNIQUE}{shop}", f"{keys.WORK}{shop}"
    status = {one: f"{keys.BY_STATUS}{one}:6" for one in ("pending", "queued", "running", "succeeded")}
    known: list[Command] = [("GET", task), ("HGET", keys.BY_SHOP, shop)]
    kept: list[Command] = [
        ("SET", task, "x" * 500),
        _add(keys.UPDATED, now, name),
        ("HSET", keys.BY_SHOP, shop, "x" * 72),
    ]

    def to(was: str, becomes: str) -> list[Command]:
        identity = ("task_id", name, "shop_id", shop, "platform", "pdd", "task_type", "w")
        told = ("from", was, "to", becomes, "at", now, "worker", "", "gen", "0", "attempt", "0")
        event = ("XADD", keys.EVENTS, "MAXLEN", "~", "100000", "*", *identity, *told)
        counted: list[Command] = [("HINCRBY", keys.BY_KIND, becomes, "1")]
        if was:
            counted += [("HINCRBY", keys.BY_KIND, was, "-1"), ("ZREM", status[was], name)]
        return [event, _add(status[becomes], now, name), *counted, *kept]

    places = [_add(key, now, name) for key in (twins, keys.SHOP + shop, keys.TYPE + "w", keys.OUTBOX)]
    others = ("ZRANGE", twins, "0", "-1", "WITHSCORES")
    yield [*known, ("GET", keys.TOMB + name), others], [*to("", "pending"), *places]
    yield known, [*to("pending", "queued"), ("ZREM", keys.OUTBOX, name)]
    begun = [_add(key, now, name) for key in (keys.LEASES, keys.WORKER + "w")]
    yield [*known, others], [*to("queued", "running"), *begun]
    gone: list[Command] = [("ZREM", key, name) for key in (keys.LEASES, twins)]
    gone += [("SET", work, "x" * 40), ("HSET", keys.SUCCESSES, shop, now)]
    yield [*known, ("GET", work)], [*to("running", "succeeded"), *gone]


def _add(key: str, score: str, member: str) -> Command:
    return ("ZADD", key, score, member)
