"""Shops from a file: what is new, what changes, which lines are wrong, before anything is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services import called
from services.commands.sheet.shop_file import Fault, ShopFile, read
from services.domain.fleet.shop import Shop, valid_word
from services.i18n import N_, _, ngettext
from services.messages import told
from views.dialogs.saving import SavingDialog
from views.dialogs.shops.edit import named
from views.dialogs.typed import KeepsTyped
from views.support import safe, text
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.fields import ChoiceField
from views.widgets.key_values import KeyValues
from views.widgets.layout import in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip

WIDTH, ROOM, SHOWN = 640, 260, 200
STRANGERS = 4  #: platforms for which another can be chosen; a file with more of them is about another fleet


class ShopImportDialog(KeepsTyped, SavingDialog):
    """Signals:
    chosen: the shops to import; ``start`` takes what does it.
    """

    going_on, going_on_still = N_("They are being imported"), N_("They are being imported…")

    chosen = Signal(object)

    def __init__(
        self, path: Path, file: ShopFile, known: Mapping[str, Shop], reason: str, parent: QWidget | None = None
    ) -> None:
        """``reason``: why nothing may be changed, already translated."""
        super().__init__(N_("Import shops"), icon="ph.download-simple", width=WIDTH, parent=parent)
        self.set_note(safe.one_line(path.name, 60))
        self._path, self._known, self._barred = path, known, reason
        self._again = Operation(self, latest=True)
        self._meant: dict[str, str] = {}
        self.wanted: tuple[Shop, ...] = ()
        self._counts, self.unused = KeyValues(spread=True), Strip("warning")
        self.body.addWidget(self._counts)
        self.body.addWidget(self.unused)
        self.platforms = {one.code: self._add_choice(one.code) for one in file.strangers[:STRANGERS]}
        self._bad, self.faults = Strip("warning"), KeyValues()
        self.copy_button = Button(N_("Copy"), icon="ph.copy", small=True)
        self.copy_button.clicked.connect(self._copy)
        self._bad.add_action(self.copy_button)
        self.body.addWidget(self._bad)
        self._pane = ScrollPane(name=N_("Lines that are wrong"))
        self._pane.setFixedHeight(ROOM)
        self._pane.body.addWidget(self.faults)
        self._pane.body.addStretch(1)
        self.body.addWidget(self._pane)
        self.end_with_save(self._on_import)
        self._show(file)

    def _show(self, file: ShopFile) -> None:
        known, self._file = self._known, file
        new = [shop for shop in file.shops if shop.key not in known]
        changed = [shop for shop in file.shops if shop.key in known and known[shop.key] != shop]
        self.wanted = (*new, *changed)
        same = len(file.shops) - len(self.wanted)
        self._counts.set_rows(
            (
                (_("New shops"), text.count(len(new))),
                (_("Changed"), text.count(len(changed))),
                (_("As they are"), text.count(same)),
                (_("Lines that are wrong"), text.count(len(file.faults)), "dead" if file.faults else "text"),
            )
        )
        self.unused.show_text("\n".join(map(told, file.warnings)))
        wrong = _("Mend them in the file, or import the others: what is wrong is left out.")
        self._bad.show_text(wrong if file.faults else "")
        self.faults.set_rows(_told(file.faults[:SHOWN]))
        self._pane.setVisible(bool(file.faults))
        number = len(self.wanted)
        said = ngettext("Import {n} shop", "Import {n} shops", number).format(n=text.count(number))
        self.save_button.set_count_text(said)
        self.forbid(self._barred or ("" if number else _("There is nothing to import")))

    def _add_choice(self, code: str) -> ChoiceField:
        """What a platform is taken for that no shop of the fleet is on."""
        field = ChoiceField()
        field.addItem(_("a new platform") if valid_word(code) else _("left out"), "")
        for one in sorted({shop.platform for shop in self._known.values()}):
            field.addItem(named(one), one)
        field.activated.connect(lambda _place: self._on_meant(code, str(field.currentData() or "")))
        words = _("{platform} is").format(platform=named(code))
        field.setAccessibleName(words)
        self.body.addLayout(in_row((Label(words, "body"), 1), field))
        return field

    def _on_meant(self, code: str, platform: str) -> None:
        self._meant.pop(code, None)
        if platform:
            self._meant[code] = platform
        self.forbid(_("The file is being read"))
        self._again.start(partial(read, self._path, self._known, dict(self._meant)), self._show, self.refused)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in _told(self._file.faults)))

    def _on_import(self) -> None:
        self.chosen.emit(self.wanted)


def _told(faults: Sequence[Fault]) -> tuple[tuple[str, str], ...]:
    """The place of each, and what is wrong there."""
    place = _("line {n}, {field}")
    return tuple((place.format(n=one.line, field=called.column(one.field)), told(one.error)) for one in faults)
