"""Batches as rows of a list, and what is not done of one by what holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter

from services.domain.insight.batch import Hold, ShopLeft
from services.i18n import N_
from views.pages.batches import words
from views.pages.batches.bar import paint_bar
from views.pages.batches.words import BatchNow
from views.support import instant, shown, text
from views.tables import painters
from views.tables.column import Column, measured
from views.tables.painters import Cell, Ink
from views.theme import theme
from views.theme.tokens import status

NEXT = "next"
ROW = 56  #: name, bar, how far it is


def paint_batch(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw the name, the bar, and how far it is."""
    one: BatchNow = cell.record
    grown = theme().growth
    top, line = room.y() + round(6 * grown), round(17 * grown)
    kind = "tablestrong" if words.is_open(one.view) else "table"
    role = "text" if words.is_open(one.view) else "text2"
    token, left = status(words.look(one)), painters.GLYPH + painters.GLYPH_GAP
    glyph = ink.pixmap(token.glyph, token.role, painters.GLYPH, cell)
    painter.drawPixmap(QPointF(room.x(), top + (line - painters.GLYPH) / 2), glyph)
    room = room.adjusted(left, 0, 0, 0)
    ink.text(painter, QRect(room.x(), top, room.width(), line), words.name(one.view), cell, role=role, kind=kind)
    paint_bar(painter, QRectF(room.x(), top + line + 3, room.width() - 6, 4), words.parts_of(one))
    below = QRect(room.x(), top + line + 9, room.width() - 6, line)
    ink.text(painter, below, words.done_of(one), cell, role="text3", kind="label")
    said, tone = words.state(one)
    ink.text(painter, below, said, cell, role=tone, kind="label", align="right")


def paint_reason(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw glyph and words of what holds tasks."""
    hold: Hold = cell.record
    if ":" in hold.key:
        rest = room.adjusted(2 * (painters.GLYPH + painters.GLYPH_GAP), 0, 0, 0)
        ink.text(painter, rest, words.why(hold), cell, role="text2", kind="table")
        return
    token = status(words.glyph(hold))
    glyph = ink.pixmap(token.glyph, token.role, painters.GLYPH, cell)
    painter.drawPixmap(QPointF(room.x(), room.y() + (room.height() - painters.GLYPH) / 2), glyph)
    rest = room.adjusted(painters.GLYPH + painters.GLYPH_GAP, 0, 0, 0)
    ink.text(painter, rest, words.why(hold), cell, role="text", kind="tablestrong")


BATCH, REASON = "batch row", "batch reason"
for _kind, _painter in ((BATCH, paint_batch), (REASON, paint_reason)):
    painters.register(_kind, _painter)

BATCHES: tuple[Column[BatchNow], ...] = (
    Column(
        key="batch",
        title=N_("Batch"),
        value=lambda one: (one.view.batch, tuple(sorted(words.parts_of(one).items()))),
        text=words.sentence_of_row,
        kind=BATCH,
        width=220,
        stretch=True,
        speech=words.sentence_of_row,
        tooltip=lambda one: words.sentence_of_row(one),
    ),
)
L = TypeVar("L", Hold, ShopLeft)


def _oldest(_of: type[L]) -> Column[L]:
    return measured(
        "oldest",
        N_("Oldest"),
        lambda one: -one.oldest_at,
        lambda one: text.coarse(shown.span(max(0, instant.now_ms() - one.oldest_at))),
        width=84,
        live=True,
        hide_rank=3,
    )


def _behind(_of: type[L]) -> Column[L]:
    return measured(
        "behind",
        N_("Holds behind"),
        lambda one: one.behind,
        lambda one: "–" if one.behind < 0 else text.count(one.behind) if one.behind else "",
        width=106,
        title_tip=N_("Tasks of the batch that wait for these, directly or not; rows may overlap."),
        hide_rank=4,
    )


HOLDS: tuple[Column[Hold], ...] = (
    Column(
        key="why",
        title=N_("Why it is not done"),
        value=lambda one: one.key,
        text=words.why,
        kind=REASON,
        width=230,
        stretch=True,
    ),
    measured(
        "tasks",
        N_("Tasks"),
        lambda one: len(one.ids),
        lambda one: text.count(len(one.ids)),
        tone=lambda one: "dead" if one.key == "dead" else "text",
        width=70,
    ),
    Column(key="types", title=N_("Types"), value=words.types, tone="text2", width=210, hide_rank=1),
    measured("shops", N_("Shops"), lambda one: one.shops, lambda one: text.count(one.shops), width=66, hide_rank=2),
    _oldest(Hold),
    Column(
        key="goes",
        title=N_("Goes on"),
        value=words.goes_on,
        tone=lambda one: "retrying" if one.person and not one.owner else "text2",
        width=130,
    ),
    _behind(Hold),
    Column(key=NEXT, title=N_("Next step"), value=words.step, text=words.next_step, kind="link", width=104),
)


def left_columns(names: Callable[[], Mapping[str, str]]) -> tuple[Column[ShopLeft], ...]:
    """What is not done, by shop. ``names``: of shops, by ``platform:shop_id``."""
    return (
        Column(
            key="shop",
            title=N_("Shop"),
            value=lambda one: words.shop_left(one, names()),
            kind="strong",
            width=190,
            tooltip=lambda one: one.shop,
            sortable=True,
        ),
        measured("tasks", N_("Tasks"), lambda one: len(one.ids), lambda one: text.count(len(one.ids)), width=70),
        Column(
            key="why",
            title=N_("Why it is not done"),
            value=words.reasons,
            tone=lambda one: "retrying" if one.person else "text2",
            width=230,
            stretch=True,
        ),
        Column(key="types", title=N_("Types"), value=words.types, tone="text2", width=200, hide_rank=1),
        _oldest(ShopLeft),
        _behind(ShopLeft),
    )


#: by which column the reasons can be put in order
VALUES = {column.key: column.value for column in HOLDS if column.sortable}
