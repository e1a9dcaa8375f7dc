"""What a rule about a cause wants done now: which shops are parked or go on, whether its letters run again. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import valid_word
from services.domain.insight.cause_rule import MAX_LINK, CauseRule
from services.domain.text.message import Message
from services.domain.text.said import said
from services.domain.text.sentences import N_
from services.domain.upkeep.stored import Document, Instant

STATE = "cause_state"  #: of the store's documents; the name is the fingerprint
#: a time of the day that passed while nobody led is made good for so long
LATE_MS = 6 * 3_600_000
SHORTEST_S, LONGEST_S = 60, 7 * 86_400

SENTENCES: dict[str, str] = {
    "issue.owner": N_("Known issue {name}, {who} is at it"),
    "issue.owner_only": N_("{who} is at it"),
    "issue.known": N_("Known issue {name}"),
    "issue.parks": N_("its shops are parked for {span} after each letter"),
    "issue.retries": N_("its letters run again at {clock}"),
    "issue.once": N_("alerts on it are told once"),
    "issue.goes_to": N_("alerts on it go to {names}"),
    "issue.parked": N_("parked now: {shops}"),
}


class Parked(msgspec.Struct, frozen=True, kw_only=True):
    """A shop that a rule has paused. ``died_at``: of the letter that it was paused for; all UTC ms."""

    died_at: Instant
    until: Instant
    on: bool = True  #: False: it goes on again, and only a newer letter parks it anew


class IssueState(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever leads has done by a rule. ``retried_at``: the last time that its letters ran again."""

    parked: dict[str, Parked] = {}
    retried_at: Instant = 0


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done now; ``due_at``: of a retry, 0 for none. ``after``: the state once that is done."""

    park: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    due_at: int = 0
    after: IssueState = msgspec.field(default_factory=IssueState)


DOCUMENT = Document(IssueState)


def readable(body: str | None) -> IssueState:
    """A state; an empty one where there is none, or none that anybody can read."""
    return DOCUMENT.read(body, IssueState())


def parked(states: Mapping[str, str]) -> dict[str, int]:
    """The shops that rules have paused, and until when (UTC ms), of all states as they are stored."""
    found: dict[str, int] = {}
    for state in DOCUMENT.readable(states).values():
        for shop, one in state.parked.items():
            if one.on:
                found[shop] = max(one.until, found.get(shop, 0))
    return found


def check(rule: CauseRule) -> None:
    """Refuse what cannot be.

    Raises:
        UsageError: ``field`` names what to change.
    """
    if rule.park_s and not SHORTEST_S <= rule.park_s <= LONGEST_S:
        raise UsageError(said("cause_rule.park", park_s=rule.park_s), field="park")
    if rule.link and not is_link(rule.link):
        raise UsageError(said("cause_rule.link", most=MAX_LINK, link=f"{rule.link!r:.60}"), field="link")
    for name in rule.route:
        if not valid_word(name):
            raise UsageError(said("cause_rule.to", name=f"{name!r:.40}"), field="to")
    if rule.retry_at and _minute(rule.retry_at) is None:
        raise UsageError(said("cause_rule.retry_at", retry_at=f"{rule.retry_at!r:.20}"), field="retry_at")


def decide(
    rule: CauseRule,
    state: IssueState,
    letters: Iterable[tuple[str, int]],
    paused: Mapping[str, str],
    now: int,
    zone: str,
    mark: str,
    freed: Collection[str] = (),
) -> Wanted:
    """``letters``: shop and death of those that are open; what died before its letters last ran again parks nothing.
    ``paused``: by shop whose pause it is; a shop that somebody else has paused is left alone. ``mark``: our own; one of
    these that the state lacks was paused by a leader who fell before he could note it. ``freed``: shops that a rule had
    paused, this one or another, and that a person has let go on since the last look; they wait for another letter.
    """
    due_at = _due(rule, state, now, zone)
    parks, ran_at = bool(rule.park_s) and not due_at, due_at or state.retried_at
    mine = {shop for shop, by in paused.items() if by == mark}
    kept = {
        shop: Parked(died_at=one.died_at, until=until, on=shop in mine)
        for shop, one in state.parked.items()
        if parks and now < (until := one.died_at + rule.park_s * 1000)
    }
    newest: dict[str, int] = {}
    for shop, died_at in letters:
        newest[shop] = max(newest.get(shop, 0), died_at)
    park: list[str] = []
    for shop, died_at in sorted(newest.items()) if parks else ():
        known, until = kept.get(shop), died_at + rule.park_s * 1000
        if now >= until or died_at <= ran_at or (known is not None and died_at <= known.died_at):
            continue
        if shop in mine or shop not in paused:  # of ours it is paused already, now for longer
            kept[shop] = Parked(died_at=died_at, until=until, on=shop not in freed)
            park += [] if shop in mine or shop in freed else [shop]
    after = IssueState(parked=kept, retried_at=ran_at)
    return Wanted(park=tuple(park), release=tuple(sorted(mine - kept.keys())), due_at=due_at, after=after)


def _due(rule: CauseRule, state: IssueState, now: int, zone: str) -> int:
    """When its letters were to run again last, where that is not done; 0 for not now."""
    minute = _minute(rule.retry_at)
    if minute is None:
        return 0
    where = ZoneInfo(zone)
    today = datetime.fromtimestamp(now / 1000, where).date()
    days = (datetime(day.year, day.month, day.day, tzinfo=where) for day in (today, today - timedelta(days=1)))
    # of an hour that comes twice the first, whichever of them it is now
    at = (round(day.replace(hour=minute // 60, minute=minute % 60).timestamp() * 1000) for day in days)
    due = next(instant for instant in at if instant <= now)
    return due if due > max(rule.known_at, state.retried_at) and now - due <= LATE_MS else 0


def _minute(text: str) -> int | None:
    head, colon, tail = text.partition(":")
    if not colon or not (head.isascii() and tail.isascii() and head.isdigit() and tail.isdigit()) or len(tail) != 2:
        return None
    hour, minute = int(head), int(tail)
    return hour * 60 + minute if hour < 24 and minute < 60 and len(head) <= 2 else None


def is_link(text: str) -> bool:
    """Whether a browser may open it: an address of a site, without spaces or signs that nobody sees."""
    head, _colon, rest = text.partition("://")
    return head in ("http", "https") and bool(rest) and len(text) <= MAX_LINK and text.isprintable() and " " not in text


def told(rule: CauseRule, state: IssueState | None = None) -> tuple[Message, ...]:
    """What is done about it, in words."""
    found = []
    if rule.owner:
        params = {"who": rule.owner, "name": rule.name}
        found.append(Message("issue.owner" if rule.name else "issue.owner_only", params))
    elif rule.known and rule.name:
        found.append(Message("issue.known", {"name": rule.name}))
    if rule.park_s:
        found.append(Message("issue.parks", {"seconds": rule.park_s}))
    if rule.retry_at:
        found.append(Message("issue.retries", {"clock": rule.retry_at}))
    if rule.alert_once:
        found.append(Message("issue.once"))
    if rule.route:
        found.append(Message("issue.goes_to", {"names": ", ".join(rule.route)}))
    if state is not None and (shops := sum(one.on for one in state.parked.values())):
        found.append(Message("issue.parked", {"shops": shops}))
    return tuple(found)
