"""One request with its redirects, in a thread that can be left behind: time-outs of sockets do not add up to one."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from services.executors.http import reach
from services.executors.http.reach import Refused, Rules

CHUNK = 64 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: headers that may go to another host than the one that they were written for
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back; names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str  #: after redirects


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far a request goes."""

    rules: Rules
    timeout_s: float
    redirects: int
    response_bytes: int


class Fetch(threading.Thread):
    """Runs a request; exactly one of ``answer`` and ``failure`` is set when ``done`` is."""

    def __init__(self, request: Request, bounds: Bounds, log: Callable[[str], None]) -> None:
        super().__init__(name="http-request", daemon=True)
        self._request, self._bounds, self._log = request, bounds, log
        self._socket: socket.socket | None = None
        self._given_up = False
        self.sent = False  #: some of a request has left: its effect may be there
        self.answer: Answer | None = None
        self.failure: Exception | None = None
        self.done = threading.Event()

    def give_up(self) -> None:
        """Break the connection; whatever the thread still waits for ends."""
        self._given_up = True
        stream = self._socket
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        """Ask, and follow where it leads."""
        try:
            self.answer = self._follow()
        except Exception as exc:  # noqa: BLE001 - the edge of the thread: whoever waits for it judges
            self.failure = exc
        finally:
            self.done.set()

    def _follow(self) -> Answer:
        request, bounds = self._request, self._bounds
        for _ in range(bounds.redirects + 1):
            answer = self._ask(request)
            target = answer.headers.get("location", "")
            if answer.status not in REDIRECTS or not target:
                return answer
            request = _redirected(request, answer.status, urllib.parse.urljoin(request.url, target))
            self._log(f"{answer.status}: on to {reach.checked(request.url).hostname}")
        raise Refused(f"more than {bounds.redirects} redirects", "network")

    def _ask(self, request: Request) -> Answer:
        parts = reach.checked(request.url)
        made = reach.connection(parts, self._bounds.rules, self._bounds.timeout_s)
        with contextlib.closing(made):
            self._socket = made.sock
            if self._given_up:
                raise ConnectionAbortedError("given up")
            self.sent = True
            target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
            made.request(request.method, target, body=request.body, headers=dict(request.headers))
            with contextlib.closing(made.getresponse()) as response:
                headers = {name.lower(): value for name, value in response.getheaders()}
                body = self._read(response)
        return Answer(status=response.status, headers=headers, body=body, url=request.url)

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        most, parts, size = self._bounds.response_bytes, list[bytes](), 0
        while chunk := response.read1(CHUNK):
            size += len(chunk)
            if size > most:
                raise Refused(f"the answer is larger than {most:,} bytes (executors.http.response_mb)")
            parts.append(chunk)
        if response.length:  # it promised more
            raise ConnectionResetError(f"the connection broke {response.length:,} bytes before the end of the answer")
        return b"".join(parts)


def _redirected(request: Request, status: int, url: str) -> Request:
    before, after = reach.checked(request.url), reach.checked(url)
    if before.scheme == "https" and after.scheme == "http":
        raise Refused("a redirect from https to http is refused")
    headers = dict(request.headers)
    if (before.scheme, before.hostname, before.port) != (after.scheme, after.hostname, after.port):
        headers = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return replace(request, url=url, headers=headers)
    headers = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
    return replace(request, url=url, headers=headers, method="GET", body=None)
