"""What an operator may do to tasks: create, cancel, retry, run now, re-prioritise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from services.commands.audit import Act, Audit, reasons
from services.commands.operator import Operator
from services.commands.outcome import Outcome, Refusal
from services.domain.change import DONE, UNREADABLE, Answer, Cancel, Move, Op, Resolve, TakeBackTry, Try
from services.domain.errors import UsageError
from services.domain.gates import dependency, passing
from services.domain.insight import verdict
from services.domain.task import ids as names
from services.domain.task import lane
from services.domain.task.record import Step, Task
from services.domain.task.search.query import Query, each, equals
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.text.refusals import UNSURE
from services.domain.text.said import Said, said, words_of
from services.engine import portions
from services.engine.missing import missing
from services.engine.producer import Producer
from services.engine.producer import Submitted as Submitted
from services.engine.producer import TaskSpec as TaskSpec
from services.engine.spec import After as After
from services.engine.spec import Checked
from services.engine.steps import Steps
from services.ports import Store

BATCH = 200
SLICE = 1000
T = TypeVar("T")
Place = tuple[str, int]  #: lane and priority
RAISED: Place = lane.parse_priority(lane.Lane.HIGH)  #: where a batch is raised to


class RaisedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """That a batch was raised: by whom, from when to when (UTC ms), and where its tasks stood before. Which they were
    each record tells by its steps, however many there are.
    """

    batch: str
    who: str
    begun: int
    ended: int
    most: Place | None = None  #: of those that ``others`` does not name; None where nothing is known of them
    others: Mapping[str, Place] = {}

    def before(self, task: Task) -> Place | None:
        """Where it stood; None where it was not raised, or nobody knows."""
        mine = any(one.at <= self.ended and one.note == self.who for one in self._moves(task))
        return self.others.get(task.task_id, self.most) if mine else None

    def stands(self, task: Task) -> bool:
        """Whether it is as that left it: to be run now leads to the same place, and is another's wish."""
        return (task.lane, task.priority) == RAISED and len(self._moves(task)) == 1

    def _moves(self, task: Task) -> list[Step]:
        return [one for before, one in pairwise(task.steps) if one.gen > before.gen and one.at >= self.begun]


