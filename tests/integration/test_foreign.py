"""A program that knows only the wire contract: it publishes with bare pika and reads with a bare Redis client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pika
import pytest
import redis
from pika.compat import long

from services.domain.change import Forget
from services.domain.fleet.shop import Pause
from services.domain.task.lane import LANES
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel, define, lines, opened, settings_for
from tests.integration.foreign_rig import SAMPLE, message, send
from tests.support.services import RabbitMQ


@pytest.fixture
def fleet(tmp_path: Path, amqp_vhost: str, redis_url: str, rabbitmq: RabbitMQ) -> Iterator[Fleet]:
    """A fleet on RabbitMQ and Redis."""
    settings = settings_for("fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url)
    with opened("fleet", settings, tmp_path) as found:
        yield found


@pytest.fixture
def shared(fleet: Fleet) -> Iterator[redis.Redis]:
    """The store as another program sees it."""
    with redis.Redis.from_url(fleet.settings.store.url) as client:
        yield client


def letters(fleet: Fleet) -> list[Task]:
    """Dead letters."""
    return list(fleet.engine.store.query(Query(terms=(equals("status", "dead"),))).tasks)


def known(fleet: Fleet, task_id: str) -> Task | None:
    """The record, if there is one."""
    return fleet.engine.store.get([task_id])[0]


def wait(fleet: Fleet, task_id: str, status: str) -> Task:
    """The record once it is there and in this status."""
    eventually(lambda: known(fleet, task_id), 30)
    return fleet.wait(task_id, status)


def test_the_nine_fields_are_enough(fleet: Fleet, shared: redis.Redis, seen: Path) -> None:
    send(fleet, message(payload={"since": "2026-11-20", "seen": str(seen)}))
    fleet.worker()
    task = wait(fleet, SAMPLE["task_id"], "succeeded")
    assert (task.shop, task.lane, task.priority, task.max_retries) == ("pdd:s1", "high", 10, 3)
    assert (task.origin, task.marks) == ("foreign", ("foreign",))
    assert task.created_at == 1_795_219_200_000
    assert json.loads(task.payload)["since"] == "2026-11-20"
    assert [step.to for step in task.steps] == ["queued", "running", "succeeded"]
    key = f"executed:{task.task_id}"
    assert eventually(lambda: shared.get(key), 30) == b"1"
    assert 3_500 < shared.ttl(key) <= 3_600
    (shop,) = fleet.engine.store.shops()
    assert (shop.key, shop.unregistered) == ("pdd:s1", True)


def test_four_of_them_are_needed(fleet: Fleet) -> None:
    send(fleet, {name: SAMPLE[name] for name in ("task_id", "shop_id", "platform", "task_type")}, lane="low")
    fleet.worker()
    task = wait(fleet, SAMPLE["task_id"], "succeeded")
    assert (task.payload, task.lane, task.priority, task.max_retries) == ("{}", "low", 2, 3)
    assert abs(task.created_at - task.steps[0].at) < 60_000


def test_the_events_are_a_stream_that_others_can_read(fleet: Fleet, shared: redis.Redis) -> None:
    send(fleet, SAMPLE)
    fleet.worker()
    wait(fleet, SAMPLE["task_id"], "succeeded")
    rows = [
        {key.decode(): value.decode() for key, value in fields.items()} for _, fields in shared.xrange("{rpa}:events")
    ]
    mine = [row for row in rows if row["task_id"] == SAMPLE["task_id"]]
    assert [(row["from"], row["to"]) for row in mine] == [
        ("", "queued"),
        ("queued", "running"),
        ("running", "succeeded"),
    ]
    assert set(mine[0]) >= {
        "task_id",
        "shop_id",
        "platform",
        "task_type",
        "from",
        "to",
        "at",
        "worker",
        "gen",
        "attempt",
    }


def test_the_same_message_twice_runs_once(fleet: Fleet, seen: Path) -> None:
    twice = message(payload={"seen": str(seen)})
    send(fleet, twice, twice)
    worker = fleet.worker()
    wait(fleet, SAMPLE["task_id"], "succeeded")
    send(fleet, twice)
    eventually(lambda: worker.tally.skipped == 2, 30)
    assert len(lines(seen, "start")) == 1
    assert fleet.engine.store.counts().status == {"succeeded": 1}


def test_the_same_id_with_other_work_is_a_dead_letter_and_the_first_is_untouched(fleet: Fleet, seen: Path) -> None:
    fleet.archiver()
    gate = fleet.folder / "open"
    first = message(payload={"seen": str(seen), "until": str(gate), "n": 1})
    other = message(payload={"seen": str(seen), "n": 2})
    send(fleet, first)
    fleet.worker()
    wait(fleet, SAMPLE["task_id"], "running")
    send(fleet, other, message(payload=first["payload"], shop_id="s2"))
    dead = eventually(lambda: len(found := letters(fleet)) == 2 and found, 30)
    for task in dead:
        assert (task.task_id[:4], task.error_kind, task.triage) == ("bad_", "id_conflict", "open")
        assert SAMPLE["task_id"] in task.error
    bodies = [json.loads(fleet.engine.store.get_letter(task.task_id).body) for task in dead]  # type: ignore[union-attr]
    assert other in bodies
    gate.touch()
    fleet.wait(SAMPLE["task_id"], "succeeded")
    assert len(lines(seen, "start")) == 1


def test_other_work_under_an_id_that_still_waits_is_not_swallowed(fleet: Fleet) -> None:
    """Both messages match the same waiting record: one runs, the other becomes a letter, whichever comes first."""
    fleet.archiver()
    fleet.commands().fleet.pause("shop:pdd:s1")
    send(fleet, message(payload={"n": 1}))
    fleet.worker()
    wait(fleet, SAMPLE["task_id"], "blocked")
    send(fleet, message(payload={"n": 2}))
    (dead,) = eventually(lambda: letters(fleet), 30)
    assert dead.error_kind == "id_conflict"
    assert json.loads(fleet.engine.store.get_letter(dead.task_id).body)["payload"] == {"n": 2}  # type: ignore[union-attr]
    fleet.commands().fleet.resume("shop:pdd:s1")
    assert json.loads(fleet.wait(SAMPLE["task_id"], "succeeded").payload) == {"n": 1}


def test_other_work_under_the_id_of_an_own_task_that_is_queued(fleet: Fleet, seen: Path) -> None:
    """The foreign message comes first and finds the record waiting: the record's work runs, the message is a letter."""
    fleet.archiver()
    own = fleet.create("s1", priority="low", seen=str(seen), n=1)
    other = message(task_id=own, payload={"seen": str(seen), "n": 2})
    send(fleet, other)
    fleet.worker(1)
    assert json.loads(fleet.wait(own, "succeeded").payload)["n"] == 1
    (dead,) = eventually(lambda: letters(fleet), 30)
    assert dead.error_kind == "id_conflict"
    assert json.loads(fleet.engine.store.get_letter(dead.task_id).body) == other  # type: ignore[union-attr]
    assert [row[1] for row in lines(seen, "start")] == [own]


