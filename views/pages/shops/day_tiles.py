"""Above one shop's day: its numbers in a row, and why it does not go on, with the way to what holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from services.domain.insight import shop as insight
from services.i18n import N_, _, ngettext
from services.monitor.shops.day import DEAD, HELD, PLANNED, RUNNING, SUCCEEDED, Run, ShopDay
from services.monitor.shops.queries import ShopRow
from services.monitor.works import TypeRow
from views.pages.shops import words
from views.support import instant, safe, shown, text
from views.support.words import shop, type_names
from views.widgets.buttons import Button
from views.widgets.elided import Elided
from views.widgets.strip import Strip

#: below this share of good ends a shop stands out
GOOD = 0.95
GAP = 8


@dataclass(frozen=True, slots=True)
class Told:
    """One tile: what it counts (source text), its value, a line beside it, and the tone of the value."""

    key: str
    title: str
    value: str
    beside: str = ""
    tone: str = "text"


def tiles(row: ShopRow, day: ShopDay | None, works: Sequence[TypeRow], now_ms: int) -> list[Told]:
    """The numbers of a shop; what is not asked yet is a dash."""
    now = row.now
    return [
        _success(day),
        Told("waiting", N_("Waiting"), text.count(now.waiting), _waits(row)),
        Told("running", N_("Running"), words.used(now.running, row.shop.concurrency), _at_once(row)),
        Told("retrying", N_("Retrying"), text.count(now.retrying), "", "retrying" if now.retrying else "text"),
        Told("dead", N_("Dead letters"), text.count(now.dead), "", "dead" if now.dead else "text"),
        _next(day, works, now_ms),
        _last(row, works, now_ms),
    ]


def _success(day: ShopDay | None) -> Told:
    ended = [run for run in day.runs if run.state in (SUCCEEDED, DEAD, HELD)] if day is not None else []
    if not ended:
        return Told("success", N_("Success"), "–", _("nothing ended") if day is not None else "")
    share = sum(run.state == SUCCEEDED for run in ended) / len(ended)
    ends = ngettext("{n} ended", "{n} ended", len(ended)).format(n=text.count(len(ended)))
    return Told("success", N_("Success"), text.percent(share), ends, "dead" if share < GOOD else "text")


def _waits(row: ShopRow) -> str:
    return _("queue of its own") if row.shop.dedicated else _("shared queue")


def _at_once(row: ShopRow) -> str:
    return _("on {node}").format(node=safe.one_line(row.home, 40)) if row.home else ""


def _next(day: ShopDay | None, works: Sequence[TypeRow], now_ms: int) -> Told:
    found = [(one.planned.at, one.task_type) for one in works if one.planned is not None]
    found += [(run.begins, run.task_type) for run in (day.runs if day is not None else ()) if run.state == PLANNED]
    coming = [one for one in found if one[0] >= now_ms]
    if not coming:
        return Told("next", N_("Next run"), "–", _("nothing is planned"))
    at, kind = min(coming)
    beside = text.listed((type_names.name(kind), text.until(shown.span(at - now_ms))))
    return Told("next", N_("Next run"), _minute(at, now_ms), beside)


def _last(row: ShopRow, works: Sequence[TypeRow], now_ms: int) -> Told:
    done = [(one.done.at, one.task_type) for one in works if one.done is not None]
    at, kind = max(done, default=(row.now.success_at, ""))  # the ledger decides, where it was asked
    if not at:
        return Told("last", N_("Last success"), "–", _("no success known"))
    tone = "stuck" if row.now.state == insight.STUCK else "text"
    name = type_names.name(kind) if kind else ""
    beside = text.listed(part for part in (words.since(at, now_ms), name) if part)
    return Told("last", N_("Last success"), _minute(at, now_ms), beside, tone)


def _minute(at_ms: int, now_ms: int) -> str:
    return text.minute(shown.moment(at_ms), shown.moment(now_ms), shown.zone())


class TileRow(QWidget):
    """Seven numbers side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GAP)
        self.tiles: dict[str, _Tile] = {}

    def show_tiles(self, told: Sequence[Told]) -> None:
        """Show these, in this order."""
        for one in told:
            if one.key not in self.tiles:
                self.tiles[one.key] = tile = _Tile()
                self._row.addWidget(tile, 1)
            self.tiles[one.key].show_told(one)


class _Tile(QFrame):
    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.title, self.value, self.beside = Elided("", "label", "text2"), Elided("", "panel"), Elided("", "caption")
        self.beside.set_tone("text3")
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 8, 6)
        column.setSpacing(1)
        for label in (self.title, self.value, self.beside):
            column.addWidget(label)

    def show_told(self, told: Told) -> None:
        self.title.show_text(_(told.title))
        self.value.show_text(told.value)
        self.value.set_tone(told.tone)
        self.beside.show_text(told.beside)
        self.setAccessibleName(text.listed(part for part in (_(told.title), told.value, told.beside) if part))


class WhyStrip(QWidget):
    """Why the shop does not go on; hidden while it does.

    Signals:
        task_wanted: id of the task that hangs.
    """

    task_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._task_id = ""
        self.strip = Strip("stuck")
        self.door = Button(N_("Open the task"), small=True)
        self.door.clicked.connect(lambda: self.task_wanted.emit(self._task_id))
        self.strip.add_action(self.door)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.strip)

    def show_shop(self, row: ShopRow, day: ShopDay | None) -> None:
        """Say what holds this shop, the decisive first, and while it is stuck what has run for longest."""
        now, at_ms = row.now, instant.now_ms()
        if now.state not in HOLDS:
            self.hide()
            return
        hung = longest(day) if now.state == insight.STUCK else None
        parts = [shop.why(now, at_ms)]
        if hung is not None:
            parts.append(hangs(hung, at_ms))
        lead = _("Why is it stuck?") if now.state == insight.STUCK else shop.word(now.state)
        self.strip.set_status(now.state)
        self.strip.show_text(text.sentences(parts), lead)
        self._task_id = hung.task_id if hung is not None else ""
        self.door.setVisible(bool(self._task_id))
        self.show()


#: what keeps a shop from going on
HOLDS = frozenset({*insight.FLAGGED, insight.UNKNOWN, insight.PAUSED_TYPE, *insight.SWITCHED})


def longest(day: ShopDay | None) -> Run | None:
    """What has run for longest and still does."""
    running = [run for run in (day.runs if day is not None else ()) if run.state == RUNNING]
    return min(running, key=lambda run: run.begins, default=None)


def hangs(run: Run, now_ms: int) -> str:
    """Since when a task runs, and where."""
    said = _("{type} has run for {span} on {worker}") if run.worker else _("{type} has run for {span}")
    span = text.coarse(shown.span(max(0, now_ms - run.begins)))
    return said.format(type=type_names.name(run.task_type), span=span, worker=safe.one_line(run.worker, 60))
