"""Which hosts a request may reach: an address is looked at once, and that very one is connected to."""

from __future__ import annotations

import fnmatch
import http.client
import socket
import ssl
import urllib.parse
from collections.abc import Sequence

import msgspec

from services.domain.fleet import hosts
from services.domain.task import classify, own_words

#: one entry of ``socket.getaddrinfo``
Found = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[object, ...]]


class Refused(Exception):
    """The request is not made; ``kind`` is of services.domain.task.classify."""

    def __init__(self, text: str, kind: str = classify.BAD_PAYLOAD) -> None:
        super().__init__(text)
        self.kind = kind


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """``hosts``: names that may be private, with ``*``; ``setting``: where a person adds one."""

    hosts: Sequence[str] = ()
    private_hosts: bool = False
    setting: str = "executors.http.hosts"

    def allows_private(self, host: str) -> bool:
        """Whether this host may lie in a private network."""
        name = host.lower().removesuffix(".")
        return self.private_hosts or any(
            fnmatch.fnmatchcase(name, known.lower().removesuffix(".")) for known in self.hosts
        )


def checked(url: str) -> urllib.parse.SplitResult:
    """An address that may be asked.

    Raises:
        Refused: another scheme than http and https, user and password in it, or no host.
    """
    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise Refused(own_words.write("own.url_blanks"))
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError as exc:
        why = own_words.write("own.url_port") if "ort" in str(exc) else str(exc)
        raise Refused(own_words.write("own.url_unread", why=why)) from exc
    if parts.scheme not in ("http", "https"):
        raise Refused(own_words.write("own.url_scheme", scheme=repr(parts.scheme[:20])))
    if not parts.hostname:
        raise Refused(own_words.write("own.url_no_host"))
    if port == 0:
        raise Refused(own_words.write("own.url_port"))
    if problem := hosts.problem_of(parts.hostname):
        raise Refused(own_words.write("own.url_bad_host", why=problem))
    if parts.username is not None or parts.password is not None:
        raise Refused(own_words.write("own.url_login", place="{{secret.name}}"))
    return parts


def resolved(host: str, port: int, rules: Rules) -> Sequence[Found]:
    """The addresses of a host that may be connected to, as ``socket.getaddrinfo`` gives them; never none.

    Raises:
        Refused: it lies in a private network and is not among those that may.
        OSError: its name is unknown.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as exc:
        raise Refused(own_words.write("own.url_bad_host", why=str(exc))) from exc
    good = [each for each in found if rules.allows_private(host) or hosts.is_public(str(each[4][0]))]
    if not good:
        raise Refused(own_words.write("own.private", host=host, setting=rules.setting))
    return good


def connection(parts: urllib.parse.SplitResult, rules: Rules, timeout_s: float) -> http.client.HTTPConnection:
    """A connected connection to the host, whose address was looked at.

    Raises:
        Refused: it lies in a private network and is not among those that may.
        OSError: it cannot be reached.
    """
    host, secure = str(parts.hostname), parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    stream = _dialled(resolved(host, port, rules), timeout_s)
    try:
        if secure:
            stream = ssl.create_default_context().wrap_socket(stream, server_hostname=host.removesuffix("."))
    except BaseException:
        stream.close()
        raise
    made = http.client.HTTPConnection(host, port, timeout=timeout_s)
    made.default_port = 443 if secure else 80  # for the Host header
    made.sock = stream
    return made


def _dialled(found: Sequence[Found], timeout_s: float) -> socket.socket:
    failure: OSError | None = None
    for family, kind, protocol, _, address in found:
        stream = socket.socket(family, kind, protocol)
        stream.settimeout(timeout_s)
        try:
            stream.connect(address)
        except OSError as exc:
            stream.close()
            failure = exc
        else:
            return stream
    raise failure or OSError("no address")
