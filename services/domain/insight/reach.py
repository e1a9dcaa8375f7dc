"""How far a cause reaches, and so where it lies: which of the shops that ran the work failed of it, by platform,
machine, proxy and version of the worker. Pure: who has the records hands in what ran where.

Each place that could be the reason is weighed by how well it parts what failed from what went well. A place that cannot
be told from another, because all that ran there ran at the other too, is named beside it and never left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.task import classify
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_

PLATFORM, NODE, PROXY, VERSION = "platform", "node", "proxy", "version"
#: where the reason may lie; a tie goes to the one before
DIMENSIONS = (PLATFORM, NODE, PROXY, VERSION)
SHOP, ALL, SINGLE, FEW, NOTHING = "shop", "all", "single", "few", "nothing"
#: how a cause goes: it began within the last hour, more or fewer die of it than before, none for long
NEW, GROWING, STEADY, FADING, OVER = "new", "growing", "steady", "fading", "over"

SENTENCES: dict[str, str] = {
    "reach.nothing": N_("what ran meanwhile is not known any more"),
    "reach.few": N_("{failed} of {ran} shops that ran it: too few ran it to tell where it lies"),
    "reach.shop": N_("1 of {ran} shops that ran it: {where} itself"),
    "reach.single": N_("{failed} of {ran} shops that ran it, with nothing else in common: single shops"),
    "reach.all": N_("{failed} of {ran} shops that ran it, on every platform: the flow itself, or what all share"),
    "reach.all_network": N_("{failed} of {ran} shops that ran it, on every platform: the network that all share"),
    "reach.all_login": N_("{failed} of {ran} shops that ran it, on every platform: their logins"),
    "reach.only": N_("{failed} of {ran} {where} shops that ran it, and no other did: page, risk control or the flow"),
    "reach.platform": N_("{failed} of {ran} {where} shops that ran it: page or risk control"),
    "reach.platform_page": N_("{failed} of {ran} {where} shops that ran it: its page"),
    "reach.platform_risk": N_("{failed} of {ran} {where} shops that ran it: risk control"),
    "reach.platform_network": N_("{failed} of {ran} {where} shops that ran it: its servers, or the way there"),
    "reach.node": N_("{failed} of {ran} shops on node {where}: that machine"),
    "reach.nodes": N_("{failed} of {ran} shops on the nodes {where}: those machines"),
    "reach.proxy": N_("{failed} of {ran} shops through the proxy {where}: that proxy"),
    "reach.proxies": N_("{failed} of {ran} shops through the proxies {where}: those proxies"),
    "reach.version": N_("{failed} of {ran} shops on workers of version {where}: that version"),
    "reach.versions": N_("{failed} of {ran} shops on workers of the versions {where}: those versions"),
    "reach.elsewhere": N_("elsewhere {failed} of {ran}"),
    "reach.gone": N_("of these, {n} without a letter here (dealt with, or trying again)"),
    "reach.or_platform": N_("or {where}: all of them are shops of it"),
    "reach.or_node": N_("or the machine {where}: all of them ran there"),
    "reach.or_proxy": N_("or the proxy {where}: all of them went through it"),
    "reach.or_version": N_("or version {where} of the worker: all of them ran on it"),
    "reach.or_shop": N_("or {where} alone: no other shop ran there"),
}
_OF_PLATFORM: Mapping[str, str] = {
    classify.ELEMENT_NOT_FOUND: "reach.platform_page",
    classify.RISK_CONTROL: "reach.platform_risk",
    classify.CAPTCHA: "reach.platform_risk",
    classify.LOGIN_EXPIRED: "reach.platform_risk",
    classify.NETWORK: "reach.platform_network",
}
_OF_ALL: Mapping[str, str] = {
    classify.NETWORK: "reach.all_network",
    classify.LOGIN_EXPIRED: "reach.all_login",
    classify.CAPTCHA: "reach.all_login",
}
_MANY: Mapping[str, str] = {NODE: "reach.nodes", PROXY: "reach.proxies", VERSION: "reach.versions"}

#: what is expected of the share that fails, as (failed, went well): at the reason, elsewhere, where nothing parts them
_AT, _ELSEWHERE, _ANYWHERE = (4.0, 1.0), (1.0, 14.0), (1.0, 3.0)
#: how likely each is before anything was seen; one value more of a dimension makes it so much less likely
_BEFORE: Mapping[str, float] = {
    SHOP: 0.3, PLATFORM: 0.3, NODE: 0.2, ALL: 0.2, PROXY: 0.15, VERSION: 0.12, SINGLE: 0.1,
}  # fmt: skip
_ONE_MORE, _MOST_VALUES = 0.05, 4
#: another is named beside the likeliest where it is at least this share as likely
_BESIDE = 0.25
#: where a smaller share fails the place is not the reason, whatever else has
_TELLING = 0.4
#: so many shops must have run it before anything is said of more than one
ENOUGH = 3
#: rows of a table that are kept
ROWS = 40

NEW_MS, HOUR_MS, BACK_H, OVER_MS = 3_600_000, 3_600_000, 6, 6 * 3_600_000
#: growing at this many times the pace of before, and at least so many; fading at this share of it
_MORE, _LEAST, _LESS = 2.0, 3, 0.5


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt that ended; "" for what is not known of where. ``failed``: of the cause that is asked about."""

    shop: str  #: ``platform:shop_id``
    platform: str
    node: str = ""
    proxy: str = ""
    version: str = ""
    failed: bool = False


