"""Where a browser may go: not into a private network, by whatever way a page leads there, unless it is named."""

from __future__ import annotations

import asyncio
import base64
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.domain.task import classify
from services.executors.browser.guard import Guard, rules_of
from services.executors.http.reach import Rules
from services.settings.browser import BrowserSettings
from tests.support.browser_lab import Lab
from tests.unit.services.executors.browser.conftest import Desk

DONE = "<script>const done = () => document.body.classList.add('done')</script>"
REMEDY = "lies in a private network; executors.browser.hosts of this worker names those that may"


class Site(ThreadingHTTPServer):
    """Pages by path, and what was asked of it, by the name that it was asked by."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []

    def address(self, host: str) -> str:
        """Of this server by another name."""
        return f"http://{host}:{self.server_address[1]}"

    def asked_by(self, name: str) -> list[str]:
        """The paths that were asked for under a name."""
        return [path for host, path in self.asked if host == name]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""

    def do_GET(self) -> None:
        self.server.asked.append((self.headers["Host"].rpartition(":")[0], self.path))
        page = self.server.pages.get(self.path, "<p id=here>here</p>")
        moved = page.startswith("http")
        self.send_response(302 if moved else 200)
        if moved:
            self.send_header("Location", page)
        self.send_header("Content-Type", "text/html")
        self.send_header("Access-Control-Allow-Origin", "*")
        body = b"" if moved else page.encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def site() -> Iterator[Site]:
    """At work."""
    server = Site()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def guarded(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """It may go to localhost, and to no other private host."""
    desk = Desk(tmp_path_factory.mktemp("guarded"), lab, sites={}, hosts=("localhost",))
    yield desk
    desk.close()


def see(*steps: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Steps, and then the text of the page."""
    return *steps, {"do": "extract", "as": "text", "selector": "#here"}


def goto(url: str) -> dict[str, Any]:
    """The step."""
    return {"do": "goto", "url": url}


def told(desk: Desk) -> str:
    """What the task's log says went wrong."""
    return "".join(text for stream, text in desk.listener.lines if stream in ("err", "own_err"))


# ---------------------------------------------------------------------------------------------------- in real Chromium
browser = [pytest.mark.browser, pytest.mark.timeout(300)]


class TestInChromium:
    pytestmark = browser

    @pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"])
    def test_a_private_host_is_not_opened_however_it_is_written(self, guarded: Desk, site: Site, host: str) -> None:
        outcome = guarded.run(goto(site.address(host)))
        assert (outcome.ok, outcome.error_kind) == (False, classify.BAD_PAYLOAD)
        assert REMEDY in outcome.error
        assert site.asked == []

    def test_a_named_host_and_the_site_of_a_platform_are_opened(self, guarded: Desk, desk: Desk, site: Site) -> None:
        assert guarded.run(*see(goto(site.address("localhost")))).ok
        assert desk.run(*see(goto(site.address("127.0.0.1")))).ok  # the host of its executors.browser.sites

    def test_any_host_is_opened_where_the_worker_says_so(self, lab: Lab, site: Site, tmp_path: Path) -> None:
        free = Desk(tmp_path, lab, sites={}, private_hosts=True)
        try:
            assert free.run(*see(goto(site.address("127.0.0.1")))).ok
        finally:
            free.close()

    def test_a_redirect_into_a_private_network_is_not_followed(self, guarded: Desk, site: Site) -> None:
        site.pages["/moved"] = site.address("127.0.0.1") + "/inside"
        outcome = guarded.run(goto(site.address("localhost") + "/moved"))
        assert (outcome.ok, outcome.error_kind) == (False, classify.BAD_PAYLOAD)
        assert f"127.0.0.1 {REMEDY}" in outcome.error
        assert site.asked_by("127.0.0.1") == []

    def test_a_click_into_a_private_network_fails_the_step(self, guarded: Desk, site: Site) -> None:
        site.pages["/link"] = f"<a id=go href={site.address('127.0.0.1')}/inside>go</a>"
        outcome = guarded.run(
            goto(site.address("localhost") + "/link"),
            {"do": "click", "selector": "#go"},
            {"do": "wait_for", "selector": "#here", "timeout_s": 5},
        )
        assert not outcome.ok
        assert f"127.0.0.1 {REMEDY}" in told(guarded)
        assert site.asked_by("127.0.0.1") == []

    @pytest.mark.parametrize(
        "inside",
        [
            "<iframe src={url}/inside onload=done()></iframe>",
            "<img src={url}/inside onerror=done()>",
            "<script>fetch('{url}/inside').catch(() => done())</script>",
            "<script>fetch('/moved').catch(() => done())</script>",
            "<script>new WebSocket('{url}'.replace('http', 'ws')).onerror = () => done()</script>",
        ],
        ids=["iframe", "picture", "fetch", "fetch of a redirect", "web socket"],
    )
    def test_what_a_page_asks_for_stays_out_too(self, guarded: Desk, site: Site, inside: str) -> None:
        url = site.address("127.0.0.1")
        site.pages["/moved"] = f"{url}/inside"
        site.pages["/page"] = "<p id=here>here</p>" + DONE + inside.replace("{url}", url)
        script = {"do": "wait_for", "selector": "body.done", "state": "attached", "timeout_s": 10}
        outcome = guarded.run(*see(goto(site.address("localhost") + "/page"), script))
        assert outcome.ok, outcome.error
        assert site.asked_by("127.0.0.1") == []
        if "WebSocket" not in inside:  # Chromium tells the driver nothing of those
            assert REMEDY in told(guarded)

    def test_light_contexts_are_guarded_as_profiles_are(self, guarded: Desk, site: Site) -> None:
        outcome = guarded.run(kind="light", steps=[goto(site.address("127.0.0.1"))])
        assert REMEDY in outcome.error
        assert site.asked == []


