"""The card of what this program is, and what a helper asks for: the diagnostics, without secrets."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import partial

import PySide6
from PySide6.QtCore import Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication

from services import i18n
from services.domain.fleet import environment
from services.domain.text import mask
from services.i18n import N_, _
from services.monitor.log_files import LogQueries
from services.settings import Settings
from services.settings.declared import differing
from services.version import VERSION
from views.context import PageContext
from views.pages.settings.cards import WORDS
from views.support.language import on_language_changed
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.key_values import KeyValues
from views.widgets.toast import ToastSpec, failure

#: warnings and errors of the log that go with it
LINES = 20


class AboutCard(Card):
    """Version, connection, person and folder."""

    def __init__(self, context: PageContext, folder: str, settings: Settings | None) -> None:
        super().__init__(N_("About"), divided=True)
        self._context, self._folder, self._settings = context, folder, settings
        self._asking = Operation(self)
        self.facts = KeyValues()
        self.copy_button = Button(N_("Copy diagnostics"), icon="ph.copy", tip=N_("What a helper asks for; no secrets"))
        self.open_button = Button(N_("Open the data folder"), kind="link")
        self.copy_button.clicked.connect(self.copy)
        self.open_button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder)))
        self.body.addWidget(self.facts)
        for button in (self.copy_button, self.open_button):
            self.body.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.open_button.setVisible(bool(folder))
        on_language_changed(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Say what is true now."""
        kind = _("everything on this machine") if self._context.embedded else _("a fleet with its own broker and Redis")
        operator = self._context.commands.operator
        tag = environment.tag(self._context.environment)
        rows = (
            (_("Version"), VERSION),
            (_("Profile"), " · ".join(part for part in (self._context.profile, tag) if part)),
            (_("Engine"), kind),
            (_("Operator"), f"{operator.who} · {_(WORDS[self._context.role])}"),
            (_("Data folder"), self._folder),
        )
        self.facts.set_rows([row for row in rows if row[1]])

    def copy(self) -> None:
        """Put the diagnostics into the clipboard, once the log was looked into."""
        self._asking.start(partial(_last_lines, self._context.logs), self._on_read, self._on_failed)

    def _on_read(self, lines: list[str]) -> None:
        QGuiApplication.clipboard().setText(self._text(lines))
        self._context.toast(ToastSpec(text=_("The diagnostics are in the clipboard"), status="succeeded"))

    def _on_failed(self, error: BaseException) -> None:
        self._context.toast(failure(error))

    def _text(self, lines: list[str]) -> str:
        """In English whatever the window speaks: it is read by whoever looks after the program."""
        parts = [
            *(f"{name}: {value}" for name, value in (*_program(), *self._connection())),
            "",
            "Settings that differ from their defaults:",
            *(f"  {line}" for line in (differing(self._settings) if self._settings is not None else ())),
            "",
            f"Last warnings and errors of the log ({len(lines)}):",
            *(f"  {line}" for line in lines),
        ]
        return mask.masked_text("\n".join(parts)) + "\n"

    def _connection(self) -> Iterable[tuple[str, str]]:
        snapshot = self._context.feed.latest
        broker, store, fleet = snapshot.broker, snapshot.store, snapshot.fleet()
        yield "Data folder", self._folder
        yield "Profile", f"{self._context.profile} {self._context.environment}".strip()
        yield "Engine", "embedded" if self._context.embedded else "RabbitMQ and Redis"
        yield "Role", self._context.role
        said = " ".join(part for part in ("answers" if broker.connected else "lost", broker.version) if part)
        yield "Broker", said
        yield "Store", "answers" if store.connected else "lost"
        yield "Workers", f"{fleet.living} of {fleet.known} alive, {fleet.busy} of {fleet.slots} slots busy"


def _program() -> Iterable[tuple[str, str]]:
    look, screens = theme(), QGuiApplication.screens()
    yield "Fleetdeck", VERSION
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "Qt", f"{qVersion()}, PySide {PySide6.__version__}, {QGuiApplication.platformName()}"
    yield "System", platform.platform()
    sizes = (f"{one.size().width()}x{one.size().height()} at {one.devicePixelRatio():g}" for one in screens)
    yield "Screens", ", ".join(sizes)
    yield "Look", f"{look.mode}, contrast {look.contrast}, text {look.text_size} %, rows {look.density}"
    yield "Language", i18n.language()


def _last_lines(logs: LogQueries) -> list[str]:
    found = logs.lines("level:warning", limit=LINES).rows
    return [f"{one.data['at']} {one.level} {one.program}: {one.text}" for one in found]
