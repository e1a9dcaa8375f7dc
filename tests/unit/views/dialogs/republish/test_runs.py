"""Bulk runs that were left behind: what became of every letter, going on, and giving up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.bulk.book import Shelf
from services.commands.bulk.options import Progress
from services.commands.bulk.republish import Options
from services.domain.task.status import Status, Triage
from services.sample.fleet import sample_shops
from tests.support.cuts import cut
from tests.unit.views.dialogs.republish.conftest import LETTERS, SHOPS
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.republish.runner import BulkRunner, RunRequest
from views.dialogs.republish.runs import RunsDialog, words
from views.pages.dead_letters.page import BrokenRun, DeadLettersPage
from views.widgets.buttons import Button

pytestmark = pytest.mark.both_pairs

WAIT_MS = 10_000
SENT = 4
#: windows live as long as a dialog over them is looked at
WINDOWS: list[QWidget] = []


@pytest.fixture(autouse=True)
def forget_windows() -> Iterator[None]:
    """Let go of the windows once the test is over."""
    yield
    WINDOWS.clear()


def fall_over(fleet: Fleet, letters: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A run whose process dies after a few letters, and whose hand is let go; returns its id."""
    commands = fleet.context.commands
    bulk = commands.bulk

    class Died(BaseException):
        """Nobody catches it, as nobody catches a kill."""

    def tell(progress: Progress) -> None:
        if progress.done >= SENT:
            raise Died

    monkeypatch.setattr("services.commands.bulk.book.BEAT_S", 0.0)
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
    dialog = RunsDialog(lambda: fleet.context.commands.bulk, fleet.context.shops, runner, reason, window)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.items.records.rowCount() == LETTERS, timeout=WAIT_MS)
    WINDOWS.append(window)
    return dialog


def fates(dialog: RunsDialog) -> dict[str, str]:
    """What is said of each letter."""
    return {row.fate.item.task_id: words(row.fate) for row in dialog.items.records.records()}


def doors(dialog: RunsDialog) -> list[str]:
    """The lines that count the fates."""
    return [door.text() for door in dialog.doors if not door.isHidden()]


def test_letters_are_told_apart_by_the_names_of_their_shops(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(fleet, letters, monkeypatch)
    records = opened(qtbot, fleet, runner).items.records
    shown = {str(records.column(1).display(row)) for row in records.records()}
    assert shown == {shop.name for shop in sample_shops(SHOPS)}, "of those that were sent, too"


def test_an_interrupted_run_tells_what_became_of_every_letter_and_goes_on(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(fleet, letters, monkeypatch)
    dialog = opened(qtbot, fleet, runner)
    said = fates(dialog)
    assert ["waiting, as " in each for each in said.values()] == [True] * SENT + [False] * (LETTERS - SENT)
    assert set(list(said.values())[SENT:]) == {"still a dead letter"}
    assert doors(dialog) == [f"{SENT} sent, waiting", f"{LETTERS - SENT} not sent: still dead letters"]
    assert "Its program ended in the middle" in dialog._about.text()
    for code in ("zh_CN", "en"):
        i18n.set_language(code)
        qtbot.wait(100)
        assert cut(dialog) == []
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
    strip = BrokenRun(fleet.context, runner)
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


def test_a_run_that_is_taken_up_here_is_not_told_as_interrupted_beside_itself(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = fall_over(fleet, letters, monkeypatch)
    strip = BrokenRun(fleet.context, runner)
    qtbot.addWidget(strip)
    strip.look()
    qtbot.waitUntil(lambda: not strip.isHidden(), timeout=WAIT_MS)
    # at this moment nobody has taken it up in the store yet
    job = RunRequest(plan=fleet.context.commands.bulk.plan(letters), options=Options(), run_id=run_id)
    assert runner.hold(job)
    strip.look()
    qtbot.waitUntil(strip.isHidden, timeout=WAIT_MS)
    runner.undo()
    strip.look()
    qtbot.waitUntil(lambda: not strip.isHidden(), timeout=WAIT_MS)


def test_what_was_sent_is_looked_at_before_anything_else(
    qtbot: QtBot, fleet: Fleet, letters: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(fleet, letters, monkeypatch)
    page = DeadLettersPage(fleet.context)
    qtbot.addWidget(page)
    page.show()
    page.activate()

    def filled() -> list[str]:
        return [one.text() for one in page.findChildren(Button) if one.kind == "primary" and one.isVisible()]

    qtbot.waitUntil(lambda: page.broken.asks and bool(page.panel.task_id), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: filled() == ["Look at it"], timeout=WAIT_MS)
    page.deactivate()


@pytest.mark.one_pair
def test_where_nothing_may_be_changed_the_reason_is_there(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(fleet, letters, monkeypatch)
    i18n.set_language("zh_CN")
    dialog = opened(qtbot, fleet, runner, "连接中断时不能操作")
    assert {dialog.abort_button.toolTip(), dialog.resume_button.toolTip()} == {"连接中断时不能操作"}
    assert set(list(fates(dialog).values())[SENT:]) == {"仍为死信"}


def test_a_sent_task_is_no_success_until_it_has_ended_well(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner
) -> None:
    bulk = fleet.context.commands.bulk
    ended = bulk.run(bulk.plan(letters), Options())
    dialog = opened(qtbot, fleet, runner)
    assert doors(dialog) == [f"{LETTERS} sent, waiting"]
    assert dialog.summary.text() == f"Going on: {LETTERS} sent, waiting"
    made = list(ended.outcome.made.values())
    for task_id in made[:9]:
        fleet.finish(task_id)
    qtbot.waitUntil(lambda: doors(dialog) == ["9 succeeded", "3 sent, waiting"], timeout=WAIT_MS)
    for task_id in made[9:]:
        fleet.finish(task_id, Status.DEAD, "SelectorNotFound: .row (waiting for selector /orders)")
    over = ["9 succeeded", "3 died again: Page element missing: .row"]
    qtbot.waitUntil(lambda: doors(dialog) == over, timeout=WAIT_MS)
    assert dialog.summary.text() == "Over: 9 succeeded, 3 died again"
    with qtbot.waitSignal(dialog.tasks_wanted) as heard:
        dialog.doors[1].activated.emit()
    assert set(made[9:]) == {one for one in made if one in heard.args[0]}
