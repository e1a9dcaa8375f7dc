"""The slots of a worker: threads that take claimed jobs one by one."""

from __future__ import annotations

import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from services.domain.fleet.worker import SlotState
from services.domain.gates.lane_share import Sharing
from services.domain.task.order import Delivery
from services.domain.task.record import Task
from services.executors.base import Flag
from services.workers.artifact_sink import AttemptArtifacts

log = logging.getLogger(__name__)


class ClaimedTask(msgspec.Struct, kw_only=True, eq=False):
    """A claimed task that this worker answers for until its outcome is recorded."""

    task: Task
    owner: str
    delivery: Delivery | None
    cancelled: Flag = msgspec.field(default_factory=Flag)
    cancel_reason: str = ""  #: requested | lost | shutdown | preempted
    made_way_for: str = ""  #: id of the urgent task that takes its slot
    stopping: bool = False  #: its executor has begun to end it
    stopping_shown: bool = False
    put_at: float = 0.0  #: monotonic seconds at which it began to wait for a slot
    started: float = 0.0  #: monotonic seconds, 0 while it waits for a slot
    progress: tuple[int, str] | None = None  #: not yet shown
    shown: int = -1
    marks: list[tuple[str, float]] = msgspec.field(
        default_factory=list
    )  #: steps that it named, and when (monotonic seconds)
    lines: list[tuple[int, str, str]] = msgspec.field(default_factory=list)  #: log lines not yet stored
    files: AttemptArtifacts | None = None  #: None until its executor begins

    def cancel(self, reason: str) -> None:
        """Ask the attempt to end; the first reason counts."""
        if not self.cancel_reason:
            self.cancel_reason = reason
        self.cancelled.set()

    def make_way(self, task_id: str) -> None:
        """Ask the attempt to end in favour of a more urgent task."""
        if not self.cancel_reason:
            self.made_way_for = task_id
        self.cancel("preempted")


