"""The Dead letters page over a real engine: every verb from the window."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPlainTextEdit, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from services import assembly, i18n
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.change import Annotate, Create
from services.domain.fleet.shop import Pause
from services.domain.insight import cause_rule
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.text.mask import DOTS
from services.monitor.tasks import TaskQueries
from services.ports import Letter
from tests.support.cuts import cut
from tests.support.held import held, settled
from tests.support.widgets import press
from tests.support.widgets import words as said
from tests.unit.views.pages.fleet_rig import LOGIN, PAYLOAD, Fleet
from tests.unit.views.pages.opening import LEAST, SMALL, opening
from views.dialogs.confirm import LIMITS, ConfirmDialog
from views.dialogs.file import FileDialog
from views.dialogs.republish.dialog import RepublishDialog
from views.dialogs.republish.runs import RunsDialog
from views.dialogs.schema.form import LineInput
from views.pages.dead_letters import table, words
from views.pages.dead_letters.issue import KnownIssue, MergeInto, SplitOff
from views.pages.dead_letters.page import DeadLettersPage
from views.pages.dead_letters.verbs import CauseNote, Letters
from views.support import instant
from views.support.acting import REPUBLISH, Acting
from views.support.shown import clock as clock_of
from views.support.words.rows import News
from views.theme.tokens import platform_badge
from views.widgets.buttons import Button
from views.widgets.filter.bar import ValuePopup
from views.widgets.key_values import KeyValues

pytestmark = pytest.mark.both_pairs

Open = Callable[[], DeadLettersPage]


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does, once its causes and letters are there."""

    def show(page: DeadLettersPage) -> None:
        page.show()
        page.activate()
        qtbot.waitUntil(lambda: page.anything_known)
        if page.causes.causes.rowCount():
            qtbot.waitUntil(lambda: page.table.records.rowCount() > 0 and page.panel.task is not None)

    yield from opening(
        qtbot, lambda: DeadLettersPage(fleet.context), show, leave=lambda page: page.actions_of_page.runner.finish()
    )


def one(fleet: Fleet, task_id: str) -> Task:
    """The record of a task."""
    task: Task | None = fleet.store.get([task_id])[0]
    assert task is not None
    return task


def test_enter_goes_into_the_letter_and_esc_back_to_the_list(fleet: Fleet, open_page: Open, qtbot: QtBot) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.activateWindow()
    page.table.setFocus()
    qtbot.waitUntil(page.table.hasFocus)
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    focus = QApplication.focusWidget()
    assert focus is not None
    assert page.panel.isAncestorOf(focus)
    QTest.keyClick(focus, Qt.Key.Key_Escape)
    assert page.table.hasFocus()


