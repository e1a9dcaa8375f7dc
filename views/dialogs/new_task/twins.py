"""Which of the new tasks are active or done already, and which could not start now: asked off the GUI thread, judged as
the store judges.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import msgspec

from services.commands.tasks import After
from services.domain.task import ledger
from services.domain.task.ledger import Done
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import Status
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.i18n import _, ngettext
from services.monitor.tasks import TaskQueries
from views.support import instant, shown, text
from views.support.words import origins, type_names

SHOPS_AT_ONCE = 200
MOST = 5000


class Twins(msgspec.Struct, frozen=True, kw_only=True):
    """Shop -> the active task that does the same work; the last success of that work, if it is known; and the gate that
    keeps a new one from starting now.
    """

    by_shop: Mapping[str, Task] = msgspec.field(default_factory=dict)
    done: Mapping[str, Done] = msgspec.field(default_factory=dict)
    asks: frozenset[str] = frozenset()  #: shops whose type asks why it is done again so soon, or where ``unread``
    unread: frozenset[str] = frozenset()  #: of those the ones of which nobody can read whether it was done
    barred: Mapping[str, str] = msgspec.field(default_factory=dict)
    after: tuple[After, ...] = ()  #: what the types mean that the tasks come after

    def among(self, shops: Sequence[str]) -> Twins:
        """Those of some shops."""
        return Twins(
            by_shop={shop: self.by_shop[shop] for shop in shops if shop in self.by_shop},
            done={shop: self.done[shop] for shop in shops if shop in self.done},
            asks=self.asks.intersection(shops),
            unread=self.unread.intersection(shops),
            barred={shop: self.barred[shop] for shop in shops if shop in self.barred},
            after=self.after,
        )

    def before(self, now_ms: int) -> str:
        """When the same work has succeeded last, and by whom or for how many shops; "" where nothing is known."""
        if not self.done:
            return ""
        last = max(self.done.values(), key=lambda one: one.at)
        when = _("{span} ago").format(span=text.coarse(shown.span(max(0, now_ms - last.at))))
        if len(self.done) == 1:
            return _("{when} by {who}").format(when=when, who=origins.who(last.by))
        number = ngettext("{n} shop", "{n} shops", len(self.done)).format(n=text.count(len(self.done)))
        return _("{shops}, last {when}").format(shops=number, when=when)

    def asked(self, shops: Set[str]) -> tuple[str, str]:
        """Of these that ask why: how many they are, and when that was last; "" for none."""
        if not shops:
            return "", ""
        number, lost = len(shops), len(self.unread & shops)
        head = ngettext("{n} shop has had this done already", "{n} shops have had this done already", number - lost)
        if lost == number:
            head = ngettext(
                "Of {n} shop nobody can read whether it has had this done",
                "Of {n} shops nobody can read whether they have had this done",
                lost,
            )
        head, told = head.format(n=text.count(number - lost or lost)), []
        if lost < number:
            last = max((self.done[shop] for shop in shops - self.unread), key=lambda one: one.at)
            when = shown.clock(last.at, instant.now_ms())
            told.append(_("Last at {time}, by {who}").format(time=when, who=origins.who(last.by)))
            if lost:
                words = ngettext("of {n} nobody can read it", "of {n} nobody can read it", lost)
                told.append(words.format(n=text.count(lost)))
        else:
            told.append(_("Doctor finds the entry, and its repair sets it aside"))
        return head, text.listed(told, ";")

    def words(self) -> str:
        """How they stand: ``4 waiting, 2 running``."""
        return standing(task.status for task in self.by_shop.values())

    def headline(self) -> str:
        """How many shops."""
        number = len(self.by_shop)
        return ngettext("{n} shop already has this task", "{n} shops already have this task", number).format(n=number)


def after_facts(found: Iterable[After]) -> list[tuple[str, str]]:
    """What it means to come after a type: for how many tasks how many wait, and for how many shops none is open."""
    rows = []
    for one in found:
        many = ngettext("{n} task", "{n} tasks", one.tasks).format(n=text.count(one.tasks))
        waits = ngettext("{n} waits for {tasks}", "{n} wait for {tasks}", one.waiting)
        none = ngettext("{n} has none open", "{n} have none open", one.free).format(n=text.count(one.free))
        told = [waits.format(n=text.count(one.waiting), tasks=many)] if one.waiting else []
        told += [none] if one.free else []
        rows.append((_("After {type}").format(type=type_names.name(one.task_type)), text.listed(told)))
    return rows


def standing(statuses: Iterable[str]) -> str:
    """How active tasks stand: ``4 waiting, 2 running``."""
    numbers = Counter(map(shown.status_word, statuses))
    return text.listed(
        _("{n} {status}").format(n=text.count(count), status=word.lower()) for word, count in numbers.most_common()
    )


def find(
    queries: TaskQueries,
    kind: TaskType,
    shops: Sequence[str],
    payload: Mapping[str, Any],
    priority: int,
    *,
    later: bool = False,
) -> Twins:
    """Ask which shops have the same task active, when they have had it done, and where it could not start, unless that
    is for ``later``: nobody knows what is closed then. Blocking.
    """
    barred = {} if later else queries.barred(kind.name, shops, priority)
    if kind.uniqueness == "none" or not shops:
        return Twins(barred=barred)
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    wanted = {_uniq(kind, shop, text): shop for shop in shops}
    found: dict[str, Task] = {}
    for task in _active(queries, kind.name, shops):
        shop = wanted.get(task.guard)
        if task.guard and shop is not None and (shop not in found or task.status == Status.RUNNING):
            found[shop] = task
    known, since = queries.last_done(list(wanted)), queries.done_since(kind.name)
    done = {wanted[work]: one for work, one in known.items()}
    unread = frozenset(shop for shop, one in done.items() if since and ledger.unread(one))
    return Twins(
        by_shop=found,
        done={shop: one for shop, one in done.items() if not ledger.unread(one)},
        asks=frozenset(shop for shop, one in done.items() if 0 < since <= one.at) | unread,
        unread=unread,
        barred=barred,
    )


def _uniq(kind: TaskType, shop: str, payload: str) -> str:
    platform, _sep, shop_id = shop.partition(":")
    return task_type.uniqueness_key(kind, platform, shop_id, payload)


def _active(queries: TaskQueries, name: str, shops: Sequence[str]) -> list[Task]:
    tasks: list[Task] = []
    for start in range(0, len(shops), SHOPS_AT_ONCE):
        terms = (equals("type", name), equals("shop", *shops[start : start + SHOPS_AT_ONCE]))
        text = f"status:active {filter.format_terms(terms)}"
        cursor: str | None = ""
        while cursor is not None and len(tasks) < MOST:
            page = queries.page(text, limit=500, cursor=cursor)
            tasks += page.tasks
            cursor = page.next
    return tasks
