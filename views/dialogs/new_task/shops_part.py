"""Part two of a new task: the shops."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QWidget

from services.i18n import N_, _, ngettext
from views.dialogs.new_task.parameters import Spot
from views.dialogs.new_task.part import Part
from views.dialogs.shops.picker import FILE, GROUP, PASTE, PICK, ShopPicker
from views.support import text
from views.widgets.segmented import Segmented

MODES = ((PICK, N_("Pick")), (PASTE, N_("Paste a list")), (FILE, N_("From a file")), (GROUP, N_("Groups")))


class ShopsPart(Part):
    """Pick from the list, paste one, read a file, or tick groups."""

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(number, N_("Shops"), parent=parent)
        self.mode = Segmented(MODES, N_("How to choose shops"))
        self.add_action(self.mode)
        self.picker = ShopPicker()
        self.body.addWidget(self.picker)
        self.mode.chosen.connect(self._on_mode)
        self.picker.file_dropped.connect(partial(self.set_mode, FILE))

    def set_mode(self, mode: str) -> None:
        """Choose shops in another way."""
        self.mode.set_current(mode)
        self.picker.set_mode(mode)

    def of_file(self) -> bool:
        """Whether a file says shop, type and the rest of each task."""
        return self.mode.current() == FILE

    def start_over(self) -> None:
        """Tick nothing, name nothing."""
        self.picker.model.untick_all()
        self.picker.paste.field.clear()
        self.picker.file.show_file("")
        self.set_mode(PICK)

    def spots(self) -> list[Spot]:
        """Lines of the list that name no shop."""
        lines = dict.fromkeys(entry.line for entry in self.picker.paste.lost())
        return [(f"shop line {line}", partial(self._go_to, line)) for line in lines]

    def say(self, known: int) -> None:
        """Say how many are ticked of how many."""
        if self.of_file():
            self.set_note(_("as the file says; the other parts count where a row says nothing"))
            self.set_errors(0)
            return
        chosen = len(self.picker.chosen())
        words = ngettext("{chosen} of {n} shop", "{chosen} of {n} shops", known)
        self.set_note(
            words.format(chosen=text.count(chosen), n=text.count(known)) if known else _("no shop is known yet")
        )
        lost = len(self.picker.paste.lost())
        self.set_errors(lost, ngettext("{n} not found", "{n} not found", lost).format(n=lost))

    def _on_mode(self, mode: str) -> None:
        self.picker.set_mode(mode)
        self.picker.changed.emit()

    def _go_to(self, line: int) -> QWidget:
        if self.mode.current() != PASTE:
            self.set_mode(PASTE)
        return self.picker.paste.go_to(line)
