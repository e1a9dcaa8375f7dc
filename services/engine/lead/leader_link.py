"""What the connections of the leading process meet, written down for those who look: a leader need not be a worker."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.fleet.worker import LinkState
from services.domain.insight import publisher
from services.domain.upkeep.stored import Document, Instant
from services.ports import Broker, Store

KIND, NAME, RESIGNED = "leader", "link", "resigned"


class _Note(msgspec.Struct, frozen=True, kw_only=True):
    holder: str = ""
    link: LinkState = LinkState()


class Resigned(msgspec.Struct, frozen=True, kw_only=True):
    """Who gave the lead up last because it could not work, why, and when in UTC ms."""

    holder: str = ""
    why: str = ""
    at: Instant = 0


MET, LAST = Document(_Note), Document(Resigned)


class LinkNote:
    """Kept by the leader; written when something changed."""

    def __init__(self, store: Store, broker: Broker, holder: str) -> None:
        self._store, self._broker, self._holder = store, broker, holder
        self._told: _Note | None = None

    def tick(self) -> None:
        """Write down what is met now."""
        note = _Note(holder=self._holder, link=publisher.of_health(self._broker.health()))
        if self._told is None and last_resigned(self._store).holder == self._holder:
            # it can work again: of the next time that nobody leads, this is not the cause
            self._store.put_document(KIND, RESIGNED, LAST.dump(Resigned()))
        if note != self._told:
            self._store.put_document(KIND, NAME, MET.dump(note))
            self._told = note

    def resigned(self, why: str) -> None:
        """Write down why the lead is given up."""
        note = Resigned(holder=self._holder, why=why[:400], at=self._store.now_ms())
        self._store.put_document(KIND, RESIGNED, LAST.dump(note))

    def forget(self) -> None:
        """Somebody else may have written since."""
        self._told = None


def links(store: Store, leader: str) -> Mapping[str, LinkState]:
    """What the present leader's connections meet, by its name; nothing where nobody leads."""
    note = MET.read(store.documents(KIND).get(NAME) if leader else None, _Note())
    return {leader: note.link} if leader and note.holder == leader else {}


def last_resigned(store: Store) -> Resigned:
    """Who gave the lead up last; empty where nobody did."""
    return LAST.read(store.documents(KIND).get(RESIGNED), Resigned())
