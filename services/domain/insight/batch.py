"""How a batch stands: boxes of a type on a platform, what waits for what between them, and what is not done by what
holds it. Pure.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import msgspec
from msgspec.structs import replace

from services.domain.gates import listed, paused
from services.domain.insight import cause
from services.domain.insight.forecast.flow import ABOVE, BELOW, MODEL, Spread
from services.domain.task.record import Task
from services.domain.task.status import REPLACED, TERMINAL, Status, Triage
from services.domain.text.message import Message

DONE, RUNNING, WAITING, HELD, DEAD, CANCELLED = "done", "running", "waiting", "held", "dead", "cancelled"
#: parts of a bar, from left to right
PARTS = (DONE, RUNNING, WAITING, HELD, DEAD, CANCELLED)
#: of so many shops it is followed what waits for each
MOST_SHOPS, UNTOLD = 300, -1
#: what tells boxes of a type apart
PLATFORM, GROUP, TYPE = "platform", "group", "type"
#: more boxes than these are drawn one for each type
MOST_BOXES = 24
#: causes of dead tasks that stand by themselves
MOST_CAUSES = 8
_PART: dict[str, str] = {
    Status.SUCCEEDED: DONE,
    Status.RUNNING: RUNNING,
    Status.PENDING: WAITING,
    Status.QUEUED: WAITING,
    Status.RETRYING: WAITING,
    Status.BLOCKED: HELD,
    Status.SCHEDULED: HELD,
    Status.HELD: HELD,
    Status.DEAD: DEAD,
    Status.CANCELLED: CANCELLED,
}
#: gates at which a task is not held up: it is under way to a worker, or next in its turn
_TURNS = frozenset({listed.MESSAGE, listed.LANE_ORDER})
#: what holds a task that waits at no gate, by its status
_ROWS = frozenset({Status.DEAD, Status.HELD, Status.RETRYING, Status.RUNNING})


class Box(msgspec.Struct, frozen=True):
    """Tasks of one type ``within`` one platform or group of shops (``""``: any); ``counts`` by part."""

    task_type: str
    within: str
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    depth: int = 0  #: the column: behind so many others
    shops: tuple[str, ...] = ()  #: whose tasks these are

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others."""
        return self.task_type, self.within

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """What succeeded."""
        return self.counts.get(DONE, 0)

    @property
    def worst(self) -> str:
        """The part that wants a look first, "" where all is done."""
        return next((one for one in (DEAD, HELD, WAITING, RUNNING, CANCELLED) if self.counts.get(one)), "")


class Edge(msgspec.Struct, frozen=True):
    """What stands ``after`` waits for what stands ``before``; ``all_to_one``: many for each, else one for one."""

    before: tuple[str, str]
    after: tuple[str, str]
    all_to_one: bool = False


class Hold(msgspec.Struct, frozen=True):
    """What is not done for one reason: a status or the name of a gate."""

    key: str
    ids: tuple[str, ...]
    types: tuple[tuple[str, int], ...]  #: the most first
    shops: int
    oldest_at: int
    behind: int  #: distinct tasks of the batch that wait for these, directly or not; what has ended does not
    person: bool  #: goes on only when somebody does something
    parts: tuple[Hold, ...] = ()  #: of dead ones by cause, the most first; their key is ``dead:FINGERPRINT``
    title: Message | None = None  #: of a part, what its cause is called; None for all the other causes
    owner: str = ""  #: of a part, who is at its cause
    apart: tuple[str, ...] = ()  #: of the part of all the other causes, those that have parts of their own

    @property
    def cause(self) -> str:
        """Of a part, the fingerprint or kind that names its cause."""
        return self.key.partition(":")[2]


