"""``demo``: a throw-away fleet with real task processes, watched to its end and counted three ways.

Counts a demo three ways: its records, the events it saw, what the console shows; and its orders row by row.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from services import assembly, workforce
from services import settings as config
from services.cli import signals, spoken, window
from services.cli.context import EXIT_FAILED, EXIT_OK, ConsoleRequest, Context, plain, seconds, whole
from services.commands.promises import PromiseCommands
from services.domain.errors import ConsoleError, UsageError
from services.domain.gates.breaker import Rule
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises.promise import BY, Promise
from services.domain.task.search.query import Query, each
from services.domain.task.status import TERMINAL, Status
from services.domain.text.said import said
from services.i18n import N_
from services.monitor.live import Changes, Live
from services.sample.care import NOTE, Caretaker
from services.sample.fleet import SampleFleet, Trickle, sample_shops
from services.workers.host import LocalWorkers, Steward

WATCH_S = 10.0  #: how long events may be late
_DAILY = tuple(range(7))
#: the trickle brings orders of each shop every few minutes, replies more seldom and shop fronts hardly ever
PROMISES: tuple[Promise, ...] = (
    Promise(name="orders", task_type="sync_order", limit_s=3600, all_shops=True, owner="ops"),
    Promise(name="replies-pdd", task_type="batch_reply", limit_s=300, platforms=("pdd",), note="buyers wait"),
    Promise(name="content-temu", task_type="get_content", limit_s=60, platforms=("temu",)),
    Promise(
        name="goods-by-eight", task_type="refresh_goods", kind=BY, all_shops=True,
        window=Weekly(days=_DAILY, start=0, end=8 * 60),
    ),
    Promise(
        name="shop-fronts", task_type="screenshot", kind=BY, all_shops=True,
        window=Weekly(days=tuple(range(5)), start=6 * 60, end=12 * 60),
    ),
)  # fmt: skip


class Count:
    """Begins before the first task; ``note`` hears of every event."""

    def __init__(self, engine: assembly.Engine, fleet: SampleFleet) -> None:
        self._engine, self._fleet = engine, fleet
        self._ends: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._since = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Remember what a store that others use too holds already."""
        self._since = self._engine.store.now_ms()
        self._before.update(self._recount()["status"])

    def note(self, changes: Changes) -> None:
        """Count the ends among these events."""
        with self._lock:
            self._ends.update(event.to for event in changes.events if event.to in TERMINAL and event.from_ != event.to)

    def report(self, trickle: Trickle, *, drained: bool) -> dict[str, Any]:
        """The figures: records, events and what the console shows must agree; orders must equal the storefront's."""
        records = self._recount()
        ended = self._new_ends(records["status"])
        seen = self._seen(ended)
        counts = self._engine.store.counts()
        shown = self._new_ends(counts.status)
        orders = self._orders()
        return {
            "drained": drained,
            "created": trickle.created,
            "duplicates_refused": trickle.duplicates,
            "done_already": trickle.too_soon,
            "records": records["status"],
            "events_ended": seen,
            "shown": shown,
            "agree": ended == shown == seen,
            "processes": records["attempts"],
            "retried": records["retried"],
            "dead_open": counts.triage.get("open", 0),
            "orders": orders,
            "retry_delays_s": list(self._engine.settings.delays),
            "ok": drained and ended == shown == seen and orders["exact"],
        }

    def _new_ends(self, status: Mapping[str, int]) -> dict[str, int]:
        """Ended tasks by status, without those that the store held before."""
        more = {word: number - self._before[word] for word, number in status.items() if word in TERMINAL}
        return {word: number for word, number in more.items() if number}

    def _seen(self, ended: dict[str, int]) -> dict[str, int]:
        """Ends that the event stream has told of; the last ones may still be on their way."""
        end = time.monotonic() + WATCH_S
        while True:
            with self._lock:
                seen = dict(self._ends)
            if seen == ended or time.monotonic() > end:
                return seen
            time.sleep(0.05)

    def _recount(self) -> dict[str, Any]:
        status: Counter[str] = Counter()
        attempts = retried = 0
        for task in each(self._engine.store.query, Query(limit=1000, want_total=False)):
            status[task.status] += 1
            attempts += task.attempt
            retried += bool(task.retries)
        return {"status": dict(status), "attempts": attempts, "retried": retried}

    def _orders(self) -> dict[str, Any]:
        """Orders of every shop whose sync succeeded, compared row by row with what the storefront serves."""
        synced = self._synced_shops()
        kept = rows_of(self._fleet.database)
        wrong = []
        for platform, shop in sorted(synced):
            truth = {str(order["order_no"]) for order in self._fleet.ask(f"/_orders?platform={platform}&shop={shop}")}
            if kept.get((platform, shop), set()) != truth:
                wrong.append(f"{platform}:{shop}")
        return {
            "shops_synced": len(synced),
            "rows": sum(len(rows) for rows in kept.values()),
            "exact": not wrong,
            "wrong": wrong,
        }

    def _synced_shops(self) -> set[tuple[str, str]]:
        page = assembly.queries(self._engine).tasks.page("status:succeeded type:sync_order", limit=10_000)
        return {(task.platform, task.shop_id) for task in page.tasks if task.created_at >= self._since}


