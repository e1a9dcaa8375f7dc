"""How dead letters become new tasks: the step under every republish; who may and what is noted is decided above it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import refusal
from services.domain.change import UNSURE, Op, Republish
from services.domain.errors import UsageError
from services.domain.insight.verdict import not_dead
from services.domain.insight.verdict import refusal as refusal_of
from services.domain.step.transitions import AGAIN
from services.domain.task import ids, lane, own_words
from services.domain.task.record import Task
from services.domain.text import mask, refusals
from services.domain.text.message import Message
from services.domain.text.said import said, words_of
from services.domain.types import task_type
from services.engine import recipe
from services.engine.missing import missing
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Store


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What the new tasks have that the old ones had not; nothing by default."""

    payload: Mapping[str, Any] | None = None  #: in place of the old one
    fields: Mapping[str, Any] | None = None  #: set in the payload of each
    lane: str = ""  #: high | normal | low, with its usual priority; "" keeps lane and priority of each
    attempts: int = 0  #: how often each may be tried, 0 keeps what it had

    @property
    def edits(self) -> bool:
        """Whether payloads are another."""
        return self.payload is not None or bool(self.fields)


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Operations with ids chosen: asked again after a lost reply they make nothing twice."""

    ops: tuple[Republish, ...] = ()
    skipped: tuple[Refusal, ...] = ()


class Republisher:
    """Prepares, applies and publishes; at most a few hundred letters at a time."""

    def __init__(self, store: Store, steps: Steps, registry: Registry, who: str) -> None:
        self._store, self._steps, self._registry, self._who = store, steps, registry, who

    def prepare(
        self,
        task_ids: Sequence[str],
        *,
        changes: Changes | None = None,
        if_duplicate: str = "reject",
        tail: Callable[[str], str] = lambda _: "",
        anyway: bool = False,
        twice: Collection[str] = (),
        reason: str = "",
        because: str = "",
    ) -> Prepared:
        """Read the letters and make their successors, whose ids end with the ``tail`` of each, or by chance.

        A letter whose payload its type refuses today is skipped, for it would only die again; ``anyway`` takes it. So
        is one whose work has succeeded since, or so lately that its type asks for a reason; those named in ``twice``
        are taken, with ``because`` as their reason or that their number was typed, and all with a ``reason``; the new
        task then says that a person let it run.

        Raises:
            UsageError: the payload given for one letter is not acceptable; ``field`` names the part of it. Letters in
                which fields cannot be set are skipped instead.
        """
        changes = changes or Changes()
        ops: list[Republish] = []
        skipped: list[Refusal] = []
        for task_id, old in zip(task_ids, self._store.get(task_ids), strict=True):
            edited = changes.payload is not None
            why = missing(self._store, task_id) if old is None else refusal_of(old, edited=edited)
            if why is not None:
                skipped.append(Refusal(task_id=task_id, why=why))
            elif old is not None:
                try:
                    fresh = self._successor(old, changes, tail(task_id), anyway=anyway)
                except UsageError as exc:
                    if changes.payload is not None:
                        raise
                    skipped.append(Refusal(task_id=task_id, why=Message("dead.schema", {"problem": words_of(exc)})))
                    continue
                if task_id in twice or reason.strip():
                    said_why = reason.strip() or because.strip() or own_words.write("own.by_number", by=self._who)
                    fresh = msgspec.structs.replace(fresh, reason=said_why, marks=(*fresh.marks, AGAIN))
                    since = 0
                else:
                    since = self._done_since(old)
                ops.append(
                    Republish(task_id=task_id, task=fresh, by=self._who, on_duplicate=if_duplicate, done_since=since)
                )
        return Prepared(ops=tuple(ops), skipped=tuple(skipped))

    def apply(self, prepared: Prepared) -> Outcome:
        """Close the letters, record their successors and publish these."""
        ops: list[Op] = list(prepared.ops)
        answers = self._steps.apply(ops)
        done: list[str] = []
        made: dict[str, str] = {}
        skipped = list(prepared.skipped)
        for op, answer in zip(prepared.ops, answers, strict=True):
            if answer.code == "ok" and answer.task is not None:
                done.append(op.task_id)
                made[op.task_id] = answer.task.task_id
            elif answer.code == "refused" and answer.task is not None:
                skipped.append(Refusal(task_id=op.task_id, why=not_dead(answer.task)))
            elif answer.code == UNSURE:
                skipped.append(Refusal(task_id=op.task_id, why=said(refusals.UNSURE, work=op.task.work).message))
            else:
                skipped.append(Refusal(task_id=op.task_id, why=refusal(self._store, op.task_id, answer)))
        return Outcome(done=tuple(done), skipped=tuple(skipped), made=made)

    def _done_since(self, old: Task) -> int:
        """The instant since which its work must not have succeeded."""
        window = self._registry.done_since(old.task_type)
        return min(window, old.created_at + 1) if window else old.created_at + 1

    def _successor(self, old: Task, changes: Changes, tail: str, *, anyway: bool) -> Task:
        kind = self._registry.task_type(old.task_type)
        text = None
        if changes.edits:
            text = recipe.payload_text(checked(kind, payload_of(old, changes)))
        elif not anyway and kind.schema:
            checked(kind, payload_of(old, changes))
        named = (old.platform, old.task_type, old.shop_id)
        new_id = ids.task_id(*named, tail) if tail else ids.new_task_id(*named)
        fresh = recipe.successor(old, new_id, by=self._who, payload=text)
        if changes.lane:
            name, level = lane.parse_priority(changes.lane)
            fresh = msgspec.structs.replace(fresh, lane=name, priority=level)
        if changes.attempts:
            fresh = msgspec.structs.replace(fresh, max_retries=changes.attempts - 1)
        fresh = self._registry.placed(fresh)
        recipe.check_readable(fresh, self._store.now_ms())
        return recipe.refreshed(fresh, kind)


def payload_of(old: Task, changes: Changes) -> Mapping[str, Any]:
    """The payload of the new task. Dots that a person left in place of a secret stand for the secret of the old one.

    Raises:
        UsageError: the old one is no JSON object, so that no field can be set in it, or it has no such secret.
    """
    try:
        body = json.loads(old.payload)
    except ValueError:
        body = None
    if not isinstance(body, dict) and changes.payload is None:
        raise UsageError(said("payload.no_object", id=old.task_id), field="payload")
    wanted = changes.payload if changes.payload is not None else {**body, **(changes.fields or {})}
    if path := mask.still_masked(wanted, body):
        raise UsageError(said("payload.masked", path=path), field=f"payload.{path}")
    whole: Mapping[str, Any] = mask.put_back(wanted, body)
    return whole


def checked(kind: task_type.TaskType, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload, if its type's schema accepts it.

    Raises:
        UsageError: with the path of the first problem.
    """
    problems = task_type.validate_payload(kind, dict(payload))
    if problems:
        first = problems[0]
        raise UsageError(
            said("payload.bad", field=first.path or "payload", problem=first.message), field=first.path or "payload"
        )
    return payload
