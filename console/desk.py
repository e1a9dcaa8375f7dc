"""The life of the console: first run or a known connection, the window, a picture if one was asked for, and the end."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
from pathlib import Path

import msgspec
import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from console import bootstrap
from console.main_window import MainWindow
from console.navigation import PageSpec
from console.session import Session
from console.state import ConsoleState
from services import assembly, i18n
from services import settings as config
from services.domain.errors import ConsoleError
from services.entrypoints.context import ConsoleRequest
from services.i18n import N_, _
from views.pages.first_run.page import FirstRunPage
from views.support import operation, shown
from views.theme import theme
from views.widgets.toast import ToastSpec

log = logging.getLogger(__name__)
SETTLE_S = 4.0
CLOSE_GRACE_S = 5.0


class Console:
    """Opened once; ``main`` returns when the window was closed and everything has ended."""

    def __init__(self, app: QApplication, request: ConsoleRequest) -> None:
        self._app, self._request = app, request
        self._settings = request.settings
        self._state = ConsoleState(request.settings.home_path)
        self._ended = asyncio.Event()
        self._session: Session | None = None
        self._desk: bootstrap.Desk | None = None
        self._welcome: MainWindow | None = None
        self.clean = True

    async def main(self) -> None:
        """Run until the end."""
        self._dress()
        operation.configure(self._notify)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._ended.set())
        # a Python signal handler runs only when Python does; Qt alone could sleep for long
        beat = QTimer(interval=200)
        beat.timeout.connect(lambda: None)
        beat.start()
        if self._is_first_run():
            self._show_welcome()
        else:
            await self._open(self._settings)
        if self._request.screenshot:
            await self._picture(self._request.screenshot)
            self._ended.set()
        elif self._request.seconds:
            QTimer.singleShot(round(self._request.seconds * 1000), self._ended.set)
        await self._ended.wait()
        await self._close()

    def _dress(self) -> None:
        language = str(self._state.get("language") or self._settings.language or _system_language())
        i18n.set_language(language if language in ("en", "zh_CN") else "en")
        shown.set_zone(self._settings.time_zone)
        theme().set_mode(str(self._state.get("theme") or self._settings.theme))
        theme().install(self._app)

    def _is_first_run(self) -> bool:
        chosen = self._state.get("chosen")
        if not self._request.first_run or chosen or not self._settings.embedded or self._settings.profile != "local":
            return False
        return not self._settings.database.exists()

    def _show_welcome(self) -> None:
        page = FirstRunPage()
        page.run_here.connect(self._on_run_here)
        page.connect_fleet.connect(self._on_connect)
        page.test_connection.connect(self._on_test)
        page.sample.connect(self._on_sample)
        page.language_wanted.connect(self._set_language)
        page.show_checks(_checks(self._settings))
        spec = PageSpec(id="first_run", title=N_("Welcome"), icon="ph.laptop", factory=lambda: page)
        self._welcome = MainWindow((spec,))
        self._welcome.top_bar.show_profile(_("Choose a connection"))
        self._welcome.top_bar.show_freshness(None)
        self._welcome.top_bar.set_can_create(_("Choose first where tasks run"))
        self._welcome.closing.connect(self._ended.set)
        self._welcome_page = page
        self._welcome.open_page("first_run")
        self._welcome.resize(*self._request.size)
        self._welcome.show()

    def _on_run_here(self, slots: int) -> None:
        worker = msgspec.structs.replace(self._settings.worker, slots=slots)
        self._state.set(chosen="local", slots=slots)
        self._go(msgspec.structs.replace(self._settings, worker=worker), work=True)

    def _on_sample(self) -> None:
        self._state.set(chosen="local")
        self._go(self._settings, sample=True)

    def _on_connect(self, broker: str, redis: str) -> None:
        self._go(_fleet(self._settings, broker, redis))

    def _on_test(self, broker: str, redis: str) -> None:
        asyncio.ensure_future(self._test(broker, redis))  # noqa: RUF006 - ends by itself, errors are shown

    async def _test(self, broker: str, redis: str) -> None:
        fits = await asyncio.to_thread(assembly.probe, broker, redis)
        self._welcome_page.show_test(*fits)

    def _go(self, settings: config.Settings, *, sample: bool = False, work: bool = False) -> None:
        asyncio.ensure_future(self._open(settings, sample=sample, work=work))  # noqa: RUF006 - errors are shown

    async def _open(self, settings: config.Settings, *, sample: bool = False, work: bool = False) -> None:
        try:
            session = await asyncio.to_thread(Session, settings)
        except ConsoleError as exc:
            await self._cannot_open(exc)
            return
        self._session, self._settings = session, settings
        desk = bootstrap.build(session, on_theme=self._set_theme, on_language=self._set_language)
        self._desk = desk
        desk.window.closing.connect(self._ended.set)
        desk.window.resize(*self._request.size)
        await asyncio.to_thread(session.start)
        desk.window.restore_state(dict(self._state.get("window", {}) or {}))
        desk.window.open_page(self._request.page or desk.window.current or "overview")
        desk.window.show()
        if self._welcome is not None:
            self._welcome.closing.disconnect(self._ended.set)
            self._welcome.close()
            self._welcome = None
        await self._begin_work(session, desk, sample=sample, work=work)

    async def _begin_work(self, session: Session, desk: bootstrap.Desk, *, sample: bool, work: bool) -> None:
        try:
            if sample:
                await asyncio.to_thread(session.load)
            elif (work or self._state.get("work_here")) and not session.local.name:
                await asyncio.to_thread(session.local.start, session.settings.worker.slots)
        except ConsoleError as exc:
            desk.window.toasts.show(ToastSpec(text=_("That did not work."), detail=str(exc), status="error"))

    async def _cannot_open(self, error: ConsoleError) -> None:
        log.error("cannot open: %s", error)
        if self._welcome is None:
            self._show_welcome()
        assert self._welcome is not None
        self._welcome.toasts.show(
            ToastSpec(text=_("Cannot connect."), detail=str(error), status="error", copy=str(error))
        )

    async def _picture(self, target: str) -> None:
        await asyncio.sleep(self._request.seconds or SETTLE_S)
        window = self._desk.window if self._desk is not None else self._welcome
        if window is None:
            self.clean = False
            return
        path = Path(target)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.clean = bool(window.grab().save(str(path)))

    async def _close(self) -> None:
        if self._desk is not None:
            self._state.set(window=self._desk.window.save_state())
            self._desk.window.hide()
        operation.shut_down(wait=False)
        if self._session is not None:
            await asyncio.to_thread(self._session.close, CLOSE_GRACE_S)

    def _set_theme(self, mode: str) -> None:
        theme().set_mode(mode)
        self._state.set(theme=mode)

    def _set_language(self, code: str) -> None:
        i18n.set_language(code)
        theme().refresh()
        self._state.set(language=code)

    def _notify(self, error: BaseException) -> None:
        window = self._desk.window if self._desk is not None else self._welcome
        if window is not None:
            window.toasts.show(
                ToastSpec(
                    text=_("That did not work."), detail=str(error), status="error", copy=str(error), key=str(error)
                )
            )


def _fleet(settings: config.Settings, broker: str, redis: str) -> config.Settings:
    return msgspec.structs.replace(
        settings,
        profile="fleet",
        broker=config.BrokerSettings(url=broker),
        store=config.StoreSettings(url=redis),
    )


def _system_language() -> str:
    around = config.console_environment()
    words = around["LC_ALL"] or around["LC_MESSAGES"] or around["LANG"]
    if not words and config.is_windows():
        import locale

        words = locale.getlocale()[0] or ""
    return "zh_CN" if words.lower().startswith(("zh", "chinese")) else "en"


def _checks(settings: config.Settings) -> list[tuple[str, str, str]]:
    """(state, what, finding) of the pre-checks of the first run."""
    home = settings.home_path
    anchor = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(anchor).free / 1e9
    memory = psutil.virtual_memory().available / 1e9
    return [
        ("ok", _("Local engine"), _("ready")),
        ("ok" if free > 1 else "warning", _("Disk space"), _("{n} GB free").format(n=f"{free:.0f}")),
        ("ok" if memory > 1 else "warning", _("Memory"), _("{n} GB free").format(n=f"{memory:.0f}")),
    ]
