"""That the fleet is recorded, as its recorder tells it: the records themselves lie beside the program that leads."""

from __future__ import annotations

import msgspec

from services.domain.upkeep.stored import Document, Instant

KIND, NAME = "recorder", "last"  #: of the store's document


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """``at``: the last look that was kept (UTC ms), 0 for none; ``why``: what keeps it from more, "" for nothing."""

    holder: str = ""
    at: Instant = 0
    why: str = ""


DOCUMENT = Document(Recorded)
