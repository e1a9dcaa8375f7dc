"""What other programs send is part of the fleet before a worker takes it: seen, cancelled, moved, and run once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pika
import pytest

import fleetdeck
from services import assembly
from services.domain.change import Forget
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet, channel, define, lines, opened, settings_for, vhost
from tests.integration.foreign_rig import SAMPLE, message, send
from tests.support.rabbit_cluster import NODES
from tests.support.services import RabbitMQ

ID = SAMPLE["task_id"]
NOTICES = "rpa_notice_queue"
#: a quorum queue counts how often it delivered a message, so the lanes are not read there for what has no notice
one_node = pytest.mark.skipif(NODES > 1, reason="lanes of several nodes are not read")


@pytest.fixture
def fleet(tmp_path: Path, amqp_vhost: str, redis_url: str, rabbitmq: RabbitMQ) -> Iterator[Fleet]:
    """A fleet on RabbitMQ and Redis where nobody works and nobody leads."""
    settings = settings_for("fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url)
    with opened("fleet", settings, tmp_path) as found:
        yield found


@pytest.fixture
def cli(amqp_vhost: str, redis_url: str, tmp_path: Path) -> Cli:
    """The command line of the same fleet."""
    configure(tmp_path)
    return Cli(tmp_path, ("--broker", amqp_vhost, "--redis", redis_url))


def many(count: int, **payload: object) -> list[dict[str, object]]:
    """Messages of as many shops."""
    return [message(task_id=f"f{n}", shop_id=f"s{n}", payload={"n": n, **payload}) for n in range(count)]


def noticed(fleet: Fleet) -> int:
    """Record what waits; how many notices there were."""
    return assembly.notices(fleet.engine).take_up(10.0)


def waiting(fleet: Fleet) -> list[Task]:
    """Queued records."""
    return list(fleet.engine.store.query(Query(terms=(equals("status", "queued"),), limit=500)).tasks)


def known(fleet: Fleet, task_id: str = ID) -> Task | None:
    """The record, if there is one."""
    return fleet.engine.store.get([task_id])[0]


def ended(fleet: Fleet, task_id: str, status: str = "succeeded") -> Task:
    """The record once it is there and in this status."""
    eventually(lambda: known(fleet, task_id), 30)
    return fleet.wait(task_id, status)


def all_taken(fleet: Fleet) -> None:
    """Until the lanes are empty."""
    eventually(lambda: not any(one.ready or one.unacked for one in fleet.engine.broker.depths() if one.kind == "lane"))


def test_commands_know_what_nobody_has_taken(fleet: Fleet, cli: Cli, seen: Path) -> None:
    send(fleet, *many(40, seen=str(seen)))
    stats = cli.run("stats")
    assert (stats["status"], stats["lanes"]["high"]["ready"]) == ({"queued": 40}, 40)
    send(fleet, message(task_id="late", shop_id="s99"))
    assert cli.run("task", "show", "late")["task"]["origin"] == "foreign"
    assert cli.run("task", "list", "--filter", "shop:s7")["tasks"][0]["task_id"] == "f7"
    cli.run("task", "cancel", "f1", "f2", "--yes")
    cli.run("task", "prioritize", "f3", "--priority", "low", "--yes")
    assert fleet.ready("rpa_tasks_high") == 41, "they stay in their lane"
    assert cli.run("stats")["scaling"]["runnable"] == 39, "old messages start nothing"
    fleet.worker()
    for task in many(40):
        wanted = "cancelled" if task["task_id"] in ("f1", "f2") else "succeeded"
        ended(fleet, str(task["task_id"]), wanted)
    all_taken(fleet)
    started = [line[1] for line in lines(seen, "start")]
    assert sorted(started) == sorted({f"f{n}" for n in range(40)} - {"f1", "f2"}), "each once"
    assert fleet.engine.store.counts().status == {"succeeded": 39, "cancelled": 2}
    assert fleet.task("f3").lane == "low"


def test_who_only_looks_counts_what_nobody_has_recorded(fleet: Fleet, cli: Cli) -> None:
    send(fleet, *many(3))
    eventually(lambda: fleet.ready(NOTICES) == 3, 30)
    stats = cli.run("stats", "--read-only")
    assert (stats["status"], stats["unrecorded"], stats["lanes"]["high"]["ready"]) == ({}, 3, 3)
    assert (stats["flow"]["state"], stats["scaling"]["runnable"]) == ("no_worker", 3)
    assert stats["headline"].startswith("3 tasks waiting; from other programs, not yet recorded; no worker takes tasks")
    assert cli.run("stats")["unrecorded"] == 0
    fleet.commands().tasks.prioritize(["f1"], "low")
    assert cli.run("stats")["unrecorded"] == 0, "the old message of a moved task is none"
    assert fleet.engine.store.counts().status == {"queued": 3}


def test_the_leader_records_them_while_no_worker_runs(fleet: Fleet) -> None:
    steward = fleet.steward()
    eventually(lambda: steward.leader.leading, 30)
    send(fleet, *many(200), lane="normal")
    eventually(lambda: fleet.engine.store.counts().status == {"queued": 200}, 30)
    assert fleet.ready("rpa_tasks_normal") == 200
    assert {task.marks for task in waiting(fleet)} == {("foreign", "noticed")}
    assert len(fleet.engine.store.shops()) == 200, "shops are there from the first task that was seen"


def test_a_leader_that_goes_in_the_middle_loses_none(fleet: Fleet, seen: Path) -> None:
    first = fleet.steward()
    eventually(lambda: first.leader.leading, 30)
    send(fleet, *many(100, seen=str(seen)))
    eventually(lambda: fleet.engine.store.counts().total, 30)
    first.close()
    send(fleet, *[message(task_id=f"g{n}", shop_id=f"s{n}", payload={"seen": str(seen), "g": n}) for n in range(50)])
    second = fleet.steward(fleet.open())
    eventually(lambda: second.leader.leading, 30)
    eventually(lambda: fleet.engine.store.counts().total == 150, 30)
    fleet.worker()
    eventually(lambda: fleet.engine.store.counts().status == {"succeeded": 150}, 60)
    assert len(lines(seen, "start")) == 150


def test_own_work_makes_no_notices(fleet: Fleet) -> None:
    fleet.create()
    assert (fleet.ready("rpa_tasks_normal"), fleet.ready(NOTICES)) == (1, 0)


def test_a_retry_that_comes_back_is_no_message_of_others(fleet: Fleet, seen: Path) -> None:
    fleet.worker()
    task_id = fleet.create(fail="network", fail_first=1, seen=str(seen))
    fleet.wait(task_id, "succeeded")
    assert noticed(fleet) == 1, "the delay queue leads to the exchange of all programs"
    assert fleet.engine.store.counts().status == {"succeeded": 1}
    assert fleet.ready(NOTICES) == 0


def test_notices_that_come_late_make_no_second_record(fleet: Fleet, seen: Path) -> None:
    body = message(payload={"seen": str(seen)})
    send(fleet, body)
    fleet.worker()
    done = ended(fleet, ID)
    assert noticed(fleet) == 1
    assert fleet.task(ID) == done
    send(fleet, body)
    all_taken(fleet)
    fleet.engine.store.apply([Forget(task_id=ID, updated_at=done.updated_at, tomb_ms=600_000)])
    assert noticed(fleet) == 1
    assert known(fleet) is None
    assert len(lines(seen, "start")) == 1


def test_too_many_notices_lose_no_task(fleet: Fleet, rabbitmq: RabbitMQ, seen: Path) -> None:
    policy = f"/api/policies/{vhost(fleet.settings.broker.url)}/few"
    rabbitmq.api("PUT", policy, {"pattern": f"^{NOTICES}$", "definition": {"max-length": 5}, "apply-to": "queues"})
    send(fleet, message(task_id="first", shop_id="s99"))
    eventually(lambda: fleet.ready(NOTICES) == 1, 30)
    send(fleet, *many(30, seen=str(seen)))
    eventually(lambda: fleet.ready(NOTICES) == 5, 30)
    assert noticed(fleet) == 31, "those that were dropped come late and tell nothing"
    found = 31 if NODES == 1 else 5
    assert fleet.engine.store.counts().status == {"queued": found}, "those without a notice are found in their lane"
    fleet.worker()
    eventually(lambda: fleet.engine.store.counts().status == {"succeeded": 31}, 60)
    assert len(lines(seen, "start")) == 30


@pytest.mark.parametrize("known_before", [False, True], ids=["no name is known", "the platform is known"])
def test_one_that_expires_before_anybody_came_is_a_dead_letter(fleet: Fleet, *, known_before: bool) -> None:
    """A platform's own way to the dead letters is bound when its name is known; nobody has heard of this one."""
    fleet.engine.broker.ensure(platforms=["never_heard_of"] if known_before else [])
    body = message(platform="never_heard_of", payload={"n": 1})
    send(fleet, body, platform="never_heard_of", expiration="50")
    eventually(lambda: fleet.ready("rpa_notice_late") == 1 and not fleet.ready("rpa_tasks_high"), 30)
    assert fleet.ready("rpa_dead_queue") == int(known_before)
    assert noticed(fleet) == 1
    letter = fleet.engine.store.get_letter(ID)
    assert letter is not None
    assert (json.loads(letter.body), letter.routing_key) == (body, "task.never_heard_of.high")
    fleet.archiver()
    eventually(lambda: not fleet.ready("rpa_dead_queue"), 30)
    dead = fleet.task(ID)
    assert (dead.status, dead.error_kind, dead.triage, dead.lane) == ("dead", "expired", "open", "high")
    assert json.loads(dead.payload) == {"n": 1}
    assert fleet.engine.store.counts().status == {"dead": 1}


