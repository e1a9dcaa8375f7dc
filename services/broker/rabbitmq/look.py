"""A look at what stands on the broker that changes nothing: passive questions, and arguments by the management API."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from concurrent.futures import Future

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.declare import NO_ANSWER
from services.broker.rabbitmq.errors import ACCESS_REFUSED, NOT_FOUND, ChannelLost, unreachable
from services.broker.rabbitmq.management import Management
from services.broker.rabbitmq.topology import Binding, Exchange, Part, Queue
from services.broker.rabbitmq.wire import Channel
from services.domain.errors import BrokerUnavailable, TopologyMismatch
from services.domain.task.order import Inspection

Named = Exchange | Queue
PATIENCE = 6.0  #: seconds for all questions; what nobody has answered for by then counts as out of reach
SILENCE = ChannelLost(0, NO_ANSWER)


def look(link: Link, management: Management, parts: Sequence[Part]) -> Inspection:
    """Which of these are there, and whether their arguments are the right ones; bindings only by the management API.

    Raises:
        TopologyMismatch: one has other arguments.
        BrokerUnavailable: no connection.
    """
    named = [part for part in parts if isinstance(part, Exchange | Queue)]
    away: dict[str, str] = {}
    reasons: list[ChannelLost | None] = link.call(lambda answer: _ask_all(link, named, answer), link.timing.call)
    present = [part for part, reason in zip(named, reasons, strict=True) if _is_there(part, reason, away)]
    seen = [_compared(management, part) for part in present if part.name not in away]
    missing = tuple(dict.fromkeys(part.name for part in named if part not in present))
    return Inspection(
        missing=missing,
        present=len(present),
        compared=all(seen),
        unreachable=tuple(away.items()),
        unbound=_unbound(management, [part for part in parts if isinstance(part, Binding)], {*missing, *away}),
    )


def _unbound(management: Management, parts: Sequence[Binding], without: Container[str]) -> tuple[str, ...]:
    """``EXCHANGE (KEY) → QUEUE`` of what is not bound, where both are there and the management API tells."""
    wanted = [part for part in parts if part.queue not in without and part.exchange not in without]
    bound = management.bindings() if wanted else None
    if bound is None:
        return ()
    return tuple(
        f"{part.exchange} ({part.key}) → {part.queue}" if part.key else f"{part.exchange} → {part.queue}"
        for part in wanted
        if (part.exchange, part.key, part.queue) not in bound
    )


def _is_there(part: Named, reason: ChannelLost | None, away: dict[str, str]) -> bool:
    """``reason``: what was answered instead of yes; ``away`` takes up what is there and cannot be reached."""
    if reason is None:
        return True
    if isinstance(part, Queue) and (unreachable(reason) or reason is SILENCE):
        away[part.name] = reason.text
        return True
    if reason.code == ACCESS_REFUSED:
        return True  # there, and not ours to look into
    if reason.code != NOT_FOUND:
        raise BrokerUnavailable(f"RabbitMQ refused to look at {part.name}: {reason.text}") from reason
    return False


def _ask_all(link: Link, parts: Sequence[Named], answer: Future[list[ChannelLost | None]]) -> None:
    """In the I/O thread, all at once: one that nobody answers for must not keep the others waiting."""
    answers: list[Future[None]] = [Future() for _ in parts]

    def end() -> None:
        if answer.done():
            return
        link.forget(watch)
        found = [one.exception() if one.done() else SILENCE for one in answers]
        reasons = [one if isinstance(one, ChannelLost) else None for one in found]
        lost = next((one for one in reasons if one is not None and one is not SILENCE and not one.code), None)
        if lost is not None or all(one is SILENCE for one in reasons):
            answer.set_exception(lost or SILENCE)
        else:
            answer.set_result(reasons)

    def answered(_one: Future[None]) -> None:
        if all(one.done() for one in answers):
            end()

    watch = link.later(PATIENCE, end)
    for part, one in zip(parts, answers, strict=True):
        one.add_done_callback(answered)
        _ask(link, part, one)


def _ask(link: Link, part: Named, answer: Future[None]) -> None:
    """On a channel of its own: a missing part closes it."""

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
