"""Before any route: size, time, host, origin and form of a request; after it: headers, and a line in the log."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping
from typing import Any

from fastapi.datastructures import Headers

from services import log as logs
from services.api.problems import MEDIA, Problem, of_json
from services.domain.text.mask import masked_text
from services.domain.text.visible import visible
from services.domain.types import strict_json

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("fleetdeck.api")
MAX_BODY = 1_000_000
#: what is too large is read to its end up to here: who still sends hears no answer, only that the connection broke
PASSED_OVER = 32_000_000
#: of the path with its query
MAX_ADDRESS = 16_384
#: seconds that a body may take to arrive
BODY_S = 10.0
#: requests under way at once, as many as threads ask store and broker; streams of events are counted apart
MAX_AT_ONCE = 40
#: what a caller may call its request, so that the lines of both logs can be laid beside each other
_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)


class Entrance:
    """An ASGI application around another one."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] | None,
        secure: bool,
    ) -> None:
        """``hosts``: names by which it may be asked, in small letters; None: by any, for every request needs a token.
        ``secure``: it speaks TLS.
        """
        self._app, self._hosts, self._secure = app, hosts, secure
        self._at_once = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is spoken here")
        await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        named = headers.get("x-request-id", "")
        request_id = named if _REQUEST_ID.fullmatch(named) else secrets.token_hex(8)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        begun, status, sent = time.monotonic(), 0, 0
        method, streams = scope["method"], scope["path"].endswith("/events")
        counted = int(not streams)
        if method == "HEAD" and not streams:  # what watches whether a server lives asks so; its body stays here
            scope = {**scope, "method": "GET"}

        async def out(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                known = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in _HEADERS if name not in known]
                message["headers"] = [*message["headers"], *added, (b"x-request-id", request_id.encode())]
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            await send(message)

        try:
            self._at_once += counted
            with logs.about(request=request_id):
                await self._app(scope, await self._admitted(scope, headers, receive), out)
        except Problem as exc:
            await _answer(exc, request_id, out)
        except Exception:
            log.exception("request %s broke off", request_id, extra={"request": request_id})
            if status:  # the answer has begun: a broken connection says that it is not whole
                raise
            text = "this program met a fault of its own; nothing more is known here"
            await _answer(Problem(status=500, detail=text, code="internal"), request_id, out)
        finally:
            self._at_once -= counted
            _write(
                {
                    "request": request_id,
                    "method": method,
                    "path": visible(masked_text(scope["path"]))[:300],
                    "status": status,
                    "ms": round(1000 * (time.monotonic() - begun), 1),
                    "bytes": sent,
                    "caller": state.get("caller", ""),
                    "from": (scope.get("client") or ("",))[0],
                }
            )

    async def _admitted(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """What the application reads the body from.

        Raises:
            Problem: the request is none that is looked at.
        """
        if self._at_once > MAX_AT_ONCE:
            text = f"{MAX_AT_ONCE} requests are under way"
            raise Problem(status=503, detail=text, code="busy", again_s=1)
        address = scope.get("raw_path", b"") + b"?" + scope.get("query_string", b"")
        if len(address) > MAX_ADDRESS:
            raise Problem(status=413, detail=f"an address may have {MAX_ADDRESS} bytes", code="too_large")
        if b"%00" in address:
            raise Problem(status=400, detail="an address holds no NUL", code="malformed")
        self._check_place(headers)
        body = b"" if scope["method"] not in _CHANGES else await _body(headers, receive)
        if scope["method"] in _CHANGES and (body or scope["method"] != "DELETE"):
            _check_form(headers, body)
        given = False

        async def again() -> Message:
            nonlocal given
            if given or scope["method"] not in _CHANGES:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return again

    def _check_place(self, headers: Headers) -> None:
        """A page of somebody else, open in a browser here, must not reach this server by a name of its own
        (DNS rebinding) or in the name of whoever looks at it.
        """
        host = headers.get("host", "").lower()
        if self._hosts is not None and name_of(host) not in self._hosts:
            raise Problem(status=421, detail=f"this server is not called {visible(host)!r:.100}", code="wrong_host")
        origin = headers.get("origin", "")
        own = f"{'https' if self._secure else 'http'}://{host}"
        if origin and origin.lower() not in (own, f"https://{host}"):
            raise Problem(status=403, detail="pages of other servers do not ask here", code="foreign_origin")


def name_of(host: str) -> str:
    """The name of a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


async def _body(headers: Headers, receive: Receive) -> bytes:
    declared = headers.get("content-length", "")
    too_large = Problem(status=413, detail=f"a body may have {MAX_BODY} bytes", code="too_large")
    known = int(declared[:13]) if declared.isascii() and declared.isdigit() else 0
    if known > PASSED_OVER or (known > MAX_BODY and "expect" in headers):
        raise too_large
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(status=415, detail="a body comes as it is, not compressed", code="encoded")
    try:
        async with asyncio.timeout(BODY_S):
            body = await _arrived(receive)
    except TimeoutError as exc:
        text = f"the body did not come within {BODY_S:g} s"
        raise Problem(status=408, detail=text, code="too_slow") from exc
    if body is None:
        raise too_large
    return body


async def _arrived(receive: Receive) -> bytes | None:
    """The body; None if it is too large."""
    parts, size, more = [], 0, True
    while more and size <= PASSED_OVER:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(status=400, detail="the body broke off", code="malformed")
        part = message.get("body", b"")
        size += len(part)
        if size <= MAX_BODY:
            parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts) if size <= MAX_BODY else None


def _check_form(headers: Headers, body: bytes) -> None:
    """JSON that says exactly one thing, in words that can be kept."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(status=415, detail="what changes something comes as application/json", code="not_json")
    if not body:
        return
    try:
        text = body.decode("utf-8")
        found = strict_json.loads(text)
    except UnicodeDecodeError as exc:
        raise Problem(status=400, detail="the body is not UTF-8", code="malformed") from exc
    except (ValueError, RecursionError) as exc:
        remedy = "Correct the body at that place and send it again."
        raise Problem(
            status=400, detail=f"the body is not JSON: {of_json(exc)}", code="malformed", remedy=remedy
        ) from exc
    if "\\u" in text and (bad := next(_unkept(found), None)):
        field, what = bad[0][:200], bad[1]
        remedy = f"Send {field or 'the body'} without it, as whole characters."
        raise Problem(status=400, detail=f"the body holds {what}", code="malformed", field=field, remedy=remedy)


def _unkept(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """What no store keeps and no text shows, and the field in which it stands: halves of surrogate pairs, NUL."""
    if isinstance(value, str):
        if "\0" in value:
            yield field, "the character NUL"
        elif any("\ud800" <= char <= "\udfff" for char in value):
            yield field, "half of a surrogate pair"
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _unkept(name, field)  # a name that cannot be said: what it stands in is named
            yield from _unkept(one, f"{field}.{name}" if field else name)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _unkept(one, f"{field}.{place}" if field else str(place))


async def _answer(problem: Problem, request_id: str, send: Send) -> None:
    body = problem.body(request_id)
    headers = [(name.encode(), value.encode()) for name, value in problem.headers().items()]
    headers += [(b"content-type", MEDIA.encode()), (b"content-length", str(len(body)).encode())]
    if problem.status in (408, 413):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _write(told: dict[str, Any]) -> None:
    more = {name: value for name, value in told.items() if name != "request"}
    what = "{method} {path}: {status} in {ms} ms".format(**told)
    log.info("%s", what, extra={"request": told["request"], "more": more})
