"""The archiver stores whole letters first and acknowledges afterwards; one that cannot be kept holds up no other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from services.domain.change import Answer, Claim, CloseSession, Create, Forget, Op
from services.domain.errors import StoreError, StoreUnavailable
from services.domain.fleet.shop import Pause
from services.domain.task import envelope
from services.domain.task.order import Delivery, GivenUp, Order
from services.domain.task.search.query import Query, equals
from services.engine.lead.archiver import Archiver
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room

GOOD = {"task_id": "f1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "payload": {}}


@pytest.fixture
def archiver(room: Room) -> Archiver:
    return Archiver(room.store, room.broker, room.steps, room.registry, room.clock, "a1")


def letter(body: bytes | dict[str, Any], **headers: object) -> Delivery:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Delivery(token=1, queue="rpa_dead_queue", body=data, routing_key="dead", headers=headers)


def aside(body: bytes, reason: str, headers: Mapping[str, object] | None = None) -> Delivery:
    """A letter that the broker itself made of a message."""
    found = letter(body, **(headers or {}))
    return msgspec.structs.replace(found, given_up=GivenUp(reason, "rpa_tasks_normal"))


def own(room: Room, task: Any) -> Delivery:
    """The letter that the death of a task publishes."""
    body, headers = envelope.build_dead(task)
    return letter(body, **headers)


def test_an_old_message_of_a_removed_task_leaves_nothing(room: Room, archiver: Archiver) -> None:
    task = room.finish(room.running(), "succeeded")
    room.store.apply([Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=60_000)])
    assert len(archiver.archive([own(room, task)])) == 1
    assert room.store.get_letter(task.task_id) is None
    assert room.store.counts().total == 0


def test_a_letter_that_was_removed_with_its_task_stays_removed(room: Room, archiver: Archiver) -> None:
    task = room.dead()
    delivery = own(room, task)
    room.confirm(task)
    room.triage(task.task_id, "archived")
    archived = room.task(task.task_id)
    assert room.ask(Forget(task_id=task.task_id, updated_at=archived.updated_at, tomb_ms=60_000)).code == "ok"
    assert archiver.archive([delivery]) == [delivery]
    assert (room.store.get([task.task_id]), room.store.get_letter(task.task_id)) == ([None], None)
    assert room.store.tombstones([task.task_id])[0] is not None
    assert room.store.counts().total == 0


def test_the_letter_of_a_dead_task_is_kept_beside_its_record(room: Room, archiver: Archiver) -> None:
    task = room.dead()
    assert len(archiver.archive([own(room, task)])) == 1
    kept = room.store.get_letter(task.task_id)
    assert kept is not None
    assert (kept.error, kept.error_kind, kept.queue) == ("login expired", "login_expired", "rpa_dead_queue")
    assert room.task(task.task_id) == task


def test_what_has_no_record_becomes_one(room: Room, archiver: Archiver) -> None:
    archiver.archive([letter(GOOD | {"error": "the page did not load: timeout"})])
    task = room.task("f1")
    assert (task.status, task.triage, task.error_kind, task.marks) == ("dead", "open", "timeout", ("foreign",))
    assert room.store.outbox(0, 10) == [], "no second letter is published"


def test_what_still_waits_is_given_up_with_its_reason(room: Room, archiver: Archiver) -> None:
    task = room.create()
    (delivery,) = room.take()
    archiver.archive([aside(delivery.body, "expired", delivery.headers)])
    found = room.task(task.task_id)
    assert (found.status, "expired" in found.error) == ("dead", True)
    kept = room.store.get_letter(task.task_id)
    assert kept is not None
    assert "expired" in kept.error
    assert "x-rpa-gen" in kept.headers


def test_what_it_stood_in_the_way_of_is_published_at_once(room: Room, archiver: Archiver) -> None:
    first = room.create(payload={"same": 1})
    (delivery,) = room.take()
    room.clock.advance(1)
    twin = room.producer.prepare(room.spec(payload={"same": 1}))
    assert room.ask(Create(task=twin, on_duplicate="queue")).code == "created"
    parked = Claim(task_id=twin.task_id, gen=0, attempt=0, owner="w1#1", worker="w1", lease_ms=60_000)
    assert room.ask(parked).code == "blocked"
    archiver.archive([aside(delivery.body, "expired", delivery.headers)])
    assert (room.task(first.task_id).status, room.task(twin.task_id).status) == ("dead", "queued")
    assert [one.message_id for one in room.take()] == [twin.task_id]


def test_bytes_that_are_no_task_are_kept_as_they_are(room: Room, archiver: Archiver) -> None:
    body = b"\xff\x00 no task"
    archiver.archive(
        [letter(body), letter(body, **{"x-rpa-error": "said elsewhere", "x-rpa-error-kind": "bad_message"})]
    )
    (task_id,) = [task.task_id for task in room.store.query(_dead()).tasks]
    kept = room.store.get_letter(task_id)
    assert kept is not None
    assert (kept.body, kept.error_kind) == (body, "bad_message")


def test_a_conflict_is_a_letter_of_its_own(room: Room, archiver: Archiver) -> None:
    task = room.create()
    words = {"x-rpa-error": "taken", "x-rpa-error-kind": "id_conflict"}
    archiver.archive([letter(GOOD | {"task_id": task.task_id}, **words)])
    assert room.task(task.task_id).status == "queued"
    (bad,) = room.store.query(_dead()).tasks
    assert (bad.task_id[:4], bad.error_kind, bad.shop_id) == ("bad_", "id_conflict", "s1")


def test_an_old_letter_does_not_replace_the_one_of_the_death(room: Room, archiver: Archiver) -> None:
    task = room.dead()
    first = own(room, task)
    archiver.archive([first])
    old = letter(first.body, **{**first.headers, "x-rpa-attempt": 0})
    assert len(archiver.archive([old])) == 1
    kept = room.store.get_letter(task.task_id)
    assert kept is not None
    assert json.loads(kept.headers)["x-rpa-attempt"] == 1


def test_headers_of_any_kind_are_kept_readable(room: Room, archiver: Archiver) -> None:
    odd: dict[str, object] = {"bytes": b"\xff", "table": {"a": [1]}, "none": None, "text": "\ud800", "number": 1.5}
    archiver.archive([letter(GOOD | {"error": "x"}, **odd)])
    kept = room.store.get_letter("f1")
    assert kept is not None
    headers = json.loads(kept.headers)
    assert (headers["number"], headers["none"]) == (1.5, None)
    assert "xff" in headers["bytes"]


def test_one_that_cannot_be_kept_holds_up_no_other(
    room: Room, archiver: Archiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = room.store.put_letter

    def put(kept: Any) -> None:
        if kept.task_id == "poison":
            raise StoreError("this one is too much")
        real(kept)

    monkeypatch.setattr(room.store, "put_letter", put)
    batch = [letter(GOOD | {"task_id": name, "error": "x"}) for name in ("f1", "poison", "f2")]
    assert archiver.archive(batch) == [batch[0], batch[2]]
    assert "stays in its queue" in caplog.text
    assert room.store.get_letter("f2") is not None


def test_a_silent_store_keeps_everything_in_the_queue(
    room: Room, archiver: Archiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = [letter(GOOD | {"task_id": name, "error": "x"}) for name in ("f1", "f2", "f3")]
    room.store.silent = 1
    with pytest.raises(StoreUnavailable):
        archiver.archive(batch)
    real, calls = room.store.apply, [0]

    def apply(ops: Sequence[Op]) -> list[Answer]:
        calls[0] += 1
        if calls[0] == 2:
            raise StoreUnavailable("gone in the middle")
        return real(ops)

    monkeypatch.setattr(room.store, "apply", apply)
    assert archiver.archive(batch) == batch[:1], "what was stored before may be acknowledged, the rest waits with it"


def _dead() -> Any:
    return Query(terms=(equals("status", "dead"),))


def _busy(room: Room) -> None:
    room.running()


def _paused(room: Room) -> None:
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann", reason="stocktaking", at=1))


def _logged_out(room: Room) -> None:
    room.ask(CloseSession(shop="pdd:s1", kind="login_expired", by="ann"))


@pytest.mark.parametrize("shut", [_busy, _paused, _logged_out])
def test_what_was_given_up_never_runs_whatever_its_shop_waits_for(
    room: Room, archiver: Archiver, shut: Callable[[Room], None]
) -> None:
    shut(room)
    assert len(archiver.archive([letter(GOOD | {"error": "given up elsewhere"})])) == 1
    task = room.task("f1")
    assert (task.status, task.triage, task.gate) == ("dead", "open", "")
    kept = room.store.get_letter("f1")
    assert kept is not None
    assert kept.error == "given up elsewhere"
    assert room.store.outbox(0, 10) == [], "nothing of it is on its way"


@pytest.mark.parametrize("shut", [_busy, _paused, _logged_out])
def test_what_waits_and_is_given_up_by_the_broker_does_not_start_later(
    room: Room, archiver: Archiver, shut: Callable[[Room], None]
) -> None:
    task = room.create()
    (delivery,) = room.take()
    shut(room)
    archiver.archive([aside(delivery.body, "expired", delivery.headers)])
    assert room.task(task.task_id).status == "dead"
    assert room.store.executed([task.task_id]) == [True], "another program does not run it either"


@pytest.mark.parametrize("state", ["queued", "running", "succeeded", "dead"])
def test_a_letter_of_other_work_leaves_the_owner_of_the_id_alone(room: Room, archiver: Archiver, state: str) -> None:
    task = room.dead() if state == "dead" else room.create()
    if state in ("running", "succeeded"):
        task = room.claim(task)
    if state == "succeeded":
        task = room.finish(task, "succeeded")
    forged = GOOD | {"task_id": task.task_id, "payload": {"forged": True}, "error": "not yours"}
    archiver.archive([letter(forged, **{"x-rpa-gen": task.gen, "x-rpa-attempt": task.attempt})])
    assert room.task(task.task_id) == task
    assert room.store.get_letter(task.task_id) is None
    (evidence,) = [one for one in room.store.query(_dead()).tasks if one.task_id != task.task_id]
    assert evidence.error_kind == "id_conflict"
    kept = room.store.get_letter(evidence.task_id)
    assert kept is not None
    assert json.loads(kept.body) == forged, "all of it is there to be read"


def test_an_old_copy_of_a_task_that_goes_on_does_not_stand_beside_it(room: Room, archiver: Archiver) -> None:
    task = room.create()
    (delivery,) = room.take()
    running = room.claim(task)
    archiver.archive([aside(delivery.body, "expired", delivery.headers)])
    assert room.task(task.task_id) == running
    assert room.store.get_letter(task.task_id) is None


def test_only_what_was_kept_leaves_the_queue(room: Room, archiver: Archiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole loop on a real queue: what could not be stored is there for the next one."""
    real, seen = room.store.put_letter, Counter[str]()

    def put(kept: Any) -> None:
        seen[kept.task_id] += 1
        if kept.task_id == "poison":
            raise StoreError("this one is too much")
        real(kept)

    monkeypatch.setattr(room.store, "put_letter", put)
    names = ("f1", "poison", "f2")
    bodies = [json.dumps(GOOD | {"task_id": name, "error": "x"}).encode() for name in names]
    orders = [
        Order(kind="dead", routing_key="dead", body=body, message_id=name)
        for body, name in zip(bodies, names, strict=True)
    ]
    assert all(receipt.ok for receipt in room.broker.publish(orders))
    archiver.start()
    eventually(lambda: seen.keys() == set(names) and room.store.get_letter("f2") is not None, 30)
    eventually(lambda: seen["poison"] >= 3, 30)  # it came again, to this very archiver
    archiver.stop()
    consumer = room.broker.dead_letters(name="afterwards")
    left = eventually(lambda: consumer.take(10, 0.1), 30)
    consumer.close()
    assert [one.message_id for one in left] == ["poison"]


