"""Finish, Renew and Progress: one recorded outcome per attempt, whoever comes late."""

from __future__ import annotations

import msgspec
import pytest

from services.domain.change import Cancel, Finish, Progress, Renew
from services.domain.task.artifact import ArtifactMark
from services.domain.task.record import HISTORY_LIMIT, Attempt
from services.domain.task.status import Status
from tests.contract.rig import Rig, attempt_of, shown, told


def test_success(rig: Rig) -> None:
    task = rig.running()
    start = rig.store.events("", 1, 0).cursor
    rig.pass_time(0.1)
    answer = rig.finish(task, result='{"orders": 3}')
    assert answer.code == "ok"
    record = rig.record(task)
    assert record == answer.task
    assert (record.status, record.result, record.owner, record.lease_until) == (
        Status.SUCCEEDED, '{"orders": 3}', task.owner, 0,
    )  # fmt: skip
    assert record.ended_at == record.updated_at > task.started_at
    assert record.attempts == (attempt_of(task, "succeeded"),)
    assert rig.outbox() == set()
    assert told(rig.all_events(start), record) == shown(record)[-1:]
    assert shown(record)[-1][3] == "w1"


def test_failure_that_is_tried_again(rig: Rig) -> None:
    task = rig.running()
    answer = rig.finish(task, "retrying", delay_ms=30_000, error="no net", error_kind="network", fingerprint="abcd")
    record = rig.record(task)
    assert (answer.code, answer.task) == ("ok", record)
    assert (record.status, record.retries, record.attempt) == (Status.RETRYING, 1, 1)
    assert record.due_at == record.updated_at + 30_000
    assert (record.error, record.error_kind, record.fingerprint) == ("no net", "network", "abcd")
    assert record.ended_at == 0
    assert rig.outbox() == {task.task_id}
    assert record.steps[-1].note == "network"


def test_what_goes_on_later_counts_no_retry(rig: Rig) -> None:
    task = rig.running()
    assert rig.finish(task, "retrying", delay_ms=30_000, counted=False).code == "ok"
    record = rig.record(task)
    assert (record.status, record.retries, record.attempt) == (Status.RETRYING, 0, 1)
    assert record.due_at == record.updated_at + 30_000


def test_death(rig: Rig) -> None:
    task = rig.dead()
    record = rig.record(task)
    assert (record.status, record.triage, record.fingerprint) == (Status.DEAD, "open", "9ac1")
    assert record.ended_at > 0
    assert rig.outbox() == {task.task_id}


def test_held_waits_without_a_message(rig: Rig) -> None:
    task = rig.held()
    assert rig.record(task).status == Status.HELD
    assert rig.outbox() == set()
    assert len(task.losses) == 1


def test_given_back_is_not_counted(rig: Rig) -> None:
    task = rig.running()
    answer = rig.finish(task, "pending")
    record = rig.record(task)
    assert answer.code == "ok"
    assert (record.status, record.retries, record.attempt, record.due_at) == (Status.PENDING, 0, 1, 0)
    assert rig.outbox() == {task.task_id}
    rig.confirm(record)
    again = rig.claim(record, "w2#1")
    assert again.code == "run"


def test_an_outcome_replaces_the_error_before(rig: Rig) -> None:
    task = rig.retrying()
    running = rig.claim(task, "w2#1").task
    assert running is not None
    record = rig.finish(running).task
    assert record is not None
    assert (record.error, record.error_kind, record.fingerprint) == ("", "", "")
    assert len(record.attempts) == 2


@pytest.mark.parametrize("to", ["succeeded", "retrying", "dead", "held", "cancelled", "pending"])
def test_the_same_outcome_again_is_ok_and_changes_nothing(rig: Rig, to: str) -> None:
    task = rig.running()
    first = rig.finish(task, to)
    start = rig.store.events("", 1, 0).cursor
    again = rig.finish(task, to)
    assert (first.code, again.code) == ("ok", "ok")
    assert again.task == first.task == rig.record(task)
    assert rig.all_events(start) == []


def test_it_is_still_ok_after_the_message_was_confirmed(rig: Rig) -> None:
    task = rig.running()
    rig.finish(task, "pending")
    rig.confirm(rig.record(task))
    assert rig.finish(task, "pending").code == "ok"
    assert rig.record(task).status == Status.QUEUED


def test_another_owner_is_fenced_and_kept_as_evidence(rig: Rig) -> None:
    task = rig.running("w2#1")
    start = rig.store.events("", 1, 0).cursor
    late = Attempt(number=1, worker="w1", started_at=5, ended_at=9, outcome="succeeded")
    for _ in range(2):  # safe to repeat: the evidence is there once
        answer = rig.ask(Finish(task_id=task.task_id, owner="w1#1", to="succeeded", attempt=late))
        assert answer.code == "fenced"
    record = rig.record(task)
    assert (record.status, record.owner, record.updated_at) == (Status.RUNNING, "w2#1", task.updated_at)
    assert [(a.worker, a.outcome) for a in record.attempts] == [("w1", "fenced")]
    assert rig.all_events(start) == []


