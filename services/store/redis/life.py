"""Which life the data in Redis has, and what is done where it is not the one that was known."""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

from services import home_folder, plain_file, whole_file
from services.domain.errors import StoreError, StoreUnavailable, Unreadable
from services.domain.text.said import said
from services.store.redis import keys
from services.store.redis.client import Link
from services.store.redis.script import load
from services.store.unreadable import text

log = logging.getLogger(__name__)

#: what holds work back: switches of people, and limits
_HOLDS = (keys.PAUSES, keys.LIMITS)
#: lives of a store that a machine remembers, and what one is called that nobody knew
_LIVES, _UNNAMED, _UNTOLD = 20, "unnamed", ""
_EPOCH = re.compile(r"[0-9a-f]{12}")
#: holds are put back by who looks at them every few seconds, and tried to so long ago at most
_FRESH_S = 30.0
#: a life that began before the one was met last that is known is another fleet's, but for clocks that differ by so much
_SKEW_MS = 3_600_000
#: what runs is recorded again within so long, and before that nothing starts in its shops
RECORDED_S = 3.0
_LIFE, _COUNT_LIMITS = load("life"), load("put_limit")


class Life:
    """A life of the data begins in an empty Redis, and is known by its epoch.

    A Redis that has another one than was known here has lost its records, and what held work back is gone with them.
    Whoever notices says so, once for each life, and puts the pauses and limits back that he knew, if he has looked at
    them all the time. One that is older than that is another fleet's: nothing is recorded there.
    """

    def __init__(self, link: Link, now_ms: Callable[[], int], memory: Path | None = None) -> None:
        """``memory``: where this machine keeps which lives it has seen, a line each; None for nowhere."""
        self._link, self._now_ms, self._memory = link, now_ms, memory
        self._lock = threading.Lock()  #: what is asked under it goes by scripts, which wait for nobody's batch
        self._seen = _lives(memory) if memory is not None else []
        self._holds: list[dict[bytes, bytes]] = []  #: of ``_HOLDS``, as they were seen last
        self._named: list[bytes] = []  #: earlier lives of the one that is known, as it names them
        self._met_ms = 0  #: when the life that is known answered last, UTC ms of the store
        self._tried = -_FRESH_S  #: when that was asked for last, monotonic seconds
        self._settled = -RECORDED_S  #: when another life was met, monotonic seconds
        self.known = self._seen[-1] if self._seen else ""  #: the epoch that is expected, "" for whichever

    def begin(self) -> str:
        """The epoch of what is there; an empty store begins a life."""
        self.settle()
        return text(self._link.call("HGET", keys.META, "epoch") or b"", "epoch") or ""

    def look(self) -> None:
        """Notice another life, also where nothing is recorded; of the one that is known, see what holds work back."""
        self._drop_stale()
        self._tried = time.monotonic()
        asked = [("HGET", keys.META, "epoch"), ("HKEYS", keys.LIVES), *(("HGETALL", one) for one in _HOLDS)]
        epoch, named, *holds = self._link.many(asked, atomic=True)
        found = text(epoch or b"", "epoch") or ""
        if found and not self.known:
            self._learn(found)
        elif found != self.known:
            self.settle()
            return
        self._holds, self._named, self._met_ms = holds, named, self._now_ms()

    def _drop_stale(self) -> None:
        """Who has not looked for a while does not know what people have switched since, though others may."""
        if time.monotonic() - self._tried > _FRESH_S:
            self._holds = []

    def took(self, now: int) -> None:
        """A batch was taken by the life that is known, at this UTC ms of the store."""
        self._met_ms = now
        if not self.known:
            with contextlib.suppress(StoreError):  # what was recorded is recorded
                self._learn(text(self._link.call("HGET", keys.META, "epoch") or b"", "epoch") or "")

    def settle(self) -> None:
        """Say that another life was known, unless that is said already; then go on with this one.

        Raises:
            StoreUnavailable: this one is another fleet's, and is left as it is.
        """
        with self._lock, contextlib.suppress(Unreadable):
            before = self.known
            found, told = self._say(before, before or _UNTOLD)
            if told < 0:
                raise StoreUnavailable(said("store.other_fleet", address=self._link.address))
            if found != before:  # one that cannot be read is none to go by
                if before:
                    self._settled = time.monotonic()
                if told:
                    log.error("%s has lost its records, or is not the store that was known here", self._link.address)
                if any(self._holds):  # those that run were counted under limits that were not there
                    self._link.run(_COUNT_LIMITS, (keys.LIMITS, keys.LIMIT_RUNNING, keys.BY_KIND))
                self._learn(found)

    @property
    def young(self) -> bool:
        """Whether it may not hold yet what runs: that is recorded again by those who run it, once they have noticed."""
        return time.monotonic() - self._settled < RECORDED_S

    def doubt(self, created_at: int) -> None:
        """A message of ours has no record: say so if the data are younger than it, for it was recorded."""
        epoch, born = self._link.call("HMGET", keys.META, "epoch", "born") or (None, None)
        younger = created_at < int(born) if born is not None and born.isdigit() else epoch is None
        if younger and not self._link.call("HLEN", keys.LIVES):
            with self._lock:
                self._say("", _UNNAMED)

    def _say(self, before: str, name: str) -> tuple[str, int]:
        """The epoch of what is there, begun where there is none, and what the script says of it; all at once."""
        self._drop_stale()
        holds = self._holds if name == before else []
        before_that = dict.fromkeys([*self._named, *(one.encode() for one in self._seen if one != self.known)])
        earlier = list(before_that)[-_LIVES:]  # each names those before it, so they would grow with every loss
        words: list[bytes | str | int] = [len(earlier), *earlier]
        for one in holds:
            words += [2 * len(one), *(word for pair in one.items() for word in pair)]
        names = (keys.META, keys.LIVES, *(_HOLDS if holds else ()))
        fixed = (secrets.token_hex(6), keys.BASE_SCHEMA, before, name, self._met_ms - _SKEW_MS)
        epoch, told = self._link.run(_LIFE, names, *fixed, *words)
        return text(epoch, "epoch") or "", int(told)

    def _learn(self, epoch: str) -> None:
        self.known = epoch
        if not epoch or epoch in self._seen[-1:]:
            return
        self._seen = [*(one for one in self._seen if one != epoch), epoch][-_LIVES:]
        if self._memory is None or self._link.read_only:
            return
        with contextlib.suppress(OSError):  # then it is known as long as this program runs
            home_folder.check_there(self._memory)
            self._memory.parent.mkdir(mode=0o700, exist_ok=True)
            with whole_file.written(self._memory, "ascii") as file:
                file.write("".join(f"{one}\n" for one in self._seen))


def _lives(memory: Path) -> list[str]:
    try:
        found = plain_file.read(memory, 2000).decode("ascii", "replace").split()
    except OSError:
        return []
    return [one for one in found if _EPOCH.fullmatch(one)][-_LIVES:]
