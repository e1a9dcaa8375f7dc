"""Listens, and lets the application answer, until it is told to stop."""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import uvicorn

from services.api import app as application
from services.api.callers import Callers
from services.api.desk import Desk
from services.api.entrance import Entrance
from services.api.follower import Follower
from services.api.spoken import Spoken
from services.assembly import Engine
from services.domain.errors import ConsoleError, UsageError

#: connections at once, streams of events among them; more are told to come back
CONNECTIONS = 256
#: seconds for what is under way when the server is told to stop, and for it to begin
LEAVE_S, BEGIN_S = 5, 30.0
_HOST = re.compile(r"[A-Za-z0-9.:-]{1,253}")
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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
        raise UsageError(
            f"other machines reach {place.host!r:.60}: give --cert and --key, or --plain-text behind a proxy with TLS",
            field="--cert",
        )
    if not place.loopback and place.open_loopback:
        raise UsageError("--open-loopback is for the loopback address only", field="--open-loopback")
    wrong = next((name for name in place.names if not _HOST.fullmatch(name)), None)
    if wrong is not None:
        raise UsageError(f"--host-name takes a name such as fleet.example, not {wrong!r:.80}", field="--host-name")
    if not place.host or place.host != place.host.strip():
        raise UsageError(f"--host takes an address such as 127.0.0.1, not {place.host!r:.80}", field="--host")
    if place.key and not place.cert:
        raise UsageError("--key goes with --cert", field="--cert")
    if place.cert:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                place.cert, place.key or None, password=lambda: ""
            )
        except OSError as exc:  # SSLError is one
            raise UsageError(f"--cert or --key cannot be used: {exc.strerror or exc}", field="--cert") from exc


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
    app = application.make(Desk(engine), callers, follower)
    # a server that every request needs a token for may have any name: a page of somebody else has none
    hosts = {*LOCAL_NAMES, place.host.lower(), *(name.lower() for name in place.names)} if place.loopback else None
    config = uvicorn.Config(
        Entrance(app, hosts=hosts, secure=bool(place.cert)),
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
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
    raise ConsoleError("the server did not begin; --verbose says why")


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
        text = f"--host {place.host} --port {place.port} cannot be listened on: {getattr(exc, 'strerror', None) or exc}"
        raise UsageError(text, field="--port") from exc
    listening.setblocking(False)
    return listening
