"""The windows over one open connection, and how they were left from one start to the next."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEventLoop, QPoint, QTimer

from console.connection.connections import ConnectionSwitch
from console.connection.leaving import Leaving
from console.connection.open_connection import OpenConnection
from console.instance import Asked
from console.main_window import MainWindow
from console.state import ConsoleState
from views.dialogs.republish.runner import BulkRunner
from views.support.acting import Acting

if TYPE_CHECKING:
    from console import bootstrap

CLOSE_GRACE_S, LOOK_S = 5.0, 0.05
#: after 5 s Windows ends whatever has not let the person go
SESSION_END_S, SESSION_LOOK_MS = 3.0, 20
#: how far one more window stands from the one it was opened from
BESIDE = 28


class Windows:
    """All of them, until the connection is left. The first one leads: it has what a program has once, and the last
    one that closes asks what becomes of that which runs here.
    """

    def __init__(
        self,
        connection: OpenConnection,
        first: bootstrap.OpenWindow,
        connections: ConnectionSwitch,
        *,
        leave: Callable[[], object],
        end: Callable[[], object],
        off: Callable[..., asyncio.Future[Any]],
    ) -> None:
        """``leave`` ends the program once nothing that runs here is in the way, ``end`` at once; ``off`` runs what
        blocks in a thread.
        """
        self.connection, self.first = connection, first
        self.others: list[bootstrap.OpenWindow] = []
        self._connections, self._leave, self._end, self._off = connections, leave, end, off
        self.replaced = False  #: another connection takes their place
        self._going = False
        self._parting: set[asyncio.Future[None]] = set()  #: of windows that are closed and send what they still hold
        self.leaving = self._ask_before_leaving()
        self._hear(first)

    def all(self) -> list[MainWindow]:
        """The first one first."""
        return [one.window for one in (self.first, *self.others)]

    def allow_more(self, one: bootstrap.OpenWindow) -> None:
        """Let a window open another one, and end the program."""
        one.keys.another_wanted.connect(partial(self.open_another, one, None))
        one.window.open_beside = partial(self._open_followed, one)
        one.keys.quit_wanted.connect(self._leave)

    def open_another(self, like: bootstrap.OpenWindow, kept: dict[str, object] | None, *, beside: bool = False) -> None:
        """One more window, as it was kept, or on what another one shows."""
        made = like.another()
        made.window.restore_state(kept if kept is not None else like.window.save_state())
        if kept is None or beside:
            made.window.move(like.window.pos() + QPoint(BESIDE, BESIDE))
        self.others.append(made)
        self._connections.serve(made.window)
        self.allow_more(made)
        self._hear(made)
        made.window.show()
        made.window.activateWindow()

    def _open_followed(self, like: bootstrap.OpenWindow, page_id: str, request: object) -> None:
        """One more window, on what a link leads to."""
        self.open_another(
            like, {**like.window.save_state(), "page": page_id, "show": request, "past": None}, beside=True
        )

    def _hear(self, one: bootstrap.OpenWindow) -> None:
        one.window.closing.connect(partial(self._on_closed, one))
        one.wiring.loss.other_wanted.connect(self._connections.show_menu)
        one.wiring.loss.correct_wanted.connect(self._connections.correct_opened)

    def _ask_before_leaving(self) -> Leaving:
        connection = self.connection
        leaving = Leaving(
            self.first.window,
            connection.local,
            missed=lambda slot: not connection.sample.made(slot.task_id),
            shops=connection.shops,
        )
        self.first.window.may_close = lambda: bool(self.others) or leaving.may_close()
        return leaving

    def _on_closed(self, gone: bootstrap.OpenWindow) -> None:
        """A window was closed: those that are open go on, and the oldest of them leads from then on."""
        if self._going:  # what it holds is sent with that of all
            return
        if gone in self.others:
            self.others.remove(gone)
        elif self.replaced or not self.others or self.leaving.decided:  # what ran here was finished in order to close
            self._end()
            return
        else:
            if self.leaving.waiting:  # nobody else would let the worker go on
                self.leaving.stay()
            self.first = self.others.pop(0)
            self.leaving = self._ask_before_leaving()
            self._connections.stand_on(self.first.window)
            self.first.lead()
        parting = asyncio.ensure_future(self._part_with(gone))
        self._parting.add(parting)
        parting.add_done_callback(self._parting.discard)

    async def _part_with(self, gone: bootstrap.OpenWindow) -> None:
        """Do what was asked for in a window that is closed, and let it go."""
        await self._send_held(gone.window)
        gone.window.deleteLater()

    async def let_go(self, *, ended: Callable[[], bool], stop_asking: Callable[[], object]) -> None:
        """Close them and the connection; what was asked for is done first.

        ``stop_asking`` waits for the questions of all pages, which nobody needs when the program has ``ended``.
        """
        self._going = True
        for window in self.all():
            window.stop_preparing()
        if self._parting:
            await asyncio.wait(self._parting)
        for one in (*self.others, self.first):
            await self._send_held(one.window)
        for one in self.others:
            one.window.close()
            one.window.deleteLater()
        self.others = []
        # as its user does: the page stops asking, the feed has nobody left to tell
        self.first.window.may_close = lambda: True
        self.first.window.close()
        if ended():
            await self._off(stop_asking)
        await self._off(self.connection.close, self.leaving.grace_s)
        self.first.feed.leave()
        if not ended():
            self.first.window.deleteLater()
            self.first.feed.deleteLater()

    async def _send_held(self, window: MainWindow) -> None:
        """What is still held with Undo was asked for; closing is no Undo."""
        held = send_delayed(window)
        end = time.monotonic() + CLOSE_GRACE_S
        while any(acting.busy for acting in held) and time.monotonic() < end:
            await asyncio.sleep(LOOK_S)
        for runner in window.findChildren(BulkRunner):
            runner.send_now()
            await self._off(runner.finish, CLOSE_GRACE_S)


def send_delayed(window: MainWindow) -> list[Acting]:
    """Do now what was asked for and is still held with Undo; return who does it."""
    held = window.findChildren(Acting)
    for acting in held:
        acting.send_delayed()
    return held


def settle(windows: Sequence[MainWindow], state: ConsoleState) -> None:
    """Do now what is still held, and wait for it and for what is to be remembered, as long as the desktop may: Windows
    ends this program after that without a word.
    """
    held = [acting for window in windows for acting in send_delayed(window)]
    for runner in [runner for window in windows for runner in window.findChildren(BulkRunner)]:
        runner.send_now()
    end, waiting, look = time.monotonic() + SESSION_END_S, QEventLoop(), QTimer()
    look.timeout.connect(
        lambda: waiting.quit() if time.monotonic() > end or not any(acting.busy for acting in held) else None
    )
    look.start(SESSION_LOOK_MS)
    waiting.exec()
    state.flush(SESSION_LOOK_MS / 1000 + max(0.0, end - time.monotonic()))


class LeftWindows:
    """How the windows of each connection were left. What a page shows, as the filter of a shop, is of a connection:
    another fleet has no such shop.
    """

    def __init__(self, state: ConsoleState) -> None:
        self._state = state
        self.due = True  #: those of the last run are not open again yet

    def keep(self, profile: str, windows: Sequence[MainWindow]) -> None:
        """Remember how they are, the first one first."""
        states = [one.save_state() for one in windows]
        self._state.set(window=states[0])
        self._state.put("windows", profile, states)

    def rename(self, before: str, now: str) -> None:
        """Find under the new name of a connection what stood under the old one; ``now``: "" where it was removed."""
        windows = self._state.get("windows", {})
        if now and isinstance(windows, dict) and before in windows:
            self._state.put("windows", now, windows[before])
        self._state.put("windows", before, [])

    def take(self, profile: str, wanted: Asked, *, alone: bool) -> tuple[dict[str, object], list[dict[str, object]]]:
        """The first window, on the page that is wanted: one that nobody wants to see is not made. Who goes over to
        another connection stays on the page.

        And those beside it that stood open when the program ended, unless it is wanted ``alone``; once, however often
        another connection takes the place of the first one.
        """
        left, due = self._of(profile), self.due
        self.due = False
        last: dict[str, object] = {**(self._state.get("window", {}) or {}), "show": "", "past": None}
        first = left[0] if left else last
        if wanted.page:
            first = {**first, "page": wanted.page, "show": wanted.of_page(), "past": None}
        elif not due and first.get("page") != last.get("page"):
            first = last
        return first, left[1:] if due and not alone else []

    def _of(self, profile: str) -> list[dict[str, object]]:
        found = self._state.get("windows", {})
        left = found.get(profile, []) if isinstance(found, dict) else []
        return [one for one in left if isinstance(one, dict)] if isinstance(left, list) else []