def test_a_message_of_a_dead_task_starts_it_again_under_a_new_id(fleet: Fleet) -> None:
    fails = message(payload={"fail": "missing_secret"})
    send(fleet, fails)
    fleet.worker()
    old = wait(fleet, SAMPLE["task_id"], "dead")
    send(fleet, fails)
    old = eventually(lambda: found if (found := fleet.task(old.task_id)).successor else None, 30)
    assert old.triage == "republished"
    new = fleet.wait(old.successor, "dead")
    assert (new.parent, new.created_by) == (old.task_id, "foreign producer")


@pytest.mark.parametrize("end", ["dead", "cancelled"])
def test_one_sent_again_after_its_work_was_done_waits_for_a_person_where_that_may_not_run_twice(
    fleet: Fleet, seen: Path, end: str
) -> None:
    define(fleet, "never_twice", idempotent=False, uniqueness="shop_type")
    gate = fleet.folder / "open"
    payload = {"fail": "missing_secret"} if end == "dead" else {"until": str(gate)}
    first = message(task_type="never_twice", payload=payload)
    send(fleet, first)
    fleet.worker()
    if end == "cancelled":
        wait(fleet, SAMPLE["task_id"], "running")
        fleet.commands().tasks.cancel([SAMPLE["task_id"]])
    old = wait(fleet, SAMPLE["task_id"], end)
    done = fleet.create(old.shop_id, "never_twice", seen=str(seen))
    fleet.wait(done, "succeeded")
    send(fleet, first)
    gate.touch()
    (held,) = eventually(lambda: fleet.engine.store.query(Query(terms=(equals("status", "held"),))).tasks, 30)
    assert (held.parent, held.error_kind, held.attempt) == (old.task_id, "already_done", 0)
    assert done in held.error
    assert [row[1] for row in lines(seen, "start")] == [done]