def test_causes_stand_with_the_most_tasks_first_and_say_how_far_they_reach(fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    causes = page.causes.causes
    assert [causes.record(row).count for row in range(causes.rowCount())] == [18, 9, 5, 1]
    said = [causes.data(causes.index(row, 0), 0) for row in range(4)]
    assert said == [
        "Seller login expired · sync_order",
        "SelectorNotFound · get_content",
        "Too many requests · refresh_goods",
        "Parameters refused · single_product",
    ]
    assert "Pinduoduo shops that ran it" in page.letters.shops.text()
    assert page.header.summary() == "33 tasks, 8 shops, 4 causes"


def test_causes_of_many_letters_are_there_before_it_is_known_what_helps(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.monitor.letters.causes.MANY", 5)
    judge, may = fleet.context.causes.causes, threading.Event()
    monkeypatch.setattr(fleet.context.causes, "causes", lambda triage: may.wait(30.0) and judge(triage))
    fleet.seed_deaths()
    page = open_page()
    causes = page.causes.causes
    told = [words.sentence(causes.record(row)) for row in range(4)]
    assert all("Being looked into" in one for one in told)
    assert page.letters.worth.accessibleName() == "Whether it would pass now is still being looked into."
    assert page.header.summary() == "33 tasks, 8 shops, 4 causes"
    chosen = page.causes.current()
    may.set()
    qtbot.waitUntil(lambda: "Being looked into" not in words.sentence(causes.record(0)))
    assert page.causes.current() == chosen
    assert "being looked into" not in page.letters.worth.accessibleName()


def test_a_small_window_gives_the_verdict_the_whole_width_above_its_buttons(fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.resize(*SMALL)
    pane = page.letters
    verdict, button = (QRect(one.mapTo(pane, QPoint(0, 0)), one.size()) for one in (pane.worth, pane.republish))
    assert pane.republish.isVisible()
    assert button.top() > verdict.bottom()
    assert verdict.width() > pane.width() - 40
    assert cut(pane) == []


def test_at_200_percent_no_pane_lies_beyond_the_edge_and_every_column_is_whole(fleet: Fleet, open_page: Open) -> None:
    i18n.set_language("zh_CN")
    fleet.seed_deaths()
    page = open_page()
    page.resize(*LEAST)
    edge = page.panel.mapTo(page, QPoint(page.panel.width(), 0)).x()
    assert edge <= page.width()
    table = page.letters.table
    assert table.horizontalHeader().length() <= table.viewport().width()
    assert cut(page.panel) == []


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_foot_of_the_letters_is_whole_at_200_percent(fleet: Fleet, open_page: Open, language: str) -> None:
    i18n.set_language(language)
    fleet.seed_deaths()
    page = open_page()
    page.resize(*LEAST)
    page.table.records.tick_all()
    bar = page.letters.bar
    letters = Letters(ids=tuple(map(str, range(18))), state=Triage.OPEN)
    bar.show_state(letters, loaded=18, total=40, news=News(18, 200))
    QApplication.processEvents()
    assert cut(bar) == []
    for button in (one for one in (bar.new_button, *bar.buttons.values()) if one.isVisible()):
        assert bar.rect().contains(button.geometry())
        assert button.width() >= button.minimumSizeHint().width()


def test_beside_the_panel_every_column_of_the_letters_is_shown_at_1600(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.resize(1404, 560)  # as wide as the window leaves it beside the rail
    table = page.letters.table
    qtbot.waitUntil(table.verticalScrollBar().isVisible)
    assert not any(table.isColumnHidden(section) for section in range(table.records.columnCount()))
    assert table.records.order == (("updated", True),), "the heading shows in what order they stand"
    assert table.horizontalHeader().length() <= table.viewport().width()


@pytest.mark.one_pair
def test_no_pane_lies_below_another_on_a_small_screen(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page, window = open_page(), QWidget()
    qtbot.addWidget(window)
    page.setParent(window)  # which gives it no more than there is
    window.show()
    page.setGeometry(0, 0, 801, 400)  # 1280 x 720 at 150 %, beside the rail
    page.show()
    (split,) = [one for one in page.findChildren(QSplitter) if one.count() == 3]
    panes = [split.widget(place).geometry() for place in range(3)]
    assert all(one.right() < other.left() for one, other in pairwise(panes))
    assert panes[-1].right() < split.width() <= page.width() == 801, "nor beyond the edge"
    page.setGeometry(0, 0, 1400, 900)
    assert split.sizes()[2] >= 320
    page.setParent(None)


@pytest.mark.one_pair
def test_the_widths_of_the_panes_are_kept(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.resize(1400, 900)
    (split,) = [one for one in page.findChildren(QSplitter) if one.count() == 3]
    handle = split.handle(1)
    at = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(handle, at + QPoint(60, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=at + QPoint(60, 0))
    widths = split.sizes()
    assert widths[0] > 330
    qtbot.waitUntil(lambda: fleet.context.memory.get("dead_letters.widths") == widths)
    again = DeadLettersPage(fleet.context)
    qtbot.addWidget(again)
    again.resize(1400, 900)
    again.show()
    (other,) = [one for one in again.findChildren(QSplitter) if one.count() == 3]
    assert other.sizes() == widths


def test_choosing_a_cause_lists_its_letters_and_opens_the_newest(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    fingerprint = page.causes.causes.record(1).fingerprint
    page.causes.choose(fingerprint)
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 9)
    letters = [page.table.records.record(row).task for row in range(9)]
    assert {task.fingerprint for task in letters} == {fingerprint}
    assert [task.ended_at for task in letters] == sorted((task.ended_at for task in letters), reverse=True)
    qtbot.waitUntil(lambda: page.panel.task_id == letters[0].task_id)


def test_each_letter_tells_how_its_shop_stands_now(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    now = fleet.store.now_ms()
    fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {}, ended_at=now - 90_000)
    fleet.die("pdd", "pdd-10025", "sync_order", LOGIN, {}, ended_at=now - 60_000)
    fleet.die("pdd", "pdd-10048", "sync_order", LOGIN, {}, ended_at=now - 30_000)
    fleet.succeed("pdd", "pdd-10021", "get_content")
    fleet.store.set_pause(Pause(scope="shop:pdd:pdd-10048", by="ann"))
    page = open_page()
    column = page.table.records.section_of("now")
    index = page.table.records.index
    assert [page.table.records.data(index(row, column), 0) for row in range(3)] == ["paused", "logged out", "logged in"]
    tip = page.table.records.data(index(2, column), int(Qt.ItemDataRole.ToolTipRole))
    assert "trying again makes sense" in tip
    page.table.set_current_key(page.table.records.key_at(1))
    qtbot.waitUntil(lambda: page.panel.attempts.values().get("Shop now", "").startswith("logged out, last seen "))
    fleet.succeed("pdd", "pdd-10025", "get_content")
    qtbot.waitUntil(lambda: page.table.records.data(index(1, column), 0) == "logged in", timeout=9000)
    qtbot.waitUntil(lambda: page.panel.attempts.values().get("Shop now", "").startswith("logged in, last seen "))
    for scope in ("shop:pdd:pdd-10025", "shop:pdd:pdd-10021"):
        fleet.store.set_pause(Pause(scope=scope, by="rule"))
    qtbot.waitUntil(lambda: page.table.records.data(index(2, column), 0) == "paused", timeout=9000)
    qtbot.waitUntil(lambda: page.panel.attempts.values().get("Shop now", "").startswith("paused"))
    assert "Its shop is paused: a new task waits until that ends." in said(page.panel)


def test_republish_makes_a_linked_task_after_a_moment(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50})
    page = open_page()
    page.panel.primary_button.click()
    assert one(fleet, dead).triage == Triage.OPEN, "it is held, so that it can be taken back"
    press(fleet.toasts[-1], "Send now")
    qtbot.waitUntil(lambda: one(fleet, dead).triage == Triage.REPUBLISHED)
    fresh = one(fleet, one(fleet, dead).successor)
    assert fresh.parent == dead
    assert json.loads(fresh.payload) == {"page_size": 50}
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "1 task republished")
    qtbot.waitUntil(lambda: not page.panel.primary_button.isEnabled())


def test_secrets_of_a_letter_are_dots_until_somebody_asks_which_the_audit_knows(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50, "shop_token": "t-0815-4711"})
    editor = open_page().panel.editor
    assert "4711" not in editor.json.toPlainText()
    assert DOTS in editor.json.toPlainText()
    assert (editor.is_edited, editor.is_valid) == (False, True)
    editor.json.setPlainText(editor.json.toPlainText().replace("50", "60"))
    assert editor.payload() == {"page_size": 60, "shop_token": "t-0815-4711"}
    editor.reveal_button.click()
    qtbot.waitUntil(lambda: "4711" in editor.json.toPlainText())
    assert "60" in editor.json.toPlainText(), "what was typed stays"
    assert not editor.reveal_button.isVisible()
    assert [(one.action, one.target) for one in fleet.store.audit(1)] == [("reveal", (dead,))]


@pytest.mark.one_pair
def test_a_corrected_letter_keeps_the_secret_that_nobody_looked_at(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50, "shop_token": "t-0815-4711"})
    page = open_page()
    page.panel.editor.json.setPlainText(page.panel.editor.json.toPlainText().replace("50", "60"))
    page.panel.primary_button.click()
    press(fleet.toasts[-1], "Send now")
    qtbot.waitUntil(lambda: one(fleet, dead).triage == Triage.REPUBLISHED)
    fresh = one(fleet, one(fleet, dead).successor)
    assert json.loads(fresh.payload) == {"page_size": 60, "shop_token": "t-0815-4711"}


@pytest.mark.one_pair
def test_a_held_republish_can_be_taken_back(fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    page = open_page()
    page.panel.primary_button.click()
    press(fleet.toasts[-1], "Undo")
    assert one(fleet, dead).triage == Triage.OPEN
    assert fleet.toasts[-1].status == "cancelled"


@pytest.mark.one_pair
def test_a_letter_that_is_held_already_is_not_held_again(fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50})
    page = open_page()
    page.panel.primary_button.click()
    first = fleet.toasts[-1]
    page.panel.primary_button.click()
    page.panel.editor.json.setPlainText('{"page_size": 20}')
    page.panel.primary_button.click()
    assert [toast.text for toast in fleet.toasts[-2:]] == ["That is about to happen already."] * 2
    press(first, "Undo")
    for acting in page.findChildren(Acting):
        acting.send_delayed()
    assert one(fleet, dead).triage == Triage.OPEN, "taken back is taken back"
    page.panel.primary_button.click()
    assert fleet.toasts[-1].text == "Republishing with your changes in 5 s"


@pytest.mark.one_pair
def test_a_letter_that_is_held_here_is_not_free_on_another_page(fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    page = open_page()
    elsewhere = Acting(page, fleet.toasts.append, fleet.context.pending)
    assert elsewhere.free(REPUBLISH, [dead]) == [dead]
    page.panel.primary_button.click()
    assert elsewhere.free(REPUBLISH, [dead]) == []
    assert fleet.toasts[-1].text == "That is about to happen already."


def test_a_corrected_message_is_sent_in_place_of_the_old_one(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50, "kept": "by hand"})
    page = open_page()
    assert page.panel.primary_button.text() == "Republish"
    editor = page.panel.editor.json
    editor.setPlainText(editor.toPlainText().replace("50", "20"))
    assert page.panel.primary_button.text() == "Edit and republish"
    assert page.panel.editor.note.text() == "1 change"
    assert page.panel.editor.was.text() == "page_size was 50"
    page.panel.primary_button.click()
    press(fleet.toasts[-1], "Send now")
    qtbot.waitUntil(lambda: one(fleet, dead).successor != "")
    assert json.loads(one(fleet, one(fleet, dead).successor).payload) == {"page_size": 20, "kept": "by hand"}


@pytest.mark.one_pair
def test_a_new_task_is_made_of_a_long_message_that_nobody_could_read_once_it_is_there(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    payload = {"rows": [{"name": f"two\u00a0words {n}"} for n in range(4_000)]}
    bad = "bad_0123456789abcdef"
    fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    dead = Task(
        task_id=bad, platform="pdd", shop_id="pdd-10021", task_type="unknown", status=Status.DEAD, triage=Triage.OPEN,
        error="no task", error_kind="bad_message", created_at=fleet.store.now_ms(), ended_at=fleet.store.now_ms(),
    )  # fmt: skip
    fleet.store.put_letter(Letter(task_id=bad, body=json.dumps(payload).encode()))
    fleet.store.apply([Create(task=dead)])
    page = open_page()
    page.panel.show_letter("")
    button, editor = page.panel.primary_button, page.panel.editor
    told: list[tuple[str, bool, str]] = []

    def note() -> None:
        if editor.is_reading:
            button.click()
            told.append((button.text(), button.isEnabled(), button.toolTip()))

    editor.changed.connect(note)
    page.panel.show_letter(bad)
    qtbot.waitUntil(lambda: bool(told) and not editor.is_reading, timeout=60_000)
    assert told[-1] == ("New task from it", False, "It is still being read")
    assert fleet.wanted == []
    assert button.isEnabled()
    button.click()
    assert fleet.wanted == [{"payload": payload}]


@pytest.mark.one_pair
def test_what_was_typed_in_a_long_message_is_sent_only_once_the_message_is_there(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    payload = {"page_size": 50, "goods_ids": [f"G{n}" for n in range(2_000)]}
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, payload)
    other = fleet.die("pdd", "pdd-10025", "sync_order", LOGIN, {})
    page = open_page()
    button, editor = page.panel.primary_button, page.panel.editor
    page.panel.show_letter(dead)
    qtbot.waitUntil(lambda: page.panel.task is not None and "G7" in editor.json.toPlainText(), timeout=60_000)
    editor.json.setPlainText(editor.json.toPlainText().replace("50,", "20,", 1))
    page.panel.show_letter(other)
    qtbot.waitUntil(lambda: page.panel.task is not None and not editor.is_edited)
    told: list[tuple[str, bool, str]] = []
    editor.changed.connect(lambda: told.append((button.text(), button.isEnabled(), button.toolTip())))
    page.panel.show_letter(dead)
    qtbot.waitUntil(lambda: "G7" in editor.json.toPlainText(), timeout=60_000)
    assert ("Edit and republish", False, "It is still being read") in told
    assert (button.text(), button.isEnabled()) == ("Edit and republish", True)


@pytest.mark.one_pair
def test_a_message_that_the_flow_refused_is_not_called_valid_nor_sent_again_by_the_filled_button(
    fleet: Fleet, open_page: Open
) -> None:
    fleet.die("pdd", "pdd-10021", "sync_order", "BadPayload: unknown goods_id", {"page_size": 50})
    page = open_page()
    assert page.panel.editor.state.text() == "Fits the form of sync_order, but the flow refused it: change it first"
    assert (page.panel.primary_button.text(), page.panel.primary_button.kind) == ("Republish", "plain")
    editor = page.panel.editor.json
    editor.setPlainText(editor.toPlainText().replace("50", "20"))
    assert page.panel.editor.state.text().startswith("Valid for sync_order")
    assert (page.panel.primary_button.text(), page.panel.primary_button.kind) == ("Edit and republish", "primary")


@pytest.mark.one_pair
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"page_size": 500}', "page_size: must be at most 100"),
        ('{"page_size": }', "Not valid JSON"),
        ("[1, 2]", "The payload must be a JSON object"),
    ],
)
def test_a_message_that_its_type_refuses_cannot_be_sent(fleet: Fleet, open_page: Open, text: str, problem: str) -> None:
    fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50})
    page = open_page()
    page.panel.editor.json.setPlainText(text)
    assert page.panel.editor.json.problems()[0].text.startswith(problem)
    assert page.panel.editor.json.problems()[0].line == 1
    assert not page.panel.primary_button.isEnabled()
    assert page.panel.primary_button.toolTip() == "Correct the message first"
    page.panel.editor.revert()
    assert page.panel.primary_button.isEnabled()


