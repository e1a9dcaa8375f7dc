"""What ended long ago: found, removed with all that belongs to it, and still known for a time."""

from __future__ import annotations

import pytest

from services.domain.change import Create, Forget, Republish, SetTriage
from services.domain.task import tombstone
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.ports import Letter, LogLine
from tests.contract.rig import Rig, recount, same_counts

HOUR = 3_600_000
EVERYTHING = Query(limit=1000)


def forget(rig: Rig, task: Task, tomb_ms: int = HOUR) -> str:
    return rig.ask(Forget(task_id=task.task_id, updated_at=rig.record(task).updated_at, tomb_ms=tomb_ms)).code


def confirmed_dead(rig: Rig, **fields: object) -> Task:
    task = rig.dead(**fields)
    assert rig.confirm(task).code == "ok"
    return rig.record(task)


@pytest.mark.parametrize("status", ["succeeded", "cancelled", "dead"])
def test_a_removed_record_leaves_nothing_but_its_tombstone(rig: Rig, status: str) -> None:
    task = rig.in_status(status, batch="B1", uniq="u")
    if status == "dead":
        rig.confirm(task)
    other = rig.in_status("succeeded", shop_id="s2")
    rig.store.put_letter(Letter(task_id=task.task_id, body=b"{}"))
    if task.attempt:
        rig.store.append_log(task.task_id, 1, [LogLine(1, "out", "hello")])
    cursor = rig.store.events("", 1, 0).cursor
    assert forget(rig, task) == "ok"
    assert rig.store.get([task.task_id]) == [None]
    assert rig.store.get_letter(task.task_id) is None
    assert rig.store.read_log(task.task_id, 1)[0] == []
    for term in (
        equals("status", status), equals("shop", "s1"), equals("batch", "B1"), equals("worker", "w1"),
        equals("fp", "9ac1"), equals("uniq", "u"),
    ):  # fmt: skip
        found = rig.store.query(Query(terms=(term,), sort="updated", limit=10))
        assert task.task_id not in {one.task_id for one in found.tasks}
    assert [one.task_id for one in rig.store.query(EVERYTHING).tasks] == [other.task_id]
    assert same_counts(rig.store.counts(), recount([other]))
    assert rig.store.batch_counts(["B1"])[0] == {status: 1}
    (event,) = rig.all_events(cursor)
    assert (event.task_id, event.from_, event.to) == (task.task_id, status, "")
    (stone,) = rig.store.tombstones([task.task_id])
    assert stone is not None
    assert (stone.status, stone.ended_at, stone.digest) == (status, task.ended_at, tombstone.digest(task))
    assert forget_again(rig, task) == "missing"


def forget_again(rig: Rig, task: Task) -> str:
    return rig.ask(Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=HOUR)).code


@pytest.mark.parametrize("status", ["queued", "running", "blocked", "retrying", "held", "scheduled"])
def test_what_has_not_ended_stays(rig: Rig, status: str) -> None:
    assert forget(rig, rig.in_status(status)) == "stale"


def test_what_has_changed_meanwhile_stays(rig: Rig) -> None:
    task = confirmed_dead(rig)
    rig.pass_time(0.01)
    rig.ask(SetTriage(task_id=task.task_id, triage="archived", by="ann"))
    assert forget_again(rig, task) == "stale"


def test_a_letter_whose_message_is_not_confirmed_stays(rig: Rig) -> None:
    task = rig.dead()
    assert forget(rig, task) == "needed"
    rig.confirm(task)
    assert forget(rig, task) == "ok"


def test_what_somebody_waits_for_stays(rig: Rig) -> None:
    task = confirmed_dead(rig)
    rig.create(depends_on=(task.task_id,), shop_id="s2")
    assert forget(rig, task) == "needed"


def test_a_republished_letter_stays_until_its_successor_is_done(rig: Rig) -> None:
    old = confirmed_dead(rig)
    new = rig.task(parent=old.task_id)
    rig.ask(Republish(task_id=old.task_id, task=new, by="ann"))
    assert forget(rig, old) == "needed"
    rig.confirm(rig.record(new))
    rig.finish(rig.record(rig.claim(rig.record(new)).task or new))
    assert forget(rig, rig.record(old)) == "ok"
    (stone,) = rig.store.tombstones([old.task_id])
    assert stone is not None
    assert stone.successor == new.task_id


def test_no_tombstone_where_none_is_wanted(rig: Rig) -> None:
    task = rig.in_status("succeeded", batch="B1")
    assert forget(rig, task, tomb_ms=0) == "ok"
    assert rig.store.tombstones([task.task_id, "nobody"]) == [None, None]
    assert rig.store.batch_counts(["B1"])[0] == {}


def test_a_tombstone_has_its_time(rig: Rig) -> None:
    task = rig.in_status("succeeded", batch="B1")
    forget(rig, task, tomb_ms=1000)
    rig.pass_time(1.2)
    rig.store.tidy()
    assert rig.store.tombstones([task.task_id]) == [None]
    assert rig.store.batch_counts(["B1"])[0] == {}
    assert rig.ask(Create(task=task)).code == "created"


