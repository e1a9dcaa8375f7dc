"""Records made from messages and from other records."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from services.domain.errors import UsageError
from services.domain.task import envelope
from services.domain.task.record import Task
from services.domain.types.task_type import TaskType
from services.engine import recipe

NOW = 1_795_000_000_000
KIND = TaskType(name="work", timeout_s=77, expected_s=3.5, version=4)


def task(**fields: Any) -> Task:
    base = {"task_id": "t1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "payload": '{"a":1}'}
    return Task(**(base | fields))


def parsed(headers: dict[str, object] | None = None, **fields: Any) -> envelope.Parsed:
    body = {"task_id": "t1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "payload": {"a": 1}} | fields
    return envelope.parse(json.dumps(body).encode(), headers, now_ms=NOW)


# --------------------------------------------------------------------------------------------------------------- adopt
def test_a_foreign_message_becomes_a_queued_record_under_the_policy_of_its_type() -> None:
    made = recipe.adopt(parsed(retry_count=2), KIND)
    assert (made.status, made.origin, made.marks) == ("queued", "foreign", ("foreign",))
    assert (made.attempt, made.retries, made.gen) == (2, 2, 0)
    assert (made.timeout_s, made.idempotent, made.expected_s) == (77, True, 3.5)
    assert made.uniq
    assert made.uniq == recipe.adopt(parsed(), KIND).uniq


def test_a_message_of_ours_without_a_record_is_recovered() -> None:
    made = recipe.adopt(parsed({"x-rpa-gen": 3, "x-rpa-attempt": 1}), KIND)
    assert (made.status, made.marks, made.gen, made.attempt) == ("queued", ("recovered",), 3, 1)


# ----------------------------------------------------------------------------------------------------------- successor
def test_a_successor_does_the_same_work_afresh() -> None:
    old = task(
        lane="high",
        priority=9,
        queue="s1",
        status="dead",
        attempt=4,
        retries=3,
        max_retries=7,
        batch="b",
        extra='{"x":1}',
        error="no",
        uniq="u",
        marks=("twin",),
        triage="open",
        gen=2,
    )
    new = recipe.successor(old, "t2", by="ann")
    assert (new.task_id, new.parent, new.created_by, new.origin) == ("t2", "t1", "ann", "republish")
    kept = ("lane", "priority", "queue", "max_retries", "batch", "extra", "uniq", "payload")
    assert all(getattr(new, name) == getattr(old, name) for name in kept)
    assert (new.status, new.attempt, new.retries, new.gen, new.error, new.marks, new.triage) == (
        "pending", 0, 0, 0, "", (), "",
    )  # fmt: skip
    assert recipe.successor(old, "t2", by="ann", payload='{"b":2}').payload == '{"b":2}'


def test_refreshed_follows_todays_policy_and_payload() -> None:
    new = recipe.refreshed(task(payload='{"b":2}', uniq="old"), KIND)
    assert (new.timeout_s, new.expected_s, new.type_version) == (77, 3.5, 4)
    assert new.uniq == recipe.refreshed(task(payload='{ "b": 2 }'), KIND).uniq != "old"
    assert recipe.refreshed(task(), msgspec.structs.replace(KIND, uniqueness="none")).uniq == ""


# ------------------------------------------------------------------------------------------------------------- payload
@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ('{"a":1}', '{"a":1.0}', True),
        ('{"a":1}', '{"a":true}', False),
        ('{"a":1,"b":2}', '{"b": 2, "a": 1}', True),
        ('{"a":1}', '{"a":2}', False),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ("{}", "{}", True),
        ("no json", "{}", False),
        ("no json", "no json", True),
    ],
)
def test_payloads_are_compared_by_meaning(left: str, right: str, same: bool) -> None:
    assert recipe.same_payload(left, right) is same


def test_a_payload_is_compact_json() -> None:
    assert recipe.payload_text({"text": "你好", "n": [1, 2.5, None, True]}) == '{"text":"你好","n":[1,2.5,null,true]}'


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ({"n": float("nan")}, "not JSON"),
        ({"n": float("inf")}, "not JSON"),
        ({"n": object()}, "not JSON"),
        ({"n": "\ud800"}, r"holds \\ud800, .* write the character itself"),
        ({"n": "x" * recipe.MAX_PAYLOAD}, "limit"),
        ({"n": "你" * (recipe.MAX_PAYLOAD // 2)}, "limit"),
        (nested(100_000), "not JSON"),
    ],
    ids=["nan", "inf", "object", "surrogate", "large", "large in bytes", "deep"],
)
def test_what_json_cannot_carry_is_refused(payload: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        recipe.payload_text(payload)
    assert caught.value.field == "payload"


def test_what_no_worker_could_read_is_refused() -> None:
    recipe.check_readable(task(payload=recipe.payload_text(nested(60))), NOW)
    recipe.check_readable(task(payload=recipe.payload_text({"text": "{[" * 500})), NOW)
    with pytest.raises(UsageError, match="deeper"):
        recipe.check_readable(task(payload=recipe.payload_text(nested(70))), NOW)
