"""What the New task dialog is about to create: one value, and the tasks that come of it. Pure but for the language."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from services.commands.tasks import TaskSpec
from services.domain.plans.schedule import Schedule
from services.domain.task import lane
from services.domain.text import mask
from services.i18n import _, ngettext

ALL = "all"  #: every platform
REJECT, QUEUE, FORCE = "reject", "queue", "force"  #: what becomes of a task that is active already
STOP = "stop"  #: of a file: nothing is created while one of its rows is


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was typed, complete or not."""

    platform: str = ""
    task_type: str = ""
    shops: tuple[str, ...] = ()  #: keys ``platform:shop_id`` in the order shown
    payload: Mapping[str, Any] = msgspec.field(default_factory=dict)
    priority: int = lane.DEFAULT_PRIORITY[lane.Lane.NORMAL]
    delay_min: float = 0.0
    at_ms: int = 0  #: not before this instant, 0 for none
    deadline_ms: int = 0  #: must have begun before this instant, 0 for none
    depends_on: tuple[str, ...] = ()  #: ids of tasks that must succeed first, and types
    attempts: int = 0  #: 0 leaves it to the task type
    if_duplicate: str = REJECT
    reason: str = ""  #: why the twins are forced
    twins: frozenset[str] = frozenset()  #: ticked shops that have the same task active already
    asks: frozenset[str] = frozenset()  #: ticked shops whose work was done so lately that its type asks why
    again: bool = False  #: those are done again
    why: str = ""  #: the reason of that

    @property
    def lane(self) -> str:
        """The lane that the priority stands for."""
        return lane.lane_of(self.priority).value

    @property
    def number(self) -> int:
        """How many tasks will come of it."""
        return len(self.going())

    @property
    def asked(self) -> frozenset[str]:
        """Shops that get a task only for a reason; twins that are left out, or forced for theirs, are none of them."""
        return self.asks if self.if_duplicate == QUEUE else self.asks - self.twins

    def specs(self, batch: str) -> list[TaskSpec]:
        """One task for each shop."""
        return [self.spec(shop, batch) for shop in self.shops]

    def spec(self, shop: str, batch: str, *, if_duplicate: str = "", reason: str = "") -> TaskSpec:
        """The task of one shop."""
        platform, _, shop_id = shop.partition(":")
        fate = if_duplicate or self.if_duplicate
        if fate == FORCE and not if_duplicate and shop not in self.twins:
            fate = REJECT  # the reason given is for those that were shown
        return TaskSpec(
            platform=platform,
            shop_id=shop_id,
            task_type=self.task_type,
            payload=dict(self.payload),
            priority=self.priority,
            delay_s=self.delay_min * 60,
            at_ms=self.at_ms,
            deadline_ms=self.deadline_ms,
            depends_on=self.depends_on,
            if_duplicate=fate,
            reason=(reason or self.reason) if fate == FORCE else self.why if self.again and shop in self.asked else "",
            batch=batch,
            max_retries=self.attempts - 1 if self.attempts else None,
        )

    def going(self) -> tuple[str, ...]:
        """The shops that get a task."""
        out = self.twins if self.if_duplicate == REJECT else frozenset[str]()
        if not self.again:
            out |= self.asked
        return tuple(shop for shop in self.shops if shop not in out) if out else self.shops

    def schedule(self, name: str, cron: str, every_s: int) -> Schedule:
        """What repeats in the place of the tasks: for the same shops, by name."""
        return Schedule(
            name=name,
            task_type=self.task_type,
            payload=dict(self.payload),
            priority=str(self.priority),
            cron=cron,
            every_s=every_s,
            shops=self.shops,
        )

    def message(self, at: int = 0) -> dict[str, Any]:
        """One of the messages as it will read, with its secrets as dots."""
        shops = self.going() or self.shops
        platform, _, shop_id = shops[min(at, len(shops) - 1)].partition(":") if shops else ("", "", "")
        shown: dict[str, Any] = {"task_type": self.task_type, "platform": platform, "shop_id": shop_id}
        shown["priority"] = self.priority
        if self.delay_min:
            shown["delay"] = round(self.delay_min * 60)
        for name, instant in (("not_before", self.at_ms), ("deadline", self.deadline_ms)):
            if instant:
                shown[name] = datetime.fromtimestamp(instant / 1000, UTC).isoformat(timespec="seconds")
        if self.depends_on:
            shown["depends_on"] = list(self.depends_on)
        return {**shown, "payload": mask.masked(dict(self.payload))}


def missing(draft: Draft, errors: int, delivery: str) -> str:
    """What keeps the tasks from being created, "" for nothing."""
    if not draft.task_type:
        return _("Choose a task type")
    if errors:
        return ngettext("Fix {n} error first", "Fix {n} errors first", errors).format(n=errors)
    if delivery:
        return delivery
    if not draft.shops:
        return _("Tick a shop")
    if draft.twins and draft.if_duplicate == FORCE and not draft.reason.strip():
        return _("Say why they must run beside the active ones")
    if draft.asked and draft.again and not draft.why.strip():
        return _("Say why what was done already must be done again")
    if draft.number:
        return ""
    return none_left(active=bool(draft.twins), done=bool(draft.asked))


def none_left(*, active: bool, done: bool) -> str:
    """Why nothing is left to create; ``active``, ``done``: some of it is, or was."""
    if active and done:
        return _("All of them are active or were done already")
    return _("All of them are active already") if active else _("All of them were done already")


def from_prefill(prefill: Mapping[str, object]) -> Draft:
    """Read the fields another page filled in: platform, shops, task_type, payload (text or object), priority."""
    platform = _text(prefill.get("platform"))
    return Draft(
        platform=platform,
        task_type=_text(prefill.get("task_type")),
        shops=tuple(_shop(one, platform) for one in _items(prefill.get("shops"))),
        payload=_payload(prefill.get("payload")),
        priority=_priority(prefill.get("priority")),
    )


def kept_draft(kept: object, living: Container[str]) -> Mapping[str, Any]:
    """The draft that was left, {} for none; ``living``: names of those that somebody has open, or can open again."""
    return kept if isinstance(kept, Mapping) and str(kept.get("run")) not in living else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else [value] if isinstance(value, str) else ()


def _shop(value: object, platform: str) -> str:
    name = str(value)
    return name if ":" in name or not platform else f"{platform}:{name}"


def _payload(value: object) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _priority(value: object) -> int:
    try:
        return lane.parse_priority(value)[1]
    except ValueError:
        return lane.DEFAULT_PRIORITY[lane.Lane.NORMAL]
