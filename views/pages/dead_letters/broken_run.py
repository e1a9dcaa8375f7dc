"""A strip that tells of a bulk republish whose program ended in the middle, with the way to go on."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.commands.bulk.republish import RunView
from services.i18n import N_, _
from views.context import PageContext
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.strip import Strip


class BrokenRun(Strip):
    """Signals:
    wanted: show what became of the run.
    found: whether there is one was asked and is known.
    """

    wanted = Signal()
    found = Signal()

    def __init__(self, context: PageContext, parent: QWidget | None = None) -> None:
        super().__init__("warning", parent=parent)
        self._context = context
        self._view: RunView | None = None
        self._asking = Operation(self, latest=True)
        self.button = Button(N_("Look at it"), small=True)
        self.button.clicked.connect(self.wanted)
        self.add_action(self.button)
        on_language_changed(self._say)
        self.hide()

    def look(self) -> None:
        """Ask whether there is one; without an answer the strip stays as it is."""
        self._asking.start(lambda: self._context.commands.bulk.runs(), self._take, lambda _error: None)

    def _take(self, views: list[RunView]) -> None:
        self._view = next((view for view in views if view.state == "interrupted"), None)
        self._say()
        self.found.emit()

    @property
    def asks(self) -> bool:
        """Whether there is a run to look at."""
        return self._view is not None

    def set_leading(self, leads: bool) -> None:
        """Whether looking at it is what the page asks for: one filled button a view."""
        self.button.set_kind("primary" if leads else "plain")

    def _say(self) -> None:
        view = self._view
        self.setVisible(view is not None)
        if view is not None:
            words = _("{done} of {total} were sent, by {who}; the rest are still dead letters.").format(
                done=text.count(view.entry.done),
                total=text.count(view.entry.total),
                who=safe.one_line(view.entry.who, 60),
            )
            self.show_text(words, _("A republish was interrupted"))