@pytest.mark.one_pair
def test_what_was_typed_waits_while_another_letter_is_looked_at(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    now = fleet.store.now_ms()
    fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50}, ended_at=now - 60_000)
    fleet.die("pdd", "pdd-10025", "sync_order", LOGIN, {"page_size": 50}, ended_at=now - 30_000)
    page = open_page()
    first = page.panel.task_id
    page.panel.editor.json.setPlainText('{"page_size": 7}')
    page.panel.head.step_wanted.emit(1)
    qtbot.waitUntil(lambda: page.panel.task_id != first and page.panel.task is not None)
    assert not page.panel.editor.is_edited
    page.panel.head.step_wanted.emit(-1)
    qtbot.waitUntil(lambda: page.panel.task_id == first and page.panel.editor.payload() == {"page_size": 7})


@pytest.mark.parametrize("state", [Triage.ARCHIVED, Triage.IGNORED])
def test_ignore_and_archive_act_at_once_and_can_be_undone(
    qtbot: QtBot, fleet: Fleet, open_page: Open, state: str
) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    page = open_page()
    page.panel.buttons[state].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert one(fleet, dead).triage == state
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: one(fleet, dead).triage == Triage.OPEN)


def test_an_archived_letter_can_be_opened_again(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    fleet.context.commands.dead_letters.set_triage([dead], Triage.ARCHIVED)
    page = open_page()
    page.states.choose(Triage.ARCHIVED)
    qtbot.waitUntil(lambda: page.panel.task is not None)
    assert page.panel.buttons[Triage.OPEN].isVisible()
    page.panel.buttons[Triage.OPEN].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert one(fleet, dead).triage == Triage.OPEN
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: one(fleet, dead).triage == Triage.ARCHIVED)


def test_a_few_ticked_letters_go_without_a_question(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    ticked = [str(page.table.records.key_at(row)) for row in range(3)]
    page.table.records.set_ticked(ticked)
    assert page.bar.buttons["republish"].text() == "Republish 3"
    assert page.panel.primary_button.kind == "plain", "one filled button per view"
    page.bar.buttons["republish"].click()
    assert page.findChild(RepublishDialog) is None
    press(fleet.toasts[-1], "Send now")
    # The three shops have one sync_order each, which may be active once only.
    qtbot.waitUntil(lambda: all(one(fleet, key).triage == Triage.REPUBLISHED for key in ticked))


def test_the_foot_counts_no_letters_that_are_closed_and_stand_there_dimmed(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    ids = [fleet.die("pdd", f"pdd-1002{number}", "sync_order", LOGIN, {}) for number in range(4)]
    page = open_page()
    qtbot.waitUntil(lambda: "4 tasks" in said(page.bar))
    fleet.context.commands.dead_letters.set_triage(ids[:2], Triage.ARCHIVED)
    qtbot.waitUntil(lambda: "2 tasks, 2 dimmed rows match no more" in said(page.bar))
    fleet.context.commands.dead_letters.set_triage(ids[2:], Triage.ARCHIVED)
    qtbot.waitUntil(lambda: "4 dimmed rows match no more" in said(page.bar) and "tasks," not in said(page.bar))
    page.refresh()
    qtbot.waitUntil(lambda: "dimmed" not in said(page.bar))


def test_letters_of_which_none_would_go_cannot_be_asked_for(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    shops = {row.task.shop: row.key for row in page.table.records.records()}
    ids = list(shops.values())[:2]
    first, second = (one(fleet, task_id) for task_id in ids)
    specs = [
        TaskSpec(
            platform=task.platform, shop_id=task.shop_id, task_type=task.task_type, payload=json.loads(task.payload)
        )
        for task in (first, second)
    ]
    active = fleet.context.commands.tasks.create(specs, origin="cli").created
    assert len(active) == 2
    page.refresh()
    qtbot.waitUntil(lambda: all(page.table.records.find(task_id).refusal is not None for task_id in ids))
    page.table.records.set_ticked(ids)
    assert not page.bar.buttons["republish"].isEnabled()
    assert "The same task is active already" in page.bar.buttons["republish"].toolTip()
    page.verbs.act("republish", page.ticked())
    assert fleet.toasts == [], "whoever asks for it"
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, ids[0])
    assert {action.text(): action.isEnabled() for action in menu.actions()}["Republish"] is False
    other = next(row.key for row in page.table.records.records() if row.refusal is None)
    page.table.records.set_ticked([other])
    assert page.bar.buttons["republish"].isEnabled(), "one of them would go"


def bulk_dialog(qtbot: QtBot, page: DeadLettersPage) -> RepublishDialog:
    """Tick all letters of the largest cause, ask for a republish, wait for its numbers."""
    largest = max(page.causes.causes.records(), key=lambda one: one.count)
    page.causes.choose(largest.fingerprint)
    qtbot.waitUntil(lambda: page.table.records.rowCount() == largest.count)
    page.table.records.tick_all()
    page.bar.buttons["republish"].click()
    dialog = page.findChild(RepublishDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.looked is not None)
    return dialog


def test_many_are_looked_at_before_they_go(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    for shop in ("pdd-10021", "pdd-10025", "pdd-10048"):
        fleet.succeed("pdd", shop, "get_content")
    page = open_page()
    dialog = bulk_dialog(qtbot, page)
    assert dialog.verb_button.text() == "Republish 3 tasks", "one order sync per shop may be active"
    assert dialog.numbers.rules["twin"].number.text() == "15"
    qtbot.waitUntil(lambda: dialog.isVisible())
    assert dialog.focusWidget() is dialog.cancel_button
    dialog.verb_button.click()
    assert fleet.toasts[-1].text == "Republishing 3 tasks in 10\u202fs"
    assert fleet.store.counts().triage[Triage.OPEN] == 33, "it is held, so that it can be taken back"
    press(fleet.toasts[-1], "Send now")
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "3 tasks republished")
    assert fleet.store.counts().triage == {Triage.OPEN: 30, Triage.REPUBLISHED: 3}
    press(fleet.toasts[-1], "See how they end")
    runs = page.findChild(RunsDialog)
    qtbot.waitUntil(lambda: bool(runs.doors))
    assert runs.doors[0].text() == "3 sent, waiting"
    with qtbot.waitSignal(page.navigate) as heard:
        runs.doors[0].click()
    assert heard.args[0] == "tasks"
    assert len(fleet.context.tasks.page(heard.args[1]).tasks) == 3


def test_a_slow_run_is_shown_paused_and_stopped_from_the_page(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    for shop in ("pdd-10021", "pdd-10025", "pdd-10048"):
        fleet.succeed("pdd", shop, "get_content")
    page = open_page()
    dialog = bulk_dialog(qtbot, page)
    dialog.numbers.rules["twin"].toggle.click()
    assert dialog.verb_button.text() == "Republish 18 tasks"
    dialog.speed.field.setValue(6)
    dialog.verb_button.click()
    press(fleet.toasts[-1], "Send now")
    qtbot.waitUntil(lambda: fleet.toasts[-1].text.startswith("Republishing: 1 of 18"), timeout=8000)
    assert page.run_strip.isVisible()
    qtbot.waitUntil(lambda: any(spec.sticky for spec in fleet.toasts))
    press(next(spec for spec in reversed(fleet.toasts) if spec.sticky), "Pause")
    qtbot.waitUntil(lambda: page.run_strip.hand.text() == "Resume")
    page.run_strip.hand.click()
    assert page.run_strip.hand.text() == "Pause"
    page.run_strip.stop.click()
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "1 task republished")
    assert fleet.toasts[-1].detail == "Stopped; 17 stay dead letters"
    assert not page.run_strip.isVisible()
    assert fleet.store.counts().triage == {Triage.OPEN: 32, Triage.REPUBLISHED: 1}


@pytest.mark.one_pair
def test_a_held_bulk_can_be_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    dialog = bulk_dialog(qtbot, page)
    assert dialog.verb_button.toolTip() == "All of them are skipped", "every shop is logged out"
    dialog.numbers.rules["closed"].toggle.click()
    dialog.verb_button.click()
    press(fleet.toasts[-1], "Undo")
    assert fleet.store.counts().triage == {Triage.OPEN: 33}
    assert fleet.toasts[-1].status == "cancelled"


@pytest.mark.one_pair
def test_cancelling_the_question_changes_nothing(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    dialog = bulk_dialog(qtbot, page)
    dialog.cancel_button.click()
    assert fleet.toasts == []
    assert fleet.store.counts().triage == {Triage.OPEN: 33}


@pytest.mark.one_pair
def test_cancelling_keeps_what_was_ticked(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    bulk_dialog(qtbot, page).reject()
    assert len(page.table.records.ticked()) == 18


def cause_menu(page: DeadLettersPage, row: int = 0) -> dict[str, QAction]:
    """The menu of a cause by its texts."""
    menu = QMenu(page)
    of = page.about(page.causes.causes.record(row).fingerprint)
    assert of is not None
    page.cause_verbs.fill(menu, of)
    return {action.text(): action for action in menu.actions() if action.text()}


def open_cause_menu(page: DeadLettersPage) -> dict[str, QAction]:
    """The menu that the head of the letters opens, by its texts."""
    before = set(page.findChildren(QMenu))
    page.letters.more.click()
    (menu,) = set(page.findChildren(QMenu)) - before
    menu.hide()
    return {action.text(): action for action in menu.actions() if action.text()}


def test_a_cause_is_ignored_for_a_while_and_shown_again(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause_menu(page)["Ignore for 1 hour"].trigger()
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 15, Triage.IGNORED: 18})
    qtbot.waitUntil(lambda: [spec.text for spec in fleet.toasts] == ["18 dead letters ignored"])
    page.states.choose(Triage.IGNORED)
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 1)
    cause = page.causes.causes.record(0)
    assert words.rule_words(cause, fleet.store.now_ms()).startswith("ignored until ")
    cause_menu(page)["Stop ignoring it"].trigger()
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 33})