class TaskCommands:
    """Audited commands on tasks; each checks the role, then writes the audit entry, then acts."""

    def __init__(
        self,
        store: Store,
        producer: Producer,
        steps: Steps,
        audit: Audit,
        operator: Operator,
        republish: Callable[[Sequence[str]], Outcome],
    ) -> None:
        """``republish`` is that of the dead letters: retrying a dead task and republishing it are one command."""
        self._store, self._producer, self._steps = store, producer, steps
        self._audit, self._operator, self._republish = audit, operator, republish

    def create(self, specs: Sequence[TaskSpec], *, origin: str) -> Submitted:
        """Record and publish new tasks; bad ones are reported, the others are created."""
        shops = list(dict.fromkeys(f"{spec.platform}:{spec.shop_id}" for spec in specs))
        self._audit.need(self._operator, "operator", "task.create", shops)
        signed = [_signed(spec, self._operator.who, origin) for spec in specs]
        detail: dict[str, object] = {"tasks": len(signed), "types": sorted({spec.task_type for spec in signed})}
        if len(whys := {spec.reason.strip() for spec in signed} - {""}) == 1:
            detail["reason"] = whys.pop()
        with self._audit.act("task.create", shops, detail) as act:
            done = self._producer.submit(signed)
            act.counted(len(done.created), len(done.duplicates) + len(done.done) + len(done.errors))
            return done

    def check(self, specs: Sequence[TaskSpec]) -> Checked:
        """Which of these ``create`` would refuse, and which an active task does already; nothing is created."""
        return self._producer.check(specs)

    def after(self, specs: Sequence[TaskSpec]) -> tuple[After, ...]:
        """What the task types mean that these wait for (``TaskSpec.depends_on``); nothing is created."""
        return self._producer.after(specs)

    def cancel(self, task_ids: Sequence[str], *, reason: str = "") -> Outcome:
        """End waiting tasks at once; ask running ones to stop (``pending`` of the outcome). What is cancelled already
        is skipped as such, and a held one whose work may be done is without a ``reason``: the same work may be done
        by others when it is over.
        """
        who = self._operator.who

        def refuses(task: Task) -> Message | None:
            if task.status == Status.CANCELLED:
                return Message("task.already_cancelled")
            return None if reason.strip() else _asks_why(task)

        return self._each(
            "task.cancel",
            task_ids,
            lambda one: Cancel(task_id=one, by=who, reason=reason),
            detail={"reason": reason},
            refuses=refuses,
        )

    def create_again(self, task_ids: Sequence[str], *, reason: str = "", untouched: bool = False) -> Outcome:
        """Make a new task of each cancelled one (``made``): the same work under a new id, linked to the old one.

        One that another active task does already is refused, as is one that was created again before. One whose work
        has succeeded since the old one was created, or so lately that its type asks why (``unique_for``), needs a
        ``reason``, kept with the new task. ``untouched``: so does one whose work must not be done twice and may have
        been begun. One that waited for others waits for what stands for them now, of these ones and of earlier ones.
        """
        self._audit.need(self._operator, "operator", "task.create_again", task_ids)
        chosen = list(dict.fromkeys(task_ids))
        with self._audit.act("task.create_again", chosen, {"reason": reason} if reason else None) as act:
            some = partial(self._create_some_again, reason=reason, untouched=untouched and not reason.strip())
            ordered = self._needed_first(chosen) if len(chosen) > BATCH else chosen
            outcome = in_portions(ordered, some, lambda: self._audit.lost(self._operator, "operator"))
            tell(act, outcome)
            return outcome

    def _needed_first(self, task_ids: Sequence[str]) -> list[str]:
        """Each behind those that it waits for: what stands for these has to be known by then."""
        graph: dict[str, Sequence[str]] = dict.fromkeys(task_ids, ())
        for start in range(0, len(task_ids), BATCH):
            found = self._store.get(task_ids[start : start + BATCH])
            graph |= {task.task_id: task.depends_on for task in found if task is not None}
        return dependency.in_order(graph)

    def _in_place_of(self, names: Iterable[str]) -> dict[str, str]:
        """Of what was cancelled and created again before: the last that stands for it."""
        asked = list(dict.fromkeys(names))
        gone = {name: task for name, task in zip(asked, self._store.get(asked), strict=True) if task is not None}
        stands: dict[str, str] = {}
        while gone := {name: task for name, task in gone.items() if task.status == Status.CANCELLED}:
            fresh = zip(gone, self._store.get([again(task) for task in gone.values()]), strict=True)
            gone = {name: task for name, task in fresh if task is not None}
            stands |= {name: task.task_id for name, task in gone.items()}
        return stands

    def _create_some_again(self, task_ids: Sequence[str], reason: str, *, untouched: bool) -> Outcome:
        found = [task for task in self._store.get(task_ids) if task is not None]
        gone = set(task_ids) - {task.task_id for task in found}
        whys = {task_id: missing(self._store, task_id) for task_id in task_ids if task_id in gone}
        specs: list[TaskSpec] = []
        stands = self._in_place_of(name for task in found for name in task.depends_on)
        for task, before in zip(found, self._store.get([again(task) for task in found]), strict=True):
            spec, judged = self._same_work(task, reason), verdict.safe_to_run_again(task)
            if task.status != Status.CANCELLED:
                whys[task.task_id] = _not_yet(task)
            elif before is not None:
                whys[task.task_id] = Message("task.created_again", {"id": before.task_id})
            elif spec is None:
                whys[task.task_id] = Message("task.not_readable")
            elif untouched and not task.idempotent and judged.level != verdict.SAFE:
                whys[task.task_id] = judged.message
            else:
                needs = tuple(stands.get(name, name) for name in task.depends_on)
                specs.append(replace(spec, key=task.task_id, depends_on=needs))
        submitted = self._producer.submit(specs)
        for spec, twin in submitted.duplicates:
            whys[spec.parent] = Message("task.duplicate", {"id": twin.task_id, "status": twin.status})
        for spec, done in submitted.done:
            whys[spec.parent] = Message("task.done", {"id": done.task_id})
        whys |= {spec.parent: _why_not(error) for spec, _field, error in submitted.errors}
        fresh = {task.parent: task.task_id for task in submitted.created}
        return Outcome(
            done=tuple(one for one in task_ids if one in fresh),
            skipped=tuple(Refusal(task_id=one, why=whys[one]) for one in task_ids if one not in fresh),
            made=fresh,
        )

    def _same_work(self, old: Task, reason: str) -> TaskSpec | None:
        """In its place: when it was due, in its batch. None where its payload is none."""
        spec, now = same_work(old, reason), self._store.now_ms()
        if spec is None:
            return None
        return replace(
            spec,
            at_ms=old.due_at if old.due_at > now else 0,
            deadline_ms=old.deadline if old.deadline > now else 0,
            batch=old.batch,
            origin="again",
            created_by=self._operator.who,
            parent=old.task_id,
            task_id=again(old),
            asked_ms=old.created_at + 1,
            on_dependency_failure=old.on_dependency_failure,
        )

    def run_now(self, task_ids: Sequence[str]) -> Outcome:
        """Start as soon as a worker is free: front of the high lane, no delay."""
        top = lane.MAX_PRIORITY
        return self._each(
            "task.run_now",
            task_ids,
            lambda task_id: Move(
                task_id=task_id, by=self._operator.who, lane=lane.Lane.HIGH, priority=top, run_now=True
            ),
        )

    def try_anyway(self, task_id: str, *, reason: str) -> Outcome:
        """Let the next attempt of one task start although a pause, quiet hours or an open breaker holds it back. All
        other gates hold, and an attempt after that waits again.

        Raises:
            UsageError: ``reason`` is empty or too long.
        """
        reason = passing.check_reason(reason)
        return self._each(
            "task.try",
            [task_id],
            lambda one: Try(task_id=one, by=self._operator.who, reason=reason),
            detail={"reason": reason},
        )

    def take_back_try(self, task_id: str) -> Outcome:
        """Take back what ``try_anyway`` gave: while no attempt has begun with it, the gate holds the task again."""
        who = self._operator.who
        return self._each("task.try_back", [task_id], lambda one: TakeBackTry(task_id=one, by=who))

    def prioritize(self, task_ids: Sequence[str], priority: str | int) -> Outcome:
        """Give waiting tasks another priority, and with it the lane.

        Raises:
            UsageError: the priority is not a word or number of the scale.
        """
        try:
            lane_name, level = lane.parse_priority(priority)
        except ValueError as exc:
            raise UsageError(words_of(exc), field="priority") from exc
        return self._each(
            "task.prioritize",
            task_ids,
            lambda task_id: Move(task_id=task_id, by=self._operator.who, lane=lane_name, priority=level),
            detail={"priority": str(priority)},
        )

    def place(self, places: Mapping[str, Place]) -> Outcome:
        """Give waiting tasks each a lane and a priority of its own: another program's may have a lane that its number
        does not tell.
        """
        return self._place(places)

    def lower_back(self, raised: RaisedBatch) -> Outcome:
        """Give what was raised with a batch the place that each had; what somebody moved since, or waits no more,
        stays as it is.
        """
        self._audit.need(self._operator, "operator", "task.prioritize", [raised.batch])
        query = Query(terms=(equals("batch", raised.batch),), limit=SLICE, want_total=False)
        places = {
            task.task_id: place for task in each(self._store.query, query) if (place := raised.before(task)) is not None
        }
        differs = said("back.differs").message
        return self._place(places, lambda task: None if raised.stands(task) else differs)

    def _place(self, places: Mapping[str, Place], refuses: Callable[[Task], Message | None] | None = None) -> Outcome:
        who = self._operator.who

        def op(task_id: str) -> Op:
            lane_name, level = places[task_id]
            return Move(task_id=task_id, by=who, lane=lane_name, priority=level)

        told = ", ".join(str(level) for level in sorted({level for _lane, level in places.values()}, reverse=True))
        return self._each("task.prioritize", list(places), op, detail={"priority": told}, refuses=refuses)

    def retry_waiting(self, task_ids: Sequence[str], *, reason: str = "") -> Outcome:
        """Next attempt at once for held and retrying tasks, a new task (``made``) for each dead one; anything else is
        refused with what to do instead. A held one needs a ``reason``, which is kept with it: its work may be done.
        """
        self._audit.need(self._operator, "operator", "task.retry", task_ids)
        ids = list(dict.fromkeys(task_ids))
        records = dict(zip(ids, self._store.get(ids), strict=True))
        dead = [task_id for task_id, task in records.items() if task is not None and task.status == Status.DEAD]
        others = [task_id for task_id in ids if task_id not in set(dead)]
        if not dead or not others:
            return self._republish(dead) if dead else self._retry(others, records, reason)
        with self._audit.as_one("task.retry", ids) as act:
            outcome = join(self._retry(others, records, reason), self._republish(dead))
            tell(act, outcome)
        return outcome

    def _retry(self, task_ids: Sequence[str], records: Mapping[str, Task | None], reason: str) -> Outcome:

        def op(task_id: str) -> Op | Message:
            task = records[task_id]
            if task is None:
                return missing(self._store, task_id)
            if task.status == Status.HELD and not reason.strip():
                return Message("retry.say_why")
            if task.status == Status.HELD:
                return Resolve(task_id=task_id, to=Status.PENDING, by=self._operator.who, note=reason)
            if task.status == Status.RETRYING:
                return Move(
                    task_id=task_id, by=self._operator.who, lane=task.lane, priority=task.priority, run_now=True
                )
            if task.status in (Status.SUCCEEDED, Status.CANCELLED):
                return Message("retry.use_duplicate", {"status": task.status})
            return Message("retry.not_failed", {"status": task.status})

        return self._each("task.retry", task_ids, op, detail={"reason": reason} if reason else None)

    def resolve(self, task_ids: Sequence[str], to: str, *, note: str) -> Outcome:
        """Decide about held tasks: ``succeeded`` (it ran), ``pending`` (run again) or ``dead``. One whose work may be
        done is not given up without a ``note``: the same work may be done by others when it is over.

        Raises:
            UsageError: another decision; or to run again what may be done already, without a ``note`` that says why.
        """
        if to not in (Status.PENDING, Status.SUCCEEDED, Status.DEAD):
            raise UsageError(said("resolve.to"), field="to")
        if to == Status.PENDING and not note.strip():
            raise UsageError(said("resolve.say_why"), field="note")
        who = self._operator.who
        asks = to == Status.DEAD and not note.strip()
        return self._each(
            "task.resolve",
            task_ids,
            lambda one: Resolve(task_id=one, to=to, by=who, note=note),
            detail={"to": to, "note": note},
            refuses=_asks_why if asks else None,
        )

    def _each(
        self,
        action: str,
        task_ids: Sequence[str],
        make: Callable[[str], Op | Message],
        *,
        detail: dict[str, object] | None = None,
        refuses: Callable[[Task], Message | None] | None = None,
    ) -> Outcome:
        """``refuses`` sees each task as it is when its portion comes: what was read before the first of many may be
        no longer so.
        """
        self._audit.need(self._operator, "operator", action, task_ids)
        ids = list(dict.fromkeys(task_ids))
        if not ids:  # a filter that nothing fits: no act
            return Outcome()
        with self._audit.act(action, ids, detail) as act:
            some = partial(self._some, make=make, refuses=refuses)
            outcome = in_portions(ids, some, lambda: self._audit.lost(self._operator, "operator"))
            tell(act, outcome)
            return outcome

    def _some(
        self,
        ids: Sequence[str],
        make: Callable[[str], Op | Message],
        refuses: Callable[[Task], Message | None] | None,
    ) -> Outcome:
        asked: list[tuple[str, Op]] = []
        skipped: list[Refusal] = []
        found = [task for task in self._store.get(ids) if task is not None] if refuses else ()
        whys = {task.task_id: refuses(task) for task in found} if refuses else {}
        for task_id in ids:
            op = whys.get(task_id) or make(task_id)
            if isinstance(op, Message):
                skipped.append(Refusal(task_id=task_id, why=op))
            else:
                asked.append((task_id, op))
        answers = self._steps.apply([op for _, op in asked])
        done, pending = [], []
        for (task_id, _), answer in zip(asked, answers, strict=True):
            if answer.code == "ok":
                done.append(task_id)
            elif answer.code == "requested":
                pending.append(task_id)
            else:
                skipped.append(Refusal(task_id=task_id, why=refusal(self._store, task_id, answer)))
        return Outcome(done=tuple(done), skipped=tuple(skipped), pending=tuple(pending))


