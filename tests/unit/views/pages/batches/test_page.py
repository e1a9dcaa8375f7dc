"""The Batches page over a real engine: the list, one batch with its boxes, and every act as its audited command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.change import Claim, Create
from services.domain.insight.batch import Box, Hold, Story
from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.domain.text.message import Message
from tests.support import widgets
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import opening
from views.dialogs.confirm import LIMITS, ConfirmDialog
from views.kit.list_source import FIRST
from views.pages.batches.page import ENDED, BatchesPage
from views.pages.batches.words import BatchNow

pytestmark = pytest.mark.one_pair

Open = Callable[[], BatchesPage]
WAIT_MS = 30_000


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: BatchesPage(fleet.context), size=(1400, 900))


def create(fleet: Fleet, batch: str, number: int = 3, task_type: str = "sync_order", **fields: object) -> list[str]:
    """Tasks of a batch."""
    known = sorted(fleet.context.shops().items())
    shops = [key.partition(":") for key, shop in known if not shop.dedicated][:number]
    specs = [
        TaskSpec(platform=one[0], shop_id=one[2], task_type=task_type, batch=batch, **fields)  # type: ignore[arg-type]
        for one in shops
    ]
    return [task.task_id for task in fleet.context.commands.tasks.create(specs, origin="console").created]


def choose(qtbot: QtBot, page: BatchesPage, name: str) -> None:
    """Put the cursor on a batch and wait for its story."""
    assert page.table.set_current_key(name)

    def there() -> bool:
        one = page.current()
        return one is not None and one.key == name and one.story is not None

    qtbot.waitUntil(there, timeout=WAIT_MS)


def answer(qtbot: QtBot, page: BatchesPage, act: Callable[[], object]) -> ConfirmDialog:
    """Act, and take the dialog that asks."""
    act()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    return page.findChildren(ConfirmDialog)[-1]


def test_without_batches_the_page_says_how_one_comes_to_be(open_page: Open) -> None:
    page = open_page()
    assert page.stack.currentWidget() is page.empty
    assert page.header.summary() == "No batch yet."


def test_a_batch_tells_how_far_it_is_and_what_is_not_done(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ids = create(fleet, "nightly")
    create(fleet, "other", 1, "refresh_goods")
    fleet.finish(ids[0])
    page = open_page()
    choose(qtbot, page, "nightly")
    assert page.header.title() == "nightly"
    with qtbot.waitSignal(page.navigate) as asked:
        page.tasks_door.click()
    assert (page.tasks_door.text(), asked.args) == ("Tasks", ["tasks", None]), "it is a view of tasks"
    assert [page.numbers[part].text() for part in ("done", "waiting", "held")] == ["1", "0", "2"]
    assert page.headline.text().startswith("1 of 3 done, 2 stay open")
    assert page.others.text().startswith("2 need a person (no worker: 2")
    assert sum(box.total for box in page.boxes.boxes()) == 3
    (hold,) = page.held.records.records()
    assert (len(hold.ids), hold.key, hold.person) == (2, "no_worker", True)
    assert [page.buttons[key].isEnabled() for key in ("retry", "raise", "cancel")] == [False, True, True]
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        page.held.open_requested.emit(hold.key)
    assert asked.args[0] == "tasks"
    assert str(asked.args[1]).startswith("batch:nightly gate:")


def test_what_is_left_is_told_by_shop_and_boxes_by_group_of_shops(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    known = fleet.context.shops()
    ids = create(fleet, "nightly", 4)
    fleet.finish(ids[0])
    shops = {task.task_id: task.shop for task in fleet.store.get(ids) if task is not None}
    fleet.context.commands.fleet.replace_shops([msgspec.structs.replace(known[shops[ids[1]]], group="测试组")])
    page = open_page()
    choose(qtbot, page, "nightly")
    assert page.below["done"].text().startswith("25.0\u202f%")
    assert page.told.text().startswith("created ")
    assert "as of " in widgets.words(page), "what would change carries its age"
    page.left_by.choose("shop")
    left = page.left.records.records()
    assert sorted(one.shop for one in left) == sorted(shops[name] for name in ids[1:])
    assert all(one.reasons == (("no_worker", 1),) and one.person for one in left)
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        page.left.open_requested.emit(shops[ids[2]])
    assert asked.args == ["tasks", f"batch:nightly shop:{shops[ids[2]]} -status:succeeded,cancelled"]
    page.boxes_by.choose("group")
    qtbot.waitUntil(lambda: "测试组" in {box.within for box in page.boxes.boxes()}, timeout=WAIT_MS)
    box = next(one for one in page.boxes.boxes() if one.within == "测试组")
    assert (box.total, box.shops) == (1, (shops[ids[1]],))
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        page.boxes.opened.emit(box.key)
    assert asked.args == ["tasks", f"batch:nightly type:sync_order shop:{shops[ids[1]]}"]
    page.boxes_by.choose("type")
    qtbot.waitUntil(lambda: [box.total for box in page.boxes.boxes()] == [4], timeout=WAIT_MS)


def test_an_ended_batch_says_when_it_ended_also_when_it_is_clicked(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    soon = fleet.store.now_ms() + 3_600_000
    for task_id in create(fleet, "nightly", 2, deadline_ms=soon):
        fleet.finish(task_id)
    create(fleet, "other", 1, "refresh_goods")
    page = open_page()
    choose(qtbot, page, "other")
    place = page.table.cell_rect(page.table.records.index(page.table.records.row_of("nightly"), 0))
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place.center())
    qtbot.waitUntil(lambda: " at " in page.headline.text(), timeout=WAIT_MS)
    assert page.header.title() == "nightly"
    assert page.headline.text().startswith("All 2 done, at ")
    assert page.headline.text().endswith(" before its deadline")


def test_those_that_have_not_ended_stand_above_those_that_have(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    for task_id in create(fleet, "ended"):
        fleet.finish(task_id)
    create(fleet, "nightly", 1, "refresh_goods")
    create(fleet, "weekly", 1, "get_content")
    page = open_page()
    records = page.table.records
    qtbot.waitUntil(lambda: records.rowCount() == 3, timeout=WAIT_MS)
    found = {records.row_of(key): (one.title, one.note) for key, one in records.headings.items()}
    assert found == {0: ("Not ended", "2"), 2: ("Ended", "1")}
    page.tabs.choose("ended")
    assert not records.headings, "the choice above the list says it"


def test_a_heading_counts_no_batch_that_has_ended_while_it_stood_below_it(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    for task_id in create(fleet, "ended"):
        fleet.finish(task_id)
    ids = [*create(fleet, "nightly", 1, "refresh_goods"), *create(fleet, "weekly", 1, "get_content")]
    page = open_page()
    records = page.table.records

    def heads() -> dict[int | None, tuple[str, str]]:
        return {records.row_of(key): (one.title, one.note) for key, one in records.headings.items()}

    qtbot.waitUntil(lambda: heads() == {0: ("Not ended", "2"), 2: ("Ended", "1")}, timeout=WAIT_MS)
    place = page.table.cell_rect(records.index(0, 0))
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place.center())  # rows stay from now on
    fleet.context.commands.tasks.cancel(ids[:1])
    qtbot.waitUntil(lambda: heads() == {0: ("Not ended", "1"), 2: ("Ended", "2")}, timeout=WAIT_MS)
    assert page.header.summary() == "1 open, 2 ended"


def test_more_than_are_shown_are_told_and_older_ones_are_found_by_name(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    now = fleet.store.now_ms()
    made = [
        Task(
            task_id=f"t{n}", platform="pdd", shop_id="s1", task_type="work", batch=f"night-{n:03d}", created_at=now + n
        )
        for n in range(FIRST + 5)
    ]
    fleet.store.apply([Create(task=task) for task in made])
    page = open_page()
    assert page.header.summary() == "200 open, 0 ended, the newest 200 are shown"
    page.search.setText("NIGHT-003")
    qtbot.waitUntil(lambda: page.table.current_key() == "night-003", timeout=WAIT_MS)
    assert page.header.summary() == "1 open, 0 ended"
    page.search.setText("nobody")
    qtbot.waitUntil(page.none.isVisible, timeout=WAIT_MS)
    page.none.action.emit()
    qtbot.waitUntil(lambda: page.table.records.rowCount() >= FIRST, timeout=WAIT_MS)
    page.show_request("night-001")
    qtbot.waitUntil(lambda: page.table.current_key() == "night-001", timeout=WAIT_MS)


def test_who_comes_to_the_page_presses_the_keys_of_its_buttons(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, "nightly")
    page = open_page()
    choose(qtbot, page, "nightly")
    page.setFocus()
    reached = page.window().focusWidget()
    assert reached is page.table
    dialog = answer(qtbot, page, lambda: qtbot.keyClick(reached, Qt.Key.Key_Delete))
    assert "nightly" in widgets.words(dialog)
    dialog.reject()


def test_what_holds_it_keeps_its_order_until_it_is_asked_for(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    shops = [task.shop for task in fleet.store.get(create(fleet, "nightly")) if task is not None]
    pause = fleet.context.commands.fleet.pause
    pause(f"shop:{shops[0]}", reason="a look")
    page = open_page()
    choose(qtbot, page, "nightly")

    def reasons() -> list[tuple[str, int]]:
        return [(hold.key, len(hold.ids)) for hold in page.held.records.records()]

    qtbot.waitUntil(lambda: reasons() == [("no_worker", 2), ("paused", 1)], timeout=WAIT_MS)
    pause(f"shop:{shops[1]}", reason="a look")
    qtbot.waitUntil(lambda: ("paused", 2) in reasons(), timeout=WAIT_MS)
    assert reasons() == [("no_worker", 1), ("paused", 2)], "nothing moves under the cursor"
    page.refresh()
    qtbot.waitUntil(lambda: reasons() == [("paused", 2), ("no_worker", 1)], timeout=WAIT_MS)


def test_boxes_are_chosen_and_opened_by_keys(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, "nightly")
    page = open_page()
    choose(qtbot, page, "nightly")
    page.boxes.setFocus()
    qtbot.keyClick(page.boxes, Qt.Key.Key_Space)
    kind, platform = page.boxes.picked or ("", "")
    assert kind == "sync_order"
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        qtbot.keyClick(page.boxes, Qt.Key.Key_Return)
    assert asked.args == ["tasks", f"batch:nightly type:sync_order platform:{platform}"]
    assert page.boxes.picked
    qtbot.keyClick(page.boxes, Qt.Key.Key_Escape)
    assert page.boxes.picked is None


def test_a_box_lists_what_holds_its_own_tasks_and_opens_those(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    by_platform: dict[str, list[str]] = {}
    for task_id in create(fleet, "nightly", 40):
        by_platform.setdefault(task_id.partition("_")[0], []).append(task_id)
    (first, mine), (second, others) = sorted(by_platform.items(), key=lambda one: len(one[1]))[:2]
    fleet.finish(mine[0], "dead", "SelectorNotFound: .order-list__row")
    fleet.finish(others[0], "dead", "SelectorNotFound: .order-list__row")
    page = open_page()
    choose(qtbot, page, "nightly")
    qtbot.mouseClick(
        page.boxes, Qt.MouseButton.LeftButton, pos=page.boxes.place(("sync_order", first)).center().toPoint()
    )
    rows = {hold.key: len(hold.ids) for hold in page.held.records.records()}
    assert (rows["dead"], rows["no_worker"]) == (1, len(mine) - 1), f"none of {second}"
    assert f"0 of {len(mine)} done" in widgets.words(page), "of which box that is"
    with qtbot.waitSignal(page.navigate) as asked:
        page.held.open_requested.emit("no_worker")
    assert asked.args[1] == f"batch:nightly type:sync_order platform:{first} gate:no_worker"
    page.left_by.choose("shop")
    assert sum(len(one.ids) for one in page.left.records.records()) == len(mine)


def test_a_cause_of_many_letters_opens_all_of_them(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.pages.batches.verbs.BY_NAME", 1)
    ids = create(fleet, "nightly", 3)
    for task_id in ids:
        fleet.finish(task_id, "dead", "SelectorNotFound: .order-list__row")
    print_ = fleet.store.get([ids[0]])[0].fingerprint
    page = open_page()
    choose(qtbot, page, "nightly")
    with qtbot.waitSignal(page.navigate) as asked:
        page.held.open_requested.emit(f"dead:{print_}")
    assert asked.args[1] == f"batch:nightly status:dead fp:{print_}"


def test_raising_goes_at_once_and_is_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    changed, low, *others = ids = create(fleet, "nightly", 4, priority="normal")
    fleet.context.commands.tasks.prioritize([low], 2)
    page = open_page()
    choose(qtbot, page, "nightly")
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        page.buttons["raise"].click()
    assert {task.lane for task in fleet.store.get(ids)} == {"high"}
    assert fleet.store.audit(1)[0].action == "batch.raise"
    fleet.context.commands.tasks.prioritize([changed], 8)
    qtbot.waitUntil(lambda: bool(fleet.toasts) and bool(fleet.toasts[-1].actions), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == f"{len(ids)} tasks go through the high lane."
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: {task.lane for task in fleet.store.get(others)} == {"normal"}, timeout=WAIT_MS)
    assert [task.priority for task in fleet.store.get(ids) if task] == [8, 2, *[6] * len(others)]
    acts = [entry.action for entry in fleet.store.audit(3)]
    assert acts == ["task.prioritize", "task.prioritize", "batch.raise"], "it is one act, whatever they had before"


@pytest.mark.one_pair
def test_one_task_that_is_raised_is_told_as_one(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    first, *others = create(fleet, "nightly", priority="normal")
    fleet.context.commands.tasks.cancel(others)
    page = open_page()
    choose(qtbot, page, "nightly")
    page.buttons["raise"].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts) and bool(fleet.toasts[-1].actions), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "1 task goes through the high lane."
    assert fleet.store.get([first])[0].lane == "high"


@pytest.mark.one_pair
def test_raising_very_many_is_looked_at_first_and_wants_nothing_typed(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, False, 2)
    ids = create(fleet, "nightly", 3, priority="normal")
    page = open_page()
    choose(qtbot, page, "nightly")
    dialog = answer(qtbot, page, page.buttons["raise"].click)
    assert {task.lane for task in fleet.store.get(ids)} == {"normal"}
    assert (dialog.verb_button.text(), dialog.typed_field.isVisible()) == (f"Raise {len(ids)} tasks", False)
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        dialog.verb_button.click()
    assert {task.lane for task in fleet.store.get(ids)} == {"high"}
    assert [one.text for one in fleet.toasts[-1].actions] == ["Undo"]


def listed(qtbot: QtBot, fleet: Fleet, page: BatchesPage) -> set[str]:
    """The tasks that the list shows which the page opens."""
    with qtbot.waitSignal(page.actions_of_page.shown, timeout=WAIT_MS) as shown:
        page.actions_of_page.show_tasks(page.current())  # type: ignore[arg-type]
    return {task.task_id for task in fleet.context.tasks.page(shown.args[1]).tasks}


def test_cancelling_asks_and_what_was_cancelled_can_be_created_again(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    *ids, runs = create(fleet, "nightly", 3)
    claim = Claim(task_id=runs, gen=0, attempt=0, owner=f"rpa-01#{runs}", worker="rpa-01", lease_ms=60_000)
    fleet.store.apply([claim])
    page = open_page()
    choose(qtbot, page, "nightly")
    dialog = answer(qtbot, page, page.buttons["cancel"].click)
    assert dialog.verb_button.text() == "Cancel 3 tasks"
    dialog.note_field.setText("wrong prices")
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        dialog.verb_button.click()
    assert {(task.status, task.reason) for task in fleet.store.get(ids)} == {("cancelled", "wrong prices")}
    assert fleet.store.audit(1)[0].action == "batch.cancel"
    qtbot.waitUntil(lambda: bool(fleet.toasts[-1].actions), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "2 tasks cancelled; 1 running task asked to stop"
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: fleet.store.counts().total == 5, timeout=WAIT_MS)
    # of those that stand in the place of cancelled ones, and of the one that was asked to stop
    page.refresh()
    qtbot.waitUntil(lambda: sum(box.total for box in page.boxes.boxes()) == 3, timeout=WAIT_MS)
    assert " of 3 " in page.headline.text()
    assert page.table.records.find("nightly").view.total == 3, "in the list as beside it"


def test_what_was_cancelled_is_created_again_also_when_its_undo_has_gone(
    qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = create(fleet, "nightly", 3)
    page = open_page()
    choose(qtbot, page, "nightly")
    assert not page.buttons["again"].isVisible(), "nothing of it is cancelled"
    fleet.context.commands.tasks.cancel(ids)
    other = fleet.context.commands.tasks.create_again(ids[:1]).made[ids[0]]
    fleet.context.commands.tasks.cancel([other])
    page.refresh()
    qtbot.waitUntil(lambda: page.buttons["again"].text() == "Create again 3", timeout=WAIT_MS)
    dialog = answer(qtbot, page, page.buttons["again"].click)
    assert dialog.verb_button.text() == "Create 3 tasks"
    dialog.verb_button.click()
    _undo, now = fleet.toasts[-1].actions
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        now.call()
    assert fleet.toasts[-1].text == "3 tasks created again"
    made = [task for task in fleet.store.query(Query()).tasks if not task.ended]
    assert {(task.parent, task.batch) for task in made} == {(one, "nightly") for one in (other, *ids[1:])}
    page.refresh()
    qtbot.waitUntil(lambda: not page.buttons["again"].isVisible(), timeout=WAIT_MS)
    page.actions_of_page.export(page.current(), tmp_path / "nightly.jsonl")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "3 tasks exported to nightly.jsonl", timeout=WAIT_MS)
    lines = (tmp_path / "nightly.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["task_id"] for line in lines} == {task.task_id for task in made}, "as many as it has"
    assert listed(qtbot, fleet, page) == {task.task_id for task in made}, "and so the list of its tasks"
    fleet.context.commands.tasks.cancel([other := made[0].task_id])
    page.refresh()
    qtbot.waitUntil(lambda: page.current().view.counts.get("cancelled") == 1, timeout=WAIT_MS)  # type: ignore[union-attr]
    told = len(fleet.toasts)
    found = listed(qtbot, fleet, page)
    assert other in found
    assert found.isdisjoint(ids), "the tasks that were made of these stand there"
    assert len(found) == page.current().view.total  # type: ignore[union-attr]
    monkeypatch.setattr("views.pages.batches.verbs.MOST_NAMED", 10)
    assert listed(qtbot, fleet, page) >= {other, *ids}, "too many to be named"
    assert ["listed twice" in one.text for one in fleet.toasts[told:]] == [True]


def test_a_retry_waits_for_an_undo_and_then_sends_dead_letters_again(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    ids = create(fleet, "nightly", 2)
    fleet.finish(ids[0], "dead", "SelectorNotFound: .order-list__row")
    page = open_page()
    choose(qtbot, page, "nightly")
    assert page.others.text().startswith("2 need a person (dead, no attempt left: 1")
    qtbot.waitUntil(lambda: "enough record" in page.effects["retry"].text(), timeout=WAIT_MS)
    assert page.effects["raise"].text() == "no worker takes them", "as far as that can be said"
    dialog = answer(qtbot, page, page.buttons["retry"].click)
    dialog.verb_button.click()
    undo, send = fleet.toasts[-1].actions
    assert (undo.text, send.text) == ("Undo", "Send now")
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        send.call()
    assert fleet.store.get([ids[0]])[0].triage == "republished"
    page.refresh()
    qtbot.waitUntil(lambda: "dead" not in page.current().view.counts, timeout=WAIT_MS)  # type: ignore[union-attr]
    tasks = {task.task_id for task in fleet.store.query(Query()).tasks}
    assert listed(qtbot, fleet, page) == tasks - {ids[0]}, "as many as it counts"


def test_the_list_is_searched_and_parted(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, "nightly")
    (ended,) = create(fleet, "prices", 1, "refresh_goods")
    fleet.finish(ended)
    page = open_page()
    assert page.header.summary() == "1 open, 1 ended"
    assert page.table.records.key_at(0) == "nightly"
    page.tabs.choose(ENDED)
    assert [row.key for row in page.table.records.records()] == ["prices"]
    page.search.setText("nothing")
    assert not page.table.isVisible()
    page.none.button.click()
    assert page.table.records.rowCount() == 2
    choose(qtbot, page, "prices")
    assert page.headline.text().startswith("All 1 done, at ")


def test_who_only_looks_sees_why_nothing_can_be_done(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, "nightly")
    page = open_page()
    choose(qtbot, page, "nightly")
    page.set_acting("The connection is read-only")
    assert not any(button.isEnabled() for button in page.buttons.values())
    reasons = {one.key: one.reason for one in page.commands()}
    assert (reasons["batches.cancel"], reasons["batches.tasks"]) == ("The connection is read-only", "")


def test_dead_tasks_stand_by_cause_with_the_next_step_of_each(
    qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    ids = create(fleet, "nightly", 4)
    for task_id in ids[:2]:
        fleet.finish(task_id, "dead", "SelectorNotFound: .order-list__row")
    fleet.finish(ids[2], "dead", "Seller login expired")
    print_ = fleet.store.get([ids[0]])[0].fingerprint
    fleet.context.commands.causes.know(print_, owner="ann")
    page = open_page()
    choose(qtbot, page, "nightly")
    records = page.held.records
    keys = [str(records.key_at(at)) for at in range(records.rowCount())]
    assert keys[0] == "dead"
    assert keys[1] == f"dead:{print_}"
    assert keys[2].startswith("dead:")
    rows = [{column.key: column.display(records.find(key)) for column in records.columns} for key in keys]
    assert [row["next"] for row in rows[:3]] == ["Retry", "Triage", "Triage"]
    assert [row["tasks"] for row in rows[:3]] == ["3", "2", "1"]
    assert rows[1]["goes"] == "ann is at it"
    assert rows[1]["why"] == "SelectorNotFound"
    records.request_sort(records.section_of("tasks"))
    assert [str(records.key_at(at)) for at in range(3)] == keys[:3]
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        page.go_on(records.find(keys[1]))
    assert asked.args == ["dead_letters", print_]
    file = tmp_path / "nightly.jsonl"
    page.actions_of_page.export(page.current(), file)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "4 tasks exported to nightly.jsonl"
    assert {json.loads(line)["task_id"] for line in file.read_text(encoding="utf-8").splitlines()} == set(ids)


def test_a_batch_that_is_through_opens_what_came_of_it(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    for one in create(fleet, "nightly", 1):
        fleet.finish(one)
    page = open_page()
    choose(qtbot, page, "nightly")
    qtbot.waitUntil(page.done.isVisible, timeout=WAIT_MS)
    with qtbot.waitSignal(page.navigate) as asked:
        page.done.button.click()
    assert (page.done.button.text(), asked.args) == ("Open tasks", ["tasks", "batch:nightly"])


def test_few_tasks_of_a_box_of_very_many_shops_are_opened_by_name(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, "nightly")
    page = open_page()
    choose(qtbot, page, "nightly")
    view = next(iter(page.table.records.records())).view
    shops = tuple(f"pdd:s{n}" for n in range(300))
    one = BatchNow(view=view, story=Story(shops=900), by="group")
    box = Box("sync_order", "east", shops=shops)
    hold = Hold(
        "dead:0123456789abcdef", ("t_1", "t_2"), (("sync_order", 2),), 2, 0, 0, True, title=Message("dead.network")
    )
    with qtbot.waitSignal(page.actions_of_page.shown) as asked:
        page.actions_of_page.show_hold(one, hold, box, "group")
    assert asked.args == ["tasks", "id:t_1,t_2"]
    page.actions_of_page.show_hold(one, msgspec.structs.replace(hold, key="needs_login"), box, "group")
    assert "too many to look for by name" in fleet.toasts[-1].text


def test_all_the_other_causes_of_a_batch_open_each_letter_that_they_count(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    """Named one by one they were the first five hundred, and of a thousand the others were nowhere."""
    dead = fleet.seed_deaths()
    (like,) = (task for task in fleet.store.get(dead[:1]) if task is not None)
    made = [
        msgspec.structs.replace(like, task_id=f"t{n}", batch="nightly", fingerprint=f"{n % 20:016x}", uniq=f"u{n}")
        for n in range(200)
    ]
    fleet.store.apply([Create(task=task) for task in made])
    page = open_page()
    choose(qtbot, page, "nightly")
    qtbot.waitUntil(lambda: bool((now := page.current()) and now.story and now.story.holds), timeout=WAIT_MS)
    one = page.current()
    assert one is not None
    assert one.story is not None
    (hold,) = one.story.holds
    rest = hold.parts[-1]
    assert (rest.title, len(rest.ids)) == (None, 120)
    with qtbot.waitSignal(page.actions_of_page.shown) as asked:
        page.actions_of_page.show_hold(one, rest, None)
    expression = asked.args[1]
    assert "id:" not in expression
    found = {task.task_id for task in fleet.context.tasks.each(expression)}
    assert found == set(rest.ids)
    few = msgspec.structs.replace(rest, ids=rest.ids[:2])
    with qtbot.waitSignal(page.actions_of_page.shown) as asked:
        page.actions_of_page.show_hold(one, few, None)
    assert asked.args[1] == f"id:{rest.ids[0]},{rest.ids[1]}"
