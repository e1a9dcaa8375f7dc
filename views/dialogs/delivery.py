"""How urgent the new tasks are, when they start, and how often they are tried."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.domain import lane
from services.i18n import N_, _
from views.dialogs.part import Part
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.theme.tokens import LANES
from views.widgets.segmented import Segmented
from views.widgets.stepper import Stepper

MAX_MINUTES = 366 * 24 * 60
MAX_ATTEMPTS = 21
NOW, LATER = "now", "later"


class Delivery(Part):
    """Signals:
    changed: lane, start or attempts.
    """

    changed = Signal()

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(number, N_("Delivery"), parent=parent)
        names = (lane.Lane.HIGH, lane.Lane.NORMAL, lane.Lane.LOW)
        self.lane = Segmented(
            tuple((name.value, LANES[name].word, LANES[name].glyph, LANES[name].role) for name in names),
            N_("Lane"),
            stretch=True,
        )
        self.lane.set_current(lane.Lane.NORMAL)
        self.start = Segmented(((NOW, N_("Now")), (LATER, N_("After a delay"))), N_("Start"), stretch=True)
        self.minutes = QLineEdit("10")
        self.minutes.setValidator(QDoubleValidator(0, MAX_MINUTES, 2, self.minutes))
        self.priority = Stepper(N_("Priority"), 6, lane.MIN_PRIORITY, lane.MAX_PRIORITY)
        self.attempts = Stepper(N_("Attempts"), 4, 1, MAX_ATTEMPTS)
        self._touched = False
        self._titles: list[tuple[Label, str, Label, str]] = []
        self._put_together()
        self.lane.chosen.connect(self._on_lane)
        self.start.chosen.connect(self._on_start)
        self.minutes.textChanged.connect(self._on_changed)
        self.priority.value_changed.connect(self._on_priority)
        self.attempts.value_changed.connect(self._on_attempts)
        on_language_changed(self._say_titles)
        self._say_titles()
        self._on_start(NOW)

    def _put_together(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        cells: tuple[tuple[QWidget, str, str], ...] = (
            (self.lane, N_("Lane"), N_("dedicated shops keep theirs")),
            (self.start, N_("Start"), ""),
            (self.minutes, N_("Delay"), N_("minutes")),
            (self.priority, N_("Priority"), N_("1 to 10, also sets the lane")),
            (self.attempts, N_("Attempts"), N_("with growing pauses between them")),
        )
        for place, (widget, title, note) in enumerate(cells):
            grid.addWidget(self._cell(widget, title, note), place // 3, place % 3)
            grid.setColumnStretch(place % 3, 1)
        self.body.addLayout(grid)

    def _cell(self, widget: QWidget, title: str, note: str) -> QWidget:
        cell = QWidget()
        head = QHBoxLayout()
        head.setSpacing(7)
        name, more = Label("", "label", "text2"), Label("", "label", "text3")
        self._titles.append((name, title, more, note))
        head.addWidget(name)
        head.addWidget(more)
        head.addStretch(1)
        column = QVBoxLayout(cell)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        row = QHBoxLayout()
        row.addWidget(widget)
        if isinstance(widget, Stepper):
            row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        return cell

    # values

    def set_defaults(self, attempts: int) -> None:
        """Take the policy of a task type, unless a person chose otherwise."""
        if not self._touched:
            self.attempts.set_value(attempts)

    def set_priority(self, priority: int) -> None:
        """Show a priority and its lane."""
        self.priority.set_value(priority)
        self.lane.set_current(lane.lane_of(priority))
        self.changed.emit()

    def chosen_attempts(self) -> int:
        """How often, 0 where the task type decides."""
        return self.attempts.value() if self._touched else 0

    def delay_min(self) -> float:
        """Minutes to wait; 0 starts at once."""
        return self._minutes() or 0.0 if self.start.current() == LATER else 0.0

    def problem(self) -> str:
        """What is wrong, "" for nothing."""
        wrong = self.start.current() == LATER and not self._minutes()
        set_look(self.minutes, invalid="true" if wrong else "false")
        return _("The delay must be more than 0 minutes and at most a year") if wrong else ""

    def _minutes(self) -> float | None:
        try:
            found = float(self.minutes.text().strip().replace(",", "."))
        except ValueError:
            return None
        return found if 0 < found <= MAX_MINUTES else None

    # slots

    def _on_lane(self, name: str) -> None:
        self.priority.set_value(lane.DEFAULT_PRIORITY[lane.Lane(name)])
        self.changed.emit()

    def _on_priority(self, value: int) -> None:
        self.lane.set_current(lane.lane_of(value))
        self.changed.emit()

    def _on_attempts(self, _value: int) -> None:
        self._touched = True
        self.changed.emit()

    def _on_start(self, mode: str) -> None:
        self.minutes.setEnabled(mode == LATER)
        if mode == LATER:
            self.minutes.setFocus()
            self.minutes.selectAll()
        self.changed.emit()

    def _on_changed(self) -> None:
        self.changed.emit()

    def _say_titles(self) -> None:
        for name, title, more, note in self._titles:
            name.setText(_(title))
            more.setText(_(note) if note else "")
        self.minutes.setAccessibleName(_("Delay in minutes"))
