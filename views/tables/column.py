"""A table is a tuple of columns: what to show of a record, and how.

    COLUMNS: tuple[Column[TaskRow], ...] = (
        Column(key="status", title="", value=lambda r: r.status, kind="glyph", width=28),
        Column(key="type", title=N_("Type"), value=lambda r: r.task_type, strong=True),
        Column(key="lane", title=N_("Lane"), value=lambda r: r.lane, kind="lane", width=96),
        Column(key="age", title=N_("Age"), value=lambda r: r.created,
               text=lambda r: text.duration(now() - r.created), live=True, sortable=True),
    )

Kinds and the value each expects:

    text, strong, mono   anything; shown through `text`, else ``str``
    number               the same, to the right
    glyph                a status name: glyph alone, its word is the tool tip
    status               a status name: glyph and word
    lane                 a lane name: glyph and word
    badge                a platform: text badge
    attempts             ``Attempts(used, limit, role)``: pips and ``2/3``
    progress             ``Progress(share, text, role)``: bar while `share` is given, else text
    link                 text in the accent colour
    door                 the same in the row under the cursor or ticked, in others in their tone
    KIND of your own     after ``painters.register(KIND, function)``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Required, TypedDict, TypeVar, Unpack

import msgspec

from services import called
from services.i18n import _
from views.support import instant, safe, shown
from views.theme.tokens import platform_badge, status

R = TypeVar("R")


def _state_word(name: str) -> str:
    return _(status(name).word)


LEFT, RIGHT, CENTRE = "left", "right", "centre"
_RIGHT_KINDS = frozenset({"number"})
#: kinds of which nothing is seen but their text
_WORDS = frozenset({"text", "strong", "mono", "number", "link", "door"})


class Coded(NamedTuple):
    """What stands for a code."""

    seen: Callable[[str], str]  #: in the cell, and where it is copied
    said: Callable[[str], str]  #: by a screen reader, and in the tool tip where it is not what is seen


#: kinds whose value is a code that nobody is shown; one that has a text shows that
CODES: Mapping[str, Coded] = {
    "status": Coded(_state_word, _state_word),
    "lane": Coded(shown.lane_word, shown.lane_word),
    "badge": Coded(platform_badge, called.platform),
}
#: kinds that something is done by when they are clicked
CLICKED = frozenset({"link", "door"})
TICK = "tick"


class Attempts(msgspec.Struct, frozen=True):
    """How many attempts began, of how many; the pips take the colour of `role`."""

    used: int
    limit: int
    role: str = "waiting"

    def __str__(self) -> str:
        return f"{self.used}/{self.limit}"


class Progress(msgspec.Struct, frozen=True):
    """A share (0 to 1) while running, else the reason in words, in the tone of `role`."""

    share: float | None = None
    text: str = ""
    role: str = "text3"

    def __str__(self) -> str:
        return self.text


#: of a cell of which nothing is seen but its words
UNASKED = object()


class Fingerprint(NamedTuple):
    """Everything that decides how a cell looks."""

    words: str
    role: str
    value: object = UNASKED


# No slots: a generic class that is frozen and slotted cannot be made as ``Column[Row](…)`` on Python 3.11.
@dataclass(frozen=True, kw_only=True)
class Column(Generic[R]):
    """One column: where its value comes from and how it is drawn."""

    key: str
    title: str  #: source text; shown through ``_``
    value: Callable[[R], Any]
    text: Callable[[R], str] | None = None  #: what people read; default ``str(value)``
    copy: Callable[[R], str] | None = None  #: what they copy, where that is more than what they read
    lines: Callable[[R], Sequence[str]] | None = None  #: its text in two lines, where the cell has so many
    kind: str = "text"
    tone: str | Callable[[R], str] = "text"
    width: int = 110
    stretch: bool = False  #: takes the room that is left
    align: str = ""  #: default by kind
    mono: bool = False
    names: bool = False  #: a name, cut in its middle: what tells it from others is at its end
    parts: bool = False  #: parts of the line are left out whole, from the end, before anything is cut
    strong: bool = False
    tooltip: Callable[[R], str] | None = None  #: plain text, foreign or not: the model makes it a tool tip
    title_tip: str = ""  #: source text; one plain sentence for a broker term
    sortable: bool = False
    descending_first: bool = False
    turned: bool = False  #: what is read falls where what the store sorts by rises: an age, by its beginning
    hide_rank: int = 0  #: 1 leaves first when the window is narrow; 0 never leaves
    hidden: bool = False  #: not shown until chosen
    live: bool = False  #: changes with the clock: repainted once a second
    moves: Callable[[R], bool] | None = None  #: of a live one: whether it does so in this row
    speech: Callable[[R], str] | None = None  #: the cell for a screen reader

    def display(self, record: R) -> str:
        """Return what people read in this cell; no value is blank, not zero."""
        if self.text is not None:
            return safe.masked(self.text(record))
        words, coded = self._code(record), CODES.get(self.kind)
        return coded.seen(words) if coded is not None and words else words

    def spoken(self, record: R) -> str:
        """Return what a screen reader says of this cell, beside its title."""
        if self.speech is not None:
            return safe.masked(self.speech(record))
        return self._named(record) or self.display(record)

    def tip(self, record: R) -> str:
        """Return the text of its tool tip, "" for none."""
        if self.tooltip is not None:
            return self.tooltip(record)
        named = self._named(record)
        return named if named != self.display(record) else ""

    def _code(self, record: R) -> str:
        value = self.value(record)
        return "" if value is None else safe.masked(str(value))

    def _named(self, record: R) -> str:
        """What its code is called, "" where it is none, or has words of its own."""
        coded = CODES.get(self.kind) if self.text is None else None
        words = self._code(record) if coded is not None else ""
        return coded.said(words) if coded is not None and words else ""

    def role_of(self, record: R) -> str:
        """Return the colour role of this cell."""
        return self.tone if isinstance(self.tone, str) else self.tone(record)

    def fingerprint(self, record: R) -> Fingerprint:
        """Return everything that decides how this cell looks, for finding changed cells."""
        role = self.role_of(record)
        if self.text is not None and self.kind in _WORDS:  # looked at every second
            return Fingerprint(self.display(record), role)
        value = self.value(record)
        if self.text is not None:
            return Fingerprint(self.display(record), role, value)
        # the value is not worked out twice; what a secret is may have become known since
        return Fingerprint(safe.masked(value) if isinstance(value, str) else "", role, value)

    def differs(self, old: R, new: R) -> bool:
        """Return whether this cell looks otherwise in `new` than in `old`."""
        return bool(
            self.value(old) != self.value(new)
            or (self.text is not None and self.display(old) != self.display(new))
            or self.role_of(old) != self.role_of(new)
        )

    @property
    def to_right(self) -> bool:
        """Whether the text ends at the right edge."""
        return self.align == RIGHT or (not self.align and self.kind in _RIGHT_KINDS)


class _Measured(TypedDict, Generic[R], total=False):
    """What else there is to say of a column of numbers, as of any other."""

    width: Required[int]
    tone: str | Callable[[R], str]
    strong: bool
    tooltip: Callable[[R], str] | None
    title_tip: str
    hide_rank: int
    live: bool


def measured(
    key: str,
    title: str,
    value: Callable[[R], float | None],
    say: Callable[[R], str],
    **more: Unpack[_Measured[R]],
) -> Column[R]:
    """A number: to the right, the largest first when sorted."""
    return Column(
        key=key, title=title, value=value, text=say, kind="number", sortable=True, descending_first=True, **more
    )


class _Dated(TypedDict, Generic[R], total=False):
    """What else there is to say of a column of instants, as of any other."""

    width: Required[int]
    tone: str | Callable[[R], str]
    align: str
    hide_rank: int
    sortable: bool
    descending_first: bool
    hidden: bool


def dated(
    key: str,
    title: str,
    at: Callable[[R], int],
    say: Callable[[int, int], str] = shown.clock,
    **more: Unpack[_Dated[R]],
) -> Column[R]:
    """An instant (UTC ms), 0 for none: briefly in its cell (``say`` gets it and the present one), in full in the tool
    tip, and with its day and offset where it is copied.
    """

    def told(record: R, write: Callable[[int], str]) -> str:
        found = at(record)
        return write(found) if found else ""

    return Column(
        key=key,
        title=title,
        value=at,
        text=lambda record: told(record, lambda found: say(found, instant.now_ms())),
        tooltip=lambda record: told(record, lambda found: shown.dated(found, instant.now_ms())),
        copy=lambda record: told(record, shown.iso),
        **more,
    )


def tick_column() -> Column[Any]:
    """Return the column of check boxes that a tickable model puts first."""
    return Column(key=TICK, title="", value=lambda _record: None, kind=TICK, width=34)
