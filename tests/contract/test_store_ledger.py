"""What is known of a work, whichever task did it: its last success, and what that success has overtaken."""

from __future__ import annotations

import sqlite3
import struct
import zoneinfo
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from services.domain.change import (
    Cancel,
    Claim,
    Create,
    Finish,
    Forget,
    GiveUp,
    Published,
    Republish,
    Resolve,
    SetTriage,
)
from services.domain.gates.limit import Limit
from services.domain.task.ledger import Day, Done, Entry, Failure, Ran, failed_by
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status, Triage
from services.ports import Store
from services.store.redis import keys
from services.store.redis.ledger import pack_days, packed_entry
from tests.contract.rig import Rig, attempt_of, changed, recount, same_counts

WORK = "4f2c"


def last(store: Store, work: str = WORK) -> str:
    """Which task did it last."""
    (done,) = store.last_done([work])
    return done.task_id if done is not None else ""


def succeed(rig: Rig, task: Task) -> Task:
    """Run a stored task to its success."""
    assert rig.claim(task, f"w7#{task.task_id}", worker="w7").code == "run"
    ended = rig.finish(rig.record(task)).task
    assert ended is not None
    return ended


def forced(rig: Rig, **fields: Any) -> Task:
    """One that was let past the guard."""
    answer = rig.ask(Create(task=rig.task(uniq=WORK, reason="the first hangs", **fields), on_duplicate="force"))
    assert answer.task is not None
    return answer.task


def open_letters(rig: Rig) -> list[str]:
    return [task.task_id for task in rig.store.query(Query(terms=(equals("triage", "open"),))).tasks]


def test_a_success_is_told_of_its_work(rig: Rig) -> None:
    assert rig.store.last_done([WORK, "other"]) == [None, None]
    task = succeed(rig, rig.create(uniq=WORK))
    told = Done(task.task_id, task.ended_at, "ann@desk", task.worker)
    assert rig.store.last_done(["other", WORK]) == [None, told]
    later = succeed(rig, rig.create(uniq=WORK, created_by="", origin="foreign"))
    assert rig.store.last_done([WORK]) == [Done(later.task_id, later.ended_at, "foreign", later.worker)]


def test_tasks_of_no_work_and_failures_leave_nothing(rig: Rig) -> None:
    succeed(rig, rig.create(uniq=""))
    rig.dead(uniq=WORK)
    assert rig.store.last_done([WORK]) == [None]
    assert rig.store.last_done([]) == []


def test_the_success_of_a_forced_task_counts_for_its_work(rig: Rig) -> None:
    first = rig.create(uniq=WORK)
    past = succeed(rig, forced(rig))
    assert last(rig.store) == past.task_id
    assert rig.record(first).status in (Status.PENDING, Status.QUEUED)


def test_a_person_who_says_that_it_has_run_is_believed(rig: Rig) -> None:
    held = rig.in_status("held", uniq=WORK)
    assert rig.ask(Resolve(task_id=held.task_id, to="succeeded", by="eve@desk")).code == "ok"
    assert last(rig.store) == held.task_id


def test_a_later_success_closes_the_open_letters_of_its_work(rig: Rig) -> None:
    letters = [rig.dead(uniq=WORK) for _ in range(3)]
    others = [rig.dead(uniq="other", shop_id="s2"), rig.dead(uniq="", shop_id="s2")]
    put_aside = rig.dead(uniq=WORK)
    rig.ask(SetTriage(task_id=put_aside.task_id, triage="archived", by="ann@desk"))
    before = rig.store.counts()
    won = succeed(rig, rig.create(uniq=WORK))
    for letter in letters:
        closed = rig.record(letter)
        assert (closed.status, closed.triage, closed.successor) == (Status.DEAD, Triage.OVERTAKEN, won.task_id)
        assert closed.steps[-1].note == won.task_id
    assert rig.record(put_aside).triage == Triage.ARCHIVED
    assert sorted(open_letters(rig)) == sorted(task.task_id for task in others)
    now = rig.store.counts()
    assert (before.triage["open"], now.triage["open"], now.triage["overtaken"]) == (5, 2, 3)
    assert same_counts(recount(rig.store.query(Query()).tasks), now)


def test_a_letter_that_comes_after_the_success_stays_open(rig: Rig) -> None:
    succeed(rig, rig.create(uniq=WORK))
    letter = rig.dead(uniq=WORK)
    assert rig.record(letter).triage == Triage.OPEN
    succeed(rig, rig.create(uniq=WORK))
    assert rig.record(letter).triage == Triage.OVERTAKEN


