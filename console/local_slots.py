"""The workers inside this program, as pages see them; made when the first one is started, or a little ahead of that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from services.domain.errors import StoreClosed
from services.domain.fleet.worker import SlotState

if TYPE_CHECKING:
    from services.settings.config_file import ConfigFile
    from services.workers.host import LocalWorkers
    from services.workers.worker import Worker


class LocalSlots:
    """What ``views.context.LocalControl`` asks for."""

    def __init__(
        self, make: Callable[[], LocalWorkers], may: Callable[[], None] = lambda: None, slots: int = 1
    ) -> None:
        """``make`` loads what works; ``may`` raises where nothing may work; ``slots``: as the settings say."""
        self._make, self._may = make, may
        self.slots = slots  #: of what starts here now, unless a person chooses
        self._workers: LocalWorkers | None = None
        self._making = threading.Lock()
        self._closed = False

    def prepare(self) -> None:
        """Make what would work here: whoever looks at the store sees from then on what it knows.

        Raises:
            UsageError: a module of handlers cannot be used.
        """
        with self._making:
            self._made()

    def replace(self, workers: LocalWorkers) -> None:
        """Use other executors from the next start on."""
        with self._making:  # what is being made ahead just now would take their place
            if self._closed:
                raise StoreClosed("the connection is closed")
            if self._workers is not None:
                self._workers.close(10.0)
            self._workers = workers

    def restart_with(self, workers: LocalWorkers) -> None:
        """Use other executors from now on; what works goes on working, with the same slots and lanes."""
        works = self.works
        self.replace(workers)
        if works is not None:
            self.start(*works)

    @property
    def works(self) -> tuple[int, tuple[str, ...]] | None:
        """Slots and lanes of the running local worker, None for none."""
        worker = self._worker
        info = worker.info() if worker is not None and worker.state != "stopped" else None
        return None if info is None else (len(info.slots), info.lanes)

    def start(self, slots: int, lanes: tuple[str, ...] = ("high", "normal", "low")) -> object:
        """Start working here.

        Raises:
            NotAllowed: the connection is read-only, or who sits here may only look.
            UsageError: a module of handlers cannot be used.
            StoreClosed: the connection was closed meanwhile.
        """
        self._may()
        with self._making:
            return self._made().start(slots, lanes)

    def stop(self, grace_s: float | None = None) -> bool:
        """Stop working here; true where all that ran has ended in time."""
        with self._making:  # what starts just now is stopped too, and not begun behind our back
            workers = self._workers
        return workers is None or workers.stop(grace_s)

    def close(self, grace_s: float | None = None) -> bool:
        """Stop working here for good."""
        with self._making:  # whoever starts one now gets it done before, or is refused
            self._closed = True
            return self._workers is None or self._workers.close(grace_s)

    def running(self) -> tuple[SlotState, ...]:
        """The slots with a task in them."""
        busy = (worker.info() for worker in self._workers.busy) if self._workers is not None else ()
        return tuple(slot for info in busy for slot in info.slots if slot.task_id)

    def follow(self, file: ConfigFile) -> None:
        """Let what works here, or starts later, have as many slots as the settings say now; one that sets them itself
        goes on doing so. Blocking.
        """
        self.slots = file.look().of("worker.slots").value
        worker = self._worker
        if worker is not None and worker.state != "stopped" and not worker.info().auto:
            worker.set_slots(self.slots)

    def drain(self) -> None:
        """Take no new tasks."""
        if (worker := self._worker) is not None:
            worker.drain()

    def resume(self) -> None:
        """Take tasks again."""
        if (worker := self._worker) is not None:
            worker.resume()

    @property
    def name(self) -> str:
        """Name of the running local worker, "" for none."""
        worker = self._worker
        return worker.name if worker is not None and worker.state != "stopped" else ""

    @property
    def _worker(self) -> Worker | None:
        return self._workers.worker if self._workers is not None else None

    def _made(self) -> LocalWorkers:
        if self._closed:
            raise StoreClosed("the connection is closed")
        if self._workers is None:
            self._workers = self._make()
        return self._workers
