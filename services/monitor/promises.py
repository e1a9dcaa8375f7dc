"""How promises stand, as the leader judged them last: for the page, the command line and other programs."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

import msgspec

from services.domain.alerts.incident import SHOPS_KEPT
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.promises import judge, standing
from services.domain.promises import promise as promises
from services.domain.promises.judge import CHECKS
from services.domain.promises.promise import KIND, STATE, Promise
from services.domain.promises.standing import Break, Row, SharedCause, Standing
from services.domain.task.ledger import Day
from services.domain.text.message import Message
from services.domain.types.task_type import TaskType, uniqueness_key
from services.engine import recipe
from services.engine.lead import leader
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.ports import Store

#: who leads judges every 15 s and is replaced within 15 s; what is older is no state of now
STALE_MS = 45_000
#: so far back a new promise is tried; so many shops are asked for at a time
BEFORE_MS, SHOPS_AT_ONCE = 30 * 86_400_000, 200
#: of the cells of the matrix: passed, holds the run, not asked
PASSED, HOLDS, UNKNOWN = "passed", "holds", ""
DISABLED, UNJUDGED = "disabled", "unjudged"


class PromiseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One promise; instants are UTC ms."""

    promise: Promise
    sentence: tuple[Message, ...]  #: what is promised, of whom, when: parts of one sentence
    state: str  #: kept | at_risk | broken | not_due, or disabled, or unjudged (made or changed a moment ago)
    standing: Standing | None = None  #: None while it is not judged
    age_ms: int = 0  #: of the judgement
    stale: bool = False  #: nobody has judged it since: neither its forecast nor its counts are those of now

    @property
    def name(self) -> str:
        return self.promise.name

    @property
    def holds(self) -> tuple[SharedCause, ...]:
        """What holds its shops, most shops first."""
        return self.standing.causes if self.standing is not None else ()


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """One shop that is not kept, and how far its run comes."""

    row: Row
    name: str  #: of the shop, for people
    cells: tuple[str, ...]  #: at the places of ``CHECKS``: passed, holds, or not asked

    @property
    def held_by(self) -> Message | None:
        """What holds it."""
        return self.row.message


class PromiseStory(msgspec.Struct, frozen=True, kw_only=True):
    """One promise with its causes, its shops that are not kept, and its breaks, the latest first."""

    row: PromiseRow
    causes: tuple[SharedCause, ...] = ()
    matrix: tuple[MatrixRow, ...] = ()
    unlisted: int = 0  #: shops that are not kept and have no row
    breaks: tuple[Break, ...] = ()


class PromisesNow(msgspec.Struct, frozen=True, kw_only=True):
    """All promises by name."""

    rows: tuple[PromiseRow, ...] = ()
    zone: str = DEFAULT_ZONE
    at_ms: int = 0
    leader: str = ""  #: who judges, "" for nobody
    counts: Mapping[str, int] = {}  #: promises by state

    @property
    def first_break(self) -> PromiseRow | None:
        """The one that breaks next of those that are at risk."""
        found = [one for one in self.rows if not one.stale and one.standing is not None and one.standing.first_break]
        return min(found, key=lambda one: one.standing.first_break if one.standing else 0, default=None)


class WorkPromise(msgspec.Struct, frozen=True, kw_only=True):
    """How a promise stands for one shop."""

    row: PromiseRow
    state: str  #: kept | at_risk | broken | not_due, or unjudged where that is not known
    break_at: int = 0  #: when it breaks, or broke, UTC ms; 0 where it does not


class Ahead(msgspec.Struct, frozen=True, kw_only=True):
    """A promise that breaks next of those that are at risk in some shops, if nobody acts."""

    row: PromiseRow
    break_at: int  #: in the first of those shops, UTC ms
    shops: int  #: of it that are at risk
    among: int = 0  #: of these, so many as were asked for; 0 where nobody can say


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """How often a promise would have been broken for sure in the last 30 days, as far as the ledger tells: it keeps the
    first and the last end of each day. Of a type whose tasks are never the same work it keeps nothing (``told``).
    """

    told: bool = True
    breaks: int = 0
    shops: int = 0  #: in which it would have been
    last: int = 0  #: when it would have been broken last, UTC ms
    unknown: int = 0  #: shops of which the ledger tells nothing, or whose last success was another work
    of: int = 0  #: shops that it would hold for
    by_payload: bool = False  #: works of the type differ by their parameters: those of its schedules are looked at

    @property
    def said(self) -> tuple[Message, ...]:
        """The same in sentences."""
        if not self.told:
            return (Message("promise.before_untold"),)
        found = []
        if self.breaks:
            found.append(Message("promise.before_broken", {"n": self.breaks, "shops": self.shops}))
        elif self.unknown < self.of:
            found.append(Message("promise.before_kept"))
        if found and self.by_payload:
            found.append(Message("promise.before_works"))
        if self.unknown:
            found.append(Message("promise.before_unknown", {"n": self.unknown}))
        return tuple(found)


class PromiseQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def now(self) -> PromisesNow:
        """All of them as they stand; what cannot be read is left out, the doctor tells it."""
        moment = self._store.now_ms()
        found = rows(self._store, moment)
        return PromisesNow(
            rows=found,
            zone=fleet_zone(self._store) or DEFAULT_ZONE,
            at_ms=moment,
            leader=self._store.leader(leader.ROLE),
            counts=Counter(row.state for row in found),
        )

    def states(self) -> Mapping[str, int]:
        """Promises by state; of those that nobody has judged of late nothing is known."""
        return Counter(row.state for row in rows(self._store, self._store.now_ms()) if not row.stale)

    def of_work(self, shop: str, task_type: str) -> tuple[WorkPromise, ...]:
        """What is promised of a type for a shop (``platform:shop_id``), the worst first."""
        known = self._registry.shops().get(shop)
        found = (
            []
            if known is None
            else [
                self._of_shop(row, shop)
                for row in rows(self._store, self._store.now_ms())
                if row.promise.task_type == task_type
                and row.promise.enabled
                and schedules.fitting(row.promise, [known])
            ]
        )
        return tuple(sorted(found, key=lambda one: (ORDER.index(one.state), one.row.name)))

    def _of_shop(self, row: PromiseRow, shop: str) -> WorkPromise:
        found = row.standing
        if found is None or row.stale:
            return WorkPromise(row=row, state=UNJUDGED)
        one = next((one for one in found.rows if one.shop == shop), None)
        if one is not None:
            return WorkPromise(row=row, state=one.state, break_at=one.break_at)
        if found.broken + found.at_risk > len(found.rows):  # it may be one of those that have no row
            return WorkPromise(row=row, state=UNJUDGED)
        if found.total != len(schedules.fitting(row.promise, self._registry.shops().values())):
            return WorkPromise(row=row, state=UNJUDGED)  # it may have joined since
        if not found.kept or not found.not_due:
            return WorkPromise(row=row, state=judge.KEPT if found.kept else judge.NOT_DUE)
        return WorkPromise(row=row, state=self._due(row.promise, shop))

    def _due(self, promise: Promise, shop: str) -> str:
        """Kept or not due, of a shop in which it is one of both."""
        now, zone = self._store.now_ms(), fleet_zone(self._store) or DEFAULT_ZONE
        facts = judge.Facts(shop=shop, done_at=self._store.successes_of(promise.task_type).get(shop, 0))
        state = judge.judge(promise, judge.due(promise, zone, now), facts, now).state
        return judge.NOT_DUE if state == judge.NOT_DUE else judge.KEPT

    def ahead(self, shops: Collection[str], names: Collection[str] = ()) -> Ahead | None:
        """Which promise breaks next in these shops (``platform:shop_id``) if nobody acts; None for none that is judged
        now. Where their keys are not known, in shops of these names: how many these are nobody can say then.
        """
        keys, called = frozenset(shops), frozenset() if shops else frozenset(names)
        whole = 0 < len(keys) < SHOPS_KEPT
        found = [self._ahead(row, keys, called, whole=whole) for row in rows(self._store, self._store.now_ms())]
        return min(filter(None, found), key=lambda one: one.break_at, default=None)

    def _ahead(self, row: PromiseRow, keys: Set[str], called: Set[str], *, whole: bool) -> Ahead | None:
        found = row.standing
        if row.stale or found is None:
            return None
        risky = [one for one in found.rows if one.state == judge.AT_RISK and one.break_at]
        mine = [one for one in risky if one.shop in keys or (called and self._registry.shop_name(one.shop) in called)]
        if not mine:
            return None
        listed = whole and found.broken + found.at_risk <= len(found.rows)  # more of them may have no row
        at = min(one.break_at for one in mine)
        return Ahead(row=row, break_at=at, shops=found.at_risk, among=len(mine) if listed else 0)

    def story(self, name: str) -> PromiseStory | None:
        """One of them in full, None where there is none."""
        row = next((one for one in self.now().rows if one.name == name), None)
        return None if row is None else self.told(row)

    def told(self, row: PromiseRow) -> PromiseStory:
        """The same of a row that is there already."""
        found = row.standing
        if found is None:
            return PromiseStory(row=row)
        return PromiseStory(
            row=row,
            causes=found.causes,
            matrix=tuple(self._matrix(one) for one in found.rows),
            unlisted=found.broken + found.at_risk - len(found.rows),
            breaks=tuple(reversed(found.breaks)),
        )

    def before(self, promise: Promise) -> Before:
        """How one that nobody has kept yet would have stood until now. Works are those with the parameters of the
        schedules of its type, and those without any.
        """
        kind, now = self._registry.task_type(promise.task_type), self._store.now_ms()
        if kind.uniqueness == "none":
            return Before(told=False)
        since = now - BEFORE_MS
        zone = fleet_zone(self._store) or DEFAULT_ZONE
        spans = [] if promise.always else promises.windows(promise, zone, since, now)
        found, unknown = dict[str, list[int]](), 0
        shops = schedules.fitting(promise, self._registry.shops().values())
        last = self._store.successes_of(promise.task_type)
        for shop, known in self._days(kind, shops):
            ended = max((day.last_at for day in known), default=0)
            days = known if last.get(shop, 0) <= ended else []  # what succeeded last was another work
            unknown += not days
            if breaks := [at for at in judge.sure_breaks(promise, spans, days, now) if at >= since]:
                found[shop] = breaks
        every = [at for some in found.values() for at in some]
        return Before(
            breaks=len(every),
            shops=len(found),
            last=max(every, default=0),
            unknown=unknown,
            of=len(shops),
            by_payload=kind.uniqueness == "shop_type_payload",
        )

    def _days(self, kind: TaskType, shops: Sequence[Shop]) -> Iterator[tuple[str, list[Day]]]:
        payloads = {recipe.payload_text({})}
        for entry in self._store.schedules():
            with contextlib.suppress(UsageError):  # the page of schedules tells what cannot be read
                schedule = schedules.load(entry.body).schedule
                if schedule.task_type == kind.name:
                    payloads.add(recipe.payload_text(schedule.payload))
        for start in range(0, len(shops), SHOPS_AT_ONCE):
            part = shops[start : start + SHOPS_AT_ONCE]
            works = {
                uniqueness_key(kind, shop.platform, shop.shop_id, payload): shop.key
                for shop in part
                for payload in payloads
            }
            ran = dict(zip(works, self._store.ran(list(works)), strict=True))
            days: dict[str, list[Day]] = {shop.key: [] for shop in part}
            for work, one in ran.items():
                days[works[work]] += one.days if one is not None else ()
            yield from days.items()

    def judged(self, promise: Promise, found: Standing) -> PromiseStory:
        """A judgement that is kept nowhere, told as the kept ones are."""
        row = PromiseRow(promise=promise, sentence=promises.sentence(promise), state=found.state, standing=found)
        return self.told(row)

    def _matrix(self, row: Row) -> MatrixRow:
        return MatrixRow(row=row, name=self._shop_name(row.shop), cells=cells(row))

    def _shop_name(self, key: str) -> str:
        shop = self._registry.shops().get(key)
        return (shop.name or shop.name_en if shop is not None else "") or key


