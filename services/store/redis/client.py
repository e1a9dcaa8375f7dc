"""The connections to Redis: one place that sets time-outs, forbids blind repetition and translates errors."""

from __future__ import annotations

import contextlib
import logging
import re
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import redis
from redis import exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from services import addresses, tls
from services import log as logs
from services.domain.errors import (
    Forbidden,
    NotAllowed,
    SchemaTooNew,
    StoreError,
    StoreUnavailable,
    Unreadable,
    UsageError,
)
from services.domain.text.said import Said, newer, said, words_of
from services.store.redis import keys, server
from services.store.redis.script import LIBRARY, Script
from services.store.unreadable import tell

log = logging.getLogger(__name__)
Command = Sequence[Any]

CONNECT_S, ANSWER_S = 3.0, 5.0
#: a waiting read is cut into pieces, so that closing the store is noticed
WAIT_PIECE_S = 1.0
#: for so long a write that was refused is told of; who asks how the store is tries one
REFUSED_S = 15.0
MAX_CONNECTIONS = 256
#: of functions, by as many versions of this program
LIBRARIES_KEPT = 8
_LATER = (
    exceptions.ConnectionError,
    exceptions.InvalidResponse,
    exceptions.TimeoutError,
    exceptions.BusyLoadingError,
    exceptions.ClusterDownError,
    exceptions.MasterDownError,
    exceptions.TryAgainError,
)
_LATER_CODES = ("MISCONF", "NOREPLICAS", "BUSY", "LOADING", "MASTERDOWN", "CLUSTERDOWN")
#: refusals of every write, whatever it needs
_NO_WRITES = ("store.no_writes", "store.replica")
#: commands of the driver that change something
WRITES = frozenset({
    "DEL", "HDEL", "HINCRBY", "HSET", "HSETNX", "INCRBY", "LTRIM", "MSET", "PEXPIRE", "RPUSH", "SADD", "SET", "SREM",
    "UNLINK", "XADD", "XTRIM", "ZADD", "ZREM",
})  # fmt: skip
_BROKEN = re.compile(r"FLEETDECK_BROKEN (?P<place>.*?)(?: script: .*)?$")
#: what a reading command answers where there is nothing
_EMPTY: Mapping[str, Callable[[Command], Any]] = {
    **dict.fromkeys(("HGETALL",), lambda command: {}),
    **dict.fromkeys(("SMEMBERS",), lambda command: set()),
    **dict.fromkeys(("GET", "HGET", "ZSCORE", "ZRANK", "ZREVRANK"), lambda command: None),
    **dict.fromkeys(
        ("ZCARD", "ZCOUNT", "ZINTERCARD", "SCARD", "LLEN", "HLEN", "XLEN", "SISMEMBER", "HEXISTS"), lambda command: 0
    ),
    **dict.fromkeys(("ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE", "ZREVRANGEBYSCORE", "ZRANGEBYLEX"), lambda command: []),
    **dict.fromkeys(("HKEYS", "LRANGE", "XRANGE", "XREVRANGE", "SRANDMEMBER"), lambda command: []),
    "HMGET": lambda command: [None] * (len(command) - 2),
    **dict.fromkeys(("ZSCAN", "SSCAN", "HSCAN"), lambda command: (0, [])),
}
_USERINFO = re.compile(r"//.*@")
_SECRET = re.compile(r"([?&](?:password|username)=)[^&]*", re.IGNORECASE)


def shown(url: str) -> str:
    """The address without user and password."""
    return _SECRET.sub(r"\1***", _USERINFO.sub("//", url))


def make_client(url: str, answer_s: float, *, insecure: bool = False) -> redis.Redis:
    """The only place that makes a client: RESP2, explicit time-outs, nothing repeated behind our back, TLS verified
    unless ``insecure``.

    Raises:
        UsageError: the address is not one.
    """
    tls.check_files(_options(url), tls.REDIS, "store.url")
    # a socket file has nothing that could be kept alive or waited for
    over_net = {} if url.startswith("unix:") else {"socket_connect_timeout": CONNECT_S, "socket_keepalive": True}
    unchecked = {"ssl_cert_reqs": "none", "ssl_check_hostname": False} if insecure and url.startswith("rediss:") else {}
    try:
        pool = redis.ConnectionPool.from_url(
            url,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=answer_s,
            **over_net,
            **unchecked,
            # a PING before a question finds what the question finds; and is refused, as a write, by who cannot save
            health_check_interval=0,
            max_connections=MAX_CONNECTIONS,
            client_name="fleetdeck",
            # else each connection looks for the metadata of the library and reads it, before it asks anything
            driver_info=None,
        )
    except (ValueError, TypeError) as exc:
        told = said("address.unreadable", field="store.url", like="redis://host:6379/0")
        raise UsageError(told, field="store.url") from exc
    return redis.Redis(connection_pool=pool)


