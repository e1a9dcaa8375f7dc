"""What a chaos run breaks: each fault does its harm and says when and how it ends."""

from __future__ import annotations

import contextlib
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing

import pika

from tests.faults.chaos_world import World
from tests.integration.fleet_rig import channel
from tests.support.proxy import Proxy
from tests.support.services import Server

#: seconds until it is mended, and what mends it; None for what is over at once
After = tuple[float, Callable[[], None]] | None
Fault = Callable[[World, random.Random], After]
LANE = "rpa_tasks_normal"


def _worker(world: World, rng: random.Random) -> subprocess.Popen[bytes] | None:
    alive = [one for one in world.workers if one.poll() is None and one.pid not in world.frozen]
    return rng.choice(alive) if alive else None


def kill_worker(world: World, rng: random.Random) -> After:
    if (worker := _worker(world, rng)) is not None:
        world.kill(worker)
    return None


def kill_leader(world: World, rng: random.Random) -> After:
    worker = world.leader() or _worker(world, rng)
    if worker is not None:
        world.kill(worker)
    return None


def freeze_worker(world: World, rng: random.Random) -> After:
    worker = _worker(world, rng)
    if worker is None:
        return None
    worker.send_signal(signal.SIGSTOP)
    world.frozen.add(worker.pid)

    def wake() -> None:
        world.frozen.discard(worker.pid)
        with contextlib.suppress(ProcessLookupError):
            worker.send_signal(signal.SIGCONT)

    return rng.uniform(1, 20), wake


# ----------------------------------------------------------------------------------------------------- Redis
def restart_redis(world: World, rng: random.Random) -> After:
    back = world.outage()
    world.redis.kill() if rng.random() < 0.7 else world.redis.stop()
    time.sleep(rng.uniform(0, 6))
    world.redis.start()
    back()
    return None


def freeze_redis(world: World, rng: random.Random) -> After:
    return _freeze(world, world.redis, rng.uniform(0.5, 8))


def pause_clients(world: World, rng: random.Random) -> After:
    world.redis.command(f"CLIENT PAUSE {rng.randrange(500, 4_000)} ALL")
    return None


def flush_scripts(world: World, rng: random.Random) -> After:
    world.redis.command("SCRIPT FLUSH")
    return None


def eat_a_reply(world: World, rng: random.Random) -> After:
    world.store_proxy.eat_reply(b"EVALSHA", hang=rng.random() < 0.3)
    return None


def drop_store(world: World, rng: random.Random) -> After:
    back = world.outage()
    world.store_proxy.drop()
    back()
    return None


def cut_store(world: World, rng: random.Random) -> After:
    return rng.uniform(0.5, 10), _cut(world, world.store_proxy)


# -------------------------------------------------------------------------------------------------- RabbitMQ
def restart_broker(world: World, rng: random.Random) -> After:
    back = world.outage()
    world.rabbit.stop() if rng.random() < 0.5 else world.rabbit.kill()
    world.rabbit.start()
    back()
    return None


def freeze_broker(world: World, rng: random.Random) -> After:
    return _freeze(world, world.rabbit, rng.uniform(0.5, 12))


def drop_broker(world: World, rng: random.Random) -> After:
    back = world.outage()
    world.broker_proxy.drop()
    back()
    return None


def cut_broker(world: World, rng: random.Random) -> After:
    return rng.uniform(1, 20), _cut(world, world.broker_proxy)


def delete_queue(world: World, rng: random.Random) -> After:
    with contextlib.suppress(pika.exceptions.AMQPError), channel(world.amqp) as raw:
        raw.queue_delete(rng.choice((LANE, LANE, "rpa_delay_1s")))
    return None


def purge_queue(world: World, rng: random.Random) -> After:
    with contextlib.suppress(pika.exceptions.AMQPError), channel(world.amqp) as raw:
        raw.queue_purge(LANE)
    return None


# -------------------------------------------------------------------------------------------------- embedded
def lock_file(world: World, rng: random.Random) -> After:
    """Somebody else holds the write lock of the file."""
    back = world.outage()
    db = sqlite3.connect(world.fleet.settings.database, timeout=30, isolation_level=None, check_same_thread=False)
    with _unless_frozen(), closing(db):
        db.execute("BEGIN IMMEDIATE")
        time.sleep(rng.uniform(0.5, 8))
        db.execute("ROLLBACK")
    back()
    return None


def _unless_frozen() -> contextlib.suppress:
    """Whoever was frozen while he wrote keeps the file to himself: then there is one fault less."""
    return contextlib.suppress(sqlite3.OperationalError)


def delete_messages(world: World, rng: random.Random) -> After:
    delayed = rng.random() < 0.3
    which, words = ("visible_at > 0", []) if delayed else ("queue = ?", [LANE])
    with _unless_frozen(), closing(sqlite3.connect(world.fleet.settings.database, timeout=30)) as db, db:
        db.execute(f"DELETE FROM messages WHERE owner = 0 AND {which}", words)
    return None


def _freeze(world: World, server: Server, seconds: float) -> After:
    back = world.outage()
    server.pause()
    time.sleep(seconds)
    server.resume()
    back()
    return None


def _cut(world: World, proxy: Proxy) -> Callable[[], None]:
    back = world.outage(silent=True)
    proxy.cut()

    def heal() -> None:
        proxy.heal()
        back()

    return heal


WORKERS: dict[str, tuple[int, Fault]] = {
    "worker killed": (6, kill_worker),
    "leader killed": (3, kill_leader),
    "worker frozen": (4, freeze_worker),
}
#: name -> (how often among the others, what it does)
FAULTS: dict[str, dict[str, tuple[int, Fault]]] = {
    "fleet": WORKERS
    | {
        "Redis restarted": (3, restart_redis),
        "Redis frozen": (1, freeze_redis),
        "Redis pauses clients": (1, pause_clients),
        "Redis forgets scripts": (3, flush_scripts),
        "Redis reply lost": (4, eat_a_reply),
        "Redis connections closed": (3, drop_store),
        "Redis cut off silently": (2, cut_store),
        "broker restarted": (2, restart_broker),
        "broker frozen": (1, freeze_broker),
        "broker connections closed": (3, drop_broker),
        "broker cut off silently": (2, cut_broker),
        "queue deleted": (1, delete_queue),
        "queue purged": (1, purge_queue),
    },
    "cluster": WORKERS,  # and its nodes, by the clock: see ``chaos.Nodes``
    "embedded": WORKERS | {"file locked": (3, lock_file), "messages deleted": (2, delete_messages)},
}
