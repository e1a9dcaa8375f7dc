"""One command or query off the GUI thread: busy state, success, failure, one place for errors.

    self._query = Operation(self)
    self._query.start(partial(queries.page, text), success=self._show)

The callable runs in a thread and gets values only, never widgets. Its result comes back in the
GUI thread, or is dropped when the owner has died or, with ``latest=True``, when a newer run of
the same operation began. An error that nobody handles goes to the notifier given to
``configure``; it is never swallowed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec
from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from services.commands.audit import heard, undoing
from services.domain.audit import AuditEntry
from views.support.throttle import turns

log = logging.getLogger(__name__)

T = TypeVar("T")
Notify = Callable[[BaseException], None]
#: runs a call as ``Operation.start`` does
Start = Callable[..., None]
THREADS = 4


class Dropped(Exception):
    """The result is no longer wanted: its owner died or a newer run began."""


class _Call(msgspec.Struct):
    """One call on its way: who wants the answer, and how."""

    operation: weakref.ref[Operation]
    number: int
    success: Callable[[Any], None]
    failure: Callable[[BaseException], None]
    act: int  #: see ``act_number``
    undoes: tuple[AuditEntry, ...] = ()  #: see ``taking_back``
    written: tuple[AuditEntry, ...] = ()  #: see ``written``
    result: Any = None
    error: BaseException | None = None


class _Mailbox(QObject):
    """Carries finished runs into the GUI thread; lives there and outlives every owner.

    Each is delivered in a turn of its own: else the next one is taken, and what both change is painted, before a click
    is heard.
    """

    arrived = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.arrived.connect(self._take, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def _take(self, run: _Call) -> None:
        turns().later(functools.partial(self._deliver, run))

    @staticmethod
    def _deliver(run: _Call) -> None:
        operation = run.operation()
        if operation is None or not isValid(operation):
            run.failure(Dropped())
            return
        operation._finish(run)  # noqa: SLF001  (two halves of one class)


class _Threads:
    """Threads that run what is asked for. Unlike those of an executor they hold up no end of the program: a question
    that takes long must not outlive who asked it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        self._left = False  #: nobody wants the answers any more

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._calls.put((future, call))
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, name=f"operation_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def shut_down(self, seconds: float | None) -> None:
        """Drop what nobody has begun, and wait so long for what has; None for as long as it takes."""
        try:
            while (waiting := self._calls.get_nowait()) is not None:
                waiting[0].cancel()
        except queue.Empty:
            pass
        for _ in self._threads:
            self._calls.put(None)
        end = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))
        self._left = True

    def _work(self) -> None:
        while (wanted := self._calls.get()) is not None:
            future, call = wanted
            if future.set_running_or_notify_cancel():
                _fulfil(future, call, lambda: self._left)
            del wanted, future, call  # an answer lives no longer than who wants it
            self._idle.release()


class _Background:
    """The thread pool, the mailbox and the notifier, made on first use."""

    def __init__(self) -> None:
        self.notify: Notify | None = None
        self._pool: _Threads | None = None
        self._mailbox: _Mailbox | None = None
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], Any], run: _Call, *, lasting: bool = False) -> None:
        with self._lock:
            if self._mailbox is None or not isValid(self._mailbox):
                self._mailbox = _Mailbox()
            if self._pool is None:
                self._pool = _Threads(THREADS)
            mailbox = self._mailbox
            call = functools.partial(_noting, run, call)
            future = _alone(call) if lasting else self._pool.submit(call)
        future.add_done_callback(functools.partial(self._post, mailbox, run))

    @staticmethod
    def _post(mailbox: _Mailbox, run: _Call, future: Future[Any]) -> None:
        if future.cancelled():
            return
        run.error = future.exception()
        run.result = None if run.error else future.result()
        if isValid(mailbox):
            mailbox.arrived.emit(run)

    def shut_down(self, seconds: float | None) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shut_down(seconds)


def _noting(run: _Call, call: Callable[[], Any]) -> Any:
    """Its answer; what it wrote into the audit is kept with the run."""
    with heard() as entries, undoing(run.undoes):
        try:
            return call()
        finally:
            run.written = tuple(entries)


def _fulfil(future: Future[Any], call: Callable[[], Any], left: Callable[[], bool] = lambda: False) -> None:
    """Answer, unless nobody is there to take it any more."""
    try:
        answer, error = call(), None
    except BaseException as exc:  # noqa: BLE001  (as a pool does: the error goes to who asked)
        answer, error = None, exc
    if left():
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
    del error  # it holds this frame


def _alone(call: Callable[[], Any]) -> Future[Any]:
    """Run in a thread of its own, which nobody waits for at the end."""
    future: Future[Any] = Future()
    threading.Thread(target=_fulfil, args=(future, call), name="lasting", daemon=True).start()
    return future


_background = _Background()
_ACTS = itertools.count(1)
_told_of = 0  #: number of the run whose answer is being delivered, 0 for none; the GUI thread's alone
_written: tuple[AuditEntry, ...] = ()  #: of that run
_taken_back: tuple[AuditEntry, ...] = ()  #: what the runs take back that begin now; the GUI thread's alone