class Share(msgspec.Struct, frozen=True):
    """Of a place: shops that failed there, and those that ran there."""

    value: str
    failed: int
    ran: int


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """Where a cause lies. ``at``: one of ``DIMENSIONS``, or shop | all | single | few | nothing; ``values``: which of
    it. ``failed`` and ``ran``: shops there; ``out_failed`` and ``out_ran``: elsewhere. ``only``: nothing else ran it.
    """

    at: str = NOTHING
    values: tuple[str, ...] = ()
    failed: int = 0
    ran: int = 0
    out_failed: int = 0
    out_ran: int = 0
    only: bool = False
    kind: str = ""
    beside: tuple[tuple[str, str], ...] = ()  #: (dimension, value) that cannot be told from it
    tables: Mapping[str, tuple[Share, ...]] = msgspec.field(default_factory=dict)  #: by dimension, most failed first
    shops: tuple[Share, ...] = ()  #: attempts by shop, those that failed first
    gone: int = 0  #: shops that failed and have none of its letters: republished since, or still to be tried again
    since: int = 0  #: the span of time that was counted, UTC ms
    until: int = 0

    @property
    def message(self) -> Message:
        """The verdict as one sentence; platforms and shops by their codes."""
        return self.told()

    def told(self, platform: Callable[[str], str] = str.upper, shop: Callable[[str], str] = str) -> Message:
        """The verdict as one sentence; ``platform`` and ``shop`` (``platform:shop_id``) say what they are called."""
        called = {PLATFORM: platform, SHOP: shop}.get(self.at, str)
        where = ", ".join(map(called, self.values))
        params: dict[str, Param] = {"failed": self.failed, "ran": self.ran, "where": where}
        if self.at == SHOP:
            return Message("reach.shop", {"ran": self.ran + self.out_ran, "where": where})
        if self.at == PLATFORM:
            return Message("reach.only" if self.only else _OF_PLATFORM.get(self.kind, "reach.platform"), params)
        if self.at == ALL:
            return Message(_OF_ALL.get(self.kind, "reach.all"), params)
        return Message(_MANY[self.at] if len(self.values) > 1 and self.at in _MANY else f"reach.{self.at}", params)

    @property
    def rest(self) -> tuple[Message, ...]:
        """What else is to be said: what failed elsewhere, and what it cannot be told from."""
        found = []
        if self.out_failed and self.at in (*DIMENSIONS, SHOP):
            found.append(Message("reach.elsewhere", {"failed": self.out_failed, "ran": self.out_ran}))
        found += [
            Message(f"reach.or_{name}", {"where": value.upper() if name == PLATFORM else value})
            for name, value in self.beside
        ]
        found += [Message("reach.gone", {"n": self.gone})] if self.gone else []
        return tuple(found)


