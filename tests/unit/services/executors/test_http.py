"""The http executor against a real server: what is sent, what an answer means, and what is never asked."""

from __future__ import annotations

import json
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from services.domain.task import classify
from services.executors.base import Outcome
from services.executors.http.executor import Answer, HttpExecutor, judged
from services.settings.http import HttpRequestSettings, HttpSettings
from tests.unit.services.executors.builders import Listener, eventually, job, start

NOW = 1_795_000_000_000


class Server(ThreadingHTTPServer):
    """Answers what the path says and remembers what it was asked."""

    daemon_threads = True
    seen: list[tuple[str, str, dict[str, str], str]]
    hold: threading.Event

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length).decode()
        self.server.seen.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        what, _, value = self.path.strip("/").partition("/")
        if what == "status":
            self.answer(int(value[:3]), urllib.parse.unquote(value[4:]).encode(), {"Retry-After": "90"})
        elif what == "to":
            self.answer(302, b"", {"Location": value if ":" in value else f"/{value}"})
        elif what == "big":
            self.answer(200, b"x" * int(value), {"Content-Type": "text/csv"})
        elif what == "echo":
            self.echo(value)
        elif what == "hold":
            self.server.hold.wait(30)
        elif what == "drop":
            self.close_connection = True
        elif what == "short":
            self.answer(200, b"half", {"Content-Length": "100"})
        else:
            self.answer(200, json.dumps({"path": self.path}).encode(), {"Content-Type": "application/json"})

    do_POST = do_DELETE = do_GET

    def echo(self, how: str) -> None:
        """Repeat what came as Authorization: in a page, an error, a header, a file of text or of anything."""
        how, _, charset = how.partition("/")
        said = self.headers["authorization"]
        kind = {"Content-Type": f"text/csv; charset={charset or 'utf-8'}"}
        if how == "location":
            self.answer(302, b"", {"Location": f"/ok/{urllib.parse.quote(said)}"})
        elif how == "header":
            self.answer(200, b"", {"ETag": said} | kind)
        elif how == "headers":
            self.answer(200, b"", {"ETag": "." * 495 + said} | kind)
        elif how == "late":  # where its text is cut, half of a secret would be left
            self.answer(422, b"." * 985 + said.encode(), kind)
        elif how == "file":
            self.answer(
                200,
                (f"{said},{urllib.parse.quote(said)},店铺\n" * 6000).encode(charset.replace("no-such", "") or "utf-8"),
                kind,
            )
        elif how == "escaped":
            words = "".join(f"\\u{ord(char):04x}" for char in said)
            self.answer(200, f'{{"said": "{words}"}}'.encode(), {"Content-Type": "application/json"})
        elif how == "bytes":
            self.answer(200, b"\xff\x00" + said.encode() + b"\x00", {"Content-Type": "application/pdf"})
        else:
            self.answer(int(how), said.encode(), kind)

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.seen, made.hold = [], threading.Event()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.hold.set()
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def server(running: Server) -> Server:
    running.seen.clear()
    return running


def executor(url: str = "", secrets: dict[str, str] | None = None, **fields: Any) -> HttpExecutor:
    request = {name: fields.pop(name) for name in ("method", "headers", "body", "expect") if name in fields}
    requests = {"notify": HttpRequestSettings(url=url, **request)} if url else {}
    settings = HttpSettings(**({"private_hosts": True, "requests": requests} | fields))
    return HttpExecutor(settings, secret=lambda p, s, name: (secrets or {}).get(name), now_ms=lambda: NOW)


def ask(made: HttpExecutor, listener: Listener | None = None, **fields: Any) -> Outcome:
    return made.run(job("notify", **fields), (listener or Listener()).context)


# --------------------------------------------------------------------------------------------------------- what is sent
def test_the_configured_request_with_its_values(server: Server) -> None:
    made = executor(
        server.url + "/shops/{{shop_id}}?since={{payload.since}}",
        {"erp": "s3cret-value"},
        method="POST",
        headers={"Authorization": "Bearer {{secret.erp}}"},
        body={"n": "{{payload.n}}", "text": "for {{platform}}", "list": ["{{payload.since}}"]},
    )
    listener = Listener()
    outcome = ask(made, listener, payload={"since": 'a b&c=/"', "n": [1, None]})
    assert outcome.ok
    assert json.loads(outcome.result)["json"]["path"] == "/shops/shop017?since=a%20b%26c%3D%2F%22"
    ((method, _, headers, body),) = server.seen
    assert (method, headers["authorization"], headers["content-type"]) == (
        "POST", "Bearer s3cret-value", "application/json",
    )  # fmt: skip
    assert json.loads(body) == {"n": [1, None], "text": "for pdd", "list": ['a b&c=/"']}
    assert "s3cret" not in str(listener.lines)


