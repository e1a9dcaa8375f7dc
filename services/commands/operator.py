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
    role: str = "operator"  #: as this connection permits it
    read_only: str = ""  #: name of the connection that permits no change; "" where the role alone decides

    def need(self, role: str) -> None:
        """Raise unless the role is at least this one.

        Raises:
            NotAllowed: with the role that is wanted, or that the connection is read-only.
        """
        if self.read_only and role != "viewer":
            raise NotAllowed(said("role.read_only", profile=self.read_only), field="role")
        if ROLES.index(self.role) < ROLES.index(role):
            raise NotAllowed(said("role.needed", who=self.who, role=self.role, needed=role), field="role")


def current(store: Store, *, read_only: str = "") -> Operator:
    """The person of this process; the first one a store ever sees becomes its admin, later ones operators.

    ``read_only`` names a connection through which nothing is changed: whoever it is only looks, and nothing is kept of
    them.
    """
    who = f"{_user()}@{socket.gethostname()}"
    if read_only:
        return Operator(who=who, role="viewer", read_only=read_only)
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
