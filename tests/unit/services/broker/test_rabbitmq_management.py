"""The management API answers, lies, breaks off or is not there; nobody is hurt."""

from __future__ import annotations

import base64
import json
import socket
import threading
import weakref
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from services.broker.rabbitmq import management as rabbitmq_management
from services.broker.rabbitmq.management import Management, _Place
from services.broker.rabbitmq.url import parse
from services.clock import ManualClock
from services.domain.errors import UsageError

ROWS = [
    {"name": "rpa_tasks_high", "messages_ready": 5, "messages_unacknowledged": 2},
    {"name": "stream without numbers", "totals": None},
    {"name": 7, "messages_ready": "many"},
    "nonsense",
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server: Any = self.server
        server.asked.append((self.path, self.headers["Authorization"]))
        server.places.add(self.client_address)
        status, body, headers = server.answers.get(self.path.split("/")[2], server.answer)
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        half = len(body) // 2
        self.wfile.write(body[:half])
        server.between()
        self.wfile.write(body[half:])

    def log_message(self, *_: object) -> None:
        return


class Api:
    def __init__(self) -> None:
        self.server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False
        self.server.asked, self.server.places = [], set()
        self.server.answers = {}  # by what is asked for, where that is not ``answer``
        self.server.between = lambda: None  # called in the middle of a body
        self.say(ROWS)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.clock = ManualClock()
        self.clock.advance(1000)
        self.opened: list[Management] = []

    def say(self, document: object, status: int = 200, of: str = "", **headers: str) -> None:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        if of:
            self.server.answers[of] = (status, body, headers)
        else:
            self.server.answer = (status, body, headers)

    def open(self, url: str = "", amqp: str = "amqp://ann:p%2Fw@127.0.0.1/a%2Fb") -> Management:
        url = url or f"http://127.0.0.1:{self.server.server_port}"
        self.opened.append(Management(parse(amqp), url, self.clock))
        return self.opened[-1]

    def close(self) -> None:
        for management in self.opened:
            management.close()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


NODES = [
    {"name": "rabbit@a", "running": True, "mem_alarm": True, "disk_free_alarm": False},
    {"name": "rabbit@b", "running": False},
    "nonsense",
]


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    yield made
    made.close()


def test_totals_are_asked_cheaply_over_one_kept_connection(api: Api) -> None:
    management = api.open()
    for _ in range(3):
        assert management.totals() == {"rpa_tasks_high": (5, 2)}
    path, login = api.server.asked[0]
    assert path.startswith("/api/queues/a%2Fb?disable_stats=true&enable_queue_totals=true&columns=name")
    assert base64.b64decode(login.removeprefix("Basic ")) == b"ann:p/w"
    assert len(api.server.places) == 1


def test_the_url_may_name_another_user_and_a_path(api: Api) -> None:
    management = api.open(f"http://viewer:s%40e@127.0.0.1:{api.server.server_port}/rabbit/")
    assert management.totals() is not None
    path, login = api.server.asked[0]
    assert path.startswith("/rabbit/api/queues/")
    assert base64.b64decode(login.removeprefix("Basic ")) == b"viewer:s@e"


def test_arguments_of_a_queue(api: Api) -> None:
    api.say({"arguments": {"x-max-priority": 3}})
    assert api.open().arguments("odd/name") == {"x-max-priority": 3}
    assert "/api/queues/a%2Fb/odd%2Fname" in api.server.asked[0][0]


@pytest.mark.parametrize(
    ("document", "status", "why"),
    [
        (b"<html>welcome</html>", 200, "no JSON"),
        (b'[{"name": "rpa_ta', 200, "no JSON"),
        (b"[" * 100_000, 200, "no JSON"),
        (b"\xff\xfe\x00", 200, "no JSON"),
        ([], 500, "the answer is 500"),
        ([], 401, "the answer is 401"),
        ([], 302, "the answer is 302"),
        (b" " * 3000, 200, "longer than"),
    ],
)
def test_a_bad_answer_is_no_answer_and_not_asked_again_at_once(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    document: object,
    status: int,
    why: str,
) -> None:
    if why == "longer than":
        monkeypatch.setattr(rabbitmq_management, "LIMIT", 2000)
    api.say(document, status)
    management = api.open()
    with caplog.at_level("INFO"):
        assert management.totals() is None
    assert why in caplog.text
    api.say(ROWS)
    assert management.totals() is None
    assert len(api.server.asked) == 1
    api.clock.advance(rabbitmq_management.QUIET + 1)
    assert management.totals() is not None


@pytest.mark.parametrize("document", [{"error": "not_found"}, "text", 7, None])
def test_json_of_another_shape_is_no_answer(api: Api, document: object) -> None:
    api.say(document)
    assert api.open().totals() is None
    assert api.open().arguments("q") is None


@pytest.mark.parametrize(
    ("document", "status", "told", "remedy"),
    [
        ([], 500, "fails (it answers 500 Internal Server Error)", "look into the log"),
        ([], 502, "answers 502 Bad Gateway: the proxy there does not reach RabbitMQ", "RabbitMQ's own address"),
        ([], 503, "answers 503 Service Unavailable: the proxy", "RabbitMQ's own address"),
        ([], 504, "answers 504 Gateway Timeout: the proxy", "RabbitMQ's own address"),
        (
            [],
            404,
            "no management interface of RabbitMQ (it answers 404 Not Found)",
            "correct the management address",
        ),
        ([], 799, "it answers 799)", "look into the log"),
        (b"<html>welcome</html>", 200, "(it answers text/html)", "correct the management address"),
        ({"error": "x"}, 200, "(it answers application/json)", "correct the management address"),
    ],
)
def test_what_was_answered_instead_is_told_with_what_to_do(
    api: Api, document: object, status: int, told: str, remedy: str
) -> None:
    api.say(document, status, **{"Content-Type": "text/html; charset=utf-8"})
    management = api.open()
    assert management.totals() is None
    assert told in management.problem()
    assert remedy in management.problem()
    assert "this user" not in management.problem()


def test_an_answer_that_is_too_long_is_told_as_that(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rabbitmq_management, "LIMIT", 2000)
    api.say(b" " * 3000)
    management = api.open()
    assert management.totals() is None
    assert "breaks off, or is longer" in management.problem()


def test_a_server_that_hangs_up_between_two_questions_is_dialled_again(api: Api) -> None:
    management = api.open()
    api.say(ROWS, Connection="close")
    for _ in range(3):
        assert management.totals() is not None
    assert len(api.server.places) == 3


def test_a_body_that_breaks_off_is_no_answer(api: Api) -> None:
    api.say(b"[]", 200, **{"Content-Length": "50", "Connection": "close"})
    assert api.open().totals() is None


def test_a_body_that_is_handed_out_too_slowly_is_no_answer(api: Api) -> None:
    management = api.open()
    api.server.between = lambda: api.clock.advance(rabbitmq_management.PATIENCE + 1)
    assert management.totals() is None
    assert "takes longer than 10 s" in management.problem()
    api.clock.advance(rabbitmq_management.QUIET + 1)
    api.server.between = lambda: api.clock.advance(rabbitmq_management.PATIENCE - 1)
    assert management.totals() is not None


@pytest.mark.parametrize(
    "odd", [3, None, {"name": "rpa_tasks_high"}, {"source": 1, "routing_key": "", "destination": ""}]
)
def test_a_list_of_something_else_is_no_list_of_bindings(api: Api, odd: object) -> None:
    bound = {"source": "rpa_dlx_exchange", "routing_key": "dead", "destination": "rpa_dead_queue"}
    api.say([bound])
    assert api.open().bindings() == {("rpa_dlx_exchange", "dead", "rpa_dead_queue")}
    api.say([bound, odd])
    assert api.open().bindings() is None


EXCHANGES = [{"name": "rpa_task_exchange", "policy": "ops"}, {"name": "amq.topic", "policy": "theirs"}, "nonsense"]
POLICIES = [
    {"name": "ops", "definition": {"alternate-exchange": "astray"}},
    {"name": "theirs", "definition": {"alternate-exchange": "x"}},
]


def test_alternate_exchanges_are_told_by_their_policies(api: Api) -> None:
    api.say(EXCHANGES, of="exchanges")
    api.say(POLICIES, of="policies")
    assert api.open().alternates(["rpa_task_exchange", "rpa_own_exchange"]) == {"rpa_task_exchange": "ops"}
    api.say([{"name": "ops", "definition": {"ha-mode": "all"}}, 7, {"name": "odd", "definition": []}], of="policies")
    assert api.open().alternates(["rpa_task_exchange"]) == {}


@pytest.mark.parametrize(("of", "asked"), [("exchanges", 1), ("policies", 2)])
def test_what_this_user_may_not_ask_tells_of_no_alternate_exchange(api: Api, of: str, asked: int) -> None:
    api.say(EXCHANGES, of="exchanges")
    api.say(POLICIES, of="policies")
    api.say([], 401, of=of)
    assert api.open().alternates(["rpa_task_exchange"]) == {}
    assert len(api.server.asked) == asked


def test_policies_are_asked_for_only_where_an_exchange_has_one(api: Api) -> None:
    api.say([{"name": "rpa_task_exchange"}, {"name": "rpa_own_exchange", "policy": ""}], of="exchanges")
    assert api.open().alternates(["rpa_task_exchange", "rpa_own_exchange"]) == {}
    assert len(api.server.asked) == 1


def test_nobody_there_is_no_error(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    management = api.open("http://127.0.0.1:9")
    with caplog.at_level("INFO"):
        assert management.totals() is None
    assert "refused" in caplog.text


def test_of_several_nodes_the_log_names_the_one_that_failed(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    api.say({}, 500)
    here = f"http://127.0.0.1:{api.server.server_port}"
    with caplog.at_level("INFO"):
        assert api.open(f"{here},127.0.0.1:9").totals() is None
    assert f"at 127.0.0.1:{api.server.server_port} tells nothing" in caplog.text


def test_where_one_node_speaks_no_http_another_is_asked(api: Api) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def babble() -> None:
            there, _ = other.accept()
            with there:
                there.recv(65536)
                there.sendall(b"AMQP\x00\x00\x09\x01\r\n\r\n")

        thread = threading.Thread(target=babble)
        thread.start()
        management = api.open(f"http://127.0.0.1:{other.getsockname()[1]},127.0.0.1:{api.server.server_port}")
        assert management.totals() == {"rpa_tasks_high": (5, 2)}
        thread.join()


@pytest.mark.parametrize(("url", "port"), [("http://127.0.0.1", 80), ("https://127.0.0.1", 443)])
def test_an_address_without_a_port_means_the_one_of_its_protocol(
    api: Api, caplog: pytest.LogCaptureFixture, url: str, port: int
) -> None:
    with caplog.at_level("INFO"):
        assert api.open(url).totals() is None
    assert f"at 127.0.0.1:{port} tells nothing" in caplog.text


def test_of_a_queue_whose_copies_are_not_told_only_a_classic_one_has_one(api: Api) -> None:
    api.say([{"name": "a", "type": "classic"}, {"name": "b", "type": "quorum"}, {"name": "c", "members": ["x", "y"]}])
    assert {one.name: one.copies for one in api.open().queues()} == {"a": 1, "b": 0, "c": 2}


@pytest.mark.parametrize("url", ["ftp://h", "h:15672", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="management address"):
        Management(parse("amqp://h"), url, ManualClock())


def test_beside_a_tls_broker_the_api_is_asked_with_tls() -> None:
    management = Management(parse("amqps://rabbit.example"), "", ManualClock())
    assert management._places == [_Place("rabbit.example", 15671, "", True)]


def test_an_answer_that_breaks_off_leaves_nothing_open(api: Api) -> None:
    api.say(b"[", **{"Content-Length": "99", "Connection": "close"})
    asked = Management(parse("amqp://localhost"), f"http://127.0.0.1:{api.server.server_port}", api.clock)
    assert asked.totals() is None
    asked.close()
    left = weakref.ref(asked)
    del asked
    assert left() is None, "and with it a connection"


def test_nodes_tell_whether_they_run_and_what_they_have_an_alarm_for(api: Api) -> None:
    api.say(NODES)
    management = api.open()
    nodes = management.nodes()
    assert nodes is not None
    assert [(one.name, one.up, one.alarms) for one in nodes] == [
        ("rabbit@a", True, ("memory",)),
        ("rabbit@b", False, ()),
    ]
    assert rabbitmq_management.alarms_of(nodes) == ["rabbit@a: memory"]
    api.say({}, 401)
    assert management.nodes() is None


def test_what_one_may_not_ask_is_logged_once(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    """The queues are told between two refusals, which is no news of the nodes."""
    management = api.open()
    with caplog.at_level("INFO"):
        for _ in range(3):
            api.say({}, 401)
            assert management.nodes() is None
            api.say(ROWS)
            assert management.totals() is not None
            api.clock.advance(rabbitmq_management.QUIET + 1)
        api.say({}, 401)
        assert management.totals() is None
    told = [record.getMessage().partition(" tells ")[2] for record in caplog.records]
    assert [words.partition(":")[0] for words in told] == ["nothing of nodes", "nothing of queues"]


def test_what_one_may_not_ask_keeps_nobody_from_asking_the_rest(api: Api) -> None:
    """An account with the tag management alone is told of queues, and of no node."""
    management = api.open()
    api.say({"error": "not_authorized"}, 401)
    assert management.nodes() is None
    api.say(ROWS)
    assert management.totals() == {"rpa_tasks_high": (5, 2)}
    asked = len(api.server.asked)
    assert management.nodes() is None
    assert len(api.server.asked) == asked, "asked again only later"
    assert "monitoring" in management.problem()