class _Cell(msgspec.Struct, frozen=True):
    """A shop at a place; whether it failed there."""

    shop: str
    places: Mapping[str, str]
    failed: bool


class _Guess(msgspec.Struct, frozen=True):
    """A place that may be the reason, and how likely that is (logarithm)."""

    at: str
    values: tuple[str, ...]
    inside: frozenset[int]
    score: float


def judge(runs: Iterable[Ran], kind: str = "", *, since: int = 0, until: int = 0) -> Reach:
    """Where the cause of these lies. A shop failed at a place where any attempt of it there failed of the cause."""
    seen: dict[tuple[str, ...], bool] = {}
    attempts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in runs:
        key = (one.shop, one.platform, one.node, one.proxy, one.version)
        seen[key] = seen.get(key, False) or one.failed
        attempts[one.shop][0] += one.failed
        attempts[one.shop][1] += 1
    cells = [_Cell(key[0], dict(zip(DIMENSIONS, key[1:], strict=True)), failed) for key, failed in sorted(seen.items())]
    by_shop = [Share(shop, *numbers) for shop, numbers in attempts.items()]
    told = Reach(
        kind=kind,
        tables={name: table for name in DIMENSIONS if (table := _table(cells, name))},
        shops=tuple(sorted(by_shop, key=lambda one: (-one.failed, -one.ran)))[:ROWS],
        since=since,
        until=until,
    )
    failed_shops = {cell.shop for cell in cells if cell.failed}
    if not failed_shops:
        return told
    ran = len({cell.shop for cell in cells})
    if ran < ENOUGH and not _parts(cells):
        return replace(told, at=FEW, failed=len(failed_shops), ran=ran)
    guesses = sorted(_guesses(cells), key=lambda one: -one.score)
    best = guesses[0]
    near = [one for one in guesses[1:] if one.score >= best.score + math.log(_BESIDE)]
    return _reach(best, near, cells, told)


def _parts(cells: Sequence[_Cell]) -> bool:
    """Whether a machine, a proxy or a version parts what failed from what went well, however few shops there are."""
    return any(
        all(cell.failed == (cell.places[name] in bad) for cell in cells)
        for name in DIMENSIONS[1:]
        if (bad := {cell.places[name] for cell in cells if cell.failed}) and any(not cell.failed for cell in cells)
    )


def _table(cells: Sequence[_Cell], name: str) -> tuple[Share, ...]:
    by: dict[str, dict[str, bool]] = defaultdict(dict)
    for cell in cells:
        if value := cell.places[name]:
            by[value][cell.shop] = by[value].get(cell.shop, False) or cell.failed
    rows = [Share(value, sum(shops.values()), len(shops)) for value, shops in by.items()]
    return tuple(sorted(rows, key=lambda one: (-one.failed, -one.ran, one.value)))[:ROWS]


def _guesses(cells: Sequence[_Cell]) -> Iterable[_Guess]:
    every = frozenset(range(len(cells)))
    failed = frozenset(number for number in every if cells[number].failed)
    yield _Guess(ALL, (), every, _weigh(failed, every, every, _BEFORE[ALL]))
    yield _Guess(SINGLE, (), every, math.log(_BEFORE[SINGLE]) + _likely(len(failed), len(every), _ANYWHERE))
    shops = {cells[number].shop for number in failed}
    if len(shops) == 1:
        inside = frozenset(number for number in every if cells[number].shop in shops)
        yield _Guess(SHOP, tuple(shops), inside, _weigh(failed, inside, every, _BEFORE[SHOP]))
    for name in DIMENSIONS:
        groups: dict[str, set[int]] = defaultdict(set)
        for number in every:
            if value := cells[number].places[name]:
                groups[value].add(number)
        if guess := _of(name, groups, failed, every):
            yield guess


