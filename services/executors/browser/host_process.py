"""The worker's end of one browser host: starts it, speaks with it, and ends it with all its browsers."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping

from services.domain.task import own_words
from services.executors import own_folder, python_child
from services.executors.browser import orders
from services.executors.stdout import RESULT_LIMIT, LineSplitter, Pipe, pump

log = logging.getLogger(__name__)
PREFIX = "fleetdeck-browser-"
START_S, SILENT_S, END_S = 60.0, 60.0, 10.0

Receiver = Callable[[orders.Word | None], None]


class BrowserHost:
    """A child process; ``None`` is what its receivers get when it is gone."""

    def __init__(self, setup: Callable[[str], orders.Setup], environment: Mapping[str, str]) -> None:
        """Start it and wait until it can take orders. ``setup`` is asked with the host's own folder.

        Raises:
            OSError: it cannot be started, or did not come up; the text tells its last words.
        """
        self.folder = own_folder.make(PREFIX)
        self._lock = threading.Lock()
        self._receivers: dict[str, Receiver] = {}
        self._ready, self._gone = threading.Event(), threading.Event()
        self._said: list[str] = []
        self.jobs = 0
        self.pulse = orders.Pulse()
        self._heard = time.monotonic()
        try:
            apart = {**environment, "TMPDIR": str(self.folder), "TEMP": str(self.folder)}
            self.tree, channel = python_child.start("services.executors.browser.host", apart)
        except BaseException:
            own_folder.remove(self.folder)
            raise
        process = self.tree.process
        for stream, receive, room, on_end in (
            (process.stdout, self._printed, 0, _nothing),
            (process.stderr, self._printed, 0, _nothing),
            (channel, self._hear, 8 * RESULT_LIMIT, self._has_gone),
        ):
            pump(Pipe(stream, LineSplitter(10_000, room), receive, on_end))
        self._send(setup(str(self.folder)))
        if not self._wait_for_start():
            words = " ".join(self._said[-5:])[-1000:]
            self.close()
            raise OSError(own_words.write("own.host_not_started", said=words))

    @property
    def alive(self) -> bool:
        """Whether it still takes orders; one that is silent for a minute does not."""
        return not self._gone.is_set() and time.monotonic() - self._heard < SILENT_S

    @property
    def busy(self) -> bool:
        """Whether orders are under way."""
        return bool(self._receivers)

    def order(self, order: orders.RunAttempt | orders.Lend | orders.LetGo, receive: Receiver) -> None:
        """Give an order; its answers go to ``receive``, in another thread, until ``forget``."""
        with self._lock:
            self.jobs += 1
            self._receivers[order.token] = receive
        self._send(order)
        if self._gone.is_set():
            receive(None)

    def cancel(self, token: str, *, force: bool = False) -> None:
        """Ask for the end of an order."""
        self._send(orders.Cancel(token=token, force=force))

    def forget(self, token: str) -> None:
        """Its answers interest nobody any more."""
        with self._lock:
            self._receivers.pop(token, None)

    def close(self) -> None:
        """End it: by the end of its orders, then by force; then take its folder away."""
        if self.tree.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.tree.process.stdin.close()
        until = time.monotonic() + END_S
        while not self.tree.exited() and time.monotonic() < until and not self._gone.wait(0.05):
            pass
        self._gone.wait(1.0)
        self.kill()
        self.tree.reap()
        own_folder.remove(self.folder)

    def kill(self) -> None:
        """End it with everything it started."""
        self.tree.kill()

    def _wait_for_start(self) -> bool:
        until = time.monotonic() + START_S
        while not self._ready.wait(0.02):
            if self._gone.is_set() or time.monotonic() > until:
                return False
        return True

    def _send(self, order: orders.Order) -> None:
        stream = self.tree.process.stdin
        assert stream is not None
        data = orders.write(order) + b"\n"
        with self._lock:
            try:
                while data:
                    data = data[stream.write(data) or 0 :]
            except (OSError, ValueError):
                return  # the end of its answers tells that it is gone

    def _hear(self, line: bytes, cut: bool) -> None:
        self._heard = time.monotonic()
        if cut or not line:
            return
        word = orders.read_word(line)
        if isinstance(word, orders.Ready):
            self._ready.set()
        elif isinstance(word, orders.Pulse):
            self.pulse = word
        else:
            receive = self._receivers.get(word.token)
            if receive is not None:
                receive(word)

    def _printed(self, line: bytes, cut: bool) -> None:
        text = line.decode("utf-8", "replace").rstrip()
        if text:
            self._said = [*self._said[-50:], text]
            log.info("browser host: %s", text)

    def _has_gone(self) -> None:
        self._gone.set()
        with self._lock:
            receivers = list(self._receivers.values())
        for receive in receivers:
            receive(None)


def _nothing() -> None:
    return