@pytest.mark.one_pair
def test_ignoring_can_be_undone(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause_menu(page, 1)["Ignore until its text changes"].trigger()
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert fleet.store.counts().triage == {Triage.OPEN: 24, Triage.IGNORED: 9}
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 33})


def test_a_cause_gets_a_name_and_a_note(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause_menu(page)["Name and note"].trigger()
    dialog = page.findChild(CauseNote)
    assert dialog is not None
    assert dialog.name.placeholderText() == "Seller login expired"
    dialog.name.setText("QR codes")
    dialog.note.setPlainText("x" * 2001)
    assert not dialog.save.isEnabled()
    dialog.note.setPlainText("Ann scans them at ten")
    dialog.save.click()
    qtbot.waitUntil(lambda: page.letters.title() == "QR codes · sync_order")
    assert page.letters.said.text() == "Ann scans them at ten"


@pytest.mark.one_pair
def test_a_known_issue_is_decided_shown_and_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause = page.causes.causes.record(0).fingerprint
    cause_menu(page)["Known issue…"].trigger()
    dialog = page.findChild(KnownIssue)
    assert dialog is not None
    dialog.owner.setText("ann")
    dialog.park.setText("2h")
    dialog.retry_at.setText("06:00")
    dialog.alert_once.setChecked(True)
    dialog.save.click()
    qtbot.waitUntil(lambda: page.causes.causes.record(0).rule.known)
    rule = cause_rule.read(fleet.store.documents(cause_rule.KIND))[cause]
    assert (rule.owner, rule.park_s, rule.retry_at, rule.alert_once) == ("ann", 7_200, "06:00", True)
    qtbot.waitUntil(lambda: "ann is at it" in page.letters.said.text())
    assert "parked for 2 h" in page.letters.said.text().replace("\u202f", " ")
    cause_menu(page)["Take the rule of the known issue away"].trigger()
    qtbot.waitUntil(lambda: not page.causes.causes.record(0).rule.known)
    qtbot.waitUntil(lambda: "ann is at it" not in page.letters.said.text())
    assert fleet.toasts[-1].text.endswith("is no known issue any more. Shops that it has paused go on within seconds.")
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: "ann is at it" in page.letters.said.text())
    again = cause_rule.read(fleet.store.documents(cause_rule.KIND))[cause]
    assert (again.park_s, again.retry_at, again.alert_once) == (7_200, "06:00", True)


@pytest.mark.one_pair
def test_what_is_decided_about_a_cause_leaves_what_others_decided_meanwhile(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause = page.causes.causes.record(0).fingerprint
    cause_menu(page)["Known issue…"].trigger()
    dialog = page.findChild(KnownIssue)
    assert dialog is not None
    fleet.context.commands.causes.know(cause, park_s=7_200)
    dialog.link.setText("https://tracker.example/7")
    dialog.save.click()
    qtbot.waitUntil(lambda: bool(page.causes.causes.record(0).rule.link))
    rule = cause_rule.read(fleet.store.documents(cause_rule.KIND))[cause]
    assert (rule.link, rule.park_s) == ("https://tracker.example/7", 7_200)


@pytest.mark.one_pair
@pytest.mark.parametrize("choice", ["take over", "overwrite"])
def test_what_somebody_else_decided_otherwise_is_taken_over_or_overwritten(
    choice: str, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause = page.causes.causes.record(0).fingerprint
    cause_menu(page)["Known issue…"].trigger()
    dialog = page.findChild(KnownIssue)
    assert dialog is not None
    dialog.owner.setText("ann")
    dialog.park.setText("2h")
    bo = assembly.commands(fleet.engine, name="bo@desk").causes
    bo.know(cause, park_s=3_600, retry_at="06:00")
    dialog.save.click()
    qtbot.waitUntil(dialog.changed.isVisible)
    assert "bo@desk decided otherwise meanwhile; nothing is saved." in said(dialog)
    assert (dialog.owner.text(), dialog.park.text(), dialog.retry_at.text()) == ("ann", "2h", "06:00")
    assert dialog.fields["park"].error() == "Now there: 1h"
    assert [name for name, button in dialog.take_over.items() if button.isVisible()] == ["park"]
    assert (dialog.save.text(), fleet.toasts) == ("Overwrite", [])
    if choice == "take over":
        dialog.take_over["park"].click()
        assert (dialog.park.text(), dialog.fields["park"].error(), dialog.save.text()) == ("1h", "", "Save")
    dialog.save.click()
    qtbot.waitUntil(lambda: page.causes.causes.record(0).rule.owner == "ann")
    rule = cause_rule.read(fleet.store.documents(cause_rule.KIND))[cause]
    assert (rule.retry_at, rule.park_s) == ("06:00", 3_600 if choice == "take over" else 7_200)


@pytest.mark.one_pair
@pytest.mark.parametrize("choice", ["take over", "overwrite"])
def test_a_note_that_somebody_else_wrote_meanwhile_is_taken_over_or_overwritten(
    choice: str, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause = page.causes.causes.record(0).fingerprint
    cause_menu(page)["Name and note"].trigger()
    dialog = page.findChild(CauseNote)
    assert dialog is not None
    dialog.note.setPlainText("mine")
    assembly.commands(fleet.engine, name="bo@desk").causes.describe(cause, name="new page", note="ann looks at it")
    dialog.save.click()
    qtbot.waitUntil(dialog.changed.isVisible)
    assert (dialog.name.text(), dialog.note.toPlainText()) == ("new page", "mine")
    assert dialog.fields["note"].error() == "Now there: ann looks at it"
    assert dialog.save.text() == "Overwrite"
    if choice == "take over":
        dialog.take_over["note"].click()
    dialog.save.click()
    qtbot.waitUntil(lambda: not page.findChildren(CauseNote))
    rule = cause_rule.read(fleet.store.documents(cause_rule.KIND))[cause]
    assert (rule.name, rule.note) == ("new page", "ann looks at it" if choice == "take over" else "mine")


@pytest.mark.one_pair
@pytest.mark.parametrize("act", ["merge", "split"])
def test_a_cause_that_cannot_be_merged_or_split_any_more_is_said_in_the_dialog(
    act: str, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause, causes = page.causes.causes.record(0), fleet.context.commands.causes
    dialog: MergeInto | SplitOff | None
    if act == "merge":
        cause_menu(page)["Merge into another cause…"].trigger()
        dialog = page.findChild(MergeInto)
        assert dialog is not None
        causes.merge([str(dialog.others.currentData())], cause.fingerprint)
    else:
        cause_menu(page)["Split by shop, platform or worker…"].trigger()
        dialog = page.findChild(SplitOff)
        assert dialog is not None
        causes.split_off(cause.fingerprint, str(dialog.places.currentData()))
    dialog.save.click()
    qtbot.waitUntil(dialog.problem.isVisible)
    assert ("itself" if act == "merge" else "split off") in dialog.problem.text()
    assert (dialog.isVisible(), fleet.toasts) == (True, [])


@pytest.mark.one_pair
def test_a_shop_is_split_off_from_a_cause_and_joined_again(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    before = page.causes.causes.rowCount()
    whole = page.causes.causes.record(0)
    where = next(name for name, _number in whole.places if name.startswith("shop:"))
    cause_menu(page)["Split by shop, platform or worker…"].trigger()
    dialog = page.findChild(SplitOff)
    assert dialog is not None
    dialog.places.setCurrentIndex(dialog.places.findData(where))
    dialog.save.click()
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == before + 1)
    rows = [page.causes.causes.record(at) for at in range(before + 1)]
    part = next(row for row in rows if row.rule.where == where)
    rest = next(row for row in rows if row.fingerprint == whole.fingerprint)
    assert part.count + rest.count == whole.count
    shop = fleet.context.shops()[where.partition(":")[2]]
    assert words.title(part) == f"{words.kind_title(part)} · {shop.name}"
    page.show_request(part.fingerprint)
    qtbot.waitUntil(lambda: page.table.records.rowCount() == part.count)
    assert "Join to its cause again" in cause_menu(page, rows.index(part))
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == before)


@pytest.mark.one_pair
def test_that_a_cause_was_merged_is_told_and_can_be_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    before = page.causes.causes.rowCount()
    part = page.causes.causes.record(1)
    cause_menu(page, 1)["Merge into another cause…"].trigger()
    dialog = page.findChild(MergeInto)
    assert dialog is not None
    into = dialog.others.currentText()
    dialog.save.click()
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == before - 1)
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert fleet.toasts[-1].text == f"{words.title(part)} counts to {into} now."
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == before)
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "Taken back.")


