"""What the table of dead letters shows of a record."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QPainter

from services.domain.insight.shop import ShopNow
from services.domain.task.record import Task
from services.domain.text.message import Message
from services.i18n import N_, _
from views.pages.dead_letters.words import minute
from views.support import instant, shown
from views.support.words import shop as shop_words
from views.support.words import type_names
from views.tables import painters
from views.tables.column import Column
from views.tables.painters import Cell, Ink
from views.tables.task_columns import lane_column, platform_column, shop_column, type_column


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterRow:
    """A dead task, the name of its shop, and how that stands now."""

    task: Task
    shop_name: str = ""
    now: ShopNow = field(default_factory=ShopNow)
    refusal: Message | None = None  #: why it cannot be republished as it is

    @property
    def key(self) -> str:
        """The task id."""
        return self.task.task_id


def sentence(row: LetterRow) -> str:
    """The row for a screen reader."""
    shop = row.shop_name or row.task.shop_id
    return _("Dead letter, {type}, shop {shop}").format(type=type_names.name(row.task.task_type), shop=shop)


def _paint_now(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    row: LetterRow = cell.record
    word, glyph, role = shop_words.look_beside(row.now, row.task)
    pixmap = ink.pixmap(glyph, role, GLYPH, cell)
    painter.drawPixmap(QPointF(room.x(), room.y() + (room.height() - GLYPH) / 2), pixmap)
    rest = room.adjusted(GLYPH + painters.GLYPH_GAP, 0, 0, 0)
    ink.text(painter, rest, word, cell, role="text2" if role == "succeeded" else role, kind="table")


GLYPH = 13
painters.register("shopnow", _paint_now)

COLUMNS: tuple[Column[LetterRow], ...] = (
    type_column(hide_rank=3),  # the same for all letters of a cause, whose heading names it
    shop_column(width=140, stretch=True),
    platform_column(width=58, hide_rank=2),
    lane_column(width=92, hide_rank=1),
    Column(
        key="now",
        title=N_("Shop now"),
        title_tip=N_("Whether the shop could be worked in, as far as its own tasks tell; a hint whether to try again."),
        value=lambda row: row.now,
        text=lambda row: shop_words.look_beside(row.now, row.task)[0],
        kind="shopnow",
        width=104,
        tooltip=lambda row: shop_words.evidence(row.now, instant.now_ms()),
    ),
    Column(
        key="updated",
        title=N_("Died"),
        value=lambda row: row.task.ended_at,
        text=lambda row: minute(row.task.ended_at, instant.now_ms()),
        width=76,
        align="right",
        sortable=True,
        descending_first=True,
        tooltip=lambda row: shown.clock(row.task.ended_at, instant.now_ms()),
    ),
)
