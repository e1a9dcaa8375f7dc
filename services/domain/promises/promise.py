"""A promise: how old the last success of a type may be in each of some shops, or by which hour it has to be there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterator, Mapping
from typing import NoReturn

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import Weekly
from services.domain.plans.schedule import MAX_SHOPS, fitting
from services.domain.task import ids
from services.domain.text.message import Message, Param
from services.domain.text.said import said, said_of
from services.domain.text.sentences import N_, NN_, Counted
from services.domain.upkeep.stored import Count, Document, Instant

#: kinds of the documents: what people promised, what that was before (``NAME@VERSION``), how it stands
KIND, VERSIONS, STATE = "promise", "promise_version", "promise_state"
AGE, BY = "age", "by"
MIN_LIMIT_S, MAX_LIMIT_S, MOST_TEXT = 60, 31 * 86_400, 400
_DAY_MIN = 1440
ALWAYS = Weekly(days=tuple(range(7)), start=0, end=_DAY_MIN)
_NAME = re.compile(r"[\w-]{1,64}\Z")
_HOUR = re.compile(r"([01]\d|2[0-4]):([0-5]\d)\Z", re.ASCII)
_DASH = re.compile("[-~至\u2013\u2014]+")


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody promised. One kind of shop selection, as of a schedule.

    ``age``: no shop's last success is older than ``limit_s`` within ``window``; what is done before a window counts
    from its begin. ``by``: there is a success between begin and end of each ``window``. Hours are those of the fleet's
    time zone; a window that ends at or before its begin ends on the next day.
    """

    name: str
    task_type: str
    kind: str = AGE  #: age | by
    limit_s: Count = 0
    window: Weekly = ALWAYS
    shops: tuple[str, ...] = ()  #: platform:shop_id
    platforms: tuple[str, ...] = ()  #: with groups: both must fit
    groups: tuple[str, ...] = ()
    all_shops: bool = False
    owner: str = ""  #: who answers for it
    note: str = ""
    enabled: bool = True
    version: Count = 0  #: rises with every change
    since: Instant = 0  #: since when this is promised: of these shops, this type and this limit
    created_by: str = ""
    created_at: Instant = 0
    updated_by: str = ""
    updated_at: Instant = 0

    @property
    def always(self) -> bool:
        """Whether it holds at every hour of every day."""
        return self.kind == AGE and self.window == ALWAYS


def check(promise: Promise) -> None:
    """See that somebody may promise this.

    Raises:
        UsageError: what is wrong and what to write instead; ``field`` is name, type, limit, by, hours, days, shop,
            owner or note.
    """
    if not _NAME.match(promise.name):
        _refuse("promise.name", "name", text=f"{promise.name!r:.80}")
    if not ids.valid_task_type(promise.task_type):
        raise UsageError(said("type.name", name=f"{promise.task_type!r:.60}"), field="type")
    _check_time(promise)
    _check_shops(promise)
    for field, text in (("owner", promise.owner), ("note", promise.note)):
        if len(text) > MOST_TEXT or not all(one.isprintable() or one == "\n" for one in text):
            _refuse("promise.text", field, most=MOST_TEXT)


def _check_time(promise: Promise) -> None:
    if promise.kind not in (AGE, BY) or (promise.kind == BY and promise.limit_s):
        _refuse("promise.kind", "limit")
    if promise.kind == AGE and not MIN_LIMIT_S <= promise.limit_s <= MAX_LIMIT_S:
        _refuse("promise.limit", "limit", value=promise.limit_s)
    if not promise.window.days or not set(promise.window.days) <= set(range(7)):
        _refuse("promise.days", "days", text="''")
    start, end = promise.window.start, promise.window.end
    if start == end or not 0 <= start < _DAY_MIN or not 0 <= end <= _DAY_MIN:
        _refuse("promise.empty", "hours" if promise.kind == AGE else "by")


