"""A browser's stand-in: fetches pages and data over one kept connection and says what is wrong with an answer."""

from __future__ import annotations

import json
import socket
import time

from sample_rpa.errors import (
    BadPayload,
    Captcha,
    Disconnected,
    HttpError,
    LoginExpired,
    NotConfigured,
    PageTimeout,
    RiskControl,
    SelectorNotFound,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,:")


def quote(text: object, also: bytes = b"") -> str:
    """Percent-encode one path part or query value; ``also`` are further bytes that stay."""
    return "".join(chr(byte) if byte in _PLAIN or byte in also else f"%{byte:02X}" for byte in str(text).encode())


class Client:
    """Speaks plain HTTP/1.1 to one host; every wait ends with the page's time or the flow's, whichever is first."""

    def __init__(self, url: str, *, headers: dict[str, str], page_timeout: float, deadline: float) -> None:
        scheme, _, rest = url.partition("://")
        host, _, port = rest.rstrip("/").partition(":")
        if scheme != "http" or not host or not (port or "80").isdigit():
            raise NotConfigured(f"FLEETDECK_SAMPLE_URL is not http://host:port: {url}")
        self._url = url.rstrip("/")
        self._address = (host, int(port or 80))
        self._headers = "".join(f"{name}: {text}\r\n" for name, text in headers.items() if text.isprintable())
        self._page_timeout = page_timeout
        self._deadline = deadline
        self._socket: socket.socket | None = None
        self._buffer = b""
        self._until = 0.0
        self.last_page = ""  #: the body that came last, for the screenshot on failure

    def page(self, path: str, selector: str) -> str:
        """The HTML at ``path``, which must hold an element of class ``selector`` (written ``.name``)."""
        body = self._get(path)
        if selector and f'class="{selector[1:]}"' not in body:
            raise SelectorNotFound(selector, f"on {path}")
        return body

    def data(self, path: str, **query: object) -> dict[str, Any]:
        """The JSON object at ``path``."""
        pairs = "&".join(f"{name}={quote(value)}" for name, value in query.items() if value not in (None, "", []))
        return self._object(self._get(f"{path}?{pairs}" if pairs else path), path)

    def post(self, path: str, body: dict[str, object]) -> dict[str, Any]:
        """POST a JSON object."""
        return self._object(self._fetch("POST", path, json.dumps(body, ensure_ascii=False).encode()), path)

    def local(self, url: str) -> str:
        """The path of an address on this host; the sample goes nowhere else."""
        path = url.removeprefix(self._url) or "/"
        if not path.startswith("/"):
            raise BadPayload(f"url is not on {self._url}: {url}")
        return quote(path, also=b"/?&=%+")

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _get(self, target: str) -> str:
        return self._fetch("GET", target, b"")

    def _fetch(self, method: str, target: str, body: bytes) -> str:
        path = target.partition("?")[0]
        self._until = min(time.monotonic() + self._page_timeout, self._deadline)
        try:
            status, headers, answer = self._exchange(method, target, body)
        except TimeoutError:
            self.close()
            if time.monotonic() >= self._deadline:
                raise PageTimeout(f"flow not finished in time, was at {path}") from None
            raise PageTimeout(f"page.goto {path} exceeded {self._page_timeout:g} s") from None
        except OSError as exc:
            self.close()
            raise Disconnected(f"{exc.strerror or exc} at {path}") from None
        self.last_page = answer.decode("utf-8", "replace")
        self._judge(status, headers, path)
        return self.last_page

    def _judge(self, status: int, headers: dict[str, str], path: str) -> None:
        """Raise what the answer means when it is not what was asked for."""
        location = headers.get("location", "").partition("?")[0]
        if status in (301, 302, 303, 307):
            raise LoginExpired("redirected to /login") if location == "/login" else HttpError(f"moved to {location}")
        if 'class="captcha-slider"' in self.last_page:
            raise Captcha("slider wanted at /captcha")
        if status == 403 and "risk_control" in self.last_page:
            raise RiskControl("account restricted by the platform (HTTP 403)")
        if status == 404:
            raise BadPayload(f"nothing at {path} (HTTP 404)")
        if status == 400:
            raise BadPayload(f"open API refused {path} (HTTP 400): {self.last_page[:200]}")
        if status != 200:
            wait = headers.get("retry-after", "")
            raise HttpError(f"HTTP {status} from open API{f', retry after {wait} s' if wait else ''}")

    @staticmethod
    def _object(body: str, path: str) -> dict[str, Any]:
        try:
            value = json.loads(body)
        except ValueError:
            raise SelectorNotFound("data", f"at {path}, a page came instead") from None
        if not isinstance(value, dict):
            raise SelectorNotFound("data", f"at {path}")
        return value

    def _exchange(self, method: str, target: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        head = f"{method} {target} HTTP/1.1\r\nHost: {self._address[0]}\r\n{self._headers}"
        head += f"Content-Length: {len(body)}\r\n\r\n" if body else "\r\n"
        self._connected().sendall(head.encode("ascii", "ignore") + body)
        lines = self._read_to(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split(" ")[1]), headers, self._read(int(headers.get("content-length", "0")))

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._buffer = b""
            self._socket = socket.create_connection(self._address, timeout=self._left())
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(self._left())
        return self._socket

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _read_to(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            self._receive()
        head, _, self._buffer = self._buffer.partition(mark)
        return head

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._receive()
        body, self._buffer = self._buffer[:size], self._buffer[size:]
        return body

    def _receive(self) -> None:
        chunk = self._connected().recv(65536)
        if not chunk:
            raise ConnectionResetError("connection reset by peer")
        self._buffer += chunk
