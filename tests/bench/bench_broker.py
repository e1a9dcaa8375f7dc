"""What the RabbitMQ driver costs beside bare pika, on one broker in one run: publish, consume, idle latency, memory.

``python tests/bench/bench_broker.py --amqp amqp://guest:guest@127.0.0.1:5672/bench [--messages 20000] [--runs 3]``
prints one JSON document; ratios within one run are what counts. Use a virtual host of its own: its queues are emptied.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pika
import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from services.broker.rabbitmq.broker import RabbitBroker
from services.clock import SystemClock
from services.domain.task.order import Order

QUEUE = "rpa_tasks_high"
EXCHANGE, KEY = "rpa_task_exchange", "task.pdd.high"
BODY = json.dumps({"task_id": "pdd_sync_order_s1_0000000000", "payload": {"since": "x" * 420}}).encode()
WINDOW = 1000


def order(number: int) -> Order:
    """What the engine would publish."""
    return Order(
        kind="work",
        routing_key=KEY,
        body=BODY,
        message_id=f"pdd_sync_order_s1_{number:010d}",
        priority=9,
        headers={"x-rpa-gen": 1, "x-rpa-attempt": 0},
    )


def properties(number: int) -> pika.BasicProperties:
    """The same properties for bare pika."""
    return pika.BasicProperties(
        content_type="application/json",
        delivery_mode=2,
        priority=9,
        message_id=f"pdd_sync_order_s1_{number:010d}",
        headers={"x-rpa-gen": 1, "x-rpa-attempt": 0},
    )


class RawPublish:
    """pika's own event-driven adapter with a window of confirms, nothing else."""

    def __init__(self, url: str, count: int) -> None:
        self.count, self.sent, self.open = count, 0, dict[int, None]()
        self.seconds = 0.0
        self.connection = pika.SelectConnection(pika.URLParameters(url), on_open_callback=self.opened)
        self.connection.ioloop.start()

    def opened(self, connection: Any) -> None:
        connection.channel(on_open_callback=self.ready)

    def ready(self, channel: Any) -> None:
        self.channel = channel
        channel.confirm_delivery(self.confirmed, callback=lambda _frame: self.begin())

    def begin(self) -> None:
        self.started = time.perf_counter()
        self.pump()

    def pump(self) -> None:
        while self.sent < self.count and len(self.open) < WINDOW:
            self.sent += 1
            self.open[self.sent] = None
            self.channel.basic_publish(EXCHANGE, KEY, BODY, properties(self.sent), mandatory=True)

    def confirmed(self, frame: Any) -> None:
        tag = frame.method.delivery_tag
        if frame.method.multiple:
            for known in [known for known in self.open if known <= tag]:
                del self.open[known]
        else:
            self.open.pop(tag, None)
        if self.sent < self.count:
            if len(self.open) <= WINDOW // 2:
                self.pump()
        elif not self.open:
            self.seconds = time.perf_counter() - self.started
            self.connection.add_on_close_callback(lambda *_: self.connection.ioloop.stop())
            self.connection.close()


def raw_publish(url: str, count: int) -> float:
    """Confirmed messages per second of bare pika."""
    return count / RawPublish(url, count).seconds


