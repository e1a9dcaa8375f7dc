"""RabbitMQ says no, or is not there: what was accepted waits in the outbox, what runs is recorded, and all ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from services.domain.errors import ConsoleError, TopologyMismatch
from services.domain.insight import publisher
from services.engine import fates
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, channel, lines, vhost
from tests.integration.rabbitmq_rig import evaluate, set_memory_limit
from tests.integration.test_rabbitmq_consume import short_patience
from tests.support.services import RabbitMQ

pytestmark = [
    pytest.mark.fault,
    pytest.mark.parametrize(
        "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
    ),
]
LANE = "rpa_tasks_normal"


def submit(fleet: Fleet, *shops: str, **payload: object) -> tuple[list[str], int]:
    """Ids of new tasks, and how many of their messages were not confirmed."""
    specs = [TaskSpec(platform="pdd", shop_id=shop, task_type="work", payload=dict(payload)) for shop in shops]
    done = fleet.submit(*specs)
    return [task.task_id for task in done.created], done.unconfirmed


def quiet(fleet: Fleet) -> bool:
    """Whether the lanes are empty."""
    return not any(depth.ready or depth.unacked for depth in fleet.engine.broker.depths() if depth.kind == "lane")


def publish_until_ended(fleet: Fleet, ids: Sequence[str]) -> None:
    """As the leader does with what waits in the outbox."""
    reconciler = fleet.reconciler()

    def ended() -> bool:
        reconciler.republish_outbox()
        return all(task is not None and task.ended for task in fleet.engine.store.get(ids))

    eventually(ended, 30)


@contextmanager
def memory_alarm(rabbitmq: RabbitMQ) -> Iterator[None]:
    set_memory_limit(rabbitmq, "0")
    try:
        yield
    finally:
        set_memory_limit(rabbitmq)


@contextmanager
def disk_alarm(rabbitmq: RabbitMQ) -> Iterator[None]:
    evaluate(rabbitmq, 'rabbit_disk_monitor:set_disk_free_limit("1000000GB").')
    try:
        yield
    finally:
        evaluate(rabbitmq, 'rabbit_disk_monitor:set_disk_free_limit("1MB").')


@pytest.mark.parametrize("alarm", [memory_alarm, pytest.param(disk_alarm, marks=pytest.mark.harsh)])
def test_an_alarm_holds_back_new_messages_only(fleet: Fleet, rabbitmq: RabbitMQ, tmp_path: Path, alarm: object) -> None:
    gate = tmp_path / "gate"
    before, _ = submit(fleet, *(f"a{number}" for number in range(6)), until=str(gate))
    fleet.worker(2)
    eventually(lambda: fleet.engine.store.counts().status.get("running") == 2, 30)
    with alarm(rabbitmq):  # type: ignore[operator]
        during, unconfirmed = submit(fleet, "b1", "b2")
        assert unconfirmed == 2
        assert {fleet.task(task_id).status for task_id in during} == {"pending"}
        assert fleet.engine.broker.health().blocked
        gate.touch()
        assert {task.status for task in fleet.wait_ended(before)} == {"succeeded"}
        assert {fleet.task(task_id).status for task_id in during} == {"pending"}
    eventually(lambda: not fleet.engine.broker.health().blocked, 30)
    publish_until_ended(fleet, during)
    assert {(task.status, task.attempt) for task in map(fleet.task, during)} == {("succeeded", 1)}


def test_an_alarm_is_known_to_who_never_published_and_by_heartbeats(fleet: Fleet, rabbitmq: RabbitMQ) -> None:
    window, store = fleet.open().broker, fleet.engine.store
    window.depths()
    fleet.worker(1)
    with memory_alarm(rabbitmq):
        eventually(lambda: window.depths() is not None and window.health().blocked, 30)
        told = publisher.look(window.health(), [], store.now_ms())
        assert (told.kind, told.who, len(told.nodes)) == ("memory", ("",), 1)
        (task_id,), unconfirmed = submit(fleet, "b1")
        assert unconfirmed == 1
        assert store.counts().unsent == 1
        link = eventually(lambda: one.link if (one := store.workers()[0]).link.blocked_at else None, 30)
        assert "memory" in link.why
        way = fates.way(store, store.now_ms(), "")
        assert (way.kind, way.unsent, way.since_ms) == ("memory", 1, link.blocked_at)
        assert not window.publish([])
    eventually(lambda: window.depths() is not None and not window.health().blocked, 30)
    publish_until_ended(fleet, [task_id])
    eventually(lambda: not store.workers()[0].link.blocked_at, 30)
    assert fates.way(store, store.now_ms(), "").kind == ""


def test_a_lane_that_nothing_leads_to_any_more(fleet: Fleet) -> None:
    """Its message comes back unroutable; what the program needs is bound again, and the message sent again."""
    with channel(fleet.settings.broker.url) as raw:
        for exchange in ("rpa_task_exchange", "rpa_own_exchange"):
            raw.queue_unbind(LANE, exchange, "task.*.normal")
    (task_id,), unconfirmed = submit(fleet, "s1")
    assert unconfirmed == 0
    assert fleet.ready(LANE) == 1
    fleet.worker()
    fleet.wait(task_id, "succeeded")


def test_a_queue_that_is_full(fleet: Fleet, rabbitmq: RabbitMQ) -> None:
    policy = f"/api/policies/{vhost(fleet.settings.broker.url)}/full"
    limit = {"max-length": 5, "overflow": "reject-publish"}
    rabbitmq.api("PUT", policy, {"pattern": f"^{LANE}$", "definition": limit, "apply-to": "queues"})
    ids, unconfirmed = submit(fleet, *(f"s{number}" for number in range(30)))
    assert 20 <= unconfirmed <= 25
    assert fleet.engine.store.counts().status == {"queued": 30 - unconfirmed, "pending": unconfirmed}
    store = fleet.engine.store
    way = fates.way(store, store.now_ms(), "", fleet.engine.broker.health())
    assert (way.kind, way.why, way.unsent) == ("rejects", LANE, unconfirmed)
    fleet.worker()
    publish_until_ended(fleet, ids)
    assert {(task.status, task.attempt) for task in map(fleet.task, ids)} == {("succeeded", 1)}
    eventually(lambda: quiet(fleet), 30)


def test_the_exchange_of_dead_letters_is_deleted(fleet: Fleet) -> None:
    """What fails for good is acknowledged only when its copy is safe."""
    with channel(fleet.settings.broker.url) as raw:
        raw.exchange_delete("rpa_dlx_exchange")
    task_id = fleet.create(fail="missing_secret")
    fleet.worker()
    fleet.wait(task_id, "dead")
    reconciler = fleet.reconciler()
    eventually(lambda: reconciler.republish_outbox() == 0 and quiet(fleet), 30)
    with channel(fleet.settings.broker.url) as raw:
        method, properties, _ = raw.basic_get("rpa_dead_queue", auto_ack=True)
        assert method is not None, "declared again, bound again, and the copy is in it"
        assert properties.message_id == task_id


def test_a_dead_letter_queue_that_throws_letters_away_is_refused(fleet: Fleet) -> None:
    """A quorum queue with a delivery limit loses what is returned too often: the program does not start with it."""
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_delete("rpa_dead_queue")
        raw.queue_declare("rpa_dead_queue", durable=True, arguments={"x-queue-type": "quorum", "x-delivery-limit": 20})
    with pytest.raises(TopologyMismatch, match="rpa_dead_queue"):
        fleet.open()


@pytest.mark.harsh
def test_a_task_that_runs_longer_than_the_broker_waits_for_acknowledgements(
    fleet: Fleet, rabbitmq: RabbitMQ, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its message comes back while it runs: it is no second run, and the log names the setting."""
    seen = tmp_path / "seen.txt"
    with short_patience(rabbitmq):
        task_id = fleet.create(kind="once", seen=str(seen), sleep=6.0)
        fleet.worker(2)
        fleet.worker(2)
        task = fleet.wait(task_id, "succeeded")
        assert "consumer_timeout" in caplog.text
    assert (task.attempt, task.losses) == (1, ())
    assert len(lines(seen, "start")) == 1
    eventually(lambda: quiet(fleet), 60)


