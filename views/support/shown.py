"""How records are shown: status names, sentences and times for any table or panel. Pure but for the language."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from services import called
from services.domain.gates import home
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.counting import read_at
from services.domain.text.message import Message
from services.i18n import _, pgettext
from services.messages import render
from views.support import elide, instant, text
from views.support.words import kinds, type_names
from views.theme.tokens import LANES

log = logging.getLogger(__name__)

#: record status -> status name of the design tokens
GLYPHS: dict[str, str] = {
    Status.PENDING: "waiting",
    Status.QUEUED: "waiting",
    Status.BLOCKED: "waiting",
    Status.SCHEDULED: "scheduled",
    Status.RUNNING: "running",
    Status.RETRYING: "retrying",
    Status.HELD: "held",
    Status.SUCCEEDED: "succeeded",
    Status.DEAD: "dead",
    Status.CANCELLED: "cancelled",
}
#: so wide may the name of a machine be in the few words of a cell
NODE_COLUMNS = 14


class _Machine(tzinfo):
    """The zone of this machine as its system counts it at each instant: summer time begins and ends in open windows."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        """What the clock on the wall was ahead of UTC then."""
        return _on_wall(when.replace(tzinfo=None)).utcoffset() if when is not None else None

    def dst(self, when: datetime | None) -> timedelta | None:
        """Nobody tells."""
        return None

    def tzname(self, when: datetime | None) -> str | None:
        """How the system calls it then."""
        return _on_wall(when.replace(tzinfo=None)).tzname() if when is not None else None

    def fromutc(self, when: datetime) -> datetime:
        """Of an hour that comes twice, the second one is known as such."""
        local = _on_wall(when.replace(tzinfo=UTC))
        first = local.replace(tzinfo=self)
        return first if first.utcoffset() == local.utcoffset() else first.replace(fold=1)


def _on_wall(when: datetime) -> datetime:
    """A moment, or a time of day without a zone, with what the system's zone was then."""
    try:
        return when.astimezone()
    except (OSError, OverflowError, ValueError):  # Windows tells nothing of before 1970
        usual = timezone(timedelta(seconds=-time.timezone))
        return when.astimezone(usual) if when.tzinfo is not None else when.replace(tzinfo=usual)


_MACHINE = _Machine()
_zone: list[tzinfo] = []
_here: list[bool] = []


def set_zone(name: str) -> None:
    """Show times in this zone; "" is the machine's own, as is one that this machine does not know."""
    try:
        _zone[:] = [ZoneInfo(name)] if name else []
    except (ZoneInfoNotFoundError, ValueError, OSError):
        log.warning("times are shown by the clock of this computer, which does not know the zone %.80r", name)
        _zone.clear()


def zone() -> tzinfo:
    """The zone of all times on screen."""
    return _zone[0] if _zone else _MACHINE


def zone_key() -> str:
    """The name of that zone, "" for the machine's own."""
    return str(getattr(zone(), "key", ""))


def set_here(here: bool) -> None:
    """Speak of the engine and the storage of this computer, not of servers."""
    _here[:] = [here]


def here() -> bool:
    """Whether everything that is shown is on this computer."""
    return any(_here)


def status_word(status: str) -> str:
    """The word for a record status."""
    return _(called.STATUS_WORDS[status]) if status in called.STATUS_WORDS else status


def gate_word(gate: str) -> str:
    """The few words for the gate at which a task waits, wherever it is shown."""
    if node := home.node_of(gate):
        return _("waits for machine {node}").format(node=elide.middle(node, NODE_COLUMNS))
    return called.gate(gate)


def scope_name(scope: str) -> str:
    """What a pause or a limit covers: ``platform:temu`` as people call it."""
    head, _colon, name = scope.partition(":")
    if head == "all":
        return _("Everything")
    if head == "platform":
        return called.platform(name)
    return type_names.name(name) if head == "type" else name or scope


def covered(name: str) -> str:
    """The same of a name that may be such a code, or anything else: a shop, a schedule, a person."""
    return scope_name(name) if name.startswith(("platform:", "type:")) else name


def lane_word(lane: str) -> str:
    """The word for a lane."""
    return pgettext("lane", LANES[lane].word) if lane in LANES else lane


def platform_list(codes: str) -> str:
    """Platforms by their codes, as people call them, each with the code that is written: ``拼多多 (pdd)``."""
    names = {code: scope_name(f"platform:{code}") for code in codes.split(", ")}
    return text.listed(f"{name} ({code})" if name != code else code for code, name in names.items())


_SAID: dict[str, Callable[[str], str]] = {
    "status": lambda status: status_word(status).lower(),
    "lane": lambda lane: lane_word(lane).lower(),
    "kind": lambda kind: kinds.title(kind) or kind,
    "work": lambda name: type_names.name(name),
    "scope": scope_name,
    "codes": platform_list,
}


def moment(instant_ms: int) -> datetime:
    """An instant as an aware time."""
    return datetime.fromtimestamp(instant_ms / 1000, UTC)


def say(message: Message) -> str:
    """A sentence of the services, with states, lanes and kinds of failures called as the rest of the window does."""
    params = {name: _SAID[name](str(value)) if name in _SAID else value for name, value in message.params.items()}
    return told(Message(message.code, params))


def told(message: Message, now_ms: int = 0) -> str:
    """A sentence, counted to an instant (UTC ms): 0 is that of everything on screen."""
    return render(read_at(message, now_ms or instant.now_ms()))


def clock(instant_ms: int, now_ms: int) -> str:
    """Time of day, with the date when it is not today; blank for 0."""
    return text.clock(moment(instant_ms), moment(now_ms), zone()) if instant_ms else ""


def minute(instant_ms: int, now_ms: int) -> str:
    """The same without seconds."""
    return text.minute(moment(instant_ms), moment(now_ms), zone())


def iso(instant_ms: int) -> str:
    """As times are copied: ISO 8601 with offset."""
    return text.iso(moment(instant_ms), zone())


def dated(instant_ms: int, now_ms: int) -> str:
    """Local time, UTC and how far that is, one a line, for tool tips."""
    return text.moment(moment(instant_ms), moment(now_ms), zone())


def log_time(instant_ms: int, now_ms: int) -> str:
    """Time of day with its milliseconds, as lines of a log have it; with the date when it is not today."""
    whole = text.log_time(moment(instant_ms), zone())
    day, today = (moment(one).astimezone(zone()) for one in (instant_ms, now_ms))
    if day.date() == today.date():
        return whole
    return f"{day:%m-%d} {whole}" if day.year == today.year else f"{day:%Y-%m-%d} {whole}"


def span(milliseconds: float) -> timedelta:
    """Milliseconds as a span."""
    return timedelta(milliseconds=max(0.0, milliseconds))


def title_of(title: dict[str, str], name: str, language: str) -> str:
    """The name of a task type in the language of the moment."""
    return title.get(language) or title.get("en") or name


def duration_ms(task: Task, now_ms: int) -> int:
    """Milliseconds of the last attempt, -1 when nothing ran yet."""
    if not task.started_at:
        return -1
    if task.status == Status.RUNNING:
        return max(0, now_ms - task.started_at)
    last = task.attempts[-1] if task.attempts else None
    return max(0, last.ended_at - last.started_at) if last is not None else -1