def _check_shops(promise: Promise) -> None:
    wide = bool(promise.platforms or promise.groups)
    if sum((bool(promise.shops), wide, promise.all_shops)) != 1:
        raise UsageError(said("schedule.one_choice"), field="shop")
    if len(promise.shops) > MAX_SHOPS:
        _refuse("promise.many_shops", "shop", most=MAX_SHOPS)


DOCUMENT = Document(Promise, check)


def readable(bodies: Mapping[str, str], unread: Callable[[str, Exception], None] | None = None) -> Iterator[Promise]:
    """Those of the documents that can be read, by name. ``unread``: told the name of each that cannot, and why; the
    doctor tells it to people.
    """
    for name, body in sorted(bodies.items()):
        try:
            yield DOCUMENT.load(body)
        except (ValueError, RecursionError) as exc:
            if unread is not None:
                unread(name, exc)


def same_words(one: Promise, other: Promise) -> bool:
    """Whether both promise the same of the same shops, whoever wrote them and when."""
    names = ("task_type", "kind", "limit_s", "window", "shops", "platforms", "groups", "all_shops")
    return all(getattr(one, name) == getattr(other, name) for name in names)


# ------------------------------------------------------------------------------------------------------------ hours
def hour(text: str, field: str) -> int:
    """Minutes of the day of ``08:00``, up to 1440.

    Raises:
        UsageError: it is no hour.
    """
    found = _HOUR.match(unicodedata.normalize("NFKC", text).strip())  # 08：00 is how Chinese keyboards write it
    minutes = int(found[1]) * 60 + int(found[2]) if found is not None else _DAY_MIN + 1
    if minutes > _DAY_MIN:
        _refuse("promise.hour", field, text=f"{text!r:.40}")
    return minutes


def hours(text: str) -> tuple[int, int]:
    """Minutes of the day of ``08:00-23:00``, with any dash or 至.

    Raises:
        UsageError: these are no hours.
    """
    parts = _DASH.split(unicodedata.normalize("NFKC", text))  # 08：00－23：00 is how Chinese keyboards write it
    if len(parts) != 2:
        _refuse("promise.hour", "hours", text=f"{text!r:.40}")
    return hour(parts[0], "hours"), hour(parts[1], "hours")


def days(text: str) -> tuple[int, ...]:
    """Days of the week of ``daily``, ``mon-fri`` or ``sat,sun``, Monday is 0.

    Raises:
        UsageError: these are none.
    """
    words = text.strip()
    try:
        return quiet_hours.weekly(f"{words} 00:00-24:00").days
    except UsageError:
        _refuse("promise.days", "days", text=f"{text!r:.40}")


