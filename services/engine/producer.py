"""Submit: check what is asked, record it, publish it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from services.domain.change import DONE, UNREADABLE, UNSURE, Answer, Create
from services.domain.errors import UsageError
from services.domain.fleet import shop
from services.domain.gates import dependency
from services.domain.step import transitions
from services.domain.task import ids, lane, ledger
from services.domain.task.ledger import Done
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals, pages
from services.domain.task.status import ACTIVE, Status
from services.domain.task.tombstone import Tombstone
from services.domain.text import mask, refusals
from services.domain.text.said import Said, said, words_of
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.domain.types.type_index import TypeIndex
from services.engine import portions, recipe
from services.engine.registry import Registry
from services.engine.spec import After, Before, Checked, Twin
from services.engine.spec import Submitted as Submitted
from services.engine.spec import TaskSpec as TaskSpec
from services.engine.steps import Steps
from services.ports import Store

#: ids asked for at once
SLICE = 500
SHOWN = 12  #: names of a circle that a sentence holds
SHOPS = 200  #: shops that are asked at once what is open
ABOVE = 10  #: of its own type a row waits for so many above it: those of them that are made wait for the others
_FAILED = (Status.DEAD, Status.CANCELLED)
Fault = tuple[TaskSpec, str, str]  #: spec, field, sentence


class Row(msgspec.Struct, frozen=True):
    """A spec of a bulk: what types it waits for are rows and tasks by now."""

    spec: TaskSpec
    asked: TaskSpec  #: as it was asked for
    by_type: frozenset[str] = frozenset()  #: what it waits for only because of its type


class Links:
    """Puts the specs of a bulk into an order in which each comes behind those that it waits for."""

    def __init__(self, store: Store, specs: Sequence[TaskSpec], types: Callable[[], Mapping[str, TaskType]]) -> None:
        """Look at the whole bulk: its ``faults`` are found before anything is created. ``types``: those there are.

        Raises:
            StoreUnavailable: it cannot be asked whether a task exists.
        """
        self.faults: list[Fault] = []
        self.after: tuple[After, ...] = ()  #: what the types mean that it names
        self.lost: frozenset[str] = frozenset()  #: names of rows that are among the faults
        self._types = types
        self._made: dict[str, str] = {}
        self._names: frozenset[str] = frozenset()
        rows = [Row(spec, spec) for spec in specs]
        self.rows = self._arrange(store, rows) if any(spec.depends_on or spec.key for spec in specs) else rows

    def resolve(self, row: Row) -> TaskSpec:
        """The spec with ids instead of names.

        Raises:
            UsageError: a row that it waits for was refused.
        """
        if not row.spec.depends_on:
            return row.spec
        names = self.left(row, lambda name: name in self._names and name not in self._made).depends_on
        return replace(row.spec, depends_on=tuple(dict.fromkeys(self._made.get(name, name) for name in names)))

    def left(self, row: Row, lost: Callable[[str], bool]) -> TaskSpec:
        """The spec without the ``lost`` rows that it would wait for because of their type: they are not open.

        Raises:
            UsageError: it names one of the ``lost`` rows.
        """
        gone = [name for name in row.spec.depends_on if lost(name)]
        if not gone:
            return row.spec
        if named := next((name for name in gone if name not in row.by_type), ""):
            raise UsageError(said("links.broken", name=named), field="depends_on")
        return replace(row.spec, depends_on=tuple(name for name in row.spec.depends_on if name not in gone))

    def without(self, row: Row, task: Task, there: Set[str]) -> Task | None:
        """Its task without what it would wait for because of its type and that is not ``there``, which may be nothing
        by now; None where it names something else that is not.
        """
        by_type = {self._made.get(name, name) for name in row.by_type}
        gone = set(task.depends_on) - there
        if not gone <= by_type:
            return None
        return replace(task, depends_on=tuple(name for name in task.depends_on if name not in gone))

    def made(self, row: Row, task_id: str) -> None:
        """Remember the id of a named row."""
        if row.spec.key:
            self._made[row.spec.key] = task_id

    def shown(self, task_id: str) -> str:
        """The name of a row of this bulk by the id that it was to have, else the id."""
        return next((key for key, made in self._made.items() if made == task_id), task_id)

    def _arrange(self, store: Store, rows: Sequence[Row]) -> list[Row]:
        by_name: dict[str, Row] = {}
        for place, row in enumerate(rows):
            key = row.spec.key
            if key in by_name:
                self.faults.append((row.asked, "key", said("links.twice", name=f"{key!r:.80}")))
                continue
            by_name[key or f"\n{place}"] = row  # no name has a line break in it
        self._names = frozenset(by_name)
        asked = {name for row in by_name.values() for name in row.spec.depends_on} - by_name.keys()
        unknown = asked - _known(store, sorted(asked))
        if unknown:
            types = TypeIndex(self._types())
            meant = _meant(types, unknown, {row.spec.task_type for row in by_name.values()})
            if meant:
                self._follow(store, by_name, meant)
            self._refuse_unknown(store, by_name, unknown - meant.keys(), types)
        self._refuse_circles(by_name)
        self.lost = self._names - by_name.keys()
        return [by_name[name] for name in dependency.in_order(_graph(by_name))]

    def _follow(self, store: Store, by_name: dict[str, Row], meant: Mapping[str, str]) -> None:
        """Put what is open of a type, for the same shop, in the place of its name: in the store, and among these rows;
        of its own type a row waits for those above it, else each would wait for the other.
        """
        specs = [row.spec for row in by_name.values()]
        asks = [(_shop(spec), meant[name]) for spec in specs for name in spec.depends_on if name in meant]
        shops = {kind: {shop for shop, asked in asks if asked == kind} for kind in meant.values()}
        there = {kind: open_tasks(store, kind, sorted(some)) for kind, some in shops.items()}
        rows, places = self._rows_of(by_name, shops)
        found: dict[str, list[tuple[str, ...]]] = {kind: [] for kind in shops}
        for label, row in list(by_name.items()):
            spec = row.spec
            kinds = list(dict.fromkeys(meant[name] for name in spec.depends_on if name in meant))
            for kind in kinds:
                beside = rows.get((_shop(spec), kind), [])
                if kind == spec.task_type:  # those above them they wait for themselves
                    beside = beside[max(0, places[label] - ABOVE) : places[label]]
                found[kind].append((*there[kind].get(_shop(spec), ()), *beside[: dependency.MOST + 1]))
            if kinds:
                by_type = [name for kind in kinds for name in found[kind][-1]]
                named = [name for name in spec.depends_on if name not in meant]
                spec = replace(spec, depends_on=tuple(dict.fromkeys((*named, *by_type))))
                by_name[label] = Row(spec, row.asked, frozenset(by_type) - set(named))
        self.after = tuple(After.of(kind, some) for kind, some in found.items())

    def _rows_of(
        self, by_name: dict[str, Row], shops: Mapping[str, Set[str]]
    ) -> tuple[dict[tuple[str, str], list[str]], dict[str, int]]:
        """The rows of these types by shop and type, and the place of each among those; none without a name."""
        rows: dict[tuple[str, str], list[str]] = {}
        places: dict[str, int] = {}
        for label, row in list(by_name.items()):
            spec = row.spec
            if _shop(spec) in shops.get(spec.task_type, ()):
                by_name[label] = Row(replace(spec, key=label), row.asked, row.by_type)
                some = rows.setdefault((_shop(spec), spec.task_type), [])
                places[label] = len(some)
                some.append(label)
        return rows, places

    def _refuse_unknown(self, store: Store, by_name: dict[str, Row], unknown: Set[str], types: TypeIndex) -> None:
        removed = _ends_of_removed(store, sorted(unknown))
        unknown -= {name for name, ended in removed.items() if ended not in _FAILED}
        for label, row in list(by_name.items()):
            missing = next((name for name in row.spec.depends_on if name in unknown), None)
            if missing is not None:
                text = _no_such(missing, types)
                if missing in removed:
                    text = said("links.removed", name=missing, status=removed[missing])
                self.faults.append((by_name.pop(label).asked, "depends_on", text))

    def _refuse_circles(self, by_name: dict[str, Row]) -> None:
        while circle := dependency.find_circle(_graph(by_name)):
            names = [_called(name, by_name[name].spec) for name in circle]
            way = " → ".join(names if len(names) <= SHOWN else (*names[: SHOWN - 2], "…", names[-1]))
            text = said("links.circle", way=way)
            self.faults += [(by_name.pop(name).asked, "depends_on", text) for name in circle[:-1]]


def _meant(types: TypeIndex, words: Set[str], of_rows: Set[str]) -> dict[str, str]:
    """The type that each of these words is the name of, or the title in any language; those that are one's."""
    found = {word: types.find(word) or (word,) * (word in of_rows) for word in words}
    return {word: codes[0] for word, codes in found.items() if len(codes) == 1}


