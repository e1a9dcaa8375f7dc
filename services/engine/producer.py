"""Submit: check what is asked, record it, publish it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from services.domain import ids, lane, shop, task_type
from services.domain.change import Create
from services.domain.errors import UsageError
from services.domain.status import Status
from services.domain.task import Task
from services.engine import recipe
from services.engine.dispatch import Dispatcher
from services.engine.registry import Registry
from services.ports import Store

BULK = 600
MAX_AHEAD_S = 366 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One task as asked for; ``line`` tells where it came from in a file."""

    platform: str
    shop_id: str
    task_type: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: str | int = ""
    delay_s: float = 0.0
    at_ms: int = 0  #: not before this instant (UTC ms of the store's clock), 0 for at once; one that is past is at once
    if_duplicate: str = "reject"
    reason: str = ""
    batch: str = ""
    origin: str = "cli"
    created_by: str = ""
    max_retries: int | None = None
    parent: str = ""
    line: int = 0
    task_id: str = ""  #: of one that may be made again after a crash; "" for a new one


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of a bulk of specs, each at its place in one of the three."""

    created: tuple[Task, ...] = ()
    duplicates: tuple[tuple[TaskSpec, Task], ...] = ()
    errors: tuple[tuple[TaskSpec, str, str], ...] = ()  #: (spec, field, sentence)
    unconfirmed: int = 0  #: recorded, but the broker has not confirmed yet; they are sent as soon as it does


class Producer:
    """Makes records of specs and sends them."""

    def __init__(self, store: Store, dispatcher: Dispatcher, registry: Registry, *, strict_shops: bool = False) -> None:
        self._store, self._dispatcher, self._registry = store, dispatcher, registry
        self._strict = strict_shops

    def submit(self, specs: Sequence[TaskSpec]) -> Submitted:
        """Record and publish; bad specs are reported and do not stop the others.

        A bulk goes in chunks: while one is being published, the next is checked and recorded.
        """
        created: list[Task] = []
        duplicates: list[tuple[TaskSpec, Task]] = []
        errors: list[tuple[TaskSpec, str, str]] = []
        if len(specs) <= BULK:
            fresh = self._record(self._prepare_all(specs, errors), duplicates)
            unconfirmed = self._publish(fresh)
            return _submitted(fresh, duplicates, errors, unconfirmed)
        sending: list[Future[int]] = []
        with ThreadPoolExecutor(1, thread_name_prefix="submit") as publisher:
            for chunk in _chunks(specs):
                fresh = self._record(self._prepare_all(chunk, errors), duplicates)
                sending.append(publisher.submit(self._publish, fresh))
                created += fresh
        return _submitted(created, duplicates, errors, sum(one.result() for one in sending))

    def _prepare_all(
        self, specs: Sequence[TaskSpec], errors: list[tuple[TaskSpec, str, str]]
    ) -> list[tuple[TaskSpec, Task]]:
        good: list[tuple[TaskSpec, Task]] = []
        for spec in specs:
            try:
                good.append((spec, self.prepare(spec)))
            except UsageError as exc:
                errors.append((spec, exc.field, str(exc)))
        return good

    def prepare(self, spec: TaskSpec) -> Task:
        """Make the record of one spec without storing it.

        Raises:
            UsageError: a field is not acceptable; ``field`` names it.
        """
        self._check_words(spec)
        self._check_limits(spec)
        kind = self._registry.task_type(spec.task_type)
        payload = recipe.payload_text(spec.payload)
        problems = task_type.validate_payload(kind, spec.payload)
        if problems:
            raise UsageError(
                f"{problems[0].path or 'payload'}: {problems[0].message}", field=problems[0].path or "payload"
            )
        try:
            lane_name, priority = lane.parse_priority(spec.priority if spec.priority != "" else kind.lane)
        except ValueError as exc:
            raise UsageError(str(exc), field="priority") from exc
        now = self._store.now_ms()
        due = spec.at_ms or now + round(spec.delay_s * 1000)
        if due > now + MAX_AHEAD_S * 1000:
            raise UsageError("a task can be scheduled up to 366 days ahead", field="at")
        scheduled = due > now
        task = Task(
            task_id=spec.task_id or ids.new_task_id(spec.platform, spec.task_type, spec.shop_id),
            shop_id=spec.shop_id,
            platform=spec.platform,
            task_type=spec.task_type,
            payload=payload,
            lane=lane_name,
            priority=priority,
            status=Status.SCHEDULED if scheduled else Status.PENDING,
            due_at=due if scheduled else 0,
            max_retries=kind.max_retries if spec.max_retries is None else spec.max_retries,
            batch=spec.batch,
            origin=spec.origin,
            created_by=spec.created_by,
            reason=spec.reason,
            parent=spec.parent,
            uniq=task_type.uniqueness_key(kind, spec.platform, spec.shop_id, payload),
            timeout_s=kind.timeout_s,
            idempotent=kind.idempotent,
            expected_s=kind.expected_s,
            type_version=kind.version,
        )
        recipe.check_readable(task, now)
        return task

    def _check_words(self, spec: TaskSpec) -> None:
        if not shop.valid_word(spec.platform):
            raise UsageError(f"platform must be 1-64 of A-Z a-z 0-9 _ -, not {spec.platform!r:.60}", field="platform")
        if not shop.valid_shop_id(spec.shop_id):
            raise UsageError(
                f"shop must be 1-64 of A-Z a-z 0-9 _ - and not a lane's name, not {spec.shop_id!r:.60}", field="shop"
            )
        if not ids.valid_task_type(spec.task_type):
            raise UsageError(f"type must be 1-64 of A-Z a-z 0-9 _ -, not {spec.task_type!r:.60}", field="type")
        if self._strict and f"{spec.platform}:{spec.shop_id}" not in self._registry.shops():
            raise UsageError(f"shop {spec.platform}:{spec.shop_id} is not registered; import it first", field="shop")

    def _check_limits(self, spec: TaskSpec) -> None:
        if not 0 <= spec.delay_s <= MAX_AHEAD_S:
            raise UsageError("delay must be between 0 seconds and 366 days", field="delay")
        if spec.at_ms and spec.delay_s:
            raise UsageError("give a delay or a time, not both", field="at")
        if spec.max_retries is not None and not 0 <= spec.max_retries <= 20:
            raise UsageError("max_retries must be 0 to 20", field="max_retries")
        if spec.if_duplicate not in ("reject", "queue", "force"):
            raise UsageError("if-duplicate must be reject, queue or force", field="if-duplicate")
        if spec.if_duplicate == "force" and not spec.reason.strip():
            raise UsageError(
                "force needs a reason: say why this must run although the same task is active", field="reason"
            )

    def _record(self, chunk: Sequence[tuple[TaskSpec, Task]], duplicates: list[tuple[TaskSpec, Task]]) -> list[Task]:
        self._dispatcher.know({task.platform for _, task in chunk})
        ops = [Create(task=task, on_duplicate=spec.if_duplicate) for spec, task in chunk]
        fresh = []
        for (spec, task), answer in zip(chunk, self._store.apply(ops), strict=True):
            if answer.code == "created":
                fresh.append(answer.task or task)
            else:
                duplicates.append((spec, answer.task or task))
        return fresh

    def _publish(self, tasks: Sequence[Task]) -> int:
        receipts = self._dispatcher.send([task for task in tasks if task.status == Status.PENDING])
        return sum(1 for receipt in receipts if not receipt.ok)


def _chunks(specs: Sequence[TaskSpec]) -> Iterator[Sequence[TaskSpec]]:
    for start in range(0, len(specs), BULK):
        yield specs[start : start + BULK]


def _submitted(
    created: Sequence[Task],
    duplicates: Sequence[tuple[TaskSpec, Task]],
    errors: Sequence[tuple[TaskSpec, str, str]],
    unconfirmed: int,
) -> Submitted:
    return Submitted(
        created=tuple(created), duplicates=tuple(duplicates), errors=tuple(errors), unconfirmed=unconfirmed
    )
