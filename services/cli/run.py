"""``worker`` and ``demo``."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from services import assembly, workforce
from services import log as logs
from services import settings as config
from services.cli import output, signals, spoken
from services.cli.commands import fleet, machines, workers
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples
from services.domain.errors import BrokerUnavailable, ConsoleError, StoreUnavailable, UsageError
from services.domain.fleet import autoscale
from services.domain.gates import lane_share
from services.domain.insight import schedule
from services.domain.task.lane import LANES
from services.domain.task.order import QueueDepth
from services.domain.task.search.query import Counts, Query, Total, equals
from services.domain.task.status import Status
from services.domain.text.words import between_commas
from services.engine import fates
from services.engine.lead import leader
from services.ports.store import Store
from services.sample import demo
from services.workers.host import Steward
from services.workers.worker import Worker

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = logging.getLogger(__name__)
EXAMPLES = (
    "worker --slots 8 --lanes high,normal",
    "worker --handlers my_handlers --drain",
    "worker list",
    "worker drain desk-01-4711-3f2a",
    "worker slots desk-01-4711-3f2a 4",
    "worker slots desk-01-4711-3f2a 8,low=1-3",
    "worker slots desk-01-4711-3f2a auto:2-16",
    "worker refuse desk-01-4711-3f2a batch_reply shop_crawl",
    "worker stop desk-01-4711-3f2a --grace 10m",
    "worker log desk-01-4711-3f2a --follow",
    "worker browser open desk-01-4711-3f2a pdd:s1",
)
#: statuses that a draining worker waits for (held ones wait for a person)
UNFINISHED = (Status.PENDING, Status.QUEUED, Status.RUNNING, Status.RETRYING)
#: seconds for which nothing may be left; for which only what others must deal with: a lost leader has to be replaced
QUIET_S, OTHERS_S = 1.0, 15.0
#: where this process leads itself, nobody needs time to take the lead over
LED_S = 4.0
#: what is due by then is waited for, as a retry is; a plan for later keeps no worker
SOON_MS = 120_000

#: so many late schedules are counted for who measures
LATE_COUNTED = 1000
LOOPBACK = "127.0.0.1"


def add(nouns: Any) -> None:
    demo.add(nouns)
    text = "work on tasks without a window; or look at the workers"
    parser = nouns.add_parser("worker", handler=work, help=text, **examples(EXAMPLES))
    _options(parser)
    verbs = parser.add_subparsers(metavar="VERB")
    workers.add(verbs)
    machines.add(verbs)


def _options(parser: argparse.ArgumentParser) -> None:
    text = f"tasks at once (default: worker.slots of the settings, 5); {workers.SLOTS_HELP}"
    parser.add_argument("--slots", type=workers.slots, default=None, metavar=workers.SLOTS_FORM, help=text)
    parser.add_argument("--lanes", default="", help="high,normal,low")
    parser.add_argument(
        "--handlers",
        action="extend",
        default=[],
        metavar="MODULE",
        type=lambda text: between_commas(text) or [text],
        help="Python module with task handlers, as `import` calls it; several with commas",
    )
    parser.add_argument(
        "--refuse", action="extend", default=[], metavar="TYPE", type=workers.task_types, help="do not start these"
    )
    text = (
        "name of this machine: shops whose browser profiles live here are at home on it (default: made once and kept)"
    )
    parser.add_argument("--node", type=workers.node, default=None, metavar="NAME", help=text)
    text = "serve metrics for Prometheus; on the loopback address unless HOST is given"
    parser.add_argument("--metrics", type=metrics_address, default=None, metavar="[HOST:]PORT", help=text)
    text = "leave when nothing is queued, retrying or running; what waits at a gate, as at an open breaker, stays"
    parser.add_argument("--drain", action="store_true", help=text)


def metrics_address(text: str) -> tuple[str, int]:
    """Read ``PORT`` or ``HOST:PORT``.

    Raises:
        argparse.ArgumentTypeError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535 or (colon and not host):
        raise argparse.ArgumentTypeError(spoken.phrase("takes PORT or HOST:PORT, not {text}", text=f"{text!r:.60}"))
    return host.strip("[]") or LOOPBACK, int(port)


