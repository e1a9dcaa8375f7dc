"""What is active already, and what was done already, and what becomes of it: left out, queued after the active one, or
made with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit

from services.i18n import N_, _
from views.dialogs.new_task.draft import FORCE, QUEUE, REJECT, STOP
from views.dialogs.notice import Notice
from views.support.language import say_in_language
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


class _ReasonNotice(Notice):
    """A notice one of whose answers needs a reason.

    Signals:
    show_wanted: list the tasks it is about.
    reason_changed: why.
    """

    show_wanted = Signal()
    reason_changed = Signal(str)

    def __init__(self, question: str, name: str) -> None:
        """``question``, ``name``: of the field, source text."""
        super().__init__("warning")
        self._question, self._name = question, name
        self.show_link = LinkLabel(N_("Show"))
        self.show_link.activated.connect(self.show_wanted)
        self.reason = QLineEdit()
        self.reason.textChanged.connect(self.reason_changed)
        self.reason.hide()
        self.add_field(self.reason)
        say_in_language(self._name_reason)

    def _name_reason(self) -> None:
        self.reason.setPlaceholderText(_(self._question))
        self.reason.setAccessibleName(_(self._name))


class TwinNotice(_ReasonNotice):
    """Signals:
    fate_chosen: one of the fates that it offers.
    """

    fate_chosen = Signal(str)

    def __init__(self, fates: Sequence[str] = (REJECT, QUEUE, FORCE)) -> None:
        super().__init__(N_("Why must they run beside it?"), N_("Reason to force"))
        self.links = {fate: LinkLabel(_VERBS[fate]) for fate in fates}
        for fate, link in self.links.items():
            link.activated.connect(lambda fate=fate: self.fate_chosen.emit(fate))
        self.add_links(self.show_link, *self.links.values())

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


class DoneNotice(_ReasonNotice):
    """Work that was done so lately that its type asks for a reason: left out, or done again with one.

    Signals:
    again_chosen: whether they are done again.
    """

    again_chosen = Signal(bool)

    def __init__(self) -> None:
        super().__init__(N_("Why must it be done again?"), N_("Reason to do it again"))
        self.leave, self.again = LinkLabel(N_("Leave them out")), LinkLabel(N_("Do them again"))
        self.leave.activated.connect(lambda: self._choose(again=False))
        self.again.activated.connect(lambda: self._choose(again=True))
        self.add_links(self.show_link, self.leave, self.again)

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
