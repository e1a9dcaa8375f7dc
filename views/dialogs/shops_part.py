"""Part two of a new task: the shops."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from services.i18n import N_, _, ngettext
from views.dialogs.part import Part
from views.dialogs.shop_picker import ShopPicker
from views.support import text
from views.widgets.segmented import Segmented


class ShopsPart(Part):
    """Pick from the list, or paste one."""

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(number, N_("Shops"), parent=parent)
        self.mode = Segmented((("pick", N_("Pick")), ("paste", N_("Paste a list"))), N_("How to choose shops"))
        self.add_action(self.mode)
        self.picker = ShopPicker()
        self.body.addWidget(self.picker)
        self.mode.chosen.connect(self.picker.set_mode)

    def say(self, known: int) -> None:
        """Say how many are ticked of how many."""
        chosen = len(self.picker.chosen())
        words = ngettext("{chosen} of {n} shop", "{chosen} of {n} shops", known)
        self.set_note(
            words.format(chosen=text.count(chosen), n=text.count(known)) if known else _("no shop is known yet")
        )