def test_all_of_a_cause_is_archived_after_a_count_and_can_be_taken_back(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause_menu(page, 1)["Archive all 9"].trigger()
    qtbot.waitUntil(lambda: page.findChild(ConfirmDialog) is not None)
    dialog = page.findChild(ConfirmDialog)
    assert dialog is not None
    assert dialog.verb_button.text() == "Archive 9 dead letters"
    assert len(dialog.question.rows) == 6
    named = {f"{shop.name}  {platform_badge(shop.platform)}" for shop in fleet.store.shops() if shop.name}
    assert {name for name, _number in dialog.question.rows} <= named, "people know shops by their names"
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 24, Triage.ARCHIVED: 9})
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 33})


def test_all_of_a_cause_is_republished_after_a_look(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    cause_menu(page)["Republish all 18"].trigger()
    qtbot.waitUntil(lambda: page.findChild(RepublishDialog) is not None)
    dialog = page.findChild(RepublishDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.looked is not None)
    assert dialog.looked is not None
    assert len(dialog.looked.plan.items) == 18


def whole(qtbot: QtBot, page: DeadLettersPage, cause: str) -> set[str]:
    """Republish a cause as a whole from the head of its letters; the ids that the question is about."""
    page.causes.choose(cause)
    qtbot.waitUntil(lambda: page.letters.republish.isEnabled())
    page.letters.republish.click()
    qtbot.waitUntil(lambda: page.findChild(RepublishDialog) is not None)
    dialog = page.findChild(RepublishDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.copy_button.isEnabled)
    dialog.copy_button.click()
    return set(QGuiApplication.clipboard().text().split())


@pytest.mark.one_pair
def test_all_of_a_cause_is_asked_about_however_few_it_has(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.seed_deaths()
    page = open_page()
    assert whole(qtbot, page, page.causes.causes.record(2).fingerprint) == set(dead[27:32])
    held = [spec.text for spec in fleet.toasts if spec.text != "Copied"]
    assert held == [], "nothing is held before somebody has seen what becomes of each"
    assert fleet.store.counts().triage == {Triage.OPEN: 33}


def test_all_of_a_cause_is_no_letter_of_another_one_of_its_kind(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    """Letters without a fingerprint are found by their kind, which those of other causes have too."""
    dead = fleet.seed_deaths()
    like = one(fleet, dead[0])
    bare = [msgspec.structs.replace(like, task_id=f"bare-{number}", fingerprint="") for number in range(2)]
    fleet.store.apply([Create(task=task) for task in bare])
    page = open_page()
    assert whole(qtbot, page, like.error_kind) == {"bare-0", "bare-1"}


def test_ticked_letters_are_archived_together(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.table.records.tick_all()
    page.bar.buttons[Triage.ARCHIVED].click()
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 15, Triage.ARCHIVED: 18})
    qtbot.waitUntil(lambda: [spec.text for spec in fleet.toasts] == ["18 dead letters archived"])


@pytest.mark.one_pair
@pytest.mark.parametrize(("state", "verb"), [(Triage.ARCHIVED, "Archive"), (Triage.IGNORED, "Ignore")])
def test_very_many_ticked_letters_are_looked_at_first_and_no_number_is_typed(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch, state: str, verb: str
) -> None:
    monkeypatch.setitem(LIMITS, False, 17)
    fleet.seed_deaths()
    page = open_page()
    page.table.records.tick_all()
    page.bar.buttons[state].click()
    qtbot.waitUntil(lambda: page.findChild(ConfirmDialog) is not None)
    dialog = page.findChild(ConfirmDialog)
    assert dialog is not None
    assert fleet.store.counts().triage == {Triage.OPEN: 33}
    assert (dialog.verb_button.text(), dialog.verb_button.isEnabled()) == (f"{verb} 18 dead letters", True)
    assert sum(int(number) for _name, number in dialog.question.rows) == 18
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 15, state: 18})
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 33})


@pytest.mark.one_pair
@pytest.mark.parametrize(("asks_for", "all_of_it"), [("each_of", False), ("each", True)])
def test_who_presses_twice_while_many_are_counted_is_asked_once(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch, asks_for: str, all_of_it: bool
) -> None:
    monkeypatch.setitem(LIMITS, False, 17)
    dead = fleet.seed_deaths()[:18]
    page = open_page()
    page.table.records.tick_all()
    offered = {one.key: one for one in page.commands()}
    archive = offered["dead_letters.cause.archive_all" if all_of_it else f"dead_letters.{Triage.ARCHIVED}"]
    with held(TaskQueries, asks_for) as call:
        archive.run()
        call.wait(qtbot)
        archive.run()
        call.let_go()
        settled(qtbot, page)
    (dialog,) = page.findChildren(ConfirmDialog)
    now = instant.now_ms()
    first, last = (clock_of(pick(one(fleet, key).ended_at for key in dead), now) for pick in (min, max))
    assert f"{first} to {last}" in dialog.question.text
    assert dialog.question.number == "18 dead letters"
    dialog.reject()
    archive.run()
    qtbot.waitUntil(lambda: any(one.isVisible() for one in page.findChildren(ConfirmDialog)))


def test_new_letters_wait_and_the_open_one_stays(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50})
    page = open_page()
    shown = page.panel.task_id
    page.panel.editor.json.setPlainText('{"page_size": 9}')
    fleet.die("pdd", "pdd-10025", "sync_order", LOGIN, {"page_size": 50})
    qtbot.waitUntil(lambda: page.table.records.pending == 1, timeout=8000)
    assert page.table.records.rowCount() == 1
    assert page.panel.task_id == shown
    assert page.panel.editor.payload() == {"page_size": 9}
    qtbot.waitUntil(lambda: page.causes.causes.record(0).count == 2)
    page.bar.new_button.click()
    assert page.table.records.rowCount() == 2
    assert page.panel.task_id == shown


