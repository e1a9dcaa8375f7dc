"""Questions to the audit trail: who did what to which task, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from services.audit_witness import Witness
from services.domain import audit, filter_time
from services.domain.errors import UsageError
from services.domain.insight.audit import Verdict
from services.engine import audit_check
from services.ports import AuditEntry, Store

FIELDS = ("who", "action", "target", "outcome", "detail", "state", "text")
PAGE, SCAN_LIMIT = 200, 50_000
_WORD = re.compile(r"(-?)(?:([a-z]+)([:<>]))?(?:\"([^\"]*)\"|(\S+))")
_Test = Callable[[AuditEntry], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """Entries, the last one first. ``next``: the entry to go on from, "" at the end."""

    entries: tuple[AuditEntry, ...]
    next: str = ""


class AuditQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, witness: Witness | None = None) -> None:
        self._store, self._witness = store, witness

    def verify(self) -> Verdict:
        """Whether all of it is as it was written."""
        return audit_check.check(self._store, self._witness)

    def entries(self, text: str = "", *, limit: int = 50, before: str = "") -> Trail:
        """The newest entries that match all words: ``who:ann* action:dead.republish target:ID outcome:partly
        detail:batch state:unknown age<2h``, bare words anywhere, ``-`` in front negates, ``*`` at the end is a prefix;
        outcome, detail and bare words mean "contains".

        Raises:
            UsageError: the text is no such filter, or ``before`` is no entry's id.
        """
        if before and not audit.is_entry(before):
            raise UsageError(f"--before takes `next` of the page before, not {before!r:.60}", field="--before")
        tests = _tests(text, self._store.now_ms())
        found: list[AuditEntry] = []
        scanned = 0
        while len(found) < limit and scanned < SCAN_LIMIT:
            page = self._store.audit(PAGE, before)
            for entry in page:
                before, scanned = entry.entry_id, scanned + 1
                if all(test(entry) for test in tests):
                    found.append(entry)
                    if len(found) == limit:
                        return Trail(entries=tuple(found), next=before)
            if len(page) < PAGE:
                return Trail(entries=tuple(found))
        return Trail(entries=tuple(found), next=before)


def _tests(text: str, now_ms: int) -> list[_Test]:
    tests: list[_Test] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            raise UsageError(f"the filter cannot be read from {text[at : at + 40]!r} on", field="filter")
        sign, name, op, quoted, plain = match.groups()
        test = _test(name or "text", op or ":", quoted if plain is None else plain, now_ms)
        tests.append(_not(test) if sign else test)
        at = match.end()
        while at < len(text) and text[at].isspace():
            at += 1
    return tests


def _test(name: str, op: str, value: str, now_ms: int) -> _Test:
    if name == "age":
        span = filter_time.duration_ms(value)
        if span is None or op == ":":
            raise UsageError(f"age is compared with a duration, such as age<2h, not {value!r:.40}", field="filter")
        edge = now_ms - span
        return (lambda entry: entry.at > edge) if op == "<" else (lambda entry: entry.at < edge)
    if name not in FIELDS or op != ":":
        raise UsageError(f"the audit has no field {name!r:.40}; it has {', '.join(FIELDS)} and age", field="filter")
    wanted = value.casefold()
    if name == "state":
        return lambda entry: audit.state(entry, now_ms) == wanted
    if name in ("who", "action", "target"):
        return lambda entry: any(_same(word, wanted) for word in _words(entry, name))
    return lambda entry: any(wanted in word.casefold() for word in _words(entry, name))


def _words(entry: AuditEntry, name: str) -> tuple[str, ...]:
    if name == "target":
        return entry.target
    if name == "text":
        return (entry.who, entry.action, *entry.target, entry.outcome, entry.detail)
    return (str(getattr(entry, name)),)


def _same(word: str, wanted: str) -> bool:
    word = word.casefold()
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def _not(test: _Test) -> _Test:
    return lambda entry: not test(entry)
