"""Tokens for other programs: what is kept of one, and whether a text is it. The text itself is kept nowhere."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping

import msgspec

from services.domain.fleet.role import ROLES
from services.domain.upkeep.stored import Document

#: kinds of documents: tokens by name, and when each was last used, apart, so that a use never brings a revoked one back
KIND, USED = "token", "token_used"
#: how a text begins that is one, so that people and scanners of secrets know it
HEAD = "fleetdeck_"
#: after an act of a token, where the audit names accounts by their host
PLACE = "rest"
MAX_TOKENS = 500
DAY_MS = 86_400_000
DEFAULT_MS, MAX_MS = 90 * DAY_MS, 3650 * DAY_MS
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TEXT_BYTES = 32


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The document of a token."""

    role: str
    digest: str  #: SHA-256 of the text, which is random and long, in hex
    by: str = ""  #: who made it
    at: int = 0  #: UTC ms
    until: int = 0  #: UTC ms from which on it is none any more; 0: never


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token as it stands now."""

    name: str
    role: str
    by: str = ""
    at: int = 0
    until: int = 0
    used: int = 0  #: UTC ms of its last use, to the minute; 0: never

    @property
    def who(self) -> str:
        """How the audit and records name whoever acts by it."""
        return f"{self.name}@{PLACE}"


def valid_name(name: str) -> bool:
    """Whether a token can be called so."""
    return _NAME.fullmatch(name) is not None


def fresh() -> str:
    """A text that nobody can guess."""
    return HEAD + secrets.token_urlsafe(_TEXT_BYTES)


def digest(text: str) -> str:
    """What is kept of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _check(kept: Kept) -> None:
    if kept.role not in ROLES or len(kept.digest) != 64:
        raise ValueError("no token")


#: one that cannot be read permits nothing
DOCUMENT = Document(Kept, _check)


def known(documents: Mapping[str, str], used: Mapping[str, str]) -> tuple[Token, ...]:
    """All that can be read, by name; ended ones too."""
    return tuple(
        Token(name=name, role=one.role, by=one.by, at=one.at, until=one.until, used=_instant(used.get(name, "")))
        for name, one in DOCUMENT.readable(documents).items()
    )


def find(documents: Mapping[str, str], text: str, now: int) -> Token | None:
    """The token that a text is, None where it is none or has ended; takes as long for each."""
    asked, found = digest(text), None
    for name, one in DOCUMENT.readable(documents).items():
        if hmac.compare_digest(one.digest, asked):
            found = Token(name=name, role=one.role, by=one.by, at=one.at, until=one.until)
    return found if found is not None and not over(found.until, now) else None


def over(until: int, now: int) -> bool:
    """Whether it has ended."""
    return bool(until) and now >= until


def _instant(body: str) -> int:
    try:
        found = json.loads(body) if body else 0
    except (ValueError, RecursionError):
        return 0
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0