def test_a_success_closes_a_letter_of_the_same_batch(rig: Rig) -> None:
    """Also where nothing at all was open when the batch began, and something else succeeded in it before."""
    other = rig.running("w2#1", shop_id="s2", uniq="other")
    failing = rig.running(uniq=WORK)
    done_elsewhere = forced(rig, shop_id="s3")
    rig.ask(Published(task_id=done_elsewhere.task_id, status="pending", gen=0, attempt=0))
    end = {"attempt": attempt_of(failing, "dead"), "error": "no button", "error_kind": "selector", "fingerprint": "1"}
    seen = {"owner": "w3#1", "worker": "w3", "lease_ms": 60_000, "foreign_done": True, "gen": 0, "attempt": 0}
    answers = rig.store.apply(
        [
            Finish(task_id=other.task_id, owner=other.owner, to="succeeded", attempt=attempt_of(other, "succeeded")),
            Finish(task_id=failing.task_id, owner=failing.owner, to="dead", **end),
            Claim(task_id=done_elsewhere.task_id, **seen),
        ]
    )
    assert [answer.code for answer in answers] == ["ok", "ok", "ended"]
    assert (rig.record(failing).triage, rig.record(failing).successor) == (Triage.OVERTAKEN, done_elsewhere.task_id)


def test_what_was_overtaken_can_be_taken_up_again(rig: Rig) -> None:
    letter = rig.dead(uniq=WORK)
    succeed(rig, rig.create(uniq=WORK))
    assert rig.ask(SetTriage(task_id=letter.task_id, triage="open", by="ann@desk")).code == "ok"
    back = rig.record(letter)
    assert (back.triage, back.successor) == (Triage.OPEN, "")
    again = succeed(rig, rig.create(uniq=WORK))
    assert (rig.record(letter).triage, rig.record(letter).successor) == (Triage.OVERTAKEN, again.task_id)


def test_a_held_task_is_overtaken_by_one_that_was_forced(rig: Rig) -> None:
    held = rig.in_status("held", uniq=WORK)
    behind = rig.ask(Create(task=rig.task(uniq=WORK), on_duplicate="queue")).task
    won = succeed(rig, forced(rig))
    closed = rig.record(held)
    assert (closed.status, closed.triage, closed.successor) == (Status.DEAD, Triage.OVERTAKEN, won.task_id)
    assert closed.ended_at
    assert rig.store.counts().status.get("held", 0) == 0
    assert [task.task_id for task in rig.store.outbox(0, 100) if task.task_id == held.task_id]
    assert behind is not None
    assert rig.claim(rig.record(behind), "w9#1").code == "run"


def test_what_was_overtaken_while_it_was_held_never_lay_open(rig: Rig) -> None:
    """It dies and is dealt with in one step."""
    held = rig.in_status("held", uniq=WORK)
    succeed(rig, forced(rig))
    assert rig.record(held).triage == Triage.OVERTAKEN
    at = float(rig.store.now_ms())

    def was(state: str) -> list[str]:
        term = Term(field="was", op="=", values=(state,), number=at)
        return [task.task_id for task in rig.store.query(Query(terms=(term,), limit=10)).tasks]

    assert (was("dead"), was("open")) == ([held.task_id], [])


def test_who_waits_for_what_was_overtaken_waits_for_the_success(rig: Rig) -> None:
    letter = rig.dead(uniq=WORK)
    waiting = rig.create(depends_on=(letter.task_id,), shop_id="s2")
    assert (waiting.status, waiting.gate) == (Status.BLOCKED, "dependency")
    won = succeed(rig, rig.create(uniq=WORK))
    assert rig.record(waiting).status == Status.PENDING
    rig.ask(Forget(task_id=won.task_id, updated_at=won.updated_at, tomb_ms=60_000))
    late = rig.create(depends_on=(letter.task_id,), shop_id="s3")
    assert late.status == Status.PENDING


def test_a_success_is_known_as_long_as_its_tombstone(rig: Rig) -> None:
    task = succeed(rig, rig.create(uniq=WORK))
    gone = succeed(rig, rig.create(uniq="none"))
    assert rig.ask(Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=60_000)).code == "ok"
    assert rig.ask(Forget(task_id=gone.task_id, updated_at=gone.updated_at, tomb_ms=0)).code == "ok"
    assert (last(rig.store), last(rig.store, "none")) == (task.task_id, "")
    assert rig.store.recount(mend=False) == []
    rig.pass_life(61)
    assert last(rig.store) == ""
    while rig.store.tidy():
        pass
    assert rig.store.recount(mend=False) == []


def test_an_older_success_that_goes_takes_nothing_with_it(rig: Rig) -> None:
    old, new = succeed(rig, rig.create(uniq=WORK)), succeed(rig, rig.create(uniq=WORK))
    assert rig.ask(Forget(task_id=old.task_id, updated_at=old.updated_at, tomb_ms=0)).code == "ok"
    assert last(rig.store) == new.task_id


