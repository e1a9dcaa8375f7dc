"""Who waits at the limit of a platform or a type, and who goes when it has room.

Not tasks wait but the lots (``shop|type``) that may start but for the limit, by the rank of their first task. A lot
that is looked at either lets a task go, or leaves for where it is opened from next: its shop, or its other limit.
"""

from __future__ import annotations

from services.domain.gates import limit
from services.domain.task.record import Task
from services.store.sqlite.gates.limits import Held
from services.store.sqlite.gates.lots import is_parked, release, shop_is_shut, shop_key, switched
from services.store.sqlite.session import Session, ShopKey

LOOK = 20


def closed(session: Session, task: Task, released: list[Task]) -> str:
    """The scope of the limit that keeps a task back, "" for none.

    Who waits there longer or is more urgent goes first, also before one whose message has come.
    """
    at = limit.rank(task)
    for held in session.limits.of(task):
        own = task.task_id in held.reserved
        if held.room + own <= 0:
            return held.scope
        if not own and _goes_before(session, held, at):
            open_limit(session, held.scope, 1, released)
            if held.room <= 0 or _goes_before(session, held, at):
                return held.scope
    return ""


def freed(session: Session, task: Task, released: list[Task]) -> None:
    """A task has left its slot: one more may start for each of its limits."""
    for held in session.limits.of(task):
        open_limit(session, held.scope, 1, released)


def open_limit(session: Session, scope: str, most: int, released: list[Task]) -> None:
    """Release the best of those that wait, so many at most."""
    held = session.limits.held(scope)
    looks = LOOK + most
    while most > 0 and looks > 0 and held.room > 0:
        best = session.limits.best(scope)
        if best is None:
            return
        looks -= 1
        most -= _look(session, held, *best, released)


def first(session: Session, lot: str) -> Task | None:
    """The first task of a lot that may start if its shop may."""
    shop, _, kind = lot.rpartition("|")
    key = shop_key(shop)
    if (task := _passing(session, key, kind)) is not None:
        return task
    if session.free_slots(key) <= 0 or shop_is_shut(session, key) or switched(session, key, kind):
        return None
    for task_id, uniq in session.lot_of_type(key, kind):
        if not uniq or session.goes_first(uniq) == task_id:
            task = session.get(task_id)
            if task is not None:
                return task
    return None


def _passing(session: Session, key: ShopKey, kind: str) -> Task | None:
    """The first of them that somebody lets through the closed gates of its shop or type."""
    shop = f"{key[0]}:{key[1]}"
    tripped = session.breakers.is_shut(shop) or session.breakers.is_probing(shop)
    if not tripped and not switched(session, key, kind):
        return None
    if session.logins.is_closed(shop) or session.free_slots(key, anyway=True) <= 0:
        return None
    for task_id in session.passes.in_shop(shop):
        task = session.get(task_id)
        if task is None or task.task_type != kind or not session.passes.of(task) or not is_parked(task):
            continue
        if not task.uniq or session.goes_first(task.uniq) == task_id:
            return task
    return None


def _look(session: Session, held: Held, lot: str, rank: int, released: list[Task]) -> int:
    """Look at the best lot; how many tasks it has let go."""
    limits = session.limits
    task = first(session, lot)
    if task is None:
        limits.move(held.scope, lot, None)
        return 0
    at = limit.rank(task)
    if at > rank:  # who stood there is gone
        limits.move(held.scope, lot, at)
        return 0
    other = _other(session, task, at, held.scope)
    if other:
        limits.move(held.scope, lot, None)
        limits.wait(other, lot, at)
        return 0
    released.append(release(session, task))
    after = first(session, lot)
    limits.move(held.scope, lot, None if after is None else limit.rank(after))
    return 1


def _other(session: Session, task: Task, at: int, this: str) -> str:
    for held in session.limits.of(task):
        if held.scope != this and (held.room <= 0 or _goes_before(session, held, at)):
            return held.scope
    return ""


def _goes_before(session: Session, held: Held, at: int) -> bool:
    best = session.limits.best(held.scope)
    return best is not None and best[1] < at
