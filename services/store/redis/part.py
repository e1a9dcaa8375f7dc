"""What the parts of the Redis store share: the link and the store's clock."""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

from services import plain_file
from services.domain.errors import Unreadable
from services.ports import Clock
from services.store.redis import keys
from services.store.redis.client import Link
from services.store.redis.entries import Entries
from services.store.unreadable import text

log = logging.getLogger(__name__)

#: how long the last reading of the server's clock is trusted
_TRUST_S = 2.0
#: the server's clock may be set back; a smaller step is ours to smooth over
_STEP_MS = 1000
#: what holds work back: switches of people, and limits
_HOLDS = (keys.PAUSES, keys.LIMITS)
#: lives of a store that a machine remembers, letters that one has at most, and what one is called that nobody knew
_LIVES, _LONGEST, _UNNAMED = 20, 40, "unnamed"


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


class Life:
    """Which life the data has: one begins in an empty Redis, and is known by its epoch.

    A Redis that has another one than was known here has lost its records, or is a copy of an earlier day, and with them
    what held work back. Whoever notices says so, once for each life, and puts the pauses and limits back that he knew.
    """

    def __init__(self, link: Link, now_ms: Callable[[], int], memory: Path | None = None) -> None:
        """``memory``: where this machine keeps which lives it has seen, a line each; None for nowhere."""
        self._link, self._now_ms, self._memory = link, now_ms, memory
        self._lock = threading.Lock()
        self._seen = _lives(memory) if memory is not None else []
        self._holds: list[dict[bytes, bytes]] = []  #: of ``_HOLDS``, as they were seen last
        self.known = self._seen[-1] if self._seen else ""  #: the epoch that is expected, "" for whichever

    def begin(self) -> str:
        """The epoch of what is there; an empty store begins a life."""
        with contextlib.suppress(Unreadable):  # told by who writes; who looks may go on
            self._link.many(
                [
                    ("HSETNX", keys.META, "schema", keys.BASE_SCHEMA),
                    ("HSETNX", keys.META, "writer", keys.BASE_SCHEMA),
                    ("HSETNX", keys.META, "epoch", secrets.token_hex(6)),
                    ("HSETNX", keys.META, "born", self._now_ms()),
                ]
            )
        return self._epoch()

    def look(self) -> None:
        """Notice another life, also where nothing is recorded; of the one that is known, see what holds work back."""
        epoch, *holds = self._link.many([("HGET", keys.META, "epoch"), *(("HGETALL", one) for one in _HOLDS)])
        found = text(epoch or b"", "epoch") or ""
        if found and not self.known:
            self._learn(found)
        elif found != self.known:
            self.settle()
            return
        self._holds = holds

    def settle(self) -> None:
        """Say that another life was known, unless that is said already; then go on with this one."""
        with self._lock:
            if self._epoch() == self.known:
                return  # another thread was quicker
            before, after = self.known, self.begin()
            self._put_back(before)
            self._tell(before)
            self._learn(after)

    def doubt(self, created_at: int) -> None:
        """A message of ours has no record: say so if the data are younger than it, which was recorded."""
        born = self._link.call("HGET", keys.META, "born") or b""
        if not born.isdigit() or created_at >= int(born):
            return
        with self._lock:
            if not self._link.call("HLEN", keys.LIVES):
                self._tell("")

    def _put_back(self, before: str) -> None:
        """Only once: what a person has lifted since stays lifted."""
        if any(self._holds) and self._link.call("HSETNX", keys.META, "held", before):
            known = zip(_HOLDS, self._holds, strict=True)
            self._link.many([("HSETNX", key, *pair) for key, holds in known for pair in holds.items()])

    def _tell(self, before: str) -> None:
        """In this order: who falls over between the two does it again."""
        kind, now = keys.LIVES, self._now_ms()
        if not self._link.call("HEXISTS", kind, before or _UNNAMED):
            log.error("%s has lost its records, or is not the store that was known here", self._link.address)
        body = json.dumps({"noticed": now})
        self._link.many([("HSETNX", kind, one, body) for one in {*self._seen, before or _UNNAMED}])

    def _epoch(self) -> str:
        return text(self._link.call("HGET", keys.META, "epoch") or b"", "epoch") or ""

    def _learn(self, epoch: str) -> None:
        self.known = epoch
        if self._memory is None or self._link.read_only or epoch in self._seen[-1:]:
            return
        self._seen = [*(one for one in self._seen if one != epoch), epoch][-_LIVES:]
        with contextlib.suppress(OSError):  # then it is known as long as this program runs
            self._memory.parent.mkdir(mode=0o700, exist_ok=True)
            self._memory.write_text("".join(f"{one}\n" for one in self._seen), encoding="ascii")


def _lives(memory: Path) -> list[str]:
    try:
        found = plain_file.read(memory, 2000).decode("ascii", "replace").split()
    except OSError:
        return []
    return [one for one in found if one.isalnum() and len(one) <= _LONGEST][-_LIVES:]


class Part:
    """One duty of the store; ``RedisStore`` joins them."""

    _link: Link
    _clock: Clock
    _ticker: Ticker
    _life: Life
    _hashes: Entries
