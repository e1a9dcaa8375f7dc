"""Latency and errors of the last minutes."""

from __future__ import annotations

from services.domain.task.order import BrokerHealth
from services.monitor.health import KEPT_S, HealthLog
from services.monitor.live import Snapshot, StoreHealth


def look(latency: float = 2.0, error: str = "") -> Snapshot:
    store = StoreHealth(connected=not error, latency_ms=-1.0 if error else latency, error=error)
    return Snapshot(at_ms=1, taken=0.0, broker=BrokerHealth(connected=True, latency_ms=1.0), store=store)


def test_one_latency_a_second_and_ten_minutes_of_them() -> None:
    log = HealthLog()
    for tenth in range(20):
        log.note(look(), 1000 + tenth * 100)
    assert len(log.store.latencies) == 2
    for second in range(2 * KEPT_S):
        log.note(look(float(second)), 10_000 + second * 1000)
    assert len(log.store.latencies) == KEPT_S
    assert log.store.latencies[-1] == 2 * KEPT_S - 1


def test_an_error_outlives_the_return_and_the_loss_does_not() -> None:
    log = HealthLog()
    log.note(look(), 1_000)
    log.note(look(error="timed out"), 5_000)
    log.note(look(error="timed out again"), 7_000)
    assert (log.store.lost_ms, log.store.seen_ms, log.broker.connected) == (5_000, 1_000, True)
    log.note(look(), 9_000)
    assert (log.store.lost_ms, log.store.error, log.store.error_ms) == (0, "timed out again", 7_000)
