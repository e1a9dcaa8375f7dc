"""The buttons of the Tasks page, and what stands there when it has no rows."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_
from views.page import PageHeader
from views.widgets.buttons import Button, IconButton
from views.widgets.empty_state import EmptyState
from views.widgets.freezing import Freezing


class HeaderButtons:
    """What can be done with the list as a whole, at the right end of the page's head."""

    def __init__(self, header: PageHeader, page: QWidget) -> None:
        self.freezing = Freezing(page)
        self.suppressed = IconButton("ph.copy-simple", N_("Suppressed duplicates"), kind="plain")
        self.columns = Button(N_("Columns"), icon="ph.columns")
        self.export = Button(N_("Export"), icon="ph.export")
        for button in (self.freezing.button, self.suppressed, self.columns, self.export):
            header.add_action(button)


class NoTasks(EmptyState):
    """What stands in the place of rows.

    Signals:
        clear_wanted: the filters hide everything.
        new_wanted: there is nothing yet; somebody wants the first one.
    """

    clear_wanted = Signal()
    new_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(N_("No task matches."), N_("Change or clear the filters."), N_("Clear filters"))
        self._filtered = True
        self.action.connect(self._on_action)

    def say(self, *, filtered: bool) -> None:
        """No task matches, or there is none at all."""
        self._filtered = filtered
        if filtered:
            self.set_texts(N_("No task matches."), N_("Change or clear the filters."), N_("Clear filters"))
        else:
            hint = N_("A task appears here once it is created, in this window or by another program.")
            self.set_texts(N_("No tasks yet"), hint, N_("New task"))

    def _on_action(self) -> None:
        (self.clear_wanted if self._filtered else self.new_wanted).emit()
