"""The dialog of a connection: what a test found belongs to the addresses that were tried."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services.domain.insight.connection import BROKER, STORE, Answer
from views.dialogs.connection import ConnectionDialog


def test_answers_that_come_late_are_not_told_of_other_addresses(qtbot: QtBot) -> None:
    dialog = ConnectionDialog(None, ())
    qtbot.addWidget(dialog)
    dialog.name.setText("East")
    dialog.addresses["broker"].set_address("amqp://mq")
    dialog.addresses["redis"].set_address("redis://store")
    with qtbot.waitSignal(dialog.test_wanted) as heard:
        dialog.test_button.click()
    (tried,) = heard.args
    answers = (Answer(part=BROKER, latency_ms=3.0), Answer(part=STORE, latency_ms=1.0))
    dialog.name.setText("West")
    dialog.show_test(answers, tried)
    assert dialog.answers[STORE].words() == "answers in 1\u202fms", "it is the same store by any name"
    dialog.test_button.click()
    dialog.addresses["redis"].setText("redis://other")
    dialog.show_test(answers, tried)
    assert dialog.answers[STORE].words() == ""
    dialog.show_problem("redis", "no such store", tried)
    assert dialog.fields["redis"].error() == ""
