"""The page of a connection that does not open."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from services.domain.insight.connection import BROKER, STORE, Answer, Reach
from services.domain.text.said import said
from views.pages.connection.page import ConnectionPage
from views.support.connections import Connection

SILENT = "Nothing listens at 10.0.0.7:6379: start Redis or correct the store address."


@pytest.fixture
def page(qtbot: QtBot) -> ConnectionPage:
    made = ConnectionPage(Connection(name="shops", title="shops", address="10.0.0.7:6379"))
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_server_that_is_down_offers_a_message_for_whoever_runs_it(qtbot: QtBot, page: ConnectionPage) -> None:
    answers = (Answer(part=BROKER, latency_ms=2.0), Answer(part=STORE, words=SILENT))
    page.show_failure(answers, "", reach=Reach(store=False), next_s=30)
    assert page.copy_button.isVisible()
    assert (page.copy_button.text(), page.copy_button.kind) == ("Copy message for IT", "primary")
    assert page.again_button.kind == "plain", "it is tried again by itself"
    with qtbot.waitSignal(page.copied):
        page.copy_button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("shops has not opened since ")
    assert lines[1] == "10.0.0.7:6379"
    assert f"Redis: {SILENT}" in lines
    assert "nothing new starts until Redis is back" in lines[-1]


def test_what_is_entered_wrongly_is_put_right_by_the_first_button(qtbot: QtBot, page: ConnectionPage) -> None:
    why = said("broker.user", place="10.0.0.7:5672", user="guest")
    page.show_failure((Answer(part=BROKER, words=why), Answer(part=STORE)), "", reach=Reach(broker=False), next_s=30)
    with qtbot.waitSignal(page.edit_wanted):
        page.edit_button.click()
    page.show_failure((Answer(part=BROKER), Answer(part=STORE, words=SILENT)), "", reach=Reach(store=False), next_s=30)
    assert not page.edit_button.isVisible()
    assert page.edit_link.isVisible()


def test_nothing_of_what_can_be_done_is_cut_off(qtbot: QtBot) -> None:
    page = ConnectionPage(Connection(name="shops", title="shops", address="10.0.0.7:6379"), back_to="Warehouse")
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show()
    answers = (Answer(part=BROKER, words="no"), Answer(part=STORE, words=SILENT))
    page.show_failure(answers, "", reach=Reach(broker=False, store=False), next_s=80)
    offered = (page.copy_button, page.again_button, page.back_link, page.edit_link, page.other_link)
    assert [one.text() for one in offered if one.width() < one.minimumSizeHint().width()] == []


@pytest.mark.parametrize(("alive", "told"), [(2, "Workers go on as usual."), (0, ""), (None, "")])
def test_a_server_that_refuses_this_computer_is_not_said_to_be_away(
    page: ConnectionPage, alive: int | None, told: str
) -> None:
    page.resize(1280, 800)
    why = said("broker.user", place="10.0.0.7:5672", user="guest")
    answers = (Answer(part=BROKER, words=why), Answer(part=STORE, latency_ms=2.0))
    page.show_failure(answers, "", reach=Reach(broker=False, alive=alive), next_s=30)
    assert page.words()[2] == told
    assert (page.edit_button.isVisible(), page.edit_button.kind, page.copy_button.kind) == (True, "primary", "plain")
    assert not page.edit_link.isVisible(), "it stands there once"
    offered = (page.edit_button, page.copy_button, page.again_button, page.other_link)
    assert [one.text() for one in offered if one.width() < one.minimumSizeHint().width()] == []


def test_what_only_a_person_here_can_mend_is_tried_again_by_the_big_button(page: ConnectionPage) -> None:
    page.show_failure((), "known: local, tryout", reach=None, next_s=0)
    assert not page.copy_button.isVisible()
    assert page.again_button.kind == "primary"