def test_a_letter_beside_a_success_that_is_gone_is_still_overtaken(rig: Rig) -> None:
    task = succeed(rig, rig.create(uniq=WORK))
    letter = rig.dead(uniq=WORK)
    rig.ask(Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=60_000))
    rig.pass_life(61)
    succeed(rig, rig.create(uniq=WORK))
    assert rig.record(letter).triage == Triage.OVERTAKEN


def test_repeating_a_step_changes_nothing(rig: Rig) -> None:
    letter = rig.dead(uniq=WORK)
    task = rig.create(uniq=WORK)
    claimed = rig.claim(task, "w7#1").task
    assert claimed is not None
    rig.finish(claimed, "succeeded")
    steps = rig.record(letter).steps
    rig.finish(claimed, "succeeded")
    assert rig.record(letter).steps == steps
    assert last(rig.store) == task.task_id


@pytest.fixture
def break_it(store_kind: str, store_place: Any) -> Callable[[str, list[tuple[Any, ...]]], None]:
    """Change the store behind everybody's back: an SQL statement, or commands of Redis."""

    def change(sql: str, commands: list[tuple[Any, ...]]) -> None:
        if store_kind == "embedded":
            with closing(sqlite3.connect(store_place, timeout=30)) as conn, conn:
                conn.execute(sql)
            return
        with closing(redis.Redis.from_url(store_place)) as client:
            for command in commands:
                client.execute_command(*command)

    return change


def test_repair_finds_a_success_that_it_has_lost(rig: Rig, break_it: Callable[..., None]) -> None:
    task = succeed(rig, rig.create(uniq=WORK))
    letter = rig.dead(uniq=WORK)
    break_it("DELETE FROM works", [("DEL", keys.WORK + WORK)])
    assert last(rig.store) == ""
    (found,) = rig.store.recount(mend=False)
    assert (found.kind, found.left) == ("ledger", found.count)
    assert task.task_id in found.where
    assert {one.left for one in rig.store.recount(mend=True)} == {0}
    assert last(rig.store) == task.task_id
    assert rig.store.recount(mend=False) == []
    succeed(rig, rig.create(uniq=WORK))
    assert rig.record(letter).triage == Triage.OVERTAKEN


def test_repair_takes_away_what_never_was(rig: Rig, break_it: Callable[..., None]) -> None:
    rig.create(uniq=WORK)
    entry = b"\x95\xa4gone\xcd\x03\xe8\xa0\xa0\x91\xa5other"
    sql = f"INSERT INTO works (work, task_id, at, who, worker) VALUES ('{WORK}', 'gone', 1000, '', '')"
    break_it(sql, [("SET", keys.WORK + WORK, entry)])
    assert last(rig.store) == "gone"
    assert {one.kind for one in rig.store.recount(mend=False)} == {"ledger"}
    assert {one.left for one in rig.store.recount(mend=True)} == {0}
    assert last(rig.store) == ""
    assert rig.store.recount(mend=False) == []


def test_a_spoilt_entry_holds_up_nobody(rig: Rig, break_it: Callable[..., None]) -> None:
    rig.dead(uniq=WORK)
    sql = f"UPDATE works SET task_id = x'ff', at = 'soon' WHERE work = '{WORK}'"
    break_it(sql, [("SET", keys.WORK + WORK, "junk")])
    assert last(rig.store) == ""
    task = succeed(rig, rig.create(uniq=WORK))
    assert last(rig.store) == task.task_id


SPOILT = (f"UPDATE works SET at = 'soon' WHERE work = '{WORK}'", [("SET", keys.WORK + WORK, "junk")])
OTHER_KIND = (SPOILT[0], [("DEL", keys.WORK + WORK), ("RPUSH", keys.WORK + WORK, "what")])


@pytest.mark.parametrize("broken", [SPOILT, OTHER_KIND], ids=["junk", "other kind"])
def test_of_a_work_whose_entry_is_spoilt_a_reason_is_asked_until_repair(
    rig: Rig, break_it: Callable[..., None], broken: Any
) -> None:
    done, letter = succeed(rig, rig.create(uniq=WORK)), rig.dead(uniq=WORK)
    waits = rig.create(uniq=WORK)
    break_it(*broken)
    asked = Create(task=rig.task(uniq=WORK), done_since=1, on_duplicate="queue")
    for _again in range(2):
        assert rig.ask(asked).code == "unsure", "nothing of it was set aside by asking"
    fresh = rig.task(uniq=WORK, parent=letter.task_id)
    op = Republish(task_id=letter.task_id, task=fresh, by="ann@desk", done_since=1, on_duplicate="queue")
    assert rig.ask(op).code == "unsure"
    assert rig.claim(waits, "w2#1", once=True).code == "stale"
    held = rig.record(waits)
    assert (held.status, held.error_kind) == (Status.HELD, "unknown")
    assert WORK in held.error
    assert "`repair`" in held.error
    assert rig.ask(Resolve(task_id=held.task_id, to="dead", by="ann@desk")).code == "ok"
    failed = rig.dead(uniq=WORK)
    assert rig.ask(asked).code == "unsure", f"{failed.task_id} tells nothing of a success"
    assert rig.store.set_aside(rig.store.damage(lambda *_: None, deep=True)) == 1
    rig.store.recount(mend=True)
    assert rig.ask(asked).code == "done"
    assert last(rig.store) == done.task_id


