"""Whether a task may run again without doing its work twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.insight.verdict import CHECK, SAFE, WOULD_DUPLICATE, asks_why_given_up, safe_to_run_again
from services.domain.task import classify
from services.domain.task.ledger import Done
from services.domain.task.status import Status, Triage
from services.messages import english
from tests.unit.services.domain.builders import NOW, attempt, task

ONCE: dict[str, Any] = {"idempotent": False}
#: found before anything is started, also where the worker gave the task back for it
#: what a worker that was taken for lost says of an attempt that ended well
LATE = msgspec.structs.replace(attempt(outcome="fenced", kind=""), error="")
#: and of one that it gave back to be run again
GIVEN_BACK_LATE = msgspec.structs.replace(LATE, retry_in_s=0.0)
BEFORE_WORK = ("bad_payload", "unknown_type", "missing_secret", "no_command")


def dead(**fields: Any) -> Any:
    return task(**({"status": Status.DEAD, "triage": Triage.OPEN} | fields))


def held(**fields: Any) -> Any:
    return task(**({"status": Status.HELD, "idempotent": False} | fields))


def test_work_that_has_succeeded_since_would_be_repeated_whatever_its_type() -> None:
    done = Done("later", NOW + 60_000, "ann@desk", "w1")
    letter = dead(created_at=NOW)
    for record in (letter, held(created_at=NOW), dead(created_at=NOW, triage=Triage.OVERTAKEN, successor="old")):
        verdict = safe_to_run_again(record, None, done, NOW + 180_000)
        assert (verdict.level, verdict.code) == (WOULD_DUPLICATE, "verdict.ran_after")
        assert {name: verdict.params[name] for name in ("id", "by", "seconds")} == {
            "id": "later", "by": "ann@desk", "seconds": 120,
        }  # fmt: skip
    before = Done("earlier", NOW - 1, "ann@desk", "w1")
    assert safe_to_run_again(letter, None, before, NOW).level == SAFE, "it was asked for after that"
    closed = dead(triage=Triage.OVERTAKEN, successor="later")
    assert safe_to_run_again(closed).code == "verdict.overtaken"


@pytest.mark.parametrize(
    ("record", "level", "code"),
    [
        (dead(error_kind="network", attempt=3), SAFE, "idempotent"),
        (dead(error_kind="expired"), SAFE, "idempotent"),
        (dead(error_kind="expired", **ONCE), SAFE, "never_started"),
        (dead(error_kind="bad_message"), CHECK, "unreadable"),
        (dead(task_id="bad_0123456789abcdef", error_kind="bad_payload"), CHECK, "unreadable"),
        (dead(task_id="bad_day_7", error_kind="bad_payload"), SAFE, "idempotent"),
        (dead(error_kind="id_conflict", **ONCE), CHECK, "id_conflict"),
        (dead(triage=Triage.REPUBLISHED, successor="new"), WOULD_DUPLICATE, "republished"),
        (dead(**ONCE), SAFE, "never_started"),
        (dead(marks=("recovered",), **ONCE), CHECK, "outcome_unknown"),
        (dead(attempt=2, started_at=NOW, **ONCE), CHECK, "outcome_unknown"),
        (dead(attempt=1, attempts=(attempt(kind="bad_payload"),), **ONCE), SAFE, "stopped_before_work"),
        (
            dead(attempt=1, attempts=(attempt(outcome="returned", kind="no_command"),), **ONCE),
            SAFE,
            "stopped_before_work",
        ),
        (dead(attempt=1, attempts=(attempt(outcome="returned", kind=""),), **ONCE), CHECK, "outcome_unknown"),
        (dead(attempt=1, attempts=(attempt(kind="network"),), **ONCE), CHECK, "failed_midway"),
        (
            dead(attempt=2, attempts=(attempt(1, kind="network"), attempt(2, kind="bad_payload")), **ONCE),
            CHECK,
            "failed_midway",
        ),
        (dead(attempt=2, attempts=(attempt(2, kind="bad_payload"),), **ONCE), CHECK, "outcome_unknown"),
        (dead(attempt=1, progress=40, attempts=(attempt(),), **ONCE), WOULD_DUPLICATE, "work_had_begun"),
        (dead(attempt=1, attempts=(attempt(outcome="timeout", kind="timeout"),), **ONCE), CHECK, "outcome_unknown"),
        (dead(attempt=1, attempts=(attempt(outcome="lost", kind="worker_lost"),), **ONCE), CHECK, "outcome_unknown"),
        (
            dead(attempt=2, attempts=(attempt(outcome="succeeded"), attempt(2)), **ONCE),
            WOULD_DUPLICATE,
            "done_elsewhere",
        ),
        (held(attempt=1, attempts=(attempt(outcome="lost"),), error_kind="worker_lost"), CHECK, "outcome_unknown"),
        (held(attempt=1, attempts=(attempt(kind="network"),)), CHECK, "outcome_unknown"),
        (
            held(attempt=1, attempts=(attempt(outcome="lost"), LATE)),
            WOULD_DUPLICATE,
            "done_late",
        ),
        (held(attempt=1, attempts=(attempt(outcome="lost"), attempt(outcome="fenced"))), CHECK, "outcome_unknown"),
        (held(attempt=1, attempts=(attempt(outcome="lost"), GIVEN_BACK_LATE)), CHECK, "outcome_unknown"),
        (held(attempt=1, progress=100), WOULD_DUPLICATE, "held_begun"),
        (held(attempt=1, progress=99, attempts=(attempt(outcome="lost"),)), WOULD_DUPLICATE, "held_lost"),
        (held(idempotent=True, attempt=1), SAFE, "idempotent"),
        (task(status=Status.RUNNING), WOULD_DUPLICATE, "active"),
        (task(status=Status.SUCCEEDED, idempotent=False), WOULD_DUPLICATE, "succeeded"),
        (task(status=Status.SUCCEEDED), CHECK, "succeeded_idempotent"),
        (task(status=Status.CANCELLED, idempotent=False), SAFE, "never_started"),
    ],
)
def test_the_verdict(record: Any, level: str, code: str) -> None:
    verdict = safe_to_run_again(record)
    assert (verdict.level, verdict.code) == (level, f"verdict.{code}")


ATTEMPTS = st.builds(
    attempt,
    st.integers(1, 5),
    st.sampled_from(["succeeded", "failed", "timeout", "cancelled", "lost", "returned", "fenced"]),
    st.sampled_from(["", *classify.KINDS]),
)


@given(
    st.sampled_from(Status),
    st.booleans(),
    st.lists(ATTEMPTS, max_size=3).map(tuple),
    st.integers(-1, 100),
    st.sampled_from(["", *classify.KINDS]),
    st.integers(0, 5),
)
def test_doubt_never_counts_as_safe(
    status: Status, idempotent: bool, attempts: Any, progress: int, kind: str, number: int
) -> None:
    record = task(
        status=status, idempotent=idempotent, attempts=attempts, progress=progress, error_kind=kind, attempt=number
    )
    verdict = safe_to_run_again(record)
    said = english(verdict.message)
    assert said != verdict.code
    assert "{" not in said
    assert verdict.message.params == verdict.params
    given_back = [each for each in attempts if each.outcome == "returned" and each.error_kind in BEFORE_WORK]
    doubtful = progress > 0 or any(each.outcome != "failed" and each not in given_back for each in attempts)
    if not idempotent and doubtful and (attempts or number):
        assert verdict.level != SAFE


@pytest.mark.parametrize(
    ("record", "asks"),
    [
        (held(error_kind="worker_lost", attempt=1, started_at=NOW), True),
        (held(marks=("recovered",)), True),
        (held(error_kind="worker_lost", attempt=1, started_at=NOW, idempotent=True), False),
        (held(error_kind="duplicate"), False),
        (held(error_kind=classify.ALREADY_DONE, attempt=1, started_at=NOW), False),
        (task(status=Status.RUNNING, attempt=1, started_at=NOW, **ONCE), False),
    ],
)
def test_only_what_may_be_done_and_must_not_be_twice_asks_why_it_is_given_up(record: Any, asks: bool) -> None:
    assert asks_why_given_up(record) is asks
