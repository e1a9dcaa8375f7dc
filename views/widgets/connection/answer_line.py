"""What one part of a connection answered: glyph, name, and either how fast or why not and what to do."""

from __future__ import annotations

from datetime import timedelta

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from services.domain.insight.connection import BROKER, FILE, MANAGEMENT, STORE, Answer
from services.i18n import N_, _
from services.messages import told
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.theme.tokens import status
from views.widgets.layout import in_row

NAMES = {BROKER: N_("Broker"), STORE: N_("Redis"), MANAGEMENT: N_("Management"), FILE: N_("File of the engine")}
_LONGEST = 300


class AnswerLine(QWidget):
    """Nothing until there is an answer; wraps, for the remedy stands at the end."""

    def __init__(self, *, named: bool = False) -> None:
        """``named``: say which part it is, where no title does."""
        super().__init__()
        self._named = named
        self._answer: Answer | None = None
        self._glyph, self._name, self._words = QLabel(), Label("", "strong"), Label("", "label", "text2", wrap=True)
        in_row(
            (self._glyph, 0, Qt.AlignmentFlag.AlignTop),
            (self._name, 0, Qt.AlignmentFlag.AlignTop),
            (self._words, 1),
            owner=self,
            margins=(0, 0, 0, 2),
            spacing=7,
        )
        self.hide()
        theme().changed.connect(self._say)
        on_language_changed(self._say)

    def show_answer(self, answer: Answer) -> None:
        """Show it."""
        self._answer = answer
        self._say()
        self.show()

    def words(self) -> str:
        """What is shown, "" while nothing is."""
        return "" if self.isHidden() else self._words.text()

    def clear(self, *, still: bool = False) -> None:
        """Show nothing; ``still``: in the room that it took, so that what is below does not move under the mouse."""
        kept = self.sizePolicy()
        kept.setRetainSizeWhenHidden(still and (not self.isHidden() or kept.retainSizeWhenHidden()))
        self.setSizePolicy(kept)
        self._answer = None
        self.hide()

    def _say(self) -> None:
        if self._answer is None:
            return
        answer = self._answer
        token = status("healthy" if answer.ok else "dead")
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        self._name.setText(_(NAMES[answer.part]))
        self._name.setVisible(self._named)
        span = text.milliseconds(timedelta(milliseconds=answer.latency_ms)) if answer.latency_ms else ""
        good = _("answers in {span}").format(span=span) if span else _("answers")
        self._words.setText(good if answer.ok else safe.one_line(told(answer.words), _LONGEST))
        self._words.set_tone("text2" if answer.ok else "dead")
        self.setAccessibleName(f"{_(NAMES[answer.part])}: {self._words.text()}")
