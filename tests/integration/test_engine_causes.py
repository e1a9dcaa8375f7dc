"""Causes on both pairs: split by where their letters died, grouped a page at a time, once for all who ask at once."""

from __future__ import annotations

import random
import secrets
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import fields

from services import assembly
from services.domain.change import Create, Forget, SetTriage
from services.domain.errors import StoreUnavailable
from services.domain.task.record import Attempt, Task
from services.domain.task.search.filter import format_terms
from services.domain.task.search.query import Counts, Page, Query, equals
from services.domain.task.status import Status, Triage
from services.monitor.letters import book as letters
from services.monitor.letters.causes import Cause, CauseQueries
from services.ports import Store
from tests.contract.waiting import PATIENCE_S, eventually
from tests.integration.fleet_rig import Fleet
from tests.support.counting import CountingStore


def test_the_letters_of_one_worker_are_a_cause_of_their_own(fleet: Fleet) -> None:
    first = fleet.worker(1)
    ids = [fleet.create(f"s{n}", fail="page_changed", max_retries=0) for n in range(2)]
    fleet.wait_ended(ids)
    first.stop()
    second = fleet.worker(1)
    other = fleet.create("s9", fail="page_changed", max_retries=0)
    fleet.wait_ended([other])
    assert {fleet.task(one).status for one in (*ids, other)} == {Status.DEAD}
    questions, causes = assembly.queries(fleet.engine), fleet.commands().causes
    (whole,) = questions.causes.causes().rows
    assert dict(whole.places)[f"worker:{second.name}"] == 1
    part = causes.split_off(whole.fingerprint, f"worker:{second.name}")
    causes.know(part, owner="bob")
    rows = {one.fingerprint: one for one in questions.causes.causes().rows}
    assert {name: (one.count, one.rule.owner) for name, one in rows.items()} == {
        whole.fingerprint: (2, ""), part: (1, "bob"),
    }  # fmt: skip
    found = {
        name: sorted(task.task_id for task in questions.tasks.page(format_terms(one.terms)).tasks)
        for name, one in rows.items()
    }
    assert found == {whole.fingerprint: sorted(ids), part: [other]}
    entry = next(one for one in fleet.engine.store.audit(10) if one.action == "cause.split")
    assert entry.target[0] == whole.fingerprint
    assert causes.join(part) == whole.fingerprint
    assert [one.count for one in questions.causes.causes().rows] == [3]


def put_letters(fleet: Fleet, count: int, prints: Sequence[str] = ("ab" * 8,)) -> list[str]:
    """Dead letters of some causes, as they lie in the store: their ids."""
    at = fleet.engine.store.now_ms()
    answers = fleet.engine.store.apply(
        [
            Create(
                task=Task(
                    task_id=f"pdd_echo_s{number}_{secrets.token_hex(6)}",
                    shop_id=f"s{number}",
                    platform="pdd",
                    task_type="echo",
                    status=Status.DEAD,
                    triage=Triage.OPEN,
                    attempt=1,
                    created_at=at - number,
                    ended_at=at - number,
                    error="it broke",
                    error_kind="network",
                    fingerprint=prints[number % len(prints)],
                    attempts=(Attempt(1, "w1", at - 9, at - number, "failed", "network", "it broke"),),
                )
            )
            for number in range(count)
        ]
    )
    return [one.task.task_id for one in answers if one.task is not None]