def rows(store: Store, now_ms: int) -> tuple[PromiseRow, ...]:
    """All of them by name; what cannot be read is left out, the doctor tells it. Blocking."""
    known = store.documents(KIND)
    stored = store.documents(STATE) if known else {}
    return tuple(_row(one, stored.get(one.name), now_ms) for one in promises.readable(known))


def cells(row: Row) -> tuple[str, ...]:
    """How far a run comes: it passes the checks from left to right up to the one that holds it."""
    if row.check not in CHECKS:
        return tuple(PASSED for _ in CHECKS)
    place = CHECKS.index(row.check)
    return tuple(PASSED if n < place else HOLDS if n == place else UNKNOWN for n in range(len(CHECKS)))


def _row(promise: Promise, body: str | None, now_ms: int) -> PromiseRow:
    sentence = promises.sentence(promise)
    if not promise.enabled:
        return PromiseRow(promise=promise, sentence=sentence, state=DISABLED)
    found = standing.DOCUMENT.read(body, None)  # of one that cannot be read the next round writes another
    if found is None or found.version != promise.version:
        return PromiseRow(promise=promise, sentence=sentence, state=UNJUDGED)
    age = max(0, now_ms - found.judged_at)
    return PromiseRow(
        promise=promise, sentence=sentence, state=found.state, standing=found, age_ms=age, stale=age > STALE_MS
    )


#: the worst first, for who sorts by it
ORDER = (*judge.STATES, UNJUDGED, DISABLED)
