"""The floor: pika, JSON and batched Lua with no engine around them (no retries, leases, gates or errors)."""

from __future__ import annotations

import json
import queue
import threading
import time
from typing import Any

import pika
import redis

QUEUE = "bench.bare"
LUA = """
for i = 1, #ARGV, 3 do
  redis.call('HSET', 'bench:t:' .. ARGV[i], 'state', ARGV[i+1], 'at', ARGV[i+2])
  redis.call('ZADD', 'bench:s:' .. ARGV[i+1], ARGV[i+2], ARGV[i])
  redis.call('XADD', 'bench:events', 'MAXLEN', '~', 10000, '*', 'id', ARGV[i], 'to', ARGV[i+1])
end
"""
THREADS, PREFETCH = 8, 128


def measure(broker: str, store: str, count: int) -> dict[str, float]:
    """Confirmed publishes one by one, and no-op tasks a second with two batched transitions each."""
    connection = pika.BlockingConnection(pika.URLParameters(broker))
    channel = connection.channel()
    channel.queue_declare(QUEUE, durable=True)
    channel.confirm_delivery()
    body = json.dumps({"task_id": "x" * 30, "args": [0], "pad": "y" * 420}).encode()
    one_by_one = min(count, 500)
    start = time.perf_counter()
    _publish(channel, body, one_by_one)
    single = one_by_one / (time.perf_counter() - start)
    plain = connection.channel()
    _publish(plain, body, count - one_by_one)
    while plain.queue_declare(QUEUE, durable=True, passive=True).method.message_count < count:
        time.sleep(0.01)
    connection.close()
    rate = _Worker(broker, store, count).run()
    return {"publish one by one /s": single, "no-op tasks /s": rate}


def _publish(channel: Any, body: bytes, count: int) -> None:
    properties = pika.BasicProperties(delivery_mode=2, content_type="application/json")
    for _ in range(count):
        channel.basic_publish("", QUEUE, body, properties, mandatory=True)


class _Worker:
    def __init__(self, broker: str, store: str, count: int) -> None:
        self._connection = pika.BlockingConnection(pika.URLParameters(broker))
        self._channel = self._connection.channel()
        self._channel.basic_qos(prefetch_count=PREFETCH)
        self._redis = redis.Redis.from_url(store)
        self._lua = self._redis.register_script(LUA)
        self._jobs: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._done: list[int] = []
        self._lock = threading.Lock()
        self._woken = False
        self._count = count
        self._settled = 0

    def run(self) -> float:
        got: list[tuple[int, bytes]] = []
        self._channel.basic_consume(QUEUE, lambda _c, method, _p, body: got.append((method.delivery_tag, body)))
        threads = [threading.Thread(target=self._slot, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        start = time.perf_counter()
        while self._settled < self._count:
            self._connection.process_data_events(time_limit=1.0)
            if got:
                self._state("running", [tag for tag, _ in got])
                for item in got:
                    self._jobs.put(item)
                got.clear()
        spent = time.perf_counter() - start
        for _ in threads:
            self._jobs.put(None)
        self._channel.queue_delete(QUEUE)
        self._connection.close()
        return self._count / spent

    def _slot(self) -> None:
        while (item := self._jobs.get()) is not None:
            json.loads(item[1])
            with self._lock:
                self._done.append(item[0])
                wake, self._woken = not self._woken, True
            if wake:
                self._connection.add_callback_threadsafe(self._flush)

    def _flush(self) -> None:
        with self._lock:
            tags, self._done, self._woken = self._done, [], False
        self._state("done", tags)
        for tag in tags:
            self._channel._impl.basic_ack(tag)
        self._settled += len(tags)

    def _state(self, word: str, tags: list[int]) -> None:
        self._lua(args=[part for tag in tags for part in (tag, word, time.time())])