@pytest.mark.parametrize(
    ("kind", "template", "sent"),
    [
        ("application/json", '{"a": "{{payload.v}}", "n": {{payload.n}}}', '{"a": "x\\"&y", "n": 3}'),
        ("application/x-www-form-urlencoded", "a={{payload.v}}&b=1", "a=x%22%26y&b=1"),
        ("text/plain", "{{payload.v}} {{shop_id}}", 'x"&y shop017'),
    ],
)
def test_values_are_written_as_the_body_wants_them(server: Server, kind: str, template: str, sent: str) -> None:
    made = executor(server.url, method="POST", headers={"Content-Type": kind}, body=template)
    assert ask(made, payload={"v": 'x"&y', "n": 3}).ok
    assert server.seen[0][3] == sent


@pytest.mark.parametrize(
    ("fields", "payload", "kind"),
    [
        ({"url": "/{{payload.gone}}"}, {}, classify.BAD_PAYLOAD),
        ({"url": "/", "headers": {"X": "{{secret.gone}}"}}, {}, classify.MISSING_SECRET),
        ({"url": "/", "headers": {"X": "{{payload.v}}"}}, {"v": "a\r\nY: b"}, classify.BAD_PAYLOAD),
        ({"url": "/", "method": "TRACE"}, {}, classify.BAD_PAYLOAD),
        ({"url": "/{{env.HOME}}"}, {}, classify.NO_COMMAND),
    ],
)
def test_what_cannot_be_filled_is_not_sent(server: Server, fields: Any, payload: Any, kind: str) -> None:
    outcome = ask(executor(**{**fields, "url": server.url + fields["url"]}), payload=payload)
    assert (outcome.ok, outcome.error_kind, server.seen) == (False, kind, [])


def test_a_payload_may_name_an_address_but_no_secret(server: Server) -> None:
    payload = {"url": server.url + "/x?{{secret.a}}", "method": "post", "body": {"a": "{{secret.a}}"}, "expect": [200]}
    payload["url"] = payload["url"].replace("{{secret.a}}", "%7B%7Bsecret.a%7D%7D")
    assert ask(executor(secrets={"a": "hidden"}), payload=payload).ok
    assert "hidden" not in str(server.seen)
    refused = ask(executor(payload_urls=False), payload=payload)
    assert (refused.unable, refused.error_kind) == (True, classify.NO_COMMAND)


def test_a_type_without_a_request_here_waits_for_another_worker() -> None:
    made = executor()
    assert made.fitness().lacks == {}
    assert ask(made).unable
    assert made.fitness().lacks == {"notify": "executors.http.requests.notify"}


# ------------------------------------------------------------------------------------------------- what an answer means
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("401", classify.LOGIN_EXPIRED),
        ("403", classify.LOGIN_EXPIRED),
        ("403/请完成滑块验证", classify.CAPTCHA),
        ("403/risk control: account frozen", classify.RISK_CONTROL),
        ("404", classify.BAD_PAYLOAD),
        ("408", classify.TIMEOUT),
        ("409", classify.UNKNOWN),
        ("500", classify.NETWORK),
        ("503", classify.NETWORK),
    ],
)
def test_statuses(server: Server, path: str, kind: str) -> None:
    code, _, text = path.partition("/")
    outcome = ask(executor(f"{server.url}/status/{code}" + ("/{{payload.t}}" if text else "")), payload={"t": text})
    assert (outcome.ok, f"answered {code}" in outcome.error, outcome.error_kind) == (False, True, kind)


def test_too_many_requests_says_when_to_come_again(server: Server) -> None:
    outcome = ask(executor(server.url + "/status/429"))
    assert (outcome.error_kind, outcome.retry_after_s) == (classify.RATE_LIMITED, 90.0)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("", 0), ("120", 120), ("-1", 0), ("soon", 0), ("9" * 30, 86_400), (formatdate(NOW / 1000 + 60, usegmt=True), 60)],
)
def test_when_to_come_again(said: str, seconds: float) -> None:
    answer = Answer(status=429, headers={"retry-after": said}, body=b"", url="")
    assert judged(answer, (), Listener().files, NOW).retry_after_s == seconds


