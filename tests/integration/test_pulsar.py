"""Pulsar and Redis as a pair: the engine within what that broker can, and other programs beside it."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.broker.pulsar import link
from services.broker.pulsar.broker import PulsarBroker
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable, UsageError
from services.domain.fleet.shop import Shop
from services.domain.task.order import Order
from services.engine.producer import TaskSpec
from services.messages import english
from tests.contract.posts import collect
from tests.contract.waiting import eventually
from tests.integration import fleet_rig
from tests.integration.fleet_rig import Fleet, lines


@pytest.fixture
def fleet(pulsar_url: str, redis_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """An empty fleet on Pulsar and Redis."""
    settings = fleet_rig.settings_for("pulsar", tmp_path, amqp=pulsar_url, redis=redis_url)
    with fleet_rig.opened("pulsar", settings, tmp_path) as opened:
        yield opened


def test_what_it_cannot_is_done_from_the_store(fleet: Fleet, seen: Path) -> None:
    """Delays and depths by the records; a retry, a dead letter and a plan end as on every other broker."""
    assert not fleet.engine.broker.capabilities.delay
    fleet.steward()
    waiting = fleet.create("s0", seen=str(seen))
    assert eventually(lambda: fleet.ready("rpa_tasks_normal")) == 1
    fleet.worker()
    again = fleet.create("s1", seen=str(seen), fail="network", fail_first=1)
    dead = fleet.create("s2", fail="login_expired", seen=str(seen))
    bad = fleet.create("s3", fail="bad_payload", seen=str(seen))
    plan = fleet.create("s4", delay_s=1.0, seen=str(seen))
    done = fleet.wait_ended([waiting, again, bad, plan])
    assert [one.status for one in done] == ["succeeded", "succeeded", "dead", "succeeded"]
    assert (done[1].attempt, done[1].retries) == (2, 1)
    assert fleet.wait(dead, "dead", "blocked", "retrying").status != "succeeded"
    eventually(lambda: fleet.engine.store.get_letter(bad) is not None)
    assert fleet.ready("rpa_tasks_normal") == 0


def test_two_engines_share_one_pulsar_and_a_shop_has_its_own_queue(fleet: Fleet, seen: Path) -> None:
    far = fleet.open()
    fleet.worker(2)
    fleet.worker(2, engine=far)
    fleet.shop("own")
    fleet.commands().fleet.dedicate("pdd:own")
    payload = {"seen": str(seen)}
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{n}" if n % 10 else "own", task_type="work", payload=payload | {"n": n})
        for n in range(60)
    ]
    half = len(specs) // 2
    ids = [task.task_id for task in fleet.submit(*specs[:half]).created]
    ids += [task.task_id for task in far.producer.submit(specs[half:]).created]
    assert {one.status for one in fleet.wait_ended(ids)} == {"succeeded"}
    assert len(lines(seen, "end")) == len(ids) == 60
    assert len({task.worker for task in map(fleet.task, ids)}) == 2
    assert {task.queue for task in map(fleet.task, ids)} == {"", "own"}


def test_a_program_that_knows_only_the_page_feeds_the_fleet_and_hears_results(fleet: Fleet) -> None:
    broker = fleet.settings.broker.url
    address, _, space = broker.removeprefix("pulsar://").partition("/")
    pulsar = importlib.import_module("pulsar")
    client = pulsar.Client(f"pulsar://{address}", logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null"))
    try:
        results = client.subscribe(f"persistent://{space}/rpa_results", "theirs")
        fleet.steward()
        fleet.worker()
        body = {"task_id": "theirs-1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "payload": {}}
        theirs = client.create_producer(f"persistent://{space}/rpa_tasks_high")
        theirs.send(json.dumps(body).encode())
        theirs.send(b"no task")
        eventually(lambda: fleet.engine.store.get(["theirs-1"])[0])
        fleet.wait("theirs-1", "succeeded")
        assert fleet.task("theirs-1").lane == "high"
        told = [json.loads(results.receive(30_000).data()) for _ in range(2)]
        assert {one["task_id"]: one["status"] for one in told}.get("theirs-1") == "succeeded"
        eventually(lambda: fleet.engine.store.counts().status.get("dead") == 1)
    finally:
        client.close()


def test_a_batch_of_another_program_comes_whole(pulsar_url: str) -> None:
    """Their clients batch unless told otherwise; each message of a batch is settled by itself."""
    broker = PulsarBroker(pulsar_url, SystemClock())
    broker.ensure()
    address, _, space = pulsar_url.removeprefix("pulsar://").partition("/")
    pulsar = importlib.import_module("pulsar")
    client = pulsar.Client(f"pulsar://{address}", logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null"))
    try:
        theirs = client.create_producer(
            f"persistent://{space}/rpa_tasks_low", batching_enabled=True, batching_max_publish_delay_ms=50
        )
        for number in range(20):
            theirs.send_async(b"%d" % number, lambda _result, _message: None)
        theirs.flush()
        consumer = broker.consumer(["low"], window=3, name="c")
        found = collect(consumer, 20, settle=True)
        assert sorted(int(one.body) for one in found) == list(range(20))
        assert found[0].routing_key == "task.any.low"
        consumer.close()
    finally:
        client.close()
        broker.close()


def test_the_admin_api_counts_where_there_is_one(pulsar_url: str) -> None:
    """In the form that Pulsar's own pages give; no Pulsar with an admin API was there to try it on."""
    stats = {"subscriptions": {"fleetdeck": {"msgBacklog": 7, "unackedMessages": 2, "consumers": [{}, {}, {}]}}}

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            there = self.path.endswith("/rpa_tasks_high/stats")
            self.send_response(200 if there else 404)
            self.end_headers()
            self.wfile.write(json.dumps(stats).encode() if there else b"")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    broker = PulsarBroker(pulsar_url, SystemClock(), management_url=f"http://127.0.0.1:{server.server_port}")
    try:
        assert broker.capabilities.depth
        found = {one.name: (one.ready, one.unacked, one.consumers) for one in broker.depths()}
        assert found["rpa_tasks_high"] == (5, 2, 3)
        assert found["rpa_tasks_low"] == (0, 0, 0)
        codes = [one.message.code for one in broker.findings(("work", 60))]
        assert codes == ["doctor.pulsar_order"]
        server.shutdown()
        server.server_close()
        assert {one.unacked for one in broker.depths()} == {None}
        wrong = broker.findings(("work", 60))[-1]
        assert wrong.message.code == "doctor.pulsar_admin"
        assert wrong.remedy is not None
        assert "management_url" in english(wrong.remedy)
    finally:
        broker.close()


@pytest.mark.usefixtures("pulsar_server")  # which is there where the client is
def test_a_broker_that_is_not_there_and_a_client_that_is_not_installed_are_sentences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link, "ASK_S", 1)
    broker = PulsarBroker("pulsar://127.0.0.1:9", SystemClock())
    with pytest.raises(BrokerUnavailable, match=r"127\.0\.0\.1:9 does not answer"):
        broker.ensure()
    assert not broker.health().connected
    order = Order(kind="work", routing_key="task.pdd.high", body=b"{}", message_id="x")
    assert [one.error for one in broker.publish([order])] == ["disconnected"]
    broker.close()
    monkeypatch.setitem(sys.modules, "pulsar", None)
    with pytest.raises(UsageError, match=r"pip install .fleetdeck\[pulsar\]"):
        PulsarBroker("pulsar://127.0.0.1:9", SystemClock())


def test_shops_of_the_store_are_counted(fleet: Fleet) -> None:
    fleet.engine.store.put_shops([Shop(platform="pdd", shop_id="own")])
    fleet.commands().fleet.dedicate("pdd:own")
    fleet.create("own")
    assert eventually(lambda: fleet.ready("single_shop_own")) == 1
