"""How an order stands in a message of Pulsar, what its address says, what its admin API may answer; no broker is needed
for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from services.broker.pulsar import wire
from services.broker.pulsar.address import parse
from services.broker.pulsar.admin import Admin, Backlog
from services.broker.pulsar.consumer import PulsarConsumer
from services.clock import ManualClock
from services.domain.errors import UsageError
from services.domain.task.order import Order


class Message:
    """A message as the client hands it out."""

    def __init__(self, **properties: str) -> None:
        self._properties = properties

    def properties(self) -> dict[str, str]:
        return self._properties

    def data(self) -> bytes:
        return b"{}"

    def partition_key(self) -> str:
        return "t1"

    def redelivery_count(self) -> int:
        return 1


def order(kind: str, key: str, **headers: Any) -> Order:
    return Order(kind=kind, routing_key=key, body=b"{}", message_id="t1", priority=9, headers=headers)


@pytest.mark.parametrize(
    ("kind", "key", "queue"),
    [
        ("work", "task.pdd.high", "rpa_tasks_high"),
        ("delay", "task.pdd.low", "rpa_tasks_low"),
        ("work", "task.pdd.shop-1", "single_shop_shop-1"),
        ("work", "task.pdd", ""),
        ("work", "nonsense", ""),
        ("work", "task.pdd.a b", ""),
        ("dead", "dead", "rpa_dead_queue"),
        ("letter", "dead", "rpa_dead_queue"),
        ("result", "result.pdd.sync.dead", "rpa_results"),
    ],
)
def test_which_topic_an_order_goes_to(kind: str, key: str, queue: str) -> None:
    assert wire.queue_of(order(kind, key)) == queue


def test_what_stands_beside_a_body_comes_back_as_it_was() -> None:
    sent = order("work", "task.pdd.high", **{"x-rpa-gen": 3, "x-rpa-error": "404", "x-text": "12"})
    told = wire.properties(sent)
    assert all(isinstance(value, str) for value in told.values())
    got = wire.delivery("rpa_tasks_high", (1, 2, -1), Message(**told), 0.5)
    assert dict(got.headers) == {"x-rpa-gen": 3, "x-rpa-error": "404", "x-text": "12"}
    assert (got.routing_key, got.priority, got.message_id, got.redelivered) == ("task.pdd.high", 9, "t1", True)


@pytest.mark.parametrize(
    ("queue", "route"),
    [("rpa_tasks_low", "task.any.low"), ("single_shop_s1", "task.any.s1"), ("rpa_dead_queue", "dead"), ("theirs", "")],
)
def test_a_message_of_another_program_belongs_where_its_topic_says(queue: str, route: str) -> None:
    got = wire.delivery(queue, (1, 2, -1), Message(), 0.0)
    assert (got.routing_key, got.priority, dict(got.headers)) == (route, None, {})


@pytest.mark.parametrize("priority", ["high", "9" * 5_000])
def test_a_priority_that_is_none_keeps_no_message_back(priority: str) -> None:
    assert wire.delivery("theirs", (1, 2, -1), Message(**{wire.PRIORITY: priority}), 0.0).priority is None


def test_what_an_address_says() -> None:
    plain = parse("pulsar://h")
    assert (plain.service, plain.topic("q"), plain.delays) == (
        "pulsar://h:6650",
        "persistent://public/default/q",
        False,
    )
    full = parse("pulsar+ssl://:to%2Fken@a:1,[::1]/shops/fleet?delay=broker&cacertfile=/x.pem&ids=50")
    assert (full.service, full.token, full.cacertfile) == ("pulsar+ssl://a:1,[::1]:6651", "to/ken", "/x.pem")
    assert (full.topic("q"), full.delays, full.first_number) == ("persistent://shops/fleet/q", True, 50)
    assert "ken" not in repr(full)
    assert [name for name, file in full.files.items() if file] == ["cacertfile"]


class Handle:
    """A subscription."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Slow:
    """A link on which something happens while it subscribes."""

    up = True

    def __init__(self) -> None:
        self.handles: list[Handle] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def subscribe(self, queue: str, name: str, *, receive: int = 0) -> Handle:
        self.handles.append(Handle())
        self.meanwhile()
        return self.handles[-1]


@pytest.mark.parametrize("leave", [PulsarConsumer.close, lambda consumer: consumer.serve((), 1)])
def test_nobody_stays_subscribed_who_has_left_meanwhile(leave: Callable[[PulsarConsumer], None]) -> None:
    link: Any = Slow()
    consumer = PulsarConsumer(link, ManualClock(), (), window=1, name="w")
    link.meanwhile = lambda: leave(consumer)
    consumer.serve(("s1",), 1)
    assert [handle.closed for handle in link.handles] == [1]


class Api(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: Any = self.server
        server.asked.append((self.path, self.headers["Authorization"]))
        self.wfile.write(server.answer)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def api() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads, server.asked = False, []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


HELD = b'{"subscriptions": {"fleetdeck": {"msgBacklog": 5, "unackedMessages": 2, "consumers": [{}]}}}'


def test_the_admin_api_counts_for_whoever_its_address_names(api: Any) -> None:
    api.answer = b"HTTP/1.0 200 OK\r\n\r\n" + HELD
    for own, token in (("", "one"), (":t%2Fwo@", "t/wo")):
        admin = Admin(parse("pulsar://:one@h"), f"http://{own}127.0.0.1:{api.server_port}/x/", ManualClock())
        assert admin.backlog("rpa_tasks_high") == Backlog(3, 2, 1)
        assert api.asked.pop() == ("/x/admin/v2/persistent/public/default/rpa_tasks_high/stats", f"Bearer {token}")


@pytest.mark.parametrize(
    "answer",
    [
        b"what?\r\n\r\n",
        b"HTTP/1.0 500 No\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n<html>",
        b'HTTP/1.0 200 OK\r\n\r\n{"subscriptions": []}',
        b'HTTP/1.0 200 OK\r\n\r\n{"subscriptions": {"fleetdeck": {"msgBacklog": null}}}',
    ],
)
def test_an_admin_api_that_answers_something_else_hurts_nobody(api: Any, answer: bytes) -> None:
    api.answer = answer
    admin = Admin(parse("pulsar://h"), f"http://127.0.0.1:{api.server_port}", ManualClock())
    assert admin.backlog("q") is None
    assert admin.error


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "file:///etc/hostname", "http://:hunter2@h:many", "http://"])
def test_what_is_no_address_of_an_admin_api_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        Admin(parse("pulsar://h"), url, ManualClock())
    assert refused.value.field == "broker.management_url"
    assert "hunter2" not in str(refused.value)