def test_a_late_result_after_the_end_is_fenced(rig: Rig) -> None:
    first = rig.running("w1#1", lease_ms=50)
    rig.pass_time(0.2)
    rig.finish(first, "pending", if_expired=True, lost=True)
    second = rig.claim(rig.record(first), "w2#1").task
    assert second is not None
    rig.finish(second)
    answer = rig.finish(first, "dead", error="late")
    assert answer.code == "fenced"
    record = rig.record(first)
    assert (record.status, record.error) == (Status.SUCCEEDED, "")
    assert [a.outcome for a in record.attempts] == ["returned", "succeeded", "fenced"]


def test_the_own_result_after_the_lease_was_given_up_is_evidence(rig: Rig) -> None:
    task = rig.running(lease_ms=50)
    rig.pass_time(0.2)
    lost = Attempt(number=1, worker="w1", started_at=task.started_at, ended_at=task.lease_until, outcome="lost")
    assert rig.finish(task, "held", attempt=lost, if_expired=True, lost=True).code == "ok"
    for _ in range(2):
        assert rig.finish(task, "succeeded").code == "fenced"
    record = rig.record(task)
    assert (record.status, [attempt.outcome for attempt in record.attempts]) == (Status.HELD, ["lost", "fenced"])


def test_the_files_of_an_attempt_stand_in_its_record_also_as_evidence(rig: Rig) -> None:
    task = rig.running()
    files = (ArtifactMark("a.png", "image", 5_000_000_000, "ab" * 32, "step", 1_795_000_000_000, "x/y/1/a.png"),)
    plain = attempt_of(task, "succeeded")
    done = msgspec.structs.replace(plain, artifacts=files, artifacts_note="b.png is larger than 50 MB")
    late = Finish(
        task_id=task.task_id, owner="w9#9", to="succeeded", attempt=msgspec.structs.replace(done, worker="w9")
    )
    for _ in range(2):
        assert rig.ask(late).code == "fenced"
    assert rig.finish(task, attempt=done).code == "ok"
    assert rig.finish(task, attempt=done).code == "ok"
    evidence = msgspec.structs.replace(done, worker="w9", outcome="fenced")
    assert rig.record(task).attempts == (evidence, done)
    other = rig.running(owner="w1#2", task_id="t-plain", shop_id="s9")
    empty = Finish(task_id=other.task_id, owner="w9#9", to="succeeded", attempt=attempt_of(other, "succeeded"))
    for _ in range(2):
        assert rig.ask(empty).code == "fenced"
    assert [one.artifacts for one in rig.record(other).attempts] == [()]


def test_finish_of_nothing(rig: Rig) -> None:
    task = rig.task(owner="w1#1")
    assert rig.finish(task).code == "missing"


def test_finish_of_a_task_that_nobody_claimed(rig: Rig) -> None:
    task = rig.queued()
    answer = rig.ask(Finish(task_id=task.task_id, owner="w1#1", to="succeeded", attempt=attempt_of(task, "succeeded")))
    assert answer.code == "fenced"
    assert rig.record(task).status == Status.QUEUED


# -------------------------------------------------------------------------- leases
def test_an_expired_lease_is_taken_over(rig: Rig) -> None:
    task = rig.running(lease_ms=800)
    assert rig.store.expired(10) == []
    live = rig.finish(task, "pending", if_expired=True, lost=True)
    assert live.code == "fenced"
    assert rig.record(task) == task
    rig.pass_time(1.0)
    assert [found.task_id for found in rig.store.expired(10)] == [task.task_id]
    answer = rig.finish(task, "pending", if_expired=True, lost=True)
    assert answer.code == "ok"
    record = rig.record(task)
    assert (record.status, record.retries) == (Status.PENDING, 0)
    assert record.losses == (record.updated_at,)
    assert rig.store.expired(10) == []
    assert rig.finish(task, "pending", if_expired=True, lost=True).code == "ok"
    assert rig.record(task) == record


def test_the_reconciler_does_not_answer_for_what_the_owner_recorded(rig: Rig) -> None:
    task = rig.running(lease_ms=50)
    rig.pass_time(0.2)
    done = rig.finish(task).task
    lost = Attempt(number=1, worker="w1", started_at=task.started_at, ended_at=task.lease_until, outcome="lost")
    answer = rig.finish(task, "pending", attempt=lost, if_expired=True, lost=True)
    assert answer.code == "fenced"
    assert rig.record(task) == done


def test_expired_shows_the_longest_silent_first(rig: Rig) -> None:
    slow = rig.running("w1#1", lease_ms=120, shop_id="a")
    fast = rig.running("w2#1", lease_ms=40, shop_id="b")
    rig.running("w3#1", lease_ms=60_000, shop_id="c")
    rig.pass_time(0.4)
    assert [task.task_id for task in rig.store.expired(10)] == [fast.task_id, slow.task_id]
    assert len(rig.store.expired(1)) == 1


