"""Acts that are held with Undo."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.outcome import Outcome, Refusal
from services.domain.errors import UsageError
from services.domain.text.message import Message
from services.i18n import _
from tests.support.widgets import press
from views.support.acting import REPUBLISH, TELL_S, UNDO_S, AboutToHappen, Acting, Reverse, tell_done, under_way
from views.widgets.buttons import Button
from views.widgets.toast import Toast, ToastAction, ToastSpec


def test_what_is_held_speaks_the_language_of_the_moment(qtbot: QtBot, request: pytest.FixtureRequest) -> None:
    told: list[ToastSpec] = []
    owner = QObject()
    acting = Acting(owner, told.append)
    acting.delayed(lambda: _("Republishing with your changes in 5 s"), Outcome, lambda _outcome: "", 600)
    toast = Toast(told[-1])
    qtbot.addWidget(toast)
    request.addfinalizer(lambda: i18n.set_language("en"))
    i18n.set_language("zh_CN")
    assert toast.accessibleName() == "5 秒后按您的修改重新发布"
    assert [one.text() for one in toast.findChildren(Button)][:2] == ["撤销", "立即发送"]


def test_only_what_does_not_wait_for_the_same_verb_is_free(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner = QObject()
    acting = Acting(owner, told.append)
    done: list[str] = []

    def call(name: str) -> Callable[[], Outcome]:
        def run() -> Outcome:
            done.append(name)
            return Outcome(done=(name,))

        return run

    assert acting.free("cancel", ["a", "b"]) == ["a", "b"]
    acting.delayed(lambda: "…", call("a"), lambda _outcome: "", about=[("cancel", "a")])
    held = told[-1]
    assert acting.free("cancel", ["a", "b"]) == ["b"]
    assert acting.free("retry", ["a"]) == ["a"]
    assert told[-1] is held, "some are left, so nothing has to be said"
    assert acting.free("cancel", ["a"]) == []
    assert told[-1].text == "That is about to happen already."
    press(held, "Undo")
    assert acting.free("cancel", ["a"]) == ["a"]
    acting.delayed(lambda: "…", call("b"), lambda _outcome: "", about=[("cancel", "b")])
    press(told[-1], "Send now")
    assert acting.free("cancel", ["b"]) == ["b"], "what has gone is the store's to judge"
    qtbot.waitUntil(lambda: done == ["b"] and not acting.busy)
    owner.deleteLater()


def test_what_one_page_is_about_to_do_another_does_not_do_again(qtbot: QtBot) -> None:
    pending = AboutToHappen()
    told: list[ToastSpec] = []
    owner = QObject()
    tasks, letters = Acting(owner, told.append, pending), Acting(owner, told.append, pending)
    tasks.delayed(lambda: "…", Outcome, lambda _outcome: "", about=[(REPUBLISH, "a")])
    assert letters.free(REPUBLISH, ["a", "b"]) == ["b"]
    assert letters.free("cancel", ["a"]) == ["a"]
    press(told[-1], "Undo")
    assert letters.free(REPUBLISH, ["a"]) == ["a"]


def held(acting: Acting, done: list[str], seconds: int = 1) -> None:
    """Something that is about to happen after so long."""

    def run() -> Outcome:
        done.append("a")
        return Outcome(done=("a",))

    acting.delayed(lambda: "…", run, lambda _outcome: "done", seconds, about=[("cancel", "a")])


def test_what_was_taken_back_does_not_happen_when_its_time_has_come(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, done, later = QObject(), list[str](), list[str]()
    acting = Acting(owner, told.append)
    held(acting, done)
    press(told[-1], "Undo")
    # One that was begun after it and goes: by then the first one's time has come as well.
    acting.delayed(lambda: "…", lambda: later.append("b") or Outcome(done=("b",)), lambda _outcome: "", 1)
    qtbot.waitUntil(lambda: later == ["b"] and not acting.busy)
    assert done == []
    owner.deleteLater()


def test_a_message_that_outlives_what_it_held_neither_sends_it_again_nor_takes_it_back(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, done = QObject(), list[str]()
    acting = Acting(owner, told.append)
    held(acting, done)
    message = told[-1]
    qtbot.waitUntil(lambda: told[-1].text == "done")
    assert told[-1].key == message.key != "", "what is told takes the place of what was offered"
    press(message, "Send now")
    press(message, "Undo")
    assert (told[-1].text, told[-1].detail) == ("Too late: it is done, or under way.", "Nothing was taken back.")
    acting.at_once(lambda: Outcome(done=("b",)), lambda _outcome: "another")
    qtbot.waitUntil(lambda: told[-1].text == "another")
    assert done == ["a"]
    owner.deleteLater()


def test_the_key_takes_back_the_newest_once(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, done, later = QObject(), list[str](), list[str]()
    acting = Acting(owner, told.append)
    held(acting, done)
    assert acting.undo()
    assert told[-1].text == "Taken back; nothing was changed."
    assert not acting.undo(), "there is nothing more"
    acting.delayed(lambda: "…", lambda: later.append("b") or Outcome(done=("b",)), lambda _outcome: "", 1)
    qtbot.waitUntil(lambda: later == ["b"] and not acting.busy)
    assert done == []
    owner.deleteLater()


def test_what_was_left_alone_is_told_and_can_be_copied(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner = QObject()
    acting = Acting(owner, told.append)
    left = tuple(Refusal(task_id=one, why=Message("task.not_readable")) for one in "bc")
    acting.at_once(lambda: Outcome(done=("a",), skipped=left), lambda _outcome: "1 task done")
    qtbot.waitUntil(lambda: len(told) == 1)
    assert (told[0].text, told[0].status) == ("1 task done", "warning")
    assert told[0].detail.startswith("2 tasks left alone: ")
    assert [line.partition("\t")[0] for line in told[0].copy.splitlines()] == ["b", "c"]
    i18n.set_language("zh_CN")
    try:
        assert told[0].again is not None
        assert told[0].again().detail.startswith("2 个任务未改动")
    finally:
        i18n.set_language("en")
    acting.at_once(lambda: Outcome(failed=left), lambda _outcome: "never said")
    qtbot.waitUntil(lambda: len(told) == 2)
    assert (told[1].text, told[1].status) == ("Nothing was changed.", "warning")
    acting.at_once(lambda: Outcome(done=("a",)), lambda _outcome: "1 task done")
    qtbot.waitUntil(lambda: len(told) == 3)
    assert (told[2].status, told[2].detail, told[2].copy) == ("healthy", "", "")
    owner.deleteLater()


def test_that_a_command_failed_is_heard_as_well(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner = QObject()
    acting = Acting(owner, told.append)

    def broken() -> Outcome:
        raise UsageError("somebody was first")

    for call in (broken, lambda: Outcome(done=("a",))):
        with qtbot.waitSignal(acting.ended):
            acting.at_once(call, lambda _outcome: "done")
    assert len(told) == 2, "it is told before"
    owner.deleteLater()


def test_the_key_takes_back_nothing_older_than_the_newest(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, reversed_ = QObject(), list[Outcome]()
    acting = Acting(owner, told.append)

    def back(outcome: Outcome) -> Outcome:
        reversed_.append(outcome)
        return outcome

    acting.at_once(lambda: Outcome(done=("a",)), lambda _outcome: "first", Reverse(call=back))
    qtbot.waitUntil(lambda: bool(told) and told[-1].text == "first")
    acting.at_once(lambda: Outcome(done=("b",)), lambda _outcome: "second")
    qtbot.waitUntil(lambda: told[-1].text == "second")
    assert not acting.undo(), "the newest cannot be taken back, and the one before is not what the key is for"
    acting.at_once(lambda: Outcome(done=("c",)), lambda _outcome: "third", Reverse(call=back))
    qtbot.waitUntil(lambda: told[-1].text == "third")
    assert acting.undo()
    qtbot.waitUntil(lambda: told[-1].text == "Taken back.")
    assert [one.done for one in reversed_] == [("c",)]
    owner.deleteLater()


def test_the_key_takes_back_only_while_that_is_offered(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.support.acting.UNDO_S", 0.05)
    told: list[ToastSpec] = []
    owner = QObject()
    acting = Acting(owner, told.append)
    acting.at_once(lambda: Outcome(done=("a",)), lambda _outcome: "first", Reverse(call=lambda outcome: outcome))
    qtbot.waitUntil(lambda: bool(told) and told[-1].text == "first")
    later: list[str] = []
    QTimer.singleShot(100, owner, lambda: later.append("later"))
    qtbot.waitUntil(lambda: bool(later))
    assert not acting.undo()
    assert [one.text for one in told] == ["first"]
    owner.deleteLater()


def test_an_offer_that_ends_leaves_the_one_after_it(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.support.acting.UNDO_S", 0.3)
    told: list[ToastSpec] = []
    owner, over = QObject(), list[bool]()
    acting, back = Acting(owner, told.append), Reverse(call=lambda outcome: outcome)
    acting.at_once(lambda: Outcome(done=("a",)), lambda _outcome: "first", back)
    qtbot.waitUntil(lambda: bool(told) and told[-1].text == "first")
    QTimer.singleShot(400, owner, lambda: over.append(True))
    monkeypatch.setattr("views.support.acting.UNDO_S", 60.0)
    acting.at_once(lambda: Outcome(done=("b",)), lambda _outcome: "second", back)
    qtbot.waitUntil(lambda: told[-1].text == "second" and bool(over))
    assert acting.undo()
    qtbot.waitUntil(lambda: told[-1].text == "Taken back.")
    owner.deleteLater()


def test_what_is_held_goes_at_once_and_once_when_the_window_closes(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, done, later = QObject(), list[str](), list[str]()
    acting = Acting(owner, told.append)
    held(acting, done)
    acting.send_delayed()
    qtbot.waitUntil(lambda: done == ["a"] and not acting.busy)
    acting.delayed(lambda: "…", lambda: later.append("b") or Outcome(done=("b",)), lambda _outcome: "", 1)
    qtbot.waitUntil(lambda: later == ["b"] and not acting.busy)
    assert done == ["a"], "its timer went with it"
    owner.deleteLater()


def test_the_reverse_of_what_is_done_is_offered_and_sent(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, reversed_ = QObject(), list[Outcome]()
    acting = Acting(owner, told.append)
    first = Outcome(done=("a", "b"))

    def back(outcome: Outcome) -> Outcome:
        reversed_.append(outcome)
        return Outcome(done=outcome.done)

    acting.at_once(lambda: first, lambda _outcome: "done", Reverse(call=back))
    qtbot.waitUntil(lambda: bool(told) and told[-1].text == "done")
    press(told[-1], "Undo")
    qtbot.waitUntil(lambda: told[-1].text == "Taken back.")
    assert reversed_ == [first]
    acting.at_once(lambda: Outcome(), lambda _outcome: "done", Reverse(call=back))
    qtbot.waitUntil(lambda: told[-1].text == "Nothing was changed.")
    assert not told[-1].actions, "what was not done cannot be taken back"
    owner.deleteLater()


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_an_act_on_many_is_told_while_it_goes_on_and_so_is_its_undo(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr("views.support.acting.SOON_MS", 10)
    told: list[ToastSpec] = []
    owner, go = QObject(), threading.Event()
    acting = Acting(owner, told.append)
    many = tuple(str(number) for number in range(501))

    def run(*_outcome: Outcome) -> Outcome:
        go.wait(60)
        go.clear()
        if ends == "badly":
            raise UsageError("the disk is full")
        return Outcome(done=many)

    acting.at_once(run, lambda _outcome: "done", Reverse(call=run), meanwhile=under_way("Cancel", len(many)))
    qtbot.waitUntil(lambda: bool(told))
    assert told[-1].text == "Cancel: 501 tasks are under way; you may go on working."
    assert (told[-1].status, told[-1].stays) == ("running", True)
    go.set()
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told[1].key == told[0].key, "it takes the place of the other"
    if ends == "badly":
        assert told[1].status == "error"
        return
    assert told[1].text == "done"
    acting.undo()
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told[2].text == "Undo: 501 tasks are under way; you may go on working."
    assert told[2].key != told[0].key, "what was told of the act itself stays"
    go.set()
    qtbot.waitUntil(lambda: len(told) == 4)
    assert (told[3].text, told[3].key) == ("Taken back.", told[2].key)


def test_an_act_on_few_says_only_what_came_of_it(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner = QObject()
    acting = Acting(owner, told.append)
    acting.at_once(lambda: Outcome(done=("a",)), lambda _outcome: "done", meanwhile=under_way("Cancel", 500))
    qtbot.waitUntil(lambda: bool(told))
    assert [(one.text, one.key) for one in told] == [("done", "")]


def test_the_key_takes_back_the_act_made_last_though_an_older_one_ends_later(qtbot: QtBot) -> None:
    told: list[ToastSpec] = []
    owner, reversed_, gate = QObject(), list[str](), threading.Event()
    acting = Acting(owner, told.append)

    def back(outcome: Outcome) -> Outcome:
        reversed_.extend(outcome.done)
        return outcome

    def slow() -> Outcome:
        gate.wait(10)
        return Outcome(done=("slow",))

    acting.at_once(slow, lambda _outcome: "slow", Reverse(call=back))
    acting.delayed(lambda: "held", lambda: Outcome(done=("held",)), lambda _outcome: "sent", reverse=Reverse(call=back))
    held = told[-1]
    acting.at_once(lambda: Outcome(done=("quick",)), lambda _outcome: "quick", Reverse(call=back))
    qtbot.waitUntil(lambda: told[-1].text == "quick")
    press(held, "Send now")
    qtbot.waitUntil(lambda: told[-1].text == "sent")
    gate.set()
    qtbot.waitUntil(lambda: told[-1].text == "slow")
    assert [one.text for one in told if any(verb.keyed() for verb in one.actions)] == ["quick"]
    older = told[-1]
    assert acting.undo()
    qtbot.waitUntil(lambda: reversed_ == ["quick"])
    assert not acting.undo()
    press(older, "Undo")
    qtbot.waitUntil(lambda: reversed_ == ["quick", "slow"])
    owner.deleteLater()


def test_what_can_be_done_about_it_is_offered_also_where_nothing_takes_it_back() -> None:
    told: list[ToastSpec] = []
    opens, more = (ToastAction(text=text, call=lambda: None) for text in ("Open", "Write why"))
    tell_done(told.append, lambda: "The shop runs again.")
    tell_done(told.append, lambda: "The shop is paused.", opens=opens, more=lambda _tell: more)
    tell_done(told.append, lambda: "The shop is paused.", lambda: None, opens=opens, more=lambda _tell: more)
    assert [(one.seconds, [verb.text for verb in one.actions]) for one in told] == [
        (TELL_S, []),
        (UNDO_S, ["Open", "Write why"]),
        (UNDO_S, ["Open", "Undo", "Write why"]),
    ]
