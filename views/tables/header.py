"""The header of a table: titles, sort arrows, and the box that ticks every loaded row."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget

from views.tables.column import TICK
from views.tables.delegates import PADDING
from views.tables.painters import paint_box
from views.tables.record_model import RecordModel
from views.theme import theme
from views.theme.tokens import TABLE_HEADER

_ARROW = 10
_VCENTRE = int(Qt.AlignmentFlag.AlignVCenter)


class TableHeader(QHeaderView):
    """Titles of the columns.

    Signals:
        tick_clicked: the box in the header was clicked.
        chooser_requested: the menu of columns is wanted, at a global position.
    """

    tick_clicked = Signal()
    chooser_requested = Signal(QPoint)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(26)
        self.setMouseTracking(True)
        self.setFixedHeight(TABLE_HEADER)
        self.sectionClicked.connect(self._on_clicked)
        self._add = False

    def model_of(self) -> RecordModel[Any] | None:
        """Return the model under the header."""
        model = self.model()
        return model if isinstance(model, RecordModel) else None

    def sizeHint(self) -> QSize:
        """Return the fixed height of the design."""
        return QSize(super().sizeHint().width(), TABLE_HEADER)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the columns."""
        self.chooser_requested.emit(event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember whether Shift adds a sort key."""
        self._add = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        super().mousePressEvent(event)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw one title."""
        model = self.model_of()
        painter.fillRect(rect, theme().color("raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme().color("line"))
        if model is None or not 0 <= section < model.columnCount():
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if model.column(section).key == TICK:
            paint_box(painter, rect.adjusted(0, 0, 0, -1), model.tick_state())
        else:
            self._paint_title(painter, rect, section, model)
        painter.restore()

    def _paint_title(self, painter: QPainter, rect: QRect, section: int, model: RecordModel[Any]) -> None:
        column = model.column(section)
        sort = next((sort for sort in model.sorts if sort[0] == column.key), None)
        font = theme().font("label")
        metrics = QFontMetrics(font)
        room = rect.adjusted(PADDING, 0, -PADDING, -1)
        arrow = _ARROW + 3 if sort else 0
        title = metrics.elidedText(
            str(model.headerData(section, Qt.Orientation.Horizontal) or ""),
            Qt.TextElideMode.ElideRight,
            room.width() - arrow,
        )
        width = metrics.horizontalAdvance(title)
        left = room.right() - width - arrow + 1 if column.to_right else room.left()
        painter.setFont(font)
        painter.setPen(theme().color("text" if sort else "text2"))
        painter.drawText(QRect(left, room.top(), width + 2, room.height()), _VCENTRE, title)
        if sort:
            name = "ph.caret-down-fill" if sort[1] else "ph.caret-up-fill"
            top = room.top() + (room.height() - _ARROW) / 2
            painter.drawPixmap(QPointF(left + width + 4, top), theme().pixmap(name, "text", _ARROW))

    def _on_clicked(self, section: int) -> None:
        model = self.model_of()
        if model is None:
            return
        if model.column(section).key == TICK:
            self.tick_clicked.emit()
        else:
            model.request_sort(section, add=self._add)
