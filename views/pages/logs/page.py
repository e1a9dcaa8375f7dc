"""The Logs page: what window, workers and ``api`` of this machine have logged, followed, searched and copied."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.errors import UsageError
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.log_files import Logged
from views.context import PageContext
from views.page import Page
from views.pages.logs.panel import LogPanel
from views.pages.logs.table import COLUMNS, FIELDS, Listing, LogLister, condition, sentence
from views.support import text
from views.support.keys import bind
from views.tables.copying import to_tsv
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar
from views.widgets.layout import side_by_side, stacked
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec


class LogsPage(Page):
    """Lines of this machine's programs, the newest first."""

    page_id = "logs"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Logs"))
        self._context = context
        self._more = False
        self._lister = LogLister(context.logs, self)
        self._model: RecordModel[Logged] = RecordModel(COLUMNS, key=lambda row: row.key, sentence=sentence)
        self._build()
        self._connect()
        self.set_summary(_("Loading…"))

    def _build(self) -> None:
        self.follow_button = Button(N_("Follow"), icon="ph.arrow-line-up")
        self.follow_button.setCheckable(True)
        self.follow_button.setChecked(True)
        self.copy_button = Button(N_("Copy all shown"), icon="ph.copy")
        self.folder_button = Button(N_("Open folder"), icon="ph.folder-open")
        for button in (self.follow_button, self.copy_button, self.folder_button):
            self.header.add_action(button)
        self.filter = FilterBar(FIELDS, placeholder=N_("Anything in a line"), offers=3)
        self.new_button = Button("", kind="link")
        self.new_button.hide()
        self.filter.add_action(self.new_button)
        self.error = ErrorStrip()
        self.error.hide()
        self.table = TableView(self._model, name=N_("Logs"))
        self.empty = EmptyState(N_("Nothing was logged yet."), icon="ph.terminal-window")
        self.stack = stacked(self.table, self.empty)
        self.panel = LogPanel()
        self.body.addWidget(side_by_side((self.filter, self.error, self.stack), self.stack, self.panel), 1)

    def _connect(self) -> None:
        self.filter.changed.connect(self._lister.ask)
        self.error.retry.connect(self.refresh)
        self.empty.action.connect(self.filter.clear)
        self.new_button.clicked.connect(self._show_new)
        self.follow_button.toggled.connect(self._on_follow)
        self.copy_button.clicked.connect(self.copy_all)
        self.folder_button.clicked.connect(self._open_folder)
        self._lister.listed.connect(self._show)
        self._lister.failed.connect(self._show_error)
        self._model.pending_changed.connect(self._say_news)
        self.table.near_end.connect(self._lister.more)
        self.table.current_changed.connect(self._on_current)
        self.table.peek_requested.connect(self._toggle)
        self.table.open_requested.connect(self._open)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.filter_requested.connect(self._filter_by)
        self.panel.closed.connect(self._close_panel)
        self.panel.filter_wanted.connect(self.show_about)
        self.panel.task_wanted.connect(lambda task: self.navigate.emit("tasks", f'id:"{task}"'))
        bind(self, {"Esc": self._close_panel})

    def activate(self) -> None:
        """Follow the files."""
        self._lister.set_active(True)
        self.table.setFocus()

    def deactivate(self) -> None:
        """Follow no more."""
        self._lister.set_active(False)

    def refresh(self) -> None:
        """Ask again, newest first."""
        self._lister.again()

    def show_request(self, request: object) -> None:
        """Show what matches a filter that another page asked for."""
        if isinstance(request, str):
            self.filter.set_expression(request)
            self._lister.ask(request)

    def shown_request(self) -> str:
        """The filter."""
        return self.filter.expression()

    def show_about(self, field: str, value: str) -> None:
        """Only lines about one task, worker or request."""
        self.show_request(f'{field}:"{value}"')

    def panes(self) -> Sequence[QWidget]:
        """Filter, table and panel."""
        return (self.filter, self.stack, self.panel)

    def retranslate(self) -> None:
        """Say everything again."""
        super().retranslate()
        self._say()
        self._say_news()

    def copy_all(self) -> None:
        """Put all rows that are loaded on the clipboard, the oldest first, as a log is read."""
        rows = list(reversed(self._model.records()))
        QGuiApplication.clipboard().setText(to_tsv([one for one in COLUMNS if one.title], rows))
        words = ngettext("{n} line copied", "{n} lines copied", len(rows))
        self._context.toast(ToastSpec(text=words.format(n=text.count(len(rows))), key="logs.copied"))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._context.logs.folder)))

    def _on_follow(self, on: bool) -> None:
        if on:
            self._show_new()

    @property
    def _follows(self) -> bool:
        """Whether new lines appear by themselves: not while somebody has scrolled down to read older ones."""
        return self.follow_button.isChecked() and self.table.verticalScrollBar().value() == 0

    def _show(self, listing: Listing) -> None:
        self.error.clear()
        self.filter.clear_problem()
        self._more = listing.more
        self._model.apply(list(listing.rows), settle=listing.settle or self._follows)
        if listing.expression:
            hint = N_("Change or clear the filters.")
            self.empty.set_texts(N_("No line matches."), hint, N_("Clear filters"))
        else:
            hint = N_("Window, workers and api of this machine write here; workers of other machines do so there.")
            self.empty.set_texts(N_("Nothing was logged yet."), hint)
        self.stack.setCurrentWidget(self.table if self._model.rowCount() else self.empty)
        if self.panel.isVisible():
            self.panel.show_row(self._model.find(self.panel.key))
        self._say()
        self.refreshed.emit()

    def _show_error(self, error: BaseException) -> None:
        if isinstance(error, UsageError) and error.field == "filter":
            self.filter.show_problem(told(error))
        else:
            self.error.show_error(told(error))

    def _say(self) -> None:
        n = self._model.rowCount()
        lines = ngettext("{n} line", "{n} lines", n).format(n=text.count(n))
        parts = [_("{lines} of this machine, older ones follow") if self._more else _("{lines} of this machine")]
        parts = [parts[0].format(lines=lines)]
        bad = sum(1 for row in self._model.records() if row.level in ("error", "critical"))
        if bad:
            parts.append(ngettext("{n} error", "{n} errors", bad).format(n=text.count(bad)))
        self.set_summary(text.listed(parts), _("Workers of other machines keep their logs there."))

    def _say_news(self, _number: int = 0) -> None:
        n = self._model.pending
        self.new_button.setVisible(n > 0)
        self.new_button.set_count_text(ngettext("{n} new line", "{n} new lines", n).format(n=text.count(n)))

    def _show_new(self) -> None:
        self._model.show_new()
        self.table.scrollToTop()
        self._say()

    # one line

    def _row(self, key: object) -> Logged | None:
        return self._model.find(str(key)) if key is not None else None

    def _on_current(self, key: object = None) -> None:
        if self.panel.isVisible():
            self.panel.show_row(self._row(key))

    def _toggle(self, key: object) -> None:
        if self.panel.isVisible() and self.panel.key == key:
            self._close_panel()
        else:
            self._peek(key)

    def _peek(self, key: object) -> None:
        row = self._row(key)
        if row is not None:
            self.panel.show()
            self.panel.show_row(row)

    def _open(self, key: object) -> None:
        self._peek(key)
        self.panel.focus_first()

    def _close_panel(self) -> None:
        if self.panel.isVisible():
            self.panel.hide()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _filter_by(self, column: str, _text: str, include: bool) -> None:
        row = self._row(self.table.current_key())
        field, value = condition(row, column) if row is not None else ("", "")
        if value:
            self.filter.add_value(field, value, include=include)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._row(key)
        if row is None:
            return
        menu.addAction(_("Show the whole line"), lambda: self._open(key))
        if task := row.about("task"):
            menu.addAction(_("Open the task"), lambda: self.panel.task_wanted.emit(task))
            menu.addAction(_("Lines about this task"), lambda: self.show_about("task", task))
