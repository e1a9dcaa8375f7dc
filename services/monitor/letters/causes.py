"""Dead letters grouped by cause, with a verdict on how far the cause reaches."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from services.domain.insight import cause, cause_rule, known_issue, reach
from services.domain.insight.cause import Worth
from services.domain.insight.cause_rule import CauseRule
from services.domain.insight.known_issue import IssueState
from services.domain.insight.reach import Reach
from services.domain.task.record import Task
from services.domain.task.search.filter import FINGERPRINT_LENGTH
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.engine.registry import Registry
from services.monitor.letters.alike import Alike
from services.monitor.letters.worth import Worthiness
from services.monitor.reach import LONGEST_MS, Reaches, Tries, key_of
from services.ports import Store

SCAN_LIMIT, PAGE, SLICE = 50_000, 1_000, 500
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
        self._asking, self._grouping = threading.Lock(), threading.Lock()
        self._next: dict[str, Future[Causes]] = {}  #: by triage, what nobody has begun yet

    def causes(self, triage: str = Triage.OPEN) -> Causes:
        """Group the dead letters of one triage state. One at a time does so; who asks meanwhile waits, and shares the
        next answer with all who wait for it: whatever was there when somebody asked is in it.
        """
        with self._asking:
            asked = self._next.get(triage)
            first = asked is None
            if asked is None:
                asked = self._next[triage] = Future()
        try:
            if first:
                self._answer(triage, asked)
            return asked.result()
        finally:
            del asked  # with an error in it, this frame and all that was read would hold each other

    def _answer(self, triage: str, asked: Future[Causes]) -> None:
        try:
            with self._grouping:
                self._begun(triage, asked)
                asked.set_result(self._group(triage))
        except BaseException as exc:
            self._begun(triage, asked)  # also who is interrupted while waiting must not keep the place for ever
            asked.set_exception(exc)
            raise
        finally:
            del asked

    def _begun(self, triage: str, asked: Future[Causes]) -> None:
        """Who asks from now on is answered by the next."""
        with self._asking:
            if self._next.get(triage) is asked:
                del self._next[triage]

    def _group(self, triage: str) -> Causes:
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        known, reaches = cause_rule.Causes(rules), Reaches(self._store)
        groups: dict[str, _Group] = defaultdict(_Group)
        scanned = 0
        for task in self._dead(triage):
            groups[known.of(key_of(task), task)].add(task, reaches)
            scanned += 1
        total = self._store.counts().triage.get(triage, scanned)
        shops = {shop for group in groups.values() for shop in group.letters.shops}
        everything = {shop.platform for shop in self._store.shops()}
        everything.update(*(group.letters.platforms for group in groups.values()))
        since = min((min(group.letters.ended) for group in groups.values()), default=0)
        until = max((group.letters.last for group in groups.values()), default=0)
        states = self._store.documents(known_issue.STATE)
        judge, now = Worthiness(self._store, self._registry), self._store.now_ms()
        rows = [
            replace(
                _cause(key, group.letters, everything, since, until),
                rule=rules.get(key, CauseRule()),
                parts=tuple(one for one in prints if one != key and cause_rule.root(one, rules) == key),
                prints=prints,
                apart=_apart(key, known, rules),
                places=_places(group.letters),
                issue=_state(states.get(key)),
                worth=judge.of_cause(group.first, group.letters) if place < JUDGED else Worth(),
                # of what was split off it is known where it lies: where its letters died
                reach=reaches.of_cause(
                    prints,
                    group.lately,
                    group.letters.types,
                    last=group.letters.last,
                    kind=group.letters.newest.error_kind,
                )
                if place < REACHED and not rules.get(key, CauseRule()).where
                else Reach(),
                trend=reach.trend(group.letters.ended, now),
            )
            for place, (key, group) in enumerate(sorted(groups.items(), key=lambda item: -len(item[1].letters)))
            for prints in [tuple(sorted(group.prints))]
        ]
        rows.sort(key=lambda row: (-row.count, -row.last_at))
        return Causes(rows=tuple(rows), scanned=scanned, total=total, shops=len(shops))

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
        groups: dict[str, Alike] = defaultdict(Alike)
        for start in range(0, len(task_ids), SLICE):
            for task in self._store.get(task_ids[start : start + SLICE]):
                if task is not None and task.status == Status.DEAD and task.triage != Triage.REPUBLISHED:
                    groups[key_of(task)].add(task)
        judge = Worthiness(self._store, self._registry)
        found = [judge.of_cause(key, group) for key, group in list(groups.items())[:JUDGED]]
        alike = len({one.level for one in found}) == 1 and len(groups) <= JUDGED
        return found[0] if alike else Worth()

    def of_letter(self, task: Task) -> tuple[Worth, Message | None]:
        """Whether running this dead letter again would help, and why it would be refused as it is, None: it goes."""
        judge = Worthiness(self._store, self._registry)
        return judge.of_letter(task), judge.refusals([task]).get(task.task_id)

    def _dead(self, triage: str) -> Iterator[Task]:
        """Page by page: nobody holds them all."""
        terms = (equals("status", Status.DEAD), equals("triage", triage))
        found, cursor = 0, ""
        while found < SCAN_LIMIT:
            page = self._store.query(Query(terms=terms, limit=PAGE, cursor=cursor, want_total=False))
            yield from page.tasks
            if page.next is None:
                return
            found, cursor = found + len(page.tasks), page.next


class _Group:
    """Letters of one cause."""

    __slots__ = ("first", "lately", "letters", "prints")

    def __init__(self) -> None:
        self.letters = Alike()
        self.prints: set[str] = set()
        self.first = ""  #: the print of the first that was met
        self.lately: list[Tries] = []  #: of about the last day

    def add(self, task: Task, reaches: Reaches) -> None:
        """Count one."""
        key = key_of(task)
        self.first = self.first or key
        self.prints.add(key)
        self.letters.add(task)
        if task.ended_at >= self.letters.last - LONGEST_MS:
            self.lately.append(reaches.tries(task))


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


def _places(letters: Alike) -> tuple[tuple[str, int], ...]:
    """By shop, worker and platform; a place where all of them are splits nothing."""
    found = letters.places.most_common()
    return tuple((name, number) for name, number in found if number < len(letters))[:MOST_PLACES]


def _cause(key: str, letters: Alike, everything: set[str], since: int, until: int) -> Cause:
    return Cause(
        fingerprint=key,
        kind=letters.newest.error_kind,
        headline=letters.headline,
        patterns=tuple(name for name, _ in letters.patterns.most_common()),
        types=tuple(name for name, _ in letters.types.most_common()),
        count=len(letters),
        shops=len(letters.shops),
        shop_keys=tuple(sorted(letters.shops)),
        platforms=tuple(sorted(letters.platforms)),
        elsewhere=bool(everything - letters.platforms),
        first_at=min(letters.ended),
        last_at=letters.last,
        scope=_scope(letters.shops, letters.platforms, everything),
        history=_bars(letters.ended, since, until),
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