# ------------------------------------------------------------------------------------------------------ without browser
async def ask(proxy: str, host: str, port: int) -> tuple[int, bytes]:
    """What a SOCKS proxy replied, and the head of the answer of the host behind it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.rpartition(":")[2]))
    try:
        writer.write(b"\x05\x01\x00")
        assert await reader.readexactly(2) == b"\x05\x00"
        name = host.encode()
        writer.write(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + struct.pack(">H", port))
        code = (await reader.readexactly(10))[1]
        if code:
            return code, b""
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        return code, (await reader.read())[:15]
    finally:
        writer.close()


def tried(guard: Guard, act: Callable[[str], Awaitable[Any]]) -> Any:
    """What becomes of it with a guard at work."""

    async def run() -> Any:
        address = await guard.start()
        try:
            return await asyncio.wait_for(act(address), 20)
        finally:
            guard.close()

    return asyncio.run(run())


def test_a_name_is_looked_up_once_and_that_address_is_connected_to(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means a public address when it is looked at and a private one a moment later reaches nothing."""
    looks: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: Any, port: Any, *args: Any, **named: Any) -> Any:
        if host == "shop.example":
            looks.append(host)
            return real("127.0.0.1" if len(looks) == 1 else "127.0.0.99", port, *args, **named)
        return real(host, port, *args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    port = site.server_address[1]
    guard = Guard(Rules(hosts=("shop.example",)))
    assert tried(guard, lambda proxy: ask(proxy, "shop.example", port)) == (0, b"HTTP/1.1 200 OK")
    assert looks == ["shop.example"]


def test_a_name_of_a_private_address_is_refused_and_says_why(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *args, **named: real("127.0.0.1", *args, **named))
    port = site.server_address[1]
    guard = Guard(rules_of(BrowserSettings(sites={"pdd": "http://127.0.0.1:9"})))
    code, _ = tried(guard, lambda proxy: ask(proxy, "evil.example", port))
    trouble = guard.trouble(f"http://evil.example:{port}/x?y=1")
    assert code == 2
    assert trouble is not None
    assert (trouble.kind, trouble.text) == (classify.BAD_PAYLOAD, f"evil.example {REMEDY}")
    assert site.asked == []


def test_what_cannot_be_reached_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        port = taken.getsockname()[1]
        guard = Guard(Rules(private_hosts=True))
        assert tried(guard, lambda proxy: ask(proxy, "127.0.0.1", port))[0] == 1
    trouble = guard.trouble(f"http://127.0.0.1:{port}/")
    assert trouble is not None
    assert (trouble.kind, trouble.text) == (classify.NETWORK, "the connection was refused")


async def _http_proxy(heads: list[str], answer: bytes) -> asyncio.Server:
    """One that knows CONNECT and sends everything to where it is asked to."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        heads.append(head)
        writer.write(answer)
        if b" 200 " in answer:
            port = head.split()[1].rpartition(":")[2]
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", int(port))
            far_writer.write(await reader.readuntil(b"\r\n\r\n"))
            writer.write(await far_reader.read())
            far_writer.close()
        await writer.drain()
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


def test_a_proxy_with_user_and_password_is_gone_through_and_private_hosts_stay_out(site: Site) -> None:
    heads: list[str] = []
    port = site.server_address[1]

    async def run() -> tuple[Any, Any]:
        proxy = await _http_proxy(heads, b"HTTP/1.1 200 OK\r\n\r\n")
        guard = Guard(Rules(), f"http://me:p%40ss@127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        address = await guard.start()
        try:
            return await ask(address, "only-the-proxy-knows.invalid", port), await ask(address, "127.0.0.1", port)
        finally:
            guard.close()
            proxy.close()

    through, private = asyncio.run(asyncio.wait_for(run(), 20))
    assert through == (0, b"HTTP/1.1 200 OK")
    assert private == (2, b"")
    assert len(heads) == 1
    assert heads[0].startswith(f"CONNECT only-the-proxy-knows.invalid:{port} HTTP/1.1\r\n")
    assert base64.b64encode(b"me:p@ss").decode() in heads[0]


def test_a_proxy_that_refuses_is_named_as_the_reason(site: Site) -> None:
    async def run() -> tuple[int, Any]:
        proxy = await _http_proxy([], b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        guard = Guard(Rules(), f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        address = await guard.start()
        try:
            code, _ = await ask(address, "nowhere.invalid", 443)
            return code, guard.trouble("https://nowhere.invalid/")
        finally:
            guard.close()
            proxy.close()

    code, trouble = asyncio.run(asyncio.wait_for(run(), 20))
    assert code == 1
    assert (trouble.kind, trouble.text) == (
        classify.NETWORK, "the proxy refused it: 407 Proxy Authentication Required"
    )  # fmt: skip


def test_a_socks_proxy_is_gone_through(site: Site) -> None:
    port = site.server_address[1]

    async def run() -> Any:
        far = Guard(Rules(hosts=("localhost",)))
        near = Guard(Rules(hosts=("localhost",)), await far.start())
        address = await near.start()
        try:
            return await ask(address, "localhost", port), await ask(address, "127.0.0.1", port)
        finally:
            near.close()
            far.close()

    assert asyncio.run(asyncio.wait_for(run(), 20)) == ((0, b"HTTP/1.1 200 OK"), (2, b""))