class Lent(CountingStore):
    """Knows how many of the records that it handed out somebody still has whenever it is asked for more."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._lent: list[Task] = []
        self.most = 0

    def query(self, query: Query) -> Page:
        """Hand on a page."""
        nobody = next(sys.getrefcount(one) for one in [object()])
        self.most = max(self.most, sum(sys.getrefcount(one) > nobody for one in self._lent))
        page = self._store.query(query)
        self._lent += page.tasks
        return page


def test_letters_are_grouped_a_page_at_a_time(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    put_letters(fleet, 60)
    monkeypatch.setattr(letters, "PAGE", 6)
    store = Lent(fleet.engine.store)
    found = CauseQueries(store.port, fleet.engine.registry).causes()
    (one,) = found.rows
    assert (found.scanned, one.count, one.shops, sum(one.history), one.headline) == (60, 60, 60, 60, "it broke")
    assert (one.reach.failed, one.reach.ran) == (60, 60)
    assert store.most <= 2 * 6, "tens of thousands of records would fill the memory"


COMPARED = [one.name for one in fields(Cause)]


class Reading(CountingStore):
    """Knows how often pages of all open letters were asked for."""

    pages = 0

    def query(self, query: Query) -> Page:
        """Hand on a page."""
        self.pages += query.terms == (equals("status", Status.DEAD), equals("triage", Triage.OPEN))
        return self._store.query(query)


def test_what_is_remembered_of_letters_is_what_reading_them_again_tells(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(7)
    engine = fleet.engine
    store = Reading(engine.store)
    causes = CauseQueries(store.port, engine.registry)
    ids = put_letters(fleet, 40, prints=("ab" * 8, "cd" * 8, "ef" * 8))
    keep, apart = fleet.commands(), set[str]()

    def same() -> None:
        told = causes.causes()
        read = CauseQueries(engine.store, engine.registry).causes()
        assert (told.scanned, told.total) == (read.scanned, read.total)
        for one, other in zip(told.rows, read.rows, strict=True):
            assert {name: getattr(one, name) for name in COMPARED} == {name: getattr(other, name) for name in COMPARED}

    same()
    assert store.pages == 1
    for number in range(12):
        open_ones = [task for task in engine.store.get(ids) if task is not None and task.triage == Triage.OPEN]
        some = [task.task_id for task in dice.sample(open_ones, 2)]
        if number % 4 == 0:
            engine.store.apply([SetTriage(task_id=one, triage=Triage.ARCHIVED, by="amy") for one in some])
            keep.causes.know(f"{number % 3:016x}", owner="bob")
        elif number % 4 == 1:
            for one in some:
                keep.dead_letters.republish([one])
        elif number % 4 == 2:
            ids += put_letters(fleet, 3, prints=("ab" * 8, "01" * 8))
            shut = [task for task in engine.store.get(ids) if task is not None and task.triage == Triage.ARCHIVED]
            engine.store.apply([Forget(task_id=one.task_id, updated_at=one.updated_at, tomb_ms=0) for one in shut])
        else:
            gone = open_ones[0]
            engine.store.apply([Forget(task_id=gone.task_id, updated_at=gone.updated_at, tomb_ms=0)])
            shop = next(task.shop for task in open_ones[1:] if task.fingerprint == "ab" * 8 and task.shop not in apart)
            apart.add(shop)
            keep.causes.split_off("ab" * 8, f"shop:{shop}")
        same()
    assert store.pages == 1, "events told what became of each"
    monkeypatch.setattr(letters, "MOST_EVENTS", 0)
    put_letters(fleet, 1)
    same()
    assert store.pages == 2, "too much happened: all is read"


class Gate(CountingStore):
    """Lets nobody read letters before it is opened, and knows how many did at the same time."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.reached, self.opened, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self.readings = self.inside = self.most = 0

    def counts(self) -> Counts:
        """One for each answer."""
        with self._lock:
            self.readings += 1
        return self._store.counts()

    def query(self, query: Query) -> Page:
        """Wait for the gate."""
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.reached.set()
        assert self.opened.wait(PATIENCE_S)
        page = self._store.query(query)
        with self._lock:
            self.inside -= 1
        return page


def test_who_asks_for_causes_meanwhile_shares_the_next_answer(fleet: Fleet) -> None:
    told = 0

    def shared() -> bool:
        """Whether five who asked while others were answered had one reading for all of them."""
        nonlocal told
        gate = Gate(fleet.engine.store)
        causes = CauseQueries(gate.port, fleet.engine.registry)
        with ThreadPoolExecutor(6) as pool:
            first = pool.submit(causes.causes)
            assert gate.reached.wait(PATIENCE_S)
            put_letters(fleet, 2)
            told += 2
            others = [pool.submit(causes.causes) for _ in range(5)]
            eventually(lambda: all(one.running() for one in others))
            gate.opened.set()
            assert [one.result(PATIENCE_S).scanned for one in others] == [told] * 5, "what was there when they asked"
            first.result(PATIENCE_S)
        assert gate.most == 1
        return gate.readings == 2

    eventually(shared)


class Failing(CountingStore):
    """Its letters cannot be read while ``error`` stands."""

    error: BaseException | None = None

    def query(self, query: Query) -> Page:
        """Raise what stands there."""
        if self.error is not None:
            raise self.error
        return self._store.query(query)


@pytest.mark.parametrize("error", [StoreUnavailable("away"), KeyboardInterrupt()])
def test_who_could_not_be_answered_keeps_nobody_from_the_next_answer(fleet: Fleet, error: BaseException) -> None:
    put_letters(fleet, 1)
    store = Failing(fleet.engine.store)
    causes = CauseQueries(store.port, fleet.engine.registry)
    store.error = error
    with pytest.raises(type(error)):
        causes.causes()
    store.error = None
    assert causes.causes().scanned == 1


class Unread(CountingStore):
    """No record can be read by its id while ``error`` stands."""

    error: StoreUnavailable | None = None

    def get(self, task_ids: Sequence[str]) -> list[Task | None]:
        """Raise what stands there."""
        if self.error is not None:
            raise self.error
        return self._store.get(task_ids)


def test_what_happened_while_nothing_could_be_read_is_not_missed(fleet: Fleet) -> None:
    ids = put_letters(fleet, 3)
    store = Unread(fleet.engine.store)
    causes = CauseQueries(store.port, fleet.engine.registry)
    assert causes.causes().scanned == 3
    fleet.engine.store.apply([SetTriage(task_id=ids[0], triage=Triage.ARCHIVED, by="amy")])
    store.error = StoreUnavailable("away")
    with pytest.raises(StoreUnavailable):
        causes.causes()
    store.error = None
    assert causes.causes().scanned == 2
