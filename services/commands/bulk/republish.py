"""Bulk republish of dead letters: look first, try a few, send the rest at a pace, pause, stop, run again.

The whole interface, for the command line and for the console's dialog alike (blocking calls, off the GUI thread)::

    bulk = assembly.commands(engine).bulk
    plan = bulk.plan(ids, fields={})              a frozen set: each item with its state (bulk_plan.STATES) and why
    plan.states(), plan.counts("shop", {READY})   numbers for a preview; plan.without(ids) leaves some out
    control = Control()                           any thread: control.pause(), .resume(), .stop()
    ended = bulk.run(plan, Options(rate=30, probe=3), on_progress=show, control=control)
    ended.outcome, ended.left, ended.probes, ended.why

Whatever ends a run early, what it has not sent stays an open dead letter and stands in ``left``. A run of several
letters is written down in the store while it goes on, so that it outlives its process: ``bulk.runs()`` lists them and
``bulk.resume(run_id)`` goes on where one ended. Each letter is closed by a compare-and-set, and its new task has an id
made of run and letter, so that each is republished once, whoever goes on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from services.commands.audit import Act, Audit, reasons
from services.commands.bulk.book import LEFT, Book, RunView, Shelf, successor_tail
from services.commands.bulk.fates import Fate, fates
from services.commands.bulk.options import Ended, Options, Probe, Progress
from services.commands.bulk.plan import ASKS, DONE, GONE, READY, SCHEMA, Item, Plan, Planner
from services.commands.bulk.republisher import Changes, Republisher
from services.commands.operator import Operator
from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import join
from services.domain.errors import ConsoleError, StoreUnavailable
from services.domain.gates import session
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.text.said import words_of
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Clock, Store

__all__ = ["BulkRepublish", "Control", "Ended", "Options", "Plan", "Progress", "RunView"]
#: seconds for which a silent store is asked again before the run ends with the rest left
PATIENCE_S = 60.0
PROBE_LOOK_S = 0.5
_T = TypeVar("_T")
BATCH = 200
#: how often somebody who waits looks whether he may go on, in seconds
WAIT_S = 0.2


class BulkRepublish:
    """Plans and runs; one audit entry a run, closed with what came of it."""

    def __init__(
        self,
        store: Store,
        steps: Steps,
        registry: Registry,
        clock: Clock,
        audit: Audit,
        operator: Operator,
    ) -> None:
        self._store, self._clock, self._audit, self._operator = store, clock, audit, operator
        self._planner = Planner(store, registry)
        self._republisher = Republisher(store, steps, registry, operator.who)

    def plan(
        self,
        task_ids: Sequence[str],
        *,
        fields: Mapping[str, Any] | None = None,
        told: Callable[[int, int], object] = lambda _done, _of: None,
    ) -> Plan:
        """What would become of these letters, ``fields`` set in each payload; changes nothing. ``told``: how many are
        looked at, of how many.
        """
        return self._planner.plan(task_ids, fields, told)

    def run(
        self,
        plan: Plan,
        options: Options | None = None,
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
        control: Control | None = None,
    ) -> Ended:
        """Republish what the plan names; returns when all is sent, when a probe failed or when told to stop.

        ``on_progress`` is called in this thread.

        Raises:
            UsageError: an option cannot be; ``field`` names it.
            NotAllowed: the role does not permit it.
            StoreUnavailable: the audit entry could not be written; nothing was done.
        """
        options = options or Options()
        ids = [item.task_id for item in plan.items]
        self._audit.need(self._operator, "operator", "dead.republish", ids)
        options.check()
        if not ids:
            return Ended(outcome=Outcome())
        shelf = Shelf(self._store, self._clock, self._operator.who)
        with self._audit.act("dead.republish", ids, options.detail(plan.fields)) as act:
            book = shelf.begin(plan, options) if len(ids) > 1 else None
            return self._go(plan, options, act, on_progress, control or Control(), book)

    def runs(self) -> list[RunView]:
        """The runs that are remembered, the newest first."""
        return Shelf(self._store, self._clock, self._operator.who).views()

    def plan_of(self, run_id: str) -> Plan:
        """How the letters of a run stand now.

        Raises:
            UsageError: there is none of this name.
        """
        shelf = Shelf(self._store, self._clock, self._operator.who)
        return self.plan(shelf.ids(run_id), fields=shelf.entry(run_id).fields)

    def fates(self, run_id: str) -> tuple[Plan, list[Fate]]:
        """How the letters of a run stand now, and what became of the tasks that it made of them.

        Raises:
            UsageError: there is none of this name.
        """
        plan = self.plan_of(run_id)
        return plan, fates(self._store, run_id, plan.items)

    def resume(
        self,
        run_id: str,
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
        control: Control | None = None,
    ) -> Ended:
        """Go on with a run whose process fell over, or that was stopped; each letter is republished once in all.

        Where somebody seems to be at it, this waits until that hand has been still for ten seconds.

        Raises:
            UsageError: the run is unknown, done, or somebody is at it.
            NotAllowed: the role does not permit it.
        """
        self._audit.need(self._operator, "operator", "dead.republish", [run_id])
        hand = control or Control()
        shelf = Shelf(self._store, self._clock, self._operator.who)
        options, ids = shelf.unfinished(run_id).options, shelf.ids(run_id)
        detail = options.detail(shelf.entry(run_id).fields) | {"resumed": run_id}
        with self._audit.act("dead.republish", ids, detail) as act:
            book = shelf.resume(run_id, lambda seconds: hand.wait(self._clock, seconds))
            return self._go(self.plan_of(run_id), options, act, on_progress, hand, book)

    def abort(self, run_id: str) -> int:
        """Nobody shall go on with a run that ended early; tells how many letters it leaves dead.

        Raises:
            UsageError: the run is unknown, done, or somebody is at it.
            NotAllowed: the role does not permit it.
        """
        self._audit.need(self._operator, "operator", "dead.abort_run", [run_id])
        with self._audit.act("dead.abort_run", [run_id]) as act:
            left = Shelf(self._store, self._clock, self._operator.who).abort(run_id).left
            act.outcome = f"done: {left} letters left"
        return left

    def _may(self) -> None:
        """Raise where the role was taken away meanwhile: a run may take hours."""
        self._operator.now(self._store).need("operator")

    def _go(
        self,
        plan: Plan,
        options: Options,
        act: Act,
        on_progress: Callable[[Progress], None],
        control: Control,
        book: Book | None,
    ) -> Ended:
        run = BulkRun(self._store, self._clock, self._republisher, plan, options, on_progress, control, book, self._may)
        ended = run.go()
        if book is not None:
            book.close(ended)
        done, skipped = len(ended.outcome.done), ended.outcome.skipped
        why = ended.why.code if ended.why is not None else reasons([one.why.code for one in skipped])
        act.counted(done, len(skipped), why, left=len(ended.left))
        if not ended.left:
            act.placed([(one.task_id, one.why.code) for one in skipped])
        return ended


class _Books(msgspec.Struct):
    """What has happened so far."""

    outcome: Outcome = msgspec.field(default_factory=Outcome)
    probes: list[Probe] = msgspec.field(default_factory=list)


class _Ends(Exception):
    """The run ends here, with the rest left."""

    def __init__(self, why: Message) -> None:
        super().__init__(why.code)
        self.why = why


class BulkRun:
    """Made for one run and used once."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        republisher: Republisher,
        plan: Plan,
        options: Options,
        on_progress: Callable[[Progress], None],
        control: Control,
        book: Book | None = None,
        may: Callable[[], None] = lambda: None,
    ) -> None:
        """``book``: what a crash is to leave behind; one that was resumed goes on where it ended. ``may`` is asked
        before each portion and raises where whoever runs it may not do so any more.
        """
        self._may = may
        plan = plan.sent(options.if_duplicate)
        self._store, self._clock, self._republisher = store, clock, republisher
        self._options, self._told, self._control = options, on_progress, control
        self._changes = Changes(fields=plan.fields, lane=options.lane, attempts=options.attempts)
        self._prints = {item.fingerprint for item in plan.items if item.fingerprint}
        self._limit = RateLimit(clock, options.rate)
        self._total = len(plan.items)
        self._book = book
        made = {item.task_id: item.successor for item in plan.items if book and book.made(item.task_id, item.successor)}
        skipped = tuple(one for one in _skipped(plan.items, options) if one.task_id not in made)
        self._books = _Books(outcome=Outcome(done=tuple(made), skipped=skipped, made=made))
        gone = {one.task_id for one in skipped} | made.keys()
        self._queue = deque(item for item in plan.items if item.task_id not in gone)

    def go(self) -> Ended:
        """Do it; whatever ends it early is told in the answer."""
        why: Message | None = None
        try:
            if self._options.probe and (self._queue or self._tried()) and not (self._book and self._book.entry.probed):
                self._probe()
            if not self._options.probe_only:
                self._send_rest()
        except _Ends as end:
            why = end.why
        left = tuple(item.task_id for item in self._queue)
        return Ended(outcome=self._books.outcome, left=left, probes=tuple(self._books.probes), why=why)

    # ---------------------------------------------------------------------- probes
    def _tried(self) -> bool:
        """Whether this run had sent its first ones when somebody fell over."""
        return self._book is not None and self._book.resumed and bool(self._books.outcome.made)

    def _probe(self) -> None:
        if self._tried():
            self._books.probes = self._find_probes()
        candidates = _from_different_shops(item for item in self._queue if item.state == READY)
        if not candidates and not self._books.probes:
            raise _Ends(Message("bulk.probe_none"))
        for item in candidates:
            if len(self._books.probes) >= self._options.probe:
                break
            self._wait_turn("probing")
            new_id = self._send([item]).made.get(item.task_id)
            self._queue.remove(item)
            if new_id:
                probe = Probe(task_id=item.task_id, new_id=new_id, shop=item.shop)
                self._books.probes.append(probe)
        self._await_probes()
        if self._book is not None:
            self._patient(self._book.probed)

    def _find_probes(self) -> list[Probe]:
        made = self._books.outcome.made
        found = zip(made.items(), self._patient(lambda: self._store.get(list(made))), strict=True)
        return [
            Probe(task_id=old_id, new_id=new_id, shop=old.shop) for (old_id, new_id), old in found if old is not None
        ]

    def _await_probes(self) -> None:
        end = self._clock.monotonic() + (self._options.probe_wait_s or float("inf"))
        ids = [probe.new_id for probe in self._books.probes]
        while True:
            records = self._patient(lambda: self._store.get(ids))
            self._books.probes = [
                _judged(probe, task, self._prints) for probe, task in zip(self._books.probes, records, strict=True)
            ]
            self._tell("waiting")
            failed = [probe for probe in self._books.probes if probe.passed is False]
            # where nothing follows anyway, how the others end is worth waiting for
            settled = all(probe.passed is not None for probe in self._books.probes)
            if failed and (settled or not self._options.probe_only):
                code = "bulk.probe_same" if failed[0].same else "bulk.probe_failed"
                raise _Ends(Message(code, {"id": failed[0].new_id, "kind": failed[0].kind or failed[0].status}))
            if all(probe.passed for probe in self._books.probes):
                return
            if self._clock.monotonic() >= end:
                raise _Ends(Message("bulk.probe_late", {"seconds": round(self._options.probe_wait_s)}))
            if self._control.wait(self._clock, PROBE_LOOK_S):
                raise _Ends(Message(self._control.why))

    # ---------------------------------------------------------------------- the rest
    def _send_rest(self) -> None:
        while self._queue:
            self._wait_turn("sending")
            some = [self._queue[place] for place in range(min(self._limit.batch, len(self._queue)))]
            self._send(some)
            for _ in some:
                self._queue.popleft()
            self._tell("sending")

    def _wait_turn(self, phase: str) -> None:
        """Return when the next ones may go."""
        while True:
            left = self._limit.left_s()
            if self._control.stopped:
                raise _Ends(Message(self._control.why))
            if not left and not self._control.paused:
                return
            self._tell("paused" if self._control.paused else phase, left)
            self._control.wait(self._clock, min(left, 1.0) if left and not self._control.paused else WAIT_S)

    def _send(self, some: Sequence[Item]) -> Outcome:
        """Republish a few; only those that became tasks cost time."""
        self._patient(self._may)
        ids = [item.task_id for item in some]
        duplicate = self._options.if_duplicate
        anyway = SCHEMA not in self._options.skip
        twice = frozenset(item.task_id for item in some if item.state in (DONE, ASKS))  # what is left alone is not here
        because = self._options.reason
        prepared = self._patient(
            lambda: self._republisher.prepare(
                ids,
                changes=self._changes,
                if_duplicate=duplicate,
                tail=self._tail,
                anyway=anyway,
                twice=twice,
                because=because,
            )
        )
        outcome = self._patient(lambda: self._republisher.apply(prepared))
        self._books.outcome = join(self._books.outcome, outcome)
        self._limit.sent(len(outcome.done))
        return outcome

    def _tail(self, task_id: str) -> str:
        return successor_tail(self._book.entry.run_id, task_id) if self._book is not None else ""

    def _patient(self, ask: Callable[[], _T]) -> _T:
        """The answer of a store that may be silent for a while; every step is safe to repeat."""
        end = self._clock.monotonic() + PATIENCE_S
        while True:
            try:
                return ask()
            except StoreUnavailable as exc:
                if self._clock.monotonic() >= end:
                    raise _Ends(Message("bulk.silent", {"error": words_of(exc)})) from exc
                self._tell("silent")
                if self._control.wait(self._clock, 1.0):
                    raise _Ends(Message(self._control.why)) from exc
            except ConsoleError as exc:
                raise _Ends(Message("bulk.failed", {"error": words_of(exc)})) from exc

    def _tell(self, phase: str, next_s: float = 0.0) -> None:
        books = self._books
        progress = Progress(
            phase=phase,
            total=self._total,
            done=len(books.outcome.done),
            skipped=len(books.outcome.skipped),
            probes=tuple(books.probes),
            next_s=next_s,
        )
        if self._book is not None and not self._book.beat(progress):
            raise _Ends(Message("bulk.taken"))
        self._told(progress)


