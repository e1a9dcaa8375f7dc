"""What an operator may do about dead letters: republish (as is or edited), archive, ignore, reopen, note."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from services.commands.audit import Audit
from services.commands.bulk.republisher import Changes, Republisher
from services.commands.operator import Operator
from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import in_portions, refusal, tell
from services.domain.audit import TARGETS_KEPT
from services.domain.change import Annotate, Answer, Op, SetTriage
from services.domain.errors import UsageError
from services.domain.insight.verdict import not_dead
from services.domain.task.notes import NOTE_LIMIT
from services.domain.task.status import Triage
from services.domain.text.message import Message
from services.domain.text.said import said
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Store


class DeadLetterCommands:
    """Audited commands on dead letters."""

    def __init__(self, store: Store, steps: Steps, registry: Registry, audit: Audit, operator: Operator) -> None:
        self._store, self._steps, self._audit, self._operator = store, steps, audit, operator
        self._republisher = Republisher(store, steps, registry, operator.who)

    def republish(
        self,
        task_ids: Sequence[str],
        *,
        payload: Mapping[str, Any] | None = None,
        if_duplicate: str = "reject",
        reason: str = "",
    ) -> Outcome:
        """Make a new task of each dead letter, linked both ways; ``payload`` replaces that of one letter.

        Raises:
            UsageError: an edited payload for several letters, or one that its type's schema refuses.
        """
        self._audit.need(self._operator, "operator", "dead.republish", task_ids)
        chosen = list(dict.fromkeys(task_ids))
        if payload is not None and len(chosen) != 1:
            raise UsageError(said("dead.one_payload"), field="payload")
        if if_duplicate == "force" and not reason.strip():
            raise UsageError(said("force.reason"), field="reason")
        if not chosen:  # a filter that nothing fits: no act
            return Outcome()
        detail = {"payload": payload, "if_duplicate": if_duplicate, "reason": reason}
        with self._audit.act("dead.republish", chosen, {key: value for key, value in detail.items() if value}) as act:

            def some(letters: Sequence[str]) -> Outcome:
                changes = Changes(payload=payload)
                return self._republisher.apply(
                    self._republisher.prepare(letters, changes=changes, if_duplicate=if_duplicate, reason=reason)
                )

            outcome = in_portions(chosen, some, lambda: self._audit.lost(self._operator, "operator"))
            tell(act, outcome)
            return outcome

    def set_triage(self, task_ids: Sequence[str], triage: str, *, note: str = "") -> Outcome:
        """Archive, ignore or reopen."""
        if triage not in (Triage.OPEN, Triage.ARCHIVED, Triage.IGNORED):
            raise UsageError(said("options.triage"), field="triage")
        self._audit.need(self._operator, "operator", f"dead.{triage}", task_ids)
        chosen = list(dict.fromkeys(task_ids))
        if not chosen:
            return Outcome()

        def some(letters: Sequence[str]) -> Outcome:
            ops: list[Op] = [SetTriage(task_id=one, triage=triage, by=self._operator.who, note=note) for one in letters]
            done: list[str] = []
            skipped: list[Refusal] = []
            for task_id, answer in zip(letters, self._steps.apply(ops), strict=True):
                if answer.code == "ok":
                    done.append(task_id)
                else:
                    skipped.append(Refusal(task_id=task_id, why=self._not_dead(task_id, answer)))
            return Outcome(done=tuple(done), skipped=tuple(skipped))

        detail: dict[str, object] = {"note": note} if note else {}
        detail["was"] = self._triaged(chosen[:TARGETS_KEPT])
        with self._audit.act(f"dead.{triage}", chosen, detail) as act:
            outcome = in_portions(chosen, some, lambda: self._audit.lost(self._operator, "operator"))
            tell(act, outcome)
            return outcome

    def _not_dead(self, task_id: str, answer: Answer) -> Message:
        return refusal(self._store, task_id, answer) if answer.task is None else not_dead(answer.task)

    def _triaged(self, letters: Sequence[str]) -> dict[str, str]:
        """What somebody said before of those that are not open."""
        found = [one for one in self._store.get(letters) if one is not None]
        return {one.task_id: one.triage for one in found if one.triage not in ("", Triage.OPEN)}

    def note(self, task_id: str, text: str) -> Outcome:
        """Write a note beside a dead letter, for whoever looks at it next.

        Raises:
            UsageError: it is empty or too long.
        """
        self._audit.need(self._operator, "operator", "dead.note", [task_id])
        words = text.strip()
        if not 1 <= len(words) <= NOTE_LIMIT:
            raise UsageError(said("dead.note_length", most=NOTE_LIMIT, count=len(words)), field="text")
        op = Annotate(task_id=task_id, by=self._operator.who, text=words, note_id=secrets.token_hex(6))
        with self._audit.act("dead.note", [task_id], {"note": words}) as act:
            (answer,) = self._steps.apply([op])
            if answer.code == "ok":
                outcome = Outcome(done=(task_id,))
            else:
                outcome = Outcome(skipped=(Refusal(task_id=task_id, why=self._not_dead(task_id, answer)),))
            tell(act, outcome)
            return outcome