def test_expected_statuses(server: Server) -> None:
    assert ask(executor(server.url + "/status/404", expect=(404,))).ok
    refused = ask(executor(server.url + "/ok", expect=(201, 202)))
    assert (refused.ok, "answered 200, wanted 201, 202" in refused.error) == (False, True)


def test_a_large_answer_is_a_file_and_a_huge_one_refused(server: Server) -> None:
    listener = Listener()
    outcome = ask(executor(server.url + "/big/100000"), listener)
    assert (outcome.ok, len(outcome.result) < 1000) == (True, True)
    assert listener.files.kept["response.csv"][0] == b"x" * 100_000
    refused = ask(executor(server.url + "/big/100000", response_mb=0.05))
    assert (refused.error_kind, "larger than" in refused.error) == (classify.BAD_PAYLOAD, True)


@pytest.mark.parametrize(
    "how",
    [
        "200",
        "500",
        "late",
        "header",
        "headers",
        "location",
        "file",
        "file/gbk",
        "file/utf-16",
        "file/no-such",
        "bytes",
        "escaped",
    ],
)
def test_what_a_server_repeats_of_a_secret_is_kept_nowhere(server: Server, how: str) -> None:
    listener, secret = Listener(), "s3cret/value 18"
    made = executor(f"{server.url}/echo/{how}", {"erp": secret}, headers={"Authorization": "{{secret.erp}}"})
    outcome = ask(made, listener)
    assert server.seen[0][2]["authorization"] == secret, "the server has it"
    assert outcome.error or outcome.result
    kept = [body for body, *_ in listener.files.kept.values()]
    assert bool(kept) == how.startswith(("file", "bytes"))
    texts = [body.decode(code, "replace") for body in kept for code in ("utf-8", "utf-16")]
    assert "s3cre" not in f"{outcome} {listener.lines} {texts}", "nor a part of it where something was cut"
    if how.startswith("file/") and how != "file/no-such":
        assert "店铺" in kept[0].decode(how[5:]), "nothing else of it is lost"
    if how == "bytes":
        assert (len(kept[0]), kept[0][:2]) == (len(secret) + 3, b"\xff\x00")


def test_a_secret_in_the_path_is_no_line_of_the_log(server: Server) -> None:
    listener = Listener()
    assert ask(executor(server.url + "/hooks/{{secret.hook}}/send", {"hook": "T0/B1-xyz"}), listener).ok
    assert server.seen[0][1] == "/hooks/T0%2FB1-xyz/send"
    assert "xyz" not in f"{listener.lines}"
    assert f"{server.url}/hooks/••••/send" in f"{listener.lines}"


# ------------------------------------------------------------------------------------------------------ what goes wrong
@pytest.mark.parametrize("path", ["/drop", "/short"])
def test_a_broken_answer_leaves_a_doubt_only_where_it_matters(server: Server, path: str) -> None:
    post, get = executor(server.url + path, method="POST"), executor(server.url + path)
    assert ask(get, idempotent=False).error_kind == classify.NETWORK
    assert ask(post).error_kind == classify.NETWORK
    doubtful = ask(post, idempotent=False)
    assert (doubtful.error_kind, doubtful.timed_out) == (classify.TIMEOUT, True)


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        outcome = ask(executor(url, method="POST"), idempotent=False)
    assert outcome.error_kind == classify.NETWORK


def test_a_silent_server_ends_at_the_time_out_or_when_asked(server: Server) -> None:
    outcome = ask(executor(server.url + "/hold"), timeout_s=0.2)
    assert (outcome.timed_out, outcome.error_kind) == (True, classify.TIMEOUT)
    running = start(executor(server.url + "/hold"), job("notify"))
    eventually(lambda: len(server.seen) == 2)
    running.listener.context.cancelled.set()
    assert running.outcome().cancelled
    assert running.listener.stops == 1


# -------------------------------------------------------------------------------------------------- what is never asked
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://h/x", "gopher://h", "//h/x", "http://", "http://u:p@h/", "http://u@h/",
        "http://:p@h/", "http://h\r\nX: y/",
        "http://h:0/", "http://h:99999/", "http://[::1", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_other_schemes_and_odd_addresses(url: str) -> None:
    outcome = ask(executor(), payload={"url": url})
    assert (outcome.ok, outcome.error_kind) == (False, classify.BAD_PAYLOAD)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
