"""A cluster of three nodes of which one is killed: who is there goes on, who comes gets in, what waits is not lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.broker.rabbitmq.broker import RabbitBroker
from services.clock import SystemClock
from services.domain.errors import TopologyMismatch
from services.domain.task.order import Order
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import HANDLERS, lines
from tests.integration.rabbitmq_rig import collect, names, raw
from tests.support.rabbit_cluster import Node, RabbitCluster
from tests.support.services import ServiceUnavailable

pytestmark = [pytest.mark.fault, pytest.mark.harsh, pytest.mark.timeout(400)]
CLASSIC = {"x-queue-type": "classic"}


@pytest.fixture(scope="module")
def nodes() -> Iterator[RabbitCluster]:
    try:
        cluster = RabbitCluster()
    except ServiceUnavailable as error:
        pytest.skip(str(error))
    try:
        yield cluster.start()
    finally:
        cluster.close()


@pytest.fixture
def cluster(nodes: RabbitCluster) -> RabbitCluster:
    """All of its nodes are there."""
    return nodes.start()


def cli(cluster: RabbitCluster, url: str, redis: str, home: Path) -> Cli:
    configure(home)
    words = ("--broker", url, "--redis", redis)
    return Cli(home, words, {"FLEETDECK_BROKER__PROFILE": "cluster"})


def at(node: Node, url: str) -> str:
    """The address of this node alone."""
    return node.amqp_url_of(url.rsplit("/", 1)[1])


@pytest.mark.redis
def test_every_node_may_go_and_new_commands_and_workers_get_in(
    cluster: RabbitCluster, redis_url: str, tmp_path: Path
) -> None:
    url = cluster.new_vhost()
    fleet = cli(cluster, url, redis_url, tmp_path / "home")
    seen = tmp_path / "seen.txt"
    for turn, node in enumerate(cluster.nodes):
        with cluster.without(node):
            rows = [{"seen": str(seen), "n": 1}, {"seen": str(seen), "fail": "network", "fail_first": 1}]
            made = []
            for number, payload in enumerate([*rows, {"fail": "missing_secret"}]):
                words = ("--shop", f"s{turn}{number}", "--platform", "pdd", "--type", "work")
                made += fleet.run("task", "create", *words, "--payload", json.dumps(payload))["created"]
            fleet.run("worker", "--drain", "--slots", 2, "--handlers", HANDLERS)
            records = [fleet.run("task", "show", name)["task"] for name in made]
            assert [(one["status"], one["attempt"]) for one in records] == [
                ("succeeded", 1), ("succeeded", 2), ("dead", 1)
            ]  # fmt: skip
            found = fleet.run("doctor")["findings"]
            assert not [one for one in found if one["level"] == "error" and one["check"] == "broker"]
    assert len(lines(seen, "start")) == 9


def test_a_queue_on_the_lost_node_is_named_and_the_others_serve(cluster: RabbitCluster) -> None:
    """Declared by another program, or before Fleetdeck replicated its queues."""
    url = cluster.new_vhost()
    lost = cluster.nodes[0]
    with raw(at(lost, url)) as channel:
        channel.queue_declare("rpa_dead_queue", durable=True, arguments=CLASSIC)
        waits = {"x-message-ttl": 30_000, "x-dead-letter-exchange": "rpa_task_exchange"}
        channel.queue_declare("rpa_delay_30s", durable=True, arguments=CLASSIC | waits)
        channel.queue_declare("rpa_tasks_low", durable=True, arguments=CLASSIC)
    with cluster.without(lost):
        broker = RabbitBroker(url, SystemClock(), profile="cluster")
        try:
            try:
                broker.ensure(["pdd"], [30])
            except TopologyMismatch as exc:  # RabbitMQ 4 compares them also while their node is away
                if not broker.health().version.startswith("4.") or "rpa_tasks_low exists with other" not in str(exc):
                    raise
                return
            seen = broker.inspect([30])
            away = {"rpa_dead_queue", "rpa_delay_30s", "rpa_tasks_low"}
            assert {name for name, _ in seen.unreachable} == away
            assert all("down" in why for _, why in seen.unreachable)
            assert not seen.missing
            consumer = broker.consumer(["high", "normal", "low"], window=8, name="w")
            order = Order(kind="work", routing_key="task.pdd.high", body=b"{}", message_id="m", platform="pdd")
            assert broker.publish([order])[0].ok
            assert names(collect(consumer, 1)) == ["m"]
            eventually(lambda: "rpa_tasks_low" in broker.health().error)
            lost.start()
            with raw(at(lost, url)) as channel:
                channel.basic_publish("", "rpa_tasks_low", b"{}")
            assert len(collect(consumer, 1, 60)) == 1
            # it was made by another program, and nobody could compare it while it was out of reach
            eventually(lambda: "rpa_tasks_low exists with other arguments" in broker.health().error)
            wait = Order(kind="delay", routing_key="task.pdd.high", body=b"{}", message_id="d", delay_s=30)
            assert broker.publish([wait])[0].ok
            assert {"rpa_delay_30s", "rpa_dead_queue"} <= {one.name for one in broker.depths()}
        finally:
            broker.close()


#: what is begun at a terminal, in this order: {task}, {dead} and {name} are a task, a dead letter and a fresh name
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("doctor",),
    ("task", "list", "--limit", "5"),
    ("task", "show", "{task}"),
    ("task", "create", "--platform", "pdd", "--shop", "{name}", "--type", "work", "--payload", "{}"),
    ("task", "prioritize", "{task}", "--priority", "9"),
    ("task", "cancel", "{task}"),
    ("task", "create-again", "{task}"),
    ("dead", "list"),
    ("dead", "republish", "{dead}"),
    ("shop", "pause", "pdd:{name}"),
    ("shop", "resume", "pdd:{name}"),
    ("shop", "dedicate", "pdd:{name}"),
    ("queue", "list"),
    ("queue", "pause", "type:work", "--yes"),
    ("queue", "resume", "type:work", "--yes"),
    ("stats",),
    ("worker", "list"),
    ("worker", "--drain", "--slots", "2", "--handlers", HANDLERS),
    ("repair",),
    ("audit", "list"),
)


@pytest.mark.redis
@pytest.mark.timeout(1800)
def test_every_command_works_while_a_node_is_away(cluster: RabbitCluster, redis_url: str, tmp_path: Path) -> None:
    """The node that leads the queue to which most is sent, then each of them; begun as soon as it is gone."""
    url = cluster.new_vhost()
    fleet = cli(cluster, url, redis_url, tmp_path / "home")
    create = ("task", "create", "--platform", "pdd", "--type", "work")
    in_vain: list[str] = []
    for turn in range(4):
        (dead,) = fleet.run(*create, "--shop", f"d{turn}", "--payload", '{"fail": "missing_secret"}')["created"]
        fleet.run("worker", "--drain", "--handlers", HANDLERS)
        (task,) = fleet.run(*create, "--shop", f"t{turn}", "--payload", "{}")["created"]
        words = {"{task}": task, "{dead}": dead, "{name}": f"new{turn}"}
        with cluster.without(cluster.nodes[turn - 1] if turn else _leader(cluster, url)):
            for command in COMMANDS:
                in_vain += _tried(fleet, [_filled(word, words) for word in command], turn)
    assert not in_vain


def _tried(fleet: Cli, words: list[str], turn: int) -> list[str]:
    """What was wrong; raises where a command does not end in the time of any test of the command line."""
    done = fleet.call(*words, "--json")
    if done.returncode > (words[0] == "doctor"):  # whose 1 says that it has found something
        return [f"{turn} {' '.join(words[:2])}: {done.returncode}: {(done.stderr or done.stdout)[-500:]}"]
    found = json.loads(done.stdout)["findings"] if words[0] == "doctor" else []
    return [f"{turn} {one}" for one in found if one["level"] == "error" and one["check"] == "broker"]


def _filled(word: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        word = word.replace(name, value)
    return word


def _leader(cluster: RabbitCluster, url: str) -> Node:
    path = f"/api/queues/{url.rsplit('/', 1)[1]}/rpa_tasks_normal"

    def leader() -> str:
        try:
            return str(cluster.nodes[1].api("GET", path).get("leader", ""))
        except OSError:  # whose numbers of a node that has just come back are not there yet
            return ""

    name = eventually(leader, 200)
    return next(node for node in cluster.nodes if node.node_name == name)


def test_a_connection_goes_on_with_another_node(cluster: RabbitCluster) -> None:
    url = cluster.new_vhost()
    broker = RabbitBroker(url, SystemClock(), profile="cluster")
    try:
        broker.ensure(["pdd"])
        consumer = broker.consumer(["high"], window=8, name="w")
        for turn, node in enumerate([*cluster.nodes, *cluster.nodes]):
            with cluster.without(node):
                order = Order(kind="work", routing_key="task.pdd.high", body=b"{}", message_id=f"m{turn}")

                def sent(order: Order = order) -> bool:
                    return broker.publish([order])[0].ok

                eventually(sent, 30)
                found = eventually(lambda: consumer.take(8, 0.5), 60)
                assert f"m{turn}" in names(found)
                consumer.ack(found)
            eventually(lambda: broker.health().connected, 30)
    finally:
        broker.close()
