"""Flows of an RPA product that attach to the shop's own browser: it is theirs alone as long as they run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from msgspec.structs import replace

from services.domain.task import classify
from services.executors.base import Fitness, Job, JobContext, NoneToLend, Outcome, broken_off
from services.executors.rpa import RpaExecutor

Lend = Callable[[Job, JobContext], AbstractContextManager[int]]


class LendingRpaExecutor:
    """The executor ``rpa``, with a browser for some task types."""

    name = "rpa"

    def __init__(self, inner: RpaExecutor, lend: Lend, types: Collection[str]) -> None:
        self._inner, self._lend, self._types = inner, lend, frozenset(types)

    def fitness(self) -> Fitness:
        """That of the flows."""
        return replace(self._inner.fitness(), lends=self._types)

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Hold the shop's browser and run the flow with its debug port."""
        if job.task.task_type not in self._types:
            return self._inner.run(job, context)
        try:
            with self._lend(job, context) as port:
                return self._inner.run(job, context, debug_port=port)
        except NoneToLend as exc:
            if context.cancelled.is_set():
                return broken_off("own.not_begun")
            return Outcome(ok=False, error=str(exc), error_kind=classify.NO_BROWSER, unable=exc.unable)

    def close(self) -> None:
        """End the flows."""
        self._inner.close()
