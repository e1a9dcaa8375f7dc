"""What the next run of a schedule does to the line of the workers: bars minute by minute, and sentences below."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from services.domain.plans.load import MINUTE_MS, Load
from services.i18n import _
from services.messages import render
from services.monitor.schedules import RunLoad
from views.support import instant, shown, text
from views.support.look import Label
from views.theme import theme

BARS_HEIGHT, MOST_BARS = 44, 120
#: beyond the end of the run it goes on for so many minutes at least
LEAST_MINUTES = 30


class LoadBars(QWidget):
    """Tasks that wait or run: those of others in grey, those of the run above them."""

    def __init__(self) -> None:
        super().__init__()
        self._load = Load(begins=0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, BARS_HEIGHT)

    def show_load(self, load: Load) -> None:
        """Draw another one."""
        self._load = load
        self.update()

    def bars(self) -> list[tuple[int, int]]:
        """Of each bar the tasks of the run and those of others: the most of the minutes that it stands for."""
        own, others = list(self._load.own), list(self._load.others)
        short = max(0, LEAST_MINUTES - len(own))
        own, others = own + [0] * short, others + [0] * short
        step = -(-len(own) // MOST_BARS)
        return [
            max(zip(own[at : at + step], others[at : at + step], strict=True), key=sum)
            for at in range(0, len(own), step)
        ]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars."""
        painter = QPainter(self)
        bars = self.bars()
        most = max((sum(bar) for bar in bars), default=0)
        wide, tall = self.width() / max(1, len(bars)), float(self.height() - 1)
        painter.fillRect(QRectF(0, tall, self.width(), 1), theme().color("line"))
        for place, (own, others) in enumerate(bars):
            low, high = tall * others / max(1, most), tall * (own + others) / max(1, most)
            left, width = place * wide, max(1.0, wide - 1)
            painter.fillRect(QRectF(left, tall - low, width, low), theme().color("text3"))
            painter.fillRect(QRectF(left, tall - high, width, high - low), theme().color("accent"))


class LoadStrip(QWidget):
    """Bars with the hours of their ends, and what is told; hidden while there is nothing to tell."""

    def __init__(self) -> None:
        super().__init__()
        self.bars = LoadBars()
        self.scale = Label("", "label", "text3")
        self.words = Label("", "label", "text2", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.bars, self.scale, self.words):
            column.addWidget(part)
        self.show_load(None)

    def show_load(self, found: RunLoad | None) -> None:
        """Tell of another run."""
        said = "" if found is None else " ".join(render(one) for one in found.said)
        load = found.load if found is not None else Load(begins=0)
        drawn = any(load.own)
        self.bars.setVisible(drawn)
        self.scale.setVisible(drawn)
        if drawn:
            self.bars.show_load(load)
            now = instant.now_ms()
            ends = load.begins + max(LEAST_MINUTES, len(load.own)) * MINUTE_MS
            most, when = load.peak
            self.scale.setText(
                _("{begin} to {end}; at most {n} at once, at {at}").format(
                    begin=shown.clock(load.begins, now),
                    end=shown.clock(ends, now),
                    n=text.count(most),
                    at=shown.clock(when, now),
                )
            )
        self.words.setText(said)
        self.bars.setAccessibleName(said)
        self.setVisible(bool(said))
