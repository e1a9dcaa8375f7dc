"""Paints a table in one pass: row grounds and lines, then each cell that needs it, then the focus ring.

Going through Qt's delegate costs more per cell than drawing it (style option, index, virtual call), so the
view paints itself with this; as a delegate it only answers how much room a cell wants.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from views.support.language import on_language_changed
from views.support.paint import draw_focus, draw_line
from views.tables.column import Column, Fingerprint
from views.tables.painters import Cell, Ink, is_own, painter_of, text_kind
from views.tables.record_model import Heading, RecordModel
from views.theme import theme

PADDING = 8
EDGE = 3
HEADING = 27
_BARE = frozenset({"tick", "glyph"})
Said = Callable[[Hashable, str, object], Fingerprint | None]


def _nothing(_key: Hashable, _column: str, _record: object) -> None:
    return None


class CellDelegate(QStyledItemDelegate):
    """Draws the rows of a ``RecordModel``; asks the model in Python, not through Qt roles."""

    def __init__(self, parent: QWidget, ground: str = "table") -> None:
        super().__init__(parent)
        self._ground = ground
        self._ink = Ink()
        self.hovered_row = -1
        self.current_row = -1
        self.current_section = -1
        self.show_focus = False
        self._measured: dict[tuple[int, str], tuple[Any, int]] = {}  #: in this turn: a record, and the room of its cell
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._measured.clear)
        theme().changed.connect(self._ink.forget)
        theme().changed.connect(self._measured.clear)
        on_language_changed(self._forget)

    def _forget(self) -> None:
        self._measured.clear()

    def paint_rows(
        self, painter: QPainter, view: QTableView, dirty: QRect, model: RecordModel[Any], said: Said = _nothing
    ) -> None:
        """Draw what `dirty` covers; ``said``: what a cell is known to say now, by key, column and record."""
        painter.fillRect(dirty, theme().color(self._ground))
        rows = covered_rows(view, dirty, model.rowCount())
        if not rows:
            return
        sections = _covered_sections(view, dirty, model)
        top = view.rowViewportPosition(rows.start)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for row in rows:
            height = view.rowHeight(row)
            self._paint_row(painter, view, row, top, height, dirty, sections, model, said)
            top += height

    def _paint_row(
        self,
        painter: QPainter,
        view: QTableView,
        row: int,
        top: int,
        height: int,
        dirty: QRect,
        sections: list[tuple[int, int, int]],
        model: RecordModel[Any],
        said: Said,
    ) -> None:
        key = model.key_at(row)
        ticked, current = model.is_ticked(row), row == self.current_row
        width = view.viewport().width()
        if model.headings and (heading := model.headings.get(key)) is not None:
            head = heading_height()
            if dirty.top() < top + head:  # where only the clock moves on, it is cut and measured for nothing
                self._paint_heading(painter, QRect(0, top, width, head), heading)
            top, height = top + head, height - head
        if current or ticked:
            painter.fillRect(0, top, width, height, theme().color("sel"))
        elif row == self.hovered_row:
            painter.fillRect(0, top, width, height, theme().color("hover"))
        painter.fillRect(0, top + height - 1, width, 1, theme().color("line"))
        if current:
            painter.fillRect(0, top, EDGE, height - 1, theme().color("accent"))
        record, dimmed = model.record(row), model.is_dimmed(row)
        for section, left, room in sections:
            column = model.column(section)
            pad = 0 if column.kind in _BARE else PADDING
            rect = QRect(left + pad, top, room - 2 * pad, height - 1)
            known = said(key, column.key, record) if column.live else None
            self._paint_cell(painter, rect, Cell(record, column, dimmed, ticked, current=current, said=known))
            if current and self.show_focus and view.hasFocus() and section == self.current_section:
                draw_focus(painter, QRect(left, top, room, height - 1), 3)

    def _paint_heading(self, painter: QPainter, room: QRect, heading: Heading) -> None:
        painter.fillRect(room.x(), room.bottom(), room.width(), 1, theme().color("line"))
        left = room.x() + PADDING
        for words, kind, role in ((heading.title, "labelstrong", "text2"), (heading.note, "label", "text3")):
            painter.setFont(self._ink.font(kind))
            painter.setPen(theme().color(role))
            width = max(0, room.right() - PADDING - left)
            cut = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, width)
            draw_line(painter, QRectF(left, room.y(), width, room.height()), cut)
            left += self._ink.width(words, kind) + PADDING

    def _paint_cell(self, painter: QPainter, rect: QRect, cell: Cell) -> None:
        kind = cell.column.kind
        if is_own(kind):
            painter_of(kind)(painter, rect, cell, self._ink)
            return
        painter.save()
        painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
        painter_of(kind)(painter, rect, cell, self._ink)
        painter.restore()

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the room the whole text needs, for fitting a column to its content."""
        model: RecordModel[Any] = index.model()  # type: ignore[assignment]
        return QSize(self.room(model.record(index.row()), model.column(index.column())), theme().row_height)

    def room(self, record: Any, column: Column[Any]) -> int:
        """How wide the whole text needs a cell to be. A table that fills while it is shown asks several times in one
        turn, and what a cell says is put together but once.
        """
        key = id(record), column.key
        known, room = self._measured.get(key, (None, 0))
        if known is not record:
            lines = column.lines(record)[:2] if column.lines is not None else (column.display(record),)
            # the width is rounded, and a part of a pixel too little cuts a word
            width = max(self._ink.width(line, text_kind(column)) for line in lines) + 1 + 2 * PADDING
            room = max(width + (24 if column.kind in ("status", "lane", "attempts") else 0), 28)
            self._measured[key] = record, room
            if not self._turn.isActive():
                self._turn.start()
        return room


def heading_height() -> int:
    """Of what stands above the first row of a group, in pixels."""
    return round(HEADING * theme().growth)


def covered_rows(view: QTableView, dirty: QRect, count: int) -> range:
    """The rows of which a part of the viewport shows something."""
    first = view.rowAt(dirty.top())
    if first < 0:
        return range(0)
    last = view.rowAt(dirty.bottom())
    return range(first, (count - 1 if last < 0 else last) + 1)


def _covered_sections(view: QTableView, dirty: QRect, model: RecordModel[Any]) -> list[tuple[int, int, int]]:
    found = []
    for section in range(model.columnCount()):
        if view.isColumnHidden(section):
            continue
        left, width = view.columnViewportPosition(section), view.columnWidth(section)
        if left <= dirty.right() and left + width > dirty.left():
            found.append((section, left, width))
    return found
