"""Which gate is closed for a task, and who of a shop's parked tasks goes on when it has room."""

from __future__ import annotations

from collections.abc import Callable

from services.domain.gates import breaker, dependency, limit, listed
from services.domain.gates import session as login
from services.domain.step import at_limit, lots, passes, slots, twins
from services.domain.step.transitions import BELIEVED_MS, LOOK_AHEAD
from services.domain.step.view import View
from services.domain.task.record import Task
from services.domain.task.status import BLOCKED, UNDER_WAY


class Question:
    """Whether a task may start now, and what came of asking. Made for every claim, so with little work."""

    __slots__ = ("anyway", "released", "scope", "shop", "switch", "task", "view")

    def __init__(self, view: View, task: Task, released: list[Task]) -> None:
        """``released``: takes others that went first at a limit."""
        self.view, self.task, self.released, self.shop = view, task, released, task.shop
        self.scope = ""  #: of the limit that keeps it back
        #: the gate of a switch that is closed for it
        self.switch = lots.switch_of(view, self.shop, task.task_type)
        #: somebody lets it through what a person closed, or an open breaker
        self.anyway = bool(self.switch or slots.tripped(view, self.shop)) and passes.has(view, task)

    def no_slot(self) -> bool:
        """Whether all slots of its shop are taken by others."""
        return slots.free(self.view, self.shop, self.task.task_id, anyway=self.anyway) <= 0


def _dependency(asked: Question) -> str:
    return dependency.GATE if asked.task.gate == dependency.GATE else ""


def _switch(asked: Question) -> str:
    return "" if asked.anyway else asked.switch


def _login(asked: Question) -> str:
    return login.GATE if asked.view.logins.is_closed(asked.shop) else ""


def _slots(asked: Question) -> str:
    if not asked.no_slot():
        return ""
    return breaker.GATE if not asked.anyway and slots.tripped(asked.view, asked.shop) else listed.SHOP_BUSY


def _limit(asked: Question) -> str:
    if not asked.view.limits.some:
        return ""
    scope = at_limit.closed(asked.view, asked.task, asked.released)
    if asked.no_slot():  # somebody of the same shop went first
        return listed.SHOP_BUSY
    asked.scope = scope
    return limit.GATE if scope else ""


def _twin(asked: Question) -> str:
    return "" if twins.goes_first(asked.view, asked.task) else listed.TWIN


#: in the order of ``services.domain.gates.listed``
TESTS: tuple[Callable[[Question], str], ...] = (_dependency, _switch, _login, _slots, _limit, _twin)


def closed_gate(view: View, task: Task, released: list[Task]) -> tuple[str, str]:
    """The first gate that is closed for a task, "" if it may start; for a limit also its scope."""
    asked = Question(view, task, released)
    for test in TESTS:
        if gate := test(asked):
            return gate, asked.scope
    return "", asked.scope


def needs_pass(view: View, task: Task) -> bool:
    """Whether a switch is closed for it, or its breaker is open."""
    return bool(lots.switch_of(view, task.shop, task.task_type)) or slots.tripped(view, task.shop)


def first_gate(view: View, task: Task) -> str:
    """The gate at which a task that may be published now waits from the start, "" for none."""
    if view.logins.is_closed(task.shop):
        return login.GATE
    return listed.SHOP_BUSY if _crowded(view, task) else ""


def _crowded(view: View, task: Task) -> bool:
    """Whether a task that may be published now waits in the lot from the start.

    Enough others of its shop go first, and its message would be delivered only to be parked. As long as nobody is
    parked, some go ahead of time, so that short tasks follow each other without the detour; so do all of a lane that is
    last in, first out, where those that come later go first.
    """
    ahead = 0 if view.shops.count(task.shop, BLOCKED) else LOOK_AHEAD
    if slots.left_for(view, task.shop) > -ahead or task.lane in view.lifo:
        return False
    return slots.left_for(view, task.shop, task.priority) <= -ahead


def open_passed(view: View, shop: str, released: list[Task], most: int = 0) -> None:
    """Let go of a shop's lot whoever has a pass and waits for nothing else; what no attempt can use any more is
    forgotten. So many at most.
    """
    for task_id in passes.in_shop(view, shop):
        if most and len(released) >= most:
            return
        task = view.get(task_id)
        if task is None or not passes.has(view, task):
            passes.forget(view, task_id)
        elif lots.has(task):
            gate, scope = closed_gate(view, task, released)
            if not gate and task is view.get(task_id):
                released.append(lots.release(view, task))
            elif scope and task is view.get(task_id):
                at_limit.wait(view, task, scope)


def open_shop(view: View, shop: str, most: int = 0, back: Task | None = None) -> tuple[Task, ...]:
    """Release what may start of a shop's lot, each with a slot kept for it.

    ``most``: of who sweeps the lots, how many. ``back``: a task that was just given back; it waits behind the lot.
    """
    released: list[Task] = []
    if view.switches() or slots.tripped(view, shop):
        open_passed(view, shop, released, most)
    if not view.shops.count(shop, BLOCKED) or lots.is_shut(view, shop):
        return tuple(released)
    shut: set[str] = set()
    while _has_room(view, shop, released, most):
        kind = _release_some(view, shop, released, shut, most, back)
        if not kind:
            break
        shut.add(kind)
    return tuple(released)


def _has_room(view: View, shop: str, released: list[Task], most: int) -> bool:
    return slots.free(view, shop) > 0 and not (most and len(released) >= most)


def _release_some(view: View, shop: str, released: list[Task], shut: set[str], most: int, back: Task | None) -> str:
    """Release in order until a type turns out to be shut by its limit; the lot is to be read again without that one."""
    first: dict[str, str | None] = {}
    for task_id, guard in view.shops.lot(shop, shut | _paused_types(view)):
        if guard and guard not in first:
            first[guard] = twins.first(view, guard)
        task = view.get(task_id) if not guard or first[guard] == task_id else None
        if task is None:
            continue
        if _comes_later(view, task, back, sweeps=most > 0):
            break
        if view.limits.some and _waits_at_limit(view, task, released):
            return task.task_type
        if not _has_room(view, shop, released, most):
            break
        if task is view.get(task_id):  # else it was the one that went first at its limit
            released.append(lots.release(view, task))
    return ""


def _paused_types(view: View) -> set[str]:
    shut = frozenset().union(*view.switches().values())
    return {scope.removeprefix("type:") for scope in shut if scope.startswith("type:")}


def _comes_later(view: View, task: Task, back: Task | None, *, sweeps: bool) -> bool:
    """Whether free slots will be taken by others that are on their way and at least as urgent as this parked one.

    Who sweeps the lots does not believe so for ever: a message may be lost, or in a lane that nobody serves.
    """
    is_ahead = back is not None and back.status in UNDER_WAY and back.priority >= task.priority
    if slots.left_for(view, task.shop, task.priority) + is_ahead > 0:
        return False
    return not sweeps or task.updated_at > view.now - BELIEVED_MS


def _waits_at_limit(view: View, task: Task, released: list[Task]) -> bool:
    scope = at_limit.closed(view, task, released)
    if scope and task is view.get(task.task_id):
        at_limit.wait(view, task, scope)
    return bool(scope)