def test_letters_behind_newer_ones_are_neither_gone_nor_is_the_open_one_replaced(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    """As many as are listed at first have died before, and then as many again."""
    mark = "00000000000000aa"

    def die(name: str, count: int) -> None:
        now = fleet.store.now_ms()
        fleet.store.apply(
            [
                Create(
                    task=Task(
                        task_id=f"{name}-{number:03d}",
                        platform="pdd",
                        shop_id="pdd-10021",
                        task_type="sync_order",
                        status="dead",
                        triage=Triage.OPEN,
                        error="LoginExpired: redirected to /login",
                        error_kind="login_expired",
                        fingerprint=mark,
                        ended_at=now + number,
                        updated_at=now + number,
                    )
                )
                for number in range(count)
            ]
        )

    die("old", 230)
    page = open_page()
    letters = page.table.records
    assert letters.rowCount() == 200
    page.table.set_current_key(letters.key_at(150))
    shown = page.panel.task_id
    die("new", 220)
    page.catch_up()
    qtbot.waitUntil(lambda: letters.pending >= 200)
    assert (letters.rowCount(), letters.departed) == (200, 0)
    assert (page.panel.task_id, page.table.current_key()) == (shown, shown)
    fleet.context.commands.dead_letters.set_triage([shown], Triage.ARCHIVED)
    page.catch_up()
    qtbot.waitUntil(lambda: letters.departed == 1)
    assert letters.is_dimmed(letters.row_of(shown))
    assert page.panel.task_id == shown
    still = str(letters.key_at(100))
    page.table.set_current_key(still)
    page.refresh()
    qtbot.waitUntil(lambda: letters.key_at(0) == "new-219")
    assert letters.row_of(shown) == -1
    assert (page.panel.task_id, page.table.current_key()) == (still, still)


def test_counts_follow_the_snapshots(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.seed_deaths()
    page = open_page()
    fleet.context.commands.dead_letters.set_triage(dead[:4], Triage.IGNORED)
    qtbot.waitUntil(lambda: page.states.labels() == ["Open 29", "Ignored 4", "Archived 0", "Overtaken 0"], timeout=8000)
    assert page.header.summary().startswith("29 tasks, "), "head and tab are of one look"


def test_nothing_dead_says_when_the_last_one_was_closed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    assert page.header.summary() == "No dead letters."
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    fleet.context.commands.dead_letters.set_triage([dead], Triage.ARCHIVED)
    page.refresh()
    qtbot.waitUntil(lambda: page.header.summary().startswith("No dead letters. Last one closed "))
    assert page.empty.isVisible()


def test_nothing_dead_tells_of_those_that_are_on_their_way_again(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    dead = fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {})
    fleet.context.commands.dead_letters.republish([dead])
    page = open_page()
    assert page.header.summary() == "No dead letters now, but 1 republished task has not ended yet."
    show = next(button for button in page.findChildren(Button) if button.text() == "Show them")
    assert show.isVisible()
    with qtbot.waitSignal(page.navigate) as heard:
        show.click()
    assert heard.args[0] == "tasks"
    assert [task.parent for task in fleet.context.tasks.page(heard.args[1]).tasks] == [dead]


def asked(page: DeadLettersPage) -> list[ConfirmDialog]:
    """Questions that stand open."""
    return [one for one in page.findChildren(ConfirmDialog) if one.isVisible()]


@pytest.mark.one_pair
@pytest.mark.parametrize("way", ["click", "key", "menu", "whole"])
def test_what_will_fail_again_is_asked_about_before_it_is_republished(
    qtbot: QtBot, fleet: Fleet, open_page: Open, way: str
) -> None:
    dead = fleet.die("pdd", "pdd-10021", "single_product", PAYLOAD, {"goods_id": "G0001"})
    page = open_page()
    assert page.panel.primary_button.kind == "plain"
    if way == "click":
        page.panel.primary_button.click()
    elif way == "key":
        page.activateWindow()
        qtbot.keyClick(page.panel.editor.json, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    elif way == "menu":
        menu = QMenu(page)
        page.table.menu_requested.emit(menu, dead)
        menu.actions()[0].trigger()
    else:
        page.letters.republish.click()
    qtbot.waitUntil(lambda: len(asked(page)) == 1)
    assert fleet.toasts == [], "nothing is held before the answer"
    (dialog,) = asked(page)
    assert any("will fail again" in label.text().lower() for label in dialog.findChildren(QLabel))
    dialog.verb_button.click()
    assert [spec.text for spec in fleet.toasts] == ["Republishing 1 task in 5 s"]
    press(fleet.toasts[-1], "Undo")
    assert one(fleet, dead).triage == Triage.OPEN


@pytest.mark.one_pair
def test_a_restricted_account_is_looked_at_in_its_shop_and_no_session_is_good_news(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    now = fleet.store.now_ms()
    fleet.succeed("pdd", "pdd-10021", "get_content")
    fleet.die("pdd", "pdd-10021", "sync_order", "RiskControl: 账号被限制，请完成安全验证", {}, ended_at=now + 60_000)
    page = open_page()
    column = page.table.records.section_of("now")
    assert page.table.records.data(page.table.records.index(0, column), 0) == "session open"
    rows = page.panel.findChildren(KeyValues)[0].values()
    assert rows["Shop now"] == "session open; the platform restricts the account"
    visit = next(button for button in page.letters.findChildren(Button) if button.text() == "Open this shop's browser")
    assert (visit.isVisible(), visit.kind) == (True, "primary")
    visit.click()
    qtbot.waitUntil(lambda: any("opens: log in there" in spec.text for spec in fleet.toasts))


@pytest.mark.one_pair
def test_where_a_whole_cause_would_pass_now_its_verb_is_the_only_filled_one(fleet: Fleet, open_page: Open) -> None:
    now = fleet.store.now_ms()
    fleet.die("pdd", "pdd-10022", "get_content", "RiskControl: 账号被限制", {}, ended_at=now - 9_000)
    for shop in ("pdd-10021", "pdd-10067"):
        fleet.die("pdd", shop, "sync_order", "NetworkError: connect timed out", {}, ended_at=now - 9_000)
    fleet.succeed("pdd", "pdd-10021", "sync_order")
    page = open_page()
    assert page.letters.title().startswith("Network"), "it comes first"
    assert (page.letters.republish.kind, page.panel.primary_button.kind) == ("primary", "plain")
    page.panel.editor.json.setPlainText('{"page_size": 20}')
    assert page.panel.primary_button.text() == "Edit and republish"
    assert (page.letters.republish.kind, page.panel.primary_button.kind) == ("plain", "primary"), "somebody is at it"
    page.panel.editor.revert()
    assert (page.letters.republish.kind, page.panel.primary_button.kind) == ("primary", "plain")
    page.table.records.set_ticked([str(page.table.records.key_at(0))])
    assert (page.letters.republish.kind, page.bar.buttons["republish"].kind) == ("plain", "primary")


def test_a_changed_page_offers_to_hold_back_what_would_die_of_it_and_then_to_let_it_go(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    wished: list[tuple[str, str]] = []
    fleet.context = replace(fleet.context, way_out=lambda verb, target: wished.append((verb, target)))
    fleet.die("temu", "t1", "get_content", PAYLOAD, {})
    for shop in ("pdd-10021", "pdd-10067"):
        fleet.die("pdd", shop, "sync_order", "ElementNotFound: selector '.row' not found within 20 s", {})
    page = open_page()
    cause = next(one for one in page.causes.causes.records() if one.kind == "element_not_found")
    page.causes.choose(cause.fingerprint)
    hold = page.letters.buttons["hold"]
    qtbot.waitUntil(lambda: hold.isVisible() and hold.text() == "Pause all of Pinduoduo")
    assert (hold.kind, page.letters.buttons["report"].kind) == ("plain", "primary")
    hold.click()
    assert wished == [("pause", "platform:pdd")]
    fleet.context.commands.fleet.pause("platform:pdd")
    qtbot.waitUntil(lambda: hold.text() == "Resume Pinduoduo")


@pytest.mark.one_pair
def test_another_page_can_ask_for_a_cause(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    dead = fleet.die("pdd", "pdd-10067", "single_product", PAYLOAD, {"goods_id": "G0001"})
    page = open_page()
    page.show_request(one(fleet, dead).fingerprint)
    qtbot.waitUntil(
        lambda: page.letters.title() == "Parameters refused · single_product" and page.table.records.rowCount() == 2
    )
    # the list of causes is asked by itself and may come after the letters
    qtbot.waitUntil(lambda: page.causes.current() == one(fleet, dead).fingerprint)


@pytest.mark.one_pair
def test_the_menu_of_a_row_offers_what_suits_it(fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, page.table.records.key_at(0))
    assert [action.text() for action in menu.actions()] == ["Republish", "Ignore", "Archive", "Open in Tasks"]


LOST = "Not while the connection is lost"


@pytest.mark.one_pair
def test_nothing_is_decided_while_that_is_not_allowed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.table.records.set_ticked([page.table.records.key_at(0)])
    buttons = (page.bar.buttons["republish"], page.bar.buttons[Triage.IGNORED], page.bar.buttons[Triage.ARCHIVED])
    buttons += (page.panel.primary_button, page.panel.buttons[Triage.IGNORED], page.panel.buttons[Triage.ARCHIVED])
    page.set_acting(LOST)
    assert {(button.isEnabled(), button.toolTip()) for button in buttons} == {(False, LOST)}
    qtbot.keyClick(page.panel.editor.json, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    page.verbs.act("republish", page.ticked())
    page.letters.republish.click()
    assert not fleet.toasts
    assert len(page.table.records.ticked()) == 1
    page.set_acting("")
    assert all(button.isEnabled() for button in buttons)
    page.letters.republish.click()
    qtbot.waitUntil(lambda: page.findChild(RepublishDialog) is not None)
    qtbot.waitUntil(page.findChild(RepublishDialog).export_button.isEnabled)  # type: ignore[union-attr]
    assert len(page.findChildren(RepublishDialog)) == 1, "what was asked for meanwhile came to nothing"


@pytest.mark.one_pair
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_menus_say_why_nothing_can_be_decided_and_still_copy(fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.set_acting(LOST)
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, page.table.records.key_at(0))
    assert {action.text(): action.isEnabled() for action in menu.actions()} == {
        "Republish": False,
        "Ignore": False,
        "Archive": False,
        "Open in Tasks": True,
    }
    assert menu.actions()[0].toolTip() == LOST
    with_cause = open_cause_menu(page)
    assert [name for name, action in with_cause.items() if action.isEnabled()] == ["Copy the error"]


@pytest.mark.one_pair
def test_the_page_speaks_chinese_without_a_restart(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    i18n.set_language("zh_CN")
    page.retranslate()
    i18n.set_language("en")
    qtbot.waitUntil(lambda: page.panel.primary_button.text() == "Republish")  # once the letter is there
    assert page.header.summary() == "33 tasks, 8 shops, 4 causes"


@pytest.mark.one_pair
def test_form_text_and_diff_show_the_same_message(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.die("pdd", "pdd-10021", "sync_order", LOGIN, {"page_size": 50, "kept": 1})
    page = open_page()
    editor = page.panel.editor
    editor.mode.choose("form")
    size = editor.form.input("page_size")
    assert isinstance(size, LineInput)
    assert size.line.text() == "50"
    size.line.clear()
    qtbot.keyClicks(size.line, "500")
    assert editor.form.problem_of("page_size") == "must be at most 100"
    assert not page.panel.primary_button.isEnabled()
    size.line.clear()
    qtbot.keyClicks(size.line, "20")
    assert editor.payload() == {"page_size": 20, "kept": 1}
    editor.mode.choose("diff")
    assert '-   "page_size": 50,' in editor.diff.toPlainText()
    assert '+   "page_size": 20,' in editor.diff.toPlainText()
    editor.json.setPlainText("{")
    editor.mode.choose("form")
    assert editor.mode.current() == "json", "what cannot be read has no form"


def test_a_note_is_written_in_the_panel_and_stays_with_the_letter(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    task_id, notes = page.panel.task_id, page.panel.notes
    assert not notes.button.isEnabled()
    qtbot.keyClicks(notes.line, "<b>asked</b> the shop")
    qtbot.mouseClick(notes.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(notes.rows.values()) == 1)
    ((head, text),) = notes.rows.values().items()
    (kept,) = fleet.store.notes(task_id)
    assert (kept.text, kept.who in head, text) == ("<b>asked</b> the shop", True, "<b>asked</b> the shop")
    assert notes.line.text() == ""
    qtbot.keyClicks(notes.line, "half a")
    page.panel.step_wanted.emit(1)
    qtbot.waitUntil(lambda: notes.line.text() == "" and page.panel.task_id != task_id)
    page.panel.step_wanted.emit(-1)
    qtbot.waitUntil(lambda: notes.line.text() == "half a" and page.panel.task_id == task_id)
    fleet.store.apply([Annotate(task_id=task_id, by="bob@desk", text="done", note_id="n2")])
    page.panel.refresh()
    qtbot.waitUntil(lambda: "done" in notes.rows.values().values())


def test_the_palette_offers_what_can_be_done_about_the_letter_and_its_cause(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    offered = {one.key: one for one in page.commands()}
    assert [one.words for one in offered.values()] == [
        "Republish", "Ignore", "Archive", "Republish all 18", "Archive all 18", "Ignore for 1 hour",
        "Ignore for 1 day", "Ignore until its text changes", "Name and note", "I take it", "Known issue…",
        "Merge into another cause…", "Split by shop, platform or worker…", "Copy the error",
        "Export",
    ]  # fmt: skip
    assert {one.note for one in offered.values()} == {"1 task", "Seller login expired · sync_order", ""}
    page.panel.editor.json.setPlainText('{"page_size": 20}')
    assert "dead_letters.correct" in {one.key for one in page.commands()}
    page.set_acting(LOST)
    assert {one.key for one in page.commands() if not one.reason} == {"dead_letters.cause.copy", "dead_letters.export"}
    page.set_acting("")
    ticked = [str(page.table.records.key_at(row)) for row in range(2)]
    page.table.records.set_ticked(ticked)
    archive = next(one for one in page.commands() if one.key == f"dead_letters.{Triage.ARCHIVED}")
    assert archive.note == "2 tasks"
    archive.run()
    qtbot.waitUntil(lambda: all(one(fleet, key).triage == Triage.ARCHIVED for key in ticked))
    assert not page.table.records.ticked()


@pytest.mark.one_pair
def test_a_letter_that_is_alone_is_decided_where_it_is_read_and_asked_about_in_the_same_words(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()
    page = open_page()
    assert page.letters.republish.isVisible(), "many are decided together"
    rows = page.causes.causes
    alone = next(rows.record(row) for row in range(rows.rowCount()) if rows.record(row).count == 1)
    page.causes.choose(alone.fingerprint)
    qtbot.waitUntil(lambda: page.panel.task is not None and page.panel.task.fingerprint == alone.fingerprint)
    assert not page.letters.republish.isVisible()
    page.panel.primary_button.click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)))
    told = page.panel.letters().told
    assert told is not None
    assert {told.lead, told.evidence} <= {
        label.text() for label in page.findChildren(ConfirmDialog)[0].findChildren(QLabel)
    }


def test_the_keyboard_goes_to_the_letters_when_none_is_shown(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.activateWindow()
    page.panel.editor.setFocus()
    editors = page.panel.findChildren(QPlainTextEdit)
    qtbot.waitUntil(lambda: any(one.isVisible() for one in editors))
    inside = next(one for one in editors if one.isVisible())
    inside.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is inside)
    page.panel.clear()
    assert QApplication.focusWidget() is page.table


def filter_by(qtbot: QtBot, page: DeadLettersPage, expression: str, *found: tuple[str, int]) -> None:
    """Filter as a person does, until these causes (title, number) are listed, with all letters of the chosen one."""

    def there() -> bool:
        causes = page.causes.causes
        shown = [causes.record(row) for row in range(causes.rowCount())]
        chosen = [one.count for one in shown if one.fingerprint == page.causes.current()]
        listed = [(words.title(one), one.count) for one in shown]
        return listed == list(found) and sum(chosen) == page.table.records.rowCount()

    page.filter.field.setText(expression)
    QTest.keyClick(page.filter.field, Qt.Key.Key_Return)
    qtbot.waitUntil(there)


def test_causes_and_letters_are_filtered_by_where_of_what_and_who_is_at_it(
    fleet: Fleet, open_page: Open, qtbot: QtBot
) -> None:
    fleet.seed_deaths()
    fleet.context.commands.causes.know(fleet.context.causes.causes().rows[1].fingerprint, owner="ann", alert_once=True)
    page = open_page()
    shop = page.table.records.record(0).task.shop
    filter_by(qtbot, page, "type:sync_order", ("Seller login expired", 18))
    filter_by(qtbot, page, f"shop:{shop} type:sync_order", ("Seller login expired", 6))
    assert page.letters.number() == "6 of 18 tasks"
    assert {page.table.records.record(row).task.shop for row in range(6)} == {shop}
    assert page.letters.republish.text() == "Republish 6…"
    assert page.header.summary() == "6 of 33 tasks match, 1 shop, 1 cause"
    filter_by(qtbot, page, "owner:ann", ("SelectorNotFound", 9))
    filter_by(qtbot, page, "login", ("Seller login expired", 18))
    filter_by(qtbot, page, "seller", ("Seller login expired", 18))
    filter_by(qtbot, page, "-type:sync_order error~429", ("Too many requests", 5))
    filter_by(qtbot, page, "nowhere")
    assert "No dead letter matches." in said(page.empty)
    assert page.panel.task is None
    page.empty.button.click()
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 4)


@pytest.mark.one_pair
def test_what_is_done_to_a_cause_while_it_is_filtered_is_done_to_what_fits(
    fleet: Fleet, open_page: Open, qtbot: QtBot
) -> None:
    fleet.seed_deaths()
    page = open_page()
    shop = page.table.records.record(0).task.shop
    filter_by(qtbot, page, f"shop:{shop} type:sync_order", ("Seller login expired", 6))
    offered = {one.key: one for one in page.commands()}
    assert offered["dead_letters.cause.archive_all"].words == "Archive all 6"
    offered["dead_letters.cause.archive_all"].run()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)))
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: fleet.store.counts().triage.get(Triage.ARCHIVED, 0) == 6)
    assert fleet.store.counts().triage[Triage.OPEN] == 27


@pytest.mark.one_pair
def test_what_is_decided_about_a_whole_cause_while_a_filter_hides_letters_of_it_says_so_first(
    fleet: Fleet, open_page: Open, qtbot: QtBot
) -> None:
    fleet.seed_deaths()
    page = open_page()
    shop = page.table.records.record(0).task.shop
    filter_by(qtbot, page, f"shop:{shop} type:sync_order", ("Seller login expired", 6))
    beyond = "It holds for the whole cause: for 12 dead letters, too, that the filter hides."
    cause_menu(page)["Known issue…"].trigger()
    known = page.findChild(KnownIssue)
    assert known is not None
    assert beyond in said(known)
    known.reject()
    cause_menu(page)["Ignore for 1 hour"].trigger()
    (dialog,) = asked(page)
    assert beyond in said(dialog)
    assert fleet.store.counts().triage == {Triage.OPEN: 33}
    assert dialog.verb_button.text() == "Ignore 18 dead letters"
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: fleet.store.counts().triage == {Triage.OPEN: 15, Triage.IGNORED: 18})


@pytest.mark.one_pair
def test_letters_are_exported_as_they_are_shown_or_ticked(
    fleet: Fleet, open_page: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    fleet.seed_deaths()
    page = open_page()

    def exported(name: str) -> set[str]:
        with qtbot.waitSignal(page.actions_of_page.exported):
            page.ask_export()
            (dialog,) = [one for one in page.findChildren(FileDialog) if one.isVisible()]
            dialog.fileSelected.emit(str(tmp_path / name))
            dialog.done(0)
        return {one["task_id"] for one in json.loads((tmp_path / name).read_text(encoding="utf-8"))}

    assert len(exported("all.json")) == 33
    shop = page.table.records.record(0).task.shop
    filter_by(qtbot, page, f"shop:{shop} seller", ("Seller login expired", 6))
    shown = {page.table.records.record(row).key for row in range(6)}
    assert exported("filtered.json") == shown
    page.table.records.set_ticked(sorted(shown)[:2])
    assert exported("ticked.json") == set(sorted(shown)[:2])
    assert fleet.toasts[-1].text == "2 dead letters exported to ticked.json"


@pytest.mark.one_pair
def test_who_is_at_a_cause_is_offered_by_name(fleet: Fleet, open_page: Open, qtbot: QtBot) -> None:
    fleet.seed_deaths()
    know, rows = fleet.context.commands.causes.know, fleet.context.causes.causes().rows
    know(rows[1].fingerprint, owner="林梅", alert_once=True)
    know(rows[2].fingerprint, owner="林梅")
    know(rows[3].fingerprint, owner="ann")
    page = open_page()
    chip = next(one for one in page.filter.chip_views() if one.accessibleName().endswith("Who is at it"))
    chip.opened.emit()
    (popup,) = page.findChildren(ValuePopup)
    qtbot.waitUntil(
        lambda: [popup.list.item(row).text() for row in range(popup.list.count())] == ["ann   1", "林梅   14"]
    )
    popup.close()
    filter_by(qtbot, page, "owner:ann", ("Parameters refused", 1))
    next(one for one in page.filter.chip_views() if "Who is at it" in one.accessibleName()).opened.emit()
    (popup,) = [one for one in page.findChildren(ValuePopup) if one.isVisible()]
    qtbot.waitUntil(lambda: popup.list.item(1).text() == "林梅   14")  # all of them, also while one is filtered


@pytest.mark.one_pair
def test_the_filter_of_letters_is_remembered_and_goes_with_a_link_and_its_cause(
    fleet: Fleet, open_page: Open, qtbot: QtBot
) -> None:
    fleet.seed_deaths()
    page = open_page()
    filter_by(qtbot, page, "type:get_content", ("SelectorNotFound", 9))
    link, cause = page.shown_request(), page.causes.current()
    assert link == f"fp:{cause} type:get_content"
    mine = fleet.context
    fleet.context = msgspec.structs.replace(mine, profile="another")
    assert open_page().causes.causes.rowCount() == 4, "another fleet has other causes"
    fleet.context = mine
    page = open_page()
    assert page.filter.expression() == "type:get_content"
    assert page.causes.causes.rowCount() == 1
    page.show_request("")
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 4)
    page.show_request(link)
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 1)
    assert (page.filter.expression(), page.causes.current()) == ("type:get_content", cause)
    page.show_request(cause)
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 4 and page.causes.current() == cause)
    assert page.filter.expression() == ""
    page.show_request("colour:red")
    qtbot.waitUntil(lambda: "colour" in page.filter.problem())
    assert not page.bar.buttons["republish"].isEnabled()


@pytest.mark.one_pair
def test_letters_are_filtered_by_what_columns_are_called_in_chinese(
    fleet: Fleet, open_page: Open, qtbot: QtBot
) -> None:
    fleet.seed_deaths()
    fingerprint = fleet.context.causes.causes().rows[1].fingerprint
    fleet.context.commands.causes.know(fingerprint, owner="ann", alert_once=True)
    page = open_page()
    found = ("SelectorNotFound", 9)
    filter_by(qtbot, page, "谁在处理:ann", found)
    filter_by(qtbot, page, "谁在处理：ann 类型:get_content", found)
    filter_by(qtbot, page, "名称~selector", found)
    filter_by(qtbot, page, "-谁在处理:ann 备注~429")
    page.filter.field.setText("colour:red")
    QTest.keyClick(page.filter.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "there are owner, cause, id, shop" in page.filter.problem())
    page.filter.set_expression("谁在处理:ann")
    assert "谁在处理" not in page.filter.field.text(), "it is a chip"
    assert page.filter.expression() == "owner:ann"


def shown(page: DeadLettersPage) -> list[Task]:
    """The letters that are listed."""
    return [page.table.records.record(row).task for row in range(page.table.records.rowCount())]


@pytest.fixture
def late_causes(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """What a filter means is found only once this is set; it is, until a test clears it."""
    may = threading.Event()
    may.set()
    find = table.fitting

    def late(*about: object) -> object:
        may.wait(30.0)
        return find(*about)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "fitting", late)
    yield may
    may.set()


@pytest.mark.one_pair
@pytest.mark.parametrize("way", ["link", "typed"])
def test_nothing_is_ticked_or_decided_that_a_filter_hides(
    fleet: Fleet, open_page: Open, qtbot: QtBot, late_causes: threading.Event, way: str
) -> None:
    fleet.seed_deaths()
    page = open_page()
    wanted = f"shop:{shown(page)[0].shop} type:sync_order"
    assert page.letters.republish.isEnabled()
    page.table.records.tick_all()
    late_causes.clear()
    if way == "link":
        page.show_request(wanted)
    else:
        page.filter.field.setText(wanted)
        QTest.keyClick(page.filter.field, Qt.Key.Key_Return)
    assert not page.table.records.ticked()
    assert not page.letters.republish.isEnabled(), "18 stand there, of which 6 fit"
    assert not page.panel.primary_button.isEnabled()
    page.table.records.tick_all()
    page.bar.all_wanted.emit()
    assert not page.bar.buttons["republish"].isEnabled()
    archive = next(one for one in page.commands() if one.key == f"dead_letters.{Triage.ARCHIVED}")
    assert archive.reason == "Loading…"
    late_causes.set()
    qtbot.waitUntil(lambda: len(shown(page)) == 6 and page.letters.republish.isEnabled())
    assert not page.table.records.ticked()
    assert "selected" not in said(page.bar)
    assert page.panel.primary_button.isEnabled()
    assert page.panel.task_id in {task.task_id for task in shown(page)}


@pytest.mark.one_pair
@pytest.mark.parametrize("link", ["", "type:sync_order"])
def test_a_link_leads_to_open_letters_whatever_was_shown(
    fleet: Fleet, open_page: Open, qtbot: QtBot, link: str
) -> None:
    letters = [fleet.die("pdd", f"pdd-1002{number}", "sync_order", LOGIN, {}) for number in range(4)]
    fleet.context.commands.dead_letters.set_triage(letters[:2], Triage.ARCHIVED)
    page = open_page()
    page.states.choose(Triage.ARCHIVED)
    qtbot.waitUntil(lambda: {task.task_id for task in shown(page)} == set(letters[:2]))
    page.show_request(link)
    assert page.states.current() == Triage.OPEN
    assert not shown(page), "none of those is open"
    qtbot.waitUntil(lambda: {task.task_id for task in shown(page)} == set(letters[2:]))
    page.refresh()
    with qtbot.waitSignal(page.refreshed):
        pass
    assert {task.task_id for task in shown(page)} == set(letters[2:])


@pytest.mark.one_pair
def test_of_a_filter_that_is_refused_nothing_is_said_to_be_empty(fleet: Fleet, open_page: Open, qtbot: QtBot) -> None:
    fleet.seed_deaths()
    page = open_page()
    page.states.choose(Triage.ARCHIVED)
    qtbot.waitUntil(page.empty.isVisible)
    page.filter.field.setText("colour:red")
    QTest.keyClick(page.filter.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "not known" in said(page.empty))
    page.states.choose(Triage.OPEN)
    assert not page.anything_known
    qtbot.waitUntil(lambda: page.empty.isVisible() and page.filter.problem() != "")
    assert "No dead letter" not in said(page)
    page.empty.button.click()
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 4)
    assert not page.empty.isVisible()


