"""The client of Pulsar: loaded when it is needed, one connection for a process, and whether it answers."""

from __future__ import annotations

import importlib
import logging
import os
import secrets
import threading
from collections.abc import Callable
from typing import Any

from services.broker.pulsar.address import Address
from services.broker.pulsar.wire import DEAD
from services.domain.errors import BrokerUnavailable, UsageError
from services.domain.text.said import said
from services.ports import Clock

log = logging.getLogger(__name__)
#: everyone who takes from a queue of the fleet shares this subscription: each message goes to one of them
SUBSCRIPTION = "fleetdeck"
ASK_S = 5  #: seconds for one question to the broker
NACK_MS = 100  #: after which what was given back comes again; the client knows no shorter time
SEND_MS = 10_000


def client_module() -> Any:
    """The package ``pulsar``.

    Raises:
        UsageError: it is not installed here; the sentence says how it is.
    """
    try:
        return importlib.import_module("pulsar")
    except ImportError as exc:
        what = {"scheme": "pulsar", "package": "pulsar-client", "command": 'pip install "fleetdeck[pulsar]"'}
        raise UsageError(said("broker.needs_package", **what), field="broker.url") from exc


class Link:
    """One client, opened when first used. Reconnecting is the client's own business; this one knows how it is."""

    def __init__(self, address: Address, clock: Clock, *, insecure: bool = False) -> None:
        """
        Raises:
            UsageError: the client is not installed.
        """
        self.address = address
        self.pulsar = client_module()
        self._clock, self._insecure = clock, insecure
        self._lock = threading.Lock()
        self._client: Any = None
        self._closed = False
        self.up = True  #: answered the last time, or was not asked yet
        self.used = False
        self.error = ""
        self.since_ms = 0
        self.latency_ms = -1.0

    def client(self) -> Any:
        """The client itself; opening it asks nobody yet.

        Raises:
            BrokerUnavailable: this link is closed, or the files of its certificates cannot be used.
        """
        with self._lock:
            if self._closed:
                raise self.gone("closed")
            if self._client is None:
                try:
                    self._client = self._numbered(self._open())
                except (self.pulsar.PulsarException, ValueError, RuntimeError) as exc:
                    raise self.gone(exc) from exc
                self.used, self.since_ms = True, self._clock.now_ms()
            return self._client

    def _open(self) -> Any:
        pulsar, at = self.pulsar, self.address
        proof = None
        if at.token:
            proof = pulsar.AuthenticationToken(at.token)
        elif at.certfile:
            proof = pulsar.AuthenticationTLS(at.certfile, at.keyfile)
        return pulsar.Client(
            at.service,
            authentication=proof,
            operation_timeout_seconds=ASK_S,
            connection_timeout_ms=ASK_S * 1000,
            tls_trust_certs_file_path=at.cacertfile or None,
            tls_allow_insecure_connection=self._insecure,
            tls_validate_hostname=at.tls and not self._insecure,
            # it tells every failed try; what is lost and found again is told from here
            logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull),
        )

    def _numbered(self, client: Any) -> Any:
        """The client with so many numbers of consumers used up; it offers no other way to choose them."""
        topic = self.address.topic(f"rpa_numbers_{secrets.token_hex(4)}")
        for _ in range(self.address.first_number):
            client.subscribe(topic, SUBSCRIPTION, receiver_queue_size=0).close()
        return client

    def subscribe(self, queue: str, name: str, *, receive: int = 0) -> Any:
        """A consumer of a queue that hands out only what it is asked for.

        Raises:
            BrokerUnavailable: the broker does not answer, or refuses.
        """
        kinds = self.pulsar
        return self._asked(
            lambda client: client.subscribe(
                self.address.topic(queue),
                SUBSCRIPTION,
                consumer_type=kinds.ConsumerType.Shared,
                receiver_queue_size=receive,
                initial_position=kinds.InitialPosition.Earliest,
                negative_ack_redelivery_delay_ms=NACK_MS,
                consumer_name=name or None,
            )
        )

    def producer(self, queue: str) -> Any:
        """A producer, each of whose messages is confirmed by itself.

        Raises:
            BrokerUnavailable: the broker does not answer, or refuses.
        """
        return self._asked(
            lambda client: client.create_producer(
                self.address.topic(queue),
                send_timeout_millis=SEND_MS,
                batching_enabled=False,
                block_if_queue_full=False,
                max_pending_messages=10_000,
            )
        )

    def ping(self) -> None:
        """Ask something small, and note how it went.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        begun = self._clock.monotonic()
        self._asked(lambda client: client.get_topic_partitions(self.address.topic(DEAD)))
        self.latency_ms = (self._clock.monotonic() - begun) * 1000

    def _asked(self, what: Callable[[Any], Any]) -> Any:
        client = self.client()
        try:
            found = what(client)
        except self.pulsar.PulsarException as exc:
            self._note(str(exc).removeprefix("Pulsar error: "))
            raise self.gone(exc) from exc
        self._note("")
        return found

    def _note(self, error: str) -> None:
        with self._lock:
            if self._closed:
                return
            if self.up != (not error):
                self.since_ms = self._clock.now_ms()
                log.warning("Pulsar at %s %s", self.address.place, f"does not answer: {error}" if error else "is back")
            self.up, self.error = not error, error

    def gone(self, why: object) -> BrokerUnavailable:
        """That it does not answer, as an error."""
        text = str(why).removeprefix("Pulsar error: ")
        return BrokerUnavailable(said("broker.unanswered", place=self.address.place, error=text))

    def close(self) -> None:
        """Leave; what was not acknowledged goes to others."""
        with self._lock:
            client, self._client, self._closed = self._client, None, True
            self.up, self.error = False, self.error or "closed"
        if client is not None:
            try:
                client.close()
            except self.pulsar.PulsarException as exc:
                log.debug("Pulsar was left without a word: %s", exc)