def test_private_hosts_unless_they_are_named(server: Server, host: str) -> None:
    url = f"http://{host}:{server.server_address[1]}/x"
    outcome = ask(executor(private_hosts=False), payload={"url": url})
    assert (outcome.ok, outcome.error_kind, server.seen) == (False, classify.BAD_PAYLOAD, [])
    if host == "localhost":
        assert ask(executor(private_hosts=False, hosts=("local*",)), payload={"url": url}).ok


@pytest.mark.parametrize(
    "host",
    [
        "0", "0.0.0.0", "127.1", "0177.0.0.1", "017700000001", "0x7f000001", "[::]", "[::ffff:7f00:1]", "[::127.0.0.1]",
        "localhost.", "LOCALHOST", "\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54", "127。0。0。1",
    ],
)  # fmt: skip
def test_a_private_host_is_seen_however_it_is_written(server: Server, host: str) -> None:
    port = server.server_address[1]
    outcome = ask(executor(private_hosts=False), payload={"url": f"http://{host}:{port}/x"})
    assert (outcome.ok, server.seen) == (False, [])
    moved = ask(executor(private_hosts=False, hosts=("127.0.0.1",)), payload={"url": f"http://{host}:{port}/x"})
    assert moved.ok is False or host in ("127.0.0.1",)
    assert server.seen == []


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://a..b/", "between two dots"), ("http://.a/", "between two dots"), (f"http://{'a' * 64}.com/", "63"),
        (f"http://{'.'.join(['a' * 60] * 5)}/", "253"),
        ("http://h:65536/", "1 to 65535"), ("http://h:0/", "1 to 65535"),
        ("http://h:80a/", "1 to 65535"), ("http://h:-1/", "1 to 65535"), ("http://\u202eh/", "blanks"),
        ("http://a%2eb/", "blanks"), (f"http://{'é' * 60}/", "63"),
    ],
)  # fmt: skip
def test_what_can_be_no_host_is_said(url: str, says: str) -> None:
    outcome = ask(executor(), payload={"url": url})
    assert (outcome.ok, outcome.error_kind) == (False, classify.BAD_PAYLOAD)
    assert says in outcome.error


def test_redirects_are_counted_and_looked_at(server: Server) -> None:
    assert ask(executor(server.url + "/to/to/ok")).ok
    assert ask(executor(server.url + "/to/to/ok", redirects=1)).error_kind == classify.NETWORK
    for where in ("http://10.0.0.1/", "file:///etc/passwd"):
        made = executor(f"{server.url}/to/{where}".replace("127.0.0.1", "localhost"), private_hosts=False,
                        hosts=("localhost",))  # fmt: skip
        assert ask(made).error_kind == classify.BAD_PAYLOAD


def test_what_was_meant_for_one_host_does_not_go_to_another(server: Server) -> None:
    there = f"http://localhost:{server.server_address[1]}/other"
    made = executor(f"{server.url}/to/{there}", method="POST", body={"a": 1}, headers={"Authorization": "Bearer x"})
    assert ask(made).ok
    (_, _, first, _), (method, _, second, body) = server.seen
    assert ("authorization" in first, "authorization" in second, method, body) == (True, False, "GET", "")


def test_neither_does_it_go_to_another_port_of_the_same_host(server: Server) -> None:
    other = Server(("127.0.0.1", 0), Handler)
    other.seen, other.hold = [], threading.Event()
    thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        assert ask(executor(f"{server.url}/to/{other.url}/other", headers={"Authorization": "Bearer x"})).ok
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    assert "authorization" in server.seen[0][2]
    assert [(path, "authorization" in headers) for _, path, headers, _ in other.seen] == [("/other", False)]


def test_what_was_sent_encrypted_is_not_sent_on_in_the_open(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    class Open:
        """Speaks without TLS where TLS is meant, so that this server can be the other end."""

        def wrap_socket(self, stream: socket.socket, **_options: object) -> socket.socket:
            return stream

    monkeypatch.setattr("services.executors.http.reach.ssl.create_default_context", Open)
    secure = server.url.replace("http:", "https:")
    assert ask(executor(f"{secure}/to/{secure}/ok")).ok
    server.seen.clear()
    outcome = ask(executor(f"{secure}/to/{server.url}/ok"))
    assert (outcome.error_kind, "https to http" in outcome.error) == (classify.BAD_PAYLOAD, True)
    assert [path for _, path, _, _ in server.seen] == [f"/to/{server.url}/ok"]


def test_it_stops_with_its_worker(server: Server) -> None:
    made = executor(server.url + "/hold")
    running = start(made, job("notify"))
    eventually(lambda: bool(server.seen))
    made.close()
    assert running.outcome().cancelled
    assert ask(made).cancelled