def clock(minutes: int) -> str:
    """``08:00``."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def days_text(promise: Promise) -> str:
    """Its days as ``days`` reads them."""
    found = promise.window.days
    if len(found) == 7:
        return "daily"
    if len(found) > 2 and found == tuple(range(found[0], found[-1] + 1)):
        return f"{quiet_hours.DAYS[found[0]]}-{quiet_hours.DAYS[found[-1]]}"
    return ",".join(quiet_hours.DAYS[day] for day in found)


def windows(promise: Promise, zone: str, since_ms: int, until_ms: int) -> list[tuple[int, int]]:
    """Its windows that touch this time as instants, in order. Days are those on which a window ends for ``by``, and on
    which it begins otherwise.
    """
    window = promise.window
    if promise.kind == BY and window.end <= window.start:
        earlier = tuple(sorted((day - 1) % 7 for day in window.days))
        window = msgspec.structs.replace(window, days=earlier)
    return quiet_hours.between((window,), zone, since_ms, until_ms)


def doubts(promise: Promise, types: Container[str], shops: Mapping[str, Shop]) -> Iterator[Message]:
    """Why nobody can keep it: what it names does not exist."""
    name: dict[str, Param] = {"name": promise.name}
    if promise.task_type not in types:
        yield Message("doctor.promise_type", {**name, "type": promise.task_type})
    gone = [key for key in promise.shops if key not in shops]
    if gone:
        yield Message("doctor.promise_shop", {**name, "shop": gone[0], "n": len(gone)})
    elif not fitting(promise, shops.values()):
        yield Message("doctor.promise_nobody", name)


# ------------------------------------------------------------------------------------------------------------ words
def sentence(promise: Promise) -> tuple[Message, ...]:
    """What is promised, of which shops, and when, as parts of one sentence."""
    start, end = clock(promise.window.start), clock(promise.window.end)
    if promise.kind == BY:
        params: dict[str, Param] = {"type": promise.task_type, "by": end, "from": start}
        what = Message("promise.by_from" if promise.window.start else "promise.by", params)
    else:
        what = Message("promise.age", {"type": promise.task_type, "usual_s": promise.limit_s})
    parts = [what, whom(promise)]
    if promise.kind == AGE and (promise.window.start, promise.window.end) != (0, _DAY_MIN):
        parts.append(Message("promise.hours", {"from": start, "to": end}))
    if len(promise.window.days) < 7:
        parts.append(Message("promise.on_days", {"days": days_text(promise)}))
    return tuple(parts)


def whom(promise: Promise) -> Message:
    """The shops that it is made for."""
    platforms, groups = ", ".join(promise.platforms), ", ".join(promise.groups)
    if promise.shops:
        named: dict[str, Param] = {"n": len(promise.shops), "shop": promise.shops[0]}
        return Message("promise.one_shop" if len(promise.shops) == 1 else "promise.shops", named)
    if platforms and groups:
        return Message("promise.both", {"platforms": platforms, "groups": groups})
    if platforms:
        return Message("promise.platforms", {"platforms": platforms})
    return Message("promise.groups", {"groups": groups}) if groups else Message("promise.all_shops")


def _refuse(code: str, field: str, **params: Param) -> NoReturn:
    raise UsageError(said_of(SENTENCES, code, params), field=field)


SENTENCES: Mapping[str, str | Counted] = {
    "promise.name": N_("a name has 1 to 64 letters, digits, _ and -, not {text}"),
    "promise.kind": N_("a promise is either never older than a time, or done by an hour: give one of them"),
    "promise.limit": N_("a promise is never older than 60 seconds to 31 days, not {value} seconds"),
    "promise.hour": N_("an hour is written 08:00, hours are written 08:00-23:00, not {text}"),
    "promise.days": N_("days are written daily, mon-fri or sat,sun, not {text}"),
    "promise.empty": N_("the promise would hold at no time: let it end later than it begins"),
    "promise.text": N_("at most {most} characters that can be read"),
    "promise.many_shops": N_("a promise can name up to {most} shops; choose them by group or platform"),
    "promise.unknown": N_("there is no promise {name}; see `promise list`"),
    "doctor.promise_type": N_("The promise {name} is made of {type}, which is no task type"),
    "doctor.promise_shop": NN_(
        "The promise {name} names the shop {shop}, which does not exist",
        "The promise {name} names {n} shops that do not exist, first {shop}",
    ),
    "doctor.promise_nobody": N_("The promise {name} is made for no shop: none that is enabled fits"),
    "promise.age": N_("{type} never older than {usual}"),
    "promise.by": N_("{type} done by {by}"),
    "promise.by_from": N_("{type} done between {from} and {by}"),
    "promise.hours": N_("from {from} to {to}"),
    "promise.on_days": N_("on {days}"),
    "promise.all_shops": N_("every shop"),
    "promise.platforms": N_("every shop of {platforms}"),
    "promise.groups": N_("every shop in {groups}"),
    "promise.both": N_("every shop of {platforms} in {groups}"),
    "promise.one_shop": N_("{shop}"),
    "promise.shops": NN_("{n} shop", "{n} shops"),
}


def refuse_unknown(name: str) -> NoReturn:
    """There is none of this name.

    Raises:
        UsageError: always.
    """
    _refuse("promise.unknown", "name", name=f"{name!r:.80}")
