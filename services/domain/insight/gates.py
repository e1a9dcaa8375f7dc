"""Which gate is closed now for any waiting task, from facts of the fleet that are cheap to have for a whole page.

The record names the gate that a task met first when it parked; meanwhile its shop may have been logged out, or its
platform paused. So the answer is a list of rules in the order of the gates; the first that holds is the gate. A rule is
made of terms of a filter: the same rules judge a record in hand and, translated, find the tasks in a store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from services.domain.fleet.shop import SCOPE_ALL, Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import ability, breaker, dependency, home, limit, listed, paused, session
from services.domain.gates.breaker import Breaker
from services.domain.gates.home import Home
from services.domain.gates.limit import LimitNow
from services.domain.insight import worker
from services.domain.task.lane import LANES
from services.domain.task.record import Task
from services.domain.task.search import match
from services.domain.task.search.query import Term, any_of, equals, excludes, none_of
from services.domain.task.status import UNDER_WAY, Status
from services.domain.types.task_type import TaskType

NOT_DUE, PAUSED, SHOP_BUSY, TWIN = listed.NOT_DUE, paused.GATE, listed.SHOP_BUSY, listed.TWIN
MESSAGE, BROKER, NO_WORKER, LANE_ORDER = listed.MESSAGE, listed.BROKER, home.NO_WORKER, listed.LANE_ORDER
DEPENDENCY, SESSION, BREAKER, QUOTA, HOME = dependency.GATE, session.GATE, breaker.GATE, limit.GATE, home.GATE
#: the order of testing
GATES = tuple(listed.BY_NAME)
#: statuses of a task that has a gate; what runs, is held or has ended waits at none
GATED = (Status.BLOCKED, Status.PENDING, Status.QUEUED, Status.RETRYING, Status.SCHEDULED)
#: gates of a shop that its parked tasks may still name when another one holds them
_OF_SHOP = (SHOP_BUSY, *listed.SWITCHES, SESSION, BREAKER)
_AT_NODE = f"{home.gate_of('')}*"
#: a task waits there for something else than its turn
BARRING = frozenset((*listed.SWITCHES, SESSION, BREAKER, HOME, BROKER, NO_WORKER))
_BLOCKED = equals("status", Status.BLOCKED)
NOBODY = equals("id")
_UNDER_WAY = equals("status", *sorted(UNDER_WAY))

Terms = tuple[Term, ...]


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks that no worker can take now: of these types (``others``: of all but these), in a lane ("": in any), and of
    these shops (None: of all).
    """

    lane: str = ""
    types: frozenset[str] = frozenset()
    others: bool = False
    shops: frozenset[str] | None = None


