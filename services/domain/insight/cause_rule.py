"""What a person decided about a cause of dead letters: its name, owner and note, for how long it is ignored, and what
whoever leads does about it by itself. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Protocol

import msgspec
from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.task.search.query import Term, equals
from services.domain.text.said import said
from services.domain.upkeep.stored import Document, Instant

KIND = "cause"  #: of the store's documents; the name is the fingerprint
MAX_NAME, MAX_NOTE, MAX_LINK, MAX_WHERE = 80, 2000, 500, 300
#: by what a cause is split, the narrowest first: a letter that fits several counts to the first
PLACES = ("shop", "worker", "platform")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}\Z")
FOREVER = 0


class Died(Protocol):
    """Where a letter died."""

    @property
    def shop(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def worker(self) -> str: ...


class CauseRule(msgspec.Struct, frozen=True, kw_only=True):
    """``ignored``: what dies of it is ignored ``until`` an instant (UTC ms), ``FOREVER`` until its text changes.

    Another text has another fingerprint, so such a rule never has to end.
    """

    name: str = ""
    note: str = ""
    by: str = ""
    at: Instant = 0
    ignored: bool = False
    until: int = FOREVER
    owner: str = ""  #: who is at it
    park_s: int = 0  #: the shops that have it are paused for so long after each letter, 0: they go on
    retry_at: str = ""  #: ``HH:MM`` on the clocks of the fleet: its letters run again then, each day; "" never
    alert_once: bool = False  #: an alert on it is told once, neither again nor to others
    route: tuple[str, ...] = ()  #: who hears of it in the place of those whom the rule names: channels and groups
    known_by: str = ""  #: who decided these, and when
    known_at: Instant = 0
    into: str = ""  #: fingerprint of the cause that this one is a part of, "" for none
    of: str = ""  #: fingerprint of the cause that this one was split off from, "" for none
    where: str = ""  #: which of its letters are of this one: ``shop:pdd:s1``, ``platform:temu`` or ``worker:desk-7``
    link: str = ""  #: where it is followed up: an address of an issue tracker, "" for none

    @property
    def known(self) -> bool:
        """Whether anything is done about it by itself, or somebody is at it."""
        return bool(self.owner or self.park_s or self.retry_at or self.alert_once or self.route or self.link)

    @property
    def acts(self) -> bool:
        """Whether whoever leads does anything about it."""
        return bool(self.park_s or self.retry_at)

    @property
    def mark(self) -> str:
        """The note of the letters that this rule has ignored: only those come back when it ends."""
        return f"rule {self.at}"

    def holds(self, now_ms: int) -> bool:
        """Whether it ignores now."""
        return self.ignored and (self.until == FOREVER or now_ms < self.until)

    def over(self, now_ms: int) -> bool:
        """Whether its time has run out and its letters shall come back."""
        return self.ignored and not self.holds(now_ms)


def above(fingerprint: str, rules: Mapping[str, CauseRule]) -> list[str]:
    """The cause itself, what it was merged into, what that was merged into, and so on."""
    found = [fingerprint]
    while (rule := rules.get(found[-1])) is not None and rule.into and rule.into not in found:
        found.append(rule.into)
    return found


def root(fingerprint: str, rules: Mapping[str, CauseRule]) -> str:
    """The cause that this one counts to: itself, or what it was merged into."""
    return above(fingerprint, rules)[-1]


class Causes:
    """To which cause each letter counts, by what was merged and what was split off."""

    def __init__(self, rules: Mapping[str, CauseRule]) -> None:
        self._rules = rules
        self._apart: dict[str, list[tuple[int, str]]] = {}
        for name, rule in rules.items():
            if rule.of and rule.where:
                self._apart.setdefault(rule.of, []).append((PLACES.index(rule.where.partition(":")[0]), name))
        for parts in self._apart.values():
            parts.sort()

    def of(self, key: str, task: Died) -> str:
        """The cause of a letter; ``key``: its own fingerprint, or what names its cause where it has none."""
        for part in self.apart(main := root(key, self._rules)):
            if stands(task, self._rules[part].where):
                return root(part, self._rules)
        return main

    def apart(self, cause: str) -> tuple[str, ...]:
        """What was split off from a cause, the narrowest place first; what was joined again is none of it."""
        parts = self._apart.get(cause, ())
        return tuple(name for _place, name in parts if root(name, self._rules) != cause)

    def beside(self, cause: str) -> tuple[str, ...]:
        """The places that do not count to it, though its fingerprints are there; of a part those that are narrower."""
        rule = self._rules.get(cause, CauseRule())
        parts: Iterable[str] = self.apart(rule.of if rule.where else cause)
        if rule.where:
            parts = takewhile(lambda one: one != cause, parts)
        return tuple(self._rules[one].where for one in parts)

    def there(self, key: str, task: Died) -> tuple[Term, ...]:
        """Where others died that have the fingerprint ``key`` and count to the same cause as this letter."""
        main = root(key, self._rules)
        for part in self.apart(main):
            if stands(task, where := self._rules[part].where):
                return there(where, self.beside(part))
        return there("", (self._rules[part].where for part in self.apart(main)))

    def prints(self, cause: str) -> tuple[str, ...]:
        """The fingerprints that letters of a cause may have."""
        main = self._rules[cause].of if cause in self._rules and self._rules[cause].where else ""
        main = main or cause
        return main, *(one for one in self._rules if one != main and root(one, self._rules) == main)


def stands(task: Died, where: str) -> bool:
    """Whether a letter died there."""
    head, _colon, name = where.partition(":")
    return {"shop": task.shop, "platform": task.platform, "worker": task.worker}.get(head) == name


def part_of(cause: str, where: str) -> str:
    """The name of what is split off from a cause there; always the same, so that nobody splits it off twice."""
    return hashlib.sha256(f"{cause}\n{where}".encode()).hexdigest()[:16]


def check_where(where: str) -> str:
    """A place at which a cause is split.

    Raises:
        UsageError: it is none.
    """
    head, _colon, name = where.partition(":")
    if head not in PLACES or not name or len(where) > MAX_WHERE or not name.isprintable():
        raise UsageError(said("cause_rule.split_by", where=f"{where!r:.60}"), field="where")
    return where


def place_term(where: str, *, negated: bool = False) -> Term:
    """The same as a term of a filter."""
    head, _colon, name = where.partition(":")
    return replace(equals(head, name), negated=negated)


def there(where: str, beside: Iterable[str]) -> tuple[Term, ...]:
    """Terms of a filter: at this place ("": anywhere), and at none of those beside it."""
    return *((place_term(where),) if where else ()), *(place_term(one, negated=True) for one in beside)


DOCUMENT = Document(CauseRule)


def parse(text: str | None) -> CauseRule:
    """Read a rule; one that cannot be read decides nothing."""
    return DOCUMENT.read(text, CauseRule())


def read(documents: Mapping[str, str]) -> dict[str, CauseRule]:
    """The rules of all documents of ``KIND``, by fingerprint."""
    return {name: parse(body) for name, body in documents.items()}


def check_fingerprint(fingerprint: str) -> str:
    """The fingerprint of a cause.

    Raises:
        UsageError: it is none, as of letters that were never a readable task.
    """
    if not _FINGERPRINT.match(fingerprint):
        raise UsageError(said("cause_rule.print"), "cause")
    return fingerprint
