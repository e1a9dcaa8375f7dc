"""Lines of logs as rows of a table, and where these come from: the newest ones, older ones, what came since."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from services.monitor.log_files import PROGRAMS, Lines, Logged, LogQueries
from views.kit.entries_page import Lister, Listing
from views.kit.list_source import FIRST, Ask
from views.support import instant, safe, shown
from views.tables.column import Column, dated
from views.widgets.filter.bar import FilterField, FilterValue

#: how often files are looked at for what came since, and how many rows are kept
EVERY_MS, MOST = 1_500, 5_000
#: level -> status name whose glyph it has, and its word
LEVELS = {
    "debug": ("idle", N_("Debug")),
    "info": ("idle", N_("Info")),
    "warning": ("warning", N_("Warning")),
    "error": ("dead", N_("Error")),
    "critical": ("dead", N_("Critical")),
}
_BAD = {"warning": "retrying", "error": "dead", "critical": "dead"}
_WORSE = {"warning": N_("Warnings and errors"), "error": N_("Errors"), "info": N_("All but debug")}
_SPANS = (
    ("10m", N_("the last 10 minutes")),
    ("1h", N_("the last hour")),
    ("today", N_("today")),
    ("yesterday", N_("yesterday")),
)


def glyph(row: Logged) -> str:
    """The status name of its level."""
    return LEVELS.get(row.level, LEVELS["info"])[0]


def level(row: Logged) -> str:
    """The word of its level."""
    return _(LEVELS[row.level][1]) if row.level in LEVELS else safe.one_line(row.level, 20)


def said(row: Logged) -> str:
    """What it says on one line, with the end of a traceback."""
    trace = row.about("trace").strip().splitlines()
    return safe.one_line(f"{row.text}  {trace[-1]}" if trace else row.text, 400)


def sentence(row: Logged) -> str:
    """The row for a screen reader."""
    when = shown.clock(row.at_ms, instant.now_ms())
    words = {"level": level(row), "program": safe.one_line(row.program, 40), "text": said(row)}
    return _("{time}, {level}, {program}: {text}").format(time=when, **words)


COLUMNS: tuple[Column[Logged], ...] = (
    dated("at", N_("Time"), lambda row: row.at_ms, width=104),
    Column(key="glyph", title="", value=glyph, kind="glyph", width=30, speech=level),
    Column(
        key="level",
        title=N_("Level"),
        value=level,
        tone=lambda row: _BAD.get(row.level, "text3"),
        width=76,
        hide_rank=4,
    ),
    Column(key="program", title=N_("Program"), value=lambda row: safe.one_line(row.program, 40), width=92, hide_rank=3),
    Column(
        key="text",
        title=N_("Text of the line"),
        value=said,
        tone=lambda row: _BAD.get(row.level, "text"),
        width=300,
        stretch=True,
        tooltip=lambda row: row.text[:2_000],
    ),
    Column(key="task", title=N_("Task"), value=lambda row: row.about("task"), width=150, names=True, hide_rank=2),
    Column(key="worker", title=N_("Worker"), value=lambda row: row.about("worker"), width=130, names=True, hide_rank=1),
)
FIELDS = (
    FilterField("level", N_("Level"), tuple(FilterValue(*one) for one in _WORSE.items()), single=True),
    FilterField(
        "program",
        N_("Program"),
        tuple(
            FilterValue(name, word)
            for name, word in zip(PROGRAMS, (N_("Other programs (api)"), N_("This window"), N_("Workers")), strict=True)
        ),
        free=True,
    ),
    FilterField("since", N_("Since"), tuple(FilterValue(*span) for span in _SPANS), free=True, single=True),
    FilterField("task", N_("Task")),
    FilterField("worker", N_("Worker")),
    FilterField("request", N_("Request")),
)


def condition(row: Logged, column: str) -> tuple[str, str]:
    """Filter field and value of a cell, "" where the cell is no condition."""
    values = {"level": row.level, "program": row.program, "task": row.about("task"), "worker": row.about("worker")}
    return ("level", row.level) if column == "glyph" else (column, values[column]) if column in values else ("", "")


class LogLister(Lister[Logged]):
    """Follows the files."""

    def __init__(self, queries: LogQueries, owner: QWidget) -> None:
        super().__init__(owner, every_ms=EVERY_MS, most=MOST)
        self._queries, self._more = queries, False

    def more(self) -> None:
        """Load older lines."""
        if self._more:
            self._source.more(len(self._rows) // FIRST * FIRST)

    def _call(self, ask: Ask[str]) -> Callable[[], tuple[Lines, bool]]:
        if not ask.settle:
            since = self._rows[0].at_ms if self._rows else 0
            limit = MOST if self._rows else FIRST
            return partial(_asked, self._queries, ask.wanted, limit, since, None, settle=False)
        return partial(_asked, self._queries, ask.wanted, ask.limit, 0, self._anew(), settle=True)

    def _take(self, answer: tuple[Lines, bool]) -> None:
        found, settle = answer
        if settle:
            self._rows, self._more = found.rows, found.more
        else:
            known = {row.key for row in self._rows}
            fresh = tuple(row for row in found.rows if row.key not in known)
            self._more = self._more or len(fresh) + len(self._rows) > MOST
            self._rows = (*fresh, *self._rows)[:MOST]
        self.listed.emit(Listing(rows=self._rows, expression=self._source.wanted, more=self._more, settle=settle))


def _asked(
    queries: LogQueries, expression: str, limit: int, since_ms: int, stop: threading.Event | None, *, settle: bool
) -> tuple[Lines, bool]:
    return queries.lines(expression, limit=limit, since_ms=since_ms, stop=stop), settle
