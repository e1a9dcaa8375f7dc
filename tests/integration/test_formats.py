"""A field of a wrong form is refused wherever a payload comes in, on both pairs alike."""

from __future__ import annotations

import json

import pytest

from services.commands.tasks import TaskSpec
from services.domain.errors import UsageError
from tests.integration.fleet_rig import Fleet, define, eventually

SCHEMA = {"type": "object", "properties": {"since": {"type": "string", "format": "date"}}}


@pytest.fixture
def dated(fleet: Fleet) -> Fleet:
    """A fleet whose task type `work` wants a day."""
    define(fleet, "work", schema=SCHEMA, executor="python")
    return fleet


def spec(since: str) -> TaskSpec:
    return TaskSpec(platform="pdd", shop_id="s1", task_type="work", payload={"since": since})


def test_a_task_with_a_wrong_day_is_not_created(dated: Fleet) -> None:
    done = dated.commands().tasks.create([spec("22.11.2026"), spec("2026-11-22")], origin="cli")
    assert len(done.created) == 1
    ((_spec, field, sentence),) = done.errors
    assert field == "since"
    assert "such as 2026-11-22, not 22.11.2026" in sentence


def test_a_message_from_elsewhere_with_a_wrong_day_is_dead_with_the_reason(dated: Fleet) -> None:
    body = {"task_id": "x1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "payload": {"since": "soon"}}
    dated.publish(json.dumps(body).encode())
    dated.worker()
    eventually(lambda: dated.engine.store.get(["x1"])[0], 30)
    task = dated.wait("x1", "dead")
    assert task.error_kind == "bad_payload"
    assert task.error == "since: must be a day such as 2026-11-22, not soon"


def test_a_letter_is_republished_only_with_a_day(dated: Fleet) -> None:
    test_a_message_from_elsewhere_with_a_wrong_day_is_dead_with_the_reason(dated)
    letters = dated.commands().dead_letters
    (refused,) = letters.republish(["x1"]).skipped
    assert refused.why.code == "dead.schema"
    with pytest.raises(UsageError, match="must be a day"):
        letters.republish(["x1"], payload={"since": "tomorrow"})
    assert letters.republish(["x1"], payload={"since": "2026-11-22"}).done == ("x1",)
