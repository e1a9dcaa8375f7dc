"""Questions about alerts, for pages, the command line and REST: frozen values of one moment.

How a page follows it: ask ``now`` once a second while it is visible (one small read of the store, whatever the size of
the fleet) and diff the rows by ``incident.id``; nothing of it is in the event stream. Count-downs run from the three
``*_at`` instants by the store's clock (``at_ms`` is the moment of the answer). ``watcher`` is "" while nobody watches:
then verbs are off and count-downs stop. Sentences are codes (``wording.title``, ``facts`` and ``next_step`` put them
into the present language); ``deliveries`` say which channel took which message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.alerts import channel as channels
from services.domain.alerts import incident as incidents
from services.domain.alerts import outbox
from services.domain.alerts import rule as rules
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import ROLE, SHOPS_KEPT, STATES, Incident
from services.domain.alerts.outbox import Letter
from services.domain.alerts.rule import SEVERITIES, Rule
from services.ports import Store

_NO_CHANNELS: Mapping[str, Channel] = {}
KNOWN_MS = 30_000  #: so long it is believed whether this machine knows an address


class OnPlatform(msgspec.Struct, frozen=True, kw_only=True):
    """How many of a platform's shops have it."""

    platform: str
    shops: int  #: that have it
    of: int  #: that there are


class IncidentNow(msgspec.Struct, frozen=True, kw_only=True):
    """One incident at one moment; instants in UTC ms, 0 for never."""

    incident: Incident
    state: str  #: waiting | open | answered | muted | calming | resolved
    again_at: int = 0
    escalates_at: int = 0
    resolves_at: int = 0
    deliveries: tuple[Letter, ...] = ()  #: its messages, those of the last hour and those that wait
    groups: Mapping[str, str] = {}  #: of the channels that these went to, as far as they are there
    platforms: tuple[OnPlatform, ...] = ()  #: where its shops are: each platform, those with most of it first


class ChannelNow(msgspec.Struct, frozen=True, kw_only=True):
    """One channel, and what it has not taken yet."""

    channel: Channel
    known: bool | None = None  #: its address is known on the machine that asks; None where nobody looked
    waiting: int = 0
    since_ms: int = 0  #: of the oldest that waits
    next_ms: int = 0  #: when that is tried again
    error: str = ""  #: why it was not taken
    sent_ms: int = 0  #: when it took one last, within the hour
    lost: int = 0  #: given up within the day


class RuleNow(msgspec.Struct, frozen=True, kw_only=True):
    """One rule as it is now. ``changed``: somebody made it another than the default, or added it (``added``)."""

    rule: Rule
    changed: bool
    added: bool = False
    active: int = 0  #: incidents of it that are not over


