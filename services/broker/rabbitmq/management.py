"""The management API of RabbitMQ, read-only and optional: unacknowledged counts and the arguments of a queue."""

from __future__ import annotations

import base64
import http.client
import json
import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from services import addresses, tls
from services.broker.rabbitmq.findings import QueueSeen
from services.broker.rabbitmq.url import Address
from services.domain.errors import UsageError
from services.domain.text.said import said, words_of
from services.ports import Clock

log = logging.getLogger(__name__)

TIMEOUT = 3.0  #: seconds until the next piece of an answer
PATIENCE = 10.0  #: seconds until all of it is there
PIECE = 64 << 10  #: bytes
LIMIT = 16 << 20  #: bytes of an answer; 10,000 queues are 1 MB
QUIET = 30.0  #: seconds without a question after a failure
#: live for classic queues; the default statistics are 5-10 s old and cost five times as much
TOTALS = "disable_stats=true&enable_queue_totals=true&columns=name,messages_ready,messages_unacknowledged"
SEEN = "name,type,members,policy,operator_policy,effective_policy_definition"
ALARMS = {"mem_alarm": "memory", "disk_free_alarm": "disk"}
FAULTS = (OSError, http.client.HTTPException, ValueError, RecursionError)


class _Forbidden(ValueError):
    """The interface is there, and this user may not ask it."""


class _Refused(ValueError):
    """Another status than that of an answer."""

    def __init__(self, status: int) -> None:
        known = next((one.phrase for one in http.HTTPStatus if one == status), "")
        super().__init__(f"the answer is {status} {known}".rstrip())
        self.status, self.answer = status, f"{status} {known}".rstrip()


