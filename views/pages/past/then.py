"""The fleet as it was, drawn: what waited half an hour before and after a moment, and each shop as it was then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from services.domain.fleet.shop import Shop
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.past.frame import BROKER, LEADER, SHOP, SWITCH, WORKER, Numbers, Things
from services.domain.past.turns import ACT, ALERT, CAUSE, RUN, Turn
from services.domain.task.search.filter import field_of_cause, format_terms
from services.domain.task.search.query import LETTER, equals
from services.i18n import N_, _
from services.monitor.past.joined import joined
from services.monitor.past.queries import PastNow, PastQueries
from views.charts.chart_card import ChartCard
from views.charts.depth_chart import DepthChart
from views.charts.plot import Plot
from views.charts.rates_chart import RatesChart
from views.charts.series import EMPTY, Frame, SampleBuffer
from views.charts.time_window import TimeWindow
from views.support import safe, shown
from views.support.language import say_in_language
from views.support.look import Label
from views.support.words.shop import LIMITS_OF, SHOPS_OF
from views.theme import theme
from views.theme.tokens import CARD_GAP
from views.widgets.card import Card
from views.widgets.heat_map.layout import NONE, Rows, prepare
from views.widgets.heat_map.map import AGGREGATE_ABOVE, HeatMap
from views.widgets.layout import in_column, put

#: so long before and after the moment is drawn
AROUND_MS = 1_800_000
POINTS, CHART = 400, 204
#: how much of what came after is covered, of 255
DIM = 150


class Then(msgspec.Struct, frozen=True, eq=False):
    """What is drawn of a moment."""

    at_ms: int
    begin_ms: int
    end_ms: int
    frame: Frame = EMPTY
    before: Frame = EMPTY  #: of it what was until then
    rows: Rows | None = None  #: None: nobody knows how the shops did


def look(past: PastQueries, found: PastNow, shops: Iterable[Shop], now_ms: int) -> Then:
    """All of it. Blocking: it reads the file of the recorder.

    Raises:
        StoreUnavailable: that cannot be read.
    """
    at = found.asked_ms
    begin, end = at - AROUND_MS, min(at + AROUND_MS, now_ms)
    rows = past.series(begin, end)
    moment = found.moment
    drawn = None
    if moment is not None and moment.told:
        drawn = prepare(tuple(_cells(shops, moment.things)), AGGREGATE_ABOVE)
    before = _frame([row for row in rows if row.at_ms <= at], begin, at)
    return Then(at, begin, end, _frame(rows, begin, end), before, drawn)


def _frame(rows: list[Numbers], begin_ms: int, end_ms: int) -> Frame:
    buffer = SampleBuffer()
    buffer.append(joined((), rows))
    return buffer.frame(begin_ms / 1000, end_ms / 1000, POINTS)


def _cells(shops: Iterable[Shop], things: Things) -> Iterable[ShopNow]:
    """Every shop as it was; of those that nobody had to look after that is all that was kept."""
    states: Mapping[str, str] = {name: state for (kind, name), state in things.items() if kind == SHOP}
    for shop in shops:
        head, _slash, under = states.get(shop.key, insight.HEALTHY).partition("/")
        state = head if head in insight.STATES else insight.UNKNOWN
        yield ShopNow(
            platform=shop.platform, shop_id=shop.shop_id, name=shop.name, state=state, under=under or insight.HEALTHY
        )


class There(NamedTuple):
    """What there is now of what can have changed."""

    shops: Mapping[str, str] = {}  #: what they are called, by their keys
    workers: frozenset[str] = frozenset()


class Way(NamedTuple):
    """Where a line of *What changed* leads."""

    page: str
    show: str | None
    said: str  #: what of it is of now, source text
    now: str | None = None


SHOPS_NOW = N_("Shops are shown as they are now.")
WORKERS_NOW = N_("Workers are shown as they are now; one that left since is missing.")
ALL_NOW = N_("What is shown here is as it is now.")
LETTERS_THEN = N_("These were open dead letters then. Their states and all else of them are of now.")
#: with a filter for more shops than this a list says less than the shops themselves
MOST_LETTERS = 20


def way_of(turn: Turn, there: There) -> Way | str:
    """Where it leads, or why nowhere, translated."""
    if turn.kind == SHOP:
        return _way_of_shops(turn, there)
    if turn.kind == SWITCH:
        return _way_of_switch(turn, there)
    if turn.kind in _WAYS:
        return _WAYS[turn.kind](turn)
    if turn.kind == LEADER:  # who leads need not be a worker
        name = str(turn.message.params.get("name", ""))
        return Way("workers", name if name in there.workers else None, WORKERS_NOW)
    if turn.kind == WORKER:
        name = turn.names[0]
        if name not in there.workers:
            return _("{name} is not there any more").format(name=safe.one_line(name, 60))
        return Way("workers", name, WORKERS_NOW)
    return _("Nothing was recorded then, so there is nothing to open")


def _way_of_shops(turn: Turn, there: There) -> Way | str:
    known = [name for name in turn.names if name in there.shops]
    if not known:
        return _("That shop is not there any more")
    if turn.message.code == "past.shop_dead" and len(known) <= MOST_LETTERS:
        then = shown.moment(turn.until_ms or turn.at_ms).astimezone(shown.zone()).isoformat(timespec="milliseconds")
        shops = format_terms((equals("shop", *known),))
        return Way("tasks", f"was:{LETTER}@{then} {shops}", LETTERS_THEN, f"status:dead triage:open {shops}")
    return Way("shops", known[0] if len(known) == 1 else SHOPS_OF + " ".join(known), SHOPS_NOW)


def _way_of_switch(turn: Turn, there: There) -> Way | str:
    scope = turn.names[0].partition(" ")[2]  # as it is written; what the line says is called by its name
    head, _colon, name = scope.partition(":")
    if head == "shop":
        return Way("shops", name, SHOPS_NOW) if name in there.shops else _("That shop is not there any more")
    if head in ("platform", "type"):
        return Way("shops", LIMITS_OF + scope, ALL_NOW)
    return Way("audit", acts_between(*_span(turn)), ALL_NOW, "")


def _way_of_acts(turn: Turn) -> Way:
    """The entries that it tells of; a filter takes whole seconds."""
    terms = [f'{name}:"{turn.message.params[name]}"' for name in ("who", "action")]
    if len(turn.names) == 1:
        terms.append(f'target:"{turn.names[0]}"')
    return Way("audit", " ".join([*terms, acts_between(*_span(turn))]), ALL_NOW, "")


def _of_cause(key: str) -> str:
    """All its letters, whatever was decided about them since."""
    return format_terms((equals(field_of_cause(key), key),))


_WAYS: Mapping[str, Callable[[Turn], Way]] = {
    ACT: _way_of_acts,
    ALERT: lambda turn: Way("alerts", turn.names[0], ALL_NOW),
    CAUSE: lambda turn: Way("tasks", f"status:dead {_of_cause(turn.names[0])}", ALL_NOW),
    RUN: lambda turn: Way("schedules", turn.names[0], ALL_NOW),
    BROKER: lambda _turn: Way("queues", None, ALL_NOW),
}


def _span(turn: Turn) -> tuple[int, int]:
    return turn.at_ms, turn.until_ms or turn.at_ms


def acts_between(begin_ms: int, end_ms: int) -> str:
    """The filter of the acts of this time, in whole seconds, as Audit takes them."""
    begin, end = (
        shown.moment(at_ms).astimezone(shown.zone()).isoformat(timespec="seconds") for at_ms in (begin_ms, end_ms + 999)
    )
    return f"since:{begin} until:{end}"


class BothEnds(QWidget):
    """What differs between two moments: names, and both values side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[tuple[Label, ...]] = []
        self._none = Label("", "label", "text3", wrap=True)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(self._none, 0, 0, 1, 3)

    def show_rows(self, rows: Sequence[tuple[str, str, str]], none: str = "") -> None:
        """Show these, the first of them the heads, all already translated; ``none``: said in place of them."""
        self._none.setText(none)
        self._none.setVisible(bool(none))
        while len(self._lines) < len(rows):
            place = len(self._lines) + 1
            kind, tone = ("label", "text2") if self._lines else ("caption", "text3")
            line = (Label("", kind, tone, wrap=True), *(Label("", kind, "text", tabular=True) for _end in range(2)))
            for column, label in enumerate(line):
                self._grid.addWidget(label, place, column, Qt.AlignmentFlag.AlignTop)
            self._lines.append(line)
        for number, line in enumerate(self._lines):
            texts = rows[number] if number < len(rows) else ("", "", "")
            for label, words in zip(line, texts, strict=True):
                label.setText(words)
                label.setVisible(number < len(rows))

    def rows(self) -> list[tuple[str, ...]]:
        """What is shown, without the heads."""
        return [tuple(label.text() for label in line) for line in self._lines[1:] if not line[0].isHidden()]

    def said(self) -> str:
        """What is said in place of rows."""
        return self._none.text()


