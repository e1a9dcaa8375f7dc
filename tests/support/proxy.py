"""A TCP proxy before a server that breaks what runs through it: cuts it silently, delays, closes, eats a reply."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Self

from tests.support.services import free_port

_CHUNK = 65_536


class _Pair:
    """A client's connection and the one to the server that belongs to it."""

    def __init__(self, client: socket.socket) -> None:
        self.client = client
        self.server: socket.socket | None = None
        self.lost = False  #: what is sent arrives nowhere, and nobody is told
        self.eating: bool | None = None  #: the next reply is for nobody; True: and the silence lasts

    def close(self) -> None:
        for one in (self.client, self.server):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def reset(self) -> None:
        """End as a crashed peer does."""
        for one in (self.client, self.server):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


class Proxy:
    """Listens on a port of its own; two threads a connection. Every method may be called from any thread."""

    def __init__(self, port: int) -> None:
        """``port`` of the server, on this machine."""
        self._target = port
        self.port = free_port()
        self.delay: Callable[[], float] = lambda: 0.0  #: seconds before each piece goes on
        self.connections = 0  #: made so far
        self._lock = threading.Lock()
        self._pairs: set[_Pair] = set()
        self._deaf = self._refusing = False
        self._wanted: list[tuple[bytes, bool]] = []
        self.eaten = 0
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        self._closed = False
        threading.Thread(target=self._listen, name=f"proxy-{port}", daemon=True).start()

    def of(self, url: str) -> str:
        """The same address by way of this proxy."""
        parts = urllib.parse.urlsplit(url)
        return parts._replace(netloc=parts.netloc.replace(f":{self._target}", f":{self.port}")).geturl()

    # ------------------------------------------------------------------ faults
    def cut(self) -> None:
        """Lose everything from now on, silently: what is open never answers again, what is new is never served."""
        with self._lock:
            self._deaf = True
            for pair in self._pairs:
                pair.lost = True

    def heal(self) -> None:
        """Serve new connections again; those that were cut stay lost."""
        self._deaf = self._refusing = False

    def refuse(self) -> None:
        """Close everything, and what is new at once, as where nobody listens."""
        self._refusing = True
        self.drop()

    @contextlib.contextmanager
    def away(self, *, silent: bool = False) -> Iterator[None]:
        """Nobody there for a while, or nothing but silence."""
        self.cut() if silent else self.refuse()
        try:
            yield
        finally:
            self.heal()

    def drop(self) -> int:
        """Close all connections on both sides; returns how many."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            pair.reset()
        return len(pairs)

    def eat_reply(self, marker: bytes = b"", *, hang: bool = False) -> None:
        """Let the next request with these bytes reach the server, and its reply nobody.

        Then the connection is closed, or, with ``hang``, stays open and silent.
        """
        with self._lock:
            self._wanted.append((marker, hang))

    # -------------------------------------------------------------------- life
    def close(self) -> None:
        """End everything."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            pair.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ----------------------------------------------------------------- private
    def _listen(self) -> None:
        while not self._closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            pair = _Pair(client)
            if self._refusing:
                pair.reset()
                continue
            with self._lock:
                self._pairs.add(pair)
                self.connections += 1
                pair.lost = self._deaf
            if not pair.lost:
                threading.Thread(target=self._serve, args=(pair,), daemon=True).start()

    def _serve(self, pair: _Pair) -> None:
        try:
            pair.server = socket.create_connection(("127.0.0.1", self._target), timeout=5)
        except OSError:
            self._end(pair)
            return
        for one in (pair.client, pair.server):
            with contextlib.suppress(OSError):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                one.settimeout(None)
        threading.Thread(target=self._pump, args=(pair, pair.server, pair.client, True), daemon=True).start()
        self._pump(pair, pair.client, pair.server, False)

    def _pump(self, pair: _Pair, source: socket.socket, sink: socket.socket, to_client: bool) -> None:
        try:
            while data := source.recv(_CHUNK):
                seconds = self.delay()
                if seconds > 0:
                    time.sleep(seconds)
                if pair.lost:
                    continue
                if to_client and pair.eating is not None:
                    if not self._eat(pair):
                        return
                    continue
                if not to_client:
                    self._look(pair, data)
                sink.sendall(data)
        except OSError:
            pass
        if not pair.lost:  # whoever was cut off is not told that the other has gone
            self._end(pair)

    def _look(self, pair: _Pair, data: bytes) -> None:
        with self._lock:
            if pair.eating is None:
                found = next((want for want in self._wanted if want[0] in data), None)
                if found is not None:
                    self._wanted.remove(found)
                    pair.eating = found[1]

    def _eat(self, pair: _Pair) -> bool:
        """Swallow a reply; False where the connection ends with it."""
        with self._lock:
            self.eaten += 1
            pair.lost, pair.eating = bool(pair.eating), None
        if not pair.lost:
            pair.reset()
            self._end(pair)
        return pair.lost

    def _end(self, pair: _Pair) -> None:
        pair.close()
        with self._lock:
            self._pairs.discard(pair)
