"""Dead letters grouped by cause, with how far each cause reaches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

import pytest
from msgspec.structs import replace

from services.clock import SystemClock
from services.domain.change import Create, SetTriage
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight.batch import Chances
from services.domain.insight.cause import NOT_ASKED
from services.domain.insight.reach import Reach
from services.domain.task.event import Event, EventBatch
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Page, Query, equals
from services.engine import farewells
from services.messages import english
from services.monitor.letters import book as module
from services.monitor.letters.causes import BARS, CauseQueries, Causes
from services.monitor.live import Changes, Live
from tests.contract.waiting import eventually
from tests.support.counting import CountingStore
from tests.unit.services.engine.room import Room


def dead(room: Room, shop: str, cause: str = "9ac1", platform: str = "pdd", error: str = "it broke") -> Task:
    task = room.running(f"w#{shop}{cause}", shop_id=shop, platform=platform)
    return room.finish(task, "dead", error=error, error_kind="network", fingerprint=cause)


def test_nothing_dead_is_no_cause(room: Room) -> None:
    found = CauseQueries(room.store).causes()
    assert (found.rows, found.scanned, found.total, found.shops) == ((), 0, 0, 0)


def test_equal_failures_share_a_cause_the_largest_first(room: Room) -> None:
    for shop in ("s1", "s2", "s3"):
        dead(room, shop, "aaaa", error="timeout 30000 ms at #orders")
        room.clock.advance(10)
    dead(room, "s4", "bbbb", error="login expired")
    found = CauseQueries(room.store).causes()
    first, second = found.rows
    assert (first.fingerprint, first.count, first.shops, first.kind, first.types) == (
        "aaaa",
        3,
        3,
        "network",
        ("work",),
    )
    assert first.last_at - first.first_at == 20_000
    assert (second.fingerprint, second.count, second.headline) == ("bbbb", 1, "login expired")
    assert (found.scanned, found.total, found.shops) == (4, 4, 4)


@pytest.mark.parametrize(
    ("places", "scope"),
    [
        ([("pdd", "s1"), ("pdd", "s1")], "shop"),
        ([("pdd", "s1"), ("pdd", "s2")], "platform"),
        ([("pdd", "s1"), ("temu", "s2"), ("tiktok", "s3")], "all"),
        ([("pdd", "s1"), ("temu", "s2")], "some"),
    ],
)
def test_how_far_a_cause_reaches(room: Room, places: list[tuple[str, str]], scope: str) -> None:
    for number, platform in enumerate(("pdd", "temu", "tiktok")):
        dead(room, f"x{number}", "other", platform)
    for number, (platform, shop) in enumerate(places):
        task = room.running(f"w#{number}", shop_id=shop, platform=platform)
        room.finish(task, "dead", error="x", error_kind="network", fingerprint="mine")
    (mine,) = [cause for cause in CauseQueries(room.store).causes().rows if cause.fingerprint == "mine"]
    assert mine.scope == scope


def ran(room: Room, shop: str, platform: str, worker: str, *, failed: bool) -> Task:
    """One attempt in a shop on a worker, which failed as ``dead`` does or went well."""
    task = room.running(f"{worker}#{shop}", shop_id=shop, platform=platform)
    done = Attempt(
        number=1,
        worker=worker,
        started_at=task.started_at,
        ended_at=room.store.now_ms(),
        outcome="failed" if failed else "succeeded",
        error_kind="network" if failed else "",
    )
    if not failed:
        return room.finish(task, "succeeded", attempt=done)
    return room.finish(task, "dead", attempt=done, error="x", error_kind="network", fingerprint="ab" * 8)


def test_the_shops_that_ran_the_same_work_tell_where_a_cause_lies(room: Room) -> None:
    for number in range(8):
        ran(room, f"t{number}", "temu", f"desk-0{number % 2}-71-3f2a", failed=number > 0)
        ran(room, f"p{number}", "pdd", f"desk-0{number % 2}-71-3f2a", failed=False)
        room.clock.advance(20)
    (one,) = CauseQueries(room.store).causes().rows
    assert english(one.reach.message) == "7 of 8 TEMU shops that ran it: its servers, or the way there"
    assert [(row.value, row.failed, row.ran) for row in one.reach.tables["node"]] == [
        ("desk-01", 4, 8),
        ("desk-00", 3, 8),
    ], "a worker that is gone is known by the machine in its name"
    assert one.trend == "new"


def test_shops_whose_letters_are_here_no_more_are_told_apart_from_those_that_have_some(room: Room) -> None:
    letters = [ran(room, f"t{number}", "temu", "desk", failed=True) for number in range(5)]
    room.ask(SetTriage(task_id=letters[0].task_id, triage="archived", by="ann"))
    (one,) = CauseQueries(room.store).causes().rows
    assert (one.count, one.shops, one.reach.failed, one.reach.gone) == (4, 4, 5, 1)
    assert english(one.reach.rest[-1]) == "of these, 1 without a letter here (dealt with, or trying again)"
    room.ask(SetTriage(task_id=letters[0].task_id, triage="open", by="ann"))
    (one,) = CauseQueries(room.store).causes().rows
    assert (one.count, one.reach.failed, one.reach.gone) == (5, 5, 0)


class Handing(CountingStore):
    """Knows how many records it handed out of what ran of a type since an instant."""

    handed = 0

    def query(self, query: Query) -> Page:
        """Hand on a page."""
        page = self._store.query(query)
        if {"type", "updated"} <= {term.field for term in query.terms} and query.limit > 1:
            self.handed += len(page.tasks)
        return page


def test_of_older_causes_only_what_ran_before_is_read(room: Room) -> None:
    for cause in range(6):
        for number in range(2 + cause):
            task = room.running(f"{cause}#{number}", shop_id=f"s{number}", platform="temu")
            room.finish(task, "dead", error="x", error_kind="network", fingerprint=f"{cause:016x}")
            ran(room, f"p{number}", "pdd", f"w{cause}", failed=False)
        room.clock.advance(3_000)
    store = Handing(room.store)
    causes = CauseQueries(store.port)
    found = causes.causes().rows
    told = [(one.count, one.reach.at, one.reach.ran) for one in found]
    assert told == [(number, "platform", number) for number in (7, 6, 5, 4, 3, 2)]
    assert store.handed <= room.store.counts().total + len(found), "each once"
    assert [one.reach for one in causes.causes().rows] == [one.reach for one in found]


def test_what_workers_say_of_themselves_tells_a_machine_and_a_proxy(room: Room) -> None:
    for name, node, proxy in (("w1", "desk-02", "10.0.0.1:80"), ("w2", "desk-01", "10.0.0.2:80")):
        proxies = {"": proxy, "pdd:s9": "own:1"}
        room.store.heartbeat(WorkerInfo(worker=name, host="x", pid=1, node=node, version="1.2", proxies=proxies))
    for number in range(6):
        ran(room, f"s{number}", "pdd", "w1", failed=True)
        ran(room, f"s{number}", "pdd", "w2", failed=False)
    (one,) = CauseQueries(room.store).causes().rows
    assert (one.reach.at, one.reach.values) == ("node", ("desk-02",))
    assert one.reach.beside == (("proxy", "10.0.0.1:80"),)


def test_a_worker_that_was_stopped_is_judged_by_where_it_ran(room: Room) -> None:
    """Whoever stops the machine that fails must not lose the sentence that names it."""
    told = {}
    for name, node, version in (("w1", "desk-02", "1.3"), ("w2", "desk-01", "1.2")):
        told[name] = WorkerInfo(worker=name, host="x", pid=1, node=node, version=version, proxies={"": f"{node}:80"})
        room.store.heartbeat(told[name])
    for number in range(6):
        ran(room, f"s{number}", "pdd", "w1", failed=True)
        ran(room, f"s{number}", "pdd", "w2", failed=False)
    (before,) = CauseQueries(room.store).causes().rows
    assert (before.reach.at, before.reach.values) == ("node", ("desk-02",))
    for info in told.values():
        farewells.leave(room.store, info)
    assert room.store.workers() == []
    (after,) = CauseQueries(room.store).causes().rows
    assert after.reach == before.reach
    assert after.reach.beside == (("proxy", "desk-02:80"), ("version", "1.3"))
    room.clock.advance(90_000)
    farewells.leave(room.store, WorkerInfo(worker="w3", host="x", pid=1))
    assert farewells.gone(room.store).keys() == {"w3"}, "what left more than a day ago is no evidence any more"


def test_what_ran_before_the_cause_began_is_no_evidence(room: Room) -> None:
    for number in range(4):
        ran(room, f"t{number}", "temu", "w", failed=False)
    room.clock.advance(3_000)
    for number in range(4):
        ran(room, f"t{number}", "temu", "w", failed=True)
        ran(room, f"p{number}", "pdd", "w", failed=False)
    (one,) = CauseQueries(room.store).causes().rows
    assert (one.reach.at, one.reach.failed, one.reach.ran) == ("platform", 4, 4)


def test_the_history_spans_the_deaths_of_all_causes(room: Room) -> None:
    dead(room, "s1", "aaaa")
    room.clock.advance(170)
    dead(room, "s2", "aaaa")
    dead(room, "s3", "bbbb")
    first, second = CauseQueries(room.store).causes().rows
    assert (len(first.history), sum(first.history), first.history[0], first.history[-1]) == (BARS, 2, 1, 1)
    assert (second.history[-1], sum(second.history)) == (1, 1)


def test_of_many_letters_it_is_told_first_who_they_are(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.monitor.letters.causes.MANY", 2)
    queries = CauseQueries(room.store)
    for shop in ("s1", "s2"):
        dead(room, shop, "ab" * 8)
    assert queries.first().judged, "of few all is told at once"
    dead(room, "s3", "cd" * 8)
    others = CauseQueries(room.store)
    first = others.first()
    assert [(one.count, one.worth.code) for one in first.rows] == [(2, "worth.not_asked"), (1, "worth.not_asked")]
    whole = others.causes()
    assert (first.judged, whole.judged, others.first()) == (False, True, whole)
    assert [replace(one, worth=NOT_ASKED, reach=Reach()) for one in whole.rows] == list(first.rows)
    assert [one.worth.code for one in whole.rows] == ["worth.unknown"] * 2


class Between(CountingStore):
    """Does something once while causes are judged, when no step of that is under way."""

    act: Callable[[], object] | None = None
    looked = False

    def query(self, query: Query) -> Page:
        """Hand on a page; judging begins with what succeeded of late."""
        self.looked |= query.terms == (equals("status", "succeeded"),)
        return self._store.query(query)

    def now_ms(self) -> int:
        """Hand on the time."""
        act = self.act
        if self.looked and act is not None:
            self.act = None
            act()
        return self._store.now_ms()


def test_who_asks_first_is_answered_while_others_are_judged(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.monitor.letters.causes.MANY", 0)
    for number in range(5):
        dead(room, f"s{number}", f"{number:016x}")
    store, answers = Between(room.store), list[Causes]()
    queries = CauseQueries(store.port)
    asking = threading.Thread(target=lambda: answers.append(queries.first()))

    def meanwhile() -> None:
        asking.start()
        asking.join(10.0)

    store.act = meanwhile
    assert queries.causes().judged
    asking.join(30.0)
    assert [(len(one.rows), one.judged) for one in answers] == [(5, False)]
    assert queries.first().judged


class Asked(Future[Causes]):
    """Tells when somebody begins to wait for it: who asks makes one, or waits for one that is there."""

    here = threading.Semaphore(0)

    def __init__(self) -> None:
        super().__init__()
        self.here.release()

    def result(self, timeout: float | None = None) -> Causes:
        """Wait."""
        self.here.release()
        return super().result(timeout)


def test_who_asks_while_others_are_judged_shares_the_next_answer(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asked, "here", threading.Semaphore(0))
    monkeypatch.setattr("services.monitor.letters.causes.Future", Asked)
    dead(room, "s1", "ab" * 8)
    store, answers = Between(room.store), list[Causes]()
    queries = CauseQueries(store.port)
    asking = [threading.Thread(target=lambda: answers.append(queries.causes())) for _ in range(6)]

    def meanwhile() -> None:
        dead(room, "s2", "ab" * 8)
        assert Asked.here.acquire(timeout=10.0), "who is judged"
        for one in asking:
            one.start()
            assert Asked.here.acquire(timeout=10.0)

    store.act = meanwhile
    before = queries.causes()
    for one in asking:
        one.join(30.0)
    assert (before.total, len(answers), answers[0].total) == (1, 6, 2)
    assert all(one is answers[0] for one in answers)


def test_what_was_let_go_while_it_was_judged_is_told_first_again(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.monitor.letters.causes.MANY", 0)
    kept, _open = dead(room, "s1"), dead(room, "s2")
    room.ask(SetTriage(task_id=kept.task_id, triage="archived", by="ann"))
    store = Between(room.store)
    queries = CauseQueries(store.port)
    store.act = queries.first  # letters that were put away are forgotten as soon as somebody asks for others
    assert queries.causes("archived").judged
    assert store.act is None
    assert not queries.first("archived").judged


def test_letters_put_away_are_another_question(room: Room) -> None:
    kept, open_ = dead(room, "s1"), dead(room, "s2")
    room.ask(SetTriage(task_id=kept.task_id, triage="archived", by="ann"))
    queries = CauseQueries(room.store)
    assert queries.causes().rows[0].count == 1
    assert queries.causes("archived").rows[0].count == 1
    assert open_.triage == "open"


def test_too_many_to_look_at_are_told(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        dead(room, f"s{number}")
    monkeypatch.setattr(module, "SCAN_LIMIT", 1)
    found = CauseQueries(room.store).causes()
    assert found.total == 5


def test_letters_that_come_are_looked_at_up_to_a_bound(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SCAN_LIMIT", 4), ("SLACK", 2), ("PAGE", 1)):
        monkeypatch.setattr(module, name, value)
    causes, scanned = CauseQueries(room.store), []
    for number in range(12):
        dead(room, f"s{number}")
        found = causes.causes()
        assert found.total == number + 1
        scanned.append(found.scanned)
    assert (scanned[:6], max(scanned)) == ([1, 2, 3, 4, 5, 6], 6), "the oldest are let go"
    assert min(scanned[4:]) >= 4


class Reading(CountingStore):
    """Knows how many events it handed out."""

    read = 0

    def events(self, cursor: str, limit: int, wait_s: float) -> EventBatch:
        """Hand on a batch."""
        batch = self._store.events(cursor, limit, wait_s)
        self.read += len(batch.events)
        return batch


def test_what_somebody_follows_anyway_is_not_read_again(room: Room) -> None:
    live, store = Live(room.store, room.broker, SystemClock()), Reading(room.store)
    causes, heard = CauseQueries(store.port), list[Event]()
    live.on_changes(lambda changes: heard.extend(changes.events))
    causes.follow(live)
    live.start()
    assert live.wait_following(20.0)
    try:
        dead(room, "s0")
        assert causes.causes().rows[0].count == 1
        for number in range(1, 30):
            dead(room, f"s{number}")
        newest = room.store.counts().cursor
        eventually(lambda: heard and heard[-1].cursor == newest)
        store.read = 0
        assert causes.causes().rows[0].count == 30
        assert store.read == 0
    finally:
        live.close()


def test_what_a_follower_missed_is_read(room: Room) -> None:
    causes, store = CauseQueries(room.store), room.store
    dead(room, "s0")
    assert causes.causes().rows[0].count == 1
    eyes = Eyes()
    causes.follow(eyes)  # type: ignore[arg-type]
    begun = store.counts().cursor
    for number in range(1, 5):
        dead(room, f"s{number}")
    events = store.events(begun, 1000, 0.0).events
    eyes.tell(Changes(events=events[:3]))
    eyes.tell(Changes(events=events[-2:], gap=True))
    assert causes.causes().rows[0].count == 5
    dead(room, "s5")
    assert causes.causes().rows[0].count == 6


def test_behind_a_gap_all_is_read_though_the_numbers_agree(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    causes, real = CauseQueries(room.store), room.store.events
    gone = dead(room, "s0")
    dead(room, "s1", cause="0b2d")
    assert {row.fingerprint for row in causes.causes().rows} == {"9ac1", "0b2d"}
    room.ask(SetTriage(task_id=gone.task_id, triage="archived", by="ann"))
    dead(room, "s2", cause="77aa")
    room.create(shop_id="s3")

    def rest(cursor: str, limit: int, wait_s: float) -> EventBatch:
        batch = real(cursor, limit, wait_s)
        return EventBatch(events=batch.events[-1:], cursor=batch.cursor, gap=True)

    monkeypatch.setattr(room.store, "events", rest)
    assert {row.fingerprint for row in causes.causes().rows} == {"77aa", "0b2d"}


class Eyes:
    """Tells its listeners what a test says."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[Changes], None]] = []

    def on_changes(self, listener: Callable[[Changes], None]) -> None:
        """Take one more."""
        self.listeners.append(listener)

    def tell(self, changes: Changes) -> None:
        """Tell them."""
        for listener in self.listeners:
            listener(changes)