def test_what_succeeds_for_a_reason_is_written_over_a_spoilt_entry(rig: Rig, break_it: Callable[..., None]) -> None:
    succeed(rig, rig.create(uniq=WORK))
    break_it(*OTHER_KIND)
    task = rig.create(uniq=WORK, reason="the shop lost it")
    assert rig.claim(task, "w2#1", once=True).code == "run"
    rig.finish(rig.record(task))
    assert last(rig.store) == task.task_id
    assert rig.ask(Create(task=rig.task(uniq=WORK), done_since=1)).code == "done"


def test_a_key_of_another_kind_holds_up_nobody(rig: Rig, break_it: Callable[..., None]) -> None:
    break_it("SELECT 1", [("RPUSH", keys.WORK + WORK, "what")])
    task = succeed(rig, rig.create(uniq=WORK))
    assert last(rig.store) == task.task_id


# --------------------------------------------------------------------------------- the last failure, and the days
DAY = 86_400_000


def known(rig: Rig, work: str = WORK) -> Ran:
    """All that is known of it."""
    (found,) = rig.store.ran([work])
    return found or Ran()


def brought(rig: Rig, ended_at: int, status: str = "succeeded", **fields: Any) -> Task:
    """One that ended then, in another store."""
    triage = "archived" if status == "dead" else ""
    at = {"created_at": ended_at, "updated_at": ended_at, "ended_at": ended_at, "attempt": 1}
    return rig.create(**({"uniq": WORK, "status": status, "triage": triage} | at | fields))


def counted(rig: Rig, work: str = WORK) -> list[tuple[int, int, str, str]]:
    return [(day.succeeded, day.failed, day.first_id, day.last_id) for day in known(rig, work).days]


def test_a_failure_is_told_of_its_work(rig: Rig) -> None:
    assert rig.store.ran([WORK, "other"]) == [None, None]
    letter = rig.dead(uniq=WORK)
    told = Failure(letter.task_id, letter.ended_at, "login_expired", "ann@desk", letter.worker)
    assert known(rig) == Ran(None, told, (Day(told.at, told.at, 0, 1, letter.task_id, letter.task_id),))
    rig.ask(SetTriage(task_id=letter.task_id, triage="archived", by="ann@desk"))
    done = succeed(rig, rig.create(uniq=WORK, created_by="", origin="foreign"))
    assert (known(rig).failed, known(rig).done) == (told, Done(done.task_id, done.ended_at, "foreign", done.worker))
    later = rig.dead(uniq=WORK)
    assert [one.task_id if one else "" for one in (known(rig).done, known(rig).failed)] == [done.task_id, later.task_id]
    assert rig.store.recount(mend=False) == []


def test_the_ends_of_a_day_are_counted(rig: Rig) -> None:
    letter = rig.dead(uniq=WORK)
    rig.pass_time(0.002)
    succeed(rig, rig.create(uniq=WORK))
    rig.ask(Cancel(task_id=rig.create(uniq=WORK).task_id, by="ann@desk"))
    rig.pass_time(0.002)
    last_one = succeed(rig, forced(rig))
    assert counted(rig) == [(2, 1, letter.task_id, last_one.task_id)]
    (day,) = known(rig).days
    assert (day.first_at, day.last_at) == (letter.ended_at, last_one.ended_at)


def test_a_letter_that_never_ran_is_no_failed_run(rig: Rig) -> None:
    first = rig.running(uniq=WORK)
    twin = rig.ask(Create(task=rig.task(uniq=WORK), on_duplicate="hold")).task
    late = rig.queued(uniq="late", deadline=rig.store.now_ms() + 60_000)
    lost = rig.queued(uniq="lost", shop_id="s2")
    rig.finish(first)
    assert twin is not None
    assert (rig.record(twin).status, rig.record(twin).triage) == (Status.DEAD, Triage.OVERTAKEN)
    for task in (late, lost):
        op = GiveUp(task_id=task.task_id, gen=task.gen, attempt=0, error="too late", error_kind="expired")
        assert rig.ask(op).code == "ok"
    brought(rig, rig.store.now_ms() - DAY, "dead", attempt=0)
    assert (known(rig).failed, counted(rig)) == (None, [(1, 0, first.task_id, first.task_id)])
    assert (known(rig, "late"), known(rig, "lost")) == (Ran(), Ran())
    assert rig.store.recount(mend=False) == []
    won = succeed(rig, rig.create(uniq="lost", shop_id="s2"))
    assert (rig.record(lost).triage, rig.record(lost).successor) == (Triage.OVERTAKEN, won.task_id)
    assert counted(rig, "lost") == [(1, 0, won.task_id, won.task_id)]


