"""The dialog for a new schedule, or for a change of one; shows the next runs while it is filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QStackedWidget, QWidget

from services.domain.errors import UsageError
from services.domain.plans.schedule import Schedule
from services.domain.task.search import filter_time
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from services.monitor.schedules import RunLoad, ScheduleRow
from views.context import PageContext
from views.dialogs.new_task.parameters import Parameters, needs_text
from views.dialogs.record import ALL, NAMED, SOME, RecordDialog
from views.pages.schedules import words
from views.pages.schedules.load_strip import LoadStrip
from views.support import instant, text
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.fields import ChoiceField
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import Strip

WIDTH, LOOK_MS = 720, 300
#: what stands above and below the form: title, next runs, load, buttons; and how low the form may get
AROUND, LEAST_FORM = 360, 240
CRON, EVERY = "cron", "every"
_BETWEEN = re.compile(r"[\s,;，；、]+")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class ScheduleDialog(RecordDialog[Schedule]):
    """A schedule."""

    def __init__(self, context: PageContext, row: ScheduleRow | None = None, parent: QWidget | None = None) -> None:
        title = N_("Edit a schedule") if row is not None else N_("New schedule")
        super().__init__(title, icon="ph.calendar-check", width=WIDTH, look_ms=LOOK_MS, parent=parent)
        self._context, self._base = context, row.schedule if row is not None else None
        self._types: Mapping[str, TaskType] = {}
        self._revealing = Operation(self)
        self._build()
        self._load(filled(self._base) if self._base is not None else Filled())
        self._connect()
        self._fit()
        self._untouched = self.values()
        self._asking.start(context.types, self._show_types)

    # putting together

    def _build(self) -> None:
        self.name, self.cron, self.every = QLineEdit(), QLineEdit(), QLineEdit()
        self.zone, self.spread, self.note = QLineEdit(), QLineEdit(), QLineEdit()
        self.platforms, self.groups, self.shops = QLineEdit(), QLineEdit(), QLineEdit()
        self.task_type = ChoiceField()
        self.task_type.setEditable(True)
        self.repeats = Segmented(((CRON, N_("Cron")), (EVERY, N_("Interval"))), N_("Repeats"), stretch=True)
        self.choice = Segmented(
            ((ALL, N_("All")), (SOME, N_("By group")), (NAMED, N_("By name"))), N_("Shops"), stretch=True
        )
        self.missed, self.overlap = (
            _choice([(kept, _(word)) for kept, word in words.CHOICES[field].items()]) for field in ("missed", "overlap")
        )
        self.payload = Parameters(0)
        self._when, self._whom = QStackedWidget(), QStackedWidget()
        self._pane = ScrollPane()
        self._lay_out()
        self.body.addWidget(self._pane, 1)
        self.preview = Label("", "label", "text2", wrap=True)
        self.preview.setMinimumHeight(36)
        self.body.addWidget(self.preview)
        self.conflicts = Strip("warning")
        self.conflicts.hide()
        self.body.addWidget(self.conflicts)
        self.load = LoadStrip()
        self.body.addWidget(self.load)
        self.cancel_button, self.save_button = self.end_with_save(self._save)

    def _lay_out(self) -> None:
        for widget in (
            self._labelled("cron", N_("Cron"), self.cron, N_("minute hour day month weekday")),
            self._labelled("every", N_("Interval"), self.every, N_("such as 30m or 2h")),
        ):
            self._when.addWidget(widget)
        for page in (
            QWidget(),
            _pair(
                self._labelled("platform", N_("Platforms"), self.platforms),
                self._labelled("group", N_("Groups"), self.groups, N_("both must fit")),
            ),
            self._labelled("shop", N_("Shops"), self.shops, N_("platform:shop_id, separated by commas")),
        ):
            self._whom.addWidget(page)
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        cells: tuple[QWidget, ...] = (
            self._labelled("name", N_("Name"), self.name),
            self._labelled("type", N_("Task type"), self.task_type),
            self._labelled("repeats", N_("Repeats"), self.repeats),
            self._when,
            self._labelled("choice", N_("Shops"), self.choice),
            self._whom,
            self._labelled("zone", N_("Time zone"), self.zone, N_("empty: that of the fleet")),
            self._labelled("spread", N_("Spread"), self.spread, N_("shops start evenly over this time")),
            self._labelled("missed", N_("When nobody could start it in time"), self.missed),
            self._labelled("overlap", N_("When the run before is not through"), self.overlap),
        )
        for place, cell in enumerate(cells):
            grid.addWidget(cell, place // 2, place % 2, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(place % 2, 1)
        form_of = self._pane.body
        form_of.setSpacing(10)
        form_of.addLayout(grid)
        form_of.addWidget(self._labelled("payload", N_("Payload"), self.payload))
        form_of.addWidget(self._labelled("note", N_("Note"), self.note))

    def _fit(self) -> None:
        """Let the form scroll where window or screen is too low for all of it."""
        tall = self._pane.body.sizeHint().height()
        parent = self.parentWidget()
        room = (parent.window().height() if parent else self.screen().availableGeometry().height()) - AROUND
        self._pane.setFixedHeight(max(LEAST_FORM, min(tall, room)))

    def _connect(self) -> None:
        for one in (
            self.name,
            self.cron,
            self.every,
            self.zone,
            self.spread,
            self.platforms,
            self.groups,
            self.shops,
        ):
            one.textChanged.connect(self._look_soon)
        self.task_type.currentTextChanged.connect(self._look_soon)
        self.task_type.currentTextChanged.connect(self._on_type)
        self.payload.changed.connect(self._look_soon)
        self.payload.reveal_button.clicked.connect(self._on_reveal)
        for choice in (self.missed, self.overlap):
            choice.currentIndexChanged.connect(self._look_soon)
        for segments in (self.repeats, self.choice):
            segments.chosen.connect(self._on_segment)
        self._saving.busy_changed.connect(lambda busy: self.save_button.disable(_("It is being kept") if busy else ""))
        self._on_segment()
        (self.cron if self._base is not None else self.name).setFocus()

    # values

    def _load(self, values: Filled) -> None:
        for one, value in (
            (self.name, values.name),
            (self.cron, values.cron),
            (self.every, values.every),
            (self.zone, values.zone),
            (self.platforms, values.platforms),
            (self.groups, values.groups),
            (self.shops, values.shops),
            (self.spread, values.spread),
            (self.note, values.note),
        ):
            one.setText(value)
        self.task_type.setCurrentText(values.task_type)
        self.repeats.set_current(values.repeats)
        self.choice.set_current(values.choice)
        self.missed.setCurrentIndex(self.missed.findData(values.missed))
        self.overlap.setCurrentIndex(self.overlap.findData(values.overlap))
        self.payload.show_kind(None, values.payload)
        self.payload.set_mode("json")  # until its type is known
        self.name.setReadOnly(self._base is not None)

    def values(self) -> Filled:
        """The fields as they stand."""
        return Filled(
            name=self.name.text(),
            task_type=self._type_code(),
            repeats=self.repeats.current(),
            cron=self.cron.text(),
            every=self.every.text(),
            zone=self.zone.text(),
            choice=self.choice.current(),
            platforms=self.platforms.text(),
            groups=self.groups.text(),
            shops=self.shops.text(),
            spread=self.spread.text(),
            missed=str(self.missed.currentData()),
            overlap=str(self.overlap.currentData()),
            note=self.note.text(),
            payload=self._document(),
        )

    def _document(self) -> Any:
        typed = self.payload.editor.document_value() if self.payload.mode.current() == "json" else {}
        return self.payload.document() if isinstance(typed, dict) else typed

    def _show_types(self, types: Mapping[str, TaskType]) -> None:
        self._types = types
        super()._show_types(types)

    def _on_type(self, _text: str) -> None:
        kind = self._types.get(self._type_code())
        if kind == self.payload.kind:
            return
        self.payload.show_kind(kind)
        form = kind is not None and kind.schema.get("properties") and not needs_text(kind.schema)
        self.payload.set_mode("form" if form else "json")
        self._fit()

    def _on_reveal(self) -> None:
        call = partial(self._context.commands.records.reveal, f"schedule: {self.name.text().strip()}")
        self._revealing.start(call, lambda _none: self.payload.reveal(), self._show_error)

    def _kind(self) -> int:
        return (CRON, EVERY).index(self.repeats.current())

    # looking and keeping

    def _record(self) -> Schedule:
        return schedule_of(self.values(), self._base)

    def _try(self, wanted: Schedule) -> tuple[ScheduleRow, RunLoad | None]:
        commands, queries = self._context.commands.schedules, self._context.schedules
        checked, zone = commands.checked(wanted), commands.zone()
        row = replace(queries.preview(checked, zone), conflicts=queries.conflicts(checked, zone))
        return row, queries.load(checked, zone)

    def _show_preview(self, found: tuple[ScheduleRow, RunLoad | None]) -> None:
        self._clear()
        row, load = found
        self.conflicts.show_text(words.collisions(row), _("Collides") if row.conflicts else "")
        self.load.show_load(load)
        number = ngettext("{n} shop", "{n} shops", row.shops).format(n=text.count(row.shops))
        runs = text.listed(words.next_runs(row, instant.now_ms()).split("\n"), ";")
        self.preview.set_tone("text2")
        self.preview.setText(_("Next runs for {shops}: {runs}").format(shops=number, runs=runs))

    def _keep(self, wanted: Schedule) -> str:
        kept = self._context.commands.schedules.add(wanted, replace=self._base is not None)
        return kept.schedule.name

    def _clear(self) -> None:
        super()._clear()
        self.conflicts.hide()
        self.load.show_load(None)


def _choice(entries: Sequence[tuple[str, str]]) -> ChoiceField:
    field = ChoiceField()
    for value, label in entries:
        field.addItem(label, value)
    return field


def _pair(first: QWidget, second: QWidget) -> QWidget:
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    row.addWidget(first)
    row.addWidget(second)
    return both


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The fields as they stand."""

    name: str = ""
    task_type: str = ""
    repeats: str = CRON
    cron: str = "30 2 * * *"
    every: str = "1h"
    zone: str = ""
    choice: str = ALL
    platforms: str = ""
    groups: str = ""
    shops: str = ""
    spread: str = "0s"
    missed: str = "once"
    overlap: str = "skip"
    note: str = ""
    payload: Any = field(default_factory=dict)  #: None while it is not JSON


