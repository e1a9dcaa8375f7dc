"""Plain messages of any shape, and the sentence for each that is no task."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.domain.errors import BadMessage
from services.domain.task import mapping
from services.domain.task.mapping import QueueMapping

PLAIN = {"task_type": "sync_order", "platform": "pdd", "shop_id": "{shop}"}


def read(body: object, message_id: str = "", **changes: str) -> mapping.Mapped:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return mapping.read("task_queue", QueueMapping(**(PLAIN | changes)), raw, message_id)


def test_the_whole_body_is_the_payload_and_a_field_names_the_shop() -> None:
    found = read({"shop": "s1", "day": "2026-11-20"})
    assert (found.platform, found.shop_id, found.task_type) == ("pdd", "s1", "sync_order")
    assert found.payload == {"shop": "s1", "day": "2026-11-20"}
    assert (found.priority, found.task_id) == ("", "")


def test_fields_are_found_by_their_path_and_may_be_part_of_a_text() -> None:
    changes = {"task_type": "{kind}_order", "platform": "{at.0}", "shop_id": "s{at.1}", "payload": "{args}"}
    changes |= {"priority": "{p}", "task_id": "job-{id}"}
    found = read({"kind": "sync", "at": ["temu", 7], "args": {"a": [1]}, "p": 9, "id": 12}, **changes)
    assert (found.task_type, found.platform, found.shop_id) == ("sync_order", "temu", "s7")
    assert (found.payload, found.priority, found.task_id) == ({"a": [1]}, "9", "job-12")


@pytest.mark.parametrize("body", [["s1"], "s1", 5, None, True])
def test_a_body_that_is_no_object_stands_under_a_name(body: object) -> None:
    assert read(body, shop_id="s1").payload == {"body": body}


def test_the_same_message_is_the_same_task() -> None:
    first, again = (read({"shop": "s1"}, "m1").task_id for _ in range(2))
    assert first == again
    assert first.startswith("pdd_sync_order_s1_")
    assert read({"shop": "s1"}, "m2").task_id != first
    assert read({"shop": "s1"}).task_id == ""


@pytest.mark.parametrize(
    ("body", "changes", "told"),
    [
        (b"{", {}, "a message of the queue task_queue is not JSON"),
        (b'{"a": 1, "a": 2}', {}, "not JSON"),
        (b"\xff", {}, "not JSON"),
        (b"", {}, "the message is empty"),
        (b"[" * 70 + b"]" * 70, {}, "nested deeper"),
        ({}, {}, 'shop_id: the message has no field "shop"; send it so that [foreign_queues.task_queue] shop_id = '),
        ({"shop": None}, {}, 'shop_id: the field "shop" is null, and a text or a whole number is needed'),
        ({"shop": {"id": 1}}, {}, 'the field "shop" is an object'),
        ({"shop": True}, {}, 'the field "shop" is true or false'),
        ({"shop": "a b"}, {}, "shop_id: 'a b' is none: 1-64 of A-Z a-z 0-9 _ -"),
        ({"shop": "high"}, {}, "shop_id: 'high' is none"),
        ({"shop": "s1", "t": "x y"}, {"task_type": "{t}"}, "task_type: 'x y' is none"),
        ({"shop": "s1", "args": [1]}, {"payload": "{args}"}, "payload: it is a list, and an object is needed"),
        ({"shop": "s1"}, {"payload": "{args}"}, 'payload: the message has no field "args"'),
        ({}, {"payload": "{args}"}, 'the message has no fields "shop" (shop_id), "args" (payload); send them so that'),
        ({"shop": "s1", "p": "soon"}, {"priority": "{p}"}, "priority: 'soon' is not high, normal, low or 1-10"),
        ({"shop": "s1", "id": "\u5e97"}, {"task_id": "{id}"}, "task_id: it must be 1 to 200 printable ASCII"),
    ],
)
def test_what_is_no_task_names_the_field_and_the_remedy(body: object, changes: dict[str, str], told: str) -> None:
    with pytest.raises(BadMessage) as refused:
        read(body, **changes)
    said = str(refused.value)
    assert told in said
    if said.startswith(("shop_id", "task_type", "payload", "priority", "task_id")):
        assert said.endswith("or change that setting")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"task_type": "a b"}, "task_type"),
        ({"platform": ""}, "platform"),
        ({"shop_id": "low"}, "shop_id"),
        ({"payload": "args"}, "payload"),
        ({"priority": "soon"}, "priority"),
        ({}, ""),
        ({"priority": "9", "payload": "{args}", "task_type": "{t}"}, ""),
    ],
)
def test_a_mapping_that_cannot_be_names_its_field(changes: dict[str, Any], field: str) -> None:
    assert mapping.problem(QueueMapping(**(PLAIN | changes)))[0] == field
