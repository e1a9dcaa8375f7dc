"""The life of the console: first run or a known connection, the window, a picture if one was asked for, and the end."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from console import pages
from console.appearance import Appearance
from console.connection.connections import ConnectionSwitch, drafted
from console.connection.loss import is_online
from console.connection.open_connection import OpenConnection
from console.connection.windows import LeftWindows, Windows, settle
from console.instance import Asked, Instance
from console.main_window import MainWindow
from console.memory import GuiCollector
from console.state import ConsoleState, Shelf
from console.tray import Silence
from services import assembly
from services import settings as config
from services.cli import output, spoken
from services.cli.context import ConsoleRequest
from services.cli.window import SITEMAP
from services.domain.errors import BrokerUnavailable, ConsoleError, StoreUnavailable, UsageError
from services.domain.insight.connection import BROKER, STORE, Answer, Reach
from services.domain.insight.worker import CUT_OFF, FleetNow
from services.domain.text import late
from services.i18n import N_, _
from services.messages import told
from services.monitor.live import backoff_s
from services.profiles.book import Book, SavedProfile
from services.profiles.known import LOCAL
from services.settings.config_file import DEFAULT, ConfigFile
from services.settings.reading import UNNAMED
from views.dialogs.confirm import set_confirm_limits
from views.shell.closing import Closing
from views.support import operation, shown
from views.support.keymap import keymap
from views.support.language import language_relay
from views.widgets.toast import ToastSpec, failure

if TYPE_CHECKING:
    from console import bootstrap
    from views.pages.connection.page import ConnectionPage
    from views.pages.first_run.page import FirstRunPage

log = logging.getLogger(__name__)
T = TypeVar("T")
SETTLE_S = 4.0
#: a connection that takes longer than this to open gets a page of its own meanwhile
PATIENCE_S = 0.5
#: the first page may wait so long for its first answers before work begins beside it, with which they would take
#: twice as long; what is not there by then waits for a server
FIRST_S = 10.0
#: other pages are made so long after it
AHEAD_S = 1.0
#: loading ahead holds the window up for so long at a time, and then lets it be
TURN_S, REST_S = 0.01, 0.02
#: questions whose answers nobody will see any more get so long to end before what they ask is closed
ASKED_S = 0.5
MOST_SLOTS = 512
#: key of the message that what a window remembers is not kept, and how often it is tried again
UNKEPT, UNKEPT_MS = "unkept", 5_000
MAIN = Path(__file__).resolve().parents[1] / "main.py"


class Console:
    """Opened once; ``main`` returns when the window was closed and everything has ended."""

    def __init__(self, app: QApplication, request: ConsoleRequest) -> None:
        self._app, self._request = app, request
        self._to_show = Asked(
            page=request.page, show=request.show, at=request.at, now=request.now, link=request.link
        )  #: by the first window, wherever it is
        self._settings = request.settings
        self._state = ConsoleState(
            request.settings.home_path, lambda: self._loop.call_soon_threadsafe(self._tell_unkept)
        )
        self._appearance = Appearance(self._state)
        self._unkept_again = QTimer(interval=UNKEPT_MS)
        self._unkept_again.timeout.connect(self._state.try_again)
        self._ended = asyncio.Event()
        self.windows: Windows | None = None  #: of the connection that is open
        self._left = LeftWindows(self._state)
        self._reopens = ""  #: a connection that takes its own place
        self._zone = ""  #: the one that times are shown in, as the fleet has it
        self._silence = Silence()
        self._going: set[asyncio.Future[None]] = set()  #: what is open no more, and is being closed
        self.welcome: MainWindow | None = None
        self.first_run: FirstRunPage | None = None
        self._ahead: asyncio.Future[None] | None = None
        self.unopened: ConnectionPage | None = None
        self._shown_name, self._before = "", ""
        self.entering = False  #: a connection is being entered, and its window not put together yet
        self._asked: Asked | None = None  #: by a start that came before there was a window to show it in
        self._opening: asyncio.Future[None] | None = None
        self._hurried = False  #: somebody waits for the window that is being entered, to go on to another
        self._resizing: asyncio.Future[None] | None = None
        self._unwanted: list[asyncio.Future[Any]] = []
        self._settled, self._retry = asyncio.Event(), asyncio.Event()
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="console")
        self.clean = True

    @property
    def ended(self) -> bool:
        """Whether it was closed, by whomever."""
        return self._ended.is_set()

    @property
    def opened(self) -> bootstrap.OpenWindow | None:
        """The first window over the connection that is open."""
        return self.windows.first if self.windows is not None else None

    @property
    def connection(self) -> OpenConnection | None:
        """The one that is open."""
        return self.windows.connection if self.windows is not None else None

    @property
    def _front(self) -> MainWindow | None:
        """The window that tells what is of no page."""
        return self.windows.first.window if self.windows is not None else self.welcome

    def end(self) -> None:
        """Close the window as its user does; callable from a signal handler."""
        self._ended.set()

    def settle(self, *_manager: object) -> None:
        """Do now what was asked for and is still held, and keep the places of all windows: the desktop ends, and
        Windows ends this program after that without a word. It goes on where somebody stops that after all.
        """
        if self.windows is not None:
            self._left.keep(self._settings.profile, self.windows.all())
            settle(self.windows.all(), self._state)

    async def main(self) -> None:
        """Run until the end."""
        self._loop = asyncio.get_running_loop()
        collector = GuiCollector()
        await self._off(self._state.load)
        self._instance = Instance(self._settings.home_path, self._off)
        self._instance.asked.connect(self._on_asked)
        self._instance.left.connect(self._on_left)
        self._dress()
        operation.configure(self._notify)
        self.connections = ConnectionSwitch(self._settings, self._off)
        self.connections.wanted.connect(self._on_wanted)
        self.connections.beside.connect(self._open_beside)
        self.connections.edited.connect(self._on_edited)
        self.connections.renamed.connect(self._on_renamed)
        self._app.applicationStateChanged.connect(self._on_front)
        if not self._ended.is_set():
            await self._show_first()
        if self._request.screenshot:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), self._request.seconds or SETTLE_S)
            # who ends it before its time wants no picture of half a window
            self.clean = not self._ended.is_set() and take_picture(self._front, self._request.screenshot)
            self._ended.set()
        elif self._request.seconds:
            QTimer.singleShot(round(self._request.seconds * 1000), self._ended.set)
        await self._ended.wait()
        await self._close()
        collector.stop()

    async def _show_first(self) -> None:
        """The first run where nothing was ever chosen, else the connection that was named or chosen last."""
        await self.connections.reload()
        if self._is_first_run():
            if await self._alone(None):
                self._show_welcome()
            return
        name = self._last_used()
        self._go(lambda: self._start(name or self._settings.profile))
        ready = {asyncio.ensure_future(event.wait()) for event in (self._settled, self._ended)}
        await asyncio.wait(ready, return_when=asyncio.FIRST_COMPLETED)
        for one in ready:
            one.cancel()

    def _off(self, call: Callable[..., T], *args: object) -> asyncio.Future[T]:
        """Run a blocking call in a plain thread; the loop's own pool would be made of Qt threads."""
        return asyncio.get_running_loop().run_in_executor(self._pool, partial(call, *args))

    def _dress(self) -> None:
        # qasync would stop the loop, and with it the orderly end, when the last window closes
        self._app.setQuitOnLastWindowClosed(False)
        self._app.commitDataRequest.connect(self.settle)
        self._appearance.dress(self._app, self._settings)
        shown.set_zone(self._settings.time_zone)
        set_confirm_limits(self._settings.confirm)
        # the keys that a person chose hold also before a connection opens, and where none does
        keymap().know_pages([(line.id, line.title, line.letter) for line in SITEMAP])
        keymap().follow(Shelf(self._state))

    def _is_first_run(self) -> bool:
        settings = self._settings
        chosen = bool(self._state.get("chosen") or self._state.get("profile")) or self._request.named
        known = chosen or settings.profile != LOCAL or not settings.embedded
        return self._request.first_run and not known and not settings.database.exists()

    def _place(self, window: MainWindow) -> None:
        size = self._request.size
        window.placing.take(size, exact=bool(size and self._request.screenshot))

    def _last_used(self) -> str:
        """The connection that somebody chose in the window last, "" where this run names another."""
        if not self._request.first_run or self._request.named:
            return ""
        before = UNNAMED if self._state.get("chosen") == "fleet" and self._settings.embedded else ""
        return str(self._state.get("profile") or before)

    # the first run

    def _show_welcome(self) -> None:
        from console.connection.welcome import make_welcome

        window, page = make_welcome(self._settings, self._appearance)
        page.run_here.connect(self._on_run_here)
        page.connect_fleet.connect(self._on_connect)
        page.test_connection.connect(self._on_test)
        page.sample.connect(self._on_sample)
        page.language_chosen.connect(self._appearance.choices["language"])
        self.connections.bind(window, None)
        self.first_run = page
        self._show_instead(window)
        self._settled.set()

    def _on_run_here(self, slots: int) -> None:
        worker = msgspec.structs.replace(self._settings.worker, slots=slots)
        self._state.set(chosen="local", profile=LOCAL, slots=slots)
        settings = msgspec.structs.replace(self._settings, worker=worker)
        self._go(lambda: self._choose(settings, work=True))

    def _with_slots(self, settings: config.Settings) -> config.Settings:
        """The settings with the number of slots that was chosen at the first run, where nothing says another one since:
        config.toml may be written by any editor. Blocking.
        """
        slots = self._state.get("slots", 0)
        if not settings.embedded or not isinstance(slots, int) or not 1 <= slots <= MOST_SLOTS:
            return settings
        with suppress(ConsoleError):
            if ConfigFile(settings.home_path).look().of("worker.slots").origin != DEFAULT:
                return settings
        worker = msgspec.structs.replace(settings.worker, slots=slots)
        return msgspec.structs.replace(settings, worker=worker)

    def _on_sample(self) -> None:
        self._state.set(chosen="local", profile=LOCAL)
        self._go(lambda: self._choose(self._settings, sample=True))

    def _on_connect(self, broker: str, redis: str) -> None:
        draft = SavedProfile(name=UNNAMED, broker=broker, redis=redis)
        self._go(lambda: self._choose(drafted(self._settings, draft), keep=draft))

    def _on_test(self, broker: str, redis: str) -> None:
        draft = SavedProfile(name=UNNAMED, broker=broker, redis=redis)
        self._testing = asyncio.ensure_future(self._test(drafted(self._settings, draft), (broker, redis)))

    async def _test(self, settings: config.Settings, addresses: tuple[str, str]) -> None:
        try:
            answers = await self._off(assembly.probe, settings)
        except ConsoleError as exc:
            answers = None
            cause = told(exc)
        if self.first_run is None:
            return
        if answers is None:
            self.first_run.show_error(cause, addresses)
        else:
            self.first_run.show_test(answers, addresses)

    async def _choose(
        self, settings: config.Settings, *, sample: bool = False, work: bool = False, keep: SavedProfile | None = None
    ) -> None:
        try:
            connection = await self._connection_of(settings)
        except ConsoleError as exc:
            self._cannot_open(exc)
            return
        durable, unkept = True, None
        if keep is not None:
            self._state.set(chosen="fleet", profile=keep.name)
            try:
                durable = await self._off(Book(settings.home_path).put, keep)
            except OSError as exc:
                unkept = exc
            await self.connections.reload()
        if not await self._alone(connection.settings):
            await self._off(connection.close, 0.0)
            if self.first_run is not None:  # what was chosen is in front of it; something else can be chosen yet
                self.first_run.try_again()
            return
        await self._enter(connection, sample=sample, work=work)
        if unkept is not None and self.opened is not None:
            self.opened.window.toasts.show(failure(unkept, N_("The connection is not kept.")))
        if not durable and self.opened is not None:
            text = _("This computer has no key store that encrypts: enter the password again at the next start.")
            self.opened.window.toasts.show(ToastSpec(text=text, status="warning"))

    def _cannot_open(self, error: ConsoleError) -> None:
        log.error("cannot open: %s", error)
        if self.first_run is not None and self.welcome is not None:
            self.first_run.try_again()
            self.welcome.toasts.show(failure(error, N_("Cannot connect.")))

    # one connection and another

    def _go(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Open something else from now on; what is still being opened is wanted no more."""
        self._opening = asyncio.ensure_future(self._instead_of(self._opening, work))

    async def _instead_of(
        self, before: asyncio.Future[None] | None, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        await self._stop(before)
        await work()

    async def _stop(self, opening: asyncio.Future[None] | None) -> None:
        """Try no longer; a window that is being put together is finished first, and one that is being left is gone."""
        if opening is not None and not opening.done():
            if not self.entering:
                opening.cancel()
            self._hurried = True
            await asyncio.wait({opening})
            self._hurried = False
        if self._going:
            await asyncio.wait(self._going)

    def _on_edited(self, name: str) -> None:
        """What is open has another name, leads elsewhere or is opened anew: all its windows come back with it."""

        def go() -> None:
            self._settings = msgspec.structs.replace(self._settings, profile=name)
            self._reopens = name
            self._go(lambda: self._start(name, chosen=True))  # that of before is where one came from still

        self._leave_for(go)

    def _on_renamed(self, before: str, now: str) -> None:
        """``now``: "" where it was removed."""
        self._left.rename(before, now)
        if self._before == before:
            self._before = now
        if self._state.get("profile") != before:
            return
        if now:
            self._state.set(profile=now)
        elif self.connection is not None:
            settings = self.connection.settings
            self._state.set(profile=settings.profile, chosen="local" if settings.embedded else "fleet")

    def _on_wanted(self, name: str) -> None:
        def go() -> None:
            if self.connection is not None:
                self._before = self.connection.settings.profile
            self._go(lambda: self._start(name, chosen=True))

        self._leave_for(go)

    def _leave_for(self, go: Callable[[], None]) -> None:
        if self.windows is not None:
            self.windows.leaving.leave(go)
        else:
            go()

    async def _start(self, name: str, *, chosen: bool = False) -> None:
        while True:
            try:
                settings = await self._off(lambda: self._with_slots(self._settings_of(name)))
                break
            except ConsoleError as exc:
                page = await self._show_unopened(
                    msgspec.structs.replace(self._request.settings, profile=name), leads=False
                )
                self._instance.close()  # the connection before is closed: another program may open it
                gone = isinstance(exc, UsageError) and exc.field in ("profile", "--profile")
                words = _("It was removed, or has another name now.") if gone else told(exc)
                page.show_failure((), words, reach=None, next_s=0)
                self._settled.set()
                self._retry.clear()
                await self._retry.wait()
                page.show_trying()
                self._shown_name = ""  # once it is known where it leads, another page says so
        if not await self._alone(settings):
            return
        if chosen:
            self._state.set(profile=name, chosen="local" if settings.embedded else "fleet")
        here = settings.embedded and self._state.get("chosen") == "local" and not self._request.screenshot
        await self._open(settings, work=here)

    async def _alone(self, settings: config.Settings | None) -> bool:
        """Whether no other program shows a connection (None: the first run); else that one does so now, and one that
        has no window yet ends. Who wants a picture, or a window for some seconds, has one of its own.
        """
        request = self._request
        if request.screenshot or request.seconds or not request.first_run:
            return True
        try:
            if await self._instance.take(settings, self._to_show):
                return True
        except Exception:  # whatever it is: a program without a window must be impossible
            log.exception("other windows of this connection cannot be found")
            return True
        if self.opened is None and self.welcome is None:
            output.err(spoken.phrase("fleetdeck: a window of this connection is open already; it comes to the front\n"))
            self._ended.set()
        elif self.windows is not None and self.windows.leaving.decided:  # what was finished in order to leave goes on
            self.windows.leaving.stay()
        return False

    def _on_asked(self, asked: Asked) -> None:
        """A second start wants what this one has: at once, or as soon as its connection is shown."""
        if self.windows is not None and self._instance.holds(self.windows.connection.settings):
            first = self.windows.first
            if first.window.isVisible():
                first.window.come_forward()
                first.window.open_page(asked.page, asked.of_page())
                if asked.link:
                    first.keys.follow(asked.link)
                return
        elif self.welcome is not None:
            self.welcome.come_forward()
        self._asked = asked

    def _on_left(self) -> None:
        self._asked = None

    def _first_shown(self) -> Asked:
        """What the last start wanted to see, this one or another that came to it."""
        asked, self._asked = self._asked, None
        given, self._to_show = self._to_show, Asked()
        return asked if asked is not None and (asked.page or asked.link) else given

    @property
    def _rereads(self) -> bool:
        """Whether files alone say what a connection leads to; addresses of words and variables hold for a whole run."""
        return self._request.first_run and not self._request.led

    def _settings_of(self, name: str) -> config.Settings:
        """What a connection is called leads to. Blocking."""
        given = self._request.settings
        try:
            if name == given.profile and not self._rereads:
                return given
            return config.load(profile=name, home=given.home_path, read_only=self._request.read_only)
        except UsageError:
            if name == given.profile:
                return given
            raise

    async def _open(self, settings: config.Settings, *, work: bool = False) -> None:
        """Open it, however long that takes; its own page says meanwhile what does not answer."""
        tries = 0
        while True:
            begun = asyncio.ensure_future(self._connection_of(settings))
            try:
                await asyncio.sleep(0)  # it begins, in a thread
                import_module("console.bootstrap")  # what the window is made of, while servers think of their answers
                done, _waiting = await asyncio.wait({begun}, timeout=PATIENCE_S)
                page = self.unopened
                if not done:
                    page = await self._show_unopened(settings)
                    page.show_trying()
                connection = await begun
            except Exception as exc:  # whatever it is: a program without a window must be impossible
                log.error("cannot open: %s", exc, exc_info=not isinstance(exc, ConsoleError))
                self._unwant(begun)  # what failed may be what its window is made of
                await self._say_why(settings, exc, tries)
                tries += 1
            except asyncio.CancelledError:
                self._unwant(begun)
                raise
            else:
                await self._enter(connection, work=work)
                return

    async def _connection_of(self, settings: config.Settings) -> OpenConnection:
        """A connection; when it is wanted no more before it is there, it is closed as soon as it is."""
        begun = self._off(OpenConnection, settings)
        try:
            return await asyncio.shield(begun)
        except asyncio.CancelledError:
            self._unwanted.append(begun)
            begun.add_done_callback(self._drop)
            raise

    def _unwant(self, begun: asyncio.Future[OpenConnection]) -> None:
        if not begun.cancel():
            self._drop(begun)

    def _drop(self, begun: asyncio.Future[OpenConnection]) -> None:
        if not begun.cancelled() and begun.exception() is None:
            self._unwanted.append(self._off(begun.result().close, 0.0))

    async def _say_why(self, settings: config.Settings, error: Exception, tries: int) -> None:
        """Show each part's answer, and wait for the next try or for a person."""
        page = await self._show_unopened(settings)
        answers = await self._off(_answers, settings)
        by_itself = isinstance(error, BrokerUnavailable | StoreUnavailable)
        wait_s = backoff_s(tries) if by_itself else 0.0
        said = {answer.part: answer.ok for answer in answers}
        heard = await self._off(_heard, settings) if said.get(STORE) and not said.get(BROKER, True) else None
        reach = Reach(
            broker=said.get(BROKER, True),
            store=said.get(STORE, True),
            embedded=settings.embedded,
            online=is_online(),
            alive=heard.living if heard is not None else None,
            apart=heard.number(CUT_OFF) if heard is not None else 0,
        )
        page.show_failure(answers, told(error), reach=reach, next_s=wait_s)
        self._settled.set()
        self._retry.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._retry.wait(), wait_s or None)
        page.show_trying()

    async def _show_unopened(self, settings: config.Settings, *, leads: bool = True) -> ConnectionPage:
        """The page of a connection that is not open, in place of whatever is shown. ``leads``: whether the settings
        say where it is.
        """
        if self.unopened is not None and self._shown_name == settings.profile:
            return self.unopened
        from console.connection.welcome import make_unopened

        back = self._before if self._before != settings.profile else ""
        row = self.connections.connection(settings, leads=leads)
        title = self.connections.title(back) if back else ""
        window, page = make_unopened(row, back_to=title, on_other=self.connections.show_menu, looks=self._appearance)
        page.again.connect(self._retry.set)
        page.edit_wanted.connect(lambda: self.connections.correct(settings))
        page.back_wanted.connect(lambda: self._on_wanted(self._before or back))
        self.connections.bind(window, settings if leads else None)
        before = self._take_windows()
        self.first_run, self.unopened, self._shown_name = None, page, settings.profile
        self._show_instead(window, before.first.window if before is not None else None)
        if before is not None:
            await self._leave_windows(before)
        return page

    def _show_instead(self, window: MainWindow, previous: QWidget | None = None) -> None:
        """Show a window without a connection at the place of the one before."""
        old = self.welcome
        previous = previous or old
        if previous is not None:
            _stand_like(window, previous)
        else:
            self._place(window)
        window.closing.connect(self._ended.set)
        window.show()
        self.welcome = window
        if old is not None:
            self._put_away(old)

    def _put_away(self, window: MainWindow) -> None:
        window.closing.disconnect(self._ended.set)
        window.close()
        window.deleteLater()

    async def _enter(self, connection: OpenConnection, *, sample: bool = False, work: bool = False) -> None:
        """Show the window over an open connection, and put away what was there before."""
        self.entering = True
        try:
            await self._put_together(connection, sample=sample, work=work)
        finally:
            self.entering = False

    def _follow_zone(self) -> None:
        """Tell all times by the fleet's zone, also where somebody has set another one meanwhile."""
        if self.connection is not None and self.connection.zone != self._zone:
            self._zone = self.connection.zone
            shown.set_zone(self._zone)
            language_relay().changed.emit()  # whatever says a time says it again

    async def _put_together(self, connection: OpenConnection, *, sample: bool, work: bool) -> None:
        from console import bootstrap

        before = self._take_windows()
        self._settings = connection.settings
        self._left.due = self._left.due or self._reopens == connection.settings.profile
        self._reopens = ""
        memory = Shelf(self._state)
        opened = bootstrap.build(
            connection,
            appearance=self._appearance,
            on_settings=self._on_settings,
            reopen=partial(self._on_edited, connection.settings.profile) if self._rereads else None,
            memory=memory,
            connections=self.connections,
            leave=self._leave,
            silence=self._silence,
        )
        windows = self.windows = Windows(
            connection, opened, self.connections, leave=self._leave, end=self._ended.set, off=self._off
        )
        self.connections.bind(opened.window, connection.settings)
        await self._off(connection.watch)
        await self._off(opened.context.types)
        self._zone = connection.zone
        shown.set_zone(self._zone)
        shown.set_here(connection.settings.embedded)
        opened.feed.looked.connect(self._follow_zone)
        wanted = self._first_shown()
        alone = bool(self._request.screenshot or self._request.page)
        kept, beside = self._left.take(connection.settings.profile, wanted, alone=alone)
        opened.window.restore_state(kept)
        self._place(opened.window)
        previous = before.first.window if before is not None else self.welcome
        if previous is not None and (before is not None or self.unopened is not None):
            _stand_like(opened.window, previous)
        opened.window.show()
        self._tell_unkept()
        if wanted.link:
            opened.keys.follow(wanted.link)
        if self.welcome is not None:
            self._put_away(self.welcome)
            self.welcome = self.first_run = self.unopened = None
        self._settled.set()
        if before is not None:
            await self._leave_windows(before)
        windows.allow_more(opened)
        for one in beside:
            windows.open_another(opened, one)
        await self._begin_work(connection, opened, sample=sample, work=work)
        empty = work and not connection.settings.read_only and not await self._off(connection.shops)
        if empty and self.opened is not None:  # the first window may be closed by now, and another lead
            bootstrap.offer_sample(connection, self.opened)
        if not self._request.screenshot:
            self._ahead = asyncio.ensure_future(self._make_ahead())

    def _on_front(self, state: Qt.ApplicationState) -> None:
        """Whoever comes from the window of another connection has perhaps chosen keys, saved a view or added a
        connection there: that holds here, too, and is not written over.
        """
        if state == Qt.ApplicationState.ApplicationActive and not self._ended.is_set():
            self._off(self._state.look_again).add_done_callback(lambda _done: keymap().look_again())
            self.connections.look_again()

    def _leave(self) -> None:
        """End the program, however many windows are open; they all come back at the next start."""
        if self.windows is None or self.windows.leaving.may_close():
            self._ended.set()
        else:  # it asks
            self.windows.first.window.come_forward()

    def _open_beside(self, name: str) -> None:
        """Open a connection in a program of its own, which lives on without this one; of the one that is open here,
        which such a program would only bring to the front, one more window.
        """
        if self.windows is not None and name == self.windows.connection.settings.profile:
            self.windows.open_another(self.windows.first, None)
            return
        words = [sys.executable, str(MAIN), "--profile", name]
        words += ["--read-only"] if self._request.read_only else []
        try:
            # detached: neither its end nor its words are this program's
            subprocess.Popen(
                words, env=config.child_environment() | {"FLEETDECK_HOME": str(self._request.settings.home_path)},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as exc:
            self._notify(exc)

    def _take_windows(self) -> Windows | None:
        """Those that are open, which are so no more; whoever takes them leaves them."""
        taken, self.windows = self.windows, None
        if taken is None:
            return None
        if self._ahead is not None:
            self._ahead.cancel()
        taken.replaced = True
        # the others come back only with their own connection
        self._left.keep(self._settings.profile, taken.all() if self._reopens else taken.all()[:1])
        return taken

    async def _leave_windows(self, windows: Windows) -> None:
        """Close windows and connection. Whoever wants another one meanwhile ends the waiting, not the leaving: a window
        over nothing would stay.
        """
        going = asyncio.ensure_future(windows.let_go(ended=self._ended.is_set, stop_asking=self._stop_asking))
        self._going.add(going)
        going.add_done_callback(self._going.discard)
        await asyncio.shield(going)

    async def _make_ahead(self) -> None:
        """Load and make the pages nobody opened yet, once the first one is seen."""
        await asyncio.sleep(AHEAD_S)
        if self._ended.is_set():  # it would ask threads that are gone by then
            return
        turn = time.monotonic()
        for name in await self._off(pages.modules):
            import_module(name)
            if time.monotonic() - turn > TURN_S:
                await asyncio.sleep(REST_S)
                turn = time.monotonic()
        await self._off(late.compile_all)
        curves = pages.charts()
        curves.load()
        while curves.loading and not self._ended.is_set():
            await asyncio.sleep(REST_S)
        if not self._ended.is_set() and self.opened is not None:
            self.opened.window.prepare_pages()

    async def _first_answers(self, window: MainWindow) -> None:
        """Wait until the page shows what it asked for, but not for long: a server may be slow, or lost."""
        most_s = SETTLE_S / 2 if self._request.screenshot else FIRST_S  # a picture shows a fleet with a leader
        end = time.monotonic() + most_s
        while not (
            self._hurried or self._ended.is_set() or time.monotonic() >= end or window.page(window.current).settled
        ):
            await asyncio.sleep(REST_S)
        if not self._ended.is_set():
            window.paint_now()  # what begins now would take the processor from the picture of them

    async def _begin_work(
        self, connection: OpenConnection, opened: bootstrap.OpenWindow, *, sample: bool, work: bool
    ) -> None:
        await self._first_answers(opened.window)
        if self._ended.is_set():
            return
        try:
            await self._off(
                connection.lead
            )  # a dozen threads that look at everything first: the page would wait for them
            if sample:
                await self._off(connection.sample.load)
            elif (
                work
                and not connection.settings.read_only
                and not connection.local.name
                and not await self._off(connection.sample.works_elsewhere)
            ):
                await self._off(connection.local.start, connection.local.slots)
        except Exception as exc:  # whatever it is, nobody else would tell
            log.warning("work did not begin here", exc_info=exc)
            if self.opened is not None:  # the first window may be closed by now, and another lead
                self.opened.window.toasts.show(failure(exc))

    async def _close(self) -> None:
        for one in self.windows.all() if self.windows is not None else ():
            if one.isVisible():
                Closing(one)
                one.paint_now()
        self._instance.close()
        self._unkept_again.stop()
        await self._stop(self._opening)
        if self.windows is not None:
            self._left.keep(self._settings.profile, self.windows.all())
            await self._leave_windows(self.windows)
        elif self.welcome is not None:
            self.welcome.close()
        while self._unwanted:
            await asyncio.wait({self._unwanted.pop()})
        await self._off(self._stop_asking)
        await self._off(self._state.close)
        self._pool.shutdown()

    @staticmethod
    def _stop_asking() -> None:
        operation.shut_down(most_s=ASKED_S)

    def _on_settings(self, names: Sequence[str]) -> None:
        """What was written into config.toml goes before what was chosen at the first run."""
        if "worker.slots" in names:
            self._state.set(slots=0)
            self._resizing = asyncio.ensure_future(self._resize())

    async def _resize(self) -> None:
        """Let the worker of this window have as many slots as were just set."""
        connection = self.connection
        if connection is None:
            return
        try:
            await self._off(connection.local.follow, ConfigFile(connection.settings.home_path))
        except ConsoleError as exc:
            self._notify(exc)

    def _tell_unkept(self) -> None:
        """Whoever arranges a window for the next start has to know that it will not find it so, as long as that is."""
        error = self._state.unkept
        if error is None:
            self._unkept_again.stop()
            for one in (*(self.windows.all() if self.windows is not None else ()), self.welcome):
                if one is not None:
                    one.toasts.close(UNKEPT)
            return
        self._unkept_again.start()
        if self._front is not None:
            self._front.toasts.show(failure(error, N_("What this window remembers is not kept."), key=UNKEPT))

    def _notify(self, error: BaseException) -> None:
        if self._front is not None:
            self._front.toasts.show(failure(error, key=str(error)))


def _stand_like(window: QWidget, other: QWidget) -> None:
    """At the same place, as large, maximised or not: to a person it is the same window."""
    window.setGeometry(other.geometry())
    window.setWindowState(other.windowState())


def _heard(settings: config.Settings) -> FleetNow | None:
    """What workers report of themselves, None where nobody can be asked."""
    try:
        return assembly.heard(settings)
    except ConsoleError:
        return None


def _answers(settings: config.Settings) -> tuple[Answer, ...]:
    try:
        return assembly.probe(settings)
    except ConsoleError:
        return ()
    except Exception:  # the same that kept it from being opened, and that is told
        log.exception("nobody could be asked")
        return ()


def take_picture(window: QWidget | None, target: str) -> bool:
    """Write a picture of the window; tell whether that went well, and say on standard error how to help it."""
    if window is None:
        return False
    path = Path(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clean = bool(window.grab().save(str(path)))
    except OSError:
        clean = False
    if not clean:
        output.err(
            spoken.phrase(
                "fleetdeck: {target} could not be written; name a .png file in a folder of yours\n", target=target
            )
        )
    return clean
