"""Executor ``http``: makes the request of a task type; nothing of it may be a way into the worker's own network.

What an answer means for the task: success with a result, or one of the known kinds of failure.

Fills ``{{payload.x}}`` and the like into a configured request; where a value stands decides how it is written.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import http.client
import json
import re
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from services.domain.task import classify, own_words
from services.domain.task.record import Task
from services.domain.text import mask
from services.domain.text.mask import Masker
from services.executors.base import ArtifactSink, Fitness, Job, JobContext, Outcome, broken_off
from services.executors.http import reach
from services.executors.http.reach import Refused, Rules
from services.executors.stdout import bounded_json
from services.settings.http import HttpRequestSettings, HttpSettings
from services.version import VERSION

_PLACE = re.compile(r"\{\{\s*([\w.-]{1,200})\s*\}\}")
_WORDS = ("shop_id", "platform", "task_type", "task_id")
CHUNK = 64 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: headers that may go to another host than the one that they were written for
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


class Unfillable(Exception):
    """A place has no value; ``kind`` is of services.domain.task.classify."""

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        self.kind = kind


class Filler:
    """The values of one task."""

    def __init__(self, task: Task, payload: Mapping[str, Any], secret: Callable[[str], str | None]) -> None:
        self._words = {name: getattr(task, name) for name in _WORDS}
        self._payload, self._secret = payload, secret
        self.secrets: set[str] = set()  #: values that were filled in and must not be shown

    def url(self, text: str) -> str:
        """Values are escaped, so that none becomes a host, a path or a second parameter.

        Raises:
            Unfillable: see there.
        """
        return _PLACE.sub(lambda found: urllib.parse.quote(_word(self._value(found[1])), safe=""), text)

    def header(self, text: str) -> str:
        """Values hold no line end, which would begin a header of their own.

        Raises:
            Unfillable: see there.
        """

        def write(found: re.Match[str]) -> str:
            value = _word(self._value(found[1]))
            if any(ord(char) < 32 or ord(char) == 127 for char in value):
                raise Unfillable(own_words.write("own.header_controls", place=found[1]), classify.BAD_PAYLOAD)
            return value

        return _PLACE.sub(write, text)

    def body(self, template: Any, content_type: str) -> bytes:
        """A table becomes JSON; a text stays one, with its values written as its content type wants them.

        Raises:
            Unfillable: see there.
        """
        if not isinstance(template, str):
            return json.dumps(self._tree(template), ensure_ascii=False).encode()
        if "x-www-form-urlencoded" in content_type:
            return _PLACE.sub(lambda found: urllib.parse.quote_plus(_word(self._value(found[1]))), template).encode()
        if "json" in content_type or (not content_type and template.lstrip()[:1] in ("{", "[")):
            return _PLACE.sub(lambda found: _in_json(self._value(found[1])), template).encode()
        return _PLACE.sub(lambda found: _word(self._value(found[1])), template).encode()

    def _tree(self, node: Any) -> Any:
        if isinstance(node, dict):
            return {str(key): self._tree(value) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [self._tree(value) for value in node]
        if not isinstance(node, str):
            return node
        whole = _PLACE.fullmatch(node)
        return self._value(whole[1]) if whole else _PLACE.sub(lambda found: _word(self._value(found[1])), node)

    def _value(self, name: str) -> Any:
        if name in self._words:
            return self._words[name]
        first, _, rest = name.partition(".")
        if first == "secret" and rest:
            value = self._secret(rest)
            if value is None:
                variable = f"FLEETDECK_SECRET__{rest.upper()}"
                text = own_words.write("own.secret_unset", name=rest, variable=variable)
                raise Unfillable(text, classify.MISSING_SECRET)
            self.secrets.add(value)
            return value
        if first == "payload" and rest:
            return self._of_payload(rest)
        raise Unfillable(own_words.write("own.no_place", place=f"{{{{{name}}}}}"), classify.NO_COMMAND)

    def _of_payload(self, path: str) -> Any:
        node: Any = self._payload
        for key in path.split("."):
            if not isinstance(node, dict) or key not in node:
                raise Unfillable(own_words.write("own.payload_lacks", place=f"payload.{path}"), classify.BAD_PAYLOAD)
            node = node[key]
        return node


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _in_json(value: Any) -> str:
    """Inside quotes of the template a text is escaped; anything else is written as JSON."""
    return json.dumps(value, ensure_ascii=False)[1:-1] if isinstance(value, str) else json.dumps(value)


#: an answer longer than this goes as a file, not into the record
IN_RECORD = 64 * 1024
_SHOWN = ("content-type", "location", "etag", "last-modified", "x-request-id")
_SUFFIXES = {
    "application/json": ".json",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/plain": ".txt",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
}
_BY_STATUS = {
    401: classify.LOGIN_EXPIRED,
    403: classify.LOGIN_EXPIRED,
    408: classify.TIMEOUT,
    425: classify.NETWORK,
    429: classify.RATE_LIMITED,
    **dict.fromkeys((400, 404, 405, 406, 410, 411, 413, 414, 415, 422), classify.BAD_PAYLOAD),
}


def judged(answer: Answer, expect: Sequence[int], files: ArtifactSink, now_ms: int) -> Outcome:
    """Success where the status is one of those expected, any of 200 to 299 where none is named."""
    text = _text(answer)
    if answer.status in expect or (not expect and 200 <= answer.status < 300):
        return Outcome(ok=True, result=_result(answer, text, files))
    said = " ".join((text or "")[:1_000].split())
    code = "own.server_" + ("wanted" if expect else "answered") + ("_said" if said else "")
    error = own_words.write(code, status=answer.status, wanted=", ".join(map(str, expect)), said=said)
    return Outcome(
        ok=False,
        error=error,
        error_kind=_kind(answer.status, said),
        retry_after_s=_retry_after(answer, now_ms),
        of_shop=False,
    )


def _kind(status: int, said: str) -> str:
    if status >= 500:
        return classify.NETWORK
    known = _BY_STATUS.get(status, classify.UNKNOWN)
    if known == classify.LOGIN_EXPIRED and (told := classify.classify(said)) in (
        classify.CAPTCHA, classify.RISK_CONTROL, classify.RATE_LIMITED,
    ):  # fmt: skip
        return told
    return known


def _retry_after(answer: Answer, now_ms: int) -> float:
    """Seconds that the server asks to wait, 0 for none."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(min(int(said[:9]), 86_400))
    try:
        until = email.utils.parsedate_to_datetime(said) if said else None
    except ValueError:
        until = None
    if until is None:
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=dt.UTC)
    return min(max(0.0, until.timestamp() - now_ms / 1000), 86_400.0)


