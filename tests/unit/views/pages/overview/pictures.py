"""Saves pictures of the Overview inside the shell, in themes, languages and sizes; run by hand.

QT_QPA_PLATFORM=offscreen .venv/bin/python tests/unit/views/pages/overview/pictures.py /tmp/overview [name part]
"""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[5]))

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from console.main_window import MainWindow
from console.navigation import PageSpec
from services import i18n
from services.i18n import N_, _
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
from views.page import Page
from views.pages.overview.page import OverviewPage
from views.shell.status_bar import Vitals
from views.shell.top_bar import Health
from views.support import operation, shown
from views.support.language import language_relay
from views.theme import theme

SCENES = (
    # name, language, theme, size, source
    ("en-dark-1600", "en", "dark", (1600, 1000), SampleSource()),
    ("en-light-1600", "en", "light", (1600, 1000), SampleSource()),
    ("zh-dark-1600", "zh_CN", "dark", (1600, 1000), SampleSource()),
    ("zh-light-1600", "zh_CN", "light", (1600, 1000), SampleSource()),
    ("en-dark-1280", "en", "dark", (1280, 800), SampleSource()),
    ("zh-light-1280", "zh_CN", "light", (1280, 800), SampleSource()),
    ("en-dark-960", "en", "dark", (960, 540), SampleSource()),
    ("empty-dark-1600", "en", "dark", (1600, 1000), SampleSource(empty=True)),
    ("calm60-light-1600", "en", "light", (1600, 1000), SampleSource(60, calm=True)),
    ("1000-dark-1600", "en", "dark", (1600, 1000), SampleSource(1000)),
    ("10000-dark-1600", "en", "dark", (1600, 1000), SampleSource(10_000)),
    ("10000-light-1280", "zh_CN", "light", (1280, 800), SampleSource(10_000)),
)


class Other(Page):
    """Any other page."""

    def __init__(self) -> None:
        super().__init__(N_("Tasks"))


def window_with(page: OverviewPage) -> MainWindow:
    """The shell of the pictures around a page."""
    pages = (
        PageSpec(id="overview", title=N_("Overview"), icon="ph.gauge", factory=lambda: page),
        PageSpec(id="tasks", title=N_("Tasks"), icon="ph.list-bullets", factory=Other),
        PageSpec(id="dead_letters", title=N_("Dead letters"), icon="ph.file-x", factory=Other),
        PageSpec(id="workers", title=N_("Workers"), icon="ph.robot", factory=Other),
    )
    window = MainWindow(pages)
    window.top_bar.show_profile("Production · CN-East", "PROD", production=True)
    window.top_bar.show_health(
        [
            Health(key="broker", name=_("Broker"), value="3 ms", state="healthy"),
            Health(key="redis", name="Redis", value="1 ms", state="healthy"),
            Health(key="workers", name=_("Workers"), value="7 / 8", state="warning"),
        ]
    )
    window.top_bar.show_freshness(timedelta(seconds=0.4))
    window.status_bar.show_vitals(Vitals(rate_in=4.8, rate_out=4.4, event_lag=timedelta(milliseconds=120)))
    window.status_bar.show_due(31)
    return window


def settle(page: OverviewPage) -> None:
    """Wait for both first answers."""
    for _turn in range(3000):
        QTest.qWait(10)
        if page.settled:
            break
    QTest.qWait(200)


def shoot(folder: Path, name: str, size: tuple[int, int], source: SampleSource) -> None:
    """One picture, one with the crosshair and a card for the first, one scrolled down when it does not fit."""
    page = OverviewPage(source)
    window = window_with(page)
    window.resize(*size)
    window.show()
    window.open_page("overview")
    settle(page)
    window.grab().save(str(folder / f"{name}.png"))
    if name.endswith("1600") and name[:2] in ("en", "zh"):
        plot = page.charts.depth.plot
        plot.point_at(NOW_MS / 1000 - 1688)
        stuck = next(cell for cell in source.shops if cell.state == "stuck")
        heat = page.fleet.map
        heat.set_current(heat.rows.index_of(stuck.platform, stuck.shop_id), by_key=True)
        QTest.qWait(30)
        window.grab().save(str(folder / f"{name}-hover.png"))
    bar = page.scroll_area.verticalScrollBar()
    if bar.maximum():
        bar.setValue(bar.maximum())
        QTest.qWait(30)
        window.grab().save(str(folder / f"{name}-below.png"))
    window.close()
    window.deleteLater()
    QApplication.processEvents()


def main() -> None:
    """All scenes, or those whose name holds the second argument."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/overview")
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    app.setCursorFlashTime(0)
    app.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeMenuBar)
    theme().install(app)
    language_relay()
    shown.set_zone("Asia/Shanghai")
    for name, language, mode, size, source in SCENES:
        if part in name:
            i18n.set_language(language)
            theme().set_mode(mode)
            shoot(folder, name, size, source)
    operation.shut_down()


if __name__ == "__main__":
    main()