def act_number() -> int:
    """Number of an act that is made now, or was made when the run began whose answer is being delivered: of all acts
    of the program the highest is that of the one made last, whichever is told of last.
    """
    return _told_of or next(_ACTS)


def written() -> tuple[AuditEntry, ...]:
    """The entries that the run wrote whose answer is being delivered, as they were when their acts began."""
    return _written


@contextlib.contextmanager
def taking_back(entries: tuple[AuditEntry, ...]) -> Iterator[None]:
    """The runs that begin within take back the acts of these entries: what they write in the audit says so."""
    global _taken_back
    before, _taken_back = _taken_back, entries
    try:
        yield
    finally:
        _taken_back = before


@contextlib.contextmanager
def _delivering(run: _Call) -> Iterator[None]:
    global _told_of, _written
    before, (_told_of, _written) = (_told_of, _written), (run.act, run.written)
    try:
        yield
    finally:
        _told_of, _written = before


def configure(notify: Notify | None) -> None:
    """Name the one callback that shows errors nobody else handled (GUI thread)."""
    _background.notify = notify


def shut_down(*, most_s: float | None = None) -> None:
    """End the threads; runs not yet begun are dropped. ``most_s``: those that take longer are left to themselves."""
    _background.shut_down(most_s)


def report(error: BaseException) -> None:
    """Log an error and hand it to the notifier."""
    log.error("operation failed: %s", error, exc_info=error)
    if _background.notify is not None:
        _background.notify(error)


class Operation(QObject):
    """A command or query that an owner runs again and again, off the GUI thread.

    Signals:
        busy_changed: a first run began, or the last one ended.
        succeeded: the result of a run.
        failed: the error of a run.
    """

    busy_changed = Signal(bool)
    succeeded = Signal(object)
    failed = Signal(object)

    def __init__(self, owner: QObject, *, latest: bool = False, lasting: bool = False) -> None:
        """``lasting``: a run may take minutes, so it gets a thread of its own; the few of the pool serve every page."""
        super().__init__(owner)
        self._latest, self._lasting = latest, lasting
        self._number = 0
        self._in_flight = 0
        self._awaited = False

    @property
    def busy(self) -> bool:
        """Whether a run is in flight."""
        return self._in_flight > 0

    @property
    def awaited(self) -> bool:
        """Whether the newest run is in flight and its answer still wanted; one that was given up may go on longer."""
        return self._awaited

    def start(
        self,
        call: Callable[[], T],
        success: Callable[[T], None] | None = None,
        failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Run `call`; without a `failure` of its own an error goes to the notifier."""
        self._submit(call, success or _ignore, self._unless_dropped(failure or report))

    def drop(self) -> None:
        """Want no answer of the runs in flight any more: with ``latest=True`` what they bring is left out."""
        self._number += 1
        self._awaited = False

    def _submit(
        self,
        call: Callable[[], T],
        success: Callable[[T], None],
        failure: Callable[[BaseException], None],
    ) -> None:
        self._number += 1
        run = _Call(weakref.ref(self), self._number, success, failure, act_number(), _taken_back)
        self._awaited = True
        self._in_flight += 1
        if self._in_flight == 1:
            self.busy_changed.emit(True)
        _background.submit(call, run, lasting=self._lasting)

    def _finish(self, run: _Call) -> None:
        self._in_flight -= 1
        if run.number == self._number:
            self._awaited = False
        if self._in_flight == 0:
            self.busy_changed.emit(False)
        with _delivering(run):
            self._deliver(run)

    def _deliver(self, run: _Call) -> None:
        if self._latest and run.number != self._number:
            run.failure(Dropped())
        elif run.error is not None:
            self.failed.emit(run.error)
            run.failure(run.error)
        else:
            self.succeeded.emit(run.result)
            run.success(run.result)

    @staticmethod
    def _unless_dropped(failure: Callable[[BaseException], None]) -> Notify:
        def call(error: BaseException) -> None:
            if not isinstance(error, Dropped):
                failure(error)

        return call


class HowFar(QObject):
    """How far the newest run of an operation is, told by its thread in the GUI thread.

    Signals:
        told: so many are done, or at which step it is; of how many.
    """

    told = Signal(int, int)
    _posted = Signal(int, int, int)

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        self._number = 0
        self._posted.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def begin(self) -> Callable[[int, int], None]:
        """What the run calls that begins now; what those before it tell is left out."""
        self._number += 1
        number, posted = self._number, self._posted

        def tell(done: int, of: int) -> None:
            with contextlib.suppress(RuntimeError):  # its owner is gone
                posted.emit(number, done, of)

        return tell

    @Slot(int, int, int)
    def _take(self, number: int, done: int, of: int) -> None:
        if number == self._number:
            self.told.emit(done, of)


def _ignore(_result: object) -> None:
    """Take a result that nobody asked for."""
