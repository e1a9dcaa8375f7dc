"""Queues as rows of a tree: a line for each group, which folds, and its queues below it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter

from services.domain.insight import queue as insight
from services.i18n import N_, _, ngettext
from services.monitor.queues.board import QueueNow
from views.charts.sparkline import paint_sparkline
from views.pages.queues import words
from views.pages.queues.forecast import Foreseen
from views.support import instant, shown, text
from views.tables import painters
from views.tables.column import Column, measured
from views.tables.painters import Cell, Ink
from views.theme.tokens import status

MORE = "more"
_GLYPH, _INDENT = 13, 20


class Line(msgspec.Struct, frozen=True):
    """A group, a queue of it, or what unfolds the rest of it."""

    key: str
    group: str = ""  #: source text, of a group
    queue: QueueNow | None = None
    foreseen: Foreseen | None = None  #: what becomes of what waits in it
    number: int = 0  #: of a group its queues, of ``MORE`` those that are not shown
    needing: int = 0  #: those of them that need somebody
    folded: bool = False

    def said(self, say: Callable[[QueueNow], str]) -> str:
        """What a column shows; nothing for what is no queue."""
        return say(self.queue) if self.queue is not None else ""


def title(line: Line) -> str:
    """Name of a queue, or of a group with how many it has."""
    if line.queue is not None:
        return line.queue.name
    if line.key == MORE:
        words = _("Show {n} more")
        if line.needing:
            words = ngettext(
                "Show {n} more, {needing} of them needs somebody",
                "Show {n} more, {needing} of them need somebody",
                line.needing,
            )
        return words.format(n=text.count(line.number), needing=text.count(line.needing))
    return _("{name} ({n})").format(name=_(line.group), n=text.count(line.number))


def sentence(line: Line) -> str:
    """The row for a screen reader."""
    if line.queue is not None:
        return words.sentence(line.queue, instant.now_ms())
    return text.listed([title(line), _("folded") if line.folded else _("unfolded")]) if line.group else title(line)


# ---------------------------------------------------------------------------------------------------------- painting
def paint_name(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw a group with its caret, or a queue with glyph, name and note."""
    line: Line = cell.record
    middle = room.y() + (room.height() - _GLYPH) / 2
    if line.queue is None:
        if line.group:
            caret = "ph.caret-right" if line.folded else "ph.caret-down"
            painter.drawPixmap(QPointF(room.x(), middle), ink.pixmap(caret, "text3", _GLYPH, cell))
        role = "text2" if line.group else "accent"
        ink.text(painter, room.adjusted(_INDENT, 0, 0, 0), title(line), cell, role=role, kind="label")
        return
    glyph, role = words.look(line.queue)
    painter.drawPixmap(QPointF(room.x(), middle), ink.pixmap(glyph, role, _GLYPH, cell))
    rest = room.adjusted(_INDENT, 0, 0, 0)
    ink.text(painter, rest, line.queue.name, cell, role="text", kind="tablestrong")
    used = ink.width(line.queue.name, "tablestrong") + 8
    if rest.width() - used > 30:
        ink.text(painter, rest.adjusted(used, 0, 0, 0), words.note(line.queue), cell, role="text3", kind="label")


def paint_curve(painter: QPainter, room: QRect, cell: Cell, _ink: Ink) -> None:
    """Draw what waited there over the last hour."""
    queue = cell.record.queue
    if queue is not None and len(queue.curve) > 1:
        area = QRectF(room).adjusted(2, 5, -6, -5)
        paint_sparkline(painter, area, queue.curve, words.look(queue)[1], filled=True, base=0.0)


