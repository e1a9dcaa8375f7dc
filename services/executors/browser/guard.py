"""What stands between a browser and the network: it looks at every address once and connects to that very one."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import socket
import ssl
import urllib.parse
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from services.domain.task import classify, own_words
from services.executors.http import reach
from services.settings.browser import BrowserSettings

CONNECT_S, GREETING_S = 15.0, 60.0
_BLOCK, _REMEMBERED = 65536, 500
_SOCKS, _CONNECT, _V4, _NAME, _V6 = 5, 1, 1, 3, 4
_OK, _FAILED, _NOT_ALLOWED, _UNREACHABLE, _NO_COMMAND = 0, 1, 2, 4, 7

_Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Trouble(msgspec.Struct, frozen=True):
    """Why a host was not connected to; ``kind`` is of services.domain.task.classify."""

    text: str
    kind: str


class _NotConnected(Exception):
    def __init__(self, text: str, kind: str, reply: int) -> None:
        super().__init__(text)
        self.trouble, self.reply = Trouble(text, kind), reply


def rules_of(settings: BrowserSettings) -> reach.Rules:
    """Which hosts may be private: those that are named, and the sites of the platforms."""
    sites = (urllib.parse.urlsplit(site).hostname for site in settings.sites.values())
    return reach.Rules(
        hosts=(*settings.hosts, *(site for site in sites if site)),
        private_hosts=settings.private_hosts,
        setting="executors.browser.hosts",
    )


class Guard:
    """A SOCKS proxy on the loopback for Chromium, and for nothing that it forgets to ask: redirects, frames, requests
    of pages and service workers, web sockets and downloads all come through it. It resolves names itself, so that no
    name can mean something else a moment later. Belongs to one event loop.
    """

    def __init__(self, rules: reach.Rules, upstream: str = "") -> None:
        """``upstream``: a proxy to go through, ``http://user:password@host:port``, ``https://…`` or ``socks5://…``."""
        self._rules = rules
        self._upstream = urllib.parse.urlsplit(upstream if "://" in upstream else f"http://{upstream}")
        self._direct = not upstream
        self._troubles: OrderedDict[tuple[str, int], Trouble] = OrderedDict()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Its address, such as ``socks5://127.0.0.1:40001``.

        Raises:
            OSError: the loopback has no room for it.
        """
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"socks5://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def close(self) -> None:
        """Take no more connections."""
        if self._server is not None:
            self._server.close()

    def trouble(self, url: str) -> Trouble | None:
        """Why the host of this address was not connected to when it was tried last, None where it was."""
        with contextlib.suppress(ValueError):
            parts = urllib.parse.urlsplit(url)
            port = parts.port or (443 if parts.scheme in ("https", "wss") else 80)
            return self._troubles.get(((parts.hostname or "").lower(), port))
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far: _Pair | None = None
        try:
            async with asyncio.timeout(GREETING_S):
                host, port = await _greeted(reader, writer)
            try:
                far = await self._connected(host, port)
            except _NotConnected as exc:
                self._note(host, port, exc.trouble)
                writer.write(_reply(exc.reply))
                await writer.drain()
                return
            self._note(host, port, None)
            writer.write(_reply(_OK))
            await asyncio.gather(_pass_on(reader, far[1]), _pass_on(far[0], writer))
        except (OSError, EOFError, TimeoutError, ValueError):
            return  # whoever of the two has hung up: the browser tells its own side
        finally:
            for end in (writer, far[1] if far else None):
                if end is not None:
                    end.close()

    def _note(self, host: str, port: int, trouble: Trouble | None) -> None:
        key = host.lower(), port
        self._troubles.pop(key, None)
        if trouble is not None:
            self._troubles[key] = trouble
            if len(self._troubles) > _REMEMBERED:
                self._troubles.popitem(last=False)

    async def _connected(self, host: str, port: int) -> _Pair:
        try:
            found: Sequence[reach.Found] = await asyncio.to_thread(reach.resolved, host, port, self._rules)
        except reach.Refused as exc:
            raise _NotConnected(str(exc), exc.kind, _NOT_ALLOWED) from exc
        except OSError as exc:
            if self._direct:
                raise _NotConnected(own_words.write("own.host_unknown"), classify.NETWORK, _UNREACHABLE) from exc
            found = ()  # names that only the proxy knows are its own affair
        try:
            return await (self._dialled(found) if self._direct else self._through(host, port))
        except (OSError, EOFError, ssl.SSLError) as exc:
            raise _NotConnected(_why(exc), classify.NETWORK, _FAILED) from exc

    async def _dialled(self, found: Sequence[reach.Found]) -> _Pair:
        failure: OSError = OSError("no address")
        for family, kind, protocol, _, address in found:
            stream = socket.socket(family, kind, protocol)
            stream.setblocking(False)
            try:
                async with asyncio.timeout(CONNECT_S):
                    await asyncio.get_running_loop().sock_connect(stream, address)
                return await asyncio.open_connection(sock=stream)
            except OSError as exc:
                stream.close()
                failure = exc
        raise failure

    async def _through(self, host: str, port: int) -> _Pair:
        """By the proxy that the shop's browser is to use."""
        via = self._upstream
        secure = via.scheme == "https"
        default = {"https": 443, "http": 80}.get(via.scheme, 1080)
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_connection(via.hostname, via.port or default, ssl=secure or None)
            try:
                ask = _ask_socks if via.scheme.startswith("socks5") else _ask_http
                await ask(reader, writer, via, host, port)
            except BaseException:
                writer.close()
                raise
        return reader, writer