def rows_of(database: Path) -> dict[tuple[str, str], set[str]]:
    """Order numbers by (platform, shop) in the file that the sample flows write."""
    if not database.exists():
        return {}
    found: dict[tuple[str, str], set[str]] = {}
    with contextlib.closing(sqlite3.connect(database)) as db:
        for platform, shop, number in db.execute("SELECT platform, shop_id, order_no FROM orders"):
            found.setdefault((platform, shop), set()).add(str(number))
    return found


log = logging.getLogger(__name__)
RETRY = config.RetrySettings(base_seconds=1, cap_seconds=4, max_retries=3)
DEFAULT_SECONDS = 60.0
#: creating ends so long before the end; what is left then may have to wait for a breaker of the fleet's own rule
CALM_S, DRAIN_S = 15.0, 100.0
#: of the demo's own store, as much shorter as the retries are
BREAKER = Rule(cooldown_s=2, max_cooldown_s=60)
PER_SECOND, BURST = 7.0, 60
#: for so long a shop of the sample waits for a login: without a window there is nobody to see it
CARE_S, CARE_SHOWN_S = 3.0, 45.0
MAX_SECONDS, MAX_RATE = 86_400, 1_000
#: the least that a window needs before a picture of it shows what it was opened for
SIGHT_S = 4.0


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(spoken.phrase("takes a number, not {text}", text=f"{text!r:.40}")) from None


def add(nouns: Any) -> None:
    text = "a throw-away fleet with real task processes"
    parser = nouns.add_parser("demo", parents=[window.options()], help=text)
    parser.add_argument("--shops", type=whole(1, 10_000), default=60)
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=None,
        help=f"end after this time (default with --json: {DEFAULT_SECONDS:.0f})",
    )
    parser.add_argument("--slots", type=whole(1, 64), default=5)
    parser.add_argument("--rate", type=_number, default=PER_SECOND, help="tasks a second")
    parser.add_argument("--size", default="", metavar="WxH", help="size of the window (default: 1600x1000)")
    parser.set_defaults(handler=run, shows_window=True)


