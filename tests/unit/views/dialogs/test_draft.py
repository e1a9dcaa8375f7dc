"""What a draft becomes."""

from __future__ import annotations

import pytest

from views.dialogs.new_task.draft import Draft, from_prefill


def test_one_task_for_each_shop() -> None:
    draft = Draft(
        task_type="sync_order", shops=("pdd:1", "temu:2"), payload={"a": 1}, priority=9, delay_min=1.5, attempts=2
    )
    specs = draft.specs("batch-1")
    assert [(spec.platform, spec.shop_id) for spec in specs] == [("pdd", "1"), ("temu", "2")]
    assert {(spec.priority, spec.delay_s, spec.max_retries, spec.batch) for spec in specs} == {(9, 90.0, 1, "batch-1")}


def test_the_type_decides_about_attempts_unless_a_person_did() -> None:
    assert Draft(shops=("pdd:1",)).specs("b")[0].max_retries is None


@pytest.mark.parametrize(
    ("prefill", "shops", "payload"),
    [
        ({"platform": "pdd", "shops": ["1", "temu:2"]}, ("pdd:1", "temu:2"), {}),
        ({"shops": "pdd:1", "payload": '{"a": 1}'}, ("pdd:1",), {"a": 1}),
        ({"payload": {"a": 1}, "shops": None}, (), {"a": 1}),
        ({"payload": "not json"}, (), {}),
        ({"payload": "[1]"}, (), {}),
    ],
)
def test_other_pages_may_fill_in_what_they_know(
    prefill: dict[str, object], shops: tuple[str, ...], payload: dict[str, object]
) -> None:
    draft = from_prefill(prefill)
    assert (draft.shops, dict(draft.payload)) == (shops, payload)


@pytest.mark.parametrize(("priority", "lane"), [("high", "high"), (2, "low"), (None, "normal"), ("x", "normal")])
def test_priorities_are_read_as_words_and_numbers(priority: object, lane: str) -> None:
    assert from_prefill({"priority": priority}).lane == lane


def test_the_message_is_that_of_the_first_shop() -> None:
    shown = Draft(task_type="x", shops=("pdd:1",), payload={"a": 1}, delay_min=2).message()
    assert shown == {
        "task_type": "x",
        "platform": "pdd",
        "shop_id": "1",
        "priority": 6,
        "delay": 120,
        "payload": {"a": 1},
    }