#: for so long a newer program is not asked after by what writes no batch
WRITABLE_S = 10.0


class FieldsChanged(StoreUnavailable):
    """The script of a batch knows other fields of payloads as indexed than its caller; nothing has changed yet."""


#: what Redis says of a script whose user lacks a right
_BARRED = "can't run this command"


class OtherLife(StoreUnavailable):
    """The data are not those that the caller of a batch knows; nothing has changed yet."""


class Link:
    """Raw commands and scripts; thread-safe. Errors of redis-py never leave it."""

    def __init__(self, url: str, *, read_only: bool = False, insecure: bool = False) -> None:
        """``read_only``: what would change something is refused here, or by Redis itself within a script."""
        self.address, self._options = shown(url), _options(url)
        self._place = addresses.shown(url).partition("/")[0]
        self._insecure = insecure
        self._silent_since: float | None = None  #: monotonic; None while it answers
        self.returns = 0  #: how often it has answered again; it may have forgotten its last moments then
        self._spoken = False  #: it has answered once, so what breaks now is not the kind of the connection
        self.read_only = read_only
        self._eval = ("EVALSHA_RO", "EVAL_RO") if read_only else ("EVALSHA", "EVAL")
        self._client = make_client(url, ANSWER_S, insecure=insecure)
        self._waiting = make_client(url, WAIT_PIECE_S + ANSWER_S, insecure=insecure)
        self.before: Callable[[], None] = lambda: None  #: done before anything is asked for by a command
        self.closed = threading.Event()
        self.server: dict[str, str] = {}  #: version, mode and role, as the server says; empty where it does not
        self._refused: tuple[float, str] = (-REFUSED_S, "")
        self._known = False
        self._writable_until = 0.0  #: monotonic
        self._functions = True  #: until this account turns out not to be allowed any

    def call(self, *command: Any) -> Any:
        """One command. A key that holds another kind of thing than it should reads as if it were not there."""
        self._permit(command)
        self._look()
        self.before()
        with self._translated():
            try:
                return self._client.execute_command(*command)
            except exceptions.ResponseError as exc:
                return _nothing(command, exc)

    def many(self, commands: Sequence[Command], *, atomic: bool = False) -> list[Any]:
        """Commands in one round trip; ``atomic``: as one transaction, at one instant."""
        if not commands:
            return []
        for command in commands:
            self._permit(command)
        self._look()
        self.before()
        with self._translated():
            try:
                replies = self._replies(commands, atomic=atomic)
            except exceptions.OutOfMemoryError:  # Redis queues nothing for a transaction then, but lets everybody read
                if not atomic or any(command[0] in WRITES for command in commands):
                    raise
                self._takes_nothing(StoreUnavailable(_memory(self.address)))
                replies = self._replies(commands, atomic=False)
            for place, (command, reply) in enumerate(zip(commands, replies, strict=True)):
                if isinstance(reply, exceptions.ResponseError):
                    replies[place] = _nothing(command, reply)
                elif isinstance(reply, Exception):
                    raise reply
            return list(replies)

    def _replies(self, commands: Sequence[Command], *, atomic: bool) -> list[Any]:
        with self._client.pipeline(transaction=atomic) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            return list(pipe.execute(raise_on_error=False))

    def tell(self, packed: bytes, count: int) -> None:
        """``count`` commands that are in the form of the wire already, when only their success matters."""
        self._permit(("SET",))
        self._look()
        pool = self._client.connection_pool
        with self._translated():
            connection = pool.get_connection()
            try:
                connection.send_packed_command([packed])
                for _ in range(count):
                    connection.read_response()
            except BaseException:
                connection.disconnect()  # replies that nobody has read must not answer the next question
                raise
            finally:
                pool.release(connection)

    def run(self, script: Script, names: Sequence[str | bytes], *arguments: Any) -> Any:
        """A script by its name; where Redis does not know it (restart, flush) with its text. As a function where it is
        one, and this account may make functions.
        """
        with self._translated():
            if script.function and self._functions and not self.read_only:
                try:
                    return self._function(script, names, *arguments)
                except exceptions.NoPermissionError:
                    self._functions = False
            known, new = self._eval
            try:
                return self._client.execute_command(known, script.sha, len(names), *names, *arguments)
            except exceptions.NoScriptError:
                return self._client.execute_command(new, script.text, len(names), *names, *arguments)

    def _function(self, script: Script, names: Sequence[str | bytes], *arguments: Any) -> Any:
        for _ in range(3):  # another program may tidy up between two commands
            try:
                return self._client.execute_command("FCALL", script.function, len(names), *names, *arguments)
            except exceptions.NoPermissionError:
                raise
            except exceptions.ResponseError as exc:
                if "unction not found" not in str(exc):
                    raise
            self._tidy_functions()
            self._client.execute_command("FUNCTION", "LOAD", "REPLACE", script.library)
        raise exceptions.NoPermissionError("functions do not stay")

    def _tidy_functions(self) -> None:
        """Programs of other versions have left libraries; who still runs brings its own again."""
        listed = self._client.execute_command("FUNCTION", "LIST", "LIBRARYNAME", f"{LIBRARY}*")
        if len(listed) >= LIBRARIES_KEPT:
            for found in listed:
                with contextlib.suppress(exceptions.ResponseError):
                    self._client.execute_command("FUNCTION", "DELETE", found[found.index(b"library_name") + 1])

    def wait(self, stream: str, after: str, seconds: float) -> bool:
        """Wait up to ``seconds``, at most one piece, until the stream has an entry behind ``after``."""
        self.before()
        block = max(1, round(min(seconds, WAIT_PIECE_S) * 1000))
        with self._translated():
            try:
                found = self._waiting.execute_command("XREAD", "COUNT", 1, "BLOCK", block, "STREAMS", stream, after)
            except exceptions.ResponseError as exc:
                _nothing(("XRANGE", stream), exc)
                self.closed.wait(block / 1000)  # nothing comes through a stream that is none
                return False
            return bool(found)

    def _permit(self, command: Command) -> None:
        if self.read_only and command[0] in WRITES:
            raise NotAllowed(said("store.read_only", address=self.address), field="role")

    def refused(self) -> tuple[list[str], bool]:
        """Commands that this account may not use, and whether it may not use our keys; nothing is carried out. Of a
        connection that only looks, those that read.
        """
        pool = self._client.connection_pool
        needed = server.READING if self.read_only else server.NEEDED
        replies: list[str] = []
        with self._translated():
            connection = pool.get_connection()
            try:
                for command in (("MULTI",), *needed, ("DISCARD",)):
                    connection.send_command(*command)
                    try:
                        connection.read_response()
                        replies.append("")
                    except exceptions.NoPermissionError as exc:
                        replies.append(f"NOPERM {exc}")
                    except exceptions.ResponseError as exc:
                        replies.append(str(exc))
            finally:
                connection.disconnect()
                pool.release(connection)
        found, keys_too = server.refused(needed, replies[1:-1])
        return [*(["MULTI"] if replies[0] else []), *found], keys_too

    def _look(self) -> None:
        """Refuse, before anything else is said to it, a server that nothing can be kept on; until it is one.

        Raises:
            StoreUnavailable: with what to name instead.
        """
        if self._known:
            return
        with self._translated():
            try:
                self.server = server.fields(self._client.execute_command("HELLO"))
            except exceptions.ResponseError:  # an old one, or an account that may not ask
                self._known = True
                return
            mode, role = self.server.get("mode", ""), self.server.get("role", "")
            split = mode == "cluster" and self._shards() > 1
        if mode == "sentinel":
            raise StoreUnavailable(said("store.sentinel", address=self.address))
        if split:
            raise StoreUnavailable(said("store.cluster", address=self.address))
        if role not in ("", "master") and not self.read_only:
            raise StoreUnavailable(said("store.replica", address=self.address))
        self._known = True

    def _shards(self) -> int:
        try:
            return server.shards(self._client.execute_command("CLUSTER", "INFO"))
        except exceptions.ResponseError:  # may not be asked; a key that lies elsewhere will tell
            return 0

    def check_writable(self, *, repairing: bool = False) -> None:
        """Refuse to write beside a newer program; asked now and then, scripts look at every batch themselves.

        ``repairing``: where nobody can read which program that was, whoever repairs it may.

        Raises:
            SchemaTooNew: the data were written by a newer program.
        """
        if time.monotonic() < self._writable_until:
            return
        try:
            why = self.newer()
        except Unreadable:
            if repairing:
                return
            raise
        if why:
            raise SchemaTooNew(why)
        self._writable_until = time.monotonic() + WRITABLE_S

    def newer(self) -> str:
        """See ``services.ports.Store``.

        Raises:
            Unreadable: nobody can read which program it was.
        """
        try:
            number, program = self.call("HMGET", keys.META, "writer", "program") or (None, None)
            written = int(number or 0)
            if not 0 <= written <= keys.MOST_SCHEMA:
                raise ValueError(written)
        except ValueError as exc:
            place = f"{keys.META} writer"
            raise Unreadable(said("store.unreadable", address=self.address, place=place)) from exc
        if written <= keys.SCHEMA:
            return ""
        self._writable_until = 0.0
        return newer(self.address, _word(program or b""), written, keys.SCHEMA)

    def close(self) -> None:
        """Leave; who still waits is let go within one piece."""
        self.closed.set()
        self._disconnect()

    def _silence(self, error: Exception) -> str:
        """Why there was no answer, and what to do about the usual reasons."""
        cause, address = error.__context__, self.address
        if self._silent_since is None:
            self._silent_since = time.monotonic()
        if isinstance(cause, ConnectionRefusedError):
            return said("store.nobody", address=address)
        if isinstance(error, exceptions.BusyLoadingError):
            return said("store.loading", address=address)
        path = self._client.connection_pool.connection_kwargs.get("path", "")
        if path and isinstance(cause, FileNotFoundError | PermissionError):
            barred = isinstance(cause, PermissionError)
            return said("store.socket_barred" if barred else "store.no_socket", path=path)
        return self._of_network(error)

    def _of_network(self, error: Exception) -> str:
        cause, address = error.__context__, self.address
        if isinstance(cause, socket.gaierror):
            return said("store.unknown_host", address=address)
        if address.startswith(tls.REDIS.secure):
            found = tls.sentence(self._reasons(error), self._place, self._options, tls.REDIS)
            if found is not None:
                return found
        elif address.startswith(tls.REDIS.plain) and not self._spoken and _broken(error):
            return said("tls.secure", place=self._place, plain=tls.REDIS.plain, secure=tls.REDIS.secure)
        return said("store.silent", address=address, error=str(error))

    def _reasons(self, error: Exception) -> list[BaseException]:
        """The error, and what it was made from; with what the server says only to who listens."""
        found = list(_chain(error))
        if not self._spoken:
            place = self._client.connection_pool.connection_kwargs
            heard = tls.heard(found, place["host"], place["port"], self._options, tls.REDIS, insecure=self._insecure)
            found += [heard] if heard is not None else []
        return found

    def _disconnect(self) -> None:
        """Close what is not in use; a connection that another thread uses is closed by that one, when it is done."""
        for client in (self._client, self._waiting):
            client.connection_pool.disconnect(inuse_connections=False)

    def try_write(self) -> None:
        """Let Redis tell whether it takes writes: to set only what is there, which never is, changes and costs nothing,
        and is refused where a write would be, also for want of memory.
        """
        if self.read_only:
            return
        try:
            self.call("SET", keys.NOTHING, "", "XX")
            if _code(self._refused[1]) in _NO_WRITES:
                self._refused = -REFUSED_S, ""
        except StoreError as exc:
            if isinstance(exc.__cause__, exceptions.TimeoutError):  # who asks has had an answer to what only reads
                self._silent_since = None
                why = f"no answer to a write within {ANSWER_S:g} s"
                self._takes_nothing(StoreUnavailable(said("store.no_writes", address=self.address, error=why)))

    @property
    def refusing(self) -> str:
        """Why Redis took no write a moment ago, "" where it did or nobody tried: reading goes on meanwhile."""
        at, why = self._refused
        return why if time.monotonic() - at < REFUSED_S else ""

    def _answered(self, begun: float) -> None:
        """``begun``: when it was asked; an answer that was under way as others got none tells nothing."""
        self._spoken = True
        since = self._silent_since
        if since is not None and since <= begun:
            self._silent_since = None
            self.returns += 1
            away = round(time.monotonic() - since)
            log.warning("%s answers again after %d s", self.address, away, extra=logs.back(StoreUnavailable))

    def _takes_nothing(self, error: StoreError) -> StoreError:
        words = words_of(error)
        if isinstance(error, FieldsChanged | OtherLife):  # it is sent again with the others, and taken
            return error
        if isinstance(error, SchemaTooNew):
            self._writable_until = 0.0
        if _code(words) in ("store.full", *_NO_WRITES):
            self._refused = time.monotonic(), words
        return error

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        if self.closed.is_set():
            raise StoreUnavailable(said("store.closed", address=self.address))
        begun = time.monotonic()
        try:
            yield
            self._answered(begun)
        except exceptions.AuthenticationError as exc:
            raise StoreUnavailable(said("store.refuses_user", address=self.address)) from exc
        except exceptions.OutOfMemoryError as exc:
            raise self._takes_nothing(StoreUnavailable(_memory(self.address))) from exc
        except _LATER as exc:
            raise StoreUnavailable(self._silence(exc)) from exc
        except exceptions.ResponseError as exc:
            raise self._takes_nothing(_refusal(self.address, exc)) from exc
        except exceptions.RedisError as exc:
            raise StoreError(f"{self.address}: {exc}") from exc
        finally:
            if self.closed.is_set():
                self._disconnect()


