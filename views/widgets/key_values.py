"""Names and values in two columns: headers of a message, facts of a shop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from services.domain.text import mask
from views.support import safe
from views.support.look import Label
from views.widgets.elided import Elided


class KeyValues(QWidget):
    """Rows of name and value; `mono` for headers, whose values stand below their names where one has no room beside
    them, `spread` puts values at the right edge, `single` cuts a value that has no room in its line.
    """

    def __init__(self, *, mono: bool = False, spread: bool = False, single: bool = False) -> None:
        super().__init__()
        self._mono, self._spread, self._single = mono, spread, single
        self._labels: list[tuple[Label, Label]] = []
        self._told: object = None  #: see ``set_rows``
        self._below = False  #: values stand below their names
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
        told = wanted, tuple(tips), mask.met()  # what a secret is may have become known since
        if told == self._told:
            return  # said every second
        self._told = told
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

    def minimumSizeHint(self) -> QSize:
        """An id is no text that could wrap: what must be there is the room for one below its name."""
        hint = super().minimumSizeHint()
        if self._stacks:
            name, value = self._needed()
            hint.setWidth(max(name, value))
        return hint

    def sizeHint(self) -> QSize:
        """As high as its words are in the width that it has: it is made no higher than this."""
        hint = super().sizeHint()
        hint.setHeight(max(hint.height(), self.heightForWidth(self.width())))
        return hint

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Names stand beside their values where there is room for both."""
        super().resizeEvent(event)
        self._place()
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        """Other words, or larger letters, may need another place."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    @property
    def _stacks(self) -> bool:
        return self._mono and not self._single

    def _needed(self) -> tuple[int, int]:
        """How wide the names and the longest word of the values are."""
        names, values = ([pair[at].minimumSizeHint().width() for pair in self._labels] for at in (0, 1))
        return max(names, default=0), max(values, default=0)

    def _place(self) -> None:
        below = self._stacks and sum(self._needed()) + self._grid.horizontalSpacing() > self.width()
        if below == self._below:
            return
        self._below = below
        for row, labels in enumerate(self._labels):
            for label in labels:
                self._grid.removeWidget(label)
            self._put(row, *labels)

    def _put(self, row: int, name: Label, value: Label) -> None:
        across = 2 if self._below else 1
        self._grid.addWidget(name, 2 * row, 0, 1, across, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._grid.addWidget(value, 2 * row + self._below, 1 - self._below, 1, across)

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
        self._put(len(self._labels), name, value)
        self._labels.append((name, value))
