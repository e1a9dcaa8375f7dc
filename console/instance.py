"""One program for each connection of a home: a second start brings the first one's window to the front.

Who has a connection holds the lock of a file, which goes with its process however that ends; so one that was killed is
in nobody's way. Where it listens, and the word that it believes, stand in a file that its own user alone may read.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import logging
import os
import secrets
import socket as sockets
import struct
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from services import addresses, home_folder, plain_file
from services import settings as config
from services.domain.text.view_link import ViewLink
from views.page import FromPast, asked_by

log = logging.getLogger(__name__)
FOLDER = "windows"
#: so long one that starts or ends at this moment is waited for; one that says nothing by then hangs
PATIENCE_S, AGAIN_S = 4.0, 0.1
#: it has said by then where it listens, if it ever does
TELLS_S = 1.5
_MOST_BYTES = 65_536
#: so many are listened to at a time, each for so long: who connects says one line
_MOST_CALLERS, LISTENS_S = 8, 2.0
#: a name that is no file: nothing is left of it (Windows has such names only)
_OPTIONS = QLocalServer.SocketOption.AbstractNamespaceOption | QLocalServer.SocketOption.UserAccessOption
_CLIENT = QLocalSocket.SocketOption.AbstractNamespaceOption


class Off(Protocol):
    """Runs a blocking call elsewhere."""

    def __call__(self, call: Callable[..., Any], *args: object) -> Awaitable[Any]: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What the second start was to show."""

    page: str = ""
    show: str = ""
    at: int = 0  #: the moment that is looked at, UTC ms; 0 for now
    now: str | None = None  #: what is shown once somebody goes back to now
    link: str = ""  #: one that leads nowhere, which the window says

    def of_page(self) -> FromPast | str | None:
        """What the page is asked for."""
        return asked_by(ViewLink("", self.page, self.show, self.at, self.now))


