"""A bulk republish that is under way, with Pause and Stop: there while the page is, also when its toast was closed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.dialogs.republish.runner import BulkRunner
from views.dialogs.republish.telling import detail, headline
from views.support.language import on_language_changed
from views.widgets.buttons import Button
from views.widgets.strip import Strip


class RunStrip(Strip):
    """Hidden while nothing runs.

    Signals:
        wanted: show what became of each letter so far.
    """

    wanted = Signal()

    def __init__(self, runner: BulkRunner, parent: QWidget | None = None) -> None:
        super().__init__("running", parent=parent)
        self._runner = runner
        self.hand = Button(N_("Pause"), small=True)
        self.stop = Button(N_("Stop"), kind="danger", small=True)
        self.look = Button(N_("Look at it"), small=True)
        self.look.clicked.connect(self.wanted)
        self.add_action(self.look)
        self.add_action(self.hand)
        self.add_action(self.stop)
        self.hand.clicked.connect(self._on_hand)
        self.stop.clicked.connect(runner.stop)
        runner.changed.connect(self._say)
        runner.progressed.connect(self._say)
        on_language_changed(self._say)
        self.hide()

    def _on_hand(self) -> None:
        if self._runner.paused:
            self._runner.resume()
        else:
            self._runner.pause()

    def _say(self) -> None:
        job = self._runner.job
        shown = job is not None and not self._runner.held and not job.options.probe_only
        self.setVisible(shown)
        if job is None or not shown:
            return
        paused = self._runner.paused
        self.set_status("paused" if paused else "running")
        self.hand.set_source(N_("Resume") if paused else N_("Pause"))
        words = detail(self._runner.progress) or (_("What is stopped stays a dead letter.") if not paused else "")
        self.show_text(words, headline(job, self._runner.progress))
