"""The life of a shop's own queue: open, then left, then closed, then gone; kept as a document of the store."""

from __future__ import annotations

import msgspec

from services.domain.errors import UsageError
from services.domain.upkeep.stored import Document, Instant

KIND = "queue"  #: of the documents; their names are ``platform:shop_id``
OPEN = "open"  #: tasks of the shop go there
LEAVING = "leaving"  #: they do not any more, but a retry or a foreign message still may: workers take them
CLOSING = "closing"  #: workers let it go, so that it can be deleted


class ShopQueue(msgspec.Struct, frozen=True, kw_only=True):
    """Where the queue stands, and since when (UTC ms of the store's clock)."""

    state: str
    since: Instant = 0


DOCUMENT = Document(ShopQueue)


def parse(body: str) -> ShopQueue:
    """Read a document.

    Raises:
        UsageError: it is none of ours.
    """
    try:
        return DOCUMENT.load(body)
    except (msgspec.MsgspecError, RecursionError) as exc:
        raise UsageError(f"the document of a dedicated queue cannot be read: {exc}", field="queue") from exc