class Instance(QObject):
    """What this program holds.

    Signals:
        asked: another start of the same connection wants this window, with an ``Asked``.
        left: it is held no more; what was asked for there, and not shown yet, leads nowhere here.
    """

    asked = Signal(object)
    left = Signal()

    def __init__(self, home: Path, off: Off) -> None:
        super().__init__()
        self._folder, self._off = home / FOLDER, off
        self._lock: IO[bytes] | None = None
        self._key, self._word = "", ""
        self._server: QLocalServer | None = None
        self._callers: set[QLocalSocket] = set()

    async def take(self, settings: config.Settings | None, asked: Asked) -> bool:
        """Hold a connection (None: the first run, where none is known yet) in place of the one before; False where
        another program has it, which has come to the front and shows what was asked for. Where that one says
        nothing: True, and nothing is held, as what was held before is shown here no longer.
        """
        key = _key(settings)
        if key == self._key:
            return True
        lock = await self._off(self._locked, key)
        if lock is None:
            if await self._hand_over(key, asked):
                return False
            self._release()
            return True
        self._release()
        self._lock, self._key = lock, key
        await self._listen(key)
        return True

    def holds(self, settings: config.Settings) -> bool:
        """Whether it is this connection that other starts are answered for."""
        return bool(self._key) and _key(settings) == self._key

    def close(self) -> None:
        """Hold nothing."""
        self._release()

    def _release(self) -> None:
        if self._key:
            self.left.emit()
        if self._server is not None:
            self._server.close()
            self._server.deleteLater()
        if self._lock is not None:
            self._lock.close()
        self._server, self._lock, self._key = None, None, ""

    def _locked(self, key: str) -> IO[bytes] | None:
        """The lock; one that locks nothing where this home takes none: then each start has a window of its own."""
        try:
            home_folder.make_private(self._folder)
            return home_folder.locked(self._folder / f"{key}.lock")
        except OSError as exc:
            log.warning("other windows of this connection cannot be found: %s", exc)
            return io.BytesIO()

    async def _listen(self, key: str) -> None:
        self._word, name = secrets.token_hex(16), f"fleetdeck-{secrets.token_hex(12)}"
        server = self._server = QLocalServer(self)
        server.setSocketOptions(_OPTIONS)
        server.newConnection.connect(self._on_connection)
        if not server.listen(name):
            log.warning("other starts cannot reach this window: %s", server.errorString())
            return
        await self._off(self._tell, key, json.dumps({"name": name, "word": self._word}))

    def _tell(self, key: str, text: str) -> None:
        place = self._folder / f"{key}.json"
        with suppress(OSError):
            draft = place.with_suffix(".part")
            home_folder.keep_private(draft)
            draft.write_text(text, encoding="ascii")
            draft.replace(place)

    def _on_connection(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            socket.setParent(self)
            self._callers.add(socket)
            socket.disconnected.connect(partial(self._callers.discard, socket))
            socket.disconnected.connect(socket.deleteLater)
            socket.readyRead.connect(lambda socket=socket: self._on_words(socket))
            if len(self._callers) > _MOST_CALLERS or not _is_own(socket):
                socket.abort()
            else:
                QTimer.singleShot(round(LISTENS_S * 1000), socket, socket.abort)

    def _on_words(self, socket: QLocalSocket) -> None:
        if socket.bytesAvailable() > _MOST_BYTES:
            socket.abort()
        if not socket.canReadLine():
            return
        try:
            found = json.loads(bytes(socket.readLine().data()))
            # the other one read where to ask a moment ago; by now another connection may be shown here
            right = secrets.compare_digest(str(found["word"]), self._word) and found["key"] == self._key
            asked = msgspec.convert(found, Asked)
        except (ValueError, KeyError, TypeError, RecursionError):
            right = False
        if not right:
            socket.abort()
            return
        socket.write(b"shown\n")
        socket.flush()
        self.asked.emit(asked)

    async def _hand_over(self, key: str, asked: Asked) -> bool:
        """Whether the program that has it answers."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while (left := begun + PATIENCE_S - loop.time()) > 0:
            where = await self._off(self._where, key)
            if where and await self._say(where, key, asked, left):
                return True
            if not where and loop.time() - begun > TELLS_S:
                break
            await asyncio.sleep(AGAIN_S)
        log.warning("another window of this connection does not answer")
        return False

    def _where(self, key: str) -> dict[str, str]:
        try:
            found = json.loads(plain_file.read(self._folder / f"{key}.json", _MOST_BYTES))
            return {"name": str(found["name"]), "word": str(found["word"])}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}

    async def _say(self, where: dict[str, str], key: str, asked: Asked, seconds: float) -> bool:
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def settle(*_error: object) -> None:
            if not answer.done():
                answer.set_result(socket.canReadLine())

        socket = QLocalSocket(self)
        socket.setSocketOptions(_CLIENT)
        words = json.dumps({**asdict(asked), "word": where["word"], "key": key}).encode() + b"\n"
        socket.connected.connect(lambda: socket.write(words) if _is_own(socket) else socket.abort())
        for signal in (socket.readyRead, socket.errorOccurred, socket.disconnected):
            signal.connect(settle)
        _let_come_forward()
        socket.connectToServer(where["name"])
        try:
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            return False
        finally:
            socket.deleteLater()


def _is_own(socket: QLocalSocket) -> bool:
    """Whether the other end is this user's program: Linux lets anybody listen and connect by a name without a file."""
    if sys.platform != "linux":
        return True
    try:
        with sockets.socket(fileno=os.dup(socket.socketDescriptor())) as end:
            there = end.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, struct.calcsize("iII"))
    except OSError:
        return False
    _process, user, _group = struct.unpack("iII", there)
    return bool(user == os.geteuid())


def _let_come_forward() -> None:
    """Windows lets only that program put a window in front which the person used last: this one, which passes it on."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.user32.AllowSetForegroundWindow(-1)


def _key(settings: config.Settings | None) -> str:
    """A name for what is shown and how, without secrets. Opened read-only it is another window on purpose."""
    if settings is None:
        return "first-run"
    places = (addresses.shown(settings.broker.url), addresses.shown(settings.store.url))
    words = json.dumps([settings.profile.casefold(), *places, settings.read_only])
    return hashlib.sha256(words.encode()).hexdigest()[:16]
