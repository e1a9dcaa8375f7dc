"""Who waits at the limit of a platform or a type, and who goes when it has room.

Not tasks wait but the lots (``shop|type``) that may start but for the limit, by the rank of their first task. A lot
that is looked at either lets a task go, or leaves for where it is opened from next: its shop, or its other limit.
"""

from __future__ import annotations

from services.domain.gates import limit
from services.domain.gates.limit import Room
from services.domain.step import lots, passes, slots, twins
from services.domain.step.view import View
from services.domain.task.record import Task

LOOK = 20


def closed(view: View, task: Task, released: list[Task]) -> str:
    """The scope of the limit that keeps a task back, "" for none.

    Who waits there longer or is more urgent goes first, also before one whose message has come.
    """
    at = limit.rank(task)
    for room in view.limits.of(task):
        own = task.task_id in room.promised
        if room.left + own <= 0:
            return room.scope
        if not own and _goes_before(view, room, at):
            open_limit(view, room.scope, 1, released)
            if room.left <= 0 or _goes_before(view, room, at):
                return room.scope
    return ""


def wait(view: View, task: Task, scope: str) -> None:
    """Let the lot of a task wait there."""
    view.limits.wait(scope, f"{task.shop}|{task.task_type}", limit.rank(task))


def freed(view: View, task: Task, released: list[Task]) -> None:
    """A task has left its slot: one more may start for each of its limits."""
    for room in view.limits.of(task):
        open_limit(view, room.scope, 1, released)


def open_limit(view: View, scope: str, most: int, released: list[Task]) -> None:
    """Release the best of those that wait, so many at most."""
    room = view.limits.room(scope)
    looks = LOOK + most
    while most > 0 and looks > 0 and room.left > 0:
        best = view.limits.best(scope)
        if best is None:
            return
        looks -= 1
        most -= _look(view, room, *best, released)


def first(view: View, lot: str) -> Task | None:
    """The first task of a lot that may start if its shop may."""
    shop, _, kind = lot.rpartition("|")
    if (task := _passing(view, shop, kind)) is not None:
        return task
    if slots.free(view, shop) <= 0 or lots.is_shut(view, shop) or lots.switch_of(view, shop, kind):
        return None
    for task_id, guard in view.shops.lot_of_type(shop, kind):
        if not guard or twins.first(view, guard) == task_id:
            task = view.get(task_id)
            if task is not None:
                return task
    return None


def _passing(view: View, shop: str, kind: str) -> Task | None:
    """The first of them that somebody lets through the closed gates of its shop or type."""
    if not slots.tripped(view, shop) and not lots.switch_of(view, shop, kind):
        return None
    if view.logins.is_closed(shop) or slots.free(view, shop, anyway=True) <= 0:
        return None
    for task_id in passes.in_shop(view, shop):
        task = view.get(task_id)
        if task is None or task.task_type != kind or not passes.has(view, task) or not lots.has(task):
            continue
        if twins.goes_first(view, task):
            return task
    return None


def _look(view: View, room: Room, lot: str, rank: int, released: list[Task]) -> int:
    """Look at the best lot; how many tasks it has let go."""
    task = first(view, lot)
    if task is None:
        view.limits.move(room.scope, lot, None)
        return 0
    at = limit.rank(task)
    if at > rank:  # who stood there is gone
        view.limits.move(room.scope, lot, at)
        return 0
    other = _other(view, task, at, room.scope)
    if other:
        view.limits.move(room.scope, lot, None)
        view.limits.wait(other, lot, at)
        return 0
    released.append(lots.release(view, task))
    after = first(view, lot)
    view.limits.move(room.scope, lot, None if after is None else limit.rank(after))
    return 1


def _other(view: View, task: Task, at: int, this: str) -> str:
    for room in view.limits.of(task):
        if room.scope != this and (room.left <= 0 or _goes_before(view, room, at)):
            return room.scope
    return ""


def _goes_before(view: View, room: Room, at: int) -> bool:
    best = view.limits.best(room.scope)
    return best is not None and best[1] < at
