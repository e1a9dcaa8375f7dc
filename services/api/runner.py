"""Does what the command line does, for a caller of this server: the same words, rights, audit and documents."""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from services import assembly, i18n
from services import settings as config
from services.api.problems import AGAIN_S, Problem
from services.assembly import Commands, Engine
from services.cli import program
from services.cli.context import EXIT_CONNECT, EXIT_FAILED, EXIT_OK, EXIT_USAGE, ConsoleRequest, Context
from services.commands.operator import Operator
from services.domain import audit
from services.domain.errors import BrokerError, ConsoleError, StoreError
from services.domain.fleet import role
from services.domain.upkeep.stored import Document
from services.ports import Store
from services.rewrite import rewrite

#: the header of a request that may be sent again
KEY = "Idempotency-Key"
#: callers whose commands are kept ready
KEPT = 64
#: documents of requests that came with a key, 4,096 heaps of them by the first digits of their names: how long one is
#: known, how many a heap holds, and how long an answer is kept; of a longer one what was made is told again
KIND, KEPT_MS, DIGITS, IN_HEAP, MOST_KEPT = "request", 86_400_000, 3, 32, 2_000
#: of an answer: what was done; while all of it is empty, nothing was
_DONE = ("done", "requested", "created")
_UNKNOWN = frozenset({"task.unknown"})


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks."""

    name: str  #: for the log and the rate: of the token, or where from without one
    operator: Operator


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a command said."""

    code: int
    document: Any


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A request that came with a key."""

    key: str  #: of the caller
    asked: str  #: what it said
    at: int  #: when it came first, UTC ms
    answer: str = ""  #: "" before there is one, and where it is too long to be kept
    ended: bool = False  #: there was one


class Requests:
    """The requests of the last 24 hours that came with a key, in the store: whichever server is asked again knows them.

    They lie in heaps, so that one is found without the others; of a full heap the oldest is forgotten. What it has made
    is made once all the same for whoever is still about to answer it: its ids follow from the key.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, key: str, asked: str) -> tuple[Sent, bool]:
        """The request as it came first, and whether that is now."""
        fresh = Sent(key=key, asked=asked, at=self._store.now_ms())

        def put(heap: list[Sent]) -> list[Sent]:
            return heap if any(one.key == key for one in heap) else [*heap, fresh]

        known = next(one for one in self._change(key, put) if one.key == key)
        return known, known == fresh

    def end(self, sent: Sent, answer: str) -> None:
        """Keep the answer."""
        done = replace(sent, answer=answer if len(answer) <= MOST_KEPT else "", ended=True)
        self._change(sent.key, lambda heap: [done if one == sent else one for one in heap])

    def forget(self, sent: Sent) -> None:
        """Nothing came of it."""
        self._change(sent.key, lambda heap: [one for one in heap if one != sent])

    def _change(self, key: str, change: Callable[[list[Sent]], list[Sent]]) -> list[Sent]:
        def make(body: str | None) -> list[Sent]:
            since = self._store.now_ms() - KEPT_MS
            return change([one for one in _heap(body) if one.at > since])[-IN_HEAP:]

        return rewrite(self._store, KIND, key[:DIGITS], make, _HEAP.dump)


_HEAP = Document(list[Sent])


def _heap(body: str | None) -> list[Sent]:
    try:
        return _HEAP.load(body or "[]")
    except ValueError as exc:  # taken for none, what a key of it has made would be made once more
        raise Problem(
            status=409,
            detail="what is kept of earlier requests with such a key cannot be read",
            code="idempotency.unreadable",
            field=KEY,
            remedy="Run `repair`, which sets it aside, and look before you send again what may be done.",
        ) from exc


class _Asked(Context):
    """A run of a command within this server. Nobody can be asked back: ``yes`` stands among the words, or it is
    refused.
    """

    over: Engine | None = None
    document: Any = None

    @property
    def json(self) -> bool:
        return True

    def settings(self) -> config.Settings:
        assert self.over is not None
        return self.over.settings

    @contextmanager
    def engine(self, *, looking: bool = False) -> Iterator[Engine]:
        """The server's own, which stays open; what other programs sent is recorded by whoever leads."""
        assert self.over is not None
        yield self.over

    def show(self, document: Any, lines: Sequence[str]) -> None:
        self.document = document

    def warn(self, sentences: Sequence[str]) -> None:
        """The document has them."""