class _NotJson(ValueError):
    """Something else answers there: a page, say."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"the answer is no JSON but {kind}")
        self.kind = kind


class _Place(msgspec.Struct, frozen=True):
    host: str
    port: int
    path: str
    tls: bool


def _place(url: str) -> _Place:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(said("broker.management_url"), field="broker.management_url")
    tls = parts.scheme == "https"
    return _Place(parts.hostname, port or (443 if tls else 80), parts.path.rstrip("/"), tls)


class NodeSeen(msgspec.Struct, frozen=True):
    """A node of the cluster, and what it has an alarm for: ``memory`` or ``disk``."""

    name: str
    up: bool = True
    alarms: tuple[str, ...] = ()


def alarms_of(nodes: Iterable[NodeSeen]) -> list[str]:
    """``NODE: memory|disk`` of every alarm."""
    return [f"{one.name}: {alarm}" for one in nodes for alarm in one.alarms]


def _tables(rows: object, key: str) -> list[dict[str, Any]]:
    """Those of a list that are tables with this text."""
    found = rows if isinstance(rows, list) else ()
    return [row for row in found if isinstance(row, dict) and isinstance(row.get(key), str)]


def _told(fault: Exception | None, place: str) -> str:
    """What was answered instead of what was asked, with what to do about it; None: JSON of another kind."""
    match fault:
        case _Refused(status=502 | 503 | 504, answer=answer):
            return said("broker.management_proxy", place=place, answer=answer)
        case _Refused(status=status, answer=answer) if status >= 500:
            return said("broker.management_fails", place=place, answer=answer)
        case _Refused(answer=answer):
            return said("broker.management_other", place=place, answer=answer)
        case _NotJson(kind=kind):
            return said("broker.management_other", place=place, answer=kind)
        case None:
            return said("broker.management_other", place=place, answer="application/json")
    return said("broker.management_broken", place=place, most=LIMIT >> 20)


class Management:
    """Questions over one kept connection; every failure means "not known", never an error for the caller."""

    def __init__(self, address: Address, url: str, clock: Clock) -> None:
        places = addresses.each(url) if url else [node.management_url for node in address.nodes]
        self._shown = addresses.shown(url or places[0])
        self._places = [_place(one) for one in places]  #: any will do; the first is the one in use
        parts = urlsplit(places[0])
        user = unquote(parts.username) if parts.username is not None else address.user
        password = unquote(parts.password or "") if parts.username is not None else address.password
        self._login = {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}
        self._insecure = address.insecure
        self._options = {**address.options, **dict(parse_qsl(parts.query))}
        self._vhost = quote(address.vhost, safe="")
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: http.client.HTTPConnection | None = None
        self._quiet_until = 0.0
        #: until when a question is not asked that this user may not ask: of nodes, say, while queues are told to it
        self._forbidden: dict[str, float] = {}
        self._fault: Exception | None = None
        self._told: dict[str, str] = {}  #: by question: what went wrong with it last, as the log was told

    def problem(self) -> str:
        """Why the last question was not answered, with what to do about it."""
        place, fault = self._shown, self._fault
        cut = isinstance(fault, ConnectionResetError | http.client.BadStatusLine)
        if cut and not self._places[0].tls:  # what speaks TLS hangs up, or says so in bytes that are no HTTP
            return said("tls.secure", place=place, plain=tls.HTTP.plain, secure=tls.HTTP.secure)
        if isinstance(fault, OSError):
            try:
                tls.check_files(self._options, tls.HTTP, "broker.management_url")
            except UsageError as exc:
                return words_of(exc)
            if found := tls.sentence([fault], place, self._options, tls.HTTP):
                return found
            return said("broker.management_silent", place=place, error=f"{type(fault).__name__}: {fault}"[:200])
        if isinstance(fault, _Forbidden):
            return said("broker.management_user", place=place)
        return _told(fault, place)

    def totals(self) -> dict[str, tuple[int, int]] | None:
        """Ready and unacknowledged messages per queue of the vhost, None where the API is not there."""
        rows = self._get(f"/api/queues/{self._vhost}?{TOTALS}")
        if not isinstance(rows, list):
            return None
        counted = {}
        for row in rows:
            match row:
                case {"name": str(name), "messages_ready": int(ready), "messages_unacknowledged": int(unacked)}:
                    counted[name] = (ready, unacked)
        return counted

    def queues(self) -> list[QueueSeen]:
        """Every queue of the vhost with its policies; none where the API is not there."""
        rows = self._get(f"/api/queues/{self._vhost}?columns={SEEN}")
        found = []
        for row in _tables(rows, "name"):
            names = [row.get(field) for field in ("policy", "operator_policy")]
            definition = row.get("effective_policy_definition")
            kind, members = row.get("type"), row.get("members")
            found.append(
                QueueSeen(
                    name=row["name"],
                    kind=kind if isinstance(kind, str) else "",
                    copies=len(members) if isinstance(members, list) else int(kind == "classic"),
                    policy=", ".join(name for name in names if isinstance(name, str) and name),
                    definition=definition if isinstance(definition, dict) else {},
                )
            )
        return found

    def bindings(self) -> frozenset[tuple[str, str, str]] | None:
        """Exchange, routing key and queue of every binding of the vhost, None where the API is not there, or tells
        something else: that a binding is not among these is said of a fleet that works.
        """
        rows = self._get(f"/api/bindings/{self._vhost}?columns=source,routing_key,destination")
        if not isinstance(rows, list):
            return None
        found = set()
        for row in rows:
            match row:
                case {"source": str(source), "routing_key": str(key), "destination": str(queue)}:
                    found.add((source, key, queue))
                case _:
                    return None
        return frozenset(found)

    def alternates(self, exchanges: Iterable[str]) -> dict[str, str]:
        """The policy of each of these exchanges to which a policy gives an alternate one; none where the API is not
        there, or does not tell this user.
        """
        rows = self._get(f"/api/exchanges/{self._vhost}?columns=name,policy")
        named = {row["name"]: row.get("policy") for row in _tables(rows, "name") if row["name"] in exchanges}
        if not any(named.values()):
            return {}
        rows = self._get(f"/api/policies/{self._vhost}?columns=name,definition")
        given = {row["name"]: row.get("definition") for row in _tables(rows, "name")}
        found = {exchange: given.get(policy) for exchange, policy in named.items() if isinstance(policy, str)}
        return {
            exchange: str(named[exchange])
            for exchange, definition in found.items()
            if isinstance(definition, dict) and "alternate-exchange" in definition
        }

    def arguments(self, queue: str) -> Mapping[str, object] | None:
        """Arguments a queue was declared with."""
        row = self._get(f"/api/queues/{self._vhost}/{quote(queue, safe='')}?columns=arguments")
        arguments = row.get("arguments") if isinstance(row, dict) else None
        return arguments if isinstance(arguments, dict) else None

    def exchange_kind(self, exchange: str) -> str | None:
        """Type an exchange was declared with."""
        row = self._get(f"/api/exchanges/{self._vhost}/{quote(exchange, safe='')}?columns=type")
        kind = row.get("type") if isinstance(row, dict) else None
        return kind if isinstance(kind, str) else None

    def nodes(self) -> list[NodeSeen] | None:
        """The nodes of the cluster, those included that are down; None where the API is not there or does not tell this
        user.
        """
        rows = self._get("/api/nodes?columns=name,running,mem_alarm,disk_free_alarm")
        if not isinstance(rows, list):
            return None
        return [
            NodeSeen(
                name=str(row.get("name", "?")),
                up=row.get("running") is not False,
                alarms=tuple(word for field, word in ALARMS.items() if row.get(field) is True),
            )
            for row in rows
            if isinstance(row, dict)
        ]

    def close(self) -> None:
        with self._lock:
            self._hang_up()

    def _get(self, path: str) -> Any:
        with self._lock:
            question = path.split("/")[2].partition("?")[0]
            if self._clock.monotonic() < max(self._quiet_until, self._forbidden.get(question, 0.0)):
                return None
            for left in range(len(self._places) - 1, -1, -1):
                try:
                    answer = self._ask(path)
                except FAULTS as exc:
                    self._hang_up()
                    place = self._places.pop(0)
                    self._places.append(place)
                    if left and not isinstance(exc, ValueError):  # another node may answer; a refusal is of all
                        continue
                    until = self._clock.monotonic() + QUIET
                    if isinstance(exc, _Forbidden):
                        self._forbidden[question] = until
                    else:
                        self._quiet_until = until
                    self._fault = exc.with_traceback(None)  # which would hold all that was open then
                    self._tell(place, question, f"{type(exc).__name__}: {exc}"[:200])
                    return None
                self._tell(self._places[0], question, "")
                return answer
            return None

    def _ask(self, path: str) -> Any:
        fresh = self._kept is None
        try:
            return self._exchange(path)
        except (http.client.HTTPException, ConnectionError):
            self._hang_up()
            if fresh:
                raise
        return self._exchange(path)  # the kept connection had been closed by the server

    def _exchange(self, path: str) -> Any:
        if self._kept is None:
            self._kept = self._dial()
        until = self._clock.monotonic() + PATIENCE
        self._kept.request("GET", self._places[0].path + path, headers=self._login)
        with self._kept.getresponse() as response:
            body = self._read(response, until)
        if response.status in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN):
            raise _Forbidden(f"the answer is {response.status} {response.reason}")
        if response.status != http.HTTPStatus.OK:
            raise _Refused(response.status)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as exc:
            raise _NotJson(response.headers.get_content_type()[:60]) from exc

    def _read(self, response: http.client.HTTPResponse, until: float) -> bytes:
        """All of the answer: others wait for it, however slowly a server hands it out."""
        body = bytearray()
        while piece := response.read1(PIECE):
            body += piece
            if len(body) > LIMIT:
                raise ValueError(f"the answer is longer than {LIMIT >> 20} MB")
            if self._clock.monotonic() > until:
                raise TimeoutError(f"the answer takes longer than {PATIENCE:.0f} s")
        if response.length:
            raise ValueError("the answer breaks off")
        return bytes(body)

    def _dial(self) -> http.client.HTTPConnection:
        place = self._places[0]
        if not place.tls:
            return http.client.HTTPConnection(place.host, place.port, timeout=TIMEOUT)
        context = tls.context(self._options, tls.HTTP, insecure=self._insecure)
        return http.client.HTTPSConnection(place.host, place.port, timeout=TIMEOUT, context=context)

    def _hang_up(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _tell(self, place: _Place, question: str, error: str) -> None:
        if error and error != self._told.get(question):
            log.info("management API at %s:%d tells nothing of %s: %s", place.host, place.port, question, error)
        self._told[question] = error
