"""Saved filters of a page as tabs: those of the design and one's own, which are named, renamed and removed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.dialogs.name import NameDialog
from views.kit.saved_views import SavedViews, View
from views.support.memory import Memory
from views.widgets.filter.text import split
from views.widgets.view_tabs import ViewTab, ViewTabs

#: what narrows any view without being another one
TIME = ("since", "until")


class FilterTabs(QObject):
    """Signals:
    wanted: the filter that a person chose.
    """

    wanted = Signal(str)

    def __init__(self, tabs: ViewTabs, memory: Memory, built_in: Sequence[View], name: str, owner: QWidget) -> None:
        """``built_in``, ``name``: as of ``SavedViews``."""
        super().__init__(owner)
        self._tabs, self._owner, self._expression = tabs, owner, ""
        self._saved = SavedViews(memory, built_in, name)
        tabs.chosen.connect(self._want)
        tabs.chosen_again.connect(self._want)
        tabs.save_wanted.connect(self._ask_name)
        tabs.rename_wanted.connect(self._rename)
        tabs.remove_wanted.connect(self._remove)
        self.retranslate()

    def follow(self, expression: str) -> None:
        """Another filter is shown: its tab is the one that asks for it, maybe of another time, else that of all."""
        self._expression = expression
        views = self._saved.all()
        same = [view.key for view in views if view.filter == expression]
        rest = split(expression, TIME)[1]
        near = [view.key for view in views if view.filter == rest]
        self._tabs.set_current((*same, *near, views[0].key)[0])

    def _want(self, key: str) -> None:
        """What the tab asks for, in the time that is shown unless it asks for one of its own."""
        expression = self._saved.get(key).filter
        if not split(expression, TIME)[0]:
            expression = " ".join([expression, *(chip.text() for chip in split(self._expression, TIME)[0])]).strip()
        self.wanted.emit(expression)

    def retranslate(self) -> None:
        self._tabs.set_views([ViewTab(key=view.key, title=view.shown, own=view.own) for view in self._saved.all()])
        self.follow(self._expression)

    def _ask_name(self) -> None:
        dialog = NameDialog(
            N_("Save view"), "", self._expression or _("All"), parent=self._owner, why_not=self._saved.why_not
        )
        dialog.named.connect(partial(self._save, self._expression))
        dialog.open()

    def _save(self, expression: str, name: str) -> None:
        view = self._saved.add(name, expression)
        self.retranslate()
        self._tabs.set_current(view.key)

    def _rename(self, key: str) -> None:
        why_not = partial(self._saved.taken, key)
        dialog = NameDialog(N_("Rename view"), self._saved.get(key).title, parent=self._owner, why_not=why_not)
        dialog.named.connect(partial(self._renamed, key))
        dialog.open()

    def _renamed(self, key: str, name: str) -> None:
        self._saved.rename(key, name)
        self.retranslate()

    def _remove(self, key: str) -> None:
        self._saved.remove(key)
        self.retranslate()
