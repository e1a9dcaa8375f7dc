"""Names and arguments are a contract with other programs."""

from __future__ import annotations

import pytest

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.topology import Binding, Exchange, Queue
from tests.unit.services.broker.rabbitmq_fakes import FakeLink


def test_the_base_is_the_wire_contract() -> None:
    parts = topology.base()
    exchanges = {part.name: part.kind for part in parts if isinstance(part, Exchange)}
    assert exchanges == {"rpa_task_exchange": "topic", "rpa_dlx_exchange": "direct", "rpa_result_exchange": "topic"}
    queues = {part.name: dict(part.arguments) for part in parts if isinstance(part, Queue)}
    lane = {"x-queue-type": "classic", "x-max-priority": 10, "x-dead-letter-exchange": "rpa_dlx_exchange"}
    assert queues == {
        "rpa_tasks_high": lane,
        "rpa_tasks_normal": lane,
        "rpa_tasks_low": lane,
        "rpa_dead_queue": {"x-queue-type": "classic"},
    }
    assert Binding("rpa_tasks_low", "rpa_task_exchange", "task.*.low") in parts
    assert Binding("rpa_dead_queue", "rpa_dlx_exchange", "dead") in parts


def test_own_work_goes_past_the_notices() -> None:
    parts = topology.own_way()
    late, queue = [part for part in parts if isinstance(part, Queue)]
    assert (queue.name, queue.arguments["x-overflow"]) == ("rpa_notice_queue", "drop-head")
    assert (late.name, late.arguments["x-overflow"]) == ("rpa_notice_late", "drop-head")
    assert queue.arguments["x-dead-letter-exchange"] == late.name, "what expires with its message is not lost"
    assert "x-message-ttl" not in late.arguments, "it waits for whoever comes"
    bound = {(part.exchange, part.queue, part.key) for part in parts if isinstance(part, Binding)}
    lanes = ("high", "normal", "low")
    own = {("rpa_own_exchange", f"rpa_tasks_{lane}", f"task.*.{lane}") for lane in lanes}
    notices = {("rpa_task_exchange", "rpa_notice_queue", f"task.*.{lane}") for lane in lanes}
    assert bound == own | notices | {("rpa_notice_late", "rpa_notice_late", "")}


def test_a_delay_keeps_the_routing_key() -> None:
    exchange, queue, binding = topology.delay(120)
    assert exchange == Exchange("rpa_delay_120s", "fanout")
    assert isinstance(queue, Queue)
    assert queue.arguments["x-message-ttl"] == 120_000
    assert "x-dead-letter-routing-key" not in queue.arguments
    assert binding == Binding("rpa_delay_120s", "rpa_delay_120s", "")


def test_a_platform_has_a_way_to_the_dead_queue_from_every_lane() -> None:
    keys = {part.key for part in topology.platform("temu") if isinstance(part, Binding)}
    assert keys == {"task.temu.high", "task.temu.normal", "task.temu.low"}


@pytest.mark.parametrize(
    ("queue", "kind"),
    [
        ("rpa_tasks_high", "lane"),
        ("rpa_dead_queue", "dead"),
        ("rpa_delay_30s", "delay"),
        ("single_shop_s1", "shop"),
        ("rpa_node_desk", "other"),
        ("rpa_notice_queue", "notice"),
        ("rpa_notice_late", "late"),
        ("rpa_dead_log", ""),
        ("rpa_tasks_other", ""),
        ("somebody_elses", ""),
    ],
)
def test_a_queue_is_known_by_its_name(queue: str, kind: str) -> None:
    assert topology.kind_of(queue) == kind


def test_a_lane_has_a_queue_and_a_dedicated_queue_is_itself() -> None:
    assert topology.lane_queue("high") == "rpa_tasks_high"
    assert topology.lane_queue("single_shop_high") == "single_shop_high"


