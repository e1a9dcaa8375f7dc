"""Runs a bulk republish in a thread of its own, whoever looks: dialogs come and go, the run goes on.

Above the few letters of a click a run is held for a moment in which it can be taken back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from services.commands.bulk.republish import BulkRepublish, Control, Ended, Options, Plan, Progress
from services.domain.errors import ConsoleError

HOLD_S, STOP_S = 10, 5.0


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is run and how."""

    plan: Plan
    options: Options
    run_id: str = ""  #: of a run that is taken up again, as its letters stand now

    @property
    def number(self) -> int:
        """How many letters."""
        return self.options.probe if self.options.probe_only else len(self.plan.items)


class BulkRunner(QObject):
    """One run at a time.

    Signals:
        changed: held, begun, paused, resumed, ended or taken back.
        progressed: a ``Progress`` of the run.
        ended: the ``RunRequest`` and its ``Ended``.
        failed: the ``RunRequest`` and the error because of which nothing was done.
        taken_back: the ``RunRequest`` that was held.
    """

    changed = Signal()
    progressed = Signal(object)
    ended = Signal(object, object)
    failed = Signal(object, object)
    taken_back = Signal(object)
    _arrived = Signal(object, object)

    def __init__(self, bulk: Callable[[], BulkRepublish], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bulk = bulk
        self._job: RunRequest | None = None
        self._control = Control()
        self._thread: threading.Thread | None = None
        self.progress: Progress | None = None
        self._hold = QTimer(self, singleShot=True, interval=HOLD_S * 1000)
        self._hold.timeout.connect(self.send_now)
        self._arrived.connect(self._take, Qt.ConnectionType.QueuedConnection)

    @property
    def job(self) -> RunRequest | None:
        """What is held or under way."""
        return self._job

    @property
    def delayed(self) -> bool:
        """Whether it can still be taken back."""
        return self._hold.isActive()

    @property
    def paused(self) -> bool:
        """Whether the run waits until it is resumed."""
        return self._control.paused

    def hold(self, job: RunRequest) -> bool:
        """Begin after a moment; False while another run is under way."""
        if self._job is not None:
            return False
        self._job = job
        self._hold.start()
        self.changed.emit()
        return True

    def begin(self, job: RunRequest) -> bool:
        """Begin at once; False while another run is under way."""
        if self._job is not None:
            return False
        self._job = job
        self._run()
        return True

    def send_now(self) -> None:
        """Begin what is held."""
        if self._job is not None and self._thread is None:
            self._hold.stop()
            self._run()

    def undo(self) -> None:
        """Take back what is held."""
        if self._job is not None and self._hold.isActive():
            self._hold.stop()
            job, self._job = self._job, None
            self.changed.emit()
            self.taken_back.emit(job)

    def pause(self) -> None:
        """Send nothing more for now."""
        self._control.pause()
        self.changed.emit()

    def resume(self) -> None:
        """Go on."""
        self._control.resume()
        self.changed.emit()

    def stop(self) -> None:
        """Send nothing more; what was not sent stays a dead letter."""
        self._control.stop()
        self.changed.emit()

    def finish(self, grace_s: float = 0.0) -> None:
        """Let the run go on for a moment, then leave it; what was not sent stays a dead letter.

        Blocking, from any thread; what is held begins with ``send_now`` before this, as it was asked for.
        """
        thread = self._thread
        if thread is not None:
            thread.join(grace_s)
            self._control.leave()
            thread.join(STOP_S)

    def _run(self) -> None:
        job = self._job
        assert job is not None
        control = self._control = Control()
        self.progress = None
        bulk, arrived = self._bulk(), self._arrived

        def go() -> None:
            answer: object

            def tell(progress: Progress) -> None:
                _post(arrived, job, progress)

            try:
                if job.run_id:
                    answer = bulk.resume(job.run_id, on_progress=tell, control=control)
                else:
                    answer = bulk.run(job.plan, job.options, on_progress=tell, control=control)
            except ConsoleError as exc:
                answer = exc
            _post(arrived, job, answer)

        self._thread = threading.Thread(target=go, name="bulk-republish", daemon=True)
        self._thread.start()
        self.changed.emit()

    def _take(self, job: RunRequest, answer: object) -> None:
        if isinstance(answer, Progress):
            self.progress = answer
            self.progressed.emit(answer)
            return
        if self._thread is not None:
            self._thread.join(1.0)
        self._thread, self._job = None, None
        self.changed.emit()
        if isinstance(answer, Ended):
            self.ended.emit(job, answer)
        else:
            self.failed.emit(job, answer)


def _post(signal: object, job: RunRequest, answer: object) -> None:
    try:
        signal.emit(job, answer)  # type: ignore[attr-defined]
    except RuntimeError:  # the window is gone; what was sent is recorded, what was not stays a dead letter
        return
