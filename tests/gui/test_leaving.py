"""Closing the window while this computer runs tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel

from console.connection.leaving import GRACE_S, Leaving
from console.lifecycle import Console
from services import assembly, i18n
from services import settings as config
from services.commands.bulk.republish import Options
from services.commands.tasks import TaskSpec
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.shop import Shop
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.domain.types.task_type import TaskType
from services.ports import Store
from services.sample.fleet import Trickle, by_itself, sample_shops
from tests.gui.test_console import off, play, until
from views.dialogs.republish.runner import BulkRunner, RunRequest
from views.support.acting import Acting
from views.support.words import type_names


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A machine that works by itself, with a task that waits for a file."""
    (tmp_path / "config.toml").write_text('[worker]\nslots = 2\nhandlers = ["tests.gui.close_handlers"]\n')
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 2}))
    return tmp_path


async def busy(console: Console, home: Path) -> tuple[str, Leaving]:
    """A console whose own worker runs the task."""
    await until(lambda: console.windows is not None, "the window")
    session, leaving = console.connection, console.windows.leaving
    assert session is not None
    spec = TaskSpec(platform="pdd", shop_id="s1", task_type="until_file", payload={"file": str(home / "go")})
    made = session.commands.tasks.create([spec], origin="console").created
    await until(lambda: bool(session.local.running()), "the task runs here")
    return made[0].task_id, leaving


def record(home: Path, task_id: str) -> Task:
    """The task after the program has ended."""
    engine = assembly.open_engine(config.load(home=home))
    try:
        (task,) = engine.store.get([task_id])
        assert task is not None
        return task
    finally:
        engine.close()


def test_the_window_asks_and_waits_for_the_running_task(qapp: QApplication, home: Path) -> None:
    seen: list[str] = []

    async def scene(console: Console) -> None:
        task_id, leaving = await busy(console, home)
        seen.append(task_id)
        assert console.opened is not None
        window = console.opened.window
        assert not window.close()
        assert leaving.dialog is not None
        assert leaving.dialog.question.title == "Close Fleetdeck"
        assert leaving.dialog.verb_button.text() == "Finish 1 task, then close"
        leaving.dialog.verb_button.click()
        assert window.isVisible()
        (home / "go").touch()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)
    task = record(home, seen[0])
    assert (task.status, [one.outcome for one in task.attempts]) == (Status.SUCCEEDED, ["succeeded"])


def test_the_window_asks_while_letters_are_republished(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 0}))

    async def scene(console: Console) -> None:
        await until(lambda: console.windows is not None, "the window")
        session, leaving, opened = console.connection, console.windows.leaving, console.opened
        assert session is not None
        assert opened is not None
        await until(opened.window.isVisible, "the window is seen")
        ids = [f"t{number}" for number in range(3)]
        await off(dead, session.engine.store, ids)
        runner = BulkRunner(lambda: session.commands.bulk, opened.window)
        plan = session.commands.bulk.plan(ids)
        runner.begin(RunRequest(plan=plan, options=Options(rate=1, skip=frozenset())))
        runner.pause()
        assert not opened.window.close()
        assert leaving.dialog is not None
        assert leaving.dialog.question.text.startswith("A republish of 3 dead letters goes on here.")
        assert opened.window.isVisible()
        leaving.dialog.verb_button.click()
        await until(lambda: console.ended, "the end")

    play(qapp, tmp_path, scene)


def dead(store: Store, ids: list[str]) -> None:
    """These tasks have died."""
    for number, one in enumerate(ids):
        task = Task(task_id=one, platform="pdd", shop_id=f"s{number}", task_type="work", payload="{}")
        store.apply([Create(task=task), Claim(task_id=one, gen=0, attempt=0, owner=one, worker="w", lease_ms=60_000)])
        failed = Attempt(1, "w", 1, 2, "failed", "timeout")
        store.apply([Finish(task_id=one, owner=one, to="dead", attempt=failed, error_kind="timeout")])


