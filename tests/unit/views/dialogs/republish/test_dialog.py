"""The dialog over a real engine: numbers, switches, speed, a few first, and what it starts."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from services import i18n
from services.clock import ManualClock
from services.domain.change import Claim
from services.domain.insight.forecast import outlook
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.monitor.live import Snapshot
from tests.support.cuts import cut
from tests.support.painted import faults
from tests.support.widgets import words
from tests.unit.views.dialogs.republish.conftest import LETTERS, Open
from tests.unit.views.pages.fleet_rig import LOGIN, Fleet
from views.dialogs.confirm import LIMITS, ConfirmDialog
from views.dialogs.republish.dialog import RepublishDialog
from views.dialogs.republish.runner import BulkRunner
from views.dialogs.republish.speed import ALL, SLOWEST, STEPS, step_of
from views.support import heard, shown
from views.support.instant import ticks
from views.support.load import load_of

pytestmark = pytest.mark.both_pairs


def new_tasks(fleet: Fleet, letters: list[str]) -> list[Task]:
    """What the letters have become."""
    found = [task for task in fleet.store.get(letters) if task is not None and task.successor]
    return [task for task in fleet.store.get([one.successor for one in found]) if task is not None]


def filled(dialog: RepublishDialog) -> list[str]:
    """The texts of the filled buttons."""
    buttons = (dialog.cancel_button, dialog.try_button, dialog.verb_button)
    return [button.text() for button in buttons if button.kind == "primary" and button.isVisible()]


def test_it_says_how_many_go_and_how_many_not_and_why(open_dialog: Open) -> None:
    dialog = open_dialog()
    assert dialog.numbers.number() == "10"
    assert "of 12 tasks will be published again, to 7 of 9 shops" in words(dialog.numbers)
    closed = dialog.numbers.rules["closed"]
    assert (closed.number.text(), closed.title.text()) == ("2", "Skipped: shop still logged out")
    assert dialog.numbers.rules["twin"].isHidden()
    assert dialog.verb_button.text() == "Republish 10 tasks"
    assert "2 shops are still logged out" in words(dialog.trial)
    closed.toggle.click()
    assert closed.title.text() == "Sent too: shop still logged out"
    assert dialog.verb_button.text() == "Republish 12 tasks"


@pytest.mark.one_pair
def test_what_held_letters_back_is_looked_at_again_while_the_dialog_stands(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.dialogs.republish.dialog.AGAIN_MS", 50)
    dialog = open_dialog()
    assert dialog.verb_button.text() == "Republish 10 tasks"
    dialog.speed.set_rate(ALL)
    for item in dialog.looked.plan.items if dialog.looked is not None else ():
        platform, _, shop_id = item.shop.partition(":")
        fleet.succeed(platform, shop_id, "get_content")
    qtbot.waitUntil(lambda: dialog.verb_button.text() == "Republish 12 tasks")
    assert dialog.numbers.rules["closed"].isHidden()
    assert dialog.speed.rate() == ALL, "what was chosen stays"


@pytest.mark.one_pair
def test_in_a_low_window_what_is_forecast_is_scrolled_and_never_cut(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog()
    dialog.parentWidget().resize(960, 540)  # 1920 x 1080 at 200 %
    dialog.close()
    dialog.open()
    qtbot.waitUntil(lambda: dialog.height() <= 480)
    assert list(faults(dialog)) == []
    assert dialog.speed.plot.height() >= dialog.speed.plot.minimumHeight()


@pytest.mark.one_pair
def test_no_more_letters_than_would_be_tried_are_just_sent(open_dialog: Open, letters: list[str]) -> None:
    del letters[3:]
    dialog = open_dialog()
    assert filled(dialog) == ["Republish 3 tasks"]
    assert dialog.try_button.isHidden()


@pytest.mark.one_pair
def test_before_it_has_looked_no_switch_comes_and_no_number_is_none(
    qtbot: QtBot, fleet: Fleet, runner: BulkRunner, letters: list[str]
) -> None:
    dialog = RepublishDialog(fleet.context, lambda: letters, runner, number=len(letters))
    qtbot.addWidget(dialog)
    assert (dialog.looked, dialog.verb_button.text()) == (None, "Republish 12 tasks")
    assert not dialog.copy_button.isEnabled(), "it would copy a list of none"
    assert [rule for rule, row in dialog.numbers.rules.items() if not row.isHidden()] == []
    qtbot.waitUntil(lambda: dialog.looked is not None)
    assert [rule for rule, row in dialog.numbers.rules.items() if not row.isHidden()] == ["closed"]
    assert dialog.verb_button.text() == "Republish 10 tasks"


@pytest.mark.one_pair
def test_it_tells_by_the_clock_of_the_fleet_when_all_is_published(
    open_dialog: Open, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: shown.set_zone(""))
    shown.set_zone("UTC")
    clock = ManualClock()  # this computer's is wrong by months
    ticks().follow(clock)
    speed = open_dialog().speed
    speed.field.setValue(0)
    assert speed.published.value.text() == f"{shown.moment(clock.now_ms()):%H:%M:%S}"


@pytest.mark.one_pair
def test_the_speed_moves_slider_field_and_forecast_together(open_dialog: Open, fleet: Fleet) -> None:
    dialog = open_dialog()
    speed = dialog.speed
    speed.slider.setValue(0)
    assert speed.field.value() == SLOWEST
    assert speed.published.note.text().startswith("in 1\u202fm")
    speed.slider.setValue(STEPS)
    assert speed.field.text() == "all at once"
    assert speed.published.note.text() == "now"
    assert speed.done.note.text() == "no worker runs"
    speed.field.setValue(120)
    assert speed.slider.value() == step_of(120)
    assert dialog.choice().rate == 120


def test_what_it_starts_goes_without_it(
    qtbot: QtBot, open_dialog: Open, runner: BulkRunner, fleet: Fleet, letters: list[str]
) -> None:
    dialog = open_dialog()
    dialog.speed.set_rate(ALL)
    dialog.changes.lane.choose("high")
    dialog.changes.attempts.setCurrentIndex(2)
    dialog.changes._on_set()
    dialog.changes.name.setEditText("n")
    dialog.changes.value.setText("7")
    qtbot.waitUntil(lambda: dialog.looked is not None and dialog.looked.plan.fields == {"n": 7})
    # the same payload for all: of two letters of one shop the second one is a twin now
    assert dialog.numbers.rules["twin"].number.text() == "3"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    (asked,) = dialog.findChildren(ConfirmDialog)
    qtbot.keyClick(asked, Qt.Key.Key_Escape)
    assert dialog.isVisible(), "what was written is dropped by no slip of Esc"
    with qtbot.waitSignal(dialog.started):
        dialog.verb_button.click()
    assert runner.delayed
    assert fleet.store.counts().triage == {Triage.OPEN: LETTERS}
    with qtbot.waitSignal(runner.ended):
        runner.send_now()
    made = new_tasks(fleet, letters)
    assert len(made) == 7
    assert {(task.lane, task.max_retries) for task in made} == {("high", 1)}
    assert all(json.loads(task.payload) == {"n": 7} for task in made)


def test_a_few_can_be_tried_first_while_it_stays_open(
    qtbot: QtBot, open_dialog: Open, fleet: Fleet, runner: BulkRunner, letters: list[str]
) -> None:
    dialog = open_dialog()
    dialog.try_button.setFocus()
    dialog.try_button.click()
    assert dialog.focusWidget() is None, "Enter must not leave while they are tried"
    assert dialog.verb_button.toolTip() == "A few are being tried first"
    qtbot.waitUntil(lambda: len(new_tasks(fleet, letters)) == 3)
    assert len({task.shop for task in new_tasks(fleet, letters)}) == 3, "of different shops"
    qtbot.waitUntil(lambda: dialog.trial.lead() == "3 tried: 0 succeeded, 0 failed")
    for task in new_tasks(fleet, letters):
        fleet.finish(task.task_id)
    qtbot.waitUntil(lambda: dialog.trial.lead() == "3 tried: 3 succeeded, 0 failed", timeout=8000)
    qtbot.waitUntil(lambda: dialog.verb_button.isEnabled())
    assert dialog.isVisible()
    assert dialog.focusWidget() is dialog.try_button
    assert dialog.verb_button.text() == "Republish 7 tasks"
    assert dialog.copy_button.text() == "Copy list of 9"


def test_after_three_of_three_failed_the_rest_is_not_the_filled_button(
    qtbot: QtBot, open_dialog: Open, fleet: Fleet, letters: list[str]
) -> None:
    dialog = open_dialog()
    assert filled(dialog) == ["Try 3 first"], "nobody has been seen to pass since"
    dialog.try_button.setFocus()
    dialog.try_button.click()
    qtbot.waitUntil(lambda: len(new_tasks(fleet, letters)) == 3)
    for task in new_tasks(fleet, letters):
        fleet.finish(task.task_id, Status.DEAD, LOGIN)
    qtbot.waitUntil(lambda: "The same failure came back" in words(dialog.trial), timeout=8000)
    assert dialog.trial.lead() == "3 of 3 failed again with the same error"
    assert fleet.store.counts().triage[Triage.REPUBLISHED] == 3
    qtbot.waitUntil(lambda: dialog.looked is not None)
    assert filled(dialog) == ["Leave the rest"]
    assert dialog.focusWidget() is dialog.cancel_button, "the filled one"
    for code in ("en", "zh_CN"):
        i18n.set_language(code)
        qtbot.waitUntil(lambda: cut(dialog) == [])
    assert "个" in words(dialog.changes), "its notes follow the language too"
    i18n.set_language("en")
    assert dialog.try_button.isHidden()
    qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not dialog.isVisible()
    assert len(new_tasks(fleet, letters)) == 3


@pytest.mark.one_pair
def test_one_that_failed_does_not_hide_how_the_others_end(
    qtbot: QtBot, open_dialog: Open, fleet: Fleet, letters: list[str]
) -> None:
    dialog = open_dialog()
    dialog.try_button.click()
    qtbot.waitUntil(lambda: len(new_tasks(fleet, letters)) == 3)
    first, *others = new_tasks(fleet, letters)
    fleet.finish(first.task_id, Status.DEAD, LOGIN)
    qtbot.waitUntil(lambda: dialog.trial.lead() == "3 tried: 0 succeeded, 1 failed", timeout=8000)
    for task in others:
        fleet.finish(task.task_id)
    qtbot.waitUntil(lambda: dialog.trial.lead() == "3 tried: 2 succeeded, 1 failed", timeout=8000)
    assert "Leave the rest" not in filled(dialog)


@pytest.mark.one_pair
def test_what_is_tried_on_a_worker_that_fell_silent_is_not_called_running(
    qtbot: QtBot, open_dialog: Open, fleet: Fleet, letters: list[str]
) -> None:
    dialog = open_dialog()
    dialog.try_button.click()
    qtbot.waitUntil(lambda: len(new_tasks(fleet, letters)) == 3)
    task = new_tasks(fleet, letters)[0]
    claim = Claim(task_id=task.task_id, gen=task.gen, attempt=0, owner="w9#1", worker="w9", lease_ms=60_000)
    assert fleet.store.apply([claim])[0].code == "run"
    qtbot.waitUntil(lambda: "running" in words(dialog.trial), timeout=8000)
    late = SimpleNamespace(fleet=lambda: SimpleNamespace(late=frozenset({"w9"})))
    heard.know(cast("Snapshot", late))
    try:
        fleet.context.feed.looked.emit(late)
        assert "its worker is not heard of" in words(dialog.trial)
        assert "running" not in words(dialog.trial)
    finally:
        heard.forget()


@pytest.mark.one_pair
def test_what_is_worth_it_goes_directly(qtbot: QtBot, open_dialog: Open, fleet: Fleet, letters: list[str]) -> None:
    shop = fleet.store.get(letters)[0]
    assert shop is not None
    fleet.succeed(shop.platform, shop.shop_id, "shop_crawl")
    dialog = open_dialog()
    assert filled(dialog) == ["Republish 10 tasks"]
    assert dialog.try_button.isVisible()


def test_closing_it_ends_the_waiting_for_those_that_were_tried(
    qtbot: QtBot, open_dialog: Open, fleet: Fleet, runner: BulkRunner, letters: list[str]
) -> None:
    dialog = open_dialog()
    dialog.try_button.click()
    qtbot.waitUntil(lambda: len(new_tasks(fleet, letters)) == 3)
    dialog.reject()
    qtbot.waitUntil(lambda: runner.job is None)
    assert len(new_tasks(fleet, letters)) == 3


@pytest.mark.one_pair
def test_a_production_fleet_asks_for_the_number(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, True, 9)
    context = structs.replace(fleet.context, environment="PROD")
    dialog = RepublishDialog(context, lambda: letters, runner, number=len(letters))
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.looked is not None)
    assert dialog.verb_button.toolTip() == "Type 10 first"
    dialog.confirm.field.setText("12")
    assert not dialog.verb_button.isEnabled()
    dialog.confirm.field.setText("10")
    assert dialog.verb_button.isEnabled()
    dialog.numbers.rules["closed"].toggle.click()
    assert dialog.verb_button.toolTip() == "Type 12 first"


def test_the_list_can_be_copied_and_the_preview_exported(
    qtbot: QtBot, open_dialog: Open, letters: list[str], tmp_path: Path
) -> None:
    dialog = open_dialog()
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text().split("\n") == letters
    assert "Copied" in words(dialog.notice), "a message of the window would lie behind the dialog"
    dialog.export(tmp_path / "preview.csv")
    qtbot.waitUntil(lambda: "12 rows written to preview.csv" in words(dialog.notice))
    rows = list(csv.DictReader((tmp_path / "preview.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [row["task_id"] for row in rows] == letters
    assert [row["reason"] for row in rows if row["published"] == "no"] == ["closed", "closed"]


@pytest.mark.one_pair
def test_another_run_keeps_it_waiting(qtbot: QtBot, open_dialog: Open, runner: BulkRunner) -> None:
    first = open_dialog()
    second = open_dialog()
    first.verb_button.click()
    assert second.verb_button.toolTip() == "Another republish is still under way"
    runner.undo()
    assert second.verb_button.isEnabled()


def test_what_was_republished_meanwhile_is_skipped(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open, runner: BulkRunner, letters: list[str]
) -> None:
    dialog = open_dialog()
    dialog.speed.set_rate(ALL)
    fleet.context.commands.dead_letters.republish(letters[:2])
    dialog.verb_button.click()
    with qtbot.waitSignal(runner.ended) as heard:
        runner.send_now()
    assert len(heard.args[1].outcome.done) == 8
    assert [one.task_id for one in heard.args[1].outcome.skipped] == letters[:2]


@pytest.mark.one_pair
def test_it_speaks_both_languages_and_every_control_has_a_name(open_dialog: Open) -> None:
    dialog = open_dialog()
    i18n.set_language("zh_CN")
    assert dialog.numbers.rules["closed"].title.text() == "跳过：店铺仍未登录"
    assert dialog.verb_button.text() == "重新发布 10 个任务"
    kinds = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox)
    nameless = [
        widget
        for kind in kinds
        for widget in dialog.findChildren(kind)
        if not widget.objectName().startswith("qt_")
        and not isinstance(widget.parentWidget(), (QComboBox, QAbstractSpinBox))
        and not widget.accessibleName()
        and not (isinstance(widget, QAbstractButton) and widget.text())
    ]
    assert [type(widget).__name__ for widget in nameless] == []


@pytest.mark.one_pair
def test_where_nothing_goes_nothing_is_forecast(open_dialog: Open) -> None:
    dialog = open_dialog()
    dialog.speed.show_outlook(outlook.forecast(load_of(Snapshot(at_ms=1, taken=0.0), "normal", 8.0), 0), 0)
    tiles = (dialog.speed.published, dialog.speed.done, dialog.speed.delay)
    assert {tile.accessibleName().partition(": ")[2] for tile in tiles} == {"–, nothing to send"}


@pytest.mark.one_pair
def test_it_is_seen_while_many_letters_are_read_and_looked_at(
    qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner
) -> None:
    read, looked = threading.Event(), threading.Event()

    class Slow:
        """Looks at one letter, then waits."""

        def plan(
            self, ids: Sequence[str], *, fields: Mapping[str, object], told: Callable[[int, int], object]
        ) -> object:
            told(1, len(ids))
            looked.wait(30)
            return fleet.context.commands.bulk.plan(ids, fields=fields)

    def find() -> list[str]:
        read.wait(30)
        return letters

    commands = SimpleNamespace(bulk=Slow())
    context = structs.replace(fleet.context, commands=commands)
    dialog = RepublishDialog(context, find, runner, number=6_000)
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.isVisible(), "before anything is read"
    assert "looking at each letter" in words(dialog)
    assert not dialog.verb_button.isEnabled()
    read.set()
    qtbot.waitUntil(lambda: "looking at each letter: 1 of 12" in words(dialog))
    looked.set()
    qtbot.waitUntil(lambda: dialog.looked is not None)
    assert dialog.verb_button.text() == "Republish 10 tasks", "as many as there are, not as were thought"
