"""How urgent the new tasks are, when they start, and how often they are tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QStringListModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QDoubleValidator, QKeyEvent
from PySide6.QtWidgets import (
    QCompleter,
    QGridLayout,
    QLineEdit,
    QMenu,
    QWidget,
)

from services.domain.errors import OperatorError
from services.domain.plans import recurrence, repeats
from services.domain.task import ids, lane
from services.domain.task.record import Task
from services.domain.task.search.filter_time import Times
from services.domain.text.words import folded
from services.domain.types.task_type import TaskType
from services.domain.types.type_index import TypeIndex
from services.i18n import N_, _
from services.messages import told
from views.dialogs.new_task.parameters import Spot
from views.dialogs.new_task.section import MARGIN, FormSection
from views.support import instant, safe, shown, text
from views.support.language import say_in_language
from views.support.look import Label, set_look
from views.support.throttle import Debounce
from views.support.words import type_names
from views.theme.tokens import LANES
from views.widgets.buttons import Button, IconButton
from views.widgets.fields import DateTimeField
from views.widgets.flow_row import FlowRow
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked
from views.widgets.segmented import Segmented
from views.widgets.stepper import Stepper

MAX_MINUTES = 366 * 24 * 60
MAX_ATTEMPTS = 21
COLUMNS = 3
NOW, LATER, AT, REPEAT = "now", "later", "at", "repeat"
_BETWEEN = re.compile(r"[\s,;，；、]+")
QUIET_MS, SHORTEST = 200, 2


class Delivery(FormSection):
    """Signals:
    changed: lane, start or attempts.
    """

    changed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(number, N_("Delivery"))
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
        self.time = DateTimeField()
        self.time.show_moment(_in_an_hour())
        self.repeat = QLineEdit("daily 02:30")
        self._when = stacked(self.minutes, self.time, self.repeat)
        self.priority = Stepper(N_("Priority"), 6, lane.MIN_PRIORITY, lane.MAX_PRIORITY)
        self.attempts = Stepper(N_("Attempts"), 4, 1, MAX_ATTEMPTS)
        self.after, self.deadline = AfterField(), MomentField()
        self._refused = ""
        self._touched = False
        self._columns = 0
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
        say_in_language(self._say_titles)
        self._on_start(NOW)

    def _put_together(self) -> None:
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(10)
        cells: tuple[tuple[QWidget, str, str], ...] = (
            (self.lane, N_("Lane"), N_("dedicated shops keep theirs")),
            (self.start, N_("Start"), ""),
            (self._when, "", ""),
            (self.priority, N_("Priority"), N_("1 to 10, also sets the lane")),
            (self.attempts, N_("Attempts"), N_("with growing pauses between them")),
            (self.deadline, N_("Deadline"), N_("to begin at the latest")),
            (
                self.after,
                N_("After"),
                N_("must succeed first: a task, or what is open of a type; type an id, a shop or a type"),
            ),
        )
        self._cells = [self._cell(widget, title, note) for widget, title, note in cells]
        self.body.addLayout(self._grid)
        self._stand(COLUMNS)

    def take_width(self, width: int) -> None:
        """Stand in one column less where the fields need more room than so much for all of the section."""
        widths = [cell.minimumSizeHint().width() for cell in self._cells[:-1]]
        needed = sum(max(widths[place::COLUMNS]) for place in range(COLUMNS))
        needed += (COLUMNS - 1) * self._grid.horizontalSpacing() + 2 * MARGIN
        self._stand(COLUMNS if needed <= width else COLUMNS - 1)

    def _stand(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for place, cell in enumerate(self._cells):
            whole = place == len(self._cells) - 1  # what may be long has a row to itself
            self._grid.addWidget(cell, place // columns, 0 if whole else place % columns, 1, columns if whole else 1)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))

    def _cell(self, widget: QWidget, title: str, note: str) -> QWidget:
        cell = QWidget()
        head = in_row(spacing=7)
        name, more = Label("", "label", "text2"), Label("", "label", "text3")
        self._titles.append((name, title, more, note))
        put(head, name, more, STRETCH)
        column = in_column(head, owner=cell, spacing=4)
        row = in_row(widget)
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
        return round(self.time.moment(shown.zone()).timestamp() * 1000)

    def set_at(self, at_ms: int) -> None:
        """Start at this instant, UTC ms."""
        self.time.show_moment(shown.moment(at_ms).astimezone(shown.zone()))
        self.start.set_current(AT)
        self._on_start(AT)

    def depends_on(self) -> tuple[str, ...]:
        """Ids of the tasks that must succeed first."""
        return self.after.ids()

    def repeats(self) -> tuple[str, int] | None:
        """The cron expression, or the seconds, of what repeats; None where it runs once or that is not clear."""
        try:
            return repeats.read(self.repeat.text()) if self.start.current() == REPEAT else None
        except OperatorError:
            return None

    def first_run(self) -> int | None:
        """When what repeats runs first, UTC ms, 0 where that is not known; None where it does not repeat."""
        if (often := self.repeats()) is None:
            return None
        cron, every_s = often
        if every_s:
            return instant.now_ms() + every_s * 1000
        try:
            return recurrence.next_after(recurrence.Cron(cron, shown.zone_key()), instant.now_ms())
        except OperatorError:
            return 0

    def fields(self) -> dict[str, Any]:
        """Everything as it was filled in: times in words mean another instant each time."""
        return {
            "start": self.start.current(),
            "minutes": self.minutes.text(),
            "repeat": self.repeat.text(),
            "deadline": self.deadline.line.text(),
            "attempts": self.chosen_attempts(),
            "after": list(self.after.kinds()),
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
        kinds = fields.get("after", ())
        for kind in kinds if isinstance(kinds, list) else ():
            self.after.add_kind(str(kind))
        self._on_start(self.start.current())

    def tell_refusals(self, errors: Sequence[tuple[object, str, str]]) -> bool:
        """Put a refusal that all tasks share at its field; False where it is none of this part."""
        found = {(field, sentence) for _spec, field, sentence in errors}
        if len(found) != 1:
            return False
        field, sentence = found.pop()
        if field == "depends_on":
            self._refused = told(sentence).removeprefix(f"{field}: ").removeprefix(f"{field}：")
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
        wrong = self._wrong()
        for field in (self.minutes, self.time, self.repeat, self.after.line, self.deadline.line):
            why = next((words for one, words in wrong if one is field), "")
            set_look(field, invalid="true" if why else "false")
            field.setAccessibleDescription(why)
        return wrong[0][1] if wrong else ""

    def spots(self) -> list[Spot]:
        """The place of what is wrong."""
        return [("start", self._go_to_wrong)] if self._wrong() else []

    def _go_to_wrong(self) -> QWidget:
        field = next((field for field, _words in self._wrong()), self.minutes)
        field.setFocus()
        return field

    def _wrong(self) -> list[tuple[QWidget, str]]:
        """Fields that are wrong, each with why, in the order in which that is said."""
        mode, deadline = self.start.current(), self.deadline.line
        found: list[tuple[QWidget, str]] = [(self.after.line, self._refused or self._unsettled())]
        if mode == REPEAT:
            waits = _("What repeats waits for no tasks: take them away") if self.after.ids() else ""
            ends = _("What repeats has no deadline: take it away") if deadline.text().strip() else ""
            found += [(self.repeat, self._unclear()), (self.after.line, waits), (deadline, ends)]
        found.append((deadline, self.deadline.problem()))
        starts = self.at_ms() or instant.now_ms() + round(self.delay_min() * 60_000)
        if 0 < self.deadline.at_ms() <= starts:
            found.append((deadline, _("The deadline is before the start")))
        ahead_min = (self.at_ms() - instant.now_ms()) / 60_000
        if mode == AT and not 0 < ahead_min <= MAX_MINUTES:
            words = _("The time is past") if ahead_min <= 0 else _("The time is more than a year ahead")
            found.append((self.time, words))
        if mode == LATER and not self._minutes():
            found.append((self.minutes, _("The delay must be more than 0 minutes and at most a year")))
        return [(field, words) for field, words in found if words]

    def _unsettled(self) -> str:
        """What of *After* is still to be chosen."""
        if not (words := self.after.unsettled()):
            return ""
        return _("After: choose what {words} means, or press Enter to take it as it is").format(
            words=safe.one_line(words, 40)
        )

    def _unclear(self) -> str:
        try:
            repeats.read(self.repeat.text())
        except OperatorError as exc:
            return told(exc)
        return ""

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
            if self.at_ms() <= instant.now_ms():
                self.time.show_moment(_in_an_hour())
            self.time.setFocus()
        elif mode == REPEAT:
            self.repeat.setFocus()
        self._say_titles()
        self._on_changed()

    def _on_changed(self) -> None:
        self.set_errors(1 if self.problem() else 0)
        self.changed.emit()

    def _say_titles(self) -> None:
        zone = text.zone_name(shown.moment(instant.now_ms()), shown.zone())
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


def _in_an_hour() -> datetime:
    """The next whole quarter an hour from now, in the fleet's zone."""
    then = shown.moment(instant.now_ms()).astimezone(shown.zone()) + timedelta(hours=1)
    return then.replace(minute=then.minute // 15 * 15, second=0)


#: what is offered, as it is typed
OFFERS = (N_("in 30 min"), N_("in 2 h"), N_("in 8 h"), N_("today 18:00"), N_("tomorrow 9:00"))
MOST_AHEAD_MS = 366 * 86_400_000


class MomentField(QWidget):
    """A moment to come, typed in words or picked: ``in 2 h``, ``today 18:00``; what it means stands below it.

    Empty means none.

    Signals:
        changed: another moment, or none.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.line = QLineEdit()
        self.pick = IconButton("ph.clock", N_("Pick a time"))
        self._means = Label("", "caption", "text3")
        row = in_row((self.line, 1), self.pick, spacing=4)
        in_column(row, self._means, owner=self, spacing=3)
        self.line.textChanged.connect(self._on_text)
        self.pick.clicked.connect(self._on_pick)
        say_in_language(self._say)

    def at_ms(self) -> int:
        """The instant meant now (UTC milliseconds), 0 for none and for what is none."""
        return Times(instant.now_ms(), shown.zone_key()).coming(self.line.text()) or 0

    def problem(self) -> str:
        """What is wrong with it, "" for nothing."""
        if not self.line.text().strip():
            return ""
        at, now = self.at_ms(), instant.now_ms()
        if not at:
            return _("Write a time such as 18:00, tomorrow 9:00 or in 2 h")
        if at <= now:
            return _("The time is past")
        return _("The time is more than a year ahead") if at > now + MOST_AHEAD_MS else ""

    def menu(self) -> QMenu:
        """Times to pick, each with what it means now."""
        menu = QMenu(self)
        times = Times(instant.now_ms(), shown.zone_key())
        for words in map(_, OFFERS):
            at = times.coming(words) or 0
            offer = menu.addAction(_("{name}: {value}").format(name=words, value=shown.clock(at, times.now_ms)))
            offer.setEnabled(at > times.now_ms)
            offer.triggered.connect(lambda _on=False, words=words: self.line.setText(words))
        menu.addSeparator()
        menu.addAction(_("None")).triggered.connect(self.line.clear)
        return menu

    def _on_pick(self) -> None:
        menu = self.menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.pick.mapToGlobal(self.pick.rect().bottomLeft()))

    def _on_text(self) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        why, at = self.problem(), self.at_ms()
        self.line.setPlaceholderText(_("none; or in 2 h, today 18:00"))
        self.line.setAccessibleName(_("Deadline"))
        self.line.setAccessibleDescription(why)
        set_look(self.line, invalid="true" if why else "false")
        self._means.setText(why or (shown.clock(at, instant.now_ms()) if at else ""))
        self._means.set_tone("dead" if why else "text3")


class AfterField(QWidget):
    """What must succeed first: tasks, found by id, shop or type, and types, which mean what is open of them for a shop.

    Each is a chip; ids and types can be pasted as well.

    Signals:
    changed: other tasks, or other words.
    grown: a person chose one, which stands below the field.
    search_wanted: words by which a task is looked for.
    """

    changed = Signal()
    grown = Signal()
    search_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.line = QLineEdit()
        self.chips: dict[str, Button] = {}
        self._offers, self._found = QStringListModel(self), list[Task]()
        self._types: Mapping[str, TaskType] = {}
        self._index = TypeIndex({})
        self._words: dict[str, str] = {}  #: those in the field, each with what it is whole
        self._like: list[str] = []  #: types that are offered before the tasks
        self._finder = QCompleter(self._offers, self)
        self._finder.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        # PySide's stubs know no overload of a signal
        self._finder.activated[QModelIndex].connect(lambda at: self.take(at.row()))  # type: ignore[index]
        self._row = FlowRow(across=6, down=4)
        self._search = Debounce(self._on_quiet, QUIET_MS, self)
        in_column(self.line, self._row, owner=self, spacing=4)
        self._finder.setWidget(self.line)
        self.line.installEventFilter(self)
        self.line.textEdited.connect(self._search)
        self.line.textChanged.connect(self._on_text)

    def ids(self) -> tuple[str, ...]:
        """Those picked, then those typed whole."""
        return tuple(dict.fromkeys([*self.chips, *filter(None, self._words.values())]))

    def unsettled(self) -> str:
        """What was typed of which nobody knows yet what is meant, "" for none: it may be the beginning of something."""
        return text.listed([word for word, meant in self._words.items() if not meant])

    def _on_text(self) -> None:
        self._words = self._typed()
        self.changed.emit()

    def _typed(self) -> dict[str, str]:
        """The words in the field, each with what it is whole: a type or the id of a task; "" for neither."""
        typed = self.line.text().strip()
        if kind := self._meant(typed):
            return {typed: kind}
        return {
            word: self._meant(word) or (word if ids.is_ours(word) else "") for word in _BETWEEN.split(typed) if word
        }

    def set_types(self, types: Mapping[str, TaskType]) -> None:
        """The types there are."""
        self._types, self._index = types, TypeIndex(types)
        self._words = self._typed()

    def kinds(self) -> tuple[str, ...]:
        """The types among what was picked."""
        return tuple(name for name in self.chips if name in self._types)

    def add_kind(self, name: str) -> None:
        """Show a type as a chip, if there is one of this name."""
        if name in self._types:
            self.add(name, _kind_words(name))

    def add_all(self, words: Iterable[str]) -> None:
        """Show each as a chip, of a type or of a task."""
        for word in words:
            if kind := self._meant(word):
                self.add_kind(kind)
            else:
                self.add(word)

    def add(self, task_id: str, words: str = "") -> None:
        """Show one as a chip."""
        if task_id in self.chips:
            return
        chip = Button(kind="plain", icon="ph.x", small=True)
        chip.set_count_text(safe.cut(safe.one_line(words or task_id), 60))
        chip.setToolTip(safe.tooltip(_("Take {id} away").format(id=task_id)))
        chip.setAccessibleName(_("Take {id} away").format(id=task_id))
        chip.clicked.connect(partial(self.remove, task_id))
        self.chips[task_id] = chip
        self._row.addWidget(chip)
        self.changed.emit()

    def remove(self, task_id: str) -> None:
        """Take one away."""
        chip = self.chips.pop(task_id, None)
        if chip is not None:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
            self.changed.emit()

    def clear(self) -> None:
        """None."""
        for task_id in list(self.chips):
            self.remove(task_id)
        self.line.clear()

    def show_found(self, tasks: Sequence[Task]) -> None:
        """Offer what was found."""
        self._found, self._like = list(tasks), self._types_like(self.line.text())
        self._offers.setStringList([*map(_kind_words, self._like), *map(_words, self._found)])
        if self._offers.rowCount() and self.line.hasFocus():
            self._finder.complete()

    def _types_like(self, words: str) -> list[str]:
        typed = folded(words)
        names = {name: (name, *kind.title.values()) for name, kind in self._types.items()}
        return [name for name, some in names.items() if any(typed in folded(one) for one in some)] if typed else []

    def _meant(self, word: str) -> str:
        """The type that a word is the name or a title of, "" for none or several."""
        found = self._index.find(word)
        return found[0] if len(found) == 1 else ""

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Enter makes chips of what was typed; Backspace in an empty field takes the last one away."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() and self.line.text().strip():
            whole = self.line.text().strip()
            typed = [whole] if self._meant(whole) else [word for word in _BETWEEN.split(whole) if word]
            self.line.clear()
            self.add_all(typed)
            self.grown.emit()
        elif event.key() == Qt.Key.Key_Backspace and self.chips and not self.line.text():
            self.remove(list(self.chips)[-1])
        else:
            return False
        return True

    def _on_quiet(self, _typed: str = "") -> None:
        words = self.line.text().strip()
        if len(words) >= SHORTEST:
            self.search_wanted.emit(words)

    def offered(self) -> tuple[Task, ...]:
        """What was found last."""
        return tuple(self._found)

    def take(self, place: int) -> None:
        """Take one of those."""
        if 0 <= place < len(self._like):
            self.line.clear()
            self.add_kind(self._like[place])
            self.grown.emit()
            return
        place -= len(self._like)
        if 0 <= place < len(self._found):
            task = self._found[place]
            self.line.clear()
            self.add(task.task_id, _words(task))
            self.grown.emit()


def _kind_words(name: str) -> str:
    return safe.one_line(_("{type}: what is open of it for the shop").format(type=type_names.name(name)))


def _words(task: Task) -> str:
    kind = type_names.name(task.task_type)
    return safe.one_line(text.listed([kind, task.shop, shown.status_word(task.status), task.task_id]))
