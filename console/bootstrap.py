"""Puts connection, pages and window together; the only constructor of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from shiboken6 import isValid

from console.appearance import Appearance
from console.connection.open_connection import OpenConnection
from console.connection.role_watch import RoleWatch
from console.main_window import MainWindow
from console.pages import page_specs
from console.shell_keys import ShellKeys
from console.tray import CHOICE, Silence, Tray
from console.watch import AlertWatch, PromiseWatch, QueueWatch, ScheduleWatch
from console.wiring import KeptColumns, ShellWiring, connect_overview
from services.desktop.registration import Registration
from services.i18n import _
from services.monitor.live import Snapshot
from views.context import PageContext
from views.dialogs.notice import dropped
from views.page import Page
from views.pages.overview.page import OverviewPage
from views.pages.overview.verbs import AttentionVerbs
from views.support import operation, safe
from views.support.connections import Connections
from views.support.feed import Feed
from views.support.instant import ticks
from views.support.keymap import keymap
from views.support.memory import Memory
from views.support.words import type_names
from views.widgets.toast import Toast, ToastAction, ToastSpec, lasting

if TYPE_CHECKING:
    from views.dialogs.new_task.dialog import NewTaskDialog

LINK = "fleetdeck:"
#: Excel's of before 2007: its reader says what helps
OLD_SHEET = ".xls"


class OpenWindow(msgspec.Struct):
    """The window over one connection."""

    window: MainWindow
    feed: Feed
    context: PageContext
    wiring: ShellWiring
    keys: ShellKeys
    another: Callable[
        [], OpenWindow
    ]  #: makes one more window over the same connection, with a page and filters of its own
    lead: Callable[[], None]  #: from now on has what a program has once: icon, notifications, the watch of the role


#: the page that a verb opens on what it is about
DOORS = {
    **dict.fromkeys(("triage", "triage_now", "triage_run"), "dead_letters"),
    **dict.fromkeys(("open_worker", "open_workers"), "workers"),
    **dict.fromkeys(("open_shop", "open_shops", "login_shops"), "shops"),
    **dict.fromkeys(("open_tasks", "open_task", "decide"), "tasks"),
    "open_schedule": "schedules",
    "open_promise": "promises",
}
#: of these, nothing to be about is everything
FILTERED = frozenset({"dead_letters", "schedules", "shops", "tasks"})


class _Doors:
    """What pages may ask of the window before there is one."""

    def __init__(self) -> None:
        self.window: MainWindow | None = None
        self.context: PageContext | None = None
        self._dialog: NewTaskDialog | None = None
        self._verbs: AttentionVerbs | None = None

    def connect(self, window: MainWindow, context: PageContext) -> None:
        """There is a window now."""
        self.window, self.context = window, context
        self._verbs = AttentionVerbs(context, window)

    def toast(self, spec: ToastSpec) -> None:
        """Show a message in the corner."""
        if self.window is not None:
            self.window.toasts.say(spec)

    def new_task(self, fields: Mapping[str, object]) -> None:
        """Open the New task dialog; there is one, and it keeps its draft until it is created or discarded."""
        if self.window is None or self.context is None:
            return
        if self._dialog is None:
            from views.dialogs.new_task.dialog import NewTaskDialog

            self._dialog = NewTaskDialog(self.context, dict(fields), self.window)
            self._dialog.tasks_wanted.connect(partial(self.window.open_page, "tasks"))
            self._dialog.set_acting(self.window.acting)
            self.window.acting_told.connect(self._dialog.set_acting)
        else:
            self._dialog.resume(dict(fields) or None)
        self._dialog.open()

    def sheet(self, path: Path, note: str) -> None:
        """Open the New task dialog on the rows of a file, with what there is to tell of it."""
        self.new_task({})
        if self._dialog is not None:
            self._dialog.take_file(path, note)

    def verb(self, verb: str, target: str) -> None:
        """Do what an attention item offers."""
        if self.window is None:
            return
        if verb in DOORS:
            page = DOORS[verb]
            self.window.open_page(page, target if page in FILTERED else target or None)
        elif self._verbs is not None:
            self._verbs.run(verb, target)


def _context(connection: OpenConnection, doors: _Doors, feed: Feed, memory: Memory, role: RoleWatch) -> PageContext:
    """What the pages are given."""
    return PageContext(
        tasks=connection.queries.tasks,
        causes=connection.queries.causes,
        schedules=connection.queries.schedules,
        queues=connection.queues,
        batches=connection.queries.batches,
        promises=connection.queries.promises,
        policies=connection.queries.types,
        promise_tried=connection.promise_tried,
        limits=connection.queries.shops,
        artifacts=connection.queries.artifacts,
        letters=connection.queries.letters,
        roles=connection.queries.roles,
        audit=connection.queries.audit,
        past=connection.queries.past,
        handover=connection.queries.handover,
        logs=connection.queries.logs,
        remote=connection.queries.remote,
        alerts=connection.queries.alerts,
        overview=connection.overview,
        commands=connection.commands,
        feed=feed,
        local=connection.local,
        logins=connection.logins,
        doctor=connection.doctor,
        sample=connection.sample,
        types=lambda: type_names.know(connection.types()),
        shops=connection.shops,
        toast=doors.toast,
        new_task=doors.new_task,
        way_out=doors.verb,
        profile=connection.settings.profile,
        role_now=lambda: role.role,
        environment=connection.settings.environment,
        embedded=connection.settings.embedded,
        dead_log=connection.engine.broker.capabilities.dead_log,
        memory=memory,
    )


class _Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What all windows over one connection have together."""

    connection: OpenConnection
    feed: Feed
    role: RoleWatch
    memory: Memory
    connections: Connections | None
    reopen: Callable[[], None] | None
    leave: Callable[[], object] | None
    silence: Silence
    appearance: Appearance
    chosen: Mapping[str, Callable[..., None]]  #: by name of a signal of the Settings page


