"""A link to what somebody looks at, for whoever has the same connection: ``fleetdeck://PROFILE/PAGE?show=FILTER``, and
``&at=UTC_MS&now=FILTER`` where that is a list of a moment of the past.

It opens a page and never does anything there, so that it may come from anywhere.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from services.domain.errors import UsageError
from services.domain.text.said import said

SCHEME = "fleetdeck"
#: of what a page is to show; longer links are cut by chat programs
MOST = 4_000
_MOMENT = re.compile(r"[1-9][0-9]{11,13}\Z")
_PAGE = re.compile(r"[a-z][a-z_]{0,30}\Z")


class ViewLink(msgspec.Struct, frozen=True):
    """Where it leads."""

    profile: str  #: name of the connection; "" for whichever is open
    page: str
    show: str = ""  #: what the page is to show there: a filter, or the name of one thing
    at: int = 0  #: the moment that is looked at, UTC ms; 0 for now
    now: str | None = None  #: what the page shows once somebody goes back to now; None where that is the same

    def __str__(self) -> str:
        """The link as text."""
        told = (("show", self.show or None), ("at", str(self.at) if self.at else None), ("now", self.now))
        shown = "&".join(f"{name}={quote(value, safe='')}" for name, value in told if value is not None)
        return f"{SCHEME}://{quote(self.profile, safe='')}/{self.page}{'?' if shown else ''}{shown}"


def is_link(text: str) -> bool:
    """Whether a text means to be one."""
    return text.strip().lower().startswith(f"{SCHEME}:")


def read(text: str) -> ViewLink:
    """Take a link apart.

    Raises:
        UsageError: it is none of ours.
    """
    try:
        parts = urlsplit(text.strip())
        told = parse_qs(parts.query, keep_blank_values=True, max_num_fields=5)
        page, shown, at = parts.path.strip("/"), told.get("show", [""])[0], _moment(told.get("at", [""])[0])
        now = told.get("now", [None])[0] if at else None
    except ValueError as exc:
        raise UsageError(said("link.none", text=text[:80]), field="link") from exc
    # Qt and browsers write small letters where the connection stands, so it is compared without their case
    if parts.scheme.lower() != SCHEME or not _PAGE.match(page):
        raise UsageError(said("link.none", text=text[:80]), field="link")
    if max(len(shown), len(now or "")) > MOST:
        raise UsageError(said("link.long", most=MOST), field="link")
    return ViewLink(unquote(parts.netloc), page, shown, at, now)


def _moment(text: str) -> int:
    """0 for what is none."""
    return int(text) if _MOMENT.match(text) else 0
