"""Promises, and the shops of one that are not kept, as rows of tables; strips, forecasts and checks are painted."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from services.domain.promises.judge import AT_RISK, BROKEN, CHECKS, KEPT, NOT_DUE
from services.domain.promises.standing import HALF_HOUR_MS, STRIP, Standing
from services.i18n import N_
from services.monitor.promises import HOLDS, PASSED, MatrixRow, PromiseRow
from views.pages.promises import words
from views.pages.promises.words import Two
from views.support import instant, safe, shown, text
from views.tables import painters
from views.tables.column import Column, measured
from views.tables.painters import Cell, Ink
from views.theme import theme

ROW = 40  #: two lines
LINE = 15
#: the limit stands at the same place of each row
LIMIT = 0.8
#: height and colour both carry the state
_BARS = {KEPT: (8, "okcell"), AT_RISK: (14, "retryfill"), BROKEN: (22, "deadfill"), NOT_DUE: (2, "line2")}
_TONES = {BROKEN: "dead", AT_RISK: "retrying"}
_CHECK_GLYPHS = {
    "created": "ph.plus-circle-fill",
    "gates": "ph.pause-circle-fill",
    "login": "ph.key-fill",
    "worker": "ph.hourglass-medium-fill",
    "page": "ph.x-circle-fill",
}
_CHECK_TONES = {"created": "dead", "gates": "retrying", "login": "login", "worker": "stuck", "page": "dead"}
#: no wider than its title: what holds a shop needs the room
_CHECK_WIDTHS = {"created": 64, "gates": 54, "login": 52, "worker": 66, "page": 50}
_GLYPH = 13


class Reach(NamedTuple):
    """A forecast on the way to its limit, which is 1: eight of ten between ``low`` and ``high``."""

    low: float
    mid: float
    high: float
    role: str


class Check(NamedTuple):
    """One check of a shop."""

    name: str
    value: str  #: passed, holds, or not asked


# ---------------------------------------------------------------------------------------------------------- painting
def paint_two(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw one line, or two."""
    value = cell.column.value(cell.record)
    if not isinstance(value, Two):
        return
    kind = "tablestrong" if cell.column.strong else "table"
    if not value.second:
        ink.text(painter, room, value.first, cell, role=value.tone, kind=kind)
        return
    step = round(LINE * theme().growth)
    top = room.y() + (room.height() - 2 * step) // 2
    for place, (words_, role, size) in enumerate(
        ((value.first, value.tone, kind), (value.second, value.tone2, "label"))
    ):
        line = QRect(room.x(), top + place * step, room.width(), step)
        ink.text(painter, line, words_, cell, role=role, kind=size)


def paint_strip(painter: QPainter, room: QRect, cell: Cell, _ink: Ink) -> None:
    """Draw 48 half hours; what nobody judged stays empty."""
    found = cell.column.value(cell.record)
    if not isinstance(found, tuple) or not found:
        return
    judged_at, strip = found
    last = _last(judged_at)
    step = room.width() / STRIP
    bottom = room.bottom() - 7
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for at, state in strip:
        place = STRIP - 1 - (last - at) // HALF_HOUR_MS
        if 0 <= place < STRIP and state in _BARS:
            height, role = _BARS[state]
            left = room.x() + round(place * step)
            width = max(1, room.x() + round((place + 1) * step) - left - 1)
            painter.fillRect(left, bottom - height, width, height, theme().color(role))


def _last(judged_at: int) -> int:
    return judged_at - judged_at % HALF_HOUR_MS


def half_hours(row: PromiseRow, share: float | None = None) -> tuple[int, int]:
    """From when to when (UTC ms) the strip tells at a share of its width, or all of it; zeros where there is none."""
    if row.standing is None:
        return 0, 0
    ends = _last(row.standing.judged_at) + HALF_HOUR_MS
    if share is None:
        return ends - STRIP * HALF_HOUR_MS, ends
    ends -= (STRIP - 1 - min(STRIP - 1, max(0, int(share * STRIP)))) * HALF_HOUR_MS
    return ends - HALF_HOUR_MS, ends