class ShopLeft(msgspec.Struct, frozen=True):
    """What is not done of one shop (``platform:shop_id``), by why."""

    shop: str
    ids: tuple[str, ...]
    types: tuple[tuple[str, int], ...]  #: the most first
    reasons: tuple[tuple[str, int], ...]  #: as the keys of ``Hold``; what needs a person first, then the most
    oldest_at: int
    behind: int  #: as of a ``Hold``; ``UNTOLD`` where there are too many shops to follow what waits for each
    person: bool  #: some of it goes on only when somebody does something


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What is not done, by what holds it and by shop."""

    holds: tuple[Hold, ...] = ()
    left: tuple[ShopLeft, ...] = ()


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A batch as its tasks tell it; those that were sent again stand as their successors."""

    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    boxes: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()
    holds: tuple[Hold, ...] = ()
    left: tuple[ShopLeft, ...] = ()  #: the same by shop
    undone: Mapping[tuple[str, str], Undone] = {}  #: both of the tasks of one box alone, by its key
    types_only: bool = False  #: there are too many boxes to tell those of a type apart
    workers: int = 0  #: that are at work on it now
    retrying: int = 0  #: those of what waits that failed and are tried again later
    behind_person: int = 0  #: distinct tasks that wait for what needs a person
    behind_retried: int = 0  #: and for what runs again when the batch is retried
    shops: int = 0
    deadline: int = 0  #: the last of its tasks that did not begin yet, UTC ms; 0 for none
    due: int = 0  #: the last of all of its tasks, also of what has ended
    ended_at: int = 0  #: when the last of it that has ended did, UTC ms; 0 where nobody knows

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.counts.values())

    @property
    def needs_person(self) -> int:
        """So many do not go on by themselves."""
        return sum(len(one.ids) for one in self.holds if one.person)

    @property
    def stays(self) -> int:
        """So many do not end before somebody does something: those, and what waits for them."""
        return self.needs_person + self.behind_person

    @property
    def by_itself(self) -> int:
        """So many are done, or will be with nobody's help."""
        return max(0, self.total - self.stays - self.counts.get(CANCELLED, 0))


#: ends from which the pace of a batch is told, and so many at least before it is looked back on
SAMPLE, LEAST_ENDS = 50, 4


def at_pace(ends: Sequence[int], left: int, now_ms: int) -> Spread | None:
    """How long ``left`` tasks take at the pace of these ends (UTC ms), the time since the latest counted; None where
    they are too few to tell.
    """
    if len(ends) < 2:
        return None
    mid = left * max(1, now_ms - min(ends)) / len(ends) / 1000
    # ends come by chance: the pace is known by as many as were counted, and as many are to come as are left
    off = mid * math.sqrt(1 / len(ends) + 1 / left) + MODEL * mid
    return Spread(low_s=max(0.0, mid - BELOW * off), mid_s=mid, high_s=mid + ABOVE * off)


class Foretold(msgspec.Struct, frozen=True):
    """What was said of the end of a batch when half of it had ended."""

    at_ms: int
    left: Spread

    @property
    def end_ms(self) -> int:
        """When it was said to end, UTC ms."""
        return self.at_ms + round(self.left.mid_s * 1000)


def foretold(tasks: Iterable[Task]) -> Foretold | None:
    """What the pace of a batch that has ended had said half-way; None where it was not let end by itself."""
    found = list(tasks)
    gone = {task.task_id for task in replaced(found)}
    known = [task for task in found if task.task_id not in gone]
    ends = sorted(task.ended_at for task in known if task.ended_at and task.status in (Status.SUCCEEDED, Status.DEAD))
    if len(ends) < max(LEAST_ENDS, len(known)):
        return None
    half = len(ends) // 2
    left = at_pace(ends[max(0, half - SAMPLE) : half], len(ends) - half, ends[half - 1])
    return Foretold(ends[half - 1], left) if left is not None else None


def story(
    tasks: Iterable[Task], gates: Mapping[str, str], within: Callable[[Task], str] = lambda task: task.platform
) -> Story:
    """What these tasks tell; ``gates``: where each that waits does, by id; ``within``: what tells boxes of a type
    apart.
    """
    found = list(tasks)
    gone = {task.task_id for task in replaced(found)}
    known = [task for task in found if task.task_id not in gone]
    by_id = {task.task_id: task for task in known}
    # what was named and sent again stands under its successor
    by_id |= {task.parent: task for task in known if task.parent and task.parent not in by_id}
    fine = len({(task.task_type, within(task)) for task in known}) <= MOST_BOXES

    def key(task: Task) -> tuple[str, str]:
        return task.task_type, within(task) if fine else ""

    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    shops: dict[tuple[str, str], set[str]] = defaultdict(set)
    links: dict[tuple[tuple[str, str], tuple[str, str]], list[int]] = {}
    for task in known:
        counts[key(task)][_part(task, gates)] += 1
        shops[key(task)].add(task.shop)
        numbers = Counter(key(by_id[name]) for name in task.depends_on if name in by_id)
        for before, number in numbers.items():
            if before != key(task):
                links.setdefault((before, key(task)), []).append(number)
    followers = _followers(known, by_id)
    holds = _holds(known, followers, gates)
    of_box: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task in known:
        of_box[key(task)].append(task)
    wanting = [name for one in holds if one.person for name in one.ids]
    edges = tuple(Edge(before, after, max(numbers) > 1) for (before, after), numbers in sorted(links.items()))
    depths = _depths(counts.keys(), edges)
    boxes = [
        Box(name[0], name[1], dict(found), depths[name], tuple(sorted(shops[name]))) for name, found in counts.items()
    ]
    return Story(
        counts=dict(sum(counts.values(), Counter())),
        boxes=tuple(sorted(boxes, key=lambda one: (one.depth, one.task_type, one.within))),
        edges=edges,
        holds=holds,
        left=_left(known, followers, gates),
        undone={
            name: Undone(holds=_holds(some, followers, gates), left=_left(some, followers, gates))
            for name, some in of_box.items()
        },
        types_only=not fine,
        workers=len({task.worker for task in known if task.status == Status.RUNNING}),
        retrying=sum(task.status == Status.RETRYING for task in known),
        behind_person=_behind(wanting, followers),
        behind_retried=_behind([task.task_id for task in known if retried(task)], followers),
        shops=len({task.shop for task in known}),
        deadline=max((task.deadline for task in known if task.bound), default=0),
        due=max((task.deadline for task in known), default=0),
        ended_at=max((task.ended_at for task in known), default=0),
    )


