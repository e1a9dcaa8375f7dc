"""Shops and their lots: the names they go by, whether they are paused, and how a parked task leaves."""

from __future__ import annotations

from services.domain.task import transitions
from services.domain.task.record import Task
from services.store.sqlite.session import SET_MARK, Session, ShopKey


def key_of(task: Task) -> ShopKey:
    """The task's shop."""
    return task.platform, task.shop_id


def shop_key(shop: str) -> ShopKey:
    """A shop by its name ``platform:shop_id``."""
    platform, _, shop_id = shop.partition(":")
    return platform, shop_id


def shop_is_paused(session: Session, key: ShopKey) -> bool:
    """Whether a pause of all, its platform or itself is closed."""
    return not session.pauses().isdisjoint(("all", f"platform:{key[0]}", f"shop:{key[0]}:{key[1]}"))


def shop_is_shut(session: Session, key: ShopKey) -> bool:
    """Whether a person must act before any of its tasks may start: a pause is closed, or its session."""
    return shop_is_paused(session, key) or session.logins.is_closed(f"{key[0]}:{key[1]}")


def release(session: Session, task: Task) -> Task:
    """Let a parked task go, with a reservation."""
    session.reserve(task)
    return session.put(transitions.released(task, session.now), SET_MARK)
