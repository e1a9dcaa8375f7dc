"""Whether a text can be the address of a broker or a store, before anything tries to reach it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from services.domain.errors import UsageError
from services.domain.said import said

BROKER, STORE = "amqp://user:password@host:5672/vhost", "redis://:password@host:6379/0"


def check_broker(url: str, field: str) -> None:
    """Refuse what is no address of a broker; it may hold a password and is not repeated.

    Raises:
        UsageError: ``field`` is where it came from; the sentence names it and shows what it should look like.
    """
    _read(url, field, ("amqp", "amqps"), BROKER)


def check_store(url: str, field: str) -> None:
    """The same for a store.

    Raises:
        UsageError: see ``check_broker``.
    """
    parts = _read(url, field, ("redis", "rediss", "unix"), STORE)
    if parts is not None and not re.fullmatch(r"/?[0-9]*", parts.path):
        raise UsageError(said("address.database", field=field, like=STORE), field=field)


def _read(url: str, field: str, schemes: tuple[str, ...], like: str) -> SplitResult | None:
    """The parts, None for a socket file."""
    scheme, mark, _ = url.strip().partition("://")
    if not mark or scheme not in schemes:
        wanted = " or ".join(f"{name}://" for name in schemes if name != "unix")
        raise UsageError(said("address.scheme", field=field, wanted=wanted, like=like), field=field)
    if scheme == "unix":
        return None
    try:
        parts = urlsplit(url.strip())
        readable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        readable = False
    if not readable:
        raise UsageError(said("address.unreadable", field=field, like=like), field=field)
    return parts


def shown(url: str) -> str:
    """Host, port and path of an address, without user and password; "" for what cannot be read."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{host}{port}{parts.path.rstrip('/')}"
