"""The fleet as it was, drawn: what waited half an hour before and after a moment, and each shop as it was then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.domain.fleet.shop import Shop
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.past.frame import SHOP, Numbers, Things
from services.i18n import _
from services.monitor.past.joined import joined
from services.monitor.past.queries import PastNow, PastQueries
from views.charts.depth_chart import DepthChart
from views.charts.series import EMPTY, Frame, SampleBuffer
from views.charts.time_window import TimeWindow
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.widgets.heat_map.layout import NONE, Rows, prepare
from views.widgets.heat_map.map import AGGREGATE_ABOVE, HeatMap
from views.widgets.scroll_pane import ScrollPane

#: so long before and after the moment is drawn
AROUND_MS = 1_800_000
POINTS, CHART, MAP = 400, 132, 104
#: how much of what came after is covered, of 255
DIM = 150


@dataclass(frozen=True, slots=True, eq=False)
class Then:
    """What is drawn of a moment."""

    at_ms: int
    begin_ms: int
    end_ms: int
    frame: Frame = EMPTY
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
    return Then(at, begin, end, _frame(rows, begin, end), drawn)


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


class ThenChart(DepthChart):
    """What waited; a line at the moment, and what came after it is dimmed."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(window)
        self._at_ms = 0

    def set_moment(self, at_ms: int) -> None:
        """Put the line there."""
        self._at_ms = at_ms
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chart, then the veil and the line."""
        super().paintEvent(event)
        rect = self.plot_rect()
        x = self.x_of(self._at_ms / 1000)
        if not rect.left() <= x <= rect.right():
            return
        painter = QPainter(self)
        veil = theme().color("surface")
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


class ThenView(QWidget):
    """The chart above the map; both only show."""

    def __init__(self) -> None:
        super().__init__()
        self._then: Then | None = None
        self.window_of_time = TimeWindow(2 * AROUND_MS / 1000, self)
        self.chart = ThenChart(self.window_of_time)
        self.chart.setFixedHeight(CHART)
        self.map = HeatMap(aggregate_above=AGGREGATE_ABOVE)
        self.map.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.map.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)  # its card tells of now
        self._none = Label("", "label", "text3", wrap=True)
        self._pane = ScrollPane()
        self._pane.body.addWidget(self.map)
        self._pane.body.addStretch(1)
        self._pane.setMinimumHeight(MAP)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.chart)
        column.addWidget(self._none)
        column.addWidget(self._pane, 1)
        on_language_changed(self._say)
        self._say()

    @property
    def rows(self) -> Rows:
        """The shops that are drawn."""
        return self.map.rows

    def show_then(self, then: Then | None) -> None:
        """Draw another moment; None draws nothing."""
        self._then = then
        self.map.set_rows(then.rows if then is not None and then.rows is not None else NONE)
        self.chart.set_frame(then.frame if then is not None else EMPTY)
        if then is not None:
            span = (then.end_ms - then.begin_ms) / 1000
            if span != self.window_of_time.range_s:
                self.window_of_time.set_range(span)
            self.window_of_time.set_now(then.end_ms / 1000, then.begin_ms / 1000)
            self.chart.set_moment(then.at_ms)
        self._say()

    def _say(self) -> None:
        then = self._then
        drawn = then is not None and then.rows is not None
        self._pane.setVisible(drawn)
        self._none.setVisible(not drawn)
        self._none.setText("" if then is None else _("How each shop did then is not recorded."))