def without(answer: Answer, masker: Masker) -> Answer:
    """The answer with the secrets of its request made unreadable, before anything of it is cut, shown or kept: a server
    may repeat them anywhere, also in what it offers for download.
    """
    body, text = answer.body, _text(answer)
    if text is not None and (shown := masker.text(text)) != text:
        body = shown.encode(_charset(answer), "replace")
    headers = {name: masker.text(value) for name, value in answer.headers.items()}
    return replace(answer, headers=headers, body=masker.data(body))


def _charset(answer: Answer) -> str:
    kind = answer.headers.get("content-type", "")
    return kind.partition("charset=")[2].partition(";")[0].strip("\"' ") or "utf-8"


def _text(answer: Answer) -> str | None:
    """The body as text, None for what is none."""
    try:
        return answer.body.decode(_charset(answer))
    except (UnicodeDecodeError, LookupError):
        return None


def _result(answer: Answer, text: str | None, files: ArtifactSink) -> str:
    told: dict[str, object] = {
        "status": answer.status,
        "bytes": len(answer.body),
        "headers": {name: answer.headers[name][:500] for name in _SHOWN if name in answer.headers},
    }
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if text is None or len(answer.body) > IN_RECORD:
        kept = files.add(answer.body, name=f"response{_SUFFIXES.get(kind, '.bin')}", step="response")
        told["file"] = kept.name if kept is not None else None
    elif "json" in kind:
        try:
            told["json"] = json.loads(text)
        except (ValueError, RecursionError):
            told["text"] = text
    else:
        told["text"] = text
    return bounded_json(told)


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_LOOK_S = 0.05
_PAYLOAD_FIELDS = ("url", "method", "headers", "body", "expect")
Secret = Callable[[str, str, str], str | None]


