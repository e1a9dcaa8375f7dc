"""The list below the profile switcher: every connection, which one is open, and the way to another."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QWidget

from services.i18n import N_, _
from views.support.connections import Connections
from views.support.look import Label, line
from views.widgets.buttons import Button
from views.widgets.connection.connection_row import ConnectionRow
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.scroll_pane import ScrollPane

WIDTH, TALLEST = 520, 480


class ConnectionMenu(QFrame):
    """Closes at a click elsewhere, at Esc and after a choice."""

    def __init__(self, connections: Connections, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("panel", "popup")
        self.setFixedWidth(WIDTH)
        self._connections = connections
        pane = ScrollPane()
        pane.body.setSpacing(1)
        self.rows: list[ConnectionRow] = []
        for number, connection in enumerate(connections.rows(), 1):
            row = ConnectionRow(connection, number)
            row.chosen.connect(self._on_chosen)
            row.beside_wanted.connect(self._on_beside)
            row.edit_wanted.connect(self._on_edit)
            row.remove_wanted.connect(self._on_remove)
            self.rows.append(row)
            pane.body.addWidget(row)
        pane.body.addStretch(1)
        pane.setFixedHeight(min(TALLEST, sum(row.sizeHint().height() + 1 for row in self.rows) + 2))
        self.add_button = Button(N_("Add connection…"), kind="ghost", icon="ph.plus")
        self.add_button.clicked.connect(self._on_add)
        foot = in_row(self.add_button, STRETCH)
        in_column(
            Label(_("Connections"), "label", "text3"), pane, line(), foot, owner=self, margins=(8, 8, 8, 8), spacing=6
        )
        self.setAccessibleName(_("Connections"))

    def show_below(self, corner: QPoint) -> None:
        """Show it at a global position, the open one under the keyboard."""
        self.adjustSize()
        self.move(corner)
        self.show()
        opened = next((row for row in self.rows if row.connection.opened), None)
        (opened or self.add_button).setFocus()

    def _on_chosen(self, name: str) -> None:
        self.close()
        self._connections.choose(name)

    def _on_beside(self, name: str) -> None:
        self.close()
        self._connections.open_beside(name)

    def _on_edit(self, name: str) -> None:
        self.close()
        self._connections.edit(name)

    def _on_remove(self, name: str) -> None:
        self.close()
        self._connections.remove(name)

    def _on_add(self) -> None:
        self.close()
        self._connections.add()