def _skipped(items: Sequence[Item], options: Options) -> list[Refusal]:
    # of many a number is not enough for what asks for a reason of its own, nor is one reason for all of them
    alone = len(items) == 1 and options.reason.strip() and DONE not in options.skip
    skip = options.skip | ({GONE} if alone else {GONE, ASKS})
    return [
        Refusal(task_id=item.task_id, why=item.why) for item in items if item.why is not None and item.state in skip
    ]


def _from_different_shops(items: Iterable[Item]) -> list[Item]:
    """One of each shop first, then the second ones, and so on."""
    rounds: list[list[Item]] = []
    seen: dict[str, int] = {}
    for item in items:
        turn = seen.get(item.shop, 0)
        seen[item.shop] = turn + 1
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append(item)
    return [item for one in rounds for item in one]


def _judged(probe: Probe, task: Task | None, prints: set[str]) -> Probe:
    """The probe as its new task stands now. That the same failure came back is clear before its last attempt."""
    if task is None:
        return replace(probe, status="", passed=False)
    same = bool(task.fingerprint) and task.fingerprint in prints
    # at the gate of its session it may wait for a person for days
    waits = (task.status == Status.RETRYING and same) or task.gate == session.GATE
    failed = waits or task.status in (Status.DEAD, Status.CANCELLED, Status.HELD)
    passed = True if task.status == Status.SUCCEEDED else False if failed else None
    kind, worker = task.error_kind, task.worker
    return replace(probe, status=task.status, worker=worker, kind=kind, same=same and failed, passed=passed)


