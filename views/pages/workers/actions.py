"""What workers are told, here and elsewhere; every order goes through an audited command."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.domain.fleet.worker import WorkerInfo
from services.i18n import _
from views.context import PageContext
from views.pages.workers.nodes import Names, running_rows
from views.pages.workers.stop_dialog import StopDialog, stop_order
from views.support.operation import Operation
from views.widgets.toast import ToastSpec, failure


class WorkerActions(QObject):
    """Signals:
    ordered: worker, order: it was given and waits for the next heartbeat.
    refused: worker: the order could not be given.
    local_changed: starting, running, stopping or stopped.
    local_failed: the error of starting.
    """

    ordered = Signal(str, str)
    refused = Signal(str)
    local_changed = Signal(str)
    local_failed = Signal(object)

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._telling = Operation(self)
        self._local = Operation(self)

    @property
    def local_busy(self) -> bool:
        """Whether the local worker is starting or stopping."""
        return self._local.busy

    def tell(self, worker: str, order: str) -> None:
        """Give an order; it is obeyed at the worker's next heartbeat."""
        self._telling.start(
            partial(self._context.commands.fleet.tell_worker, worker, order),
            lambda _none: self.ordered.emit(worker, order),
            partial(self._on_refused, worker),
        )

    def forget(self, worker: str) -> None:
        """Strike a worker that is gone off the list."""
        self._telling.start(
            partial(self._context.commands.fleet.forget_worker, worker),
            lambda _none: self._context.toast(
                ToastSpec(
                    text=_("{worker} is forgotten").format(worker=worker),
                    status="healthy",
                    detail=_("It comes back by itself if it beats again."),
                )
            ),
            partial(self._on_refused, worker),
        )

    def stop(self, info: WorkerInfo, names: Names, now_ms: int) -> None:
        """Stop a worker; asks first when that interrupts tasks, and offers to drain instead."""
        rows = running_rows(info, names, now_ms)
        if not rows:
            self.tell(info.worker, "stop")
            return
        dialog = StopDialog(info, names, rows, self._owner)
        dialog.stop_wanted.connect(lambda grace: self.tell(info.worker, stop_order(grace)))
        dialog.other_chosen.connect(partial(self.tell, info.worker, "drain"))
        dialog.open()

    def start_local(self, slots: int, lanes: tuple[str, ...]) -> None:
        """Start working in this program."""
        if self._local.busy:
            return
        self.local_changed.emit("starting")
        self._local.start(
            partial(self._context.local.start, slots, lanes),
            lambda _worker: self.local_changed.emit("running"),
            self._on_not_started,
        )

    def stop_local(self, info: WorkerInfo | None, names: Names, now_ms: int) -> None:
        """Stop working in this program; asks first when tasks are running."""
        rows = running_rows(info, names, now_ms) if info is not None else ()
        if info is None or not rows:
            self._stop_local()
            return
        dialog = StopDialog(info, names, rows, self._owner)
        dialog.stop_wanted.connect(self._stop_local)
        dialog.other_chosen.connect(partial(self.tell, info.worker, "drain"))
        dialog.open()

    def _stop_local(self, grace_s: float | None = None) -> None:
        if self._local.busy:
            return
        self.local_changed.emit("stopping")
        self._local.start(partial(self._context.local.stop, grace_s), self._on_stopped, self._on_not_stopped)

    def _on_stopped(self, clean: bool) -> None:
        self.local_changed.emit("stopped")
        if not clean:
            text = _("Stopped; some outcomes could not be written yet.")
            self._context.toast(
                ToastSpec(text=text, status="warning", detail=_("They are repeated by another worker."))
            )

    def _on_not_stopped(self, error: BaseException) -> None:
        self.local_changed.emit("running")
        self.local_failed.emit(error)

    def _on_not_started(self, error: BaseException) -> None:
        self.local_changed.emit("stopped")
        self.local_failed.emit(error)

    def _on_refused(self, worker: str, error: BaseException) -> None:
        self.refused.emit(worker)
        self._context.toast(failure(error))