def _asks_why(task: Task) -> Message | None:
    return Message(verdict.SAY_WHY_GIVEN_UP) if verdict.asks_why_given_up(task) else None


def same_work(task: Task, reason: str) -> TaskSpec | None:
    """The work of a task once more, as a task of its own; None where its payload cannot be read."""
    try:
        payload = json.loads(task.payload)
    except ValueError:
        return None
    return TaskSpec(
        platform=task.platform,
        shop_id=task.shop_id,
        task_type=task.task_type,
        payload=payload,
        priority=task.priority,
        max_retries=task.max_retries,
        extra=task.extra,
        reason=reason,
    )


def again(task: Task) -> str:
    """The id under which a cancelled task is created again."""
    return names.again_id(task.platform, task.task_type, task.shop_id, task.task_id)


def tell(act: Act, outcome: Outcome) -> None:
    """Close the audit entry with what was done and what was not."""
    refused = (*outcome.skipped, *outcome.failed)
    act.counted(len(outcome.done) + len(outcome.pending), len(refused), reasons([one.why.code for one in refused]))
    act.placed([(one.task_id, one.why.code) for one in refused])


def in_portions(
    items: Sequence[T],
    act: Callable[[Sequence[T]], Outcome],
    lost: Callable[[], Message | None],
    name: Callable[[T], str] = str,
) -> Outcome:
    """Do it with a few at a time. The right to it is looked at anew before each portion but the first, which whoever
    calls has looked at: where ``lost`` says why it is gone, the rest is left alone for that reason.
    """
    outcome = Outcome()
    for start in range(0, len(items), BATCH):
        why = lost() if start else None
        if why is not None:
            return join(outcome, Outcome(skipped=tuple(Refusal(task_id=name(one), why=why) for one in items[start:])))
        outcome = join(outcome, act(items[start : start + BATCH]))
        portions.done(min(start + BATCH, len(items)))
    return outcome


