"""The life of the console: first run or a known connection, the window, a picture if one was asked for, and the end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

import msgspec
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from console import bootstrap, language, pages, picture, profiles, sample_offer
from console.garbage import GuiCollector
from console.leaving import Leaving
from console.main_window import MainWindow
from console.session import Session
from console.state import ConsoleState, Shelf
from services import assembly, i18n
from services import settings as config
from services.domain.errors import ConsoleError
from services.entrypoints.context import ConsoleRequest
from services.i18n import N_, _
from views.dialogs.republish.runner import BulkRunner
from views.support import operation, shown
from views.support.acting import Acting
from views.theme import theme
from views.widgets.toast import ToastSpec, failure

if TYPE_CHECKING:
    from views.pages.first_run.page import FirstRunPage

log = logging.getLogger(__name__)
T = TypeVar("T")
SETTLE_S = 4.0
#: the first page has its first answers by then; making others earlier would only hold it up
AHEAD_S = 1.0
#: loading ahead holds the window up for so long at a time, and then lets it be
TURN_S, REST_S = 0.01, 0.02
CLOSE_GRACE_S = 5.0
MOST_SLOTS = 512


class Console:
    """Opened once; ``main`` returns when the window was closed and everything has ended."""

    def __init__(self, app: QApplication, request: ConsoleRequest) -> None:
        self._app, self._request = app, request
        self._settings = request.settings
        self._state = ConsoleState(request.settings.home_path)
        self._ended = asyncio.Event()
        self._session: Session | None = None
        self._desk: bootstrap.Desk | None = None
        self._leaving: Leaving | None = None
        self._welcome: MainWindow | None = None
        self._choice: FirstRunPage | None = None
        self._ahead: asyncio.Future[None] | None = None
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="console")
        self.clean = True

    def end(self) -> None:
        """Close the window as its user does; callable from a signal handler."""
        self._ended.set()

    async def main(self) -> None:
        """Run until the end."""
        collector = GuiCollector()
        self._dress()
        operation.configure(self._notify)
        # a Python signal handler runs only when Python does; Qt alone could sleep for long
        beat = QTimer(interval=200)
        beat.timeout.connect(lambda: None)
        beat.start()
        if not self._ended.is_set():
            await self._show_first()
        if self._request.screenshot:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), self._request.seconds or SETTLE_S)
            window = self._desk.window if self._desk is not None else self._welcome
            # who ends it before its time wants no picture of half a window
            self.clean = not self._ended.is_set() and picture.take(window, self._request.screenshot)
            self._ended.set()
        elif self._request.seconds:
            QTimer.singleShot(round(self._request.seconds * 1000), self._ended.set)
        await self._ended.wait()
        await self._close()
        beat.stop()
        collector.stop()

    async def _show_first(self) -> None:
        kept = profiles.recall(self._state) if self._request.first_run and self._settings.embedded else None
        if self._is_first_run():
            self._show_welcome()
        else:
            here = kept is None and self._state.get("chosen") == "local" and not self._request.screenshot
            await self._open(_fleet(self._settings, *kept) if kept is not None else self._with_slots(), work=here)

    def _off(self, call: Callable[..., T], *args: object) -> asyncio.Future[T]:
        """Run a blocking call in a plain thread; the loop's own pool would be made of Qt threads."""
        return asyncio.get_running_loop().run_in_executor(self._pool, partial(call, *args))

    def _dress(self) -> None:
        # qasync would stop the loop, and with it the orderly end, when the last window closes
        self._app.setQuitOnLastWindowClosed(False)
        i18n.set_language(language.chosen_language(str(self._state.get("language") or ""), self._settings.language))
        shown.set_zone(self._settings.time_zone)
        theme().set_mode(str(self._state.get("theme") or self._settings.theme))
        theme().install(self._app)

    def _is_first_run(self) -> bool:
        settings = self._settings
        known = bool(self._state.get("chosen")) or settings.profile != "local" or not settings.embedded
        return self._request.first_run and not known and not settings.database.exists()

    def _place(self, window: MainWindow) -> None:
        size = self._request.size
        window.placing.take(size, exact=bool(size and self._request.screenshot))

    def _show_welcome(self) -> None:
        from console.welcome import make_welcome

        window, page = make_welcome(self._settings)
        page.run_here.connect(self._on_run_here)
        page.connect_fleet.connect(self._on_connect)
        page.test_connection.connect(self._on_test)
        page.sample.connect(self._on_sample)
        page.language_chosen.connect(self._set_language)
        window.closing.connect(self._ended.set)
        self._place(window)
        window.show()
        self._welcome, self._choice = window, page

    def _on_run_here(self, slots: int) -> None:
        worker = msgspec.structs.replace(self._settings.worker, slots=slots)
        self._state.set(chosen="local", slots=slots)
        self._go(msgspec.structs.replace(self._settings, worker=worker), work=True)

    def _with_slots(self) -> config.Settings:
        """The settings with the number of slots that was chosen at the first run."""
        slots = self._state.get("slots", 0)
        if not self._settings.embedded or not isinstance(slots, int) or not 1 <= slots <= MOST_SLOTS:
            return self._settings
        worker = msgspec.structs.replace(self._settings.worker, slots=slots)
        return msgspec.structs.replace(self._settings, worker=worker)

    def _on_sample(self) -> None:
        self._state.set(chosen="local")
        self._go(self._settings, sample=True)

    def _on_connect(self, broker: str, redis: str) -> None:
        self._go(_fleet(self._settings, broker, redis), keep=(broker, redis))

    def _on_test(self, broker: str, redis: str) -> None:
        self._testing = asyncio.ensure_future(self._test(broker, redis))

    async def _test(self, broker: str, redis: str) -> None:
        fits = await self._off(assembly.probe, broker, redis)
        if self._choice is not None:
            self._choice.show_test(*fits)

    def _go(self, settings: config.Settings, **how: object) -> None:
        self._opening = asyncio.ensure_future(self._choose(settings, **how))  # type: ignore[arg-type]

    async def _choose(
        self,
        settings: config.Settings,
        *,
        sample: bool = False,
        work: bool = False,
        keep: tuple[str, str] | None = None,
    ) -> None:
        await self._open(settings, sample=sample, work=work)
        if keep is not None and self._desk is not None and not profiles.remember(self._state, *keep):
            text = _("The password is not kept: this computer has no key store. Enter it again next time.")
            self._desk.window.toasts.show(ToastSpec(text=text, status="warning"))

    async def _open(self, settings: config.Settings, *, sample: bool = False, work: bool = False) -> None:
        try:
            session = await self._off(Session, settings)
        except ConsoleError as exc:
            await self._cannot_open(exc)
            return
        self._session, self._settings = session, settings
        memory = Shelf(self._state)
        desk = bootstrap.build(session, on_theme=self._set_theme, on_language=self._set_language, memory=memory)
        self._desk = desk
        self._leaving = Leaving(desk.window, session.local, missed=lambda slot: not session.sample.made(slot.task_id))
        desk.window.closing.connect(self._ended.set)
        await self._off(session.start)
        await self._off(desk.context.types)
        desk.window.restore_state(dict(self._state.get("window", {}) or {}))
        self._place(desk.window)
        desk.window.open_page(self._request.page or desk.window.current or "overview")
        desk.window.show()
        if self._welcome is not None:
            self._welcome.closing.disconnect(self._ended.set)
            self._welcome.close()
            self._welcome.deleteLater()
            self._welcome = self._choice = None
        await self._begin_work(session, desk, sample=sample, work=work)
        if work and not await self._off(session.shops):
            sample_offer.show(session, desk)
        if not self._request.screenshot:
            self._ahead = asyncio.ensure_future(self._make_ahead(desk))

    async def _make_ahead(self, desk: bootstrap.Desk) -> None:
        """Load and make the pages nobody opened yet, once the first one is seen."""
        await asyncio.sleep(AHEAD_S)
        turn = time.monotonic()
        for name in await self._off(pages.modules):
            import_module(name)
            if time.monotonic() - turn > TURN_S:
                await asyncio.sleep(REST_S)
                turn = time.monotonic()
        if not self._ended.is_set():
            desk.window.prepare_pages()

    async def _begin_work(self, session: Session, desk: bootstrap.Desk, *, sample: bool, work: bool) -> None:
        try:
            if sample:
                await self._off(session.sample.load)
            elif (
                work
                and not session.settings.read_only
                and not session.local.name
                and not await self._off(session.sample.works_elsewhere)
            ):
                await self._off(session.local.start, session.settings.worker.slots)
        except ConsoleError as exc:
            desk.window.toasts.show(failure(exc))

    async def _cannot_open(self, error: ConsoleError) -> None:
        log.error("cannot open: %s", error)
        if self._welcome is None:
            self._show_welcome()
        assert self._welcome is not None
        if self._choice is not None:
            self._choice.try_again()
        self._welcome.toasts.show(failure(error, N_("Cannot connect.")))

    async def _close(self) -> None:
        if self._ahead is not None:
            self._ahead.cancel()
        if self._desk is not None:
            self._state.set(window=self._desk.window.save_state())
            # what is still held with Undo was asked for; closing is no Undo
            await self._send_held(self._desk.window.findChildren(Acting))
            for runner in self._desk.window.findChildren(BulkRunner):
                runner.send_now()
                await self._off(runner.finish, CLOSE_GRACE_S)
            # as its user does: the page stops asking, the feed has nobody left to tell
            self._desk.window.may_close = lambda: True
            self._desk.window.close()
        await self._off(operation.shut_down)
        if self._session is not None:
            await self._off(self._session.close, self._leaving.grace_s if self._leaving is not None else CLOSE_GRACE_S)
        self._pool.shutdown()

    async def _send_held(self, pages: list[Acting]) -> None:
        for acting in pages:
            acting.send_held()
        end = asyncio.get_running_loop().time() + CLOSE_GRACE_S
        while any(acting.busy for acting in pages) and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.05)

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
            window.toasts.show(failure(error, key=str(error)))


def _fleet(settings: config.Settings, broker: str, redis: str) -> config.Settings:
    return msgspec.structs.replace(
        settings,
        profile="fleet",
        broker=config.BrokerSettings(url=broker),
        store=config.StoreSettings(url=redis),
    )
