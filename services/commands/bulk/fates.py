"""What became of each letter of a bulk run, as it stands now: a task that was sent has not succeeded yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from services.commands.bulk.book import successor_tail
from services.commands.bulk.plan import GONE, READY, Item
from services.domain.insight import cause
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.ports import Store

#: its new task waits, runs, has succeeded, has died, ended otherwise or waits for a person; it is still a letter;
#: it is one that would be skipped; somebody else closed it
SENT, RUNNING, SUCCEEDED, DIED, STOPPED, LEFT, SKIPPED, CLOSED = (
    "sent", "running", "succeeded", "died", "stopped", "left", "skipped", "closed",
)  # fmt: skip
FATES = (SUCCEEDED, DIED, STOPPED, RUNNING, SENT, LEFT, SKIPPED, CLOSED)
#: what still changes by itself
MOVING = frozenset({SENT, RUNNING})
_STATES: dict[str, str] = {
    Status.RUNNING: RUNNING,
    Status.SUCCEEDED: SUCCEEDED,
    Status.DEAD: DIED,
    Status.CANCELLED: STOPPED,
    Status.HELD: STOPPED,
}
SLICE = 500


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """One letter. ``why``: the cause of which its task died, or what keeps the letter back."""

    item: Item
    state: str
    shop: str = ""  #: platform:shop_id, "" where neither the letter nor its task tells any more
    new_id: str = ""
    status: str = ""  #: of the new task
    why: Message | None = None


def fates(store: Store, run_id: str, items: Sequence[Item]) -> list[Fate]:
    """All letters of a run, in its order. Blocking."""
    mine = {
        item.task_id: item.successor
        for item in items
        if item.successor.endswith(f"_{successor_tail(run_id, item.task_id)}")
    }
    names = list(mine.values())
    found: dict[str, Task] = {}
    for start in range(0, len(names), SLICE):
        found |= {task.task_id: task for task in store.get(names[start : start + SLICE]) if task is not None}
    return [_fate(item, mine.get(item.task_id, ""), found) for item in items]


def counts(all_of_them: Sequence[Fate]) -> dict[str, int]:
    """How many there are of each fate, in the order of ``FATES``; those of none are left out."""
    found = Counter(one.state for one in all_of_them)
    return {state: found[state] for state in FATES if found[state]}


def _fate(item: Item, new_id: str, found: Mapping[str, Task]) -> Fate:
    if not new_id:
        state = LEFT if item.state == READY else CLOSED if item.state == GONE else SKIPPED
        return Fate(item=item, state=state, shop=item.shop, why=item.why)
    task = found.get(new_id)
    if task is None:  # its record was removed, which happens to what has succeeded
        return Fate(item=item, state=SUCCEEDED, new_id=new_id)
    state = _STATES.get(task.status, SENT)
    why = cause.title(task.error_kind, cause.patterns([(task.error_kind, task.error)])) if state == DIED else None
    return Fate(
        item=item,
        state=state,
        shop=task.shop,
        new_id=new_id,
        status=task.status,
        why=why,
    )
