"""What stands below the list: one queue, its curves, who takes from it, who holds what of it, when all of it will have
run, and what can be done about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from services.domain.fleet.worker import WorkerInfo
from services.i18n import N_, _, ngettext
from services.monitor.queues.board import DEAD_KIND, DELAY, SHOP, Point, QueueNow, QueuesNow
from services.monitor.queues.holders import HeldNow
from views.charts.chart_card import ChartCard
from views.charts.line import Line
from views.charts.named import Series
from views.charts.plot import Plot
from views.charts.series import Frame
from views.charts.time_window import TimeWindow
from views.kit.verb import Place, Verbs, show
from views.pages.queues import words
from views.pages.queues.forecast import ForecastView
from views.pages.queues.held import HeldView
from views.pages.queues.verbs import VERBS, QueueVerb
from views.support import instant, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN
from views.widgets.buttons import Button, IconButton
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.key_values import KeyValues
from views.widgets.panes import stacked
from views.widgets.segmented import Segmented

SIDE, LOWEST = 300, 216
MOST_WORKERS = 5
CURVES, HELD, FORECAST = "curves", "held", "forecast"
VIEWS = ((CURVES, N_("Curves")), (HELD, N_("Holders")), (FORECAST, N_("Forecast")))
DEPTH = (Series("depth", N_("Waiting"), "running"),)
FLOW = (Series("in", N_("In"), "accent"), Series("out", N_("Out"), "succeeded"))


class DepthPlot(Plot):
    """What waits in one queue."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(N_("Waiting"), DEPTH, window)

    def lines(self, frame: Frame) -> list[Line]:
        """One area."""
        return [Line(one.role, frame[one.key], 18) for one in self.visible_series()]


