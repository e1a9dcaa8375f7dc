"""The card of the sample fleet: load it, see it at work, stop it."""

from __future__ import annotations

from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec

LOADING, STOPPING = "loading", "stopping"


class SampleCard(Card):
    """One button, for what can be done next; why it cannot be pressed stands beside it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Sample fleet"), divided=True)
        self._context = context
        self._working, self._doing, self._forbidden = Operation(self), "", ""
        self._state = Label("", "label", "text2", wrap=True)
        self._note = Label("", "label", "text3", wrap=True)
        self.button = Button(N_("Load the sample fleet"), icon="ph.monitor-play")
        self.error = ErrorStrip()
        for widget in (self._state, self.error, self.button, self._note):
            self.body.addWidget(widget)
        self.button.clicked.connect(self._on_click)
        self.error.retry.connect(self._on_click)
        on_language_changed(self.show_state)
        self.show_state()

    @property
    def _loaded(self) -> bool:
        return self._context.sample.loaded

    def words(self) -> tuple[str, str]:
        """What it says of its state and of the button."""
        return self._state.text(), self._note.text()

    def set_acting(self, reason: str) -> None:
        """Load and stop nothing while that is not allowed."""
        self._forbidden = reason
        self.show_state()

    def show_state(self) -> None:
        """Say how it stands."""
        elsewhere = not self._context.embedded
        self._state.setText(
            _("At work: 60 pretended shops, and about three new tasks a second.")
            if self._loaded
            else _("60 pretended shops on this computer, with tasks that come and go. Nothing leaves this machine.")
        )
        self._note.setText(self._explain(elsewhere))
        self._note.setVisible(bool(self._note.text()))
        sources = {
            LOADING: N_("Loading"),
            STOPPING: N_("Stopping"),
            "": N_("Stop the sample fleet") if self._loaded else N_("Load the sample fleet"),
        }
        self.button.set_source(sources[self._doing])
        self.button.set_glyph("ph.square" if self._loaded else "ph.monitor-play")
        self.button.disable(self._note.text() if elsewhere or self._doing else self._forbidden)

    def _explain(self, elsewhere: bool) -> str:
        if self._doing == STOPPING:
            return _("Running tasks may finish first.")
        if self._doing == LOADING:
            return _("Its storefront is starting.")
        if elsewhere:
            return _("Only on this machine's own engine, not in a fleet that others use")
        if self._loaded:
            return _(
                "Stopping ends its storefront and its new tasks, and cancels those that wait."
                " Its shops, ended tasks and dead letters stay; it does not come back with the next start."
            )
        return ""

    def _on_click(self) -> None:
        if self._doing:
            return
        self.error.clear()
        sample = self._context.sample
        if self._loaded:
            self._doing = STOPPING
            self._working.start(sample.stop, self._on_stopped, self._on_failed)
        else:
            self._doing = LOADING
            self._working.start(sample.load, self._on_loaded, self._on_failed)
        self.show_state()

    def _on_loaded(self, _none: object) -> None:
        self._end()
        detail = _("Its shops and tasks are on every page.")
        self._context.toast(ToastSpec(text=_("The sample fleet is loaded."), detail=detail))

    def _on_stopped(self, cancelled: int) -> None:
        self._end()
        words = ngettext("{n} waiting task cancelled.", "{n} waiting tasks cancelled.", cancelled)
        detail = words.format(n=text.count(cancelled)) if cancelled else ""
        self._context.toast(ToastSpec(text=_("The sample fleet is stopped."), detail=detail))

    def _on_failed(self, error: BaseException) -> None:
        self._end()
        self.error.show_error(told(error))

    def _end(self) -> None:
        self._doing = ""
        self.show_state()
