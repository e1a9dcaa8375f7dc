"""Queues that nobody serves, messages that nobody should hold, tasks longer than a broker's patience."""

from __future__ import annotations

import pytest

from services.domain.health import Finding
from services.domain.health_queues import of_patience, of_queues
from services.domain.order import QueueDepth
from services.messages import english


def depth(name: str = "single_shop_s1", kind: str = "shop", **numbers: int) -> QueueDepth:
    return QueueDepth(**({"name": name, "ready": 0, "unacked": 0, "consumers": 0, "kind": kind} | numbers))


def codes(found: list[Finding]) -> list[str]:
    assert all(one.remedy is not None and english(one.remedy) for one in found)
    return [one.message.code.removeprefix("doctor.") for one in found]


@pytest.mark.parametrize(
    ("found", "workers", "wanted"),
    [
        ([], 1, ["shop_queue_missing"]),
        ([depth()], 1, []),
        ([depth(ready=3)], 1, ["shop_queue_waits"]),
        ([depth(ready=3, consumers=1)], 1, []),
        ([depth(ready=3)], 0, []),
        ([depth(unacked=2)], 0, ["unacked"]),
        ([depth(), depth("rpa_tasks_low", "lane", unacked=1)], 0, ["unacked"]),
        ([depth(unacked=2, consumers=1)], 1, []),
    ],
)
def test_queues_that_nobody_looks_after(found: list[QueueDepth], workers: int, wanted: list[str]) -> None:
    assert codes(of_queues(found, ["s1"], workers=workers)) == wanted


@pytest.mark.parametrize(
    ("facts", "seconds", "wanted"),
    [
        ({"kind": "rabbitmq", "version": "3.10.8"}, 1600, []),
        ({"kind": "rabbitmq", "version": "3.10.8"}, 1700, ["consumer_timeout"]),
        ({"kind": "sqlite", "version": "3.40"}, 9999, []),
        ({"kind": "rabbitmq", "version": "4.1.2", "profile": "cluster"}, 60, ["returns_count"]),
        ({"kind": "rabbitmq", "version": "4.3.5", "profile": "cluster"}, 60, []),
        ({"kind": "rabbitmq", "version": "3.10.8", "profile": "cluster"}, 60, []),
        ({"kind": "rabbitmq", "version": "4.1.2", "profile": "single"}, 60, []),
    ],
)
def test_how_long_a_broker_waits(facts: dict[str, str], seconds: int, wanted: list[str]) -> None:
    found = of_patience(facts, ("slow", seconds))
    assert codes(found) == wanted
    if "consumer_timeout" in wanted:
        assert "slow" in english(found[0].message)
