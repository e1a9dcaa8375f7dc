"""The box that answers whether something ran: opened by keys, asked of a shop, a type and a day."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any, cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import i18n
from services.commands.tasks import TaskSpec
from services.domain.change import Finish, Forget
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Schedule
from services.domain.promises.promise import Promise
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import ACTIVE, Status
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.monitor.tasks import LogTail
from services.monitor.works import WorkStory
from services.ports import LogLine
from tests.gui.desk import Desk
from tests.support.widgets import words
from views.dialogs.work.dialog import Asked, WorkDialog
from views.support.words import type_names
from views.tables.table_view import TableView
from views.widgets.unknown import Bones

pytestmark = pytest.mark.both_pairs

WAIT_MS = 10_000
LOST = "the store went away"
SHOP = "pdd:pdd-10021"
Ask = Callable[..., WorkDialog]
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def ask(qtbot: QtBot, desk: Desk) -> Ask:
    """Opens the dialog over a window and waits for its answer."""
    window = QWidget()
    qtbot.addWidget(window)
    window.show()

    def answered(asked: Asked, barred: Callable[[], str] = str) -> WorkDialog:
        dialog = WorkDialog(desk.context, asked, barred, window)
        with qtbot.waitSignal(dialog.answered, timeout=WAIT_MS):
            dialog.open()
        return dialog

    return answered


class Lame:
    """Opens the dialog over servers that can be lost: ``lost`` names the questions that fail."""

    def __init__(self, desk: Desk, window: QWidget) -> None:
        self.lost: set[str] = set()
        self.asked = 0  #: so often for the whole story of the chosen work
        self._limits, self._window = desk.context.limits, window
        self.states, self.days = self._limits.states, self._limits.days
        self._shops = desk.context.shops
        self._context = replace(desk.context, limits=cast("Any", self), shops=self.shops)

    def opened(self, asked: Asked) -> WorkDialog:
        dialog = WorkDialog(self._context, asked, parent=self._window)
        dialog.open()
        return dialog

    def story(self, *asked: Any) -> WorkStory | None:
        self._answers("story")
        self.asked += 1
        return self._limits.story(*asked)

    def stories(self, *asked: Any) -> tuple[WorkStory, ...]:
        self._answers("story")
        return self._limits.stories(*asked)

    def shops(self) -> Mapping[str, Shop]:
        self._answers("shops")
        return self._shops()

    def _answers(self, question: str) -> None:
        if question in self.lost:
            raise StoreUnavailable(LOST)


@pytest.fixture
def lame(qtbot: QtBot, desk: Desk) -> Lame:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    return Lame(desk, window)


def lead(dialog: WorkDialog) -> str:
    """The answer and what stands beside it."""
    if dialog.answer.told is None:
        return ""
    return f"{dialog.answer.short.text()}: {dialog.answer.beside.text()}"


def opened(console: Console) -> WorkDialog:
    """The dialog that keys opened."""
    found = console.window.findChildren(WorkDialog)
    assert len(found) == 1
    return found[0]


def test_keys_alone_open_it_ask_and_create(console: Console, desk: Desk, qtbot: QtBot) -> None:
    console.window.activateWindow()
    QTest.keyClick(console.window, Qt.Key.Key_D, CTRL)
    dialog = opened(console)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is dialog.field, timeout=WAIT_MS)
    with qtbot.waitSignal(dialog.answered, timeout=WAIT_MS):
        QTest.keyClicks(dialog.field, "10021 sync_order")
    assert lead(dialog) == "No: It did not run"
    assert "It has not succeeded, as far as is known" in words(dialog)
    assert "fleetdeck work pdd:pdd-10021 sync_order --day today" in dialog.command.text()
    assert not dialog.payload.isVisible()  # all of the type are one work
    QTest.keyClick(dialog, Qt.Key.Key_R, CTRL)
    qtbot.waitUntil(lambda: any("New task" in one.windowTitle() for one in QApplication.topLevelWidgets()))
    assert not dialog.isVisible()


@pytest.mark.parametrize("page_id", ["shops", "tasks", "dead_letters"])
def test_it_begins_with_what_is_chosen_on_the_page(console: Console, desk: Desk, qtbot: QtBot, page_id: str) -> None:
    desk.fail(desk.create(0, task_type="sync_order"))
    console.window.open_page(page_id)
    page = console.window.page(page_id)
    table: TableView = cast("Any", page).table
    qtbot.waitUntil(lambda: table.records.rowCount() > 0, timeout=WAIT_MS)
    if page_id != "shops":
        table.set_current_key(table.records.key_at(0))
    else:
        table.set_current_key(SHOP)
    kind = "" if page_id == "shops" else "sync_order"
    qtbot.waitUntil(lambda: page.pointed() == (SHOP, kind), timeout=WAIT_MS)
    QTest.keyClick(console.window, Qt.Key.Key_D, CTRL)
    dialog = opened(console)
    if kind:  # nothing is left to be said
        qtbot.waitUntil(lambda: bool(lead(dialog)), timeout=WAIT_MS)
    assert dialog.field.text() == f"{SHOP} {kind}".strip()
    dialog.reject()


def test_it_says_what_ran_by_whom_and_leads_to_the_tasks(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    failed = desk.fail(desk.create(task_type="sync_order"))
    made = desk.create(task_type="sync_order")
    desk.succeed(made)
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    assert lead(dialog).startswith("Yes: Succeeded at ")
    said = words(dialog)
    who = desk.session.commands.operator.who
    assert f"by {who}: failed, Seller login expired" in said
    assert f"asked for by {who}" in said
    assert [run.task_id for run, _room in dialog.answer.strip.bars] == [made.task_id], "one cell of two runs"
    assert dialog.answer.counted.text() == "1 succeeded, 1 died and was overtaken"
    assert failed.task_id in dialog.answer.lines.links
    assert dialog.answer.task_id == made.task_id
    qtbot.waitUntil(lambda: dialog.answer.evidence.task.text() == made.task_id, timeout=WAIT_MS)
    dialog.answer.strip.setFocus()
    QTest.keyClick(dialog.answer.strip, Qt.Key.Key_Home)
    assert dialog.answer.task_id == failed.task_id
    qtbot.waitUntil(lambda: "LoginExpired: redirected to /login" in words(dialog), timeout=WAIT_MS)
    with qtbot.waitSignal(dialog.wanted, timeout=WAIT_MS) as led:
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert led.args == ["tasks", f'id:"{failed.task_id}"']


def test_yesterday_it_did_not_run_and_it_says_when_it_did(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.succeed(desk.create(task_type="sync_order"))
    dialog = ask(Asked(shop=SHOP, task_type="sync_order", day="yesterday"))
    assert lead(dialog) == "No: It did not run"
    assert "Not on that day, but later: " in words(dialog)
    assert "Not run since" not in words(dialog), "it has, on the day after"
    i18n.set_language("zh_CN")
    assert lead(dialog) == "没有: 没有跑"


def test_a_day_whose_records_are_gone_is_still_answered(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    made = [desk.create(task_type="sync_order")]
    desk.succeed(made[0])
    made.append(desk.create(task_type="sync_order", reason="an order came meanwhile"))
    desk.succeed(made[1])
    store = desk.session.engine.store
    for task in store.get([one.task_id for one in made]):
        assert task is not None
        store.apply([Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=60_000)])
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    assert lead(dialog).startswith("Yes: 2 tasks of this day ended, the first at")
    assert "the records are gone" in words(dialog)
    i18n.set_language("zh_CN")
    assert "当天共结束 2 个任务" in words(dialog)


@pytest.mark.parametrize(
    ("kind", "day", "why"),
    [
        ("refresh_goods", "yesterday", "counted by their parameters"),
        ("sync_order", "2020-02-03", "Runs are counted for 31 days, and records of that day may be gone."),
    ],
)
def test_a_day_of_which_records_may_be_gone_is_not_known(
    qtbot: QtBot, desk: Desk, ask: Ask, kind: str, day: str, why: str
) -> None:
    desk.succeed(desk.create(task_type=kind))
    dialog = ask(Asked(shop=SHOP, task_type=kind, day=day))
    assert lead(dialog) == "Not known: It may have run"
    assert why in words(dialog)
    assert "The last success that is known: " in words(dialog)
    assert "Not run since" not in words(dialog)
    if kind == "refresh_goods":
        dialog.payload.setText('{"page_size": 7}')
    else:
        dialog.field.setText(f"{SHOP} sync_order 昨天")
    qtbot.waitUntil(lambda: lead(dialog) == "No: It did not run", timeout=WAIT_MS)


def test_what_waits_is_told_with_its_plan_and_the_answer_follows_the_fleet(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    made = desk.create(task_type="sync_order")
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    assert lead(dialog) == "Not yet: It waits"
    assert "no worker" in words(dialog)
    assert "No worker" in dialog.answer.under.text()
    assert [run.state for run, _room in dialog.answer.strip.bars] == ["waits"]
    qtbot.waitUntil(lambda: words(dialog.answer.evidence).count("not begun yet") > 1, timeout=WAIT_MS)
    assert "No picture was kept." not in words(dialog)
    assert dialog.answer.counted.text() == "1 waits"
    desk.claim(made)
    qtbot.waitUntil(lambda: lead(dialog).startswith("Running: Since "), timeout=WAIT_MS)


def test_a_run_that_failed_and_goes_on_says_both(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    running = desk.claim(desk.create(task_type="sync_order"))
    tried = Attempt(number=1, worker="w1", started_at=running.started_at, ended_at=running.started_at, outcome="failed")
    goes_on = Finish(
        task_id=running.task_id,
        owner=running.owner,
        to=Status.RETRYING,
        attempt=tried,
        delay_ms=3_600_000,
        error_kind="element_not_found",
    )
    desk.session.engine.store.apply([goes_on])
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    qtbot.waitUntil(lambda: "failed, Page element missing, and retrying now" in words(dialog), timeout=WAIT_MS)


@pytest.mark.parametrize("now", ["Waiting", "Running", "To confirm"])
def test_what_is_there_today_is_no_answer_for_yesterday(qtbot: QtBot, desk: Desk, ask: Ask, now: str) -> None:
    made = desk.create(task_type="sync_order")
    if now == "Running":
        desk.claim(made)
    elif now == "To confirm":
        desk.hold(made)
    dialog = ask(Asked(shop=SHOP, task_type="sync_order", day="yesterday"))
    assert lead(dialog) == "No: It did not run"
    assert f"{now} now, by " in words(dialog)
    assert made.task_id in dialog.answer.lines.links


def test_a_poll_that_failed_leaves_the_answer_and_is_made_up_for(qtbot: QtBot, desk: Desk, lame: Lame) -> None:
    made = desk.create(task_type="sync_order")
    dialog = lame.opened(Asked(shop=SHOP, task_type="sync_order"))
    qtbot.waitUntil(lambda: lead(dialog) == "Not yet: It waits", timeout=WAIT_MS)
    assert "as of " not in words(dialog)
    lame.lost = {"story"}
    qtbot.waitUntil(lambda: LOST in words(dialog), timeout=WAIT_MS)
    assert re.search(r"Not yet, as of \d\d:\d\d:\d\d: It waits", lead(dialog))
    assert dialog.answer.tiles.tiles["again"].value.text() == "Not known"
    assert re.search(r"asked at \d\d:\d\d:\d\d, ", dialog.state.text())
    assert made.task_id in dialog.answer.lines.links
    desk.claim(made)
    lame.lost = set()
    qtbot.waitUntil(lambda: lead(dialog).startswith("Running: "), timeout=WAIT_MS)
    assert "as of " not in words(dialog)
    assert LOST not in words(dialog)


def test_the_chosen_work_is_asked_of_when_something_of_it_is_heard_and_no_oftener(
    qtbot: QtBot, desk: Desk, lame: Lame
) -> None:
    running = desk.claim(desk.create(task_type="sync_order"))
    dialog = lame.opened(Asked(shop=SHOP, task_type="sync_order"))
    qtbot.waitUntil(lambda: lead(dialog).startswith("Running: "), timeout=WAIT_MS)
    with qtbot.waitSignal(dialog.answered, raising=False, timeout=3_000):  # what was heard before it was open
        pass
    asked = lame.asked
    desk.create(1, task_type="sync_order")
    with qtbot.waitSignal(dialog.listed, timeout=3 * WAIT_MS):  # it looks up four times until then
        pass
    assert lame.asked == asked
    tried = Attempt(
        number=1, worker="w1", started_at=running.started_at, ended_at=running.started_at, outcome="succeeded"
    )
    done = Finish(task_id=running.task_id, owner=running.owner, to=Status.SUCCEEDED, attempt=tried)
    desk.session.engine.store.apply([done])
    qtbot.waitUntil(lambda: not lead(dialog).startswith("Running: "), timeout=WAIT_MS)
    assert lame.asked > asked


def test_a_first_answer_that_failed_is_asked_for_again(qtbot: QtBot, lame: Lame) -> None:
    lame.lost = {"story"}
    dialog = lame.opened(Asked(shop=SHOP, task_type="sync_order"))
    qtbot.waitUntil(lambda: LOST in words(dialog), timeout=WAIT_MS)
    lame.lost = set()
    qtbot.waitUntil(lambda: lead(dialog) == "No: It did not run", timeout=WAIT_MS)


def test_a_first_look_that_failed_is_made_up_for(qtbot: QtBot, lame: Lame) -> None:
    lame.lost = {"shops"}
    dialog = lame.opened(Asked())
    qtbot.waitUntil(lambda: LOST in words(dialog), timeout=WAIT_MS)
    assert not dialog.known
    lame.lost = set()
    qtbot.waitUntil(lambda: dialog.known, timeout=WAIT_MS)
    assert LOST not in words(dialog)


def test_the_parameters_ask_of_one_work_where_the_type_counts_them(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    done = desk.create(task_type="refresh_goods", payload={"page_size": 2})
    desk.succeed(done)
    dialog = ask(Asked(shop=SHOP, task_type="refresh_goods"))
    assert dialog.payload.isVisible()
    assert lead(dialog).startswith("Yes: ")
    dialog.payload.setText('{"page_size": 3}')
    qtbot.waitUntil(lambda: lead(dialog) == "No: It did not run", timeout=WAIT_MS)
    dialog.payload.setText("{page")
    assert "This is no JSON object" in words(dialog)
    dialog.payload.setText('{"page_size": 2}')
    qtbot.waitUntil(lambda: lead(dialog).startswith("Yes: "), timeout=WAIT_MS)
    assert dialog.create_button.text() == "Run now", "nothing is done wrong by repeating it"
    dialog.create_button.click()
    qtbot.waitUntil(lambda: bool(desk.toasts), timeout=WAIT_MS)
    assert [task.payload for task in active(desk, "refresh_goods")] == [done.payload]
    dialog.payload.setText('{"page_size": 3}')
    qtbot.waitUntil(lambda: dialog.create_button.text() == "Run it now…", timeout=WAIT_MS)
    dialog.create_button.click()
    assert desk.asked == [
        {"platform": "pdd", "shops": [SHOP], "task_type": "refresh_goods", "payload": {"page_size": 3}}
    ]


def active(desk: Desk, task_type: str) -> list[Task]:
    """What of this type has not ended."""
    terms = (equals("type", task_type), equals("status", *ACTIVE))
    return list(desk.session.engine.store.query(Query(terms=terms)).tasks)


def test_done_work_is_run_again_in_place_with_the_reason_that_is_recorded(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    done = desk.succeed(desk.create(task_type="sync_order", priority=3))
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    assert dialog.create_button.text() == "Run again with reason…"
    assert not dialog.again.isVisible()
    QTest.keyClick(dialog, Qt.Key.Key_R, CTRL)
    assert dialog.again.isVisible()
    assert dialog.again.title.text().startswith("sync_order of 微光数码专卖店 once more: it would repeat")
    assert dialog.again.run_button.toolTip() == "Say why first"
    QTest.keyClick(dialog.again.reason, Qt.Key.Key_Escape)
    assert (dialog.again.isVisible(), dialog.isVisible()) == (False, True)
    QTest.keyClick(dialog, Qt.Key.Key_R, CTRL)
    QTest.keyClicks(dialog.again.reason, "the file was lost")
    QTest.keyClick(dialog.again.reason, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(desk.toasts), timeout=WAIT_MS)
    (made,) = active(desk, "sync_order")
    assert (made.task_id != done.task_id, made.priority, desk.asked) == (True, 3, [])
    (entry, *_older) = desk.session.engine.store.audit(5)
    assert "the file was lost" in str(entry)
    assert not dialog.again.isVisible()
    qtbot.waitUntil(lambda: dialog.create_button.text() == "Run it now…", timeout=WAIT_MS)
    desk.toasts[-1].actions[-1].call()
    qtbot.waitUntil(lambda: not active(desk, "sync_order"), timeout=WAIT_MS)


def test_work_that_somebody_else_began_meanwhile_is_not_run_again(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.succeed(desk.create(task_type="sync_order"))
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    dialog.create_button.click()
    dialog.again.reason.setText("the file was lost")
    theirs = desk.create(task_type="sync_order", reason="theirs")
    dialog.again.run_button.click()
    qtbot.waitUntil(lambda: f"It is active already: {theirs.task_id}" in words(dialog), timeout=WAIT_MS)
    assert dialog.again.reason.text() == "the file was lost"


class Held:
    """The questions about tasks, and the commands; ``hold`` names what does not answer until ``go`` is set."""

    def __init__(self, desk: Desk, hold: str) -> None:
        self.go, self.asked, self.error, self.armed = Event(), Event(), "", False
        self._hold, self._tasks, self._commands = hold, desk.context.tasks, desk.context.commands
        self.context = replace(
            desk.context, tasks=cast("Any", self), commands=cast("Any", self._Commands(self, desk.context.commands))
        )

    class _Commands:
        def __init__(self, held: Held, commands: Any) -> None:
            self.tasks, self._commands = held, commands

        def __getattr__(self, name: str) -> Any:
            return getattr(self._commands, name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tasks, name)

    def get(self, ids: list[str]) -> Any:
        self._wait("get")
        return self._tasks.get(ids)

    def create(self, specs: list[TaskSpec], **more: Any) -> Any:
        self._wait("create")
        if self.error:
            raise StoreUnavailable(self.error)
        return self._commands.tasks.create(specs, **more)

    def _wait(self, question: str) -> None:
        if self.armed and question == self._hold:
            self.asked.set()
            assert self.go.wait(WAIT_MS / 1000)


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    """What the dialog belongs to, and what outlives it."""
    shown = QWidget()
    qtbot.addWidget(shown)
    shown.show()
    return shown


OTHER = "pdd:pdd-10025"


def show(qtbot: QtBot, dialog: WorkDialog, asked: str) -> None:
    """Go on to another work."""
    shop, kind = asked.split()
    dialog.field.setText(asked)
    qtbot.waitUntil(lambda: dialog.works.current() == (shop, kind) and dialog.answer.told is not None, timeout=WAIT_MS)


def closed(qtbot: QtBot, dialog: WorkDialog) -> None:
    """Leave it by Esc; it is gone for good."""
    with qtbot.waitSignal(dialog.destroyed, timeout=WAIT_MS):
        QTest.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_a_second_click_on_run_now_makes_no_second_task(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.session.engine.store.put_document("type", "beside", task_type.dump(TaskType(name="beside", uniqueness="none")))
    desk.succeed(desk.create(task_type="beside"))
    dialog = ask(Asked(shop=SHOP, task_type="beside"))
    assert dialog.create_button.text() == "Run now"
    seen: list[tuple[bool, str]] = []

    def click_again() -> None:
        seen.append((dialog.create_button.isEnabled(), dialog.create_button.toolTip()))
        QTest.mouseClick(dialog.create_button, Qt.MouseButton.LeftButton)
        QTest.keyClick(dialog, Qt.Key.Key_R, CTRL)

    dialog.again.made.connect(click_again)
    dialog.create_button.click()
    assert not dialog.create_button.isEnabled(), "while it is created"
    qtbot.waitUntil(lambda: dialog.create_button.text() == "Run it now…" and not dialog.again.busy, timeout=WAIT_MS)
    assert len(active(desk, "beside")) == 1
    assert seen == [(False, "Asking…")]
    assert not dialog.again.isVisible()
    assert dialog.create_button.isEnabled(), "the answer shows what was created"


def test_what_is_refused_of_one_work_has_not_the_reason_of_another(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.succeed(desk.create(task_type="sync_order"))
    desk.succeed(desk.create(1, payload={"page_size": 2}))
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    dialog.create_button.click()
    QTest.keyClicks(dialog.again.reason, "the file was lost")
    QTest.keyClick(dialog.again.reason, Qt.Key.Key_Escape)
    show(qtbot, dialog, f"{OTHER} refresh_goods")
    dialog.payload.setText('{"page_size": 2}')
    qtbot.waitUntil(lambda: dialog.create_button.text() == "Run now", timeout=WAIT_MS)
    theirs = desk.create(1, payload={"page_size": 2})
    dialog.create_button.click()
    qtbot.waitUntil(lambda: f"It is active already: {theirs.task_id}" in words(dialog), timeout=WAIT_MS)
    assert dialog.again.title.text().startswith("refresh_goods of 柚子数码专卖店 once more: ")
    assert (dialog.again.reason.text(), dialog.again.run_button.isEnabled()) == ("", False)


def test_who_went_on_is_told_by_a_message_what_was_refused(qtbot: QtBot, desk: Desk, window: QWidget) -> None:
    for shop in (0, 1):
        desk.succeed(desk.create(shop, task_type="sync_order"))
    held = Held(desk, "create")
    dialog = WorkDialog(held.context, Asked(shop=SHOP, task_type="sync_order"), parent=window)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.create_button.text() == "Run again with reason…", timeout=WAIT_MS)
    dialog.create_button.click()
    QTest.keyClicks(dialog.again.reason, "the file was lost")
    held.armed = True
    QTest.keyClick(dialog.again.reason, Qt.Key.Key_Return)
    qtbot.waitUntil(held.asked.is_set, timeout=WAIT_MS)
    theirs = desk.create(task_type="sync_order", reason="theirs")
    show(qtbot, dialog, f"{OTHER} sync_order")
    assert (dialog.create_button.isEnabled(), dialog.create_button.toolTip()) == (False, "It is being created")
    QTest.keyClick(dialog, Qt.Key.Key_R, CTRL)
    assert not dialog.again.isVisible(), "nothing is typed that the end of the other would take away"
    held.go.set()
    qtbot.waitUntil(lambda: bool(desk.toasts), timeout=WAIT_MS)
    (toast,) = desk.toasts
    assert toast.text == "sync_order of 微光数码专卖店 once more: that did not work."
    assert toast.detail == f"It is active already: {theirs.task_id}"
    assert not dialog.again.isVisible()
    qtbot.waitUntil(dialog.create_button.isEnabled, timeout=WAIT_MS)
    QTest.keyClick(dialog, Qt.Key.Key_R, CTRL)
    assert dialog.again.title.text().startswith("sync_order of 柚子数码专卖店 once more: ")
    assert dialog.again.reason.text() == ""


def left_while_begun(qtbot: QtBot, desk: Desk, window: QWidget, held_at: str) -> Held:
    """Work is run again with a reason, and the box is closed before that is done."""
    desk.succeed(desk.create(task_type="sync_order"))
    held = Held(desk, held_at)
    dialog = WorkDialog(held.context, Asked(shop=SHOP, task_type="sync_order"), parent=window)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.create_button.text() == "Run again with reason…", timeout=WAIT_MS)
    dialog.create_button.click()
    dialog.again.reason.setText("the file was lost")
    held.armed = True
    dialog.again.run_button.click()
    qtbot.waitUntil(held.asked.is_set, timeout=WAIT_MS)
    closed(qtbot, dialog)
    return held


@pytest.mark.parametrize("held_at", ["get", "create"])
def test_what_was_begun_is_created_after_esc_and_leads_to_its_task(
    qtbot: QtBot, desk: Desk, window: QWidget, held_at: str
) -> None:
    held = left_while_begun(qtbot, desk, window, held_at)
    held.go.set()
    qtbot.waitUntil(lambda: bool(desk.toasts), timeout=WAIT_MS)
    (made,) = active(desk, "sync_order")
    assert desk.toasts[0].text == "1 task created"
    desk.toasts[0].actions[0].call()
    assert desk.ways == [("open_tasks", f"batch:{made.batch}")]


@pytest.mark.parametrize("error", ["", LOST])
def test_what_is_refused_after_esc_is_told_by_a_message(qtbot: QtBot, desk: Desk, window: QWidget, error: str) -> None:
    held = left_while_begun(qtbot, desk, window, "create")
    theirs, held.error = desk.create(task_type="sync_order", reason="theirs"), error
    held.go.set()
    qtbot.waitUntil(lambda: bool(desk.toasts), timeout=WAIT_MS)
    (toast,) = desk.toasts
    assert toast.text == "sync_order of 微光数码专卖店 once more: that did not work."
    assert (error or theirs.task_id) in toast.detail
    assert toast.stays


def test_the_gate_that_holds_is_opened_from_the_answer(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.session.commands.fleet.pause(f"shop:{SHOP}")
    made = desk.create(task_type="sync_order")
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    (resume,) = dialog.answer.ways.buttons
    assert resume.text() == "Resume shop"
    said = [one.text() for one in dialog.answer.findChildren(QLabel) if "paused" in one.text()]
    assert said
    assert not any(SHOP in one for one in said), "the shop is called by its name"
    resume.click()
    assert desk.ways == [("resume", f"shop:{SHOP}")]
    assert dialog.isVisible(), "the answer changes in place"
    desk.session.commands.fleet.resume(f"shop:{SHOP}")
    desk.hold(desk.get(made.task_id))
    qtbot.waitUntil(lambda: [one.text() for one in dialog.answer.ways.buttons] == ["Decide"], timeout=WAIT_MS)
    dialog.answer.ways.buttons[0].click()
    assert desk.ways[-1] == ("decide", f"id:{made.task_id}")
    assert not dialog.isVisible()


def test_who_may_not_act_is_told_so_at_what_holds(desk: Desk, ask: Ask) -> None:
    desk.session.commands.fleet.pause(f"shop:{SHOP}")
    desk.create(task_type="sync_order")
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"), lambda: "Only operators may")
    (resume,) = dialog.answer.ways.buttons
    assert (resume.isEnabled(), resume.toolTip()) == (False, "Only operators may")


class Read:
    """The questions about tasks; ``places``: where each look into a log began."""

    def __init__(self, tasks: Any) -> None:
        self._tasks, self.places = tasks, list[int]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tasks, name)

    def log(self, task_id: str, attempt: int, place: int = 0) -> LogTail:
        self.places.append(place)
        tail: LogTail = self._tasks.log(task_id, attempt, place)
        return tail


def test_of_the_log_of_a_run_only_what_is_new_is_read(qtbot: QtBot, desk: Desk) -> None:
    running, store = desk.claim(desk.create(task_type="sync_order")), desk.session.engine.store

    def write(*numbers: int) -> None:
        lines = [LogLine(at=store.now_ms(), stream="info", text=f"page {n}") for n in numbers]
        store.append_log(running.task_id, running.attempt, lines)

    write(*range(7))
    window, tasks = QWidget(), Read(desk.context.tasks)
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    context = replace(desk.context, tasks=cast("Any", tasks))
    dialog = WorkDialog(context, Asked(shop=SHOP, task_type="sync_order"), parent=window)
    dialog.open()
    qtbot.waitUntil(lambda: "page 6" in words(dialog), timeout=WAIT_MS)
    assert "last 5 of 7 lines" in words(dialog)
    pane, evidence = dialog.answer.viewport(), dialog.answer.evidence
    assert evidence.mapTo(pane, evidence.rect().bottomLeft()).y() < pane.height(), "seen without scrolling"
    write(7)
    qtbot.waitUntil(lambda: "page 7" in words(dialog), timeout=WAIT_MS)
    assert "last 5 of 8 lines" in words(dialog)
    assert words(dialog).count("page 6") == 1
    first, *others = tasks.places
    assert first == 0
    assert others
    assert all(others), "from where the last look ended"


class Slow:
    """Tasks whose records come once ``gate`` is open."""

    def __init__(self, tasks: Any) -> None:
        self._tasks, self.gate = tasks, Event()
        self.gate.set()

    def get(self, ids: Any) -> Any:
        self.gate.wait(30)
        return self._tasks.get(ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tasks, name)


def test_while_the_evidence_of_another_run_is_loaded_grey_rows_stand_there(qtbot: QtBot, desk: Desk) -> None:
    first = desk.fail(desk.create(task_type="sync_order"))
    second = desk.claim(desk.create(task_type="sync_order"))
    store = desk.session.engine.store
    store.append_log(second.task_id, second.attempt, [LogLine(at=store.now_ms(), stream="info", text="page 1")])
    window, tasks = QWidget(), Slow(desk.context.tasks)
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    dialog = WorkDialog(
        replace(desk.context, tasks=cast("Any", tasks)), Asked(shop=SHOP, task_type="sync_order"), parent=window
    )
    dialog.open()
    evidence = dialog.answer.evidence
    qtbot.waitUntil(lambda: "page 1" in words(evidence), timeout=WAIT_MS)
    (bones,) = evidence.findChildren(Bones)
    assert not bones.isVisible()
    tasks.gate.clear()
    try:
        evidence.ask(first.task_id, 0)
        assert "page 1" not in words(evidence), "it is of another run"
        qtbot.waitUntil(bones.isVisible, timeout=WAIT_MS)
    finally:
        tasks.gate.set()
    qtbot.waitUntil(lambda: not bones.isVisible(), timeout=WAIT_MS)


def test_what_fits_several_shops_has_an_answer_for_each(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.create(1, task_type="sync_order")
    dialog = ask(Asked(shop="数码", task_type="sync_order"))
    assert dialog.works.works() == [(SHOP, "sync_order"), ("pdd:pdd-10025", "sync_order")]
    assert dialog.number.text() == "2 works in 2 shops"
    QTest.keyClick(dialog.field, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: lead(dialog) == "Not yet: It waits", timeout=WAIT_MS)
    QTest.keyClick(dialog.field, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: lead(dialog) == "No: It did not run", timeout=WAIT_MS)
    QTest.keyClick(dialog.field, Qt.Key.Key_C, CTRL)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(f"sync_order of 微光数码专卖店 ({SHOP})")
    assert "No: it did not run." in copied
    dialog.field.setText("nobody")
    qtbot.waitUntil(lambda: "No shop is called so." in words(dialog), timeout=WAIT_MS)
    assert (dialog.works.works(), dialog.create_button.isEnabled()) == ([], False)
    dialog.field.setText("数码 nothing")
    qtbot.waitUntil(lambda: "No type is called so." in words(dialog), timeout=WAIT_MS)
    assert dialog.works.model().rowCount() == 0, "it asks for more words, which would find nothing"


@pytest.mark.one_pair
def test_shops_beyond_the_list_are_counted_also_where_none_of_them_ran(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.session.engine.store.put_shops([Shop(platform="temu", shop_id=f"t{number}") for number in range(30)])
    desk.session.engine.registry.forget()
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    dialog.field.setText("sync_order")
    rows = dialog.works.rows
    qtbot.waitUntil(lambda: len(rows.all) > 40, timeout=WAIT_MS)
    listed = {row.shop for row in rows.all if row.shop}
    left = len(desk.context.shops()) - len(listed)
    assert rows.all[-1].words == f"and {left} more shops; go on typing"


def test_who_may_not_create_still_gets_the_answer(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    desk.session.commands.tasks.create(
        [TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")], origin="cli"
    )
    why = ["Only operators may"]
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"), lambda: why[0])
    assert lead(dialog) == "Not yet: It waits"
    assert not dialog.create_button.isEnabled()
    assert dialog.create_button.toolTip() == "Only operators may"
    why[0] = ""
    qtbot.waitUntil(dialog.create_button.isEnabled, timeout=WAIT_MS)
    why[0] = "The store is lost"
    qtbot.waitUntil(lambda: dialog.create_button.toolTip() == "The store is lost", timeout=WAIT_MS)
    assert not dialog.create_button.isEnabled()


def test_what_a_schedule_brings_and_a_promise_stand_beside_the_answer(qtbot: QtBot, desk: Desk, ask: Ask) -> None:
    yearly = Schedule(name="yearly", task_type="sync_order", every_s=31_536_000, first_at=0, shops=(SHOP,))
    desk.session.commands.schedules.add(yearly)
    desk.session.commands.promises.set(Promise(name="fresh", task_type="sync_order", limit_s=3600, shops=(SHOP,)))
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    tiles = dialog.answer.tiles.tiles
    assert [tile.value.text() for tile in tiles.values()][1:] == ["Not judged", "It is safe"]
    with qtbot.waitSignal(dialog.wanted, timeout=WAIT_MS) as led:
        tiles["promise"].door.click()
    assert led.args == ["promises", "fresh"]
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    with qtbot.waitSignal(dialog.wanted, timeout=WAIT_MS) as led:
        dialog.answer.tiles.tiles["next"].door.click()
    assert led.args == ["schedules", "yearly"]
    i18n.set_language("zh_CN")
    type_names.know(desk.session.types())
    dialog = ask(Asked(shop=SHOP, task_type="sync_order"))
    assert dialog.answer.tiles.tiles["promise"].beside.text().startswith("同步订单"), "as people call the type"


@pytest.mark.one_pair
def test_of_what_no_ledger_counts_nothing_is_said_never_to_have_run(qtbot: QtBot, desk: Desk) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = WorkDialog(desk.context, Asked(shop=SHOP, task_type="o"), parent=window)  # several types have an o
    with qtbot.waitSignal(dialog.listed, timeout=WAIT_MS):
        dialog.open()
    notes = [row.words for row in dialog.works.rows.all if row.note]
    assert notes == ["Nothing is known of it; it may have run"]


@pytest.mark.one_pair
def test_no_answer_of_another_day_stands_there_while_nothing_answers(qtbot: QtBot, desk: Desk, lame: Lame) -> None:
    desk.succeed(desk.create(task_type="refresh_goods", payload={"page_size": 2}))
    dialog = lame.opened(Asked(shop=SHOP, task_type="refresh_goods"))
    qtbot.waitUntil(lambda: lead(dialog).startswith("Yes: "), timeout=WAIT_MS)
    today = dialog.command_line()
    dialog.field.setText(f"{SHOP} refresh_goods yesterday")
    qtbot.waitUntil(lambda: lead(dialog).startswith(("No: ", "Not known: ")), timeout=WAIT_MS)
    assert dialog.command_line() != today
    lame.lost |= {"story"}
    dialog.payload.setText('{"page_size": 3}')
    assert lead(dialog) == ""