#: tasks that failed and went on, at least, from which it is told how others do that failed so
LEAST_RETRIED = 5


class Chances(msgspec.Struct, frozen=True, kw_only=True):
    """What is likely to become of tasks that run again, by what became of others that failed of the same."""

    passes: int = 0
    again: int = 0  #: fail of the same
    login: int = 0  #: somebody has to log in first
    unknown: int = 0  #: too few others did

    def __add__(self, other: Chances) -> Chances:
        return Chances(
            passes=self.passes + other.passes,
            again=self.again + other.again,
            login=self.login + other.login,
            unknown=self.unknown + other.unknown,
        )


def retried(task: Task) -> bool:
    """Whether it runs again when its batch is retried: an open letter, or what waits for its next attempt."""
    return task.status == Status.RETRYING or (task.status == Status.DEAD and task.triage == Triage.OPEN)


def of_back_off(number: int, kind: str, ended: Iterable[Task]) -> Chances:
    """Of so many that wait for their next attempt after a failure of a kind; ``ended``: others of their type."""
    went_on = [task.status == Status.SUCCEEDED for task in ended if _failed_before(task, kind)]
    if len(went_on) < LEAST_RETRIED:
        return Chances(unknown=number)
    return Chances(passes=number) if 2 * sum(went_on) >= len(went_on) else Chances(again=number)


def _failed_before(task: Task, kind: str) -> bool:
    """Whether an attempt of it failed so, and another one came after that."""
    return any(one.outcome == "failed" and one.error_kind == kind for one in task.attempts[:-1])


def replaced(tasks: Sequence[Task]) -> list[Task]:
    """Those for which a successor stands: of a letter the engine says so, of a cancelled one the task made of it."""
    made_of = {task.parent for task in tasks if task.parent}
    return [task for task in tasks if _stands_elsewhere(task, made_of)]


def counted(newest_first: Iterable[Task]) -> Iterator[Task]:
    """The others, one by one: whoever stands for a task was created after it."""
    made_of: set[str] = set()
    for task in newest_first:
        if task.parent:
            made_of.add(task.parent)
        if not _stands_elsewhere(task, made_of):
            yield task


def _stands_elsewhere(task: Task, made_of: Set[str]) -> bool:
    if task.status == Status.CANCELLED:
        return task.task_id in made_of
    return task.status == Status.DEAD and task.triage in REPLACED


def _depths(names: Iterable[tuple[str, str]], edges: Sequence[Edge]) -> dict[tuple[str, str], int]:
    """The column of each box; circles between boxes (there are none between tasks) end after as many rounds."""
    depths = dict.fromkeys(names, 0)
    for _round in range(len(depths)):
        changed = False
        for edge in edges:
            if depths[edge.after] <= depths[edge.before] < len(depths) - 1:
                depths[edge.after] = depths[edge.before] + 1
                changed = True
        if not changed:
            break
    return depths


def _followers(known: Sequence[Task], by_id: Mapping[str, Task]) -> Mapping[str, list[Task]]:
    """By task, those that wait for it."""
    followers: dict[str, list[Task]] = defaultdict(list)
    for task in known:
        for name in task.depends_on:
            if name in by_id:
                followers[by_id[name].task_id].append(task)
    return followers