def paint_state(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw glyph and word of what is the matter; what is well is a quiet word."""
    queue = cell.record.queue
    if queue is None:
        return
    name = words.STATES[queue.state][0]
    if queue.state == insight.TRIAGE:
        ink.text(painter, room, words.state(queue), cell, role="accent", kind="table")
    elif not name:
        ink.text(painter, room, words.state(queue), cell, role="text3", kind="table")
    else:
        token = status(name)
        glyph = ink.pixmap(token.glyph, token.role, painters.GLYPH, cell)
        painter.drawPixmap(QPointF(room.x(), room.y() + (room.height() - painters.GLYPH) / 2), glyph)
        rest = room.adjusted(painters.GLYPH + painters.GLYPH_GAP, 0, 0, 0)
        ink.text(painter, rest, words.state(queue), cell, role=token.role, kind="table")


NAME, CURVE, STATE = "queue name", "queue curve", "queue state"
for _kind, _painter in ((NAME, paint_name), (CURVE, paint_curve), (STATE, paint_state)):
    painters.register(_kind, _painter)


# ----------------------------------------------------------------------------------------------------------- columns
def _value(line: Line, of: Callable[[QueueNow], float | int | None]) -> float | int | None:
    return of(line.queue) if line.queue is not None else None


def _numbers(
    key: str,
    name: str,
    of: Callable[[QueueNow], float | int | None],
    say: Callable[[QueueNow], str],
    *,
    width: int = 78,
    tip: str = "",
    hide_rank: int = 0,
    tone: Callable[[QueueNow], str] | None = None,
    live: bool = False,
) -> Column[Line]:
    """A number of a queue: to the right, the largest first."""
    return measured(
        key,
        name,
        lambda line: _value(line, of),
        lambda line: line.said(say),
        tone=lambda line: tone(line.queue) if tone is not None and line.queue is not None else "text2",
        width=width,
        title_tip=tip,
        hide_rank=hide_rank,
        live=live,
    )


def _rank(line: Line) -> int:
    order = list(words.STATES)
    return -order.index(line.queue.state) if line.queue is not None else 0


COLUMNS: tuple[Column[Line], ...] = (
    Column(
        key="queue",
        title=N_("Queue"),
        value=lambda line: line.key,
        text=title,
        kind=NAME,
        width=290,
        stretch=True,
        sortable=True,
        speech=sentence,
        tooltip=lambda line: words.hint(line.queue) if line.queue is not None else title(line),
    ),
    Column(
        key="curve",
        title=N_("Depth, 1 h"),
        value=lambda line: line.queue.curve if line.queue is not None else (),
        text=lambda _line: "",
        kind=CURVE,
        width=120,
        hide_rank=3,
    ),
    _numbers(
        "ready",
        N_("Ready"),
        lambda one: one.ready,
        lambda one: words.number(one.ready),
        width=66,
        tip=N_("Messages that the broker has and no worker holds (broker: ready); of dead letters the open ones."
            " The message of a cancelled or moved task counts until a worker takes and skips it."),
        tone=lambda one: "dead" if one.kind == "dead" and one.ready else "text",
    ),
    _numbers(
        "parked",
        N_("At gates"),
        lambda one: one.parked,
        lambda one: text.count(one.parked) if one.parked else "",
        tip=N_("Tasks that wait at a closed gate, as a pause or a login; they have no message in the broker."),
        hide_rank=6,
    ),
    _numbers(
        "unacked",
        N_("With workers"),
        lambda one: one.unacked,
        lambda one: words.number(one.unacked),
        width=98,
        tip=N_("Messages that workers hold and have not settled (broker: unacked)."),
        hide_rank=5,
    ),
    _numbers(
        "consumers",
        N_("Consumers"),
        lambda one: one.consumers,
        lambda one: words.number(one.consumers),
        width=90,
        tip=N_("Connections of workers that take messages from it (broker: consumers)."),
        hide_rank=1,
    ),
    _numbers(
        "in", N_("In"), lambda one: one.flow.in_s, lambda one: words.rate(one, one.flow.in_s), width=88, hide_rank=3,
        tip=N_("Tasks that came to wait there, over the last minutes."),
    ),
    _numbers(
        "out", N_("Out"), lambda one: one.flow.out_s, lambda one: words.rate(one, one.flow.out_s), width=88,
        hide_rank=3, tip=N_("Tasks that wait there no more: started, cancelled or moved, over the last minutes."),
    ),
    Column(
        key="trend",
        title=N_("Trend"),
        value=lambda line: line.queue.flow.trend if line.queue is not None else None,
        text=lambda line: line.said(words.trend),
        tone=lambda line: words.trend_tone(line.queue) if line.queue is not None else "text3",
        width=88,
        sortable=True,
        descending_first=True,
        hide_rank=2,
    ),
    Column(
        key="drained",
        title=N_("Drained in"),
        value=lambda line: line.queue.drained_s if line.queue is not None else None,
        text=lambda line: line.said(words.drained),
        tone=lambda line: "text" if line.queue is None or line.queue.drains else "retrying",
        width=112,
        title_tip=N_("What is ready, divided by what goes out a second."),
        sortable=True,
        descending_first=True,
    ),
    Column(
        key="forecast",
        title=N_("Forecast"),
        value=lambda line: line.foreseen.said.params.get("seconds") if line.foreseen is not None else None,
        text=lambda line: shown.say(line.foreseen.said) if line.foreseen is not None else "",
        tone=lambda line: "retrying" if line.foreseen is not None and line.foreseen.bad else "text2",
        width=160,
        title_tip=N_("By how long its tasks take, what still comes, slots and what a shop runs at a time."),
        tooltip=lambda line: shown.say(line.foreseen.said) if line.foreseen is not None else "",
        hide_rank=4,
    ),
    _numbers(
        "oldest",
        N_("Oldest"),
        lambda one: -one.oldest_at if one.oldest_at else None,
        lambda one: words.oldest(one, instant.now_ms()),
        width=84,
        tip=N_("How long the first task in it waits."),
        hide_rank=7,
        live=True,
    ),
    Column(
        key="state",
        title=N_("State"),
        value=_rank,
        text=lambda line: line.said(words.state),
        kind=STATE,
        width=174,
        sortable=True,
        descending_first=True,
        tooltip=lambda line: line.said(words.state_tip),
        speech=lambda line: line.said(words.state_tip),
    ),
)  # fmt: skip
#: by which column the rows of a group can be put in order
VALUES = {column.key: column.value for column in COLUMNS if column.sortable}
