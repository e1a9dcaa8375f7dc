"""Lost connection."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QPixmap, QRegion
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.shell.connection import ConnectionBanner, grey
from views.shell.lost_card import DisconnectedCard, LostPart
from views.theme import theme
from views.widgets.buttons import Button


@pytest.fixture
def banner(qtbot: QtBot) -> ConnectionBanner:
    banner = ConnectionBanner()
    qtbot.addWidget(banner)
    return banner


def test_the_banner_counts_down(banner: ConnectionBanner) -> None:
    banner.show_loss("Redis lost at 14:32:07.", "Everything below is as it was then.", 8.0, 16.0)
    assert banner.isVisible()
    assert "14:32:07" in banner.accessibleName()
    assert banner.seconds.text() == "8\u202fs"
    for _ in range(6):
        banner._on_tick()
    assert banner.seconds.text() == "7\u202fs"
    for _ in range(60):
        banner._on_tick()
    assert (banner.again.text(), banner.seconds.text()) == ("Trying now …", "")
    assert not banner._timer.isActive()
    banner.grab()


def test_one_may_try_at_once(qtbot: QtBot, banner: ConnectionBanner) -> None:
    banner.show_loss("Redis lost at 14:32:07.", "Everything below is as it was then.", 8.0, 8.0)
    with qtbot.waitSignal(banner.try_now):
        banner.button.click()
    banner.show_trying()
    assert banner.seconds.text() == ""
    banner.clear()
    assert banner.isHidden()


def test_what_helps_is_the_big_button_and_trying_again_is_not(qtbot: QtBot, banner: ConnectionBanner) -> None:
    card = DisconnectedCard()
    qtbot.addWidget(card)
    for widget in (banner, card):
        kinds = {button.text(): button.kind for button in widget.findChildren(Button)}
        assert kinds["Copy message for IT"] == "primary"
        assert kinds["Try now"] == "plain"
    with qtbot.waitSignal(banner.copy_report):
        banner.report.click()


def test_hiding_stops_the_clock_and_words_follow_the_language(banner: ConnectionBanner) -> None:
    banner.show_loss("Redis lost at 14:32:07.", "Everything below is as it was then.", 8.0, 8.0)
    i18n.set_language("zh_CN")
    assert banner.again.text() != "Trying again in"
    banner.show_words("Redis 断开。", "停留在当时。")
    assert banner.accessibleName() == "Redis 断开。 停留在当时。"
    assert banner._timer.isActive(), "the count-down goes on"
    banner.hide()
    assert not banner._timer.isActive()


def test_a_page_loses_and_regains_its_colour(qtbot: QtBot) -> None:
    window, label = QWidget(), QLabel("x")
    qtbot.addWidget(window)
    window.resize(60, 60)
    label.setParent(window)
    label.resize(60, 60)
    label.setStyleSheet("background: #ff0000")
    window.show()

    def colour() -> tuple[int, int, int]:
        return window.grab().toImage().pixelColor(50, 50).toTuple()[:3]

    assert colour() == (255, 0, 0)
    grey(window, True)
    grey(window, True)
    red, green, blue = colour()
    assert red == green == blue or max(red, green, blue) - min(red, green, blue) < 8
    grey(window, False)
    grey(window, False)
    assert colour() == (255, 0, 0)


def test_nothing_shines_through_a_grey_page(qtbot: QtBot) -> None:
    window, label = QWidget(), QLabel("x")
    qtbot.addWidget(window)
    window.resize(60, 60)
    label.setParent(window)
    label.resize(60, 60)
    label.setStyleSheet("background: #404040")
    window.show()
    grey(window, True)
    under = QPixmap(60, 60)
    under.fill(QColor("#ff00ff"))
    window.render(under, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
    red, green, _blue = under.toImage().pixelColor(50, 50).toTuple()[:3]
    assert abs(red - green) < 20, "a fifth of what lies there would be 51 more"


def test_the_card_names_each_part(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    card = DisconnectedCard(host)
    host.show()
    card.show_parts(
        "CN-East does not answer",
        "Attempt 6.",
        (LostPart(name="Network", text="online", state="healthy"), LostPart(name="Redis", text="timed out")),
    )
    card.show_parts("CN-East does not answer", "Attempt 7.", (LostPart(name="Redis", text="timed out"),))
    assert card.isVisible()
    assert card.accessibleName() == "CN-East does not answer. Attempt 7."
    theme().set_mode("light")
    card.grab()


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("Try now", "try_now"),
        ("Copy message for IT", "copy_report"),
        ("Other connection…", "other_profile"),
        ("Look at old data", "dismissed"),
    ],
)
def test_the_card_offers_ways_on(qtbot: QtBot, text: str, signal: str) -> None:
    card = DisconnectedCard()
    qtbot.addWidget(card)
    button = next(b for b in card.findChildren(Button) if b.text() == text)
    with qtbot.waitSignal(getattr(card, signal)):
        button.click()


def test_the_card_is_as_high_as_its_parts_need(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(900, 700)
    host.show()
    card = DisconnectedCard(host)
    card.show_parts("CN-East does not answer", "Attempt 7.", (LostPart(name="Redis", text="timed out"),))
    low = card.height()
    parts = tuple(LostPart(name=name, text="timed out") for name in ("Network", "Broker", "Redis", "Workers"))
    card.show_parts("CN-East does not answer", "Attempt 8.", parts)
    assert card.height() >= low + 3 * 20
    for label in card.findChildren(QLabel):
        if label.isVisible() and label.text():
            assert label.height() >= label.fontMetrics().height()


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_the_buttons_of_the_card_have_room_for_their_words_and_keys(qtbot: QtBot, code: str) -> None:
    i18n.set_language(code)
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(908, 700)  # what the least window leaves
    host.show()
    card = DisconnectedCard(host)
    card.show_parts("CN-East", "Attempt 7.", (LostPart(name="Redis", text="timed out"),))
    card.layout().activate()
    for button in card.findChildren(Button):
        assert button.width() >= button.sizeHint().width(), button.text()
    assert card.width() <= host.width()


def test_the_count_down_goes_on_after_the_window_was_out_of_sight(qtbot: QtBot, banner: ConnectionBanner) -> None:
    banner.show_loss("Redis lost at 14:32:07.", "Everything below is as it was then.", 8.0, 8.0)
    banner.hide()
    banner.show()
    qtbot.waitUntil(lambda: banner.seconds.text() == "7\u202fs")


def test_what_is_tried_at_a_pace_of_its_own_promises_no_second(banner: ConnectionBanner) -> None:
    banner.show_loss("Broker lost at 14:32:07.", "Tasks are live.", 0.0, 0.0)
    assert (banner.again.text(), banner.seconds.text()) == ("Tried again every few seconds", "")
    assert not banner.bar.isVisible()
    banner.show_loss("Redis lost at 14:32:09.", "Everything below is as it was then.", 4.0, 4.0)
    assert (banner.again.text(), banner.seconds.text()) == ("Trying again in", "4\u202fs")
    assert banner.bar.isVisible()
