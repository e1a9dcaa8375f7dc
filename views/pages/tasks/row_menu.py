"""The menu of a row: verbs, forms of copying, the filter by a value, and the doors to shop and worker."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from services.domain.task.record import Task
from services.i18n import _
from views.pages.tasks.offers import Offers
from views.pages.tasks.rows import TaskRow
from views.pages.tasks.sharing import Sharing
from views.tables.table_view import TableView


class RowMenu(QObject):
    """Signals:
    condition_wanted: filter field, value, and whether to include or exclude it.
    filter_wanted: an expression to be shown alone.
    task_wanted: key of the task to be opened.
    worker_wanted: name of the worker to be opened.
    history_wanted: id of the task whose acts shall be listed.
    suppressed_wanted: task type of which the suppressed duplicates shall be listed.
    """

    condition_wanted = Signal(str, str, bool)
    filter_wanted = Signal(str)
    task_wanted = Signal(object)
    worker_wanted = Signal(str)
    history_wanted = Signal(str)
    suppressed_wanted = Signal(str)

    def __init__(self, table: TableView, offers: Offers, sharing: Sharing) -> None:
        super().__init__(table)
        self._table, self._offers, self._sharing = table, offers, sharing
        table.menu_requested.connect(self._begin)
        table.menu_ending.connect(self._end)
        table.filter_requested.connect(self._filter)

    def _begin(self, menu: QMenu, key: object) -> None:
        chosen = self._offers.chosen_at(key)
        self._offers.verbs.fill(menu, chosen)
        copies = menu.addMenu(_("Copy as"))
        self._sharing.fill_menu(copies, lambda: [one.task_id for one in chosen.picks()])

    def _end(self, menu: QMenu, key: object) -> None:
        row = self._row(key)
        if row is None:
            return
        menu.addSeparator()
        menu.addAction(_("Open task"), partial(self.task_wanted.emit, key))
        menu.addAction(_("Who did what to it"), partial(self.history_wanted.emit, row.task.task_id))
        menu.addAction(_("Tasks of this shop"), partial(self.filter_wanted.emit, f"shop:{row.task.shop}"))
        type_ = row.task.task_type
        menu.addAction(_("Suppressed duplicates of this type"), partial(self.suppressed_wanted.emit, type_))
        if row.task.worker:
            menu.addAction(_("Open worker"), partial(self.worker_wanted.emit, row.task.worker))

    def _filter(self, column: str, _text: str, include: bool) -> None:
        row = self._row(self._table.current_key())
        field, value = condition(row.task, column) if row is not None else ("", "")
        if field and value:
            self.condition_wanted.emit(field, value, include)

    def _row(self, key: object) -> TaskRow | None:
        row: TaskRow | None = self._table.records.find(str(key))
        return row


def condition(task: Task, column: str) -> tuple[str, str]:
    """Filter field and value of a cell, "" where the cell is no condition."""
    values = {
        "status": ("status", str(task.status)),
        "type": ("type", task.task_type),
        "shop": ("shop", task.shop),
        "platform": ("platform", task.platform),
        "lane": ("lane", str(task.lane)),
        "worker": ("worker", task.worker),
        "error": ("fp", task.fingerprint),
        "priority": ("priority", str(task.priority)),
        "id": ("id", task.task_id),
    }
    return values.get(column, ("", ""))
