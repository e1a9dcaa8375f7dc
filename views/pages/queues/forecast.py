"""When what waits will have run, by lane and platform, and which deadlines and promises it misses."""

from __future__ import annotations

import msgspec
from PySide6.QtWidgets import QWidget

from services.domain.gates import listed
from services.domain.text.message import Message
from services.i18n import N_, _, ngettext
from services.monitor.forecast.drain import Drain, DrainRow, InstantRow
from views.support import safe, shown, text
from views.support.look import Label
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.empty_state import EmptyState
from views.widgets.layout import in_column, stacked


class Foreseen(msgspec.Struct, frozen=True, kw_only=True):
    """A lane, a platform or an instant that matters, and what becomes of it."""

    key: str
    name: str  #: as the drain calls it
    kind: str  #: lane | platform | deadline | promise
    waiting: int
    said: Message
    bad: bool = False


def _what(row: Foreseen) -> str:
    if row.kind == "lane":
        return _("Lane {lane}").format(lane=shown.lane_word(row.name))
    if row.kind == "platform":
        return shown.scope_name(f"platform:{row.name}")
    if row.kind == "deadline":
        return _("Deadlines of tasks")
    return _("Promise {name}").format(name=safe.one_line(row.name, 60))


COLUMNS: tuple[Column[Foreseen], ...] = (
    Column(key="what", title=N_("What"), value=_what, kind="strong", width=220),
    Column(key="waiting", title=N_("Waiting"), value=lambda row: row.waiting, kind="number", width=90),
    Column(
        key="said",
        title=N_("Forecast"),
        value=lambda row: shown.say(row.said),
        tone=lambda row: "retrying" if row.bad else "text2",
        width=400,
        stretch=True,
    ),
)


def of_lane(drain: Drain, lane: str) -> Foreseen | None:
    """What becomes of one lane: the first instant that it misses, else when it is clear; None where nothing waits."""
    name = f"lane:{lane}"
    row = next((one for one in drain.rows if one.name == name), None)
    missed = drain.missed(name)
    if row is None:
        return None
    return _of_row(row) if missed is None else _of_instant(missed)


def rows(drain: Drain) -> list[Foreseen]:
    """What is missed first, then the other instants, lanes and platforms."""
    found = [_of_instant(one) for one in drain.instants] + [_of_row(one) for one in drain.rows]
    return sorted(found, key=lambda row: (not row.bad, row.kind in ("lane", "platform")))


def _of_row(row: DrainRow) -> Foreseen:
    kind, _colon, name = row.name.partition(":")
    bad = row.said.code in ("drain.never", "drain.nobody", "drain.lost")
    return Foreseen(key=row.name, name=name, kind=kind, waiting=row.waiting, said=row.said, bad=bad)


def _of_instant(row: InstantRow) -> Foreseen:
    key = f"{row.kind} {row.name} {row.at}"
    return Foreseen(key=key, name=row.name, kind=row.kind, waiting=row.waiting, said=row.said, bad=bool(row.miss.left))


def missed(drain: Drain) -> str:
    """The first instant that is missed in a sentence, "" where all is kept."""
    row = drain.missed()
    if row is None:
        return ""
    found = _of_instant(row)
    return _("{name}: {value}").format(name=_what(found), value=shown.say(found.said))


class ForecastView(QWidget):
    """All of it as a table."""

    def __init__(self) -> None:
        super().__init__()
        self._model: RecordModel[Foreseen] = RecordModel(COLUMNS, key=lambda row: row.key, hold_new=False)
        self.table = TableView(self._model, name=N_("Forecast"), ground="surface")
        self.none = EmptyState(N_("Loading…"))
        self.stack = stacked(self.table, self.none)
        self.facts = Label("", "label", "text3", wrap=True)
        in_column((self.stack, 1), self.facts, owner=self, spacing=4)
        self._drain: Drain | None = None
        self.say()

    def show_drain(self, drain: Drain) -> None:
        """Show a forecast."""
        self._drain = drain
        self.say()

    def say(self) -> None:
        """Say it in the language of the moment."""
        drain = self._drain
        found = rows(drain) if drain is not None else []
        self._model.apply(found, settle=True)
        self.none.set_texts(N_("Loading…") if drain is None else N_("Nothing waits for a slot."))
        self.stack.setCurrentWidget(self.table if found else self.none)
        said = []
        if drain is not None:
            slots = ngettext("{n} slot takes work", "{n} slots take work", drain.slots).format(
                n=text.count(drain.slots)
            )
            said.append(
                _("{slots}; forecast of {clock}").format(slots=slots, clock=shown.clock(drain.at_ms, drain.at_ms))
            )
        if drain is not None and drain.stuck:
            more = ngettext(
                "{n} more waits for what no slot opens: {gates}",
                "{n} more wait for what no slot opens: {gates}",
                drain.stuck,
            )
            gates = [f"{_(listed.BY_NAME[gate].short)} {text.count(number)}" for gate, number in drain.why]
            said.append(more.format(n=text.count(drain.stuck), gates=text.listed(gates, ";")))
        if drain is not None and drain.unsent:
            more = ngettext(
                "{n} more is recorded only: the broker takes no messages now",
                "{n} more are recorded only: the broker takes no messages now",
                drain.unsent,
            )
            said.append(more.format(n=text.count(drain.unsent)))
        self.facts.setText(text.listed(said))
