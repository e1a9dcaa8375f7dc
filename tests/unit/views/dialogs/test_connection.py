"""The dialog of a connection: what a test found belongs to the addresses that were tried."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.domain.insight.connection import BROKER, STORE, Answer
from services.profiles.book import SavedProfile
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


def test_the_next_field_stays_where_it_is_when_an_answer_goes(qtbot: QtBot) -> None:
    dialog = ConnectionDialog(None, ())
    qtbot.addWidget(dialog)
    dialog.show()
    below = dialog.addresses["redis"]

    def place() -> int:
        for _layer in range(8):  # each layout asks the one around it
            QApplication.processEvents()
        return below.mapTo(dialog, below.rect().topLeft()).y()

    empty = place()
    dialog.addresses["broker"].set_address("amqps://mq")
    dialog.addresses["redis"].set_address("rediss://store")
    assert place() == empty, "nothing is kept free for what was never said"
    dialog.test_button.click()
    dialog.show_test((Answer(part=BROKER, latency_ms=3.0),), dialog.profile())
    answered = place()
    assert answered > empty
    dialog.addresses["broker"].setText("amqps://mq2")
    assert dialog.answers[BROKER].words() == ""
    assert place() == answered


def test_a_new_connection_to_production_begins_read_only_and_others_do_not(qtbot: QtBot) -> None:
    dialog = ConnectionDialog(None, ())
    qtbot.addWidget(dialog)
    choose = dialog.environment.setCurrentIndex
    choose(dialog.environment.findData("production"))
    assert dialog.profile().read_only
    dialog.read_only.click()
    assert not dialog.profile().read_only
    choose(dialog.environment.findData("test"))
    assert not dialog.profile().read_only
    edited = ConnectionDialog(SavedProfile(name="East", broker="amqp://mq", redis="redis://store"), ())
    qtbot.addWidget(edited)
    edited.environment.setCurrentIndex(edited.environment.findData("production"))
    assert not edited.profile().read_only, "what somebody works with stays as it is"


def test_what_was_wrong_with_a_field_is_told_until_it_is_mended(qtbot: QtBot) -> None:
    dialog = ConnectionDialog(None, ("East",))
    qtbot.addWidget(dialog)
    dialog.name.setText("East")
    dialog.addresses["broker"].set_address("http://mq")
    dialog.addresses["redis"].set_address("redis://store")
    dialog.addresses["management"].set_address("mq:15672")
    dialog.save_button.click()
    shown = {field: labelled.error() for field, labelled in dialog.fields.items()}
    assert {field for field, words in shown.items() if words} == {"name", "broker", "management"}
    dialog.addresses["broker"].set_address("http://mq2")
    assert dialog.fields["broker"].error() == shown["broker"], "another mistake is one, too"
    dialog.name.setText("East 2")
    dialog.addresses["broker"].set_address("amqp://mq2")
    assert dialog.fields["name"].error() == dialog.fields["broker"].error() == ""
    assert dialog.fields["management"].error() == shown["management"], "nobody has mended it"
    dialog.addresses["management"].set_address("")
    assert dialog.fields["management"].error() == ""
    dialog.addresses["redis"].set_address("")
    assert dialog.fields["redis"].error() == "", "what is being written is blamed by nobody before Save"


def test_a_key_store_is_promised_only_where_there_is_one(qtbot: QtBot) -> None:
    dialog = ConnectionDialog(None, ())
    qtbot.addWidget(dialog)
    assert dialog.passwords.text() == "Passwords never go into a file of Fleetdeck.", "before anybody was asked"
    dialog.show_key_store(keeps=True)
    assert dialog.passwords.text().endswith("They go to the key store of this computer.")
    dialog.show_key_store(keeps=False)
    assert dialog.passwords.text().endswith("they are forgotten when Fleetdeck ends.")
