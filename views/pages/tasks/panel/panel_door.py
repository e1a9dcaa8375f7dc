"""Opens, follows and closes the panel of one task: beside the table, or on the whole page."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QSplitter

from views.pages.tasks.panel.detail import TaskDetailPanel
from views.tables.table_view import TableView


class PanelDoor(QObject):
    """Space opens and closes, Enter opens in full, Esc comes back, the cursor is followed."""

    def __init__(self, table: TableView, panel: TaskDetailPanel, split: QSplitter) -> None:
        """``split``: where the panel stands beside the list."""
        super().__init__(table)
        self._table, self._panel = table, panel
        self._list = split.widget(0) or split
        self._beside = False  #: whether the panel stood beside the list before it took the page
        table.peek_requested.connect(self.toggle)
        table.open_requested.connect(self.open_full)
        table.current_changed.connect(self.follow)
        panel.closed.connect(self.close)
        panel.full_wanted.connect(self._turn)

    @property
    def full(self) -> bool:
        """Whether a task has the whole page."""
        return self._list.isHidden()

    def toggle(self, key: object) -> None:
        """Open the panel of a task, or close it again."""
        if self._panel.isVisible() and self._panel.task_id == key:
            self.close()
        else:
            self.open(key)

    def open(self, key: object) -> None:
        """Show a task."""
        if key is not None:
            self._panel.show()
            self._panel.show_task(str(key))

    def open_full(self, key: object) -> None:
        """Show a task on the whole page, and go there."""
        if key is None:
            return
        if not self.full:
            self._beside = self._panel.isVisible()
            self._list.hide()
            self._panel.set_full(True)
        self.open(key)
        self._panel.focus_first()

    def follow(self, key: object) -> None:
        """The cursor moved."""
        if self._panel.isVisible() and key is not None and not self.full:
            self._panel.show_task(str(key))

    def close(self) -> None:
        """Back to the task whose link was followed, else from the whole page to the list, else close the panel; the
        focus goes back where it came from.
        """
        if self._panel.back():
            return
        focused = QApplication.focusWidget()
        inside = focused is not None and self._panel.isAncestorOf(focused)
        if self.full:
            self._panel.set_full(False)
            self._list.show()
            self._panel.setVisible(self._beside)
        else:
            self._panel.hide()
        if inside:
            self._table.setFocus()

    def _turn(self) -> None:
        if not self.full:
            self.open_full(self._panel.task_id)
            return
        self._beside = True
        self._panel.set_full(False)
        self._list.show()