class HttpExecutor:
    """One instance serves all slots; every attempt is one request."""

    name = "http"

    def __init__(
        self, settings: HttpSettings, *, secret: Secret = lambda platform, shop, name: None,
        now_ms: Callable[[], int] = lambda: 0,
    ) -> None:  # fmt: skip
        """``secret`` (platform, shop, name) finds secrets on this worker; ``now_ms`` tells the wall clock."""
        self._settings, self._secret, self._now_ms = settings, secret, now_ms
        self._rules = reach.Rules(hosts=settings.hosts, private_hosts=settings.private_hosts)
        self._lacks: set[str] = set()
        self._closing = threading.Event()

    def fitness(self) -> Fitness:
        """It needs nothing; a type that asked for a request which is not configured here waits for another worker."""
        return Fitness(lacks={name: f"executors.http.requests.{name}" for name in sorted(self._lacks)})

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Make the request of the job's type and judge the answer."""
        if self._closing.is_set() or context.cancelled.is_set():
            return broken_off("own.not_begun")
        payload = json.loads(job.task.payload)
        own = self._settings.requests.get(job.task.task_type)
        if own is None and not (self._settings.payload_urls and "url" in payload):
            self._lacks.add(job.task.task_type)
            text = own_words.write("own.no_request", type=job.task.task_type)
            return Outcome(ok=False, error=text, error_kind=classify.NO_COMMAND, unable=True)
        filler = Filler(job.task, payload, lambda name: self._secret(job.task.platform, job.task.shop_id, name))
        try:
            wanted = own if own is not None else _of_payload(payload)
            request = _request(wanted, filler if own is not None else None)
            reach.checked(request.url)
        except (Unfillable, reach.Refused) as exc:
            return Outcome(ok=False, error=str(exc), error_kind=exc.kind)
        masker = mask.Masker(value for value in filler.secrets if len(value) >= mask.SHORTEST)
        outcome = self._ask(request, wanted, job, context, masker)
        return msgspec.structs.replace(outcome, error=masker.text(outcome.error), result=masker.text(outcome.result))

    def close(self) -> None:
        """Break what is under way."""
        self._closing.set()

    def _ask(
        self, request: Request, wanted: HttpRequestSettings, job: Job, context: JobContext, masker: mask.Masker
    ) -> Outcome:
        def tell(line: str) -> None:
            context.log(own_words.OWN_STREAMS["out"], masker.text(line))

        tell(f"{request.method} {mask.masked_text(masker.text(request.url.partition('?')[0]))}")
        bounds = Bounds(
            rules=self._rules,
            timeout_s=job.timeout_s,
            redirects=self._settings.redirects,
            response_bytes=round(self._settings.response_mb * 1024 * 1024),
        )
        began = time.monotonic()
        fetch = Fetch(request, bounds, tell)
        fetch.start()
        stopped = self._watch(fetch, job.timeout_s, context)
        if stopped is not None:
            return stopped
        if fetch.answer is None:
            return _failed(fetch, request, job)
        took = time.monotonic() - began
        tell(f"{fetch.answer.status}, {len(fetch.answer.body):,} bytes in {took:.2f} s")
        answer = without(fetch.answer, masker)
        return judged(answer, wanted.expect, context.artifacts, self._now_ms())

    def _watch(self, fetch: Fetch, timeout_s: float, context: JobContext) -> Outcome | None:
        until = time.monotonic() + timeout_s
        while not fetch.done.wait(min(_LOOK_S, max(0.0, until - time.monotonic()))):
            if context.cancelled.is_set() or self._closing.is_set():
                context.stopping()
                fetch.give_up()
                return broken_off("own.stopped" if context.cancelled.is_set() else "own.stopped_closing")
            if time.monotonic() >= until:
                fetch.give_up()
                text = own_words.write("own.no_answer", seconds=f"{timeout_s:g}")
                return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
        return None


