"""Who the store knows, which role each of them has, and who was the first."""

from __future__ import annotations

import json

from services.domain import role
from services.domain.role import Roles
from services.ports import Store


def roles(store: Store) -> Roles:
    """Everybody's role as it stands now."""
    fleet = store.documents(role.FLEET)
    return role.read(store.documents(role.KIND), store.documents(role.PEOPLE), fleet.get(role.DEFAULT))


def role_of(store: Store, who: str) -> str:
    """The role of one person as it stands now."""
    body = store.documents(role.KIND).get(who)
    if body is not None:
        return role.parse(body).role
    return role.read({}, {}, store.documents(role.FLEET).get(role.DEFAULT)).default


def welcome(store: Store, who: str) -> str:
    """The role of whoever has come, who is noted down.

    The first person of a fleet that knows nobody becomes its admin: one of them, however many come at once.
    """
    entries = store.documents(role.KIND)
    if who in entries:
        return role.parse(entries[who]).role
    now = store.now_ms()
    if not entries and _is_first(store, who):
        store.put_document(role.KIND, who, role.dump(role.ADMIN, at=now))
        return role.ADMIN
    if who not in store.documents(role.PEOPLE):
        store.add_document(role.PEOPLE, who, json.dumps({"since": now}))
    return role_of(store, who)


def _is_first(store: Store, who: str) -> bool:
    """Also for somebody who was it and fell over before that was written down."""
    name = json.dumps(who, ensure_ascii=False)
    return store.add_document(role.FLEET, role.FIRST, name) or store.documents(role.FLEET).get(role.FIRST) == name
