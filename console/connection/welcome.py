"""The windows while nothing is open: of the first run, and of a connection that does not answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial

import psutil
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QDialog

from console.appearance import Appearance
from console.main_window import MainWindow
from console.navigation import PageSpec
from services import assembly
from services import settings as config
from services.domain.errors import ConsoleError
from services.i18n import N_, _
from services.messages import told
from views.page import Page
from views.pages.connection.page import ConnectionPage
from views.pages.first_run.checks import ERROR, OK, WARNING, Check
from views.pages.first_run.page import FirstRunPage
from views.shell.palette import Palette
from views.shell.palette_rows import Entry
from views.support.connections import Connection
from views.support.keys import Shortcut
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.toast import ToastSpec

GIGABYTE = 1e9
#: what somebody has put right is seen by then, without another start
LOOK_AGAIN_MS = 2_000
#: commands that the palette shows
MOST = 20


class _Holder(Page):
    """Carries the first run as the only page of a window."""

    page_id = "first_run"

    def __init__(self, inner: FirstRunPage) -> None:
        super().__init__(N_("Welcome"))
        self.header.hide()
        self.body.addWidget(inner, 1)


def make_welcome(settings: config.Settings, looks: Appearance) -> tuple[MainWindow, FirstRunPage]:
    """The window and the page whose signals say what was chosen."""
    page = FirstRunPage()
    spec = PageSpec(id="first_run", title=N_("Welcome"), icon="ph.laptop", factory=lambda: _Holder(page))
    window = MainWindow((spec,))
    window.status_bar.hide()  # mode, rates and rights of nothing would all be untrue
    window.top_bar.show_freshness(None)

    def say() -> None:
        page.show_checks(pre_checks(settings))
        window.top_bar.show_profile(_("Choose a connection"))
        window.top_bar.set_can_create(_("Choose first where tasks run"))

    page.language_changed.connect(say)
    say()
    looking = Operation(page)  # a folder on a server that does not answer holds up nobody

    def look() -> None:
        if not looking.busy:
            looking.start(partial(pre_checks, settings), page.show_checks)

    again = QTimer(page, interval=LOOK_AGAIN_MS)
    again.timeout.connect(look)
    again.start()
    window.open_page("first_run")
    _serve(window, looks)
    return window, page


def make_unopened(
    connection: Connection, *, back_to: str, on_other: Callable[[QPoint], None], looks: Appearance
) -> tuple[MainWindow, ConnectionPage]:
    """The window of a connection that is not open, and the page that says why. ``on_other`` shows the list of others
    at a global position.
    """
    page = ConnectionPage(connection, back_to=back_to)
    spec = PageSpec(id="connection", title=N_("Connection"), icon="ph.globe", factory=lambda: page)
    window = MainWindow((spec,))
    window.status_bar.hide()
    window.top_bar.show_freshness(None)
    window.top_bar.show_profile(
        connection.title, connection.tag, local=connection.local, production=connection.production
    )
    window.top_bar.set_can_create(_("Not while the connection is lost"))
    window.setWindowTitle(" · ".join(part for part in (connection.title, connection.tag, "Fleetdeck") if part))
    words = N_("Copied: send it to whoever can help")
    page.copied.connect(lambda: window.toasts.show(ToastSpec(text=_(words), status="healthy", key="copied")))
    page.other_wanted.connect(lambda: on_other(page.other_link.mapToGlobal(page.other_link.rect().bottomLeft())))
    window.open_page("connection")

    def commands() -> list[Entry]:
        buttons = (
            ("again", page.again_button, "ph.arrow-clockwise", "window.refresh"),
            ("copy", page.copy_button, "ph.copy", ""),
            ("back", page.back_link, "ph.arrow-left", ""),
            ("edit", page.edit_link if page.edit_button.isHidden() else page.edit_button, "ph.pencil-simple", ""),
            ("other", page.other_link, "ph.globe", ""),
        )
        return [_pressed(key, one, icon, keys) for key, one, icon, keys in buttons if not one.isHidden()]

    _serve(window, looks, commands)
    return window, page


class _Commands:
    """What the palette of a window finds that has no connection."""

    def __init__(self, entries: Callable[[], list[Entry]], looks: Callable[[], list[Entry]]) -> None:
        """``looks``: found by typing alone."""
        self._entries, self._looks = entries, looks

    def find(self, query: str, _scope: str) -> list[tuple[str, list[Entry]]]:
        from console.palette import also_called, best  # read when it is first asked for: the window opens sooner

        looks = self._looks if query else list
        return [(_("Commands"), best(query, also_called(lambda: [*self._entries(), *looks()]), MOST))]

    def look_up(self, _query: str, _scope: str) -> None:
        """No server is there to be asked."""

    def want_no_more(self) -> None:
        """Nothing is asked for."""

    def used(self, _entry: Entry) -> None:
        """Each is one of few."""


def _serve(window: MainWindow, looks: Appearance, commands: Callable[[], list[Entry]] = list) -> None:
    """The keys that help also where nothing is open: guide, all keys, what can be done here, and how it looks."""

    def show_guide() -> None:
        from views.dialogs.guide import GuideDialog

        _over(GuideDialog(window))

    def show_keys() -> None:
        from views.shell.key_help import KeyHelp

        _over(KeyHelp(window))

    own = (
        ("window.guide", N_("Operator's guide"), "ph.book-open", show_guide),
        ("window.keys", N_("All keys"), "ph.keyboard", show_keys),
        ("window.quit", N_("Quit Fleetdeck"), "ph.sign-out", window.close),
    )

    def choices() -> Entry:
        then, name = partial(_choices, looks), "window.settings"
        return Entry(key=name, kind="command", words=_("Settings"), icon="ph.gear-six", keys=name, then=then)

    def entries() -> list[Entry]:
        shown = [
            Entry(key=key, kind="command", words=_(source), icon=icon, keys=key, run=run)
            for key, source, icon, run in own
        ]
        return [*commands(), choices(), *shown]

    palette = Palette(_Commands(entries, partial(_choices, looks)), window, commands_only=True)
    window.closing.connect(palette.hide)

    for name, slot in (
        ("window.help", show_guide),
        ("window.guide", show_guide),
        ("window.keys", show_keys),
        ("window.search", palette.ask),
        ("window.settings", lambda: palette.ask_next(choices())),
        ("window.quit", window.close),
    ):
        Shortcut(name, window, slot)


def _over(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def _choices(looks: Appearance) -> list[Entry]:
    """Of all settings those that hold for every connection."""
    from console.palette import look_entries  # read when it is first asked for: the window opens sooner

    return look_entries(looks.choices)


def _pressed(key: str, button: Button, icon: str, keys: str = "") -> Entry:
    """What a button of the page does."""
    reason = "" if button.isEnabled() else button.toolTip()
    return Entry(key=key, kind="command", words=button.text(), icon=icon, keys=keys, reason=reason, run=button.click)


def pre_checks(settings: config.Settings) -> list[Check]:
    """What was looked at before a start on this machine."""
    home = settings.home_path
    anchor = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(anchor).free / GIGABYTE
    memory = psutil.virtual_memory().available / GIGABYTE
    return [
        _engine(settings),
        Check(name=N_("Disk space"), text=_("{n} GB free").format(n=f"{free:.0f}"), state=OK if free > 1 else WARNING),
        Check(name=N_("Memory"), text=_("{n} GB free").format(n=f"{memory:.0f}"), state=OK if memory > 1 else WARNING),
    ]


def _engine(settings: config.Settings) -> Check:
    """Whether its file can be kept in the home."""
    try:
        assembly.refuse_place(settings)
    except ConsoleError as exc:
        return Check(name=N_("Local engine"), text=_("not possible"), state=ERROR, remedy=told(exc))
    return Check(name=N_("Local engine"), text=_("ready"))