#: what the script of a batch found other than its caller knew it
_LOOK_AGAIN: Mapping[str, tuple[type[StoreUnavailable], str]] = {
    "FLEETDECK_INDEXED": (FieldsChanged, "the indexed fields have changed"),
    "FLEETDECK_LIFE": (OtherLife, "it is not the store that was known here"),
}


def _code(words: str) -> str:
    return words.message.code if isinstance(words, Said) else ""


def _options(url: str) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(url.partition("?")[2]))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _broken(error: Exception) -> bool:
    """Whether the other side answered in another language, or hung up, as a server that waits for TLS does."""
    reset = any(isinstance(one, ConnectionResetError | exceptions.InvalidResponse) for one in _chain(error))
    return reset or "losed by server" in str(error)


def _nothing(command: Command, error: exceptions.ResponseError) -> Any:
    """What a reading command answers about a key that holds another kind of thing; it is told once.

    Raises:
        ResponseError: it is another error, or the command writes.
    """
    empty = _EMPTY.get(str(command[0]))
    if empty is None or not str(error).startswith("WRONGTYPE"):
        if str(error).startswith("WRONGTYPE") and len(command) > 1:
            raise exceptions.ResponseError(f"FLEETDECK_BROKEN {_word(command[1])}") from error
        raise error
    tell("another kind of thing", "key", _word(command[1]), str(error))
    return empty(command)


