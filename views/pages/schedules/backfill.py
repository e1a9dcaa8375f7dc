"""Runs that are missing in a span of time, shown before they are made up for."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from zoneinfo import ZoneInfo

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QStackedWidget, QWidget

from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.schedules import BackfillPlan, Gap, ScheduleRow
from views.context import PageContext
from views.dialogs.confirm import Question, confirm, typed_count
from views.dialogs.frame import DialogFrame
from views.support import instant, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.tables.column import Column, dated
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.fields import DateTimeField, Labelled
from views.widgets.layout import STRETCH, in_row, put
from views.widgets.segmented import Segmented

SIZE, LEAST, LOOK_MS = (720, 560), (620, 420), 300
SPANS = (("1", N_("Yesterday")), ("3", N_("3 days")), ("7", N_("7 days")), ("30", N_("30 days")))
NAMED = 6  #: shops that are named of a run

COLUMNS: tuple[Column[Gap], ...] = (
    dated("at", N_("Planned for"), lambda gap: gap.at, width=150),
    Column(
        key="missing",
        title=N_("Missing"),
        value=lambda gap: len(gap.missing),
        text=lambda gap: text.count(len(gap.missing)) if gap.missing else "",
        kind="number",
        tone=lambda gap: "retrying" if gap.missing else "text3",
        width=80,
    ),
    Column(
        key="done",
        title=N_("Done"),
        value=lambda gap: gap.done,
        text=lambda gap: text.count(gap.done) if gap.done else "",
        kind="number",
        width=70,
    ),
    Column(
        key="rest",
        title=N_("Left out"),
        value=lambda gap: _left_out(gap),
        width=210,
    ),
    Column(
        key="shops",
        title=N_("Shops"),
        value=lambda gap: text.listed([shop.name or shop.key for shop in gap.missing[:NAMED]]),
        tooltip=lambda gap: "\n".join(shop.key for shop in gap.missing[:60]),
        width=120,
        stretch=True,
    ),
)


def _left_out(gap: Gap) -> str:
    parts = []
    if gap.later:
        parts.append(ngettext("{n} by a later run", "{n} by a later run", gap.later).format(n=text.count(gap.later)))
    if gap.there:
        parts.append(ngettext("{n} has its task", "{n} have their task", gap.there).format(n=text.count(gap.there)))
    return text.listed(parts)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be made up for."""

    since: int  #: UTC ms
    until: int  #: the instant behind the last
    each: bool  #: a task for each run that a shop lacks
    tasks: int  #: as many as were seen


