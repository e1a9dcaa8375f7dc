"""A page around one list: it is asked for while it is seen, and a panel tells more of the record under the cursor."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from services.domain.errors import UsageError
from services.messages import told
from views.context import PageContext
from views.kit.list_source import ListSource
from views.kit.page_acts import PageActs
from views.page import Page
from views.tables.at_rest import AtRest
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.filter.bar import FilterBar
from views.widgets.strip import ErrorStrip

R = TypeVar("R")


class ListPage(Page, Generic[R]):
    """Makes its widgets by itself, then calls ``_connect_list``. It fills them in ``_show``, brings the panel to the
    record under the cursor in ``_on_chosen``, says its words in ``_say`` and what may be done in ``_say_rights``.
    """

    actions_of_page: PageActs
    error: ErrorStrip
    table: TableView
    panel: QWidget
    filter: FilterBar | None = None
    _model: RecordModel[R]
    _source: ListSource[Any]
    _rest: AtRest | None = None

    def __init__(self, title: str, context: PageContext) -> None:
        super().__init__(title)
        self._context = context
        self._wish = ""  #: key of the record that the cursor goes to as soon as it is there
        self._closed = False  #: a person has closed the panel

    def _connect_list(self, *, whole: bool = True) -> None:
        """``whole``: an answer is shown in one turn; else the page says itself that it is."""
        self._source.listed.connect(self._show)
        if whole:
            self._source.listed.connect(self.refreshed)
        self._source.failed.connect(self._show_error)
        self.error.retry.connect(self.refresh)
        self.actions_of_page.changed.connect(self._look_again)
        self.actions_of_page.shown.connect(self.navigate)

    # the page

    def activate(self) -> None:
        """Follow the list; the worst first, as of now."""
        if self._rest is not None:
            self._rest.begin()
        self._source.set_active(True)

    def deactivate(self) -> None:
        """Follow no more."""
        self._source.set_active(False)

    def refresh(self) -> None:
        """Ask at once."""
        self._look_again()

    def shown_request(self) -> str:
        """What is under the cursor."""
        key = self.table.current_key()
        return "" if key is None else str(key)

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed."""
        self.actions_of_page.forbid(reason)
        self._say_rights()

    def retranslate(self) -> None:
        super().retranslate()
        if self.anything_known:
            self._say()

    # looking

    def _look_again(self) -> None:
        """Something was done: ask at once, and leave everything where it is."""
        self._source.again(settle=False)

    def _show(self, answer: Any) -> None:
        raise NotImplementedError

    def _show_error(self, error: BaseException) -> None:
        self.load_failed()
        if self.filter is not None and isinstance(error, UsageError) and error.field == "filter":
            self.filter.show_problem(told(error))
        elif self._context.feed.latest.store.connected:  # else the window tells it above all pages
            self.error.show_error(told(error))

    @property
    def _resting(self) -> bool:
        """Whether nobody has begun to work with the list: then everything may take its place."""
        return self._rest is not None and self._rest.resting

    def _find(self, key: object) -> R | None:
        return self._model.find(str(key)) if key is not None else None

    def _do(self, verb: Any, one: Any) -> None:
        """Do what was chosen; without a record there is nothing to do it to."""
        if one is not None:
            verb.do(self.actions_of_page, one)

    def _say(self) -> None:
        raise NotImplementedError

    def _say_rights(self) -> None:
        raise NotImplementedError

    # the panel

    def _on_chosen(self) -> None:
        raise NotImplementedError

    def _close_panel(self) -> None:
        self._closed = True
        self.panel.hide()
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _toggle_panel(self) -> None:
        self._closed = not self._closed
        self._on_chosen()
