"""Executor ``http``: makes the request of a task type; nothing of it may be a way into the worker's own network."""

from __future__ import annotations

import json
import logging
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from services.domain.task import classify, own_words
from services.domain.text import mask
from services.executors.base import Fitness, Job, JobContext, Outcome
from services.executors.http import reach, verdict
from services.executors.http.fetch import Bounds, Fetch, Request
from services.executors.http.template import Filler, Unfillable
from services.settings.http import HttpRequestSettings, HttpSettings
from services.version import VERSION

log = logging.getLogger(__name__)
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
            return Outcome(
                ok=False, cancelled=True, error=own_words.write("own.not_begun"), error_kind=classify.CANCELLED
            )
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
            context.log("out", masker.text(line))

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
        answer = verdict.without(fetch.answer, masker)
        return verdict.judged(answer, wanted.expect, context.artifacts, self._now_ms())

    def _watch(self, fetch: Fetch, timeout_s: float, context: JobContext) -> Outcome | None:
        until = time.monotonic() + timeout_s
        while not fetch.done.wait(min(_LOOK_S, max(0.0, until - time.monotonic()))):
            if context.cancelled.is_set() or self._closing.is_set():
                context.stopping()
                fetch.give_up()
                text = own_words.write("own.stopped" if context.cancelled.is_set() else "own.stopped_closing")
                return Outcome(ok=False, cancelled=True, error=text, error_kind=classify.CANCELLED)
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
        raise reach.Refused("payload.url and payload.method must be texts")
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise reach.Refused("payload.headers must be an object of texts")
    if not isinstance(expect, list) or not all(isinstance(code, int) for code in expect):
        raise reach.Refused("payload.expect must be a list of statuses such as 200")
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
        raise reach.Refused(f"method must be one of {', '.join(METHODS)}, not {wanted.method!r:.40}")
    headers = {name: filler.header(value) if filler else value for name, value in wanted.headers.items()}
    for name, value in headers.items():
        if not name.isascii() or any(ord(char) < 33 or char == ":" for char in name) or "\r" in value or "\n" in value:
            raise reach.Refused(f"the header {name!r:.60} cannot be sent")
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
    text = f"{type(exc).__name__}: {exc}"
    if isinstance(exc, ssl.SSLCertVerificationError):
        text = own_words.write("own.untrusted", why=exc.verify_message)
    if fetch.sent and not job.task.idempotent and request.method not in ("GET", "HEAD", "OPTIONS"):
        # What was sent may have been done: the same doubt as after a time-out.
        text = own_words.write("own.sent_unanswered", why=text)
        return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
    return Outcome(ok=False, error=text, error_kind=classify.NETWORK)