def paint_reach(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw the way to the limit, the spread of the forecast and its middle."""
    found = cell.column.value(cell.record)
    if not isinstance(found, Reach):
        return
    middle = room.y() + room.height() / 2
    left, width = float(room.x()), float(room.width() - 8)

    def x(share: float) -> float:
        return left + 4 + width * min(1.0, max(0.0, share * LIMIT))

    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().color("line"))
    painter.drawRoundedRect(QRectF(left, middle - 1.5, width + 8, 3), 1.5, 1.5)
    spread = theme().tint(found.role, 45)
    painter.setBrush(spread)
    begin, end = x(found.low), x(found.high)
    painter.drawRoundedRect(QRectF(begin - 3, middle - 3, max(6.0, end - begin + 6), 6), 3, 3)
    pen = QPen(theme().color("text3"), 1)
    pen.setDashPattern([3, 2])
    painter.setPen(pen)
    painter.drawLine(QPointF(x(1.0), middle - 11), QPointF(x(1.0), middle + 11))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.colour(found.role, cell))
    painter.drawEllipse(QPointF(x(found.mid), middle), 4, 4)


def paint_check(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw a check that a run has passed, the one that holds it, or a dot for those behind that."""
    found = cell.column.value(cell.record)
    if not isinstance(found, Check):
        return
    centre = QPointF(room.x() + room.width() / 2, room.y() + room.height() / 2)
    if found.value == HOLDS:
        role = _CHECK_TONES[found.name]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().tint(role, 25))
        painter.drawRoundedRect(QRectF(room).adjusted(4, 3, -4, -3), 4, 4)
        glyph = ink.pixmap(_CHECK_GLYPHS[found.name], role, _GLYPH, cell)
        painter.drawPixmap(QPointF(centre.x() - _GLYPH / 2, centre.y() - _GLYPH / 2), glyph)
    elif found.value == PASSED:
        glyph = ink.pixmap("ph.check", "text2", _GLYPH, cell)
        painter.drawPixmap(QPointF(centre.x() - _GLYPH / 2, centre.y() - _GLYPH / 2), glyph)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("dis"))
        painter.drawEllipse(centre, 1.5, 1.5)


TWO, STRIPS, REACH, CHECK = "promise two", "promise strip", "promise reach", "promise check"
for _kind, _painter in ((TWO, paint_two), (STRIPS, paint_strip), (REACH, paint_reach)):
    painters.register(_kind, _painter)
painters.register(CHECK, paint_check, picture=True)


# ------------------------------------------------------------------------------------------------------- the promises
def reach(row: PromiseRow) -> Reach | None:
    """How near the limit the worst shop comes; None where nobody can tell, or the judgement is too old."""
    found = row.standing
    if found is None or row.stale or not found.mid or not found.worst_break or found.worst_break <= found.worst_at:
        return None
    way = found.worst_break - found.worst_at
    low, mid, high = ((at - found.worst_at) / way for at in (found.low, found.mid, found.high))
    return Reach(low, mid, high, _TONES.get(row.state, "text2"))


def _strip(row: PromiseRow) -> tuple[int, tuple[tuple[int, str], ...]] | None:
    return (row.standing.judged_at, row.standing.strip) if row.standing is not None else None


def _number(name: str, row: PromiseRow) -> int:
    return int(getattr(row.standing, name)) if row.standing is not None and not row.stale else 0


def _shown(number: int) -> str:
    """Nothing at risk or broken is blank."""
    return text.count(number) if number else ""


def _kept(row: PromiseRow) -> str:
    return text.count(row.standing.kept) if row.standing is not None and not row.stale else ""


def _strip_words(row: PromiseRow) -> str:
    found: Standing | None = row.standing
    return words.strip(found) if found is not None else ""


