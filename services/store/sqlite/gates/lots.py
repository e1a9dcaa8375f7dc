"""Shops and their lots: the names they go by, whether they are paused, and how a parked task leaves."""

from __future__ import annotations

from services.domain.gates import dependency, home, listed
from services.domain.task import transitions
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.store.sqlite.session import SET_MARK, Session, ShopKey


def key_of(task: Task) -> ShopKey:
    """The task's shop."""
    return task.platform, task.shop_id


def shop_key(shop: str) -> ShopKey:
    """A shop by its name ``platform:shop_id``."""
    platform, _, shop_id = shop.partition(":")
    return platform, shop_id


def switched(session: Session, key: ShopKey, kind: str = "") -> str:
    """The gate of a switch of all, its platform or itself (``kind``: or that type) that is closed, "" for none."""
    scopes = ["all", f"platform:{key[0]}", f"shop:{key[0]}:{key[1]}"]
    return listed.at_switch(session.switches(), [*scopes, f"type:{kind}"] if kind else scopes)


def shop_is_shut(session: Session, key: ShopKey) -> bool:
    """Whether none of its tasks may start: a switch is closed, or its session."""
    return bool(switched(session, key)) or session.logins.is_closed(f"{key[0]}:{key[1]}")


def is_parked(task: Task) -> bool:
    """Whether it stands in the lot of its shop, and not where a worker fetches it or another task lets it go."""
    if task.status != Status.BLOCKED or task.gate in (dependency.GATE, home.NO_WORKER):
        return False
    return not home.node_of(task.gate)


def release(session: Session, task: Task) -> Task:
    """Let a parked task go, with a reservation."""
    session.reserve(task)
    return session.put(transitions.released(task, session.now), SET_MARK)
