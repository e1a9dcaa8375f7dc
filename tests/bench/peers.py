"""The same no-op task in the frameworks that a user would pick instead; each keeps its results in Redis.

Run as a script it is producer and worker of one peer: ``peers.py celery produce``. The peers are optional extras.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BROKER, STORE = os.environ.get("BENCH_BROKER", ""), os.environ.get("BENCH_REDIS", "")
PEER = os.environ.get("BENCH_PEER", "")
THREADS = 8
COUNTER = "bench:peer:done"


def measure(name: str, broker: str, store: str, count: int) -> dict[str, float] | None:
    """Enqueue and no-op rates of a peer; None when it is not installed."""
    if importlib.util.find_spec(name) is None:
        return None
    import redis

    client = redis.Redis.from_url(store)
    client.delete(COUNTER)
    surroundings = {**os.environ, "BENCH_BROKER": broker, "BENCH_REDIS": store, "BENCH_PEER": name}
    here = Path(__file__).resolve().parent
    made = subprocess.run(
        [sys.executable, "peers.py", str(count)], cwd=here, env=surroundings, capture_output=True, text=True, check=True
    )
    enqueue = float(made.stdout.strip().splitlines()[-1])
    worker = subprocess.Popen(
        _worker(name),
        cwd=here,
        env=surroundings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return {"enqueue one by one /s": enqueue, "no-op tasks /s": _watch(client, count)}
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def _watch(client: object, count: int) -> float:
    """Tasks a second from the first to the last, so that the start of the worker does not count."""
    first = begun = 0.0
    end = time.monotonic() + 120
    while time.monotonic() < end:
        done = int(client.get(COUNTER) or 0)  # type: ignore[attr-defined]
        if done and not first:
            first, begun = time.monotonic(), done
        if done >= count:
            return (count - begun) / max(1e-6, time.monotonic() - first)
        time.sleep(0.005)
    raise TimeoutError("the peer did not finish")


def _worker(name: str) -> list[str]:
    if name == "celery":
        return [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "peers",
            "worker",
            "-l",
            "ERROR",
            "-P",
            "threads",
            "-c",
            str(THREADS),
        ]
    return [sys.executable, "-m", "dramatiq", "peers", "--processes", "1", "--threads", str(THREADS)]


if PEER:
    import redis as _redis

    _client = _redis.Redis.from_url(STORE)

    def _note(number: int) -> int:
        _client.incr(COUNTER)
        return number

    if PEER == "celery":
        from celery import Celery

        app = Celery("peers", broker=BROKER, backend=STORE)
        app.conf.update(
            task_acks_late=True, broker_transport_options={"confirm_publish": True}, worker_prefetch_multiplier=16
        )
        send = app.task(name="noop")(_note).delay
    else:
        import dramatiq
        from dramatiq.brokers.rabbitmq import RabbitmqBroker
        from dramatiq.results import Results
        from dramatiq.results.backends import RedisBackend

        broker = RabbitmqBroker(url=BROKER, confirm_delivery=True)
        broker.add_middleware(Results(backend=RedisBackend(url=STORE), store_results=True))
        dramatiq.set_broker(broker)
        send = dramatiq.actor(actor_name="noop")(_note).send

if __name__ == "__main__":
    total = int(sys.argv[1])
    send(0)
    begin = time.perf_counter()
    for place in range(1, total):
        send(place)
    sys.stdout.write(f"{(total - 1) / (time.perf_counter() - begin)}\n")
