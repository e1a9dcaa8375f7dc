"""The audit trail: an entry is written before the act and closed after it; without the entry there is no act.

What a role does not permit leaves an entry too, one for each person and act within an hour.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from services.commands.operator import Operator
from services.domain.errors import ConsoleError, NotAllowed, OperatorError, StoreError
from services.domain.mask import masked, masked_text
from services.ports import AuditEntry, Store

log = logging.getLogger(__name__)
TARGETS_KEPT = 200
#: a refused attempt is told again after that long: what tries in a loop must not fill the trail
REFUSED_MS = 3_600_000


@dataclass(slots=True)
class Act:
    """What is under way; say how it ended where that is not simply done."""

    outcome: str = "done"

    def counted(self, done: int, refused: int, why: str = "") -> None:
        """Tell how many items were done and how many were not, and why the first of those was not."""
        if refused:
            head = f"partly: {done} done, {refused} refused" if done else f"refused: {refused}"
            self.outcome = f"{head}: {why}" if why else head


class Audit:
    """One writer's chain: each entry carries the SHA-256 of the one before."""

    def __init__(self, store: Store, who: str) -> None:
        self._store, self._who = store, who
        self._writer = secrets.token_hex(6)
        self._previous = ""
        self._number = 0
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
            self._refused(action, targets, exc)
            raise

    def _refused(self, action: str, targets: Sequence[str], why: NotAllowed) -> None:
        try:
            # a name of its own each time: the lease is given once, also to one and the same program
            if self._store.lead(f"refused:{self._who}:{action}", secrets.token_hex(6), REFUSED_MS):
                entry = self._open(action, targets, {})
                self._close(entry, f"refused: {why}")
        except ConsoleError as exc:  # it is refused all the same
            log.warning("that %s was refused to %s is not in the audit: %s", action, self._who, exc)

    @contextmanager
    def act(self, action: str, targets: Sequence[str], detail: dict[str, Any] | None = None) -> Iterator[Act]:
        """Open an entry, let the act happen, close it with its outcome. Within ``as_one`` it writes no entry."""
        if getattr(self._part, "of_one", False):
            yield Act()
            return
        entry = self._open(action, targets, detail or {})
        act = Act()
        try:
            yield act
        except OperatorError as exc:
            self._close(entry, f"refused: {exc}")
            raise
        except ConsoleError as exc:
            self._close(entry, f"failed: {exc}")
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
            self._number += 1
            at = self._store.now_ms()
            if len(targets) > TARGETS_KEPT:
                detail = {**detail, "count": len(targets)}
            body = json.dumps(masked(detail), ensure_ascii=False, sort_keys=True)
            entry_id = f"{at:013d}-{self._writer}-{self._number:06d}"
            kept = tuple(masked_text(target) for target in targets[:TARGETS_KEPT])
            text = "\n".join([self._previous, entry_id, str(at), self._who, action, *kept, body])
            digest = hashlib.sha256(text.encode()).hexdigest()
            entry = AuditEntry(
                entry_id=entry_id,
                at=at,
                who=self._who,
                action=action,
                target=kept,
                detail=body,
                previous=self._previous,
                digest=digest,
            )
            self._store.append_audit(entry)
            self._previous = digest
            return entry

    def _close(self, entry: AuditEntry, outcome: str) -> None:
        """The act is done: that its entry stays open is worth a warning, not the outcome that the person sees."""
        try:
            self._store.close_audit(entry.entry_id, masked_text(outcome)[:500], self._store.now_ms())
        except StoreError as exc:
            log.warning("the audit entry %s stays open (%s): %s", entry.entry_id, outcome, exc)
