"""Which state of a task may follow which, whoever brings it about."""

from __future__ import annotations

from services.domain.task.status import Status

_S = Status
#: by the state before
ALLOWED: dict[Status, frozenset[Status]] = {
    _S.PENDING: frozenset({_S.QUEUED, _S.BLOCKED, _S.RUNNING, _S.CANCELLED, _S.DEAD, _S.SUCCEEDED, _S.HELD}),
    _S.BLOCKED: frozenset({_S.PENDING, _S.RUNNING, _S.CANCELLED, _S.DEAD, _S.SUCCEEDED, _S.HELD}),
    _S.SCHEDULED: frozenset({_S.PENDING, _S.BLOCKED, _S.CANCELLED}),
    _S.QUEUED: frozenset({_S.PENDING, _S.BLOCKED, _S.RUNNING, _S.CANCELLED, _S.DEAD, _S.SUCCEEDED, _S.HELD}),
    _S.RUNNING: frozenset({_S.SUCCEEDED, _S.RETRYING, _S.DEAD, _S.HELD, _S.CANCELLED, _S.PENDING, _S.BLOCKED}),
    _S.RETRYING: frozenset({_S.PENDING, _S.BLOCKED, _S.RUNNING, _S.CANCELLED, _S.DEAD, _S.SUCCEEDED, _S.HELD}),
    _S.HELD: frozenset({_S.PENDING, _S.SUCCEEDED, _S.DEAD, _S.CANCELLED}),
    _S.SUCCEEDED: frozenset(),
    _S.DEAD: frozenset(),
    _S.CANCELLED: frozenset(),
}


def may_become(current: Status, target: Status) -> bool:
    """Tell whether a task in ``current`` may be recorded as ``target``."""
    return target in ALLOWED[current]