@pytest.mark.parametrize("removed", [False, True])
def test_a_message_that_comes_back_starts_nothing_again(fleet: Fleet, removed: bool) -> None:
    """It was taken before: it may be the very one that led to this end, and a lost connection must repeat nothing."""
    fails, last = message(payload={"fail": "missing_secret"}), message(task_id="last", shop_id="s2", payload={})
    send(fleet, fails)
    first = fleet.worker()
    wait(fleet, SAMPLE["task_id"], "dead")
    first.stop()
    send(fleet, fails)
    with channel(fleet.settings.broker.url) as raw:
        assert eventually(lambda: raw.basic_get("rpa_tasks_high")[0], 30)
    if removed:
        forgotten(fleet, SAMPLE["task_id"])
    second = fleet.worker()
    eventually(lambda: second.tally.skipped, 30)
    send(fleet, last)
    wait(fleet, "last", "succeeded")
    assert [task.task_id for task in letters(fleet)] == ([] if removed else [SAMPLE["task_id"]])
    assert fleet.engine.store.counts().total == (1 if removed else 2), "nothing was made of it"


def test_a_message_of_a_cancelled_task_starts_it_again_under_a_new_id(fleet: Fleet, seen: Path) -> None:
    gate = fleet.folder / "open"
    body = message(payload={"until": str(gate), "seen": str(seen)})
    send(fleet, body)
    fleet.worker()
    wait(fleet, SAMPLE["task_id"], "running")
    fleet.commands().tasks.cancel([SAMPLE["task_id"]])
    fleet.wait(SAMPLE["task_id"], "cancelled")
    send(fleet, body)
    gate.touch()
    done = eventually(lambda: lines(seen, "end"), 30)
    new = fleet.wait(done[0][1], "succeeded")
    assert new.parent == SAMPLE["task_id"]
    assert fleet.task(SAMPLE["task_id"]).status == "cancelled"


def forgotten(fleet: Fleet, task_id: str) -> None:
    """The janitor removes the record."""
    record = fleet.task(task_id)
    fleet.engine.store.apply([Forget(task_id=task_id, updated_at=record.updated_at, tomb_ms=600_000)])
    assert fleet.engine.store.get([task_id]) == [None]


def test_a_message_sent_again_after_its_record_was_removed(fleet: Fleet, seen: Path) -> None:
    """The same work is not done again, other work under the id is a dead letter, a failed one starts once more."""
    fleet.archiver()
    good, bad = message(payload={"seen": str(seen)}), message(task_id="c1", shop_id="s2", payload={"n": 1})
    fleet.commands().fleet.pause("shop:pdd:s2")
    send(fleet, good, bad)
    worker = fleet.worker()
    wait(fleet, good["task_id"], "succeeded")
    wait(fleet, "c1", "blocked")
    fleet.commands().tasks.cancel(["c1"])
    fleet.commands().fleet.resume("shop:pdd:s2")
    for task_id in (good["task_id"], "c1"):
        forgotten(fleet, task_id)
    skipped = worker.tally.skipped
    send(fleet, good, message(payload={"n": 2}), bad)
    (dead,) = eventually(lambda: letters(fleet), 30)
    assert (dead.error_kind, dead.task_id[:4]) == ("id_conflict", "bad_")
    again = eventually(lambda: [one for one in succeeded(fleet) if one.parent == "c1"], 30)
    assert len(again) == 1
    assert worker.tally.skipped == skipped + 3
    assert len(lines(seen, "start")) == 1


