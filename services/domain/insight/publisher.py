"""What is true of the way to the broker: who is held back or gets no answer, since when, why, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from services.domain.fleet.worker import LinkState, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.task.order import BrokerHealth
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_

DISK, MEMORY, BOTH, REFUSED, REJECTS = "disk", "memory", "both", "refused", "rejects"

SENTENCES: dict[str, str] = {
    "publisher.disk": N_("The broker is out of disk and takes no new messages"),
    "publisher.memory": N_("The broker is out of memory and takes no new messages"),
    "publisher.both": N_("The broker is out of memory and disk and takes no new messages"),
    "publisher.refused": N_("The broker does not let this user send: {why}"),
    "publisher.other": N_("The broker takes no new messages: {why}"),
    "publisher.lost": N_("Cause: {why}"),
    "publisher.rejects": N_("The broker rejects what is sent to {why}"),
    "publisher.silent": N_("The broker does not confirm messages: {count} without an answer"),
    "publisher.disk.remedy": N_("Whoever runs {where} must free disk there; then everything is sent by itself."),
    "publisher.disk.remedy_any": N_(
        "Whoever runs the server of RabbitMQ must free disk there; then everything is sent by itself."
    ),
    "publisher.memory.remedy": N_(
        "Whoever runs {where} must free memory there or raise the limit of RabbitMQ; then everything is sent by itself."
    ),
    "publisher.memory.remedy_any": N_(
        "Whoever runs the server of RabbitMQ must free memory there or raise its limit; then all is sent by itself."
    ),
    "publisher.both.remedy": N_(
        "Whoever runs {where} must free disk and memory there; then everything is sent by itself."
    ),
    "publisher.both.remedy_any": N_(
        "Whoever runs the server of RabbitMQ must free disk and memory there; then everything is sent by itself."
    ),
    "publisher.refused.remedy_any": N_(
        "Whoever runs RabbitMQ must let this user write there (rabbitmqctl set_permissions); then everything is sent by"
        " itself."
    ),
    "publisher.other.remedy": N_("Whoever runs {where} must look at the log of RabbitMQ."),
    "publisher.other.remedy_any": N_("Whoever runs RabbitMQ must look at its log."),
    "publisher.rejects.remedy_any": N_(
        "Where a policy limits its length (rabbitmqctl list_policies), let workers empty it or take the limit away;"
        " else look at the log of RabbitMQ. Then all is sent by itself."
    ),
    "publisher.silent.remedy_any": N_("Whoever runs RabbitMQ must look at its load and its log."),
}


class PublisherNow(msgspec.Struct, frozen=True, kw_only=True):
    """The way to the broker at one moment. ``kind``: "" all is well | disk | memory | both | refused | other |
    silent | rejects (some queues take nothing more, the others do).
    """

    kind: str = ""
    since_ms: int = 0
    why: str = ""  #: in the broker's own words
    nodes: tuple[str, ...] = ()  #: servers with an alarm, where that is known
    who: tuple[str, ...] = ()  #: workers that meet it, "" for the process that looks
    unanswered: int = 0  #: messages without a confirm
    unsent: int = 0  #: tasks recorded whose message is not in the broker
    alone: bool = False  #: it is the matter of those workers: from others the broker takes messages

    @property
    def blocked(self) -> bool:
        """Whether the broker takes no messages."""
        return self.kind not in ("", "silent", REJECTS) and not self.alone

    @property
    def stuck(self) -> bool:
        """Whether what is not sent stays so: the broker takes no messages, or confirms none."""
        return bool(self.kind) and not self.alone

    @property
    def message(self) -> Message:
        """What is wrong."""
        params: dict[str, Param] = {"why": self.why, "count": self.unanswered, "unsent": self.unsent}
        return Message(f"publisher.{self.kind}", params)

    @property
    def remedy(self) -> Message:
        """What helps, and on which server where that is known."""
        known = "" if self.nodes and self.kind != REFUSED else "_any"
        return Message(f"publisher.{self.kind}.remedy{known}", {"where": ", ".join(self.nodes)})


def look(
    health: BrokerHealth,
    workers: Iterable[WorkerInfo],
    now_ms: int,
    *,
    unsent: int = 0,
    others: Mapping[str, LinkState] | None = None,
) -> PublisherNow:
    """From what this process meets, what living workers say in their heartbeats, and what ``others`` say by name."""
    met = {"": of_health(health)}
    met |= {info.worker: info.link for info in workers if not insight.missed(info, now_ms)}
    met |= others or {}
    blocked = {name: link for name, link in met.items() if link.blocked_at}
    # what one user may not is no alarm, and where there is one that comes first
    blocked = {name: link for name, link in blocked.items() if _kind(link.why) != REFUSED} or blocked
    if blocked:
        reasons = sorted({link.why for link in blocked.values() if link.why})
        return PublisherNow(
            kind=_kind(" ".join(reasons)),
            since_ms=min(link.blocked_at for link in blocked.values()),
            why=", ".join(reasons),
            nodes=_nodes(reasons),
            who=tuple(sorted(blocked)),
            unsent=unsent,
            alone=blocked.keys().isdisjoint({"", *(others or {})}) and _kind(" ".join(reasons)) == REFUSED,
        )
    dumb = {name: link for name, link in met.items() if link.unanswered}
    if dumb:
        return PublisherNow(
            kind="silent",
            since_ms=min(link.unanswered_at for link in dumb.values()),
            who=tuple(sorted(dumb)),
            unanswered=sum(link.unanswered for link in dumb.values()),
            unsent=unsent,
        )
    shut = {name: link for name, link in met.items() if link.rejecting}
    if shut and unsent:  # once nothing is left to be sent it is over, though nobody may have tried again
        return PublisherNow(
            kind=REJECTS,
            since_ms=min(link.rejecting_at for link in shut.values()),
            why=", ".join(sorted({queue for link in shut.values() for queue in link.rejecting})),
            who=tuple(sorted(shut)),
            unsent=unsent,
        )
    return PublisherNow(unsent=unsent)


def of_health(health: BrokerHealth) -> LinkState:
    """What the connections of a process meet, in the form in which it is told to others."""
    return LinkState(
        blocked_at=(health.blocked_ms or health.since_ms or 1) if health.blocked else 0,
        why=health.why[:200],
        unanswered=health.unanswered,
        unanswered_at=health.unanswered_ms,
        rejecting=health.rejecting[:20],
        rejecting_at=health.rejecting_ms,
        error=health.error[:400],
        # a process that has asked its broker for nothing yet has no connection and no error either
        lost_at=(health.since_ms or 1) if health.error and not health.connected else 0,
    )


def _kind(words: str) -> str:
    disk, memory = "disk" in words, "memory" in words
    if "ACCESS_REFUSED" in words:
        return REFUSED
    return BOTH if disk and memory else DISK if disk else MEMORY if memory else "other"


def _nodes(reasons: Iterable[str]) -> tuple[str, ...]:
    """Alarms come as ``rabbit@host: disk``; what a connection is told names no server."""
    parts = [part for reason in reasons for part in reason.split(", ")]
    return tuple(sorted({part.partition(": ")[0] for part in parts if part.partition(": ")[2]}))