def test_what_may_not_run_twice_and_has_just_succeeded_asks_whoever_comes_for_a_reason(
    fleet: Fleet, seen: Path
) -> None:
    """Its type names no window. Another program cannot be asked, so that one waits for a person."""
    body = message(task_type="once", payload={"seen": str(seen)})
    fleet.worker()
    send(fleet, body)
    ended(fleet, ID)
    spec = TaskSpec(platform="pdd", shop_id="s1", task_type="once", payload=body["payload"])
    (before,) = fleet.submit(spec).done
    assert before[1].task_id == ID
    send(fleet, body | {"task_id": "again"})
    assert ended(fleet, "again", "held").error_kind == "already_done"
    assert len(lines(seen, "start")) == 1


def test_one_that_was_run_before_its_late_notice_is_read_stays_as_it_is(fleet: Fleet, seen: Path) -> None:
    body = message(payload={"seen": str(seen)})
    fleet.worker()
    send(fleet, body, expiration="3000")
    done = ended(fleet, ID)
    with channel(fleet.settings.broker.url) as raw:  # as when nobody read it in time
        deaths = [{"queue": NOTICES, "reason": "expired", "original-expiration": "3000", "count": 1}]
        raw.basic_publish(
            "rpa_notice_late", "task.pdd.high", json.dumps(body), pika.BasicProperties(headers={"x-death": deaths})
        )
    assert eventually(lambda: noticed(fleet), 30)
    assert fleet.task(ID) == done


