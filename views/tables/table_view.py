"""The table of the console: rows of 28 px, keyboard first, nothing moves under the cursor.

    table = TableView(model, name=N_("Tasks"))
    table.open_requested.connect(self._open)          # Enter, double click: a key
    table.peek_requested.connect(self._show_detail)   # Space: a key
    table.current_changed.connect(self._follow)       # cursor moved: a key or None
    table.menu_requested.connect(self._fill_menu)     # QMenu, key: add your actions first
    table.filter_requested.connect(self._filter)      # column key, include?
    table.layout_of_columns.save() / .restore(data)   # plain dict for the settings file

The menu of a cell offers the same in every table: copying, and filtering by its value. Cells that follow the
instant of everything on screen are repainted when it moves, while they are seen.

Keys: arrows, PgUp, PgDn, Home, End move; Space peeks; Enter opens; Ctrl+Space ticks; Shift with an
arrow ticks on the way; Ctrl+A ticks all loaded rows; Ctrl+C copies the cell, Ctrl+Shift+C the rows;
Esc clears the ticks; Menu or Shift+F10 opens the context menu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QMetaMethod,
    QModelIndex,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QHeaderView, QMenu, QTableView, QWidget

from services.i18n import _
from views.support.instant import Told, now_ms, ticks
from views.support.keys import refuse
from views.support.language import on_language_changed
from views.support.paint import cut, width_of, write
from views.support.text import runs
from views.support.throttle import Throttle
from views.tables import painters, roles
from views.tables.column import CLICKED, TICK, Column, Fingerprint
from views.tables.copying import copied, to_tsv
from views.tables.delegates import PADDING, CellDelegate, covered_rows, heading_height
from views.tables.painters import paint_box
from views.tables.record_model import RecordModel
from views.theme import theme
from views.theme.tokens import TABLE_HEADER

_CTRL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier


_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
#: A column that lacks no more than this share of its width is whole before a stretched one gets more.
_LITTLE = 0.4
#: A stretched column gives up to this share of its width before the table scrolls sideways.
_LEAST_SHARE = 0.6
#: kinds without words, which larger text does not widen
_DRAWN = frozenset({TICK, "glyph"})
_WIDEST = 2_000
#: rows whose cells are measured where a person asks for columns that fit
_MEASURED = 1_000
#: a number may grow to so many digits before its column needs more room
_NUMBER = "9,999"
_LOOK_AGAIN_MS = 500


class Keyed(Protocol):
    """What the keys do to a table."""

    @property
    def records(self) -> RecordModel[Any]: ...
    def currentIndex(self) -> QModelIndex: ...
    def copy_cell(self) -> None: ...
    def copy_rows(self) -> None: ...
    def move_cursor(self, event: QKeyEvent) -> None: ...
    def peek(self, key: Hashable) -> None: ...
    def open_row(self, key: Hashable) -> None: ...


class TableKeys:
    """The keys of one table."""

    def __init__(self, table: Keyed, ticking: Ticking) -> None:
        self._table, self._ticking = table, ticking

    def handle(self, event: QKeyEvent) -> bool:
        """Do what a key means; False where it means nothing here."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._table.copy_cell()
        elif event.key() == Qt.Key.Key_C and event.modifiers() == _CTRL | _SHIFT:
            self._table.copy_rows()
        elif event.matches(QKeySequence.StandardKey.SelectAll) and self._table.records.tickable:
            self._table.records.tick_all()
        elif event.key() == Qt.Key.Key_Escape and self._table.records.ticked():
            self._table.records.untick_all()
        else:
            return self._handle_row_key(event)
        return True

    def _handle_row_key(self, event: QKeyEvent) -> bool:
        index = self._table.currentIndex()
        if not index.isValid():
            return False
        key = self._table.records.key_at(index.row())
        if event.key() == Qt.Key.Key_Space and event.modifiers() & _CTRL:
            if self._table.records.tickable:
                self._table.records.toggle(index.row())
        elif event.key() == Qt.Key.Key_Space:
            self._table.peek(key)
        elif event.key() in _ENTER and not event.modifiers() & _CTRL:
            self._table.open_row(key)
        elif event.key() in _MOVES and event.modifiers() == _SHIFT and self._table.records.tickable:
            self._extend(event)
        else:
            return False
        return True

    def _extend(self, event: QKeyEvent) -> None:
        self._ticking.begin_at(self._table.currentIndex().row(), again=False)
        plain = QKeyEvent(event.type(), event.key(), Qt.KeyboardModifier.NoModifier)
        self._table.move_cursor(plain)
        self._ticking.extend_to(self._table.currentIndex().row())


