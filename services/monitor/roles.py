"""Questions about people: who has which role, who gave it, and what everybody else is."""

from __future__ import annotations

from services.domain.fleet.role import Roles
from services.engine import people
from services.ports import Store


class RoleQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def look(self) -> Roles:
        """Everybody that the fleet knows of, as it stands now."""
        return people.roles(self._store)

    def role_of(self, who: str) -> str:
        """The role of one person, as it stands now."""
        return people.role_of(self._store, who)
