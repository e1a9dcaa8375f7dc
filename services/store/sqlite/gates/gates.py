"""Gates: whether a delivered task may start now, and who starts when a shop has room."""

from __future__ import annotations

from services.domain.change import Answer, Try
from services.domain.gates import breaker, dependency, limit, passing
from services.domain.gates import session as sessions
from services.domain.insight.gates import SHOP_BUSY
from services.domain.task import transitions
from services.domain.task.record import Task
from services.domain.task.status import CLAIMABLE, UNDER_WAY, Status
from services.domain.task.transitions import BELIEVED_MS, LOOK_AHEAD
from services.store.sqlite.gates import lots, waiting
from services.store.sqlite.gates.lots import key_of, release, shop_is_shut, switched
from services.store.sqlite.session import Session, ShopKey

MISSING = Answer("missing")


def closed_gate(session: Session, task: Task, released: list[Task]) -> tuple[str, str]:
    """The first gate that is closed for a task, "" if it may start; for a limit also its scope."""
    if task.gate == dependency.GATE:
        return dependency.GATE, ""
    key = key_of(task)
    shut, anyway = _shut(session, task)
    if shut:
        return shut, ""
    if session.free_slots(key, but=task.task_id, anyway=anyway) <= 0:
        return breaker.GATE if not anyway and _tripped(session, task.shop) else "shop_busy", ""
    if session.limits.some:
        scope = waiting.closed(session, task, released)
        if session.free_slots(key, but=task.task_id, anyway=anyway) <= 0:  # somebody of the same shop went first
            return "shop_busy", ""
        if scope:
            return limit.GATE, scope
    if task.guard and session.goes_first(task.guard) != task.task_id:
        return "twin", ""
    return "", ""


def _shut(session: Session, task: Task) -> tuple[str, bool]:
    """The gate that no free slot opens, and whether the task has a pass that it needs."""
    switch = _switch(session, task)
    anyway = bool(switch or _tripped(session, task.shop)) and session.passes.of(task)
    if switch and not anyway:
        return switch, False
    return sessions.GATE if session.logins.is_closed(task.shop) else "", anyway


def _switch(session: Session, task: Task) -> str:
    return switched(session, key_of(task), task.task_type) if any(session.switches().values()) else ""


def _tripped(session: Session, shop: str) -> bool:
    """Whether its breaker is open, or lets one at a time try."""
    return session.breakers.is_shut(shop) or session.breakers.is_probing(shop)


def try_anyway(session: Session, op: Try) -> Answer:
    """Let one attempt of one task through what a person closed, or what closed by itself for a person to look."""
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status not in CLAIMABLE:
        return Answer("refused", task)
    if not session.passes.of(task):
        if not _switch(session, task) and not _tripped(session, task.shop):
            return Answer("open", task)
        if not session.passes.give(task, op.by, op.reason):
            return Answer("many", task)
        task = session.put(transitions.let_through(task, passing.note(op.by, op.reason), session.now))
    released: list[Task] = []
    if task.status == Status.BLOCKED:
        open_passed(session, key_of(task), released)
    return Answer("ok", session.get(op.task_id), tuple(released))


def open_passed(session: Session, key: ShopKey, released: list[Task], most: int = 0) -> None:
    """Let go of a shop's lot whoever has a pass and waits for nothing else; what no attempt can use any more is
    forgotten. So many at most.
    """
    for task_id in session.passes.in_shop(f"{key[0]}:{key[1]}"):
        if most and len(released) >= most:
            return
        task = session.get(task_id)
        if task is None or not session.passes.of(task):
            session.passes.forget(task_id)
        elif lots.is_parked(task):
            gate, scope = closed_gate(session, task, released)
            if not gate and task is session.get(task_id):
                released.append(release(session, task))
            elif scope and task is session.get(task_id):
                session.limits.wait(scope, f"{task.shop}|{task.task_type}", limit.rank(task))


def first_gate(session: Session, task: Task) -> str:
    """The gate at which a task that may be published now waits from the start, "" for none."""
    if session.logins.is_closed(task.shop):
        return sessions.GATE
    return SHOP_BUSY if _crowded(session, task) else ""


def _crowded(session: Session, task: Task) -> bool:
    """Whether a task that may be published now waits in the lot from the start.

    Enough others of its shop go first, and its message would be delivered only to be parked. As long as nobody is
    parked, some go ahead of time, so that short tasks follow each other without the detour; so do all of a lane that is
    last in, first out, where those that come later go first.
    """
    key = key_of(task)
    ahead = 0 if session.count(key, Status.BLOCKED) else LOOK_AHEAD
    if session.left_for(key) > -ahead or task.lane in session.lifo:
        return False
    return session.left_for(key, task.priority) <= -ahead


def open_shop(session: Session, key: ShopKey, most: int = 0, back: Task | None = None) -> tuple[Task, ...]:
    """Release what may start of a shop's lot, each with a reservation.

    ``most``: of who sweeps the lots, how many. ``back``: a task that was just given back; it waits behind the lot.
    """
    released: list[Task] = []
    if any(session.switches().values()) or _tripped(session, f"{key[0]}:{key[1]}"):
        open_passed(session, key, released, most)
    if shop_is_shut(session, key):
        return tuple(released)
    shut: set[str] = set()
    while _has_room(session, key, released, most):
        kind = _release_some(session, key, released, shut, most, back)
        if not kind:
            break
        shut.add(kind)
    return tuple(released)


def _has_room(session: Session, key: ShopKey, released: list[Task], most: int) -> bool:
    return session.free_slots(key) > 0 and not (most and len(released) >= most)


def _release_some(
    session: Session, key: ShopKey, released: list[Task], shut: set[str], most: int, back: Task | None
) -> str:
    """Release in order until a type turns out to be shut by its limit; the lot is to be read again without that one."""
    first: dict[str, str | None] = {}
    for task_id, uniq in session.lot(key, shut):
        if uniq and uniq not in first:
            first[uniq] = session.goes_first(uniq)
        task = session.get(task_id) if not uniq or first[uniq] == task_id else None
        if task is None:
            continue
        if _comes_later(session, key, task, back, sweeps=most > 0):
            break
        if session.limits.some and _waits_at_limit(session, task, released):
            return task.task_type
        if not _has_room(session, key, released, most):
            break
        if task is session.get(task_id):  # else it was the one that went first at its limit
            released.append(release(session, task))
    return ""


def _comes_later(session: Session, key: ShopKey, task: Task, back: Task | None, *, sweeps: bool) -> bool:
    """Whether free slots will be taken by others that are on their way and at least as urgent as this parked one.

    Who sweeps the lots does not believe so for ever: a message may be lost, or in a lane that nobody serves.
    """
    is_ahead = back is not None and back.status in UNDER_WAY and back.priority >= task.priority
    if session.left_for(key, task.priority) + is_ahead > 0:
        return False
    return not sweeps or task.updated_at > session.now - BELIEVED_MS


def _waits_at_limit(session: Session, task: Task, released: list[Task]) -> bool:
    scope = waiting.closed(session, task, released)
    if scope and task is session.get(task.task_id):
        session.limits.wait(scope, f"{task.shop}|{task.task_type}", limit.rank(task))
    return bool(scope)