def _of(name: str, groups: Mapping[str, set[int]], failed: frozenset[int], every: frozenset[int]) -> _Guess | None:
    """The values of a dimension that part them best: the best one, and those that make it better still."""
    best: _Guess | None = None
    while best is None or len(best.values) < min(_MOST_VALUES, len(groups) - 1):
        chosen, inside = (best.values, best.inside) if best is not None else ((), frozenset())
        tried = [
            _Guess(
                name,
                (*chosen, value),
                both := inside | group,
                _weigh(failed, both, every, _BEFORE[name] * _ONE_MORE ** len(chosen)),
            )
            for value, group in sorted(groups.items())
            if value not in chosen and group & failed
        ]
        telling = [
            one for one in tried if one.inside != every and len(failed & one.inside) >= _TELLING * len(one.inside)
        ]
        found = max(telling, key=lambda one: one.score, default=None)
        if found is None or (best is not None and found.score <= best.score):
            return best
        best = found
    return best


def _weigh(failed: frozenset[int], inside: frozenset[int], every: frozenset[int], before: float) -> float:
    outside = every - inside
    at = _likely(len(failed & inside), len(inside), _AT)
    return math.log(before) + at + _likely(len(failed & outside), len(outside), _ELSEWHERE)


def _likely(failed: int, number: int, expected: tuple[float, float]) -> float:
    """How likely it is that so many of so many fail, whatever the share is that fails (logarithm)."""
    bad, good = expected
    return _beta(failed + bad, number - failed + good) - _beta(bad, good)


def _beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


def _reach(best: _Guess, near: Sequence[_Guess], cells: Sequence[_Cell], told: Reach) -> Reach:
    inside = _count(cells, lambda number: number in best.inside)
    outside = _count(cells, lambda number: number not in best.inside)
    platforms = sorted({cell.places[PLATFORM] for cell in cells})
    told = replace(told, at=best.at, values=best.values, failed=inside[0], ran=inside[1])
    if best.at == ALL and len(platforms) == 1:
        return replace(told, at=PLATFORM, values=tuple(platforms), only=True)
    if best.at in (ALL, SINGLE):
        return told
    beside = tuple((one.at, ", ".join(one.values)) for one in near if one.at in (*DIMENSIONS, SHOP))
    return replace(told, out_failed=outside[0], out_ran=outside[1], beside=beside)


def _count(cells: Sequence[_Cell], wanted: Callable[[int], bool]) -> tuple[int, int]:
    shops: dict[str, bool] = {}
    for number, cell in enumerate(cells):
        if wanted(number):
            shops[cell.shop] = shops.get(cell.shop, False) or cell.failed
    return sum(shops.values()), len(shops)


def trend(deaths: Sequence[int], now_ms: int) -> str:
    """How it goes: new | growing | steady | fading | over; ``deaths``: when its letters died (UTC ms)."""
    if not deaths:
        return OVER
    first, last = min(deaths), max(deaths)
    if now_ms - last >= OVER_MS:
        return OVER
    if now_ms - first < NEW_MS:
        return NEW
    recent = sum(at > now_ms - HOUR_MS for at in deaths)
    begins = max(first, now_ms - (BACK_H + 1) * HOUR_MS)
    hours = max(1.0, (now_ms - HOUR_MS - begins) / HOUR_MS)
    before = sum(begins <= at <= now_ms - HOUR_MS for at in deaths) / hours
    if recent >= _LEAST and recent >= _MORE * before:
        return GROWING
    return FADING if recent <= _LESS * before or not recent else STEADY
