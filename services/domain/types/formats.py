"""Formats of JSON Schema: what a text must look like, and an example of the right form. Pure.

JSON Schema leaves `format` open: what is not named here passes. Addresses may have letters of every script, as people
paste them; beside that each is what its RFC says.
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import date, time
from urllib.parse import urlsplit

import msgspec

from services.domain.text.late import late
from services.domain.types import linear

_DATE = late(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_ZONE = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_TIME = late(rf"(\d{{2}}:\d{{2}}:)(\d{{2}})(?:\.\d+)?{_ZONE}\Z", re.ASCII)
_DATE_TIME = late(r"(\d{4}-\d{2}-\d{2})[Tt ](.+)\Z", re.ASCII)
_DURATION = late(
    r"P(?!\Z)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?!\Z)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?)\Z", re.ASCII
)
_EMAIL = late(r"[^\s@<>\"]+@[^\s@<>\".]+(?:\.[^\s@<>\".]+)*\Z")
_LABEL = late(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)\Z")
_SCHEME = late(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_URI = late(r"[\s<>\"{}|\\^`\x00-\x1f\x7f]|%(?![0-9A-Fa-f]{2})")
_POINTER = late(r"(?:/(?:[^~/]|~[01])*)*\Z")
#: schemes whose addresses name a host
_OF_HOSTS = frozenset({"http", "https", "ftp", "ws", "wss"})


class Format(msgspec.Struct, frozen=True):
    """``fits`` may raise ValueError for no; ``example`` is of the right form."""

    fits: Callable[[str], bool]
    example: str


def _is_date(text: str) -> bool:
    return bool(_DATE.match(text)) and date.fromisoformat(text) is not None


def _is_time(text: str) -> bool:
    found = _TIME.match(text)
    if not found:
        return False
    # a leap second is a time, though no clock here shows one
    time.fromisoformat(found[1] + ("59" if found[2] == "60" else found[2]))
    return True


def _is_date_time(text: str) -> bool:
    found = _DATE_TIME.match(text)
    return found is not None and _is_date(found[1]) and _is_time(found[2])


def _is_host(text: str) -> bool:
    return 0 < len(text) <= 253 and all(_LABEL.match(label) for label in text.removesuffix(".").split("."))


def _is_uri(text: str) -> bool:
    if _NOT_IN_URI.search(text) or not _SCHEME.match(text):
        return False
    parts = urlsplit(text)
    return bool(parts.hostname) if parts.scheme.lower() in _OF_HOSTS else bool(parts.netloc or parts.path)


def _is_reference(text: str) -> bool:
    return not _NOT_IN_URI.search(text) and urlsplit(text) is not None


def _is_v4(text: str) -> bool:
    return ipaddress.IPv4Address(text) is not None


def _is_v6(text: str) -> bool:
    return "%" not in text and ipaddress.IPv6Address(text) is not None


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and str(uuid.UUID(text)) == text.lower()


def _is_regex(text: str) -> bool:
    return not linear.problem_of(text)


FORMATS: dict[str, Format] = {
    "date": Format(_is_date, "2026-11-22"),
    "time": Format(_is_time, "08:30:00+08:00"),
    "date-time": Format(_is_date_time, "2026-11-22T08:30:00+08:00"),
    "duration": Format(lambda text: bool(_DURATION.match(text)), "PT30M"),
    "email": Format(lambda text: bool(_EMAIL.match(text)), "name@example.com"),
    "idn-email": Format(lambda text: bool(_EMAIL.match(text)), "name@example.com"),
    "hostname": Format(_is_host, "shop.example.com"),
    "ipv4": Format(_is_v4, "192.168.1.10"),
    "ipv6": Format(_is_v6, "2001:db8::1"),
    "uri": Format(_is_uri, "https://example.com/page"),
    "iri": Format(_is_uri, "https://example.com/page"),
    "uri-reference": Format(_is_reference, "/page?id=1"),
    "iri-reference": Format(_is_reference, "/page?id=1"),
    "uuid": Format(_is_uuid, "0b8fa9c2-6a37-4a39-9d6c-1f5b3c1a7e10"),
    "regex": Format(_is_regex, "^[0-9]+$"),
    "json-pointer": Format(lambda text: bool(_POINTER.match(text)), "/items/0/id"),
}


def fits(name: str, value: object) -> bool:
    """Whether a value is of this format; what is no text and formats that nobody knows here always are."""
    known = FORMATS.get(name)
    if known is None or not isinstance(value, str):
        return True
    try:
        return known.fits(value)
    except ValueError:
        return False


def example(name: str) -> str:
    """A text of this format, "" for one that is not known here."""
    known = FORMATS.get(name)
    return known.example if known is not None else ""


def names() -> Iterator[str]:
    """The formats that are checked."""
    return iter(FORMATS)
