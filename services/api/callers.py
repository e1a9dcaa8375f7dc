"""Who asks: the token of a request, or whoever is on this machine; and how often they may."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

import msgspec
from fastapi import Request

from services.api.problems import Problem
from services.api.runner import Caller
from services.assembly import Engine
from services.commands import operator
from services.commands.operator import Operator
from services.domain.fleet import role
from services.engine import tokens

LOCAL = "this machine"
#: wrong tokens in a minute from one address, before that is all it is told
WRONG_PER_MINUTE = 20
#: pages and files of them in a minute for one address, which an office may share
PAGES_PER_MINUTE = 600
#: what a proxy adds to a request; one that adds none of these cannot be told from a program of this machine
PROXIES = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via")
#: callers and addresses of which is kept how often they came
KEPT = 10_000
#: characters of a token that is looked at
MAX_TOKEN = 200


class Callers:
    """Knows who asks; safe to use from several threads."""

    def __init__(self, engine: Engine, *, loopback: bool, open_loopback: bool) -> None:
        """``loopback``: the server listens on this machine only, so that who comes without a token may look;
        ``open_loopback``: they may do what the account of this process may.
        """
        self._engine, self._loopback, self._open = engine, loopback, open_loopback
        self._rate = Rate(engine.settings.api.requests_per_minute)
        self._wrong = Rate(WRONG_PER_MINUTE)
        self._pages = Rate(PAGES_PER_MINUTE)
        self._noted: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, request: Request) -> Caller:
        """Who asks.

        Raises:
            Problem: it is nobody, or they ask too often.
            StoreUnavailable: nobody can say who it is.
        """
        given = request.headers.get("authorization")
        place = request.client.host if request.client is not None else ""
        caller = self._without(request) if given is None else self._with(given, place)
        request.state.caller = caller.name
        self._rate.take(caller.name)
        return caller

    def passing(self, request: Request) -> None:
        """Somebody who wants nothing of the fleet: a page, a file of it.

        Raises:
            Problem: they ask too often.
        """
        self._pages.take(request.client.host if request.client is not None else "")

    def _without(self, request: Request) -> Caller:
        proxied = any(name in request.headers for name in PROXIES)
        if not self._loopback or proxied:
            raise Problem(status=401, detail="this needs a token", code="token.missing")
        closed = self._engine.closed
        if self._open:
            return Caller(name=LOCAL, operator=operator.current(self._engine.store, read_only=closed))
        return Caller(name=LOCAL, operator=Operator(who=operator.person(), role=role.VIEWER, read_only=closed))

    def _with(self, given: str, place: str) -> Caller:
        scheme, _, text = given.partition(" ")
        text = text.strip()
        store = self._engine.store
        found = tokens.find(store, text) if scheme.lower() == "bearer" and 0 < len(text) <= MAX_TOKEN else None
        if found is None:
            self._wrong.take(place)
            raise Problem(
                status=401, detail="this is no token, or one that was revoked or has ended", code="token.wrong"
            )
        self._note(found.name)
        who = Operator(who=found.who, role=found.role, read_only=self._engine.closed, token=found.name)
        return Caller(name=found.who, operator=who)

    def _note(self, name: str) -> None:
        """That it was used, to the minute."""
        now = time.monotonic()
        with self._lock:
            if self._engine.settings.read_only or now - self._noted.get(name, float("-inf")) < tokens.USED_MS / 1000:
                return
            self._noted[name] = now
            self._noted.move_to_end(name)
            while len(self._noted) > KEPT:
                self._noted.popitem(last=False)
        tokens.note_use(self._engine.store, name)


class _Bucket(msgspec.Struct):
    left: float
    at: float


class Rate:
    """So many in a minute for each name, all at once where nothing came before."""

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Count one.

        Raises:
            Problem: there were too many.
        """
        with self._lock:
            bucket = self._bucket(name)
            _check(bucket, self._most)
            bucket.left -= 1.0

    def _bucket(self, name: str) -> _Bucket:
        now = time.monotonic()
        bucket = self._buckets.setdefault(name, _Bucket(float(self._most), now))
        bucket.left = min(float(self._most), bucket.left + (now - bucket.at) * self._most / 60)
        bucket.at = now
        self._buckets.move_to_end(name)
        while len(self._buckets) > KEPT:
            self._buckets.popitem(last=False)
        return bucket


def _check(bucket: _Bucket, most: int) -> None:
    if bucket.left < 1.0:
        wait_s = (1.0 - bucket.left) * 60 / most
        text = f"{most} in a minute are answered"
        raise Problem(status=429, detail=text, code="too_many", params={"per_minute": most}, again_s=wait_s)
