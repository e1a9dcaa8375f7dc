"""Who acts, and what their role permits."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field, replace

from services import account
from services.domain.errors import NotAllowed
from services.domain.fleet import role as roles
from services.domain.fleet.role import ROLES as ROLES
from services.domain.text.said import said
from services.engine import people, tokens
from services.ports import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A person at a machine."""

    who: str  #: user@host
    role: str = roles.OPERATOR  #: as this connection permits it
    read_only: str = ""  #: why the connection permits no change; "" where the role alone decides
    known: bool = field(default=False, compare=False)  #: the store knows the role, and is asked again for each act
    token: str = field(default="", compare=False)  #: name of the token that acts, which may be revoked at any moment

    def need(self, role: str) -> None:
        """Raise unless the role is at least this one.

        Raises:
            NotAllowed: with the role that is wanted, or that the connection is read-only.
        """
        if self.read_only and role != roles.VIEWER:
            raise NotAllowed(self.read_only, field="role")
        if not roles.reaches(self.role, role):
            raise NotAllowed(said("role.needed", who=self.who, role=self.role, needed=role), field="role")

    def now(self, store: Store) -> Operator:
        """The same person with the role as it stands now: it may have been changed since this program began.

        Raises:
            NotAllowed: the token that acts was revoked, or has ended.
        """
        if self.token:
            role = tokens.role_of(store, self.token)
            if not role:
                raise NotAllowed(said("token.over", name=self.token), field="token")
            return replace(self, role=role)
        return replace(self, role=people.role_of(store, self.who)) if self.known else self


def person() -> str:
    """Who sits here: the account of the operating system at this machine."""
    return f"{account.name()}@{socket.gethostname()}"


def current(store: Store, *, read_only: str = "", who: str = "") -> Operator:
    """The person of this process; the first one a store ever sees becomes its admin, others have the fleet's default
    role until an admin gives them one.

    ``read_only`` says why nothing is changed through a connection: whoever it is only looks, and nothing is kept of
    them. ``who``: somebody else than the account that this process runs under.
    """
    who = who or person()
    if read_only:
        return Operator(who=who, role=roles.VIEWER, read_only=read_only)
    return Operator(who=who, role=people.welcome(store, who), known=True)
