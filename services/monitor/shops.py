"""Shops with what they do, what holds them and the limits that apply; and the limits of platforms and types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.domain import breaker, limit
from services.domain.breaker import Breaker, Rule
from services.domain.limit import Limit, LimitNow
from services.domain.session import ClosedSession, Login
from services.domain.shop import SCOPE_ALL, Shop
from services.domain.status import WAITING, Status
from services.domain.task_type import TaskType
from services.engine.registry import Registry
from services.ports import Store

#: as many rows are handed out; whoever looks for another shop searches for it
MOST = 500
ALL, SESSION, BREAKER, PAUSED = "all", "session", "breaker", "paused"
_NOBODY: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopRow:
    """One shop. ``holds``: the pause switches that are closed for it."""

    shop: Shop
    waiting: int = 0
    running: int = 0
    retrying: int = 0
    dead: int = 0
    holds: tuple[str, ...] = ()
    session: ClosedSession | None = None  #: where it is closed: the shop waits for a login
    breaker: Breaker | None = None  #: where it is open
    login: Login | None = None  #: the last one that is known
    home: str = ""  #: the node where its browser profile lives, if it has one
    success_at: int = 0  #: UTC ms at which a task succeeded last, 0 where that is not known

    @property
    def key(self) -> str:
        """``platform:shop_id``."""
        return self.shop.key

    @property
    def state(self) -> str:
        """Name of the status that matters most."""
        if self.holds:
            return "paused"
        if self.session is not None or self.breaker is not None:
            return "blocked"
        for name, number in (("dead", self.dead), ("retrying", self.retrying), ("running", self.running)):
            if number:
                return name
        return "waiting" if self.waiting else "idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopsNow:
    """The shops that were asked for, the worst first, and how many there are of each sort."""

    rows: tuple[ShopRow, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)  #: of all shops: ``ALL``, ``SESSION`` …
    matching: int = 0  #: rows may be fewer
    rule: Rule = field(default_factory=Rule)
    at_ms: int = 0  #: by the store's clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """A platform or a type with its limit, which may be none. ``running`` -1: nobody counts it without a limit."""

    now: LimitNow
    title: Mapping[str, str] = field(default_factory=dict)
    at_ms: int = 0

    @property
    def key(self) -> str:
        """Its scope."""
        return self.now.limit.scope


class ShopQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def shops(self, text: str = "", which: str = ALL, most: int = MOST) -> ShopsNow:
        """Shops whose name or id contains the text, the worst first."""
        counts = self._store.counts().shops
        held = _Held(self._store)
        found = self._registry.shops()
        keys = {**found, **{key: _stranger(key) for key in (*counts, *held.shops) if key not in found}}
        rows = [held.row(shop, counts.get(key, _NOBODY)) for key, shop in keys.items()]
        wanted = sorted((row for row in rows if _fits(row, text.strip().casefold(), which)), key=_rank)
        return ShopsNow(
            rows=tuple(wanted[:most]),
            numbers={
                ALL: len(rows),
                SESSION: sum(row.session is not None for row in rows),
                BREAKER: sum(row.breaker is not None for row in rows),
                PAUSED: sum(bool(row.holds) for row in rows),
            },
            matching=len(wanted),
            rule=breaker.parse(self._store.documents(breaker.DOCUMENT).get(breaker.NAME, "")),
            at_ms=self._store.now_ms(),
        )

    def scopes(self) -> tuple[ScopeRow, ...]:
        """Every platform and every task type, limited or not, platforms first."""
        known = {one.limit.scope: one for one in self._store.limits()}
        counts, now = self._store.counts().shops, self._store.now_ms()
        types = self._registry.types()
        platforms = {key.partition(":")[0] for key in (*self._registry.shops(), *counts)}
        for name in sorted(platforms):
            running = sum(by.get(Status.RUNNING, 0) for key, by in counts.items() if key.partition(":")[0] == name)
            scope = f"{limit.PLATFORM}:{name}"
            known.setdefault(scope, LimitNow(limit=Limit(scope=scope), running=running))
        for name in types:
            scope = f"{limit.TYPE}:{name}"
            known.setdefault(scope, LimitNow(limit=Limit(scope=scope), running=-1))
        return tuple(_scope(one, types, now) for _scope_, one in sorted(known.items()))


def _stranger(key: str) -> Shop:
    platform, _colon, shop_id = key.partition(":")
    return Shop(platform=platform, shop_id=shop_id, unregistered=True)


class _Held:
    """What holds shops back and how they did last, asked once for all of them."""

    def __init__(self, store: Store) -> None:
        self._scopes = {pause.scope for pause in store.pauses()}
        self._breakers = {one.shop: one for one in store.breakers()}
        self._sessions = {one.shop: one for one in store.sessions()}
        self._logins, self._successes = store.logins(), store.successes()
        self._homes = store.homes()

    @property
    def shops(self) -> tuple[str, ...]:
        """Those that are held back by a gate of their own."""
        return (*self._breakers, *self._sessions)

    def row(self, shop: Shop, by: Mapping[str, int]) -> ShopRow:
        holds = (SCOPE_ALL, f"platform:{shop.platform}", f"shop:{shop.key}")
        return ShopRow(
            shop=shop,
            waiting=sum(by.get(status, 0) for status in WAITING),
            running=by.get(Status.RUNNING, 0),
            retrying=by.get(Status.RETRYING, 0),
            dead=by.get(Status.DEAD, 0),
            holds=tuple(scope for scope in holds if scope in self._scopes),
            session=self._sessions.get(shop.key),
            breaker=self._breakers.get(shop.key),
            login=self._logins.get(shop.key),
            home=home.node if (home := self._homes.get(shop.key)) is not None else "",
            success_at=self._successes.get(shop.key, 0),
        )


def _fits(row: ShopRow, text: str, which: str) -> bool:
    sorts = {SESSION: row.session is not None, BREAKER: row.breaker is not None, PAUSED: bool(row.holds)}
    if not sorts.get(which, True):
        return False
    return not text or text in row.key.casefold() or text in row.shop.name.casefold()


def _rank(row: ShopRow) -> tuple[int, int, int, str]:
    order = ("blocked", "dead", "retrying", "paused", "running", "waiting", "idle")
    return order.index(row.state), -row.dead, -row.waiting, row.key


def _scope(one: LimitNow, types: Mapping[str, TaskType], now: int) -> ScopeRow:
    head, _colon, name = one.limit.scope.partition(":")
    kind = types.get(name) if head == limit.TYPE else None
    return ScopeRow(now=one, title=kind.title if kind is not None else {}, at_ms=now)
