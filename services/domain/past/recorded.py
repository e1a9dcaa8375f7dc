"""That the fleet is recorded, as its recorder tells it: the records themselves lie beside the program that leads."""

from __future__ import annotations

import msgspec

from services.domain.upkeep.stored import Instant

KIND, NAME = "recorder", "last"  #: of the store's document


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """``at``: the last look that was kept (UTC ms), 0 for none; ``why``: what keeps it from more, "" for nothing."""

    holder: str = ""
    at: Instant = 0
    why: str = ""


_READ = msgspec.json.Decoder(Recorded).decode


def load(body: str) -> Recorded:
    """Read it. Raises ValueError where it is none."""
    return _READ(body)


def readable(body: str | None) -> Recorded | None:
    """Read it where somebody wrote one that can be read."""
    try:
        return load(body) if body is not None else None
    except (ValueError, RecursionError):
        return None


def dump(one: Recorded) -> str:
    return msgspec.json.encode(one).decode()
