"""Record and message as names and values."""

from __future__ import annotations

from services.domain.task.record import Task
from services.ports import Letter
from views.pages.tasks.panel.detail import facts

TASK = Task(task_id="t1", shop_id="s1", platform="pdd", task_type="sync_order", gen=2, attempt=3, queue="")


def test_headers_of_a_dead_letter_stand_with_the_record_and_secrets_are_dots() -> None:
    letter = Letter(
        task_id="t1", body=b"{}", headers='{"x-trace": "ab", "x-auth-token": "hunter2", "x-rpa-gen": 9, "n": 1}'
    )
    found = dict(facts(TASK, letter, 0))
    assert found["x-trace"] == "ab"
    assert found["x-auth-token"] == "••••"
    assert found["x-rpa-gen"] == "2", "the record is right about itself"
    assert found["n"] == "1"
    assert found["routing key"] == "task.pdd.normal"
    assert "worker" not in found


def test_headers_that_are_no_object_are_left_out() -> None:
    for headers in ("[1]", "no json", ""):
        assert dict(facts(TASK, Letter(task_id="t1", body=b"", headers=headers), 0))["task id"] == "t1"
