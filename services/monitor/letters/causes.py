"""Dead letters grouped by cause, with a verdict on how far the cause reaches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from services.domain.insight import cause, cause_rule, known_issue, reach
from services.domain.insight.cause import Worth
from services.domain.insight.cause_rule import CauseRule
from services.domain.insight.known_issue import IssueState
from services.domain.insight.reach import Reach
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.search.filter import FINGERPRINT_LENGTH
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.engine.registry import Registry
from services.monitor.letters.worth import Worthiness
from services.monitor.reach import Reaches, key_of
from services.ports import Store

SCAN_LIMIT, SLICE = 50_000, 500
BARS = 17
#: places of a cause that are told, those with most letters first
MOST_PLACES = 60
#: as many causes are judged whether running them again would help, those with most letters first
JUDGED = 60
#: and so many how far they reach
REACHED = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Equal failures. ``scope``: shop | platform | all | some; ``history``: deaths in 17 equal spans, oldest first."""

    fingerprint: str
    kind: str
    headline: str
    patterns: tuple[str, ...] = ()  #: what its errors name (a selector, a field), the most frequent first
    types: tuple[str, ...]
    count: int
    shops: int
    shop_keys: tuple[str, ...] = ()
    platforms: tuple[str, ...]
    elsewhere: bool = False  #: there are shops of other platforms
    first_at: int
    last_at: int
    scope: str
    history: tuple[int, ...]
    rule: CauseRule = field(default_factory=CauseRule)  #: what a person decided about it
    parts: tuple[str, ...] = ()  #: fingerprints that count to it beside its own
    prints: tuple[str, ...] = ()  #: that its letters have; those of what was split off have that of its cause
    apart: tuple[str, ...] = ()  #: places whose letters were split off: ``shop:pdd:s1``
    places: tuple[tuple[str, int], ...] = ()  #: where its letters died, with how many: what it can be split by
    issue: IssueState = field(default_factory=IssueState)  #: what was done by its rule
    worth: Worth = field(default_factory=Worth)  #: whether its letters would pass if they ran now
    reach: Reach = field(default_factory=Reach)  #: where it lies, by the shops that ran the same work in its time
    trend: str = ""  #: new | growing | steady | fading | over

    @property
    def terms(self) -> tuple[Term, ...]:
        """What its letters have of all that died."""
        if len(self.fingerprint) != FINGERPRINT_LENGTH:
            return (equals("kind", self.kind or "unknown"),)
        where = (cause_rule.place_term(self.rule.where),) if self.rule.where else ()
        apart = tuple(cause_rule.place_term(one, negated=True) for one in self.apart)
        return equals("fp", *(self.prints or (self.fingerprint, *self.parts))), *where, *apart

    @property
    def title(self) -> Message:
        """What it is called where no person named it."""
        return cause.title(self.kind, self.patterns or cause.patterns([(self.kind, self.headline)]))

    @property
    def pause_scope(self) -> str:
        """The pause that keeps more from dying of it, "" where none fits."""
        flow = self.types[0] if len(self.types) == 1 else ""
        return cause.pause_scope(self.kind, flow, self.scope, self.shop_keys, self.platforms, elsewhere=self.elsewhere)

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """Sorts causes, what to look at first."""
        return (*cause.rank(self.kind, self.worth.level, self.count), -self.last_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """All causes, most tasks first. ``scanned`` < ``total`` when only the newest were looked at."""

    rows: tuple[Cause, ...]
    scanned: int
    total: int
    shops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What one cause is called: the name that a person gave it, "" for none, its title, and where it was split off."""

    name: str
    title: Message
    where: str = ""


class CauseQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry | None = None) -> None:
        """``registry`` knows task types; without one nothing is said of them."""
        self._store, self._registry = store, registry

    def causes(self, triage: str = Triage.OPEN) -> Causes:
        """Group the dead letters of one triage state."""
        tasks = self._dead(triage)
        total = self._store.counts().triage.get(triage, len(tasks))
        groups: dict[str, list[Task]] = defaultdict(list)
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        known = cause_rule.Causes(rules)
        for task in tasks:
            groups[known.of(key_of(task), task)].append(task)
        everything = {shop.platform for shop in self._store.shops()} | {task.platform for task in tasks}
        since = min((task.ended_at for task in tasks), default=0)
        until = max((task.ended_at for task in tasks), default=0)
        states = self._store.documents(known_issue.STATE)
        judge, reaches, now = Worthiness(self._store, self._registry), Reaches(self._store), self._store.now_ms()
        rows = [
            replace(
                _cause(key, group, everything, since, until),
                rule=rules.get(key, CauseRule()),
                parts=tuple(one for one in prints if one != key and cause_rule.root(one, rules) == key),
                prints=prints,
                apart=_apart(key, known, rules),
                places=_places(group),
                issue=_state(states.get(key)),
                worth=judge.of_cause(key_of(group[0]), group) if place < JUDGED else Worth(),
                # of what was split off it is known where it lies: where its letters died
                reach=reaches.of_cause(set(prints), group)
                if place < REACHED and not rules.get(key, CauseRule()).where
                else Reach(),
                trend=reach.trend([task.ended_at for task in group], now),
            )
            for place, (key, group) in enumerate(sorted(groups.items(), key=lambda item: -len(item[1])))
            for prints in [tuple(sorted({key_of(task) for task in group}))]
        ]
        rows.sort(key=lambda row: (-row.count, -row.last_at))
        return Causes(rows=tuple(rows), scanned=len(tasks), total=total, shops=len({task.shop for task in tasks}))

    def called(self, fingerprints: Iterable[str]) -> dict[str, Called]:
        """What these causes are called, also those without an open letter; one that nothing is left of is left out."""
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        found: dict[str, Called] = {}
        for one in set(fingerprints):
            rule = rules.get(one, CauseRule())
            query = Query(terms=(equals("fp", rule.of or one),), limit=1, want_total=False)
            letters = self._store.query(query).tasks
            if letters:
                kind, error = letters[0].error_kind, letters[0].error
                title = cause.title(kind, cause.patterns([(kind, error)]))
            elif rule.name:
                title = cause.title("")
            else:
                continue
            found[one] = Called(name=rule.name, title=title, where=rule.where)
        return found

    def worth_of(self, task_ids: Sequence[str]) -> Worth:
        """Whether running these letters again would help; where several causes differ, nobody knows."""
        groups: dict[str, list[Task]] = defaultdict(list)
        for start in range(0, len(task_ids), SLICE):
            for task in self._store.get(task_ids[start : start + SLICE]):
                if task is not None and task.status == Status.DEAD and task.triage != Triage.REPUBLISHED:
                    groups[key_of(task)].append(task)
        judge = Worthiness(self._store, self._registry)
        found = [judge.of_cause(key, group) for key, group in list(groups.items())[:JUDGED]]
        alike = len({one.level for one in found}) == 1 and len(groups) <= JUDGED
        return found[0] if alike else Worth()

    def of_letter(self, task: Task) -> tuple[Worth, Message | None]:
        """Whether running this dead letter again would help, and why it would be refused as it is, None: it goes."""
        judge = Worthiness(self._store, self._registry)
        return judge.of_letter(task), judge.refusals([task]).get(task.task_id)

    def _dead(self, triage: str) -> list[Task]:
        found: list[Task] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < SCAN_LIMIT:
            page = self._store.query(
                Query(
                    terms=(equals("status", Status.DEAD), equals("triage", triage)),
                    limit=1000,
                    cursor=cursor,
                    want_total=False,
                )
            )
            found += page.tasks
            cursor = page.next
        return found


def _state(body: str | None) -> IssueState:
    try:
        return known_issue.load(body) if body is not None else IssueState()
    except (ValueError, RecursionError):  # the doctor tells it
        return IssueState()


def _apart(key: str, known: cause_rule.Causes, rules: Mapping[str, CauseRule]) -> tuple[str, ...]:
    """The places that do not count to it, though its fingerprints are there; of a part those that are narrower."""
    rule = rules.get(key, CauseRule())
    if not rule.where:
        return tuple(rules[one].where for one in known.apart(key))
    narrower = []
    for one in known.apart(rule.of):
        if one == key:
            break
        narrower.append(rules[one].where)
    return tuple(narrower)


def _places(group: Sequence[Task]) -> tuple[tuple[str, int], ...]:
    """By shop, worker and platform; a place where all of them are splits nothing."""
    found: Counter[str] = Counter()
    for task in group:
        found.update([f"shop:{task.shop}", f"platform:{task.platform}"])
        if task.worker:
            found[f"worker:{task.worker}"] += 1
    return tuple((name, number) for name, number in found.most_common() if number < len(group))[:MOST_PLACES]


def _cause(key: str, group: list[Task], everything: set[str], since: int, until: int) -> Cause:
    shops = {task.shop for task in group}
    platforms = {task.platform for task in group}
    newest = max(group, key=lambda task: task.ended_at)
    return Cause(
        fingerprint=key,
        kind=newest.error_kind,
        headline=classify.headline(newest.error),
        patterns=cause.patterns((task.error_kind, task.error) for task in group),
        types=tuple(name for name, _ in Counter(task.task_type for task in group).most_common()),
        count=len(group),
        shops=len(shops),
        shop_keys=tuple(sorted(shops)),
        platforms=tuple(sorted(platforms)),
        elsewhere=bool(everything - platforms),
        first_at=min(task.ended_at for task in group),
        last_at=newest.ended_at,
        scope=_scope(shops, platforms, everything),
        history=_bars((task.ended_at for task in group), since, until),
    )


def _scope(shops: set[str], platforms: set[str], everything: set[str]) -> str:
    if len(shops) == 1:
        return "shop"
    if len(platforms) == 1:
        return "platform"
    return "all" if len(everything) > 1 and platforms == everything else "some"


def _bars(instants: Iterable[int], since: int, until: int) -> tuple[int, ...]:
    bars = [0] * BARS
    span = max(1, until - since)
    for at in instants:
        bars[min(BARS - 1, (at - since) * BARS // span)] += 1
    return tuple(bars)
