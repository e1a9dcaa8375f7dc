"""Something in the store that cannot be read: where it lies, what is wrong with it, and its bytes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from services.domain.text.message import Message
from services.domain.text.said import Said, said_of
from services.domain.text.sentences import N_

#: of documents and schedules: kind, name, body; raises ValueError or UsageError where the body is none
Check = Callable[[str, str, str], object]
SCHEDULE = "schedule"
WHY_LIMIT, ENTRY_LIMIT = 200, 120


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, or a whole key or table row. Only the driver that found it knows how to take it out."""

    place: str  #: key of Redis, table of SQLite
    entry: str  #: field, member, row; "" for the whole key
    why: str
    shape: str  #: how it lies there: whole | hash | zset | set | list | string | row
    document: tuple[str, str] = ("", "")  #: kind and name, where it is one
    ref: tuple[bytes, ...] = ()  #: for the driver
    data: bytes = b""  #: what stands there
    thing: str = ""  #: what it is to people, one of the sentences below; "" is nothing that they know
    name: str = ""  #: of the task, the shop …

    @property
    def what(self) -> Said:
        """What it is, as people call it."""
        kind, document = self.document
        code = f"damage.{self.thing or kind}"
        if code not in SENTENCES:
            code = "damage.other"
        params = {"name": self.name if self.thing else document, "place": self.place, "entry": self.entry or "*"}
        return said_of(SENTENCES, code, params)

    @property
    def remedy(self) -> Message:
        """What helps."""
        kind = self.thing or self.document[0]
        code = next((code for code, kinds in _REMEDIES.items() if kind in kinds), "doctor.unreadable_more.remedy")
        return Message(code)


SENTENCES = {
    "damage.shop": N_("shop {name}"),
    "damage.task": N_("the record of task {name}"),
    "damage.letter": N_("the message of dead letter {name}"),
    "damage.limit": N_("the limit of {name}"),
    "damage.pause": N_("the pause of {name}"),
    "damage.session": N_("that shop {name} asks for a login"),
    "damage.schedule": N_("schedule {name}"),
    "damage.breaker": N_("the breaker of {name}"),
    "damage.home": N_("on which machine the browser profile of shop {name} lives"),
    "damage.worker": N_("what worker {name} last told of itself"),
    "damage.audit": N_("entry {name} of the audit"),
    "damage.log": N_("the log of task {name}"),
    "damage.notes": N_("the notes of {name}"),
    # documents, by their kinds
    "damage.type": N_("task type {name}"),
    "damage.cause": N_("what was decided about cause {name}"),
    "damage.role": N_("the role of {name}"),
    "damage.promise": N_("promise {name}"),
    "damage.quiet_hours": N_("quiet hours {name}"),
    "damage.quiet_windows": N_("the coming windows of quiet hours {name}"),
    "damage.alert_rule": N_("alert rule {name}"),
    "damage.alert_channel": N_("channel {name} of alerts"),
    "damage.view": N_("shared view {name}"),
    "damage.token": N_("token {name}"),
    "damage.queue": N_("how the own queue of shop {name} stands"),
    "damage.bulk": N_("republishing {name}"),
    "damage.fleet": N_("setting {name} of the fleet"),
    "damage.other": N_("{entry} in {place}"),
    "damage.again.remedy": N_(
        "fleetdeck repair sets it aside beside working workers and keeps its bytes; then set it again, for the fleet"
        " goes on as if nobody had set it."
    ),
    "damage.type.remedy": N_(
        "fleetdeck repair sets it aside beside working workers and pauses the type; import it again, then resume it."
    ),
    "damage.quiet_hours.remedy": N_(
        "fleetdeck repair sets it aside beside working workers and keeps its bytes; what it has written out for at"
        " most 14 days goes on holding work back: set it again, or remove it."
    ),
    "damage.quiet_windows.remedy": N_(
        "As long as nobody can read it, nothing starts anywhere. fleetdeck repair sets it aside and pauses everything"
        " in its place, for nobody knows what it was to hold back; look whether these quiet hours are still set, then"
        " resume everything."
    ),
    "damage.closed.remedy": N_(
        "fleetdeck repair sets it aside beside working workers and leaves closed what it may have closed; open that"
        " once you know that it may go on."
    ),
    "damage.task.remedy": N_(
        "fleetdeck repair sets it aside beside working workers; what became of it nobody knows then: look in the shop,"
        " and create the task again if it is still wanted."
    ),
}
_REMEDIES = {
    "damage.again.remedy": (
        *("shop", "limit", "schedule", "cause", "role", "promise", "alert_rule", "alert_channel", "view", "token"),
        "fleet",
    ),
    "damage.type.remedy": ("type",),
    "damage.quiet_hours.remedy": ("quiet_hours",),
    "damage.quiet_windows.remedy": ("quiet_windows",),
    "damage.closed.remedy": ("pause", "session"),
    "damage.task.remedy": ("task",),
}


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken out of the way because nobody could read it."""

    place: str  #: key of Redis, table of SQLite
    entry: str  #: field, member, row; "" for the whole key
    at: int = 0  #: UTC ms, 0 where nobody noted it
    why: str = ""
    parts: tuple[tuple[str, bytes], ...] = ()  #: name and bytes: columns of a row, or the value alone under ""


def shown(name: object) -> str:
    """A name that may be anything, short and free of what is no text."""
    text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)
    plain = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return plain if len(plain) <= ENTRY_LIMIT else f"{plain[:ENTRY_LIMIT]}…"
