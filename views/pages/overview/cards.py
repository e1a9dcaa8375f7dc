"""The cards below the tiles: what needs attention, and the fleet as a heat map."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from services.i18n import N_, _, ngettext
from services.monitor.overview import OverviewNow
from views.charts.chart_card import ChartCard, WholeRange
from views.charts.depth_chart import DepthChart
from views.charts.legend import Marker
from views.charts.rates_chart import RatesChart
from views.charts.series import MAX_POINTS, SampleBuffer
from views.charts.time_window import TimeWindow
from views.charts.unacked_chart import UnackedChart
from views.pages.overview.limits import TileLimits
from views.pages.overview.tiles import unacked, waiting
from views.shell.connection import grey
from views.support import safe, shown, text
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label
from views.support.memory import Memory
from views.theme.tokens import CARD_PADDING
from views.widgets.attention.item import SPANS
from views.widgets.attention.list import AttentionList, AttentionRow
from views.widgets.badge import Badge
from views.widgets.buttons import Button, LinkLabel
from views.widgets.card import Card
from views.widgets.empty_state import EmptyState
from views.widgets.heat_map.layout import Rows
from views.widgets.heat_map.legend import HeatLegend
from views.widgets.heat_map.map import HeatMap
from views.widgets.layout import STRETCH, in_row, put

MENU_ITEMS = 12
DEPTH_SAID = N_(
    "Messages in the broker's queues (queue depth: ready) and tasks parked at a gate; what is recorded and not sent is"
    " not among them. The tile Waiting counts the records at a moment of its own, so that where tasks come and go the"
    " two may differ."
)
RATES_SAID = N_(
    "Curves and the numbers beside their names show the last five seconds; In and Out below the page the last minute or"
    " more."
)
HELD_SAID = N_("Messages that workers hold and have not settled (broker: unacked), beside the slots of the workers.")


class AttentionCard(Card):
    """The list with its count; what is muted is counted below it.

    Signals:
        verb: a verb and what it is about.
    """

    verb = Signal(str, str)

    def __init__(self, memory: Memory, profile: str = "") -> None:
        super().__init__(N_("Needs attention"), divided=True, padding=0)
        self._mutes = Mutes(memory, profile)
        self._rows: list[AttentionRow] = []
        self._now_ms, self._blind, self._hidden = 0, False, 0
        self.list = AttentionList()
        self.setFocusProxy(self.list)  # who comes by F6 comes to what is to do, and not to *Mute* in its head
        self._badge = Badge.count()
        self._badge.hide()
        self.mute_button = Button(N_("Mute"), kind="ghost", small=True)
        self._menu = QMenu(self.mute_button)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.mute_button.set_menu(self._menu)
        self.foot = _Foot()
        self.foot.show_again.activated.connect(self._unmute)
        self.below = LinkLabel()
        self.below.activated.connect(self.list.show_below)
        self._below = QWidget()
        in_row(self.below, STRETCH, owner=self._below, margins=(12, 2, 12, 4))
        self._below.hide()
        self.list.below_changed.connect(self._on_below)
        on_language_changed(self._say_below)
        self.add_beside_title(self._badge)
        self.add_action(self.mute_button)
        put(self.body, (self.list, 1), self._below, self.foot)
        self.body.setSpacing(0)
        self.list.verb.connect(self.verb)
        self.list.mute.connect(self.mute)
        self.list.count_changed.connect(self._on_count)

    def set_rows(self, rows: Sequence[AttentionRow], now_ms: int, *, blind: bool = False) -> None:
        """Show these items. ``blind``: a server does not answer, so that nobody knows what else there is."""
        self._rows, self._now_ms, self._blind = list(rows), now_ms, blind
        loud, quiet = self._mutes.sift(self._rows, now_ms)
        self.list.set_rows(loud, now_ms, {row.key for row in quiet}, blind=blind)
        until = self._mutes.soonest(quiet)
        self.foot.show_muted(len(quiet), shown.clock(until, now_ms) if until else "")
        self.mute_button.setVisible(bool(loud))

    def mute(self, row: AttentionRow, span: str) -> None:
        """Hide an item for a span of ``attention_item.SPANS``."""
        until = {"hour": self._now_ms + HOUR_MS, "today": _midnight(self._now_ms)}.get(span, UNTIL_CHANGED)
        self._mutes.mute(row, until)
        self.set_rows(self._rows, self._now_ms, blind=self._blind)

    def _unmute(self) -> None:
        self._mutes.clear()
        self.set_rows(self._rows, self._now_ms, blind=self._blind)

    def _fill_menu(self) -> None:
        """Each item with its spans; the menu is made anew, as items come and go."""
        self._menu.clear()
        for item in [item for item in self.list.items() if not item.resolved][:MENU_ITEMS]:
            part = self._menu.addMenu(safe.one_line(item.row.title, 48))
            for span, words in SPANS:
                part.addAction(_(words), partial(self.mute, item.row, span))

    def _on_below(self, hidden: int) -> None:
        """Count what there is no room for: what is cut off would be taken for all there is."""
        self._hidden = hidden
        self._below.setVisible(hidden > 0)
        self._say_below()

    def _say_below(self) -> None:
        words = ngettext("{n} more below", "{n} more below", self._hidden)
        self.below.set_count_text(words.format(n=self._hidden))

    def _on_count(self, count: int) -> None:
        self._badge.show_text(str(count) if count else "")


class _Foot(QWidget):
    """How many items are muted, and the way back."""

    def __init__(self) -> None:
        super().__init__()
        self._count, self._until = 0, ""
        self._words = Label("", "label", "text3")
        self.show_again = LinkLabel(N_("Show them"))
        in_row((self._words, 1), self.show_again, owner=self, margins=(12, 8, 12, 8))
        say_in_language(self._say)

    def show_muted(self, count: int, until: str) -> None:
        """Say how many are muted, and until when the first one is."""
        if (count, until) != (self._count, self._until):
            self._count, self._until = count, until
            self._say()

    def _say(self) -> None:
        words = ngettext("{n} muted", "{n} muted", self._count).format(n=self._count)
        self._words.setText(_("{muted} until {time}").format(muted=words, time=self._until) if self._until else words)
        self.setVisible(self._count > 0)


def _midnight(now_ms: int) -> int:
    """The end of the day in the zone of the screens, UTC milliseconds."""
    day = shown.moment(now_ms).astimezone(shown.zone()) + timedelta(days=1)
    return round(day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


def chosen_words(number: int) -> str:
    """What leads to so many shops of the map."""
    return ngettext("Open {n} chosen shop in Shops", "Open {n} chosen shops in Shops", number).format(n=f"{number:,}")


class FleetCard(Card):
    """Heat map and legend; a fleet without shops says so."""

    def __init__(self) -> None:
        super().__init__(N_("Shops by worst state"))
        self.map, self.legend = HeatMap(choosable=True), HeatLegend()
        self.empty = EmptyState(N_("Loading…"), icon="ph.circle-dashed")
        for label in self.empty.findChildren(QLabel):
            label.setWordWrap(False)
        self._total = 0
        self.door = LinkLabel()  #: of the shops that are chosen
        self.door.hide()
        self.add_beside_title(self.door)
        self.map.chosen_changed.connect(self._say)
        self.add_action(self.legend)
        put(self.body, self.map, self.empty, STRETCH)
        self.legend.filter_changed.connect(self.map.set_filter)
        on_language_changed(self._say)
        self.set_rows(None)

    def set_rows(self, rows: Rows | None) -> None:
        """Show these shops; None: nobody knows yet which there are."""
        if rows is not None:
            self.empty.set_texts(
                N_("No shops yet"), N_("A shop appears here with its first task."), icon="ph.storefront"
            )
        self._total = rows.total if rows is not None else 0
        if rows is not None:
            self.map.set_rows(rows)
            self.legend.show_counts(rows.counts)
        self.map.setVisible(self._total > 0)
        self.legend.setVisible(self._total > 0)
        self.empty.setVisible(self._total == 0)
        self._say()

    def load_failed(self) -> None:
        """It was never told which shops there are, and that is not on its way any more."""
        self.empty.set_texts(N_("The shops could not be loaded"), icon="ph.warning")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the legend where there is no room for its words."""
        super().resizeEvent(event)
        self._arrange()

    def _say(self) -> None:
        note = ngettext("{n} shop", "{n} shops", self._total).format(n=f"{self._total:,}")
        self.set_note(note if self._total else "")
        chosen = len(self.map.chosen)
        self.door.set_count_text(chosen_words(chosen))
        self.door.setVisible(chosen > 0)
        self._arrange()

    def _arrange(self) -> None:
        words = self._title.sizeHint().width() + self._head_note.sizeHint().width() + 24
        if not self.door.isHidden():
            words += self.door.sizeHint().width() + 8
        self.legend.set_compact(words + self.legend.needed() + 2 * CARD_PADDING > self.width() > 0)