class AlertsNow(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of one moment. ``incidents``: what nobody has answered first, then the worst, then the oldest."""

    at_ms: int
    watcher: str  #: the process that watches, "" while none does
    incidents: tuple[IncidentNow, ...]
    channels: tuple[ChannelNow, ...]

    def number(self, state: str) -> int:
        """How many incidents are in a state."""
        return sum(one.state == state for one in self.incidents)


class AlertQueries:
    """Blocking; raises the errors of the store."""

    def __init__(
        self,
        store: Store,
        secret: Callable[[str], str | None],
        defaults: Sequence[Rule],
        shops: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """``secret`` finds the address of a channel on this machine; ``defaults``: rules that nobody changed;
        ``shops``: the keys of all there are.
        """
        self._store, self._secret, self._defaults, self._shops = store, secret, tuple(defaults), shops
        self._known: dict[str, tuple[int, bool]] = {}

    def now(self, *, addresses: bool = True) -> AlertsNow:
        """Incidents that are not over, and the channels. ``addresses``: look whether those are known here, which asks
        the keyring of the machine (seconds for the first time).
        """
        now, letters = self._store.now_ms(), self._letters()
        known = channels.readable(self._store.documents(channels.KIND))
        open_ = incidents.going_on(self._store.documents)
        there = Counter(map(_platform, self._shops() if any(one.shops for one in open_) else ()))
        found = [replace(_at(one, now, letters, known), platforms=_platforms(one, there)) for one in open_]
        found.sort(key=_order)
        ways = tuple(self._channel(one, letters, now if addresses else 0) for one in known.values())
        return AlertsNow(at_ms=now, watcher=self._store.leader(ROLE), incidents=tuple(found), channels=ways)

    def incident(self, incident_id: str) -> IncidentNow:
        """One of them, or one of the past.

        Raises:
            UsageError: there is none of this id.
        """
        now, letters = self._store.now_ms(), self._letters()
        found = next((one for one in incidents.going_on(self._store.documents) if one.id == incident_id), None)
        if found is None:
            found = incidents.DOCUMENT.read(self._store.documents(incidents.HISTORY).get(incident_id), None)
        if found is None:
            raise rules.refusal("alert.no_incident", "incident", value=incident_id[:80])
        return _at(found, now, letters, channels.readable(self._store.documents(channels.KIND)))

    def history(self, limit: int = 200) -> tuple[IncidentNow, ...]:
        """Those that are over, the newest first."""
        now, found = self._store.now_ms(), incidents.readable(self._store.documents(incidents.HISTORY), {})
        found.sort(key=lambda one: -one.resolved_at)
        return tuple(_at(one, now, ()) for one in found[:limit])

    def over(self, span_ms: int) -> tuple[int, int]:
        """When the last one was over, 0 for never; and how many were within so long."""
        found = incidents.readable(self._store.documents(incidents.HISTORY), {})
        since = self._store.now_ms() - span_ms
        return max((one.resolved_at for one in found), default=0), sum(one.resolved_at >= since for one in found)

    def rules(self) -> tuple[RuleNow, ...]:
        """All rules, in their order."""
        stored = self._store.documents(rules.KIND)
        delivered = {one.name for one in self._defaults}
        active = [one.rule.name for one in incidents.going_on(self._store.documents) if one.raised_at]
        return tuple(
            RuleNow(
                rule=one,
                changed=one.name in stored,
                added=one.name not in delivered,
                active=active.count(one.name),
            )
            for one in rules.known(self._defaults, stored).values()
        )

    @property
    def measures(self) -> Mapping[str, Rule]:
        """What a rule can look at, each as its rule was delivered; asks nobody."""
        return {one.measure: one for one in self._defaults}

    def limit(self, name: str, limit: str) -> float | None:
        """A limit of a rule as it stands now, None while nobody is told by it."""
        rule = rules.known(self._defaults, self._store.documents(rules.KIND)).get(name)
        return rule.limit(limit) if rule is not None and rule.enabled else None

    def versions(self, name: str) -> tuple[Rule, ...]:
        """What a rule was before, the newest first."""
        bodies = self._store.documents(rules.VERSIONS)
        found = rules.DOCUMENT.readable({key: body for key, body in bodies.items() if key.startswith(f"{name}@")})
        return tuple(sorted(found.values(), key=lambda one: -one.version))

    def _letters(self) -> list[Letter]:
        found = list(outbox.DOCUMENT.readable(self._store.documents(outbox.KIND)).values())
        found.sort(key=lambda one: (one.at, one.incident, one.step))
        first: dict[str, Letter] = {}
        for one in found:
            if one.waits:
                first.setdefault(one.channel, one)
        # what a channel refused is tried again before what came after it
        return [replace(one, due_at=max(one.due_at, first[one.channel].due_at)) if one.waits else one for one in found]

    def _is_known(self, channel: Channel, now: int) -> bool:
        at, known = self._known.get(channel.secret_name, (0, False))
        if not at or now - at >= KNOWN_MS:
            known = bool(self._secret(channel.secret_name))
            self._known[channel.secret_name] = now, known
        return known

    def _channel(self, channel: Channel, letters: Sequence[Letter], now: int) -> ChannelNow:
        own = sorted((one for one in letters if one.channel == channel.name), key=lambda one: (one.at, one.step))
        waiting = [one for one in own if one.waits]
        return ChannelNow(
            channel=channel,
            known=self._is_known(channel, now) if now else None,
            waiting=len(waiting),
            since_ms=waiting[0].at if waiting else 0,
            next_ms=waiting[0].due_at if waiting else 0,
            error=next((one.error for one in waiting if one.error), ""),
            sent_ms=max((one.sent_at for one in own), default=0),
            lost=sum(bool(one.lost_at) for one in own),
        )


def _at(
    incident: Incident, now: int, letters: Sequence[Letter], known: Mapping[str, Channel] = _NO_CHANNELS
) -> IncidentNow:
    own = sorted((one for one in letters if one.incident == incident.id), key=lambda one: (one.step, one.channel))
    return IncidentNow(
        incident=incident,
        state=incident.state(now),
        again_at=incident.again_at(now),
        escalates_at=incident.escalates_at(now),
        resolves_at=incident.resolves_at(),
        deliveries=tuple(own),
        groups={one.channel: known[one.channel].group for one in own if one.channel in known},
    )


def _platform(shop: str) -> str:
    return shop.partition(":")[0]


def _platforms(incident: Incident, there: Mapping[str, int]) -> tuple[OnPlatform, ...]:
    """Nothing of one whose shops are not all known: how far it reaches would look like less."""
    if not incident.shops or len(incident.shops) >= SHOPS_KEPT:
        return ()
    having = Counter(map(_platform, incident.shops))
    found = [
        OnPlatform(platform=name, shops=having[name], of=max(having[name], there.get(name, 0)))
        for name in {*having, *there}
    ]
    return tuple(sorted(found, key=lambda one: (-one.shops, one.platform)))


def _order(one: IncidentNow) -> tuple[int, int, int]:
    return STATES.index(one.state), SEVERITIES.index(one.incident.rule.severity), one.incident.first_at
