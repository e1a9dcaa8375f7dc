"""Incidents, rules and channels as rows of tables; an incident has two lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import msgspec
from PySide6.QtCore import QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter

from services.domain.alerts.incident import ANSWERED, CALMING, MUTED, OPEN, RESOLVED, WAITING
from services.domain.alerts.text import MEASURES
from services.domain.fleet import platforms
from services.domain.task.search.filter import Names
from services.domain.task.search.row_filter import Fields, Test
from services.domain.task.search.row_filter import words as row_words
from services.i18n import N_, _
from services.monitor.alerts.queries import ChannelNow, IncidentNow, RuleNow
from views.kit.filter_choices import some_of
from views.pages.alerts import words
from views.pages.alerts.verbs import next_steps
from views.support import safe, shown, text
from views.tables import painters
from views.tables.column import Column, measured
from views.tables.painters import Cell, Ink
from views.tables.record_model import Heading, RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.widgets.filter.field import FilterField, FilterValue

ROW = 48  #: pixels of an incident
LINE = 17
_NONE: Mapping[str, str] = {}
#: by who acts
GROUPS: tuple[tuple[str, str], ...] = (
    (OPEN, N_("Nobody has answered")),
    (WAITING, N_("Not told yet")),
    (ANSWERED, N_("Somebody is on it")),
    (MUTED, N_("Muted")),
    (CALMING, N_("Calming down")),
    (RESOLVED, N_("Just resolved")),
)
_MOVES = (OPEN, RESOLVED)  #: who comes to be in one of these goes there at once: it must not be read as anything else


NAMES = Names({
    "规则": "rule", "平台": "platform", "店铺": "shop", "通知": "told", "处理人": "by", "原因": "cause",
    "告警": "incident",
}, {})  # fmt: skip
FIELDS = (
    FilterField("rule", N_("Rule"), tuple(map(FilterValue, MEASURES, MEASURES.values())), free=True),
    *some_of("platform", "shop"),
    FilterField("told", N_("Told to"), tuple(map(FilterValue, words.GROUPS, words.GROUPS.values())), free=True),
)
_SOUGHT = Fields(
    words={field: row_words(read) for field, read in words.SOUGHT.items()}, bare=tuple(words.SOUGHT), names=NAMES
)


def sought(expression: str) -> Test:
    """Which incidents a filter means.

    Raises:
        UsageError: it is no such filter, and what there is instead.
    """
    return _SOUGHT.parse(expression, platforms.NAMES)


def key_of(one: IncidentNow) -> str:
    """What its row is known by."""
    return one.incident.id or one.incident.key


def grouped(rows: Sequence[IncidentNow], shown: Mapping[str, str] = _NONE) -> dict[str, str]:
    """From top to bottom the group in which each stands, by its key. What is ``shown`` stays in its place unless it
    needs somebody now or is over; what comes to a group ends it.
    """
    fresh = {key_of(one): one.state for one in rows}
    below: dict[str, list[str]] = {group: [] for group, _name in GROUPS}
    for key, group in shown.items():
        if key in fresh and (fresh[key] == group or fresh[key] not in _MOVES):
            below[group].append(key)
            del fresh[key]
    for key, state in fresh.items():
        below[state].append(key)
    return {key: group for group, keys in below.items() for key in keys}


def headings(groups: Mapping[str, str], rows: Sequence[IncidentNow]) -> dict[Hashable, Heading]:
    """What stands above the first of each group: its name, and how many are in it now."""
    numbers, names = Counter(one.state for one in rows), dict(GROUPS)
    first: dict[str, str] = {}
    for key, group in groups.items():
        first.setdefault(group, key)
    found: dict[Hashable, Heading] = {}
    for group, key in first.items():
        told = [text.count(numbers[group]), *([_("worst first, then oldest")] if group == OPEN else [])]
        found[key] = Heading(_(names[group]), text.listed(told))
    return found


class Pair(msgspec.Struct, frozen=True):
    """Two lines of one cell; the tone of the first is that of the column."""

    top: str
    below: str = ""
    tone: str = "text3"
    strong: bool = False

    def __str__(self) -> str:
        return " · ".join(part for part in (self.top, self.below) if part)


def _paint_pair(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    pair = cell.value()
    middle, line = room.center().y(), round(LINE * theme().growth)
    first = QRect(room.left(), middle - line, room.width(), line)
    kind = "tablestrong" if pair.strong else "table"
    ink.text(painter, first, safe.masked(pair.top), cell, role=cell.column.role_of(cell.record), kind=kind)
    below = QRect(room.left(), middle + 1, room.width(), line)
    ink.text(painter, below, safe.masked(pair.below), cell, role=pair.tone, kind="label")


def _paint_steps(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    one = cell.record
    said = [safe.masked(verb.said(one)) for verb in next_steps(one)]
    line = round(LINE * theme().growth)
    top = room.center().y() - (line if len(said) > 1 else line // 2)
    for place, name in enumerate(said):
        row = QRect(room.left(), top + place * (line + 1), room.width(), line)
        ink.text(painter, row, name, cell, role="accent", kind="table")


painters.register("pair", _paint_pair)
painters.register("steps", _paint_steps)


class IncidentTable(TableView):
    """Two lines a row; a click on a next step does it.

    Signals:
        step_wanted: key of the incident, the verb.
    """

    step_wanted = Signal(object, object)

    def __init__(self, model: RecordModel[IncidentNow]) -> None:
        super().__init__(model, name=N_("Incidents"), row_height=ROW)
        self._pressed = QPersistentModelIndex()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A step is done by whoever presses and lets go on it."""
        self._pressed = QPersistentModelIndex(self.indexAt(event.position().toPoint()))
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The second click does no step again."""
        self._pressed = QPersistentModelIndex()
        super().mouseDoubleClickEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Do what the line under the mouse says."""
        super().mouseReleaseEvent(event)
        where = event.position().toPoint()
        index = self.indexAt(where)
        pressed, self._pressed = self._pressed, QPersistentModelIndex()
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid() or pressed != index:
            return
        steps, place = next_steps(self.records.record(index.row())), self.cell_rect(index)
        if self.records.column(index.column()).key == "next" and steps:
            below = len(steps) > 1 and where.y() > place.center().y()
            self.step_wanted.emit(self.records.key_at(index.row()), steps[below])