def filled(schedule: Schedule) -> Filled:
    """The fields for a schedule."""
    return Filled(
        name=schedule.name,
        task_type=schedule.task_type,
        repeats=EVERY if schedule.every_s else CRON,
        cron=schedule.cron or Filled().cron,
        every=short(schedule.every_s) if schedule.every_s else Filled().every,
        zone=schedule.zone,
        choice=ALL if schedule.all_shops else NAMED if schedule.shops else SOME,
        platforms=", ".join(schedule.platforms),
        groups=", ".join(schedule.groups),
        shops=", ".join(schedule.shops),
        spread=short(schedule.spread_s),
        missed=schedule.missed,
        overlap=schedule.overlap,
        note=schedule.note,
        payload=schedule.payload,
    )


def schedule_of(fields: Filled, base: Schedule | None = None) -> Schedule:
    """The schedule that the fields describe; what they do not show is that of ``base``.

    Raises:
        UsageError: a field is not readable.
    """
    if not isinstance(fields.payload, dict):
        raise UsageError(_("The payload is not a JSON object."), field="payload")
    old = base or Schedule(name=fields.name, task_type=fields.task_type)
    return msgspec.structs.replace(
        old,
        name=fields.name.strip(),
        task_type=fields.task_type.strip(),
        payload=fields.payload,
        cron=" ".join(fields.cron.split()) if fields.repeats == CRON else "",
        every_s=seconds(fields.every, "every") if fields.repeats == EVERY else 0,
        first_at=0,
        zone=fields.zone.strip(),
        all_shops=fields.choice == ALL,
        platforms=_words(fields.platforms) if fields.choice == SOME else (),
        groups=_words(fields.groups) if fields.choice == SOME else (),
        shops=_words(fields.shops) if fields.choice == NAMED else (),
        spread_s=seconds(fields.spread, "spread"),
        missed=fields.missed,
        overlap=fields.overlap,
        note=fields.note.strip(),
    )


def seconds(text: str, name: str) -> int:
    """Seconds of ``30m``; "" is none.

    Raises:
        UsageError: it is no duration.
    """
    if not text.strip():
        return 0
    found = filter_time.duration_ms("".join(text.split()))
    if found is None or found % 1000:
        raise UsageError(_("Write a duration such as 90s, 30m or 2h."), field=name)
    return found // 1000


def short(number: int) -> str:
    """Seconds as they are typed: ``20m``."""
    size, unit = next((size, unit) for size, unit in _UNITS if number % size == 0 and (number or size == 1))
    return f"{number // size}{unit}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(text) if word))