NAME = "overview.mutes"
HOUR_MS = 3_600_000
UNTIL_CHANGED = 0


class Mutes:
    """Remembered by key: until an instant, or until the item says something else. Times in UTC milliseconds."""

    def __init__(self, memory: Memory, profile: str = "") -> None:
        # what is known of one fleet is news of another
        self._memory, self._name = memory, f"{NAME}.{profile}" if profile else NAME
        self._until: dict[str, tuple[int, str]] = {}
        self._recall()

    def mute(self, row: AttentionRow, until_ms: int) -> None:
        """Hide an item until an instant; ``UNTIL_CHANGED``: until its state is another."""
        self._recall()
        self._until[row.key] = (until_ms, row.state)
        self._save()

    def clear(self) -> None:
        """Show everything again."""
        self._until.clear()
        self._save()

    def sift(self, rows: list[AttentionRow], now_ms: int) -> tuple[list[AttentionRow], list[AttentionRow]]:
        """The rows to show, and those that are muted; what is over is forgotten."""
        self._recall()
        loud: list[AttentionRow] = []
        quiet: list[AttentionRow] = []
        for row in rows:
            (quiet if self._is_muted(row, now_ms) else loud).append(row)
        keys = {row.key for row in quiet}
        over = [key for key, (until, _state) in self._until.items() if key not in keys and until <= now_ms]
        for key in over:
            del self._until[key]
        if over:
            self._save()
        return loud, quiet

    def soonest(self, rows: list[AttentionRow]) -> int:
        """When the first of these comes back, 0 when none does by itself."""
        return min((until for row in rows if (until := self._until.get(row.key, (0, ""))[0])), default=0)

    def _is_muted(self, row: AttentionRow, now_ms: int) -> bool:
        if row.key not in self._until:
            return False
        until, state = self._until[row.key]
        return state == row.state if until == UNTIL_CHANGED else now_ms < until

    def _recall(self) -> None:
        """As it is remembered: another window may have muted something."""
        kept = self._memory.get(self._name, {})
        self._until = {
            str(key): (entry[0], str(entry[1]))
            for key, entry in (kept.items() if isinstance(kept, dict) else ())
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], int)
        }

    def _save(self) -> None:
        self._memory.put(self._name, {key: list(entry) for key, entry in self._until.items()})


