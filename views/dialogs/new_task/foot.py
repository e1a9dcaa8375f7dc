"""The foot of the New task dialog: what is missing, and the verbs."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from services.i18n import N_, _, ngettext
from views.support import text
from views.widgets.buttons import Button
from views.widgets.elided import Elided


class NewTaskFoot:
    """Buttons in the foot of the dialog; ``form`` and ``outcome`` need different ones."""

    def __init__(self, foot: QHBoxLayout) -> None:
        self.discard = Button(N_("Discard"), icon="ph.trash")
        self.copy = Button(N_("Copy as JSON"), icon="ph.copy")
        self.back = Button(N_("Back to the form"))
        self.cancel = Button(N_("Cancel"), hint="Esc")
        self.create = Button(kind="primary", icon="ph.plus", shortcut="Ctrl+Return")
        self.create.set_count_text(_("Create"))
        self.missing = Elided("", "label", "dead")
        for button in (self.discard, self.copy, self.back):
            foot.addWidget(button)
        foot.addStretch(1)
        foot.addWidget(self.missing)
        foot.addWidget(self.cancel)
        foot.addWidget(self.create)

    def show_file(self, *, of_step: bool, number: int, left_out: int, rows: int, blocked: str, busy: bool) -> None:
        """Say what becomes of a file: in its own step the tasks and what is left out, before it the way there."""
        count, out = text.count(number), text.count(left_out)
        words = ngettext("Create {n} task", "Create {n} tasks", number).format(n=count)
        if left_out:
            words = _("Create {n}, leave out {out}").format(n=count, out=out)
        check = ngettext("Check {n} row", "Check {n} rows", rows).format(n=text.count(rows))
        self.create.set_count_text(words if of_step else check if rows else _("Choose a file"))
        self.create.disable(_("Creating") if busy else blocked)
        self.missing.show_text(blocked)
        self.missing.set_tone("text2")
        for widget, visible in (
            (self.create, True),
            (self.discard, True),
            (self.copy, False),
            (self.back, of_step),
        ):
            widget.setVisible(visible)
        self.cancel.set_source(N_("Cancel"))

    def show_state(self, *, on_form: bool, number: int, blocked: str, unfilled: str, wrong: bool, busy: bool) -> None:
        """Say how many are created, or what keeps them from it; only what is ``wrong`` is said in red.

        What is merely not filled in yet is said too, and a try then shows where.
        """
        count = text.count(number)
        self.create.set_count_text(ngettext("Create {n} task", "Create {n} tasks", number).format(n=count))
        self.create.disable(_("Creating") if busy else blocked)
        self.missing.show_text(blocked or unfilled if on_form else "")
        self.missing.set_tone("dead" if wrong else "text2")
        for widget in (self.create, self.discard, self.copy):
            widget.setVisible(on_form)
        self.back.setVisible(not on_form)
        self.cancel.set_source(N_("Cancel") if on_form else N_("Close"))