class Runner:
    """Commands over the engine of this server; safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._requests = Requests(engine.store)
        self._commands: OrderedDict[str, Commands] = OrderedDict()
        self._lock = threading.Lock()

    def acting(self, caller: Caller) -> Engine:
        """The engine in the name of a caller."""
        with self._lock:
            commands = self._commands.pop(caller.name, None)
            if commands is None or commands.operator != caller.operator:
                commands = assembly.commands_of(replace(self.engine, via=audit.REST), caller.operator)
            self._commands[caller.name] = commands
            while len(self._commands) > KEPT:
                self._commands.popitem(last=False)
        return replace(self.engine, acting=commands)

    def ask(self, caller: Caller, verb: str, *named: str, once: str = "", told: bool = False, **options: Any) -> Answer:
        """Run a command: ``task list``, what it names, and its options; those that are empty are left out. ``once``:
        what is made under this name is made once; ``told``: nothing more is.

        Raises:
            ConsoleError: as the command does.
        """
        with i18n.speaking(i18n.SOURCE_LANGUAGE):  # for a program
            args = _grammar().parse_args(words(verb, *named, **options))
            asked = _Asked(args, _no_window, origin="rest", once=once, told=told, over=self.acting(caller))
            code = int(args.handler(asked))
        return Answer(code=code, document=asked.document)

    def act_once(self, caller: Caller, key: str, asked: object, verb: str, **options: Any) -> tuple[Any, bool]:
        """``act``, once for each ``key`` of a caller in 24 hours: the document, and whether this is an answer of
        before. What did nothing is forgotten. ``asked``: all that was said.

        Raises:
            Problem: the key came with another request; or as of ``act``.
        """
        if caller.operator.read_only or not role.reaches(caller.operator.role, role.OPERATOR):
            return self.act(caller, verb, **options).document, False  # which refuses, and nothing is to be kept
        text = json.dumps(asked, sort_keys=True, ensure_ascii=False)
        sent, fresh = self._requests.begin(_digest(f"{caller.name}\n{key}"), _digest(text))
        if sent.asked != _digest(text):
            raise Problem(
                status=422,
                detail="this Idempotency-Key came with another request before",
                code="idempotency.other",
                field=KEY,
                remedy="Send another key with another request; to repeat one, send all of it as it was.",
            )
        if sent.answer:
            return json.loads(sent.answer), True
        name = f"{sent.key}.{sent.at}"
        if sent.ended:  # what was refused of it then is not made now
            return self.act(caller, verb, once=name, told=True, **options).document, True
        try:
            document = self.act(caller, verb, once=name, **options).document
        except (Problem, ConsoleError) as exc:
            gone = isinstance(exc, BrokerError | StoreError) or getattr(exc, "status", 0) == 503
            if not gone:  # else some of it may be made, and asking again goes on with that
                self._requests.forget(sent)
            raise
        self._requests.end(sent, json.dumps(document, ensure_ascii=False))
        return document, not fresh

    def act(self, caller: Caller, verb: str, *named: str, **options: Any) -> Answer:
        """The same for a command that changes something: what was not done is a problem.

        Raises:
            Problem: nothing of it was done; the document of the command is in ``outcome``.
        """
        answer = self.ask(caller, verb, *named, **options)
        if answer.code == EXIT_OK:
            return answer
        document = answer.document if isinstance(answer.document, dict) else {}
        if answer.code == EXIT_CONNECT:
            raise Problem(
                status=503,
                detail="store or broker went away while it was done",
                code="unavailable",
                again_s=AGAIN_S,
                more={"outcome": document},
            )
        if answer.code in (EXIT_FAILED, EXIT_USAGE) and _has_done(document):
            return answer  # told as refused it would be asked for once more, and made twice
        raise _refused(answer.code, document)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def words(verb: str, *named: str, **options: Any) -> list[str]:
    """The line that means this."""
    line = verb.split(" ")
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            line.append(option)
        elif isinstance(value, list | tuple):
            for one in value:
                line += [option, *one] if isinstance(one, list | tuple) else [f"{option}={one}"]
        elif value not in (None, False, ""):
            line.append(f"{option}={value}")
    return [*line, "--", *named] if named else line


def _has_done(document: dict[str, Any]) -> bool:
    """Whether some of it was done; ``done`` of a creation names what others had done already, so it was not created."""
    if _tally(document).get("created"):
        return True
    return any(document.get(name) for name in _DONE if name != "done" or "duplicates" not in document)


def _tally(document: dict[str, Any]) -> dict[str, Any]:
    """What became of the shops of a schedule; of anything else nothing."""
    found = document.get("run") or document.get("backfill") or {}
    return found if isinstance(found, dict) else {}


def _refused(code: int, document: dict[str, Any]) -> Problem:
    """The first of what was not done stands for it."""
    if tally := _tally(document):
        counted = ", ".join(f"{tally[name]} {name}" for name in ("active", "done", "failed") if tally.get(name))
        text = tally.get("error") or f"nothing was created: of its tasks there are {counted or 'none'}"
        return Problem(status=409, detail=text, code="refused", more={"outcome": document})
    faults = [*document.get("skipped", ()), *document.get("failed", ())]
    if faults:
        status = 404 if faults[0]["code"] in _UNKNOWN else 409
        text, name = faults[0]["reason"], faults[0]["code"]
        return Problem(status=status, detail=text, code=name, more={"outcome": document})
    if errors := document.get("errors"):
        first = errors[0]
        return Problem(
            status=422, detail=first["error"], code="usage", field=first.get("field", ""), more={"outcome": document}
        )
    for name, sentence in (
        ("duplicates", "{shop} {type}: {existing} is {status}"),
        ("done", "{shop} {type}: the same work succeeded at {at} as {existing}; to do it again say why in `reason`"),
    ):
        if found := document.get(name):
            text = sentence.format(**found[0])
            return Problem(status=409, detail=text, code=f"task.{name}", more={"outcome": document})
    stopped = document.get("stopped") or {}
    return Problem(
        status=422 if code == EXIT_USAGE else 409,
        detail=stopped.get("reason") or document.get("error") or "it was not done",
        code=stopped.get("code") or "refused",
        more={"outcome": document},
    )


class _Parser(program.Parser):
    """Says what is wrong to its caller alone."""

    def print_usage(self, file: Any = None) -> None:
        """Nobody reads it here."""


@functools.cache
def _grammar() -> argparse.ArgumentParser:
    return program.grammar(_Parser)


def _no_window(request: ConsoleRequest) -> NoReturn:
    raise AssertionError("a server opens no window")
