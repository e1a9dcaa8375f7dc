"""The list of causes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from services.domain.insight.cause import AGAIN, NOW, Worth
from services.domain.task.record import Task
from services.domain.task.status import Triage
from services.monitor.letters.causes import Cause
from tests.unit.views.pages.dead_letters.test_words import cause
from tests.unit.views.pages.fleet_rig import Fleet
from views.kit.verb import Place, Verbs
from views.pages.dead_letters import words
from views.pages.dead_letters.causes import PAD, CauseList, ordered, title_lines
from views.pages.dead_letters.lists import LetterPane
from views.pages.dead_letters.table import COLUMNS, Wanted
from views.pages.dead_letters.verbs import CAUSE_VERBS, VERBS, CauseActions, LetterActions, Letters, OfCause
from views.support import text
from views.support.paint import width_of
from views.tables.record_model import RecordModel
from views.tables.task_columns import task_id
from views.theme import theme

FEW = replace(cause(), fingerprint="few", count=2, last_at=900, history=(0,) * 15 + (1, 1))
MANY = replace(cause(), fingerprint="many", count=90, last_at=100, history=(90,) + (0,) * 16)


def test_orders() -> None:
    assert [one.fingerprint for one in ordered((FEW, MANY), "most")] == ["many", "few"]
    risky = replace(FEW, fingerprint="risky", kind="risk_control", count=1)
    page = replace(MANY, kind="element_not_found")
    assert [one.fingerprint for one in ordered((page, replace(FEW, kind="network"), risky), "urgent")] == [
        "risky", "many", "few",
    ]  # fmt: skip
    now = replace(FEW, fingerprint="now", kind="network", count=3, worth=Worth(level=NOW))
    assert [one.fingerprint for one in ordered((page, risky, now), "urgent")] == ["now", "risky", "many"]
    assert [one.fingerprint for one in ordered((MANY, FEW), "newest")] == ["few", "many"]
    assert [one.fingerprint for one in ordered((MANY, FEW), "rising")] == ["few", "many"]
    always = replace(MANY, fingerprint="always", history=(30,) * 17, count=510)
    assert [one.fingerprint for one in ordered((always, FEW), "rising")] == ["few", "always"]


def test_what_dies_of_it_is_paused_or_where_it_is_let_go_on() -> None:
    page = replace(MANY, kind="element_not_found", types=("work",))
    assert page.pause_scope
    for paused, verb in ((frozenset(), "pause"), (frozenset({page.pause_scope}), "resume")):
        of = OfCause(cause=page, wanted=Wanted(triage=Triage.OPEN), paused=paused)
        assert of.holding == (verb, page.pause_scope)


def test_of_what_nobody_could_read_only_a_new_task_is_made() -> None:
    bad = Task(task_id="bad_0123456789abcdef", shop_id="s1", platform="pdd", task_type="work", status="dead")
    letters = Letters(ids=(bad.task_id,), task=bad, edited=True)
    offered = {verb.key for verb in VERBS if verb.offered(Place.PANEL, letters)}
    assert offered & {"republish", "correct", "renew"} == {"renew"}
    known = replace(letters, task=replace(bad, task_id="t1"))
    assert {verb.key for verb in VERBS if verb.offered(Place.PANEL, known)} >= {"republish", "correct"}


def test_numbers_change_in_place_and_no_row_moves(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((MANY, FEW), settle=True)
    qtmodeltester.check(causes.causes)
    causes.choose("few")
    causes.causes.apply((replace(FEW, count=200), MANY))
    assert [causes.causes.record(row).count for row in range(2)] == [90, 200]
    assert causes.current() == "few"


def test_of_many_causes_only_those_are_measured_that_are_not_as_they_were(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []

    def title(one: Cause) -> str:
        measured.append(one.fingerprint)
        return f"{one.fingerprint} of them"

    monkeypatch.setattr(words, "title", title)
    many = [replace(MANY, fingerprint=f"c{number}") for number in range(100)]
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.resize(300, 200)
    causes.causes.apply(many, settle=True)
    with qtbot.waitExposed(causes):
        causes.show()
    qtbot.waitUntil(lambda: causes.verticalScrollBar().maximum() > 0 and causes.verticalScrollBar().isVisible())
    causes.doItemsLayout()
    assert causes.visualRect(causes.causes.index(99, 0)).top() >= 99 * 100
    assert "c99" in measured
    measured.clear()
    many[70] = replace(many[70], count=91)
    causes.causes.apply(list(many))
    causes.doItemsLayout()
    assert set(measured) - {f"c{number}" for number in range(5)} == {"c70"}, "but for those that are painted"
    theme().changed.emit()
    causes.sizeHintForIndex(causes.causes.index(99, 0))
    assert "c99" in measured


def test_choosing_tells_the_fingerprint(qtbot: QtBot) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((MANY, FEW), settle=True)
    with qtbot.waitSignal(causes.chosen) as heard:
        causes.choose("few")
    assert heard.args == ["few"]
    assert not causes.choose("unknown")


def test_it_paints_in_any_width(qtbot: QtBot) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((MANY, FEW), settle=True)
    for width in (120, 250, 420):
        causes.resize(width, 200)
        assert not causes.grab().isNull()


@pytest.mark.parametrize("count", [7, 1_043, 9_999, 18_400])
def test_a_count_of_thousands_stands_apart_from_the_title(qtbot: QtBot, count: int) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((replace(MANY, count=count),), settle=True)
    causes.resize(250, 200)
    seen = causes.grab().toImage()
    end = PAD + width_of(text.compact(count), "panel", tabular=True)
    ground = seen.pixelColor(5, 20)
    beside = {seen.pixelColor(x, y).name() for x in range(end + 2, end + 8) for y in range(11, 31)}
    assert beside == {ground.name()}


def test_a_title_without_room_goes_on_in_a_second_line(qtbot: QtBot) -> None:
    title = "Page element missing: .order-list .row"
    assert title_lines(title, 400) == [title]
    first, second = title_lines(title, 180)
    assert f"{first} {second}" == title or first + second == title
    assert second.endswith(".row")
    assert "".join(title_lines("页面元素缺失：.order-list-with-a-very-long-name", 150)).endswith("name")


@pytest.fixture
def pane(qtbot: QtBot, fleet: Fleet) -> LetterPane:
    """The pane of a cause whose verbs go."""
    owner = QWidget()
    qtbot.addWidget(owner)
    letters = LetterActions(fleet.context, owner)
    acts = CauseActions(fleet.context, letters, owner)
    pane = LetterPane(
        RecordModel(COLUMNS, key=task_id),
        Verbs(VERBS, lambda verb, chosen: verb.do(letters, chosen), lambda _role: ""),
        Verbs(CAUSE_VERBS, lambda verb, of: verb.do(acts, of), lambda _role: ""),
    )
    qtbot.addWidget(pane)
    pane.show()
    return pane


def of(cause: Cause, triage: str = Triage.OPEN) -> OfCause:
    """A cause as verbs take it."""
    return OfCause(cause=cause, wanted=Wanted(triage=triage, cause=cause.fingerprint))


def test_what_only_who_makes_the_flow_can_mend_is_copied_for_them(pane: LetterPane) -> None:
    changed = replace(MANY, kind="element_not_found", worth=Worth(level=AGAIN, code="worth.page"))
    pane.show_cause(of(changed))
    report = pane.buttons["report"]
    assert (report.text(), report.kind) == ("Copy report for the flow's maker", "primary")
    assert (report.isVisible(), pane.republish.kind) == (True, "plain")
    report.click()
    assert "Page element missing" in QGuiApplication.clipboard().text()
    pane.show_cause(replace(of(changed), copied=True))
    assert report.text() == "Copied"
    for other in (replace(changed, worth=Worth()), replace(changed, kind="network")):
        pane.show_cause(of(other))
        assert not report.isVisible()


def test_what_only_who_creates_the_tasks_can_mend_is_copied_for_them(pane: LetterPane) -> None:
    refused = replace(MANY, kind="bad_payload", worth=Worth(level=AGAIN, code="worth.flow_refused"))
    pane.show_cause(of(refused))
    report = pane.buttons["report"]
    assert (report.text(), report.kind) == ("Copy report for who creates these tasks", "primary")
    assert (report.isVisible(), pane.republish.kind) == (True, "plain")
    assert "put right where the tasks are created" in pane.worth.accessibleName()
    report.click()
    assert "Parameters refused" in QGuiApplication.clipboard().text()
    again = Worth(level=AGAIN, code="worth.failed_again", params={"count": 1, "of": 1})
    pane.show_cause(of(replace(refused, worth=again)))
    assert report.isVisible()
    assert "Have it put right where the tasks are created, then republish" in pane.worth.accessibleName()
    pane.show_cause(of(replace(refused, worth=again), Triage.IGNORED))
    assert not pane.worth.isVisible()
    pane.show_cause(of(replace(refused, worth=Worth())))
    assert not report.isVisible()
