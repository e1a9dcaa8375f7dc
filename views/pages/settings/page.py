"""The Settings page: how everything looks, the sample fleet, the rules in force, and what this program is."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services import i18n
from services.domain.fleet import environment
from services.i18n import N_, _
from services.settings import Settings
from services.version import VERSION
from views.context import PageContext
from views.page import Page
from views.pages.settings import rules
from views.pages.settings.aside_card import AsideCard
from views.pages.settings.connections_card import ConnectionsCard
from views.pages.settings.people_card import WORDS, PeopleCard
from views.pages.settings.sample_card import SampleCard
from views.support.connections import Connections
from views.support.look import Label, line
from views.theme import theme
from views.theme.theme import SYSTEM
from views.theme.tokens import CARD_GAP, DARK, LIGHT, PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.key_values import KeyValues
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

WIDTH, LABEL = 620, 160
THEMES = ((DARK, N_("Dark")), (LIGHT, N_("Light")), (SYSTEM, N_("As the system")))
LANGUAGES = (("en", "English"), ("zh_CN", "中文"))
ROWS = (("compact", N_("Compact")), ("normal", N_("Normal")), ("roomy", N_("Roomy")))
NORMAL, HIGH = "normal", "high"
CONTRASTS = ((NORMAL, N_("Normal")), (HIGH, N_("High")))


class SettingsPage(Page):
    """Choices take effect at once; whoever made the page applies and keeps them.

    Signals:
        theme_chosen: ``dark``, ``light`` or ``system``.
        language_chosen: ``en`` or ``zh_CN``.
        rows_chosen: how high rows of tables are: ``compact``, ``normal`` or ``roomy``.
        contrast_chosen: ``normal`` or ``high``.
        keys_wanted: show all keys.
    """

    theme_chosen = Signal(str)
    language_chosen = Signal(str)
    rows_chosen = Signal(str)
    contrast_chosen = Signal(str)
    keys_wanted = Signal()
    page_id = "settings"

    def __init__(
        self,
        context: PageContext,
        *,
        data_folder: str = "",
        settings: Settings | None = None,
        connections: Connections | None = None,
    ) -> None:
        super().__init__(N_("Settings"))
        self._context, self._folder, self._settings = context, data_folder, settings
        self._rows: list[tuple[Label, str]] = []
        self.theme_choice = Segmented(THEMES, N_("Theme"))
        self.language_choice = Segmented(LANGUAGES, N_("Language"))
        self.rows_choice = Segmented(ROWS, N_("Table rows"))
        self.contrast_choice = Segmented(CONTRASTS, N_("Contrast"))
        self.sample = SampleCard(context)
        self.people = PeopleCard(context)
        self.aside = AsideCard(context)
        self.connections = ConnectionsCard(connections) if connections is not None else None
        self.facts, self.rules = KeyValues(), KeyValues()
        self.where = Label("", "label", "text3", wrap=True)
        self.keys_button = Button(N_("Show all keys"), icon="ph.keyboard", hint="F1")
        self._open = Button(N_("Open the data folder"), kind="link")
        self._build()
        self.theme_choice.chosen.connect(self.theme_chosen)
        self.language_choice.chosen.connect(self.language_chosen)
        self.rows_choice.chosen.connect(self.rows_chosen)
        self.contrast_choice.chosen.connect(self.contrast_chosen)
        self.keys_button.clicked.connect(self.keys_wanted)
        self._open.clicked.connect(self._on_open)
        theme().changed.connect(self._show)
        context.feed.looked.connect(self._on_looked)
        self._show()

    def activate(self) -> None:
        """Show what is in use now."""
        self._show()
        self.people.refresh()
        self.aside.refresh()

    def refresh(self) -> None:
        """The same again."""
        self._show()
        self.people.refresh()
        self.aside.refresh()

    def set_acting(self, reason: str) -> None:
        """Looks can always be changed, the sample fleet and roles not."""
        self.sample.set_acting(reason)
        self.people.set_acting(reason)
        if self.isVisible():
            self._show()
            self.people.refresh()

    def retranslate(self) -> None:
        """Say everything again."""
        super().retranslate()
        self._show()

    # putting together

    def _build(self) -> None:
        pane = ScrollPane()
        pane.body.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN)
        appearance = Card(N_("Appearance"), divided=True)
        appearance.body.addLayout(self._row(N_("Theme"), self.theme_choice))
        for title, choice in (
            (N_("Contrast"), self.contrast_choice),
            (N_("Table rows"), self.rows_choice),
            (N_("Language"), self.language_choice),
        ):
            appearance.body.addWidget(line())
            appearance.body.addLayout(self._row(title, choice))
        keys = Card(N_("Keyboard"), divided=True)
        keys.body.addWidget(self.keys_button, 0, Qt.AlignmentFlag.AlignLeft)
        running = Card(N_("How tasks run"), divided=True)
        running.body.addWidget(self.rules)
        running.body.addWidget(self.where)
        if self._settings is None:  # to show it, before it stands in something, would open it as a window
            running.hide()
        about = Card(N_("About"), divided=True)
        about.body.addWidget(self.facts)
        about.body.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        self._open.setVisible(bool(self._folder))
        columns = QHBoxLayout()
        columns.setSpacing(CARD_GAP)
        first = (self.connections,) if self.connections is not None else ()
        for cards in ((*first, appearance, self.sample, keys), (self.people, self.aside, running, about)):
            column = QVBoxLayout()
            column.setSpacing(CARD_GAP)
            for card in cards:
                card.setMaximumWidth(WIDTH)
                column.addWidget(card)
            column.addStretch(1)
            columns.addLayout(column, 1)
        pane.body.addLayout(columns)
        pane.body.addStretch(1)
        self.body.addWidget(pane, 1)

    def _row(self, title: str, choice: QWidget) -> QVBoxLayout:
        label = Label("", "body", "text")
        label.setFixedWidth(LABEL)
        self._rows.append((label, title))
        row = QHBoxLayout()
        row.addWidget(label)
        row.addWidget(choice)
        row.addStretch(1)
        column = QVBoxLayout()
        column.addLayout(row)
        return column

    # what is shown

    def _show(self) -> None:
        for label, title in self._rows:
            label.setText(_(title))
        self.theme_choice.set_current(theme().mode)
        self.language_choice.set_current(i18n.language())
        self.rows_choice.set_current(theme().density)
        self.contrast_choice.set_current(HIGH if theme().high_contrast else NORMAL)
        self.sample.show_state()
        self.facts.set_rows(self._about())
        if self._settings is not None:
            self.rules.set_rows(rules.rows(self._settings, self._slots_here()))
            place = str(Path(self._folder) / "config.toml") if self._folder else "config.toml"
            self.where.setText(_("Set in {file}; a change takes effect with the next start.").format(file=place))
        self.set_summary(_("What is chosen under Appearance changes at once."))

    def _slots_here(self) -> int | None:
        """Slots of the worker in this program, as its heartbeat tells them."""
        name = self._context.local.name
        return next(
            (len(info.slots) for info in self._context.feed.latest.workers if name and info.worker == name), None
        )

    def _on_looked(self, _snapshot: object) -> None:
        if self._settings is not None and self.isVisible():
            self.rules.set_rows(rules.rows(self._settings, self._slots_here()))

    def _about(self) -> list[tuple[str, str]]:
        kind = _("everything on this machine") if self._context.embedded else _("a fleet with its own broker and Redis")
        operator = self._context.commands.operator
        rows = [
            (_("Version"), VERSION),
            (
                _("Profile"),
                " · ".join(
                    part for part in (self._context.profile, environment.tag(self._context.environment)) if part
                ),
            ),
            (_("Engine"), kind),
            (_("Operator"), f"{operator.who} · {_(WORDS[self._context.role])}"),
            (_("Data folder"), self._folder),
        ]
        return [(name, value) for name, value in rows if value]

    def _on_open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._folder))
