"""A link to what somebody looks at, for whoever has the same connection: ``fleetdeck://PROFILE/PAGE?show=FILTER``.

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
_PAGE = re.compile(r"[a-z][a-z_]{0,30}\Z")


class ViewLink(msgspec.Struct, frozen=True):
    """Where it leads."""

    profile: str  #: name of the connection; "" for whichever is open
    page: str
    show: str = ""  #: what the page is to show there: a filter, or the name of one thing

    def __str__(self) -> str:
        """The link as text."""
        shown = f"?show={quote(self.show, safe='')}" if self.show else ""
        return f"{SCHEME}://{quote(self.profile, safe='')}/{self.page}{shown}"


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
        page, shown = parts.path.strip("/"), parse_qs(parts.query, max_num_fields=5).get("show", [""])[0]
    except ValueError as exc:
        raise UsageError(said("link.none", text=text[:80]), field="link") from exc
    # Qt and browsers write small letters where the connection stands, so it is compared without their case
    if parts.scheme.lower() != SCHEME or not _PAGE.match(page):
        raise UsageError(said("link.none", text=text[:80]), field="link")
    if len(shown) > MOST:
        raise UsageError(said("link.long", most=MOST), field="link")
    return ViewLink(unquote(parts.netloc), page, shown)
