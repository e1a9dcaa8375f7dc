"""The gate *quiet hours*: nothing of a scope starts between certain hours, and what waits goes on by itself afterwards.

What a person writes (``QuietHours``) is in hours of the fleet's time zone. A step of the store cannot know time zones,
so the coming windows are written out in a document of their own (``Windows``), which the stores compare with their own
clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import NoReturn
from zoneinfo import ZoneInfo

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import SCOPE_ALL, Pause, valid_scope
from services.domain.gates.gate import Gate, Switch
from services.domain.plans import recurrence
from services.domain.text.late import late
from services.domain.text.message import Message, Param
from services.domain.text.said import said_of
from services.domain.text.sentences import N_, NP_
from services.domain.upkeep.stored import Document, Instant

GATE = "quiet_hours"
#: kinds of the documents: what people wrote, and the windows that come of it; both by the name of the quiet hours
KIND, WINDOWS = "quiet_hours", "quiet_windows"
_DAY_MS = 86_400_000
#: so far ahead windows are written out, and so much of that is left when the doctor warns
HORIZON_MS, SHORT_MS = 14 * _DAY_MS, 7 * _DAY_MS
MOST_WINDOWS, MOST_TEXT, MOST_DAYS = 20, 400, 366
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAME = late(r"[\w-]{1,64}\Z")
_HOUR = late(r"([01]?\d|2[0-4]):([0-5]\d)\Z", re.ASCII)
_WEEKLY = late(r"(\S+)\s+(\S+?)\s*[-\u2013\u2014]\s*(\S+)\Z")
#: how people write days, and what lies between two, who do so in Chinese
_CHINESE = {
    "星期": "周",
    "礼拜": "周",
    "每周": "周",
    "每天": "daily",
    "每日": "daily",
    "工作日": "mon-fri",
    "周末": "sat,sun",
    "周天": "sun",
    **{f"周{word}": day for word, day in zip("一二三四五六日", DAYS, strict=True)},
    "\u3001": ",",
    "\uff0c": ",",
}
#: of several days the first has its full name alone; the hours stand behind the last without a space
_AGAIN = late(r"(?<=[\u3001\uff0c,至到])(?=[一二三四五六日天])")
_BEFORE_HOUR = late(r"(?<=[一二三四五六日天末])(?=\d{1,2}:)")
_TO = late(r"(?<=\w)(?:\s+to\s+|\s*[至到]\s*)(?=\w)")
#: and in English: ``Monday to Friday``, ``Sat, Sun``, ``weekdays``, as the window itself lists them
_DAY = late(rf"\b({'|'.join(DAYS)})(?:s?day|nesday|rsday|urday)?s?\b")
_ENGLISH = {"every day": "daily", "weekdays": "mon-fri", "weekends": "sat,sun", "weekend": "sat,sun"}
_BETWEEN_DAYS = late(r"(?<=[a-z])\s*([-\u2013\u2014,])\s*(?=[a-z])")
_AND = late(r"(?<=[a-z])\s+and\s+(?=[a-z])")


_MOMENT = r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d)"
#: from now on, to the next time that the clock shows it
_UNTIL = late(r"(?:until|till|\u76f4\u5230|\u5230|\u81f3)\s*(\d{1,2}:\d\d)\Z", re.ASCII | re.IGNORECASE)
_ONCE = late(rf"{_MOMENT}\s*[-\u2013\u2014]\s*{_MOMENT}\Z", re.ASCII | re.IGNORECASE)


class Weekly(msgspec.Struct, frozen=True, kw_only=True):
    """``days``: 0 is Monday; on these it begins. ``start``, ``end``: minutes of the day, up to 1440; an end that is not
    after the start is one of the next day.
    """

    days: tuple[int, ...]
    start: int
    end: int


class Once(msgspec.Struct, frozen=True, kw_only=True):
    """From an instant to another."""

    start: Instant
    end: Instant


class QuietHours(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody set. ``scope`` as of a pause."""

    name: str
    scope: str
    weekly: tuple[Weekly, ...] = ()
    once: tuple[Once, ...] = ()
    reason: str = ""
    by: str = ""
    at: Instant = 0


