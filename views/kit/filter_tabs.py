"""Saved filters of a page as tabs: those of the design and one's own, which are named, renamed and removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.dialogs.name import NameDialog
from views.kit.saved_views import SavedViews, View
from views.support import safe
from views.support.acting import Toast, tell_done
from views.support.memory import Memory
from views.widgets.filter.text import Chip, split
from views.widgets.view_tabs import ViewTab, ViewTabs

#: what narrows any view without being another one
TIME = ("since", "until")


class FilterTabs(QObject):
    """Signals:
    wanted: the filter that a person chose.
    """

    wanted = Signal(str)

    def __init__(
        self,
        tabs: ViewTabs,
        memory: Memory,
        built_in: Sequence[View],
        name: str,
        owner: QWidget,
        toast: Toast,
        said: Callable[[], str],
    ) -> None:
        """``built_in``, ``name``: as of ``SavedViews``; ``said``: the filter that is shown, in words."""
        super().__init__(owner)
        self._tabs, self._owner, self._expression, self._toast = tabs, owner, "", toast
        self._saved, self._said = SavedViews(memory, built_in, name), said
        tabs.chosen.connect(self._want)
        tabs.chosen_again.connect(self._want)
        tabs.save_wanted.connect(self._ask_name)
        tabs.rename_wanted.connect(self._rename)
        tabs.remove_wanted.connect(self._remove)
        tabs.change_wanted.connect(self._change)
        self.retranslate()

    def follow(self, expression: str) -> None:
        """Another filter is shown: its tab is the one that asks for it, maybe of another time; else one's own stays,
        which can take it, or that of all comes.
        """
        self._expression = expression
        views = self._saved.all()
        same = [view.key for view in views if view.filter == expression]
        rest = split(expression, TIME)[1]
        near = [view.key for view in views if view.filter == rest]
        here = [view.key for view in views if view.own and view.key == self._tabs.current()]
        self._tabs.set_current((*same, *near, *here, views[0].key)[0])

    def leave(self) -> None:
        """Something else is asked for than what a view stands for: one's own does not stay for it."""
        self._tabs.set_current(self._saved.all()[0].key)

    def _want(self, key: str) -> None:
        """What the tab asks for, in the time that is shown unless it asks for one of its own."""
        expression = self._saved.get(key).filter
        if not split(expression, TIME)[0]:
            expression = " ".join([expression, *(chip.text() for chip in self._time())]).strip()
        self.wanted.emit(expression)

    def _time(self) -> Sequence[Chip]:
        """The time that is shown, unless it is what a view asks for: it goes with that."""
        shown = split(self._expression, TIME)[0]
        whose = [view for view in self._saved.all() if view.filter == self._expression and split(view.filter, TIME)[0]]
        return [] if whose else shown

    def retranslate(self) -> None:
        self._tabs.set_views([ViewTab(key=view.key, title=view.shown, own=view.own) for view in self._saved.all()])
        self.follow(self._expression)

    def _ask_name(self) -> None:
        dialog = NameDialog(
            N_("Save view"),
            "",
            self._said() or _("All"),
            parent=self._owner,
            why_not=self._saved.why_not,
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
        title, back = self._saved.get(key).title, self._saved.remove(key)
        self.retranslate()
        if back is not None:
            self._offer_undo(N_("{view} is removed"), title, back)

    def _change(self, key: str) -> None:
        """Let one's own view ask for what is shown now."""
        before = self._saved.get(key)
        if before.own and before.filter != self._expression:
            self._saved.change(replace(before, filter=self._expression))
            self.retranslate()
            back = partial(self._ask_for, key, before.filter)
            self._offer_undo(N_("{view} is what is shown here now"), before.title, back)

    def _ask_for(self, key: str, expression: str) -> None:
        """Let a view ask for this, whatever it is called by now."""
        self._saved.change(replace(self._saved.get(key), filter=expression))

    def _offer_undo(self, said: str, title: str, back: Callable[[], None]) -> None:
        def undo() -> None:
            back()
            self.retranslate()

        tell_done(self._toast, lambda: _(said).format(view=safe.one_line(title, 60)), undo)
