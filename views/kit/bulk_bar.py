"""A bar for the rows that are ticked: how many they are, and what can be done to all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button, LinkLabel
from views.widgets.flow_row import FlowRow
from views.widgets.layout import in_column


class AllLink(LinkLabel):
    """Ticks everything that matches, loaded or not."""

    def __init__(self) -> None:
        super().__init__()
        self._number: int | None = 0
        self._busy = False
        self.hide()
        on_language_changed(self._say)

    def offer(self, number: int | None, *, wanted: bool, busy: bool = False) -> None:
        """``number``: how many match, None where nobody knows; ``wanted``: more than is ticked by now; ``busy``: they
        are on their way.
        """
        self._number, self._busy = number, busy
        self.setVisible(wanted or busy)
        self.setEnabled(not busy)
        self._say()

    def _say(self) -> None:
        if self._busy:
            self.set_count_text(_("Selecting…"))
        elif self._number is None:
            self.set_count_text(_("Select all that match"))
        else:
            self.set_count_text(_("Select all {n}").format(n=text.count(self._number)))


class BulkBar(QWidget):
    """Hidden while nothing is ticked.

    Signals:
        all_wanted: everything that matches shall be ticked, loaded or not.
        clear_wanted: nothing shall be ticked any more.
        wanted: the key of an act for all that are ticked.
    """

    all_wanted = Signal()
    clear_wanted = Signal()
    wanted = Signal(str)

    def __init__(self, acts: Sequence[tuple[str, str, str]], counted: Callable[[int], str], margin: int = PAGE_MARGIN):
        """``acts``: key, source text and icon of each; ``counted``: so many rows, translated; ``margin``: px left and
        right of it.
        """
        super().__init__()
        self._counted = counted
        self._count = Label("", "strong")
        self.buttons = {key: Button(word, icon=icon, small=True) for key, word, icon in acts}
        self.clear = Button(N_("Clear selection"), kind="ghost", small=True)
        self.clear.clicked.connect(self.clear_wanted)
        around = in_column(owner=self, margins=(margin, 6, margin, 6))
        row = FlowRow(across=6, down=4)
        around.addLayout(row)
        self.all_link = AllLink()
        self.all_link.activated.connect(self.all_wanted)
        self._number = 0
        row.addWidget(self._count)
        row.addWidget(self.all_link)
        for key, button in self.buttons.items():
            button.clicked.connect(partial(self.wanted.emit, key))
            row.addWidget(button)
        row.addWidget(self.clear)
        self.hide()

    def show_count(self, number: int, reasons: str | Mapping[str, str]) -> None:
        """Show for how many it acts; hidden for none. ``reasons``: why nothing may be changed, or why of each act that
        cannot be done; already translated.
        """
        self._number = number
        self.setVisible(number > 0)
        self._count.setText(self._counted(number))
        for key, button in self.buttons.items():
            button.disable(reasons if isinstance(reasons, str) else reasons.get(key, ""))

    def offer_all(self, number: int) -> None:
        """Everything that is loaded is ticked, and so many match; 0 where something loaded is not."""
        self.all_link.offer(number, wanted=0 < self._number < number)
