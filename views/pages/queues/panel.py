"""What stands below the list: one queue, its curves, who takes from it, who holds what of it, when all of it will have
run, and what can be done about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from services.domain.fleet import holders
from services.domain.fleet.holders import Hold, QueueHolders
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight.worker import takes_work
from services.i18n import N_, _, ngettext
from services.monitor.queues.board import DEAD_KIND, DELAY, SHOP, Point, QueueNow, QueuesNow
from services.monitor.queues.holders import HoldersNow
from views.charts import ticks
from views.charts.chart_card import ChartCard, WholeRange
from views.charts.legend import Series
from views.charts.line import DASHED, SOLID, Line
from views.charts.plot import Plot
from views.charts.series import Frame
from views.charts.time_window import TimeWindow
from views.kit.verb import Place, Verbs, button_of, show
from views.pages.queues import words
from views.pages.queues.forecast import ForecastView
from views.pages.queues.verbs import VERBS, QueueVerb
from views.support import instant, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.words import type_names
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN
from views.widgets.buttons import IconButton
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

SIDE, LOWEST = 300, 216
MOST_WORKERS = 5
CURVES, HOLDERS, FORECAST = "curves", "held", "forecast"
VIEWS = ((CURVES, N_("Curves")), (HOLDERS, N_("Holders")), (FORECAST, N_("Forecast")))
DEPTH = (Series("depth", N_("Waiting"), "running"),)
FLOW = (Series("in", N_("In"), "accent", line=SOLID), Series("out", N_("Out"), "succeeded", line=DASHED))
#: by state: its word, and the tone of it
STATES: Mapping[str, tuple[str, str]] = {
    holders.RUNS: (N_("runs"), "text2"),
    holders.TAKEN: (N_("claimed, in no slot now"), "text2"),
    holders.UNHEARD: (N_("its worker is not heard of"), "retrying"),
    holders.GIVEN_ON: (N_("not given to this worker any more"), "retrying"),
}


#: tasks a second: an axis of less is one of minutes, and none is of less than the other
FEW_S, SLOWEST_S = 0.1, 1 / 60


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
        self.smallest = SLOWEST_S

    def lines(self, frame: Frame) -> list[Line]:
        """A curve for each."""
        return [Line(one.role, frame[one.key], dash=one.line) for one in self.visible_series()]

    def grid(self, top: float, lines: int) -> list[float]:
        """Round in the unit in which they are said."""
        unit = 60 if top < FEW_S else 1
        return [one / unit for one in ticks.values(top * unit, lines, whole=False)]

    def say(self, value: float) -> str:
        """A minute where all are few, with the unit; else two decimals below one; nothing is none."""
        if not value:
            return "0"
        if self._top < FEW_S:
            return _("{n}/min").format(n=f"{value * 60:.2g}")
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
    view_chosen: another of its views is wanted: CURVES, HOLDERS or FORECAST.
    """

    closed = Signal()
    view_chosen = Signal(str)

    def __init__(self, verbs: Verbs[QueueVerb, QueueNow]) -> None:
        super().__init__()
        self._verbs = verbs
        self._row: QueueNow | None = None
        self._now = QueuesNow()
        self.window_of_time = TimeWindow(3600, self)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        self._glyph = QLabel()
        self.title, self.facts = Elided("", "panel"), Elided("", "label", "text3")
        self.facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # the name comes first
        self.buttons = {
            verb.key: button_of(verb, self._act, kind="danger" if verb.danger else "plain", small=True)
            for verb in VERBS
            if Place.PANEL in verb.places
        }
        self.close_button = IconButton("ph.x", N_("Close"))
        self.close_button.clicked.connect(self.closed)
        yield
        self.depth_card = ChartCard(N_("Waiting, with their message or at a gate"), DepthPlot(self.window_of_time))
        self.whole_button = WholeRange(self.window_of_time)
        self.depth_card.add_beside_title(self.whole_button)
        yield
        self.flow_card = ChartCard(N_("Tasks per second"), FlowPlot(self.window_of_time))
        yield
        self.consumers = Card(N_("Who takes from it"))
        self.workers, self._none = KeyValues(spread=True), Label("", "label", "text3", wrap=True)
        takers = ScrollPane(name=N_("Who takes from it"))
        put(takers.body, self.workers, self._none, STRETCH)
        self.consumers.body.addWidget(takers)
        self.views = Segmented(VIEWS, N_("What is shown of the queue"))
        self.views.chosen.connect(self._on_view)
        yield
        self.holders = HoldersView()
        yield
        self.forecast = ForecastView()
        yield
        self._put_together()
        theme().changed.connect(self._say)
        on_language_changed(self._say)

    def _put_together(self) -> None:
        head = in_row(
            self._glyph,
            self.title,
            (self.facts, 1),
            self.views,
            *self.buttons.values(),
            self.close_button,
            margins=(PAGE_MARGIN, 8, PAGE_MARGIN - 6, 8),
            spacing=8,
        )
        self._widen()
        theme().changed.connect(self._widen)
        curves = QWidget()
        in_row((self.depth_card, 3), (self.flow_card, 2), self.consumers, owner=curves, spacing=CARD_GAP)
        self._pages = {CURVES: curves, HOLDERS: self.holders, FORECAST: self.forecast}
        self._stack = stacked()
        room = in_row(self._stack, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 12))
        in_column(line(), head, (room, 1), owner=self, spacing=0)
        for page in self._pages.values():
            self._stack.addWidget(page)
        self.setMinimumHeight(LOWEST)

    def _widen(self) -> None:
        """Who takes from it needs more room with larger letters."""
        self.consumers.setFixedWidth(round(SIDE * theme().growth))

    @property
    def shown(self) -> QueueNow | None:
        """The queue shown."""
        return self._row

    def show_row(self, row: QueueNow, now: QueuesNow) -> None:
        """Show one as it stands; its curves come after it."""
        if self._row is None or self._row.name != row.name:
            self._draw(())
            self.holders.show_holders(None)
        self._row, self._now = row, now
        self._say()

    @property
    def view(self) -> str:
        """Which of its views is seen."""
        return self.views.current()

    def show_holders(self, name: str, now: HoldersNow) -> None:
        """Show who holds what of it, unless another queue is shown by now."""
        if self._row is not None and self._row.name == name:
            self.holders.show_holders(now)

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
        self.views.set_suffix(HOLDERS, text.count(row.unacked) if row.unacked else "")
        self.holders.say()
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
        """Workers in touch that take from it, as they say; those that take all lanes serve queues of shops."""
        every = {"high", "normal", "low"}
        now = self._now.at_ms or instant.now_ms()
        found = [one for one in self._now.workers if takes_work(one, now)]
        found = [one for one in found if (every <= set(one.lanes) if row.kind == SHOP else row.lane in one.open_lanes)]
        return sorted(found, key=lambda one: (-one.busy / max(1, len(one.slots)), one.worker))

    def _act(self, key: str) -> None:
        if self._row is not None:
            self._verbs.act(key, self._row)