class FlowPlot(Plot):
    """What comes and goes a second."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(N_("Tasks per second"), FLOW, window)
        self.smallest = 0.4

    def lines(self, frame: Frame) -> list[Line]:
        """A curve for each."""
        return [Line(one.role, frame[one.key]) for one in self.visible_series()]

    def say(self, value: float) -> str:
        """Two decimals below one."""
        return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else text.count(round(value))


def frame_of(points: Sequence[Point]) -> Frame:
    """Points as a chart draws them; what nobody counted is not known."""
    rates = np.array([[one.in_s, one.out_s] for one in points], dtype=np.float64).reshape(-1, 2)
    rates[rates < 0] = np.nan
    return Frame(
        np.array([one.at_ms / 1000 for one in points], dtype=np.float64),
        {
            "depth": np.array([one.depth for one in points], dtype=np.float64),
            "in": np.ascontiguousarray(rates[:, 0]),
            "out": np.ascontiguousarray(rates[:, 1]),
        },
    )


class QueuePanel(QWidget):
    """Signals:
    closed: a person wants the list alone.
    view_chosen: another of its views is wanted: CURVES, HELD or FORECAST.
    """

    closed = Signal()
    view_chosen = Signal(str)

    def __init__(self, verbs: Verbs[QueueVerb, QueueNow]) -> None:
        super().__init__()
        self._verbs = verbs
        self._row: QueueNow | None = None
        self._now = QueuesNow()
        self.window_of_time = TimeWindow(3600, self)
        self._glyph = QLabel()
        self.title, self.facts = Elided("", "panel"), Elided("", "label", "text3")
        self.facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # the name comes first
        self.buttons: dict[str, Button] = {}
        for verb in VERBS:
            if Place.PANEL in verb.places:
                kind = "danger" if verb.danger else "plain"
                self.buttons[verb.key] = button = Button(verb.text, icon=verb.icon, kind=kind, small=True)
                button.clicked.connect(partial(self._act, verb.key))
        self.close_button = IconButton("ph.x", N_("Close"))
        self.close_button.clicked.connect(self.closed)
        self.depth_card = ChartCard(N_("Waiting, with their message or at a gate"), DepthPlot(self.window_of_time))
        self.flow_card = ChartCard(N_("Tasks per second"), FlowPlot(self.window_of_time))
        self.consumers = Card(N_("Who takes from it"))
        self.workers, self._none = KeyValues(spread=True), Label("", "label", "text3", wrap=True)
        self.consumers.body.addWidget(self.workers)
        self.consumers.body.addWidget(self._none)
        self.consumers.body.addStretch(1)
        self.views = Segmented(VIEWS, N_("What is shown of the queue"))
        self.views.chosen.connect(self._on_view)
        self.held, self.forecast = HeldView(), ForecastView()
        self._put_together()
        theme().changed.connect(self._say)
        on_language_changed(self._say)

    def _put_together(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(PAGE_MARGIN, 8, PAGE_MARGIN - 6, 8)
        head.setSpacing(8)
        head.addWidget(self._glyph)
        head.addWidget(self.title)
        head.addWidget(self.facts, 1)
        head.addWidget(self.views)
        for button in self.buttons.values():
            head.addWidget(button)
        head.addWidget(self.close_button)
        self.consumers.setFixedWidth(SIDE)
        curves = QWidget()
        row = QHBoxLayout(curves)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(CARD_GAP)
        row.addWidget(self.depth_card, 3)
        row.addWidget(self.flow_card, 2)
        row.addWidget(self.consumers)
        self._pages = {CURVES: curves, HELD: self.held, FORECAST: self.forecast}
        self._stack = stacked(*self._pages.values())
        room = QHBoxLayout()
        room.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, 12)
        room.addWidget(self._stack)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(line())
        column.addLayout(head)
        column.addLayout(room, 1)
        self.setMinimumHeight(LOWEST)

    @property
    def shown(self) -> QueueNow | None:
        """The queue shown."""
        return self._row

    def show_row(self, row: QueueNow, now: QueuesNow) -> None:
        """Show one as it stands; its curves come after it."""
        if self._row is None or self._row.name != row.name:
            self._draw(())
            self.held.show_held(None)
        self._row, self._now = row, now
        self._say()

    @property
    def view(self) -> str:
        """Which of its views is seen."""
        return self.views.current()

    def show_held(self, name: str, now: HeldNow) -> None:
        """Show who holds what of it, unless another queue is shown by now."""
        if self._row is not None and self._row.name == name:
            self.held.show_held(now)

    def show_limit(self, limit: float | None) -> None:
        """Draw from which depth on the alert rule tells somebody; None for no such line."""
        self.depth_card.plot.set_limit(limit)

    def _on_view(self, key: str) -> None:
        self._stack.setCurrentWidget(self._pages[key])
        self.view_chosen.emit(key)

    def show_points(self, name: str, points: Sequence[Point]) -> None:
        """Show its curves, unless another queue is shown by now."""
        if self._row is not None and self._row.name == name:
            self._draw(points)

    def _draw(self, points: Sequence[Point]) -> None:
        now = instant.now_ms() / 1000
        self.window_of_time.set_now(now, points[0].at_ms / 1000 if points else now)
        frame = frame_of(points)
        self.depth_card.plot.set_frame(frame)
        self.flow_card.plot.set_frame(frame)

    def follow(self) -> None:
        """Say again what may be done."""
        self._say()

    def _say(self) -> None:
        row = self._row
        if row is None:
            return
        glyph, role = words.look(row)
        self._glyph.setPixmap(theme().pixmap(glyph, role, 16))
        self.title.show_text(row.name)
        self.facts.show_text(words.facts(row))
        self.depth_card.show_values({"depth": words.number(row.depth)})
        self.flow_card.setVisible(row.kind not in (DELAY, DEAD_KIND))
        self.flow_card.show_values({"in": words.rate(row, row.flow.in_s), "out": words.rate(row, row.flow.out_s)})
        self._say_workers(row)
        self.views.set_suffix(HELD, text.count(row.unacked) if row.unacked else "")
        self.held.say()
        self.forecast.say()
        for offer in self._verbs.offers(Place.PANEL, row):
            if offer.verb.key in self.buttons:
                show(self.buttons[offer.verb.key], offer)
                self.buttons[offer.verb.key].set_glyph(offer.glyph)

    def _say_workers(self, row: QueueNow) -> None:
        if row.kind in (DELAY, DEAD_KIND):
            self.consumers.set_note("")
            self.workers.set_rows(())
            self._none.setText(
                _("Nobody takes from it: the broker brings each task back to its own lane when its time has come.")
                if row.kind == DELAY
                else _("Whoever leads writes each letter down; there they wait for a person to decide.")
            )
            self._none.show()
            return
        taking = self._taking(row)
        number = ngettext("{n} worker", "{n} workers", len(taking)).format(n=text.count(len(taking)))
        self.consumers.set_note(_("{workers}, the busiest first").format(workers=number) if taking else "")
        now = self._now.at_ms or instant.now_ms()
        self.workers.set_rows(
            (
                info.worker,
                _("{busy} of {slots} busy, heard {span} ago").format(
                    busy=info.busy, slots=len(info.slots), span=text.coarse(shown.span(max(0, now - info.seen_at)))
                ),
            )
            for info in taking[:MOST_WORKERS]
        )
        more = len(taking) - MOST_WORKERS
        self._none.setText(
            _("No worker takes from it now.")
            if not taking
            else ngettext("{n} more worker", "{n} more workers", more).format(n=text.count(max(0, more)))
        )
        self._none.setVisible(not taking or more > 0)

    def _taking(self, row: QueueNow) -> list[WorkerInfo]:
        """Workers that take from it, as they say; those that take all lanes serve queues of shops."""
        wanted = {"high", "normal", "low"} if row.kind == SHOP else {row.lane}
        found = [one for one in self._now.workers if one.state == "running" and wanted <= set(one.lanes)]
        return sorted(found, key=lambda one: (-one.busy / max(1, len(one.slots)), one.worker))

    def _act(self, key: str, _checked: bool = False) -> None:
        if self._row is not None:
            self._verbs.act(key, self._row)
