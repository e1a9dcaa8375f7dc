"""The workers inside this program, as pages see them."""

from __future__ import annotations

from collections.abc import Callable

from services.domain.fleet.worker import SlotState
from services.workers.host import LocalWorkers


class LocalSlots:
    """What ``views.context.LocalControl`` asks for."""

    def __init__(self, workers: LocalWorkers, may: Callable[[], None] = lambda: None) -> None:
        """``may`` raises where nothing may work."""
        self._workers, self._may = workers, may

    def replace(self, workers: LocalWorkers) -> None:
        """Use other executors from the next start on."""
        self._workers.close(10.0)
        self._workers = workers

    def restart_with(self, workers: LocalWorkers) -> None:
        """Use other executors from now on; what works goes on working, with the same slots and lanes."""
        worker = self._workers.worker
        info = worker.info() if worker is not None and worker.state != "stopped" else None
        self.replace(workers)
        if info is not None:
            self.start(len(info.slots), info.lanes)

    def start(self, slots: int, lanes: tuple[str, ...] = ("high", "normal", "low")) -> object:
        """Start working here.

        Raises:
            NotAllowed: the connection is read-only, or who sits here may only look.
        """
        self._may()
        return self._workers.start(slots, lanes)

    def stop(self, grace_s: float | None = None) -> bool:
        """Stop working here."""
        return self._workers.stop(grace_s)

    def close(self, grace_s: float | None = None) -> bool:
        """Stop working here for good."""
        return self._workers.close(grace_s)

    def running(self) -> tuple[SlotState, ...]:
        """The slots with a task in them."""
        busy = (worker.info() for worker in self._workers.busy)
        return tuple(slot for info in busy for slot in info.slots if slot.task_id)

    def drain(self) -> None:
        """Take no new tasks."""
        if self._workers.worker is not None:
            self._workers.worker.drain()

    def resume(self) -> None:
        """Take tasks again."""
        if self._workers.worker is not None:
            self._workers.worker.resume()

    @property
    def name(self) -> str:
        """Name of the running local worker, "" for none."""
        worker = self._workers.worker
        return worker.name if worker is not None and worker.state != "stopped" else ""