def _word(name: str | bytes) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _memory(address: str) -> str:
    return said("store.full", address=address)


def _refusal(address: str, error: Exception) -> StoreError:
    """What an error reply means; those that pass by themselves are worth repeating."""
    text = str(error)
    if isinstance(error, exceptions.AskError):  # the key lies on another server
        return StoreUnavailable(said("store.cluster", address=address))
    if "FLEETDECK_SCHEMA" in text:
        found, _, program = text.partition("FLEETDECK_SCHEMA ")[2].partition(" ")
        return SchemaTooNew(newer(address, program, int(found), keys.SCHEMA))
    if looks := next((name for name in _LOOK_AGAIN if name in text), ""):
        kind, why = _LOOK_AGAIN[looks]
        return kind(said("store.no_writes", address=address, error=why))
    if text.startswith(("OOM ", "-OOM")) or " OOM " in text or "used memory > 'maxmemory'" in text:
        return StoreUnavailable(_memory(address))
    if isinstance(error, exceptions.ReadOnlyError) or text.startswith("UNBLOCKED"):  # it was made one a moment ago
        return StoreUnavailable(said("store.replica", address=address))
    if text.startswith(_LATER_CODES) or "MISCONF" in text:
        return StoreUnavailable(said("store.no_writes", address=address, error=text))
    if text.startswith(("NOAUTH", "WRONGPASS")):
        return StoreUnavailable(said("store.refuses_user", address=address))
    barred = isinstance(error, exceptions.NoPermissionError) or _BARRED in text
    refused, code = (Forbidden, "store.not_permitted") if barred else (StoreError, "store.refuses")
    return _spoilt(address, text) or refused(said(code, address=address, error=text))


def _spoilt(address: str, text: str) -> StoreError | None:
    """An error that comes of what stands in the store, or of where it was looked for."""
    if "DB index is out of range" in text:
        return StoreUnavailable(said("store.no_database", address=address))
    if "from read-only scripts" in text:
        return StoreError(said("store.read_only", address=address))
    if found := _BROKEN.search(text):
        return Unreadable(said("store.unreadable", address=address, place=found["place"]))
    within = "user_script" in text or "user_function" in text
    if text.startswith("WRONGTYPE") or (within and "compiling" not in text):
        return Unreadable(said("store.unreadable", address=address, place=text[:200]))
    return None