@pytest.mark.harsh
@pytest.mark.timeout(300)
def test_a_broker_that_is_away_for_long(fleet: Fleet, rabbitmq: RabbitMQ, cli: Cli, tmp_path: Path) -> None:
    """What runs ends and is recorded; nobody turns in circles meanwhile; what was submitted then runs afterwards."""
    gate = tmp_path / "gate"
    running = [fleet.create(f"s{number}", until=str(gate)) for number in range(2)]
    with cli.start("worker", "--slots", "2", "--handlers", HANDLERS) as process:
        for task_id in running:
            fleet.wait(task_id, "running", seconds=90)
        worker = psutil.Process(process.pid)
        rabbitmq.stop()
        try:
            gate.touch()
            assert {task.status for task in fleet.wait_ended(running)} == {"succeeded"}
            late, unconfirmed = submit(fleet, "s7", "s8")
            assert unconfirmed == 2
            spent = sum(worker.cpu_times()[:2])
            with pytest.raises(AssertionError):
                eventually(lambda: False, 20)
            assert sum(worker.cpu_times()[:2]) - spent < 4.0, "of twenty seconds"
        finally:
            rabbitmq.start()
        assert {task.status for task in fleet.wait_ended(late, 90)} == {"succeeded"}
        eventually(lambda: quiet(fleet), 60)


@pytest.mark.harsh
@pytest.mark.timeout(300)
def test_a_restart_with_ten_thousand_in_the_queue(fleet: Fleet, rabbitmq: RabbitMQ) -> None:
    ids, unconfirmed = submit(fleet, *(f"s{number}" for number in range(10_000)))
    assert unconfirmed == 0
    worker = fleet.worker(4)
    eventually(lambda: fleet.engine.store.counts().status.get("succeeded", 0) > 100, 30)
    rabbitmq.stop()
    rabbitmq.start()
    assert {(task.status, task.attempt) for task in fleet.wait_ended(ids, 200)} == {("succeeded", 1)}
    assert worker.state == "running"
    eventually(lambda: quiet(fleet), 30)


def test_a_program_that_starts_while_the_broker_is_down_says_so(fleet: Fleet) -> None:
    broker = fleet.settings.broker
    wrong = type(broker)(url=broker.url.replace(f":{_port(broker.url)}/", ":1/"))
    with pytest.raises(ConsoleError, match="start RabbitMQ"):
        fleet.open(broker=wrong)


def _port(url: str) -> str:
    return url.rpartition(":")[2].partition("/")[0]
