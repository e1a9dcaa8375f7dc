"""Judges all promises every 15 seconds, while this process leads, and keeps how they stand in the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from services.domain.errors import StoreUnavailable
from services.domain.insight.forecast.durations import ENOUGH
from services.domain.promises import forecast, judge, standing
from services.domain.promises import promise as promises
from services.domain.promises.judge import CREATED
from services.domain.promises.promise import AGE, KIND, STATE, Promise
from services.domain.promises.standing import Standing
from services.domain.task.order import BrokerHealth
from services.engine.lead.duty import OnDuty, Rounds
from services.engine.registry import Registry
from services.monitor.numbers.measured import Measured
from services.monitor.waits.waiting import WaitingFacts
from services.ports import Clock, Store
from services.watch.promises.look import Look, Stopped

log = logging.getLogger(__name__)
EVERY_S = 15.0
#: a gap longer than this says nothing of how regularly work comes: somebody had stopped it
LONGEST_GAP_S = 31 * 86_400


class PromiseKeeper(OnDuty):
    """Started and stopped with the leadership. What it has learnt stands in the store, so the next leader goes on."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        clock: Clock,
        name: str,
        health: Callable[[], BrokerHealth] | None = None,
    ) -> None:
        """``name``: who judges; ``health``: how the broker does for this process."""
        self._store, self._registry, self._name, self._health = store, registry, name, health
        self._measured, self._waiting = Measured(store), WaitingFacts(store, registry, health)
        self._seen: dict[str, Mapping[str, int]] = {}  #: last successes of a type by shop, as the last round saw them
        self._late: dict[tuple[str, str], int] = {}  #: by promise and shop: since when its forecast passes the limit
        self._told: set[tuple[str, str]] = set()  #: name and body of what cannot be read and was logged
        self._duty = Rounds(
            self.tick,
            EVERY_S,
            clock,
            f"{name}-promises",
            log=log,
            waits="promises are not judged",
            begin=self._forget_looks,  # what happened while others led is in no gap
        )

    def _forget_looks(self) -> None:
        self._seen.clear()
        self._late.clear()

    def tick(self) -> int:
        """Judge all promises now; how many were, 0 where it was stopped meanwhile.

        Raises:
            StoreUnavailable: nothing can be read or recorded now.
        """
        found = self._known()
        wanted = [one for one in found if one.enabled]
        stored = self._store.documents(STATE)
        self._forget({one.name for one in found}, stored)
        if not wanted:
            return 0
        try:
            self._judge(wanted, stored)
        except Stopped:
            return 0
        return len(wanted)

    def _judge(self, wanted: Sequence[Promise], stored: Mapping[str, str]) -> None:
        look = self.look(wanted, _regular(wanted, stored), lambda: self._duty.stopped)
        for promise in wanted:
            if self._duty.stopped:
                raise Stopped
            try:
                self._put(
                    judge_one(
                        look,
                        promise,
                        standing.DOCUMENT.read(stored.get(promise.name), None),
                        by=self._name,
                        seen=self._seen,
                        late=self._late,
                    )
                )
            except (StoreUnavailable, Stopped):
                raise
            except Exception:  # whatever is wrong with one, the others must be judged
                log.exception("promise %s cannot be judged", promise.name)
        self._seen = {kind: look.of_type(kind).done for kind in {one.task_type for one in wanted}}

    def tried(self, promise: Promise) -> Standing:
        """How a promise would stand that nobody has kept; changes nothing.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        others = [one for one in self._known() if one.enabled and one.name != promise.name]
        return judge_one(self.look([*others, promise]), promise, None, by=self._name, seen={})

    def look(
        self,
        wanted: Iterable[Promise],
        regular: Mapping[str, float] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Look:
        """A look at the fleet as it is now, for these promises; ``regular``: seconds from one success of a type to the
        next; ``stopped``: whether nobody wants the answer any more.
        """
        types = {one.task_type for one in wanted}
        return Look(self._store, self._registry, self._measured, self._waiting, self._health, regular, types, stopped)

    def _known(self) -> list[Promise]:
        bodies = self._store.documents(KIND)

        def unread(name: str, exc: Exception) -> None:
            if (name, bodies[name]) not in self._told:
                log.warning("promise %s cannot be read: %s", name, exc)
                self._told.add((name, bodies[name]))

        return list(promises.readable(bodies, unread))

    def _forget(self, names: set[str], stored: Mapping[str, str]) -> None:
        """Of a promise that was taken away while it was judged."""
        self._late = {key: since for key, since in self._late.items() if key[0] in names}
        for name in stored.keys() - names:
            self._store.remove_document(STATE, name)

    def _put(self, found: Standing) -> None:
        self._store.put_document(STATE, found.name, standing.DOCUMENT.dump(found))


def judge_one(
    look: Look,
    promise: Promise,
    before: Standing | None,
    *,
    by: str,
    seen: Mapping[str, Mapping[str, int]],
    late: dict[tuple[str, str], int] | None = None,
) -> Standing:
    """How one promise stands in a look. ``seen``: last successes by type and shop of the look before; ``late``: since
    when the forecasts pass the limit, by promise and shop, carried on here. What is judged for the first time is
    believed at once.

    Blocking.
    """
    window = judge.due(promise, look.zone, look.now)
    gaps = before.gaps if before is not None and before.version == promise.version else ()
    warned = {row.shop: row.break_at for row in before.rows} if before is not None else {}
    late = late if late is not None else {}
    first = 0 if before is None or before.version != promise.version else look.now
    found = []
    for facts in look.facts(promise, window, gaps):
        key = (promise.name, facts.shop)
        since = late.get(key, first)
        one = judge.judge(promise, window, facts, look.now, warned=warned.get(facts.shop, 0), late=since)
        if one.late:
            late[key] = since
        else:
            late.pop(key, None)
        found.append(one)
    done = {one.shop: one.done_at for one in found}
    fresh = _gaps(promise, window.begins, seen.get(promise.task_type, {}), done, _held_back(before))
    known = before
    if before is not None and before.version != promise.version:
        known = standing.renewed(before)
    return standing.after(promise, window, found, known, now=look.now, by=by, gaps=fresh)


def _regular(wanted: Sequence[Promise], stored: Mapping[str, str]) -> dict[str, float]:
    """How often the work of promises comes, by type."""
    found = {}
    for one in wanted:
        before = standing.DOCUMENT.read(stored.get(one.name), None)
        if one.kind == AGE and before is not None and before.version == one.version and len(before.gaps) >= ENOUGH:
            found[one.task_type] = forecast.regular(before.gaps).usual_s
    return found


def _held_back(before: Standing | None) -> set[str]:
    """Shops whose next success came late for another reason than that nobody had asked for it: that is no pace."""
    return {row.shop for row in before.rows if row.check not in ("", CREATED)} if before is not None else set()


def _gaps(
    promise: Promise, begins: int, seen: Mapping[str, int], done: Mapping[str, int], apart: Container[str]
) -> list[int]:
    """Seconds from the last success, or from the begin of the window, to one that came since the last look."""
    longest = promise.limit_s if promise.kind == AGE else LONGEST_GAP_S
    found = []
    for shop, at in done.items():
        last = seen.get(shop, 0)
        if not last or at <= last or shop in apart:
            continue
        since = max(last, begins) if promise.kind == AGE else begins
        if 0 < at - since <= longest * 1000 and (promise.kind == AGE or last < begins):
            found.append((at - since) // 1000)
    return found