def test_an_old_message_is_kept_where_the_letter_of_the_death_was_lost(room: Room, archiver: Archiver) -> None:
    task = room.dead()
    old = msgspec.structs.replace(task, attempt=task.attempt - 1)
    archiver.archive([own(room, old)])
    kept = room.store.get_letter(task.task_id)
    assert kept is not None, "any is better than none"
    archiver.archive([own(room, task)])
    whole = room.store.get_letter(task.task_id)
    archiver.archive([own(room, old)])
    assert room.store.get_letter(task.task_id) == whole, "and its own is never given up for it"


def test_what_has_no_record_was_created_when_its_message_says(room: Room, archiver: Archiver) -> None:
    archiver.archive([letter(GOOD | {"created_at": "2026-11-01T08:00:00+00:00", "error": "x"})])
    assert envelope.iso(room.task("f1").created_at).startswith("2026-11-01T08:00:00")


def test_what_came_back_too_often_and_stands_behind_an_equal_task_waits_for_a_person(
    room: Room, archiver: Archiver
) -> None:
    """It cannot be sent again beside its equal, and is neither forgotten nor run."""
    equal = room.create(payload={})
    assert room.take()
    lost = aside(GOOD, "delivery_limit")
    assert archiver.archive([lost]) == [lost]
    assert (room.task("f1").status, room.task(equal.task_id).status) == ("dead", "queued")
    assert room.store.get_letter("f1") is not None
    assert not room.ready(), "nothing was published"