def build(
    connection: OpenConnection,
    *,
    appearance: Appearance,
    on_settings: Callable[[Sequence[str]], None],
    memory: Memory,
    silence: Silence,
    reopen: Callable[[], None] | None = None,
    leave: Callable[[], object] | None = None,
    connections: Connections | None = None,
) -> OpenWindow:
    """Make the first window over an open connection; pages are made when first opened.

    ``leave`` ends the program, for who has several windows; ``silence`` of the program, for who shows several
    connections in turn.
    """
    ticks().follow(connection.live)
    shared = _Shared(
        connection=connection,
        feed=Feed(connection.live),
        role=RoleWatch(connection.commands.operator, connection.queries.roles),
        memory=memory,
        connections=connections,
        reopen=reopen,
        leave=leave,
        silence=silence,
        appearance=appearance,
        chosen={
            "settings_written": on_settings,
            "notifications_chosen": partial(memory.put, CHOICE),
        },
    )
    opened = _open(shared)
    keymap().follow(memory)  # now that it knows the pages
    opened.keys.tell_displaced()
    opened.lead()
    return opened


def _open(shared: _Shared) -> OpenWindow:
    """One window."""
    connection, feed, doors = shared.connection, shared.feed, _Doors()
    context = _context(connection, doors, feed, shared.memory, shared.role)

    def overview() -> Page:
        page = OverviewPage(context.overview, memory=context.memory, profile=context.profile)
        feed.looked.connect(page.note_news)
        feed.changed.connect(page.note_changes)
        connect_overview(page, window, doors.verb)
        return page

    def settings() -> Page:
        from views.pages.settings.page import SettingsPage

        page = SettingsPage(
            context,
            data_folder=str(connection.settings.home_path),
            settings=connection.settings,
            connections=shared.connections,
            reopen=shared.reopen,
            desktop=Registration(connection.settings.home_path, connection.settings.profile),
        )
        for name, choose in shared.appearance.choices.items():
            getattr(page, f"{name}_chosen").connect(choose)
        for signal, call in shared.chosen.items():
            getattr(page, signal).connect(call)
        page.keys_wanted.connect(lambda: keys.show_help())
        return page

    window = MainWindow(page_specs(context, {"overview": overview, "settings": settings}))
    doors.connect(window, context)
    KeptColumns(window, shared.memory)
    window.top_bar.create_requested.connect(lambda: doors.new_task({}))
    wiring = ShellWiring(
        window,
        feed,
        connection.commands.operator,
        shared.role,
        embedded=connection.settings.embedded,
        profile=connection.settings.profile,
        environment=connection.settings.environment,
        unverified=bool(connection.settings.unverified),
        addresses=connection.addresses,
        sample=lambda: connection.sample.loaded,
        running=connection.local.running,
        doubts=connection.engine.doubts,
    )
    alerts = AlertWatch(window, context.alerts)
    QueueWatch(window, context.queues)
    PromiseWatch(window, context.promises)
    ScheduleWatch(window, context.schedules)
    keys = ShellKeys(window, context, shared.connections, shared.appearance.choices)
    Dropping(window, doors.sheet, keys)

    def lead() -> None:
        shared.role.serve(window)
        alerts.speak_by(Tray(window, shared.memory, lambda: context.title, shared.leave, shared.silence))

    return OpenWindow(
        window=window,
        feed=feed,
        context=context,
        wiring=wiring,
        keys=keys,
        another=partial(_open, shared),
        lead=lead,
    )


