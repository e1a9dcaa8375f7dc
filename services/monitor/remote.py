"""What workers show of their machines: the window of a shop's browser, the last lines of a log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from services.domain.fleet import remote
from services.domain.fleet.remote import Window, WorkerLog
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.forecast.durations import Runs
from services.monitor.numbers.measured import Measured
from services.ports import Store

#: a window that its worker has not looked at for so long is not there any more
OLD_MS = 30_000
PACE_S = 0.5
Kept = TypeVar("Kept", Window, WorkerLog)
Answer = TypeVar("Answer")


def answered(ask: Callable[[], Answer | None], seconds: float) -> Answer | None:
    """Ask until there is an answer; None where there is none after so long."""
    pause, left = threading.Event(), seconds
    while (found := ask()) is None and left > 0:
        pause.wait(PACE_S)
        left -= PACE_S
    return found


class RemoteQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store) -> None:
        self._store, self._measured = store, Measured(store)

    def window(self, shop: str) -> Window | None:
        """The browser of a shop that is open for a person, None while there is none."""
        found = self._read(remote.WINDOWS, shop, remote.read_window)
        return found if found is not None and self._store.now_ms() - found.at < OLD_MS else None

    def log(self, worker: str) -> WorkerLog | None:
        """The last lines of a worker, None until it shows them."""
        return self._read(remote.LOGS, worker, remote.read_log)

    def is_heard(self, worker: str) -> bool:
        """Whether a worker is there: one that was killed shows what it showed before, and nothing new."""
        found = next((info for info in self._store.workers() if info.worker == worker), None)
        return found is not None and found.state != insight.STOPPED and not insight.missed(found, self._store.now_ms())

    def answer(self, worker: str, order: str, since_ms: int) -> str | None:
        """How an order ended that was given at that time (UTC ms): "" it is done, else why it could not be; None
        while nobody knows.
        """
        for info in self._store.workers():
            if info.worker == worker:
                ends = [one for one in info.answers if one.order == order and one.at >= since_ms]
                return ends[-1].error if ends else None
        return None

    def outcome(self, worker: str, order: str, since_ms: int, seconds: float) -> str | None:
        """Wait for how an order ends; None where nobody knows after so long."""
        return answered(lambda: self.answer(worker, order, since_ms), seconds)

    def now_ms(self) -> int:
        """The time of the store, UTC ms."""
        return self._store.now_ms()

    def usual(self, kinds: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Runs]:
        """How long tasks of a type run on a platform, for each of these pairs."""
        return {kind: self._measured.on_platform(*kind, 0.0) for kind in kinds}

    def homes(self, shops: Sequence[str]) -> dict[str, str]:
        """The node where the profile of each of these shops lives, of those that have one."""
        return {shop: home.node for shop, home in self._store.homes(shops).items()} if shops else {}

    def _read(self, kind: str, name: str, read: Callable[[str], Kept]) -> Kept | None:
        body = self._store.document(kind, name)
        if body is None:
            return None
        try:
            return read(body)
        except msgspec.MsgspecError:
            return None


def opener(workers: Sequence[WorkerInfo], shop: str, node: str, now_ms: int) -> str:
    """The worker that can open the browser of a shop; one that has it open already comes first. "": none."""
    able = [
        info
        for info in workers
        if "browser" in info.executors and not insight.missed(info, now_ms) and (not node or info.node == node)
    ]
    able.sort(key=lambda info: (not any(one.shop == shop for one in info.pool), info.worker))
    return able[0].worker if able else ""
