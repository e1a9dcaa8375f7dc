"""What an operator may do about dead letters: republish (as is or edited), archive, ignore, reopen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import refusal, tell
from services.domain import ids, task_type
from services.domain.change import Op, Republish, SetTriage
from services.domain.errors import UsageError
from services.domain.message import Message
from services.domain.status import Status, Triage
from services.domain.task import Task
from services.engine import recipe
from services.engine.dispatch import Dispatcher
from services.engine.registry import Registry
from services.ports import Store

BATCH = 200


class DeadLetterCommands:
    """Audited commands on dead letters."""

    def __init__(
        self, store: Store, dispatcher: Dispatcher, registry: Registry, audit: Audit, operator: Operator
    ) -> None:
        self._store, self._dispatcher, self._registry = store, dispatcher, registry
        self._audit, self._operator = audit, operator

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
        self._operator.need("operator")
        chosen = list(dict.fromkeys(task_ids))
        if payload is not None and len(chosen) != 1:
            raise UsageError("an edited payload goes to exactly one dead letter", field="payload")
        if if_duplicate == "force" and not reason.strip():
            raise UsageError("force needs a reason", field="reason")
        detail = {"payload": payload, "if_duplicate": if_duplicate, "reason": reason}
        with self._audit.act("dead.republish", chosen, {key: value for key, value in detail.items() if value}) as act:
            done: list[str] = []
            skipped: list[Refusal] = []
            made: dict[str, str] = {}
            for start in range(0, len(chosen), BATCH):
                self._some(chosen[start : start + BATCH], payload, if_duplicate, done, skipped, made)
            outcome = Outcome(done=tuple(done), skipped=tuple(skipped), made=made)
            tell(act, outcome)
            return outcome

    def set_triage(self, task_ids: Sequence[str], triage: str, *, note: str = "") -> Outcome:
        """Archive, ignore or reopen."""
        self._operator.need("operator")
        if triage not in (Triage.OPEN, Triage.ARCHIVED, Triage.IGNORED):
            raise UsageError("triage is open, archived or ignored", field="triage")
        chosen = list(dict.fromkeys(task_ids))
        done: list[str] = []
        skipped: list[Refusal] = []
        with self._audit.act(f"dead.{triage}", chosen, {"note": note} if note else None) as act:
            for start in range(0, len(chosen), BATCH):
                some = chosen[start : start + BATCH]
                ops: list[Op] = [
                    SetTriage(task_id=one, triage=triage, by=self._operator.who, note=note) for one in some
                ]
                for task_id, answer in zip(some, self._store.apply(ops), strict=True):
                    if answer.code == "ok":
                        done.append(task_id)
                    else:
                        skipped.append(Refusal(task_id=task_id, why=_not_dead(task_id, answer.task)))
            outcome = Outcome(done=tuple(done), skipped=tuple(skipped))
            tell(act, outcome)
            return outcome

    def _some(
        self,
        some: Sequence[str],
        payload: Mapping[str, Any] | None,
        if_duplicate: str,
        done: list[str],
        skipped: list[Refusal],
        made: dict[str, str],
    ) -> None:
        ops: list[tuple[str, Op]] = []
        for task_id, old in zip(some, self._store.get(some), strict=True):
            if old is None or old.status != Status.DEAD:
                skipped.append(Refusal(task_id=task_id, why=_not_dead(task_id, old)))
            elif old.task_id.startswith("bad_") and payload is None:
                skipped.append(Refusal(task_id=task_id, why=Message("dead.not_a_task", {"id": task_id})))
            else:
                ops.append((task_id, self._republish(old, payload, if_duplicate)))
        answers = self._store.apply([op for _, op in ops]) if ops else []
        fresh: list[Task] = []
        for (task_id, _), answer in zip(ops, answers, strict=True):
            if answer.code == "ok" and answer.task is not None:
                done.append(task_id)
                made[task_id] = answer.task.task_id
                fresh.append(answer.task)
            elif answer.code == "refused" and answer.task is not None:
                skipped.append(Refusal(task_id=task_id, why=Message("dead.already", {"id": answer.task.successor})))
            else:
                skipped.append(Refusal(task_id=task_id, why=refusal(task_id, answer)))
        self._dispatcher.send(fresh)

    def _republish(self, old: Task, payload: Mapping[str, Any] | None, if_duplicate: str) -> Republish:
        new_id = ids.new_task_id(old.platform, old.task_type, old.shop_id)
        kind = self._registry.task_type(old.task_type)
        text = None
        if payload is not None:
            problems = task_type.validate_payload(kind, payload)
            if problems:
                raise UsageError(
                    f"{problems[0].path or 'payload'}: {problems[0].message}", field=problems[0].path or "payload"
                )
            text = recipe.payload_text(payload)
        fresh = recipe.successor(old, new_id, by=self._operator.who, payload=text)
        recipe.check_readable(fresh, self._store.now_ms())
        return Republish(
            task_id=old.task_id,
            task=recipe.refreshed(fresh, kind),
            by=self._operator.who,
            on_duplicate=if_duplicate,
        )


def _not_dead(task_id: str, task: Task | None) -> Message:
    if task is None:
        return Message("task.unknown", {"id": task_id})
    if task.triage == Triage.REPUBLISHED:
        return Message("dead.already", {"id": task.successor})
    return Message("dead.not_dead", {"status": task.status})