def test_a_cancelled_one_does_not_run_and_one_sent_again_does(fleet: Fleet, seen: Path) -> None:
    body = message(payload={"seen": str(seen)})
    send(fleet, body)
    assert noticed(fleet) == 1
    fleet.commands().tasks.cancel([ID])
    fleet.worker()
    all_taken(fleet)
    assert fleet.engine.store.counts().status == {"cancelled": 1}
    send(fleet, body)
    eventually(lambda: [task for task in succeeded(fleet) if task.parent == ID], 30)
    (again,) = [task for task in succeeded(fleet) if task.parent == ID]
    assert [line[1] for line in lines(seen, "start")] == [again.task_id]


def succeeded(fleet: Fleet) -> list[Task]:
    return list(fleet.engine.store.query(Query(terms=(equals("status", "succeeded"),))).tasks)


def test_one_that_was_moved_and_died_is_not_sent_again_by_its_old_message(fleet: Fleet, seen: Path) -> None:
    send(fleet, message(payload={"seen": str(seen), "fail": "missing_secret"}), lane="low")
    assert noticed(fleet) == 1
    fleet.commands().tasks.prioritize([ID], "high")
    worker = fleet.worker(lanes=("high",))
    ended(fleet, ID, "dead")
    worker.stop()
    assert fleet.ready("rpa_tasks_low") == 1
    fleet.worker()
    all_taken(fleet)
    assert fleet.engine.store.counts().status == {"dead": 1}
    assert len(lines(seen, "start")) == 1


