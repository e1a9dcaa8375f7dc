"""Rows whose work was done so lately that their type asks for a reason: left out, or done again with one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services.i18n import N_, _
from views.dialogs.notice import Notice
from views.support.language import on_language_changed
from views.widgets.buttons import LinkLabel


class DoneNotice(Notice):
    """Signals:
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

    def show_done(self, headline: str, which: str, *, again: bool) -> None:
        """Say how many, which, and what becomes of them; without a headline there are none."""
        if not headline:
            self.show_words("", "")
            return
        fate = _("They are done again.") if again else _("They are left out.")
        self.show_words(headline, _("{standing}. {fate}").format(standing=which, fate=fate))
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
