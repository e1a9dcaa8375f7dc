"""What the Overview shows, as frozen rows, and the two questions that fill them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from services.domain.insight.depth import LANES, LaneDepth
from services.domain.insight.forecast.flow import LOADING, Facts, Flow
from services.domain.insight.shop import ShopNow
from services.domain.past.marks import Mark
from services.domain.text.message import Message
from services.monitor.history import Sample

__all__ = ["DUE", "LANES", "Attention", "LaneDepth", "OverviewNow", "OverviewSource", "Sample"]

#: of tasks that wait for another attempt so many are looked at, those that were created last
RETRIES = 500
#: in place of the seconds of its delay, of what is due again and waits in its lane
DUE = 0
NOT_KNOWN = Flow(state=LOADING, facts=Facts(known=False))


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """Something that needs a person: ``code`` and ``params`` name the sentence, ``verbs`` the ways out."""

    key: str
    severity: str  #: name of a status: dead, warning, blocked, stuck, paused
    code: str
    params: Mapping[str, str | int | float] = {}
    facts: tuple[Message, ...] = ()  #: what is true of it, where that is more than the sentence of its code says
    cause: Message | None = None  #: what failed, as a sentence of its own: ``{cause}``
    again: str = ""  #: fingerprint of a cause of which it tells that republished letters died of it again
    since_ms: int = 0
    verbs: tuple[tuple[str, str], ...] = ()  #: (verb, what it is about)
    end_open: bool = False  #: that it is over does not say that it went well
    covers: str = ""  #: how the keys of those begin for which this one stands: one that goes over into it is not over

    @property
    def state(self) -> str:
        """Differs once the matter grew; a mute until then ends."""
        return ",".join(str(self.params[name]) for name in ("count", "shops", "tasks") if name in self.params)


class OverviewNow(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet at one moment."""

    at_ms: int
    flow: Flow = NOT_KNOWN  #: is work flowing, of the whole fleet
    lanes: tuple[LaneDepth, ...] = ()
    told: bool = True  #: whether the broker tells what it holds; where not, ``lanes`` are as it told them last
    status_counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    ahead: int = 0  #: messages that workers fetched ahead
    running: int = 0
    slots_total: int = 0
    slots_busy: int = 0
    dead_open: int = 0
    succeeded_1h: int = 0
    failed_1h: int = 0
    ended_since_ms: int = 0  #: both are counted since then only, UTC ms; 0: the whole hour
    oldest_waiting_ms: int | None = None
    oldest_waiting_shop: str | None = None
    retry_levels: tuple[tuple[int, int], ...] = ()  #: (seconds of the delay or ``DUE``, tasks in it)
    retry_last: int = 0  #: of those that were looked at, those whose next attempt is the last
    shops: tuple[ShopNow, ...] = ()
    attention: tuple[Attention, ...] = ()
    owed_s: float = 0.0  #: another number of dead letters is counted, which can be told in so many seconds; 0 for none

    @property
    def broker_old(self) -> bool:
        """Whether what the broker holds is as it told that last, and all else is of now."""
        return self.flow.facts.store and not (self.flow.facts.broker and self.told)


class OverviewSource(Protocol):
    """Answers the page's questions; ``now`` and ``series`` block, so pages ask them off the GUI thread."""

    def now(self) -> OverviewNow:
        """Everything but the charts, of one moment: what stands side by side never names two numbers of one thing."""

    def fresh(self, now: OverviewNow) -> OverviewNow:
        """The same with what is known of the servers at this moment; its numbers stay. Asks nobody, but may judge every
        shop anew.
        """

    def series(self, range_s: int, max_points: int) -> Sequence[Sample]:
        """Samples of the last ``range_s`` seconds, oldest first."""

    def marks(self, range_s: int) -> Sequence[Mark]:
        """What happened in that time that the charts mark, oldest first. Blocks, too."""
