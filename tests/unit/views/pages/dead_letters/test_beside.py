"""A dead letter beside its last success, over a real engine: which success, which pictures, and why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import msgspec
import pytest
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.change import Create, Forget
from services.domain.task.artifact import mark
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from tests.unit.views.pages.fleet_rig import MINUTE, Fleet
from tests.unit.views.pages.opening import opening
from views.dialogs.artifact import ArtifactDialog
from views.kit.beside import BesideSection
from views.pages.dead_letters.page import DeadLettersPage

pytestmark = pytest.mark.both_pairs

STEPS = [{"do": "goto", "name": "open", "url": "/orders"}, {"do": "wait_for", "name": "rows", "selector": ".row"}]
ERROR = "step 2 rows: .row was not visible within 30 s"
Open = Callable[[], DeadLettersPage]
WAIT_MS = 20_000


def png(colour: str) -> bytes:
    """A small picture of one colour."""
    image = QImage(64, 40, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page once the letter has been compared."""

    def show(page: DeadLettersPage) -> None:
        page.show()
        page.activate()
        qtbot.waitUntil(lambda: page.panel.success.found is not None)

    yield from opening(
        qtbot, lambda: DeadLettersPage(fleet.context), show, leave=lambda page: page.actions_of_page.runner.finish()
    )


def died(fleet: Fleet, shop_id: str = "pdd-10021", parent: str = "", picture: bytes = b"") -> str:
    """A dead letter of a flow that left a picture of its failed step."""
    task_id = fleet.die("pdd", shop_id, "browser_flow", ERROR, {"steps": STEPS})
    if parent:
        (task,) = fleet.store.get([task_id])
        task_id = f"{task_id}b"
        fleet.store.apply([Create(task=msgspec.structs.replace(task, task_id=task_id, parent=parent))])
    place = fleet.engine.artifacts
    assert place is not None
    place.put(task_id, 3, "rows.png", picture or png("#ff0000"), step="rows")
    return task_id


def succeeded(fleet: Fleet, shop_id: str, *, picture: bool = True, away: bool = False) -> str:
    """A success of the same flow; ``away``: its picture lies on another machine."""
    now, task_id, place = fleet.store.now_ms(), f"ok_{shop_id}", fleet.engine.artifacts
    assert place is not None
    left = [place.put(task_id, 1, "end.png", png("#00ff00"))] if picture else []
    if away:
        place.remove(task_id)
    attempt = Attempt(
        number=1,
        worker="rpa-07",
        started_at=now - 2 * MINUTE,
        ended_at=now - MINUTE,
        outcome="succeeded",
        artifacts=tuple(map(mark, left)),
        took=(("open", 1.0), ("rows", 2.0)),
    )
    task = Task(
        task_id=task_id,
        platform="pdd",
        shop_id=shop_id,
        task_type="browser_flow",
        payload=json.dumps({"steps": STEPS}),
        status=Status.SUCCEEDED,
        attempt=1,
        created_at=now - 3 * MINUTE,
        ended_at=now - MINUTE,
        updated_at=now - MINUTE,
        attempts=(attempt,),
    )
    fleet.store.apply([Create(task=task)])
    return task_id


def told(section: BesideSection) -> tuple[str, str, str]:
    """How near it is, what differs, why there is no picture of the success."""
    blank = section.right.blank
    return section.note(), section.sentence.text(), blank.text() if blank.isVisibleTo(section) else ""