class BackfillDialog(DialogFrame):
    """Signals:
    wanted: the ``Span`` that was seen and is to be made up for.
    """

    wanted = Signal(object)

    def __init__(
        self, context: PageContext, row: ScheduleRow, parent: QWidget | None = None, span: Span | None = None
    ) -> None:
        """``span``: to begin with."""
        super().__init__(N_("Make up for missed runs"), icon="ph.clock-counter-clockwise", parent=parent)
        self._context, self._row = context, row
        self._plan: BackfillPlan | None = None
        self._looking = Operation(self, latest=True)
        self._look_soon = Debounce(self._look, LOOK_MS, self)
        self.set_note(row.schedule.name)
        self._build()
        for field in (self.since, self.until):
            field.dateTimeChanged.connect(self._on_moved)
        self.each.toggled.connect(self._on_changed)
        self.span.chosen.connect(self._on_span)
        on_language_changed(self._say)
        if span is None:
            self._on_span("3")
        else:
            self._fill(span)
        self.span.setFocus()

    def _build(self) -> None:
        self.span = Segmented(SPANS, N_("Span of time"))
        self.span.set_current("3")
        self.since, self.until = DateTimeField(), DateTimeField()
        self.each = QCheckBox()
        head = in_row(
            Labelled(N_("Runs from"), self.since, hint=self._row.zone),
            Labelled(N_("Runs until"), self.until),
            STRETCH,
            self.span,
            spacing=12,
        )
        self.model: RecordModel[Gap] = RecordModel(COLUMNS, key=lambda gap: gap.at, hold_new=False)
        self.table = TableView(self.model, name=N_("Missed runs"), ground="input")
        self.empty = EmptyState(N_("Nothing is missing in this span."), icon="ph.check-circle")
        self._runs = QStackedWidget()
        for part in (self.table, self.empty):
            self._runs.addWidget(part)
        self.words = Label("", "body", "text2", wrap=True)
        self.fill(head, self._runs, self.each, self.words, size=SIZE, least=LEAST)
        self.body.setContentsMargins(20, 14, 20, 14)
        self.body.setSpacing(10)
        self.cancel = Button(N_("Cancel"), hint="Esc")
        self.make = Button(kind="primary", icon="ph.plus", shortcut="dialog.main")
        put(self.foot, STRETCH, self.cancel, self.make)
        self.cancel.clicked.connect(self.reject)
        self.make.clicked.connect(self._on_create)

    def _fill(self, span: Span) -> None:
        self.each.setChecked(span.each)
        for field, at in ((self.since, span.since), (self.until, span.until)):
            field.show_moment(shown.moment(at).astimezone(self._zone).replace(second=0))
        self._look()

    @property
    def plan(self) -> BackfillPlan | None:
        """What would be made, None while that is looked for."""
        return self._plan

    def bounds(self) -> tuple[int, int]:
        """First instant and the one behind the last, UTC ms."""
        return self._instant(self.since), self._instant(self.until)

    def _instant(self, field: DateTimeField) -> int:
        return round(field.moment(self._zone).replace(second=0).timestamp() * 1000)

    @property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self._row.zone or "UTC")

    def _on_span(self, days: str) -> None:
        now = shown.moment(instant.now_ms()).astimezone(self._zone).replace(second=0)
        begins = now - timedelta(days=int(days))
        self.since.show_moment(begins.replace(hour=0, minute=0) if int(days) < 30 else begins)  # the ledger has 31 days
        self.until.show_moment(now + timedelta(minutes=1))
        self.span.set_current(days)
        self._look()

    def _on_moved(self, *_moment: object) -> None:
        self.span.set_none()  # it is another one by now; a click has it again
        self._on_changed()

    def _on_changed(self, *_change: object) -> None:
        self._plan = None  # what is made was always seen before
        self._looking.drop()
        self._look_soon()
        self._say()

    def _look(self) -> None:
        self._look_soon.cancel()
        self._plan = None
        since, until = self.bounds()
        name, each = self._row.schedule.name, self.each.isChecked()
        call = partial(self._context.schedules.missing, name, since, until, each=each)
        self._looking.start(call, partial(self._show, (since, until, each)), self._fail)
        self._say()

    def _show(self, wanted: tuple[int, int, bool], plan: BackfillPlan) -> None:
        if wanted != (*self.bounds(), self.each.isChecked()):
            return
        self._plan = plan
        self.model.apply([gap for gap in plan.gaps if gap.missing or gap.later or gap.there], settle=True)
        self._say()

    def _fail(self, error: BaseException) -> None:
        self.model.clear()
        self._say()
        self.words.setText(told(error))
        self.words.set_tone("dead")
        self.make.disable(told(error))

    def _on_create(self) -> None:
        plan = self._plan
        if plan is None or not plan.tasks:
            return
        typed = typed_count(plan.tasks, self._context.environment)
        if not typed:
            self._make()
            return
        tasks = plan.tasks

        def question() -> Question:
            number = ngettext("{n} task", "{n} tasks", tasks).format(n=text.count(tasks))
            return Question(title=N_("Make up for missed runs"), number=number, verb=_creates(tasks), typed=typed)

        confirm(question, self, self._make)

    def _make(self) -> None:
        plan, (since, until) = self._plan, self.bounds()
        if plan is not None:
            self.accept()
            self.wanted.emit(Span(since=since, until=until, each=self.each.isChecked(), tasks=plan.tasks))

    def _say(self) -> None:
        plan = self._plan
        self.each.setText(_("One task for each run that a shop lacks, not one for all of them"))
        tasks = plan.tasks if plan is not None else 0
        self.make.set_count_text(_creates(tasks))
        self.words.set_tone("text2")
        if plan is None:
            self.words.setText(_("Looking into the ledger"))
        elif not tasks and self.model.rowCount():
            self.words.setText(_("Nothing is missing in this span."))
        elif not tasks:
            self.words.setText("")  # it stands above, in place of the table
        else:
            runs = sum(1 for gap in plan.gaps if gap.missing)
            parts = [
                ngettext("{n} run is made up for", "{n} runs are made up for", runs).format(n=text.count(runs)),
                ngettext("{n} shop", "{n} shops", plan.shops).format(n=text.count(plan.shops)),
            ]
            if plan.done:
                done = ngettext("{n} success is left out", "{n} successes are left out", plan.done)
                parts.append(done.format(n=text.count(plan.done)))
            self.words.setText(text.listed(parts))
        self._runs.setCurrentWidget(self.empty if plan is not None and not self.model.rowCount() else self.table)
        blocked = (
            _("Looking into the ledger") if plan is None else "" if tasks else _("Nothing is missing in this span.")
        )
        self.make.disable(blocked)


def _creates(tasks: int) -> str:
    return ngettext("Create {n} task", "Create {n} tasks", tasks).format(n=text.count(tasks))
