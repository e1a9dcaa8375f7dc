"""A broker that does not answer, or takes no new messages: what is created is recorded and not sent."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.insight.publisher import REJECTS, PublisherNow
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import WAITING, Status
from services.domain.text.message import Message
from services.monitor.attention.look import NAMED, Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

#: a message that the broker has not confirmed for so long is held up; one needs milliseconds
UNSENT_MS = 10_000
QUEUE_REJECTS = "attention.queue_rejects"
UNSENT, UNSENT_HERE = "attention.unsent", "attention.unsent_here"
WORDS = {
    "attention.broker_lost": Words(
        N_("The broker does not answer, nothing new starts: {tasks_n} waiting"),
        N_("Whoever runs the server must act; everything goes on by itself once it is back"),
    ),
    "attention.broker_lost_idle": Words(
        N_("The broker does not answer: nothing new starts"),
        N_("Whoever runs the server must act; everything goes on by itself once it is back"),
    ),
    "attention.publisher_blocked": Words(
        N_("Broker takes no messages: {tasks_n} not sent"),
        N_("None is lost: all are recorded, new ones too, and sent later"),
    ),
    "attention.publisher_blocked_idle": Words(
        N_("Broker takes no messages"), N_("What is created is recorded, none is lost, and sent later")
    ),
    UNSENT: Words(
        N_("Not in the broker yet: {tasks_n} recorded, none lost"),
        N_("Nobody could tell why yet. Whoever leads sends again within a minute; if it stays, look at the log there"),
    ),
    UNSENT_HERE: Words(
        N_("Not in their lanes yet: {tasks_n} recorded, none lost"),
        N_("This computer writes to its database slowly: look at its load and its disk; then all of it goes on"),
    ),
    "attention.file_lost": Words(
        N_("The database of this computer does not answer, nothing new starts: {tasks_n} waiting"),
        N_("Look at the disk of this computer, and who holds the file; everything goes on by itself once it answers"),
    ),
    "attention.file_lost_idle": Words(
        N_("The database of this computer does not answer: nothing new starts"),
        N_("Look at the disk of this computer, and who holds the file; everything goes on by itself once it answers"),
    ),
    QUEUE_REJECTS: Words(N_("A queue rejects messages: {tasks_n} not sent"), N_("None is lost: all are recorded")),
    "attention.publisher_silent": Words(N_("The broker does not confirm what is sent")),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one: what it is, who meets it, and what helps."""
    health = look.snapshot.broker
    if not health.connected and health.error:
        waiting = look.waiting()
        waits = filter.format_terms((equals("status", *sorted(WAITING)),))
        yield Attention(
            key="broker_lost",
            severity="dead",
            code=f"attention.{'file' if health.embedded else 'broker'}_lost{'' if waiting else '_idle'}",
            params={"tasks": waiting},
            facts=(Message("publisher.lost", {"why": health.error}),),
            since_ms=health.since_ms,
            verbs=(("copy_server", ""), *((("open_tasks", waits),) if waiting else ())),
        )
        return
    way = look.snapshot.publisher()
    unsent = f"status:{Status.PENDING}"
    if way.kind:
        yield Attention(
            key="blocked",
            severity="blocked",
            code=QUEUE_REJECTS if way.kind == REJECTS else f"attention.publisher_{_called(way)}",
            params={
                "tasks": way.unsent if way.blocked or way.kind == REJECTS else way.unanswered,
                "names": "\n".join(way.who[:NAMED]),
                "more": max(0, len(way.who) - NAMED),
            },
            facts=(way.message, way.remedy),
            since_ms=way.since_ms,
            verbs=(("copy_server", ""), *((("open_tasks", unsent),) if way.unsent or not way.blocked else ())),
        )
    elif look.snapshot.counts.unsent and look.snapshot.broker.connected:
        # who sends may be another program's process that tells nobody what it meets
        late = look.store.outbox(UNSENT_MS, 1)
        if late:
            yield Attention(
                key="blocked",
                severity="blocked",
                code=UNSENT_HERE if health.embedded else UNSENT,
                params={"tasks": look.snapshot.counts.unsent},
                since_ms=late[0].updated_at or late[0].created_at,
                verbs=(("copy_server", ""), ("open_tasks", unsent), ("open_workers", "")),
            )


def _called(way: PublisherNow) -> str:
    if not way.blocked:
        return "silent"
    return "blocked" if way.unsent else "blocked_idle"
