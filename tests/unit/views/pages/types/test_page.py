"""The Task types page over a real engine: policy and versions, the next version after a dry run, and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from services import i18n, spans
from services.domain.insight import drift
from services.domain.insight.drift import Drift, Drifts
from services.domain.types.task_type import TaskType
from services.i18n import _
from services.monitor.forecast.drift import DriftNow
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import opening
from views.dialogs.confirm import ConfirmDialog
from views.kit.list_source import ListSource
from views.pages.types import words
from views.pages.types.editor import TypeDialog
from views.pages.types.page import TypesPage

pytestmark = pytest.mark.both_pairs
one_pair = pytest.mark.one_pair
Open = Callable[[], TypesPage]
WAIT_MS = 30_000


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: TypesPage(fleet.context), size=(1400, 800))


def stored(fleet: Fleet, name: str = "sync_order") -> TaskType:
    """A type as the store has it."""
    return next(kind for kind in fleet.context.policies.all() if kind.name == name)


def change(fleet: Fleet, name: str = "sync_order", **fields: Any) -> None:
    """Make its next version, as the command line does."""
    document = {**msgspec.to_builtins(stored(fleet, name)), **fields}
    fleet.context.commands.fleet.import_types([json.dumps(document)])


def choose(qtbot: QtBot, page: TypesPage, name: str, versions: int = 1) -> None:
    """Put the cursor on a type and wait until the panel knows its versions."""
    page.show_request(name)
    qtbot.waitUntil(lambda: page.panel.shown is not None and page.panel.shown.name == name, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: len(page.panel.versions) == versions, timeout=WAIT_MS)


def settled(qtbot: QtBot, dialog: TypeDialog, act: Callable[[], object]) -> None:
    """Do something in the editor, and wait until it was tried."""
    with qtbot.waitSignal(dialog.tried, timeout=WAIT_MS):
        act()


def again(qtbot: QtBot, page: TypesPage) -> None:
    """Ask again; an answer that was under way may be one of before."""
    asking = page.findChild(ListSource)
    qtbot.waitUntil(lambda: not asking.busy, timeout=WAIT_MS)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()


def test_a_schema_is_tried_on_late_payloads_before_it_is_kept_and_can_be_taken_back(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_deaths()  # 18 of sync_order with page_size 50
    page = open_page()
    choose(qtbot, page, "sync_order")
    page.panel.buttons["edit"].click()
    (dialog,) = page.findChildren(TypeDialog)
    qtbot.waitUntil(lambda: dialog.run.text().startswith("Dry run"), timeout=WAIT_MS)
    assert dialog.run.text() == "Dry run: of the newest 18 payloads of this type none would be refused"
    assert not dialog.save_button.isEnabled()
    dialog.views.choose("schema")
    text = dialog.schema.toPlainText()
    assert '"maximum": 100' in text
    settled(qtbot, dialog, lambda: dialog.schema.setPlainText(text.replace('"maximum": 100', '"maximum": 20')))
    assert dialog.change.text() == "sync_order becomes version 1: Payload schema"
    assert dialog.run.text() == "Dry run: of the newest 18 payloads of this type 18 would be refused"
    assert dialog.faults.values() == {"18": "page_size: must be at most 20"}
    assert stored(fleet).version == 0
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS):
        dialog.save_button.click()
    assert stored(fleet).schema["properties"]["page_size"]["maximum"] == 20
    assert fleet.context.audit.page("").entries[0].action == "type.import"
    again(qtbot, page)
    choose(qtbot, page, "sync_order", versions=2)
    page.panel.compare(0, 1)
    assert page.panel.differs.text() == "Changed: Payload schema"
    lines = page.panel.diff.toPlainText().split("\n")
    assert [line for line in lines if line[:1] in "+-"] == [
        '-        "maximum": 100,', '+        "maximum": 20,',
    ]  # fmt: skip
    assert page.panel.newer.currentText().endswith(f" by {fleet.context.commands.operator.who}")
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        fleet.toasts[-1].actions[0].call()
    assert stored(fleet).version == 2
    assert stored(fleet).schema["properties"]["page_size"]["maximum"] == 100
    again(qtbot, page)
    choose(qtbot, page, "sync_order", versions=3)
    page.panel.compare(0, 1)
    assert not page.panel.back_button.isEnabled(), "it is so again"
    page.panel.compare(1, 2)
    page.panel.back_button.click()
    dialog = page.findChildren(TypeDialog)[-1]
    qtbot.waitUntil(lambda: dialog.change.text() == "sync_order becomes version 3: Payload schema", timeout=WAIT_MS)
    qtbot.waitUntil(lambda: dialog.run.text().endswith("18 would be refused"), timeout=WAIT_MS)
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS):
        dialog.save_button.click()
    assert (stored(fleet).version, stored(fleet).schema["properties"]["page_size"]["maximum"]) == (3, 20)


@one_pair
def test_the_form_changes_the_policy_and_leaves_the_rest_alone(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    before = stored(fleet)
    page = open_page()
    dialog = page.actions_of_page.edit(before)
    qtbot.waitUntil(lambda: dialog.change.text() == "sync_order stays as it is", timeout=WAIT_MS)

    def fill(name: str, value: object) -> None:
        found = dialog.form.input(name)
        assert found is not None
        found.show_value(value)
        found.edited.emit()

    settled(qtbot, dialog, lambda: fill("timeout_s", 900))
    settled(qtbot, dialog, lambda: fill("concurrency", 3))
    settled(qtbot, dialog, lambda: fill("title_zh", "订单同步"))
    settled(qtbot, dialog, lambda: fill("indexed", "since，buyer.id"))
    assert dialog.change.text().startswith("sync_order becomes version 1: Title, Time-out, Tasks at once, Indexed")
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS):
        dialog.save_button.click()
    after = stored(fleet)
    assert (after.timeout_s, after.concurrency, after.title["zh_CN"]) == (900, 3, "订单同步")
    assert after.indexed == ("since", "buyer.id")
    assert after == msgspec.structs.replace(
        before,
        indexed=after.indexed,
        timeout_s=900,
        concurrency=3,
        title={**before.title, "zh_CN": "订单同步"},
        version=1,
    )


@one_pair
def test_what_cannot_be_kept_says_why_and_is_not(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    dialog = page.actions_of_page.edit(stored(fleet))
    dialog.views.choose("json")
    text = dialog.json.toPlainText()
    settled(qtbot, dialog, lambda: dialog.json.setPlainText(text.replace('"timeout_s"', '"time_out"')))
    assert "time_out" in dialog.change.text()
    assert not dialog.save_button.isEnabled()
    settled(qtbot, dialog, lambda: dialog.json.setPlainText(text[:-4]))
    assert not dialog.save_button.isEnabled()
    dialog.views.choose("form")
    assert dialog.views.current() == "json", "what cannot be read would be lost"
    settled(qtbot, dialog, lambda: dialog.json.setPlainText(text))
    dialog.views.choose("form")
    assert dialog.views.current() == "form"
    # somebody was faster
    change(fleet, timeout_s=77)
    change(fleet, timeout_s=78)
    dialog.reject()
    stale = page.actions_of_page.edit(msgspec.structs.replace(stored(fleet), version=1))
    qtbot.waitUntil(lambda: "version 2" in stale.change.text(), timeout=WAIT_MS)
    assert not stale.save_button.isEnabled()
    stale.reject()


@one_pair
def test_another_language_while_a_type_is_edited_makes_nothing_of_it_wrong(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    choose(qtbot, page, "sync_order")
    page.panel.buttons["edit"].click()
    (dialog,) = page.findChildren(TypeDialog)
    qtbot.waitUntil(lambda: dialog.change.text() == "sync_order stays as it is", timeout=WAIT_MS)
    try:
        settled(qtbot, dialog, lambda: i18n.set_language("zh_CN"))
        assert dialog.change.text() == _("{name} stays as it is").format(name="sync_order")
    finally:
        i18n.set_language("en")


@one_pair
def test_a_new_type_needs_a_name(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.new_button.click()
    (dialog,) = page.findChildren(TypeDialog)
    assert dialog.change.text() == "Give it a name."
    name = dialog.form.input("name")
    assert name is not None
    name.show_value("check_stock")
    settled(qtbot, dialog, name.edited.emit)
    assert dialog.change.text() == "check_stock is new, version 1"
    assert dialog.run.text() == "No task of this type is there whose payload could be tried."
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS):
        dialog.save_button.click()
    qtbot.waitUntil(lambda: page.table.current_key() == "check_stock", timeout=WAIT_MS)
    assert page.header.summary() == "13 task types, 1 is not repeatable"


@one_pair
def test_types_leave_as_a_file_and_come_back_changed(
    qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    page = open_page()
    acts, file = page.actions_of_page, tmp_path / "types.json"
    acts.write(file, fleet.context.policies.all())
    qtbot.waitUntil(lambda: file.exists() and bool(fleet.toasts), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "12 task types exported to types.json"
    with qtbot.waitSignal(acts.planned, timeout=WAIT_MS):
        acts.take(file)
    assert fleet.toasts[-1].text == "All of them stand there already as they are in the file."
    documents = json.loads(file.read_text(encoding="utf-8"))
    documents[0]["timeout_s"] = 61
    documents.append({"name": "check_stock"})
    file.write_text(json.dumps({"types": documents}), encoding="utf-8")
    with qtbot.waitSignal(acts.planned, timeout=WAIT_MS):
        acts.take(file)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.question.number == "2 task types"
    assert dialog.question.rows[0] == ("batch_products", "batch_products becomes version 1: Time-out")
    assert stored(fleet, "batch_products").timeout_s == 900
    with qtbot.waitSignal(acts.changed, timeout=WAIT_MS):
        dialog.verb_button.click()
    assert stored(fleet, "batch_products").timeout_s == 61
    assert stored(fleet, "check_stock").version == 1
    documents[1]["timeout_s"] = -1
    file.write_text(json.dumps(documents), encoding="utf-8")
    with qtbot.waitSignal(acts.planned, timeout=WAIT_MS):
        acts.take(file)
    assert fleet.toasts[-1].status == "error"
    assert "Document 2: timeout_s must be" in fleet.toasts[-1].text
    with qtbot.waitSignal(acts.changed, timeout=WAIT_MS):
        acts.take(tmp_path / "gone.json")
    assert "gone.json cannot be read" in fleet.toasts[-1].detail


@one_pair
def test_the_list_is_searched_by_name_and_title_and_opens_what_belongs_to_a_type(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    assert page.table.records.rowCount() == 12
    page.search.setText("order s")
    assert [kind.name for kind in page.table.records.records()] == ["sync_order"]
    page.search.setText("nothing of the kind")
    assert page.none.isVisible()
    page.none.button.click()
    assert page.table.records.rowCount() == 12
    choose(qtbot, page, "batch_reply")
    assert page.panel.facts.values()["Repeatable"] == "no"
    with qtbot.waitSignal(page.navigate) as heard:
        page.panel.buttons["tasks"].click()
    assert heard.args == ["tasks", "type:batch_reply"]
    i18n.set_language("zh_CN")
    page.search.setText("批量回复")
    assert [kind.name for kind in page.table.records.records()] == ["batch_reply"]


@one_pair
def test_only_an_admin_changes_types_and_everybody_looks(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    structs.force_setattr(fleet.context, "role_now", lambda: "operator")
    page = open_page()
    choose(qtbot, page, "sync_order")
    assert not page.new_button.isEnabled()
    assert not page.import_button.isEnabled()
    assert page.export_button.isEnabled()
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, "sync_order")
    offered = {action.text(): action.isEnabled() for action in menu.actions() if action.text()}
    assert offered == {"Edit": False, "Show tasks": True, "Export": True, "Who did what to it": True}
    assert {one.key for one in page.commands() if one.reason} == {"types.new", "types.import", "types.edit"}
    page.table.open_requested.emit("sync_order")
    assert page.findChildren(TypeDialog) == []
    structs.force_setattr(fleet.context, "role_now", lambda: "admin")
    page.set_acting("Not while the connection is lost")
    assert not page.panel.buttons["edit"].isEnabled()
    assert page.panel.back_button.toolTip() == "Not while the connection is lost"
    page.set_acting("")
    assert page.panel.buttons["edit"].isEnabled()


@one_pair
def test_a_fleet_without_types_offers_a_file(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    structs.force_setattr(fleet.context, "policies", _None())
    page = open_page()
    assert page.empty.isVisible()
    assert page.empty.button.text() == "Import"
    assert page.header.summary() == "No task type is defined."
    assert not page.export_button.isEnabled()


class _None:
    """No type at all."""

    def all(self) -> tuple[TaskType, ...]:
        """None."""
        return ()

    def drifted(self) -> dict[str, tuple[DriftNow, ...]]:
        """None."""
        return {}


@one_pair
def test_the_panel_is_closed_and_opened_by_keys(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    qtbot.waitUntil(page.panel.isVisible)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert not page.panel.isVisible()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert page.panel.isVisible()
    page.panel.close_button.click()
    assert not page.panel.isVisible()


def test_a_type_that_is_not_as_it_was_says_what_and_since_when(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    now = fleet.store.now_ms()
    slower = Drift(
        figure="seconds", since=now - 60_000, factor=4.0, before=3.0, after=12.0, shops=("pdd:s1",), off=5, of=5
    )
    none = Drift(
        figure="rows:orders", since=now - 30_000, factor=9.0, before=20.0, after=0.0, shops=("pdd:s1",), off=4, of=5
    )
    found = Drifts(task_type="sync_order", platform="pdd", at=now, found=(slower, none))
    fleet.store.put_document(drift.KIND, "sync_order:pdd", drift.DOCUMENT.dump(found))
    page = open_page()
    choose(qtbot, page, "sync_order")
    row = page.table.records.find("sync_order")
    cells = {column.key: column.display(row) for column in page.table.records.columns}
    assert cells["drift"] == "PDD: 4× slower (+1)"
    assert page.header.summary().endswith("1 is not as it was")
    (said,) = page.panel.drift.values().values()
    assert "orders per run fell to 0 at" in said
    assert "5 of the last 5 runs, shops: 1" in said
    fleet.store.remove_document(drift.KIND, "sync_order:pdd")
    page.refresh()
    qtbot.waitUntil(lambda: not page.panel.drift.values(), timeout=WAIT_MS)
    assert "not as it was" not in page.header.summary()


@one_pair
def test_a_link_leads_to_the_type_under_the_cursor(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "get_content")
    link = page.shown_request()
    choose(qtbot, page, "sync_order")
    page.show_request(link)
    kind = page.current()
    assert kind is not None
    assert kind.name == "get_content"


def test_a_span_of_the_policy_is_told_as_somebody_chose_it() -> None:
    assert [words.span(one).replace(spans.THIN, " ") for one in (900, 90, 0.5)] == ["15 min", "1 m 30 s", "0.5 s"]
