"""What is true of the way to the broker, from this process, heartbeats and the leader."""

from __future__ import annotations

import pytest

from services import messages
from services.domain.fleet.worker import LinkState, WorkerInfo
from services.domain.insight import publisher
from services.domain.task.order import BrokerHealth

NOW = 1_000_000
WELL = BrokerHealth(connected=True)


def beat(name: str, link: LinkState, silence_ms: int = 0) -> WorkerInfo:
    return WorkerInfo(worker=name, host="h", pid=1, seen_at=NOW - silence_ms, link=link)


@pytest.mark.parametrize(
    ("why", "kind", "says"),
    [
        ("low on disk", "disk", "The broker is out of disk and takes no new messages"),
        ("low on memory", "memory", "The broker is out of memory and takes no new messages"),
        ("low on memory & disk", "both", "The broker is out of memory and disk and takes no new messages"),
        ("tired", "other", "The broker takes no new messages: tired"),
    ],
)
def test_its_reason_in_words(why: str, kind: str, says: str) -> None:
    found = publisher.look(WELL, [beat("w1", LinkState(blocked_at=7, why=why))], NOW, unsent=42)
    assert (found.kind, found.blocked, found.since_ms, found.who, found.unsent) == (kind, True, 7, ("w1",), 42)
    assert messages.english(found.message) == says
    advice = messages.english(found.remedy)
    assert advice.startswith("Whoever runs "), "it says who must do something"
    assert not {"{", "drain"} & set(advice.replace(",", " ").split()), "what waits here is in no queue that could drain"


def test_an_alarm_names_its_server() -> None:
    health = BrokerHealth(connected=True, blocked=True, blocked_ms=9, why="rabbit@a: disk, rabbit@b: disk")
    found = publisher.look(health, [beat("w1", LinkState(blocked_at=7, why="low on disk"))], NOW)
    assert (found.who, found.since_ms, found.nodes) == (("", "w1"), 7, ("rabbit@a", "rabbit@b"))
    assert messages.english(found.remedy).startswith("Whoever runs rabbit@a, rabbit@b must free disk")


REFUSED = LinkState(blocked_at=5, why="ACCESS_REFUSED - write access to exchange 'rpa_own_exchange' refused")


def test_what_one_worker_may_not_send_is_not_what_the_broker_takes() -> None:
    found = publisher.look(WELL, [beat("w1", REFUSED), beat("w2", LinkState())], NOW)
    assert (found.kind, found.blocked, found.stuck, found.who) == ("refused", False, False, ("w1",))
    found = publisher.look(WELL, [beat("w1", REFUSED)], NOW, others={"desk": REFUSED})
    assert (found.kind, found.blocked, found.stuck, found.who) == ("refused", True, True, ("desk", "w1"))


def test_an_alarm_comes_before_what_one_user_may_not() -> None:
    found = publisher.look(WELL, [beat("w1", REFUSED), beat("w2", LinkState(blocked_at=7, why="rabbit@a: disk"))], NOW)
    assert (found.kind, found.blocked, found.who, found.nodes) == ("disk", True, ("w2",), ("rabbit@a",))
    assert "set_permissions" in messages.english(publisher.look(WELL, [beat("w1", REFUSED)], NOW).remedy)


def test_what_a_dead_worker_said_counts_no_more() -> None:
    assert publisher.look(WELL, [beat("w1", LinkState(blocked_at=7), 15_000)], NOW).kind == ""


def test_who_leads_may_be_no_worker() -> None:
    found = publisher.look(WELL, [], NOW, others={"desk": LinkState(blocked_at=3, why="low on memory")})
    assert (found.kind, found.who) == ("memory", ("desk",))


def test_messages_without_an_answer_are_another_trouble() -> None:
    found = publisher.look(WELL, [beat("w1", LinkState(unanswered=4, unanswered_at=8))], NOW)
    assert (found.kind, found.blocked, found.unanswered, found.since_ms) == ("silent", False, 4, 8)
    assert messages.english(found.message).endswith("4 without an answer")


def test_a_queue_that_rejects_is_named_as_long_as_something_is_unsent() -> None:
    full = LinkState(rejecting=("rpa_tasks_normal",), rejecting_at=6)
    found = publisher.look(WELL, [beat("w1", full)], NOW, unsent=2)
    assert (found.kind, found.blocked, found.stuck, found.since_ms) == ("rejects", False, True, 6)
    assert messages.english(found.message) == "The broker rejects what is sent to rpa_tasks_normal"
    assert "list_policies" in messages.english(found.remedy)
    assert publisher.look(WELL, [beat("w1", full)], NOW).kind == ""
