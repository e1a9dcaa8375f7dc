"""The top bar."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.shell.health_pill import Health, HealthPill
from views.shell.top_bar import TopBar, freshness
from views.theme import theme

PARTS = (Health(key="broker", name="Broker", value="3 ms"), Health(key="redis", name="Redis", value="1 ms"))


@pytest.fixture
def bar(qtbot: QtBot) -> TopBar:
    bar = TopBar()
    qtbot.addWidget(bar)
    bar.resize(1400, 48)
    with qtbot.waitActive(bar):
        bar.show()
        bar.activateWindow()
    bar.show_profile("CN-East", "PROD", production=True)
    bar.show_health(PARTS)
    return bar


def pills(bar: TopBar) -> list[str]:
    return [pill.accessibleName() for pill in bar.findChildren(HealthPill) if not pill.isHidden()]


@pytest.mark.parametrize(
    ("seconds", "words", "state"),
    [
        (None, "Not connected", "waiting"),
        (0.4, "live 0.4 s", "healthy"),
        (3.0, "live 3.0 s", "healthy"),
        (5, "5.0 s old", "warning"),
        (15.1, "stale 15 s", "warning"),
        (134, "stale 2 m 14 s", "warning"),
    ],
)
def test_freshness(qapp: QApplication, seconds: float | None, words: str, state: str) -> None:
    pill = freshness(None if seconds is None else timedelta(seconds=seconds))
    assert f"{pill.name} {pill.value}".strip().replace("\u202f", " ") == words
    assert pill.state == state
    assert HealthPill(pill).accessibleName(), "a screen reader says it, and why"
    assert bool(pill.tip) == (seconds is not None)


@pytest.mark.parametrize(
    ("age", "behind", "words", "state"),
    [
        (0.4, 0.2, "live 0.4 s", "healthy"),
        (0.4, 2.0, "live 2.0 s", "healthy"),
        (0.4, 5.0, "5.0 s old", "warning"),
        (4.0, 6.0, "6.0 s old", "warning"),
        (16.0, 20.0, "stale 16 s", "warning"),
    ],
)
def test_a_page_that_lacks_what_has_come_says_how_old_it_is(
    qapp: QApplication, age: float, behind: float, words: str, state: str
) -> None:
    pill = freshness(timedelta(seconds=age), timedelta(seconds=behind))
    assert f"{pill.name} {pill.value}".strip().replace("\u202f", " ") == words
    assert pill.state == state


def test_stale_is_after_fifteen_seconds(bar: TopBar) -> None:
    assert bar.is_stale
    bar.show_freshness(timedelta(seconds=15))
    assert not bar.is_stale
    bar.show_freshness(timedelta(seconds=16))
    assert bar.is_stale


def test_pills_come_change_and_go(qtbot: QtBot, bar: TopBar) -> None:
    bar.show_health([Health(key="redis", name="Redis", value="lost", state="dead")])
    qtbot.wait(1)
    assert pills(bar) == ["Redis lost", "Not connected"] or set(pills(bar)) == {"Redis lost", "Not connected"}


def test_the_keyboard_goes_from_left_to_right(qtbot: QtBot, bar: TopBar) -> None:
    QApplication.processEvents()
    bar.profile.setFocus()
    walked: list[QWidget] = []
    while (at := bar.focusWidget()) is not None and at not in walked:
        walked.append(at)
        qtbot.keyClick(at, Qt.Key.Key_Tab)
    assert {bar.profile, bar.pill("broker"), bar.pill("redis"), bar.create_button} <= set(walked)
    assert walked == sorted(walked, key=lambda one: one.x()), "pills that came later, too"


def test_everything_is_a_door(qtbot: QtBot, bar: TopBar) -> None:
    with qtbot.waitSignal(bar.profile_requested):
        bar.profile.click()
    for pill in bar.findChildren(HealthPill):
        with qtbot.waitSignal(bar.health_requested) as signal:
            pill.click()
        assert signal.args[0] == pill.health.key
    with qtbot.waitSignal(bar.create_requested):
        qtbot.keyClick(bar, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)


def test_search_is_hidden_until_somebody_answers(qtbot: QtBot, bar: TopBar) -> None:
    assert not bar.search.isVisible()
    with qtbot.assertNotEmitted(bar.search_requested):
        qtbot.keyClick(bar, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    bar.set_search_enabled(True)
    with qtbot.waitSignal(bar.search_requested):
        qtbot.keyClick(bar, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    bar.search.setFocus()
    bar.grab()
    bar.search.resize(40, 30)
    bar.search.grab()


def test_a_reason_disables_new_task(qtbot: QtBot, bar: TopBar) -> None:
    bar.set_can_create("Read-only")
    with qtbot.assertNotEmitted(bar.create_requested):
        bar.create_button.click()
    assert bar.create_button.toolTip() == "Read-only"
    bar.set_can_create()
    assert bar.create_button.isEnabled()


def test_where_it_is_narrow_names_leave_the_pills(bar: TopBar) -> None:
    pill = bar.findChildren(HealthPill)[1]
    wide = pill.width()
    bar.resize(500, 48)
    QApplication.processEvents()
    assert pill.width() < wide


def test_a_figure_that_is_wider_now_and_then_does_not_make_the_names_come_and_go(bar: TopBar) -> None:
    def told(value: str) -> int:
        bar.show_health([replace(PARTS[0], value=value), PARTS[1]])
        QApplication.processEvents()
        return bar.pill("redis").sizeHint().width()

    full = told("1 ms")
    at = next(width for width in range(1400, 200, -2) if not bar.resize(width, 48) and told("13 ms") < full)
    assert {told(value) for value in ("1 ms", "13 ms", "2 ms")} == {told("13 ms")}
    bar.resize(at + 200, 48)
    assert told("13 ms") == full


@pytest.mark.parametrize(
    "grow",
    [
        lambda bar: bar.show_profile("CN-East and the north of it", "PROD", production=True),
        lambda bar: bar.set_search_enabled(True),
        lambda _bar: theme().set_text_size(130),
    ],
    ids=["profile", "search", "letters"],
)
def test_whatever_takes_the_room_takes_the_names_of_the_pills(bar: TopBar, grow: Callable[[TopBar], None]) -> None:
    pill = bar.pill("redis")

    def is_short() -> bool:
        return pill.sizeHint() != pill.room(compact=False)

    least = next(width for width in range(1400, 200, -2) if not bar.resize(width, 48) and is_short()) + 2
    bar.resize(1400, 48)
    bar.setFixedWidth(least)  # as a window gives it
    assert not is_short()
    try:
        grow(bar)
        QApplication.processEvents()
        assert is_short()
    finally:
        theme().set_text_size(100)


def test_words_follow_the_language(bar: TopBar) -> None:
    bar.show_freshness(timedelta(seconds=0.4))
    i18n.set_language("zh_CN")
    assert bar.create_button.text() == "新建任务"
    assert "实时 0.4\u202f秒" in pills(bar)
