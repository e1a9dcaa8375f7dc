"""The first run: two ways to begin, a look around with sample data, and the language."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.domain.insight.connection import Answer
from services.i18n import N_, _, is_chinese
from views.pages.first_run.cards import FleetChoice, LocalChoice
from views.pages.first_run.checks import Check
from views.support.language import on_language_changed
from views.support.look import Label
from views.widgets.buttons import LinkLabel
from views.widgets.scroll_pane import ScrollPane

CARD, GAP = 450, 20


class FirstRunPage(QWidget):
    """Nothing runs until a person says so.

    Signals:
        run_here: start on this machine with so many slots.
        connect_fleet: connect to broker and Redis.
        test_connection: try both addresses.
        sample: look around with sample data.
        language_chosen: ``en`` or ``zh_CN``.
        language_changed: the page speaks another language; texts that came translated are to be shown again.
    """

    run_here = Signal(int)
    connect_fleet = Signal(str, str)
    test_connection = Signal(str, str)
    sample = Signal()
    language_chosen = Signal(str)
    language_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("panel", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.local, self.fleet = LocalChoice(), FleetChoice()
        self._title, self._text = Label("", "kpi"), Label("", "body", "text2")
        self.sample_link = LinkLabel(N_("Look around with sample data"))
        self.sample_link.set_glyph("ph.monitor-play")
        self.language_link = LinkLabel()
        self.language_link.set_glyph("ph.translate")
        self._put_together()
        self.local.start_wanted.connect(self.run_here)
        self.fleet.test_wanted.connect(self.test_connection)
        self.fleet.connect_wanted.connect(self.connect_fleet)
        self.sample_link.activated.connect(self.sample)
        self.language_link.activated.connect(self._on_language)
        on_language_changed(self._say)
        self._say()

    def show_checks(self, checks: Sequence[Check]) -> None:
        """Show what was found on this machine."""
        self.local.show_checks(checks)

    def show_test(self, answers: Sequence[Answer]) -> None:
        """Show what broker and Redis answered."""
        self.fleet.show_test(answers)

    def show_error(self, text: str) -> None:
        """Show why connecting failed."""
        self.fleet.show_error(text)

    def try_again(self) -> None:
        """Take another answer: what was chosen did not open, and the reason is shown elsewhere."""
        self.fleet.show_error("")

    def _put_together(self) -> None:
        cards = QHBoxLayout()
        cards.setSpacing(GAP)
        cards.addStretch(1)
        for card in (self.local, self.fleet):
            card.setMinimumWidth(CARD - 90)
            card.setMaximumWidth(CARD)
            cards.addWidget(card, 20)
        cards.addStretch(1)
        links = QHBoxLayout()
        links.setSpacing(24)
        links.addStretch(1)
        links.addWidget(self.sample_link)
        links.addWidget(self.language_link)
        links.addStretch(1)
        pane = ScrollPane()
        column = pane.body
        column.setContentsMargins(24, 24, 24, 24)
        column.addStretch(2)
        column.addWidget(self._title, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(6)
        column.addWidget(self._text, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(28)
        column.addLayout(cards)
        column.addSpacing(22)
        column.addLayout(links)
        column.addStretch(3)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(pane)

    def _on_language(self) -> None:
        self.language_chosen.emit("en" if is_chinese() else "zh_CN")

    def _say(self) -> None:
        self._title.setText(_("Where should your tasks run?"))
        self._text.setText(_("You can change this at any time. Nothing runs until you say so."))
        # The other language calls itself by its own name, for those who cannot read this one.
        self.language_link.set_count_text("English" if is_chinese() else "中文")
        self.setAccessibleName(self._title.text())
        self.language_changed.emit()