class Dropping(QObject):
    """What is dropped on a window: a spreadsheet becomes tasks, a link opens what it shows.

    What a part of the window takes itself, as the New task dialog does, does not come here.
    """

    def __init__(self, window: MainWindow, sheet: Callable[[Path, str], None], keys: ShellKeys) -> None:
        """``sheet``: shows tasks made of a file, with a note."""
        super().__init__(window)
        self._window, self._sheet, self._keys = window, sheet, keys
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Take files and links."""
        if isinstance(event, QDragEnterEvent | QDropEvent) and (_files(event.mimeData()) or _link(event.mimeData())):
            # whatever was proposed: told that its file was moved, the desktop may delete that
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            if event.type() == QEvent.Type.Drop:
                self._take(_files(event.mimeData()), _link(event.mimeData()))
            return True
        return False

    def _take(self, files: Sequence[Path], link: str) -> None:
        # read when something is dropped: the window opens sooner
        from services.commands.sheet import table

        readable = (*table.ENDINGS, OLD_SHEET)
        sheets = [one for one in files if one.suffix.lower() in readable]
        if not files:
            self._keys.follow(link)
        elif reason := self._keys.barred():
            self._say(reason)
        elif not sheets:
            name = safe.one_line(files[0].name, 60)
            self._say(_("{file} is no spreadsheet: drop an Excel or CSV file here").format(file=name))
        else:
            self._sheet(sheets[0], dropped(len(files), sheets[0].name))

    def _say(self, words: str) -> None:
        self._window.toasts.show(ToastSpec(text=words, status="warning"))


def _files(data: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _link(data: QMimeData) -> str:
    words = data.text().strip()
    return words if words.startswith(LINK) else ""


def offer_sample(connection: OpenConnection, opened: OpenWindow) -> None:
    """Offer to load the sample fleet, in a toast that stays until somebody takes it, closes it, or brings
    something."""
    load = operation.Operation(opened.window)

    def say() -> ToastSpec:
        offer = ToastAction(text=_("Load the sample fleet"), call=partial(load.start, connection.sample.load))
        text = _("Nothing here yet. Import your shops, or look around with the sample fleet.")
        return ToastSpec(text=text, status="waiting", actions=(offer,), sticky=True)

    _close_once_used(opened.window.toasts.show(lasting(say)), connection, opened)


def _close_once_used(toast: Toast, connection: OpenConnection, opened: OpenWindow) -> None:
    """Take the offer back once there are shops or tasks: it would say "Nothing here yet" over somebody's own."""
    asking = operation.Operation(toast)

    def look(snapshot: Snapshot) -> None:
        if not isValid(toast):
            opened.feed.looked.disconnect(look)
        elif snapshot.counts.total:
            toast.close_now()
        elif not asking.busy:
            asking.start(connection.shops, lambda shops: toast.close_now() if shops else None, lambda _lost: None)

    opened.feed.looked.connect(look)