def join(left: Outcome, right: Outcome) -> Outcome:
    """Both outcomes as one."""
    return Outcome(
        done=left.done + right.done,
        skipped=left.skipped + right.skipped,
        failed=left.failed + right.failed,
        made={**left.made, **right.made},
        pending=left.pending + right.pending,
    )


def _not_yet(task: Task) -> Message:
    """Why one that is not cancelled is not created again."""
    if task.status == Status.RUNNING and task.cancel:
        return Message("task.stopping")
    return Message("task.not_cancelled", {"status": task.status})


def _why_not(error: str) -> Message:
    """Why a task was not made; where a reason is asked for, in its own words, for then it can be given."""
    if isinstance(error, Said) and error.message.code == UNSURE:
        return error.message
    return Message("bulk.failed", {"error": error})


def refusal(store: Store, task_id: str, answer: Answer) -> Message:
    """Why the store refused, for a person."""
    if answer.code == UNREADABLE and isinstance(answer.words, Said):
        return answer.words.message
    if answer.task is None:
        return missing(store, task_id)
    if answer.code == DONE:
        return Message("task.done", {"id": answer.task.task_id})
    if answer.code == "duplicate":
        return Message("task.duplicate", {"id": answer.task.task_id, "status": answer.task.status})
    if answer.code == "open":
        return Message("task.nothing_to_pass")
    if answer.code == "no_pass":
        return Message("task.no_pass")
    if answer.code == "many":
        return Message("task.many_passes", {"most": passing.MOST})
    return Message("task.refused", {"status": answer.task.status})


def _signed(spec: TaskSpec, who: str, origin: str) -> TaskSpec:
    return replace(spec, created_by=who, origin=origin)
