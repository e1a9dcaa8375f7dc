"""What a worker does for a person at another machine: the browser profiles of shops, and a look at its log."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

import msgspec

from services import log as logs
from services.domain.errors import StoreError
from services.domain.fleet import remote, worker_order
from services.domain.fleet.remote import LogLine, OrderEnd, Window, WorkerLog
from services.domain.fleet.worker import BrowserState
from services.domain.fleet.worker_order import WorkerOrder
from services.domain.task import ids, own_words
from services.executors.base import NoProfile, ProfileControl, Shown
from services.ports import Clock, Store

log = logging.getLogger(__name__)
#: what nobody has touched for so long was left by a worker that was killed
LEFT_MS = 3_600_000
_LOOK_S, _CLOSE_S = 1.0, 15.0


class ProfileOrders:
    """Each order about a shop's profile runs in a thread of its own; a shop has one window at most."""

    def __init__(self, store: Store, profiles: ProfileControl | None, worker: str) -> None:
        """``profiles``: None where this worker has no browsers."""
        self._store, self._profiles, self._worker = store, profiles, worker
        self._ends: deque[OrderEnd] = deque(maxlen=remote.ANSWERS)
        self._windows: dict[str, _Open] = {}
        self._changed = threading.Condition()
        self._ending = False

    @property
    def answers(self) -> tuple[OrderEnd, ...]:
        """How the last orders ended."""
        return tuple(self._ends)

    def windows(self) -> tuple[BrowserState, ...]:
        """Those that are open for a person."""
        with self._changed:
            return tuple(
                BrowserState(
                    shop=shop,
                    profile=ids.profile_id(*shop.split(":", 1)),
                    state="window",
                    since=one.opened,
                )
                for shop, one in sorted(self._windows.items())
            )

    def obey(self, order: WorkerOrder, words: str) -> None:
        """Begin; how it ended stands in ``answers``. ``words``: the order as it was given."""
        if order.verb in (worker_order.CLOSE_WINDOW, worker_order.RELOAD_WINDOW):
            self._tell_window(order, words)
            return
        do: dict[str, Callable[[str], None]] = {
            worker_order.RESTART_BROWSER: self._restart,
            worker_order.RELEASE_PROFILE: self._release,
            worker_order.OPEN_WINDOW: self._open,
        }
        work = threading.Thread(
            target=self._run, args=(do[order.verb], order.shop, words), name=f"{self._worker}-profile", daemon=True
        )
        work.start()

    def close(self) -> None:
        """Close the windows that are open."""
        with self._changed:
            self._ending = True
            for one in self._windows.values():
                one.stop.set()
            self._changed.wait_for(lambda: not self._windows, _CLOSE_S)

    def _tell_window(self, order: WorkerOrder, words: str) -> None:
        with self._changed:
            one = self._windows.get(order.shop)
            if one is not None:
                (one.stop if order.verb == worker_order.CLOSE_WINDOW else one.again).set()
        self._end(words, "" if one is not None else own_words.write("own.no_window", shop=order.shop))

    def _run(self, do: Callable[[str], None], shop: str, words: str) -> None:
        try:
            do(shop)
        except NoProfile as exc:
            self._end(words, str(exc))
        except Exception as exc:  # the edge of the thread: whatever it is, who asked is told
            log.exception("%s", words)
            self._end(words, f"{type(exc).__name__}: {exc}")
        else:
            self._end(words)

    def _end(self, words: str, error: str = "") -> None:
        if error:
            log.warning("%s: %s", words, error)
        else:
            log.info("%s: done", words)
        try:
            self._ends.append(OrderEnd(order=words, at=self._store.now_ms(), error=error[:500]))
        except StoreError as exc:
            log.warning("nobody hears how it ended: %s", exc)

    def _restart(self, shop: str) -> None:
        self._have().restart_browser(*shop.split(":", 1))

    def _release(self, shop: str) -> None:
        with self._changed:
            one = self._windows.get(shop)
            if one is not None:
                one.stop.set()
                self._changed.wait_for(lambda: shop not in self._windows, _CLOSE_S)
        self._have().release_profile(*shop.split(":", 1))

    def _open(self, shop: str) -> None:
        control = self._have()
        with self._changed:
            if shop in self._windows:
                raise NoProfile(own_words.write("own.window_open", shop=shop))
            if self._ending:
                raise NoProfile(own_words.write("own.stopped_closing"))
            one = self._windows[shop] = _Open(self._store.now_ms())
        timer = threading.Timer(remote.WINDOW_MS / 1000, one.stop.set)
        timer.daemon = True
        timer.start()

        def show(shown: Shown) -> None:
            window = Window(
                shop=shop,
                worker=self._worker,
                opened=one.opened,
                url=shown.url,
                logged_in=shown.logged_in,
                visible=shown.visible,
                picture=shown.picture,
            )
            self._put(window)

        try:
            self._put(Window(shop=shop, worker=self._worker, opened=one.opened))
            platform, shop_id = shop.split(":", 1)
            control.open_window(platform, shop_id, stop=one.stop, again=one.again, told=show)
        finally:
            timer.cancel()
            self._remove(shop)
            with self._changed:
                del self._windows[shop]
                self._changed.notify_all()

    def _have(self) -> ProfileControl:
        if self._profiles is None:
            raise NoProfile(own_words.write("own.browser_missing"))
        return self._profiles

    def _put(self, window: Window) -> None:
        """A silent store ends no window: a person sits before it."""
        try:
            told = msgspec.structs.replace(window, at=self._store.now_ms())
            self._store.put_document(remote.WINDOWS, window.shop, remote.dump(told).decode())
        except StoreError as exc:
            log.warning("the window of %s is not shown: %s", window.shop, exc)

    def _remove(self, shop: str) -> None:
        try:
            self._store.remove_document(remote.WINDOWS, shop)
        except StoreError as exc:
            log.warning("the window of %s still counts as open: %s", shop, exc)


