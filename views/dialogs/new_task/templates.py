"""Forms that a person has kept under a name: picked, renamed, removed; no secret is kept with them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services.i18n import N_, _
from views.dialogs.name import NameDialog
from views.support import safe
from views.support.memory import Memory

KEY, MOST = "newtask.templates", 50


class Templates(QObject):
    """Signals:
    picked: the fields of a template, as they were kept.
    changed: there are others.
    """

    picked = Signal(object)
    changed = Signal()

    def __init__(self, memory: Memory, owner: QWidget) -> None:
        super().__init__(owner)
        self._memory, self._owner = memory, owner

    def all(self) -> dict[str, dict[str, Any]]:
        """The fields of each by name, in the order of their names."""
        kept = self._memory.get(KEY, {})
        found = kept if isinstance(kept, dict) else {}
        return {name: found[name] for name in sorted(found) if isinstance(found[name], dict)}

    def keep(self, name: str, fields: dict[str, Any]) -> None:
        """Keep a form, in the place of one of this name."""
        self._put({**self.all(), name: fields})

    def rename(self, name: str, new: str) -> None:
        """Give one another name."""
        found = self.all()
        if name in found and new != name:
            fields = found.pop(name)
            self._put({**found, new: fields})

    def remove(self, name: str) -> None:
        """Forget one."""
        self._put({other: fields for other, fields in self.all().items() if other != name})

    def ask_name(self, fields: dict[str, Any], name: str = "") -> NameDialog:
        """Ask under which name a form is kept."""
        note = _("Kept on this computer, for you. Secrets are left out; a name that is there already is replaced.")
        dialog = NameDialog(N_("Save as template"), name, note, self._owner)
        dialog.named.connect(lambda named: self.keep(named, fields))
        dialog.open()
        return dialog

    def fill(self, menu: QMenu) -> None:
        """Offer them: picked, renamed, removed."""
        menu.clear()
        found = self.all()
        for name, fields in found.items():
            menu.addAction(_plain(name)).triggered.connect(lambda _on=False, fields=fields: self.picked.emit(fields))
        if not found:
            menu.addAction(_("No template yet: fill the form in and save it")).setEnabled(False)
            return
        menu.addSeparator()
        renaming, removing = menu.addMenu(_("Rename")), menu.addMenu(_("Remove"))
        for name in found:
            renaming.addAction(_plain(name)).triggered.connect(lambda _on=False, name=name: self._ask_new_name(name))
            removing.addAction(_plain(name)).triggered.connect(lambda _on=False, name=name: self.remove(name))

    def _ask_new_name(self, name: str) -> None:
        dialog = NameDialog(N_("Rename a template"), name, parent=self._owner)
        dialog.named.connect(lambda new: self.rename(name, new))
        dialog.open()

    def _put(self, found: dict[str, dict[str, Any]]) -> None:
        self._memory.put(KEY, dict(list(found.items())[-MOST:]))
        self.changed.emit()


def _plain(name: str) -> str:
    return safe.one_line(name, 60).replace("&", "&&")
