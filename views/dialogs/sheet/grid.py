"""The grid of a file's rows: keys of a spreadsheet, bad cells marked, each corrected where it stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from services.i18n import _, ngettext
from views.dialogs.sheet.model import STATE, SheetModel
from views.support import safe, text
from views.support.language import say_in_language
from views.support.paint import draw_focus
from views.theme import theme
from views.theme.tokens import TABLE_HEADER, status

PAD, GLYPH, ROW = 8, 13, 28
LEAST, MOST, STATE_WIDTH = 92, 260, 130
_VCENTRE = int(Qt.AlignmentFlag.AlignVCenter)
_KEPT = 4000  #: texts whose cut is remembered
_TRIED = 40  #: rows by which the width of a column is found
_NOWHERE = ((-1, -1), (-1, -1))
Index = QModelIndex | QPersistentModelIndex


class SheetGrid(QTableView):
    """Keys: F2 or typing edits, Enter goes on below, Del empties cells, Ctrl+C and Ctrl+V copy and paste, Ctrl+Z takes
    back, F8 goes to the next thing that is wrong.

    Signals:
        pasted: a text of the clipboard, for the cell at the cursor.
        undo_wanted: take the last change back.
        moved: the cursor is in another cell.
        scrolled: columns stand elsewhere now.
    """

    pasted = Signal(str)
    undo_wanted = Signal()
    moved = Signal()
    scrolled = Signal()

    def __init__(self, model: SheetModel) -> None:
        super().__init__()
        self._model = model
        self.setModel(model)
        self.setItemDelegate(_Cells(model, self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)  # Tab leaves the grid, as it leaves every table
        self.setCornerButtonEnabled(False)
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.verticalHeader().setSectionResizeMode(self.verticalHeader().ResizeMode.Fixed)
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setFixedHeight(TABLE_HEADER)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(LEAST)
        self.horizontalHeader().sectionResized.connect(self._on_resized)
        self.horizontalScrollBar().valueChanged.connect(self.scrolled)
        model.modelReset.connect(self._on_reset)
        theme().changed.connect(self.viewport().update)
        say_in_language(self._say)
        self._below = _NOWHERE  #: what was written last, and the cell that Enter went to, while the cursor is there
        self._shown: tuple[str, ...] = ()
        self._wanted: list[int] = []  #: width of each column by what stands in it
        self._least: dict[int, int] = {}
        self._by_hand = self._sharing = False

    # going about

    def go_to(self, row: int, section: int) -> None:
        """Put the cursor there."""
        index = self._model.index(row, section)
        self.setCurrentIndex(index)
        self.scrollTo(index)
        self.setFocus()

    def next_error(self) -> bool:
        """Go to the next cell that is wrong, from top to bottom and round again; False where none is."""
        bad = self._model.bad_cells()
        if not bad:
            return False
        at = self.currentIndex()
        here = (at.row(), at.column()) if at.isValid() else (-1, -1)
        if here == self._below[1]:  # where Enter went by itself, past what is wrong further left or there
            here = self._below[0]
        self._below = _NOWHERE  # else it would be looked for from there for ever
        self.go_to(*next((place for place in bad if place > here), bad[0]))
        return True

    def show_section(self, section: int) -> None:
        """Bring a column into sight."""
        row = max(0, self.currentIndex().row())
        if self._model.rowCount():
            self.scrollTo(self._model.index(row, section))

    def make_room(self, least: Mapping[int, int]) -> None:
        """Take care that columns are at least so wide, for what stands above them; none has to be scrolled to where
        all of them fit with less than what stands in them would like. What a person has made wider or narrower stays.
        """
        self._least = dict(least)
        self._share()

    def place(self) -> tuple[int, int]:
        """Number of the row and column of the file where something is pasted: the cursor, or the first cell."""
        at = self.currentIndex()
        if not at.isValid():
            return (self._model.number(0) if self._model.rowCount() else 2, 0)
        return self._model.number(at.row()), max(at.column() - 1, 0)

    def write(self, words: Mapping[tuple[int, int], str]) -> None:
        """Fill cells, by (number of the row, column)."""
        if words:
            self._model.written.emit(dict(words))

    # what Qt asks

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of a spreadsheet; what means nothing here goes on."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.pasted.emit(QGuiApplication.clipboard().text())
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_wanted.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.write(dict.fromkeys(self._chosen_cells(), ""))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            if self.state() != QAbstractItemView.State.EditingState:  # else the editor keeps first what was written
                self._step_down()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Enter goes on below, as in a spreadsheet."""
        super().closeEditor(editor, hint)
        if hint == QAbstractItemDelegate.EndEditHint.SubmitModelCache:
            was = self.currentIndex()
            self._step_down()
            now = self.currentIndex()
            self._below = ((was.row(), was.column()), (now.row(), now.column()))

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Tell where the cursor is."""
        super().currentChanged(current, previous)
        if current.isValid() and (current.row(), current.column()) != self._below[1]:
            self._below = _NOWHERE
        self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Columns take the room that there is."""
        super().resizeEvent(event)
        self._share()
        self.scrolled.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the cell."""
        at = self.indexAt(event.pos())
        if at.isValid():
            self.setCurrentIndex(at) if at not in self.selectedIndexes() else None
            menu = self.menu(at)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(event.globalPos())

    def menu(self, at: Index) -> QMenu:
        """What can be done with a cell."""
        menu = QMenu(self)
        copy = menu.addAction(_("Copy"))
        copy.triggered.connect(self._copy)
        for words, cells, value in self.remedies(at.row(), at.column()):
            menu.addAction(words.replace("&", "&&")).triggered.connect(partial(self.write, dict.fromkeys(cells, value)))
        clear = menu.addAction(_("Empty the cells"))
        clear.triggered.connect(lambda: self.write(dict.fromkeys(self._chosen_cells(), "")))
        return menu

    def remedies(self, row: int, section: int) -> list[tuple[str, Sequence[tuple[int, int]], str]]:
        """What was probably meant by a cell, for it alone and for all that say the same: words, cells, value."""
        fault = self._model.fault_at(row, section)
        near = str(fault.reason.params.get("near", "")) if fault is not None else ""
        if not near or section == STATE:
            return []
        one, same = [(self._model.number(row), section - 1)], self._model.same(row, section)
        shown = safe.one_line(near, 40)
        found: list[tuple[str, Sequence[tuple[int, int]], str]] = [(_("Use {value}").format(value=shown), one, near)]
        if len(same) > 1:
            words = ngettext("Use it in {n} cell", "Use it in all {n} cells", len(same))
            found.append((words.format(n=text.count(len(same))), same, near))
        return found

    # inside

    def _chosen_cells(self) -> list[tuple[int, int]]:
        return [
            (self._model.number(at.row()), at.column() - 1)
            for at in self.selectedIndexes()
            if at.column() > STATE and self._model.flags(at) & Qt.ItemFlag.ItemIsEditable
        ]

    def _copy(self) -> None:
        chosen = sorted((at.row(), at.column()) for at in self.selectedIndexes())
        if not chosen:
            return
        rows: dict[int, list[str]] = {}
        for row, section in chosen:
            words = (
                self._model.cell(row, section) if section > STATE else str(self._model.index(row, section).data() or "")
            )
            rows.setdefault(row, []).append(" ".join(words.split()))
        QGuiApplication.clipboard().setText("\n".join("\t".join(words) for words in rows.values()))

    def _step_down(self) -> None:
        at = self.currentIndex()
        if at.isValid() and at.row() + 1 < self._model.rowCount():
            self.setCurrentIndex(at.siblingAtRow(at.row() + 1))

    def _on_reset(self) -> None:
        orders = self._model.orders
        names = orders.table.columns if orders is not None else ()
        if names != self._shown:
            self._shown = names
            self._fit()
        self._share()
        self.scrolled.emit()

    def _fit(self) -> None:
        metrics = QFontMetrics(theme().font("table"))
        self._wanted, self._by_hand = [STATE_WIDTH], False
        for section in range(1, self._model.columnCount()):
            words = [str(self._model.headerData(section, Qt.Orientation.Horizontal) or "")]
            words += [
                self._model.cell(row, section)[:60]
                for row in range(min(self._model.rowCount(), _TRIED))
                if self._model.flags(self._model.index(row, section)) & Qt.ItemFlag.ItemIsEditable
            ]
            width = max(map(metrics.horizontalAdvance, words)) + 2 * PAD + 6
            self._wanted.append(max(LEAST, min(MOST, width)))

    def _share(self) -> None:
        if self._by_hand or not self._wanted:
            return
        metrics = QFontMetrics(theme().font("table"))
        fates = max(map(metrics.horizontalAdvance, self._model.fates())) + PAD + GLYPH + 12
        self._wanted[STATE] = max(STATE_WIDTH, fates)
        least = [self._wanted[STATE], *(max(LEAST, self._least.get(at, 0)) for at in range(1, len(self._wanted)))]
        widths = [max(wanted, low) for wanted, low in zip(self._wanted, least, strict=False)]
        spare = [width - low for width, low in zip(widths, least, strict=False)]
        over = sum(widths) - self.viewport().width()
        if 0 < over <= sum(spare):
            widths = [width - math.ceil(more * over / sum(spare)) for width, more in zip(widths, spare, strict=True)]
        self._sharing = True
        for section, width in enumerate(widths):
            self.setColumnWidth(section, width)
        self._sharing = False

    def _on_resized(self) -> None:
        self._by_hand = self._by_hand or not self._sharing
        self.scrolled.emit()

    def _say(self) -> None:
        self.setAccessibleName(_("Rows of the file"))
        self.viewport().update()


class _Cells(QStyledItemDelegate):
    """Draws what stands in a cell, and marks what is wrong by tint, underline and glyph."""

    def __init__(self, model: SheetModel, view: SheetGrid) -> None:
        super().__init__(view)
        self._model, self._view = model, view
        self._cut: dict[tuple[str, int], tuple[str, int]] = {}
        self._font = theme().font("table")
        self._metrics = QFontMetrics(self._font)
        theme().changed.connect(self._restyle)

    def _restyle(self) -> None:
        self._font = theme().font("table")
        self._metrics = QFontMetrics(self._font)
        self._cut.clear()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        room = QRect(option.rect)
        row, section = index.row(), index.column()
        fault = self._model.fault_at(row, section)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ground = theme().color("sel") if chosen else theme().color("input")
        painter.fillRect(room, theme().tint("dead", 16, "sel" if chosen else "input") if fault is not None else ground)
        painter.setPen(theme().color("line"))
        painter.drawLine(room.bottomLeft(), room.bottomRight())
        painter.drawLine(room.topRight(), room.bottomRight())
        if section == STATE:
            self._paint_state(painter, room, row)
        else:
            self._paint_words(painter, room, self._model.words(row, section), wrong=fault is not None)
        if index == self._view.currentIndex() and self._view.hasFocus():
            draw_focus(painter, room.adjusted(0, 0, -1, -1), 1)

    def _paint_state(self, painter: QPainter, room: QRect, row: int) -> None:
        name = self._model.status(row)
        if not name:
            return
        token = status(name)
        quiet = name == "succeeded"
        top = room.top() + (room.height() - GLYPH) // 2
        painter.drawPixmap(room.left() + PAD, top, theme().pixmap(token.glyph, "text3" if quiet else token.role, GLYPH))
        painter.setPen(theme().color("text3" if quiet else token.role))
        self._write(painter, room.adjusted(PAD + GLYPH + 6, 0, -4, 0), self._model.words(row, STATE))

    def _paint_words(self, painter: QPainter, room: QRect, words: str, *, wrong: bool) -> None:
        inner = room.adjusted(PAD, 0, -PAD, 0)
        if wrong:
            token = status("dead")
            painter.drawPixmap(
                inner.right() - GLYPH + 1,
                room.top() + (room.height() - GLYPH) // 2,
                theme().pixmap(token.glyph, token.role, GLYPH),
            )
            inner.adjust(0, 0, -GLYPH - 4, 0)
        painter.setPen(theme().color("text"))
        width = self._write(painter, inner, words)
        if wrong:
            painter.setPen(QPen(theme().color("dead"), 1, Qt.PenStyle.DashLine))
            base = room.bottom() - 5
            painter.drawLine(inner.left(), base, inner.left() + max(width, 16), base)

    def _write(self, painter: QPainter, room: QRect, words: str) -> int:
        """Draw a line, cut where the room ends; answers its width."""
        if not words:
            return 0
        key = (words, room.width())
        found = self._cut.get(key)
        if found is None:
            if len(self._cut) > _KEPT:
                self._cut.clear()
            cut = self._metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
            found = self._cut[key] = (cut, self._metrics.horizontalAdvance(cut))
        painter.setFont(self._font)
        painter.drawText(room, _VCENTRE, found[0])
        return found[1]
