"""What is wrong, since when, how far it reaches, who was told and who is on it: documents of the fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from services.domain.alerts.rule import Rule
from services.domain.text.message import Message
from services.domain.upkeep.stored import Count, Document, Instant

KIND = "alert_incident"  #: of the store's documents: those that are not over, by ``slot_of`` of their key
ANSWERS = "alert_answer"  #: what people did about them, by id; only commands write it, only the leader the incident
HISTORY = "alert_history"  #: those that are over, by id
HISTORY_MOST = 2_000  #: so many of them are kept, the newest
NUMBERS = "alert_number"  #: ids that were given, so that none is given twice
ROLE = "watch"  #: of the lease of the process that watches

WAITING, OPEN, ANSWERED, MUTED, CALMING, RESOLVED = "waiting", "open", "answered", "muted", "calming", "resolved"
STATES = (OPEN, ANSWERED, MUTED, CALMING, WAITING, RESOLVED)
RAISED, AGAIN, ESCALATED, WORSE = "raised", "again", "escalated", "worse"
#: why somebody is told
#: it grew when it reaches so many times as much as was said last
GROWTH = 1.5
#: in place of the instant at which a mute ends: it ends when the matter changes; and as people write it
UNTIL_CHANGED, CHANGED = 0, "changed"
NAMES_KEPT, LINES_KEPT, TOLD_KEPT, FACTS_KEPT = 20, 40, 40, 6
SHOPS_KEPT = 2_000  #: of an incident that has so many nobody knows whether these are all


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is told: codes and numbers, put into words in the language of who reads; ``cause`` fills ``{cause}``."""

    title: Message
    facts: tuple[Message, ...] = ()
    cause: Message | None = None
    next: Message | None = None  #: what a person does now


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the time line."""

    at: Instant
    message: Message


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """Who was to hear of it: ``step`` numbers the messages of one incident, ``to`` names channels and groups."""

    step: Count
    what: str
    at: Instant
    to: tuple[str, ...] = ()


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule sees at one moment. ``key`` names the matter: equal keys, or one that begins with the other and a
    colon, are one incident, whichever rule saw it.
    """

    rule: str
    key: str
    words: Words
    count: int = 1
    of: int = 0  #: how many could have it, 0 where nobody can say
    names: tuple[str, ...] = ()  #: of what has it, some
    shops: tuple[str, ...] = ()  #: the keys of all that have it, where these are shops
    since_ms: int = 0  #: since when it holds, UTC ms; 0 where only this look tells
    scope: str = ""  #: filter of the tasks it is about
    pause: str = ""  #: the scope that a pause would stop more of it with
    fingerprint: str = ""  #: of the cause of dead letters
    passed: bool = False  #: it is over already when it is found: told once, and never "still so"
    once: bool = False  #: it is told once: neither again nor to those who are told when nobody answers
    to: tuple[str, ...] = ()  #: who hears of it in the place of those whom the rule names
    stage: int = (
        0  #: how bad it is of its kind; a matter that reaches a worse stage is told once more, whoever answered it
    )


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What people did about an incident."""

    answered_by: str = ""
    answered_at: Instant = 0
    note: str = ""
    muted_by: str = ""
    muted_at: Instant = 0
    muted_until: Instant = 0
    reason: str = ""  #: of the mute
    changes_from: Count = 0  #: of a mute until it changes, how many had it then; 0 of any other mute
    escalate_at: Instant = 0  #: when somebody asked for it

    def mutes(self, now_ms: int, unmuted: int) -> bool:
        """Whether its mute lasts; ``unmuted``: when that one began which a change of the matter has ended."""
        return now_ms < self.muted_until and not (self.changes_from and self.muted_at == unmuted)


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """One matter, from the moment a rule saw it. ``rule``: as it was when this began; it keeps that version."""

    id: str = ""
    key: str
    rule: Rule
    sources: tuple[str, ...] = ()  #: rules that see it now
    words: Words
    count: Count = 1
    worst: Count = 1
    of: Count = 0
    names: tuple[str, ...] = ()
    shops: tuple[str, ...] = ()  #: keys; none where these are no shops, or where an older program wrote it
    scope: str = ""
    pause: str = ""
    fingerprint: str = ""
    first_at: Instant = 0
    raised_at: Instant = 0
    calm_since: Instant = 0
    resolved_at: Instant = 0
    step: Count = 0  #: of the last message
    told_at: Instant = 0
    reached_nobody: bool = False  #: there was no channel that could take the last message
    escalated_at: Instant = 0
    grew: Count = 0  #: as many were told of growth last
    passed: bool = False
    stage: Count = 0  #: the worst that was told; the incident then goes by the rule that saw it
    unmuted: Instant = 0  #: when the mute began that is over because the matter has changed
    answer: Answer = Answer()
    told: tuple[Told, ...] = ()
    lines: tuple[Line, ...] = ()

    def muted(self, now_ms: int) -> bool:
        """Whether nobody is told of it."""
        return self.answer.mutes(now_ms, self.unmuted)

    def state(self, now_ms: int) -> str:
        """Where it stands at this moment."""
        if self.resolved_at:
            return RESOLVED
        if not self.raised_at:
            return WAITING
        if self.calm_since:
            return CALMING
        if self.muted(now_ms):
            return MUTED
        return ANSWERED if self.answer.answered_by else OPEN

    def again_at(self, now_ms: int) -> int:
        """When it is told again unless somebody answers, UTC ms; 0 never."""
        if self.state(now_ms) not in (OPEN, MUTED) or self.answer.answered_by or not self.rule.again_s:
            return 0
        return self._after_mute(self.told_at + self.rule.again_s * 1000, now_ms)

    def escalates_at(self, now_ms: int) -> int:
        """When it goes to the next group unless somebody answers, UTC ms; 0 never, or done."""
        if self.state(now_ms) not in (OPEN, MUTED) or self.answer.answered_by or self.escalated_at:
            return 0
        if not self.rule.escalate_s:
            return 0
        return self._after_mute(self.raised_at + self.rule.escalate_s * 1000, now_ms)

    def _after_mute(self, at: int, now_ms: int) -> int:
        """That instant, or the end of a mute that lies behind it; 0 where nobody knows when it ends."""
        if not self.answer.changes_from:
            return max(at, self.answer.muted_until)
        return 0 if self.muted(now_ms) else at

    def resolves_at(self) -> int:
        """When it counts as resolved if it stays calm, UTC ms; 0 while it is not calm."""
        return self.calm_since + self.rule.calm_s * 1000 if self.calm_since else 0


DOCUMENT, ANSWER = Document(Incident), Document(Answer)


def readable(stored: Mapping[str, str], answers: Mapping[str, str]) -> list[Incident]:
    """Those that can be read, with what people did about them; the doctor names the others."""
    found = DOCUMENT.readable(stored).values()
    return [replace(one, answer=ANSWER.read(answers.get(one.id), one.answer)) for one in found]


def going_on(documents: Callable[[str], Mapping[str, str]]) -> list[Incident]:
    """Those that are not over; ``documents``: those of the store, by kind."""
    stored = documents(KIND)
    return readable(stored, documents(ANSWERS) if stored else {})


def slot_of(key: str) -> str:
    """The name of the document of the incident of a key: there is one of this name, so one incident."""
    return blake2b(key.encode(), digest_size=12).hexdigest()


def related(one: str, other: str) -> bool:
    """Whether two keys name the same matter, one perhaps more closely."""
    return one == other or one.startswith(f"{other}:") or other.startswith(f"{one}:")
