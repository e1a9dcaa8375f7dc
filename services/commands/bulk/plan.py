"""What a bulk republish would do, item by item, before anybody does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from services.commands.bulk.republisher import Changes, checked, payload_of
from services.domain.errors import UsageError
from services.domain.insight import same_work, verdict
from services.domain.insight.held_back import HeldBack
from services.domain.task import ledger
from services.domain.task.ledger import Done
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.text.said import words_of
from services.domain.types import task_type
from services.engine import recipe
from services.engine.missing import missing
from services.engine.registry import Registry
from services.ports import Store

#: states of an item: nothing is in the way; the same work waits or runs already; it is held for a person; the same work
#: has succeeded since the letter was created; it succeeded before, but so lately that its type asks why, or nobody can
#: read whether it has, which asks for a reason of its own; a gate is closed for its shop, platform or type (a pause,
#: quiet hours, a login, a shop that keeps failing); today's schema refuses its payload; it is no open dead letter (any
#: more)
READY, DUPLICATE, HELD, DONE, ASKS = "ready", "duplicate", "held", "done", "asks"
PAUSED, SCHEMA, GONE = "paused", "schema", "gone"
STATES = (READY, DUPLICATE, HELD, DONE, ASKS, PAUSED, SCHEMA, GONE)
#: what is left alone when nobody says otherwise: a closed gate only makes it wait
LEFT_ALONE = frozenset({DUPLICATE, HELD, DONE, ASKS, SCHEMA, GONE})
SLICE = 500


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One dead letter as the plan found it; texts are "" for what is ``gone``."""

    task_id: str
    state: str = READY
    shop: str = ""  #: platform:shop_id
    platform: str = ""
    task_type: str = ""
    lane: str = ""
    kind: str = ""
    fingerprint: str = ""
    existing: str = ""  #: the task (or the letter before it in this plan) that is the same work
    existing_status: str = ""
    successor: str = ""  #: of one that was republished
    gate: str = ""  #: the one at which its new task would wait
    why: Message | None = None  #: what is in the way, for a person
    beneath: Item | None = None  #: of a duplicate whose work has run besides: the same without its twin


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen set in the order asked for. ``fields`` are set in every payload and were checked with it."""

    items: tuple[Item, ...] = ()
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)

    def states(self) -> dict[str, int]:
        """How many items there are of each state; states of none are left out."""
        found = Counter(item.state for item in self.items)
        return {state: found[state] for state in STATES if found[state]}

    def left_alone(self) -> dict[str, Message]:
        """By id, what would not be sent unasked: why."""
        return {one.task_id: one.why for one in self.items if one.state in LEFT_ALONE and one.why is not None}

    def counts(self, name: str, states: Collection[str] = STATES) -> dict[str, int]:
        """How many items have which ``shop``, ``task_type``, ``platform``, ``lane`` …; the most frequent first."""
        found = Counter(str(getattr(item, name)) for item in self.items if item.state in states)
        found.pop("", None)
        return dict(found.most_common())

    def sent(self, if_duplicate: str) -> Plan:
        """The same plan as it is sent with that option: unless it is ``reject``, the same work that waits or runs is in
        nobody's way, but that it has run besides is.
        """
        if if_duplicate == "reject":
            return self
        return replace(self, items=tuple(item.beneath or item for item in self.items))

    def without(self, task_ids: Collection[str]) -> Plan:
        """The same plan without some items, e.g. those that were tried first."""
        gone = set(task_ids)
        return replace(self, items=tuple(item for item in self.items if item.task_id not in gone))


class Planner:
    """Looks at letters, their types, who holds the same work and which gates are closed. Changes nothing."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def plan(
        self, task_ids: Sequence[str], fields: Mapping[str, Any] | None, told: Callable[[int, int], object]
    ) -> Plan:
        """Look at every letter once. ``told``: how many are looked at, of how many."""
        ids = list(dict.fromkeys(task_ids))
        store = self._store
        gates = HeldBack(store.now_ms(), store.switches(), store.sessions(), store.breakers())
        taken: dict[str, str] = {}
        items: list[Item] = []
        for start in range(0, len(ids), SLICE):
            some = ids[start : start + SLICE]
            told(start, len(ids))
            items += self._look(dict(zip(some, self._store.get(some), strict=True)), fields or {}, gates, taken)
        return Plan(items=tuple(items), fields=dict(fields or {}))

    def _look(
        self, letters: Mapping[str, Task | None], fields: Mapping[str, Any], gates: HeldBack, taken: dict[str, str]
    ) -> list[Item]:
        looked = {task_id: self._first_look(task_id, old, fields) for task_id, old in letters.items()}
        uniqs = {uniq for item, uniq in looked.values() if uniq and item.state == READY}
        order = sorted(uniqs)
        holders = dict(zip(order, self._store.holders(order), strict=True))
        done = dict(zip(order, self._store.last_done(order), strict=True)) if order else {}
        now = self._store.now_ms()
        found: list[Item] = []
        for item, uniq in looked.values():
            last, old = done.get(uniq), letters[item.task_id]
            if last is not None and old is not None and (ran := self._ran(old, last)):
                status = Status.SUCCEEDED if last.task_id else ""
                why = same_work.succeeded(last, now)
                done_too = replace(item, state=ran, existing=last.task_id, existing_status=status, why=why)
                item = done_too if holders.get(uniq) is None else replace(item, beneath=done_too)
            found.append(_in_the_way(item, uniq, holders.get(uniq), gates, taken))
        return found

    def _ran(self, old: Task, last: Done) -> str:
        """The state of a letter whose work has succeeded, or of which nobody can read whether; "" for any other."""
        if not ledger.unread(last) and verdict.ran_after(old, last):
            return DONE
        return ASKS if ledger.unread(last) or 0 < self._registry.done_since(old.task_type) <= last.at else ""

    def _first_look(self, task_id: str, old: Task | None, fields: Mapping[str, Any]) -> tuple[Item, str]:
        """The item by its record alone, and the uniqueness key of its successor."""
        why = missing(self._store, task_id) if old is None else verdict.refusal(old)
        if old is None or why is not None:
            successor = old.successor if old is not None else ""
            return Item(task_id=task_id, state=GONE, why=why, successor=successor), ""
        item = Item(
            task_id=task_id,
            shop=old.shop,
            platform=old.platform,
            task_type=old.task_type,
            lane=old.lane,
            kind=old.error_kind,
            fingerprint=old.fingerprint,
        )
        kind = self._registry.task_type(old.task_type)
        try:
            payload = recipe.payload_text(checked(kind, payload_of(old, Changes(fields=fields))))
        except UsageError as exc:
            return replace(item, state=SCHEMA, why=Message("dead.schema", {"problem": words_of(exc)})), ""
        return item, task_type.uniqueness_key(kind, old.platform, old.shop_id, payload)


def _in_the_way(item: Item, uniq: str, holder: Task | None, gates: HeldBack, taken: dict[str, str]) -> Item:
    """The item with what keeps it from running; ``taken``: keys that an item before it will hold."""
    if item.state != READY:
        return item
    if holder is not None:
        state = HELD if holder.status == Status.HELD else DUPLICATE
        why = Message("task.duplicate", {"id": holder.task_id, "status": holder.status})
        return replace(item, state=state, existing=holder.task_id, existing_status=holder.status, why=why)
    if uniq in taken:
        why = Message("dead.same_before", {"id": taken[uniq]})
        return replace(item, state=DUPLICATE, existing=taken[uniq], existing_status=Status.DEAD, why=why)
    if uniq:
        taken[uniq] = item.task_id
    gate = gates.at(item.shop, item.task_type)
    return item if gate is None else replace(item, state=PAUSED, gate=gate.name, why=gate.message)
