"""What follows a failure."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.domain.gates import session
from services.domain.task import classify
from services.domain.task.retry import LOSS_WINDOW_MS, RetryPolicy, decide
from services.domain.task.status import Status
from tests.support.moves import may_become
from tests.unit.services.domain.builders import HOUR, NOW, task

KINDS = st.sampled_from(classify.KINDS)
POLICIES = st.builds(
    RetryPolicy, base_s=st.integers(1, 3600), cap_s=st.integers(1, 86_400), max_retries=st.integers(0, 20)
)
TASKS = st.builds(
    task,
    status=st.just(Status.RUNNING),
    retries=st.integers(0, 30),
    max_retries=st.integers(0, 20),
    idempotent=st.booleans(),
    losses=st.lists(st.integers(NOW - 200 * HOUR, NOW), max_size=4).map(tuple),
)


@given(TASKS, KINDS, POLICIES)
def test_every_decision_is_allowed_and_bounded(record, kind, policy) -> None:
    made = decide(record, kind, policy, NOW)
    assert may_become(Status.RUNNING, made.to)
    assert 0 <= made.delay_s <= policy.cap_s
    assert (made.delay_s > 0) == (made.to == Status.RETRYING) == made.counted
    assert made.lost == (kind == classify.WORKER_LOST)


@given(TASKS, st.sampled_from(sorted(classify.PERMANENT)), POLICIES)
def test_permanent_errors_burn_no_retries(record, kind, policy) -> None:
    made = decide(record, kind, policy, NOW)
    assert made.to == (Status.BLOCKED if kind in session.KINDS else Status.DEAD)
    assert not made.counted


@given(KINDS, POLICIES, st.integers(0, 20))
def test_a_task_retries_exactly_as_often_as_it_may(kind, policy, allowed) -> None:
    record, count = task(max_retries=allowed), 0
    while (made := decide(record, kind, policy, NOW)).to == Status.RETRYING:
        count += 1
        record = task(max_retries=allowed, retries=count)
    transient = kind not in {*classify.PERMANENT, classify.WORKER_LOST, classify.CANCELLED}
    assert count == (allowed if transient else 0)
    ends = {classify.WORKER_LOST: Status.PENDING, classify.CANCELLED: Status.CANCELLED}
    ends |= dict.fromkeys(session.KINDS, Status.BLOCKED)
    assert made.to == ends.get(kind, Status.DEAD)


def test_delays_double_up_to_the_cap() -> None:
    assert [RetryPolicy().delay(count) for count in (0, 1, 2, 3, 99, 10**9)] == [30, 60, 120, 120, 120, 120]
    assert [RetryPolicy(base_s=1, cap_s=4).delay(count) for count in range(4)] == [1, 2, 4, 4]
    assert RetryPolicy(base_s=50, cap_s=20).delay(0) == 20


def test_uncertain_work_that_must_not_repeat_is_held() -> None:
    record = task(idempotent=False)
    for kind in (classify.TIMEOUT, classify.WORKER_LOST):
        assert decide(record, kind, RetryPolicy(), NOW).to == Status.HELD
    assert decide(record, classify.NETWORK, RetryPolicy(), NOW).to == Status.RETRYING


def test_the_third_loss_within_72_hours_ends_it() -> None:
    def after(*losses: int) -> Status:
        return decide(task(losses=losses), classify.WORKER_LOST, RetryPolicy(), NOW).to

    assert after() == Status.PENDING
    assert after(NOW - HOUR) == Status.PENDING
    assert after(NOW - 2 * HOUR, NOW - HOUR) == Status.DEAD
    assert after(NOW - LOSS_WINDOW_MS - 1, NOW - HOUR) == Status.PENDING
