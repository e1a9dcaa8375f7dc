"""``repair``: everything it can mend on both pairs, twice without harm, and nothing at all in a dry run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import redis

from services import diagnosis, repairs
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.task import envelope
from services.domain.task.order import Inspection, Order
from services.domain.task.record import Attempt, Task
from services.domain.upkeep.repair import DONE, LEFT, PLANNED, UNSEEN, Mend
from services.engine import repair as engine_repair
from services.engine.producer import TaskSpec
from services.store.redis import keys
from tests.contract.rig import recount, same_counts
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel


def codes(found: list[Mend], state: str) -> dict[str, dict[str, Any]]:
    return {one.message.code.removeprefix("repair."): dict(one.message.params) for one in found if one.state == state}


def plan(fleet: Fleet) -> dict[str, dict[str, Any]]:
    return codes(repairs.commands(fleet.engine).plan(), PLANNED)


def repaired(fleet: Fleet, **options: Any) -> dict[str, dict[str, Any]]:
    return codes(repairs.commands(fleet.engine).repair(**options), DONE)


def dead(fleet: Fleet, task_id: str) -> Task:
    task = fleet.task(task_id)
    claim = Claim(task_id=task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=60_000)
    assert fleet.apply(claim).code == "run"
    attempt = Attempt(number=task.attempt + 1, worker="w", started_at=1, ended_at=2, outcome="failed")
    done = fleet.apply(
        Finish(task_id=task_id, owner="w#1", to="dead", attempt=attempt, error="page gone", error_kind="network")
    )
    assert done.task is not None
    fleet.engine.steps.publish([done.task])
    fleet.engine.store.mark_executed([task_id])
    return fleet.task(task_id)


def test_a_fleet_that_is_well_needs_nothing(fleet: Fleet) -> None:
    fleet.worker()
    fleet.wait(fleet.create(), "succeeded")
    eventually(lambda: plan(fleet) == {}, 20)
    assert repaired(fleet) == {}
    (entry,) = [one for one in fleet.engine.store.audit(20) if one.action == "repair"]
    assert entry.outcome == "done: nothing; left: nothing"


def test_what_the_broker_shows_to_stand_as_it_should_is_not_declared_again(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does not show is told as that, and counts as nothing mended."""
    broker = fleet.engine.broker
    for shown, told in (
        (Inspection(), []),
        (Inspection(unbound=("e → q",)), [(PLANNED, "repair.bindings")]),
        (Inspection(compared=False), [(UNSEEN, "repair.unseen")] if broker.capabilities.others else []),
    ):
        monkeypatch.setattr(broker, "inspect", lambda _delays, shown=shown: shown)
        assert [(one.state, one.message.code) for one in repairs.commands(fleet.engine).plan()] == told


def test_what_waits_is_sent_and_a_dry_run_sends_nothing(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_repair, "OUTBOX_AGE_MS", 0)
    task = fleet.engine.producer.prepare(TaskSpec(platform="pdd", shop_id="s1", task_type="work"))
    fleet.apply(Create(task=task))
    commands = repairs.commands(fleet.engine)
    commands._repair._reconciler._outbox_age_ms = 0
    assert codes(commands.plan(), PLANNED)["outbox"] == {"tasks": 1}
    assert fleet.task(task.task_id).status == "pending"
    assert codes(commands.repair(), DONE)["outbox"] == {"tasks": 1}
    assert (fleet.task(task.task_id).status, fleet.ready("rpa_tasks_normal")) == ("queued", 1)


def test_a_parked_task_whose_gate_is_open_goes_on(fleet: Fleet) -> None:
    fleet.engine.store.set_pause(Pause(scope="all", by="ann"))
    task = fleet.task(fleet.create())
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)
    assert fleet.apply(claim).code == "blocked"
    fleet.engine.store.clear_pause("all")
    assert plan(fleet)["parked_shops"] == {"shops": 1}
    assert fleet.task(task.task_id).status == "blocked"
    assert repaired(fleet)["parked"] == {"tasks": 1}
    assert fleet.task(task.task_id).status == "queued"


