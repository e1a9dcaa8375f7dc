"""Queues that nobody serves, messages that nobody should hold, tasks longer than a broker's patience."""

from __future__ import annotations

import pytest

from services.domain.task.order import QueueDepth, QueueSeen
from services.domain.upkeep.health import Finding
from services.domain.upkeep.health_queues import of_copies, of_patience, of_policies, of_queues, of_strays
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


@pytest.mark.parametrize(
    ("queue", "definition", "wanted"),
    [
        ("rpa_tasks_high", {"delivery-limit": 1000, "consumer-timeout": 1}, []),
        ("rpa_tasks_high", {"message-ttl": 60_000}, ["policy_message_ttl"]),
        ("rpa_tasks_low", {"max-length": 10, "overflow": "drop-head"}, ["policy_max_length"]),
        ("rpa_dead_queue", {"max-length-bytes": 10}, ["policy_max_length"]),
        ("rpa_dead_log", {"max-length-bytes": 10}, []),
        ("single_shop_s1", {"expires": 60_000}, ["policy_expires"]),
        ("single_shop_s1", {"dead-letter-exchange": "other"}, ["policy_dead_letter_exchange"]),
        ("rpa_tasks_low", {"dead-letter-exchange": "other"}, []),  # its own argument wins
        ("rpa_delay_30s", {"message-ttl": 10_000}, ["policy_message_ttl"]),
        ("rpa_delay_30s", {"message-ttl": 30_000}, []),
    ],
)
def test_what_a_policy_does_to_a_queue(queue: str, definition: dict[str, object], wanted: list[str]) -> None:
    assert codes(of_policies([QueueSeen(name=queue, policy="ops", definition=definition)])) == wanted


def test_one_policy_on_many_queues_is_told_once() -> None:
    seen = [QueueSeen(name=f"single_shop_s{n}", policy="ops", definition={"expires": 1}) for n in range(9)]
    (found,) = of_policies(seen)
    assert found.message.params == {
        "policy": "ops", "queues": "single_shop_s0, single_shop_s1, single_shop_s2 and 6 more",
    }  # fmt: skip


def test_a_queue_of_a_shop_that_nobody_dedicated() -> None:
    seen = [QueueSeen(name=name) for name in ("rpa_tasks_low", "single_shop_s1", "single_shop_s2")]
    (found,) = of_strays(seen, ["s1"])
    assert found.message.params == {"count": 1, "queues": "single_shop_s2"}
    assert codes([found]) == ["stray_queue"]
    assert of_strays(seen, ["s1", "s2"]) == []


def test_on_a_cluster_queues_with_too_few_copies_are_named() -> None:
    facts = {"profile": "cluster", "nodes": "3"}
    seen = [
        QueueSeen(name="rpa_tasks_high", kind="quorum", copies=3),
        QueueSeen(name="rpa_tasks_low", kind="quorum", copies=1),
        QueueSeen(name="rpa_dead_queue", kind="classic", copies=1),
        QueueSeen(name="rpa_dead_log", kind="stream", copies=1),
        QueueSeen(name="rpa_delay_30s"),
    ]
    one, few = of_copies(seen, facts)
    assert (one.message.code, one.message.params["queues"]) == ("doctor.one_node", "rpa_dead_queue")
    assert (few.message.code, few.message.params["queues"]) == ("doctor.few_copies", "rpa_tasks_low")
    assert of_copies(seen, facts | {"profile": "single"}) == []
    assert [one.message.code for one in of_copies(seen, facts | {"nodes": "1"})] == ["doctor.one_node"]
