"""How urgent the new tasks are, when they start, and how often they are tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from PySide6.QtCore import QDate, QDateTime, QTime, QTimeZone, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from services.clock import SystemClock
from services.domain.errors import OperatorError
from services.domain.plans import repeats
from services.domain.task import lane
from services.i18n import N_, _
from services.messages import told
from views.dialogs.new_task.after import AfterField
from views.dialogs.new_task.moment import MomentField
from views.dialogs.new_task.parameters import Spot
from views.dialogs.new_task.part import Part
from views.support import shown, text
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.theme.tokens import LANES
from views.widgets.fields import DateTimeField
from views.widgets.segmented import Segmented
from views.widgets.stepper import Stepper

MAX_MINUTES = 366 * 24 * 60
MAX_ATTEMPTS = 21
WIDE = 6  #: which of the fields has a row to itself
NOW, LATER, AT, REPEAT = "now", "later", "at", "repeat"
_CLOCK = SystemClock()


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
        starts = ((NOW, N_("Now")), (LATER, N_("Delay")), (AT, N_("Time")), (REPEAT, N_("Repeat")))
        self.start = Segmented(starts, N_("Start"), stretch=True)
        self.minutes = QLineEdit("10")
        self.minutes.setValidator(QDoubleValidator(0, MAX_MINUTES, 2, self.minutes))
        self.time = DateTimeField(_in_an_hour())
        self.time.setTimeZone(QTimeZone.utc())
        self.repeat = QLineEdit("daily 02:30")
        self._when = QStackedWidget()
        self._when.addWidget(self.minutes)
        self._when.addWidget(self.time)
        self._when.addWidget(self.repeat)
        self.priority = Stepper(N_("Priority"), 6, lane.MIN_PRIORITY, lane.MAX_PRIORITY)
        self.attempts = Stepper(N_("Attempts"), 4, 1, MAX_ATTEMPTS)
        self.after, self.deadline = AfterField(), MomentField()
        self._refused = ""
        self._touched = False
        self._titles: list[tuple[Label, str, Label, str]] = []
        self._put_together()
        self.lane.chosen.connect(self._on_lane)
        self.start.chosen.connect(self._on_start)
        self.minutes.textChanged.connect(self._on_changed)
        self.time.dateTimeChanged.connect(self._on_changed)
        self.repeat.textChanged.connect(self._on_changed)
        self.after.changed.connect(self._on_after)
        self.deadline.changed.connect(self._on_changed)
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
            (self._when, "", ""),
            (self.priority, N_("Priority"), N_("1 to 10, also sets the lane")),
            (self.attempts, N_("Attempts"), N_("with growing pauses between them")),
            (self.deadline, N_("Deadline"), N_("to begin at the latest")),
            (self.after, N_("After"), N_("tasks that must succeed first: type an id, a shop or a type")),
        )
        for place, (widget, title, note) in enumerate(cells):
            grid.addWidget(self._cell(widget, title, note), place // 3, place % 3, 1, 3 if place == WIDE else 1)
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

    def at_ms(self) -> int:
        """The instant to wait for, UTC milliseconds; 0 for none."""
        if self.start.current() != AT:
            return 0
        # the numbers on screen are those of the fleet's zone, whatever zone this machine is in
        typed = self.time.dateTime()
        day, hour = typed.date(), typed.time()
        local = datetime(
            day.year(), day.month(), day.day(), hour.hour(), hour.minute(), hour.second(), tzinfo=shown.zone()
        )
        return round(local.timestamp() * 1000)

    def depends_on(self) -> tuple[str, ...]:
        """Ids of the tasks that must succeed first."""
        return self.after.ids()

    def repeats(self) -> tuple[str, int] | None:
        """The cron expression, or the seconds, of what repeats; None where it runs once or that is not clear."""
        try:
            return repeats.read(self.repeat.text()) if self.start.current() == REPEAT else None
        except OperatorError:
            return None

    def fields(self) -> dict[str, Any]:
        """Everything as it was filled in: times in words mean another instant each time."""
        return {
            "start": self.start.current(),
            "minutes": self.minutes.text(),
            "repeat": self.repeat.text(),
            "deadline": self.deadline.line.text(),
            "attempts": self.chosen_attempts(),
        }

    def fill(self, fields: Mapping[str, Any]) -> None:
        """Fill it in as it was; an instant that was picked is no part of it."""
        start = str(fields.get("start", NOW))
        self.start.set_current(start if start in (LATER, REPEAT) else NOW)
        for line, name in ((self.minutes, "minutes"), (self.repeat, "repeat"), (self.deadline.line, "deadline")):
            line.setText(str(fields.get(name, line.text())))
        attempts = fields.get("attempts", 0)
        self._touched = isinstance(attempts, int) and 0 < attempts <= MAX_ATTEMPTS
        if self._touched:
            self.attempts.set_value(int(attempts))
        self._on_start(self.start.current())

    def tell_refusals(self, errors: Sequence[tuple[object, str, str]]) -> bool:
        """Put a refusal that all tasks share at its field; False where it is none of this part."""
        found = {(field, sentence) for _spec, field, sentence in errors}
        if len(found) != 1:
            return False
        field, sentence = found.pop()
        if field == "depends_on":
            self._refused = sentence.removeprefix(f"{field}: ")
            self._on_changed()
        return field == "depends_on"

    def start_over(self) -> None:
        """Start at once, in the normal lane, as often as the task type says."""
        self._touched = False
        self.after.clear()
        self.deadline.line.clear()
        self.start.set_current(NOW)
        self._on_start(NOW)
        self.set_priority(lane.DEFAULT_PRIORITY[lane.Lane.NORMAL])

    def problem(self) -> str:
        """What is wrong, "" for nothing."""
        no_delay = self.start.current() == LATER and not self._minutes()
        ahead_min = (self.at_ms() - _CLOCK.now_ms()) / 60_000
        no_time = self.start.current() == AT and not 0 < ahead_min <= MAX_MINUTES
        set_look(self.minutes, invalid="true" if no_delay else "false")
        set_look(self.time, invalid="true" if no_time else "false")
        set_look(self.after.line, invalid="true" if self._refused else "false")
        self.after.line.setAccessibleDescription(self._refused)
        unclear = self._repeat_problem()
        set_look(self.repeat, invalid="true" if unclear else "false")
        if self._refused or unclear or self.deadline.problem():
            return self._refused or unclear or self.deadline.problem()
        starts = self.at_ms() or _CLOCK.now_ms() + round(self.delay_min() * 60_000)
        if 0 < self.deadline.at_ms() <= starts:
            return _("The deadline is before the start")
        if no_time:
            return _("The time is past") if ahead_min <= 0 else _("The time is more than a year ahead")
        return _("The delay must be more than 0 minutes and at most a year") if no_delay else ""

    def spots(self) -> list[Spot]:
        """The place of what is wrong."""
        return [("start", self._go_to_start)] if self.problem() else []

    def _go_to_start(self) -> QWidget:
        field: QWidget = self.time if self.start.current() == AT else self.minutes
        if self._refused:
            field = self.after.line
        elif self.deadline.problem():
            field = self.deadline.line
        elif self.start.current() == REPEAT:
            field = self.repeat
        field.setFocus()
        return field

    def _repeat_problem(self) -> str:
        if self.start.current() != REPEAT:
            return ""
        try:
            repeats.read(self.repeat.text())
        except OperatorError as exc:
            return told(exc)
        if self.after.ids():
            return _("What repeats waits for no tasks: take them away")
        return _("What repeats has no deadline: take it away") if self.deadline.line.text().strip() else ""

    def _minutes(self) -> float | None:
        try:
            found = float(self.minutes.text().strip().replace(",", "."))
        except ValueError:
            return None
        return found if 0 < found <= MAX_MINUTES else None

    # slots

    def _on_after(self) -> None:
        self._refused = ""
        self._on_changed()

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
        self.attempts.setEnabled(mode != REPEAT)
        self._when.setCurrentWidget({AT: self.time, REPEAT: self.repeat}.get(mode, self.minutes))
        if mode == LATER:
            self.minutes.setFocus()
            self.minutes.selectAll()
        elif mode == AT:
            if self.at_ms() <= _CLOCK.now_ms():
                self.time.setDateTime(_in_an_hour())
            self.time.setFocus()
        elif mode == REPEAT:
            self.repeat.setFocus()
        self._say_titles()
        self._on_changed()

    def _on_changed(self) -> None:
        self.set_errors(1 if self.problem() else 0)
        self.changed.emit()

    def _say_titles(self) -> None:
        zone = text.zone_name(shown.moment(_CLOCK.now_ms()), shown.zone())
        when = {AT: (_("Time"), zone), REPEAT: (_("How often"), _("30m, daily 02:30, cron"))}
        lead, hint = when.get(self.start.current(), (_("Delay"), _("minutes")))
        for name, title, more, note in self._titles:
            name.setText(_(title) if title else lead)
            more.setText(_(note) if note else "" if title else hint)
        often = self.start.current() == REPEAT
        self.attempts.setToolTip(_("What repeats is tried as often as its type says") if often else "")
        self.repeat.setAccessibleName(_("How often"))
        self.after.line.setPlaceholderText(_("none"))
        self.after.line.setAccessibleName(_("After, tasks that must succeed first"))
        self.minutes.setAccessibleName(_("Delay in minutes"))
        self.time.setAccessibleName(_("Time to start, {zone}").format(zone=zone))


def _in_an_hour() -> QDateTime:
    """The next whole quarter an hour from now, in the fleet's zone; Qt gets its bare numbers."""
    then = shown.moment(_CLOCK.now_ms()).astimezone(shown.zone()) + timedelta(hours=1)
    day = QDate(then.year, then.month, then.day)
    return QDateTime(day, QTime(then.hour, then.minute // 15 * 15), QTimeZone.utc())
