"""The Logs page: what window, workers and ``api`` of this machine have logged, followed, searched and copied."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu

from services.i18n import N_, _, ngettext
from services.monitor.log_files import Logged
from views.context import PageContext
from views.kit.entries_page import EntriesPage, Listing
from views.pages.logs.panel import LogPanel
from views.pages.logs.table import COLUMNS, FIELDS, LogLister, condition, sentence
from views.support import text
from views.tables.copying import to_tsv
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar
from views.widgets.layout import side_by_side, stacked
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec


class LogsPage(EntriesPage[Logged]):
    """Lines of this machine's programs, the newest first."""

    page_id = "logs"
    NO_MATCH, NOTHING = N_("No line matches."), N_("Nothing was logged yet.")
    HINT = N_("Window, workers and api of this machine write here; workers of other machines do so there.")

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Logs"))
        self._context = context
        self._lister = LogLister(context.logs, self)
        self._model: RecordModel[Logged] = RecordModel(COLUMNS, key=lambda row: row.key, sentence=sentence)
        self.make(self._build, self._connect, lambda: self.set_summary(_("Loading…")))

    def _build(self) -> Iterator[None]:
        self.follow_button = Button(N_("Follow"), icon="ph.arrow-line-up")
        self.follow_button.setCheckable(True)
        self.follow_button.setChecked(True)
        self.copy_button = Button(N_("Copy all shown"), icon="ph.copy")
        self.folder_button = Button(N_("Open folder"), icon="ph.folder-open")
        for button in (self.follow_button, self.copy_button, self.folder_button):
            self.header.add_action(button)
        yield
        self.filter = FilterBar(FIELDS, placeholder=N_("Anything in a line"), offers=3)
        yield
        self.new_button = Button("", kind="link")
        self.new_button.hide()
        self.filter.add_action(self.new_button)
        self.error = ErrorStrip()
        self.error.hide()
        yield
        self.table = TableView(self._model, name=N_("Logs"))
        yield
        self.empty = EmptyState(self.NOTHING, icon="ph.terminal-window")
        self.stack = stacked(self.table, self.empty)
        yield
        self.panel = LogPanel()
        yield
        yield from side_by_side(self.body, (self.filter, self.error, self.stack), self.stack, self.panel)

    def _connect(self) -> None:
        self._connect_entries()
        self.filter.changed.connect(self._lister.ask)
        self.follow_button.toggled.connect(self._on_follow)
        self.copy_button.clicked.connect(self.copy_all)
        self.folder_button.clicked.connect(self._open_folder)
        self.panel.filter_wanted.connect(self.show_about)
        self.panel.task_wanted.connect(lambda task: self.navigate.emit("tasks", f'id:"{task}"'))

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

    def show_about(self, field: str, value: str) -> None:
        """Only lines about one task, worker or request."""
        self.show_request(f'{field}:"{value}"')

    def retranslate(self) -> None:
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

    def _apply(self, listing: Listing[Logged]) -> None:
        self._model.apply(list(listing.rows), settle=listing.settle or self._follows)

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

    def _condition(self, row: Logged, column: str) -> tuple[str, str]:
        return condition(row, column)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._row(key)
        if row is None:
            return
        menu.addAction(_("Show the whole line"), lambda: self._open(key))
        if task := row.about("task"):
            menu.addAction(_("Open the task"), lambda: self.panel.task_wanted.emit(task))
            menu.addAction(_("Lines about this task"), lambda: self.show_about("task", task))
