"""Asks before a worker with running tasks is stopped: what that interrupts, and how long they may take to finish."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.domain.fleet.worker import WorkerInfo
from services.domain.fleet.worker_order import MAX_GRACE_S
from services.i18n import N_, _, ngettext
from views.dialogs.confirm import ConfirmDialog, Question
from views.pages.workers.nodes import Names
from views.widgets.fields import Labelled, NumberField

#: below all numbers of seconds: the worker's own setting
OWN = -1


class StopDialog(ConfirmDialog):
    """Signals:
    stop_wanted: seconds that running tasks get, None for what the worker has set.
    """

    stop_wanted = Signal(object)

    def __init__(
        self, info: WorkerInfo, names: Names, rows: tuple[tuple[str, str], ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(_question(info, names, rows), parent)
        self.grace = NumberField(OWN, OWN, MAX_GRACE_S)
        self.grace.setSpecialValueText(_("as the worker has set"))
        self.body.addWidget(Labelled(N_("Time to finish"), self.grace, hint=N_("seconds; 30 where nothing is set")))
        self.confirmed.connect(self._on_confirmed)

    def _on_confirmed(self) -> None:
        chosen = self.grace.value()
        self.stop_wanted.emit(None if chosen == OWN else float(chosen))


def stop_order(grace_s: float | None) -> str:
    """The order in the words of the worker."""
    return "stop" if grace_s is None else f"stop={grace_s:g}"


def _question(info: WorkerInfo, names: Names, rows: tuple[tuple[str, str], ...]) -> Question:
    number, once = len(rows), sum(names.once_only(slot.task_type) for slot in info.slots if slot.task_id)
    parts = [
        ngettext(
            "{worker} runs {n} task. It gets the time below to finish; then it is interrupted and begins anew on the"
            " next free worker. That counts as no failure.",
            "{worker} runs {n} tasks. They get the time below to finish; then they are interrupted and begin anew on"
            " the next free worker. That counts as no failure.",
            number,
        ).format(worker=info.worker, n=number)
    ]
    if once:
        parts.append(
            ngettext(
                "{n} of them must not run twice: interrupted, it is held until somebody decides.",
                "{n} of them must not run twice: interrupted, they are held until somebody decides.",
                once,
            ).format(n=once)
        )
    parts.append(_("Draining interrupts nothing: it takes no new tasks and finishes these."))
    return Question(
        title=N_("Stop a worker"),
        text="\n\n".join(parts),
        rows=rows,
        verb=ngettext("Stop with {n} task running", "Stop with {n} tasks running", number).format(n=number),
        danger=True,
        other=_("Drain instead"),
    )
