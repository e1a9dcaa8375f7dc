"""The panel of one finding: all of its sentence, what helps, and the verbs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_
from views.kit.verb import Place, Verbs, button_of, show
from views.pages.doctor import words
from views.pages.doctor.verbs import COMPARE, COPY, GO, REPAIR, DoctorVerb, leading
from views.pages.doctor.words import FindingRow
from views.support import safe
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground
from views.widgets.buttons import IconButton, focus_first
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.status_pill import StatusPill


class FindingPanel(QWidget):
    """Signals:
    closed: the person wants the panel away.
    """

    closed = Signal()

    def __init__(self, verbs: Callable[[FindingRow], Verbs[DoctorVerb, FindingRow]]) -> None:
        """``verbs``: what can be done about a finding."""
        super().__init__()
        self._verbs = verbs
        self._row: FindingRow | None = None
        paint_ground(self, "surface")
        self._check, self._pill = Label("", "panel"), StatusPill(framed=True)
        self.close_button = IconButton("ph.x", N_("Close panel"))
        self.close_button.clicked.connect(self.closed)
        self.said, self.remedy = Label("", "body", wrap=True), Label("", "body", "text2", wrap=True)
        for label in (self.said, self.remedy):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons = {verb.key: button_of(verb, self._act, small=True) for verb in (REPAIR, COMPARE, GO, COPY)}
        self._helps = Section(N_("What helps"), foldable=False)
        self._put_together()
        on_language_changed(self._say)

    def _put_together(self) -> None:
        head = in_row(self._check, self._pill, STRETCH, self.close_button, margins=(16, 10, 12, 10), spacing=10)
        story = Section(N_("Finding"), foldable=False)
        story.body.addWidget(self.said)
        self._helps.body.addWidget(self.remedy)
        foot = in_column(margins=(16, 4, 16, 12), spacing=8)
        for button in self.buttons.values():
            foot.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        pane = ScrollPane()
        pane.body.setContentsMargins(0, 0, 0, 0)
        put(pane.body, story, self._helps, foot, STRETCH)
        in_column(head, (pane, 1), owner=self, spacing=0)

    @property
    def shown(self) -> FindingRow | None:
        """The finding shown."""
        return self._row

    def show_row(self, row: FindingRow | None) -> None:
        """Show a finding; None keeps what stands there."""
        if row is not None:
            self._row = row
        self._say()

    def focus_first(self) -> None:
        """Bring the keyboard to the first thing that can be done here."""
        focus_first(self, self.buttons.values(), self.close_button)

    def follow(self) -> None:
        """Say again what may be done."""
        self._say()

    def _say(self) -> None:
        row = self._row
        if row is None:
            return
        self._check.setText(words.check(row.finding.check))
        self._pill.set_status(words.glyph(row.finding.level), words.level(row.finding.level))
        self.said.setText(safe.visible(words.said(row)))
        self.remedy.setText(safe.visible(words.remedy(row)))
        self._helps.setVisible(bool(words.remedy(row)))
        offers = {offer.verb.key: offer for offer in self._verbs(row).offers(Place.PANEL, row)}
        first = leading(row)
        for key, button in self.buttons.items():
            button.setVisible(key in offers)
            if key in offers:
                show(button, offers[key])
                button.set_kind("primary" if first is not None and key == first.key else "plain")

    def _act(self, key: str) -> None:
        if self._row is not None:
            self._verbs(self._row).act(key, self._row)