def test_a_letter_of_a_task_that_ran_elsewhere_is_a_failed_run(rig: Rig) -> None:
    told = rig.create(uniq=WORK, status="dead", origin="foreign", attempt=2, shop_id="s2")
    assert (known(rig).failed or Failure("", 0)).task_id == told.task_id
    waits = rig.retrying(uniq="again")
    assert known(rig, "again") == Ran()
    rig.ask(GiveUp(task_id=waits.task_id, gen=waits.gen, attempt=waits.attempt, error="no", error_kind="expired"))
    assert (known(rig, "again").failed or Failure("", 0)).task_id == waits.task_id
    assert rig.store.recount(mend=False) == []


def test_each_day_is_counted_for_itself_also_one_that_was_moved_here_later(rig: Rig) -> None:
    now = rig.store.now_ms()
    first, second = brought(rig, now - 3 * DAY), brought(rig, now - 2 * DAY, "dead")
    live = succeed(rig, rig.create(uniq=WORK))
    assert counted(rig) == [
        (1, 0, first.task_id, first.task_id),
        (0, 1, second.task_id, second.task_id),
        (1, 0, live.task_id, live.task_id),
    ]
    older, oldest = brought(rig, now - 3 * DAY - 1), brought(rig, now - 9 * DAY)
    brought(rig, now - 40 * DAY)
    assert counted(rig)[:2] == [(1, 0, oldest.task_id, oldest.task_id), (2, 0, older.task_id, first.task_id)]
    assert len(counted(rig)) == 4
    assert rig.store.recount(mend=False) == []


def test_a_day_is_one_of_the_zone_of_the_fleet(rig: Rig) -> None:
    rig.store.put_document("fleet", "time_zone", '"Asia/Kolkata"')  # 18:30 in UTC is midnight there
    now = rig.store.now_ms()
    midnight = now - (now + 19_800_000) % DAY
    evening, night = (brought(rig, midnight - 2 * DAY + minutes * 60_000) for minutes in (-20, 20))
    assert counted(rig) == [(1, 0, one.task_id, one.task_id) for one in (evening, night)]
    brought(rig, midnight - DAY - 1)
    assert [day.count for day in known(rig).days] == [1, 2]
    assert rig.store.recount(mend=False) == []


def test_the_day_on_which_clocks_are_set_back_is_one_day_of_25_hours(rig: Rig, long_day: int) -> None:
    rig.store.put_document("fleet", "time_zone", '"Test/Long"')
    before = brought(rig, long_day - 60_000)
    morning = brought(rig, long_day + 60_000)
    live = succeed(rig, rig.create(uniq=WORK))  # in the last of its hours
    assert counted(rig) == [(1, 0, before.task_id, before.task_id), (2, 0, morning.task_id, live.task_id)]
    assert rig.store.recount(mend=False) == []


def test_an_end_that_comes_as_a_day_begins_is_of_that_day(
    rig: Rig, midnight: int, store_kind: str, break_it: Callable[..., None]
) -> None:
    rig.store.put_document("fleet", "time_zone", '"Test/Soon"')
    before = succeed(rig, rig.create(uniq=WORK))
    after = rig.running(uniq=WORK)
    left = midnight - rig.store.now_ms()
    assert left > 0
    # asked for before midnight, done behind it
    break_it("SELECT 1", [("CLIENT", "PAUSE", left + 200)])
    if store_kind == "embedded":
        rig.pass_life(4)
    rig.finish(after, "succeeded")
    assert counted(rig) == [(1, 0, one.task_id, one.task_id) for one in (before, after)]
    assert rig.store.recount(mend=False) == []


@pytest.fixture
def long_day(rig: Rig, tmp_path: Path) -> Iterator[int]:
    """First instant of a day of 25 hours, of which 24 are over, in the zone Test/Long."""
    quarter = 900_000
    begins = (rig.store.now_ms() - 24 * 3_600_000 - quarter) // quarter * quarter
    first = -begins // 1000 % 86_400  # so that it is midnight then
    first -= 86_400 if first > 43_200 else 0
    kinds = struct.pack(">lbBlbB", first, 0, 0, first - 3600, 0, 4)
    noon = begins // 1000 + 43_200
    new = struct.pack(">6l", 0, 0, 0, 1, 2, 8) + struct.pack(">qB", noon, 1) + kinds + b"LNG\0SHT\0"
    with zone(tmp_path, "Long", new):
        yield begins


