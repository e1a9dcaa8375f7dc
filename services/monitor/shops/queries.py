"""Shops with what they do, what holds them and the limits that apply; and the limits of platforms and types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from services.domain.fleet import platforms, shop_filter
from services.domain.fleet.shop import Pause, Shop, stranger
from services.domain.gates import breaker, limit, quiet_hours
from services.domain.gates.breaker import Rule
from services.domain.gates.home import Home
from services.domain.gates.limit import Limit, LimitNow
from services.domain.gates.session import Login
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.task.order import BrokerHealth
from services.domain.task.search.query import Counts, Query, Total, equals
from services.domain.task.status import MOVABLE, Status
from services.domain.types.task_type import TaskType
from services.engine.registry import Registry
from services.monitor.schedules import NextRun, ScheduleQueries
from services.monitor.shops.day import ShopDays
from services.monitor.shops.states import ShopStates
from services.monitor.works import TypeRow, WorkQueries, WorkStory
from services.ports import Store

ALL, SESSION, BREAKER, PAUSED = "all", "session", "breaker", "paused"
#: what is told only where somebody wants to see it: how the tasks of a day ended, what comes next, who ran the last one
ENDED, NEXT, RAN_BY = "ended", "next", "ran_by"
#: of planned tasks, so many are looked at for the first of each shop, and so long that holds
PLANNED, PLANNED_MS = 1_000, 15_000


class ShopRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One shop with its limits, and what is true of it."""

    shop: Shop
    now: ShopNow
    login: Login | None = None  #: the last one that is known
    home: str = ""  #: the node where its browser profile lives, if it has one
    next: NextRun | None = None  #: what is planned next for it, where asked for
    ran_by: str = ""  #: the worker that ran its last task, where asked for
    key: str = ""  #: ``platform:shop_id``; made once, for a table of thousands asks for it again and again

    def __post_init__(self) -> None:
        force_setattr(self, "key", self.shop.key)


class ShopsNow(msgspec.Struct, frozen=True, kw_only=True):
    """The shops that were asked for, all of them, the worst first, and how many there are of each sort."""

    rows: tuple[ShopRow, ...] = ()
    numbers: Mapping[str, int] = {}  #: of all shops: ``ALL``, ``SESSION`` …
    counts: Mapping[str, Mapping[str, int]] = {}  #: of all shops, by field of their filter and value
    paused: int = 0  #: of those under ``PAUSED``, the ones that are paused as a whole
    types: tuple[tuple[Pause, int], ...] = ()  #: pauses of a type, each with how many shops have tasks behind it
    rule: Rule = msgspec.field(default_factory=Rule)
    every: tuple[ShopNow, ...] = ()  #: all shops, also those that nobody asked for
    fitting: frozenset[str] | None = None  #: keys of those that fit in every group; None: nothing was filtered
    at_ms: int = 0  #: by the store's clock


class ScopeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A platform or a type with its limit, which may be none. ``running`` -1: nobody counts it without a limit."""

    now: LimitNow
    pause: Pause | None = None  #: of all of it
    quiet: Pause | None = None  #: quiet hours of all of it that hold now
    title: Mapping[str, str] = {}
    at_ms: int = 0

    @property
    def key(self) -> str:
        """Its scope."""
        return self.now.limit.scope


class ShopQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        health: Callable[[], BrokerHealth] | None = None,
        keeps_ms: int = 0,
        schedules: ScheduleQueries | None = None,
    ) -> None:
        """``health``: how the broker stands, for who follows no events; ``keeps_ms``: as of ``ShopDays``;
        ``schedules``: of who asks beside.
        """
        self._store, self._registry = store, registry
        self.states = ShopStates(store, registry, health, keeps_ms)
        self._schedules = schedules or ScheduleQueries(store, registry)
        self._works = WorkQueries(store, registry, schedules=self._schedules)
        self._told: tuple[object, ShopsNow] = (None, ShopsNow())  #: the last answer, and all that it was made of
        self._rows: Mapping[str, ShopRow] = {}  #: those of the last answer: most shops are as they were
        self._ran: tuple[object, dict[str, int]] = (None, {})  #: running tasks by platform, of which shops and counters
        self._planned: tuple[int, int, dict[str, NextRun]] = 0, 0, {}  #: of how many planned tasks, when, and which
        self.days = ShopDays(store, registry, health, keeps_ms, self._schedules)

    def shops(
        self,
        text: str = "",
        only: Collection[str] = (),
        within: tuple[str, str] | None = None,
        telling: Collection[str] = (),
    ) -> ShopsNow:
        """Shops that a filter means, the worst first; ``only``: of these alone (``platform:shop_id``), where there are
        any; ``within``: of a platform's group, which the rows are of and ``fitting`` is not.

        Raises:
            UsageError: it is no such filter, and what there is instead.
        """
        wish = text.strip()
        if ENDED in telling or shop_filter.asks_ends(wish):
            self.states.learn_day()
        found = self.states.look()
        known, logins, homes = self._registry.shops(), self._store.logins(), self._store.homes()
        rule = breaker.read(self._store.documents(breaker.DOCUMENT))
        tasks = self._store.counts().shops if shop_filter.asks_counts(wish) else {}
        coming = self._coming() if NEXT in telling else {}
        tells_worker = RAN_BY in telling or shop_filter.asks_worker(wish)
        ran_by = self.states.ran_by([now.key for now in found]) if tells_worker else {}
        told = (wish, frozenset(only), within), found, known, logins, homes, rule, tasks, coming, ran_by
        before, answer = self._told  # once: another thread may put its own there
        if before == told:  # at rest: to sort and count ten thousand shops takes long
            return replace(answer, at_ms=self._store.now_ms())
        asked = tuple(now for now in found if now.key in only) if only else found
        fit = _fitting(asked, wish, known, tasks, homes, ran_by) if wish else asked
        wanted = sorted((now for now in fit if within in (None, (now.platform, now.group))), key=insight.rank)
        rows = {
            key: self._row(
                shop=known.get(key) or stranger(key),
                now=now,
                login=logins.get(key),
                home=home.node if (home := homes.get(key)) is not None else "",
                next=coming.get(key),
                ran_by=ran_by.get(key, ""),
            )
            for key, now in ((now.key, now) for now in wanted)
        }
        answer = ShopsNow(
            rows=tuple(rows.values()),
            numbers={
                ALL: len(found),
                SESSION: sum(now.session is not None for now in found),
                BREAKER: sum(now.breaker is not None for now in found),
                PAUSED: sum(now.held_by_pause for now in found),
            },
            counts=_counted(found, known, ran_by),
            paused=sum(now.paused for now in found),
            types=_paused_types(found),
            every=found,
            fitting=frozenset(now.key for now in fit) if wish or only else None,
            rule=rule,
            at_ms=self._store.now_ms(),
        )
        self._told = told, answer
        if not only:  # a look at one shop leaves what is known of all
            self._rows = rows
        return answer

    def _row(self, **told: Any) -> ShopRow:
        """The same object where all is as it was: whoever shows it sees that at once."""
        row = ShopRow(**told)
        before = self._rows.get(row.key)
        return before if before is not None and before == row else row

    def within(self, text: str, field: str, only: Collection[str] = ()) -> Mapping[str, Total]:
        """How many of the shops that fit have each value of a field of their filter; ``only``: as of ``shops``.

        Raises:
            UsageError: it is no such filter, and what there is instead.
        """
        found = self.shops(text, only=only, telling=(RAN_BY,) if field == "worker" else ())
        fit = found.every if found.fitting is None else tuple(one for one in found.every if one.key in found.fitting)
        ran_by = {row.key: row.ran_by for row in found.rows if row.ran_by}
        return {value: Total(n) for value, n in _counted(fit, self._registry.shops(), ran_by).get(field, {}).items()}

    def _coming(self) -> Mapping[str, NextRun]:
        """What is planned next for each shop: by a schedule, or a task that waits for its time."""
        found = dict(self._schedules.next_by_shop())
        counts = self._store.counts()
        for key, run in self._first_planned(counts).items():
            if key not in found or run.at < found[key].at:
                found[key] = run
        return found

    def _first_planned(self, counts: Counts) -> Mapping[str, NextRun]:
        number, now = counts.status.get(Status.SCHEDULED, 0), self._store.now_ms()
        before, at_ms, found = self._planned
        if before == number and at_ms <= now < at_ms + PLANNED_MS:
            return found
        query = Query(
            terms=(equals("status", Status.SCHEDULED),), sort="due", descending=False, limit=PLANNED, want_total=False
        )
        tasks = self._store.query(query).tasks if number else ()
        found = {task.shop: NextRun(task.due_at, task.task_type) for task in reversed(tasks)}
        if len(tasks) >= PLANNED:
            last = NextRun(tasks[-1].due_at, "", later=True)
            others = (key for key, by in counts.shops.items() if by.get(Status.SCHEDULED) and key not in found)
            found |= dict.fromkeys(others, last)
        self._planned = number, now, found
        return found

    def works(self, key: str) -> tuple[TypeRow, ...]:
        """For each type of a shop (``platform:shop_id``) its last success and failure, and its next planned run."""
        return self._works.of_shop(key)

    def story(self, key: str, kind: str, day: str, payload: Mapping[str, Any] | None = None) -> WorkStory | None:
        """Whether a type ran for a shop on a day: ``today``, ``yesterday`` or a date; None for what is no day.

        ``payload``: asks of the work with these parameters only.
        """
        span = self._works.day(day)
        return None if span is None else self._works.story(key, kind, span, payload)

    def stories(self, works: Sequence[tuple[str, str]], day: str) -> tuple[WorkStory, ...]:
        """The same of several works, each a shop (its key) and a type; none for what is no day."""
        span = self._works.day(day)
        return () if span is None else self._works.stories(works, span)

    def name(self, key: str) -> str:
        """What a shop (``platform:shop_id``) is called."""
        return self._registry.shop_name(key)

    def movable(self, keys: Sequence[str]) -> tuple[int, ...]:
        """How many tasks of each of these shops go elsewhere with its queue: all that do not run, to be retried and
        planned too.
        """
        counts = self._store.counts().shops
        return tuple(sum(counts.get(key, {}).get(status, 0) for status in MOVABLE) for key in keys)

    def scopes(self) -> tuple[ScopeRow, ...]:
        """Every platform and every task type, limited or not, platforms first."""
        known = {one.limit.scope: one for one in self._store.limits()}
        counts, now = self._store.counts().shops, self._store.now_ms()
        types, switches = self._registry.types(), {(one.gate, one.scope): one for one in self._store.switches()}
        for name, running in sorted(self._running(self._registry.shops(), counts).items()):
            scope = f"{limit.PLATFORM}:{name}"
            known.setdefault(scope, LimitNow(limit=Limit(scope=scope), running=running))
        for name in types:
            scope = f"{limit.TYPE}:{name}"
            known.setdefault(scope, LimitNow(limit=Limit(scope=scope), running=-1))
        return tuple(_scope(one, types, switches, now) for _key, one in sorted(known.items()))

    def _running(self, shops: Mapping[str, Shop], counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
        """How many tasks run on each platform of which a shop is known."""
        before, found = self._ran
        if before != (shops, counts):
            found = dict.fromkeys((key.partition(":")[0] for key in (*shops, *counts)), 0)
            for key, by in counts.items():
                found[key.partition(":")[0]] += by.get(Status.RUNNING, 0)
            self._ran = (shops, counts), found
        return found


def _paused_types(found: Sequence[ShopNow]) -> tuple[tuple[Pause, int], ...]:
    """Pauses of a type that keep tasks of shops waiting, which go on with their other types."""
    pauses = {pause.scope: pause for now in found for pause in now.pauses if _of_type(pause)}
    shops = Counter(pause.scope for now in found for pause in now.pauses if _of_type(pause))
    return tuple((pauses[scope], shops[scope]) for scope in sorted(pauses))


def _of_type(pause: Pause) -> bool:
    return pause.gate == PAUSED and pause.scope.startswith("type:")


def _fitting(
    found: Iterable[ShopNow],
    text: str,
    known: Mapping[str, Shop],
    tasks: Mapping[str, Mapping[str, int]],
    homes: Mapping[str, Home],
    ran_by: Mapping[str, str],
) -> tuple[ShopNow, ...]:
    of = {now.platform for now in found}
    wanted = shop_filter.parse(text, of | platforms.NAMES.keys())

    def fits(now: ShopNow) -> bool:
        key = now.key
        shop = known.get(key) or stranger(key)
        home = homes.get(key)
        node = home.node if home is not None else ""
        return wanted(shop_filter.Row(shop, now, tasks.get(key, {}), node, ran_by.get(key, "")))

    return tuple(filter(fits, found))


def _counted(
    found: Sequence[ShopNow], known: Mapping[str, Shop], ran_by: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """By field and value how many shops a filter would leave; by worker only where anybody asked who ran them."""
    states = Counter(now.state for now in found)
    states[shop_filter.FLAGGED] = sum(states[state] for state in insight.FLAGGED)
    shops = [shop for now in found if (shop := known.get(now.key)) is not None]
    own_queue = sum(shop.dedicated for shop in shops)
    workers = {"worker": dict(Counter(worker for now in found if (worker := ran_by.get(now.key))))} if ran_by else {}
    return {
        **workers,
        "state": dict(states),
        "platform": dict(Counter(now.platform for now in found)),
        "group": dict(Counter(now.group for now in found if now.group)),
        "tag": dict(Counter(tag for shop in shops for tag in shop.tags)),
        "gate": dict(Counter(gate for now in found for gate in shop_filter.gates(now))),
        "dedicated": {"yes": own_queue, "no": len(found) - own_queue},
    }


def _scope(
    one: LimitNow, types: Mapping[str, TaskType], switches: Mapping[tuple[str, str], Pause], now: int
) -> ScopeRow:
    scope = one.limit.scope
    head, _colon, name = scope.partition(":")
    kind = types.get(name) if head == limit.TYPE else None
    return ScopeRow(
        now=one,
        pause=switches.get((PAUSED, scope)),
        quiet=switches.get((quiet_hours.GATE, scope)),
        title=kind.title if kind is not None else {},
        at_ms=now,
    )
