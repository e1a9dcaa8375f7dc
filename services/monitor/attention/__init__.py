"""What needs a person, with the ways out, first what only a person can do: one module a family, and their order."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.errors import ConsoleError
from services.domain.insight.forecast.flow import Flow
from services.domain.insight.shop import ShopNow
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import WAITING, Triage
from services.engine.registry import Registry
from services.monitor.attention import (
    broker,
    dead_letters,
    dependencies,
    drift,
    flood,
    growth,
    held,
    homes,
    hung,
    last_tries,
    pauses,
    promises,
    republished,
    runs,
    schedules,
    shops,
    store,
    words,
    workers,
)
from services.monitor.attention.look import BrokenRun as BrokenRun
from services.monitor.attention.look import Look as Look
from services.monitor.letters.book import MANY, SCAN_LIMIT
from services.monitor.letters.causes import Cause, CauseQueries
from services.monitor.live import Snapshot
from services.monitor.numbers.measured import Measured
from services.monitor.overview import Attention
from services.monitor.shops.queries import ShopQueries
from services.monitor.shops.states import ShopStates
from services.monitor.waits.gates import GateLook
from services.ports import Clock, Store

#: The families in the order of their items: what only a person can decide, what waits for a person, what failed and
#: why, what gets worse by itself, and what only informs.
FAMILIES: tuple[Callable[[Look], Iterable[Attention]], ...] = (
    store.items,
    held.items,
    shops.logins,
    runs.items,
    republished.items,
    dependencies.items,
    promises.items,
    drift.items,
    dead_letters.items,
    workers.missing,
    workers.unable,
    homes.items,
    workers.silent,
    workers.cut_off,
    hung.items,
    schedules.late,
    schedules.leaderless,
    broker.items,
    growth.items,
    flood.items,
    shops.stuck,
    shops.breakers,
    last_tries.items,
    pauses.items,
)
#: Those that tell who is not heard of: while the store takes no writes nobody can be, and another worker helps nothing.
OF_SILENCE = frozenset(
    (workers.missing, workers.silent, workers.cut_off, homes.items, schedules.late, schedules.leaderless)
)
#: Source texts by code.
WORDS: Mapping[str, words.Words] = {
    **held.WORDS,
    **shops.WORDS,
    **republished.WORDS,
    **runs.WORDS,
    **hung.WORDS,
    **dead_letters.WORDS,
    **dependencies.WORDS,
    **workers.WORDS,
    **schedules.WORDS,
    **homes.WORDS,
    **broker.WORDS,
    **growth.WORDS,
    **flood.WORDS,
    **last_tries.WORDS,
    **pauses.WORDS,
    **promises.WORDS,
    **drift.WORDS,
    **store.WORDS,
}
#: The causes are grouped anew when the number of dead letters changed, in at most a twentieth of the time, but more
#: often where it takes next to none, for the number that is shown waits for it. Now and then without that, too: whether
#: they would pass now is shown by others that succeed.
CAUSES_SHARE, CAUSES_BRIEF_SHARE, CAUSES_BRIEF_S, CAUSES_S = 20.0, 2.0, 0.05, 20.0
#: grouping ``MANY`` letters takes seconds, which all else that a screen shows need not wait for: it begins so
#: much later, for the screen is to come first, and while it is done it is looked for so often
APART_S = 0.5


class _Grouped(msgspec.Struct, frozen=True):
    causes: tuple[Cause, ...] = ()
    dead: int = -1  #: dead letters that the causes are of, below 0 before they were grouped
    counted: int = -1  #: how many were counted then


class AttentionFinder:
    """Blocking; one thread at a time."""

    def __init__(
        self,
        store: Store,
        causes: CauseQueries,
        clock: Clock,
        name: Callable[[str], str],
        registry: Registry,
        broken_run: Callable[[], BrokenRun | None] = lambda: None,
        *,
        apart: bool = False,
    ) -> None:
        """``name`` turns ``platform:shop_id`` into the name of the shop; ``broken_run`` tells of a bulk republish that
        ended in the middle; ``apart``: causes of many letters are grouped by a thread of its own, and told when it is
        done with them, by ``find`` after ``agreed``.
        """
        self._broken_run, self._measured = broken_run, Measured(store)
        self._store, self._causes, self._clock, self._name = store, causes, clock, name
        self._kind, self._gates = registry.task_type, GateLook(store, registry)
        self._apart, self._at_work = apart, threading.Lock()
        self._wrong: Exception | None = None  #: what the thread ended in, until it is told
        self._told = self._newest = _Grouped()  #: what items tell, and what there is to tell since
        self.owed_s = 0.0  #: of the last ``agreed``: other letters are counted, which can be told of in so many seconds
        self._due = self._grouped_at = 0.0
        self._back_off = 0.0  #: seconds until it is asked again after a look that failed; 0 after one that did not

    def find(
        self, snapshot: Snapshot, shops: Sequence[ShopNow], oldest: Task | None, flow: Flow | None = None
    ) -> tuple[Attention, ...]:
        """All items in their order."""
        if not snapshot.at_ms:
            return ()
        if not self._apart:
            self._group(snapshot)
        told, dead = self._told, snapshot.counts.triage.get(Triage.OPEN, 0)
        look = Look(
            snapshot=snapshot,
            store=self._store,
            causes=told.causes,
            ungrouped=dead if self._apart and told.dead < 0 else 0,
            failed=self._back_off > 0.0,
            name=self._name,
            kind=self._kind,
            terms=self._gates.terms,
            letter=self._causes.of_letter,
            shops=shops,
            oldest=oldest,
            flow=flow,
            usual=lambda task_type, shop: self._measured.usual(task_type, shop, 0),
            usual_there=lambda task_type, platform: self._measured.on_platform(task_type, platform, 0),
            broken_run=self._broken_run,
        )
        unheard = OF_SILENCE if snapshot.no_writes else frozenset()
        return _merged([item for items in FAMILIES if items not in unheard for item in items(look)])

    def once(self, snapshot: Snapshot, states: ShopStates, flow: Flow | None = None) -> tuple[Attention, ...]:
        """The items of the moment of the snapshot, for who follows nothing."""
        terms = (equals("status", *sorted(WAITING)),)
        oldest = self._store.query(Query(terms=terms, descending=False, limit=1, want_total=False)).tasks
        return self.find(snapshot, states.look(seen=snapshot), oldest[0] if oldest else None, flow)

    def agreed(self, snapshot: Snapshot) -> Snapshot:
        """The same with as many open dead letters as the items tell of, which are not grouped anew for each snapshot:
        what stands beside them must not name another number.
        """
        self._group(snapshot)
        counted, told = snapshot.counts.triage.get(Triage.OPEN, 0), self._told
        soon = APART_S if self._at_work.locked() else self._due - self._clock.monotonic()
        self.owed_s = max(0.0, soon) if counted != told.counted else 0.0
        if told.dead < 0:
            return snapshot
        triage = {**snapshot.counts.triage, Triage.OPEN: told.dead}
        return dataclasses.replace(snapshot, counts=replace(snapshot.counts, triage=triage))

    def _group(self, snapshot: Snapshot) -> None:
        if (wrong := self._wrong) is not None:
            self._wrong = None
            raise wrong
        self._told = self._newest
        dead, begun = snapshot.counts.triage.get(Triage.OPEN, 0), self._clock.monotonic()
        aged = dead > 0 and begun >= self._grouped_at + CAUSES_S
        if not (dead != self._told.dead or aged) or begun < self._due or self._at_work.locked():
            return
        if not self._apart or dead <= MANY:
            self._ask(dead, begun)
            self._told = self._newest
        elif self._told.dead < 0 and not self._due:
            self._due = begun + APART_S
        else:
            self._at_work.acquire()
            threading.Thread(target=self._ask_apart, args=(dead, begun), name="causes", daemon=True).start()

    def _ask_apart(self, dead: int, begun: float) -> None:
        try:
            self._ask(dead, begun)
        except Exception as exc:  # noqa: BLE001 - told by who looks next
            self._wrong = exc
        finally:
            self._at_work.release()

    def _ask(self, dead: int, begun: float) -> None:
        try:
            found = self._causes.causes()
        except ConsoleError:
            self._back_off = min(CAUSES_S, 2.0 * self._back_off or 1.0)
            self._due = self._clock.monotonic() + self._back_off
            return
        self._back_off = 0.0
        known = found.scanned if found.scanned < SCAN_LIMIT else max(found.total, found.scanned)
        self._newest, self._grouped_at = _Grouped(found.rows, known, dead), begun
        spent = self._clock.monotonic() - begun
        share = min(CAUSES_SHARE, CAUSES_BRIEF_SHARE * max(1.0, spent / CAUSES_BRIEF_S))
        self._due = begun + share * spent


def _merged(items: Sequence[Attention]) -> tuple[Attention, ...]:
    """A cause of which republished letters died again is one matter: what tells of all its letters and says that too
    stands where that alone would.
    """
    whole = {item.again: item for item in items if item.again and item.key.startswith("dead:")}
    apart = {item.again for item in items if item.again in whole and not item.key.startswith("dead:")}
    found = []
    for item in items:
        if item.again not in apart:
            found.append(item)
        elif item is not whole[item.again]:
            found.append(whole[item.again])
    return tuple(found)


def look_once(
    store: Store,
    registry: Registry,
    clock: Clock,
    snapshot: Snapshot,
    flow: Flow | None,
    broken_run: Callable[[], BrokenRun | None] = lambda: None,
) -> tuple[Attention, ...]:
    """What needs a person at the moment of the snapshot, for who follows nothing; ``flow``: whether work flows.
    Blocking.
    """
    states = ShopQueries(store, registry).states
    finder = AttentionFinder(store, CauseQueries(store, registry), clock, registry.shop_name, registry, broken_run)
    return finder.once(snapshot, states, flow)


def present(item: Attention) -> tuple[str, str]:
    """One item in the present language: title and sentence."""
    return words.present(item, WORDS[item.code])


def english(item: Attention) -> str:
    """One item in plain English, for machines."""
    return words.english(item, WORDS[item.code])