def test_other_work_under_the_id_of_one_that_waits_is_a_dead_letter(fleet: Fleet, seen: Path) -> None:
    fleet.archiver()
    send(fleet, message(payload={"seen": str(seen), "n": 1}))
    assert noticed(fleet) == 1
    send(fleet, message(payload={"seen": str(seen), "n": 2}))
    assert noticed(fleet) == 1
    assert json.loads(fleet.task(ID).payload)["n"] == 1
    fleet.worker()
    ended(fleet, ID)
    (letter,) = eventually(lambda: fleet.engine.store.query(Query(terms=(equals("status", "dead"),))).tasks, 30)
    assert letter.error_kind == "id_conflict"
    assert len(lines(seen, "start")) == 1


def test_who_creates_the_same_work_is_told(fleet: Fleet) -> None:
    send(fleet, message(task_type="single", payload={"a": 1}))
    assert noticed(fleet) == 1
    done = fleet.submit(TaskSpec(platform="pdd", shop_id="s1", task_type="single", payload={"a": 2}))
    assert not done.created
    assert [twin.task_id for _, twin in done.duplicates] == [ID]


def test_two_programs_that_ask_for_the_same_work_run_it_in_turn(fleet: Fleet, seen: Path) -> None:
    gate = fleet.folder / "go"
    body = {"task_type": "single", "payload": {"seen": str(seen), "until": str(gate)}}
    send(fleet, message(task_id="a1", **body), message(task_id="a2", **body))
    assert noticed(fleet) == 2
    assert "twin" in fleet.task("a2").marks
    fleet.worker()
    ended(fleet, "a1", "running")
    fleet.wait("a2", "blocked")
    gate.touch()
    ended(fleet, "a2")
    assert len(lines(seen, "start")) == 2


def test_the_second_of_work_that_may_not_run_twice_waits_for_a_person(fleet: Fleet, seen: Path) -> None:
    define(fleet, "never_twice", idempotent=False, uniqueness="shop_type")
    body = {"task_type": "never_twice", "payload": {"seen": str(seen)}}
    send(fleet, message(task_id="a1", **body), message(task_id="a2", **body))
    fleet.worker()
    ended(fleet, "a1")
    held = fleet.wait("a2", "held")
    assert (held.error_kind, held.attempt) == ("already_done", 0)
    assert [line[1] for line in lines(seen, "start")] == ["a1"]
    fleet.commands().tasks.resolve(["a2"], "pending", note="it was for two orders")
    assert ended(fleet, "a2").triage_note == "it was for two orders"


def test_a_message_that_expires_is_a_letter_and_may_be_sent_again(fleet: Fleet, seen: Path) -> None:
    fleet.archiver()
    body = message(payload={"seen": str(seen)})
    with channel(fleet.settings.broker.url) as raw:
        raw.confirm_delivery()
        fleet.engine.broker.ensure(platforms=["pdd"])
        properties = pika.BasicProperties(content_type="application/json", delivery_mode=2, expiration="1500")
        raw.basic_publish("rpa_task_exchange", "task.pdd.high", json.dumps(body).encode(), properties, mandatory=True)
    assert noticed(fleet) == 1
    dead = ended(fleet, ID, "dead")
    assert (dead.marks, dead.error_kind) == (("foreign",), "expired")
    send(fleet, body)
    fleet.worker()
    eventually(lambda: lines(seen, "end"), 30)
    assert fleet.wait(fleet.task(ID).successor, "succeeded").parent == ID


def test_what_expires_before_anybody_came_is_a_letter_once_a_command_has_declared(fleet: Fleet, cli: Cli) -> None:
    cli.run("repair")
    properties = pika.BasicProperties(content_type="application/json", delivery_mode=2, expiration="1")
    with channel(fleet.settings.broker.url) as raw:
        raw.basic_publish(
            "rpa_task_exchange", "task.douyin.low", json.dumps(message(platform="douyin")).encode(), properties
        )
    eventually(lambda: fleet.ready("rpa_dead_queue") == 1, 30)
    fleet.archiver()
    dead = ended(fleet, ID, "dead")
    assert (dead.platform, dead.error_kind) == ("douyin", "expired")


def test_what_leads_to_no_lane_comes_back_to_its_sender(fleet: Fleet) -> None:
    with channel(fleet.settings.broker.url) as raw:
        raw.confirm_delivery()
        for key in ("task.pdd.s17", "task.pdd.hihg"):
            with pytest.raises(pika.exceptions.UnroutableError):
                raw.basic_publish("rpa_task_exchange", key, b"{}", mandatory=True)
    assert fleet.ready(NOTICES) == 0