@pytest.fixture
def midnight(rig: Rig, tmp_path: Path) -> Iterator[int]:
    """First instant of the next day, in three seconds, in the zone Test/Soon."""
    begins = rig.store.now_ms() // 1000 + 4
    off = -begins % 86_400
    off -= 86_400 if off > 43_200 else 0
    with zone(tmp_path, "Soon", struct.pack(">6l", 0, 0, 0, 0, 1, 4) + struct.pack(">lbB", off, 0, 0) + b"SOO\0"):
        yield begins * 1000


@contextmanager
def zone(folder: Path, name: str, data: bytes) -> Iterator[None]:
    """The zone Test/``name``, while it is used."""
    old = b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 1) + struct.pack(">lbB", 0, 0, 0) + b"\0"
    (folder / "Test").mkdir()
    (folder / "Test" / name).write_bytes(old + b"TZif2" + bytes(15) + data + b"\n\n")
    zoneinfo.reset_tzpath([str(folder), *zoneinfo.TZPATH])
    yield
    zoneinfo.reset_tzpath()
    zoneinfo.ZoneInfo.clear_cache(only_keys=[f"Test/{name}"])


def test_a_failure_is_known_as_long_as_its_tombstone(rig: Rig) -> None:
    letter, gone = (rig.dead(uniq=work) for work in (WORK, "none"))
    for task, tomb_ms in ((letter, 60_000), (gone, 0)):
        task = rig.ask(SetTriage(task_id=task.task_id, triage="archived", by="ann@desk")).task or task
        rig.ask(Published(task_id=task.task_id, status="dead", gen=task.gen, attempt=task.attempt))
        forget = Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=tomb_ms)
        assert rig.ask(forget).code == "ok"
    assert [day.last_id for day in known(rig).days] == [letter.task_id]
    assert (known(rig).failed or Failure("", 0)).task_id == letter.task_id
    assert known(rig, "none") == Ran()
    assert rig.store.recount(mend=False) == []
    rig.pass_life(61)
    assert known(rig) == Ran()
    while rig.store.tidy():
        pass
    assert rig.store.recount(mend=False) == []


def test_the_day_of_removed_records_is_still_known(rig: Rig) -> None:
    tasks = [succeed(rig, rig.create(uniq=WORK)) for _ in range(3)]
    letter = rig.dead(uniq=WORK)
    for task in tasks:
        rig.ask(Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=0))
    assert rig.store.get([task.task_id for task in tasks]) == [None] * 3
    assert counted(rig) == [(3, 1, tasks[0].task_id, letter.task_id)]
    assert rig.store.recount(mend=False) == []


def test_repair_finds_failures_and_days_that_it_has_lost(rig: Rig, break_it: Callable[..., None]) -> None:
    """So it finds what ended before there was a ledger."""
    now = rig.store.now_ms()
    moved = [brought(rig, now - days * DAY, status) for days, status in ((2, "dead"), (1, "succeeded"))]
    tasks = []
    for wins in (True, False, True):
        rig.pass_time(0.002)
        tasks.append(succeed(rig, rig.create(uniq=WORK)) if wins else rig.dead(uniq=WORK))
    lonely = rig.dead(uniq="lonely")
    before, alone = known(rig), known(rig, "lonely")
    assert [day.count for day in before.days] == [1, 1, 3]
    names = [keys.WORK + work for work in (WORK, "lonely")]
    break_it("DELETE FROM works", [("DEL", *names, keys.PAST + WORK)])
    break_it("DELETE FROM work_days", [])
    assert known(rig) == Ran()
    (found,) = rig.store.recount(mend=False)
    assert (found.kind, found.left) == ("ledger", found.count)
    assert found.count >= len([*tasks, lonely]) - 1
    assert rig.store.recount_works(mend=True).left == 0
    assert (known(rig), known(rig, "lonely")) == (before, alone)
    assert rig.store.recount(mend=False) == []
    assert moved[0].task_id == before.days[0].first_id