INCIDENTS: tuple[Column[IncidentNow], ...] = (
    Column(
        key="glyph",
        title="",
        value=words.glyph,
        kind="glyph",
        width=34,
        speech=lambda one: words.severity(one.incident.rule),
        tooltip=lambda one: words.severity(one.incident.rule),
    ),
    Column(
        key="incident",
        title=N_("Incident and extent"),
        value=lambda one: Pair(words.title(one), words.extent(one), "text2", strong=True),
        kind="pair",
        width=230,
        stretch=True,
        tooltip=lambda one: "\n".join(part for part in (words.title(one), words.extent(one)) if part),
    ),
    Column(
        key="since",
        title=N_("Since"),
        value=lambda one: Pair(words.since(one), words.lasted(one)),
        kind="pair",
        width=104,  # a day and a time
        live=True,
        hide_rank=3,
        tooltip=lambda one: text.iso(shown.moment(one.incident.first_at), shown.zone()),
    ),
    Column(
        key="told",
        title=N_("Told"),
        value=lambda one: Pair(
            words.told(one), words.told_detail(one), "retrying" if words.undelivered(one) else "text3"
        ),
        kind="pair",
        width=196,
        live=True,
        hide_rank=2,
    ),
    Column(
        key="state",
        title=N_("State"),
        value=lambda one: Pair(words.state(one), words.state_detail(one)),
        kind="pair",
        tone=lambda one: "retrying" if one.state == OPEN else "text",
        width=176,
        live=True,
    ),
    Column(
        key="next",
        title=N_("Next step"),
        value=lambda one: text.listed([verb.said(one) for verb in next_steps(one)]),
        kind="steps",
        tone="accent",
        width=140,
        hide_rank=1,
    ),
)
RULES: tuple[Column[RuleNow], ...] = (
    Column(
        key="glyph",
        title="",
        value=lambda one: words.SEVERITIES[one.rule.severity][0] if one.rule.enabled else "paused",
        kind="glyph",
        width=34,
        speech=lambda one: _("on") if one.rule.enabled else _("off"),
        tooltip=lambda one: words.severity(one.rule) if one.rule.enabled else _("off"),
    ),
    Column(
        key="rule",
        title=N_("Rule"),
        value=lambda one: words.rule_name(one.rule),
        kind="strong",
        tone=lambda one: "text" if one.rule.enabled else "text3",
        width=220,
        sortable=True,
    ),
    measured(
        "active", N_("Open"), lambda one: one.active, lambda one: text.count(one.active) if one.active else "", width=64
    ),
    Column(
        key="limits",
        title=N_("Tells when"),
        value=lambda one: words.limits(one.rule),
        tone="text2",
        width=260,
        stretch=True,
        tooltip=lambda one: words.limits(one.rule),
    ),
    Column(
        key="for",
        title=N_("Told after"),
        value=lambda one: one.rule.for_s,
        text=lambda one: words.seconds(one.rule.for_s) if one.rule.for_s else _("at once"),
        width=112,
        sortable=True,
    ),
    Column(
        key="escalate",
        title=N_("Escalates after"),
        value=lambda one: one.rule.escalate_s,
        text=lambda one: words.seconds(one.rule.escalate_s),
        width=116,
        hide_rank=2,
        sortable=True,
    ),
    Column(
        key="channels",
        title=N_("Tells"),
        value=lambda one: words.groups(one.rule.channels),
        width=130,
        hide_rank=3,
    ),
    Column(
        key="action",
        title=N_("Does by itself"),
        value=lambda one: words.action(one.rule),
        tone="text2",
        width=130,
        hide_rank=4,
    ),
    Column(key="by", title=N_("Version"), value=words.rule_by, tone="text3", width=170, hide_rank=1),
)
CHANNELS: tuple[Column[ChannelNow], ...] = (
    Column(key="glyph", title="", value=words.channel_glyph, kind="glyph", width=34, speech=words.channel_state),
    Column(
        key="name",
        title=N_("Channel"),
        value=lambda one: one.channel.name,
        kind="strong",
        tone=lambda one: "text" if one.channel.enabled else "text3",
        width=150,
    ),
    Column(key="kind", title=N_("Kind"), value=lambda one: words.kind(one.channel), width=100),
    Column(key="group", title=N_("Group"), value=lambda one: words.group(one.channel.group), width=110),
    Column(
        key="language",
        title=N_("Language"),
        value=lambda one: words.LANGUAGES.get(one.channel.language, one.channel.language),
        width=84,
        hide_rank=2,
    ),
    Column(
        key="address",
        title=N_("Address"),
        value=words.address,
        tone=lambda one: "text2" if one.known else "retrying",
        width=126,
        tooltip=lambda one: _("It is kept in {variable} on the machines that lead, never in the store.").format(
            variable=one.channel.variable
        ),
    ),
    Column(
        key="rate",
        title=N_("A minute at most"),
        value=lambda one: one.channel.rate,
        kind="number",
        width=120,
        hide_rank=3,
    ),
    Column(
        key="state",
        title=N_("Messages"),
        value=words.channel_state,
        tone=lambda one: "retrying" if one.waiting or one.lost else "text2",
        width=220,
        stretch=True,
        live=True,
        tooltip=lambda one: words.channel_state(one),
    ),
)