def _no_such(name: str, types: TypeIndex) -> Said:
    near = "" if ids.is_ours(name) else types.near(name)  # no id of a task is a misspelt type, and each begins with one
    shown = f"{name!r:.220}"
    return said("links.unknown_near", name=shown, near=near) if near else said("links.unknown", name=shown)


def _shop(spec: TaskSpec) -> str:
    return f"{spec.platform}:{spec.shop_id}"


def _called(label: str, spec: TaskSpec) -> str:
    """What a row is called by a person: it may have no name."""
    return label if not label.startswith("\n") else f"{spec.task_type} ({_shop(spec)})"


def open_tasks(store: Store, kind: str, shops: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Ids of the tasks of a type that have not ended, by shop, the oldest first; of a shop that has more than one may
    wait for, one more than that.

    Raises:
        StoreUnavailable: it cannot be asked.
    """
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(shops), SHOPS):
        found |= _open_of(store, kind, shops[start : start + SHOPS])
    return found


def _open_of(store: Store, kind: str, shops: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of these shops; one that has too many is not read any further, for it may have a hundred thousand."""
    found: dict[str, dict[str, None]] = {shop: {} for shop in shops}
    left, since = set(shops), 0
    while left:
        full: set[str] = set()
        for page in pages(store.query, _open(kind, sorted(left), since)):
            for task in page.tasks:
                found[task.shop][task.task_id] = None
                since = task.created_at
            full = {shop for shop in left if len(found[shop]) > dependency.MOST}
            if full:
                break
        left = left - full if full else set()
    return {shop: tuple(ids)[: dependency.MOST + 1] for shop, ids in found.items() if ids}


def _open(kind: str, shops: Sequence[str], since: int) -> Query:
    terms = (equals("type", kind), equals("shop", *shops), equals("status", *sorted(ACTIVE)))
    later = (Term(field="created", op=">=", number=float(since)),) if since else ()
    return Query(terms=(*terms, *later), descending=False, limit=SLICE, want_total=False)


def check(spec: TaskSpec) -> None:
    """Refuse what no bulk can mend.

    Raises:
        UsageError: too many dependencies, or an unknown word.
    """
    if len(spec.depends_on) > dependency.MOST:
        raise UsageError(said("links.many", most=dependency.MOST, count=len(spec.depends_on)), field="depends_on")
    if spec.on_dependency_failure not in dependency.POLICIES:
        raise UsageError(said("links.failure"), field="on_dependency_failure")


def _graph(by_name: dict[str, Row]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row.spec.depends_on) for name, row in by_name.items()}


