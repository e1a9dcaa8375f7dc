"""The payload of a task in a section of its panel."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from services.i18n import N_
from views.widgets.buttons import Button, IconButton
from views.widgets.document_section import DocumentSection


class PayloadSection(DocumentSection):
    """What the task was given; it can be copied, and become a new task."""

    def __init__(self) -> None:
        super().__init__(N_("Payload"))
        copy = IconButton("ph.copy", N_("Copy the payload"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.editor.toPlainText()))
        self.add_action(copy)
        self.edit_button = Button(N_("Edit as new task"), kind="ghost", icon="ph.pencil-simple", small=True)
        self.add_action(self.edit_button)
