"""The audit trail: an entry is written before the act and closed after it; without the entry there is no act.

What a role does not permit leaves an entry too, one for each person and act within an hour.
"""

from __future__ import annotations

import contextvars
import json
import logging
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from services.audit_witness import Witness
from services.commands.operator import Operator
from services.domain import audit as chain
from services.domain.audit import ACCEPT, TARGETS_KEPT, AuditEntry, Link
from services.domain.errors import ConsoleError, NotAllowed, OperatorError, SchemaTooNew, StoreError, UsageError
from services.domain.fleet.role import ADMIN
from services.domain.insight.audit import Verdict
from services.domain.text.mask import masked, masked_text
from services.domain.text.message import Message
from services.domain.text.said import Said, said, words_of
from services.engine import audit_check
from services.ports import Store

log = logging.getLogger(__name__)
OUTCOME_KEPT = 500
#: what one acceptance may name, and how long its reason may be
MOST, MAX_NOTE = 1000, 500
#: a refused attempt is told again after that long: what tries in a loop must not fill the trail
REFUSED_MS = 3_600_000
_heard: contextvars.ContextVar[list[AuditEntry] | None] = contextvars.ContextVar("heard", default=None)
_undone: contextvars.ContextVar[Sequence[AuditEntry]] = contextvars.ContextVar("undone", default=())


@contextmanager
def undoing(entries: Sequence[AuditEntry]) -> Iterator[None]:
    """What this thread does within takes the acts of these entries back, and its own entries say so."""
    before = _undone.set(entries)
    try:
        yield
    finally:
        _undone.reset(before)


def _about(entries: Sequence[AuditEntry], targets: Set[str]) -> Sequence[AuditEntry]:
    """Those of several that are about one of these: an act for each object takes back that of its own object alone,
    whatever becomes of the others.
    """
    own = [entry for entry in entries if not targets.isdisjoint(entry.target)] if len(entries) > 1 else ()
    return own or entries


@contextmanager
def heard() -> Iterator[list[AuditEntry]]:
    """The entries that this thread writes within, whosever they are, as they were when their acts began."""
    entries: list[AuditEntry] = []
    before = _heard.set(entries)
    try:
        yield entries
    finally:
        _heard.reset(before)


def reasons(codes: Sequence[str]) -> str:
    """Why items were not done, as an outcome tells it: the one reason of all, else how many each has, most first."""
    found = Counter(codes).most_common()
    if len(found) == 1:
        return found[0][0]
    return ", ".join(f"{code} {number}" for code, number in found)


class Act(msgspec.Struct):
    """What is under way; say how it ended where that is not simply done."""

    outcome: str = "done"
    targets: tuple[str, ...] = ()  #: what it acts on, as far as its entry names it

    def refused(self, why: str) -> None:
        """Tell that it was not done, and why: English, of the catalogue where it is one of ours."""
        self.outcome = f"refused: {why}"

    def counted(self, done: int, refused: int, why: str = "", *, left: int = 0) -> None:
        """Tell how many items were done, how many refused and how many never tried, and why these were not done
        (``reasons``).
        """
        if not refused and not left:
            return
        others = {"refused": refused, "left alone": left}
        parts = [f"{done} done", *(f"{number} {word}" for word, number in others.items() if number)]
        head = f"partly: {', '.join(parts)}" if done or left else f"refused: {refused}"
        self.outcome = f"{head}: {why}" if why else head

    def placed(self, whys: Sequence[tuple[str, str]]) -> None:
        """Tell, after the counts, which items were not done and by which code each; left out where the entry names
        only some, or there is no room for it.
        """
        place = {name: at for at, name in enumerate(self.targets)}
        if not whys or any(name not in place for name, _code in whys):
            return
        found: dict[str, list[int]] = {}
        for name, code in whys:
            found.setdefault(code, []).append(place[name])
        told = f"{self.outcome}{chain.places(found)}"
        if len(told) <= OUTCOME_KEPT and chain.parted(told)[1]:
            self.outcome = told


