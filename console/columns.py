"""How a person left the columns of the tables of each page: kept with each change, so that it outlives a kill."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from console.main_window import MainWindow
from views.page import Page
from views.support.memory import Memory
from views.tables.table_view import ColumnsLayout, TableView


class KeptColumns(QObject):
    """Of one window. A table is known by its page and its name; who keeps its own columns is left alone."""

    def __init__(self, window: MainWindow, memory: Memory) -> None:
        super().__init__(window)
        self._memory = memory
        window.page_made.connect(self._follow)

    def _follow(self, page_id: str, page: Page) -> None:
        for table in page.findChildren(TableView):
            layout = table.layout_of_columns
            if layout.kept_by_page or not table.source_name:
                continue
            name = f"columns.{page_id}.{table.source_name}"
            kept = self._memory.get(name)
            if isinstance(kept, dict):
                layout.restore(kept)
            layout.arranged.connect(partial(self._keep, name, layout))

    def _keep(self, name: str, layout: ColumnsLayout) -> None:
        # the order of rows is that of the page at each start
        now = {part: value for part, value in layout.save().items() if part != "sorts"}
        if self._memory.get(name) != now:
            self._memory.put(name, now)
