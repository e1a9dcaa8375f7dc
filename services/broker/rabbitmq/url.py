"""Reading the address of a RabbitMQ server, and showing it without its password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import pika

from services import addresses, tls
from services.broker.rabbitmq.timing import Timing
from services.domain.errors import UsageError
from services.domain.text.message import Param
from services.domain.text.said import said

PORTS = {"amqp": 5672, "amqps": 5671}
MANAGEMENT_PORTS = {"amqp": 15672, "amqps": 15671}
CERTIFICATES = ("cacertfile", "certfile", "keyfile")
OPTIONS = (*CERTIFICATES, "heartbeat", "server_name_indication")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a broker is and who asks; ``repr`` and ``shown`` never carry the password.

    ``host`` and ``port`` are those of the node meant now, ``others`` are the further nodes of the same cluster.
    """

    scheme: str
    host: str
    port: int
    vhost: str
    user: str
    password: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    others: tuple[tuple[str, int], ...] = ()
    insecure: bool = False  #: the certificate of the server is not checked

    @property
    def tls(self) -> bool:
        return self.scheme == "amqps"

    @property
    def nodes(self) -> tuple[Address, ...]:
        """The address of each node by itself."""
        places = ((self.host, self.port), *self.others)
        return tuple(replace(self, host=host, port=port, others=()) for host, port in places)

    @property
    def place(self) -> str:
        """``host:port`` of each node, an IPv6 host in brackets."""
        return ", ".join(f"{bracketed(one.host)}:{one.port}" for one in self.nodes)

    @property
    def shown(self) -> str:
        """The address for people: no user name, no password."""
        return f"{self.scheme}://{self.place.replace(', ', ',')}/{'' if self.vhost == '/' else self.vhost}"

    @property
    def management_url(self) -> str:
        """Where the management plugin of the node meant now listens if nobody says otherwise."""
        return f"{'https' if self.tls else 'http'}://{bracketed(self.host)}:{MANAGEMENT_PORTS[self.scheme]}"


def bracketed(host: str) -> str:
    """A host as it stands before a port."""
    return f"[{host}]" if ":" in host else host


def parse(url: str) -> Address:
    """Read ``amqp[s]://user:password@host:port,host:port/vhost?heartbeat=30&cacertfile=…``.

    Several hosts are nodes of one cluster; any of them will do.
    The vhost is all that follows the first slash: nothing or ``/`` is ``/``, both ``a%2Fb`` and ``a/b`` are ``a/b``.

    Raises:
        UsageError: the text is not such an address; the password is not repeated.
    """
    first, *more = (_parse(one) for one in addresses.each(url))
    return replace(first, others=tuple((one.host, one.port) for one in more))


def _parse(url: str) -> Address:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as exc:
        raise _wrong("broker.url_unread") from exc
    if parts.scheme not in PORTS:
        raise _wrong("broker.url_scheme")
    if not parts.hostname or parts.fragment:
        raise _wrong("broker.url_host")
    return Address(
        scheme=parts.scheme,
        host=unquote(parts.hostname),
        port=port or PORTS[parts.scheme],
        vhost=unquote(parts.path[1:]) or "/",
        user=unquote(parts.username) if parts.username is not None else "guest",
        password=_password(parts),
        options=_options(parts),
    )


def parameters(address: Address, timing: Timing, *, name: str) -> Any:
    """pika's parameters: TLS is verified against the host name, attempts are ours to repeat."""
    return pika.ConnectionParameters(
        host=address.host,
        port=address.port,
        virtual_host=address.vhost,
        credentials=pika.PlainCredentials(address.user, address.password),
        heartbeat=int(address.options.get("heartbeat", timing.heartbeat)),
        blocked_connection_timeout=timing.blocked,
        connection_attempts=1,
        socket_timeout=timing.connect,
        stack_timeout=timing.connect + 1,  # covers TLS; the link itself watches the AMQP handshake
        ssl_options=_tls(address),
        client_properties={"connection_name": name, "product": "Fleetdeck"},
    )


def _wrong(code: str, **params: Param) -> UsageError:
    return UsageError(said(code, **params), field="broker.url")


def _password(parts: SplitResult) -> str:
    if parts.username is None:
        return "guest"
    return unquote(parts.password or "")


def _options(parts: SplitResult) -> dict[str, str]:
    options = dict(parse_qsl(parts.query))
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise _wrong("broker.url_options", names=str(unknown), known=", ".join(OPTIONS))
    if not options.get("heartbeat", "30").isdecimal():
        raise _wrong("broker.url_heartbeat")
    return options


def _tls(address: Address) -> Any:
    if not address.tls:
        return None
    options = address.options
    tls.check_files(options, tls.AMQP, "broker.url")
    context = tls.context(options, tls.AMQP, insecure=address.insecure)
    return pika.SSLOptions(context, options.get("server_name_indication", address.host))