def raw_consume(url: str, count: int, prefetch: int, every: int) -> float:
    """Messages per second of a blocking bare pika consumer that acks ``every`` messages with ``multiple``."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.basic_qos(prefetch_count=prefetch)
    got = 0
    started = time.perf_counter()

    def on_message(_channel: Any, method: Any, _properties: Any, _body: bytes) -> None:
        nonlocal got
        got += 1
        if got % every == 0 or got == count:
            channel.basic_ack(method.delivery_tag, multiple=True)
        if got == count:
            channel.stop_consuming()

    channel.basic_consume(QUEUE, on_message)
    channel.start_consuming()
    seconds = time.perf_counter() - started
    connection.close()
    return count / seconds


def publish(broker: RabbitBroker, count: int, batch: int, threads: int) -> float:
    """Confirmed orders per second through the driver."""
    orders = [[order(number) for number in range(count // threads)] for _ in range(threads)]
    failed: list[str] = []

    def work(mine: list[Order]) -> None:
        for start in range(0, len(mine), batch):
            failed.extend(receipt.error for receipt in broker.publish(mine[start : start + batch]) if not receipt.ok)

    workers = [threading.Thread(target=work, args=(mine,)) for mine in orders]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - started
    assert not failed, failed[:3]
    return (count // threads) * threads / seconds


def consume(broker: RabbitBroker, count: int, window: int, batch: int) -> float:
    """Deliveries per second taken and acked through the driver."""
    consumer = broker.consumer(["high", "normal", "low"], window=window, name="bench")
    got = 0
    started = time.perf_counter()
    while got < count:
        taken = consumer.take(batch, 5.0)
        assert taken, f"only {got} of {count} came"
        got += len(taken)
        consumer.ack(taken)
    seconds = time.perf_counter() - started
    consumer.close()
    return count / seconds


def raw_latency(url: str, count: int) -> list[float]:
    """Milliseconds from a confirmed publish call to the callback, bare blocking pika, one connection each way."""
    out = pika.BlockingConnection(pika.URLParameters(url))
    sender = out.channel()
    sender.confirm_delivery()
    found: list[float] = []
    ready = threading.Event()

    def receive() -> None:
        connection = pika.BlockingConnection(pika.URLParameters(url))
        channel = connection.channel()
        channel.basic_qos(prefetch_count=8)

        def on_message(_channel: Any, method: Any, _properties: Any, body: bytes) -> None:
            found.append((time.perf_counter() - float(body)) * 1000)
            channel.basic_ack(method.delivery_tag)
            if len(found) == count:
                channel.stop_consuming()

        channel.basic_consume(QUEUE, on_message)
        ready.set()
        channel.start_consuming()
        connection.close()

    receiver = threading.Thread(target=receive)
    receiver.start()
    ready.wait()
    for number in range(count):
        time.sleep(0.02)
        sender.basic_publish(EXCHANGE, KEY, repr(time.perf_counter()).encode(), properties(number), mandatory=True)
    receiver.join()
    out.close()
    return found


def latency(broker: RabbitBroker, count: int) -> list[float]:
    """Milliseconds from the publish call to the return of take()."""
    consumer = broker.consumer(["high", "normal", "low"], window=8, name="bench")
    found: list[float] = []

    def receive() -> None:
        while len(found) < count:
            for delivery in consumer.take(8, 5.0):
                found.append((time.perf_counter() - float(delivery.body)) * 1000)
                consumer.ack([delivery])

    receiver = threading.Thread(target=receive)
    receiver.start()
    for number in range(count):
        time.sleep(0.02)
        body = repr(time.perf_counter()).encode()
        broker.publish([Order(kind="work", routing_key=KEY, body=body, message_id=f"m{number}", priority=9)])
    receiver.join()
    consumer.close()
    return found


def median(runs: int, measure: Callable[[], float], before: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Median and all values of some runs."""
    values = []
    for _ in range(runs):
        before()
        cpu, started = psutil.Process().cpu_times(), time.perf_counter()
        value = measure()
        after = psutil.Process().cpu_times()
        values.append((value, (after.user + after.system - cpu.user - cpu.system) / (time.perf_counter() - started)))
    rates = [round(value) for value, _ in values]
    return {
        "per_s": round(statistics.median(rates)),
        "runs": rates,
        "cores": round(statistics.median(c for _, c in values), 2),
    }


def percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))], 3)
        for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))
    }


def run(url: str, count: int, runs: int) -> dict[str, Any]:
    """All figures."""
    broker = RabbitBroker(url, SystemClock())
    broker.ensure(platforms=["pdd"])
    admin = pika.BlockingConnection(pika.URLParameters(url))

    def purge() -> None:
        admin.channel().queue_purge(QUEUE)

    def fill() -> None:
        purge()
        publish(broker, count, 1000, 1)

    found: dict[str, Any] = {
        "messages": count,
        "raw_publish": median(runs, lambda: raw_publish(url, count), purge),
        "publish_batch_1000": median(runs, lambda: publish(broker, count, 1000, 1), purge),
        "publish_batch_200": median(runs, lambda: publish(broker, count, 200, 1), purge),
        "publish_8_threads_one_by_one": median(runs, lambda: publish(broker, count // 5, 1, 8), purge),
        "publish_one_by_one": median(runs, lambda: publish(broker, count // 20, 1, 1), purge),
        "raw_consume_prefetch_64_single_acks": median(runs, lambda: raw_consume(url, count, 64, 1), fill),
        "raw_consume_prefetch_500_multiple_100": median(runs, lambda: raw_consume(url, count, 500, 100), fill),
        "consume_window_64": median(runs, lambda: consume(broker, count, 64, 100), fill),
        "consume_window_500": median(runs, lambda: consume(broker, count, 500, 200), fill),
        "consume_window_1": median(runs, lambda: consume(broker, count // 10, 1, 10), fill),
    }
    purge()
    found["raw_latency_ms"] = percentiles(raw_latency(url, 300))
    found["latency_ms"] = percentiles(latency(broker, 300))
    found["latency_ratio_p50"] = round(found["latency_ms"]["p50"] / found["raw_latency_ms"]["p50"], 2)
    found["publish_ratio"] = round(found["publish_batch_1000"]["per_s"] / found["raw_publish"]["per_s"], 2)
    found["rss_mib"] = round(psutil.Process().memory_info().rss / 2**20)
    found["broker"] = broker.health().version
    purge()
    admin.close()
    broker.close()
    return found


def main() -> None:
    """Read the arguments, print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--amqp", required=True)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    print(json.dumps(run(asked.amqp, asked.messages, asked.runs), indent=1))


if __name__ == "__main__":
    main()