def test_both_pictures_stand_side_by_side_and_the_step_is_named(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ok = succeeded(fleet, "pdd-10021")
    died(fleet)
    page = open_page()
    section = page.panel.success
    assert told(section) == (
        "the same flow, the same shop",
        "They part at step “2 rows”: here it failed, there it was done.",
        "",
    )
    qtbot.waitUntil(lambda: section.left.picture.isVisibleTo(page) and section.right.picture.isVisibleTo(page))
    colours = [side.picture.pixmap().toImage().pixelColor(5, 5).name() for side in (section.left, section.right)]
    assert colours == ["#ff0000", "#00ff00"]
    assert section.steps.rows == [("1 open", "done", "done, 1.0\u202fs"), ("2 rows", "failed", "done, 2.0\u202fs")]
    qtbot.mouseClick(section.right.picture, Qt.MouseButton.LeftButton)
    (dialog,) = page.window().findChildren(ArtifactDialog)
    assert dialog.file.task_id == ok
    dialog.reject()
    with qtbot.waitSignal(page.navigate) as went:
        section.right.door.click()
    assert ok in str(went.args)


def test_without_one_of_its_own_shop_another_shop_is_shown_and_named(fleet: Fleet, open_page: Open) -> None:
    succeeded(fleet, "pdd-10025", away=True)
    died(fleet)
    section = open_page().panel.success
    note, _sentence, blank = told(section)
    assert note == "the same flow, another shop"
    assert "柚子数码专卖店" in section.right.facts.text()
    assert blank == "Its picture is not here: it lies on the machine of its worker, or was removed."


def test_what_is_missing_says_why(fleet: Fleet, open_page: Open) -> None:
    first = died(fleet)
    died(fleet, parent=first)
    page = open_page()
    assert told(page.panel.success)[1] == "No success of this work is on record, for this shop or for another one."
    succeeded(fleet, "pdd-10021", picture=False)
    assert page.panel.attempts.values()["Failed before"].startswith("1 time, republished in between, first ")


def test_a_letter_of_what_never_succeeded_shows_its_own_picture(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    died(fleet)
    page = open_page()
    section = page.panel.success
    qtbot.waitUntil(lambda: section.left.picture.isVisibleTo(page))
    assert section.left.picture.pixmap().toImage().pixelColor(5, 5).name() == "#ff0000"
    assert not section.right.isVisibleTo(page)
    assert not section.which.isVisibleTo(page)
    qtbot.mouseClick(section.left.picture, Qt.MouseButton.LeftButton)
    (dialog,) = page.window().findChildren(ArtifactDialog)
    dialog.reject()


@pytest.mark.one_pair
def test_a_picture_that_is_damaged_says_so(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    died(fleet, picture=b"\x89PNG\r\n\x1a\nbroken")
    page = open_page()
    blank = page.panel.success.left.blank
    qtbot.waitUntil(lambda: blank.isVisibleTo(page))
    words = "Its picture cannot be shown: the file is damaged, or too large."
    assert blank.text() == words
    i18n.set_language("zh_CN")
    i18n.set_language("en")
    assert blank.text() == words, "it stays when all is said anew"


def test_a_success_that_comes_is_told_without_being_asked_for(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.die("pdd", "pdd-10021", "sync_order", ERROR, {})
    section = open_page().panel.success
    assert told(section)[1] == "No success of this work is on record, for this shop or for another one."
    fleet.succeed("pdd", "pdd-10025", "sync_order")
    qtbot.waitUntil(lambda: section.note() == "the same flow, another shop", timeout=WAIT_MS)
    ok = fleet.succeed("pdd", "pdd-10021", "sync_order")
    qtbot.waitUntil(lambda: section.note() == "the same flow, the same shop", timeout=WAIT_MS)
    found = section.found
    assert found is not None
    assert found.success is not None
    assert found.success.task.task_id == ok


def test_a_success_that_retention_has_removed_is_still_told(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ok = fleet.succeed("pdd", "pdd-10021", "sync_order")
    (task,) = fleet.store.get([ok])
    letter = fleet.die("pdd", "pdd-10021", "sync_order", ERROR, {})
    (dead,) = fleet.store.get([letter])
    fleet.store.apply([Create(task=msgspec.structs.replace(dead, task_id=f"{letter}b", uniq=task.uniq))])
    fleet.store.apply([Forget(task_id=ok, updated_at=task.updated_at, tomb_ms=60 * MINUTE)])
    page = open_page()
    page.table.set_current_key(f"{letter}b")
    section = page.panel.success
    qtbot.waitUntil(lambda: section.task_id == f"{letter}b" and section.found is not None)
    assert f"as {ok}; its record and its picture were removed by retention" in section.sentence.text()


def test_whoever_takes_a_cause_stands_at_its_letters(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    died(fleet)
    page = open_page()
    at_it = page.panel.at_it
    assert at_it.said.text() == "Nobody is at it yet."
    at_it.buttons["take"].click()
    who = fleet.context.commands.operator.who
    qtbot.waitUntil(lambda: at_it.said.text() == f"{who} is at it")
    assert not at_it.buttons["take"].isVisibleTo(page)