def succeeded(fleet: Fleet) -> list[Task]:
    return list(fleet.engine.store.query(Query(terms=(equals("status", "succeeded"),))).tasks)


def test_retry_count_and_max_retries_are_those_of_the_message(fleet: Fleet, seen: Path) -> None:
    body = message(retry_count=2, payload={"fail": "network", "seen": str(seen)})
    send(fleet, body, message(task_id="x2", max_retries=0, shop_id="s2", payload={"fail": "network"}))
    send(fleet, message(task_id="x3", max_retries=500, shop_id="s3", payload={}))
    fleet.worker()
    first = wait(fleet, SAMPLE["task_id"], "dead")
    assert [one.number for one in first.attempts] == [3, 4]
    assert (first.retries, first.attempts[0].retry_in_s) == (3, 4)
    assert len(wait(fleet, "x2", "dead").attempts) == 1
    assert wait(fleet, "x3", "succeeded").max_retries == 20


def test_unknown_fields_travel_on(fleet: Fleet) -> None:
    fleet.archiver()
    send(fleet, message(payload={"fail": "missing_secret"}, trace={"id": "abc"}, tags=["a", 1]))
    fleet.worker()
    wait(fleet, SAMPLE["task_id"], "dead")
    letter = eventually(lambda: fleet.engine.store.get_letter(SAMPLE["task_id"]), 30)
    body = json.loads(letter.body)
    assert (body["trace"], body["tags"]) == ({"id": "abc"}, ["a", 1])
    assert {name: body[name] for name in SAMPLE if name not in ("payload", "retry_count", "created_at")} == {
        name: SAMPLE[name] for name in SAMPLE if name not in ("payload", "retry_count", "created_at")
    }
    assert "missing_secret" in body["error"] or body["error_kind"] == "missing_secret"


def test_what_another_program_has_done_already_is_not_run(fleet: Fleet, shared: redis.Redis, seen: Path) -> None:
    shared.set(f"executed:{SAMPLE['task_id']}", "1", ex=3600)
    send(fleet, message(payload={"seen": str(seen)}))
    fleet.worker()
    task = wait(fleet, SAMPLE["task_id"], "succeeded")
    assert (task.worker, task.attempt, task.attempts) == ("foreign", 0, ())
    assert not lines(seen)


def test_the_lane_of_the_routing_key_counts(fleet: Fleet) -> None:
    for lane in LANES:
        send(fleet, message(task_id=f"t-{lane}", shop_id=f"s-{lane}", priority="normal"), lane=lane)
        send(fleet, message(task_id=f"n-{lane}", shop_id=f"n-{lane}", priority=7), lane=lane)
    fleet.worker()
    for lane in LANES:
        assert wait(fleet, f"t-{lane}", "succeeded").lane == lane
        assert (wait(fleet, f"n-{lane}", "succeeded").lane, fleet.task(f"n-{lane}").priority) == (lane, 7)


def test_the_second_of_the_same_work_is_held_where_that_is_wished(fleet: Fleet) -> None:
    fleet.engine.store.set_pause(Pause(scope="all", by="bob@desk", reason="look first"))
    fleet.worker(hold_foreign=True)
    send(fleet, message(task_id="first"), message(task_id="second"), message(task_id="other", payload={"since": "x"}))
    held = wait(fleet, "second", "held")
    assert "a person says whether it runs too" in held.error
    assert {wait(fleet, name, "blocked").gate for name in ("first", "other")} == {"paused"}
    eventually(lambda: not any(one.ready for one in fleet.engine.broker.depths() if one.kind == "lane"), 30)


def test_an_unknown_shop_is_refused_where_shops_are_strict(fleet: Fleet) -> None:
    fleet.archiver()
    fleet.shop("known")
    fleet.engine.registry.forget()
    send(fleet, message(), message(task_id="ok1", shop_id="known"))
    fleet.worker(strict_shops=True)
    wait(fleet, "ok1", "succeeded")
    (dead,) = eventually(lambda: letters(fleet), 30)
    assert (dead.error_kind, dead.shop_id) == ("bad_message", "s1")
    assert "strict_shops" in dead.error