@pytest.mark.one_pair
def test_esc_leaves_the_letter_then_the_ticks_then_the_filter(fleet: Fleet, open_page: Open, qtbot: QtBot) -> None:
    fleet.seed_deaths()
    page = open_page()
    filter_by(qtbot, page, "type:get_content", ("SelectorNotFound", 9))
    page.activateWindow()
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    page.table.records.tick_all()
    focus = QApplication.focusWidget()
    assert focus is not None
    assert page.panel.isAncestorOf(focus)
    QTest.keyClick(focus, Qt.Key.Key_Escape)
    assert (page.table.hasFocus(), len(page.table.records.ticked())) == (True, 9)
    QTest.keyClick(page.table, Qt.Key.Key_Escape)
    assert (page.table.records.ticked(), page.filter.expression()) == (frozenset(), "type:get_content")
    QTest.keyClick(page.table, Qt.Key.Key_Escape)
    assert page.filter.expression() == ""
    qtbot.waitUntil(lambda: page.causes.causes.rowCount() == 4)


@pytest.mark.one_pair
def test_letters_are_filtered_by_a_cell_of_theirs(fleet: Fleet, open_page: Open, qtbot: QtBot) -> None:
    fleet.seed_deaths()
    page = open_page()
    shop = shown(page)[0].shop
    page.table.filter_requested.emit("shop", False)
    assert page.filter.expression() == f"-shop:{shop}"
    qtbot.waitUntil(lambda: len(shown(page)) == 12)
    assert shop not in {task.shop for task in shown(page)}


def test_letters_are_counted_within_the_other_chips(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops()
    fleet.seed_deaths()
    page = open_page()

    def counted(field: str, expected: dict[str, int]) -> None:
        view = next(one for one in page.filter.chip_views() if one.accessibleName().startswith(f"Add filter: {field}"))
        view.opened.emit()
        popup = page.findChildren(ValuePopup)[-1]

        def told() -> dict[str, int]:
            parts = (popup.list.item(n).text().rpartition("   ") for n in range(popup.list.count()))
            return {name.split()[0]: int(number) for name, gap, number in parts if gap}

        qtbot.waitUntil(lambda: told() == expected)
        popup.close()

    types = {"sync_order": 18, "get_content": 9, "refresh_goods": 5, "single_product": 1}
    counted("Type", types)
    page.filter.set_expression("type:refresh_goods")
    page.filter.changed.emit("type:refresh_goods")
    counted("Platform", {"Pinduoduo": 4, "TEMU": 1})
    page.filter.field.setText("expired")
    page.filter.set_expression("expired")
    counted("Type", {"sync_order": 18})
