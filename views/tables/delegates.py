"""The one delegate of all tables: row background, row line, focus ring, then the cell's painter."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from views.tables.painters import Cell, Ink, painter_of, text_kind
from views.tables.record_model import RecordModel
from views.theme import theme

PADDING = 8
EDGE = 3
_SELECTED = QStyle.StateFlag.State_Selected
_HAS_FOCUS = QStyle.StateFlag.State_HasFocus
_NO_BRUSH = Qt.BrushStyle.NoBrush


class CellDelegate(QStyledItemDelegate):
    """Draws the cells of a ``RecordModel``; asks the model in Python, not through Qt roles."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = Ink()
        self.hovered_row = -1
        self.current_row = -1
        self.first_section = 0
        self.show_focus = False
        theme().changed.connect(self._ink.forget)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one cell."""
        model: RecordModel[Any] = index.model()  # type: ignore[assignment]
        row, section = index.row(), index.column()
        rect: QRect = option.rect
        column = model.column(section)
        cell = Cell(model.record(row), column, model.is_dimmed(row), model.is_ticked(row))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_row(painter, rect, row, section, cell)
        pad = 0 if column.kind in ("tick", "glyph") else PADDING
        painter_of(column.kind)(painter, rect.adjusted(pad, 0, -pad, -1), cell, self._ink)
        if self.show_focus and option.state & _HAS_FOCUS:
            self._paint_focus(painter, rect)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the room the whole text needs, for fitting a column to its content."""
        model: RecordModel[Any] = index.model()  # type: ignore[assignment]
        column = model.column(index.column())
        text = column.display(model.record(index.row()))
        width = self._ink.width(text, text_kind(column)) + 2 * PADDING
        extra = 24 if column.kind in ("status", "lane", "attempts") else 0
        return QSize(max(width + extra, 28), theme().row_height)

    def _paint_row(self, painter: QPainter, rect: QRect, row: int, section: int, cell: Cell) -> None:
        current = row == self.current_row
        if current or cell.ticked:
            painter.fillRect(rect, theme().color("sel"))
        elif row == self.hovered_row:
            painter.fillRect(rect, theme().color("hover"))
        line = QRect(rect.left(), rect.bottom(), rect.width(), 1)
        painter.fillRect(line, theme().color("line"))
        if current and section == self.first_section:
            painter.fillRect(QRect(rect.left(), rect.top(), EDGE, rect.height() - 1), theme().color("accent"))

    @staticmethod
    def _paint_focus(painter: QPainter, rect: QRect) -> None:
        painter.setBrush(_NO_BRUSH)
        painter.setPen(QPen(theme().color("focus"), 2))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -2), 3, 3)