def test_marks_for_other_programs_are_written(fleet: Fleet) -> None:
    fleet.worker()
    task_id = fleet.create()
    fleet.wait(task_id, "succeeded")
    store = fleet.engine.store
    eventually(lambda: store.executed([task_id]) == [True], 20)
    change(fleet, "DELETE FROM executed", "DEL", keys.executed(task_id))
    assert plan(fleet)["executed"] == {"tasks": 1}
    assert store.executed([task_id]) == [False]
    assert repaired(fleet)["executed"] == {"tasks": 1}
    assert store.executed([task_id]) == [True]


def change(fleet: Fleet, sql: str, *command: Any) -> None:
    """Behind everybody's back."""
    if fleet.kind == "embedded":
        with closing(sqlite3.connect(fleet.settings.database, timeout=30)) as conn, conn:
            conn.execute(sql)
        return
    client = redis.Redis.from_url(fleet.settings.store.url)
    client.execute_command(*command)
    client.close()


def test_counters_are_counted_beside_a_worker(fleet: Fleet) -> None:
    fleet.worker()
    ids = [fleet.create(f"s{n % 4}", n=n) for n in range(40)]
    change(fleet, "DELETE FROM tallies", "DEL", keys.BY_KIND)
    change(fleet, "DELETE FROM shop_tallies", "DEL", keys.BY_SHOP)
    repaired(fleet)
    fleet.wait_ended(ids)
    repaired(fleet)
    records = [one for one in fleet.engine.store.get(ids) if one is not None]
    assert same_counts(fleet.engine.store.counts(), recount(records))


def test_a_letter_that_was_lost_is_made_of_its_record(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_repair, "LETTER_MS", -60_000)
    fleet.archiver()
    task = dead(fleet, fleet.create(answer=42))
    store = fleet.engine.store
    before = eventually(lambda: store.get_letter(task.task_id), 20)
    change(fleet, "DELETE FROM letters", "DEL", keys.LETTERS)
    assert store.get_letter(task.task_id) is None
    assert plan(fleet)["letters"] == {"tasks": 1, "where": task.task_id}
    assert store.get_letter(task.task_id) is None
    repaired(fleet)
    after = store.get_letter(task.task_id)
    assert after is not None
    assert after.body == before.body


def test_a_task_that_was_not_told_of_its_dependency_goes_on(fleet: Fleet) -> None:
    first = fleet.create("s1")
    waiting = fleet.task(fleet.create("s2", depends_on=(first,)))
    assert waiting.gate == "dependency"
    assert "links" not in plan(fleet)
    change(fleet, "DELETE FROM dependencies", "DEL", keys.NEEDED, keys.NEEDS + waiting.task_id, keys.DEPENDANTS + first)
    named = {one.message.code for one in diagnosis.examine(fleet.settings).findings if one.check == "records"}
    assert "repair.links" in named
    assert plan(fleet)["links"] == {"tasks": 1, "where": waiting.task_id}
    assert repaired(fleet)["links"]["tasks"] == 1
    assert fleet.engine.store.needs([waiting.task_id])[0] == [first]
    fleet.worker()
    fleet.wait(waiting.task_id, "succeeded")
    assert fleet.task(waiting.task_id).started_at >= fleet.task(first).ended_at


def test_the_queue_of_a_shop_is_made_again(fleet: Fleet) -> None:
    fleet.commands().fleet.import_shops([Shop(platform="pdd", shop_id="s1", dedicated=True)])
    assert fleet.engine.broker.close_shop("pdd", "s1")
    assert plan(fleet)["shop_queue"] == {"shop": "pdd:s1"}
    assert "single_shop_s1" not in {one.name for one in fleet.engine.broker.depths()}
    assert repaired(fleet)["shop_queue"] == {"shop": "pdd:s1"}
    assert "single_shop_s1" in {one.name for one in fleet.engine.broker.depths()}