class Windows(msgspec.Struct, frozen=True, kw_only=True):
    """The coming windows of one, as the stores read them: half-open, UTC ms, ascending and apart from each other.

    ``until``: up to there they are written out.
    """

    scope: str
    windows: tuple[tuple[Instant, Instant], ...]
    until: Instant = 0
    zone: str = "UTC"
    reason: str = ""
    by: str = ""


class Quiet(Pause, frozen=True, kw_only=True):
    """One that is closed now. ``ends``: UTC ms, 0 for one that cannot be read."""

    name: str = ""
    ends: int = 0
    clock: str = ""  #: the same on the clocks of the fleet

    @property
    def gate(self) -> str:
        """Its gate."""
        return GATE

    @property
    def until(self) -> int:
        """When it opens by itself."""
        return self.ends

    @property
    def unread(self) -> bool:
        """Whether nobody can read them."""
        return not self.ends

    @property
    def told(self) -> Mapping[str, str]:
        """What else its sentences say."""
        return {"ends": self.clock, "name": self.name}

    @property
    def key(self) -> str:
        """Tells it from all others that are closed."""
        return f"{GATE}:{self.name}"


# ------------------------------------------------------------------------------------------------ what people write
def weekly(text: str) -> Weekly:
    """``mon-fri 22:00-06:00``, ``sat,sun 00:00-24:00``, ``daily 12:00-13:00``; days in Chinese as well.

    Raises:
        UsageError: it is none of these.
    """
    return _weekly(text, "quiet.weekly")


def _weekly(text: str, code: str) -> Weekly:
    """``code``: how what it is not is refused."""
    found = _WEEKLY.match(_spelt(text.strip().replace("\uff1a", ":")))
    days = _days(found[1]) if found is not None else ()
    hours = [_minutes(hour) for hour in found.group(2, 3)] if found is not None else []
    if not days or None in hours:
        _refuse(code, "when", text=f"{text!r:.60}")
    start, end = (minutes for minutes in hours if minutes is not None)
    if start == end or start == 1440:
        _refuse("quiet.empty", "when", text=f"{text!r:.60}")
    return Weekly(days=days, start=start, end=end)


def windows(text: str, zone: str, now: int) -> tuple[tuple[Weekly, ...], tuple[Once, ...]]:
    """Windows between semicolons, each as ``weekly`` takes it, ``2026-11-24 22:00 - 2026-11-25 06:00`` in the zone, or
    ``until 06:00``: from now on (UTC ms) to the next time that the clock there shows it.

    Raises:
        UsageError: one of them is neither.
    """
    weeklies: list[Weekly] = []
    onces: list[Once] = []
    clock = recurrence.zone_named(zone)
    for part in (one.strip() for one in text.replace("\uff1b", ";").replace("\uff1a", ":").split(";") if one.strip()):
        if (until := _UNTIL.match(part)) is not None:
            minutes = _minutes(until[1])
            if minutes is None:
                _refuse("quiet.window", "when", text=f"{part!r:.60}")
            today = datetime.fromtimestamp(now / 1000, UTC).astimezone(clock).date()
            ends = (_at(today + timedelta(days=day), minutes, clock, 1) for day in range(3))
            onces.append(Once(start=now, end=next(end for end in ends if end > now)))
            continue
        found = _ONCE.match(_spelt(part))
        if found is None:
            weeklies.append(_weekly(part, "quiet.window"))
            continue
        try:
            start, end = (datetime.fromisoformat(moment) for moment in found.groups())
        except ValueError:
            _refuse("quiet.window", "when", text=f"{part!r:.60}")
        first, last = (
            _at(one.date(), one.hour * 60 + one.minute, clock, fold) for fold, one in enumerate((start, end))
        )
        onces.append(Once(start=first, end=last))
    return tuple(weeklies), tuple(onces)


def _spelt(text: str) -> str:
    """What is written in Chinese or in longer words, with those of this grammar."""
    text = _BEFORE_HOUR.sub(" ", _AGAIN.sub("周", text.lower()))
    for word, here in (*_CHINESE.items(), *_ENGLISH.items()):
        text = text.replace(word, here)
    text = _AND.sub(",", _TO.sub("-", _DAY.sub(r"\1", text)))
    return _BETWEEN_DAYS.sub(lambda mark: "," if mark[1] == "," else "-", text)