def test_what_is_no_task_is_a_letter_before_a_worker_finds_it_and_one_letter_after(fleet: Fleet, cli: Cli) -> None:
    fleet.engine.broker.ensure()
    bodies = [
        b"{}",
        b"no json",
        json.dumps(message(priority="urgent")).encode(),
        json.dumps(message(payload=[1])).encode(),
    ]
    with channel(fleet.settings.broker.url) as raw:
        for body in bodies:
            raw.basic_publish("rpa_task_exchange", "task.pdd.high", body, pika.BasicProperties(delivery_mode=2))
    send(fleet, message(task_id="good", shop_id="s2"))

    def dead() -> dict[str, str]:
        found = fleet.engine.store.query(Query(terms=(equals("status", "dead"),))).tasks
        return {task.task_id: task.error_kind for task in found}

    assert len(cli.run("dead", "list")["tasks"]) == len(bodies)
    before = dead()
    assert sorted(before.values()) == ["bad_message", "bad_message", "bad_message", "bad_payload"]
    letters = [fleet.engine.store.get_letter(task_id) for task_id in before]
    assert {letter.body for letter in letters if letter is not None} == set(bodies)
    (ignored, *_) = before
    fleet.commands().dead_letters.set_triage([ignored], "ignored")
    fleet.archiver()
    worker = fleet.worker()
    ended(fleet, "good")
    all_taken(fleet)
    eventually(lambda: worker.tally.refused == len(bodies), 30)
    eventually(lambda: not any(one.ready or one.unacked for one in fleet.engine.broker.depths() if one.kind == "dead"))
    assert dead() == before
    assert fleet.task(ignored).triage == "ignored"


