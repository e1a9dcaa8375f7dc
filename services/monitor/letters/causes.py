"""Dead letters grouped by cause, with a verdict on how far the cause reaches."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future

import msgspec
from msgspec.structs import replace

from services.domain.insight import batch, cause, cause_rule, known_issue, reach
from services.domain.insight.batch import Chances
from services.domain.insight.cause import NOT_ASKED, Worth
from services.domain.insight.cause_rule import CauseRule
from services.domain.insight.known_issue import IssueState
from services.domain.insight.reach import Reach
from services.domain.task.event import Event
from services.domain.task.record import Task
from services.domain.task.search.filter import is_fingerprint
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.engine.registry import Registry
from services.monitor.letters.alike import Alike, Line, key_of
from services.monitor.letters.book import MANY, Book, News
from services.monitor.letters.shown import Shown
from services.monitor.letters.worth import Worthiness
from services.monitor.live import Live
from services.monitor.reach import AROUND_MS, Reaches
from services.ports import Store

SLICE = 500
BARS = 17
#: places of a cause that are told, those with most letters first
MOST_PLACES = 60
#: as many causes are judged whether running them again would help, those with most letters first
JUDGED = 60
#: and so many how far they reach
REACHED = 25
#: causes and types of one batch of which it is asked what is likely to become of them
CHANCES = 8


class Cause(msgspec.Struct, frozen=True, kw_only=True):
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
    rule: CauseRule = msgspec.field(default_factory=CauseRule)  #: what a person decided about it
    parts: tuple[str, ...] = ()  #: fingerprints that count to it beside its own
    prints: tuple[str, ...] = ()  #: that its letters have; those of what was split off have that of its cause
    apart: tuple[str, ...] = ()  #: places whose letters were split off: ``shop:pdd:s1``
    places: tuple[tuple[str, int], ...] = ()  #: where its letters died, with how many: what it can be split by
    shop_names: Mapping[str, str] = {}  #: what the shops among these places are called
    issue: IssueState = msgspec.field(default_factory=IssueState)  #: what was done by its rule
    worth: Worth = msgspec.field(default_factory=Worth)  #: whether its letters would pass if they ran now
    reach: Reach = msgspec.field(
        default_factory=Reach
    )  #: where it lies, by the shops that ran the same work in its time
    trend: str = ""  #: new | growing | steady | fading | over
    among: int = 0  #: where ``count`` is of those that fit a filter: how many there are at all
    filtered: str = ""  #: and what filters them

    @property
    def terms(self) -> tuple[Term, ...]:
        """What its letters have of all that died."""
        if not is_fingerprint(self.fingerprint):
            return (equals("kind", self.kind or "unknown"),)
        return equals("fp", *(self.prints or (self.fingerprint, *self.parts))), *self.there

    @property
    def there(self) -> tuple[Term, ...]:
        """Where its letters died, as far as others of its fingerprint do not count to it."""
        return cause_rule.there(self.rule.where, self.apart)

    @property
    def place_name(self) -> str:
        """What the shop is called that it was split off at, "" where it is none."""
        return self.shop_names.get(self.rule.where, "")

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


class Causes(msgspec.Struct, frozen=True, kw_only=True):
    """All causes, most tasks first. ``scanned`` < ``total`` when only the newest were looked at; not ``judged``: nobody
    has looked yet what helps and where they lie.
    """

    rows: tuple[Cause, ...]
    scanned: int
    total: int
    shops: int
    judged: bool = True


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """What one cause is called: the name that a person gave it, "" for none, its title, and where it was split off."""

    name: str
    title: Message
    where: str = ""
    place_name: str = ""  #: what the shop there is called


class CauseQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry | None = None) -> None:
        """``registry`` knows task types; without one nothing is said of them."""
        self._store, self._registry = store, registry
        self._asking, self._coming, self._grouping = threading.Lock(), threading.Lock(), threading.Lock()
        self._answering = threading.Lock()  #: held for a whole answer, which is made in many turns
        self._next: dict[str, Future[Causes]] = {}  #: by triage, what nobody has begun yet
        self._news = News(store)
        self._shown, self._reaches = Shown(store), Reaches(store)
        self._books: dict[str, Book] = {}  #: by triage
        self._groups: dict[str, dict[str, _Group]] = {}  #: by triage and cause
        self._judged: set[str] = set()  #: triage states of which what was found out is kept

    def follow(self, eyes: Live) -> None:
        """Take what happens from who reads it anyway."""
        eyes.on_changes(lambda changes: self._news.hear(changes.events, gap=changes.gap))

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

    def first(self, triage: str = Triage.OPEN) -> Causes:
        """The same; of many letters that nobody has asked about before who they are, which can be told much sooner."""
        with self._turn():
            found = self._group(triage)
        return found if found.scanned > MANY and triage not in self._judged else self.causes(triage)

    def _answer(self, triage: str, asked: Future[Causes]) -> None:
        try:
            with self._answering:
                with self._turn():
                    self._begun(triage, asked)
                    found = self._group(triage)
                    groups, book = self._groups[triage], self._books[triage]
                answer = self._judge(found, groups)
                with self._turn():
                    if self._books.get(triage) is book:  # else what was found out went with the other
                        self._judged.add(triage)
            asked.set_result(answer)
        except BaseException as exc:
            self._begun(triage, asked)  # also who is interrupted while waiting must not keep the place for ever
            asked.set_exception(exc)
            raise
        finally:
            del asked

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One step of an answer at a time; who has waited goes before the next step of another."""
        with self._coming:
            self._grouping.acquire()
        try:
            yield
        finally:
            self._grouping.release()

    def _begun(self, triage: str, asked: Future[Causes]) -> None:
        """Who asks from now on is answered by the next."""
        with self._asking:
            if self._next.get(triage) is asked:
                del self._next[triage]

    def _group(self, triage: str) -> Causes:
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        total, book = self._book(triage)
        known = cause_rule.Causes(rules)
        groups = self._groups[triage] = _groups(book, known, self._groups.get(triage, {}))
        shops = {shop for group in groups.values() for shop in group.letters.shops}
        everything = {shop.platform for shop in self._store.shops()}
        everything.update(*(group.letters.platforms for group in groups.values()))
        since = min((min(group.letters.ended) for group in groups.values()), default=0)
        until = max((group.letters.last for group in groups.values()), default=0)
        states, now = self._store.documents(known_issue.STATE), self._store.now_ms()
        rows = [
            replace(
                _cause(key, group.letters, everything, since, until),
                rule=rules.get(key, CauseRule()),
                parts=tuple(one for one in group.prints if one != key and cause_rule.root(one, rules) == key),
                prints=group.prints,
                apart=known.beside(key),
                places=(places := _places(group.letters)),
                shop_names=self._shop_names(rules.get(key, CauseRule()).where, *(where for where, _number in places)),
                issue=known_issue.readable(states.get(key)),
                worth=NOT_ASKED,
                trend=reach.trend(group.letters.ended, now),
            )
            for key, group in groups.items()
        ]
        rows.sort(key=lambda row: (-row.count, -row.last_at))
        return Causes(rows=tuple(rows), scanned=len(book), total=total, shops=len(shops), judged=False)

    def _judge(self, found: Causes, groups: Mapping[str, _Group]) -> Causes:
        """The same with what helps and where they lie, each in a turn of its own."""
        with self._turn():
            judge, reaches = Worthiness(self._store, self._registry, self._shown), self._reaches
            if groups:
                self._shown.look()
            reaches.begin()
        rows, now = [], self._store.now_ms()
        for place, row in enumerate(found.rows):
            group = groups[row.fingerprint]
            with self._turn():
                worth = judge.of_cause(group.first, group.letters, row.there) if place < JUDGED else Worth()
                # of what was split off it is known where it lies: where its letters died
                lies = group.reach(reaches, now) if place < REACHED and not row.rule.where else Reach()
            rows.append(replace(row, worth=worth, reach=lies))
        return replace(found, rows=tuple(rows), judged=True)

    def _book(self, triage: str) -> tuple[int, Book]:
        """How many letters there are, and those that are looked at, as they stand now."""
        for other in [one for one in self._books if one not in (triage, Triage.OPEN)]:  # tens of thousands of lines
            del self._books[other], self._groups[other]
            self._judged.discard(other)
        for _ in range(2):  # what happened between the count and the reading is told by the next
            counts = self._store.counts()
            total = counts.triage.get(triage, 0)
            if not self._news.since(counts.cursor, self._learn):
                self._forget()
            book = self._books.get(triage)
            if book is None or book.agrees(total):
                break
        else:
            book = None
        if book is None:
            book = Book(self._store, triage, self._reaches)
            book.read()
            self._books[triage], self._groups[triage] = book, {}
        return max(total, len(book)), book

    def _forget(self) -> None:
        """Nobody knows what happened since."""
        self._shown, self._reaches = Shown(self._store), Reaches(self._store)
        self._books, self._groups, self._judged = {}, {}, set()

    def _learn(self, news: Sequence[Event]) -> None:
        self._shown.heard(news)
        self._reaches.heard(news)
        touched = list(dict.fromkeys(one.task_id for one in news if Status.DEAD in (one.from_, one.to)))
        for start in range(0, len(touched), SLICE):
            some = touched[start : start + SLICE]
            for task_id, task in zip(some, self._store.get(some), strict=True):
                for book in self._books.values():
                    book.change(task_id, task)
                if task is not None:
                    self._shown.changed(task)

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
            at = self._shop_names(rule.where).get(rule.where, "")
            found[one] = Called(name=rule.name, title=title, where=rule.where, place_name=at)
        return found

    def _shop_names(self, *places: str) -> dict[str, str]:
        """What the shops among some places are called."""
        if self._registry is None:
            return {}
        shops = {where: where.removeprefix("shop:") for where in places if where.startswith("shop:")}
        return {where: self._registry.shop_name(key) for where, key in shops.items()}

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

    def chances(self, tasks: Sequence[Task]) -> Chances:
        """What is likely to become of a batch's open letters, and of what waits for its next attempt, if it is retried:
        of a letter as its cause has it, of the others as others of their type went on after such a failure.
        """
        groups: dict[str, list[Task]] = defaultdict(list)
        waiting: Counter[tuple[str, str]] = Counter()
        for task in filter(batch.retried, tasks):
            if task.status == Status.DEAD:
                groups[key_of(task)].append(task)
            else:
                waiting[task.task_type, task.error_kind] += 1
        judge = Worthiness(self._store, self._registry)
        ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
        found = Chances(unknown=sum(len(letters) for _key, letters in ordered[CHANCES:]))
        for key, letters in ordered[:CHANCES]:
            found += judge.chances(judge.of_cause(key, Alike(letters)).level, letters)
        ended = {name: self._ended(name) for name in sorted({name for name, _kind in waiting})[:CHANCES]}
        for (name, kind), number in waiting.items():
            found += batch.of_back_off(number, kind, ended.get(name, ()))
        return found

    def _ended(self, task_type: str) -> Sequence[Task]:
        """The newest of a type that came to their end by themselves."""
        terms = (equals("type", task_type), equals("status", Status.SUCCEEDED, Status.DEAD))
        return self._store.query(Query(terms=terms, sort="updated", limit=SLICE, want_total=False)).tasks

    def of_letter(self, task: Task) -> tuple[Worth, Message | None]:
        """Whether running this dead letter again would help, and why it would be refused as it is, None: it goes."""
        judge = Worthiness(self._store, self._registry)
        return judge.of_letter(task), judge.refusals([task]).get(task.task_id)


class _Group:
    """Letters of one cause, as long as they are the same."""

    def __init__(self, book: Book, lines: list[Line]) -> None:
        """``lines``: the newest first."""
        self.lines = lines
        self.letters = book.alike(lines)
        self.first = lines[0].key  #: the print of the one that was created last
        self.prints = tuple(sorted({one.key for one in lines}))
        self._lately = book.lately(lines, self.letters.last)
        self._reach: Reach | None = None  #: as it will stay

    def reach(self, reaches: Reaches, now: int) -> Reach:
        """Where it lies; what is counted has an end, so it is judged once after that."""
        if self._reach is not None:
            return self._reach
        letters = self.letters
        kind = letters.newest.error_kind
        found = reaches.of_cause(self.prints, self._lately, letters.types, last=letters.last, kind=kind)
        if now > letters.last + 2 * AROUND_MS:
            self._reach = found
        return found


def _groups(book: Book, known: cause_rule.Causes, before: Mapping[str, _Group]) -> dict[str, _Group]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in book.lines:
        found[known.of(line.key, line)].append(line)
    return {
        key: before[key] if key in before and before[key].lines == lines else _Group(book, lines)
        for key, lines in found.items()
    }


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
