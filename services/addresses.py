"""Whether a text can be the address of a broker or a store, before anything tries to reach it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from services.domain.errors import UsageError
from services.domain.fleet import hosts
from services.domain.text.said import said

#: options of a store's address; where one may only have some values, these (any other switches verification off)
STORE_OPTIONS: dict[str, frozenset[str] | None] = {
    "db": None, "ssl_ca_certs": None, "ssl_certfile": None, "ssl_keyfile": None,
    "ssl_cert_reqs": frozenset({"required"}), "ssl_check_hostname": frozenset({"true", "yes", "1"}),
}  # fmt: skip
#: an address in brackets that is followed by something else than a port, or is none of IPv6
_BEHIND_BRACKET = re.compile(r"\][^:@\]]+\Z|\][^:@\]]+:[0-9]*\Z|\[[vV][^@\]]*\][^@]*\Z")
STORE = "redis://:password@host:6379/0"


def each(url: str) -> list[str]:
    """The address of each host of ``scheme://user:password@a:1,b:2,c/path``, in their order; one of one host as it is.

    What is in front of the last @ and what follows the hosts is the same for all.
    """
    scheme, mark, rest = url.strip().partition("://")
    end = min((place for place in map(rest.find, "/?#") if place >= 0), default=len(rest))
    who, at, hosts = rest[:end].rpartition("@")
    return [f"{scheme}{mark}{who}{at}{host.strip()}{rest[end:]}" for host in hosts.split(",")]


def check_store(url: str, field: str) -> None:
    """Refuse what is no address of a store; it may hold a password and is not repeated.

    Raises:
        UsageError: ``field`` is where it came from; the sentence names it and shows what it should look like.
    """
    scheme = url.strip().partition("://")[0]
    if "sentinel" in scheme.casefold():
        raise UsageError(said("address.sentinel", field=field, like=STORE), field=field)
    if scheme in ("redis", "rediss") and len(each(url)) > 1:
        raise UsageError(said("address.one_host", field=field, like=STORE), field=field)
    parts = read(url, field, ("redis", "rediss", "unix"), STORE)
    if parts is not None and not re.fullmatch(r"/?[0-9]{0,9}", parts.path):
        raise UsageError(said("address.database", field=field, like=STORE), field=field)
    _check_options(url, field)


def _check_options(url: str, field: str) -> None:
    """What the client does not know would end in it, and what weakens a connection must not do so in passing."""
    found = parse_qsl(url.strip().partition("?")[2], keep_blank_values=True)
    allowed = [name for name in STORE_OPTIONS if url.strip().startswith("rediss:") or not name.startswith("ssl")]
    for name, value in found:
        if name not in allowed:
            raise UsageError(said("address.option", field=field, name=name, known=", ".join(allowed)), field=field)
        safe = STORE_OPTIONS[name]
        if safe is not None and value.casefold() not in safe:
            raise UsageError(said("address.insecure", field=field, name=name, ca="ssl_ca_certs"), field=field)
        if name == "db" and not re.fullmatch(r"[0-9]{1,9}", value):
            raise UsageError(said("address.database", field=field, like=STORE), field=field)


def read(url: str, field: str, schemes: tuple[str, ...], like: str) -> SplitResult | None:
    """The parts of an address with one of these schemes, None for a socket file; ``like`` shows what is wanted.

    Raises:
        UsageError: it is none; the sentence names ``field`` and repeats no password.
    """
    scheme, mark, _ = url.strip().partition("://")
    if not mark or scheme not in schemes:
        wanted = ", ".join(f"{name}://" for name in schemes if name != "unix")
        raise UsageError(said("address.scheme", field=field, wanted=wanted, like=like), field=field)
    # the reader of addresses leaves tabs and ends of lines out, and so would read another host than a person does
    strange = any(ord(sign) < 32 or ord(sign) == 127 for sign in url.strip())
    try:
        parts = urlsplit(url.strip())
        if scheme == "unix" and parts.path and not strange and "%00" not in parts.path:
            return None
    except ValueError:
        parts = None
    if parts is None or strange or not parts.hostname or _BEHIND_BRACKET.search(parts.netloc):
        raise UsageError(said("address.unreadable", field=field, like=like), field=field)
    _check_port(parts, field, like)
    if why := hosts.problem_of(unquote(parts.hostname)):
        raise UsageError(said("address.host", field=field, why=why, like=like), field=field)
    return parts


def _check_port(parts: SplitResult, field: str, like: str) -> None:
    try:
        good = parts.port is None or parts.port > 0
    except ValueError:
        # what stands there may be the rest of a password with a slash in it
        figures = parts.netloc.rpartition("@")[2].rpartition(":")[2]
        code = "address.port" if len(figures) <= 6 and figures[:1].isdigit() else "address.unreadable"
        raise UsageError(said(code, field=field, like=like), field=field) from None
    if not good:
        raise UsageError(said("address.port", field=field, like=like), field=field)


def shown(url: str) -> str:
    """Hosts, ports and path of an address as people write them, without user and password; "" for what cannot be read.

    A virtual host stands decoded behind the first slash: ``mq:5672//shops`` is the one that is called ``/shops``.
    """
    places = []
    path = ""
    try:
        for one in each(url):
            parts = urlsplit(one)
            host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
            places.append(f"{host}:{parts.port}" if parts.port else host)
            path = parts.path
    except ValueError:
        return ""
    if "@" in path:
        return ""  # what stands before it may be a password with a slash in it
    path = unquote(path)
    words = ",".join(places) + (path if path.strip("/") else "")
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words)
