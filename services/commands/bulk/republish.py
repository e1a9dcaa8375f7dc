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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from services.commands.audit import Act, Audit
from services.commands.bulk.book import Book, RunView, Shelf
from services.commands.bulk.fates import Fate, fates
from services.commands.bulk.options import Ended, Options, Progress
from services.commands.bulk.pace import Control
from services.commands.bulk.plan import Plan, Planner
from services.commands.bulk.republisher import Republisher
from services.commands.bulk.run import Run
from services.commands.operator import Operator
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Clock, Store

__all__ = ["BulkRepublish", "Control", "Ended", "Options", "Plan", "Progress", "RunView"]


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

    def plan(self, task_ids: Sequence[str], *, fields: Mapping[str, Any] | None = None) -> Plan:
        """What would become of these letters, ``fields`` set in each payload; changes nothing."""
        return self._planner.plan(task_ids, fields)

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
        return self._planner.plan(shelf.ids(run_id), shelf.entry(run_id).fields)

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
        run = Run(self._store, self._clock, self._republisher, plan, options, on_progress, control, book, self._may)
        ended = run.go()
        if book is not None:
            book.close(ended)
        done, skipped = len(ended.outcome.done), ended.outcome.skipped
        why = ended.why.code if ended.why is not None else skipped[0].why.code if skipped else ""
        act.counted(done, len(skipped) + len(ended.left), why)
        return ended