def test_tasks_of_a_worker_that_is_heard_of_are_left_to_it(fleet: Fleet) -> None:
    """The store may just have come back: it renews its leases in a moment."""
    task_id, store = fleet.create(), fleet.engine.store
    claim = Claim(task_id=task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
    assert fleet.apply(claim).code == "run"
    eventually(lambda: store.expired(10), 20)
    store.heartbeat(WorkerInfo(worker="w", host="h", pid=1))
    left = codes(repairs.commands(fleet.engine).repair(), LEFT)
    assert (left["lost"], fleet.task(task_id).status) == ({"tasks": 1}, "running")


@pytest.mark.parametrize(
    ("kind", "name", "scope"),
    [("type", "work", "type:work"), ("quiet_windows", "night", "all")],
    ids=["policy", "quiet hours"],
)
def test_what_would_start_behind_an_unreadable_entry_is_held_back(
    fleet: Fleet, kind: str, name: str, scope: str
) -> None:
    fleet.engine.store.put_document(kind, name, "{")
    repaired(fleet)
    assert [(one.scope, one.by) for one in fleet.engine.store.pauses()] == [(scope, "repair")]


def test_there_is_no_second_copy_on_one_machine(fleet: Fleet) -> None:
    found = codes(repairs.commands(fleet.engine).plan(from_stream=True), LEFT)
    assert ("no_stream" in found) is (fleet.kind == "embedded")


# ---------------------------------------------------------------------------------------------------------- RabbitMQ
rabbit = pytest.mark.parametrize("pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])])


@rabbit
def test_what_was_deleted_on_the_broker_is_declared_again(fleet: Fleet) -> None:
    fleet.create()
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_delete("rpa_tasks_low")
        for exchange in ("rpa_task_exchange", "rpa_own_exchange"):
            raw.queue_unbind("rpa_tasks_high", exchange, "task.*.high")
    with repairs.opened(fleet.settings) as commands:
        assert codes(commands.plan(), PLANNED)["declared"] == {"names": "rpa_tasks_low"}
        with channel(fleet.settings.broker.url) as raw, pytest.raises(Exception, match="rpa_tasks_low"):
            raw.queue_declare("rpa_tasks_low", passive=True)
        assert "declared" in codes(commands.repair(), DONE)
    order = Order(kind="work", routing_key="task.pdd.high", body=b"{}", message_id="m")
    assert fleet.engine.broker.publish([order])[0].ok


@rabbit
def test_other_arguments_are_named_and_the_rest_is_mended(fleet: Fleet) -> None:
    task_id = fleet.create()
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_delete("rpa_tasks_low")
        raw.queue_declare("rpa_tasks_low", durable=True, arguments={"x-max-priority": 3})
    change(fleet, "", "DEL", keys.BY_KIND)
    with repairs.opened(fleet.settings) as commands:
        found = commands.repair()
    assert "rpa_tasks_low" in codes(found, LEFT)["topology"]["error"]
    assert "counter" in codes(found, DONE)
    assert fleet.engine.store.counts().total == 1
    assert fleet.task(task_id).status == "queued"


@rabbit
def test_dead_letters_come_back_from_the_stream(fleet: Fleet) -> None:
    fleet.archiver()
    store = fleet.engine.store
    lost = [dead(fleet, fleet.create(f"s{n}", n=n)) for n in range(3)]
    kept = dead(fleet, fleet.create("kept"))
    bad = Order(kind="dead", routing_key="dead", body=b"no task", message_id="b", headers={"x-rpa-error": "no JSON"})
    assert fleet.engine.broker.publish([bad])[0].ok
    bad_id = envelope.bad_record(b"no task", kind="", error="", now_ms=0).task_id
    eventually(lambda: all(store.get_letter(one) for one in [*(task.task_id for task in lost), bad_id]), 20)
    change(fleet, "", "FLUSHDB")
    store.apply([Create(task=kept)])
    wanted = {task.task_id for task in lost} | {bad_id}
    looked = codes(repairs.commands(fleet.engine).plan(from_stream=True), PLANNED)
    assert (looked["stream_records"]["tasks"], looked["stream_letters"]["tasks"]) == (4, 1)
    assert store.get(sorted(wanted)) == [None] * 4
    done = repaired(fleet, from_stream=True)
    assert (done["stream_records"]["tasks"], done["stream_read"]["messages"]) == (4, 5)
    back = fleet.task(lost[0].task_id)
    assert (back.status, back.triage, back.error, back.error_kind) == ("dead", "open", "page gone", "network")
    assert (back.payload, back.shop, abs(back.ended_at - lost[0].ended_at) < 2) == (lost[0].payload, lost[0].shop, True)
    letter = store.get_letter(bad_id)
    assert letter is not None
    assert letter.body == b"no task"
    assert fleet.task(bad_id).error == "no JSON"
    assert store.get_letter(kept.task_id) is not None
    again = repaired(fleet, from_stream=True)
    assert "stream_records" not in again
    assert "stream_letters" not in again
    outcome = fleet.commands().dead_letters.republish([lost[0].task_id])
    assert outcome.done == (lost[0].task_id,)