class _Open:
    """A window that is open."""

    def __init__(self, opened: int) -> None:
        self.opened = opened
        self.stop, self.again = threading.Event(), threading.Event()


class LogShow:
    """Keeps the last lines of this process in the store as long as somebody wants to see them."""

    def __init__(self, store: Store, clock: Clock, worker: str) -> None:
        self._store, self._clock, self._worker = store, clock, worker
        self._until = 0.0
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def show(self, seconds: float) -> None:
        """Show them for so long from now on."""
        with self._lock:
            self._until = max(self._until, self._clock.monotonic() + seconds)
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._loop, name=f"{self._worker}-log", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Show nothing any more."""
        with self._lock:
            thread = self._thread
            self._stop.set()
        if thread is not None:
            thread.join(_CLOSE_S)

    def _loop(self) -> None:
        shown: tuple[LogLine, ...] | None = None
        while True:
            lines = _lines()
            try:
                if lines != shown:
                    told = WorkerLog(worker=self._worker, at=self._store.now_ms(), lines=lines)
                    self._store.put_document(remote.LOGS, self._worker, remote.dump(told).decode())
                    shown = lines
                with self._lock:
                    over = self._stop.is_set() or self._clock.monotonic() >= self._until
                    if over:
                        self._thread = None
                if over:
                    self._store.remove_document(remote.LOGS, self._worker)
                    return
            except StoreError as exc:  # which writes a line itself; it is shown when the store is back
                log.warning("the log is not shown: %s", exc)
                if self._stop.is_set():  # what stays behind is taken away when a worker starts next
                    return
            self._clock.wait(self._stop, _LOOK_S)


def _lines() -> tuple[LogLine, ...]:
    return tuple(LogLine(at, level, _one_line(text)) for at, level, text in logs.recent()[-remote.LOG_LINES :])


def _one_line(text: str) -> str:
    """What it says, and of a traceback its last line."""
    first, *rest = text.splitlines() or [""]
    return f"{first}  {rest[-1].strip()}"[: remote.LINE_CHARS] if rest else first[: remote.LINE_CHARS]


def tidy(store: Store) -> None:
    """Take away what workers have left that were killed while somebody looked."""
    before = store.now_ms() - LEFT_MS
    for kind, read in ((remote.WINDOWS, remote.read_window), (remote.LOGS, remote.read_log)):
        for name, body in store.documents(kind).items():
            try:
                at = read(body).at
            except msgspec.MsgspecError:
                at = 0
            if at < before:
                store.remove_document(kind, name)
