"""The Settings page: how everything looks, the sample fleet, the rules in force, and what this program is."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import PySide6
from PySide6.QtCore import Qt, QUrl, Signal, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSystemTrayIcon, QVBoxLayout, QWidget
from shiboken6 import isValid

from services import i18n
from services.called import ROLE_WORDS
from services.desktop.registration import Registration
from services.domain.fleet import environment
from services.domain.fleet.role import ADMIN
from services.domain.text import mask
from services.i18n import N_, _, ngettext
from services.monitor.log_files import LogQueries
from services.settings import Settings
from services.settings.declared import differing
from services.settings.words import FOLLOWED, effect
from services.spans import HOUR, MINUTE
from services.version import VERSION
from views.context import PageContext
from views.dialogs.keys import KeysDialog, open_keys
from views.page import Page
from views.pages.settings.cards import LABEL, AsideCard, DesktopCard, PeopleCard, SampleCard
from views.pages.settings.editor import ConfigDialog
from views.support import shown, text
from views.support.connections import Connections
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label, line
from views.support.operation import Operation
from views.support.throttle import turns
from views.support.words.shop import LIMITS_OF
from views.theme import theme
from views.theme.theme import HIGH, NORMAL, SYSTEM
from views.theme.tokens import CARD_GAP, DARK, LIGHT, PAGE_MARGIN, TEXT_SIZES
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.connection.connection_row import ConnectionRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.toast import ToastAction, ToastSpec, failure, lasting

#: warnings and errors of the log that go with it
LINES = 20


class ConnectionsCard(Card):
    """Opens, adds, edits and removes."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(N_("Connections"), divided=True)
        self._connections = connections
        self.rows: list[ConnectionRow] = []
        self.add_button = Button(N_("Add connection…"), icon="ph.plus")
        self.add_button.clicked.connect(lambda: connections.add())
        self.body.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        connections.changed.connect(self.show_state)
        on_language_changed(self.show_state)
        theme().changed.connect(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Show the list as it is now."""
        for row in self.rows:
            self.body.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [ConnectionRow(one, number) for number, one in enumerate(self._connections.rows(), 1)]
        for place, row in enumerate(self.rows):
            row.chosen.connect(self._connections.choose)
            row.beside_wanted.connect(self._connections.open_beside)
            row.edit_wanted.connect(self._connections.edit)
            row.remove_wanted.connect(self._connections.remove)
            self.body.insertWidget(place, row)


def rule_rows(settings: Settings, slots: int | None = None, next_slots: int = 0) -> list[tuple[str, str]]:
    """Name and value of each rule; ``slots``: of the worker that runs here now, if one does; ``next_slots``: of one
    that starts now, where that was set since the settings were read.
    """
    worker = settings.worker
    return [
        (_("Failed attempts"), _retries(settings)),
        (_("Silent worker"), _("its tasks go to others after {span}").format(span=_span(settings.lease.seconds))),
        (_("Slots here"), _slots(next_slots or worker.slots, slots)),
        (_("Lanes here"), text.listed(shown.lane_word(lane) for lane in worker.lanes)),
        (_("Order in a lane"), _order(settings)),
        (_("When stopped"), _("running tasks get {span} to finish").format(span=_span(worker.grace_seconds))),
        (_("Acts on many"), _confirms(settings)),
    ]


def _confirms(settings: Settings) -> str:
    return _("their number is typed above {production} tasks in production, above {other} elsewhere").format(
        production=text.count(settings.confirm.production), other=text.count(settings.confirm.other)
    )


def _slots(wished: int, now: int | None) -> str:
    """What the worker here has, as its card says; what is set only where that differs or none runs."""
    if now is None or now == wished:
        return text.count(wished)
    return _("{now} now, {n} when it starts again").format(now=text.count(now), n=text.count(wished))


def _order(settings: Settings) -> str:
    """Oldest first, but for lanes that the embedded engine was told to turn round; RabbitMQ cannot."""
    if not settings.embedded:
        return _("oldest first; RabbitMQ cannot do otherwise")
    turned = settings.broker.lifo_lanes
    if not turned:
        return _("oldest first; broker.lifo_lanes turns a lane round")
    return _("youngest first in {lanes}, oldest first elsewhere").format(
        lanes=text.listed(shown.lane_word(lane) for lane in turned)
    )


def _retries(settings: Settings) -> str:
    """How often is the policy of each type; what is set here holds where that says nothing."""
    most, delays = settings.retry.max_retries, settings.delays
    if not most:
        return _("as often as its type says; else a dead letter at once")
    spans = text.listed(map(_span, delays[:DELAYS])) + (" …" if len(delays) > DELAYS else "")
    said = ngettext(
        "again after {spans}; as often as its type says, else {n} time",
        "again after {spans}; as often as its type says, else {n} times",
        most,
    )
    return said.format(spans=spans, n=most)


def _span(seconds: float) -> str:
    span = timedelta(seconds=seconds)
    # whole minutes and hours are set as such; "1 m 00 s" would look measured
    even = (seconds >= HOUR and not seconds % HOUR) or (seconds < HOUR and not seconds % MINUTE)
    return text.coarse(span) if even else text.seconds(span)


WIDTH = 620
#: delays of retries that are named
DELAYS = 5
#: a page of this width has room for two columns in which nobody's name is cut to a few letters
BESIDE = 1000
THEMES = ((DARK, N_("Dark")), (LIGHT, N_("Light")), (SYSTEM, N_("As the system")))
LANGUAGES = (("en", "English"), ("zh_CN", "中文"))
ROWS = (("compact", N_("Compact")), ("normal", N_("Normal")), ("roomy", N_("Roomy")))
#: whether the desktop shows a notification of a new incident; the tray of the window keeps the choice
NOTIFICATIONS, ON, OFF = "notifications", "on", "off"
CHOICES = ((ON, N_("On")), (OFF, N_("Off")))
CONTRASTS = ((NORMAL, N_("Normal")), (HIGH, N_("High")), (SYSTEM, N_("As the system")))
SIZES = tuple((str(percent), f"{percent} %") for percent in TEXT_SIZES)


class SettingsPage(Page):
    """Choices take effect at once; whoever made the page applies and keeps them.

    Signals:
        theme_chosen: ``dark``, ``light`` or ``system``.
        language_chosen: ``en`` or ``zh_CN``.
        rows_chosen: how high rows of tables are: ``compact``, ``normal`` or ``roomy``.
        contrast_chosen: ``normal``, ``high`` or ``system``.
        text_chosen: size of all text in percent.
        notifications_chosen: ``on`` or ``off``, of the desktop.
        settings_written: names of settings that now stand otherwise in config.toml.
        keys_wanted: show all keys.
    """

    theme_chosen = Signal(str)
    language_chosen = Signal(str)
    rows_chosen = Signal(str)
    contrast_chosen = Signal(str)
    text_chosen = Signal(int)
    notifications_chosen = Signal(str)
    settings_written = Signal(object)
    keys_wanted = Signal()
    page_id = "settings"

    def __init__(
        self,
        context: PageContext,
        *,
        data_folder: str = "",
        settings: Settings | None = None,
        connections: Connections | None = None,
        reopen: Callable[[], None] | None = None,
        desktop: Registration | None = None,
    ) -> None:
        """``reopen``: opens the connection anew with what config.toml says now, where that can be done."""
        super().__init__(N_("Settings"))
        self._reopen = reopen
        self._context, self._folder, self._settings = context, data_folder, settings
        self._rows: list[tuple[Label, str]] = []
        self._forbidden = ""
        self._columns: QBoxLayout | None = None
        self.make(
            partial(self._make_parts, connections, desktop), self._build, self._connect, self._show, self._lay_out
        )

    # putting together

    def _make_parts(self, connections: Connections | None, desktop: Registration | None) -> Iterator[None]:
        self.theme_choice = Segmented(THEMES, N_("Theme"))
        self.language_choice = Segmented(LANGUAGES, N_("Language"))
        self.rows_choice = Segmented(ROWS, N_("Table rows"))
        self.contrast_choice = Segmented(CONTRASTS, N_("Contrast"))
        self.text_choice = Segmented(SIZES, N_("Text size"))
        self.notifications_choice = Segmented(CHOICES, N_("Desktop notifications"))
        self.no_notifications = Label("", "label", "text3", wrap=True)
        yield
        self.sample = SampleCard(self._context)
        yield
        self.people = PeopleCard(self._context)
        yield
        self.aside = AsideCard(self._context)
        yield
        self.desktop = DesktopCard(desktop) if desktop is not None else None
        self.connections = ConnectionsCard(connections) if connections is not None else None
        yield
        self.rules, self.about = KeyValues(), AboutCard(self._context, self._folder, self._settings)
        self.where = Label("", "label", "text3", wrap=True)
        self.edit_button = Button(N_("Edit config.toml…"), icon="ph.pencil-simple")
        self.edit_button.clicked.connect(self.edit)
        self.limits_button = Button(
            N_("Limits…"), icon="ph.gauge", tip=N_("How much each platform, type and shop may do")
        )
        self.limits_button.clicked.connect(lambda: self.navigate.emit("shops", LIMITS_OF))
        self.keys_button = Button(N_("Show all keys"), icon="ph.keyboard", hint="window.keys")
        self.change_keys_button = Button(N_("Keys…"), icon="ph.pencil-simple")

    def _connect(self) -> None:
        self.theme_choice.chosen.connect(self.theme_chosen)
        self.language_choice.chosen.connect(self.language_chosen)
        self.rows_choice.chosen.connect(self.rows_chosen)
        self.contrast_choice.chosen.connect(self.contrast_chosen)
        self.text_choice.chosen.connect(lambda percent: self.text_chosen.emit(int(percent)))
        self.notifications_choice.chosen.connect(self.notifications_chosen)
        self.keys_button.clicked.connect(self.keys_wanted)
        self.change_keys_button.clicked.connect(self.change_keys)
        theme().changed.connect(self._show)
        theme().changed.connect(self._share)
        self._context.feed.looked.connect(self._on_looked)

    def activate(self) -> None:
        """Show what is in use now, once all of it has its place: both in one turn keep a click waiting for long."""
        turns().soon(self._come)

    def _come(self) -> None:
        if isValid(self) and self.isVisible():
            self.refresh()

    def refresh(self) -> None:
        """The same again."""
        self._show()
        self.people.refresh()
        self.aside.refresh()
        if self.desktop is not None:
            self.desktop.refresh()

    def set_acting(self, reason: str) -> None:
        """Looks can always be changed, the sample fleet and roles not."""
        self._forbidden = reason
        self.sample.set_acting(reason)
        self.people.set_acting(reason)
        if self.isVisible():
            self._show()
            self.people.refresh()

    def edit(self) -> ConfigDialog:
        """Show every setting of this machine, to be changed by an admin."""
        reason = self._forbidden or ("" if self._context.role == ADMIN else _("Only an admin may change settings."))
        dialog = ConfigDialog(self._context, reason, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self._on_written)
        dialog.open()
        return dialog

    def change_keys(self) -> KeysDialog:
        """Show the keys of all commands, to be changed."""
        return open_keys(self.window())

    def _on_written(self, names: Sequence[str]) -> None:
        # nothing else opens the connection that is open already: what offers it stays until a person has read it
        reopen = self._reopen if set(names) - FOLLOWED else None

        def say() -> ToastSpec:
            actions = (ToastAction(text=_("Open the connection anew"), call=reopen),) if reopen is not None else ()
            words = ngettext("{n} setting is written.", "{n} settings are written.", len(names))
            when = dict.fromkeys(_(effect(name)).replace("`", "") for name in names)
            return ToastSpec(
                text=words.format(n=text.count(len(names))),
                detail=_("Takes effect {when}").format(when="; ".join(when)),
                status="succeeded",
                actions=actions,
                sticky=bool(actions),
                key="settings.written",
            )

        self._context.toast(lasting(say))
        self.settings_written.emit(names)

    def retranslate(self) -> None:
        super().retranslate()
        self._show()

    def _build(self) -> Iterator[None]:
        pane = ScrollPane()
        pane.body.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN)
        self.body.addWidget(pane, 1)
        appearance = Card(N_("Appearance"), divided=True)
        appearance.body.addLayout(self._row(N_("Theme"), self.theme_choice))
        for title, choice in (
            (N_("Contrast"), self.contrast_choice),
            (N_("Text size"), self.text_choice),
            (N_("Table rows"), self.rows_choice),
            (N_("Language"), self.language_choice),
            (N_("Desktop notifications"), self.notifications_choice),
        ):
            appearance.body.addWidget(line())
            appearance.body.addLayout(self._row(title, choice))
        appearance.body.addWidget(self.no_notifications)
        yield
        keys = Card(N_("Keyboard"), divided=True)
        keys.body.addLayout(in_row(self.keys_button, self.change_keys_button, STRETCH))
        running = Card(N_("How tasks run"), divided=True)
        put(running.body, self.rules, self.where)
        running.body.addLayout(in_row(self.edit_button, self.limits_button, STRETCH))
        if self._settings is None:  # to show it, before it stands in something, would open it as a window
            running.hide()
        both = QWidget()
        both.setMaximumWidth(2 * WIDTH + CARD_GAP)
        beside = QHBoxLayout()  # where there is more room they stand below the title, not in the middle
        beside.addWidget(both, 1)
        beside.addStretch(0)
        pane.body.addLayout(beside)
        pane.body.addStretch(1)
        columns = self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, both)
        columns.setContentsMargins(0, 0, 0, 0)
        columns.setSpacing(CARD_GAP)
        first = (self.connections,) if self.connections is not None else ()
        second = (self.desktop,) if self.desktop is not None else ()
        for cards in ((*first, appearance, *second, self.sample, keys), (self.people, self.aside, running, self.about)):
            column = in_column(spacing=CARD_GAP)
            columns.addLayout(column, 1)
            for card in cards:
                column.addWidget(card)
                yield
            column.addStretch(1)

    def _lay_out(self) -> None:
        """Let who opens it wait for no more than the picture."""
        room = self.parentWidget()
        if room is not None:
            self.resize(room.size())
        for part in (self, *self.findChildren(QWidget)):
            layout = part.layout()
            if layout is not None:
                layout.activate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put one column below the other where people would be cut to a letter beside their roles."""
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        if self._columns is None:
            return
        beside = self.width() >= BESIDE * theme().growth
        self._columns.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)

    def _row(self, title: str, choice: QWidget) -> QVBoxLayout:
        label = Label("", "body", "text")
        self._rows.append((label, title))
        return in_column(in_row(label, choice, STRETCH))

    # what is shown

    def _show(self) -> None:
        for label, title in self._rows:
            label.setText(_(title))
            label.setFixedWidth(round(LABEL * theme().growth))
        self.theme_choice.set_current(theme().mode)
        self.language_choice.set_current(i18n.language())
        self.rows_choice.set_current(theme().density)
        self.contrast_choice.set_current(theme().contrast)
        self.text_choice.set_current(str(theme().text_size))
        wanted = self._context.memory.get(NOTIFICATIONS, ON)
        self.notifications_choice.set_current(OFF if wanted == OFF else ON)
        self.no_notifications.setText(
            _("This desktop shows none: it has no tray. Incidents are told in the window, and by channels of Alerts.")
        )
        self.no_notifications.setHidden(QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages())
        self.sample.show_state()
        self.about.show_state()
        if self._settings is not None:
            self.rules.set_rows(rule_rows(self._settings, self._slots_here(), self._context.local.slots))
            place = str(Path(self._folder) / "config.toml") if self._folder else "config.toml"
            self.where.setText(
                _("Set in {file}; each setting tells when a change of it takes effect.").format(file=place)
            )
        self.set_summary(_("What is chosen under Appearance changes at once."))

    def _slots_here(self) -> int | None:
        """Slots of the worker in this program, as its heartbeat tells them."""
        name = self._context.local.name
        return next(
            (len(info.slots) for info in self._context.feed.latest.workers if name and info.worker == name), None
        )

    def _on_looked(self, _snapshot: object) -> None:
        if self._settings is not None and self.isVisible():
            self.rules.set_rows(rule_rows(self._settings, self._slots_here(), self._context.local.slots))


