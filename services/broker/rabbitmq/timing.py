"""How long RabbitMQ is waited for, and when a lost connection tries again."""

from __future__ import annotations

import random

import msgspec

FIRST_RETRY, STEADY = 0.2, 5.0  #: seconds: the first retry; a connection that lived so long starts again from it
REACH_CAP, REFUSED_CAP = 8.0, 30.0  #: longest pause while nothing answers (back within 10 s); while the broker says no
NUDGE = 1.0  #: a caller makes a waiting connection try at once, but not more often than this


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Time-outs in seconds."""

    connect: float = 5.0  #: TCP, TLS and AMQP handshake
    heartbeat: int = 30
    blocked: float = 300.0  #: a connection held back so long is made anew
    publish: float = 30.0  #: an order without an answer
    grace: float = 2.0  #: how long an order waits for a blocked broker
    reconnect: float = 5.0  #: how long an order waits for a lost connection
    call: float = 10.0  #: a declaration or a count
    close: float = 3.0  #: an orderly farewell


class Backoff:
    """0.2, 1, 2, 4 … seconds up to a cap, each ± 25 % so that a fleet does not return in one moment."""

    def __init__(self) -> None:
        self._next = FIRST_RETRY

    def reset(self) -> None:
        self._next = FIRST_RETRY

    def pause(self, cap: float) -> float:
        """Seconds to wait now."""
        seconds = min(self._next, cap)
        self._next = 1.0 if self._next < 1.0 else min(self._next * 2, REFUSED_CAP)
        return seconds * random.uniform(0.75, 1.25)
