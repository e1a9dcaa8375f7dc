"""An answer that comes when something else is shown by now, or is typed, tells nothing there and does nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from services.commands.dead_letters import DeadLetterCommands
from services.commands.records import RecordCommands
from services.commands.tasks import TaskCommands
from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import QuietHours, windows
from services.domain.plans.schedule import Schedule
from services.domain.task.status import Triage
from services.engine import people
from services.monitor.schedules import ScheduleQueries
from services.monitor.tasks import TaskQueries
from tests.support.held import held, settled
from tests.support.widgets import press, words
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs import quiet_hours
from views.dialogs.new_task import lookup
from views.dialogs.new_task.dialog import NewTaskDialog
from views.dialogs.quiet_hours import QuietHoursDialog
from views.dialogs.sheet import work
from views.dialogs.shops.picker import FILE
from views.pages.dead_letters import page as dead_letters
from views.pages.dead_letters.page import DeadLettersPage
from views.pages.promises.editor import PromiseDialog
from views.pages.queues import page as queues
from views.pages.queues.page import QueuesPage
from views.pages.schedules.backfill import BackfillDialog
from views.pages.settings.cards import PeopleCard
from views.pages.types import editor
from views.pages.types.editor import TypeDialog
from views.widgets.strip import ErrorStrip

SHOP = "pdd:pdd-10021"


@pytest.fixture
def letters(qtbot: QtBot, fleet: Fleet) -> Iterator[DeadLettersPage]:
    """The page of dead letters, with those of its first cause."""
    fleet.seed_deaths()
    page = DeadLettersPage(fleet.context)
    qtbot.addWidget(page)
    page.show()
    page.activate()
    qtbot.waitUntil(lambda: page.table.records.rowCount() > 0 and page.panel.task is not None)
    yield page
    page.deactivate()
    page.actions_of_page.runner.finish()


@pytest.fixture
def new_task(qtbot: QtBot, fleet: Fleet) -> Callable[..., NewTaskDialog]:
    """Opens the dialog, once it knows shops and types."""

    def make(**prefill: object) -> NewTaskDialog:
        dialog = NewTaskDialog(fleet.context, prefill)
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
        return dialog

    return make


@pytest.mark.parametrize("turn", ["cause", "state", "none"])
def test_letters_that_were_to_be_ticked_are_not_once_others_are_shown(
    qtbot: QtBot, letters: DeadLettersPage, turn: str
) -> None:
    page, causes = letters, letters.causes.causes
    with held(dead_letters, "ids_of") as call:
        page.bar.all_wanted.emit()
        call.wait(qtbot)
        if turn == "cause":
            assert page.causes.choose(str(causes.record(1).fingerprint))
        elif turn == "state":
            page.states.choose(Triage.IGNORED)
        else:
            page.bar.clear_wanted.emit()
        call.let_go()
        settled(qtbot, page)
    assert page.ticked().ids == ()
    if turn == "none":
        page.bar.all_wanted.emit()
        qtbot.waitUntil(lambda: len(page.ticked().ids) == 18)


def test_an_error_of_the_letter_before_is_not_told_where_none_is_shown(qtbot: QtBot, letters: DeadLettersPage) -> None:
    strip = letters.panel.findChild(ErrorStrip)
    assert strip is not None
    with held(TaskQueries, "detail") as call:
        letters.panel.refresh()
        call.wait(qtbot)
        letters.states.choose(Triage.IGNORED)
        call.let_go(UsageError("it is gone"))
        settled(qtbot, letters)
    assert strip.isHidden()


def test_nothing_of_the_letter_before_stands_there_while_the_chosen_one_is_late(
    qtbot: QtBot, letters: DeadLettersPage
) -> None:
    panel, before = letters.panel, letters.panel.task_id
    shop = panel.task.shop_id if panel.task is not None else ""
    with held(TaskQueries, "detail", all_of_them=True) as call:
        panel.step_wanted.emit(1)
        call.wait(qtbot)
        assert panel.task_id != before
        qtbot.waitUntil(lambda: words(panel.head).split() == [panel.task_id])
        assert not panel.notes.isVisible()
        call.let_go()
        settled(qtbot, letters)
    assert panel.task is not None
    assert panel.task.shop_id != shop
    assert panel.notes.isVisible()
    with held(TaskQueries, "detail", all_of_them=True) as call:
        panel.step_wanted.emit(1)
        call.wait(qtbot)
        call.let_go(UsageError("it is gone"))
        settled(qtbot, letters)
    assert words(panel.head).split() == [panel.task_id]
    assert not panel.notes.isVisible()


def test_a_note_that_could_not_be_kept_is_not_told_of_another_letter(
    qtbot: QtBot, fleet: Fleet, letters: DeadLettersPage
) -> None:
    panel = letters.panel
    strip = panel.findChild(ErrorStrip)
    assert strip is not None
    with held(DeadLetterCommands, "note") as call:
        panel.notes.line.setText("who looks next")
        panel.notes.button.click()
        call.wait(qtbot)
        before = panel.task_id
        panel.step_wanted.emit(1)
        qtbot.waitUntil(lambda: panel.task is not None and panel.task_id != before)
        call.let_go(UsageError("the store is away"))
        qtbot.waitUntil(lambda: bool(fleet.toasts) and fleet.toasts[-1].status == "error")
    assert strip.isHidden()


def test_a_file_that_is_not_wanted_any_more_is_told_about_nowhere(
    qtbot: QtBot, new_task: Callable[..., NewTaskDialog], tmp_path: Path
) -> None:
    dialog = new_task()
    (tmp_path / "list.csv").write_text("shop,type\n")
    with held(work, "_judge") as call:
        dialog.take_file(tmp_path / "list.csv")
        call.wait(qtbot)
        dialog.start_over()
        dialog.shops.mode.choose(FILE)
        assert dialog.verbs.create.text() == "Choose a file"
        assert "Looking at the rows" not in dialog.verbs.missing.text()
        call.let_go(UsageError("it is no table"))
        settled(qtbot, dialog)
    assert "no table" not in dialog.shops.picker.file.state()


def test_the_good_rows_of_another_file_than_the_one_whose_bad_ones_are_kept_are_not_sent(
    qtbot: QtBot, fleet: Fleet, new_task: Callable[..., NewTaskDialog], tmp_path: Path
) -> None:
    dialog = new_task()

    def read(name: str, shop: str) -> None:
        (tmp_path / name).write_text(f"shop,type\n{shop},refresh_goods\nnobody,refresh_goods\n")
        dialog.take_file(tmp_path / name)
        qtbot.waitUntil(lambda: dialog.sheet.orders is not None and dialog.sheet.orders.table.name == name)
        assert dialog.verbs.part.text() == "Send the 1 good one, keep 1 as a file"

    read("first.csv", "pdd-10021")
    with held(work, "write_bad") as call:
        dialog.send_good(tmp_path / "bad.csv")
        call.wait(qtbot)
        read("second.csv", "pdd-10025")
        call.let_go()
        settled(qtbot, dialog)
    assert not fleet.context.tasks.page("").tasks
    with qtbot.waitSignal(dialog.created):
        dialog.send_good(tmp_path / "bad.csv")


def test_what_is_active_already_of_the_draft_before_is_not_told_of_another(
    qtbot: QtBot, fleet: Fleet, new_task: Callable[..., NewTaskDialog]
) -> None:
    payload = json.dumps({"goods_id": "G1"})
    wish = {"platform": "pdd", "task_type": "single_product", "shops": [SHOP], "payload": payload}
    first = new_task(**wish)
    with qtbot.waitSignal(first.created):
        first.verbs.create.click()
    dialog = new_task(**wish)
    qtbot.waitUntil(lambda: bool(dialog.draft().twins))
    with held(lookup, "find") as call:
        dialog.parameters.changed.emit()
        call.wait(qtbot)
        dialog.start_over()
        call.let_go()
        settled(qtbot, dialog)
        dialog.shops.picker.tick((SHOP,))
        assert dialog.draft().shops == (SHOP,)
        assert not dialog.draft().twins


def test_secrets_of_another_draft_than_the_one_asked_about_stay_dots(
    qtbot: QtBot, new_task: Callable[..., NewTaskDialog]
) -> None:
    def wish(token: str) -> dict[str, object]:
        payload = json.dumps({"page_size": 50, "shop_token": token})
        return {"platform": "pdd", "task_type": "sync_order", "shops": [SHOP], "payload": payload}

    dialog = new_task(**wish("t-4711"))
    qtbot.waitUntil(lambda: bool(dialog.parameters.document()))
    dialog.parameters.set_mode("json")
    with held(RecordCommands, "reveal") as call:
        dialog.parameters.reveal_button.click()
        call.wait(qtbot)
        dialog.resume(wish("t-0815"))
        qtbot.waitUntil(lambda: dialog.draft().payload.get("shop_token") == "t-0815")
        call.let_go()
        settled(qtbot, dialog)
    assert "0815" not in dialog.parameters.editor.toPlainText()


def test_an_undo_that_fails_after_the_dialog_is_told_where_it_is_seen(
    qtbot: QtBot, fleet: Fleet, new_task: Callable[..., NewTaskDialog]
) -> None:
    dialog = new_task(platform="pdd", task_type="sync_order", shops=[SHOP], payload="{}")
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    qtbot.waitUntil(dialog.isHidden)
    with held(TaskCommands, "cancel") as call:
        press(fleet.toasts[-1], "Undo")
        call.let_go(UsageError("the store is away"))
        qtbot.waitUntil(lambda: fleet.toasts[-1].status == "error")
    assert dialog.error.isHidden(), "it says that nothing was created"


def test_how_a_promise_would_stand_is_not_told_of_what_cannot_be_read(qtbot: QtBot, fleet: Fleet) -> None:
    dialog = PromiseDialog(fleet.context)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.task_type.count() > 0)
    with held(PromiseDialog, "_try") as call:
        dialog.name.setText("goods")
        dialog.limit.setText("60m")
        call.wait(qtbot)
        dialog.limit.setText("soon")
        qtbot.waitUntil(lambda: bool(dialog.fields["limit"].error()))
        call.let_go()
        settled(qtbot, dialog)
    assert dialog.preview.text() == ""
    assert dialog.fields["limit"].error()


def test_why_a_type_was_refused_is_not_told_of_what_is_typed_now(qtbot: QtBot, fleet: Fleet) -> None:
    (kind,) = [one for one in fleet.context.policies.all() if one.name == "sync_order"]
    dialog = TypeDialog(fleet.context, kind)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: "stays as it is" in dialog.change.text())
    dialog.views.choose("json")
    with held(editor, "_tried") as call:
        dialog.json.setPlainText(dialog.json.toPlainText().replace('"max_retries": ', '"max_retries": 1'))
        call.wait(qtbot)
        with qtbot.waitSignal(dialog.tried):
            dialog.json.setPlainText("{")
        said = dialog.change.text()
        call.let_go(UsageError("refused before"))
        settled(qtbot, dialog)
    assert dialog.change.text() == said


def test_roles_as_they_were_before_an_act_do_not_come_after_it(qtbot: QtBot, fleet: Fleet) -> None:
    fleet.store.put_document("role", "ben@desk-02", '{"role": "viewer"}')
    card = PeopleCard(fleet.context)
    qtbot.addWidget(card)
    card.show()
    card.refresh()

    def ben() -> str:
        return next((row.person.role for row in card.rows if row.person.who == "ben@desk-02"), "")

    qtbot.waitUntil(lambda: ben() == "viewer")
    with held(people, "roles") as call:
        card.refresh()
        call.wait(qtbot)
        row = next(row for row in card.rows if row.person.who == "ben@desk-02")
        row.choice.choose("operator")
        qtbot.waitUntil(lambda: ben() == "operator")
        call.let_go()
        settled(qtbot, card)
    assert ben() == "operator"


def test_quiet_hours_that_are_gone_do_not_come_back_with_an_older_answer(qtbot: QtBot, fleet: Fleet) -> None:
    quiet = fleet.context.commands.quiet
    for name in ("day", "night"):
        weekly, once = windows("daily 22:00-06:00", quiet.zone(), fleet.store.now_ms())
        quiet.set(QuietHours(name=name, scope="all", weekly=weekly, once=once, reason="they sleep"))
    dialog = QuietHoursDialog(fleet.context)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: len(dialog.remove_buttons) == 2)
    with held(quiet_hours, "_Known") as call:
        dialog.remove_buttons["day"].click()
        call.wait(qtbot)
        dialog.remove_buttons["night"].click()
        qtbot.waitUntil(lambda: not dialog.remove_buttons)
        call.let_go()
        settled(qtbot, dialog)
    assert not dialog.remove_buttons


def test_curves_of_the_span_before_do_not_take_the_place_of_those_of_this_one(qtbot: QtBot, fleet: Fleet) -> None:
    page = QueuesPage(fleet.context)
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.refreshed):
        page.show()
        page.activate()
    page.deactivate()
    settled(qtbot, page)
    plot = page.panel.depth_card.plot
    before = plot.frame_shown
    with held(queues, "_look") as call:
        page.refresh()
        call.wait(qtbot)
        page.range.choose("86400")
        qtbot.waitUntil(lambda: plot.frame_shown is not before)
        drawn = plot.frame_shown
        call.let_go()
        settled(qtbot, page)
    assert plot.frame_shown is drawn


def test_why_runs_of_another_span_could_not_be_looked_for_is_not_told(qtbot: QtBot, fleet: Fleet) -> None:
    plan = Schedule(name="nightly", task_type="refresh_goods", cron="30 2 * * *", all_shops=True)
    fleet.context.commands.schedules.add(plan)
    row = fleet.context.schedules.row("nightly", 1)
    assert row is not None
    with held(ScheduleQueries, "missing") as call:
        dialog = BackfillDialog(fleet.context, row)
        qtbot.addWidget(dialog)
        dialog.open()
        call.wait(qtbot)
        dialog.each.toggle()
        call.let_go(UsageError("too long ago"))
        told = set[str]()

        def planned() -> bool:
            told.add(dialog.words.text())
            return dialog.plan is not None

        qtbot.waitUntil(planned)
    assert not any("too long ago" in words for words in told)