def paint_veil(painter: QPainter, chart: Plot, at_ms: int) -> None:
    """Draw a line at a moment, and dim what came after it; what follows the mouse is drawn over that."""
    rect = chart.plot_rect()
    x = chart.x_of(at_ms / 1000)
    if not rect.left() <= x <= rect.right():
        return
    painter.save()
    veil = QColor(theme().color("surface"))
    veil.setAlpha(DIM)
    after = QRectF(x, rect.top(), rect.right() - x, rect.height())
    painter.fillRect(after, veil)
    painter.setFont(theme().font("caption"))
    painter.setPen(theme().color("text3"))
    words = _("what came after")
    if painter.fontMetrics().horizontalAdvance(words) + 8 < after.width():
        painter.drawText(after.adjusted(0, 0, -4, 0), int(Qt.AlignmentFlag.AlignRight), words)
    painter.setPen(QPen(theme().color("scheduled"), 2))
    painter.drawLine(round(x), round(rect.top()), round(x), round(rect.bottom()))
    painter.restore()


class ThenDepth(DepthChart):
    """What waited."""

    moment_ms = 0

    def paint_span(self, painter: QPainter) -> None:
        """Draw the chart as of that moment."""
        super().paint_span(painter)
        paint_veil(painter, self, self.moment_ms)


