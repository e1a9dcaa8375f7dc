"""The Settings page: theme and language, the sample fleet, and what this program is."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services import i18n
from services.i18n import N_, _
from services.version import VERSION
from views.context import PageContext
from views.page import Page
from views.support.look import Label, line
from views.support.operation import Operation
from views.theme import theme
from views.theme.theme import SYSTEM
from views.theme.tokens import CARD_GAP, DARK, LIGHT, PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.key_values import KeyValues
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec

WIDTH, LABEL = 760, 210
THEMES = ((DARK, N_("Dark")), (LIGHT, N_("Light")), (SYSTEM, N_("As the system")))
LANGUAGES = (("en", "English"), ("zh_CN", "中文"))


class SettingsPage(Page):
    """Choices take effect at once; whoever made the page applies and keeps them.

    Signals:
        theme_chosen: ``dark``, ``light`` or ``system``.
        language_chosen: ``en`` or ``zh_CN``.
    """

    theme_chosen = Signal(str)
    language_chosen = Signal(str)
    page_id = "settings"

    def __init__(self, context: PageContext, *, data_folder: str = "") -> None:
        super().__init__(N_("Settings"))
        self._context, self._folder = context, data_folder
        self._loading = Operation(self)
        self._rows: list[tuple[Label, str]] = []
        self.theme_choice = Segmented(THEMES, N_("Theme"))
        self.language_choice = Segmented(LANGUAGES, N_("Language"))
        self.sample_button = Button(N_("Load the sample fleet"), icon="ph.monitor-play")
        self.error = ErrorStrip()
        self._sample_text = Label("", "label", "text3", wrap=True)
        self._facts = KeyValues()
        self._open = Button(N_("Open the data folder"), kind="link")
        self._build()
        self.theme_choice.chosen.connect(self.theme_chosen)
        self.language_choice.chosen.connect(self.language_chosen)
        self.sample_button.clicked.connect(self._on_load)
        self.error.retry.connect(self._on_load)
        self._open.clicked.connect(self._on_open)
        theme().changed.connect(self._show)
        self._show()

    def activate(self) -> None:
        """Show what is in use now."""
        self._show()

    def refresh(self) -> None:
        """The same again."""
        self._show()

    def retranslate(self) -> None:
        """Say everything again."""
        super().retranslate()
        if hasattr(self, "_facts"):
            self._show()

    # putting together

    def _build(self) -> None:
        pane = ScrollPane()
        pane.body.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN)
        pane.body.setSpacing(CARD_GAP)
        appearance = Card(N_("Appearance"), divided=True)
        appearance.body.addLayout(self._row(N_("Theme"), self.theme_choice))
        appearance.body.addWidget(line())
        appearance.body.addLayout(self._row(N_("Language"), self.language_choice))
        sample = Card(N_("Sample fleet"), divided=True)
        sample.body.addWidget(self._sample_text)
        sample.body.addWidget(self.error)
        sample.body.addWidget(self.sample_button)
        about = Card(N_("About"), divided=True)
        about.body.addWidget(self._facts)
        about.body.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        self._open.setVisible(bool(self._folder))
        for card in (appearance, sample, about):
            card.setMaximumWidth(WIDTH)
            pane.body.addWidget(card)
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
        self._sample_text.setText(
            _("60 pretended shops on this computer, with tasks that come and go. Nothing leaves this machine.")
        )
        self._show_sample()
        self._facts.set_rows(self._about())
        self.set_summary(_("Changes take effect at once."))

    def _show_sample(self) -> None:
        reason = ""
        if self._loading.busy:
            reason = _("It is being loaded")
        elif self._context.sample.loaded:
            reason = _("It is loaded already")
        elif not self._context.embedded:
            reason = _("Only on this machine's own engine, not in a fleet that others use")
        self.sample_button.disable(reason)
        self.sample_button.set_source(N_("Loading") if self._loading.busy else N_("Load the sample fleet"))

    def _about(self) -> list[tuple[str, str]]:
        kind = _("everything on this machine") if self._context.embedded else _("a fleet with its own broker and Redis")
        rows = [
            (_("Version"), VERSION),
            (_("Profile"), " · ".join(part for part in (self._context.profile, self._context.environment) if part)),
            (_("Engine"), kind),
            (_("Operator"), f"{self._context.commands.operator.who} · {self._context.commands.operator.role}"),
            (_("Data folder"), self._folder),
        ]
        return [(name, value) for name, value in rows if value]

    # the sample

    def _on_load(self) -> None:
        if self._loading.busy:
            return
        self.error.clear()
        self._loading.start(self._context.sample.load, self._on_loaded, self._on_failed)
        self._show_sample()

    def _on_loaded(self, _none: object) -> None:
        self._show_sample()
        self._context.toast(
            ToastSpec(text=_("The sample fleet is loaded."), detail=_("Its shops and tasks are on every page."))
        )

    def _on_failed(self, error: BaseException) -> None:
        self._show_sample()
        self.error.show_error(str(error))

    def _on_open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._folder))