@pytest.mark.parametrize("removed", [False, True], ids=["all are there", "one is removed"])
def test_letters_that_programs_of_before_counted_are_taken_out(
    rig: Rig, break_it: Callable[..., None], *, removed: bool
) -> None:
    then, now = rig.store.now_ms() - 2 * DAY, rig.store.now_ms()
    ran, never = (brought(rig, then + n, "dead", attempt=1 - n) for n in range(2))
    won = succeed(rig, rig.create(uniq=WORK))
    rig.pass_time(0.002)
    late = brought(rig, rig.store.now_ms(), "dead", attempt=0)
    alone = brought(rig, now, "dead", attempt=0, uniq="alone")
    right, done = known(rig), Done(won.task_id, won.ended_at, "ann@desk", won.worker)
    assert counted(rig) == [(0, 1, ran.task_id, ran.task_id), (1, 0, won.task_id, won.task_id)]
    # as it was written before: letters that never ran stand among the failures
    past = Day(then, then + 1, 0, 3 if removed else 2, ran.task_id, never.task_id)
    entry = Entry(done, failed_by(late), 1, 1, won.ended_at, won.task_id)
    letter = failed_by(alone)
    failed = f"failed_id = '{late.task_id}', failed_at = {late.ended_at}"
    break_it(
        f"UPDATE works SET failures = 1, first_id = '{won.task_id}', first_at = {won.ended_at}, {failed}",
        [
            ("SET", keys.WORK + WORK, packed_entry(entry, ())),
            ("SET", keys.PAST + WORK, pack_days([past])),
            ("SET", keys.WORK + "alone", packed_entry(Entry(None, letter, 0, 1), ())),
        ],
    )
    break_it(f"UPDATE work_days SET last_at = {then + 1}, last_id = '{never.task_id}', failed = {past.failed}", [])
    columns = "work, task_id, at, who, worker, succeeded, failures, failed_id, failed_at"
    values = f"'alone', '', 0, '', '', 0, 1, '{letter.task_id}', {letter.at}"
    break_it(f"INSERT INTO works ({columns}) VALUES ({values})", [])
    assert (known(rig).failed or letter).task_id == late.task_id
    assert rig.store.recount_works(mend=True).left == 0
    assert (known(rig).failed, known(rig, "alone").failed) == (failed_by(ran), None)
    assert counted(rig)[-1][:2] == (1, 1), "nothing proves that it was not another one"
    assert rig.store.recount_works(mend=True, anew=True).left == 0
    assert (known(rig), known(rig, "alone")) == (right, Ran()) or removed
    assert counted(rig)[0][:2] == (0, 3 if removed else 1)
    assert counted(rig)[1] == (1, 0, won.task_id, won.task_id)
    assert rig.store.recount_works(mend=False, anew=True).count == 0
    assert rig.store.recount(mend=False) == []


def test_days_that_cannot_be_read_hold_up_nobody(rig: Rig, break_it: Callable[..., None]) -> None:
    now = rig.store.now_ms()
    brought(rig, now - 2 * DAY)
    succeed(rig, rig.create(uniq=WORK))
    break_it("UPDATE work_days SET first_at = 'soon'", [("SET", keys.PAST + WORK, "junk")])
    assert len(known(rig).days) == 1
    third = brought(rig, now - DAY)
    assert third.task_id in [day.first_id for day in known(rig).days]


# ---------------------------------------------------------------------------- once within a window (done_since)
def test_work_that_was_done_since_then_is_not_created(rig: Rig) -> None:
    done = succeed(rig, rig.create(uniq=WORK))
    again = rig.task(uniq=WORK)
    answer = rig.ask(Create(task=again, done_since=done.ended_at))
    assert answer.code == "done"
    assert answer.task is not None
    assert answer.task.task_id == done.task_id
    assert rig.store.get([again.task_id]) == [None]
    assert rig.ask(Create(task=again, done_since=done.ended_at + 1)).code == "created"


def test_an_active_twin_is_told_before_a_success(rig: Rig) -> None:
    done = succeed(rig, rig.create(uniq=WORK))
    rig.create(uniq=WORK)
    assert rig.ask(Create(task=rig.task(uniq=WORK), done_since=done.ended_at)).code == "duplicate"
    queued = Create(task=rig.task(uniq=WORK), done_since=done.ended_at, on_duplicate="queue")
    assert rig.ask(queued).code == "done"


def test_a_success_that_is_removed_still_counts(rig: Rig) -> None:
    done = succeed(rig, rig.create(uniq=WORK))
    rig.ask(Forget(task_id=done.task_id, updated_at=done.updated_at, tomb_ms=60_000))
    answer = rig.ask(Create(task=rig.task(uniq=WORK), done_since=done.ended_at))
    assert (answer.code, answer.task) == ("done", None)


def test_a_letter_whose_work_was_done_is_not_republished_unasked(rig: Rig) -> None:
    done = succeed(rig, rig.create(uniq=WORK))
    letter = rig.dead(uniq=WORK)
    fresh = rig.task(uniq=WORK, parent=letter.task_id)
    op = Republish(task_id=letter.task_id, task=fresh, by="ann@desk", done_since=done.ended_at)
    assert rig.ask(op).code == "done"
    assert rig.record(letter).triage == Triage.OPEN
    assert rig.ask(changed(op, done_since=0)).code == "ok"