class ThenRates(RatesChart):
    """How fast work came in and went out."""

    moment_ms = 0

    def paint_span(self, painter: QPainter) -> None:
        """Draw the chart as of that moment."""
        super().paint_span(painter)
        paint_veil(painter, self, self.moment_ms)


class ThenView(QWidget):
    """Both charts with one crosshair, and the map below, whose shops are doors."""

    def __init__(self) -> None:
        super().__init__()
        self._then: Then | None = None
        self.window_of_time = TimeWindow(2 * AROUND_MS / 1000, self)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        column = in_column(owner=self, spacing=CARD_GAP)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(CARD_GAP)
        column.addLayout(self._row)
        self.chart = ThenDepth(self.window_of_time)
        depth = ChartCard(N_("Queued or held up, by lane"), self.chart)
        self._row.addWidget(depth, 17)
        yield
        self.rates = ThenRates(self.window_of_time)
        rates = ChartCard(N_("Tasks per second"), self.rates)
        self._row.addWidget(rates, 12)
        self._cards = depth, rates
        for card in self._cards:
            card.setFixedHeight(CHART)
        yield
        self.map = HeatMap(states_only=True)
        self.fleet = Card(N_("Shops by worst state"), divided=False)
        self._none = Label("", "label", "text3", wrap=True)
        self.states = Label("", "label", "text2", wrap=True)
        put(self.fleet.body, self._none, self.map, self.states)
        column.addWidget(self.fleet)
        column.addStretch(1)
        say_in_language(self._say)

    @property
    def wide(self) -> int:
        """Pixels that both charts need beside each other."""
        return sum(card.minimumSizeHint().width() for card in self._cards) + CARD_GAP

    def stack(self, on: bool) -> None:
        """Put one chart below the other."""
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.TopToBottom if on else ways.LeftToRight)

    @property
    def then(self) -> Then | None:
        """What is drawn."""
        return self._then

    @property
    def rows(self) -> Rows:
        """The shops that are drawn."""
        return self.map.rows

    def show_then(self, then: Then | None) -> None:
        """Draw another moment; None draws nothing."""
        self._then = then
        self.map.set_rows(then.rows if then is not None and then.rows is not None else NONE)
        for chart in (self.chart, self.rates):
            chart.set_frame(then.frame if then is not None else EMPTY)
        if then is not None:
            span = (then.end_ms - then.begin_ms) / 1000
            if span != self.window_of_time.range_s:
                self.window_of_time.set_range(span)
            self.window_of_time.set_now(then.end_ms / 1000, then.begin_ms / 1000)
            for chart in (self.chart, self.rates):
                chart.moment_ms = then.at_ms
                chart.update()
        self._say()

    def _say(self) -> None:
        then = self._then
        drawn = then is not None and then.rows is not None
        self.map.setVisible(drawn)
        self._none.setVisible(not drawn)
        self._none.setText("" if then is None else _("How each shop did then is not recorded."))
        self.fleet.set_note(_("at {time}").format(time=shown.clock(then.at_ms, then.at_ms)) if then is not None else "")