def test_a_program_that_submits_knows_of_a_twin_that_another_one_has_just_sent(
    fleet: Fleet, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody leads, and no window is open: there is nobody else to record it."""
    fleet.engine.broker.ensure()
    send(fleet, message())
    configure(tmp_path)
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    monkeypatch.setenv("FLEETDECK_BROKER__URL", fleet.settings.broker.url)
    monkeypatch.setenv("FLEETDECK_BROKER__PROFILE", fleet.settings.broker.profile)
    monkeypatch.setenv("FLEETDECK_STORE__URL", redis_url)
    answer = fleetdeck.submit("work", "pdd:s1", SAMPLE["payload"])
    assert (answer.task_id, answer.created) == (ID, False)


def test_the_queue_of_a_shop_has_notices_until_it_is_closed(fleet: Fleet) -> None:
    broker = fleet.engine.broker
    broker.open_shop("pdd", "s1")
    send(fleet, message(), lane="s1")
    assert noticed(fleet) == 1
    assert fleet.task(ID).queue == "s1"
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_purge("single_shop_s1")
    assert broker.close_shop("pdd", "s1")
    with pytest.raises(pika.exceptions.UnroutableError):
        send(fleet, message(task_id="x2"), lane="s1")
    assert fleet.ready(NOTICES) == 0


def test_a_program_of_before_that_made_the_queue_of_a_shop(fleet: Fleet) -> None:
    """Only the exchange of all programs leads there; own work arrives all the same."""
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_declare("single_shop_s1", durable=True)
        raw.queue_bind("single_shop_s1", "rpa_task_exchange", "task.pdd.s1")
    task = fleet.engine.producer.prepare(TaskSpec(platform="pdd", shop_id="s1", task_type="work"))
    sent = fleet.engine.steps.dispatcher.send([msgspec.structs.replace(task, queue="s1")], 0)
    assert sent.receipts[task.task_id].ok
    with channel(fleet.settings.broker.url) as raw:
        assert raw.basic_get("single_shop_s1", auto_ack=True)[0] is not None


def test_one_whose_message_is_gone_is_held_and_not_sent_again(fleet: Fleet, seen: Path) -> None:
    """Its sender may have taken it back, or a consumer of other make has it: a person decides."""
    send(fleet, message(payload={"seen": str(seen)}))
    assert noticed(fleet) == 1
    fleet.purge("rpa_tasks_high")
    reconciler = fleet.reconciler()
    eventually(lambda: reconciler.find_missing(fleet.engine.broker.depths()), 30)
    assert fleet.task(ID).status == "held"
    assert fleet.ready("rpa_tasks_high") == 0


def test_the_doctor_counts_them_and_names_what_is_unbound(fleet: Fleet, cli: Cli) -> None:
    send(fleet, *many(4))
    eventually(lambda: fleet.ready(NOTICES) == 4, 30)
    cli.environment["FLEETDECK_BROKER__MANAGEMENT_URL"] = fleet.settings.broker.management_url
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_unbind("rpa_tasks_low", "rpa_task_exchange", "task.*.low")
    said = json.dumps(cli.run("doctor", code=1), ensure_ascii=False)
    assert "4 tasks wait" in said
    assert "rpa_task_exchange (task.*.low) → rpa_tasks_low" in said


def test_a_limit_for_a_platform_without_a_shop_is_asked_about(fleet: Fleet, cli: Cli) -> None:
    fleet.shop("s1")
    said = cli.run("queue", "limit", "platform:pdb", "--concurrency", 2)
    assert said["limit"]["concurrency"] == 2
    assert said["warnings"] == ["no shop of platform:pdb is known yet; did you mean platform:pdd?"]
    assert cli.run("queue", "limit", "platform:pdd", "--concurrency", 2)["warnings"] == []


@one_node
def test_what_was_sent_before_anybody_came_is_recorded_and_stays_where_it_is(
    amqp_vhost: str, redis_url: str, tmp_path: Path, cli: Cli
) -> None:
    limits = {"x-max-priority": 10, "x-dead-letter-exchange": "rpa_dlx_exchange"}
    with channel(amqp_vhost) as raw:  # a producer that declares what the contract says, and knows of no notices
        raw.exchange_declare("rpa_task_exchange", "topic", durable=True)
        for lane in ("high", "normal", "low"):
            raw.queue_declare(f"rpa_tasks_{lane}", durable=True, arguments=limits)
            raw.queue_bind(f"rpa_tasks_{lane}", "rpa_task_exchange", f"task.*.{lane}")
    with opened("fleet", settings_for("fleet", tmp_path, amqp=amqp_vhost, redis=redis_url), tmp_path) as early:
        send(early, *many(60))
        stats = cli.run("stats")
        assert (stats["status"], stats["lanes"]["high"]["ready"]) == ({"queued": 60}, 60)
        assert cli.run("task", "show", "f7")["task"]["marks"] == ["foreign", "noticed"]
        assert early.ready("rpa_tasks_high") == 60
        assert [one.body for one in early.take("rpa_tasks_high", 60)] == [json.dumps(one).encode() for one in many(60)]


@one_node
def test_what_no_notice_tells_of_is_looked_for_once(fleet: Fleet, seen: Path) -> None:
    own = [fleet.create(shop=f"own{n}") for n in range(3)]
    fleet.commands().tasks.cancel(own[:2])
    assert noticed(fleet) == 0, "old messages of our own are no work of others"
    assert fleet.engine.store.counts().status == {"cancelled": 2, "queued": 1}
    send(fleet, *many(20, seen=str(seen)))
    eventually(lambda: fleet.ready(NOTICES) == 20, 60)
    fleet.purge(NOTICES)
    steward = fleet.steward()
    eventually(lambda: steward.leader.leading, 60)
    eventually(lambda: fleet.engine.store.counts().status == {"cancelled": 2, "queued": 21}, 60)
    eventually(lambda: fleet.engine.store.documents("fleet").get("unnoticed") == "2", 60)
    fleet.commands().tasks.cancel(["f3"])
    fleet.worker()
    eventually(lambda: fleet.engine.store.counts().status == {"cancelled": 3, "succeeded": 20}, 60)
    assert sorted(line[1] for line in lines(seen, "start")) == sorted({f"f{n}" for n in range(20)} - {"f3"})
    eventually(lambda: fleet.engine.store.documents("fleet").get("unnoticed") == "0", 60)


def test_what_needs_attention_counts_what_nobody_has_recorded(fleet: Fleet, cli: Cli) -> None:
    send(fleet, *many(3))
    eventually(lambda: fleet.ready(NOTICES) == 3, 30)
    (item,) = [one for one in cli.run("stats", "--read-only")["attention"] if one["key"] == "no_workers"]
    assert item["params"]["tasks"] == 3