class Charts(QObject):
    """Cards over the samples of a buffer.

    Signals:
        span_chosen: a person marked a span: first and last instant in UTC milliseconds.
    """

    span_chosen = Signal(object, object)

    def __init__(self, buffer: SampleBuffer, parent: QObject) -> None:
        super().__init__(parent)
        self._buffer = buffer
        self.window = TimeWindow(3600, self)
        self.depth = ChartCard(N_("Queued or held up, by lane"), DepthChart(self.window), tip=DEPTH_SAID)
        self.rates = ChartCard(N_("Tasks per second, last 5 s"), RatesChart(self.window), tip=RATES_SAID)
        self.unacked = ChartCard(N_("With workers"), UnackedChart(self.window), tip=HELD_SAID)
        self.cards = (self.depth, self.rates, self.unacked)
        self._differs = False  #: what the broker counts, and the records
        self.whole_button = WholeRange(self.window)
        self.depth.add_beside_title(self.whole_button)
        for card in self.cards:
            card.plot.span_chosen.connect(self.span_chosen)
        self.window.moved.connect(self.draw)

    def show_now(self, now: OverviewNow, limits: TileLimits) -> None:
        """Show the present values in the legends, and the limits."""
        self.depth.show_values({lane.lane: text.count(lane.depth) for lane in now.lanes})
        unsent = now.flow.facts.unsent
        # once seen to differ the two go on differing by moments: a note that comes and goes would be read as news
        self._differs = self._differs or sum(lane.depth for lane in now.lanes) + unsent != waiting(now)
        notes = [_("besides {n} recorded, not sent").format(n=text.count(unsent))] if unsent else []
        notes += [_("by the queues; Waiting is by the records")] if self._differs else []
        self.depth.show_beside(" · ".join(notes))
        held = "–" if now.broker_old else text.count(unacked(now))  # as its tile says it
        self.unacked.show_values({"unacked": held})
        self.depth.plot.set_limit(limits.waiting)
        self.unacked.plot.set_limit(now.slots_total or None)

    def show_old(self, old: bool) -> None:
        """Show in greys what the broker tells: it is as it was when that was lost."""
        for card in (self.depth, self.unacked):
            grey(card, old)

    def show_markers(self, marks: tuple[Marker, ...]) -> None:
        """Mark what happened: with words above the first chart, as lines in all."""
        self.depth.plot.set_markers(marks)
        silent = [replace(mark, text="") for mark in marks]
        for card in (self.rates, self.unacked):
            card.plot.set_markers(silent)

    def steps(self) -> list[Callable[[], None]]:
        """The drawing in parts: together they would hold the window for two frames."""
        return [partial(self._draw, card) for card in self.cards]

    def draw(self) -> None:
        """Draw all at once, as after a zoom."""
        for step in self.steps():
            step()

    def _draw(self, card: ChartCard) -> None:
        points = min(MAX_POINTS, max(100, card.plot.width()))
        card.plot.set_frame(self._buffer.frame(*self.window.bounds(), points))
        if isinstance(card.plot, RatesChart):  # In and Out of a minute would contradict a curve of seconds
            card.show_values(card.plot.newest())


PAUSE_MS = 16


class Steps(QObject):
    """Runs calls one after the other; a newer list takes the place of what is left of the last one.

    Lists are of one kind: what was left, the newer list does first. On a machine so busy that each list is overtaken by
    the next, its end would never be reached otherwise, and the charts would stand still below numbers that move.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left: deque[tuple[int, Callable[[], None]]] = deque()
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._next)

    def run(self, calls: Iterable[Callable[[], None]]) -> None:
        """Run the first call now and the others a moment apart."""
        first = self._left[0][0] if self._left else 0
        self._left = deque(enumerate(calls))
        self._left.rotate(-first)
        self._next()

    def finish(self) -> None:
        """Run what is left at once."""
        while self._left:
            self._next()

    def stop(self) -> None:
        """Forget what is left."""
        self._left.clear()
        self._timer.stop()

    def _next(self) -> None:
        if self._left:
            self._left.popleft()[1]()
        if self._left:
            self._timer.start()
