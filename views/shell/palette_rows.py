"""The rows of the command palette: entries under the names of their groups, painted in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from services.i18n import _
from views.support import safe
from views.support.paint import draw_line
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON
from views.widgets.buttons import paint_chip, shortcut_text

ROW, HEAD = 32, 28
_PAD, _ICON = 12, 15
_ENTRY = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the palette can find; texts are already translated or names of the fleet.

    `key` tells it from others and is what is remembered. With a `reason` it is shown, but cannot be run. `then` gives
    the entries for a next argument instead of running.
    """

    key: str
    kind: str  #: command | page | shop | worker | queue | task
    words: str
    run: Callable[[], object] = lambda: None
    note: str = ""  #: beside the words, dimmer
    right: str = ""  #: at the right end
    icon: str = "ph.caret-right"
    role: str = "text2"  #: colour role of the icon
    keys: str = ""  #: its shortcut
    reason: str = ""
    others: tuple[str, ...] = ()  #: also found by these, e.g. an id or initials
    copy: str = ""  #: what Ctrl+C copies
    then: Callable[[], Sequence[Entry]] | None = None
    spans: tuple[tuple[int, int], ...] = msgspec.field(default=())


class Rows(QAbstractListModel):
    """Heads of groups and entries; a head is a text."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Entry | str] = []

    def rows(self) -> tuple[Entry | str, ...]:
        """Return what is shown."""
        return tuple(self._rows)

    def entry(self, row: int) -> Entry | None:
        """Return the entry in `row`, None for a head."""
        found = self._rows[row] if 0 <= row < len(self._rows) else None
        return found if isinstance(found, Entry) else None

    def row_of(self, key: str) -> int:
        """Return the row of the entry `key`, -1 when it is not shown."""
        return next((n for n, row in enumerate(self._rows) if isinstance(row, Entry) and row.key == key), -1)

    def show(self, rows: Sequence[Entry | str]) -> None:
        """Show other rows; what only came below leaves the rows above as they are."""
        same = 0
        for old, new in zip(self._rows, rows, strict=False):
            if _name(old) != _name(new):
                break
            same += 1
        none = QModelIndex()
        if same < len(self._rows):
            self.beginRemoveRows(none, same, len(self._rows) - 1)
            del self._rows[same:]
            self.endRemoveRows()
        self._rows = list(rows[:same])
        if same:
            self.dataChanged.emit(self.index(0), self.index(same - 1))
        if same < len(rows):
            self.beginInsertRows(none, same, len(rows) - 1)
            self._rows += rows[same:]
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's own default)
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only entries can be chosen."""
        if not index.isValid() or self.entry(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return words, entry and sentence of a row."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == _ENTRY:
            return row
        if isinstance(row, str):
            return row if role == Qt.ItemDataRole.DisplayRole else None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return ", ".join(part for part in (row.words, row.note, row.right, row.reason) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return safe.tooltip(row.reason) or None
        return None


def _name(row: Entry | str) -> str:
    return row if isinstance(row, str) else f"\0{row.key}"


class RowPainter(QStyledItemDelegate):
    """Glyph, words with the letters that were meant in the accent colour, note, right end, key."""

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a head or an entry."""
        return QSize(200, HEAD if isinstance(index.data(_ENTRY), str) else ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        row = index.data(_ENTRY)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, str):
            painter.setFont(theme().font("label"))
            painter.setPen(theme().color("text3"))
            draw_line(painter, rect.adjusted(_PAD, 4, -_PAD, 0), row)
        else:
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            self._paint_entry(painter, rect, row, selected)
        painter.restore()

    def _paint_entry(self, painter: QPainter, rect: QRect, row: Entry, selected: bool) -> None:
        if selected:
            painter.setPen(theme().color("selline"))
            painter.setBrush(theme().color("sel"))
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_BUTTON, RADIUS_BUTTON)
        dim = bool(row.reason)
        top = rect.top() + (rect.height() - _ICON) // 2
        pixmap = theme().pixmap(row.icon, "dis" if dim else row.role, _ICON)
        painter.drawPixmap(rect.left() + _PAD, top, pixmap)
        right = rect.right() - _PAD
        if keys := shortcut_text(row.keys) or (_("Enter") if selected else ""):
            right = paint_chip(painter, right, rect, keys, on_fill=False, enabled=not dim) - 8
        right = self._paint_end(painter, rect, right, row.reason or row.right, "retrying" if dim else "text3")
        left = rect.left() + _PAD + _ICON + 9
        left = self._paint_words(painter, QRect(left, rect.top(), right - left, rect.height()), row, dim)
        if row.note and left < right - 30:
            painter.setFont(theme().font("label"))
            painter.setPen(theme().color("text3"))
            room = QRect(left + 9, rect.top(), right - left - 12, rect.height())
            draw_line(painter, room, _elided(theme().font("label"), row.note, room.width()))

    @staticmethod
    def _paint_end(painter: QPainter, rect: QRect, right: int, words: str, role: str) -> int:
        if not words:
            return right
        font = theme().font("label")
        shown = _elided(font, words, rect.width() // 2)
        width = QFontMetrics(font).horizontalAdvance(shown) + 2
        painter.setFont(font)
        painter.setPen(theme().color(role))
        draw_line(painter, QRect(right - width, rect.top(), width + 2, rect.height()), shown)
        return right - width - 10

    @staticmethod
    def _paint_words(painter: QPainter, room: QRect, row: Entry, dim: bool) -> int:
        font = theme().font("body")
        metrics = QFontMetrics(font)
        words = _elided(font, safe.one_line(row.words), room.width())
        painter.setFont(font)
        left, at = room.left(), 0
        pieces = []
        for start, end in row.spans:
            pieces += [(words[at:start], "text"), (words[start:end], "accent")]
            at = end
        pieces.append((words[at:], "text"))
        for piece, role in pieces:
            painter.setPen(theme().color("dis" if dim else role))
            draw_line(painter, QRect(left, room.top(), room.right() - left + 4, room.height()), piece)
            left += metrics.horizontalAdvance(piece)
        return left


def _elided(font: Any, words: str, width: int) -> str:
    return QFontMetrics(font).elidedText(words, Qt.TextElideMode.ElideRight, max(0, width))
