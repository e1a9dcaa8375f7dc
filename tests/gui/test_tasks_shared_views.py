"""Views of tasks that everybody of the fleet sees."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import structs
from pytestqt.qtbot import QtBot

from services.commands.views import ViewCommands
from services.domain.errors import UsageError
from services.domain.task.search.shared_view import SharedView
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from tests.support.held import held, settled
from tests.support.widgets import press
from views.dialogs.name import NameDialog
from views.pages.tasks import view_keeper
from views.pages.tasks.page import TasksPage
from views.pages.tasks.view_keeper import ViewKeeper
from views.support.memory import ShortMemory

pytestmark = pytest.mark.both_pairs


@pytest.fixture(autouse=True)
def look_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views are asked for ten times a second."""
    monkeypatch.setattr(view_keeper, "COUNT_MS", 100)


def keeper(page: TasksPage) -> ViewKeeper:
    found = page.findChild(ViewKeeper)
    assert isinstance(found, ViewKeeper)
    return found


def titles(page: TasksPage) -> list[str]:
    """The tabs behind those of the design."""
    return [view.title for view in keeper(page).views[7:]]


def test_a_view_is_shared_renamed_and_taken_away_for_all(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.fail(desk.create(0))
    other = TasksPage(structs.replace(desk.context, memory=ShortMemory()))
    qtbot.addWidget(other)
    other.show()
    other.activate()
    page.show_request("status:dead shop:pdd:*")
    page.save_view()
    dialog = page.findChild(NameDialog)
    assert dialog is not None
    dialog.named.emit("Night shift")
    dialog.close()
    own = keeper(page).views[-1]
    page.tabs.share_wanted.emit(own.key)
    wait(qtbot, lambda: titles(other) == ["Night shift"])
    shared = keeper(other).views[-1]
    assert (shared.filter, shared.own) == ("status:dead shop:pdd:*", False)
    wait(qtbot, lambda: other.tabs.text_of(shared.key) == "Night shift  1")
    wait(qtbot, lambda: keeper(page).current.key == shared.key)
    assert titles(page) == ["Night shift"], "one's own that is shared is one tab"
    other.tabs.choose(shared.key)
    wait(qtbot, lambda: other.table.records.rowCount() == 1)
    views = desk.context.commands.views
    (known,) = views.known()
    views.share(msgspec.structs.replace(known, title="Day shift"))
    wait(qtbot, lambda: "Day shift" in titles(page) and titles(other) == ["Day shift"])
    page.tabs.remove_wanted.emit(shared.key)
    wait(qtbot, lambda: titles(other) == [])
    wait(qtbot, lambda: titles(page) == ["Night shift"])  # one's own is there again
    assert keeper(other).current.key == "all", "nobody stays on a view that is gone"
    wait(qtbot, lambda: any(spec.text.endswith(" is shared no more") for spec in desk.toasts))
    # another window may hear of it first
    press(next(spec for spec in desk.toasts if spec.text.endswith(" is shared no more")), "Undo")
    wait(qtbot, lambda: titles(other) == ["Day shift"])
    acts = [entry.action for entry in desk.session.engine.store.audit(10)]
    assert [one for one in acts if one.startswith("view.")] == ["view.share", "view.remove", "view.share", "view.share"]


@pytest.mark.one_pair
def test_what_somebody_else_takes_away_leaves_its_filter_to_who_looks_at_it(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    desk.fail(desk.create(0))
    desk.create(1)
    views = desk.context.commands.views
    made = views.share(SharedView(key="", title="Night shift", filter="status:dead"))
    wait(qtbot, lambda: titles(page) == ["Night shift"])
    page.tabs.choose(keeper(page).views[-1].key)
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    views.remove(made.key)
    wait(qtbot, lambda: titles(page) == [])
    assert (desk.toasts[-1].text, desk.toasts[-1].detail) == (
        "Somebody shares Night shift no more",
        "Its filter stays here; save it to keep it.",
    )
    assert keeper(page).current.key == "all"
    page.refresh()
    settled(qtbot, page)
    assert page.shown_request() == "status:dead"
    assert page.table.records.rowCount() == 1, "who is about to act on what is listed acts on nothing else"


@pytest.mark.one_pair
def test_a_view_is_shared_at_once_also_while_an_older_look_is_on_its_way(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    page.show_request("status:dead")
    page.save_view()
    dialog = page.findChild(NameDialog)
    assert dialog is not None
    dialog.named.emit("Night shift")
    dialog.close()
    with held(ViewCommands, "known") as call:
        call.wait(qtbot)
        page.tabs.share_wanted.emit(keeper(page).views[-1].key)
        wait(qtbot, lambda: any(view.shared is not None for view in keeper(page).views))
        call.let_go()
        settled(qtbot, page)
    assert any(view.shared is not None for view in keeper(page).views)


def test_what_cannot_be_shared_says_why(desk: Desk) -> None:
    views = desk.context.commands.views
    made = views.share(SharedView(key="", title="Mine", filter="status:dead"))
    for wrong, words in (
        (SharedView(key="", title=" "), "printable"),
        (SharedView(key="", title="x", filter="status:nonsense"), "nonsense"),
        (SharedView(key="", title="x", layout={"a": "b" * 9000}), "columns"),
        (SharedView(key="", title="Mine"), "already"),
        (msgspec.structs.replace(made, version=9), "meanwhile"),
    ):
        with pytest.raises(UsageError, match=words):
            views.share(wrong)
    assert views.known() == [made]
    assert views.remove("nobody") is None


@pytest.mark.one_pair
def test_who_took_a_view_away_and_back_is_told_all_the_same_when_somebody_else_does(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    desk.fail(desk.create(0))
    desk.create(1)
    views = desk.context.commands.views
    views.share(SharedView(key="", title="Night shift", filter="status:dead"))
    wait(qtbot, lambda: titles(page) == ["Night shift"])
    page.tabs.choose(keeper(page).views[-1].key)
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.tabs.remove_wanted.emit(keeper(page).current.key)
    wait(qtbot, lambda: titles(page) == [])
    wait(qtbot, lambda: any(spec.text.endswith(" is shared no more") for spec in desk.toasts))
    press(next(spec for spec in desk.toasts if spec.text.endswith(" is shared no more")), "Undo")
    wait(qtbot, lambda: titles(page) == ["Night shift"])
    page.tabs.choose(keeper(page).views[-1].key)
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    views.remove(views.known()[0].key)
    wait(qtbot, lambda: titles(page) == [])
    assert desk.toasts[-1].text == "Somebody shares Night shift no more"
    assert page.table.records.rowCount() == 1


def save(page: TasksPage, name: str) -> None:
    """Keep what is shown under a name."""
    page.save_view()
    (dialog,) = [one for one in page.findChildren(NameDialog) if one.isVisible()]
    dialog.field.setText(name)
    dialog.done_button.click()


def open_shared(page: TasksPage, qtbot: QtBot, title: str, task_id: str) -> None:
    """Choose the view of the fleet, whose list is one task."""
    wait(qtbot, lambda: titles(page) == [title])
    page.tabs.choose(keeper(page).views[-1].key)
    wait(qtbot, lambda: [row.key for row in page.table.records.records()] == [task_id])


@pytest.mark.one_pair
def test_one_s_own_view_takes_what_is_shown_and_comes_back_when_it_was_removed(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    desk.fail(desk.create(0))
    desk.create(1)
    page.show_request("status:dead")
    save(page, "Night shift")
    save(page, "Day shift")
    page.tabs.choose(keeper(page).views[-2].key)
    key = keeper(page).current.key
    page.filter.set_expression("status:queued")
    page.tabs.change_wanted.emit(key)
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    assert (keeper(page).current.title, keeper(page).current.filter) == ("Night shift", "status:queued")
    press(desk.toasts[-1], "Undo")
    assert (keeper(page).current.filter, page.filter.expression()) == ("status:dead", "status:dead")
    page.tabs.remove_wanted.emit(key)
    assert titles(page) == ["Day shift"]
    press(desk.toasts[-1], "Undo")
    assert titles(page) == ["Night shift", "Day shift"]
    page.tabs.rename_wanted.emit(key)
    (dialog,) = [one for one in page.findChildren(NameDialog) if one.isVisible()]
    dialog.field.setText("Day shift")
    assert dialog.done_button.toolTip() == "Another view is called so already"


def test_what_somebody_else_changes_leaves_its_list_to_who_looks_at_it(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    dead = desk.fail(desk.create(0))
    queued = desk.create(1)
    views = desk.context.commands.views
    made = views.share(SharedView(key="", title="Night shift", filter="status:dead"))
    other = TasksPage(structs.replace(desk.context, memory=ShortMemory()))
    qtbot.addWidget(other)
    other.show()
    other.activate()
    for one in (page, other):
        open_shared(one, qtbot, "Night shift", dead.task_id)
    page.filter.set_expression("status:queued")
    page.tabs.change_wanted.emit(keeper(page).current.key)
    wait(qtbot, lambda: [row.key for row in page.table.records.records()] == [queued.task_id])
    wait(qtbot, lambda: any(" changed the filter of Night shift" in spec.text for spec in desk.toasts))
    assert other.filter.expression() == "status:dead"
    assert page.filter.expression() == "status:queued", "who changed it is told nothing"
    assert [spec.key for spec in desk.toasts].count("view-gone") == 1
    press(next(spec for spec in desk.toasts if spec.key == "view-gone"), "Show it")
    wait(qtbot, lambda: [row.key for row in other.table.records.records()] == [queued.task_id])
    press(next(spec for spec in desk.toasts if "is what is shown here now" in spec.text), "Undo")
    wait(qtbot, lambda: views.known()[0].filter == "status:dead")
    assert views.known()[0].key == made.key
    wait(qtbot, lambda: page.filter.expression() == "status:dead")


def test_show_it_opens_the_view_that_was_told_of_whichever_is_open_by_then(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    dead = desk.fail(desk.create(0))
    queued = desk.create(1)
    views = desk.context.commands.views
    made = views.share(SharedView(key="", title="Night shift", filter="status:dead"))
    open_shared(page, qtbot, "Night shift", dead.task_id)
    views.share(msgspec.structs.replace(made, filter="status:queued"))
    wait(qtbot, lambda: any(" changed the filter of Night shift" in spec.text for spec in desk.toasts))
    page.tabs.choose("dead")
    page.filter.set_expression("status:dead shop:pdd:*")
    page.refresh()
    wait(qtbot, lambda: [row.key for row in page.table.records.records()] == [dead.task_id])
    press(next(spec for spec in desk.toasts if spec.key == "view-gone"), "Show it")
    wait(qtbot, lambda: [row.key for row in page.table.records.records()] == [queued.task_id])
    assert keeper(page).current.title == "Night shift"
    assert page.filter.expression() == "status:queued"


@pytest.mark.one_pair
def test_a_page_that_is_opened_again_with_the_filter_of_a_view_shows_that_view(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    """As the window does at its start: it knows the filter, and what the fleet shares comes a moment later."""
    desk.fail(desk.create(0))
    page.show_request("status:dead shop:pdd:*")
    save(page, "Mine")
    page.show_request("status:dead priority:3")
    save(page, "Ours")
    page.tabs.share_wanted.emit(keeper(page).current.key)
    wait(qtbot, lambda: keeper(page).current.shared is not None)
    page.show_request("status:dead shop:pdd:*")
    assert keeper(page).current.title == "Mine"
    again = TasksPage(structs.replace(desk.context, memory=ShortMemory()))
    qtbot.addWidget(again)
    again.show_request("status:dead priority:3")
    assert keeper(again).current.key == "all", "nobody has said yet what is shared"
    again.show()
    again.activate()
    wait(qtbot, lambda: keeper(again).current.title == "Ours")
    assert again.filter.expression() == "status:dead priority:3"
    again.show_request("status:held priority:3")
    assert keeper(again).current.key == "all", "no view has that"


@pytest.mark.one_pair
def test_what_is_shared_later_does_not_carry_off_who_looks_at_the_same_filter(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    views = desk.context.commands.views
    page.show_request("status:dead priority:3")
    views.share(SharedView(key="", title="Day shift", filter="status:held"))
    wait(qtbot, lambda: titles(page) == ["Day shift"])  # what the fleet shares is known now
    views.share(SharedView(key="", title="Night shift", filter="status:dead priority:3"))
    wait(qtbot, lambda: titles(page) == ["Day shift", "Night shift"])
    assert keeper(page).current.key == "all"
    assert page.filter.expression() == "status:dead priority:3"


@pytest.mark.one_pair
def test_a_view_is_saved_under_the_name_of_one_s_own_that_is_shared(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    """One's own stood behind the fleet's and was not found: nothing was saved, and the filter was gone."""
    page.show_request("status:dead priority:3")
    save(page, "Night shift")
    page.tabs.share_wanted.emit(keeper(page).current.key)
    wait(qtbot, lambda: keeper(page).current.shared is not None)
    page.filter.set_expression("status:held priority:3")
    save(page, "Night shift")
    current = keeper(page).current
    assert (current.own, current.filter) == (True, "status:held priority:3")
    assert page.filter.expression() == "status:held priority:3"
    assert page.tabs.current() == current.key
    assert titles(page) == ["Night shift", "Night shift"], "the fleet's stays as it was"
    press(desk.toasts[-1], "Undo")
    assert titles(page) == ["Night shift"]
    assert keeper(page).current.shared is not None
    assert page.tabs.current() == keeper(page).current.key


@pytest.mark.one_pair
def test_the_view_that_stands_here_is_shown_once_when_it_is_saved_again(page: TasksPage) -> None:
    page.show_request("status:dead priority:3")
    save(page, "Night shift")
    page.filter.set_expression("status:held priority:3")
    shown: list[str] = []
    keeper(page).shown.connect(lambda view: shown.append(view.filter))
    save(page, "Night shift")
    assert shown == ["status:held priority:3"]


@pytest.mark.one_pair
def test_a_name_of_the_design_is_taken_and_one_s_own_is_replaced_with_a_way_back(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    page.show_request("status:dead priority:3")
    page.save_view()
    (dialog,) = [one for one in page.findChildren(NameDialog) if one.isVisible()]
    dialog.field.setText("Running")
    assert dialog.done_button.toolTip() == "Another view is called so already"
    dialog.reject()
    save(page, "Night shift")
    page.tabs.choose("all")
    page.show_request("status:held")
    page.filter.set_expression("status:held priority:3")
    save(page, "Night shift")
    assert titles(page) == ["Night shift"]
    assert (keeper(page).current.title, page.filter.expression()) == ("Night shift", "status:held priority:3")
    press(desk.toasts[-1], "Undo")
    assert (keeper(page).current.title, page.filter.expression()) == ("Night shift", "status:dead priority:3")