def test_a_renewed_lease_lives(rig: Rig) -> None:
    task = rig.running(lease_ms=300)
    start = rig.store.events("", 1, 0).cursor
    answer = rig.ask(Renew(task_id=task.task_id, owner=task.owner, lease_ms=60_000))
    assert answer.code == "ok"
    assert answer.task is not None
    assert answer.task.lease_until >= task.started_at + 60_000
    rig.pass_time(0.5)
    assert rig.store.expired(10) == []
    assert rig.record(task).updated_at == task.updated_at
    assert rig.all_events(start) == []


@pytest.mark.parametrize("owner", ["w1#1", "w2#1"])
def test_a_lease_that_is_gone_cannot_be_renewed(rig: Rig, owner: str) -> None:
    task = rig.running("w1#1")
    if owner == task.owner:
        rig.finish(task)
    assert rig.ask(Renew(task_id=task.task_id, owner=owner, lease_ms=1000)).code == "fenced"
    assert rig.ask(Renew(task_id="nobody", owner=owner, lease_ms=1000)).code == "fenced"


# ------------------------------------------------------------------------ progress
def test_progress_is_shown_without_an_event(rig: Rig) -> None:
    task = rig.running()
    start = rig.store.events("", 1, 0).cursor
    answer = rig.ask(Progress(task_id=task.task_id, owner=task.owner, progress=40, note="page 2 of 5"))
    assert answer.code == "ok"
    record = rig.record(task)
    assert (record.progress, record.note, record.updated_at) == (40, "page 2 of 5", task.updated_at)
    rig.ask(Progress(task_id=task.task_id, owner=task.owner, progress=-1))
    assert (rig.record(task).progress, rig.record(task).note) == (40, "page 2 of 5")
    assert rig.all_events(start) == []


def test_progress_of_another_owner_is_fenced(rig: Rig) -> None:
    task = rig.running()
    assert rig.ask(Progress(task_id=task.task_id, owner="x#1", progress=99)).code == "fenced"
    assert rig.ask(Progress(task_id="nobody", owner="x#1", progress=99)).code == "fenced"
    assert rig.record(task).progress == -1
    rig.finish(task, "retrying")
    assert rig.ask(Progress(task_id=task.task_id, owner=task.owner, progress=99)).code == "fenced"


def test_the_next_attempt_begins_without_progress(rig: Rig) -> None:
    task = rig.running()
    rig.ask(Progress(task_id=task.task_id, owner=task.owner, progress=80, note="nearly"))
    back = rig.finish(task, "retrying").task
    assert back is not None
    again = rig.claim(back, "w2#1").task
    assert again is not None
    assert (again.progress, again.note) == (-1, "")


def test_stopping_is_shown(rig: Rig) -> None:
    task = rig.running()
    rig.ask(Cancel(task_id=task.task_id, by="ann"))
    rig.ask(Progress(task_id=task.task_id, owner=task.owner, progress=-1, stopping=True))
    assert rig.record(task).cancel == "stopping"


# --------------------------------------------------------------------- cancel wish
@pytest.mark.parametrize("to", ["retrying", "pending"])
def test_a_cancel_request_outlives_the_attempt(rig: Rig, to: str) -> None:
    task = rig.running(uniq="U")
    assert rig.ask(Cancel(task_id=task.task_id, by="ann", reason="wrong shop")).code == "requested"
    answer = rig.finish(task, to, delay_ms=1000, error="net", error_kind="network")
    assert answer.code == "ok"
    record = rig.record(task)
    assert (record.status, record.reason, record.cancel, record.due_at) == (Status.CANCELLED, "wrong shop", "", 0)
    assert rig.outbox() == set()


@pytest.mark.parametrize("to", ["succeeded", "dead", "held", "cancelled"])
def test_other_outcomes_are_recorded_as_they_are(rig: Rig, to: str) -> None:
    task = rig.running()
    rig.ask(Cancel(task_id=task.task_id, by="ann"))
    rig.finish(task, to)
    assert (rig.record(task).status, rig.record(task).cancel) == (to, "")


# ------------------------------------------------------------------------- history
def test_the_record_keeps_its_last_transitions(rig: Rig) -> None:
    task = rig.queued()
    for number in range(HISTORY_LIMIT):
        running = rig.claim(rig.record(task), f"w#{number}").task
        assert running is not None
        rig.finish(running, "pending")
    record = rig.record(task)
    assert (len(record.steps), len(record.attempts)) == (HISTORY_LIMIT, HISTORY_LIMIT)
    assert record.attempts[-1].number == HISTORY_LIMIT
    assert record.steps[-1].to == Status.PENDING
    assert record.attempt == HISTORY_LIMIT


def test_the_finishes_of_one_batch(rig: Rig) -> None:
    tasks = [rig.running(f"w#{number}", shop_id=f"s{number}") for number in range(20)]
    ops = [
        Finish(task_id=task.task_id, owner=task.owner, to="succeeded", attempt=attempt_of(task, "succeeded"))
        for task in tasks
    ]
    assert {answer.code for answer in rig.store.apply(ops)} == {"ok"}
    assert rig.store.counts().status == {"succeeded": 20}
    assert {answer.code for answer in rig.store.apply(ops)} == {"ok"}
