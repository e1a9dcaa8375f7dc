"""Watches one child until it ends, times out, is cancelled or its executor closes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec

from services.domain.task import classify, own_words
from services.domain.task.record import ERROR_LIMIT
from services.executors.base import JobContext, Outcome, broken_off
from services.executors.process_tree import ProcessTree

_TICK_S = 0.05
_DRAIN_S = 0.5  #: for output that is still in the pipes when the child has ended
_POLL_S = 0.0005

TIMEOUT, CANCEL, CLOSE = "timeout", "cancel", "close"


class StopTimes(msgspec.Struct, frozen=True, kw_only=True):
    """When to ask and when to force."""

    timeout_s: float
    kill_grace_s: float
    cancel_grace_s: float


class Watch(msgspec.Struct, kw_only=True):
    """The present state of one supervision."""

    tree: ProcessTree
    limits: StopTimes
    context: JobContext
    closing: threading.Event
    ask: Callable[[], None]  #: how the child is asked to end
    reason: str = ""  #: why it was asked, "" as long as it was not
    killed: bool = False
    started: float = 0.0
    kill_at: float = 0.0

    def step(self) -> None:
        """Ask or force, if it is time."""
        now = time.monotonic()
        if not self.reason:
            self._look(now)
        elif now >= self.kill_at and not self.killed:
            self.killed = True
            self.tree.kill()

    def _look(self, now: float) -> None:
        if self.closing.is_set():
            self.reason, self.kill_at = CLOSE, now
        elif self.context.cancelled.is_set():
            self.reason, self.kill_at = CANCEL, now + self.limits.cancel_grace_s
            self.context.stopping()
            self.ask()
        elif now - self.started >= self.limits.timeout_s:
            self.reason, self.kill_at = TIMEOUT, now + self.limits.kill_grace_s
            self.ask()

    def patience(self) -> float:
        """Seconds until something may have to be done."""
        now = time.monotonic()
        until = self.kill_at if self.reason else self.started + self.limits.timeout_s
        return min(_TICK_S, max(0.0, until - now)) if not self.killed else _TICK_S


def watch_to_answer(watch: Watch, answered: threading.Event) -> None:
    """Return when the child has answered or is gone; its readers set ``answered`` for both."""
    watch.started = watch.started or time.monotonic()
    while not answered.wait(watch.patience()):
        if watch.tree.exited():
            answered.wait(_DRAIN_S)
            return
        watch.step()


def stopped(watch: Watch, said: str) -> Outcome:
    """Outcome of a child that was asked to end; ``said`` is what it still told."""
    if watch.reason == TIMEOUT:
        how = "own.no_end_killed" if watch.killed else "own.no_end_asked"
        text = f"{said}\n{own_words.write(how, seconds=f'{watch.limits.timeout_s:g}')}".strip()
        return Outcome(ok=False, timed_out=True, error=text[-ERROR_LIMIT:], error_kind=classify.TIMEOUT)
    code = ("own.killed" if watch.killed else "own.stopped") + ("_closing" if watch.reason == CLOSE else "")
    return broken_off(code)


def watch_to_end(watch: Watch, ended: threading.Event) -> None:
    """Return when the child has ended and is read to the end; the readers set ``ended`` once both pipes are."""
    watch.started = watch.started or time.monotonic()
    pause = _POLL_S
    while not watch.tree.exited():
        if ended.is_set():  # it closed its output or is about to leave
            time.sleep(min(pause, watch.patience() + _POLL_S))
            pause = min(_TICK_S, pause * 2)
        else:
            ended.wait(watch.patience())
        watch.step()
    if not ended.wait(_DRAIN_S):
        # Somebody it started still holds the pipes: that is no flow any more.
        watch.tree.kill()
        ended.wait(_DRAIN_S)
