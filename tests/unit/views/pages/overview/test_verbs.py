"""What an attention item's buttons do: nothing is stopped or cancelled before a person has said yes and why."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.change import Claim
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Task
from tests.support.widgets import press, words
from tests.unit.views.pages.fleet_rig import Fleet, Logins
from views.dialogs.confirm import LIMITS, ConfirmDialog
from views.pages.overview.verbs import ACTS, AttentionVerbs


@pytest.fixture
def owner(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


def create(fleet: Fleet, number: int) -> list[Task]:
    fleet.seed_shops(6)
    shops = list(fleet.engine.registry.shops().values())[:number]
    specs = [TaskSpec(platform=shop.platform, shop_id=shop.shop_id, task_type="t", payload={}) for shop in shops]
    return list(fleet.context.commands.tasks.create(specs, origin="cli").created)


def run(fleet: Fleet, task: Task) -> None:
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w1#1", worker="w1", lease_ms=60_000)
    assert fleet.store.apply([claim])[0].code == "run"


def states(fleet: Fleet, tasks: list[Task]) -> list[str]:
    return [task.cancel or task.status for task in fleet.store.get([one.task_id for one in tasks])]


def asked(owner: QWidget) -> ConfirmDialog:
    (dialog,) = [one for one in owner.findChildren(ConfirmDialog) if one.isVisible()]
    return dialog


@pytest.mark.parametrize("verb", ["copy_server", "copy_flow", "copy_creator"])
def test_what_somebody_else_must_do_is_copied_for_them(fleet: Fleet, owner: QWidget, verb: str) -> None:
    assert verb in ACTS
    AttentionVerbs(fleet.context, owner).run(verb, "Nothing is sent\nFree disk on mq-01")
    assert QGuiApplication.clipboard().text() == "Nothing is sent\nFree disk on mq-01"
    assert [toast.text for toast in fleet.toasts] == ["Copied: send it to whoever can help"]


@pytest.mark.parametrize("verb", ["cancel_tasks", "stop_task"])
def test_what_cannot_be_taken_back_is_asked_about_and_its_note_kept(
    qtbot: QtBot, fleet: Fleet, owner: QWidget, verb: str
) -> None:
    assert verb in ACTS
    tasks = create(fleet, 2 if verb == "cancel_tasks" else 1)
    if verb == "stop_task":
        run(fleet, tasks[0])
    before, entries = states(fleet, tasks), len(fleet.store.audit(100))
    verbs, target = AttentionVerbs(fleet.context, owner), ",".join(task.task_id for task in tasks)
    verbs.run(verb, target)
    asked(owner).cancel_button.click()
    verbs.run(verb, target)
    dialog = asked(owner)
    assert (states(fleet, tasks), fleet.toasts, len(fleet.store.audit(100))) == (before, [], entries)
    dialog.note_field.setText("it hangs")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert states(fleet, tasks) == (["requested"] if verb == "stop_task" else ["cancelled", "cancelled"])
    assert {task.reason for task in fleet.store.get([one.task_id for one in tasks])} == {"it hangs"}
    entry = fleet.store.audit(1)[0]
    assert (entry.action, set(entry.target)) == ("task.cancel", {task.task_id for task in tasks})
    told = "1 running task asked to stop" if verb == "stop_task" else "2 tasks cancelled"
    assert [(spec.text, [one.text for one in spec.actions]) for spec in fleet.toasts] == [(told, ["Create again"])]


def test_what_is_republished_is_held_for_a_moment_and_once(qtbot: QtBot, fleet: Fleet, owner: QWidget) -> None:
    fleet.seed_shops(6)
    dead = fleet.die("pdd", "pdd-10021", "sync_order", "TimeoutError: no answer", {})
    verbs = AttentionVerbs(fleet.context, owner)
    verbs.run("republish", dead)
    (held,) = fleet.toasts
    assert held.text == "Republishing 1 task in 5 s"
    press(held, "Undo")
    assert fleet.toasts[-1].text == "Taken back; nothing was changed."
    assert fleet.store.counts().total == 1
    verbs.run("republish", dead)
    held = fleet.toasts[-1]
    verbs.run("republish", dead)
    assert fleet.toasts[-1].text == "That is about to happen already."
    press(held, "Send now")
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "Republished; what waits for it goes on.")
    assert fleet.store.counts().total == 2


def test_very_many_that_wait_in_vain_are_cancelled_once_their_number_was_typed(
    fleet: Fleet, owner: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, False, 2)
    tasks = create(fleet, 3)
    AttentionVerbs(fleet.context, owner).run("cancel_tasks", ",".join(task.task_id for task in tasks))
    dialog = asked(owner)
    assert not dialog.verb_button.isEnabled()
    dialog.typed_field.setText("3")
    assert dialog.verb_button.isEnabled()


def test_what_was_cancelled_meanwhile_is_not_told_as_cancelled_now(qtbot: QtBot, fleet: Fleet, owner: QWidget) -> None:
    (task,) = create(fleet, 1)
    AttentionVerbs(fleet.context, owner).run("cancel_tasks", task.task_id)
    fleet.context.commands.tasks.cancel([task.task_id])
    dialog = asked(owner)
    dialog.note_field.setText("in vain")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: "Cancelled already." in words(dialog))
    assert (dialog.isVisible(), dialog.note, fleet.toasts) == (True, "in vain", [])


def test_a_pause_that_somebody_else_made_meanwhile_offers_nothing_to_take_back(
    qtbot: QtBot, fleet: Fleet, owner: QWidget
) -> None:
    fleet.seed_shops(6)
    theirs = Pause(scope="platform:pdd", by="ben@desk", at=fleet.store.now_ms(), reason="sale")
    fleet.store.set_pause(theirs)
    AttentionVerbs(fleet.context, owner).run("pause", "platform:pdd")
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1)
    assert "was paused already, by ben@desk; it stays so" in fleet.toasts[0].text
    assert fleet.toasts[0].actions == ()
    assert fleet.store.pauses() == [theirs]


def test_a_pause_goes_at_once_and_its_message_asks_why(qtbot: QtBot, fleet: Fleet, owner: QWidget) -> None:
    fleet.seed_shops(6)
    verbs = AttentionVerbs(fleet.context, owner)
    verbs.run("pause", "platform:pdd")
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1)
    assert [(pause.scope, pause.reason) for pause in fleet.store.pauses()] == [("platform:pdd", "")]
    assert [one.text for one in fleet.toasts[0].actions] == ["Undo", "Write why"]

    def why() -> ConfirmDialog:
        fleet.toasts[-1].actions[1].call()
        return asked(owner)

    dialog = why()
    assert dialog.note_field.hasFocus() or dialog.focusWidget() is dialog.note_field
    assert not dialog.verb_button.isEnabled()
    dialog.cancel_button.click()
    assert [one.text for one in fleet.toasts[-1].actions] == ["Undo", "Write why"], "still offered"
    dialog = why()
    dialog.note_field.setText("risk control")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 3)
    assert [pause.reason for pause in fleet.store.pauses()] == ["risk control"]
    assert fleet.toasts[-1].text == "Why Pinduoduo is paused stands with the pause."
    (undo,) = fleet.toasts[-1].actions
    undo.call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 4)
    assert fleet.store.pauses() == []


def test_who_writes_why_a_pause_stands_that_is_over_by_then_is_told_so(
    qtbot: QtBot, fleet: Fleet, owner: QWidget
) -> None:
    fleet.seed_shops(6)
    AttentionVerbs(fleet.context, owner).run("pause", "platform:pdd")
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1)
    fleet.toasts[0].actions[1].call()
    dialog = asked(owner)
    fleet.context.commands.fleet.resume("platform:pdd")
    dialog.note_field.setText("risk control")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: "it is not as this act left it any more" in words(dialog).lower())
    assert (dialog.isVisible(), fleet.store.pauses()) == (True, [])


def test_a_resumed_pause_is_closed_again_with_its_reason(qtbot: QtBot, fleet: Fleet, owner: QWidget) -> None:
    fleet.seed_shops(6)
    fleet.context.commands.fleet.pause("platform:pdd", reason="sale")
    qtbot.waitUntil(lambda: bool(fleet.context.feed.latest.pauses))
    verbs = AttentionVerbs(fleet.context, owner)
    verbs.run("resume", "platform:pdd")
    assert [pause.reason for pause in fleet.store.pauses()] == ["sale"], "one with a note is asked about"
    asked(owner).verb_button.click()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1)
    assert fleet.store.pauses() == []
    (undo,) = fleet.toasts[0].actions
    undo.call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2)
    assert [(pause.scope, pause.reason) for pause in fleet.store.pauses()] == [("platform:pdd", "sale")]


def priorities(fleet: Fleet, tasks: list[Task]) -> list[int]:
    return [task.priority for task in fleet.store.get([one.task_id for one in tasks])]


def test_a_flood_is_lowered_after_a_preview_and_raised_again(qtbot: QtBot, fleet: Fleet, owner: QWidget) -> None:
    assert "lower_tasks" in ACTS
    other, gone, *tasks = create(fleet, 4)
    fleet.context.commands.tasks.cancel([gone.task_id])
    fleet.context.commands.tasks.prioritize([tasks[0].task_id], "high")
    before, kept = priorities(fleet, tasks), priorities(fleet, [other])
    verbs, target = AttentionVerbs(fleet.context, owner), f"shop:{','.join(task.shop for task in (gone, *tasks))}"
    verbs.run("lower_tasks", target)
    qtbot.waitUntil(lambda: any(one.isVisible() for one in owner.findChildren(ConfirmDialog)))
    assert priorities(fleet, tasks) == before, "nobody has said yes"
    said = " ".join(label.text() for label in asked(owner).findChildren(QLabel))
    assert "2 tasks" in said
    asked(owner).verb_button.click()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1)
    assert (priorities(fleet, tasks), priorities(fleet, [other])) == ([2, 2], kept)
    assert fleet.store.audit(1)[0].action == "task.prioritize"
    (undo,) = fleet.toasts[0].actions
    undo.call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2)
    assert priorities(fleet, tasks) == before
    verbs.run("lower_tasks", "shop:pdd:nowhere")
    qtbot.waitUntil(lambda: len(fleet.toasts) == 3)
    assert fleet.toasts[2].text == "Their priority is low already."


def test_a_worker_gets_more_slots_and_undo_gives_it_those_of_before(qtbot: QtBot, fleet: Fleet, owner: QWidget) -> None:
    assert "more_slots" in ACTS
    info = WorkerInfo(worker="w=1", host="h", pid=1, slots=(SlotState(),))
    fleet.store.heartbeat(info)
    qtbot.waitUntil(lambda: bool(fleet.context.feed.latest.workers))
    AttentionVerbs(fleet.context, owner).run("more_slots", "w=1=9")
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1)
    assert fleet.store.heartbeat(info).orders == ("slots=9",)
    assert fleet.toasts[0].text == "w=1 is asked for 9 slots."
    (undo,) = fleet.toasts[0].actions
    undo.call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2)
    assert fleet.store.heartbeat(info).orders == ("slots=1",)


def test_a_person_looks_in_the_shop_before_deciding_here_or_is_told_where(
    qtbot: QtBot, fleet: Fleet, owner: QWidget
) -> None:
    fleet.seed_shops(2)
    shop = next(iter(fleet.engine.registry.shops()))
    logins = fleet.context.logins
    assert isinstance(logins, Logins)
    verbs = AttentionVerbs(fleet.context, owner)
    verbs.run("look_shop", shop)
    qtbot.waitUntil(lambda: any("look whether it was done, then close" in spec.text for spec in fleet.toasts))
    logins.logged_in = False
    verbs.run("look_shop", shop)
    qtbot.waitUntil(lambda: any("nothing was seen there" in spec.text for spec in fleet.toasts))
    logins.homes[shop] = "desk-2"
    verbs.run("look_shop", shop)
    qtbot.waitUntil(lambda: any(one.isVisible() for one in owner.findChildren(ConfirmDialog)))
    said = " ".join(label.text() for label in asked(owner).findChildren(QLabel))
    assert "desk-2" in said
    asked(owner).verb_button.click()
    assert QGuiApplication.clipboard().text() == f"shop login {shop}"


@pytest.mark.parametrize(
    ("verb", "told"), [("resume", "Pinduoduo goes on."), ("pause", "Pinduoduo is paused; running tasks go on.")]
)
def test_what_was_done_is_told_in_the_language_of_the_moment(
    qtbot: QtBot, fleet: Fleet, owner: QWidget, request: pytest.FixtureRequest, verb: str, told: str
) -> None:
    if verb == "resume":
        fleet.context.commands.fleet.pause("platform:pdd", reason="")
    AttentionVerbs(fleet.context, owner).run(verb, "platform:pdd")
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    (said,) = fleet.toasts
    i18n.set_language("zh_CN")
    request.addfinalizer(lambda: i18n.set_language("en"))
    assert said.again is not None
    assert said.text == told
    assert "拼多多" in said.again().text


def test_of_a_pause_that_somebody_ended_first_nobody_is_told_that_it_ends_now(
    qtbot: QtBot, fleet: Fleet, owner: QWidget
) -> None:
    """Its Undo would have paused what was not paused here."""
    AttentionVerbs(fleet.context, owner).resume("platform:pdd")
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    (said,) = fleet.toasts
    assert (said.text, said.actions) == ("Pinduoduo was not paused any more; nothing was changed.", ())
