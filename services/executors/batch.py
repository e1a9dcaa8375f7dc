"""Executor ``batch``: makes a task of each item of its payload, and ends with their counts when all have ended.

It waits between its attempts, not in a slot: what holds a slot, or its shop's only place, while its children want it,
would wait for ever. So nothing of a batch is in memory; who takes it up next finds all in the store.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from services.domain.errors import BrokerUnavailable, StoreUnavailable, UsageError
from services.domain.task import classify, ids, lane, own_words
from services.domain.task.record import Task
from services.domain.task.status import REPLACED, TERMINAL
from services.domain.text.said import said
from services.engine.producer import Producer, TaskSpec
from services.engine.registry import Registry
from services.executors.base import Fitness, Job, JobContext, Outcome, broken_off
from services.ports import Store

T = TypeVar("T")
NAME = "batch"
MAX_ITEMS, CHUNK, NAMED = 10_000, 200, 10
_KEYS = frozenset({"platform", "shop_id", "task_type", "payload", "priority"})
#: a dead child may have been republished, and that one again
_MAX_LINKS = 20


class BatchExecutor:
    """Payload: ``items`` (objects with ``platform``, ``shop_id``, ``task_type``, ``payload``, ``priority``), and the
    same fields beside it for all items that leave them out; what is left out there too is the batch's own.
    """

    name = NAME

    def __init__(self, store: Store, producer: Producer, registry: Registry, *, look_s: float) -> None:
        """``look_s``: seconds between two looks at the children."""
        self._store, self._producer, self._registry, self._look_s = store, producer, registry, look_s

    def fitness(self) -> Fitness:
        """It needs nothing but the engine."""
        return Fitness()

    def close(self) -> None:
        """It runs nothing of its own."""

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Create the children that are missing, then tell how far they are."""
        try:
            return self._go_on(job.task, context)
        except UsageError as exc:
            return Outcome(ok=False, error=f"{exc.field}: {exc}", error_kind=classify.BAD_PAYLOAD)
        except (StoreUnavailable, BrokerUnavailable) as exc:
            return Outcome(ok=False, again_s=self._look_s, error=own_words.write("own.waits", why=str(exc)))

    def _go_on(self, task: Task, context: JobContext) -> Outcome:
        specs = self._specs(task)
        found, refused = dict[str, Task | None](), list[str]()
        for chunk in _chunks(specs):
            if context.cancelled.is_set():
                return broken_off("own.stopped")
            found |= self._made(chunk, refused)
        counts, dead = self._count(found)
        left = sum(number for status, number in counts.items() if status not in (*TERMINAL, "removed"))
        context.progress(round(100 * (1 - left / len(specs))), f"{len(specs) - left} of {len(specs)}")
        if left:
            # A long batch need not be looked at as often as a short one: 30 s become 2 min.
            look_s = self._look_s * min(4, 1 + task.attempt // 10)
            return Outcome(ok=False, again_s=look_s, error=own_words.write("own.left", left=left, of=len(specs)))
        told: dict[str, object] = {"tasks": len(specs), "refused": len(refused), **counts}
        if dead:
            told["dead_tasks"] = dead[:NAMED]
        if refused:
            told["first_refusal"] = refused[0]
        return Outcome(ok=True, result=json.dumps(told, ensure_ascii=False))

    def _specs(self, task: Task) -> list[TaskSpec]:
        payload = json.loads(task.payload)
        items = payload.get("items")
        if not isinstance(items, list) or not 1 <= len(items) <= MAX_ITEMS:
            raise UsageError(said("batch.items", most=f"{MAX_ITEMS:,}"), field="payload.items")
        root = self._root(task)
        given = {name: payload[name] for name in _KEYS if name in payload}
        usual = {"platform": task.platform, "shop_id": task.shop_id, "priority": task.priority, **given}
        return [self._spec(root, number, usual, item) for number, item in enumerate(items)]

    def _spec(self, root: str, number: int, usual: Mapping[str, Any], item: object) -> TaskSpec:
        where = f"payload.items[{number}]"
        if not isinstance(item, dict) or not item.keys() <= _KEYS:
            raise UsageError(said("batch.item", known=", ".join(sorted(_KEYS))), field=where)
        both = {**usual, **item}
        words = {name: both.get(name, "") for name in ("platform", "shop_id", "task_type")}
        for name, word in words.items():
            if not isinstance(word, str) or not word:
                raise UsageError(said("batch.missing"), field=f"{where}.{name}")
        payload, priority = both.get("payload", {}), both.get("priority", "")
        if not isinstance(payload, dict):
            raise UsageError(said("batch.payload"), field=f"{where}.payload")
        try:
            lane.parse_priority(priority)
        except ValueError as exc:
            raise UsageError(str(exc), field=f"{where}.priority") from exc
        if self._registry.task_type(words["task_type"]).executor == NAME:
            raise UsageError(said("batch.batch"), field=f"{where}.task_type")
        tail = hashlib.sha256(f"{root}#{number}".encode()).hexdigest()[:16]
        return TaskSpec(
            **words,
            payload=payload,
            priority=priority,
            task_id=ids.task_id(words["platform"], words["task_type"], words["shop_id"], tail),
            if_duplicate="queue",
            batch=root,
            origin=NAME,
            created_by=f"batch:{root}"[:200],
        )

    def _root(self, task: Task) -> str:
        """The first of a chain of republished batches: its children are theirs."""
        for _ in range(_MAX_LINKS):
            if not task.parent:
                break
            (before,) = self._store.get([task.parent])
            if before is None:
                return task.parent
            task = before
        return task.task_id

    def _made(self, specs: Sequence[TaskSpec], refused: list[str]) -> dict[str, Task | None]:
        """Records of the children by id, None for one that was there and is removed by now; what is missing is made.

        Made again under the same id after a crash, a child is the same child. One whose record was removed is known by
        its tombstone and is not made again.
        """
        wanted = [spec.task_id for spec in specs]
        records = self._store.get(wanted)
        absent = [task_id for task_id, record in zip(wanted, records, strict=True) if record is None]
        stones = dict(zip(absent, self._store.tombstones(absent), strict=True)) if absent else {}
        found = {task_id: record for task_id, record in zip(wanted, records, strict=True) if record is not None}
        fresh = [spec for spec in specs if spec.task_id in stones and stones[spec.task_id] is None]
        stand_ins: dict[str, Task | None] = {}
        if fresh:
            done = self._producer.submit(fresh)
            found |= {task.task_id: task for task in done.created}
            found |= {spec.task_id: task for spec, task in done.duplicates}
            refused += [f"{field}: {text}" for _, field, text in done.errors]
            # whoever has done the work of a child stands for it
            did = self._store.get([one.task_id for _, one in done.done]) if done.done else []
            stand_ins = {spec.task_id: record for (spec, _), record in zip(done.done, did, strict=True)}
        return {**found, **{task_id: None for task_id, stone in stones.items() if stone is not None}, **stand_ins}

    def _count(self, found: Mapping[str, Task | None]) -> tuple[dict[str, int], list[str]]:
        """How many children stand where, a republished one where its successor stands; ids of the dead ones."""
        counts, dead = Counter[str](), list[str]()
        counts["removed"] += sum(1 for task in found.values() if task is None)
        open_ = [task for task in found.values() if task is not None]
        for _ in range(_MAX_LINKS):
            moved = [task.successor for task in open_ if task.triage in REPLACED and task.successor]
            stay = [task for task in open_ if not (task.triage in REPLACED and task.successor)]
            counts.update(task.status for task in stay)
            dead += [task.task_id for task in stay if task.status == "dead"]
            records = [record for chunk in _chunks(moved) for record in self._store.get(chunk)]
            counts["removed"] += sum(1 for record in records if record is None)
            open_ = [record for record in records if record is not None]
            if not open_:
                break
        return {str(status): number for status, number in sorted(counts.items()) if number}, dead


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
