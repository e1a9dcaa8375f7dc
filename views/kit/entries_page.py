"""A page of what was written down, the newest first: a filter, the table, and one entry whole in a panel beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from services.domain.errors import UsageError
from services.i18n import N_
from services.messages import told
from views.kit.list_source import FIRST, Ask, ListSource
from views.page import Page
from views.support.keys import bind
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar
from views.widgets.strip import ErrorStrip

R = TypeVar("R")


class Listing(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """An answer: rows of ``expression``, the newest first; ``more``: whether older ones are left."""

    rows: tuple[R, ...]
    expression: str
    more: bool
    settle: bool


class Lister(QObject, Generic[R]):
    """Keeps what was loaded of a filter; live answers bring what is newer.

    Signals:
        listed: a ``Listing`` with all rows loaded so far.
        failed: an error of the newest question.
    """

    listed = Signal(object)
    failed = Signal(object)

    def __init__(self, owner: QWidget, *, every_ms: int, most: int = FIRST) -> None:
        """``every_ms``, ``most``: as of ``ListSource``."""
        super().__init__(owner)
        self._rows: tuple[R, ...] = ()
        self._stop = threading.Event()
        # a rare word is looked for in all there is
        self._source = ListSource(self._call, "", owner, most=most, every_ms=every_ms, lasting=True)
        self._source.listed.connect(self._take)
        self._source.failed.connect(self.failed)

    def set_active(self, active: bool) -> None:
        """Follow what is written, or no more."""
        self._source.set_active(active)

    def ask(self, expression: str) -> None:
        """Show what matches, from the newest entry on."""
        self._source.ask(expression)

    def again(self) -> None:
        """The same again."""
        self.ask(self._source.wanted)

    def more(self) -> None:
        """Load older entries."""
        raise NotImplementedError

    def _anew(self) -> threading.Event:
        """The question before is wanted no more; what tells this one that it is not, either."""
        self._stop.set()
        self._stop = threading.Event()
        return self._stop

    def _call(self, ask: Ask[str]) -> Callable[[], Any]:
        raise NotImplementedError

    def _take(self, answer: Any) -> None:
        raise NotImplementedError


class EntriesPage(Page, Generic[R]):
    """Makes its widgets by itself, then calls ``_connect_entries``; says its words in ``_say`` and ``_say_news``."""

    filter: FilterBar
    new_button: Button
    error: ErrorStrip
    table: TableView
    empty: EmptyState
    stack: QStackedWidget
    panel: Any  #: one entry whole: ``key``, ``show_row``, ``focus_first``, ``closed``
    _model: RecordModel[R]
    _lister: Lister[R]
    _more = False
    #: source texts: no entry matches; there is none at all, and what would stand here
    NO_MATCH, NOTHING, HINT = "", "", ""

    def _connect_entries(self) -> None:
        self.error.retry.connect(self.refresh)
        self.empty.action.connect(self.filter.clear)
        self.new_button.clicked.connect(self._show_new)
        self._lister.listed.connect(self._show)
        self._lister.failed.connect(self._show_error)
        self._model.pending_changed.connect(self._say_news)
        self.table.near_end.connect(self._lister.more)
        self.table.current_changed.connect(self._follow)
        self.table.peek_requested.connect(self._toggle)
        self.table.open_requested.connect(self._open)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.filter_requested.connect(self._filter_by)
        self.table.filterable = self._filterable
        self.panel.closed.connect(self._close_panel)
        bind(self, {"Esc": self._close_panel})

    def show_request(self, request: object) -> None:
        """Show what matches a filter that another page asked for."""
        if isinstance(request, str):
            self.filter.set_expression(request)
            self._ask(request)

    def shown_request(self) -> str:
        """The filter."""
        return self.filter.expression()

    def filter_shown(self) -> str:
        """The filter."""
        return self.filter.expression()

    def panes(self) -> Sequence[QWidget]:
        """Filter, table and panel."""
        return (self.filter, self.stack, self.panel)

    def _ask(self, expression: str) -> None:
        self._lister.ask(expression)

    def _say_nothing(self, expression: str) -> None:
        """Why there is nothing, and what would show more."""
        if expression:
            self.empty.set_texts(self.NO_MATCH, N_("Change or clear the filters."), N_("Clear filters"))
        else:
            self.empty.set_texts(self.NOTHING, self.HINT)

    def _show(self, listing: Listing[R]) -> None:
        self.error.clear()
        self.filter.clear_problem()
        self._more = listing.more
        self._apply(listing)
        self._say_nothing(listing.expression)
        self.stack.setCurrentWidget(self.table if self._model.rowCount() else self.empty)
        if self.panel.isVisible():
            self._show_still()
        self._say()
        self.refreshed.emit()

    def _apply(self, listing: Listing[R]) -> None:
        self._model.apply(list(listing.rows), settle=listing.settle)

    def _show_error(self, error: BaseException) -> None:
        self.load_failed()
        if isinstance(error, UsageError) and error.field == "filter":
            self.filter.show_problem(told(error))
        else:
            self.error.show_error(told(error))

    def _say(self) -> None:
        raise NotImplementedError

    def _say_news(self, _number: int = 0) -> None:
        raise NotImplementedError

    def _show_new(self) -> None:
        self._model.show_new()
        self.table.scrollToTop()
        self._say()

    # one entry

    def _row(self, key: object) -> R | None:
        return self._model.find(str(key)) if key is not None else None

    def _show_still(self) -> None:
        """What the panel shows may have changed."""
        self.panel.show_row(self._model.find(self.panel.key))

    def _show_in_panel(self, row: R | None) -> None:
        self.panel.show_row(row)

    def _follow(self, key: object = None) -> None:
        if self.panel.isVisible():
            self._show_in_panel(self._row(key))

    def _toggle(self, key: object) -> None:
        if self.panel.isVisible() and self.panel.key == key:
            self._close_panel()
        else:
            self._peek(key)

    def _peek(self, key: object) -> None:
        row = self._row(key)
        if row is not None:
            self.panel.show()
            self._show_in_panel(row)

    def _open(self, key: object) -> None:
        self._peek(key)
        self.panel.focus_first()

    def _close_panel(self) -> None:
        if self.panel.isVisible():
            self.panel.hide()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _filterable(self, key: object, column: str) -> bool:
        row = self._row(key)
        return row is not None and bool(self._condition(row, column)[1])

    def _filter_by(self, column: str, include: bool) -> None:
        row = self._row(self.table.current_key())
        field, value = self._condition(row, column) if row is not None else ("", "")
        if value:
            self.filter.add_value(field, value, include=include)

    def _condition(self, row: R, column: str) -> tuple[str, str]:
        """Filter field and value of a cell, "" where the cell is no condition."""
        raise NotImplementedError

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        raise NotImplementedError
