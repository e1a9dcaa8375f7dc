"""The dialog for a new schedule, or for a change of one; shows the next runs while it is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLineEdit, QSizePolicy, QStackedWidget, QWidget

from services.domain.errors import UsageError
from services.domain.plans import repeats
from services.domain.plans.schedule import Schedule
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from services.monitor.schedules import RunLoad, ScheduleRow
from views.context import PageContext
from views.dialogs.new_task.parameters import Parameters, needs_text
from views.dialogs.record import ALL, NAMED, SOME, RecordDialog, RecordFields, described, filled_from, seconds, short
from views.pages.schedules import words
from views.pages.schedules.load_strip import LoadStrip
from views.support import instant, text
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.fields import ChoiceField, Labelled
from views.widgets.layout import in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import Strip

WIDTH, LOOK_MS = 720, 300
#: what stands above and below the form: title, next runs, load, buttons; and how low the form may get
AROUND, LEAST_FORM = 360, 96
CRON, EVERY = "cron", "every"
_CHOICES = ((ALL, N_("All")), (SOME, N_("By group")), (NAMED, N_("By name")))


class ScheduleDialog(RecordDialog[Schedule]):
    """A schedule."""

    def __init__(self, context: PageContext, row: ScheduleRow | None = None, parent: QWidget | None = None) -> None:
        title = N_("Edit a schedule") if row is not None else N_("New schedule")
        choice = Segmented(_CHOICES, N_("Shops"), stretch=True)
        super().__init__(title, choice, icon="ph.calendar-check", width=WIDTH, look_ms=LOOK_MS, parent=parent)
        self._when = QStackedWidget()  #: by ``repeats``
        self._whom = QStackedWidget()  #: by ``choice``
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
        self.cron, self.every, self.zone, self.spread = (QLineEdit() for _n in range(4))
        self.repeats = Segmented(((CRON, N_("Cron")), (EVERY, N_("Interval"))), N_("Repeats"), stretch=True)
        self.missed, self.overlap = (
            _choice([(kept, _(word)) for kept, word in words.CHOICES[field].items()]) for field in ("missed", "overlap")
        )
        self.payload = Parameters(0)
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
            self._labelled("cron", N_("Cron"), self.cron, N_("min hour day month weekday; or weekdays 9:00")),
            self._labelled("every", N_("Interval"), self.every, N_("such as 30m or 2h")),
        ):
            self._when.addWidget(widget)
        cells = (
            self._labelled("name", N_("Name"), self.name),
            self._labelled("type", N_("Task type"), self.task_type),
            self._labelled("repeats", N_("Repeats"), self.repeats),
            self._when,
            *self._lay_out_shops(),
            self._labelled("zone", N_("Time zone"), self.zone, N_("empty: that of the fleet")),
            self._labelled("spread", N_("Spread"), self.spread, N_("shops start evenly over this time")),
            self._labelled("missed", N_("When nobody could start it in time"), self.missed),
            self._labelled("overlap", N_("When the run before is not through"), self.overlap),
        )
        form_of = self._pane.body
        form_of.setSpacing(10)
        form_of.addLayout(_in_two_columns(cells))
        form_of.addWidget(self._labelled("payload", N_("Payload"), self.payload))
        form_of.addWidget(self._labelled("note", N_("Note"), self.note))

    def _lay_out_shops(self) -> tuple[Labelled, QStackedWidget]:
        """The choice of shops, and beside it what belongs to it."""
        for page in (
            QWidget(),
            _pair(
                self._labelled("platform", N_("Platforms"), self.platforms),
                self._labelled("group", N_("Groups"), self.groups, N_("both must fit")),
            ),
            self._labelled("shop", N_("Shops"), self.shops, N_("platform:shop_id, one a line")),
        ):
            self._whom.addWidget(page)
        return self._labelled("choice", N_("Shops"), self.choice), self._whom

    def _fit(self) -> None:
        """Let the form scroll where window or screen is too low for all of it."""
        tall = self._pane.body.sizeHint().height()
        parent = self.parentWidget()
        room = (parent.window().height() if parent else self.screen().availableGeometry().height()) - AROUND
        self._pane.setFixedHeight(max(LEAST_FORM, min(tall, room)))

    def _connect(self) -> None:
        self._listen(self.cron, self.every, self.zone, self.spread)
        self.task_type.currentTextChanged.connect(self._on_type)
        self.payload.changed.connect(self._look_soon)
        self.payload.reveal_button.clicked.connect(self._on_reveal)
        for choice in (self.missed, self.overlap):
            choice.currentIndexChanged.connect(self._look_soon)
        self.repeats.chosen.connect(self._on_segment)

    # values

    def _load(self, values: Filled) -> None:
        for one, value in (
            (self.cron, values.cron),
            (self.every, values.every),
            (self.zone, values.zone),
            (self.spread, values.spread),
        ):
            one.setText(value)
        self.repeats.set_current(values.repeats)
        self.missed.setCurrentIndex(self.missed.findData(values.missed))
        self.overlap.setCurrentIndex(self.overlap.findData(values.overlap))
        self.payload.show_kind(None, values.payload)
        self.payload.set_mode("json")  # until its type is known
        self._begin(values, self.cron, named=self._base is not None)

    def values(self) -> Filled:
        """The fields as they stand."""
        return Filled(
            **self._common(),
            repeats=self.repeats.current(),
            cron=self.cron.text(),
            every=self.every.text(),
            zone=self.zone.text(),
            spread=self.spread.text(),
            missed=str(self.missed.currentData()),
            overlap=str(self.overlap.currentData()),
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

    def _on_segment(self, _key: str = "") -> None:
        self._when.setCurrentIndex((CRON, EVERY).index(self.repeats.current()))
        self._whom.setCurrentIndex((ALL, SOME, NAMED).index(self.choice.current()))
        for place in range(self._whom.count()):  # a stack is as tall as the tallest that counts
            tall = QSizePolicy.Policy.Preferred if place == self._whom.currentIndex() else QSizePolicy.Policy.Ignored
            if (page := self._whom.widget(place)) is not None:
                page.setSizePolicy(QSizePolicy.Policy.Preferred, tall)
        super()._on_segment()

    # looking and keeping

    def _record(self) -> Schedule:
        return schedule_of(self.values(), self._base)

    def _try(self, wanted: Schedule) -> tuple[ScheduleRow, RunLoad | None, bool]:
        commands, queries = self._context.commands.schedules, self._context.schedules
        checked, zone = commands.checked(wanted), commands.zone()
        return queries.collided(checked, zone), queries.load(checked, zone), commands.knows_type(checked.task_type)

    def _show_preview(self, found: tuple[ScheduleRow, RunLoad | None, bool]) -> None:
        self._clear()
        row, load, known = found
        self.conflicts.show_text(words.collisions(row), _("Collides") if row.conflicts else "")
        self.load.show_load(load)
        number = ngettext("{n} shop", "{n} shops", row.shops).format(n=text.count(row.shops))
        runs = text.listed(words.next_runs(row, instant.now_ms()).split("\n"), ";")
        said = _("Next runs for {shops}: {runs}").format(shops=number, runs=runs)
        if not known:
            alone = _("Nobody has defined this task type: it runs on the rpa executor with the defaults.")
            said = text.sentences((alone, said))
        self.preview.set_tone("text2" if known else "retrying")
        self.preview.setText(said)

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


class Filled(RecordFields, frozen=True, kw_only=True):
    """The fields as they stand."""

    repeats: str = CRON
    cron: str = "30 2 * * *"
    every: str = "1h"
    zone: str = ""
    spread: str = "0s"
    missed: str = "once"
    overlap: str = "skip"
    payload: Any = msgspec.field(default_factory=dict)  #: None while it is not JSON


def filled(schedule: Schedule) -> Filled:
    """The fields for a schedule."""
    return Filled(
        **filled_from(schedule),
        repeats=EVERY if schedule.every_s else CRON,
        cron=schedule.cron or Filled().cron,
        every=short(schedule.every_s) if schedule.every_s else Filled().every,
        zone=schedule.zone,
        spread=short(schedule.spread_s),
        missed=schedule.missed,
        overlap=schedule.overlap,
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
        **described(fields),
        payload=fields.payload,
        cron=repeats.cron(fields.cron) if fields.repeats == CRON else "",
        every_s=_seconds(fields.every, "every") if fields.repeats == EVERY else 0,
        first_at=0,
        zone=fields.zone.strip(),
        spread_s=_seconds(fields.spread, "spread"),
        missed=fields.missed,
        overlap=fields.overlap,
    )


def _seconds(text: str, name: str) -> int:
    """ "" is none."""
    return seconds(text, name) if text.strip() else 0


def _pair(first: QWidget, second: QWidget) -> QWidget:
    """Two fields beside each other, as wide as each other."""
    both = QWidget()
    top = Qt.AlignmentFlag.AlignTop  # what is wrong with one stands below it, and leaves the other where it is
    in_row((first, 1, top), (second, 1, top), owner=both, spacing=10)
    return both


def _in_two_columns(cells: Sequence[QWidget]) -> QGridLayout:
    """Fields in the order of reading."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(10)
    for place, cell in enumerate(cells):
        grid.addWidget(cell, place // 2, place % 2, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(place % 2, 1)
    return grid