class SlotPool:
    """Runs ``work(claimed, slot)`` in as many threads as there are slots; the number may change at any time."""

    def __init__(self, work: Callable[[ClaimedTask, int], None], slots: int, name: str) -> None:
        self._work, self._name = work, name
        self._jobs: queue.SimpleQueue[ClaimedTask | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._changed, self._watched = threading.Condition(self._lock), 0
        self._running: dict[int, ClaimedTask] = {}
        self._waiting: dict[str, ClaimedTask] = {}  #: by owner
        self._lanes: Counter[str] = Counter()  #: of both
        self._threads: set[threading.Thread] = set()
        self._target = 0
        self._free_numbers: list[int] = []
        self._next_number = 0
        self.resize(slots)

    @property
    def slots(self) -> int:
        """Slots wanted; more may still be busy after a reduction."""
        return self._target

    def resize(self, slots: int) -> None:
        """Add threads at once, or let surplus ones leave when their task ends."""
        with self._lock:
            change, self._target = slots - self._target, slots
            for _ in range(change):
                thread = threading.Thread(target=self._loop, name=f"{self._name}-slot", daemon=True)
                self._threads.add(thread)
                thread.start()
        for _ in range(-change):
            self._jobs.put(None)

    def put(self, claimed: ClaimedTask) -> None:
        """Hand a claimed job to the next free slot."""
        with self._lock:
            self._waiting[claimed.owner] = claimed
            self._lanes[claimed.task.lane] += 1
        self._jobs.put(claimed)

    def waiting(self, put_before: float) -> list[ClaimedTask]:
        """Jobs that have been waiting for a slot since before that instant."""
        with self._lock:
            return [claimed for claimed in self._waiting.values() if claimed.put_at < put_before]

    def withdraw(self, claimed: ClaimedTask) -> bool:
        """Take a job back; False if it is in a slot by now."""
        with self._lock:
            if self._waiting.pop(claimed.owner, None) is None:
                return False
            self._lanes[claimed.task.lane] -= 1
            self._tell()
            return True

    def claimed(self) -> int:
        """Jobs claimed and not finished by their slot."""
        with self._lock:
            return len(self._waiting) + len(self._running)

    def wait_room(self, ahead: int, timeout: float) -> bool:
        """Wait until one more job may be put, ``ahead`` jobs beyond the slots included."""
        return self._wait_for(lambda: len(self._waiting) + len(self._running) < self._target + ahead, timeout)

    def wait_plan(self, sharing: Sharing, ahead: int, timeout: float) -> tuple[int, list[tuple[str, int]]]:
        """Wait until some lane may have one more job; the free slots, and how many jobs of which lanes may be put."""
        plan: list[tuple[str, int]] = []
        free = 0

        def look() -> bool:
            nonlocal free, plan
            free = self._target - len(self._waiting) - len(self._running)
            plan = sharing.plan(free + ahead, self._lanes)
            return bool(plan)

        self._wait_for(look, timeout)
        return free, plan

    def lanes(self) -> dict[str, int]:
        """Jobs by lane, running or waiting for a slot."""
        with self._lock:
            return dict(self._lanes)

    def running(self) -> list[ClaimedTask]:
        """Jobs in a slot now."""
        with self._lock:
            return list(self._running.values())

    def states(self, wall: Callable[[ClaimedTask], int]) -> tuple[SlotState, ...]:
        """The slots as the heartbeat shows them; ``wall`` gives a job's start in UTC ms."""
        with self._lock:
            busy = dict(self._running)
            count = max(self._target, max(busy, default=-1) + 1)
        return tuple(_state(busy.get(number), wall) for number in range(count))

    def close(self, timeout: float) -> bool:
        """Let every slot leave after its task; tell whether all did in time."""
        self.resize(0)
        for thread in list(self._threads):
            thread.join(timeout)
        return not any(thread.is_alive() for thread in self._threads)

    def _loop(self) -> None:
        while (claimed := self._jobs.get()) is not None:
            number = self._enter(claimed)
            if number < 0:  # it was withdrawn
                continue
            try:
                self._work(claimed, number)
            except Exception:  # a slot that ends is one that the worker believes to have
                log.exception("%s", claimed.task.task_id)
            finally:
                self._leave(number)
        with self._lock:
            self._threads.discard(threading.current_thread())

    def _enter(self, claimed: ClaimedTask) -> int:
        with self._lock:
            if self._waiting.pop(claimed.owner, None) is None:
                return -1
            number = min(self._free_numbers, default=-1)
            if number >= 0:
                self._free_numbers.remove(number)
            else:
                number, self._next_number = self._next_number, self._next_number + 1
            self._running[number] = claimed
            return number

    def _leave(self, number: int) -> None:
        with self._lock:
            claimed = self._running.pop(number)
            self._lanes[claimed.task.lane] -= 1
            self._free_numbers.append(number)
            self._tell()

    def _tell(self) -> None:
        """Wake whoever waits for room: nobody, while tasks take no time."""
        if self._watched:
            self._changed.notify_all()

    def _wait_for(self, look: Callable[[], bool], timeout: float) -> bool:
        with self._lock:
            self._watched += 1
            try:
                return self._changed.wait_for(look, timeout)
            finally:
                self._watched -= 1


def _state(claimed: ClaimedTask | None, wall: Callable[[ClaimedTask], int]) -> SlotState:
    if claimed is None:
        return SlotState()
    task = claimed.task
    return SlotState(
        task_id=task.task_id,
        task_type=task.task_type,
        shop=task.shop,
        lane=task.lane,
        attempt=task.attempt,
        since=wall(claimed),
        progress=claimed.shown,
        queue=claimed.delivery.queue if claimed.delivery is not None else "",
    )


class Claimed:
    """The claimed tasks of a worker whose outcome is not recorded yet, by lease owner. May be used by any thread."""

    def __init__(self) -> None:
        self._all: dict[str, ClaimedTask] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._all)

    def add(self, claimed: ClaimedTask) -> None:
        """It has been claimed."""
        with self._lock:
            self._all[claimed.owner] = claimed

    def drop(self, owners: Iterable[str]) -> None:
        """Their outcomes are recorded; until then their leases are renewed, whatever recording waits for."""
        with self._lock:
            for owner in owners:
                self._all.pop(owner, None)

    def all(self) -> list[ClaimedTask]:
        """Those of now."""
        with self._lock:
            return list(self._all.values())

    def delivered(self) -> int:
        """How many came by a message that is not settled."""
        return sum(claimed.delivery is not None for claimed in self.all())