class LiveCells(QObject):
    """Of one view; where no column is live they never run."""

    def __init__(self, view: QTableView, model: RecordModel[Any]) -> None:
        super().__init__(view)
        self._view, self._model = view, model
        self._still, self._running = False, False
        self._said: dict[tuple[Hashable, str], object] = {}  #: what the cells on screen said, by row and column
        #: the same for the next picture, with the record that says it
        self._fresh: dict[tuple[Hashable, str], tuple[object, Fingerprint]] = {}
        self._asked: list[QRect] = []  #: what the last step of the clock wants painted
        self._told = Told(self, self.repaint, ticks())
        view.installEventFilter(self)

    @property
    def running(self) -> bool:
        """Whether cells follow the clock now."""
        return self._running

    def set_still(self, still: bool) -> None:
        """Let cells stand still, or follow the clock."""
        self._still = still
        self._follow(self._view.isVisible())

    def repaint(self) -> None:
        """Repaint the cells in sight that say something else than at the last step of the clock."""
        with ticks().painting(self._view):
            self._compare()
        for part in self._asked:
            self._view.viewport().update(part)

    def _compare(self) -> None:
        view, before = self._view, self._said
        rows = covered_rows(view, view.viewport().rect(), self._model.rowCount())
        self._said, self._fresh, self._asked = {}, {}, []
        records = [(self._model.key_at(row), self._model.record(row)) for row in rows]
        for section, column in enumerate(self._model.columns):
            if not column.live or view.isColumnHidden(section):
                continue
            moved = [self._moved(column, key, record, before) for key, record in records]
            for run in runs(place for place, one in enumerate(moved) if one):
                self._asked.append(self._room(section, rows[run[0]], rows[run[-1]]))

    def _room(self, section: int, first: int, last: int) -> QRect:
        """Of these rows of a column, but for what stands above the first."""
        view, head = self._view, heading_height() if self._model.key_at(first) in self._model.headings else 0
        top, end = view.rowViewportPosition(first) + head, view.rowViewportPosition(last) + view.rowHeight(last)
        return QRect(view.columnViewportPosition(section), top, view.columnWidth(section), end - top)

    def _moved(
        self, column: Column[Any], key: Hashable, record: object, before: Mapping[tuple[Hashable, str], object]
    ) -> bool:
        """Whether a cell says something else than before; it is kept what it says."""
        if column.moves is not None and not column.moves(record):
            return False
        cell = (key, column.key)
        self._said[cell] = said = column.fingerprint(record)
        self._fresh[cell] = record, said
        return before.get(cell) != said

    def said(self, key: Hashable, column: str, record: object) -> Fingerprint | None:
        """What the step of the clock found a cell to say that is painted now, None where it was not asked."""
        known, said = self._fresh.get((key, column), (None, None))
        return said if known is record else None

    def painted(self) -> None:
        """What was found is of the picture that is there: the next one may be of a later time."""
        self._fresh = {}

    def parts(self, region: QRegion) -> list[QRect]:
        """What is to be painted of a region: the cells alone where only the clock asked for it, else all within it; of
        that nobody knows what it said before.
        """
        asked, self._asked = self._asked, []
        others = region
        for part in asked:
            others = others.subtracted(QRegion(part))
        if others.isEmpty():
            return asked
        rows = covered_rows(self._view, others.boundingRect(), self._model.rowCount())
        gone = {self._model.key_at(row) for row in rows} if self._said else set()
        self._said = {cell: said for cell, said in self._said.items() if cell[0] not in gone}
        return [region.boundingRect()]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Run while the view is seen; everything goes on its way."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._follow(event.type() == QEvent.Type.Show)
        return False

    def _follow(self, seen: bool) -> None:
        self._running = seen and not self._still and any(column.live for column in self._model.columns)
        self._told.listen(self._running)
        self._fresh = {}
        if self._running:
            now_ms()  # from now on it moves


def add_cell_actions(
    menu: QMenu,
    column: Column[Any],
    *,
    copy_cell: Callable[[], object],
    copy_rows: Callable[[], object],
    filter_by: Callable[[str, bool], object] | None,
) -> None:
    """Add copying, and filtering for a cell of `column`; ``filter_by``: column, whether to include; None where nothing
    filters by it.
    """
    if menu.actions():
        menu.addSeparator()
    menu.addAction(_("Copy cell"), copy_cell)
    menu.addAction(_("Copy row"), copy_rows)
    if filter_by is None or column.key == TICK:
        return
    menu.addSeparator()
    for words, include in ((_("Filter by this value"), True), (_("Exclude this value"), False)):
        menu.addAction(words, partial(filter_by, column.key, include))