def _lease(one: Hold) -> str:
    if not one.lease_until:
        return _("no lease")
    left = one.lease_until - instant.now_ms()
    return text.until(shown.span(left)) if left > 0 else _("run out")


def _slot(one: Hold) -> str:
    return _("{worker}, slot {n}").format(worker=one.worker, n=one.slot) if one.slot else one.worker


COLUMNS: tuple[Column[Hold], ...] = (
    Column(key="type", title=N_("Type"), value=lambda one: type_names.name(one.task_type), kind="strong", width=140),
    Column(key="shop", title=N_("Shop"), value=lambda one: one.shop, width=140, names=True),
    Column(key="worker", title=N_("Holder"), value=_slot, width=220, stretch=True, names=True),
    Column(
        key="since",
        title=N_("For"),
        value=lambda one: one.since,
        text=lambda one: text.duration(shown.span(instant.now_ms() - one.since)) if one.since else "",
        kind="number",
        width=86,
        live=True,
    ),
    Column(
        key="lease",
        title=N_("Lease"),
        value=lambda one: one.lease_until,
        text=_lease,
        tone=lambda one: "text2" if one.lease_until > instant.now_ms() else "retrying",
        width=96,
        live=True,
        title_tip=N_("Until then nobody else gets the task; its worker renews it while it is heard of."),
    ),
    Column(
        key="state",
        title=N_("State"),
        value=lambda one: _(STATES[one.state][0]),
        tone=lambda one: STATES[one.state][1],
        width=190,
        hide_rank=2,
    ),
    Column(
        key="id", title=N_("Task"), value=lambda one: one.task_id, mono=True, names=True, tone="text3", width=170,
        hide_rank=1,
    ),
)  # fmt: skip


class HoldersView(QWidget):
    """Signals:
    task_wanted: a task shall be opened: its id.
    """

    task_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._model: RecordModel[Hold] = RecordModel(COLUMNS, key=_key, hold_new=False)
        self.table = TableView(self._model, name=N_("Who holds it"), ground="surface")
        self.none = EmptyState(N_("Nobody holds a message of it."))
        self.stack = stacked(self.table, self.none)
        self.notes = Label("", "label", "retrying", wrap=True)
        self.facts = Label("", "label", "text3", wrap=True)
        in_column((self.stack, 1), self.facts, self.notes, owner=self, spacing=4)
        self._now: HoldersNow | None = None
        self.table.open_requested.connect(self._open)
        self.say()

    def show_holders(self, now: HoldersNow | None) -> None:
        """Show what is held of one queue; None while that is not known."""
        self._now = now
        self.say()

    def say(self) -> None:
        """Say it in the language of the moment."""
        now = self._now
        found = now.queues[0] if now is not None and now.queues else QueueHolders(name="")
        self._model.apply(found.holds, settle=True)
        at = now.at_ms if now is not None else 0
        said = [shown.told(one, at) for one in holders.notes(found, at)]
        beyond = said.pop() if found.beyond else ""
        if now is not None and not now.told:
            said.append(_("The broker does not tell how many messages are held: others may hold more than is listed."))
        if now is not None and now.more:
            said.append(_("More tasks run than were looked at."))
        self.facts.setText("\n".join(said))
        self.facts.setVisible(bool(said))
        self.notes.setText(beyond)
        self.notes.setVisible(bool(beyond))
        self.none.set_texts(N_("Loading…") if now is None else N_("No task of it is in anybody's hands."))
        self.stack.setCurrentWidget(self.table if found.holds else self.none)

    def _open(self, key: object) -> None:
        self.task_wanted.emit(str(key).rpartition(" ")[2])


def _key(one: Hold) -> str:
    return f"{one.worker} {one.slot} {one.task_id}"
