"""This computer: start and stop the workers inside this program."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from services.domain.insight.worker import WorkerNow
from services.domain.task.lane import Lane
from services.i18n import N_, _, ngettext
from views.support import safe
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
    """

    start_wanted = Signal(int, object)
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(N_("This computer"), divided=False, parent=parent)
        self._state, self._forbidden, self._leads = STOPPED, "", True
        self._info: WorkerNow | None = None
        self._glyph = QLabel()
        self._pill = StatusPill("paused")
        self.add_before_title(self._glyph)
        self.add_action(self._pill)
        self._text = Label("", "label", "text2", wrap=True)
        self.error = ErrorStrip()
        self.error.retry.connect(self._on_button)
        self.slots = Stepper(N_("Slots"), SLOTS, 1, 64)
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
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self._text, self.error):
            self.body.addWidget(widget)
        self.body.addLayout(row)
        self.body.addStretch(1)
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

    def show_worker(self, info: WorkerNow | None) -> None:
        """What is told of the local worker beyond its state; the rest stands where all workers are."""
        self._info = info
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
        self._slots_title.setText(_("Slots"))
        for number, (_lanes, title) in enumerate(LANES):
            self.lanes.setItemText(number, _(title))
        self.lanes.setAccessibleName(_("Lanes"))
        running = self._state in (RUNNING, STOPPING)
        for widget in (self._slots_title, self.slots, self.lanes):
            widget.setVisible(self._state == STOPPED)
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
        name = safe.one_line(self._info.name, 60) if self._info is not None else _("The worker of this program")
        return _("{worker} runs in this program. Closing Fleetdeck asks what becomes of its tasks.").format(worker=name)

    def _on_button(self) -> None:
        if self._state == STOPPED:
            self.error.clear()
            self.start_wanted.emit(self.slots.value(), self.chosen_lanes())
        elif self._state == RUNNING:
            self.stop_wanted.emit()