class Demo:
    """One demo: home folder, storefront, engine, worker, trickle and the counts."""

    def __init__(self, context: Context, home: Path) -> None:
        args = context.args
        self.args, self.home = args, home
        self.shops = sample_shops(args.shops)
        only_look = getattr(args, "read_only", False)
        base = (
            config.load(
                profile="demo" if not getattr(args, "broker", "") else getattr(args, "profile", ""),
                broker=getattr(args, "broker", ""),
                redis=getattr(args, "redis", ""),
                read_only=only_look,
                home=home,
            )
            if getattr(args, "broker", "")
            else msgspec.structs.replace(config.load(read_only=only_look, home=home), profile="demo")
        )
        assembly.refuse_read_only(base)
        self.fleet = SampleFleet(home)
        self.fleet.start()
        worker = msgspec.structs.replace(base.worker, slots=args.slots)
        self.settings = self.fleet.equip(msgspec.structs.replace(base, retry=RETRY, worker=worker, home=str(home)))
        self.engine = assembly.open_engine(self.settings)
        self.commands = assembly.commands(self.engine)
        self.live: Live = assembly.live(self.engine)
        self.count = Count(self.engine, self.fleet)
        self._steward: Steward | None = None
        self._workers: LocalWorkers | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self.live.on_changes(self.count.note)
        shown = opens_window(context) and not context.json
        self._care = Caretaker(
            self.engine.store,
            self.fleet,
            lambda shop: self.commands.sessions.open(shop, note=NOTE),
            after_s=CARE_SHOWN_S if shown else CARE_S,
        )
        self.trickle = Trickle(
            lambda specs: self.commands.tasks.create(specs, origin="demo"), self.shops, per_second=args.rate
        )

    def start(self) -> None:
        """Import the shops, start watching, working and creating.

        Raises:
            UsageError: the fleet is in use: the demo's worker would take its tasks and only pretend to run them.
        """
        self._refuse_a_real_fleet()
        self.commands.fleet.import_shops(self.shops)
        self.live.start()
        if not self.live.wait_following(WATCH_S):
            raise ConsoleError(said("sample.no_events"))
        self.count.begin()
        if self.settings.embedded:
            self.commands.breakers.set_rule(BREAKER)
            promise_some(self.commands.promises, {shop.platform for shop in self.shops})
            self._steward = workforce.steward(self.engine)
            self._steward.start()
            options = workforce.worker_options(self.settings)
            self._workers = LocalWorkers(workforce.worker_parts(self.engine), options)  # it leaves when it is told to
            self._workers.start(options.slots, options.lanes)
        else:
            self._child = self._worker_process()
        self._care.start()
        self.trickle.burst(BURST)
        self.trickle.start()

    def _refuse_a_real_fleet(self) -> None:
        own = {shop.key for shop in (*self.shops, *sample_shops())}
        foreign = sum(shop.key not in own for shop in self.engine.store.shops())
        waiting = self._active()
        if foreign or waiting:
            raise UsageError(
                f"this fleet is in use ({foreign} shops of its own, {waiting} tasks not done): the demo would only"
                " pretend to run its tasks; name an empty vhost and Redis database",
                field="--broker",
            )

    def drain(self, seconds: float, stop: threading.Event) -> bool:
        """Stop creating and wait until nothing is active; False when time ran out, or at ``stop``."""
        self.trickle.close()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not stop.is_set():
            if not self._active():
                stop.wait(1.0)
                if not self._active():
                    return True
            stop.wait(0.2)
        return False

    def close(self) -> None:
        """End everything in the order of dependence."""
        self.trickle.close()
        self._care.close()
        if self._workers is not None:
            self._workers.stop(5.0)
        if self._child is not None:
            self._child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(20.0)
            if self._child.poll() is None:
                self._child.kill()
                self._child.wait()
        if self._steward is not None:
            self._steward.close()
        self.live.close()
        self.engine.close()
        self.fleet.close()

    def report(self, *, drained: bool) -> dict[str, Any]:
        """The figures at the end."""
        return self.count.report(self.trickle, drained=drained)

    def _active(self) -> int:
        counts = self.engine.store.counts().status
        return sum(number for status, number in counts.items() if status not in TERMINAL and status != Status.HELD)

    def _worker_process(self) -> subprocess.Popen[bytes]:
        write_worker_config(self.home, self.settings)
        command = [
            sys.executable,
            str(assembly.RESOURCES.parent / "main.py"),
            "worker",
            "--slots",
            str(self.args.slots),
        ]
        ours = ("FLEETDECK_RETRY__", "FLEETDECK_EXECUTORS__")  # the demo's own stand in the file
        passed = {name: text for name, text in config.child_environment().items() if not name.startswith(ours)}
        # everybody on a machine may read a command line, and addresses hold passwords
        environment = {
            **passed,
            "FLEETDECK_HOME": str(self.home),
            "FLEETDECK_BROKER__URL": self.settings.broker.url,
            "FLEETDECK_STORE__URL": self.settings.store.url,
        }
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def run(context: Context) -> int:
    """Show the window where there is a display and nobody asked for JSON; else run for the given time and report."""
    args = context.args
    if args.seconds is not None and not 0 < args.seconds <= MAX_SECONDS:
        raise UsageError(said("sample.seconds"), field="--seconds")
    if not 0 < args.rate <= MAX_RATE:
        raise UsageError(said("sample.rate"), field="--rate")
    size = _size(args.size) if args.size else None
    if not opens_window(context):
        json_only = N_("with --json the demo opens one only for --screenshot FILE")
        why = spoken.phrase(json_only if context.json else N_("there is no display here"))
        window.refuse_without_window(args, why)
    stop = threading.Event()
    with (
        signals.heard(stop.set),  # or a request to end would leave worker, storefront and folder behind
        tempfile.TemporaryDirectory(prefix="fleetdeck-demo-", ignore_cleanup_errors=True) as folder,
        _demo(context, folder) as demo,
    ):
        if stop.is_set():
            return EXIT_FAILED
        if not opens_window(context):
            return _headless(context, demo, stop)
        picture = getattr(args, "screenshot", "")
        seconds = args.seconds or (DEFAULT_SECONDS if picture or context.json else 0.0)
        request = ConsoleRequest(
            settings=demo.settings,
            screenshot=picture,
            page=getattr(args, "page", ""),
            size=size,
            seconds=max(SIGHT_S, _busy(seconds)) if context.json else seconds,
            demo=True,
        )
        code = context.open_console(request)
        return _tell(context, demo, stop, picture=picture, taken=code == EXIT_OK) if context.json else code