def test_what_runs_is_told_by_names_in_the_language_of_the_person(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        await busy(console, home)
        session = console.connection
        assert session is not None
        assert console.opened is not None
        await off(session.commands.fleet.import_shops, [Shop(platform="pdd", shop_id="s1", name="柚子家纺旗舰店")])
        type_names.know({"until_file": TaskType(name="until_file", title={"zh_CN": "等待文件"})})
        i18n.set_language("zh_CN")
        try:
            assert not console.opened.window.close()
            leaving = console.windows.leaving
            assert leaving.dialog is not None
            dialog = leaving.dialog
            assert dialog.question.rows[0][0] == "等待文件"
            await until(lambda: dialog.question.rows[0][1] == "柚子家纺旗舰店", "the name of the shop")
            said = {label.text(): label.toolTip() for label in dialog.findChildren(QLabel)}
            assert "pdd:s1" in said["柚子家纺旗舰店"]
            assert "until_file" in said["等待文件"]
        finally:
            i18n.set_language("en")
            type_names.know({})
        (home / "go").touch()
        leaving.hand_back()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)


def test_beside_the_sample_fleet_ones_own_task_is_still_asked_about(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        task_id, leaving = await busy(console, home)
        session = console.connection
        assert session is not None
        assert console.opened is not None
        trickle = Trickle(by_itself(session.engine.producer.submit), sample_shops(), per_second=0.0)
        await off(trickle.burst, 3)
        session.sample.follow(trickle)
        try:
            made = [task.task_id for task in session.queries.tasks.page("created>2026-01-01", limit=10).tasks]
            assert [session.sample.made(one) for one in made] == [one != task_id for one in made]
            assert not console.opened.window.close()
            assert leaving.dialog is not None
        finally:
            session.sample.follow(None)
        (home / "go").touch()
        leaving.hand_back()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)


def test_a_task_that_is_handed_back_waits_again_and_has_not_failed(qapp: QApplication, home: Path) -> None:
    seen: list[str] = []

    async def scene(console: Console) -> None:
        task_id, leaving = await busy(console, home)
        seen.append(task_id)
        assert console.opened is not None
        assert not console.opened.window.close()
        assert leaving.dialog is not None
        leaving.dialog.other_button.click()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)
    task = record(home, seen[0])
    assert task.status in (Status.PENDING, Status.QUEUED)
    assert "failed" not in [one.outcome for one in task.attempts]
    assert task.error == "the worker was stopped"


def test_one_can_stay(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        _task_id, leaving = await busy(console, home)
        session = console.connection
        assert console.opened is not None
        assert session is not None
        window = console.opened.window
        window.close()
        assert leaving.dialog is not None
        leaving.dialog.verb_button.click()
        leaving.stay()
        leaving.leave(lambda: None)  # the other connection turns out to be open elsewhere
        leaving.dialog.other_button.click()
        leaving.stay()
        assert leaving.grace_s == GRACE_S, "what runs at the end gets its time again"
        (home / "go").touch()
        await until(lambda: not session.local.running(), "the task ended")
        assert window.isVisible()
        assert not console.ended
        (home / "go").unlink()
        spec = TaskSpec(platform="pdd", shop_id="s2", task_type="until_file", payload={"file": str(home / "go")})
        session.commands.tasks.create([spec], origin="console")
        await until(lambda: bool(session.local.running()), "it takes tasks again")
        (home / "go").touch()

    play(qapp, home, scene)


def test_an_idle_computer_closes_without_a_question(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        assert console.opened.window.close()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)


def test_what_is_still_held_with_undo_is_done_before_the_window_is_gone(qapp: QApplication, home: Path) -> None:
    """Closing is no Undo: it was asked for."""
    (home / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}))
    seen: list[str] = []

    async def scene(console: Console) -> None:
        await until(lambda: console.connection is not None and console.opened is not None, "the window")
        session, desk = console.connection, console.opened
        assert session is not None
        assert desk is not None
        spec = TaskSpec(platform="pdd", shop_id="s1", task_type="later", payload={}, delay_s=3600)
        seen.append(session.commands.tasks.create([spec], origin="console").created[0].task_id)
        desk.window.open_page("tasks")
        (acting, *_) = desk.window.findChildren(Acting)
        acting.delayed(lambda: "…", lambda: session.commands.tasks.cancel(seen), lambda _outcome: "", 60)
        assert desk.window.close()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)
    assert record(home, seen[0]).status == Status.CANCELLED


