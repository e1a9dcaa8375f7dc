"""Operations for which nobody waits: they go with the next batch, a moment later, or before anything is read."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from services.domain.change import Op

#: how long they wait for a batch to go with; each batch of its own costs the disk of Redis another turn
PATIENCE_S = 0.001


class Soon:
    """Keeps them in their order; any thread may call it."""

    def __init__(self, send: Callable[[], object]) -> None:
        """``send``: let a batch go with which as many go as it has room for, see ``riding``; it raises nothing."""
        self._send = send
        self._changed = threading.Condition()
        self._waiting: deque[Op] = deque()
        self._since = 0.0  #: when the first of those that wait came, monotonic seconds
        self._count = 0  #: of all that ever came
        self._flying: list[int] = []  #: of each batch on its way, how many had come before its first
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
    def riding(self, room: int) -> Iterator[list[Op]]:
        """Those that go with a batch, at most so many; within it they are on their way, and who asks for something
        meanwhile in the same thread does not wait for them.
        """
        if not self._waiting or room <= 0:
            yield []
            return
        outer, self._mine.riding = getattr(self._mine, "riding", False), True
        with self._changed:
            first = self._count - len(self._waiting)
            self._flying.append(first)  # before they are gone from there: who looks without the lock must see them
            taken = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
            self._since = time.monotonic()
        try:
            yield taken
        finally:
            self._mine.riding = outer
            with self._changed:
                self._flying.remove(first)
                self._changed.notify_all()

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
