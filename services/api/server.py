"""Listens, and lets the application answer, until it is told to stop."""

from __future__ import annotations

import asyncio
import difflib
import errno
import ipaddress
import re
import secrets
import socket
import ssl
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any, get_args

import h11
import msgspec
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.api import shapes
from services.api.callers import Callers
from services.api.entrance import Entrance
from services.api.follower import Follower
from services.api.problems import MEDIA, REMEDIES, Problem, in_words_of, of_error, plain
from services.api.routes import NOUNS, metrics, pages, reference
from services.api.runner import Runner
from services.assembly import Engine
from services.domain.errors import ConsoleError, UsageError
from services.domain.text.said import said
from services.domain.text.visible import visible
from services.version import VERSION

#: connections at once, streams of events among them; more are told to come back
CONNECTIONS = 256
#: seconds for what is under way when the server is told to stop, and for it to begin
LEAVE_S, BEGIN_S = 5, 30.0
#: seconds that a request may take to say what it asks for; who says nothing would hold a connection for ever
HEAD_S = 10.0
_HOST = re.compile(r"[A-Za-z0-9.:-]{1,253}")
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
PREFIX = "/api/v1"
#: what any route may answer beside what it is asked for
_PROBLEMS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 503)
WHAT = (
    "Everything that the command line of Fleetdeck says and does, with the same words, filters, roles and documents."
    " Send a token as `Authorization: Bearer TOKEN`; on the loopback address one may look without."
)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where to listen, and to whom."""

    host: str
    port: int
    cert: str = ""
    key: str = ""
    plain_text: bool = False
    open_loopback: bool = False
    names: tuple[str, ...] = ()

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        if self.host == "localhost":
            return True
        with suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return False


def check(place: Place) -> None:
    """Refuse to listen where anybody could read along.

    Raises:
        UsageError: with what to say instead.
    """
    if not place.loopback and not place.cert and not place.plain_text:
        raise UsageError(said("serve.plain", host=f"{place.host!r:.60}"), field="--cert")
    if not place.loopback and place.open_loopback:
        raise UsageError(said("serve.open_loopback"), field="--open-loopback")
    wrong = next((name for name in place.names if not _HOST.fullmatch(name)), None)
    if wrong is not None:
        raise UsageError(said("serve.host_name", value=f"{wrong!r:.80}"), field="--host-name")
    if not place.host or place.host != place.host.strip():
        raise UsageError(said("serve.host", value=f"{place.host!r:.80}"), field="--host")
    if place.key and not place.cert:
        raise UsageError(said("serve.key"), field="--cert")
    if place.cert:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                place.cert, place.key or None, password=lambda: ""
            )
        except OSError as exc:  # SSLError is one
            raise UsageError(said("serve.cert", error=exc.strerror or str(exc)), field="--cert") from exc


@contextmanager
def serving(engine: Engine, place: Place) -> Iterator[str]:
    """Answer while the block runs; the address.

    Raises:
        UsageError: nobody may listen there.
    """
    listening = _listen(place)
    port = listening.getsockname()[1]
    follower = Follower(engine.store)
    callers = Callers(engine, loopback=place.loopback, open_loopback=place.open_loopback)
    app = application(Runner(engine), callers, follower)
    # a server that every request needs a token for may have any name: a page of somebody else has none
    hosts = {*LOCAL_NAMES, place.host.lower(), *(name.lower() for name in place.names)} if place.loopback else None
    config = uvicorn.Config(
        Entrance(app, hosts=hosts, secure=bool(place.cert)),
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=LEAVE_S,
        ssl_certfile=place.cert or None,
        ssl_keyfile=place.key or None,
        ws="none",
        loop="asyncio",
        http=Spoken,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="api", daemon=True)
    thread.start()
    follower.start()
    try:
        _begun(server, thread)
        host = f"[{place.host}]" if ":" in place.host else place.host
        yield f"{'https' if place.cert else 'http'}://{host}:{port}"
    finally:
        follower.leave()
        server.should_exit = True
        thread.join()
        follower.close()
        listening.close()


def wait(stop: threading.Event) -> None:
    """Until it is told to."""
    while not stop.wait(0.5):  # a wait without end hears no Ctrl-C on Windows
        pass


def _begun(server: uvicorn.Server, thread: threading.Thread) -> None:
    pause = threading.Event()
    for _ in range(int(BEGIN_S / 0.02)):
        if server.started:
            return
        if not thread.is_alive():
            break
        pause.wait(0.02)
    raise ConsoleError(said("serve.not_begun"))


def _listen(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where another program could listen here as well
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((place.host, place.port))
        listening.listen(128)
    except (OSError, UnicodeError) as exc:
        listening.close()
        why = getattr(exc, "strerror", None) or str(exc)
        code = "serve.in_use" if getattr(exc, "errno", None) == errno.EADDRINUSE else "serve.taken"
        text = said(code, host=place.host, port=place.port, error=why)
        raise UsageError(text, field="--port") from exc
    listening.setblocking(False)
    return listening


class Spoken(H11Protocol):
    """One connection."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, or say that there are too many."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            self._refuse(Problem(status=503, detail=f"{CONNECTIONS} connections are open", code="busy", again_s=1))
            return
        self._late = self.loop.call_later(HEAD_S, self._too_slow)

    def data_received(self, data: bytes) -> None:
        """Answer what has come whole, and wait a while for what has not."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._in_time()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(HEAD_S, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._in_time()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read, unless an answer has begun, and hang up."""
        cycle = getattr(self, "cycle", None)  # none before the first request
        if cycle is None or cycle.response_complete:
            self._refuse(Problem(status=400, detail="this is no HTTP request that can be read", code="malformed"))
        self.transport.close()

    def _too_slow(self) -> None:
        text = f"the head of a request did not come within {HEAD_S:g} s"
        self._refuse(Problem(status=408, detail=text, code="too_slow"))

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, problem: Problem) -> None:
        """Answer before there is a request to answer, and hang up."""
        request_id = secrets.token_hex(8)
        body = problem.body(request_id)
        told = {**problem.headers(), "content-type": MEDIA, "content-length": str(len(body)), "connection": "close"}
        lines = [f"{name}: {value}\r\n" for name, value in {**told, "x-request-id": request_id}.items()]
        first = f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
        self.transport.write(f"{first}{''.join(lines)}\r\n".encode() + body)
        self.transport.close()


