"""Gates and lots: whether a delivered task may start now, and who starts when a gate opens."""

from __future__ import annotations

from services.domain import dependency, transitions
from services.domain.task import Task
from services.store.embedded_session import SET_MARK, Session, ShopKey


def key_of(task: Task) -> ShopKey:
    """The task's shop."""
    return task.platform, task.shop_id


def shop_key(shop: str) -> ShopKey:
    """A shop by its name ``platform:shop_id``."""
    platform, _, shop_id = shop.partition(":")
    return platform, shop_id


def closed_gate(session: Session, task: Task) -> str:
    """The first gate that is closed for a task, "" if it may start."""
    if task.gate == dependency.GATE:
        return dependency.GATE
    paused = session.pauses()
    if paused and not paused.isdisjoint((*_shop_scopes(key_of(task)), f"type:{task.task_type}")):
        return "paused"
    if session.free_slots(key_of(task), but=task.task_id) <= 0:
        return "shop_busy"
    if task.uniq and session.goes_first(task.uniq) != task.task_id:
        return "twin"
    return ""


def open_shop(session: Session, key: ShopKey) -> tuple[Task, ...]:
    """Release what may start of a shop's lot, each with a reservation."""
    if session.free_slots(key) <= 0 or not session.pauses().isdisjoint(_shop_scopes(key)):
        return ()
    released: list[Task] = []
    first: dict[str, str | None] = {}
    for task_id, uniq in session.lot(key):
        if uniq and uniq not in first:
            first[uniq] = session.goes_first(uniq)
        if uniq and first[uniq] != task_id:
            continue
        task = session.get(task_id)
        if task is None:
            continue
        session.reserve(key, task_id)
        released.append(session.put(transitions.released(task, session.now), SET_MARK))
        if session.free_slots(key) <= 0:
            break
    return tuple(released)


def _shop_scopes(key: ShopKey) -> tuple[str, str, str]:
    return "all", f"platform:{key[0]}", f"shop:{key[0]}:{key[1]}"
