"""Who holds which message of a queue: the task, its worker and slot, since when and until when; then what nobody
explains.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.domain.fleet import holders
from services.domain.fleet.holders import Hold, QueueHeld
from services.i18n import N_, _
from services.monitor.queues.holders import HeldNow
from views.support import instant, shown, text
from views.support.look import Label
from views.support.words import type_names
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.empty_state import EmptyState
from views.widgets.panes import stacked

#: by state: its word, and the tone of it
STATES: Mapping[str, tuple[str, str]] = {
    holders.RUNS: (N_("runs"), "text2"),
    holders.TAKEN: (N_("claimed, in no slot now"), "text2"),
    holders.UNHEARD: (N_("its worker is not heard of"), "retrying"),
    holders.GIVEN_ON: (N_("not given to this worker any more"), "retrying"),
}


def _lease(one: Hold) -> str:
    if not one.lease_until:
        return _("no lease")
    left = one.lease_until - instant.now_ms()
    return text.until(shown.span(left)) if left > 0 else _("run out")


def _slot(one: Hold) -> str:
    return _("{worker}, slot {n}").format(worker=one.worker, n=one.slot) if one.slot else one.worker


COLUMNS: tuple[Column[Hold], ...] = (
    Column(key="type", title=N_("Type"), value=lambda one: type_names.name(one.task_type), kind="strong", width=140),
    Column(key="shop", title=N_("Shop"), value=lambda one: one.shop, width=140, names=True),
    Column(key="worker", title=N_("Holder"), value=_slot, width=220, stretch=True, names=True),
    Column(
        key="since",
        title=N_("For"),
        value=lambda one: one.since,
        text=lambda one: text.duration(shown.span(instant.now_ms() - one.since)) if one.since else "",
        kind="number",
        width=86,
        live=True,
    ),
    Column(
        key="lease",
        title=N_("Lease"),
        value=lambda one: one.lease_until,
        text=_lease,
        tone=lambda one: "text2" if one.lease_until > instant.now_ms() else "retrying",
        width=96,
        live=True,
        title_tip=N_("Until then nobody else gets the task; its worker renews it while it is heard of."),
    ),
    Column(
        key="state",
        title=N_("State"),
        value=lambda one: _(STATES[one.state][0]),
        tone=lambda one: STATES[one.state][1],
        width=190,
        hide_rank=2,
    ),
    Column(
        key="id", title=N_("Task"), value=lambda one: one.task_id, mono=True, names=True, tone="text3", width=170,
        hide_rank=1,
    ),
)  # fmt: skip


class HeldView(QWidget):
    """Signals:
    task_wanted: a task shall be opened: its id.
    """

    task_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._model: RecordModel[Hold] = RecordModel(COLUMNS, key=_key, hold_new=False)
        self.table = TableView(self._model, name=N_("Who holds it"), ground="surface")
        self.none = EmptyState(N_("Nobody holds a message of it."))
        self.stack = stacked(self.table, self.none)
        self.notes = Label("", "label", "retrying", wrap=True)
        self.facts = Label("", "label", "text3", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.stack, 1)
        column.addWidget(self.facts)
        column.addWidget(self.notes)
        self._now: HeldNow | None = None
        self.table.open_requested.connect(self._open)
        self.say()

    def show_held(self, now: HeldNow | None) -> None:
        """Show what is held of one queue; None while that is not known."""
        self._now = now
        self.say()

    def say(self) -> None:
        """Say it in the language of the moment."""
        now = self._now
        found = now.queues[0] if now is not None and now.queues else QueueHeld(name="")
        self._model.apply(found.holds, settle=True)
        at = now.at_ms if now is not None else 0
        said = [shown.told(one, at) for one in holders.notes(found, at)]
        beyond = said.pop() if found.beyond else ""
        if now is not None and not now.told:
            said.append(_("The broker does not tell how many messages are held: others may hold more than is listed."))
        if now is not None and now.more:
            said.append(_("More tasks run than were looked at."))
        self.facts.setText("\n".join(said))
        self.facts.setVisible(bool(said))
        self.notes.setText(beyond)
        self.notes.setVisible(bool(beyond))
        self.none.set_texts(N_("Loading…") if now is None else N_("No task of it is in anybody's hands."))
        self.stack.setCurrentWidget(self.table if found.holds else self.none)

    def _open(self, key: object) -> None:
        self.task_wanted.emit(str(key).rpartition(" ")[2])


def _key(one: Hold) -> str:
    return f"{one.worker} {one.slot} {one.task_id}"