@pytest.mark.parametrize(
    "fields", [{"reason": "the shop lost it"}, {"marks": ("forced",)}, {"marks": ("again",)}], ids=str
)
def test_a_twin_that_comes_to_its_turn_is_held_unless_a_person_gave_a_reason(rig: Rig, fields: dict[str, Any]) -> None:
    first = rig.running(uniq=WORK)
    twin = rig.ask(Create(task=rig.task(uniq=WORK), on_duplicate="queue")).task
    done = rig.finish(first).task
    assert twin is not None
    assert done is not None
    assert rig.claim(rig.record(twin), "w2#1", done_since=done.ended_at + 60_000).code == "run"
    rig.finish(rig.record(twin))
    asked = rig.create(uniq=WORK, **fields)
    assert rig.claim(asked, "w3#1", done_since=done.ended_at).code == "run"
    rig.finish(rig.record(asked))
    unasked = rig.create(uniq=WORK)
    behind = rig.queued(uniq="")
    assert rig.claim(unasked, "w4#1", done_since=done.ended_at).code == "stale"
    held = rig.record(unasked)
    assert (held.status, held.error_kind, held.attempt) == (Status.HELD, "already_done", 0)
    assert asked.task_id in held.error
    assert rig.claim(behind, "w5#1").code == "run", "it takes no slot"
    rig.finish(rig.record(behind))
    assert rig.ask(Resolve(task_id=unasked.task_id, to="pending", by="eve@desk")).code == "ok"
    assert rig.claim(rig.record(unasked), "w6#1", done_since=done.ended_at).code == "run"


@pytest.mark.parametrize("origin", ["foreign", "schedule", "cli"])
def test_what_may_not_run_twice_and_waited_behind_the_success_is_held(rig: Rig, origin: str) -> None:
    first = rig.running(uniq=WORK, idempotent=False)
    fields = {"uniq": WORK, "idempotent": False}
    twin = rig.ask(Create(task=rig.task(origin=origin, **fields), on_duplicate="queue")).task
    asked = rig.ask(Create(task=rig.task(origin="cli", reason="two orders", **fields), on_duplicate="queue")).task
    assert twin is not None
    assert asked is not None
    assert rig.finish(first, "held", lost=True).task is not None
    rig.ask(Resolve(task_id=first.task_id, to="succeeded", by="ann@desk"))
    assert rig.claim(rig.record(twin), "w2#1", once=True).code == "stale"
    held = rig.record(twin)
    assert (held.status, held.error_kind, held.attempt) == (Status.HELD, "already_done", 0)
    assert rig.ask(Resolve(task_id=twin.task_id, to="dead", by="ann@desk")).code == "ok"
    assert rig.claim(rig.record(asked), "w3#1", once=True).code == "run", "a person said why"
    rig.finish(rig.record(asked))
    rig.pass_time(0.01)
    later = rig.ask(Create(task=rig.task(origin=origin, **fields), on_duplicate="queue")).task
    assert later is not None
    assert rig.claim(rig.record(later), "w4#1", once=True).code == "run", "it was asked for after the success"
    assert rig.store.recount(mend=False) == []


def test_what_may_run_twice_follows_its_twin(rig: Rig) -> None:
    first = rig.running(uniq=WORK)
    twin = rig.ask(Create(task=rig.task(uniq=WORK, origin="foreign"), on_duplicate="queue")).task
    assert twin is not None
    rig.finish(first)
    assert rig.claim(rig.record(twin), "w2#1").code == "run"


def test_a_foreign_message_of_work_that_was_done_is_held(rig: Rig) -> None:
    done = succeed(rig, rig.create(uniq=WORK))
    task = rig.task(uniq=WORK, origin="foreign", status="queued", marks=("foreign",))
    assert rig.claim(task, "w2#1", adopt=task, done_since=done.ended_at).code == "stale"
    held = rig.record(task)
    assert (held.status, held.error_kind) == (Status.HELD, "already_done")
    assert rig.store.recount(mend=False) == []


def test_a_claim_that_ends_held_names_whom_it_let_go_at_a_limit(rig: Rig) -> None:
    done = rig.finish(rig.running(uniq=WORK)).task
    assert done is not None
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=1))
    first = rig.running(shop_id="s2")
    waits = rig.queued(shop_id="s3")
    assert (rig.claim(waits, "w2#1").code, rig.record(waits).gate) == ("blocked", "quota")
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=3))
    again = rig.queued(uniq=WORK)
    answer = rig.claim(again, "w3#1", done_since=done.ended_at)
    assert (answer.code, rig.record(again).status) == ("stale", Status.HELD)
    assert [task.task_id for task in answer.released] == [waits.task_id]
    assert rig.record(first).status == Status.RUNNING
