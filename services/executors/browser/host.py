"""The browser host: a child process that drives Chromium for all slots of a worker, from one asyncio loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from playwright.async_api import async_playwright

from services.domain.task import classify, own_words
from services.executors import child_end
from services.executors.browser import attempt, orders
from services.executors.browser.launch import Launcher
from services.executors.browser.pool import Lease, NoBrowser, Pool
from services.executors.stdout import bounded_json

log = logging.getLogger(__name__)
PULSE_S = 1.0


class Host:
    """Takes orders, answers words; lives as long as its worker keeps the pipe open."""

    def __init__(self, say: Callable[[orders.Word], None], setup: orders.Setup) -> None:
        self._say, self._setup = say, setup
        self._running: dict[str, asyncio.Task[None]] = {}
        self._leases: dict[str, Lease] = {}
        self._ended = asyncio.Event()
        self._pool: Pool

    async def serve(self, reader: asyncio.Queue[orders.Order | None]) -> None:
        """Work until the pipe ends."""
        async with async_playwright() as playwright:
            self._pool = Pool(Launcher(playwright, self._setup), self._setup.settings)
            self._say(orders.Ready())
            beat = asyncio.create_task(self._beat())
            while (order := await reader.get()) is not None:
                self._take(order)
            beat.cancel()
            for task in self._running.values():
                task.cancel()
            if self._running:
                await asyncio.wait(self._running.values(), timeout=5)
            await self._pool.close()

    def _take(self, order: orders.Order) -> None:
        if isinstance(order, orders.Cancel):
            self._cancel(order)
        elif not isinstance(order, orders.Setup):
            if isinstance(order, orders.LetGo):
                work = self._let_go(order)
            else:
                work = self._run(order) if isinstance(order, orders.RunAttempt) else self._lend(order)
            task = self._running[order.token] = asyncio.create_task(work)
            token = order.token
            task.add_done_callback(lambda _: self._running.pop(token, None))

    def _cancel(self, order: orders.Cancel) -> None:
        lease = self._leases.get(order.token)
        if order.force and lease is not None:
            lease.spoil()
        task = self._running.get(order.token)
        if task is not None:
            task.cancel()

    async def _beat(self) -> None:
        while True:
            await self._pool.tend()
            self._say(self._pool.state())
            await asyncio.sleep(PULSE_S)

    async def _run(self, order: orders.RunAttempt) -> None:
        try:
            end = await self._attempt(order)
        except asyncio.CancelledError:
            end = orders.End(
                token=order.token, ok=False, error=own_words.write("own.stopped"), error_kind=classify.CANCELLED
            )
        except Exception as exc:  # the edge of the host: whatever it is ends this attempt only
            log.exception("%s could not be executed", order.task_id)
            text = f"{type(exc).__name__}: {exc}"
            end = orders.End(token=order.token, ok=False, error=text, error_kind=classify.CRASHED)
        self._say(end)

    async def _attempt(self, order: orders.RunAttempt) -> orders.End:
        try:
            lease = await self._acquire(order)
        except NoBrowser as exc:
            kind = classify.NO_BROWSER
            return orders.End(token=order.token, ok=False, error=str(exc), error_kind=kind, unable=exc.unable)
        self._leases[order.token] = lease
        try:
            run = attempt.Attempt(order, lease, self._setup.settings, self._say)
            values = await run.run()
            return orders.End(token=order.token, ok=True, result=bounded_json(values))
        except attempt.Failed as exc:
            return orders.End(token=order.token, ok=False, error=str(exc), error_kind=exc.kind)
        finally:
            try:
                await asyncio.shield(self._pool.release(lease))
            finally:  # until then it can still be forced
                self._leases.pop(order.token, None)

    async def _acquire(self, order: orders.RunAttempt) -> Lease:
        if order.light:
            return await self._pool.acquire_light()
        return await self._pool.acquire(order.platform, order.shop_id)

    async def _let_go(self, order: orders.LetGo) -> None:
        error = await self._pool.let_go(f"{order.platform}:{order.shop_id}", force=order.force)
        self._say(orders.End(token=order.token, ok=not error, error=error))

    async def _lend(self, order: orders.Lend) -> None:
        try:
            lease = await self._pool.acquire(order.platform, order.shop_id, lent=True)
        except NoBrowser as exc:
            kind = classify.NO_BROWSER
            self._say(orders.End(token=order.token, ok=False, error=str(exc), error_kind=kind, unable=exc.unable))
            return
        self._leases[order.token] = lease
        try:
            self._say(orders.Lent(token=order.token, port=lease.browser.debug_port()))
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self._say(orders.End(token=order.token, ok=True))
        finally:
            try:
                await asyncio.shield(self._pool.release(lease))
            finally:  # until then it can still be forced
                self._leases.pop(order.token, None)


def main(channel: int) -> None:
    """Serve on the inherited descriptor (handle on Windows) ``channel``; orders come on standard input."""
    commands, channel = child_end.taken(channel)
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    asyncio.run(_serve(commands, channel))


async def _serve(commands: int, channel: int) -> None:
    loop = asyncio.get_running_loop()
    reader: asyncio.Queue[orders.Order | None] = asyncio.Queue()
    first: asyncio.Future[orders.Order] = loop.create_future()

    def listen() -> None:
        with open(commands, "rb") as stream:
            for number, line in enumerate(stream):
                order = orders.read_order(line)
                deliver = first.set_result if number == 0 else reader.put_nowait
                loop.call_soon_threadsafe(deliver, order)
        with contextlib.suppress(RuntimeError):  # it has ended already
            loop.call_soon_threadsafe(reader.put_nowait, None)

    threading.Thread(target=listen, name="orders", daemon=True).start()
    setup = await first
    assert isinstance(setup, orders.Setup)
    (Path(setup.folder) / "host").write_text(str(os.getpid()), encoding="ascii")
    await Host(_speaker(channel), setup).serve(reader)


def _speaker(channel: int) -> Callable[[orders.Word], None]:
    def say(word: orders.Word) -> None:
        data = orders.write(word) + b"\n"
        try:
            while data:
                data = data[os.write(channel, data) :]
        except OSError:  # the worker is gone; the end of its orders ends this process
            return

    return say