class Audit:
    """One writer's chain, and what it sees of those of others (``services.domain.audit``)."""

    def __init__(
        self,
        store: Store,
        who: str,
        witness: Witness | None = None,
        aside: Callable[[], AbstractContextManager[Store]] | None = None,
        via: str = "",
    ) -> None:
        """``witness``: keeps on this machine what was written. ``aside``: opens the store for the entry of a refused
        attempt alone, where ``store`` itself may only be read. ``via``: through what they act
        (``services.domain.audit``), "" unknown.
        """
        self._store, self._who, self._witness, self._aside, self._via = store, who, witness, aside, via
        self._writer = secrets.token_hex(6)
        self._number = 0
        self._last: str = ""  #: mark of the last link that is surely there
        self._unsure: list[str] = []  #: marks of those behind it: nobody knows whether they are
        self._begun: list[AuditEntry] = []  #: entries among those; their acts were never begun
        self._lock = threading.Lock()
        self._part = threading.local()

    def need(self, operator: Operator, role: str, action: str, targets: Sequence[str] = ()) -> None:
        """Raise unless the role that this person has now is at least this one; ``action`` is what they tried.

        Raises:
            NotAllowed: with the role that is wanted, or that the connection is read-only.
            StoreUnavailable: nobody can say which role it is.
        """
        try:
            operator.now(self._store).need(role)
        except NotAllowed as exc:
            self.tell_refused(action, targets, exc)
            raise

    def lost(self, operator: Operator, role: str) -> Message | None:
        """Why a long act may not go on: the role was taken from its person meanwhile. None where it may.

        Raises:
            StoreUnavailable: nobody can say which role it is.
        """
        try:
            operator.now(self._store).need(role)
        except NotAllowed as exc:
            words = words_of(exc)
            return words.message if isinstance(words, Said) else Message("bulk.failed", {"error": words})
        return None

    def told(self, action: str, targets: Sequence[str], detail: dict[str, Any]) -> None:
        """Write down how this person works, once an hour; where that cannot be written, the log has it.

        A fact, not an act: what is done meanwhile has entries of its own.
        """
        try:
            if self._store.lead(f"told:{self._who}:{action}", secrets.token_hex(6), REFUSED_MS):
                self._close(self._open(action, targets, detail), "done")
        except ConsoleError as exc:
            log.warning("%s of %s is not in the audit: %s", action, self._who, exc)

    def tell_refused(self, action: str, targets: Sequence[str], why: NotAllowed) -> None:
        """Write down what was tried and refused, unless that was done within the hour."""
        try:
            if self._aside is not None:
                with self._aside() as store:
                    Audit(store, self._who, self._witness, via=self._via).tell_refused(action, targets, why)
                return
            # a name of its own each time: the lease is given once, also to one and the same program
            if self._store.lead(f"refused:{self._who}:{action}", secrets.token_hex(6), REFUSED_MS):
                entry = self._open(action, targets, {})
                self._close(entry, f"refused: {why}")
        except SchemaTooNew:  # nothing can be written there at all, which is why
            return
        except ConsoleError as exc:  # it is refused all the same
            log.warning("that %s was refused to %s is not in the audit: %s", action, self._who, exc)

    @contextmanager
    def act(self, action: str, targets: Sequence[str], detail: dict[str, Any] | None = None) -> Iterator[Act]:
        """Open an entry, let the act happen, close it with its outcome. Within ``as_one`` it writes no entry."""
        if getattr(self._part, "of_one", False):
            yield Act()
            return
        entry = self._open(action, targets, detail or {})
        act = Act(targets=tuple(targets) if len(targets) <= TARGETS_KEPT else ())
        try:
            yield act
        except OperatorError as exc:
            self._close(entry, f"refused: {exc}")
            raise
        except ConsoleError as exc:
            self._close(entry, f"failed: {exc}")
            raise
        except BaseException as exc:
            self._close(entry, f"failed: broken off ({type(exc).__name__})")
            raise
        self._close(entry, act.outcome)

    @contextmanager
    def as_one(self, action: str, targets: Sequence[str], detail: dict[str, Any] | None = None) -> Iterator[Act]:
        """An act made of others, which this thread's entry stands for."""
        with self.act(action, targets, detail) as act:
            self._part.of_one = True
            try:
                yield act
            finally:
                self._part.of_one = False

    def _open(self, action: str, targets: Sequence[str], detail: dict[str, Any]) -> AuditEntry:
        with self._lock:
            self._close_unbegun()
            at = self._store.now_ms()
            link = self._next()
            if self._via:
                detail = {**detail, chain.VIA: self._via}
            shown = tuple(map(masked_text, targets[:TARGETS_KEPT]))
            detail = {**detail, **chain.undoing(_about(_undone.get(), {*targets, *shown}))}
            if len(targets) > TARGETS_KEPT:
                detail = {**detail, "count": len(targets)}
            entry = AuditEntry(
                entry_id=chain.entry_id(at, self._writer, link.number),
                at=at,
                who=self._who,
                action=action,
                target=shown,
                detail=json.dumps(masked(detail), ensure_ascii=False, sort_keys=True),
                previous=self._previous,
            )
            digest = chain.opening(entry, link)
            entry = replace(entry, digest=digest, link=replace(link, digest=digest))
            try:
                self._write(entry, digest, link.number, lambda: self._store.append_audit(entry))
            except BaseException:
                self._begun.append(entry)
                raise
            if (listening := _heard.get()) is not None:
                listening.append(entry)
            return entry

    def _close(self, entry: AuditEntry, outcome: str) -> None:
        """The act is done: that its entry stays open is worth a warning, not the outcome that the person sees."""
        try:
            with self._lock:
                self._end(entry, outcome)
        except StoreError as exc:
            log.warning("the audit entry %s stays open (%s): %s", entry.entry_id, outcome, exc)

    def _end(self, entry: AuditEntry, outcome: str, *, sure: bool = True) -> None:
        outcome, at, link = masked_text(outcome)[:OUTCOME_KEPT], self._store.now_ms(), self._next()
        link = replace(link, digest=chain.ending(entry, outcome, at, link))
        write = partial(self._store.close_audit, entry.entry_id, outcome, at, link)
        self._write(entry, link.digest, link.number, write, sure=sure)

    def _close_unbegun(self) -> None:
        """Entries that may have been written although nobody said so: no act followed them. Where there is none, its
        end is not kept either, so neither is sure.
        """
        while self._begun:
            entry = self._begun[0]
            before, unsure = self._last, list(self._unsure)
            self._end(entry, "failed: the entry could not be confirmed; nothing was done", sure=False)
            self._last, self._unsure = before, [*unsure, self._last]
            self._begun.pop(0)

    @property
    def _previous(self) -> str:
        found = chain.parse(self._last)
        return found.digest if found is not None else ""

    def _next(self) -> Link:
        """The link that comes now, without its seal."""
        heads = [mark for mark in self._store.audit_heads() if chain.parse(mark) is not None]
        others = [mark for mark in heads if f"-{self._writer}-" not in mark][: chain.HEADS]
        seen = (self._last, *others) if self._last else tuple(others)
        return Link(number=self._number + 1, seen=seen, unsure=tuple(self._unsure))

    def _write(
        self, entry: AuditEntry, digest: str, number: int, write: Callable[[], None], *, sure: bool = True
    ) -> None:
        """Write a link. Where that fails it may be there all the same: the next one says so, and has another number."""
        mark = str(chain.Mark(entry.entry_id, number, digest))
        self._number = number
        try:
            write()
        except BaseException:
            self._unsure.append(mark)
            raise
        self._last, self._unsure = mark, []
        if self._witness is not None and sure:
            self._witness.note([mark])


