"""The address of a server: what can hold a password is not left standing in clear."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from services.domain.text.mask import DOTS
from services.i18n import N_
from views.widgets.buttons import IconButton
from views.widgets.layout import in_row

#: a slash or an @ in a password should be written as %XX; whoever forgot that has a password all the same
_PASSWORD = re.compile(r"(\w+://[^:/@\s]*:)(.+)(@)")
_QUERY = re.compile(r"([?&]password=)([^&]+)()", re.IGNORECASE)
#: more characters than this at once were not typed, so nobody has to see them to go on
PASTED = 8


class AddressField(QLineEdit):
    """Shows what is typed while it is typed, else the address with dots for the password, until ``reveal``.

    Signals:
        edited: another address stands here.
    """

    edited = Signal()

    def __init__(self, example: str) -> None:
        super().__init__()
        self._address, self._revealed = "", False
        self.setPlaceholderText(example)
        self.textChanged.connect(self._on_text)

    def address(self) -> str:
        """Return the address as it was entered."""
        return self._address.strip()

    def set_address(self, address: str) -> None:
        """Put an address in, its password unreadable."""
        self._address = address
        self._show()
        self.edited.emit()

    @property
    def revealed(self) -> bool:
        """Whether the password may be read."""
        return self._revealed

    def reveal(self, revealed: bool) -> None:
        """Show the password, or show it no more."""
        self._revealed = revealed
        self._show()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Make it editable; a password that stands there already stays unreadable."""
        super().focusInEvent(event)
        self._show()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leave dots behind."""
        super().focusOutEvent(event)
        self._show()

    def _on_text(self, text: str) -> None:
        pasted = abs(len(text) - len(self._address)) > PASTED
        self._address = text
        if pasted or not self.hasFocus():
            self._show()
        self.edited.emit()

    def _show(self) -> None:
        secret = not self._revealed and any(place.search(self._address) for place in (_PASSWORD, _QUERY))
        editing = self.hasFocus()
        words = _dotted(self._address) if secret and not editing else self._address
        mode = QLineEdit.EchoMode.Password if secret and editing else QLineEdit.EchoMode.Normal
        self.setEchoMode(mode)
        if words != self.text():
            self.blockSignals(True)
            self.setText(words)
            self.blockSignals(False)


def _dotted(address: str) -> str:
    for place in (_PASSWORD, _QUERY):
        address = place.sub(rf"\1{DOTS}\3", address)
    return address


class AddressRow(QWidget):
    """The field and the button that reveals what it holds."""

    def __init__(self, field: AddressField) -> None:
        super().__init__()
        self._field = field
        self.eye = IconButton("ph.eye", N_("Hide or show the password"), kind="plain")
        self.eye.clicked.connect(self._on_eye)
        in_row((field, 1), self.eye, owner=self, spacing=4)

    def _on_eye(self) -> None:
        self._field.reveal(not self._field.revealed)
        self.eye.set_glyph("ph.eye-slash" if self._field.revealed else "ph.eye")
