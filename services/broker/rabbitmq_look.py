"""A look at what stands on the broker that changes nothing: passive questions, and arguments by the management API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from services.broker import rabbitmq_topology as topology
from services.broker.rabbitmq_connection import Link
from services.broker.rabbitmq_errors import ACCESS_REFUSED, NOT_FOUND, ChannelLost, unreachable
from services.broker.rabbitmq_management import Management
from services.broker.rabbitmq_topology import Exchange, Part, Queue
from services.broker.rabbitmq_wire import Channel
from services.domain.errors import BrokerUnavailable, TopologyMismatch
from services.domain.order import Inspection

Named = Exchange | Queue


def look(link: Link, management: Management, parts: Sequence[Part]) -> Inspection:
    """Which of these are there, and whether their arguments are the right ones; bindings cannot be asked for.

    Raises:
        TopologyMismatch: one has other arguments.
        BrokerUnavailable: no connection.
    """
    named = [part for part in parts if isinstance(part, Exchange | Queue)]
    away: dict[str, str] = {}
    present = [part for part in named if _is_there(link, part, away)]
    seen = [_compared(management, part) for part in present if part.name not in away]
    missing = tuple(dict.fromkeys(part.name for part in named if part not in present))
    return Inspection(
        missing=missing,
        present=len(present),
        compared=all(seen),
        unreachable=tuple(away.items()),
    )


def _is_there(link: Link, part: Named, away: dict[str, str]) -> bool:
    """``away`` takes up what is there and cannot be reached."""
    try:
        link.call(lambda answer: _asking(link, part, answer), link.timing.call)
    except ChannelLost as exc:
        if isinstance(part, Queue) and unreachable(exc):
            away[part.name] = exc.text
            return True
        if exc.code == ACCESS_REFUSED:
            return True  # there, and not ours to look into
        if exc.code != NOT_FOUND:
            raise BrokerUnavailable(f"RabbitMQ refused to look at {part.name}: {exc.text}") from exc
        return False
    return True


def _asking(link: Link, part: Named, answer: Future[None]) -> None:
    """In the I/O thread, on a channel of its own: a missing part closes it."""

    def ask(opened: Channel) -> None:
        if isinstance(part, Queue):
            opened.find_queue(part.name, found)
        else:
            opened.find_exchange(part.name, found)

    def found(_frame: object) -> None:
        answer.set_result(None)
        channel.close()

    def lost(reason: ChannelLost) -> None:
        if not answer.done():
            answer.set_exception(reason)

    channel = link.channel(ask, lost)


def _compared(management: Management, part: Named) -> bool:
    """Whether the management API told what this was declared with."""
    if isinstance(part, Exchange):
        kind = management.exchange_kind(part.name)
        if kind not in (None, part.kind):
            raise TopologyMismatch(topology.mismatch(part, f"its type is {kind}", None))
        return kind is not None
    theirs = management.arguments(part.name)
    fitting = [_with_type(arguments) for arguments in (part.arguments, *part.accepted)]
    if theirs is not None and _with_type(theirs) not in fitting:
        raise TopologyMismatch(topology.mismatch(part, "its arguments differ", theirs))
    return theirs is not None


def _with_type(arguments: Mapping[str, object]) -> dict[str, object]:
    return {**topology.CLASSIC, **arguments}
