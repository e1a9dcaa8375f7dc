"""How a shop stands now, as far as its own tasks tell: does it make sense to try again? Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from services.domain import classify
from services.domain.session import ClosedSession
from services.domain.shop import SCOPE_ALL, Shop
from services.domain.status import Status
from services.domain.task import Task

LOGGED_IN, LOGGED_OUT, CAPTCHA, PAUSED, OFF, RUNNING, NOT_KNOWN = (
    "logged_in", "logged_out", "captcha", "paused", "off", "running", "not_known",
)  # fmt: skip
#: a person must act in the shop before anything can succeed there
CLOSED = frozenset({LOGGED_OUT, CAPTCHA})
_DOORS = {classify.LOGIN_EXPIRED: LOGGED_OUT, classify.CAPTCHA: CAPTCHA}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopNow:
    """``state`` and its evidence; instants in UTC ms, 0 for never seen."""

    state: str = NOT_KNOWN
    success_at: int = 0  #: end of the last task that succeeded
    login_at: int = 0  #: somebody logged it in
    failure_at: int = 0  #: end of the last attempt that failed
    failure_kind: str = ""

    @property
    def closed(self) -> bool:
        """Whether trying again would fail until a person has acted."""
        return self.state in CLOSED


def judge(
    key: str,
    shop: Shop | None,
    tasks: Iterable[Task],
    paused: Collection[str],
    *,
    session: ClosedSession | None = None,
    login_at: int = 0,
) -> ShopNow:
    """Judge by its closed session gate and tasks of the shop, in any order; ``paused`` are the scopes closed now.

    A success or a login after the last closed door says that somebody has opened it again. An attempt that runs says
    nothing yet.
    """
    tasks = list(tasks)
    nothing = (0, "")
    success_at = max((task.ended_at for task in tasks if task.status == Status.SUCCEEDED), default=0)
    failures = [failure for task in tasks for failure in _failures(task)]
    failure_at, failure_kind = max(failures, default=nothing)
    door_at, door = max((failure for failure in failures if failure[1] in _DOORS), default=nothing)
    if session is not None:
        door_at, door = max(session.since, success_at + 1, login_at + 1), session.kind
        failure_at, failure_kind = max((failure_at, failure_kind), (session.since, session.kind))
    running = any(task.status == Status.RUNNING for task in tasks)
    platform = key.partition(":")[0]
    if {SCOPE_ALL, f"platform:{platform}", f"shop:{key}"} & set(paused):
        state = PAUSED
    elif shop is not None and not shop.enabled:
        state = OFF
    elif door_at > max(success_at, login_at):
        state = _DOORS[door]
    else:
        state = LOGGED_IN if success_at or login_at else RUNNING if running else NOT_KNOWN
    return ShopNow(
        state=state, success_at=success_at, login_at=login_at, failure_at=failure_at, failure_kind=failure_kind
    )


def _failures(task: Task) -> Iterator[tuple[int, str]]:
    """End and kind of each failure that the record knows."""
    for attempt in task.attempts:
        if attempt.error_kind:
            yield attempt.ended_at, attempt.error_kind
    if task.status == Status.DEAD and task.error_kind:
        yield task.ended_at, task.error_kind
