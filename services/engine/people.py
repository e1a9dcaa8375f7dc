"""Who the store knows, which role each of them has, and who was the first."""

from __future__ import annotations

import json
import logging

from services.domain.errors import Unreadable
from services.domain.fleet import role
from services.domain.fleet.role import Roles
from services.ports import Store

log = logging.getLogger(__name__)


def roles(store: Store) -> Roles:
    """Everybody's role as it stands now."""
    fleet = store.documents(role.FLEET)
    return role.read(store.documents(role.KIND), store.documents(role.PEOPLE), fleet.get(role.DEFAULT))


def role_of(store: Store, who: str) -> str:
    """The role of one person as it stands now."""
    entries = store.documents(role.KIND)
    if who in entries:
        return role.parse(entries[who]).role
    return role.read({}, {}, store.documents(role.FLEET).get(role.DEFAULT)).default


def welcome(store: Store, who: str) -> str:
    """The role of whoever has come, who is noted down.

    The first person of a fleet that knows nobody becomes its admin: one of them, however many come at once.
    """
    entries = store.documents(role.KIND)
    if who in entries:
        return role_of(store, who)
    now = store.now_ms()
    try:
        if not entries and _is_first(store, who):
            store.put_document(role.KIND, who, role.dump(role.ADMIN, at=now))
            return role.ADMIN
        if who not in store.documents(role.PEOPLE):
            store.add_document(role.PEOPLE, who, json.dumps({"since": now}))
    except Unreadable as exc:  # who comes is not noted until that is repaired, and who may repair it must get in
        log.warning("%s is not noted down: %s", who, exc)
    return role_of(store, who)


def _is_first(store: Store, who: str) -> bool:
    """Also for somebody who was it and fell over before that was written down."""
    name = json.dumps(who, ensure_ascii=False)
    return store.add_document(role.FLEET, role.FIRST, name) or store.documents(role.FLEET).get(role.FIRST) == name


def may_repair(store: Store, who: str) -> bool:
    """Whether somebody may repair the store though no admin: what made somebody one is gone or cannot be read any more.

    Only where no admin is left that can be read, which no act of this program leaves behind, and for the first person
    of the fleet, or anybody where that is forgotten too.
    """
    return not _admins(store) and _first(store) in ("", who)


def without_admin(store: Store) -> bool:
    """Whether nobody is left who could give a role, though the fleet knows people."""
    return bool(store.documents(role.PEOPLE) or store.documents(role.KIND)) and not _admins(store)


def give_back(store: Store, who: str) -> None:
    """Make somebody who may repair the admin that the fleet has lost: nobody could give that role any more."""
    store.put_document(role.KIND, who, role.dump(role.ADMIN, by="repair", at=store.now_ms()))


def _admins(store: Store) -> list[str]:
    known = store.documents(role.KIND)
    return [who for who in known if role.valid_name(who) and role.parse(known[who]).role == role.ADMIN]


def _first(store: Store) -> str:
    """Who was here first, "" where that cannot be read."""
    try:
        found = json.loads(store.documents(role.FLEET).get(role.FIRST, '""'))
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) and role.valid_name(found) else ""