class GatesNow(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What closes gates at this moment. Shops are ``platform:shop_id``."""

    now_ms: int
    pauses: tuple[Pause, ...] = ()  #: closed switches of all gates that have some
    passes: frozenset[str] = frozenset()  #: tasks that somebody lets through pauses, quiet hours and breakers
    sessions: frozenset[str] = frozenset()  #: shops that wait for a login
    breakers: tuple[Breaker, ...] = ()  #: those that are open
    busy: frozenset[str] = frozenset()  #: shops that run as many tasks as they may
    idle: frozenset[str] = frozenset()  #: shops with parked tasks that run fewer, those on their way counted
    limits: tuple[LimitNow, ...] = ()
    twins: frozenset[str] = frozenset()  #: uniqueness keys of tasks that run or are held
    away: tuple[Gap, ...] = ()  #: shops whose home node has nobody to run them
    cut_off: tuple[Gap, ...] = ()  #: whose workers are there and cannot reach the broker
    unserved: tuple[Gap, ...] = ()
    lost: bool = False  #: the broker does not answer, so nothing is handed to any worker
    stuck: bool = False  #: the broker takes no messages, or does not answer: what is not sent waits for nothing else

    def gate_of(self, task: Task) -> str:
        """The gate that a task waits at, "" for one that does not wait."""
        if task.status not in GATED:
            return ""
        return next(gate for gate, fits in self._tests if fits(task))

    def terms(self, term: Term) -> Terms:
        """What a term on ``gate``, as people write it, means now in terms of the records.

        ``home_node:desk`` asks for what waits for that node.
        """
        found: list[Terms] = []
        for value in term.values:
            found += self._found(value)
        if term.negated:
            return (none_of(*found),)
        if not found:  # nobody can wait there now, which no store has to look for
            return (NOBODY,)
        return found[0] if len(found) == 1 else (equals("status", *GATED), any_of(*found))

    def _found(self, value: str) -> Iterator[Terms]:
        node = home.node_of(value.removesuffix("*")) if value != _AT_NODE else ""
        wanted = HOME if node else value
        for place, (gate, rule) in enumerate(self.rules):
            prefix = wanted.endswith("*") and (gate.startswith(wanted[:-1]) or (wanted == _AT_NODE and gate == HOME))
            if gate == wanted or prefix:
                narrow = (equals("gate", value),) if node else ()
                before = tuple(none_of(other) for _, other in self.rules[:place])
                yield (equals("status", *GATED), *rule, *narrow, *before)

    @cached_property
    def _tests(self) -> tuple[tuple[str, Callable[[Task], bool]], ...]:
        return tuple((gate, match.all_of(rule)) for gate, rule in self.rules)

    @cached_property
    def rules(self) -> tuple[tuple[str, Terms], ...]:
        """Gates that something can wait at now, in their order, each with what is true of a waiting task there. A gate
        that is decisive wherever it is closed comes once more before those that would be named for it.
        """
        rules: tuple[tuple[str, Iterable[Terms]], ...] = (
            (NOT_DUE, self._not_due()),
            (DEPENDENCY, ((_BLOCKED, equals("gate", DEPENDENCY)),)),
            (MESSAGE, ((equals("status", Status.PENDING),),) if self.stuck else ()),
            *((gate, self._switched(gate)) for gate in listed.SWITCHES),
            (SESSION, _in_shops(self.sessions)),
            (BREAKER, self._breaker()),
            # neither a free place nor a higher limit of the shop would let it go
            (TWIN, self._same_work()),
            (SHOP_BUSY, self._shop()),
            (QUOTA, self._quota()),
            (TWIN, self._twin()),
            (HOME, self._home()),
            (MESSAGE, ((equals("status", Status.PENDING),),)),
            (BROKER, self._broker()),
            (NO_WORKER, self._workers()),
            (LANE_ORDER, ((),)),
        )
        named = ((gate, tuple(lists)) for gate, lists in rules)
        return tuple((gate, lists[0] if len(lists) == 1 else (any_of(*lists),)) for gate, lists in named if lists)

    def _not_due(self) -> Iterator[Terms]:
        yield (equals("status", Status.SCHEDULED),)  # past its time too: only the leader can send it
        yield equals("status", Status.RETRYING), Term(field="due", op=">", number=self.now_ms)

    def _switched(self, gate: str) -> Iterator[Terms]:
        by_field: dict[str, list[str]] = {}
        for pause in self.pauses:
            if pause.gate != gate:
                continue
            field, _, name = pause.scope.partition(":")
            by_field.setdefault(field, []).append(name)
        others = self._without_pass()
        if SCOPE_ALL in by_field:
            yield others
            return
        for field, names in sorted(by_field.items()):
            yield equals(field, *sorted(names)), *others

    def _without_pass(self) -> Terms:
        return (excludes("id", *sorted(self.passes)),) if self.passes else ()

    def _breaker(self) -> Iterator[Terms]:
        trying = {one.shop for one in self.breakers if one.until <= self.now_ms}
        shut = {one.shop for one in self.breakers} - (trying - self.busy)
        others = self._without_pass()
        for terms in _in_shops(shut):
            yield *terms, *others
        for terms in _in_shops(trying - shut):  # the one that is on its way is the try
            yield _BLOCKED, *terms, *others

    def _shop(self) -> Iterator[Terms]:
        yield from _in_shops(self.busy)
        idle = (excludes("shop", *sorted(self.idle)),) if self.idle else ()
        yield _BLOCKED, equals("gate", *_OF_SHOP), *idle

    def _quota(self) -> Iterator[Terms]:
        for one in self.limits:
            field, _, name = one.limit.scope.partition(":")
            if one.used_up:
                yield (equals(field, name),)
            elif one.full:  # who is on the way has the promise that fills it
                yield _BLOCKED, equals(field, name)
            elif one.waiting:
                yield _BLOCKED, equals("gate", QUOTA), equals(field, name)

    def _twin(self) -> Iterator[Terms]:
        yield _BLOCKED, equals("gate", TWIN)

    def _same_work(self) -> Iterator[Terms]:
        if self.twins:
            yield (equals("uniq", *sorted(self.twins)),)

    def _home(self) -> Iterator[Terms]:
        yield _BLOCKED, equals("gate", _AT_NODE)
        for gap in self.away:
            yield _UNDER_WAY, *_in_gap(gap)

    def _broker(self) -> Iterator[Terms]:
        if self.lost:
            yield ()
            return
        for gap in self.cut_off:
            yield _in_gap(gap)

    def _workers(self) -> Iterator[Terms]:
        """What parked because its worker could not run it waits for a slot of one that can, as soon as there is one."""
        for gap in self.unserved:
            yield _in_gap(gap)


def occupied(
    counts: Mapping[str, Mapping[str, int]], shops: Mapping[str, Shop]
) -> tuple[frozenset[str], frozenset[str]]:
    """``busy`` and ``idle`` of the shops, by their tasks in each status."""
    busy, idle = set(), set()
    for key, by_status in counts.items():
        shop = shops.get(key)
        most, running = shop.concurrency if shop is not None else 1, by_status.get(Status.RUNNING, 0)
        if running >= most:
            busy.add(key)
        elif by_status.get(Status.BLOCKED):
            for status in UNDER_WAY:
                running += by_status.get(status, 0)
            if running < most:
                idle.add(key)
    return frozenset(busy), frozenset(idle)


def unserved(types: Mapping[str, TaskType], defaults: TaskType, workers: Sequence[WorkerInfo], now: int) -> list[Gap]:
    """Tasks that no living worker of their lane can run; ``defaults`` is what a type is that nobody defined."""
    gaps = []
    for lane in LANES:
        supplies = {name: ability.supply(kind, lane, workers, now) for name, kind in types.items()}
        other = ability.supply(defaults, lane, workers, now)
        if not other.serving:
            gaps.append(Gap(lane=lane, others=True))
            continue
        lacking = frozenset(name for name, supply in supplies.items() if not supply.able)
        if not other.able:
            gaps.append(Gap(lane=lane, types=frozenset(supplies) - lacking, others=True))
        elif lacking:
            gaps.append(Gap(lane=lane, types=lacking))
    return gaps


def cut_off(workers: Sequence[WorkerInfo], now: int) -> list[Gap]:
    """Lanes whose every worker is heard of and cannot reach the broker: nobody has to be started for their tasks."""
    serving = {lane for info in workers if worker.takes_work(info, now) for lane in info.open_lanes}
    apart = {lane for info in workers if worker.cut_off(info, now) for lane in info.open_lanes}
    return [Gap(lane=lane) for lane in LANES if lane in apart - serving]


def homebound(types: Mapping[str, TaskType], workers: Sequence[WorkerInfo]) -> list[TaskType]:
    """Types that need the browser profile of their shop."""
    return [kind for kind in types.values() if ability.works_at_home(kind, workers)]


def away(
    types: Mapping[str, TaskType], homes: Mapping[str, Home], workers: Sequence[WorkerInfo], now: int
) -> list[Gap]:
    """Tasks that need the browser profile of their shop where nobody on its home node can run them."""
    bound = homebound(types, workers)
    by_node: dict[str, set[str]] = {}
    for key, one in homes.items():
        by_node.setdefault(one.node, set()).add(key)
    gaps = []
    for node, shops in sorted(by_node.items()) if bound else ():
        for lane in LANES:
            lacking = frozenset(kind.name for kind in bound if not ability.at_home(node, kind, lane, workers, now).able)
            if lacking:
                gaps.append(Gap(lane=lane, types=lacking, shops=frozenset(shops)))
    return gaps


def _in_shops(shops: Collection[str]) -> Iterator[Terms]:
    if shops:
        yield (equals("shop", *sorted(shops)),)


def _in_gap(gap: Gap) -> Terms:
    terms = [equals("lane", gap.lane)] if gap.lane else []
    if gap.others and gap.types:
        terms.append(excludes("type", *sorted(gap.types)))
    elif gap.types:
        terms.append(equals("type", *sorted(gap.types)))
    if gap.shops is not None:
        terms.append(equals("shop", *sorted(gap.shops)))
    return tuple(terms)
