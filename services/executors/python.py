"""Executor ``python``: registered handlers, run in reused child processes or, where registered so, in the slot."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

import msgspec
import psutil

from services.domain.errors import UsageError
from services.domain.task import classify, own_words
from services.executors import registry, supervise
from services.executors.base import Fitness, Job, JobContext, Outcome
from services.executors.handler_process import HandlerProcess
from services.executors.stdout import BoundedLog, OutputLimits

log = logging.getLogger(__name__)
JOBS_PER_CHILD = 1_000  #: then a fresh one: handlers leak
_CLOSE_S = 15.0


class PythonExecutor:
    """One instance serves all slots; it keeps as many idle children as have run at once."""

    name = "python"

    def __init__(
        self,
        handlers: Mapping[str, registry.Handler],
        *,
        process_only: bool = False,
        base_environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
        kill_grace_s: float = 5.0,
        cancel_grace_s: float = 10.0,
        limits: OutputLimits | None = None,
    ) -> None:
        """Args:
        process_only: run handlers registered for threads in a child too, as a window needs it.
        base_environment: of the children; this process's own by default.
        kill_grace_s, cancel_grace_s: from ``job.cancelled()`` turning true to killing.
        """
        _refuse_main(handlers)
        self._handlers, self._process_only = dict(handlers), process_only
        self._modules = sorted({handler.module for handler in handlers.values()})
        self._environment = dict(base_environment) if base_environment is not None else psutil.Process().environ()
        self._cwd, self._limits = cwd, limits or OutputLimits()
        self._kill_grace_s, self._cancel_grace_s = kill_grace_s, cancel_grace_s
        self._lock = threading.Condition()
        self._idle: list[HandlerProcess] = []
        self._running = 0
        self._closing = threading.Event()

    def fitness(self) -> Fitness:
        """Its handlers; they were imported when it was made."""
        return Fitness(types=frozenset(self._handlers))

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Run the handler of the job's type to its end, its time-out or its cancellation."""
        handler = self._handlers.get(job.task.task_type)
        if handler is None:
            text = own_words.write("own.no_handler", type=job.task.task_type)
            return Outcome(ok=False, error=text, error_kind=classify.UNKNOWN_TYPE, unable=True)
        if self._closing.is_set() or context.cancelled.is_set():
            return Outcome(
                ok=False, cancelled=True, error=own_words.write("own.not_begun"), error_kind=classify.CANCELLED
            )
        if handler.isolate == "thread" and not self._process_only:
            return _run_here(handler, job, context, self._limits)
        with self._lock:
            self._running += 1
        try:
            return self._run_in_child(handler, job, context)
        finally:
            with self._lock:
                self._running -= 1
                self._lock.notify_all()

    def close(self) -> None:
        """End all children; what runs in one returns as cancelled."""
        self._closing.set()
        with self._lock:
            self._lock.wait_for(lambda: not self._running, _CLOSE_S)
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def _run_in_child(self, handler: registry.Handler, job: Job, context: JobContext) -> Outcome:
        limits = supervise.Limits(
            timeout_s=job.timeout_s, kill_grace_s=self._kill_grace_s, cancel_grace_s=self._cancel_grace_s
        )
        try:
            outcome, began = self._try(handler, job, context, limits)
            if not began and outcome.error_kind == classify.CRASHED:
                # An idle child may die at the moment it is chosen.
                outcome, _ = self._try(handler, job, context, limits)
        except OSError as exc:
            log.warning("a handler process could not be started: %s", exc)
            text = own_words.write("own.no_process", why=str(exc))
            return Outcome(ok=False, error=text, error_kind=classify.CRASHED)
        return outcome

    def _try(
        self, handler: registry.Handler, job: Job, context: JobContext, limits: supervise.Limits
    ) -> tuple[Outcome, bool]:
        child = self._take()
        try:
            return child.run(handler.name, job, context, limits, self._closing), child.began
        finally:
            self._give_back(child)

    def _take(self) -> HandlerProcess:
        while True:
            with self._lock:
                child = self._idle.pop() if self._idle else None
            if child is None:
                return HandlerProcess(self._modules, self._environment, self._limits, self._cwd)
            if child.usable:
                return child
            child.close()

    def _give_back(self, child: HandlerProcess) -> None:
        if child.usable and child.jobs < JOBS_PER_CHILD and not self._closing.is_set():
            with self._lock:
                self._idle.append(child)
        else:
            child.close()


def _refuse_main(handlers: Mapping[str, registry.Handler]) -> None:
    for handler in handlers.values():
        if handler.module == "__main__" and handler.isolate == "process":
            raise UsageError(
                f"the handler of {handler.name} stands in the main script, which a child process cannot import;"
                " put it into a module of its own",
                field="worker.handlers",
            )


def _run_here(handler: registry.Handler, job: Job, context: JobContext, limits: OutputLimits) -> Outcome:
    """In the slot's own thread: nothing can end it but itself."""
    output = BoundedLog(context.log, limits)
    until = time.monotonic() + job.timeout_s
    told = False

    def cancelled() -> bool:
        nonlocal told
        if context.cancelled.is_set() and not told:
            told = True
            context.stopping()
        return context.cancelled.is_set() or time.monotonic() >= until

    view = registry.HandlerContext(
        task_id=job.task.task_id,
        shop_id=job.task.shop_id,
        platform=job.task.platform,
        attempt=job.attempt,
        progress=context.progress,
        log=lambda line: output.add("out", line[: limits.line_bytes], len(line)),
        cancelled=cancelled,
        artifact=lambda source, words: context.artifacts.add(source, **words),
    )
    ended = registry.call(handler, msgspec.json.decode(job.task.payload), view)
    output.close()
    if ended.ok and not ended.gave_up:
        return Outcome(ok=True, result=ended.result)
    if context.cancelled.is_set():
        return Outcome(ok=False, cancelled=True, error=own_words.write("own.stopped"), error_kind=classify.CANCELLED)
    if time.monotonic() >= until:
        late = own_words.write("own.no_end_itself", seconds=f"{job.timeout_s:g}")
        text = f"{ended.error}\n{late}".strip()
        return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
    return Outcome(ok=False, error=ended.error, error_kind=ended.error_kind)
