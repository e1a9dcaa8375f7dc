"""The card of the connections: the same list as below the profile switcher, always in sight."""

from __future__ import annotations

from PySide6.QtCore import Qt

from services.i18n import N_
from views.support.connections import Connections
from views.support.language import on_language_changed
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.connection.connection_row import ConnectionRow


class ConnectionsCard(Card):
    """Opens, adds, edits and removes."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(N_("Connections"), divided=True)
        self._connections = connections
        self.rows: list[ConnectionRow] = []
        self.add_button = Button(N_("Add connection…"), icon="ph.plus")
        self.add_button.clicked.connect(lambda: connections.add())
        self.body.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        connections.changed.connect(self.show_state)
        on_language_changed(self.show_state)
        theme().changed.connect(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Show the list as it is now."""
        for row in self.rows:
            self.body.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [ConnectionRow(one, number) for number, one in enumerate(self._connections.rows(), 1)]
        for place, row in enumerate(self.rows):
            row.chosen.connect(self._connections.choose)
            row.edit_wanted.connect(self._connections.edit)
            row.remove_wanted.connect(self._connections.remove)
            self.body.insertWidget(place, row)
