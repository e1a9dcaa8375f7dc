"""The Doctor page over a real engine: what was found with what helps, and the repair after a preview."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.domain.upkeep import repair
from services.domain.upkeep.health import ERROR, NOTE, OK, WARNING, Finding, finding
from services.domain.upkeep.repair import PLANNED, Mend, mend
from tests.support.held import held, settled
from tests.support.widgets import in_chinese
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import opening
from views.pages.doctor.page import DoctorPage
from views.pages.doctor.verbs import RepairDialog
from views.support.instant import ticks

Open = Callable[[], DoctorPage]
WAIT_MS = 30_000
one_pair = pytest.mark.one_pair
pytestmark = pytest.mark.both_pairs


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: DoctorPage(fleet.context), size=(1400, 800))


class Told:
    """A doctor that says what a test wants."""

    def __init__(self, *findings: Finding, error: BaseException | None = None) -> None:
        self.findings, self.error, self.deep = findings, error, list[bool]()
        self.mends: tuple[Mend, ...] = ()
        self.told: repair.Told = repair.unheard  #: of the repair that goes on
        self.gate = threading.Event()  #: shut while a test looks at what is shown meanwhile
        self.gate.set()

    def examine(self, *, deep: bool = False) -> Sequence[Finding]:
        """What was made up."""
        self.deep.append(deep)
        if self.error is not None:
            raise self.error
        return self.findings

    def plan(self, *, from_stream: bool = False, told: repair.Told = repair.unheard) -> Sequence[Mend]:
        """What was made up."""
        told(5, 9)
        self.gate.wait(30)
        return self.mends

    def repair(self, *, from_stream: bool = False, told: repair.Told = repair.unheard) -> Sequence[Mend]:
        """Nothing, in steps."""
        self.told = told
        told(3, 12)
        return ()


@pytest.fixture
def made_up(fleet: Fleet) -> Told:
    """One of each severity, and two that one look cannot tell apart."""
    doctor = Told(
        finding(OK, "store", "doctor.store", what="sqlite", latency=1),
        finding(NOTE, "records", "doctor.not_compared", tasks=30_000),
        finding(WARNING, "orphans", "doctor.orphans", tasks=3),
        finding(NOTE, "pauses", "doctor.paused", scope="platform:pdd", who="ann"),
        finding(NOTE, "pauses", "doctor.paused", scope="all", who="ben"),
        finding(NOTE, "pauses", "doctor.paused", scope="all", who="ben"),
        finding(ERROR, "broker", "doctor.broker_gone", error="refused amqp://u:secret@host"),
    )
    structs.force_setattr(fleet.context, "doctor", doctor)
    return doctor


def cells(page: DoctorPage) -> list[dict[str, str]]:
    """What the rows say, from top to bottom."""
    model = page.table.records
    return [
        {column.key: column.display(model.record(at)) for column in model.columns} for at in range(model.rowCount())
    ]


def menu_of(page: DoctorPage, key: object) -> dict[str, bool]:
    """What its menu offers, and whether it can be done."""
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, key)
    return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}


def audited(fleet: Fleet) -> list[str]:
    """The acts of the audit, the newest first."""
    return [entry.action for entry in fleet.context.audit.page("").entries]


def test_a_shop_is_called_by_its_name_and_its_id(fleet: Fleet, open_page: Open) -> None:
    key, shop = next((key, shop) for key, shop in sorted(fleet.context.shops().items()) if shop.name)
    fleet.context.commands.fleet.pause(f"shop:{key}")
    page = open_page()
    assert any(row["finding"].endswith(f": {shop.name} ({key})") for row in cells(page)), cells(page)


def test_a_repair_is_seen_before_it_is_done_and_then_audited(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_deaths()
    page = open_page()
    assert {row["level"] for row in cells(page)} <= {"In order", "Advice", "Warning", "Error"}
    assert any(row["finding"].startswith("The store answers") for row in cells(page))
    page.repair_button.click()
    (dialog,) = page.findChildren(RepairDialog)
    qtbot.waitUntil(lambda: dialog.found is not None, timeout=WAIT_MS)
    said = dialog.list.values()
    assert dialog.headline.text().endswith("can be mended")
    assert set(said) - {"Cannot be seen"} == {"Would be mended"}
    assert "repair" not in audited(fleet)
    assert dialog.verb_button.text().startswith("Mend ")
    assert fleet.context.dead_log != dialog.from_stream.isHidden()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        dialog.verb_button.click()
    qtbot.waitUntil(lambda: "repaired last" in page.header.summary())
    assert "mended" in dialog.headline.text()
    assert set(dialog.list.values()) <= {"Mended", "For a person", "Cannot be seen"}
    assert audited(fleet)[0] == "repair"
    assert fleet.toasts[-1].text.startswith("Repaired: ")
    assert in_chinese(fleet.toasts[-1]).text.startswith("修复完成")
    dialog.cancel_button.click()
    again = page.actions_of_page.repair()
    qtbot.waitUntil(lambda: again.found is not None, timeout=WAIT_MS)
    assert "Tasks of the last hour without their mark" not in " ".join(again.list.values().values())
    again.reject()


@one_pair
def test_the_worst_stands_first_with_what_helps(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    found = cells(page)
    assert [row["level"] for row in found] == ["Error", "Warning", "Advice", "Advice", "Advice", "In order"]
    assert found[0]["remedy"].startswith("Start the broker")
    assert [row["next"] for row in found] == ["", "Repair", "Open shops", "Open shops", "Compare all", ""]
    assert page.tabs.labels() == ["All 6", "Errors 1", "Warnings 1", "Advice 3", "In order 1"]
    assert page.header.summary().startswith("1 error, 1 warning, 3 pieces of advice, looked at ")
    assert page.panel.shown is not None
    assert "secret" not in page.panel.said.text()
    assert page.panel.remedy.text().startswith("Start the broker")
    page.tabs.choose(WARNING)
    assert [row["check"] for row in cells(page)] == ["Left-overs"]
    assert page.panel.buttons["repair"].isVisible()
    page.tabs.choose(OK)
    page.tabs.choose(ERROR)
    assert page.panel.shown.code == "doctor.broker_gone"


@one_pair
def test_a_link_of_a_finding_opens_where_something_can_be_done(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    model = page.table.records
    section = next(at for at, column in enumerate(model.columns) if column.key == "next")
    place = page.table.visualRect(model.index(2, section)).center()
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert heard.args == ["shops", "paused"]
    assert list(menu_of(page, model.key_at(2))) == ["Open shops", "Copy message for IT"]
    place = page.table.visualRect(model.index(4, section)).center()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert made_up.deep == [False, True]


@one_pair
def test_what_was_found_is_copied_without_its_secret(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    page.panel.buttons["copy"].click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Error · Broker · doctor.broker_gone\n")
    assert "secret" not in copied


@one_pair
def test_it_looks_again_by_itself_only_after_a_while(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    page.deactivate()
    page.activate()
    assert made_up.deep == [False]
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert made_up.deep == [False, False]


class Later:
    """The time of the fleet, some minutes from now."""

    def __init__(self, minutes: int) -> None:
        self._ahead_ms = minutes * 60_000

    def now_ms(self) -> int:
        return SystemClock().now_ms() + self._ahead_ms


@one_pair
def test_what_is_shown_for_minutes_is_looked_at_again_by_itself(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page, later, still_later = open_page(), Later(6), Later(20)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        ticks().follow(later)
        ticks().tick()
    assert made_up.deep == [False, False]
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.look(deep=True)
    ticks().follow(still_later)
    ticks().tick()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert made_up.deep == [False, False, True, False], "what took long to compare is not replaced unasked"


@one_pair
def test_a_look_that_was_overtaken_does_not_leave_the_page_looking(
    qtbot: QtBot, made_up: Told, open_page: Open
) -> None:
    page = open_page()
    with held(Told, "examine") as call:
        page.look(deep=True)
        call.wait(qtbot)
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()
        assert page.header.summary().startswith("1 error, ")
        assert page.again_button.isEnabled()
        call.let_go()
        settled(qtbot, page)
    assert page.again_button.isEnabled()


@one_pair
@pytest.mark.usefixtures("made_up")
def test_before_its_first_look_it_counts_nothing(qtbot: QtBot, fleet: Fleet) -> None:
    page = DoctorPage(fleet.context)
    qtbot.addWidget(page)
    with held(Told, "examine") as call:
        page.show()
        page.activate()
        call.wait(qtbot)
        assert page.tabs.labels()[:2] == ["All", "Errors"]
        call.let_go()
        settled(qtbot, page)
    assert page.tabs.labels()[:2] == ["All 6", "Errors 1"]


@one_pair
def test_a_repair_goes_on_when_its_window_is_left_and_the_page_tells_how_it_ended(
    qtbot: QtBot, fleet: Fleet, made_up: Told, open_page: Open
) -> None:
    page = open_page()
    made_up.mends = (mend(PLANNED, "repair.lanes", tasks=3),)
    dialog = page.actions_of_page.repair()
    qtbot.waitUntil(lambda: dialog.found is not None, timeout=WAIT_MS)
    with held(Told, "repair") as call:
        dialog.verb_button.click()
        call.wait(qtbot)
        dialog.cancel_button.click()
        qtbot.waitUntil(lambda: not isValid(dialog), timeout=WAIT_MS)
        qtbot.waitUntil(lambda: fleet.toasts[-1].text == "It is being mended … step 3 of 12", timeout=WAIT_MS)
        going = fleet.toasts[-1]
        assert going.stays
        made_up.told(4, 12)
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            call.let_go()
    assert fleet.toasts[-1].text == "Nothing had to be mended."
    step, ended = fleet.toasts[-2:]
    assert (step.text, step.update) == ("It is being mended … step 4 of 12", True)
    assert {step.key, ended.key} == {going.key}, "one message, whatever it tells"


@one_pair
def test_nothing_is_mended_where_that_is_not_allowed_but_looking_is(
    qtbot: QtBot, made_up: Told, open_page: Open
) -> None:
    page = open_page()
    page.table.set_current_key(page.table.records.key_at(1))
    page.set_acting("Not while the connection is lost")
    assert not page.repair_button.isEnabled()
    assert not page.panel.buttons["repair"].isEnabled()
    assert page.again_button.isEnabled()
    assert menu_of(page, page.table.records.key_at(1)) == {"Repair": False, "Copy message for IT": True}
    assert {one.key for one in page.commands() if one.reason} == {"doctor.repair", "doctor.finding.repair"}
    page.set_acting("")
    assert page.repair_button.isEnabled()


@one_pair
def test_only_an_admin_mends_but_whoever_operates_sees_what_would_be(
    qtbot: QtBot, fleet: Fleet, made_up: Told, open_page: Open
) -> None:
    structs.force_setattr(fleet.context, "role_now", lambda: "operator")
    page = open_page()
    dialog = page.actions_of_page.repair()
    qtbot.waitUntil(lambda: dialog.found is not None, timeout=WAIT_MS)
    assert not dialog.verb_button.isEnabled()
    assert dialog.headline.text() == "Nothing has to be mended."
    dialog.reject()
    made_up.findings = (finding(WARNING, "roles", "doctor.no_admin"),)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert page.actions_of_page.barred("admin") == ""
    structs.force_setattr(fleet.context, "role_now", lambda: "viewer")
    assert page.actions_of_page.barred("admin") == "Your role may only look"


@one_pair
def test_a_look_that_fails_says_why_and_keeps_what_was_found(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    made_up.error = StoreUnavailable("the disk is gone")
    page.refresh()
    qtbot.waitUntil(page.error.isVisible, timeout=WAIT_MS)
    assert "the disk is gone" in page.error.accessibleName()
    assert len(cells(page)) == 6
    assert page.again_button.isEnabled()
    made_up.error = None
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.error.retry_button.click()
    assert not page.error.isVisible()


@one_pair
def test_the_panel_is_closed_and_opened_by_keys(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    assert page.panel.isVisible()
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert not page.panel.isVisible()
    page.table.open_requested.emit(page.table.current_key())
    assert page.panel.isVisible()
    first = next(one for one in page.panel.buttons.values() if one.isEnabled() and one.isVisible())
    assert page.window().focusWidget() is first
    page.panel.close_button.click()
    assert not page.panel.isVisible()


def test_it_is_told_how_far_a_long_look_is(qtbot: QtBot, made_up: Told, open_page: Open) -> None:
    page = open_page()
    made_up.gate.clear()
    dialog = page.actions_of_page.repair()
    qtbot.waitUntil(lambda: dialog.headline.text() == "Looking what can be mended … step 5 of 9")
    assert not dialog.verb_button.isEnabled()
    made_up.gate.set()
    qtbot.waitUntil(lambda: dialog.found is not None)
    assert "step" not in dialog.headline.text()
    dialog.reject()
