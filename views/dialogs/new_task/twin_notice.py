"""What is active already, and what was done already, and what becomes of it: left out, queued after the active one, or
made with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services.i18n import N_, _
from views.dialogs.new_task.draft import FORCE, QUEUE, REJECT, STOP
from views.dialogs.notice import Notice
from views.support.language import on_language_changed
from views.widgets.buttons import LinkLabel

_FATES = {
    REJECT: N_("They are left out."),
    QUEUE: N_("They are queued after it."),
    FORCE: N_("They run beside it."),
    STOP: N_("Nothing is created."),
}
_VERBS = {
    REJECT: N_("Leave them out"),
    QUEUE: N_("Queue after it"),
    FORCE: N_("Force"),
    STOP: N_("Create nothing"),
}


class TwinNotice(Notice):
    """Signals:
    show_wanted: list the tasks that are active already.
    fate_chosen: one of the fates that it offers.
    reason_changed: why they are forced.
    """

    show_wanted = Signal()
    fate_chosen = Signal(str)
    reason_changed = Signal(str)

    def __init__(self, fates: Sequence[str] = (REJECT, QUEUE, FORCE), parent: QWidget | None = None) -> None:
        super().__init__("warning", parent)
        self._show = LinkLabel(N_("Show"))
        self._show.activated.connect(self.show_wanted)
        self.links = {fate: LinkLabel(_VERBS[fate]) for fate in fates}
        for fate, link in self.links.items():
            link.activated.connect(lambda fate=fate: self.fate_chosen.emit(fate))
        self.add_links(self._show, *self.links.values())
        self.reason = QLineEdit()
        self.reason.textChanged.connect(self.reason_changed)
        self.reason.hide()
        self.add_field(self.reason)
        on_language_changed(self._name_reason)
        self._name_reason()

    def show_twins(self, headline: str, standing: str, fate: str) -> None:
        """Say how many, how they stand, and what becomes of them; without a headline there are none."""
        if not headline:
            self.show_words("", "")
            return
        words = _("{standing}. {fate}").format(standing=standing, fate=_(_FATES.get(fate, _FATES[REJECT])))
        self.show_words(headline, words)
        for verb, link in self.links.items():
            link.setVisible(verb != fate)
        self.reason.setVisible(fate == FORCE)

    def _name_reason(self) -> None:
        self.reason.setPlaceholderText(_("Why must they run beside it?"))
        self.reason.setAccessibleName(_("Reason to force"))


class DoneNotice(Notice):
    """Work that was done so lately that its type asks for a reason: left out, or done again with one.

    Signals:
    show_wanted: list the tasks that did it.
    again_chosen: whether they are done again.
    reason_changed: why.
    """

    show_wanted = Signal()
    again_chosen = Signal(bool)
    reason_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("warning", parent)
        self.show_link = LinkLabel(N_("Show"))
        self.leave, self.again = LinkLabel(N_("Leave them out")), LinkLabel(N_("Do them again"))
        self.show_link.activated.connect(self.show_wanted)
        self.leave.activated.connect(lambda: self._choose(again=False))
        self.again.activated.connect(lambda: self._choose(again=True))
        self.add_links(self.show_link, self.leave, self.again)
        self.reason = QLineEdit()
        self.reason.textChanged.connect(self.reason_changed)
        self.reason.hide()
        self.add_field(self.reason)
        on_language_changed(self._name_reason)
        self._name_reason()

    def show_done(self, headline: str, which: str, *, again: bool, known: bool = True) -> None:
        """Say how many, which, and what becomes of them; without a headline there are none. ``known``: there are tasks
        to be shown.
        """
        if not headline:
            self.show_words("", "")
            return
        fate = _("They are done again.") if again else _("They are left out.")
        self.show_words(headline, _("{standing}. {fate}").format(standing=which, fate=fate))
        self.show_link.setVisible(known)
        self.leave.setVisible(again)
        self.again.setVisible(not again)
        self.reason.setVisible(again)

    def _choose(self, *, again: bool) -> None:
        self.again_chosen.emit(again)
        if again:
            self.reason.setFocus()

    def _name_reason(self) -> None:
        self.reason.setPlaceholderText(_("Why must it be done again?"))
        self.reason.setAccessibleName(_("Reason to do it again"))
