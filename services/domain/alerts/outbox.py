"""Messages that are written down before anybody sends them, and how a sender goes about them. Pure."""

from __future__ import annotations

import msgspec

from services.domain.alerts.incident import Incident, Told, Words
from services.domain.upkeep.stored import Count, Document, Instant

KIND = "alert_out"
HANDOVER = "handover"  #: not of an incident: the page for who takes over, in its title
FIRST_MS, LONGEST_MS = 10_000, 600_000  #: until the next try of a message that a channel refused
KEPT_MS = 24 * 3_600_000  #: what a channel has not taken for so long is given up, and said
SENT_MS = 3_600_000  #: a sent one stays known so long: a step that is written once more after a crash finds it
MINUTE_MS = 60_000


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """One message to one channel; it says all that is needed to write it in any language."""

    incident: str
    step: Count
    what: str  #: raised | again | escalated | resolved | handover
    channel: str
    severity: str
    rule: str
    words: Words
    count: Count = 1
    worst: Count = 0  #: the most that it was
    of: Count = 0
    names: tuple[str, ...] = ()
    first_at: Instant = 0
    at: Instant  #: when it was written
    tries: Count = 0
    due_at: Instant = 0
    sent_at: Instant = 0
    lost_at: Instant = 0  #: when it was given up
    error: str = ""  #: why the last try failed, masked

    @property
    def name(self) -> str:
        """Of its document: the same for every leader that decides the same step."""
        return f"{self.incident}:{self.step}:{self.channel}"

    @property
    def waits(self) -> bool:
        """Whether it is still to be sent."""
        return not self.sent_at and not self.lost_at


DOCUMENT = Document(Letter)


def written(incident: Incident, told: Told, channel: str) -> Letter:
    """The message of a step for a channel."""
    return Letter(
        incident=incident.id,
        step=told.step,
        what=told.what,
        channel=channel,
        severity=incident.rule.severity,
        rule=incident.rule.name,
        words=incident.words,
        count=incident.count,
        worst=incident.worst,
        of=incident.of,
        names=incident.names,
        first_at=incident.first_at,
        at=told.at,
        due_at=told.at,
    )


def sent(letter: Letter, now: int) -> Letter:
    """It was taken."""
    return msgspec.structs.replace(letter, sent_at=now, tries=letter.tries + 1, error="")


def refused(letter: Letter, why: str, now: int) -> Letter:
    """It was not: tried again after 10 s, twice as long each time, up to ten minutes."""
    wait = min(LONGEST_MS, FIRST_MS * 2 ** min(letter.tries, 16))
    return msgspec.structs.replace(letter, tries=letter.tries + 1, due_at=now + wait, error=why[:400])


def given_up(letter: Letter, now: int) -> Letter:
    """Nobody took it in time."""
    return msgspec.structs.replace(letter, lost_at=now)


def too_old(letter: Letter, now: int) -> bool:
    """Whether nobody waits for it any more."""
    return letter.waits and now - letter.at >= KEPT_MS


def forgotten(letter: Letter, now: int) -> bool:
    """Whether its document may go."""
    ended = letter.sent_at or letter.lost_at
    return bool(ended) and now - ended >= (SENT_MS if letter.sent_at else KEPT_MS)