def test_parts_are_declared_in_order_each_followed_by_its_step() -> None:
    link = FakeLink()
    channel = link.channel(lambda _channel: None, lambda _reason: None)
    done: list[topology.Declarable] = []
    parts = topology.delay(1)
    topology.declare(channel, parts, done.append)
    assert [call[0] for call in channel.calls] == ["exchange", "queue", "bind"]
    channel.answer(1)
    assert done == list(parts[:1])
    channel.answer()
    assert done == list(parts)


def test_on_a_cluster_every_queue_is_replicated() -> None:
    parts = [
        *topology.base("cluster"),
        *topology.base("cluster", (4, 1)),
        *topology.delay(30, "cluster"),
        *topology.shop("pdd", "s1", "cluster"),
    ]
    queues = [part for part in parts if isinstance(part, Queue)]
    assert {queue.name for queue in queues} >= {"rpa_dead_queue", "rpa_tasks_low", "rpa_delay_30s", "single_shop_s1"}
    assert {queue.arguments["x-queue-type"] for queue in queues} == {"quorum"}
    (wait,) = [queue for queue in queues if queue.name == "rpa_delay_30s"]
    assert (wait.arguments["x-message-ttl"], wait.arguments["x-dead-letter-exchange"]) == (30_000, "rpa_task_exchange")
    assert "x-dead-letter-routing-key" not in wait.arguments


#: what RabbitMQ 4 takes for each type of queue, of what there is; lazy, mirrored and version 1 it refuses or ignores
TAKEN = {
    "classic": {"x-queue-type", "x-max-priority", "x-dead-letter-exchange", "x-message-ttl"},
    "quorum": {
        "x-queue-type", "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-dead-letter-strategy",
        "x-delivery-limit", "x-message-ttl", "x-overflow",
    },
    "stream": {"x-queue-type", "x-max-length-bytes"},
}  # fmt: skip


def declared(profile: str) -> list[Queue]:
    """Every queue that is ever declared, on RabbitMQ 4."""
    parts = [
        *topology.base(profile, (4, 0)),
        *topology.delay(30, profile),
        *topology.shop("pdd", "s1", profile),
        *topology.dead_log(["pdd"]),
    ]
    return [part for part in parts if isinstance(part, Queue)]


@pytest.mark.parametrize("profile", ["single", "cluster"])
def test_no_queue_is_declared_with_anything_that_rabbitmq_4_refuses(profile: str) -> None:
    queues = declared(profile)
    assert {queue.name for queue in queues} == {
        "rpa_dead_queue", "rpa_tasks_high", "rpa_tasks_normal", "rpa_tasks_low", "rpa_delay_30s", "single_shop_s1",
        "rpa_dead_log",
    }  # fmt: skip
    for queue in queues:
        for arguments in (queue.arguments, *queue.accepted):
            kind = arguments["x-queue-type"]  # said each time: the virtual host may have another default
            assert isinstance(kind, str)
            assert set(arguments) <= TAKEN[kind], queue.name


def test_what_a_quorum_queue_gives_up_after_its_returns_is_never_dropped() -> None:
    """RabbitMQ 4 gives a message up after twenty returns: it goes to the dead letters, or there is no limit."""
    consumed = [queue for queue in declared("cluster") if topology.kind_of(queue.name) in ("lane", "shop", "dead")]
    assert len(consumed) == 5
    for queue in consumed:
        unlimited = queue.arguments.get("x-delivery-limit") == -1
        assert unlimited or queue.arguments["x-dead-letter-exchange"] == "rpa_dlx_exchange", queue.name


def test_a_mismatch_names_both_sets() -> None:
    text = topology.mismatch(Queue("q", {"x-max-priority": 10}), "PRECONDITION_FAILED", {"x-max-priority": 3})
    assert "q exists with other arguments" in text
    assert "{'x-max-priority': 10}" in text
    assert "{'x-max-priority': 3}" in text
    assert "not readable" in topology.mismatch(Queue("q"), "x", None)
    assert "another type than topic" in topology.mismatch(Exchange("e", "topic"), "x", None)
    assert "cannot be bound" in topology.mismatch(Binding("q", "e", "k"), "x", None)
