"""The first run."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.insight.connection import Answer
from services.i18n import N_
from tests.support.widgets import words
from views.pages.first_run.checks import ERROR, OK, WARNING, Check
from views.pages.first_run.page import FirstRunPage, LocalChoice
from views.widgets.buttons import IconButton


@pytest.fixture
def page(qtbot: QtBot) -> FirstRunPage:
    """The page with healthy checks."""
    made = FirstRunPage()
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    made.show_checks([Check(name=N_("Local engine"), text="ready")])
    return made


def test_start_here_tells_how_many_slots(qtbot: QtBot, page: FirstRunPage) -> None:
    page.local.slots.step(2)
    with qtbot.waitSignal(page.run_here) as heard:
        page.local.button.click()
    assert heard.args == [6]


@pytest.mark.parametrize(("state", "may"), [(OK, True), (WARNING, True), (ERROR, False)])
def test_warnings_do_not_block_and_errors_say_why(page: FirstRunPage, state: str, may: bool) -> None:
    page.show_checks([Check(name=N_("Disk space"), text="40 MB free, 200 MB are needed", state=state)])
    assert page.local.button.isEnabled() is may
    assert ("40 MB free" in page.local.button.toolTip()) is not may
    assert "40 MB free" in page.local.checks.accessibleName()


def test_both_addresses_are_needed(page: FirstRunPage) -> None:
    assert not page.fleet.test_button.isEnabled()
    page.fleet.broker.setText("amqp://mq")
    assert not page.fleet.test_button.isEnabled()
    page.fleet.redis.setText("redis://store")
    assert page.fleet.test_button.isEnabled()
    assert page.fleet.connect_button.isEnabled()


def test_a_test_shows_what_both_answered(qtbot: QtBot, page: FirstRunPage) -> None:
    page.fleet.broker.setText(" amqp://mq ")
    page.fleet.redis.setText("redis://store")
    with qtbot.waitSignal(page.test_connection) as heard:
        page.fleet.test_button.click()
    assert heard.args == ["amqp://mq", "redis://store"]
    assert not page.fleet.test_button.isEnabled(), "it waits for the answer"
    broker, tried = Answer(part="broker", latency_ms=3.0), ("amqp://mq", "redis://store")
    page.show_test((broker, Answer(part="store", words="wrong password")), tried)
    assert page.fleet.answers() == ("answers in 3\u202fms", "wrong password")
    assert page.fleet.test_button.isEnabled()
    assert page.fleet.connect_button.kind == "plain"
    page.show_test((broker, Answer(part="store", latency_ms=1.0)), tried)
    assert page.fleet.connect_button.kind == "primary"
    page.fleet.redis.setText("redis://other")
    assert page.fleet.answers() == ("", ""), "answers belong to the addresses that were tried"
    page.show_test((broker, Answer(part="store", latency_ms=1.0)), tried)
    page.show_error("the management address is none", tried)
    assert page.fleet.answers() == ("", ""), "also where they come late"
    assert page.fleet.connect_button.kind == "plain"
    assert "management" not in words(page.fleet)


def test_what_cannot_be_an_address_is_told_below_its_field_before_anybody_is_asked(
    qtbot: QtBot, page: FirstRunPage
) -> None:
    asked: list[tuple[str, str]] = []
    page.test_connection.connect(lambda *both: asked.append(both))
    page.connect_fleet.connect(lambda *both: asked.append(both))
    page.fleet.broker.setText("amqp://mq")
    page.fleet.redis.setText("127.0.0.1:6379")
    i18n.set_language("zh_CN")
    for button in (page.fleet.test_button, page.fleet.connect_button):
        button.click()
        broker, redis = page.fleet.answers()
        assert (broker, redis[:12]) == ("", "Redis 地址必须以 ")
        assert button.isEnabled()
    assert not asked
    page.fleet.redis.setText("redis://127.0.0.1:6379")
    assert page.fleet.answers() == ("", "")


def test_the_keyboard_waits_for_the_answer_of_a_test_and_starts_nothing_else(qtbot: QtBot, page: FirstRunPage) -> None:
    page.activateWindow()
    page.fleet.broker.setText("amqp://mq")
    page.fleet.redis.setText("redis://store")
    page.fleet.test_button.setFocus()
    qtbot.waitUntil(page.fleet.test_button.hasFocus)
    qtbot.keyClick(page.fleet.test_button, Qt.Key.Key_Space)
    waiting = page.window().focusWidget()
    assert not isinstance(waiting, QAbstractButton), "Enter would start the sample fleet"
    page.show_error("the broker refused the password")
    assert page.fleet.test_button.hasFocus()


def test_connect_tells_both_addresses_and_shows_a_failure(qtbot: QtBot, page: FirstRunPage) -> None:
    page.fleet.broker.setText("amqp://mq")
    page.fleet.redis.setText("redis://store")
    with qtbot.waitSignal(page.connect_fleet) as heard:
        page.fleet.connect_button.click()
    assert heard.args == ["amqp://mq", "redis://store"]
    assert not page.fleet.connect_button.isEnabled()
    page.show_error("the broker refused the password")
    assert page.fleet.connect_button.isEnabled()
    assert page.fleet._error.text() == "the broker refused the password"


def test_the_links(qtbot: QtBot, page: FirstRunPage) -> None:
    with qtbot.waitSignal(page.sample):
        page.sample_link.click()
    with qtbot.waitSignal(page.language_chosen) as heard:
        page.language_link.click()
    assert heard.args == ["zh_CN"]
    page.language_chosen.connect(i18n.set_language)
    page.language_link.click()
    assert page.language_link.text() == "English"
    page.language_link.click()
    assert i18n.language() == "en"


def test_a_password_is_read_only_by_whoever_asks_for_it(qtbot: QtBot, page: FirstRunPage) -> None:
    field = page.fleet.broker
    eyes = [button for button in page.fleet.findChildren(IconButton) if button.toolTip().startswith("Hide")]
    address = "amqp://ann:p@ss/word@mq:5672/prod"
    field.setText(address)
    assert field.text() == "amqp://ann:••••@mq:5672/prod"
    assert field.address() == address
    eyes[0].click()
    assert field.text() == address
    assert field.echoMode() == QLineEdit.EchoMode.Normal
    eyes[0].click()
    assert field.text() == "amqp://ann:••••@mq:5672/prod"
    page.fleet.redis.setText("redis://store:6379/0")
    assert page.fleet.redis.text() == "redis://store:6379/0"
    heard: list[tuple[str, str]] = []
    page.fleet.connect_wanted.connect(lambda *both: heard.append(both))
    page.fleet.connect_button.click()
    assert heard == [(address, "redis://store:6379/0")]


def test_a_password_is_dots_while_it_is_edited_again(qtbot: QtBot, page: FirstRunPage) -> None:
    field = page.fleet.broker
    page.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClicks(field, "amqp://ann:secret@mq")
    assert field.echoMode() == QLineEdit.EchoMode.Normal, "what is being typed must be seen"
    page.fleet.redis.setFocus()
    qtbot.waitUntil(lambda: field.text() == "amqp://ann:••••@mq")
    field.setFocus()
    qtbot.waitUntil(lambda: field.echoMode() == QLineEdit.EchoMode.Password)
    qtbot.keyClick(field, Qt.Key.Key_End)
    qtbot.keyClicks(field, ":5672")
    assert field.address() == "amqp://ann:secret@mq:5672"
    field.clear()
    field.insert("amqp://ann:pasted@mq")
    assert field.echoMode() == QLineEdit.EchoMode.Password, "nobody types that fast"


def test_after_a_failure_it_can_be_tried_again_without_another_address(qtbot: QtBot, page: FirstRunPage) -> None:
    page.fleet.broker.setText("amqp://mq")
    page.fleet.redis.setText("redis://store")
    page.fleet.connect_button.click()
    page.try_again()
    assert page.fleet.connect_button.isEnabled()
    assert page.fleet.test_button.isEnabled()


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_a_tick_stands_in_the_middle_of_the_line_beside_it(qtbot: QtBot, code: str) -> None:
    i18n.set_language(code)
    card = LocalChoice()
    qtbot.addWidget(card)
    card.resize(420, 420)
    card.show()
    labels = [one for one in card.findChildren(QLabel) if one.isVisible()]
    ticks = [one for one in labels if one.width() == 13]
    assert len(ticks) == 3
    for tick in ticks:
        beside = [one for one in labels if one is not tick and one.y() == tick.y()]
        assert [one.height() for one in beside] == [tick.height()]