def _of_payload(payload: Mapping[str, Any]) -> HttpRequestSettings:
    """The request that a payload describes.

    Raises:
        Refused: a part of it has the wrong form.
    """
    given = {name: payload[name] for name in _PAYLOAD_FIELDS if name in payload}
    headers, expect = given.get("headers", {}), given.get("expect", [])
    if not isinstance(given.get("url"), str) or not isinstance(given.get("method", ""), str):
        raise reach.Refused(own_words.write("own.texts"))
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise reach.Refused(own_words.write("own.headers"))
    if not isinstance(expect, list) or not all(isinstance(code, int) for code in expect):
        raise reach.Refused(own_words.write("own.expect"))
    return HttpRequestSettings(
        url=given["url"], method=given.get("method", "GET"), headers=headers, body=given.get("body"),
        expect=tuple(expect),
    )  # fmt: skip


def _request(wanted: HttpRequestSettings, filler: Filler | None) -> Request:
    """``filler`` None: nothing is filled in, for a payload must not name secrets.

    Raises:
        Refused: it cannot be sent as it is.
        Unfillable: a value for it is missing.
    """
    method = wanted.method.upper()
    if method not in METHODS:
        given = f"{wanted.method!r:.40}"
        raise reach.Refused(own_words.write("own.method", known=", ".join(METHODS), method=given))
    headers = {name: filler.header(value) if filler else value for name, value in wanted.headers.items()}
    for name, value in headers.items():
        if not name.isascii() or any(ord(char) < 33 or char == ":" for char in name) or "\r" in value or "\n" in value:
            raise reach.Refused(own_words.write("own.header_cannot", name=f"{name!r:.60}"))
    lower = {name.lower() for name in headers}
    body = None
    if wanted.body is not None:
        if not isinstance(wanted.body, str) and "content-type" not in lower:
            headers["Content-Type"] = "application/json"
        kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
        body = filler.body(wanted.body, kind) if filler else _plain(wanted.body)
    headers = {"User-Agent": f"Fleetdeck/{VERSION}", **headers} if "user-agent" not in lower else headers
    return Request(method=method, url=filler.url(wanted.url) if filler else wanted.url, headers=headers, body=body)


def _plain(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()


def _failed(fetch: Fetch, request: Request, job: Job) -> Outcome:
    exc = fetch.failure
    if isinstance(exc, reach.Refused):
        return Outcome(ok=False, error=str(exc), error_kind=exc.kind)
    if isinstance(exc, TimeoutError):
        text = own_words.write("own.no_answer", seconds=f"{job.timeout_s:g}")
        return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
    text = str(exc) if isinstance(exc, BrokenOff) else f"{type(exc).__name__}: {exc}"
    if isinstance(exc, ssl.SSLCertVerificationError):
        text = own_words.write("own.untrusted", why=exc.verify_message)
    if fetch.sent and not job.task.idempotent and request.method not in ("GET", "HEAD", "OPTIONS"):
        # What was sent may have been done: the same doubt as after a time-out.
        text = own_words.write("own.sent_unanswered", why=text)
        return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
    return Outcome(ok=False, error=text, error_kind=classify.NETWORK)


class BrokenOff(ConnectionResetError):
    """The answer is shorter than was promised; the text says by how much."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked."""

    method: str
    url: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back; names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str  #: after redirects


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
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
            host = str(reach.checked(request.url).hostname)
            self._log(own_words.write("line.redirected", status=answer.status, host=host))
        raise Refused(own_words.write("own.many_redirects", most=bounds.redirects), classify.NETWORK)

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
                raise Refused(own_words.write("own.large_answer", most=f"{most:,}"))
            parts.append(chunk)
        if response.length:  # it promised more
            raise BrokenOff(own_words.write("own.broke_off", size=f"{response.length:,}"))
        return b"".join(parts)


def _redirected(request: Request, status: int, url: str) -> Request:
    before, after = reach.checked(request.url), reach.checked(url)
    if before.scheme == "https" and after.scheme == "http":
        raise Refused(own_words.write("own.to_plain_http"))
    headers = dict(request.headers)
    if (before.scheme, before.hostname, before.port) != (after.scheme, after.hostname, after.port):
        headers = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return replace(request, url=url, headers=headers)
    headers = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
    return replace(request, url=url, headers=headers, method="GET", body=None)
