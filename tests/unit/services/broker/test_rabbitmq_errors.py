"""Plain words for what pika reports."""

from __future__ import annotations

import socket
import ssl

import pytest
from pika import exceptions
from pika.adapters.utils.connection_workflow import (
    AMQPConnectionWorkflowFailed,
    AMQPConnectorAMQPHandshakeError,
    AMQPConnectorSocketConnectError,
    AMQPConnectorTransportSetupError,
)

from services.broker.rabbitmq import errors
from services.broker.rabbitmq.url import parse
from services.domain.insight import connection

ADDRESS = parse("amqp://ann:hush@rabbit.example:5672/fleet")
SECURE = parse("amqps://ann:hush@rabbit.example:5671/fleet")


def packed(inner: BaseException) -> BaseException:
    return exceptions.AMQPConnectionError(AMQPConnectionWorkflowFailed([AMQPConnectorSocketConnectError(inner)]))


def verification() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code = 18
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (packed(ConnectionRefusedError(111, "refused")), "Nothing listens at rabbit.example:5672: start RabbitMQ"),
        (packed(socket.gaierror(-2, "unknown")), "host name 'rabbit.example' is unknown"),
        (packed(TimeoutError("slow")), "did not answer in time"),
        (exceptions.ProbableAuthenticationError("x"), "refused user 'ann': check the user name and password"),
        (exceptions.ConnectionClosedByBroker(403, "ACCESS_REFUSED - Login was refused"), "refused user 'ann'"),
        (exceptions.ConnectionClosedByBroker(530, "NOT_ALLOWED - vhost fleet not found"), "has no vhost 'fleet'"),
        (
            exceptions.ConnectionClosedByBroker(530, "NOT_ALLOWED - access to vhost 'fleet' refused"),
            "may not use vhost",
        ),
        (exceptions.ProbableAccessDeniedError("x"), "may not use vhost"),
        (exceptions.IncompatibleProtocolError("x"), "does not speak AMQP"),
        (exceptions.IncompatibleProtocolError(f"StreamLostError: {errors.LATE}"), "did not answer in time"),
        (AMQPConnectorAMQPHandshakeError(RuntimeError("odd")), r"does not answer \(RuntimeError: odd\)"),
    ],
)
def test_a_failed_connection_is_explained_with_its_remedy(reason: BaseException, sentence: str) -> None:
    text = errors.explain(reason, ADDRESS)
    import re

    assert re.search(sentence, text), text
    assert "hush" not in text


@pytest.mark.parametrize(
    "guess",
    [
        exceptions.IncompatibleProtocolError,
        exceptions.ProbableAuthenticationError,
        exceptions.ProbableAccessDeniedError,
    ],
)
def test_a_connection_that_only_broke_off_while_it_was_opened_is_not_refused(guess: type[Exception]) -> None:
    """So does a proxy whose server is only starting."""
    said = errors.explain(packed(guess(repr(exceptions.StreamLostError("end of file")))), ADDRESS)
    assert not connection.refused(said)
    assert not errors.needs_person(guess(repr(exceptions.StreamLostError("end of file"))))
    assert connection.refused(errors.explain(exceptions.ConnectionClosedByBroker(403, "ACCESS_REFUSED"), ADDRESS))


def test_who_gave_no_password_is_told_so_and_has_nothing_to_check() -> None:
    """As after a start on a computer that kept none."""
    told = errors.explain(exceptions.ProbableAuthenticationError("x"), parse("amqp://ann@rabbit.example/fleet"))
    assert "wants a password of user 'ann' and was given none: enter it in the broker address" in told
    assert connection.refused(told)


def test_a_refusal_waits_for_a_person_an_absence_does_not() -> None:
    assert errors.needs_person(exceptions.ConnectionClosedByBroker(403, "x"))
    assert errors.needs_person(AMQPConnectorTransportSetupError(verification()))
    assert not errors.needs_person(packed(ConnectionRefusedError(111, "refused")))


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (exceptions.ConnectionClosedByBroker(320, "CONNECTION_FORCED"), "320 CONNECTION_FORCED"),
        (exceptions.AMQPHeartbeatTimeout("x"), "no heartbeat"),
        (exceptions.ConnectionBlockedTimeout("x"), "held publishers back"),
        (exceptions.StreamLostError("x"), "connection was lost"),
    ],
)
def test_a_lost_connection_has_one_short_line(reason: BaseException, text: str) -> None:
    assert text in errors.describe(reason)


def test_a_channel_tells_the_brokers_reason_or_none() -> None:
    lost = errors.channel_lost(exceptions.ChannelClosedByBroker(406, "PRECONDITION_FAILED"))
    assert (lost.code, lost.text) == (406, "PRECONDITION_FAILED")
    assert errors.channel_lost(exceptions.StreamLostError("x")).code == 0


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [(verification(), "cacertfile"), (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), "amqp://")],
)
def test_a_failed_handshake_is_explained_with_its_remedy(reason: ssl.SSLError, remedy: str) -> None:
    text = errors.explain(AMQPConnectorTransportSetupError(reason), SECURE)
    assert "rabbit.example:5671" in text
    assert remedy in text
    assert "hush" not in text
