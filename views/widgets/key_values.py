"""Names and values in two columns: headers of a message, facts of a shop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from views.support import safe
from views.support.look import Label
from views.widgets.elided import Elided


class KeyValues(QWidget):
    """Rows of name and value; `mono` for headers, `spread` puts values at the right edge, `single` cuts a value that
    has no room in its line.
    """

    def __init__(
        self, *, mono: bool = False, spread: bool = False, single: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._mono, self._spread, self._single = mono, spread, single
        self._labels: list[tuple[Label, Label]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(5 if mono else 9)
        self._grid.setColumnStretch(1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def set_rows(
        self, rows: Iterable[tuple[str, str] | tuple[str, str, str]], tips: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Show ``(name, value)`` or ``(name, value, tone)``; both texts are already translated.

        ``tips``: by row the codes of name and value, where these are names for people.
        """
        wanted = [(*row, "text")[:3] for row in rows]
        self._fit(len(wanted))
        for (name, value), (name_text, value_text, tone) in zip(self._labels, wanted, strict=True):
            name.setText(safe.one_line(name_text))
            name.setToolTip("")
            value.setText(safe.visible(value_text))
            value.set_tone(tone)
            value.setToolTip(safe.tooltip(value_text) if self._single or len(value_text) > 60 else "")
        for labels, codes in zip(self._labels, tips, strict=False):
            for label, code in zip(labels, codes, strict=True):
                label.setToolTip(safe.tooltip(code))

    def values(self) -> dict[str, str]:
        """Return what is shown, by name."""
        return {name.text(): value.text() for name, value in self._labels}

    def _fit(self, number: int) -> None:
        while len(self._labels) > number:
            for label in self._labels.pop():
                self._grid.removeWidget(label)
                label.hide()
                label.deleteLater()
        while len(self._labels) < number:
            self._add_row()

    def _add_row(self) -> None:
        kind = "monosmall" if self._mono else "label"
        name = Label("", kind, "text2" if self._spread else "text3")
        looks = kind if self._mono else ("labelstrong" if self._spread else "label")
        value = Elided("", looks) if self._single else Label("", looks, wrap=True)
        if not self._single:
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        value.setAlignment(Qt.AlignmentFlag.AlignRight if self._spread else Qt.AlignmentFlag.AlignLeft)
        row = len(self._labels)
        self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._grid.addWidget(value, row, 1)
        self._labels.append((name, value))
