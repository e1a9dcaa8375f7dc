"""Opens, follows and closes the panel of one task beside the table."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from views.pages.tasks.panel.detail import TaskDetailPanel
from views.tables.table_view import TableView


class PanelDoor(QObject):
    """Space opens and closes, Enter goes inside, the cursor is followed."""

    def __init__(self, table: TableView, panel: TaskDetailPanel) -> None:
        super().__init__(table)
        self._table, self._panel = table, panel
        table.peek_requested.connect(self.toggle)
        table.open_requested.connect(self.enter)
        table.current_changed.connect(self.follow)
        panel.closed.connect(self.close)

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

    def enter(self, key: object) -> None:
        """Show a task and go to its panel."""
        self.open(key)
        self._panel.focus_first()

    def follow(self, key: object) -> None:
        """The cursor moved."""
        if self._panel.isVisible() and key is not None:
            self._panel.show_task(str(key))

    def close(self) -> None:
        """Close the panel; the focus goes back where it came from."""
        focused = QApplication.focusWidget()
        inside = focused is not None and self._panel.isAncestorOf(focused)
        self._panel.hide()
        if inside:
            self._table.setFocus()
