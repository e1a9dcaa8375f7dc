"""What the dialog asks off the GUI thread: the plan, how the shops stand, and the list as a file."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services import whole_file
from services.commands.bulk.republish import Plan
from services.domain.fleet.shop import Shop
from services.domain.insight.cause import Worth
from services.domain.insight.shop import ShopNow
from services.domain.text.cells import guarded
from services.domain.types.task_type import TaskType
from views.context import PageContext
from views.dialogs.republish.sorting import Sorted, reason
from views.support import shown
from views.support.load import USUAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One look at everything."""

    plan: Plan = field(default_factory=Plan)
    now: Mapping[str, ShopNow] = field(default_factory=dict)
    shops: Mapping[str, Shop] = field(default_factory=dict)
    types: Mapping[str, TaskType] = field(default_factory=dict)
    worth: Worth = field(default_factory=Worth)  #: whether they would pass now


def look(context: PageContext, ids: Sequence[str], fields: Mapping[str, Any]) -> Looked:
    """Ask for all of it. Blocking."""
    plan = context.commands.bulk.plan(ids, fields=fields)
    shops = list(plan.counts("shop"))
    return Looked(
        plan=plan,
        now=context.tasks.shops_now(shops),
        shops=context.shops(),
        types=context.types(),
        worth=context.causes.worth_of(ids),
    )


def usual_s(found: Sorted, types: Mapping[str, TaskType]) -> float:
    """Seconds that one of those that go usually takes."""
    spans = [(types[name].expected_s or USUAL_S, n) for name, n in found.counts("task_type").items() if name in types]
    total = sum(n for _span, n in spans)
    return sum(span * n for span, n in spans) / total if total else USUAL_S


def write_preview(path: Path, found: Sorted, now: Mapping[str, ShopNow]) -> int:
    """Write what becomes of each letter as CSV; tell how many. Blocking.

    Raises:
        OSError: the file cannot be written.
    """
    going = {item.task_id for item in found.going}
    with whole_file.written(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("task_id", "platform", "shop", "type", "lane", "published", "reason", "detail"))
        for item in found.plan.items:
            sent = "yes" if item.task_id in going else "no"
            why = shown.say(item.why) if item.why is not None else ""
            cells = (item.task_id, item.platform, item.shop, item.task_type, item.lane, sent, reason(item, now), why)
            rows.writerow([guarded(cell) for cell in cells])
    return found.total