class AboutCard(Card):
    """Version, connection, person and folder."""

    def __init__(self, context: PageContext, folder: str, settings: Settings | None) -> None:
        super().__init__(N_("About"), divided=True)
        self._context, self._folder, self._settings = context, folder, settings
        self._asking = Operation(self)
        self.facts = KeyValues()
        self.copy_button = Button(N_("Copy diagnostics"), icon="ph.copy", tip=N_("What support asks for; no secrets"))
        self.open_button = Button(N_("Open the data folder"), kind="link")
        self.copy_button.clicked.connect(self.copy)
        self.open_button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder)))
        self.body.addWidget(self.facts)
        for button in (self.copy_button, self.open_button):
            self.body.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.open_button.setVisible(bool(folder))
        say_in_language(self.show_state)

    def show_state(self) -> None:
        """Say what is true now."""
        kind = _("everything on this machine") if self._context.embedded else _("a fleet with its own broker and Redis")
        operator = self._context.commands.operator
        tag = environment.tag(self._context.environment)
        rows = (
            (_("Version"), VERSION),
            (_("Profile"), " · ".join(part for part in (self._context.title, tag) if part)),
            (_("Engine"), kind),
            (_("Operator"), f"{operator.who} · {_(ROLE_WORDS[self._context.role])}"),
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
    """The newest first; of equal ones the newest, and how often it was said among those that were looked at."""
    said: dict[tuple[str, str, str], list[str]] = {}
    for one in logs.lines("level:warning", limit=10 * LINES).rows:
        said.setdefault((one.level, one.program, one.text), []).append(one.data["at"])
    return [
        f"{at[0]} {level} {program}: {words}" + (f" ({len(at)} times since {at[-1]})" if len(at) > 1 else "")
        for (level, program, words), at in list(said.items())[:LINES]
    ]
