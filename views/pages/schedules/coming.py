"""What comes next: the runs of all schedules in the order of their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nsmallest

import msgspec
from PySide6.QtCore import QSize, Signal

from services.i18n import N_, _, ngettext
from services.monitor.schedules import ScheduleRow
from views.pages.schedules import words
from views.support import instant, shown, text
from views.tables.column import Column, dated
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.card import Card

HEIGHT, AROUND_ROWS = 190, 68
#: rows that are shown; nobody reads further, and each would be looked at again with every answer
MOST_RUNS = 200


class ComingRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run that is planned, UTC ms."""

    at: int
    row: ScheduleRow

    @property
    def key(self) -> str:
        """Its schedule and its time."""
        return f"{self.row.schedule.name}@{self.at}"

    @property
    def first(self) -> bool:
        """Whether it is the next run of its schedule."""
        return self.at == self.row.upcoming[0]


class Coming(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of the runs to come, in order."""

    runs: tuple[ComingRun, ...] = ()
    of: int = 0  #: how many are known
    each: int = 0  #: how many are known of one schedule at most


def coming(rows: Sequence[ScheduleRow], now_ms: int, most: int = MOST_RUNS) -> Coming:
    """The next few runs of each of them, the first ``most`` in order. Of what is overdue the first stands for all: one
    run makes up for them, or none.
    """
    found = [run for row in rows for at in row.upcoming if (run := ComingRun(at=at, row=row)).first or at >= now_ms]
    return Coming(
        runs=tuple(nsmallest(most, found, key=lambda run: (run.at, run.row.schedule.name))),
        of=len(found),
        each=max(Counter(run.row.schedule.name for run in found).values(), default=0),
    )


def _starts(run: ComingRun) -> str:
    now_ms = instant.now_ms()
    return words.next_run(run.row, now_ms) if run.first else text.until(shown.span(run.at - now_ms))


COLUMNS: tuple[Column[ComingRun], ...] = (
    dated("at", N_("Time"), lambda run: run.at, width=120),
    Column(
        key="until",
        title=N_("Starts"),
        value=lambda run: run.at,
        text=_starts,
        tone=lambda run: words.next_tone(run.row) if run.first else "text",
        width=136,
        live=True,
    ),
    Column(
        key="name",
        title=N_("Schedule"),
        value=lambda run: run.row.schedule.name,
        kind="strong",
        width=180,
        stretch=True,
    ),
    Column(
        key="when",
        title=N_("Repeats"),
        value=lambda run: words.when(run.row),
        width=190,
        hide_rank=2,
    ),
    Column(
        key="shops",
        title=N_("Shops"),
        value=lambda run: run.row.shops,
        text=lambda run: text.count(run.row.shops),
        kind="number",
        width=70,
        tooltip=lambda run: words.shops(run.row.schedule),
    ),
    Column(
        key="collides",
        title=N_("Collides"),
        value=lambda run: words.run_collisions(run.row, run.at),
        tone="retrying",
        width=200,
        hide_rank=1,
    ),
)


class ComingRuns(Card):
    """Signals:
    wanted: name of the schedule whose run was opened.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(N_("Next runs"))
        self.model: RecordModel[ComingRun] = RecordModel(COLUMNS, key=lambda run: run.key, hold_new=False)
        self.table = TableView(self.model, name=N_("Next runs"), ground="surface")
        self.table.open_requested.connect(self._open)
        self.body.addWidget(self.table)
        self._room = HEIGHT
        self.setMinimumHeight(HEIGHT)
        self.take(HEIGHT)

    def take(self, room: int) -> None:
        """Be as tall as the runs need, in so much room."""
        rows = self.table.verticalHeader().defaultSectionSize() * (self.model.rowCount() + 1)
        self._room = max(HEIGHT, min(room, AROUND_ROWS + rows))
        self.setMaximumHeight(self._room)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height that it has room for: the window can be made lower than that."""
        return QSize(super().sizeHint().width(), self._room)

    def show_runs(self, found: Coming) -> None:
        """Show what comes."""
        self.model.apply(found.runs, settle=True)
        if len(found.runs) < found.of:
            said = _("the first {n} of {of} runs").format(n=text.count(len(found.runs)), of=text.count(found.of))
        elif found.runs:
            said = ngettext("the next {n} of each", "the next {n} of each", found.each).format(n=text.count(found.each))
        else:
            said = ""
        self.set_note(said)

    def _open(self, key: object) -> None:
        run = self.model.find(str(key))
        if run is not None:
            self.wanted.emit(run.row.schedule.name)