def application(runner: Runner, callers: Callers, follower: Follower) -> FastAPI:
    """The application over an engine."""
    app = _Described(
        title="Fleetdeck",
        version=VERSION,
        description=WHAT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        responses={status: _documented(status) for status in _PROBLEMS},
    )
    app.state.runner, app.state.callers = runner, callers
    app.state.follower, app.state.metrics = follower, metrics.Kept()
    for noun in NOUNS:
        app.include_router(noun.router, prefix=PREFIX)
    app.add_api_route("/openapi.json", reference.description, include_in_schema=False)  # where programs look for it
    app.include_router(metrics.router)
    app.include_router(pages.router)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(ConsoleError, _console_error)
    app.add_exception_handler(RequestValidationError, _not_valid)
    for status in (404, 405):
        app.add_exception_handler(status, _http)
    return app


class _Described(FastAPI):
    """Says in its description how to show who asks."""

    def openapi(self) -> dict[str, Any]:
        """The description as a document."""
        found = super().openapi()
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["components"]["schemas"]["Problem"] = shapes.Problem.model_json_schema()
        found["security"] = [{"token": []}, {}]
        return found


def _documented(status: int) -> dict[str, Any]:
    # named, and not given as a model: each of 120 routes would build it anew for each status at the first request
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": REMEDIES[status], "content": {MEDIA: {"schema": schema}}}


def _problem(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, Problem)
    request_id = request.scope.get("state", {}).get("request_id", "")
    told = in_words_of(_words_of(request), exc)
    return Response(told.body(request_id), status_code=told.status, headers=told.headers(), media_type=MEDIA)


def _words_of(request: Request) -> frozenset[str]:
    """What a request of this route may say, in its address and its body."""
    dependant = getattr(request.scope.get("route"), "dependant", None)
    if dependant is None:
        return frozenset()
    found = {one.alias for one in (*dependant.path_params, *dependant.query_params)}
    for body in dependant.body_params:
        kind = body.field_info.annotation
        for one in get_args(kind) or (kind,):
            found |= set(getattr(one, "model_fields", ()))
    return frozenset(found)


def _console_error(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, ConsoleError)
    return _problem(request, of_error(exc))


def _http(request: Request, exc: Exception) -> Response:
    """No path, or no method of one."""
    status, headers = getattr(exc, "status_code", 404), getattr(exc, "headers", None)
    path = visible(request.url.path)[:200]
    text = f"there is nothing at {path!r}" if status == 404 else f"{path!r} has no {request.method}"
    response = _problem(request, Problem(status=status, detail=text))
    response.headers.update(headers or {})
    return response


def _not_valid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    words = _words_of(request)
    errors = [_error(one, words) for one in exc.errors()][:20]
    first = errors[0] if errors else {"field": "", "error": "not acceptable"}
    detail = f"{first['field']}: {first['error']}" if first["field"] else first["error"]
    return _problem(
        request,
        Problem(status=422, detail=visible(detail)[:500], code="usage", field=first["field"], more={"errors": errors}),
    )


def _error(one: Mapping[str, Any], words: Collection[str]) -> dict[str, str]:
    place, kind = _place(one["loc"]), str(one["type"])
    if one["loc"] == ("body",) and kind in ("missing", "model_attributes_type"):
        return {"field": "", "error": "the body must be a JSON object; /docs shows one for each route"}
    if kind == "extra_forbidden":
        return {"field": place, "error": _meaningless(place, words)}
    return {"field": place, "error": _in_words(str(one["msg"]))}


def _meaningless(place: str, words: Collection[str]) -> str:
    """Of a word that no part of the request is called."""
    if "." in place:
        return "means nothing there; /docs shows what may stand there"
    near = difflib.get_close_matches(place, words, 1)
    known = ", ".join(sorted(words)) or "none"
    return f"means nothing here; did you mean {near[0]}?" if near else f"means nothing here; there is {known}"


#: what the library calls values, and what they are in JSON
_VALUES = {
    "a valid dictionary": "a JSON object", "a valid list": "a list", "a valid string": "a text", "a valid boolean":
    "true or false", "a valid number": "a number", "a valid integer": "a whole number", " after validation": "",
}  # fmt: skip
_SHOULD = re.compile(r"^\w+ should ")


def _in_words(text: str) -> str:
    """What the library says to who writes programs, to who writes requests."""
    text = _SHOULD.sub("must ", text)
    for name, value in _VALUES.items():
        text = text.replace(name, value)
    return text


def _place(parts: Sequence[Any]) -> str:
    told = ".".join(visible(str(part))[:80] for part in parts[1:])
    return told if parts[0] == "header" else plain(told)