def work(context: Context) -> int:
    """Run a worker until it is told to stop."""
    settings = _with_options(context.settings(), context.args)
    assembly.refuse_read_only(settings)
    stop = threading.Event()
    with contextlib.nullcontext() if not context.json else _only_the_answer_on_stdout():
        workforce.load_handlers(settings)  # before Ctrl-C asks to finish: a module that hangs never would
        with signals.heard(stop.set):
            worker, clean, stay = _work(settings, stop, drain=context.args.drain, metrics_at=context.args.metrics)
    context.show(
        {"worker": worker.name, "clean": clean, "gates": {gate: found.number for gate, found in stay.items()}},
        [
            spoken.phrase("{name} stopped", name=worker.name),
            *([spoken.phrase("these wait on, and it has not waited for them:")] if stay else []),
            *fleet.at_gates(stay),
        ],
    )
    return EXIT_OK if clean else EXIT_FAILED


@contextlib.contextmanager
def _only_the_answer_on_stdout() -> Iterator[None]:
    """Send what handlers print, and what they start prints, to stderr while the block runs."""
    try:
        kept = os.dup(1)
    except OSError:  # it is closed
        yield
        return
    try:
        sys.stdout.flush()
        os.dup2(2, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


@contextlib.contextmanager
def _measured(
    where: tuple[str, int] | None, engine: assembly.Engine, worker: Worker, steward: Steward
) -> Iterator[None]:
    """Serve numbers while the block runs, if anybody wants them."""
    if where is None:
        yield
        return
    # here, because no other command should pay for loading it
    from services.cli import metrics_server
    from services.monitor.numbers import metrics

    store = engine.store

    def of_fleet() -> list[Metric]:
        now = store.now_ms()
        late = sum(1 for one in store.due_schedules(LATE_COUNTED) if schedule.overdue(one.next_at, now))
        leads = store.leader(leader.ROLE)
        depths, seen = engine.broker.depths(), fates.look(store)
        return metrics.of_fleet(store.counts(), depths, seen, late_schedules=late, leader=leads)

    def own() -> list[Metric]:
        return metrics.of_worker(worker.last_info, leads=steward.leader.leading)

    with metrics_server.serving(where, own, of_fleet) as page:
        output.err(spoken.phrase("fleetdeck: metrics at {page}\n", page=page))
        yield


def _work(
    settings: config.Settings, stop: threading.Event, *, drain: bool, metrics_at: tuple[str, int] | None
) -> tuple[Worker, bool, dict[str, Total]]:
    """The worker, whether all that ran has ended, and what a draining one left behind by gate."""
    engine = assembly.open_engine(settings)
    try:
        workforce.refuse_viewer(engine)
    except BaseException:
        engine.close()
        raise
    if settings.unverified:
        assembly.commands(engine)  # who works over a connection that nobody checks is written down
    steward = workforce.steward(engine)
    worker = Worker(workforce.worker_parts(engine), workforce.worker_options(settings))
    stay: dict[str, Total] = {}
    logs.keep(settings.home_path, "worker")
    logs.of_process(worker=worker.name)
    try:
        worker.start()
        steward.start()
        own = settings.worker
        count, lanes = own.auto_slots or own.slots, ", ".join(own.lanes)
        output.err(
            spoken.phrase(
                "fleetdeck: {name} works, {count} at once, lanes {lanes}; Ctrl-C ends it\n",
                name=worker.name,
                count=count,
                lanes=lanes,
            )
        )
        with _measured(metrics_at, engine, worker, steward):
            _wait(engine, worker, steward, stop, drain=drain)
            if drain:
                with contextlib.suppress(ConsoleError):  # it leaves all the same
                    stay = assembly.queries(engine).tasks.gate_counts()
            clean = worker.stop()
    finally:
        worker.stop(0.0)
        steward.close()
        engine.close()
    return worker, clean, stay


def _with_options(settings: config.Settings, args: argparse.Namespace) -> config.Settings:
    worker = settings.worker
    if args.slots and autoscale.parse(args.slots) is not None:
        worker = msgspec.structs.replace(worker, auto_slots=args.slots)
    elif args.slots:
        slots, shares = lane_share.parse_slots(args.slots)
        named = worker.lane_slots | dict(lane_share.spelled(shares))
        worker = msgspec.structs.replace(worker, slots=slots, lane_slots=named, auto_slots="")
    if args.lanes:
        lanes = tuple(word.strip() for word in args.lanes.split(",") if word.strip())
        if not lanes or not set(lanes) <= set(LANES):
            raise UsageError(spoken.phrase("--lanes takes high, normal and low, separated by commas"), field="--lanes")
        worker = msgspec.structs.replace(worker, lanes=lanes)
    worker = msgspec.structs.replace(worker, node=args.node or worker.node)
    if args.refuse:
        worker = msgspec.structs.replace(worker, refuse_types=tuple(dict.fromkeys(args.refuse)))
    if args.handlers:
        worker = msgspec.structs.replace(worker, handlers=tuple(args.handlers))
    return msgspec.structs.replace(settings, worker=worker)


def _wait(engine: assembly.Engine, worker: Worker, steward: Steward, stop: threading.Event, *, drain: bool) -> None:
    idle = Idle(engine.settings.worker.lanes)
    while not stop.wait(0.3) and not worker.wait_stop_ordered(0.0):
        if not drain:
            continue
        try:
            parked: dict[tuple[str, ...], int] = dict(engine.store.unserved().items())
            parked.update(engine.store.homebound().items())
            left = idle.left(engine.store.counts(), engine.broker.depths(), parked, worker.fetches)
            # time alone lets these start; a breaker may stay open for hours, so nobody waits for it
            left += sum(limit.waiting for limit in engine.store.limits() if limit.opens_by_itself)
            if not left:
                left = due_soon(engine.store, engine.settings.worker.lanes)
        except (StoreUnavailable, BrokerUnavailable) as exc:
            log.warning("cannot tell what is left: %s", exc)
            left = 1
        if idle.over(left + worker.busy(), time.monotonic(), leads=steward.leader.leading):
            return


def due_soon(store: Store, lanes: Sequence[str]) -> int:
    """1 where a task of these lanes that waits for its time is due in a moment, else 0."""
    terms = (equals("status", Status.SCHEDULED), equals("lane", *lanes))
    page = store.query(Query(terms=terms, sort="due", descending=False, limit=1, want_total=False))
    return sum(task.due_at <= store.now_ms() + SOON_MS for task in page.tasks)


class Idle:
    """When a draining worker may leave: nothing is left to do in its lanes, for a moment.

    Parked tasks and dead letters on their way keep it only as long as the leader may need for them; what then remains
    waits for a person. Tasks that no worker could run are its own business if it can run them, else they do not keep
    it at all: their gate opens when another worker comes, which may be never.
    """

    def __init__(self, lanes: Sequence[str]) -> None:
        self._lanes = tuple(lanes)
        self._others = 0
        self._since: float | None = None

    def left(
        self,
        counts: Counts,
        depths: Sequence[QueueDepth],
        unserved: Mapping[tuple[str, ...], int] = MappingProxyType({}),
        serves: Callable[..., bool] = lambda *kind: False,
    ) -> int:
        """Tasks and messages that this worker may have to deal with; those of other programs have no record yet."""
        own = [counts.lanes.get(lane, {}) for lane in self._lanes]
        names = {f"rpa_tasks_{lane}" for lane in self._lanes}
        parked = {kind: n for kind, n in unserved.items() if kind[0] in self._lanes}
        mine = sum(n for kind, n in parked.items() if serves(*kind))
        self._others = max(0, sum(lane.get(Status.BLOCKED, 0) for lane in own) - sum(parked.values()))
        self._others += sum(_messages(depth) for depth in depths if depth.kind == "dead")
        tasks = sum(lane.get(status, 0) for lane in own for status in UNFINISHED)
        return tasks + mine + sum(_messages(depth) for depth in depths if depth.name in names)

    def over(self, left: int, now: float, *, leads: bool = False) -> bool:
        """Tell whether it has been quiet for long enough; ``leads``: the leader is in this process."""
        if left:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        others = LED_S if leads else OTHERS_S
        return now - self._since > (others if self._others else QUIET_S)


def _messages(depth: QueueDepth) -> int:
    return depth.ready + (depth.unacked or 0)