async def _greeted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Host and port that are asked for."""
    version, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    if version != _SOCKS:
        raise ValueError("no SOCKS")
    writer.write(bytes((_SOCKS, 0)))
    _, command, _, form = await reader.readexactly(4)
    if form == _NAME:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii")
    else:
        host = str(ipaddress.ip_address(await reader.readexactly(4 if form == _V4 else 16)))
    port = int.from_bytes(await reader.readexactly(2), "big")
    if command != _CONNECT:
        writer.write(_reply(_NO_COMMAND))
        raise ValueError("only connections are made")
    return host.removeprefix("[").removesuffix("]"), port


def _reply(code: int) -> bytes:
    return bytes((_SOCKS, code, 0, _V4, 0, 0, 0, 0, 0, 0))


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(_BLOCK):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
        else:
            target.close()
    except OSError:
        target.close()
        raise


async def _ask_http(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, via: urllib.parse.SplitResult, host: str, port: int
) -> None:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}"]
    if via.username is not None:
        both = f"{urllib.parse.unquote(via.username)}:{urllib.parse.unquote(via.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(both.encode()).decode()}")
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as exc:
        raise OSError(own_words.write("own.proxy_no_http")) from exc
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
    if len(words) < 2 or not words[1].startswith("2"):
        raise OSError(own_words.write("own.proxy_refused", said=" ".join(words[1:])[:100]))


async def _ask_socks(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, via: urllib.parse.SplitResult, host: str, port: int
) -> None:
    named = via.username is not None
    writer.write(bytes((_SOCKS, 2, 0, 2)) if named else bytes((_SOCKS, 1, 0)))
    method = (await reader.readexactly(2))[1]
    if method == 2 and named:
        user, password = (urllib.parse.unquote(text or "").encode()[:255] for text in (via.username, via.password))
        writer.write(bytes((1, len(user))) + user + bytes((len(password),)) + password)
        if (await reader.readexactly(2))[1]:
            raise OSError(own_words.write("own.proxy_login"))
    elif method != 0:
        raise OSError(own_words.write("own.proxy_asks"))
    writer.write(bytes((_SOCKS, _CONNECT, 0)) + _written(host) + port.to_bytes(2, "big"))
    _, code, _, form = await reader.readexactly(4)
    length = (await reader.readexactly(1))[0] if form == _NAME else 4 if form == _V4 else 16
    await reader.readexactly(length + 2)
    if code:
        raise OSError(own_words.write("own.proxy_code", code=code))


def _written(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.encode("ascii")
        return bytes((_NAME, len(name))) + name
    return bytes((_V4 if address.version == 4 else _V6,)) + address.packed


def _why(exc: Exception) -> str:
    if isinstance(exc, ConnectionRefusedError):
        return own_words.write("own.refused")
    if isinstance(exc, TimeoutError):
        return own_words.write("own.mute")
    return str(exc) or type(exc).__name__
