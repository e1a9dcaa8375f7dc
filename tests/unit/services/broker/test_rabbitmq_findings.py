"""What a RabbitMQ has a doctor say: alarms, policies, copies, tasks longer than its patience, and who was given up."""

from __future__ import annotations

from typing import Any

import pytest

from services.broker.rabbitmq import given_up
from services.broker.rabbitmq.findings import QueueSeen, of_alternates, of_copies, of_facts, of_patience, of_policies
from services.domain.task.order import GivenUp
from services.domain.upkeep.health import Finding
from services.messages import english


def codes(found: list[Finding]) -> list[str]:
    assert all(one.remedy is not None and english(one.remedy) for one in found)
    return [one.message.code.removeprefix("doctor.") for one in found]


def test_alarms_and_whether_they_can_be_seen() -> None:
    assert codes(of_facts({"alarms": "rabbit@a: disk", "management_error": ""})) == ["alarm"]
    assert codes(of_facts({"alarms": "", "management_error": "404"})) == ["no_management"]
    told = [QueueSeen(name="rpa_tasks_low")]  # to an account that may not ask for the nodes
    assert codes(of_facts({"alarms": "", "management_error": "401"}, told)) == ["no_alarms"]
    assert of_facts({}) == []


@pytest.mark.parametrize(
    ("facts", "seconds", "wanted"),
    [
        ({"version": "3.10.8"}, 1600, []),
        ({"version": "3.10.8"}, 1700, ["consumer_timeout"]),
        ({"version": "4.1.2", "profile": "cluster"}, 60, ["returns_count"]),
        ({"version": "4.3.5", "profile": "cluster"}, 60, []),
        ({"version": "3.10.8", "profile": "cluster"}, 60, []),
        ({"version": "4.1.2", "profile": "single"}, 60, []),
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
        ("rpa_tasks_low", {"max-length": 10, "overflow": "reject-publish"}, ["policy_max_length_rejects"]),
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


def test_an_alternate_exchange_is_named_with_its_policy() -> None:
    assert of_alternates({}) == []
    (found,) = of_alternates({"rpa_task_exchange": "ops", "rpa_own_exchange": "ops"})
    assert codes([found]) == ["policy_alternate"]
    assert found.message.params == {"policy": "ops", "exchanges": "rpa_task_exchange, rpa_own_exchange"}


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


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({}, None),
        ({"x-rpa-gen": 1}, None),
        ({"x-death": "forged"}, None),
        (
            {"x-first-death-reason": "expired", "x-first-death-queue": "rpa_tasks_low"},
            GivenUp("expired", "rpa_tasks_low"),
        ),
        ({"x-death": [{"reason": "rejected", "queue": "q"}]}, GivenUp("rejected", "q")),
        (
            {
                "x-first-death-reason": "expired",
                "x-first-death-queue": "rpa_delay_30s",
                "x-death": [{"reason": "rejected", "queue": "q"}, {"reason": "expired", "queue": "rpa_delay_30s"}],
            },
            GivenUp("rejected", "q"),
        ),
        (
            {"x-death": [{"reason": "expired", "queue": "q", "original-expiration": "9"}]},
            GivenUp("expired", "q", by_sender=True),
        ),
    ],
)
def test_why_the_broker_put_a_message_aside(headers: dict[str, Any], wanted: GivenUp | None) -> None:
    assert given_up.read(headers) == wanted
