"""Taking records over from an export: what still has to be done, and dead letters. History stays where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import BATCH, in_portions, refusal, tell
from services.domain.change import Create, Op
from services.domain.errors import BadMessage
from services.domain.fleet import shop
from services.domain.task import envelope, ids, lane
from services.domain.task.record import HISTORY_LIMIT, Task
from services.domain.task.status import Status, Triage
from services.domain.text import mask
from services.domain.text.mask import DOTS
from services.domain.text.message import Message
from services.domain.types import task_type
from services.engine import recipe
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Letter, Store

_AN_INSTANT = 1_800_000_000_000  #: for a record that is yet to get one
_WAITS = frozenset({Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.SCHEDULED, Status.RETRYING})


class RecordCommands:
    """Audited import, only for an admin; and what is shown without dots."""

    def __init__(self, store: Store, steps: Steps, registry: Registry, audit: Audit, operator: Operator) -> None:
        self._store, self._steps, self._registry = store, steps, registry
        self._audit, self._operator = audit, operator

    def import_records(self, tasks: Sequence[Task], letters: Mapping[str, Letter]) -> Outcome:
        """Record under their own ids: waiting tasks as new pending (or scheduled) ones, dead letters with their story.

        The fleet that they come from must not run them any more; nothing can see that from here.
        """
        self._audit.need(self._operator, "admin", "task.import", [task.task_id for task in tasks])
        with self._audit.act("task.import", [task.task_id for task in tasks]) as act:
            outcome = in_portions(
                tasks,
                partial(self._some, letters=letters),
                lambda: self._audit.lost(self._operator, "admin"),
                lambda task: task.task_id,
            )
            tell(act, outcome)
        return outcome

    def foresee(self, tasks: Sequence[Task], letters: Mapping[str, Letter]) -> list[Message | None]:
        """Why each of them would not be taken over now, None where it would be; nothing is changed."""
        found: list[Message | None] = []
        seen: set[str] = set()
        for start in range(0, len(tasks), BATCH):
            portion = tasks[start : start + BATCH]
            for task, known in zip(portion, self._store.get([task.task_id for task in portion]), strict=True):
                # a second one of that id is there by then
                why = left_out(task, letters.get(task.task_id), task if task.task_id in seen else known)
                found.append(why)
                seen |= {task.task_id} if why is None else set()
        return found

    def reveal(self, what: str) -> None:
        """Write down that this person looks at secrets; whoever only looks may not.

        Raises:
            NotAllowed: the role, or the connection, permits looking only.
        """
        self._audit.need(self._operator, "operator", "reveal", [what])
        with self._audit.act("reveal", [what]):
            pass

    def _some(self, tasks: Sequence[Task], letters: Mapping[str, Letter]) -> Outcome:
        skipped: list[Refusal] = []
        wanted: list[Task] = []
        for task, known in zip(tasks, self._store.get([task.task_id for task in tasks]), strict=True):
            why = left_out(task, letters.get(task.task_id), known)
            if why is not None:
                skipped.append(Refusal(task_id=task.task_id, why=why))
            else:
                wanted.append(self._fresh(task))
        self._steps.dispatcher.know({task.platform for task in wanted})
        for task in wanted:  # before the record: one that is there already is never touched again
            if task.status == Status.DEAD and task.task_id in letters:
                self._store.put_letter(letters[task.task_id])
        ops: list[Op] = [Create(task=task) for task in wanted]
        done: list[str] = []
        for task, answer in zip(wanted, self._steps.apply(ops), strict=True):
            if answer.code == "created" and answer.task is not None:
                done.append(task.task_id)
            elif answer.code == "exists":
                why = _there(task, answer.task) if answer.task is not None else Message("import.exists", {"status": ""})
                skipped.append(Refusal(task_id=task.task_id, why=why))
            else:
                skipped.append(Refusal(task_id=task.task_id, why=refusal(self._store, task.task_id, answer)))
        return Outcome(done=tuple(done), skipped=tuple(skipped))

    def _fresh(self, task: Task) -> Task:
        by = self._operator.who
        if task.status == Status.DEAD:
            # a store that counts its entries in bytes could not read a longer story again
            story = {"steps": task.steps[-HISTORY_LIMIT:], "attempts": task.attempts[-HISTORY_LIMIT:]}
            return msgspec.structs.replace(
                task, queue="", parent="", successor="", depends_on=(), origin="import", **story
            )
        due = task.due_at if task.status == Status.SCHEDULED else 0
        made = Task(
            task_id=task.task_id,
            shop_id=task.shop_id,
            platform=task.platform,
            task_type=task.task_type,
            payload=task.payload,
            lane=task.lane,
            priority=task.priority,
            status=Status.SCHEDULED if due > self._store.now_ms() else Status.PENDING,
            due_at=due if due > self._store.now_ms() else 0,
            max_retries=task.max_retries,
            created_at=task.created_at,
            batch=task.batch,
            origin="import",
            created_by=by,
            extra=task.extra,
        )
        return self._registry.placed(recipe.refreshed(made, self._registry.task_type(task.task_type)))


def left_out(task: Task, letter: Letter | None = None, known: Task | None = None) -> Message | None:
    """Why a record is not taken over, None when it is; ``known`` has its id here already."""
    if known is not None:
        return _there(task, known)
    fault = _fault(task)
    if fault:
        return Message("import.bad", {"error": fault})
    if _is_wanted(task) and (DOTS in task.payload or (letter is not None and DOTS.encode() in letter.body)):
        return Message("import.masked")
    if task.status == Status.DEAD and task.triage == Triage.OPEN:
        return None
    if task.ended:
        return Message("import.history", {"status": task.triage or task.status})
    if task.status not in _WAITS:
        return Message("import.uncertain", {"status": task.status})
    return Message("import.depends") if task.depends_on else None


def as_it_should_be(why: Message) -> bool:
    """Whether nobody has to do anything about a record that was left out for this: the same is here, or it is over."""
    return why.code in ("import.exists", "import.history")


def _says(payload: str, known: str) -> bool:
    """Whether a payload is the known one, or that with its secrets as dots."""
    try:
        mine, there = json.loads(payload), json.loads(known)
    except (ValueError, RecursionError):
        return payload == known
    return bool(mine in (there, mask.masked(there)))


def _there(task: Task, known: Task) -> Message:
    """That there is a record of this id, and whether it is of the same work."""
    same = (task.shop, task.task_type) == (known.shop, known.task_type) and _says(task.payload, known.payload)
    return Message("import.exists" if same else "import.differs", {"status": known.status})


def _is_wanted(task: Task) -> bool:
    return task.status in _WAITS or (task.status == Status.DEAD and task.triage == Triage.OPEN)


def _fault(task: Task) -> str:
    """What no record of ours could have, "" for nothing."""
    return _bad_name(task) or _bad_value(task)


def _bad_name(task: Task) -> str:
    if not ids.valid_foreign_id(task.task_id):
        return "task_id"
    if not shop.valid_word(task.platform) or not shop.valid_shop_id(task.shop_id):
        return "platform or shop_id"
    if not ids.valid_task_type(task.task_type):
        return "task_type"
    return ""


def _bad_value(task: Task) -> str:
    if task.lane not in lane.LANES or not lane.MIN_PRIORITY <= task.priority <= lane.MAX_PRIORITY:
        return "lane or priority"
    if not 0 <= task.max_retries <= task_type.MAX_RETRIES:
        return "max_retries"
    if task.status in _WAITS and not _is_sendable(task):
        return "payload or created_at"
    return "" if task.status in frozenset(Status) else "status"


def _is_sendable(task: Task) -> bool:
    """Whether a worker could read the message: one that it buries would be published again for ever."""
    if len(task.payload.encode("utf-8", "replace")) > recipe.MAX_PAYLOAD:
        return False
    try:
        body, headers = envelope.build(msgspec.structs.replace(task, created_at=task.created_at or _AN_INSTANT))
        parsed = envelope.parse(body, headers, routing_key=f"task.{task.platform}.{task.lane}", now_ms=_AN_INSTANT)
        return isinstance(json.loads(parsed.task.payload), dict)
    except (BadMessage, ArithmeticError, OSError, ValueError, RecursionError):
        return False
