"""Reading the address of a Pulsar: hosts, token, tenant and namespace, files of certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from services import addresses

PORTS = {"pulsar": 6650, "pulsar+ssl": 6651}
USUAL = "public/default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a broker is and who asks; ``repr`` and ``place`` never carry the token."""

    scheme: str
    hosts: tuple[str, ...]  #: ``host:port``, an IPv6 host in brackets
    space: str = USUAL  #: tenant/namespace
    token: str = field(default="", repr=False)
    cacertfile: str = ""
    certfile: str = ""
    keyfile: str = ""
    delays: bool = False  #: the broker holds retries back
    #: consumers are numbered from here on: pulsar-lite takes two of one queue that have the same number for one, and
    #: ends the connection, where Pulsar lets each connection number its own
    first_number: int = 0

    @property
    def service(self) -> str:
        """The address for the client."""
        return f"{self.scheme}://{self.place}"

    @property
    def place(self) -> str:
        """The hosts, for people."""
        return ",".join(self.hosts)

    @property
    def files(self) -> dict[str, str]:
        """The files of certificates, by their options."""
        return {"cacertfile": self.cacertfile, "certfile": self.certfile, "keyfile": self.keyfile}

    @property
    def tls(self) -> bool:
        return self.scheme == "pulsar+ssl"

    def topic(self, queue: str) -> str:
        """The topic that is a queue of the fleet."""
        return f"persistent://{self.space}/{queue}"


def parse(url: str) -> Address:
    """Read ``pulsar[+ssl]://:token@host:port,host:port/tenant/namespace?delay=broker&cacertfile=…``.

    It was checked before (``listed.check``).
    """
    parts = [urlsplit(one) for one in addresses.each(url)]
    first = parts[0]
    hosts = []
    for part in parts:
        host = part.hostname or ""
        hosts.append(f"{f'[{host}]' if ':' in host else host}:{part.port or PORTS[first.scheme]}")
    options = dict(parse_qsl(first.query))
    return Address(
        scheme=first.scheme,
        hosts=tuple(hosts),
        space=first.path.strip("/") or USUAL,
        token=unquote(first.password or ""),
        cacertfile=options.get("cacertfile", ""),
        certfile=options.get("certfile", ""),
        keyfile=options.get("keyfile", ""),
        delays=options.get("delay") == "broker",
        first_number=int(options.get("ids", 0)),
    )
