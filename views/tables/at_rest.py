"""Tells whether a person has begun to work with a table: until then nothing can move under the cursor."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject

from views.tables.table_view import TableView

_TOUCHES = frozenset(
    {
        QEvent.Type.MouseMove,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.Wheel,
        QEvent.Type.KeyPress,
        QEvent.Type.ContextMenu,
        QEvent.Type.Enter,
        QEvent.Type.TouchBegin,
    }
)


class AtRest(QObject):
    """A table that was just opened and not touched since may show arrivals at once; later they wait to be asked for."""

    def __init__(self, table: TableView, *, cursor_is_set: bool = False) -> None:
        """``cursor_is_set``: the page itself puts the cursor on a row, so that it says nothing of a person."""
        super().__init__(table)
        self._table, self._cursor_is_set = table, cursor_is_set
        self._touched = False
        for watched in (table, table.viewport(), table.header.viewport(), table.verticalScrollBar()):
            watched.installEventFilter(self)

    @property
    def resting(self) -> bool:
        """Whether nobody looks at a place of this table yet."""
        if self._touched or self._table.verticalScrollBar().value() > 0:
            return False
        begun = not self._cursor_is_set and self._table.current_key() is not None
        return not begun and not self._table.records.ticked()

    def begin(self) -> None:
        """The page was opened."""
        self._touched = self._table.underMouse()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice the first touch; everything goes on its way."""
        if event.type() in _TOUCHES:
            self._touched = True
        return False