class Control:
    """Pause, resume and stop of one run; any thread may call any method."""

    def __init__(self) -> None:
        self._paused, self._stopped = threading.Event(), threading.Event()
        self.why = "bulk.stopped"  #: code of what ends it

    def pause(self) -> None:
        """Send nothing more for now."""
        self._paused.set()

    def resume(self) -> None:
        """Go on."""
        self._paused.clear()

    def stop(self) -> None:
        """Send nothing more at all."""
        self._stopped.set()

    def leave(self) -> None:
        """Send nothing more: who began it goes, and did not say that it shall end."""
        if not self.stopped:  # what a person has said stands
            self.why = LEFT
        self._stopped.set()

    @property
    def paused(self) -> bool:
        """Whether it shall wait."""
        return self._paused.is_set()

    @property
    def stopped(self) -> bool:
        """Whether it shall end."""
        return self._stopped.is_set()

    def wait(self, clock: Clock, seconds: float) -> bool:
        """Let time pass; tell whether it shall end."""
        return clock.wait(self._stopped, seconds)


class RateLimit:
    """At most ``rate`` a minute in any minute, 0 for no limit; what was not sent in time is not made up for."""

    def __init__(self, clock: Clock, rate: int) -> None:
        self._clock = clock
        self._gap = 60.0 / rate if rate else 0.0
        #: how many go at once; a fast pace goes ten times a second
        self.batch = max(1, rate // 600) if rate else BATCH
        self._free_at = clock.monotonic()

    def left_s(self) -> float:
        """Seconds until the next ones may go, 0 for now."""
        return max(0.0, self._free_at - self._clock.monotonic())

    def sent(self, count: int) -> None:
        """Take note of what went just now."""
        self._free_at = self._clock.monotonic() + self._gap * count
