"""The card of a lost connection: names each part that does not answer, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from services.i18n import N_
from views.support import safe
from views.support.look import Label, line, panel, ruled
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import Button
from views.widgets.layout import in_column, in_row

#: its four buttons stand in one row, with their keys
WIDTH = 640


class LostPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part in the card; texts are already translated."""

    name: str
    text: str
    state: str = "dead"
    seen: str = ""


class DisconnectedCard(QFrame):
    """Names each part that does not answer; comes after 10 s and can be dismissed.

    Signals:
        try_now, copy_report, other_profile, correct_wanted, dismissed: what the buttons say.
    """

    try_now = Signal()
    copy_report = Signal()
    other_profile = Signal()
    correct_wanted = Signal()
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("panel", "dialog")
        self.setFixedWidth(WIDTH)
        self._glyph = QLabel()
        self._title, self._text = Label("", "panel"), Label("", "body", "text2", wrap=True)
        self._rows: list[QWidget] = []
        head = in_row(self._glyph, (self._title, 1), spacing=8)
        top = in_column(head, self._text, margins=(20, 18, 20, 14), spacing=6)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(20, 10, 20, 10)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(2, 1)
        ruled(self, top, self._grid, self._buttons(), tall=-1)
        theme().changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def _buttons(self) -> QWidget:
        bar = panel("raised")
        bar.setFixedHeight(52)
        row = in_row(owner=bar, margins=(16, 0, 16, 0), spacing=8)
        self._other, self._correct = Button(N_("Other connection…")), Button(N_("Correct this connection…"))
        self._correct.clicked.connect(lambda _checked=False: self.correct_wanted.emit())
        row.addWidget(self._correct)
        specs = (
            (self._other, self.other_profile),
            (Button(N_("Look at old data"), kind="ghost"), self.dismissed),
            (Button(N_("Try now"), hint="window.refresh"), self.try_now),
            # it is tried again without anybody's help; what helps is whoever starts the server
            (Button(N_("Copy message for IT"), kind="primary", icon="ph.copy"), self.copy_report),
        )
        for number, (button, signal) in enumerate(specs):
            if number == 1:
                row.addStretch(1)
            button.clicked.connect(lambda _checked=False, out=signal: out.emit())
            row.addWidget(button)
        return bar

    def show_parts(self, title: str, words: str, parts: Sequence[LostPart], *, refused: bool = False) -> None:
        """Show the state of each part; all texts are already translated. ``refused``: what is set for this connection
        has to be corrected.
        """
        self._correct.setVisible(refused)
        self._other.setVisible(not refused)
        self._title.setText(title)
        self._text.setText(words)
        self.setAccessibleName(f"{title}. {words}")
        for widget in self._rows:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._rows = []
        for row, part in enumerate(parts):
            glyph = QLabel()
            glyph.setPixmap(theme().status_pixmap(status(part.state), 15))
            cells = (
                glyph,
                Label(part.name, "strong"),
                Label(safe.one_line(part.text), "body", "text2", wrap=True),
                Label(part.seen, "label", "text3"),
            )
            for at, widget in enumerate(cells):
                self._grid.addWidget(widget, 2 * row, at)
            self._rows += cells
            if row + 1 < len(parts):
                divider = line()
                self._grid.addWidget(divider, 2 * row + 1, 0, 1, 4)
                self._rows.append(divider)
        # Qt shows what is new in a layout a turn of the loop later, and until then it takes no room
        for widget in self._rows:
            widget.show()
        self.show()
        layout = self.layout()
        if layout is not None:
            layout.activate()
            # the least height of wrapped words is one for any width
            self.setFixedHeight(layout.totalHeightForWidth(self.width()))
        self.raise_()

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap("ph.wifi-slash", "retrying", 18))
