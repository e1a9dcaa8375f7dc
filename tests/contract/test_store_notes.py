"""Notes on dead letters, and what the guard against doing the same work twice has refused or held back."""

from __future__ import annotations

import pytest

from services.domain.change import Annotate, Create, Forget, Republish, SetTriage
from services.domain.task import notes
from services.domain.task.record import Task
from tests.contract.rig import Rig


def note(rig: Rig, task: Task, text: str, note_id: str = "n1", by: str = "ann@desk") -> str:
    return rig.ask(Annotate(task_id=task.task_id, by=by, text=text, note_id=note_id)).code


# ----------------------------------------------------------------------------- notes
def test_notes_stand_beside_a_letter_and_change_nothing_in_it(rig: Rig) -> None:
    task = rig.dead()
    cursor = rig.store.events("", 1, 0).cursor
    before = rig.store.now_ms()
    assert note(rig, task, "登录过期 <b>&", "n1") == "ok"
    assert note(rig, task, "told them", "n2", by="bob@desk") == "ok"
    assert rig.record(task) == task
    first, second = rig.store.notes(task.task_id)
    assert (first.note_id, first.who, first.text) == ("n1", "ann@desk", "登录过期 <b>&")
    assert (second.note_id, second.who, second.text) == ("n2", "bob@desk", "told them")
    assert before <= first.at <= second.at
    assert [(e.from_, e.to, e.task_id) for e in rig.all_events(cursor)] == [("dead", "dead", task.task_id)] * 2


def test_the_same_note_again_is_one_note(rig: Rig) -> None:
    task = rig.dead()
    cursor = rig.store.events("", 1, 0).cursor
    assert (note(rig, task, "a"), note(rig, task, "a")) == ("ok", "ok")
    assert len(rig.store.notes(task.task_id)) == len(rig.all_events(cursor)) == 1


@pytest.mark.parametrize("status", ["queued", "running", "succeeded", "held"])
def test_only_a_letter_has_notes(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    assert note(rig, task, "a") == "refused"
    assert rig.store.notes(task.task_id) == []
    assert note(rig, rig.task(), "a") == "missing"


def test_whatever_became_of_a_letter_it_can_have_notes(rig: Rig) -> None:
    task = rig.dead()
    rig.ask(SetTriage(task_id=task.task_id, triage="archived", by="ann"))
    assert note(rig, task, "a") == "ok"
    rig.ask(Republish(task_id=task.task_id, task=rig.task(parent=task.task_id), by="ann"))
    assert note(rig, task, "b", "n2") == "ok"


def test_the_newest_notes_stay_and_all_go_with_the_record(rig: Rig) -> None:
    task, other = rig.dead(), rig.dead(shop_id="s2")
    note(rig, other, "mine")
    for number in range(notes.NOTES_KEPT + 3):
        note(rig, task, f"note {number}", f"n{number}")
    assert [one.text for one in rig.store.notes(task.task_id)] == [
        f"note {number}" for number in range(3, notes.NOTES_KEPT + 3)
    ]
    rig.confirm(task)
    task = rig.record(task)
    assert rig.ask(Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=1000)).code == "ok"
    assert rig.store.notes(task.task_id) == []
    assert [one.text for one in rig.store.notes(other.task_id)] == ["mine"]


# ------------------------------------------------------------------ suppressed duplicates
def test_who_met_whom_when_and_by_whom(rig: Rig) -> None:
    assert (rig.store.suppressed(10), rig.store.suppressed_counts()) == ([], {})
    first = rig.running(uniq="k")
    refused, queued, forced = (rig.task(uniq="k", created_by=f"{who}@desk") for who in ("ann", "bob", "eve"))
    for task, how in ((refused, "reject"), (queued, "queue"), (forced, "force")):
        rig.ask(Create(task=task, on_duplicate=how))
    rows = rig.store.suppressed(10)
    assert [(one.task_id, one.outcome, one.by) for one in rows] == [
        (forced.task_id, "forced", "eve@desk"), (queued.task_id, "queued", "bob@desk"),
        (refused.task_id, "refused", "ann@desk"),
    ]  # fmt: skip
    for row in rows:
        assert (row.holder, row.holder_status) == (first.task_id, "running")
        assert (row.platform, row.shop_id, row.task_type, row.origin) == ("pdd", "s1", "sync_order", "cli")
        assert 0 < row.at <= rig.store.now_ms()
    counts = {(outcome, "pdd:s1", "sync_order"): 1 for outcome in ("refused", "queued", "forced")}
    assert rig.store.suppressed_counts() == counts
    assert rig.store.suppressed(1) == rows[:1]


def test_said_twice_is_counted_once(rig: Rig) -> None:
    rig.running(uniq="k")
    again = Create(task=rig.task(uniq="k"))
    assert [rig.ask(again).code for _ in range(3)] == ["duplicate"] * 3
    assert rig.store.suppressed_counts() == {("refused", "pdd:s1", "sync_order"): 1}


def test_a_foreign_message_that_waits_for_its_twin_is_counted_once(rig: Rig) -> None:
    rig.shop("s1", concurrency=5)
    first = rig.running(uniq="k")
    foreign = rig.task(uniq="k", status="queued", created_by="", origin="foreign")
    assert rig.claim(foreign, "w2#1", adopt=foreign).code == "blocked"
    (row,) = rig.store.suppressed(10)
    assert (row.task_id, row.outcome, row.holder, row.origin) == (foreign.task_id, "waits", first.task_id, "foreign")
    queued = rig.task(uniq="k")
    rig.ask(Create(task=queued, on_duplicate="queue"))
    rig.confirm(rig.record(queued))
    assert rig.claim(rig.record(queued), "w2#2").code == "blocked"
    assert sum(rig.store.suppressed_counts().values()) == 2


def test_a_republished_letter_whose_work_runs_already(rig: Rig) -> None:
    letter = rig.dead(uniq="k")
    rig.queued(uniq="k")
    fresh = rig.task(uniq="k", parent=letter.task_id)
    assert rig.ask(Republish(task_id=letter.task_id, task=fresh, by="ann")).code == "duplicate"
    assert [one.outcome for one in rig.store.suppressed(10)] == ["refused"]


def test_the_list_has_an_end_and_the_counters_have_not(rig: Rig) -> None:
    most = notes.SUPPRESSED_KEPT
    rig.running(uniq="k")
    tasks = [rig.task(uniq="k") for _ in range(most + 5)]
    rig.store.apply([Create(task=task) for task in tasks])
    rows = rig.store.suppressed(most + 5)
    assert len(rows) == most
    assert tasks[-1].task_id in {row.task_id for row in rows}
    assert tasks[0].task_id not in {row.task_id for row in rows}
    assert sum(rig.store.suppressed_counts().values()) == most + 5


def test_one_that_is_not_created_for_it_names_nobody_is_no_suppressed_duplicate(rig: Rig) -> None:
    rig.create(uniq="U")
    answer = rig.ask(Create(task=rig.task(uniq="U", depends_on=("nobody",)), on_duplicate="queue"))
    assert answer.code == "unknown"
    assert (rig.store.suppressed(10), rig.store.suppressed_counts()) == ([], {})
