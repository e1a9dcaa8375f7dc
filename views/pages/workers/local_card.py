"""This computer: start and stop the workers inside this program."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from services.domain.insight.worker import WorkerNow
from services.domain.task.lane import Lane
from services.i18n import N_, _, ngettext
from views.pages.workers.nodes import Names
from views.pages.workers.slot_grid import SlotGrid
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.fields import ChoiceField
from views.widgets.status_pill import StatusPill
from views.widgets.stepper import Stepper
from views.widgets.strip import ErrorStrip

LANES: tuple[tuple[tuple[str, ...], str], ...] = (
    ((Lane.HIGH, Lane.NORMAL, Lane.LOW), N_("All lanes")),
    ((Lane.HIGH,), N_("High only")),
    ((Lane.HIGH, Lane.NORMAL), N_("High and Normal")),
    ((Lane.NORMAL, Lane.LOW), N_("Normal and Low")),
    ((Lane.LOW,), N_("Low only")),
)
SLOTS = 4
STOPPED, STARTING, RUNNING, STOPPING = "stopped", "starting", "running", "stopping"
_PILLS = {
    STOPPED: ("paused", N_("stopped")),
    STARTING: ("scheduled", N_("starting")),
    RUNNING: ("healthy", N_("running")),
    STOPPING: ("scheduled", N_("stopping")),
}


class LocalCard(Card):
    """Says what is true: starting and stopping last until they are done.

    Signals:
        start_wanted: slots, lanes.
        stop_wanted: stop, running tasks get their grace.
        slots_wanted: another number of slots while it runs.
        task_wanted: id of the task in a slot.
    """

    start_wanted = Signal(int, object)
    stop_wanted = Signal()
    slots_wanted = Signal(int)
    task_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(N_("This computer"), divided=False, parent=parent)
        self._state, self._forbidden, self._leads = STOPPED, "", True
        self._info: WorkerNow | None = None
        self._glyph = QLabel()
        self._pill = StatusPill("paused")
        self.add_before_title(self._glyph)
        self.add_action(self._pill)
        self._text = Label("", "label", "text2", wrap=True)
        self._grid = SlotGrid()
        self._grid.task_wanted.connect(self.task_wanted)
        self.error = ErrorStrip()
        self.error.retry.connect(self._on_button)
        self.slots = Stepper(N_("Slots"), SLOTS, 1, 64)
        self.slots.value_changed.connect(self._on_slots)
        self.lanes = ChoiceField()
        self.lanes.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.lanes.setMinimumWidth(84)
        self.button = Button(N_("Start"), kind="primary", icon="ph.play-fill")
        self.button.clicked.connect(self._on_button)
        self._slots_title = Label("", "label", "text2")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._slots_title)
        row.addWidget(self.slots)
        row.addWidget(self.lanes, 1)
        row.addWidget(self.button)
        for widget in (self._text, self._grid, self.error):
            self.body.addWidget(widget)
        self.body.addLayout(row)
        for lanes, _title in LANES:
            self.lanes.addItem("", lanes)
        theme().changed.connect(self._say)
        on_language_changed(self._say)
        self._say()

    @property
    def state(self) -> str:
        """stopped, starting, running or stopping."""
        return self._state

    def set_state(self, state: str) -> None:
        """Show what is true now."""
        if state != self._state:
            self._state = state
            self._say()

    def set_acting(self, reason: str) -> None:
        """Start nothing while that is not allowed; what works here can always be stopped."""
        self._forbidden = reason
        self._say()

    def set_leading(self, leads: bool) -> None:
        """Whether *Start* is what the page asks for: one filled button a view."""
        if leads != self._leads:
            self._leads = leads
            self._say()

    def show_worker(self, info: WorkerNow | None, names: Names, now_ms: int) -> None:
        """Show the slots of the local worker."""
        fresh = info is not None and (self._info is None or len(self._info.slots) != len(info.slots))
        self._info = info
        if info is not None:
            self._grid.show_worker(info, names, now_ms)
            if fresh:
                self.slots.set_value(len(info.slots))
        self._say()

    def chosen_lanes(self) -> tuple[str, ...]:
        """The lanes to serve, in their order of urgency."""
        return LANES[max(0, self.lanes.currentIndex())][0]

    def _say(self) -> None:
        busy = self._info.busy if self._info is not None else 0
        self._glyph.setPixmap(theme().pixmap("ph.laptop", "text2", 16))
        status, word = _PILLS[self._state]
        self._pill.set_status(status, _(word))
        self._text.setText(self._sentence(busy))
        self._grid.setVisible(self._state in (RUNNING, STOPPING) and self._info is not None)
        self._slots_title.setText(_("Slots"))
        for number, (_lanes, title) in enumerate(LANES):
            self.lanes.setItemText(number, _(title))
        self.lanes.setAccessibleName(_("Lanes"))
        running = self._state in (RUNNING, STOPPING)
        self.lanes.setEnabled(self._state == STOPPED)
        self.slots.setEnabled(self._state in (STOPPED, RUNNING))
        self.button.set_kind("primary" if self._leads and not running else "plain")
        self.button.set_glyph("ph.stop-fill" if running else "ph.play-fill")
        self.button.set_source(
            {STARTING: N_("Starting"), RUNNING: N_("Stop"), STOPPING: N_("Stopping")}.get(self._state, N_("Start"))
        )
        reasons = {STARTING: _("It is starting"), STOPPING: _("Waits for its running tasks"), STOPPED: self._forbidden}
        self.button.disable(reasons.get(self._state, ""))

    def _sentence(self, busy: int) -> str:
        if self._state == STOPPED:
            return _("Run tasks here too. When you close Fleetdeck, it asks what becomes of those that run.")
        if self._state == STARTING:
            return _("Connecting to the broker and the store.")
        if self._state == STOPPING:
            left = ngettext("{n} running task may finish first.", "{n} running tasks may finish first.", busy)
            return left.format(n=busy) if busy else _("Giving back what has not started.")
        slots = len(self._info.slots) if self._info is not None else self.slots.value()
        return _("{busy} of {slots} slots busy. Closing Fleetdeck asks what becomes of them.").format(
            busy=busy, slots=slots
        )

    def _on_button(self) -> None:
        if self._state == STOPPED:
            self.error.clear()
            self.start_wanted.emit(self.slots.value(), self.chosen_lanes())
        elif self._state == RUNNING:
            self.stop_wanted.emit()

    def _on_slots(self, slots: int) -> None:
        if self._state == RUNNING:
            self.slots_wanted.emit(slots)
