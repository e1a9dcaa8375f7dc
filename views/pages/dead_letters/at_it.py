"""Who is at the cause of a letter, and what is decided about it, with the verbs to change that."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.i18n import _
from views.kit.verb import Place, Verbs, show
from views.pages.dead_letters import words
from views.pages.dead_letters.verbs import CauseVerb, OfCause
from views.support import safe
from views.support.language import on_language_changed
from views.support.look import Label
from views.widgets.buttons import Button
from views.widgets.flow_row import FlowRow

#: the verbs of a cause that stand at its letter, too
KEYS = ("take", "known", "follow")


class AtIt(QWidget):
    """Hidden for letters that share no cause."""

    def __init__(self, verbs: Verbs[CauseVerb, OfCause]) -> None:
        super().__init__()
        self._verbs = verbs
        self._of: OfCause | None = None
        self.said = Label("", "label", "text2", wrap=True)
        self.buttons: dict[str, Button] = {}
        row = FlowRow(across=8, down=6)
        for verb in verbs.all:
            if verb.key in KEYS:
                self.buttons[verb.key] = button = Button(verb.text, icon=verb.icon, small=True)
                button.clicked.connect(partial(self._act, verb.key))
                row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.said)
        column.addLayout(row)
        self.hide()
        on_language_changed(self._say)

    def show_cause(self, of: OfCause | None) -> None:
        """Say what is decided about a cause."""
        self._of = of
        self._say()

    def _act(self, key: str, _checked: bool = False) -> None:
        if self._of is not None:
            self._verbs.act(key, self._of)

    def _say(self) -> None:
        of = self._of
        self.setVisible(of is not None and words.has_print(of.cause))
        if of is None:
            return
        told = "\n".join(part for part in (words.known(of.cause), of.cause.rule.note) if part)
        self.said.setText(safe.visible(told, keep_newlines=True) or _("Nobody is at it yet."))
        for one in self._verbs.offers(Place.MENU, of):
            if one.verb.key in self.buttons:
                show(self.buttons[one.verb.key], one)
