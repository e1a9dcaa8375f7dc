"""Saying in plain words why RabbitMQ cannot be reached, and what to do about it."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

from pika import exceptions

from services import tls
from services.broker.rabbitmq.url import Address
from services.domain.errors import UsageError
from services.domain.task import own_words
from services.domain.text.said import said, words_of

ACCESS_REFUSED, NOT_FOUND, RESOURCE_LOCKED, PRECONDITION_FAILED, NOT_ALLOWED = 403, 404, 405, 406, 530
INTERNAL_ERROR = 541
#: the broker (or the certificate) said no: a person must act first
LOGIN = (exceptions.ProbableAuthenticationError, exceptions.AuthenticationError)
REFUSALS = (exceptions.ProbableAuthenticationError, exceptions.ProbableAccessDeniedError, ssl.SSLCertVerificationError)
LATE = "no answer in time"
#: in what pika makes of a connection that went while it was opened: a guess at the reason, from how far it had come
_GUESSED = exceptions.StreamLostError.__name__


class ChannelLost(Exception):
    """A channel was closed before it answered; ``code`` is the broker's, 0 where the connection went."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def unreachable(reason: ChannelLost) -> bool:
    """Whether a queue is there and nobody can get at it now: the node that has it is down, or it recovers."""
    gone = reason.code == NOT_FOUND and ("home node" in reason.text or "inaccessible" in reason.text)
    return gone or reason.code in (RESOURCE_LOCKED, INTERNAL_ERROR)


def channel_lost(reason: BaseException) -> ChannelLost:
    """What a channel's closing reason means."""
    if isinstance(reason, exceptions.ChannelClosedByBroker):
        return ChannelLost(int(reason.reply_code), str(reason.reply_text))
    return ChannelLost(0, describe(reason))


def describe(reason: BaseException) -> str:
    """One short line about a lost connection."""
    if isinstance(reason, exceptions.ConnectionClosed):
        return f"{reason.reply_code} {reason.reply_text}"
    if isinstance(reason, exceptions.AMQPHeartbeatTimeout):
        return own_words.write("own.link_dumb")
    if isinstance(reason, exceptions.ConnectionBlockedTimeout):
        return own_words.write("own.link_held")
    return own_words.write("own.link_lost") if isinstance(reason, exceptions.StreamLostError) else repr(reason)


def needs_person(reason: BaseException) -> bool:
    """Whether trying again soon is pointless: the broker answered and refused."""
    return any(
        (isinstance(item, REFUSALS) and _GUESSED not in str(item))
        or (isinstance(item, exceptions.ConnectionClosedByBroker) and item.reply_code in (ACCESS_REFUSED, NOT_ALLOWED))
        for item in chain(reason)
    )


def heard(reason: BaseException, node: Address) -> BaseException:
    """The same, or in front of it what a server that wants TLS says only to who listens; asked for at once."""
    if not node.tls:
        return reason
    found = tls.heard(chain(reason), node.host, node.port, node.options, tls.AMQP, insecure=node.insecure)
    if found is None:
        return reason
    found.__cause__ = reason
    return found


def explain(reason: BaseException, address: Address) -> str:
    """A sentence with its remedy for a connection that did not come up; never the password."""
    items = list(chain(reason))
    for item in items:
        if isinstance(item, UsageError):  # a file that the address names
            return words_of(item)
    if address.tls and (found := tls.sentence(items, address.place, address.options, tls.AMQP)):
        return found
    for item in items:
        sentence = _refusal(item, address) or _transport(item, address)
        if sentence:
            return sentence
    return said("broker.silent", place=address.place, error=_last(items))


def silent(address: Address, seconds: float) -> str:
    """Nothing came at all."""
    return said("broker.late", place=address.place, seconds=f"{seconds:g}")


def chain(reason: BaseException) -> Iterator[BaseException]:
    """The error and everything that pika packed into it."""
    yield reason
    packed = (*getattr(reason, "exceptions", ()), getattr(reason, "exception", None), reason.__cause__)
    for inner in (*packed, *reason.args):
        if isinstance(inner, BaseException):
            yield from chain(inner)


def _refusal(item: BaseException, address: Address) -> str:
    place, user, vhost = address.place, address.user, address.vhost
    text = str(getattr(item, "reply_text", "")) or str(item)
    if _GUESSED in text and isinstance(item, REFUSALS):  # a server that refuses says so; a proxy may only hang up
        return ""
    reply = item.reply_code if isinstance(item, exceptions.ConnectionClosedByBroker) else 0
    if isinstance(item, LOGIN) or reply == ACCESS_REFUSED:
        # as where no key store kept it: then nothing is to be checked, but entered
        code = "broker.user" if address.password else "broker.no_password"
        return said(code, place=place, user=repr(user))
    if isinstance(item, exceptions.ProbableAccessDeniedError) or reply == NOT_ALLOWED:
        if "not found" in text:
            return said("broker.no_vhost", place=place, vhost=repr(vhost))
        return said("broker.vhost_refused", place=place, user=repr(user), vhost=repr(vhost))
    if isinstance(item, exceptions.IncompatibleProtocolError) and LATE not in text:
        return said("broker.not_amqp", place=place)
    return ""


def _transport(item: BaseException, address: Address) -> str:
    place = address.place
    if isinstance(item, socket.gaierror):
        return said("broker.unknown_host", host=repr(address.host))
    if getattr(item, "errno", None) == errno.ECONNREFUSED:
        return said("broker.nobody", place=place)
    late = isinstance(item, TimeoutError | exceptions.ConnectionOpenAborted)  # only our own watch aborts an opening
    if late or LATE in str(item):
        return said("broker.slow", place=place)
    return ""


def _last(items: list[BaseException]) -> str:
    return f"{type(items[-1]).__name__}: {items[-1]}"[:200]