class AuditCommands:
    """What an admin may say about the trail: that what is wrong with it, or with what this machine had seen, is known.

    An acceptance is an entry of the trail like any other: it changes nothing of what it names."""

    def __init__(self, store: Store, audit: Audit, operator: Operator, witness: Witness | None = None) -> None:
        self._store, self._audit, self._operator, self._witness = store, audit, operator, witness

    def accept(self, *, note: str) -> Verdict:
        """Say that what a look finds now is known, as after a backup was put back: it is told no more as wrong, by
        nobody, but stays among what was accepted. So is what was taken from this machine's memory, which begins anew.
        Returns what was found before.

        Raises:
            UsageError: nothing is wrong, or the note that says why is missing or too long.
        """
        self._audit.need(self._operator, ADMIN, ACCEPT, [])
        words = note.strip()
        if not 1 <= len(words) <= MAX_NOTE:
            raise UsageError(said("audit.note", most=MAX_NOTE, count=len(words)), field="note")
        found = audit_check.check(self._store, self._witness)
        if found.ok and not found.sight_lost:
            raise UsageError(said("audit.nothing_wrong"), field="")
        known = [one.name for one in found.wrong[:MOST]]
        lost: dict[str, object] = {"sight_lost": True} if found.sight_lost else {}
        with self._audit.act(ACCEPT, [], {"known": known, "note": words, **lost}):
            if found.sight_lost and self._witness is not None:
                self._witness.settle()
        return found
