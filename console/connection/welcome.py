"""The windows while nothing is open: of the first run, and of a connection that does not answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial

import psutil
from PySide6.QtCore import QPoint, Qt, QTimer

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
from views.support.connections import Connection
from views.support.keys import Shortcut
from views.support.operation import Operation
from views.widgets.toast import ToastSpec

GIGABYTE = 1e9
#: what somebody has put right is seen by then, without another start
LOOK_AGAIN_MS = 2_000


class _Holder(Page):
    """Carries the first run as the only page of a window."""

    page_id = "first_run"

    def __init__(self, inner: FirstRunPage) -> None:
        super().__init__(N_("Welcome"))
        self.header.hide()
        self.body.addWidget(inner, 1)


def make_welcome(settings: config.Settings) -> tuple[MainWindow, FirstRunPage]:
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
    _guide(window)
    return window, page


def make_unopened(
    connection: Connection, *, back_to: str, on_other: Callable[[QPoint], None]
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
    _guide(window)
    return window, page


def _guide(window: MainWindow) -> None:
    """Whoever has nothing open yet needs the guide most: its keys open it here, too."""

    def show() -> None:
        from views.dialogs.guide import GuideDialog  # read when it is first asked for: the window opens sooner

        dialog = GuideDialog(window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    for name in ("window.help", "window.guide"):
        Shortcut(name, window, show)


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