def test_when_the_desktop_ends_what_is_held_is_done_and_the_place_of_the_window_kept(
    qapp: QApplication, home: Path
) -> None:
    (home / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}))

    async def scene(console: Console) -> None:
        await until(lambda: console.connection is not None and console.opened is not None, "the window")
        session, desk = console.connection, console.opened
        assert session is not None
        assert desk is not None
        spec = TaskSpec(platform="pdd", shop_id="s1", task_type="later", payload={}, delay_s=3600)
        made = session.commands.tasks.create([spec], origin="console").created
        desk.window.open_page("tasks")
        (acting, *_) = desk.window.findChildren(Acting)
        acting.delayed(lambda: "…", lambda: session.commands.tasks.cancel([made[0].task_id]), lambda _outcome: "", 60)
        found: list[object] = []

        def at_the_end() -> None:
            """As Qt says it, outside of any coroutine; a moment later Windows has ended the program."""
            console.settle()
            found.append(record(home, made[0].task_id).status)
            found.append(json.loads((home / "console.json").read_text())["window"]["page"])

        QTimer.singleShot(0, at_the_end)
        await until(lambda: len(found) == 2, "it is settled")
        assert found == [Status.CANCELLED, "tasks"]
        assert desk.window.close()
        await until(lambda: console.ended, "the end")

    play(qapp, home, scene)


def test_a_window_that_is_closed_while_the_end_is_waited_for_leaves_no_worker_behind_that_takes_nothing(
    qapp: QApplication, home: Path
) -> None:
    async def scene(console: Console) -> None:
        _task_id, leaving = await busy(console, home)
        session, desk = console.connection, console.opened
        assert session is not None
        assert desk is not None
        desk.keys.another_wanted.emit()
        desk.keys.quit_wanted.emit()
        assert leaving.dialog is not None
        leaving.dialog.verb_button.click()
        assert leaving.waiting
        assert desk.window.close()
        assert console.opened is not desk
        assert not leaving.waiting
        (home / "go").touch()
        await until(lambda: not session.local.running(), "the task ended")
        assert not console.ended, "the other window goes on"
        (home / "go").unlink()
        spec = TaskSpec(platform="pdd", shop_id="s2", task_type="until_file", payload={"file": str(home / "go")})
        session.commands.tasks.create([spec], origin="console")
        await until(lambda: bool(session.local.running()), "it takes tasks again", 10)
        (home / "go").touch()

    play(qapp, home, scene)


def test_all_windows_close_once_what_was_to_be_finished_first_has_ended(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        _task_id, leaving = await busy(console, home)
        desk = console.opened
        assert desk is not None
        desk.keys.another_wanted.emit()
        desk.keys.quit_wanted.emit()
        assert leaving.dialog is not None
        leaving.dialog.verb_button.click()
        (home / "go").touch()
        await until(lambda: console.ended, "the end", 20)

    play(qapp, home, scene)


def test_who_stays_after_all_gives_running_tasks_their_time_again(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        _task_id, leaving = await busy(console, home)
        leaving.leave(leaving.stay)  # what it was to lead to is open elsewhere
        leaving.hand_back()
        assert (leaving.decided, leaving.grace_s) == (False, GRACE_S)
        (home / "go").touch()

    play(qapp, home, scene)
