"""The worker's end of one child process that runs Python handlers, job after job."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from services.domain.task import classify
from services.domain.task.record import ERROR_LIMIT
from services.executors import python_child, supervise
from services.executors.base import Job, JobContext, Outcome
from services.executors.handler_child import MARK
from services.executors.handover import Handover
from services.executors.process_tree import describe_exit
from services.executors.stdout import RESULT_LIMIT, LineSplitter, Output, OutputLimits, Pump

_DRAIN_S = 1.0  #: for the last lines after the handler has returned


@dataclass(slots=True)
class _Run:
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
        self._job: _Run | None = None
        self._pipes_left = 3
        self.jobs = 0
        self.began = False  #: the child took the last job up; otherwise another child may safely have it
        self.tree, channel = python_child.start("services.executors.handler_child", environment, cwd)
        process = self.tree.process
        for stream, receive, room, on_end in (
            (process.stdout, self._out, RESULT_LIMIT, self._pipe_ended),
            (process.stderr, self._err, 0, self._pipe_ended),
            (channel, self._said, 8 * RESULT_LIMIT, self._channel_ended),
        ):
            Pump(stream, LineSplitter(limits.line_bytes, room), receive, on_end).start()
        self._send({"modules": list(modules)})

    @property
    def usable(self) -> bool:
        """Whether another job may be given to it."""
        return self._pipes_left == 3 and not self.tree.exited()

    def run(
        self, handler: str, job: Job, context: JobContext, grace: supervise.Limits, closing: threading.Event
    ) -> Outcome:
        """Run one job to its end, its time-out or its cancellation."""
        self.jobs += 1
        self.began = False
        files = Handover(context.artifacts, self._cwd)
        output = Output(context.log, context.progress, self._limits)  # what it hands over it says by ``job.keep``
        run = _Run(f"{job.task.task_id}#{self.jobs}", output, context, files)
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
        with self._lock:
            self._job = None
        run.output.close()
        files.finish()
        return _outcome(watch, run, None if self.usable else self._exit_code())

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
            self.began = True
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


def _outcome(watch: supervise.Watch, run: _Run, code: int | None) -> Outcome:
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
    how = (
        describe_exit(code).replace("the command", "the handler's process")
        if code is not None
        else "its process is gone"
    )
    return how.replace(" and no error text", " before the handler returned")