# ------------------------------------------------------------- the same id once more
@pytest.mark.parametrize("status", ["succeeded", "cancelled", "dead"])
def test_a_message_of_a_removed_task_is_known(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    rig.confirm(task)
    assert forget(rig, task) == "ok"
    again = rig.task(task_id=task.task_id, status="queued")
    answer = rig.claim(again, adopt=again)
    assert (answer.code, answer.task) == ("forgotten", None)
    assert rig.claim(again).code == "missing"
    assert rig.store.counts().total == 0


@pytest.mark.parametrize(("status", "code"), [("succeeded", "exists"), ("cancelled", "exists"), ("dead", "created")])
def test_a_creation_under_the_id_of_a_removed_task(rig: Rig, status: str, code: str) -> None:
    task = rig.in_status(status)
    rig.confirm(task)
    forget(rig, task)
    answer = rig.ask(Create(task=rig.task(task_id=task.task_id)))
    assert answer.code == code
    assert (answer.task is None) == (code == "exists")
    assert (rig.store.tombstones([task.task_id])[0] is None) == (code == "created")


def test_a_message_of_another_program_brings_no_removed_letter_back(rig: Rig) -> None:
    task = confirmed_dead(rig)
    forget(rig, task)
    again = rig.task(task_id=task.task_id, status=Status.QUEUED, origin="foreign", marks=("foreign", "noticed"))
    assert rig.ask(Create(task=again, on_duplicate="queue")).code == "exists"
    assert rig.store.get([task.task_id]) == [None]


def test_removed_and_created_in_one_batch(rig: Rig) -> None:
    task = confirmed_dead(rig)
    fresh = rig.task(task_id=task.task_id)
    codes = rig.store.apply(
        [Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=HOUR), Create(task=fresh)]
    )
    assert [answer.code for answer in codes] == ["ok", "created"]
    assert rig.record(fresh).status == Status.PENDING
    assert same_counts(rig.store.counts(), recount([rig.record(fresh)]))
    found = rig.store.query(Query(terms=(equals("shop", "s1"),), limit=10)).tasks
    assert [one.task_id for one in found] == [task.task_id]


def test_changed_and_removed_in_one_batch(rig: Rig) -> None:
    task = confirmed_dead(rig)
    triaged = rig.store.apply([SetTriage(task_id=task.task_id, triage="ignored", by="ann")])[0].task
    assert triaged is not None
    note = SetTriage(task_id=task.task_id, triage="ignored", by="ann")
    codes = rig.store.apply([note, Forget(task_id=task.task_id, updated_at=triaged.updated_at, tomb_ms=HOUR)])
    assert [answer.code for answer in codes] == ["ok", "ok"]
    assert rig.store.query(EVERYTHING).tasks == ()
    assert same_counts(rig.store.counts(), recount([]))


# ---------------------------------------------------------------------- dependencies
def test_a_removed_success_counts_as_one_while_its_tombstone_lives(rig: Rig) -> None:
    task = rig.in_status("succeeded")
    forget(rig, task, tomb_ms=1000)
    other = rig.task(depends_on=(task.task_id,))
    assert (rig.ask(Create(task=other)).code, rig.record(other).status) == ("created", Status.PENDING)
    rig.pass_time(1.2)
    assert rig.ask(Create(task=rig.task(depends_on=(task.task_id,)))).code == "unknown"


def test_a_removed_failure_is_no_dependency(rig: Rig) -> None:
    for task in (rig.in_status("cancelled"), confirmed_dead(rig)):
        forget(rig, task)
        assert rig.ask(Create(task=rig.task(depends_on=(task.task_id,)))).code == "unknown"


def test_a_removed_letter_stands_for_its_successor(rig: Rig) -> None:
    old = confirmed_dead(rig)
    new = rig.task(parent=old.task_id)
    rig.ask(Republish(task_id=old.task_id, task=new, by="ann"))
    rig.confirm(rig.record(new))
    rig.finish(rig.record(rig.claim(rig.record(new)).task or new))
    for name in (new, old):
        assert forget(rig, rig.record(name)) == "ok"
        assert rig.ask(Create(task=rig.task(depends_on=(old.task_id,)))).code == "created"


# ---------------------------------------------------------------------- what to remove
def test_what_ended_before_an_instant_in_pages(rig: Rig) -> None:
    old = [rig.in_status("succeeded", shop_id=f"s{number}", created_at=1000) for number in range(5)]
    rig.in_status("cancelled")
    rig.queued(shop_id="s9")
    rig.pass_time(0.02)
    before = rig.store.now_ms()
    rig.pass_time(0.02)
    rig.in_status("succeeded", shop_id="s8", created_at=1000)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = rig.store.ended("succeeded", "", before, 2, cursor)
        seen += [task.task_id for task in page.tasks]
        cursor = page.next
        assert len(seen) <= 6
    assert sorted(seen) == sorted(task.task_id for task in old)


def test_letters_by_what_a_person_did_about_them(rig: Rig) -> None:
    letters = [confirmed_dead(rig) for _ in range(3)]
    for letter, triage in zip(letters, ("archived", "ignored", "open"), strict=True):
        rig.ask(SetTriage(task_id=letter.task_id, triage=triage, by="ann"))
    before = rig.store.now_ms() + 1
    for letter, triage in zip(letters, ("archived", "ignored", "open"), strict=True):
        page = rig.store.ended("dead", triage, before, 10)
        assert ([one.task_id for one in page.tasks], page.next) == ([letter.task_id], None)


# --------------------------------------------------------------------- uniqueness keys
def test_a_key_is_never_held_longer_than_its_task(rig: Rig) -> None:
    """The worker was killed, its lease ran out, the task ended, its record went: the key tells the truth."""
    first = rig.running(uniq="k", lease_ms=1)
    rig.pass_time(0.01)
    second = rig.task(uniq="k")
    assert rig.ask(Create(task=second)).code == "duplicate"
    lost = rig.store.expired(5)[0]
    assert rig.finish(lost, "dead", if_expired=True, lost=True).code == "ok"
    assert rig.store.holders(["k"]) == [None]
    rig.confirm(rig.record(first))
    assert forget(rig, rig.record(first)) == "ok"
    assert rig.ask(Create(task=second)).code == "created"
    rig.confirm(rig.record(second))
    assert rig.claim(rig.record(second)).code == "run"
