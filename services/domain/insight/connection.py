"""What is true while a part of a connection does not answer: of what is on the screen, and of the work meanwhile."""

from __future__ import annotations

import msgspec

from services.domain.text import refusals
from services.domain.text.message import Message
from services.domain.text.said import Said

BROKER, STORE, MANAGEMENT, FILE = "broker", "store", "management", "file"
#: said of a connection that broke off within the handshake, as that to a proxy whose server is only starting does too
_CUT_OFF = frozenset({"tls.secure", "tls.broken"})


def refused(error: str) -> bool:
    """Whether a server is there and said no, or the way to it is set up wrongly: what stands in the connection has to
    be corrected, or a right be given, and trying again helps nobody.
    """
    code = error.message.code if isinstance(error, Said) else ""
    return code in refusals.OF_CONNECTION or (code.startswith("tls.") and code not in _CUT_OFF)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one part said when it was asked. ``words`` is the cause with its remedy, "" while it answers."""

    part: str
    words: str = ""
    latency_ms: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it answers."""
        return not self.words


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts answer this program now."""

    broker: bool = True
    store: bool = True
    embedded: bool = False
    online: bool = True  #: this computer has the network that leads to them
    alive: int | None = None  #: workers heard of a moment ago, None where that is not known
    apart: int = 0  #: of those, the ones that report that they cannot reach the broker
    refused: bool = False  #: the broker is there and refuses this program

    @property
    def whole(self) -> bool:
        """Whether nothing is lost."""
        return self.broker and self.store

    @property
    def refused_here(self) -> bool:
        """Whether the broker refuses this program while workers go on with it."""
        return self.lost == BROKER and self.refused and bool(self.alive) and not self.apart

    @property
    def lost(self) -> str:
        """broker, store, both or file, "" for nothing."""
        if self.whole:
            return ""
        if self.embedded:
            return FILE
        if not self.store:
            return STORE if self.broker else "both"
        return BROKER


def on_screen(reach: Reach) -> Message:
    """What of the screen stands still since the loss, and what is live. Records come from the store, depths from the
    broker.
    """
    return Message("lost.screen_all" if not reach.store or reach.embedded else "lost.screen_broker")


def meanwhile(reach: Reach) -> Message:
    """What workers can do meanwhile: a claim needs the store, its message the broker; outcomes wait on their disk."""
    if not reach.embedded and not reach.online:
        return Message("lost.offline")
    if reach.refused_here:
        return Message("lost.refused")
    return Message(f"lost.{reach.lost}")


def perhaps(reach: Reach) -> Message | None:
    """Whether others are cut off too: as workers report it, which they can only while the store answers; else that
    nobody here knows. None where there are no others.
    """
    if reach.embedded or not reach.online or reach.refused_here:
        return None
    if reach.lost != BROKER or reach.alive is None:
        return Message("lost.perhaps")
    if reach.apart:
        return Message("lost.others", {"n": reach.apart})
    return Message("lost.perhaps") if reach.alive else None
