"""Runs the real console offscreen and measures it from inside: stalls of the GUI thread, freshness, memory."""

from __future__ import annotations

import argparse
import asyncio
import collections
import faulthandler
import gc
import json
import logging
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    gc.disable()  # as main.py does, until the window collects by itself

import psutil
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from console.application import SWITCH_INTERVAL_S
from console.lifecycle import Console
from console.memory import few_arenas
from services import settings as config
from services.cli.context import ConsoleRequest
from services.domain.task.event import Event
from services.domain.task.search.query import Counts
from services.monitor.live import Changes, Live
from tests.bench.pairs import percentile
from views.support.throttle import turns

BEAT_MS = 5
LONG_S = 0.02
#: pages that are watched while the fleet is busy, each with what it is asked for; every other one is only opened
PAGES = (("overview", None), ("tasks", "status:active"), ("dead_letters", None), ("workers", None))
PREPARED_S, OPENED_S, IDLE_S = 12.0, 1.5, 15.0


@dataclass(frozen=True, slots=True)
class Stalls:
    """How long the GUI thread kept a click waiting, in ms, sorted."""

    late: list[float]  #: by the clock, the wait for a processor among it
    own: list[float]  #: without that wait; a thread that holds the interpreter is still among it
    turns: list[float]  #: processor time of this thread from one beat to the next: what a quiet machine would see
    cpu_s: float

    def told(self, where: str) -> dict[str, float]:
        """Its figures: the clock first, then what the machine did not add."""
        return {
            f"{where}: GUI stall p99 ms (aim 16)": percentile(self.late, 99),
            f"{where}: GUI stall max ms (aim 33)": self.late[-1],
            f"{where}: max without waiting for a processor": self.own[-1],
            f"{where}: computed in one turn, p99 ms (aim 16)": percentile(self.turns, 99),
            f"{where}: computed in one turn, max ms (aim 33)": self.turns[-1],
        }


class Beat(QObject):
    """A timer of the GUI thread: each lateness is time in which a click would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self.own: list[float] = []
        self.turns: list[float] = []
        self.at = self._last = time.perf_counter()
        self._queued = queued_ms()
        self._cpu = self._turn = time.thread_time()
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start()

    def stop(self) -> None:
        """Note nothing any more."""
        self._timer.stop()

    def take(self) -> Stalls:
        """What was noted since the last call."""
        late, own, turns = sorted(self.late), sorted(self.own), sorted(self.turns)
        self.late, self.own, self.turns = [], [], []
        cpu, self._cpu = time.thread_time() - self._cpu, time.thread_time()
        return Stalls(late, own, turns, cpu)

    def _on_beat(self) -> None:
        now, queued, turn = time.perf_counter(), queued_ms(), time.thread_time()
        late = max(0.0, (now - self._last) * 1000 - BEAT_MS)
        self.late.append(late)
        self.turns.append((turn - self._turn) * 1000)
        self._turn = turn
        self.own.append(max(0.0, late - (queued - self._queued)))
        self._last, self._queued, self.at = now, queued, now


_waited = threading.local()


def queued_ms() -> float:
    """How long this thread has been ready to run without a processor, so far: what other programs did to it."""
    try:
        if not hasattr(_waited, "file"):
            _waited.file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        return int(os.pread(_waited.file, 100, 0).split()[1]) / 1e6
    except (OSError, IndexError):
        return 0.0


class Watchdog(threading.Thread):
    """Looks at the GUI thread from outside and keeps what it was doing whenever a beat is overdue."""

    def __init__(self, beat: Beat) -> None:
        super().__init__(daemon=True)
        self._beat, self._gui = beat, threading.get_ident()
        self.stacks: collections.Counter[str] = collections.Counter()
        self.page, self._ended = "", threading.Event()
        self._notes = tempfile.TemporaryFile("w+")  # noqa: SIM115  (as long as the process)

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()

    def run(self) -> None:
        """Look every few milliseconds."""
        while not self._ended.wait(0.004):
            overdue = time.perf_counter() - self._beat.at
            if overdue < LONG_S:
                continue
            self.stacks[f"{self.page}: {self._stack()}"] += 1

    def _stack(self) -> str:
        """The GUI thread's calls. Written by C: a frame held here would keep a painter alive beyond its paint event."""
        self._notes.seek(0)
        self._notes.truncate()
        faulthandler.dump_traceback(self._notes)
        self._notes.seek(0)
        parts = self._notes.read().split("\n\n")
        own = next((part for part in parts if f"0x{self._gui:016x}" in part), "")
        lines = re.findall(r'File "[^"]*?([^"/]+)\.py", line (\d+) in (\w+)', own)
        return " < ".join(f"{module}.{name}:{line}" for module, line, name in lines[:7])


