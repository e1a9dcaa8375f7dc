"""The forecast as a picture and in words."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services.domain.insight.forecast.outlook import Load, forecast
from views.dialogs.republish.speed import WaitingPlot, moments


def test_it_says_the_same_in_words(qtbot: QtBot) -> None:
    plot = WaitingPlot()
    qtbot.addWidget(plot)
    plot.show_outlook(forecast(Load(slots=2, busy=2, waiting=10), 5))
    assert plot.accessibleDescription() == "At most 15 waiting, 10 without these tasks"
    for width in (60, 300, 900):
        plot.resize(width, 150)
        assert not plot.grab().isNull()
    plot.show_outlook(forecast(Load(), 0))
    assert not plot.grab().isNull()


def test_the_times_below_it_are_those_of_their_places() -> None:
    said = [words.replace("\u202f", " ") for words in moments(300.0)]
    assert said == ["now", "+1 m 15 s", "+2 m 30 s", "+3 m 45 s", "+5 min"]
    assert moments(24 * 3600.0)[-1].replace("\u202f", " ") == "+1 d"
    assert moments(300_007.0)[-1].replace("\u202f", " ") == "+3 d"
