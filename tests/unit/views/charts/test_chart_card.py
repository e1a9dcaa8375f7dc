"""Title and legend above a chart."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from views.charts.chart_card import ChartCard
from views.charts.rates_chart import RatesChart
from views.charts.time_window import TimeWindow


def test_the_legend_goes_below_the_title_where_there_is_no_room(qtbot: QtBot, language: str) -> None:
    window, holder = TimeWindow(), QWidget()
    qtbot.addWidget(holder)
    holder.resize(800, 300)
    card = ChartCard("Message rates", RatesChart(window))
    card.setParent(holder)

    def top_of_legend(width: int) -> int:
        card.setGeometry(0, 0, width, 220)
        QApplication.processEvents()
        return card.legend.mapTo(card, card.legend.rect().topLeft()).y()

    holder.show()
    card.show_values({"publish": "4.8", "deliver": "4.5", "ack": "4.4"})
    beside = top_of_legend(700)
    assert top_of_legend(240) > beside + 10
    assert top_of_legend(700) == beside


def test_hiding_in_the_legend_reaches_the_chart(qtbot: QtBot) -> None:
    window = TimeWindow()
    card = ChartCard("Message rates", RatesChart(window))
    qtbot.addWidget(card)
    card.legend.toggle("ack")
    assert card.plot.hidden == {"ack"}


def test_numbers_are_never_cut(qtbot: QtBot) -> None:
    window = TimeWindow()
    card = ChartCard("Message rates", RatesChart(window))
    qtbot.addWidget(card)
    card.resize(600, 220)
    card.show()
    card.show_values({"publish": "12,345", "deliver": "12,345", "ack": "12,345"})
    for key in ("publish", "deliver", "ack"):
        item = card.legend.item(key)
        assert item.width() >= item.sizeHint().width()
