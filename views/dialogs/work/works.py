"""The works that were meant, an answer each, under their shops; the arrow keys of the field above move in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from services.i18n import _
from views.support import safe
from views.support.language import say_in_language
from views.support.paint import draw_line
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, status

HEAD, WORK, NOTE = 32, 48, 40
_PAD, _ICON, _GAP = 14, 16, 8
_ROW = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)


class WorkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A work with its answer; without a type the name of a shop, or a note below it. Texts are translated or names."""

    shop: str  #: platform:shop_id
    task_type: str = ""
    words: str = ""
    under: str = ""  #: of a shop its id
    badge: str = ""
    status: str = ""
    note: bool = False  #: says something of a shop, or of what is left out

    @property
    def key(self) -> tuple[str, str, bool]:
        """What tells it from others."""
        return self.shop, self.task_type, self.note

    @property
    def sentence(self) -> str:
        """All of it, for a screen reader."""
        return ", ".join(part for part in (self.words, self.under, self.badge) if part)


class WorkList(QListView):
    """Signals:
    chosen: another work is the current one: its shop and its type, or "" and "".
    opened: a work was clicked twice.
    """

    chosen = Signal(str, str)
    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows = _Rows()
        self.setModel(self.rows)
        self.setItemDelegate(_Painter(self))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.selectionModel().currentChanged.connect(lambda now, _before: self._tell(now.row()))
        self.doubleClicked.connect(lambda _index: self.opened.emit())
        theme().changed.connect(self.viewport().update)
        say_in_language(self._name)

    def _name(self) -> None:
        self.setAccessibleName(_("Works and their answers"))

    def current(self) -> tuple[str, str]:
        """Shop and type of the one that is chosen, "" and "" for none."""
        row = self.rows.row(self.currentIndex().row())
        return (row.shop, row.task_type) if row is not None and row.task_type else ("", "")

    def works(self) -> list[tuple[str, str]]:
        """All that are listed, in their order."""
        return [(row.shop, row.task_type) for row in self.rows.all if row.task_type]

    def show_rows(self, rows: Sequence[WorkRow]) -> None:
        """Show these; what stays keeps its place, and so does the cursor."""
        before = self.current()
        if not self.rows.say(rows):
            self.rows.show(rows)
            places = [at for at, row in enumerate(self.rows.all) if row.task_type]
            same = [at for at in places if self.rows.all[at].key[:2] == before]
            self.choose_row(next(iter(same or places), -1))
        if self.current() != before:
            self._tell(self.currentIndex().row())

    def choose_row(self, at: int) -> None:
        """Put the cursor on a row."""
        self.setCurrentIndex(self.rows.index(at))

    def step(self, down: int) -> None:
        """Go to the next work, or the one before."""
        at = self.currentIndex().row() + down
        while 0 <= at < self.rows.rowCount():
            row = self.rows.row(at)
            if row is not None and row.task_type:
                self.choose_row(at)
                return
            at += down

    def _tell(self, at: int) -> None:
        row = self.rows.row(at)
        if row is not None and row.task_type:
            self.chosen.emit(row.shop, row.task_type)
        elif row is None:
            self.chosen.emit("", "")


class _Rows(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.all: tuple[WorkRow, ...] = ()

    def row(self, at: int) -> WorkRow | None:
        """One of them."""
        return self.all[at] if 0 <= at < len(self.all) else None

    def show(self, rows: Sequence[WorkRow]) -> None:
        """Have others."""
        self.beginResetModel()
        self.all = tuple(rows)
        self.endResetModel()

    def say(self, rows: Sequence[WorkRow]) -> bool:
        """Change the words of the same ones in place; whether they are the same."""
        if [row.key for row in rows] != [row.key for row in self.all] or not rows:
            return False
        self.all = tuple(rows)
        self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
        return True

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's own default)
        return 0 if parent.isValid() else len(self.all)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only works can be chosen."""
        row = self.row(index.row())
        if row is None or not row.task_type:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A row, or its sentence."""
        row = self.row(index.row())
        if row is None:
            return None
        if role == _ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.sentence
        return safe.tooltip(row.sentence) if role == Qt.ItemDataRole.ToolTipRole else None


class _Painter(QStyledItemDelegate):
    """Names of shops, and below them glyph, answer and what stands under it."""

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """The height of its kind."""
        row = index.data(_ROW)
        grown = theme().growth
        return QSize(200, round((NOTE if row.note else WORK if row.task_type else HEAD) * grown))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        row: WorkRow = index.data(_ROW)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.note:
            painter.setFont(theme().font("label"))
            painter.setPen(theme().color("text3"))
            painter.drawText(rect.adjusted(_PAD + _ICON + _GAP, 0, -_PAD, 0), _WRAP, safe.one_line(row.words, 200))
        elif row.task_type:
            self._paint_work(painter, rect, row, bool(option.state & QStyle.StateFlag.State_Selected))
        else:
            self._paint_shop(painter, rect, row)
        painter.restore()

    @staticmethod
    def _paint_shop(painter: QPainter, rect: QRect, row: WorkRow) -> None:
        painter.setPen(theme().color("line"))
        painter.drawLine(rect.left() + _PAD, rect.top(), rect.right() - _PAD, rect.top())
        right = rect.right() - _PAD
        right = _write(
            painter,
            QRect(rect.left(), rect.top() + 4, right - rect.left(), rect.height() - 4),
            row.under,
            "monosmall",
            "text3",
            end=True,
        )
        right = _write(
            painter,
            QRect(rect.left(), rect.top() + 4, right - 10 - rect.left(), rect.height() - 4),
            row.badge,
            "badge",
            "text2",
            end=True,
        )
        room = QRect(rect.left() + _PAD, rect.top() + 4, right - 10 - rect.left() - _PAD, rect.height() - 4)
        _write(painter, room, row.words, "labelstrong", "text2")

    @staticmethod
    def _paint_work(painter: QPainter, rect: QRect, row: WorkRow, selected: bool) -> None:
        if selected:
            painter.setPen(theme().color("selline"))
            painter.setBrush(theme().color("sel"))
            room = QRectF(rect).adjusted(4.5, 0.5, -4.5, -0.5)
            painter.drawRoundedRect(room, RADIUS_BUTTON, RADIUS_BUTTON)
        token = status(row.status)
        half = rect.height() // 2
        top = rect.top() + 4 + (half - _ICON) // 2
        painter.drawPixmap(rect.left() + _PAD, top, theme().pixmap(token.glyph, token.role, _ICON))
        left = rect.left() + _PAD + _ICON + _GAP
        wide = rect.right() - _PAD - left
        tone = token.role if row.status in ("dead", "held", "retrying", "warning") else "text"
        _write(painter, QRect(left, rect.top() + 3, wide, half), row.words, "strong", tone)
        _write(painter, QRect(left, rect.top() + half - 1, wide, half), row.under, "label", "text2")


def _write(painter: QPainter, room: QRect, words: str, kind: str, tone: str, *, end: bool = False) -> int:
    """Write a line, cut where there is no room; at its end where asked, then where it begins is told."""
    if not words or room.width() < 12:
        return room.right()
    font = theme().font(kind)
    metrics = QFontMetrics(font)
    said = metrics.elidedText(safe.one_line(words), Qt.TextElideMode.ElideRight, room.width())
    painter.setFont(font)
    painter.setPen(theme().color(tone))
    wide = metrics.horizontalAdvance(said) + 2
    if end:
        room = QRect(room.right() - wide, room.top(), wide, room.height())
    draw_line(painter, room, said)
    return room.left()
