"""What operators do while tasks wait, run or lie dead; both pairs."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from services.domain.errors import UsageError
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, define, lines, moves


# --------------------------------------------------------------------------------------------------------------- cancel
def test_a_waiting_task_is_cancelled_at_once_and_its_message_skipped(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(seen=str(seen))
    outcome = fleet.commands().tasks.cancel([task_id], reason="wrong shop")
    assert (outcome.done, outcome.pending) == ((task_id,), ())
    task = fleet.task(task_id)
    assert (task.status, task.reason) == ("cancelled", "wrong shop")
    assert fleet.engine.store.executed([task_id]) == [True]
    later = fleet.create("s2", seen=str(seen))
    fleet.worker(1)
    fleet.wait(later, "succeeded")
    assert [row[1] for row in lines(seen, "start")] == [later]
    eventually(lambda: fleet.ready("rpa_tasks_normal") == 0, 30)
    assert moves(fleet.task(task_id)) == ["pending", "queued", "cancelled"]


def test_a_running_task_stops_when_asked(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(seen=str(seen), sleep=60)
    fleet.worker()
    fleet.wait(task_id, "running")
    outcome = fleet.commands().tasks.cancel([task_id, task_id], reason="enough")
    assert (outcome.done, outcome.pending) == ((), (task_id,))
    task = fleet.wait(task_id, "cancelled")
    assert [one.outcome for one in task.attempts] == ["cancelled"]
    assert (task.reason, task.cancel, task.retries) == ("enough", "", 0)
    assert lines(seen, "stopped")


def test_a_child_process_that_does_not_listen_is_killed_with_all_it_started(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(kind="flow", seen=str(seen), sleep=600, stubborn=True, child=True)
    fleet.worker()
    (started,) = eventually(lambda: lines(seen, "start"), 30)
    (child,) = eventually(lambda: lines(seen, "child"), 30)
    fleet.wait(task_id, "running")
    fleet.commands().tasks.cancel([task_id])
    stages = {fleet.task(task_id).cancel}
    task = eventually(lambda: found if stages.add((found := fleet.task(task_id)).cancel) or found.ended else None, 30)
    assert task.status == "cancelled"
    assert stages <= {"requested", "stopping", ""}
    assert "stopping" in stages
    assert "killed" in task.attempts[0].error
    for words in (started, child):
        assert not psutil.pid_exists(int(words[2])) or psutil.Process(int(words[2])).status() == "zombie"


def test_a_cancel_that_comes_while_the_task_fails_wins_over_its_retry(fleet: Fleet) -> None:
    task_id = fleet.create(fail="network")
    fleet.worker()
    fleet.wait(task_id, "retrying")
    assert fleet.commands().tasks.cancel([task_id]).done == (task_id,)
    assert fleet.wait(task_id, "cancelled").retries == 1


def test_what_has_ended_cannot_be_cancelled(fleet: Fleet) -> None:
    task_id = fleet.create()
    fleet.worker()
    fleet.wait(task_id, "succeeded")
    outcome = fleet.commands().tasks.cancel([task_id, "nobody"])
    assert [(one.task_id, one.why.code) for one in outcome.skipped] == [
        (task_id, "task.refused"),
        ("nobody", "task.unknown"),
    ]
    assert fleet.engine.store.audit(1)[0].outcome == (
        "refused: 2: task.refused 1, task.unknown 1; not done: task.refused 0, task.unknown 1"
    )


# ---------------------------------------------------------------------------------------------------- order of running
def test_a_prioritised_task_goes_first_and_its_old_message_is_stale(fleet: Fleet, seen: Path) -> None:
    ids = [fleet.create(f"s{number}", priority="low", seen=str(seen)) for number in range(5)]
    last = ids[-1]
    assert fleet.commands().tasks.prioritize([last], "high").done == (last,)
    task = fleet.task(last)
    assert (task.gen, task.lane, task.priority, task.status) == (1, "high", 10, "queued")
    assert (fleet.ready("rpa_tasks_high"), fleet.ready("rpa_tasks_low")) == (1, 5), "the old copy is still there"
    worker = fleet.worker(1)
    fleet.wait_ended(ids)
    assert [row[1] for row in lines(seen, "start")] == [last, *ids[:-1]]
    eventually(lambda: worker.tally.skipped == 1, 30)
    assert fleet.task(last).attempt == 1


def test_run_now_starts_a_scheduled_task(fleet: Fleet) -> None:
    task_id = fleet.create(delay_s=3600, priority="low")
    assert fleet.task(task_id).status == "scheduled"
    assert fleet.commands().tasks.run_now([task_id]).done == (task_id,)
    fleet.worker()
    task = fleet.wait(task_id, "succeeded")
    assert (task.lane, task.gen, task.due_at) == ("high", 1, 0)


def test_run_now_ends_the_wait_for_the_next_attempt(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", retry_base_s=4, retry_cap_s=4)
    task_id = fleet.create(seen=str(seen), fail="network", fail_first=1)
    worker = fleet.worker()
    first = fleet.wait(task_id, "retrying")
    assert fleet.commands().tasks.run_now([task_id]).done == (task_id,)
    task = fleet.wait(task_id, "succeeded")
    assert task.started_at < first.due_at
    eventually(lambda: fleet.ready("rpa_delay_4s") == 0, 30)
    eventually(lambda: worker.tally.skipped == 1, 30)
    assert len(lines(seen, "start")) == 2, "the message that came out of the delay queue is skipped"


def test_a_bad_priority_names_the_field(fleet: Fleet) -> None:
    with pytest.raises(UsageError, match="1-10") as caught:
        fleet.commands().tasks.prioritize([fleet.create()], 11)
    assert caught.value.field == "priority"


# -------------------------------------------------------------------------------------------------------------- retry
def test_retry_says_what_to_do_where_it_does_not_fit(fleet: Fleet) -> None:
    done, waiting = fleet.create(), fleet.create("s2", priority="low")
    fleet.worker(lanes=("normal",))
    fleet.wait(done, "succeeded")
    outcome = fleet.commands().tasks.retry_waiting([done, waiting, "nobody"])
    assert [one.why.code for one in outcome.skipped] == ["retry.use_duplicate", "retry.not_failed", "task.unknown"]


def test_retrying_a_dead_task_republishes_it(fleet: Fleet) -> None:
    task_id = fleet.create(fail="bad_payload", fail_first=1)
    fleet.worker()
    fleet.wait(task_id, "dead")
    outcome = fleet.commands().tasks.retry_waiting([task_id])
    assert outcome.done == (task_id,)
    fresh = fleet.wait(outcome.made[task_id], "succeeded", "dead")
    assert (fresh.parent, fleet.task(task_id).triage) == (task_id, "republished")


def test_a_held_task_can_be_closed_as_done(fleet: Fleet) -> None:
    task_id = fleet.create(kind="flow_once", sleep=30)
    fleet.worker()
    fleet.wait(task_id, "held")
    assert fleet.commands().tasks.resolve([task_id], "succeeded", note="the replies are there").done == (task_id,)
    task = fleet.task(task_id)
    assert (task.status, task.triage_note) == ("succeeded", "the replies are there")
    assert fleet.engine.store.executed([task_id]) == [True]


# ---------------------------------------------------------------------------------------------------------- republish
def dead(fleet: Fleet, **fields: object) -> str:
    """A dead letter."""
    task_id = fleet.create(**({"fail": "missing_secret", "text": "the secret desk is missing"} | fields))
    worker = fleet.worker()
    fleet.wait(task_id, "dead")
    worker.stop()
    return task_id


def test_a_republished_letter_lives_on_under_a_new_id(fleet: Fleet) -> None:
    old_id = dead(fleet)
    outcome = fleet.commands().dead_letters.republish([old_id], payload={"sleep": 0})
    new_id = outcome.made[old_id]
    old, new = fleet.task(old_id), fleet.task(new_id)
    assert (old.status, old.triage, old.successor) == ("dead", "republished", new_id)
    assert (new.parent, new.origin, new.attempt, new.retries) == (old_id, "republish", 0, 0)
    assert json.loads(new.payload) == {"sleep": 0}
    fleet.worker()
    assert fleet.wait(new_id, "succeeded").created_by == fleet.commands().operator.who
    again = fleet.commands().dead_letters.republish([old_id])
    assert [(one.why.code, one.why.params["id"]) for one in again.skipped] == [("dead.already", new_id)]
    assert fleet.engine.store.counts().triage == {"republished": 1}


def test_an_edited_payload_is_checked_before_anything_happens(fleet: Fleet) -> None:
    define(fleet, "work", schema={"type": "object", "properties": {"page": {"type": "integer"}}})
    old_id = dead(fleet)
    commands = fleet.commands().dead_letters
    for payload, field in (({"page": "x"}, "page"), ({"n": float("nan")}, "payload"), ({"a": nested(80)}, "payload")):
        with pytest.raises(UsageError) as caught:
            commands.republish([old_id], payload=payload)
        assert caught.value.field == field
    with pytest.raises(UsageError, match="exactly one"):
        commands.republish([old_id, "other"], payload={})
    assert fleet.task(old_id).triage == "open"
    assert fleet.engine.store.counts().total == 1


def test_letters_are_put_away_and_taken_back(fleet: Fleet) -> None:
    task_id = dead(fleet)
    commands = fleet.commands().dead_letters
    assert commands.set_triage([task_id], "archived", note="known").done == (task_id,)
    assert (fleet.task(task_id).triage, fleet.task(task_id).triage_note) == ("archived", "known")
    assert commands.set_triage([task_id], "open").done == (task_id,)
    assert commands.set_triage([task_id], "ignored").done == (task_id,)
    assert fleet.engine.store.counts().triage == {"ignored": 1}
    running = fleet.create("s9", sleep=0)
    assert commands.set_triage([running], "archived").skipped[0].why.code == "dead.not_dead"


def test_every_act_is_in_the_audit_trail_before_it_happens(fleet: Fleet) -> None:
    old_id = dead(fleet)
    cursor = fleet.cursor()
    fleet.commands().dead_letters.republish([old_id], payload={"password": "hunter2", "n": 1})
    (entry, *_) = fleet.engine.store.audit(1)
    assert (entry.action, entry.target, entry.outcome) == ("dead.republish", (old_id,), "done")
    assert "hunter2" not in entry.detail
    assert json.loads(entry.detail)["payload"]["n"] == 1
    first = min(event.at for event in fleet.events(cursor))
    assert entry.at <= first <= entry.closed_at


# ---------------------------------------------------------------------------------------------------------- duplicates
def spec(**fields: object) -> TaskSpec:
    return TaskSpec(**({"platform": "pdd", "shop_id": "s1", "task_type": "single"} | fields))  # type: ignore[arg-type]


def test_a_second_order_sync_of_a_shop_is_refused_with_the_first(fleet: Fleet) -> None:
    first = fleet.create(kind="single", n=1)
    fleet.wait(first, "queued")
    done = fleet.submit(spec(payload={"n": 2}))
    assert [(task.task_id, task.status) for _, task in done.duplicates] == [(first, "queued")]
    assert len(fleet.submit(spec(shop_id="s2")).created) == 1
    fleet.worker()
    fleet.wait(first, "succeeded")
    assert len(fleet.submit(spec()).created) == 1, "once it has ended there is no twin"


def test_a_queued_twin_waits_for_the_first_and_then_runs(fleet: Fleet, seen: Path) -> None:
    fleet.shop("s1", concurrency=4)
    gate = fleet.folder / "open"
    first = fleet.create(kind="single", seen=str(seen), until=str(gate))
    done = fleet.submit(spec(if_duplicate="queue", payload={"seen": str(seen)}))
    (second,) = done.created
    assert second.marks == ("twin",)
    fleet.worker()
    fleet.wait(first, "running")
    blocked = fleet.wait(second.task_id, "blocked")
    assert blocked.gate == "twin"
    gate.touch()
    fleet.wait_ended([first, second.task_id])
    assert [(row[0], row[1]) for row in lines(seen)] == [
        ("start", first),
        ("end", first),
        ("start", second.task_id),
        ("end", second.task_id),
    ]


def test_force_runs_side_by_side_and_needs_a_reason(fleet: Fleet) -> None:
    fleet.shop("s1", concurrency=4)
    gate = fleet.folder / "open"
    first = fleet.create(kind="single", until=str(gate))
    done = fleet.submit(spec(if_duplicate="force"))
    assert [field for _, field, _ in done.errors] == ["reason"]
    done = fleet.submit(spec(if_duplicate="force", reason="the first hangs", payload={"until": str(gate)}))
    (second,) = done.created
    fleet.worker()
    fleet.wait(first, "running")
    task = fleet.wait(second.task_id, "running")
    assert (task.marks, task.reason, task.guard) == (("forced",), "the first hangs", "")
    gate.touch()
    fleet.wait_ended([first, second.task_id])


def test_republish_of_what_runs_already_is_refused_unless_told(fleet: Fleet) -> None:
    old_id = dead(fleet, kind="single")
    active = fleet.create(kind="single", sleep=0)
    commands = fleet.commands().dead_letters
    outcome = commands.republish([old_id])
    assert [(one.why.code, one.why.params["id"]) for one in outcome.skipped] == [("task.duplicate", active)]
    with pytest.raises(UsageError, match="reason"):
        commands.republish([old_id], if_duplicate="force")
    assert commands.republish([old_id], if_duplicate="queue").done == (old_id,)


def nested(depth: int) -> object:
    """Lists in lists."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value