PROMISES: tuple[Column[PromiseRow], ...] = (
    Column(
        key="state",
        title="",
        value=lambda row: words.GLYPHS[row.state],
        kind="glyph",
        width=34,
        speech=words.row_sentence,
        tooltip=lambda row: words.state(row.state),
    ),
    Column(
        key="promise",
        title=N_("Promise"),
        value=words.two,
        text=lambda row: words.two(row).line,
        lines=words.two,
        kind=TWO,
        strong=True,
        width=288,
        stretch=True,
        tooltip=lambda row: "\n".join(one for one in (words.sentence(row.promise), row.promise.note) if one),
    ),
    measured("kept", N_("Kept"), partial(_number, "kept"), _kept, tone="text2", width=54),
    measured(
        "at_risk",
        N_("At risk"),
        partial(_number, "at_risk"),
        lambda row: _shown(_number("at_risk", row)),
        strong=True,
        tone="retrying",
        width=62,
    ),
    measured(
        "broken",
        N_("Broken"),
        partial(_number, "broken"),
        lambda row: _shown(_number("broken", row)),
        strong=True,
        tone="dead",
        width=62,
    ),
    Column(
        key="strip",
        title=N_("Last 24 h"),
        value=_strip,
        text=_strip_words,
        kind=STRIPS,
        width=136,
        tooltip=_strip_words,
        hide_rank=2,
    ),
    Column(
        key="reach",
        title=N_("Forecast and limit"),
        value=reach,
        text=lambda row: words.when(row, instant.now_ms()).line,
        kind=REACH,
        width=124,
        hide_rank=1,  # what stands beside it says the same in words
        tooltip=lambda row: words.when(row, instant.now_ms()).line,
    ),
    Column(
        key="when",
        title=N_("When"),
        value=lambda row: words.when(row, instant.now_ms()),
        text=lambda row: words.when(row, instant.now_ms()).line,
        lines=lambda row: words.when(row, instant.now_ms()),
        kind=TWO,
        width=152,
        live=True,
        tooltip=lambda row: words.judged(row, instant.now_ms()),
    ),
    Column(
        key="holds",
        title=N_("What holds it"),
        value=words.holds,
        text=lambda row: words.holds(row).line,
        lines=words.holds,
        kind=TWO,
        width=300,
        stretch=True,
        tooltip=words.holds_whole,
    ),
)


# ----------------------------------------------------------------------------------------------- the shops of one
def _check(name: str, row: MatrixRow) -> Check:
    return Check(name, row.cells[CHECKS.index(name)])


def _check_column(name: str) -> Column[MatrixRow]:
    def told(row: MatrixRow) -> str:
        return words.cell(name, _check(name, row).value, row)

    return Column(
        key=name,
        title=words.CHECKS[name],
        value=partial(_check, name),
        text=lambda row: "",
        kind=CHECK,
        width=_CHECK_WIDTHS[name],
        align="center",
        speech=told,
        tooltip=told,
    )


def _age(row: MatrixRow) -> str:
    return words.span(instant.now_ms() - row.row.done_at) if row.row.done_at else ""


SHOPS: tuple[Column[MatrixRow], ...] = (
    Column(
        key="state",
        title="",
        value=lambda row: words.GLYPHS[row.row.state],
        kind="glyph",
        width=30,
        speech=words.matrix_sentence,
        tooltip=lambda row: words.state(row.row.state),
    ),
    Column(
        key="shop",
        title=N_("Shop"),
        value=lambda row: safe.one_line(row.name, 80),
        kind="strong",
        names=True,
        width=148,
        sortable=True,
        tooltip=lambda row: row.row.shop,
    ),
    measured(
        "age",
        N_("Age now"),
        lambda row: -row.row.done_at,
        _age,
        tone="text2",
        width=88,
        live=True,
        title_tip=N_("How long ago it succeeded last; blank where it never did"),
        hide_rank=2,
    ),
    Column(
        key="breaks",
        title=N_("Breaks"),
        value=lambda row: row.row.break_at,
        text=lambda row: words.near(row.row.break_at, instant.now_ms()),
        kind="number",
        strong=True,
        tone=lambda row: _TONES.get(row.row.state, "text"),
        width=68,
        hide_rank=4,
        sortable=True,
        tooltip=lambda row: shown.clock(row.row.break_at, instant.now_ms()),
    ),
    *(_check_column(name) for name in CHECKS),
    Column(
        key="held",
        title=N_("Held by"),
        value=words.held_by,
        width=206,
        stretch=True,
        hide_rank=5,  # the first coloured check holds it, and the causes beside the shops name it
        tooltip=lambda row: words.held_by(row),
    ),
    Column(
        key="who",
        title=N_("Who can act"),
        value=lambda row: words.who(row.row),
        tone="text2",
        width=110,
        stretch=True,
        sortable=True,
        hide_rank=1,
    ),
    Column(
        key="next",
        title=N_("Next step"),
        value=lambda row: words.verb(row.row),
        kind="link",
        width=148,
        hide_rank=3,  # the cause beside it and the menu of the row have the same step
    ),
)
