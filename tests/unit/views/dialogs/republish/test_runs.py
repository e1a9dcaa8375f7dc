"""Bulk runs that were left behind: what became of every letter, going on, and giving up."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.bulk import Options
from services.commands.bulk_book import Shelf
from services.commands.bulk_options import Progress
from services.domain.status import Triage
from tests.unit.views.dialogs.republish.conftest import LETTERS
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.republish.runner import BulkRunner
from views.dialogs.republish.runs import RunsDialog
from views.pages.dead_letters.broken_run import BrokenRun

WAIT_MS = 10_000
SENT = 4


def fall_over(fleet: Fleet, letters: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A run whose process dies after a few letters, and whose hand is let go; returns its id."""
    commands = fleet.context.commands
    bulk = commands.bulk

    class Died(BaseException):
        """Nobody catches it, as nobody catches a kill."""

    def tell(progress: Progress) -> None:
        if progress.done >= SENT:
            raise Died

    monkeypatch.setattr("services.commands.bulk_book.BEAT_S", 0.0)
    with pytest.raises(Died):
        bulk.run(bulk.plan(letters), Options(rate=1200), on_progress=tell)
    monkeypatch.undo()
    shelf = Shelf(fleet.store, fleet.engine.clock, "x@y")
    (view,) = shelf.views()
    holder = fleet.store.leader(f"bulk:{view.entry.run_id}")
    fleet.store.resign(f"bulk:{view.entry.run_id}", holder)
    return view.entry.run_id


def opened(qtbot: QtBot, fleet: Fleet, runner: BulkRunner, reason: str = "") -> RunsDialog:
    """The dialog, with everything it asks for."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    dialog = RunsDialog(lambda: fleet.context.commands.bulk, runner, reason, window)
    dialog.open()
    qtbot.waitUntil(lambda: dialog._items.rowCount() == LETTERS, timeout=WAIT_MS)
    dialog.window_ = window  # type: ignore[attr-defined]  # it lives as long as the dialog is looked at
    return dialog


def fates(dialog: RunsDialog) -> dict[str, str]:
    """What is said of each letter."""
    return {one.item.task_id: one.words for one in dialog._items.records()}


def test_an_interrupted_run_tells_what_became_of_every_letter_and_goes_on(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(fleet, letters, monkeypatch)
    dialog = opened(qtbot, fleet, runner)
    said = fates(dialog)
    assert [words.startswith("republished as ") for words in said.values()] == [True] * SENT + [False] * (
        LETTERS - SENT
    )
    assert set(list(said.values())[SENT:]) == {"still a dead letter"}
    assert dialog._counts.values() == {"still dead letters": str(LETTERS - SENT), "republished": str(SENT)}
    assert "Its program ended in the middle" in dialog._about.text()
    with qtbot.waitSignal(runner.ended, timeout=30_000) as heard:
        dialog.resume_button.click()
    assert len(heard.args[1].outcome.done) == LETTERS
    assert fleet.store.counts().triage[Triage.REPUBLISHED] == LETTERS
    again = opened(qtbot, fleet, runner)
    assert again.resume_button.toolTip() == "Nothing of it is left"


def test_a_run_that_is_given_up_is_not_offered_again(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = fall_over(fleet, letters, monkeypatch)
    strip = BrokenRun(fleet.context)
    qtbot.addWidget(strip)
    strip.look()
    qtbot.waitUntil(lambda: not strip.isHidden(), timeout=WAIT_MS)
    assert "A republish was interrupted" in " ".join(label.text() for label in strip.findChildren(QLabel))
    dialog = opened(qtbot, fleet, runner)
    dialog.abort_button.click()
    qtbot.waitUntil(lambda: dialog.abort_button.toolTip() == "Nothing of it is left", timeout=WAIT_MS)
    strip.look()
    qtbot.waitUntil(strip.isHidden, timeout=WAIT_MS)
    assert fleet.store.counts().triage[Triage.OPEN] == LETTERS - SENT
    (entry,) = fleet.store.audit(1)
    assert (entry.action, entry.target) == ("dead.abort_run", (run_id,))


def test_where_nothing_may_be_changed_the_reason_is_there(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(fleet, letters, monkeypatch)
    i18n.set_language("zh_CN")
    dialog = opened(qtbot, fleet, runner, "连接中断时不能操作")
    assert {dialog.abort_button.toolTip(), dialog.resume_button.toolTip()} == {"连接中断时不能操作"}
    assert set(list(fates(dialog).values())[SENT:]) == {"仍为死信"}