def test_what_a_batch_would_come_to_if_it_was_retried_is_told_by_what_others_came_to(room: Room) -> None:
    healed, stays, unheard = "a" * 16, "b" * 16, "c" * 16
    letters = [dead(room, shop, healed) for shop in ("s1", "s2")]
    task = room.running("w#schema", shop_id="s3")
    letters.append(room.finish(task, "dead", error="no field", error_kind="bad_payload", fingerprint=stays))
    room.clock.advance(60)
    done = room.running("w#again", shop_id="s1")
    room.finish(done, "succeeded", attempt=Attempt(1, "w", done.started_at, room.store.now_ms(), "succeeded"))
    letters.append(dead(room, "s4", unheard, platform="temu"))
    waits = replace(letters[0], task_id="r", status="retrying", triage="", error_kind="network")
    causes = CauseQueries(room.store, room.registry)
    assert causes.chances(letters) == Chances(passes=2, again=1, unknown=1)
    assert causes.chances([waits]) == Chances(unknown=1), "nobody of its type went on after such a failure"
    failed = Attempt(1, "w", 0, 0, "failed", "network")
    went_on = replace(done, attempts=(failed, Attempt(2, "w", 0, 0, "succeeded")), status="succeeded")
    room.store.apply([Create(task=replace(went_on, task_id=f"x{number}")) for number in range(5)])
    assert CauseQueries(room.store).chances([waits, letters[0]]) == Chances(passes=2)
    assert causes.chances([replace(letters[0], triage="archived")]) == Chances(), "that is not retried"