class TableView(QTableView):
    """A ``RecordModel`` on screen.

    Signals:
        current_changed: key of the row under the cursor, or None.
        open_requested, peek_requested: key of a row.
        menu_requested, menu_ending: a menu to fill, before and after what every table has, and the key of its row.
        filter_requested: column key of a cell of the row under the cursor, and whether to include or exclude it.
        near_end: the last loaded rows came into view; a paged list loads more.
        appeared: it can be seen now, and could not before.
    """

    current_changed = Signal(object)
    open_requested = Signal(object)
    peek_requested = Signal(object)
    menu_requested = Signal(object, object)
    menu_ending = Signal(object, object)
    filter_requested = Signal(str, bool)
    near_end = Signal()
    appeared = Signal()

    def __init__(
        self,
        model: RecordModel[Any],
        name: str = "",
        *,
        ground: str = "table",
        row_height: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        """Take a model and the source text of its name; inside a card `ground` is ``surface``. Rows are as high as the
        person chose, but at least `row_height`.
        """
        super().__init__(parent)
        self._row_height = row_height
        self._records = model
        self._name = name
        #: whether the page can filter by the cell of a row (its key) and a column (its key); None: it has no filter
        self.filterable: Callable[[object, str], bool] | None = None
        self._ticking = Ticking(model)
        self._covered = 0  #: pixels of its lower end that something lies on
        self.pressed_at = QPoint()  #: where in it the mouse was pressed last
        self._laying = False  #: ranges of its scroll bars are being given
        self._headed = False  #: a row has had room for words above it
        self._cells = CellDelegate(self, ground)
        self._set_up_look()
        self.setModel(model)
        self.layout_of_columns = ColumnsLayout(self, model, self._cells.room)
        self.live = LiveCells(self, model)
        self._keys = TableKeys(self, self._ticking)
        self._connect()
        self._restyle()
        self.retranslate()

    def _set_up_look(self) -> None:
        self.setProperty("panel", "table")
        self.setItemDelegate(self._cells)
        self.setHorizontalHeader(TableHeader(self))
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def _connect(self) -> None:
        header = self.header
        header.tick_clicked.connect(self._ticking.toggle_all)
        header.chooser_requested.connect(self.layout_of_columns.choose)
        header.sectionMoved.connect(self.viewport().update)
        header.released.connect(self.layout_of_columns.arranged)
        self.selectionModel().currentChanged.connect(self._on_cell_changed)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self._records.ticked_changed.connect(self.viewport().update)
        self._records.rowsInserted.connect(self._on_rows_moved)
        self._records.rowsRemoved.connect(self._on_rows_moved)
        self._records.layoutChanged.connect(self._on_rows_moved)
        self._records.headed.connect(self._fit_headings)
        self._records.applied.connect(self._fit_headings)  # heights belong to places, and rows may have moved
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)

    @property
    def header(self) -> TableHeader:
        """The header, with its own type."""
        header = self.horizontalHeader()
        assert isinstance(header, TableHeader)
        return header

    @property
    def source_name(self) -> str:
        """Its name in the source, "" for none."""
        return self._name

    @property
    def records(self) -> RecordModel[Any]:
        """The model, with its own type."""
        return self._records

    def retranslate(self) -> None:
        self.setAccessibleName(_(self._name) if self._name else _("Table"))
        self.header.viewport().update()
        self.viewport().update()

    # cursor and ticks

    def current_key(self) -> Hashable | None:
        """Return the key of the row under the cursor."""
        index = self.currentIndex()
        return self._records.key_at(index.row()) if index.isValid() else None

    def set_current_key(self, key: Hashable, *, scroll: bool = True) -> bool:
        """Move the cursor to `key`; False when it is not shown."""
        row = self._records.row_of(key)
        if row < 0:
            return False
        section = (
            self.currentIndex().column() if self.currentIndex().isValid() else self.layout_of_columns.first_section()
        )
        index = self._records.index(row, section)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)
        if scroll:
            self.scrollTo(index)
        return True

    def target_keys(self) -> tuple[Hashable, ...]:
        """Return what an action applies to: the ticked rows, else the row under the cursor."""
        if self._records.ticked():
            return self._records.ticked_in_order()
        current = self.current_key()
        return (current,) if current is not None else ()

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._cells.current_row = current.row()
        self.viewport().update()
        self.current_changed.emit(self._records.key_at(current.row()) if current.isValid() else None)

    def _on_rows_moved(self) -> None:
        self._cells.current_row = self.currentIndex().row()
        self.viewport().update()

    def _on_cell_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._cells.current_section = current.column()

    # mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Tick by box, Ctrl or Shift; else move the cursor."""
        self._cells.show_focus = False
        self.pressed_at = event.position().toPoint()
        index = self.indexAt(self.pressed_at)
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            super().mousePressEvent(event)
            return
        on_box = self._records.column(index.column()).key == TICK
        if self._records.tickable and event.modifiers() & _SHIFT:
            self._ticking.extend_to(index.row())
        elif self._records.tickable and (on_box or event.modifiers() & _CTRL):
            self._ticking.toggle(index.row())
            if on_box:
                return
        else:
            self._ticking.begin_at(index.row())
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a row; on the box a quick second click ticks again."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self._records.column(index.column()).key == TICK:
            self._records.toggle(index.row())
        elif index.isValid() and event.button() == Qt.MouseButton.LeftButton:
            self.open_row(self._records.key_at(index.row()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse with the hover colour."""
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        self._hover(index.row())
        hand = index.isValid() and self._is_door(index)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def _is_door(self, index: QModelIndex) -> bool:
        """Whether a click on a cell does more than move the cursor."""
        column = self._records.column(index.column())
        return column.kind in CLICKED and bool(column.display(self._records.record(index.row())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows in one pass, without a delegate call per cell."""
        painter = QPainter(self.viewport())
        with ticks().painting(self):
            for part in self.live.parts(event.region()):
                painter.setClipRect(part)
                self._cells.paint_rows(painter, self, part, self._records, self.live.said)
            self.live.painted()

    def viewportEvent(self, event: QEvent) -> bool:
        """Drop the hover colour when the mouse leaves."""
        if event.type() == QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def _hover(self, row: int) -> None:
        before, self._cells.hovered_row = self._cells.hovered_row, row
        for changed in {before, row} if before != row else ():
            top, width = self.rowViewportPosition(changed), self.viewport().width()
            self.viewport().update(0, top, width, self.rowHeight(changed) if changed >= 0 else 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys of the interaction rules, leave the rest to Qt."""
        self._cells.show_focus = True
        if not self._keys.handle(event):
            super().keyPressEvent(event)

    def peek(self, key: Hashable) -> None:
        """Somebody wants to look into a row; where a page has no panel for that it is opened, and where that leads
        nowhere, too, it is said.
        """
        if self.isSignalConnected(QMetaMethod.fromSignal(self.peek_requested)):
            self.peek_requested.emit(key)
        else:
            self.open_row(key)

    def open_row(self, key: Hashable) -> None:
        """Somebody wants a row opened."""
        if not self.isSignalConnected(QMetaMethod.fromSignal(self.open_requested)):
            refuse(_("The row has no more than it shows."))
        self.open_requested.emit(key)

    def move_cursor(self, event: QKeyEvent) -> None:
        """Let Qt move the cursor by a key."""
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring when the keyboard brought the focus; put the cursor on a row."""
        self._cells.show_focus = event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        )
        if self.currentIndex().isValid():
            super().focusInEvent(event)
            return
        # Qt would put its cursor on the first row, and actions would mean a task that nobody chose
        QAbstractScrollArea.focusInEvent(self, event)
        self.viewport().update()
        if self._records.rowCount() and self._cells.show_focus:
            self.set_current_key(self._records.key_at(0))

    # copying and menus

    def copy_cell(self) -> None:
        """Copy the text of the cell under the cursor."""
        index = self.currentIndex()
        if index.isValid():
            text = copied(self._records.column(index.column()), self._records.record(index.row()))
            QGuiApplication.clipboard().setText(text)

    def copy_rows(self) -> None:
        """Copy the ticked rows, else the current one, as TSV with titles; shown columns in the order shown."""
        found = (self._records.find(key) for key in self.target_keys())
        rows = [record for record in found if record is not None]
        QGuiApplication.clipboard().setText(to_tsv(self.layout_of_columns.shown(), rows))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of a row, by mouse at its place, by key below the cursor."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if not index.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        place = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft()) if by_key else event.globalPos()
        self.setCurrentIndex(index)
        menu = self.build_menu(index)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Return the menu of a cell: the page's actions, then copying and filtering, then the page's doors."""
        menu = QMenu(self)
        key = self._records.key_at(index.row())
        self.menu_requested.emit(menu, key)
        column = self._records.column(index.column())
        shown = column.kind == "glyph" or column.display(self._records.record(index.row()))
        can = bool(shown) and self.filterable is not None and self.filterable(key, column.key)
        add_cell_actions(
            menu,
            column,
            copy_cell=self.copy_cell,
            copy_rows=self.copy_rows,
            filter_by=self.filter_requested.emit if can else None,
        )
        self.menu_ending.emit(menu, key)
        return menu

    # layout

    def showEvent(self, event: QShowEvent) -> None:
        """Look what the cells need that are in sight now."""
        super().showEvent(event)
        self.layout_of_columns.see()
        self.appeared.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the least columns when narrow and give the rest to the widest."""
        super().resizeEvent(event)
        self.layout_of_columns.fit(anew=False)

    # the end of the list

    def keep_clear(self, covered: int) -> None:
        """Let the last row be scrolled above what lies on so many pixels of the lower end."""
        if covered != self._covered:
            self._covered = covered
            self.updateGeometries()

    def updateGeometries(self) -> None:
        """Give the scroll bars their ranges."""
        bar = self.verticalScrollBar()
        was, self._laying = bar.value(), True
        super().updateGeometries()
        if self._covered:
            seen = self.viewport().height() - self._covered
            bar.setMaximum(max(bar.maximum(), self.verticalHeader().length() - seen))
            bar.setValue(was)
        self._laying = False
        if bar.value() != was:
            self._on_scrolled(bar.value())

    def _on_scrolled(self, value: int) -> None:
        if self._laying:  # it goes down and up again while ranges are given
            return
        if value >= self.verticalScrollBar().maximum() - 10 * theme().row_height:
            self.near_end.emit()

    def _restyle(self) -> None:
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(max(theme().row_height, round(self._row_height * theme().growth)))
        self._fit_headings()
        self.viewport().update()

    def indexAt(self, place: QPoint) -> QModelIndex:
        """Return what stands there; above a row, at what its group is called, stands no cell of it."""
        index = super().indexAt(place)
        on_cell = not self._records.headings or self.cell_rect(index).contains(place)
        return index if on_cell else QModelIndex()

    def cell_rect(self, index: QModelIndex) -> QRect:
        """Where a cell is painted, without what stands above its row."""
        rect = self.visualRect(index)
        if index.isValid() and self._records.key_at(index.row()) in self._records.headings:
            rect.setTop(rect.top() + heading_height())
        return rect

    def _fit_headings(self) -> None:
        """Make room above the rows that have words there."""
        headings, usual = self._records.headings, self.verticalHeader().defaultSectionSize()
        if not headings and not self._headed:
            return
        self._headed = bool(headings)
        for row in range(self._records.rowCount()):
            height = usual + (heading_height() if self._records.key_at(row) in headings else 0)
            if self.rowHeight(row) != height:
                self.setRowHeight(row, height)
        self.viewport().update()


class Ticking(QObject):
    """Remembers the row where a range begins, by its key: rows may have moved since."""

    def __init__(self, model: RecordModel[Any]) -> None:
        super().__init__(model)
        self._records = model
        self._anchor: Hashable = None

    def begin_at(self, row: int, *, again: bool = True) -> None:
        """A range begins here; without `again` only where none has begun."""
        if again or self._anchor is None or not self._records.ticked():
            self._anchor = self._records.key_at(row) if row >= 0 else None

    def toggle(self, row: int) -> None:
        """Tick or untick a row and begin there."""
        self._records.toggle(row)
        self.begin_at(row)

    def extend_to(self, row: int) -> None:
        """Tick everything from the beginning of the range to `row`."""
        if row < 0:
            return
        start = self._records.row_of(self._anchor)
        start = row if start < 0 else start
        self._records.set_ticked([self._records.key_at(at) for at in range(min(start, row), max(start, row) + 1)])

    def toggle_all(self) -> None:
        """Tick all loaded rows, or untick everything where they are."""
        if self._records.tick_state() == Qt.CheckState.Checked:
            self._records.untick_all()
        else:
            self._records.tick_all()


_ARROW = 10


class TableHeader(QHeaderView):
    """Titles of the columns.

    Signals:
        tick_clicked: the box in the header was clicked.
        chooser_requested: the menu of columns is wanted, at a global position.
        released: the mouse let go of it; it may have moved or sized a column.
    """

    tick_clicked = Signal()
    chooser_requested = Signal(QPoint)
    released = Signal()

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
        """Return the fixed height of the design; the sections have widths of their own, whatever their words need."""
        return QSize(self.minimumSectionSize(), TABLE_HEADER)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the columns."""
        self.chooser_requested.emit(event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember whether Shift adds a sort key."""
        self._add = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell that a column may stand elsewhere or be wider."""
        super().mouseReleaseEvent(event)
        self.released.emit()

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
        sort = next((sort for sort in model.order if sort[0] == column.key), None)
        room = rect.adjusted(PADDING, 0, -PADDING, -1)
        arrow = _ARROW + 3 if sort else 0
        title = cut(str(model.headerData(section, Qt.Orientation.Horizontal) or ""), "label", room.width() - arrow)
        width = width_of(title, "label")
        left = room.right() - width - arrow + 1 if column.to_right else room.left()
        write(painter, QRect(left, room.top(), width, room.height()), title, "label", "text" if sort else "text2")
        if sort:
            name = "ph.caret-down-fill" if sort[1] != column.turned else "ph.caret-up-fill"
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


def _gives_way(column: Column[Any]) -> bool:
    """Whether it is known what its cells need."""
    known = painters.is_own(column.kind) or column.kind in painters.PICTURES
    return not column.stretch and column.kind not in _DRAWN and known


class ColumnsLayout(QObject):
    """Which columns of a table are shown, how wide and in which order; what gives way when it is narrow.

    The columns of one view. Larger text makes them wider by as much.

    Signals:
        arranged: a person may have changed something of it.
    """

    arranged = Signal()

    def __init__(self, view: QTableView, model: RecordModel[Any], room: Callable[[Any, Column[Any]], int]) -> None:
        """``room``: how wide a cell has to be for the whole of its text."""
        super().__init__(view)
        self._view, self._model, self._room = view, model, room
        self._auto_hidden: set[str] = set()
        self._unseen: dict[str, int] = {}  #: how wide a hidden column is once it is shown
        self._spared: dict[str, tuple[int, int]] = {}  #: of one that gave way: how wide it was, and is now
        self._lent: set[str] = set()  #: those of them that did so because they were empty
        self._grown: set[str] = set()  #: those that are wider in truth, as words in them were cut
        self._hints: dict[int, int] = {}  #: what cells in sight need, by section, until they may be others
        self._hints_height = 0
        self._unmeasured = False  #: rows came while nobody saw the table
        self._scale = theme().growth
        self.kept_by_page = False  #: the page remembers it by itself
        view.horizontalHeader().setResizeContentsPrecision(0)  # of what is in sight, not of a thousand rows
        view.horizontalHeader().sectionResized.connect(self._on_resized)
        self._look_again = Throttle(self._fit_cells, _LOOK_AGAIN_MS, self)
        model.rowsInserted.connect(self._on_rows)
        model.rowsRemoved.connect(self._on_cells)
        model.layoutChanged.connect(self._on_cells)
        model.dataChanged.connect(self._on_words)
        view.verticalScrollBar().valueChanged.connect(self._on_cells)
        self._set_up()
        theme().changed.connect(self._on_theme)

    def _on_resized(self, section: int, before: int, now: int) -> None:
        if not now:
            self._unseen[self._model.column(section).key] = before

    def _set_width(self, section: int, width: int) -> None:
        self._view.setColumnWidth(section, width)
        if self._view.isColumnHidden(section):
            self._unseen[self._model.column(section).key] = width

    def _width(self, section: int) -> int:
        """How wide a column is, or was when it was hidden or before it gave way."""
        key, width = self._model.column(section).key, self._view.columnWidth(section)
        before, now = self._spared.get(key, (width, width))
        return (before if now == width else width) or self._unseen.get(key, 0)

    def _wide(self, column: Column[Any]) -> int:
        """What the design gives a column at the present size of text."""
        return round(column.width * self._scale_of(column))

    def _scale_of(self, column: Column[Any]) -> float:
        return 1.0 if column.kind in _DRAWN else self._scale

    def _on_theme(self) -> None:
        before, self._scale = self._scale, theme().growth
        if before == self._scale:
            return
        self._give_back()
        for section, column in enumerate(self._model.columns):
            if column.kind in _DRAWN:
                continue
            hidden = self._view.isColumnHidden(section)
            self._view.setColumnHidden(section, False)  # one that is hidden tells no width
            self._view.setColumnWidth(section, round(self._view.columnWidth(section) * self._scale / before))
            self._view.setColumnHidden(section, hidden)
        self.fit()

    def _set_up(self) -> None:
        self._spared.clear()
        for section, column in enumerate(self._model.columns):
            self._set_width(section, self._wide(column))
            self._view.setColumnHidden(section, column.hidden)
        self.fit()

    def shown(self) -> list[Column[Any]]:
        """Return the columns on screen, in the order shown."""
        return [self._model.column(n) for n in self._in_order() if not self._view.isColumnHidden(n)]

    def first_section(self) -> int:
        """Return the first section with content."""
        hidden = self._view.isColumnHidden
        wanted = (n for n in self._in_order() if not hidden(n) and self._model.column(n).key != TICK)
        return next(wanted, 0)

    def _in_order(self) -> list[int]:
        header = self._view.horizontalHeader()
        return [header.logicalIndex(place) for place in range(header.count())]

    # by hand

    def show_column(self, section: int, on: bool) -> None:
        """Show or hide a column by hand; the choice outlives a narrow window."""
        self._auto_hidden.discard(self._model.column(section).key)
        self._view.setColumnHidden(section, not on)
        self._share_room()

    def reset(self) -> None:
        """Return to the order, widths and columns of the design."""
        header = self._view.horizontalHeader()
        for section in range(len(self._model.columns)):
            header.moveSection(header.visualIndex(section), section)
        self._auto_hidden.clear()
        self._set_up()

    def choose(self, place: QPoint) -> None:
        """Offer to show and hide columns, at a global position."""
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def menu(self) -> QMenu:
        """Return the menu of columns."""
        menu = QMenu(self._view)
        for section, column in enumerate(self._model.columns):
            if not column.title:
                continue
            action = menu.addAction(_(column.title))
            action.setCheckable(True)
            action.setChecked(not self._view.isColumnHidden(section))
            action.setData(section)
        menu.triggered.connect(self._on_chosen)
        menu.addSeparator()
        for words, act in (
            (_("Fit columns to content"), self._fit_to_content),
            (_("Reset columns"), self.reset),
        ):
            menu.addAction(words, act).triggered.connect(self.arranged)
        return menu

    def _fit_to_content(self) -> None:
        header = self._view.horizontalHeader()
        header.setResizeContentsPrecision(_MEASURED)
        self._view.resizeColumnsToContents()
        header.setResizeContentsPrecision(0)

    def _on_chosen(self, action: Any) -> None:
        if action.isCheckable():
            self.show_column(int(action.data()), action.isChecked())
            self.arranged.emit()

    # kept for the next start

    def save(self) -> dict[str, Any]:
        """Return order, widths (as with text of 100 %), hidden columns and sort as plain data."""
        columns = list(enumerate(self._model.columns))
        hidden = [column.key for n, column in columns if self._view.isColumnHidden(n)]
        widths = {c.key: round(self._width(n) / self._scale_of(c)) for n, c in columns}
        return {
            "order": [self._model.column(n).key for n in self._in_order()],
            "widths": {key: width for key, width in widths.items() if width},
            "hidden": [key for key in hidden if key not in self._auto_hidden],
            "sorts": [list(sort) for sort in self._model.sorts],
        }

    def restore(self, layout: Mapping[str, Any]) -> None:
        """Take a saved layout; columns it does not know keep the place of the design, and so do all where it is none.
        Without a sort in it the rows keep theirs.
        """
        try:
            order = [str(key) for key in layout.get("order", ()) if self._model.section_of(str(key)) >= 0]
            widths = {str(key): int(min(width, _WIDEST)) for key, width in dict(layout.get("widths", {})).items()}
            hidden = {str(key) for key in layout.get("hidden", ())}
            sorts = [(str(key), bool(down)) for key, down in layout["sorts"]] if "sorts" in layout else None
        except (TypeError, ValueError):  # a file that somebody wrote in
            return
        self._spared.clear()
        header = self._view.horizontalHeader()
        for place, key in enumerate(order):
            header.moveSection(header.visualIndex(self._model.section_of(key)), place)
        for section, column in enumerate(self._model.columns):
            wide = round(widths.get(column.key, column.width) * self._scale_of(column))
            self._set_width(section, max(1, wide))
            if column.key in order:
                self._view.setColumnHidden(section, column.key in hidden)
        if sorts is not None:
            self._model.set_sorts([sort for sort in sorts if self._model.section_of(sort[0]) >= 0])
        self._auto_hidden.clear()
        self.fit()

    # by the room there is

    def fit(self, *, anew: bool = True) -> None:
        """Hide columns by rank until the rest fits, and share what is left; ``anew``: what the cells need is not known
        from before, as it is while a window is made wider.
        """
        height = self._view.viewport().height()
        if anew or height != self._hints_height:
            self._hints.clear()
        self._hints_height = height
        self._give_back()
        ranked = sorted((c.hide_rank, n, c.key) for n, c in enumerate(self._model.columns) if c.hide_rank)
        for _rank, section, key in reversed(ranked):
            if key in self._auto_hidden:
                self._view.setColumnHidden(section, False)
                self._auto_hidden.discard(key)
        for _rank, section, key in ranked:
            if self._wanted_width() <= self._view.viewport().width():
                break
            if not self._view.isColumnHidden(section):
                self._auto_hidden.add(key)
                self._view.setColumnHidden(section, True)
        self._spare_room()
        self._lend_empty()
        self._share_room()

    def see(self) -> None:
        """It is shown now: look at what came while it was not. What a person has sized since stays."""
        if self._unmeasured:
            self._unmeasured = False
            self.fit()
        else:
            self._on_cells()

    def _on_rows(self, _parent: QModelIndex, first: int, last: int) -> None:
        """The first rows tell what the columns need, later ones only where it is more than they kept."""
        if first == 0 and last == self._model.rowCount() - 1:
            self.fit()
        else:
            self._on_cells()

    def _on_words(self, first: QModelIndex, last: QModelIndex, which: Sequence[int]) -> None:
        """What other cells need is still known; a tick or a dimmed row says nothing else than before."""
        if which and roles.DISPLAY not in which:
            return
        for section in range(first.column(), last.column() + 1):
            self._hints.pop(section, None)
        self._look_again()

    def _on_cells(self, *_which: object) -> None:
        self._hints.clear()
        self._look_again()

    def _fit_cells(self) -> None:
        """Share the room anew where a cell in sight is cut because its column gave way, or though there is room."""
        if not self._view.isVisible():  # see ``_spare_room``; it looks once it is shown
            return
        kept = [(n, c) for n, c in enumerate(self._model.columns) if c.key in self._spared.keys() - self._grown]
        filled = any(c.key in self._lent and not self._is_empty(c) for _n, c in kept)
        narrow = ((n, c) for n, c in kept if c.key not in self._lent)
        if filled or any(self._needed(n, c) > self._view.columnWidth(n) for n, c in narrow) or self._is_cut():
            self.fit()

    def _is_cut(self) -> bool:
        """Whether a cell in sight is cut beside room that stretched columns, or those that grew, do not need; what a
        person has sized stays.
        """
        shown = [(n, c) for n, c in enumerate(self._model.columns) if not self._view.isColumnHidden(n)]
        stretched = [(n, c) for n, c in shown if c.stretch]
        room = self._view.viewport().width() - self._wanted_width()
        grown = [(n, c) for n, c in shown if c.key in self._grown and self._is_as_given(n, c)]
        if room <= 0 and not grown:
            return False
        free = [(n, c) for n, c in shown if not c.stretch and self._is_as_given(n, c)]
        little = [(n, c) for n, c in free if self._lacks_little(n, c)]
        given = room + sum(max(0, self._view.columnWidth(n) - self._wide(c)) for n, c in grown)
        if sum(self._needed(n, c) - self._wide(c) for n, c in little) <= given and any(
            self._lacking(n, c) for n, c in little
        ):
            return True
        room -= sum(self._lacking(n, c) for n, c in stretched)
        room += sum(max(0, self._view.columnWidth(n) - self._whole(n, c)) for n, c in grown)
        # sharing leaves less than a pixel for each of them
        return room >= len(free) and any(self._lacking_whole(n, c) for n, c in free)

    def _is_as_given(self, section: int, column: Column[Any]) -> bool:
        """Whether the design or the room made it as wide as it is, not a person."""
        _before, now = self._spared.get(column.key, (0, self._wide(column)))
        return abs(self._view.columnWidth(section) - now) <= 1  # a pixel is lost with the size of text

    def _give_back(self) -> None:
        """Widen again what gave way, and narrow what grew, unless a person has sized it since."""
        for section, column in enumerate(self._model.columns):
            before, now = self._spared.get(column.key, (0, 0))
            if now and now == self._view.columnWidth(section):
                self._view.setColumnWidth(section, before)
        self._spared.clear()
        self._lent.clear()
        self._grown.clear()

    def _spare_room(self) -> None:
        """Where all do not fit, columns give what neither their titles nor the cells in sight need: where the letters
        are large as soon as a stretched column would be narrower, else before the table scrolls sideways.
        """
        columns = enumerate(self._model.columns)
        seen = [(n, c) for n, c in columns if not self._view.isColumnHidden(n)]
        over = self._wanted_width() - self._view.viewport().width()
        if self._scale <= 1.0:
            over -= round(sum(self._wide(c) * (1 - _LEAST_SHARE) for _n, c in seen if c.stretch))
        if over <= 0 or not self._model.rowCount():
            return
        if not self._view.isVisible():  # to Qt all rows of one that is not seen are in sight
            self._unmeasured = True
            return
        spare = {n: self._view.columnWidth(n) - self._needed(n, c) for n, c in seen if _gives_way(c)}
        spare = {n: room for n, room in spare.items() if room > 0}
        share = min(1.0, over / max(1, sum(spare.values())))
        for section, room in spare.items():
            before = self._view.columnWidth(section)
            now = before - math.ceil(room * share)
            self._view.setColumnWidth(section, now)
            self._spared[self._model.column(section).key] = before, now

    def _lend_empty(self) -> None:
        """Where cells are cut, columns without a word in sight keep but their titles."""
        shown = [(n, c) for n, c in enumerate(self._model.columns) if not self._view.isColumnHidden(n)]
        if not self._model.rowCount() or self._spared:
            return
        if not self._view.isVisible():  # see ``_spare_room``
            self._unmeasured = True
            return
        lacking = sum(self._lacking(n, c) for n, c in shown)
        if lacking <= max(0, self._view.viewport().width() - self._wanted_width()):
            return
        for section, column in shown:
            if column.stretch or column.kind in _DRAWN or not self._is_empty(column):
                continue
            before, now = self._view.columnWidth(section), self._title_width(column)
            if now < before:
                self._view.setColumnWidth(section, now)
                self._spared[column.key] = before, now
                self._lent.add(column.key)

    def _is_empty(self, column: Column[Any]) -> bool:
        """Whether no row in sight says anything in it."""
        return not any(column.display(self._model.record(row)) for row in self._in_sight())

    def _in_sight(self) -> range:
        if self._view.viewport().height() <= 0:  # at its end is no row, as below a short list, but none is seen
            return range(0)
        first, last = max(0, self._view.rowAt(0)), self._view.rowAt(self._view.viewport().height() - 1)
        return range(first, (self._model.rowCount() - 1 if last < 0 else last) + 1)

    def _needed(self, section: int, column: Column[Any]) -> int:
        """What its title and the cells in sight need; a name may be cut in its middle, a reason to its first part."""
        title, cells = self._title_width(column), 0
        if column.kind == "progress":
            return max(title, round(self._wide(column) * _LEAST_SHARE))
        if column.kind not in painters.PICTURES:
            cells = self._hint(section)
        if column.kind == "number":
            cells = max(cells, width_of(_NUMBER, "table") + 2 * PADDING)
        return max(title, min(cells, column.width) if column.names else cells)

    @staticmethod
    def _title_width(column: Column[Any]) -> int:
        return width_of(_(column.title), "label") + 2 * PADDING + _ARROW + 3

    def _wanted_width(self) -> int:
        columns = enumerate(self._model.columns)
        widths = ((n, self._wide(c) if c.stretch else self._view.columnWidth(n)) for n, c in columns)
        return sum(width for n, width in widths if not self._view.isColumnHidden(n))

    def _hint(self, section: int) -> int:
        if section not in self._hints:
            column, record = self._model.column(section), self._model.record
            self._hints[section] = max((self._room(record(row), column) for row in self._in_sight()), default=0)
        return self._hints[section]

    def _lacking(self, section: int, column: Column[Any]) -> int:
        """How much wider it had to be for no cell in sight to be cut; one that is not stretched grows to its double."""
        if column.stretch:
            return max(0, self._hint(section) - self._wide(column))
        width = self._view.columnWidth(section)
        wordy = _gives_way(column) and column.kind not in ("progress", *painters.PICTURES)
        return max(0, min(self._needed(section, column), 2 * self._wide(column)) - width) if wordy else 0

    def _lacking_whole(self, section: int, column: Column[Any]) -> int:
        """The same, where a name is not cut either: for room that nobody else needs."""
        if not column.names or column.stretch:
            return self._lacking(section, column)
        return max(0, self._whole(section, column) - self._view.columnWidth(section))

    def _whole(self, section: int, column: Column[Any]) -> int:
        """How wide it becomes at most."""
        if not column.names:
            return max(self._wide(column), self._needed(section, column))
        return max(self._wide(column), min(self._hint(section), 2 * self._wide(column)))

    def _lacks_little(self, section: int, column: Column[Any]) -> bool:
        """Whether it is cut, or would be as the design has it, by no more than a small share of its width."""
        wordy = _gives_way(column) and column.kind not in ("progress", *painters.PICTURES)
        return wordy and 0 < self._needed(section, column) - self._wide(column) <= self._wide(column) * _LITTLE

    def _share_room(self) -> None:
        """The room that is left goes to the cells that are cut: of columns that lack little, then of stretched
        ones, then of all others, names too.
        """
        shown = [(n, c) for n, c in enumerate(self._model.columns) if not self._view.isColumnHidden(n)]
        stretched = [(n, c) for n, c in shown if c.stretch]
        room = self._view.viewport().width() - self._wanted_width()
        more: dict[int, int] = {}
        if room > 0 and self._model.rowCount() and self._view.isVisible():
            free = ((n, c) for n, c in shown if not c.stretch and c.key not in self._spared)
            fixed = [(n, c) for n, c in free if self._is_as_given(n, c)]
            little = [(n, c) for n, c in fixed if self._lacks_little(n, c)]
            others = [one for one in fixed if one not in little]
            for columns, lacks in (
                (little, self._lacking),
                (stretched, self._lacking),
                (others, self._lacking_whole),
            ):
                lacking = {n: lacks(n, c) for n, c in columns}
                share = min(1.0, room / max(1, sum(lacking.values())))
                more |= {n: math.floor(lack * share) for n, lack in lacking.items() if lack}
                room -= sum(more.get(n, 0) for n in lacking)
            for section, column in fixed:
                before, wider = self._view.columnWidth(section), more.get(section, 0)
                if wider:
                    self._view.setColumnWidth(section, before + wider)
                    self._spared[column.key] = before, before + wider
                    self._grown.add(column.key)
        for section, column in stretched:
            width = self._wide(column) + more.get(section, 0) + room // len(stretched)
            least = round(column.width * _LEAST_SHARE) if self._scale <= 1.0 else self._title_width(column)
            self._view.setColumnWidth(section, max(least, width))
