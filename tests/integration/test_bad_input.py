"""Bad messages through the broker become dead letters with their bytes kept, and the worker goes on; both pairs."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pika
import pytest

from services import diagnosis
from services.domain.task.envelope import bad_record
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.engine.producer import TaskSpec
from services.messages import english
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel, define, opened, settings_for
from tests.support.services import RabbitMQ

GOOD = {"task_id": "t1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "payload": {}}


def text(**fields: Any) -> bytes:
    """The good message with other fields."""
    return json.dumps(GOOD | fields).encode()


def raw(body: str) -> bytes:
    """The good message with a payload that no library would write."""
    return text(payload="HERE").replace(b'"HERE"', body.encode())


#: name → bytes, and what the sentence must say
BODIES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "blank": (b"  \n ", "empty"),
    "not UTF-8": (b'{"task_id": "\xff"}', "UTF-8"),
    "UTF-16": ('{"task_id": "t1"}'.encode("utf-16"), "UTF-8"),
    "null": (b"null", "object"),
    "list": (b"[1, 2]", "object"),
    "number": (b"17", "object"),
    "text": (b'"run this"', "object"),
    "half": (b'{"task_id": "t1", "shop', "not JSON"),
    "deep": (b'{"a":' * 100_000, "deeper"),
    "deep payload": (raw("[" * 100_000 + "]" * 100_000), "deeper"),
    "keys twice": (raw('{"a": 1, "a": 2}'), "twice"),
    "NaN": (raw('{"n": NaN}'), "NaN"),
    "Infinity": (raw('{"n": -Infinity}'), "Infinity"),
    "1e400": (raw('{"n": 1e400}'), "too large"),
    "lone surrogate": (raw(r'{"n": "\ud800"}'), "half of a character"),
    "no task_id": (json.dumps({k: v for k, v in GOOD.items() if k != "task_id"}).encode(), "task_id is missing"),
    "empty task_id": (text(task_id=""), "task_id is missing"),
    "no shop": (json.dumps({k: v for k, v in GOOD.items() if k != "shop_id"}).encode(), "shop_id is missing"),
    "no platform": (
        json.dumps({k: v for k, v in GOOD.items() if k != "platform"}).encode(),
        "platform is missing",
    ),
    "no type": (
        json.dumps({k: v for k, v in GOOD.items() if k != "task_type"}).encode(),
        "task_type is missing",
    ),
    "long task_id": (text(task_id="x" * 10_000), "task_id"),
    "task_id with newline": (text(task_id="a\nb"), "task_id"),
    "task_id with NUL": (text(task_id="a\0b"), "task_id"),
    "task_id not ASCII": (text(task_id="任务"), "task_id"),
    "task_id number": (text(task_id=7), "task_id"),
    "type dotted": (text(task_type="os.system"), "task_type"),
    "type with slash": (text(task_type="../../x"), "task_type"),
    "shop with #": (text(shop_id="#"), "shop_id"),
    "shop with *": (text(shop_id="*"), "shop_id"),
    "shop with dots": (text(shop_id="a.b"), "shop_id"),
    "shop of 300": (text(shop_id="s" * 300), "shop_id"),
    "shop not ASCII": (text(shop_id="Ｓ１"), "shop_id"),
    "shop named like a lane": (text(shop_id="high"), "shop_id"),
    "platform of 300": (text(platform="p" * 300), "platform"),
    "payload list": (text(payload=[1]), "payload"),
    "payload text": (text(payload="x"), "payload"),
    "priority 255": (text(priority=255), "priority"),
    "priority -1": (text(priority=-1), "priority"),
    "priority word": (text(priority="urgent"), "priority"),
    "priority true": (text(priority=True), "priority"),
    "retry_count text": (text(retry_count="3"), "retry_count"),
    "retry_count -1": (text(retry_count=-1), "retry_count"),
    "retry_count 2^63": (text(retry_count=2**63), "retry_count"),
    "max_retries -1": (text(max_retries=-1), "max_retries"),
    "created 1970": (text(created_at="1970-01-01T00:00:00Z"), "created_at"),
    "created 9999": (text(created_at="9999-12-31T23:59:59Z"), "created_at"),
    "created number": (text(created_at=0), "created_at"),
    "created words": (text(created_at="yesterday"), "created_at"),
    "pickle": (pickle.dumps({"task_id": "t1"}), "UTF-8"),
    "gzip": (gzip.compress(b"{}" * 100_000), "UTF-8"),
}
#: a megabyte and more is refused by its size, before it is read
LARGE = text(payload={"text": "x" * (1 << 20)})
#: header → what the sentence must say
HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "gen negative": ({"x-rpa-gen": -1}, "x-rpa-gen"),
    "gen text": ({"x-rpa-gen": "3"}, "x-rpa-gen"),
    "attempt text": ({"x-rpa-gen": 0, "x-rpa-attempt": "3"}, "x-rpa-attempt"),
    "attempt negative": ({"x-rpa-gen": 0, "x-rpa-attempt": -1}, "x-rpa-attempt"),
    "attempt 2^63": ({"x-rpa-gen": 0, "x-rpa-attempt": 2**62}, "x-rpa-attempt"),
    "schema unknown": ({"x-rpa-gen": 0, "x-rpa-schema": 99}, "x-rpa-schema"),
}


def dead(fleet: Fleet) -> list[Task]:
    """Dead letters."""
    return list(fleet.engine.store.query(Query(terms=(equals("status", "dead"),), limit=200)).tasks)


def expect(fleet: Fleet, body: bytes, says: str, kinds: tuple[str, ...] = ("bad_message", "bad_payload")) -> Task:
    """The letter of these bytes, as it must be."""
    task_id = bad_record(body, kind="", error="", now_ms=0).task_id
    found = fleet.engine.store.get([task_id])[0]
    assert found is not None, f"no letter of {body[:60]!r}"
    assert found.error_kind in kinds
    assert says in found.error, found.error
    letter = fleet.engine.store.get_letter(task_id)
    assert letter is not None
    assert letter.body == body, "the bytes are kept"
    return found


def test_every_bad_body_is_a_dead_letter_and_the_worker_goes_on(fleet: Fleet) -> None:
    fleet.archiver()
    worker = fleet.worker()
    for body, _ in BODIES.values():
        fleet.publish(body)
    fleet.publish(LARGE)
    fleet.publish(text(task_id="after them all"))
    eventually(lambda: fleet.engine.store.get(["after them all"])[0], 60)
    fleet.wait("after them all", "succeeded")
    eventually(lambda: len(dead(fleet)) == len(BODIES) + 1, 60)
    for body, says in BODIES.values():
        expect(fleet, body, says)
    expect(fleet, LARGE, "limit")
    assert worker.tally.refused == len(BODIES) + 1
    assert fleet.engine.store.counts().triage == {"open": len(BODIES) + 1}
    assert fleet.engine.store.get(["t1"]) == [None], "no part of a bad message became a task"
    eventually(
        lambda: all(
            not depth.ready and not depth.unacked for depth in fleet.engine.broker.depths() if depth.kind != "notice"
        ),
        30,
    )


def test_bad_headers_are_refused_too(fleet: Fleet) -> None:
    fleet.archiver()
    fleet.worker()
    for name, (headers, _) in HEADERS.items():
        fleet.publish(text(task_id=name), headers=headers)
    eventually(lambda: len(dead(fleet)) == len(HEADERS), 30)
    for name, (_, says) in HEADERS.items():
        expect(fleet, text(task_id=name), says)


def test_odd_but_good_messages_run(fleet: Fleet) -> None:
    """Names that look dangerous are names; a payload of any depth that the wire allows is opaque."""
    odd = ["{}", "a*b?c", "/../../etc/passwd", "'; DROP TABLE tasks; --", "$(reboot)", "{rpa}:meta", "%00", "<b>x</b>"]
    fleet.worker()
    for number, task_id in enumerate(odd):
        fleet.publish(text(task_id=task_id, shop_id=f"s{number}", payload={"deep": [[[[{"a": [1, 2.5, None]}]]]]}))
    fleet.publish(text(task_id="case1", shop_id="Shop"))
    fleet.publish(text(task_id="case2", shop_id="shop"))
    fleet.publish(b"\xef\xbb\xbf" + text(task_id="with a BOM", shop_id="s90"))
    fleet.publish(text(task_id="naive time", shop_id="s91", created_at="2026-11-21T08:00:00"))
    fleet.publish(text(task_id="nulls", shop_id="s92", payload=None, priority=None, retry_count=None, max_retries=None))
    every = [*odd, "case1", "case2", "with a BOM", "naive time", "nulls"]
    eventually(lambda: all(fleet.engine.store.get(every)), 30)
    assert {task.status for task in fleet.wait_ended(every)} == {"succeeded"}
    shops = {shop.shop_id for shop in fleet.engine.store.shops()}
    assert {"Shop", "shop"} <= shops, "ids that differ by case are two shops"


def test_what_is_as_large_as_may_be_is_tried_again_and_given_up_as_itself(fleet: Fleet) -> None:
    """What is published of it then is larger: the fields that it left out, and its error."""
    fleet.archiver()
    fleet.worker()

    def largest(task_id: str, **payload: Any) -> bytes:
        short = {**GOOD, "task_id": task_id, "shop_id": task_id, "payload": {**payload, "numbers": [], "text": ""}}
        numbers = b"1E15," * 20_000 + b"1"  # written out they have four times as many characters
        body = json.dumps(short, separators=(",", ":")).encode().replace(b'"numbers":[]', b'"numbers":[%s]' % numbers)
        return body.replace(b'"text":""', b'"text":"%s"' % (b"x" * ((1 << 20) - len(body))))

    fleet.publish(largest("again", fail="network", fail_first=1))
    fleet.publish(largest("never", fail="missing_secret"))
    eventually(lambda: all(fleet.engine.store.get(["again", "never"])), 30)
    assert fleet.wait("again", "succeeded").attempt == 2
    given_up = fleet.wait("never", "dead")
    letter = eventually(lambda: fleet.engine.store.get_letter("never"), 30)
    assert json.loads(letter.body)["error"] == given_up.error
    assert [task.task_id for task in dead(fleet)] == ["never"]


def test_a_generation_that_the_record_does_not_have_is_stale(fleet: Fleet) -> None:
    gate = fleet.folder / "open"
    task_id = fleet.create(until=str(gate))
    worker = fleet.worker()
    fleet.wait(task_id, "running")
    body = text(task_id=task_id)
    fleet.publish(body, headers={"x-rpa-gen": 7, "x-rpa-attempt": 0, "x-rpa-schema": 1})
    eventually(lambda: worker.tally.skipped == 1, 30)
    gate.touch()
    task = fleet.wait(task_id, "succeeded")
    assert (task.gen, task.attempt) == (0, 1)


def test_a_message_of_ours_whose_record_was_lost_is_recovered(fleet: Fleet) -> None:
    fleet.publish(text(task_id="lost1"), headers={"x-rpa-gen": 2, "x-rpa-attempt": 1, "x-rpa-schema": 1})
    fleet.worker()
    eventually(lambda: fleet.engine.store.get(["lost1"])[0], 30)
    task = fleet.wait("lost1", "succeeded")
    assert (task.gen, task.attempt, task.marks) == (2, 2, ("recovered",))


def test_the_same_bad_bytes_twice_are_one_letter(fleet: Fleet) -> None:
    fleet.archiver()
    fleet.worker()
    for _ in range(3):
        fleet.publish(b"not a task")
    fleet.publish(text(task_id="after", shop_id="s2"))
    eventually(lambda: fleet.engine.store.get(["after"])[0], 30)
    fleet.wait("after", "succeeded")
    eventually(lambda: fleet.ready("rpa_dead_queue") == 0 and dead(fleet), 30)
    assert len(dead(fleet)) == 1


def test_a_bad_letter_is_republished_only_with_a_payload_of_its_own(fleet: Fleet) -> None:
    fleet.archiver()
    fleet.worker()
    fleet.publish(text(payload=[1, 2]))
    (letter,) = eventually(lambda: dead(fleet), 30)
    assert (letter.shop, letter.task_type) == ("pdd:s1", "work"), "what can be read of it is shown"
    commands = fleet.commands().dead_letters
    assert commands.republish([letter.task_id]).skipped[0].why.code == "dead.not_a_task"
    made = commands.republish([letter.task_id], payload={}).made
    assert fleet.wait(made[letter.task_id], "succeeded").parent == letter.task_id


# ---------------------------------------------------------------------------------------- what only AMQP can carry
@pytest.fixture
def rabbit(tmp_path: Path, amqp_vhost: str, redis_url: str, rabbitmq: RabbitMQ) -> Iterator[Fleet]:
    """A fleet on RabbitMQ and Redis."""
    settings = settings_for("fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url)
    with opened("fleet", settings, tmp_path) as found:
        yield found


def send(fleet: Fleet, body: bytes, **properties: Any) -> None:
    """Publish with these properties and no others."""
    with channel(fleet.settings.broker.url) as wire:
        wire.confirm_delivery()
        wire.basic_publish("rpa_task_exchange", "task.pdd.normal", body, pika.BasicProperties(**properties))


def test_bad_properties_are_dead_letters(rabbit: Fleet) -> None:
    rabbit.archiver()
    rabbit.worker()
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("pickle", {"content_type": "application/x-python-serialize"}, "content_type"),
        ("gzip", {"content_encoding": "gzip"}, "content_encoding"),
        ("xml", {"content_type": "text/xml"}, "content_type"),
    ]
    for name, properties, _ in cases:
        send(rabbit, text(task_id=name), **properties)
    eventually(lambda: len(dead(rabbit)) == len(cases), 30)
    for name, _, says in cases:
        expect(rabbit, text(task_id=name), says, ("bad_message",))


def test_odd_properties_do_no_harm(rabbit: Fleet) -> None:
    """Transient, without any property, with forged histories, nested and void headers, a reply address."""
    rabbit.worker()
    deaths = [{"queue": "rpa_tasks_normal", "reason": "expired", "count": 9, "exchange": "", "routing-keys": ["x"]}]
    cases: dict[str, dict[str, Any]] = {
        "transient": {"delivery_mode": 1},
        "bare": {},
        "forged": {"headers": {"x-death": deaths, "x-first-death-queue": "q", "x-delivery-count": 99}},
        "nested": {"headers": {"a": {"b": [1, {"c": None}]}, "void": None, "bytes": b"\xff"}},
        "reply": {"reply_to": "somebody", "correlation_id": "1", "type": "os.system", "app_id": "x"},
        "priority": {"priority": 255},
        "typed": {"content_type": "application/json; charset=utf-8", "content_encoding": "UTF-8"},
        "timed": {"timestamp": 0, "expiration": "600000"},
    }
    for number, (name, properties) in enumerate(cases.items()):
        send(rabbit, text(task_id=name, shop_id=f"s{number}"), **properties)
    eventually(lambda: all(rabbit.engine.store.get(list(cases))), 30)
    assert {task.status for task in rabbit.wait_ended(list(cases))} == {"succeeded"}


def test_a_forged_history_does_not_lose_the_retry(rabbit: Fleet) -> None:
    """Published again with it, the broker would take the delay queue for a cycle and drop the message."""
    rabbit.worker()
    deaths = [
        {"queue": "rpa_delay_1s", "reason": "expired", "count": 1, "exchange": "rpa_delay_1s", "routing-keys": []}
    ]
    send(rabbit, text(payload={"fail": "network", "fail_first": 1}), headers={"x-death": deaths})
    eventually(lambda: rabbit.engine.store.get(["t1"])[0], 30)
    assert rabbit.wait("t1", "succeeded").attempt == 2


def test_a_message_of_17_megabytes_is_a_dead_letter(rabbit: Fleet) -> None:
    rabbit.archiver()
    rabbit.worker()
    body = text(payload={"text": "x" * (17 << 20)})
    if not rabbit.engine.broker.health().version.startswith("3."):  # from 4.0 on the sender hears that it is too large
        with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="larger than configured"):
            send(rabbit, body)
        return
    send(rabbit, body)
    eventually(lambda: dead(rabbit), 60)
    expect(rabbit, body, "limit", ("bad_message",))


@pytest.mark.timeout(90)
def test_no_pattern_of_a_schema_holds_a_worker_up(fleet: Fleet) -> None:
    """Also one that was saved before such patterns were refused: nothing of its type runs unchecked."""
    evil = {"properties": {"a": {"pattern": r"^(\w+\s?)*$"}}}
    old = {"properties": {"a": {"pattern": r"^(?=a)(\w+\s?)*$"}}}
    define(fleet, "evil", schema=evil, expected_s=0.01)
    define(fleet, "old", schema=old, expected_s=0.01)
    fleet.archiver()
    fleet.worker()
    unlucky = {"a": "a" * 60 + "!"}
    fleet.publish(text(task_id="unlucky", task_type="evil", shop_id="s1", payload=unlucky))
    fleet.publish(text(task_id="of an old type", task_type="old", shop_id="s2", payload={"a": "a"}))
    fleet.publish(text(task_id="after them", shop_id="s3"))
    fleet.publish(text(task_id="lucky", task_type="evil", shop_id="s4", payload={"a": "a b"}))
    eventually(lambda: all(fleet.engine.store.get(["unlucky", "of an old type", "after them", "lucky"])), 60)
    assert [fleet.wait(each, "succeeded", "dead").status for each in ("after them", "lucky")] == ["succeeded"] * 2
    refused, unchecked = fleet.wait("unlucky", "dead"), fleet.wait("of an old type", "dead")
    assert "must match" in refused.error
    assert "looks ahead" in unchecked.error
    for kind, payload in (("evil", unlucky), ("old", {"a": "a"})):
        done = fleet.submit(TaskSpec(platform="pdd", shop_id="s5", task_type=kind, payload=payload))
        assert not done.created
        assert len(done.errors) == 1
    told = [english(each.message) for each in diagnosis.examine(fleet.settings).findings if each.check == "types"]
    assert any("old" in each and "schema.properties.a.pattern" in each for each in told), told
