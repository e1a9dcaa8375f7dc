"""What an admin may do about people: give a role, take it back, say what everybody else is."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.errors import StoreError, UsageError
from services.domain.fleet import role as roles
from services.domain.fleet.role import ADMIN, DEFAULTS, MAX_NOTE, ROLES, Roles
from services.domain.text.said import said
from services.engine import people
from services.ports import Store

_LOCK, _LOCK_MS = "roles", 10_000


class RoleCommands:
    """Audited. Whatever is asked for, one admin remains."""

    def __init__(self, store: Store, audit: Audit, operator: Operator) -> None:
        self._store, self._audit, self._operator = store, audit, operator

    def set(self, who: str, role: str, *, note: str = "", instead: str = "") -> Roles:
        """Give somebody (``account@host``) a role, also somebody who has not been here yet. Returns the roles before.
        ``instead``: only where this is their role.

        Raises:
            UsageError: nobody can be called so, there is no such role, nobody would be admin any more, or they have
                another role than ``instead``.
            StoreError: somebody else is changing roles at this moment.
        """
        self._audit.need(self._operator, ADMIN, "role.set", [who[: roles.MAX_NAME]])
        _check_name(who)
        if role not in ROLES:
            raise UsageError(said("role.unknown", role=f"{role!r:.40}", known=", ".join(ROLES)), field="role")
        if len(note) > MAX_NOTE:
            raise UsageError(said("role.note", most=MAX_NOTE, count=len(note)), field="note")
        before = people.roles(self._store)
        detail: dict[str, object] = {"from": before.of(who), "to": role, "own": before.entry(who) is not None}
        detail |= {"note": note} if note else {}
        with self._audit.act("role.set", [who], detail), self._alone():
            before = self._keeping_an_admin(who, role, instead)
            body = roles.dump(role, by=self._operator.who, at=self._store.now_ms(), note=note.strip())
            self._store.put_document(roles.KIND, who, body)
        return before

    def remove(self, who: str, *, instead: str = "") -> Roles:
        """Take somebody's own role away: they have the fleet's default from then on. Returns the roles before.
        ``instead``: only where this is their role.

        Raises:
            UsageError: they have none of their own, nobody would be admin any more, or they have another role than
                ``instead``.
            StoreError: somebody else is changing roles at this moment.
        """
        self._audit.need(self._operator, ADMIN, "role.remove", [who[: roles.MAX_NAME]])
        before = people.roles(self._store)
        if before.entry(who) is None:
            raise UsageError(said("role.no_entry", who=f"{who!r:.140}", default=before.default), field="who")
        detail: dict[str, object] = {"from": before.of(who), "to": before.default, "own": True}
        with self._audit.act("role.remove", [who], detail), self._alone():
            before = self._keeping_an_admin(who, before.default, instead)
            self._store.remove_document(roles.KIND, who)
        return before

    def set_default(self, role: str, *, instead: str = "") -> Roles:
        """What everybody is who has no role of their own: viewer or operator. Returns the roles before. ``instead``:
        only where this is it.

        Raises:
            UsageError: it is neither, or another one than ``instead`` is it.
        """
        self._audit.need(self._operator, ADMIN, "role.default", [role[:40]])
        if role not in DEFAULTS:
            raise UsageError(said("role.default", known=" or ".join(DEFAULTS), role=f"{role!r:.40}"), field="role")
        before = people.roles(self._store)
        if instead not in ("", before.default):
            raise UsageError(said("back.differs"), field="role")
        with self._audit.act("role.default", [role], {"from": before.default, "to": role}):
            body = roles.dump(role, by=self._operator.who, at=self._store.now_ms())
            self._store.put_document(roles.FLEET, roles.DEFAULT, body)
        return before

    def _keeping_an_admin(self, who: str, role: str, instead: str) -> Roles:
        self._operator.now(self._store).need(ADMIN)  # somebody may have taken it from this one a moment ago
        before = people.roles(self._store)
        if instead not in ("", before.of(who)):
            raise UsageError(said("back.differs"), field="role")
        if role != ADMIN and before.admins() == (who,):
            raise UsageError(said("role.last_admin", who=who), field="who")
        return before

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two admins who take the role from each other at one moment must not both succeed."""
        holder = f"{self._operator.who}#{secrets.token_hex(4)}"
        if not self._store.lead(_LOCK, holder, _LOCK_MS):
            raise StoreError(said("role.contested"))
        try:
            yield
        finally:
            self._store.resign(_LOCK, holder)


def _check_name(who: str) -> None:
    if not roles.valid_name(who):
        raise UsageError(said("role.name", who=f"{who!r:.140}"), field="who")
