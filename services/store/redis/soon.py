"""Operations for which nobody waits: they go with the next batch, a moment later, or before anything is read."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from services.domain.change import Create, Op

#: how long they wait for a batch to go with; each batch of its own costs the disk of Redis another turn
PATIENCE_S = 0.001


def task_of(op: Op) -> str:
    """Id of the task that an operation is on; "" for one on something else."""
    return str(op.task.task_id if isinstance(op, Create) else getattr(op, "task_id", ""))


class Soon:
    """Keeps them in their order; any thread may call it."""

    def __init__(self, send: Callable[[], object]) -> None:
        """``send``: let a batch go with which as many go as it has room for, see ``riding``; it raises nothing."""
        self._send = send
        self._changed = threading.Condition()
        self._waiting: deque[Op] = deque()
        self._since = 0.0  #: when the first of those that wait came, monotonic seconds
        self._count = 0  #: of all that ever came
        #: the batches on their way, by how many had come before the first of each: the tasks of those that ride
        self._flying: dict[int, frozenset[str]] = {}
        self._mine = threading.local()  #: ``riding``: this thread is sending
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, ops: Sequence[Op]) -> None:
        """Leave them here."""
        with self._changed:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.extend(ops)
            self._count += len(ops)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._loop, name="store-soon", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    @contextmanager
    def riding(self, room: int, ops: Sequence[Op]) -> Iterator[list[Op]]:
        """Those that go with a batch of ``ops``, at most so many; within it they are on their way, and who asks for
        something meanwhile in the same thread does not wait for them. Those that have left with another batch are
        waited for where they are of the same tasks: on another connection they may still be overtaken.
        """
        outer = getattr(self._mine, "riding", False)
        if not self._waiting and not self._flying:  # in this order: what leaves is on its way before it waits no more
            yield []
            return
        with self._changed:
            if not outer:
                self._changed.wait_for(lambda: self._is_free([*itertools.islice(self._waiting, max(0, room)), *ops]))
            count = min(max(0, room), len(self._waiting))
            first = self._count - len(self._waiting)
            if count:  # on their way before they are gone from there: who looks without the lock sees them
                self._flying[first] = frozenset(map(task_of, itertools.islice(self._waiting, count)))
                self._since = time.monotonic()
            taken = [self._waiting.popleft() for _ in range(count)]
        self._mine.riding = outer or bool(taken)
        try:
            yield taken
        finally:
            self._mine.riding = outer
            if taken:
                with self._changed:
                    del self._flying[first]
                    self._changed.notify_all()

    def _is_free(self, ops: Sequence[Op]) -> bool:
        """Whether nothing of the same tasks is on its way."""
        mine = set(map(task_of, ops)) if self._flying else set()
        return all(mine.isdisjoint(tasks) for tasks in self._flying.values())

    def settle(self) -> None:
        """Come back when all that was left here before has been sent."""
        if (not self._waiting and not self._flying) or getattr(self._mine, "riding", False):
            return
        goal = self._count
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._settled(goal))
                if self._settled(goal):
                    return
            self._send()

    def _settled(self, goal: int) -> bool:
        return min([*self._flying, self._count - len(self._waiting)]) >= goal

    def _loop(self) -> None:
        with self._changed:
            while not self._closed:
                left = self._since + PATIENCE_S - time.monotonic() if self._waiting else None
                if left is None or left > 0:
                    self._changed.wait(left)
                    continue
                self._changed.release()
                try:
                    self._send()
                finally:
                    self._changed.acquire()

    def close(self) -> None:
        """Send what is left, and end the thread."""
        self.settle()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
