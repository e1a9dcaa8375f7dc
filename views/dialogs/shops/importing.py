"""Shops from a file: what is new, what changes, which lines are wrong, before anything is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services import called
from services.commands.sheet.shop_file import Fault, ShopFile
from services.domain.fleet.shop import Shop
from services.i18n import N_, _, ngettext
from services.messages import told
from views.dialogs.saving import SavingDialog
from views.support import safe, text
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip

WIDTH, ROOM, SHOWN = 640, 260, 200


class ShopImportDialog(SavingDialog):
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
        new = [shop for shop in file.shops if shop.key not in known]
        changed = [shop for shop in file.shops if shop.key in known and known[shop.key] != shop]
        self.wanted = (*new, *changed)
        counts = KeyValues(spread=True)
        same = len(file.shops) - len(self.wanted)
        counts.set_rows(
            (
                (_("New shops"), text.count(len(new))),
                (_("Changed"), text.count(len(changed))),
                (_("As they are"), text.count(same)),
                (_("Lines that are wrong"), text.count(len(file.faults)), "dead" if file.faults else "text"),
            )
        )
        self.body.addWidget(counts)
        if file.warnings:
            unused = Strip("warning")
            unused.show_text("\n".join(map(told, file.warnings)))
            self.body.addWidget(unused)
        self.faults = KeyValues()
        if file.faults:
            bad = Strip("warning")
            bad.show_text(_("Mend them in the file, or import the others: what is wrong is left out."))
            self.copy_button = Button(N_("Copy"), icon="ph.copy", small=True)
            self.copy_button.clicked.connect(partial(_copy, _told(file.faults)))
            bad.add_action(self.copy_button)
            self.body.addWidget(bad)
            self.faults.set_rows(_told(file.faults[:SHOWN]))
            pane = ScrollPane()
            pane.setFixedHeight(ROOM)
            pane.body.addWidget(self.faults)
            pane.body.addStretch(1)
            self.body.addWidget(pane)
        self.end_with_save(self._on_import)
        number = len(self.wanted)
        said = ngettext("Import {n} shop", "Import {n} shops", number).format(n=text.count(number))
        self.save_button.set_count_text(said)
        self.forbid(reason or ("" if number else _("There is nothing to import")))

    def _on_import(self) -> None:
        self.chosen.emit(self.wanted)


def _told(faults: Sequence[Fault]) -> tuple[tuple[str, str], ...]:
    """The place of each, and what is wrong there."""
    place = _("line {n}, {field}")
    return tuple((place.format(n=one.line, field=called.column(one.field)), told(one.error)) for one in faults)


def _copy(rows: Sequence[tuple[str, str]]) -> None:
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))