class Noise(threading.Thread):
    """How late a thread of another, idle process would be: what the machine itself adds. Runs in a child."""

    @staticmethod
    def loop(pipe: Any) -> None:
        """Sleep and note the lateness until told to end."""
        late = []
        while not pipe.poll(0):
            begun = time.perf_counter()
            time.sleep(BEAT_MS / 1000)
            late.append((time.perf_counter() - begun) * 1000 - BEAT_MS)
        pipe.recv()
        pipe.send(sorted(late))


class Probe:
    """Drives the console through its pages and writes the figures as JSON."""

    def __init__(self, console: Console, args: argparse.Namespace) -> None:
        self._console, self._args = console, args
        self._figures: dict[str, float] = {}
        self._beat = Beat()
        self._dog = Watchdog(self._beat)
        if not args.rest:
            self._dog.start()

    async def run(self) -> dict[str, Any]:
        """Measure."""
        args = self._args
        await self._first_paint()
        if args.rest:
            await self._rest()
            return {"figures": self._figures, "stacks": []}
        self._console.connection.live.on_changes(self._note)
        self._events = 0
        self._dog.page = "made ahead"
        self._beat.take()
        await asyncio.sleep(PREPARED_S)  # the pages are made ahead
        self._figures |= self._beat.take().told("pages are made ahead")
        await self._make_the_rest()
        with _noise() as noise:
            for page, request in PAGES:
                await self._page(page, request, args.seconds)
            await self._every_page()
            await self._everything()
        late = await asyncio.get_running_loop().run_in_executor(None, noise)
        self._figures["machine: ten million additions, s"] = _additions()
        self._figures["machine: an idle process is late, p99 ms"] = percentile(late, 99)
        self._figures["machine: an idle process is late, max ms"] = late[-1]
        self._figures["RSS MB (aim 400)"] = psutil.Process().memory_info().rss / 1e6
        if args.soak:
            await self._soak(args.soak)
        # a copy: the watchdog goes on noting meanwhile
        return {"figures": self._figures, "stacks": collections.Counter(dict(self._dog.stacks)).most_common(40)}

    async def _first_paint(self) -> None:
        while self._console.opened is None or self._console.opened.window.current != "overview":
            await asyncio.sleep(0.005)
        window = self._console.opened.window
        page = window.page("overview")
        seen = _Painted(window)
        while not page.settled:
            await asyncio.sleep(0.005)
        settled = time.time()
        while seen.at < settled:
            await asyncio.sleep(0.002)
        window.removeEventFilter(seen)  # each note takes a turn that an answer would have
        self._figures["first useful paint s (aim 1)"] = seen.at - self._args.begun
        self._figures["processor s spent until then"] = time.process_time()

    async def _rest(self) -> None:
        """What the program takes while nothing happens and its pages are made."""
        window = self._console.opened.window
        self._beat.stop()  # looking two hundred times a second is no rest
        await asyncio.sleep(PREPARED_S)
        await self._make_the_rest()
        for page in (spec.id for spec in window.specs):
            window.open_page(page)
            await asyncio.sleep(3.0)
            spent, begun = time.process_time(), time.perf_counter()
            await asyncio.sleep(IDLE_S)
            share = (time.process_time() - spent) / (time.perf_counter() - begun)
            self._figures[f"at rest, {page} seen: processor % of one core (aim 1)"] = share * 100

    async def _make_the_rest(self) -> None:
        """A slow machine is not done with it by then, and would make pages while something else is measured."""
        window = self._console.opened.window
        for spec in window.specs:
            window.page(spec.id)
            await asyncio.sleep(0.1)

    async def _page(self, page: str, request: str | None, seconds: float) -> None:
        window = self._console.opened.window
        await self._open(page, request)
        self._dog.page = page
        eyes = await self._eyes(page, window)
        self._beat.take()
        self._events, begun = 0, time.perf_counter()
        await asyncio.sleep(seconds)
        stalls = self._beat.take()
        self._figures[f"{page}: events /s seen"] = self._events / (time.perf_counter() - begun)
        self._figures |= stalls.told(page)
        self._figures[f"{page}: GUI thread CPU %"] = stalls.cpu_s / seconds * 100
        waits = sorted(eyes.stop()) if eyes is not None else []
        if waits:
            self._figures[f"{page}: change to visible p50 ms, {len(waits)} changes"] = percentile(waits, 50)
            self._figures[f"{page}: change to visible p99 ms (aim 250)"] = percentile(waits, 99)

    async def _open(self, page: str, request: str | None = None) -> None:
        self._dog.page = f"open {page}"
        self._beat.take()
        self._console.opened.window.open_page(page, request)
        await asyncio.sleep(OPENED_S)
        self._tell(f"open {page}")

    async def _every_page(self) -> None:
        """Open each page of the rail and those below them."""
        for spec in self._console.opened.window.specs:
            await self._open(spec.id)

    async def _everything(self) -> None:
        """Show all tasks there are, tick them all, and untick them again."""
        window = self._console.opened.window
        window.open_page("tasks", "")
        tasks = window.page("tasks")
        await asyncio.sleep(2.0)
        for words, call, done in (
            ("are shown", tasks.refresh, lambda: True),
            ("are selected", tasks.select_all, lambda: tasks.selection.count > 0),
            ("are unselected", tasks.selection.clear, lambda: not tasks.selection.count),
        ):
            self._dog.page = f"all {words}"
            self._beat.take()
            call()
            end = time.perf_counter() + 30.0
            while not done() and time.perf_counter() < end:
                await asyncio.sleep(0.2)
            count = tasks.selection.count
            await asyncio.sleep(1.5)
            self._tell(f"all tasks {words} ({count:,})" if count else f"all tasks {words}")

    def _tell(self, where: str) -> None:
        """The longest stalls of something that is done once."""
        stalls = self._beat.take()
        self._figures[f"{where}: GUI stall max ms (aim 33)"] = stalls.late[-1]
        self._figures[f"{where}: computed in one turn, max ms (aim 33)"] = stalls.turns[-1]

    async def _eyes(self, page: str, window: Any) -> Any:
        if page == "tasks":
            return _RowEyes(window.page("tasks").table.records)
        if page == "overview":
            deaths = _Deaths(self._console.connection.live)
            store = self._console.connection.engine.store
            deaths.begin(await asyncio.get_running_loop().run_in_executor(None, store.counts))
            return _TileEyes(window.page("overview").tiles["dead"], deaths)
        return None

    def _note(self, changes: Changes) -> None:
        self._events += len(changes.events)

    async def _soak(self, seconds: float) -> None:
        self._beat.stop()  # three numbers noted two hundred times a second are a megabyte a minute of their own
        self._dog.stop()
        self._console.opened.window.open_page("overview")
        await asyncio.sleep(min(30.0, seconds / 4))
        points = []
        self._count("at first")
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            points.append((time.perf_counter() / 60, psutil.Process().memory_info().rss / 1e6))
            await asyncio.sleep(1.0)
        self._count("at the end")
        self._figures["soak: RSS slope MB/min"] = slope(points)
        self._figures["soak: RSS slope in the second half MB/min"] = slope(points[len(points) // 2 :])

    def _count(self, when: str) -> None:
        """What may become more while nobody does anything."""
        process, widgets = psutil.Process(), QApplication.allWidgets()
        timers = {timer for window in QApplication.topLevelWidgets() for timer in window.findChildren(QTimer)}
        self._figures |= {
            f"soak, {when}: RSS MB": process.memory_info().rss / 1e6,
            f"soak, {when}: threads": process.num_threads(),
            f"soak, {when}: descriptors": process.num_fds(),
            f"soak, {when}: widgets": len(widgets),
            f"soak, {when}: timers": len(timers),
        }


class _Painted(QObject):
    """When the window was last painted."""

    def __init__(self, window: QObject) -> None:
        super().__init__(window)
        self.at = 0.0
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.UpdateRequest:
            turns().later(self._note)  # the window paints before that
        return False

    def _note(self) -> None:
        self.at = time.time()


class _RowEyes:
    """Milliseconds from the instant in a marked record to the moment the table holds it."""

    def __init__(self, model: Any) -> None:
        self._model, self._waits = model, []
        self._known = {row.key: row.task.updated_at for row in model.records()}
        model.dataChanged.connect(self._on_changed)

    def _on_changed(self, first: Any, last: Any, _roles: Any = None) -> None:
        now = time.time() * 1000
        for place in range(first.row(), last.row() + 1):
            task = self._model.record(place).task
            if task.shop_id == "marked" and self._known.get(task.task_id) != task.updated_at:
                self._known[task.task_id] = task.updated_at
                self._waits.append(now - task.updated_at)

    def stop(self) -> list[float]:
        """What was seen."""
        return self._waits


class _Deaths:
    """When tasks died, one for each letter beyond those that were counted once."""

    def __init__(self, live: Live) -> None:
        self._heard: list[Event] = []
        self.counted, self._cursor = 0, ""
        self._ended = False
        live.on_changes(self._hear)

    def _hear(self, changes: Changes) -> None:
        if not self._ended:
            self._heard += changes.events

    def end(self) -> None:
        """Hear no more: whoever measures how the window grows would measure this."""
        self._ended = True
        self._heard.clear()

    def begin(self, counts: Counts) -> None:
        """Begin behind what is counted."""
        self.counted, self._cursor = counts.triage.get("open", 0), counts.cursor

    def at(self) -> list[int]:
        """UTC ms of each, in their order, as far as they were heard of."""
        place = next((n for n, event in enumerate(self._heard, 1) if event.cursor == self._cursor), None)
        return [event.at for event in self._heard[place or 0 :] if event.to == "dead"]  # None: it was heard before


class _TileEyes:
    """Milliseconds from a death to the tile that counts it."""

    def __init__(self, tile: Any, deaths: _Deaths) -> None:
        self._tile, self._deaths = tile, deaths
        self._seen: list[tuple[int, float]] = []  #: how many were told first when, UTC ms
        self._timer = QTimer(interval=BEAT_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _value(self) -> int:
        return int(self._tile.kpi.value.replace(",", ""))

    def _look(self) -> None:
        value = self._value()
        if not self._seen or value > self._seen[-1][0]:
            self._seen.append((value, time.time() * 1000))

    def stop(self) -> list[float]:
        """What was seen."""
        self._timer.stop()
        waits, told = [], list(self._seen)
        for number, at in enumerate(self._deaths.at(), self._deaths.counted + 1):
            while told and told[0][0] < number:
                told.pop(0)
            if told:
                waits.append(told[0][1] - at)
        self._deaths.end()
        return waits


def slope(points: list[tuple[float, float]]) -> float:
    """Least squares."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    across = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / across if across else 0.0


def _additions() -> float:
    """Processor seconds: by which figures of two machines can be compared."""
    begun, total = time.thread_time(), 0
    for number in range(10_000_000):
        total += number
    return time.thread_time() - begun


@contextmanager
def _noise() -> Iterator[Any]:
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    child = context.Process(target=Noise.loop, args=(far,), daemon=True)
    child.start()

    def result() -> list[float]:
        near.send("end")
        late: list[float] = near.recv()
        child.join()
        return late

    yield result


async def _measure(console: Console, probe: Probe) -> dict[str, Any]:
    running = asyncio.ensure_future(console.main())
    found = await probe.run()
    console.end()
    await running
    return found


def main() -> None:
    """Run by the console benchmark."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--broker", default="")
    parser.add_argument("--redis", default="")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--soak", type=float, default=0.0)
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--begun", type=float, required=True)
    args = parser.parse_args()
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    app = QApplication(sys.argv[:1])
    few_arenas()
    settings = config.load(home=args.home, broker=args.broker, redis=args.redis)
    console = Console(app, ConsoleRequest(settings=settings, page="overview"))
    probe = Probe(console, args)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        found = runner.run(_measure(console, probe))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
