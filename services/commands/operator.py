"""Who acts, and what their role permits."""

from __future__ import annotations

import getpass
import json
import socket
from dataclasses import dataclass

from services.domain.errors import NotAllowed
from services.domain.said import said
from services.ports import Store

ROLES = ("viewer", "operator", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A person at a machine."""

    who: str  #: user@host
    role: str = "operator"

    def need(self, role: str) -> None:
        """Raise unless the role is at least this one.

        Raises:
            NotAllowed: with the role that is wanted.
        """
        if ROLES.index(self.role) < ROLES.index(role):
            raise NotAllowed(said("role.needed", who=self.who, role=self.role, needed=role), field="role")


def current(store: Store) -> Operator:
    """The person of this process; the first one a store ever sees becomes its admin, later ones operators."""
    who = f"{_user()}@{socket.gethostname()}"
    roles = store.documents("role")
    if who in roles:
        return Operator(who=who, role=_role(roles[who]))
    role = "operator" if roles else "admin"
    store.put_document("role", who, json.dumps({"role": role}))
    return Operator(who=who, role=role)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def _role(body: str) -> str:
    try:
        role = json.loads(body).get("role", "viewer")
    except (ValueError, AttributeError):
        return "viewer"
    return role if role in ROLES else "viewer"
