"""One attempt from claim to the operation that records its end: whatever an executor does, there is exactly one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.domain.change import Finish
from services.domain.task import step_times
from services.domain.task.record import Task
from services.domain.text import mask
from services.executors.base import Executor, Fitness, Job, JobContext, Outcome
from services.workers.abilities import Abilities
from services.workers.runner import Runner
from services.workers.slots import ClaimedTask
from tests.unit.services.engine.room import POLICY, Room

Run = Callable[[Job, JobContext], Outcome]


class Made:
    """An executor made of one function."""

    name = "rpa"

    def __init__(self, run: Run) -> None:
        self.run = run

    def fitness(self) -> Fitness:
        """Always there."""
        return Fitness()

    def close(self) -> None:
        """Nothing is kept."""


def held(room: Room, **fields: Any) -> ClaimedTask:
    task = room.running(**fields)
    return ClaimedTask(task=task, owner=task.owner, delivery=None)


def runner(room: Room, run: Run | None = None, **rules: Any) -> Runner:
    executors: dict[str, Executor] = {"rpa": Made(run)} if run is not None else {}
    abilities = Abilities(executors, room.registry, **rules)
    return Runner(room.store, room.clock, room.registry, executors, worker="w1", policy=POLICY, abilities=abilities)


def fails(kind: str = "network", **fields: Any) -> Run:
    return lambda job, context: Outcome(ok=False, error="it broke", error_kind=kind, **fields)


def test_success_carries_the_result_and_the_time_it_took(room: Room) -> None:
    def run(job: Job, context: JobContext) -> Outcome:
        room.clock.advance(1.5)
        assert (job.attempt, job.worker, job.slot, job.timeout_s) == (1, "w1", 3, 600.0)
        return Outcome(ok=True, result='{"rows": 3}')

    work = held(room)
    op = runner(room, run).run(work, 3)
    assert (op.to, op.result, op.error, op.owner) == ("succeeded", '{"rows": 3}', "", work.owner)
    assert (op.attempt.outcome, op.attempt.ended_at - op.attempt.started_at) == ("succeeded", 1500)
    assert op.attempt.retry_in_s == -1


def test_what_is_claimed_after_its_deadline_is_not_run(room: Room) -> None:
    task = room.create(deadline_ms=room.store.now_ms() + 5_000)
    room.clock.advance(6)
    late = room.claim(task)
    ran: list[Job] = []

    def run(job: Job, context: JobContext) -> Outcome:
        ran.append(job)
        return Outcome(ok=True)

    op = runner(room, run).run(ClaimedTask(task=late, owner=late.owner, delivery=None), 0)
    assert (op.to, op.error_kind, ran) == ("dead", "expired", [])


def test_what_has_begun_in_time_is_tried_again_after_its_deadline(room: Room) -> None:
    begun = room.claim(room.create(deadline_ms=room.store.now_ms() + 5_000))
    again = room.finish(begun, "retrying", delay_ms=0)
    room.clock.advance(6)
    late = room.claim(room.task(again.task_id))
    op = runner(room, lambda job, context: Outcome(ok=True)).run(
        ClaimedTask(task=late, owner=late.owner, delivery=None), 0
    )
    assert (late.attempt, op.to) == (2, "succeeded")


def test_a_failure_is_tried_again_after_the_delay_of_its_count(room: Room) -> None:
    op = runner(room, fails()).run(held(room), 0)
    assert (op.to, op.delay_ms, op.error_kind, op.attempt.retry_in_s) == ("retrying", 30_000, "network", 30)
    assert op.fingerprint
    again = room.task(room.finish(room.running(shop_id="s2"), "retrying", delay_ms=0).task_id)
    task = room.claim(again)
    op = runner(room, fails()).run(ClaimedTask(task=task, owner=task.owner, delivery=None), 0)
    assert (op.delay_ms, op.attempt.number) == (60_000, 2)


@pytest.mark.parametrize(("asked", "waits"), [(5, 30_000), (90, 90_000), (90.2, 91_000), (9_999, 120_000)])
def test_the_other_side_may_ask_for_a_longer_delay(room: Room, asked: float, waits: int) -> None:
    assert runner(room, fails("rate_limited", retry_after_s=asked)).run(held(room), 0).delay_ms == waits


def test_a_type_may_have_delays_of_its_own(room: Room) -> None:
    room.define("work", retry_base_s=7, retry_cap_s=9)
    assert runner(room, fails()).run(held(room), 0).delay_ms == 7_000


def test_without_retries_left_it_is_dead(room: Room) -> None:
    op = runner(room, fails()).run(held(room, max_retries=0), 0)
    assert (op.to, op.delay_ms, op.attempt.retry_in_s) == ("dead", 0, -1)


@pytest.mark.parametrize("kind", ["bad_payload", "unknown_type", "missing_secret"])
def test_what_no_repetition_mends_is_dead_at_once(room: Room, kind: str) -> None:
    assert runner(room, fails(kind)).run(held(room), 0).to == "dead"


@pytest.mark.parametrize("kind", ["login_expired", "captcha"])
def test_what_a_person_must_do_in_the_shop_parks_the_task_uncounted(room: Room, kind: str) -> None:
    room.define("once", idempotent=False)
    op = runner(room, fails(kind)).run(held(room, task_type="once", max_retries=0), 0)
    assert (op.to, op.delay_ms, op.error_kind, op.attempt.outcome) == ("blocked", 0, kind, "failed")


def test_an_account_that_is_no_shops_closes_nothing(room: Room) -> None:
    assert runner(room, fails("login_expired", of_shop=False)).run(held(room), 0).to == "dead"


def test_an_error_without_a_kind_is_classified_by_its_text(room: Room) -> None:
    op = runner(room, lambda job, context: Outcome(ok=False, error="登录已过期，请重新登录")).run(held(room), 0)
    assert (op.to, op.error_kind) == ("blocked", "login_expired")


def test_a_time_out_is_held_where_it_may_have_done_half_of_it(room: Room) -> None:
    assert runner(room, fails("timeout", timed_out=True)).run(held(room), 0).to == "retrying"
    room.define("once", idempotent=False)
    op = runner(room, fails("timeout", timed_out=True)).run(held(room, task_type="once", shop_id="s2"), 0)
    assert (op.to, op.attempt.outcome, op.error_kind) == ("held", "timeout", "timeout")


# ------------------------------------------------------------------------------------------------------ what goes wrong
def test_an_executor_that_raises_is_a_crash_of_the_attempt(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    def run(job: Job, context: JobContext) -> Outcome:
        raise ZeroDivisionError("a bug in an executor")

    op = runner(room, run).run(held(room), 0)
    assert (op.to, op.error_kind, op.error) == ("retrying", "crashed", "ZeroDivisionError: a bug in an executor")
    assert "ZeroDivisionError" in caplog.text


def test_a_silent_store_in_the_middle_of_a_run_ends_no_slot(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    work = held(room)
    room.registry.forget()
    room.registry._known = False
    room.store.silent = 5
    op = runner(room, fails()).run(work, 0)
    assert (op.to, op.error_kind) == ("retrying", "crashed")
    assert "the worker itself failed" in op.error
    assert caplog.text


def test_what_this_worker_can_no_longer_run_goes_back_uncounted(room: Room) -> None:
    op = runner(room).run(held(room), 0)
    assert (op.to, op.error_kind, op.attempt.outcome) == ("pending", "unknown_type", "returned")
    assert "work" in op.error
    op = runner(room, fails("no_command", unable=True)).run(held(room, shop_id="s2"), 0)
    assert (op.to, op.error_kind, op.error) == ("pending", "no_command", "it broke")


def test_strict_types_refuse_what_nobody_defined(room: Room) -> None:
    strict = runner(room, lambda job, context: Outcome(ok=True), strict_types=True)
    assert strict.run(held(room), 0).error_kind == "unknown_type"
    room.define("work")
    assert strict.run(held(room, shop_id="s2"), 0).to == "succeeded"
    with_handler = runner(room, strict_types=True, handlers=frozenset({"mail"}))
    assert with_handler.run(held(room, task_type="mail", shop_id="s3"), 0).to == "pending"


def test_payloads_from_elsewhere_are_checked_by_the_schema_of_the_type(room: Room) -> None:
    room.define("work", schema={"type": "object", "required": ["page"]})
    run = runner(room, lambda job, context: Outcome(ok=True))
    ours = held(room, payload={"page": 1})
    assert run.run(ours, 0).to == "succeeded"
    other = Task(
        task_id="f1", shop_id="s9", platform="pdd", task_type="work", origin="foreign", payload="{}", type_version=1
    )
    op = run.run(ClaimedTask(task=other, owner="w#1", delivery=None), 0)
    assert (op.to, op.error_kind) == ("dead", "bad_payload")
    assert "page" in op.error


def test_long_errors_keep_their_end(room: Room) -> None:
    text = "x" * 10_000 + " the cause"
    op = runner(room, lambda job, context: Outcome(ok=False, error=text, error_kind="network")).run(held(room), 0)
    assert len(op.error) < 5_000
    assert op.error.endswith("the cause")


# ------------------------------------------------------------------------------------------------------------- stopping
def stopped(room: Room, reason: str, kind: str = "work", outcome: Outcome | None = None) -> Finish:
    """An attempt that is told to stop while it runs."""
    work = held(room, task_type=kind)

    def run(job: Job, context: JobContext) -> Outcome:
        work.cancel(reason)
        assert context.cancelled.is_set()
        context.stopping()
        return outcome or Outcome(ok=False, cancelled=True, error="stopped", error_kind="cancelled")

    op = runner(room, run).run(work, 0)
    assert work.stopping is (reason == "requested"), "nobody asked to cancel what a leaving worker gives back"
    return op


def test_a_cancelled_attempt_is_cancelled(room: Room) -> None:
    op = stopped(room, "requested")
    assert (op.to, op.attempt.outcome) == ("cancelled", "cancelled")


def test_what_was_done_before_the_stop_was_heard_is_done(room: Room) -> None:
    assert stopped(room, "requested", outcome=Outcome(ok=True, result="1")).to == "succeeded"


def test_what_would_go_on_later_ends_where_it_was_cancelled(room: Room) -> None:
    assert stopped(room, "requested", outcome=Outcome(ok=False, again_s=5.0, error="page 2 of 9")).to == "cancelled"


@pytest.mark.parametrize(
    ("reason", "met", "told"),
    [
        ("lost", "", "its lease was lost"),
        ("requested", "", "killed on request"),
        ("lost", "disk full", "disk full"),  # what it met by itself before stays told
    ],
)
def test_what_is_ended_because_its_lease_was_lost_says_so(room: Room, reason: str, met: str, told: str) -> None:
    """Its executor knows only that it was to stop, and nobody asked for that."""
    killed = Outcome(ok=False, cancelled=True, error="killed on request", error_kind="cancelled")
    outcome = Outcome(ok=False, error=met, error_kind="unknown") if met else killed
    assert told in stopped(room, reason, outcome=outcome).attempt.error


def test_a_worker_that_stops_gives_back_what_may_run_again(room: Room) -> None:
    op = stopped(room, "shutdown")
    assert (op.to, op.attempt.outcome, op.error_kind) == ("pending", "returned", "")
    room.define("once", idempotent=False)
    room.finish(room.task(op.task_id), "succeeded")
    assert stopped(room, "shutdown", "once").to == "held"


@pytest.mark.parametrize(("reason", "to"), [("shutdown", "pending"), ("lost", "pending"), ("requested", "cancelled")])
def test_what_no_executor_has_seen_has_done_nothing(room: Room, reason: str, to: str) -> None:
    room.define("once", idempotent=False)
    work = held(room, task_type="once")
    work.cancel(reason)

    def run(job: Job, context: JobContext) -> Outcome:
        raise AssertionError("it must not start")

    op = runner(room, run).run(work, 0)
    assert op.to == to
    assert op.attempt.started_at == op.attempt.ended_at


def test_what_a_job_says_reaches_the_worker(room: Room) -> None:
    work = held(room)

    def run(job: Job, context: JobContext) -> Outcome:
        context.log("out", "a line")
        context.progress(150, "n" * 300)
        return Outcome(ok=True)

    runner(room, run).run(work, 0)
    assert [(stream, text) for _, stream, text in work.lines] == [("out", "a line")]
    assert work.progress == (100, "n" * 200)


def test_a_step_that_is_told_again_and_again_takes_no_place_from_those_after_it(room: Room) -> None:
    def run(job: Job, context: JobContext) -> Outcome:
        for _ in range(2 * step_times.MARKS):
            context.progress(10, "log in")
        room.clock.advance(6)
        context.progress(90, "orders")
        room.clock.advance(2)
        return Outcome(ok=True)

    assert runner(room, run).run(held(room), 0).attempt.took == (("log in", 6.0), ("orders", 2.0))


def test_what_this_machine_keeps_secret_is_in_no_outcome(room: Room) -> None:
    mask.know(["Runn3r-hides-this"])

    def run(job: Job, context: JobContext) -> Outcome:
        context.log("err", "sent Runn3r-hides-this to it")
        context.progress(50, "with Runn3r-hides-this")
        fine = job.task.task_type == "fine"
        return Outcome(ok=fine, result='{"echo": "Runn3r-hides-this"}', error="refused Runn3r-hides-this")

    for number, name in enumerate(("fine", "bad")):
        room.define(name)
        work = held(room, task_type=name, shop_id=f"s{number}")
        op = runner(room, run).run(work, 0)
        assert op.to == ("succeeded" if name == "fine" else "retrying")
        assert "Runn3r" not in f"{op} {work.lines} {work.progress}"
        assert "••••" in (op.result if name == "fine" else op.error)


def test_a_text_about_something_cancelled_cancels_no_task(room: Room) -> None:
    """The buyer has cancelled the order; nobody has cancelled the task."""
    op = runner(room, fails("cancelled")).run(held(room), 0)
    assert (op.to, op.error_kind, op.attempt.outcome) == ("retrying", "unknown", "failed")
