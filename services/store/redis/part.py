"""What the parts of the Redis store share: the link and the store's clock."""

from __future__ import annotations

import threading
import time

from services.ports import Clock
from services.store.redis.client import Link
from services.store.redis.entries import Entries
from services.store.redis.life import Life

#: how long the last reading of the server's clock is trusted
_TRUST_S = 2.0
#: the server's clock may be set back; a smaller step is ours to smooth over
_STEP_MS = 1000


class Ticker:
    """The server's clock, read every two seconds and carried on by the monotonic clock in between."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._base = 0
        self._read: float | None = None
        self._last = 0

    def now_ms(self) -> int:
        """UTC milliseconds of the server; never before an instant that a script has written."""
        with self._lock:
            read, base = self._read, self._base
        at = time.monotonic()
        if read is None or at - read > _TRUST_S:
            seconds, micros = self._link.call("TIME")
            base, read, at = int(seconds) * 1000 + int(micros) // 1000, time.monotonic(), 0.0
            with self._lock:
                self._base, self._read = base, read
                if self._last - base > _STEP_MS:
                    self._last = base
        now = base + int(max(0.0, at - read) * 1000)
        with self._lock:
            self._last = max(self._last, now)
            return self._last

    def saw(self, now: int) -> None:
        """A script answered with its instant."""
        with self._lock:
            self._last = max(self._last, now)


class Part:
    """One duty of the store; ``RedisStore`` joins them."""

    _link: Link
    _clock: Clock
    _ticker: Ticker
    _life: Life
    _hashes: Entries