def _days(words: str) -> tuple[int, ...]:
    """Empty where these are no days."""
    if words == "daily":
        return tuple(range(7))
    found: set[int] = set()
    for part in words.split(","):
        first, dash, last = part.partition("-")
        if first not in DAYS or (dash and last not in DAYS):
            return ()
        begin = DAYS.index(first)
        steps = (DAYS.index(last) - begin) % 7 if dash else 0
        found.update((begin + step) % 7 for step in range(steps + 1))
    return tuple(sorted(found))


def _minutes(hour: str) -> int | None:
    found = _HOUR.match(hour)
    minutes = int(found[1]) * 60 + int(found[2]) if found is not None else 1441
    return minutes if minutes <= 1440 else None


def weekly_text(one: Weekly) -> str:
    """The same in the words that ``weekly`` reads."""
    days = "daily" if len(one.days) == 7 else ",".join(DAYS[day] for day in one.days)
    return f"{days} {_hour(one.start)}-{_hour(one.end)}"


def _hour(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def check(quiet: QuietHours, now_ms: int) -> None:
    """See that somebody may set this.

    Raises:
        UsageError: what is wrong, ``field`` is name, scope, when or reason.
    """
    if not _NAME.match(quiet.name):
        _refuse("quiet.name", "name", text=f"{quiet.name!r:.80}")
    if not valid_scope(quiet.scope):
        _refuse("quiet.scope", "scope", text=f"{quiet.scope!r:.80}")
    if not 0 < len(quiet.weekly) + len(quiet.once) <= MOST_WINDOWS:
        _refuse("quiet.windows", "when", most=MOST_WINDOWS)
    for one in quiet.once:
        if one.end <= one.start or one.end - one.start > MOST_DAYS * _DAY_MS:
            _refuse("quiet.once", "when", most=MOST_DAYS)
    if not quiet.weekly and all(one.end <= now_ms for one in quiet.once):
        _refuse("quiet.past", "when")
    if not 0 < len(quiet.reason.strip()) <= MOST_TEXT:
        _refuse("quiet.reason", "reason", most=MOST_TEXT)


def _check_stored(quiet: QuietHours) -> None:
    sound = all(
        0 <= one.start < 1440 and 0 <= one.end <= 1440 and one.start != one.end and set(one.days) <= set(range(7))
        for one in quiet.weekly
    )
    if not sound or not valid_scope(quiet.scope) or len(quiet.weekly) + len(quiet.once) > MOST_WINDOWS:
        raise ValueError("these are no quiet hours")


DOCUMENT = Document(QuietHours, _check_stored)


# ---------------------------------------------------------------------------------------------------------- windows
def spans(quiet: QuietHours, zone: str, since_ms: int, until_ms: int) -> list[tuple[int, int]]:
    """Its windows that touch this time, in order; those that touch each other are one.

    An hour that the clock skips is the first after the gap. Of one that comes twice a window begins with the first and
    ends with the second: what was to be quiet is.
    """
    found = [(one.start, one.end) for one in quiet.once]
    return merged(_touching([*found, *_weeklies(quiet.weekly, zone, since_ms, until_ms)], since_ms, until_ms))


def following(quiet: QuietHours, zone: str, now_ms: int) -> tuple[int, int]:
    """The window that is open, or comes next however far ahead it lies; zeros where none will."""
    ahead = now_ms + HORIZON_MS if quiet.weekly else max((one.end for one in quiet.once), default=0)
    return next(iter(spans(quiet, zone, now_ms, ahead)), (0, 0))


def between(weekly: Iterable[Weekly], zone: str, since_ms: int, until_ms: int) -> list[tuple[int, int]]:
    """The windows that touch this time, in order, each for itself."""
    return sorted(_touching(_weeklies(weekly, zone, since_ms, until_ms), since_ms, until_ms))


def _weeklies(weekly: Iterable[Weekly], zone: str, since_ms: int, until_ms: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    clock, windows = recurrence.zone_named(zone), tuple(weekly)
    if not windows:  # single ones may lie any number of days ahead
        return found
    day = _local(since_ms, clock).date() - timedelta(days=2)
    last = _local(until_ms, clock).date()
    while day <= last:
        found += (_window(one, day, clock) for one in windows if day.weekday() in one.days)
        day += timedelta(days=1)
    return found


def _touching(found: Iterable[tuple[int, int]], since_ms: int, until_ms: int) -> list[tuple[int, int]]:
    return [one for one in found if one[0] < one[1] and one[1] > since_ms and one[0] < until_ms]


def _window(one: Weekly, day: date, zone: ZoneInfo) -> tuple[int, int]:
    over = one.end <= one.start
    return _at(day, one.start, zone, 0), _at(day + timedelta(days=over), one.end, zone, 1)


def _at(day: date, minutes: int, zone: ZoneInfo, fold: int) -> int:
    moment = datetime.combine(day, time()) + timedelta(minutes=minutes)
    shown = moment.replace(tzinfo=zone, fold=fold)
    for _ in range(2 * 1440):  # a gap of a day is on record
        back = shown.astimezone(UTC).astimezone(zone)
        if back.replace(tzinfo=None) == moment:
            break
        moment += timedelta(minutes=1)
        shown = moment.replace(tzinfo=zone, fold=0)
    return round(shown.timestamp()) * 1000


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, those that touch as one, without those that last no time."""
    found: list[tuple[int, int]] = []
    for begins, ends in sorted(spans):
        if begins >= ends:
            continue
        if found and begins <= found[-1][1]:
            found[-1] = found[-1][0], max(ends, found[-1][1])
        else:
            found.append((begins, ends))
    return found


def written_out(quiet: QuietHours, zone: str, now_ms: int) -> Windows:
    """The document for the stores: what is open now and what comes within the horizon."""
    until = now_ms + HORIZON_MS
    return Windows(
        scope=quiet.scope,
        windows=tuple(spans(quiet, zone, now_ms, until)),
        until=until,
        zone=zone,
        reason=quiet.reason,
        by=quiet.by,
    )


def is_fresh(stored: Windows, wanted: Windows, now_ms: int) -> bool:
    """Whether what is stored says the same as what would be written now, nearly as far ahead."""
    if stored.until < wanted.until - _DAY_MS:
        return False
    edge = min(stored.until, wanted.until)
    left, right = (
        (one.scope, one.zone, one.reason, one.by, [span for span in one.windows if span[1] > now_ms and span[0] < edge])
        for one in (stored, wanted)
    )
    return left == right


def _check_windows(found: Windows) -> None:
    if not valid_scope(found.scope):
        raise ValueError(f"{found.scope!r:.60} is nothing that can be quiet")


WRITTEN_OUT = Document(Windows, _check_windows)


def left_of(name: str, stored: Windows) -> QuietHours:
    """What still holds of quiet hours that are not there any more."""
    once = tuple(Once(start=start, end=end) for start, end in stored.windows)
    return QuietHours(name=name, scope=stored.scope, once=once, reason=stored.reason, by=stored.by)


def closed(name: str, body: str, now_ms: int) -> Pause | None:
    """What one of the documents closes at an instant. One that cannot be read closes everything, as the stores do:
    nobody knows what it was to hold back.
    """
    found = WRITTEN_OUT.read(body, None)
    if found is None:
        return Quiet(scope=SCOPE_ALL, by="?", name=name, clock="?")
    start, end = next(((start, end) for start, end in found.windows if start <= now_ms < end), (0, 0))
    if not end:
        return None
    clock = clock_at(end, found.zone, now_ms)
    return Quiet(scope=found.scope, by=found.by, at=start, reason=found.reason, name=name, ends=end, clock=clock)


def clock_at(instant: int, zone: str, now_ms: int) -> str:
    """Hour and minute on the clocks of the fleet, with the day where that is neither the next nor the last time they
    show it.
    """
    try:
        moment = _local(instant, ZoneInfo(zone))
    except (ValueError, OSError, KeyError, OverflowError):
        moment = _local(instant, ZoneInfo("UTC"))
    return f"{moment:%H:%M}" if abs(instant - now_ms) < _DAY_MS else f"{moment:%Y-%m-%d %H:%M}"


def _local(instant: int, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone)


# ----------------------------------------------------------------------------------------------------------- words
def _refuse(code: str, field: str, **params: Param) -> NoReturn:
    raise UsageError(said_of(SENTENCES, code, params), field=field)


def _doubts(documents: Callable[[str], Mapping[str, str]], now_ms: int) -> list[Message]:
    """Quiet hours that will not hold for long, or that nobody can change any more."""
    return list(_of_documents(documents(KIND), documents(WINDOWS), now_ms))


def _of_documents(wanted: Mapping[str, str], stored: Mapping[str, str], now_ms: int) -> Iterator[Message]:
    quiet, windows = DOCUMENT.readable(wanted), WRITTEN_OUT.readable(stored)
    for name in sorted({*wanted, *windows} - (stored.keys() - windows.keys())):  # others are told among the damage
        until = windows[name].until if name in windows else 0
        if name not in wanted:
            yield Message("doctor.quiet_left", {"name": name})
        elif until < now_ms + SHORT_MS and name in quiet:
            yield Message("doctor.quiet_short", {"name": name, "seconds": max(0, until - now_ms) // 1000})


#: without a full stop, as it stands beside others
UNREAD = N_("Nothing starts: the quiet hours {name} cannot be read; set them again, or remove them")

SENTENCES: Mapping[str, str] = {
    "gate.not_quiet_hours": N_("No quiet hours hold it back now."),
    "gate.quiet_hours": N_("Quiet hours until {ends}, set by {by}: {reason}. It goes on by itself."),
    "gate.quiet_hours_unread": N_(
        "The quiet hours {name} cannot be read, so they hold back everything: set them again, or remove them."
    ),
    "shop.quiet_hours_unread": UNREAD,
    "shop.quiet_hours_all": N_("Quiet hours for everything until {ends}, set by {who}"),
    "shop.quiet_hours_all_why": N_("Quiet hours for everything until {ends}, set by {who}: {why}"),
    "shop.quiet_hours_platform": N_("Quiet hours for all of {platform} until {ends}, set by {who}"),
    "shop.quiet_hours_platform_why": N_("Quiet hours for all of {platform} until {ends}, set by {who}: {why}"),
    "shop.quiet_hours_shop": N_("Quiet hours of the shop until {ends}, set by {who}"),
    "shop.quiet_hours_shop_why": N_("Quiet hours of the shop until {ends}, set by {who}: {why}"),
    "shop.quiet_hours_type": N_("Quiet hours for {type} until {ends}, set by {who}"),
    "shop.quiet_hours_type_why": N_("Quiet hours for {type} until {ends}, set by {who}: {why}"),
    "flow.why_quiet": N_("{n:,} in quiet hours"),
    "flow.why_quiet_in": N_("{n:,} in quiet hours, the first of which end in {span}"),
    "doctor.quiet_hours_unread": UNREAD,
    "doctor.quiet_hours": N_("Quiet hours until {ends}, set by {who}: {scope}"),
    "doctor.quiet_short": N_(
        "The quiet hours {name} are written out for {span} more only; a leader does that: start a worker"
    ),
    "doctor.quiet_left": N_(
        "Of the quiet hours {name} only the next windows are left: set them again, or run fleetdeck quiet remove {name}"
    ),
    "quiet.weekly": N_(
        "a weekly window is written mon-fri 22:00-06:00, sat,sun 00:00-24:00 or daily 12:00-13:00, not {text}"
    ),
    "quiet.window": N_(
        "a window is written until 06:00, mon-fri 22:00-06:00, sat,sun 00:00-24:00 or daily 12:00-13:00, not {text}"
    ),
    "quiet.empty": N_("{text} has no time in it"),
    "quiet.name": N_("a name has 1 to 64 letters, digits, _ and -, not {text}"),
    "quiet.scope": N_("quiet hours are for all, platform:P, shop:P:ID or type:T, not for {text}"),
    "quiet.windows": N_("say when it is quiet: 1 to {most} windows"),
    "quiet.once": N_("a window ends after it begins, at most {most} days later"),
    "quiet.past": N_("all of it is past"),
    "quiet.reason": N_("say why in 1 to {most} characters"),
}

ENTRY = Gate(
    name=GATE,
    short=N_("quiet hours"),
    no_help=N_("Quiet hours hold it back until they end"),
    flow="quiet",
    switch=Switch(
        document=WINDOWS,
        read=closed,
        doubts=_doubts,
        state=NP_("shop", "Quiet hours"),
        word=N_("Quiet hours"),
        glyph="ph.moon",
        fallback="mdi6.weather-night",
        cell="ph.moon-fill",
    ),
    sentences=SENTENCES,
)
