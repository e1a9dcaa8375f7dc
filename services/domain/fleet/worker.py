"""A worker as it describes itself in its heartbeat."""

from __future__ import annotations

import msgspec

from services.domain.fleet.remote import OrderEnd
from services.domain.upkeep.stored import Instant, Measure

AMBER_AFTER_MS, SILENT_AFTER_MS = 15_000, 60_000
#: so many browsers are told in a heartbeat, and so many shops with a proxy of their own
POOL_SHOWN, PROXIES_SHOWN = 32, 200
#: the queue of a slot where its worker does not say from which its message came (a program of before)
UNTOLD_QUEUE = "?"


class SlotState(msgspec.Struct, frozen=True, kw_only=True):
    """One slot of a worker; ``task_id`` is "" while it is free."""

    task_id: str = ""
    task_type: str = ""
    shop: str = ""
    lane: str = ""
    attempt: int = 0
    since: Instant = 0  #: UTC ms
    progress: int = -1
    queue: str = UNTOLD_QUEUE  #: that the message of its task came from, "" where it has none: it was fetched


class BrowserState(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a worker's browser pool. ``state``: starting | busy | lent (to a program that attached) | idle |
    closing.
    """

    shop: str = ""  #: "" for the one that light contexts share
    profile: str = ""  #: name of its folder
    state: str = ""
    since: Instant = 0  #: UTC ms, to the second
    uses: int = 0
    memory_mb: Measure = -1.0  #: measured every few seconds, -1 not yet
    port: int = 0  #: where programs attach, 0 for nowhere


class LinkState(msgspec.Struct, frozen=True, kw_only=True):
    """What the connections of a process to the broker meet."""

    blocked_at: Instant = 0  #: since when the broker holds its publisher back, UTC ms; 0 it does not
    why: str = ""  #: the broker's reason, in its own words
    unanswered: int = 0  #: orders that were given up without a confirm since the last confirm
    unanswered_at: Instant = 0  #: when the first of them was, UTC ms
    rejecting: tuple[str, ...] = ()  #: queues that take no message from it, as where they are at their limit
    rejecting_at: Instant = 0  #: since when, UTC ms
    error: str = ""  #: what is wrong with a connection now
    lost_at: Instant = 0  #: since when a connection does not stand, UTC ms; 0 while all do


class WorkerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Written by the worker every few seconds, kept until it says goodbye or a day has passed."""

    worker: str  #: name unique in the fleet, e.g. "desk-01/3f2a"
    host: str
    pid: int
    pid_started: Measure = 0.0  #: start time of the process, tells a reused pid
    version: str = ""
    system: str = ""
    node: str = (
        ""  #: machine and home folder, where browser profiles live (``services.domain.gates.home``); "" not told
    )
    kind: str = "headless"  #: headless | console
    started_at: Instant = 0
    seen_at: Instant = 0  #: filled by the store's clock
    wall_at: Instant = 0  #: the same moment by the clock of its machine, UTC ms; 0: a worker of before, not told
    slots: tuple[SlotState, ...] = ()
    lanes: tuple[str, ...] = ("high", "normal", "low")  #: that it was told to take
    closed: tuple[str, ...] = ()  #: of those, which the broker does not let it read
    shares: dict[str, tuple[int, int]] = {}  #: by lane: slots kept for it, and how many it may use at most
    state: str = "running"  #: running | draining | stopping | stopped
    prefetched: int = 0
    ahead: dict[str, int] = {}  #: messages that lie here and that nobody has taken up, by queue
    done: int = 0
    failed: int = 0
    cpu: Measure = -1.0  #: percent of one core, -1 unknown
    memory_mb: Measure = -1.0
    executors: tuple[str, ...] = ()  #: that can start work now
    handlers: tuple[str, ...] = ()  #: task types with a Python handler here
    commands: tuple[str, ...] = ()  #: task types with a command of their own here
    lends: tuple[str, ...] = ()  #: task types whose flows attach to the browser of their shop here
    lacks: dict[str, str] = {}  #: what is configured and not found, by executor or ``rpa:type``: a program, a folder

    declines: tuple[str, ...] = ()  #: task types that it was told to refuse
    auto: str = ""  #: range of its slots where it sets them itself, "auto" or "auto:2-16"
    browsers: int = -1  #: that it has running, -1 unknown
    pool: tuple[BrowserState, ...] = ()  #: of those so many as ``POOL_SHOWN``, those at work first
    cpu_machine: Measure = -1.0  #: percent of the whole machine, as memory_machine; -1 unknown
    memory_machine: Measure = -1.0
    link: LinkState = LinkState()
    proxies: dict[str, str] = {}  #: ``host:port`` that browsers go through, by shop; "" for all others
    versions: dict[str, str] = {}  #: of what it runs on: python, playwright, chromium
    answers: tuple[OrderEnd, ...] = ()  #: how the last orders ended that take a while
    ledger: int = 0  #: what its program writes down of works (``domain.task.ledger.FORM``); 0: one of before, not told
    notes_runs: bool = False  #: its claims note who begins a task of a shop; those of programs of before do not

    @property
    def busy(self) -> int:
        """Slots with a task in them."""
        return sum(1 for slot in self.slots if slot.task_id)

    @property
    def skew_ms(self) -> int:
        """Its machine's time minus the store's, 0 where that is not told; the way of the heartbeat is in it."""
        return self.wall_at - self.seen_at if self.wall_at and self.seen_at else 0

    @property
    def open_lanes(self) -> tuple[str, ...]:
        """Lanes that it takes tasks from; queues of single shops are apart from them."""
        return tuple(lane for lane in self.lanes if lane not in self.closed)


class Farewell(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker leaves behind that said goodbye."""

    worker: str = ""  #: "" for none
    machine: str = ""
    by: str = ""  #: who had told it to leave, "" where it ended by itself, or where it was started
    at: Instant = 0  #: UTC ms
    version: str = ""
    proxies: dict[str, str] = {}  #: that its browsers went through, as ``WorkerInfo`` has them


NOBODY = Farewell()


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What the store answers to a heartbeat."""

    orders: tuple[str, ...] = ()  #: left for this worker, each handed out once: see ``worker_order``
    unserved: frozenset[tuple[str, str]] = frozenset()  #: (lane, type) of tasks parked for want of a capable worker
    homebound: frozenset[tuple[str, str]] = frozenset()  #: (lane, type) of tasks that wait for this worker's node
    life: str = ""  #: which data of the store, after which silence: with another one, it may know less