def test_what_the_broker_itself_gives_up_becomes_a_letter(fleet: Fleet) -> None:
    """A worker of other make rejects a message: it keeps its key and lands in the dead queue without an error."""
    fleet.archiver()
    fleet.worker(lanes=("low",))
    send(fleet, message(task_id="any", shop_id="s2"), lane="low")
    wait(fleet, "any", "succeeded")  # the platform is known from its first message on
    send(fleet, SAMPLE)
    with channel(fleet.settings.broker.url) as raw:
        method, _, _ = eventually(
            lambda: raw.basic_get("rpa_tasks_high") if fleet.ready("rpa_tasks_high") else None, 30
        )
        raw.basic_reject(method.delivery_tag, requeue=False)
        raw.connection.process_data_events()
    task = wait(fleet, SAMPLE["task_id"], "dead")
    assert "rejected" in task.error
    assert (task.error_kind, task.triage) == ("unknown", "open")
    letter = eventually(lambda: fleet.engine.store.get_letter(task.task_id), 30)  # the record is first
    assert json.loads(letter.body) == SAMPLE
    assert "x-death" in letter.headers
    assert fleet.reconciler().republish_outbox() == 0, "its letter is here; no second one is published"


def test_a_dead_letter_of_another_make_is_kept_with_its_error(fleet: Fleet) -> None:
    fleet.archiver()
    with channel(fleet.settings.broker.url) as raw:
        body = message(retry_count=3, error="element not found: #orders")
        raw.basic_publish("rpa_dlx_exchange", "dead", json.dumps(body).encode())
    task = wait(fleet, SAMPLE["task_id"], "dead")
    assert (task.error, task.error_kind, task.retries) == ("element not found: #orders", "element_not_found", 3)


def test_a_letter_for_a_busy_shop_is_recorded_dead_and_never_run(fleet: Fleet, seen: Path, tmp_path: Path) -> None:
    gate = tmp_path / "go"
    fleet.worker()
    first = fleet.create(seen=str(seen), until=str(gate))
    fleet.wait(first, "running")
    fleet.archiver()
    body = message(payload={"seen": str(seen)}, error="given up elsewhere")
    with channel(fleet.settings.broker.url) as raw:
        raw.basic_publish("rpa_dlx_exchange", "dead", json.dumps(body).encode())
    task = wait(fleet, SAMPLE["task_id"], "dead")
    assert task.error == "given up elsewhere"
    gate.touch()
    fleet.wait(first, "succeeded")
    after = fleet.create(seen=str(seen))
    fleet.wait(after, "succeeded")  # the shop is free again and went on; what was given up did not
    assert [line[1] for line in lines(seen, "start")] == [first, after]
    assert fleet.task(SAMPLE["task_id"]).status == "dead"


def test_numbers_of_eight_bytes_are_numbers(fleet: Fleet) -> None:
    send(fleet, message(), headers={"x-rpa-attempt": long(2), "x-trace": long(7)})
    fleet.worker()
    assert wait(fleet, SAMPLE["task_id"], "succeeded").attempt == 3


def test_an_old_copy_does_not_replace_the_letter_of_a_death(fleet: Fleet) -> None:
    fleet.archiver()
    task_id = fleet.create(fail="missing_secret")
    fleet.worker()
    fleet.wait(task_id, "dead")
    first = eventually(lambda: fleet.engine.store.get_letter(task_id), 30)
    with channel(fleet.settings.broker.url) as raw:
        stale = pika.BasicProperties(headers={"x-rpa-gen": 0, "x-rpa-attempt": 0, "x-rpa-schema": 1})
        raw.basic_publish("rpa_dlx_exchange", "dead", first.body, stale)
    eventually(lambda: not fleet.ready("rpa_dead_queue"), 30)
    marker = message(task_id="marker", error="last")
    with channel(fleet.settings.broker.url) as raw:
        raw.basic_publish("rpa_dlx_exchange", "dead", json.dumps(marker).encode())
    wait(fleet, "marker", "dead")
    assert fleet.engine.store.get_letter(task_id) == first
