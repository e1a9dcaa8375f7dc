"""Acts that are held with Undo."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from services.commands.outcome import Outcome
from views.support.acting import REPUBLISH, AboutToHappen, Acting
from views.widgets.toast import ToastSpec


def press(spec: ToastSpec, text: str) -> None:
    next(action for action in spec.actions if action.text == text).call()


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
    acting.held("…", call("a"), lambda _outcome: "", about=[("cancel", "a")])
    held = told[-1]
    assert acting.free("cancel", ["a", "b"]) == ["b"]
    assert acting.free("retry", ["a"]) == ["a"]
    assert told[-1] is held, "some are left, so nothing has to be said"
    assert acting.free("cancel", ["a"]) == []
    assert told[-1].text == "That is about to happen already."
    press(held, "Undo")
    assert acting.free("cancel", ["a"]) == ["a"]
    acting.held("…", call("b"), lambda _outcome: "", about=[("cancel", "b")])
    press(told[-1], "Send now")
    assert acting.free("cancel", ["b"]) == ["b"], "what has gone is the store's to judge"
    qtbot.waitUntil(lambda: done == ["b"] and not acting.busy)
    owner.deleteLater()


def test_what_one_page_is_about_to_do_another_does_not_do_again(qtbot: QtBot) -> None:
    pending = AboutToHappen()
    told: list[ToastSpec] = []
    owner = QObject()
    tasks, letters = Acting(owner, told.append, pending), Acting(owner, told.append, pending)
    tasks.held("…", Outcome, lambda _outcome: "", about=[(REPUBLISH, "a")])
    assert letters.free(REPUBLISH, ["a", "b"]) == ["b"]
    assert letters.free("cancel", ["a"]) == ["a"]
    press(told[-1], "Undo")
    assert letters.free(REPUBLISH, ["a"]) == ["a"]