def opens_window(context: Context) -> bool:
    """Whether a picture of the window was asked for, or there is somebody at a display who did not ask for JSON."""
    around = config.console_environment()
    display = bool(around["DISPLAY"] or around["WAYLAND_DISPLAY"]) or config.is_windows() or sys.platform == "darwin"
    return bool(getattr(context.args, "screenshot", "")) or (display and not context.json)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 960 <= int(width) <= 8000 and 540 <= int(height) <= 5000):
        raise UsageError(said("sample.size", value=f"{text!r:.20}"), field="--size")
    return int(width), int(height)


def write_worker_config(home: Path, settings: config.Settings) -> None:
    """Leave the execution half of the settings for worker processes of the same home."""
    import json

    rpa, retry = settings.executors.rpa, settings.retry
    lines = [
        "[retry]",
        f"base_seconds = {retry.base_seconds}",
        f"cap_seconds = {retry.cap_seconds}",
        "[executors.rpa]",
        f"command = {json.dumps(list(rpa.command), ensure_ascii=False)}",
        "[executors.rpa.commands]",
        *(f"{name} = {json.dumps(list(command), ensure_ascii=False)}" for name, command in rpa.commands.items()),
        "[executors.rpa.environment]",
        *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in rpa.environment.items()),
    ]
    (home / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextlib.contextmanager
def _demo(context: Context, folder: str) -> Iterator[Demo]:
    demo = Demo(context, Path(folder))
    try:
        demo.start()
        yield demo
    finally:
        demo.close()


def _headless(context: Context, demo: Demo, stop: threading.Event) -> int:
    stop.wait(_busy(context.args.seconds or DEFAULT_SECONDS))
    return _tell(context, demo, stop)


def _busy(seconds: float) -> float:
    """Seconds for which tasks are made, of all that were asked for."""
    return seconds - min(CALM_S, seconds / 3)


def _tell(context: Context, demo: Demo, stop: threading.Event, *, picture: str = "", taken: bool = True) -> int:
    """Let the fleet finish and print the figures; nothing, when it is told to stop."""
    drained = demo.drain(DRAIN_S, stop)
    if stop.is_set():
        return EXIT_FAILED
    try:
        report = demo.report(drained=drained)
    except ConsoleError as exc:
        log.exception("no report")
        report = {"ok": False, "error": str(exc)}
    if picture:
        report |= {"ok": report["ok"] and taken, "screenshot": picture if taken else ""}
    lines = [f"{name:<20} {plain(value)}" for name, value in report.items()]
    lines.append("retry delays are 1/2/4 s here instead of 30/60/120 s")
    context.show(report, lines)
    return EXIT_OK if report["ok"] else EXIT_FAILED


def promise_some(commands: PromiseCommands, platforms: Container[str]) -> None:
    """Promise those whose platforms are there.

    Raises:
        StoreUnavailable: they cannot be recorded now.
    """
    for one in PROMISES:
        if all(platform in platforms for platform in one.platforms):
            commands.set(one)
