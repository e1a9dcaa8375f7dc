"""The kinds of broker, found by the scheme of an address. A new one is a folder beside this file and a line here."""

from __future__ import annotations

from services import addresses
from services.broker.kind import BrokerKind
from services.broker.pulsar import about as pulsar
from services.broker.rabbitmq import about as rabbitmq

KINDS: tuple[BrokerKind, ...] = (rabbitmq.KIND, pulsar.KIND)
SCHEMES = {scheme: kind for kind in KINDS for scheme in kind.schemes}
SENTENCES: dict[str, str] = {code: text for kind in KINDS for code, text in kind.sentences.items()}


def of(url: str) -> BrokerKind:
    """The kind of an address that was checked; the first of them for any other text."""
    return SCHEMES.get(url.strip().partition("://")[0], KINDS[0])


def check(url: str, field: str) -> None:
    """Refuse what is no address of a broker, or of several nodes of one; it may hold a password and is not repeated.

    Raises:
        UsageError: ``field`` is where it came from; the sentence names it and shows what it should look like.
    """
    kind = of(url)
    for one in addresses.each(url):
        addresses.read(one, field, tuple(SCHEMES), kind.like)
    kind.check(url, field)


def secured(url: str) -> str:
    """The name of the kind where the address asks for TLS, else ""."""
    kind = of(url)
    return kind.name if url.strip().startswith(f"{kind.secure}:") else ""
