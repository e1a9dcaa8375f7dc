"""What a second of a chart costs the GUI thread: ours, painted into a picture, beside pyqtgraph's own live axes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

SIZE = (900, 260)
ROUNDS = 60
NAMES = ("publish", "deliver", "ack")


def measure() -> dict[str, Any]:
    """Milliseconds of processor time, medians: a second's new samples, and a move of the mouse."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import pyqtgraph as pg
    from PySide6.QtWidgets import QApplication

    from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
    from views.charts import curves as _loaded  # noqa: F401  (so that a chart draws at once)
    from views.charts.rates_chart import RatesChart
    from views.charts.series import SampleBuffer
    from views.charts.time_window import TimeWindow

    app = QApplication.instance() or QApplication([])
    now = NOW_MS / 1000
    buffer = SampleBuffer()
    buffer.append(SampleSource().series(3600, 5000))
    window = TimeWindow(3600)
    window.set_now(now)
    frame = buffer.frame(*window.bounds())
    ours = RatesChart(window)
    ours.resize(*SIZE)
    ours.set_frame(frame)
    ours.grab()
    theirs = pg.PlotWidget(axisItems={"bottom": pg.DateAxisItem()}, antialias=True)
    theirs.resize(*SIZE)
    theirs.showGrid(y=True)
    theirs.setDownsampling(auto=True, mode="peak")
    theirs.setClipToView(True)
    lines = [
        theirs.plot(frame.at, np.nan_to_num(frame[key]), pen=(90, 90, 200)) for key in ("publish", "deliver", "ack")
    ]
    cross = pg.InfiniteLine(angle=90)
    theirs.addItem(cross, ignoreBounds=True)
    theirs.grab()

    def new_samples_theirs() -> None:
        for curve, key in zip(lines, NAMES, strict=True):
            curve.setData(frame.at, np.nan_to_num(frame[key]))
        theirs.grab()

    def moves_theirs(step: int) -> None:
        cross.setPos(now - 3000 + 40 * step)
        theirs.grab()

    def moves_ours(step: int) -> None:
        window.set_cursor(now - 3000 + 40 * step)
        ours.grab()

    def new_samples_ours() -> None:
        ours.set_frame(frame)
        ours.grab()

    found = {
        "points": len(frame),
        "new samples, ours, ms": _cost(lambda _step: new_samples_ours()),
        "new samples, pyqtgraph's axes, ms": _cost(lambda _step: new_samples_theirs()),
        "mouse moved, ours, ms": _cost(moves_ours),
        "mouse moved, pyqtgraph's axes, ms": _cost(moves_theirs),
    }
    app.processEvents()
    return found


def _cost(act: Callable[[int], None]) -> float:
    spent = []
    for step in range(ROUNDS):
        began = time.process_time()
        act(step)
        spent.append((time.process_time() - began) * 1000)
    return round(median(spent), 2)