def _holds(known: Sequence[Task], followers: Mapping[str, list[Task]], gates: Mapping[str, str]) -> tuple[Hold, ...]:
    """One for each reason, those that want a person first, then the largest."""
    found: dict[str, list[Task]] = defaultdict(list)
    for task in known:
        if task.status in _ROWS or task.status not in TERMINAL:
            found[_reason(task, gates)].append(task)
    rows = [
        _hold(
            name,
            tasks,
            followers,
            person=_wants_person(name),
            parts=_causes(tasks, followers) if name == Status.DEAD else (),
        )
        for name, tasks in found.items()
    ]
    return tuple(sorted(rows, key=lambda one: (not one.person, one.key == Status.RUNNING, -len(one.ids), one.key)))


def _left(known: Sequence[Task], followers: Mapping[str, list[Task]], gates: Mapping[str, str]) -> tuple[ShopLeft, ...]:
    """One for each shop, those that want a person first, then those with the most."""
    found: dict[str, list[Task]] = defaultdict(list)
    for task in known:
        if task.status in _ROWS or task.status not in TERMINAL:
            found[task.shop].append(task)
    rows = []
    for shop, tasks in found.items():
        reasons = Counter(_reason(task, gates) for task in tasks).most_common()
        ids = tuple(task.task_id for task in tasks)
        rows.append(
            ShopLeft(
                shop,
                ids,
                tuple(Counter(task.task_type for task in tasks).most_common()),
                tuple(sorted(reasons, key=lambda one: not _wants_person(one[0]))),
                min(task.updated_at or task.created_at for task in tasks),
                _behind(ids, followers) if len(found) <= MOST_SHOPS else UNTOLD,
                any(_wants_person(name) for name, _number in reasons),
            )
        )
    return tuple(sorted(rows, key=lambda one: (not one.person, -len(one.ids), one.shop)))


def _wants_person(name: str) -> bool:
    """Whether what waits for this reason goes on only when somebody does something: ends a pause, too."""
    gate = listed.BY_NAME.get(name)
    return name in (Status.DEAD, Status.HELD, paused.GATE) or (gate is not None and gate.person)


def _hold(
    name: str,
    tasks: Sequence[Task],
    followers: Mapping[str, list[Task]],
    *,
    person: bool,
    parts: tuple[Hold, ...] = (),
    title: Message | None = None,
) -> Hold:
    return Hold(
        key=name,
        ids=tuple(task.task_id for task in tasks),
        types=tuple(Counter(task.task_type for task in tasks).most_common()),
        shops=len({task.shop for task in tasks}),
        oldest_at=min(task.updated_at or task.created_at for task in tasks),
        behind=_behind([task.task_id for task in tasks], followers),
        person=person,
        parts=parts,
        title=title,
    )


def _causes(dead: Sequence[Task], followers: Mapping[str, list[Task]]) -> tuple[Hold, ...]:
    """Dead ones by what they died of; beyond the first few all others as one."""
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in dead:
        groups[task.fingerprint or task.error_kind or "unknown"].append(task)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    found = [
        _hold(
            f"{Status.DEAD}:{name}",
            some,
            followers,
            person=True,
            title=cause.title(some[0].error_kind, cause.patterns((task.error_kind, task.error) for task in some)),
        )
        for name, some in ordered[:MOST_CAUSES]
    ]
    if rest := [task for _name, some in ordered[MOST_CAUSES:] for task in some]:
        apart = tuple(name for name, _some in ordered[:MOST_CAUSES])
        found.append(replace(_hold(f"{Status.DEAD}:", rest, followers, person=True), apart=apart))
    return tuple(found)


def _reason(task: Task, gates: Mapping[str, str]) -> str:
    if task.status in _ROWS:
        return str(task.status)
    return gates.get(task.task_id, "").partition(":")[0] or task.gate.partition(":")[0] or str(task.status)


def _part(task: Task, gates: Mapping[str, str]) -> str:
    """What is queued counts as held up where a worker that took it now would park it, and what parked as waiting once
    only its turn is left: so its row says beside it.
    """
    part, reason = _PART.get(task.status, HELD), _reason(task, gates)
    if task.status == Status.BLOCKED and reason in _TURNS:
        return WAITING
    return HELD if part == WAITING and reason in listed.BY_NAME and reason not in _TURNS else part


def _behind(tasks: Iterable[str], followers: Mapping[str, list[Task]]) -> int:
    """How many wait for these; what has ended, cancelled by a person say, waits for nothing."""
    own = set(tasks)
    seen: dict[str, Task] = {}
    left = [task for one in own for task in followers.get(one, ())]
    while left:
        task = left.pop()
        if task.task_id not in seen:
            seen[task.task_id] = task
            left += followers.get(task.task_id, ())
    return sum(name not in own and task.status not in TERMINAL for name, task in seen.items())
