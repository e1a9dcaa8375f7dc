"""Executor ``python``: registered handlers, run in reused child processes or, where registered so, in the slot."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import psutil

from services.domain.errors import UsageError
from services.domain.task import classify, own_words
from services.domain.task.record import ERROR_LIMIT
from services.executors import python_child, registry, supervise
from services.executors.base import Fitness, Job, JobContext, Outcome, broken_off
from services.executors.handler_child import MARK
from services.executors.handover import Handover
from services.executors.process_tree import describe_exit
from services.executors.stdout import RESULT_LIMIT, BoundedLog, LineSplitter, Output, OutputLimits, Pipe, pump

log = logging.getLogger(__name__)
JOBS_PER_CHILD = 1_000  #: then a fresh one: handlers leak
_CLOSE_S = 15.0
_DRAIN_S = 1.0  #: for the last lines after the handler has returned
_HEAR_S = 30.0  #: for what a child that is gone has said, behind all that it printed, however busy the machine is


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
            return broken_off("own.not_begun")
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
        limits = supervise.StopTimes(
            timeout_s=job.timeout_s, kill_grace_s=self._kill_grace_s, cancel_grace_s=self._cancel_grace_s
        )
        try:
            outcome, untouched = self._try(handler, job, context, limits)
            if untouched and outcome.error_kind == classify.CRASHED:
                # An idle child may die at the moment it is chosen.
                outcome, _ = self._try(handler, job, context, limits)
        except OSError as exc:
            log.warning("a handler process could not be started: %s", exc)
            text = own_words.write("own.no_process", why=str(exc))
            return Outcome(ok=False, error=text, error_kind=classify.CRASHED)
        return outcome

    def _try(
        self, handler: registry.Handler, job: Job, context: JobContext, limits: supervise.StopTimes
    ) -> tuple[Outcome, bool]:
        child = self._take()
        try:
            return child.run(handler.name, job, context, limits, self._closing), child.untouched
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
        return broken_off("own.stopped")
    if time.monotonic() >= until:
        late = own_words.write("own.no_end_itself", seconds=f"{job.timeout_s:g}")
        text = f"{ended.error}\n{late}".strip()
        return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
    return Outcome(ok=False, error=ended.error, error_kind=ended.error_kind)


@dataclass(slots=True)
class _ChildAttempt:
    """The job that the child works on now."""

    token: str
    output: Output
    context: JobContext
    files: Handover
    answer: dict[str, Any] | None = None
    missing: set[str] = field(default_factory=lambda: {"out", "err", "end"})
    ended: threading.Event = field(default_factory=threading.Event)  #: everything arrived, or the child is gone
    answered: threading.Event = field(default_factory=threading.Event)

    def arrived(self, what: str) -> None:
        """One of the three pipes has nothing more for this job."""
        self.missing.discard(what)
        if not self.missing:
            self.ended.set()


class HandlerProcess:
    """A spawned child; one job at a time."""

    def __init__(
        self, modules: Sequence[str], environment: Mapping[str, str], limits: OutputLimits, cwd: str | None = None
    ) -> None:
        """Spawn it.

        Raises:
            OSError: it cannot be started.
        """
        self._limits, self._cwd = limits, cwd
        self._lock = threading.Lock()
        self._job: _ChildAttempt | None = None
        self._pipes_left = 3
        self.jobs = 0
        self._began = False  #: the child is known to have taken the last job up
        self.untouched = False  #: it surely has not, so that another child may have the job
        self._heard = threading.Event()  #: it says nothing more
        self.tree, channel = python_child.start("services.executors.handler_child", environment, cwd)
        process = self.tree.process
        answers = LineSplitter(limits.line_bytes, 8 * RESULT_LIMIT)
        self._channel = Pipe(channel, answers, self._said, self._channel_ended)
        pump(
            Pipe(process.stdout, LineSplitter(limits.line_bytes, RESULT_LIMIT), self._out, self._pipe_ended),
            Pipe(process.stderr, LineSplitter(limits.line_bytes), self._err, self._pipe_ended),
            self._channel,  # the last, so that the answer is heard after what was printed before it
        )
        self._send({"modules": list(modules)})

    @property
    def usable(self) -> bool:
        """Whether another job may be given to it."""
        return self._pipes_left == 3 and not self.tree.exited()

    def run(
        self, handler: str, job: Job, context: JobContext, grace: supervise.StopTimes, closing: threading.Event
    ) -> Outcome:
        """Run one job to its end, its time-out or its cancellation."""
        self.jobs += 1
        self._began = self.untouched = False
        files = Handover(context.artifacts, self._cwd)
        output = Output(context.log, context.progress, self._limits)  # what it hands over it says by ``job.keep``
        run = _ChildAttempt(f"{job.task.task_id}#{self.jobs}", output, context, files)
        watch = supervise.Watch(
            tree=self.tree,
            limits=grace,
            context=context,
            closing=closing,
            ask=lambda: self._send({"cancel": run.token}),
        )
        with self._lock:
            self._job = run
        self._send(_order(run.token, handler, job))
        supervise.watch_to_answer(watch, run.answered)
        if not run.ended.wait(_DRAIN_S):
            self.kill()  # it closed its outputs or left somebody behind who holds them
        if run.answer is None:
            self._heard.wait(_HEAR_S)  # it is gone; it may have answered all the same
        # silence proves something only where all is read that it ever said
        self.untouched = self._channel.whole and not self._began
        with self._lock:
            self._job = None
        run.output.close()
        files.finish()
        # who has answered is asked whether it lives when it is given back
        died = run.answer is None and not self.usable
        return _outcome(watch, run, self._exit_code() if died else None)

    def kill(self) -> None:
        """End it with everything it started."""
        self.tree.kill()

    def close(self) -> None:
        """End it and collect it."""
        if self.tree.process.returncode is None:
            self.kill()
            self._exit_code()

    def _exit_code(self) -> int:
        if not self.tree.exited():
            self.kill()
        code = self.tree.reap()
        if self.tree.process.stdin is not None:
            with contextlib.suppress(OSError):  # it went away with unread commands
                self.tree.process.stdin.close()
        return code

    def _send(self, message: Mapping[str, Any]) -> None:
        stream = self.tree.process.stdin
        assert stream is not None
        data = msgspec.json.encode(message) + b"\n"
        try:
            while data:
                data = data[stream.write(data) or 0 :]
        except (OSError, ValueError):
            return  # the end of the pipes tells that it is gone

    def _out(self, line: bytes, cut: bool) -> None:
        self._printed("out", line, cut)

    def _err(self, line: bytes, cut: bool) -> None:
        self._printed("err", line, cut)

    def _printed(self, stream: str, line: bytes, cut: bool) -> None:
        run = self._job
        if run is None:
            return
        if line == f"{MARK}{run.token}".encode():
            run.arrived(stream)
        elif stream == "out":
            run.output.out(line, cut)
        else:
            run.output.err(line, cut)

    def _said(self, line: bytes, cut: bool) -> None:
        run = self._job
        if run is None or cut:
            return
        message = msgspec.json.decode(line)
        if "log" in message:
            run.output.note(message["log"])
        elif "artifact" in message:
            run.files.told(message)
        elif "progress" in message:
            run.context.progress(message["progress"], message["note"])
        elif message.get("begin") == run.token:
            self._began = True
        elif message.get("end") == run.token:
            run.answer = message
            run.arrived("end")
            run.answered.set()

    def _pipe_ended(self) -> None:
        with self._lock:
            self._pipes_left -= 1
            run, gone = self._job, self._pipes_left == 0
        if run is not None and gone:
            run.ended.set()

    def _channel_ended(self) -> None:
        self._heard.set()
        run = self._job
        if run is not None:
            run.answered.set()
        self._pipe_ended()


def _order(token: str, handler: str, job: Job) -> dict[str, Any]:
    task = job.task
    return {
        "job": token,
        "handler": handler,
        "payload": msgspec.Raw(task.payload.encode()),
        "task_id": task.task_id,
        "shop_id": task.shop_id,
        "platform": task.platform,
        "attempt": job.attempt,
    }


def _outcome(watch: supervise.Watch, run: _ChildAttempt, code: int | None) -> Outcome:
    answer = run.answer
    if answer is not None and answer["ok"] and not (watch.reason and answer["gave_up"]):
        return Outcome(ok=True, result=answer["result"])
    if answer is not None:
        said = str(answer["error"])
    else:
        said = "\n".join(part for part in (run.output.error_text(), _died(code)) if part)
    if watch.reason:
        return supervise.stopped(watch, said if watch.reason == supervise.TIMEOUT and not watch.killed else "")
    kind = answer["error_kind"] if answer is not None else classify.CRASHED
    return Outcome(ok=False, error=said[-ERROR_LIMIT:], error_kind=kind)


def _died(code: int | None) -> str:
    return own_words.write("own.handler_gone") if code is None else describe_exit(code, of_handler=True)