def _known(store: Store, ids: Sequence[str]) -> set[str]:
    return {task.task_id for part in _slices(ids) for task in store.get(part) if task is not None}


def _ends_of_removed(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """How those stand whose record was removed; a republished one as what it became."""
    found: dict[str, str] = {}
    for part in _slices(ids):
        for name, stone in zip(part, store.tombstones(part), strict=True):
            if stone is not None:
                found[name] = _end_of(store, stone)
    return found


def _end_of(store: Store, stone: Tombstone) -> str:
    while stone.successor:
        (record,) = store.get([stone.successor])
        (later,) = store.tombstones([stone.successor])
        if record is not None:
            return ""  # the store looks where that one stands
        if later is None:
            break
        stone = later
    return stone.status


def _slices(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + SLICE] for start in range(0, len(ids), SLICE))


BULK = 600
#: so few do not wait until the store knows that the broker has them: one wait for the disk of three
FEW = 20
MAX_AHEAD_S = 366 * 86_400


class _Chunk(NamedTuple):
    """What was recorded and is yet to be published."""

    ops: Sequence[Create]
    answers: Sequence[Answer]
    fresh: Sequence[Task]


class Producer:
    """Makes records of specs and sends them."""

    def __init__(self, store: Store, steps: Steps, registry: Registry, *, strict_shops: bool = False) -> None:
        self._store, self._steps, self._registry = store, steps, registry
        self._strict = strict_shops

    def submit(self, specs: Sequence[TaskSpec]) -> Submitted:
        """Record and publish; bad specs are reported and do not stop the others.

        A bulk goes in chunks: while one is being published, the next is checked and recorded.
        """
        created: list[Task] = []
        duplicates: list[tuple[TaskSpec, Task]] = []
        done: list[tuple[TaskSpec, Done]] = []
        bulk = Links(self._store, specs, self._registry.types)
        if len(bulk.rows) <= BULK:
            chunk = self._record(self._prepare_all(bulk.rows, bulk), duplicates, done, bulk)
            return _submitted(chunk.fresh, duplicates, done, bulk, self._publish(chunk))
        prepared = 0
        sending: list[Future[int]] = []
        with ThreadPoolExecutor(1, thread_name_prefix="submit") as publisher:
            for rows in _chunks(bulk.rows):
                chunk = self._record(self._prepare_all(rows, bulk), duplicates, done, bulk)
                sending.append(publisher.submit(self._publish, chunk))
                created += chunk.fresh
                prepared += len(rows)
                portions.done(prepared)
        return _submitted(created, duplicates, done, bulk, sum(one.result() for one in sending))

    def after(self, specs: Sequence[TaskSpec]) -> tuple[After, ...]:
        """What the types mean that these wait for, as things stand now.

        Raises:
            StoreUnavailable: it cannot be asked.
        """
        return Links(self._store, specs, self._registry.types).after

    def check(self, specs: Sequence[TaskSpec]) -> Checked:
        """What ``submit`` would refuse, and what an active task does already; nothing is created.

        Raises:
            StoreUnavailable: it cannot be asked.
        """
        bulk = Links(self._store, specs, self._registry.types)
        errors, lost = list(bulk.faults), set(bulk.lost)
        good: list[tuple[Row, str]] = []
        for row in bulk.rows:
            try:
                good.append((row, self.prepare(bulk.left(row, lost.__contains__)).uniq))
            except UsageError as exc:
                errors.append((row.asked, exc.field, words_of(exc)))
                lost.add(row.spec.key)
        asked = [(place, row.asked, uniq) for place, (row, uniq) in enumerate(good) if uniq]
        twins, known = self._twins(asked), self._before(asked)
        # who waits for a twin would wait for a task that is not made
        doubles = [good[place][0].spec for place in twins]
        left = {spec.key for spec in doubles if spec.key and spec.if_duplicate == "reject"}
        for row, _uniq in good if left else ():
            try:
                bulk.left(row, left.__contains__)
            except UsageError as exc:
                errors.append((row.asked, exc.field, words_of(exc)))
                left.add(row.spec.key)
        return Checked(
            errors=tuple(errors),
            twins=tuple(twins.values()),
            before=tuple(one for place, one in known.items() if one.asks or place not in twins),
            after=bulk.after,
        )

    def _twins(self, asked: Sequence[tuple[int, TaskSpec, str]]) -> dict[int, Twin]:
        """By place. Asked for many at once; no more is kept than is told, for a record may hold half a megabyte."""
        found: dict[int, Twin] = {}
        for start in range(0, len(asked), BULK):
            part = asked[start : start + BULK]
            holders = self._store.holders([uniq for _place, _spec, uniq in part])
            found |= {
                place: Twin(spec=spec, task_id=task.task_id, status=task.status)
                for (place, spec, _uniq), task in zip(part, holders, strict=True)
                if task is not None
            }
        return found

    def _before(self, asked: Sequence[tuple[int, TaskSpec, str]]) -> dict[int, Before]:
        """What has succeeded before, by place; also whether that is so lately that it asks for a reason."""
        found: dict[int, Before] = {}
        for start in range(0, len(asked), BULK):
            part = asked[start : start + BULK]
            last = self._store.last_done([uniq for _place, _spec, uniq in part])
            for (place, spec, _uniq), done in zip(part, last, strict=True):
                if done is None:
                    continue
                since, lost = self._done_since(spec), ledger.unread(done)
                if since or not lost:  # where nobody asks, what cannot be read is in nobody's way
                    found[place] = Before(spec=spec, done=done, asks=since > 0 and (lost or since <= done.at))
        return found

    def _prepare_all(self, rows: Sequence[Row], bulk: Links) -> list[tuple[Row, Task]]:
        good: list[tuple[Row, Task]] = []
        for row in rows:
            try:
                task = self.prepare(bulk.resolve(row))
            except UsageError as exc:
                bulk.faults.append((row.asked, exc.field, words_of(exc)))
                continue
            bulk.made(row, task.task_id)
            good.append((row, task))
        return good

    def prepare(self, spec: TaskSpec) -> Task:
        """Make the record of one spec without storing it.

        Raises:
            UsageError: a field is not acceptable; ``field`` names it.
        """
        self._check_words(spec)
        self._check_limits(spec)
        kind = self._registry.task_type(spec.task_type)
        if why := self._registry.unreadable(spec.task_type):
            raise UsageError(said("type.unreadable", name=spec.task_type, error=why), field="type")
        payload = recipe.payload_text(spec.payload)
        problems = task_type.validate_payload(kind, spec.payload)
        if problems:
            where = problems[0].path or "payload"
            raise UsageError(said("payload.bad", field=where, problem=problems[0].message), field=where)
        # what was copied or exported has dots in the place of its secrets: no flow could log in by them
        if mask.DOTS in payload and (path := mask.still_masked(spec.payload, {})):
            raise UsageError(said("payload.masked", path=path), field=path)
        try:
            lane_name, priority = lane.parse_priority(spec.priority if spec.priority != "" else kind.lane)
        except ValueError as exc:
            raise UsageError(words_of(exc), field="priority") from exc
        now = self._store.now_ms()
        due = spec.at_ms or now + round(spec.delay_s * 1000)
        if due > now + MAX_AHEAD_S * 1000:
            raise UsageError(said("task.too_far"), field="at")
        if spec.deadline_ms and spec.deadline_ms <= max(now, due):
            late = "task.deadline_past" if spec.deadline_ms <= now else "task.deadline_early"
            raise UsageError(said(late), field="deadline")
        scheduled = due > now
        task = Task(
            task_id=spec.task_id or ids.new_task_id(spec.platform, spec.task_type, spec.shop_id),
            shop_id=spec.shop_id,
            platform=spec.platform,
            task_type=spec.task_type,
            payload=payload,
            lane=lane_name,
            priority=priority,
            status=Status.SCHEDULED if scheduled else Status.PENDING,
            due_at=due if scheduled else 0,
            max_retries=kind.max_retries if spec.max_retries is None else spec.max_retries,
            batch=spec.batch,
            origin=spec.origin,
            created_by=spec.created_by,
            reason=spec.reason,
            parent=spec.parent,
            extra=spec.extra,
            uniq=task_type.uniqueness_key(kind, spec.platform, spec.shop_id, payload),
            timeout_s=kind.timeout_s,
            idempotent=kind.idempotent,
            expected_s=kind.expected_s,
            type_version=kind.version,
            depends_on=tuple(spec.depends_on),
            on_dependency_failure=spec.on_dependency_failure,
            deadline=spec.deadline_ms,
        )
        recipe.check_readable(task, now)
        return self._registry.placed(task)

    def _check_words(self, spec: TaskSpec) -> None:
        if not shop.valid_word(spec.platform):
            raise UsageError(said("platform.name", name=f"{spec.platform!r:.60}"), field="platform")
        if not shop.valid_shop_id(spec.shop_id):
            raise UsageError(said("shop.id_lane", shop_id=f"{spec.shop_id!r:.60}"), field="shop")
        if not ids.valid_task_type(spec.task_type):
            raise UsageError(said("type.name", name=f"{spec.task_type!r:.60}"), field="type")
        if self._strict and f"{spec.platform}:{spec.shop_id}" not in self._registry.shops():
            raise UsageError(said("shop.unregistered", name=f"{spec.platform}:{spec.shop_id}"), field="shop")

    def _check_limits(self, spec: TaskSpec) -> None:
        if not 0 <= spec.delay_s <= MAX_AHEAD_S:
            raise UsageError(said("task.delay"), field="delay")
        if spec.at_ms and spec.delay_s:
            raise UsageError(said("task.delay_or_time"), field="at")
        check(spec)
        if spec.max_retries is not None and not 0 <= spec.max_retries <= 20:
            raise UsageError(said("task.max_retries"), field="max_retries")
        if spec.if_duplicate not in ("reject", "queue", "force", "hold"):
            raise UsageError(said("create.duplicate"), field="if-duplicate")
        if spec.if_duplicate == "force" and not spec.reason.strip():
            raise UsageError(said("create.force_why"), field="reason")

    def _record(
        self,
        chunk: Sequence[tuple[Row, Task]],
        duplicates: list[tuple[TaskSpec, Task]],
        done: list[tuple[TaskSpec, Done]],
        bulk: Links,
    ) -> _Chunk:
        self._steps.dispatcher.know({task.platform for _, task in chunk})
        chunk = self._marked(chunk)
        ops = [
            Create(task=task, on_duplicate=row.asked.if_duplicate, done_since=self._done_since(row.asked))
            for row, task in chunk
        ]
        answers = self._steps.record(ops)
        self._without_gone(chunk, ops, answers, bulk)
        fresh = []
        for (row, task), answer in zip(chunk, answers, strict=True):
            spec = row.asked
            if answer.code == "created":
                fresh.append(answer.task or task)
            elif answer.code == "unknown":
                bulk.faults.append((spec, "depends_on", self._unknown(task, bulk)))
            elif answer.code == DONE:
                done.append((spec, self._done(task)))
            elif answer.code == UNSURE:
                bulk.faults.append((spec, "reason", said(refusals.UNSURE, work=task.work)))
            elif answer.code == UNREADABLE:
                bulk.faults.append((spec, "store", answer.words))
            else:
                duplicates.append((spec, answer.task or task))
        return _Chunk(ops, answers, fresh)

    def _without_gone(
        self, chunk: Sequence[tuple[Row, Task]], ops: list[Create], answers: list[Answer], bulk: Links
    ) -> None:
        """What waits for a type does not wait for what is not there after all: a row that another task does already.
        Rows that wait for one that is made only now are made behind it; where that one is not made after all, they are
        asked for again without it.
        """
        places, settled = [at for at, answer in enumerate(answers) if answer.code == "unknown"], True
        while places and settled:
            there = _known(self._store, list({name for at in places for name in ops[at].task.depends_on}))
            tried = []
            for at in places:
                left = bulk.without(chunk[at][0], ops[at].task, there)
                if left is not None:
                    ops[at] = replace(ops[at], task=left)
                    tried.append(at)
                    there.add(left.task_id)
            for at, answer in zip(tried, self._steps.record([ops[at] for at in tried]), strict=True):
                answers[at] = answer
            places = [at for at in tried if answers[at].code == "unknown"]
            settled = len(places) < len(tried)

    def _done_since(self, spec: TaskSpec) -> int:
        """A reason that a person gave lets the same work be done again at any time."""
        if spec.reason.strip() or spec.unasked:
            return 0
        return min(filter(None, (spec.asked_ms, self._registry.done_since(spec.task_type))), default=0)

    def _marked(self, chunk: Sequence[tuple[Row, Task]]) -> Sequence[tuple[Row, Task]]:
        """With a mark on those that are to be done again so soon for a reason: then that is what the reason says."""
        given = [task for row, task in chunk if row.asked.reason.strip()]
        asked = {task.work for task in given if self._registry.done_since(task.task_type)}
        works = sorted(asked - {""})
        if not works:
            return chunk
        known = dict(zip(works, self._store.last_done(works), strict=True))

        def marked(row: Row, task: Task) -> Task:
            done = known.get(task.work) if row.asked.reason.strip() else None
            if done is None or done.at < self._registry.done_since(task.task_type):
                return task
            return replace(task, marks=transitions.marked(task, transitions.AGAIN))

        return [(row, marked(row, task)) for row, task in chunk]

    def _done(self, task: Task) -> Done:
        (found,) = self._store.last_done([task.work])
        return found or Done("", 0)  # it has just been removed

    def _unknown(self, task: Task, bulk: Links) -> str:
        """Which dependency has no record: a row that was refused as a duplicate, or one that is gone by now."""
        found = zip(task.depends_on, self._store.get(task.depends_on), strict=True)
        names = [bulk.shown(name) for name, record in found if record is None]
        return f"depends_on: {', '.join(names) or 'one of the tasks'} was not created, so this one was not either"

    def _publish(self, chunk: _Chunk) -> int:
        unsent = self._steps.follow(chunk.ops, chunk.answers, soon=len(chunk.ops) <= FEW)
        return sum(task.task_id in unsent for task in chunk.fresh) if unsent else 0


def _chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), BULK):
        yield rows[start : start + BULK]


def _submitted(
    created: Sequence[Task],
    duplicates: Sequence[tuple[TaskSpec, Task]],
    done: Sequence[tuple[TaskSpec, Done]],
    bulk: Links,
    unconfirmed: int,
) -> Submitted:
    return Submitted(
        created=tuple(created),
        duplicates=tuple(duplicates),
        done=tuple(done),
        errors=tuple(bulk.faults),
        unconfirmed=unconfirmed,
        after=bulk.after,
    )
