"""What follows a failed attempt: again after a delay, dead, or a person acts or decides."""

from __future__ import annotations

import math

import msgspec

from services.domain.gates import session
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.status import Status

#: a task that loses its worker this often within the window is what kills the workers
MAX_LOSSES, LOSS_WINDOW_MS = 3, 72 * 3_600_000
_MAX_DOUBLINGS = 40


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Delays of base · 2ⁿ seconds up to a cap; ``max_retries`` is for new tasks, afterwards their record counts."""

    base_s: int = 30
    cap_s: int = 120
    max_retries: int = 3

    def delay(self, retries: int) -> int:
        """Seconds to wait after the failure that follows ``retries`` earlier ones."""
        return min(self.base_s << min(max(retries, 0), _MAX_DOUBLINGS), self.cap_s)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """``to``: retrying | dead | held | pending (runs again at once) | cancelled |
    blocked (it closes the session gate of its shop and waits there); ``counted``: it uses up a retry."""

    to: Status
    delay_s: int = 0
    counted: bool = False
    lost: bool = False  #: note the loss in the record


def decide(task: Task, kind: str, policy: RetryPolicy, now_ms: int = 0, *, of_shop: bool = True) -> Decision:
    """Decide after an attempt of ``task`` failed with ``kind``; ``task`` is the record before this failure is written.

    ``now_ms`` limits earlier worker losses to the last 72 hours; with 0 all of them count. ``of_shop``: a login
    or captcha is that of the shop, where a person can help.
    """
    if kind == classify.CANCELLED:
        return Decision(to=Status.CANCELLED)
    if kind == classify.WORKER_LOST:
        return _after_loss(task, now_ms)
    if kind in session.KINDS and of_shop:
        return Decision(to=Status.BLOCKED)
    if kind in classify.PERMANENT:
        return Decision(to=Status.DEAD)
    if kind == classify.TIMEOUT and not task.idempotent:
        return Decision(to=Status.HELD)
    if task.retries < task.max_retries:
        return Decision(to=Status.RETRYING, delay_s=policy.delay(task.retries), counted=True)
    return Decision(to=Status.DEAD)


def asked(delay_s: float, retry_after_s: float, policy: RetryPolicy) -> float:
    """The delay where the other side asks for a longer one; never beyond the longest that the broker can wait."""
    return max(delay_s, min(float(math.ceil(retry_after_s)), policy.cap_s))


def _after_loss(task: Task, now_ms: int) -> Decision:
    if not task.idempotent:
        return Decision(to=Status.HELD, lost=True)
    recent = [at for at in task.losses if not now_ms or now_ms - at <= LOSS_WINDOW_MS]
    to = Status.DEAD if len(recent) + 1 >= MAX_LOSSES else Status.PENDING
    return Decision(to=to, lost=True)
