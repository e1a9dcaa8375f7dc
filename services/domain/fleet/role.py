"""Who may do what: three roles, each with those below it, and what the fleet has written down about people."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

VIEWER, OPERATOR, ADMIN = ROLES = ("viewer", "operator", "admin")
#: what somebody without an entry of their own may be; never an admin
DEFAULTS = (VIEWER, OPERATOR)
#: kinds of documents: the roles by person, whoever has been here by person, the fleet's own and its names there
KIND, PEOPLE, FLEET, DEFAULT, FIRST = "role", "people", "fleet", "default_role", "first_admin"
MAX_NAME, MAX_NOTE = 128, 500
_LAST = 253_402_300_799_999  #: of the year 9999


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A role as somebody gave it."""

    role: str = ""
    by: str = ""  #: who gave it; "" for the first person of a fleet, and where an older program wrote it
    at: int = 0  #: UTC ms, 0 where nobody wrote it down
    note: str = ""
    readable: bool = True


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody, and what they may do."""

    who: str
    role: str
    entry: Entry | None = None  #: None: the default of the fleet
    since: int = 0  #: UTC ms of their first act or look, 0 where nobody noted it


class Roles(msgspec.Struct, frozen=True, kw_only=True):
    """Everybody that the fleet knows of, by name, and what others are."""

    people: tuple[Person, ...]
    default: str

    def of(self, who: str) -> str:
        """The role of somebody, known or not."""
        return next((one.role for one in self.people if one.who == who), self.default)

    def entry(self, who: str) -> Entry | None:
        """What was written down about somebody."""
        return next((one.entry for one in self.people if one.who == who), None)

    def admins(self) -> tuple[str, ...]:
        """Who may give roles."""
        return tuple(one.who for one in self.people if one.role == ADMIN)


def reaches(role: str, needed: str) -> bool:
    """Whether a role includes another; one that is none includes nothing."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(needed)


def read(entries: Mapping[str, str], people: Mapping[str, str], default: str | None) -> Roles:
    """What the documents say. One that cannot be read permits least, whoever it is about."""
    chosen = parse(default) if default is not None else None
    usual = OPERATOR if chosen is None else chosen.role if chosen.role in DEFAULTS else VIEWER
    known: list[Person] = []
    for who in sorted({*entries, *people}):
        entry = parse(entries[who]) if who in entries else None
        role = entry.role if entry is not None else usual
        known.append(Person(who=who, role=role, entry=entry, since=_since(people.get(who, ""))))
    return Roles(people=tuple(known), default=usual)


def parse(body: str) -> Entry:
    """A document about a role."""
    try:
        entry = msgspec.json.decode(body, type=Entry)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Entry(role=VIEWER, readable=False)
    if entry.role not in ROLES:
        return Entry(role=VIEWER, by=entry.by, at=_instant(entry.at), note=entry.note, readable=False)
    return msgspec.structs.replace(entry, readable=True, at=_instant(entry.at))


def dump(role: str, *, by: str = "", at: int = 0, note: str = "") -> str:
    """The document of a role."""
    words: dict[str, object] = {"role": role, "by": by, "at": at, "note": note}
    return json.dumps({name: value for name, value in words.items() if value}, ensure_ascii=False)


def valid_name(who: str) -> bool:
    """Whether somebody can be called so: ``account@host``, all of it printable."""
    account, at, host = who.rpartition("@")
    plain = who.isprintable() and who == who.strip() and not any(char.isspace() for char in host)
    return bool(at and account.strip() and host) and plain and len(who) <= MAX_NAME


def _since(body: str) -> int:
    try:
        found = json.loads(body).get("since", 0)
    except (ValueError, AttributeError, RecursionError):
        return 0
    return _instant(found)


def _instant(found: object) -> int:
    """0 for what no calendar has."""
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _LAST else 0
