"""The whole console: first run, sample fleet, republish from the window, lost connection, an orderly end."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import psutil
import pytest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from console.lifecycle import Console
from services import assembly
from services import settings as config
from services.cli.context import ConsoleRequest
from services.cli.window import pages
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.search.query import Query, equals
from services.domain.task.status import ACTIVE, Status, Triage
from services.engine.zone import set_fleet_zone
from tests.gui.desk import SHOPS
from views.pages.dead_letters.page import DeadLettersPage
from views.pages.settings.page import SettingsPage
from views.pages.tasks.page import TasksPage
from views.support import operation, shown

WAIT_S = 40.0


async def until(check: Callable[[], bool], what: str, seconds: float = WAIT_S) -> None:
    """Let the loop run until ``check`` holds."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"never: {what}"
        await asyncio.sleep(0.05)


async def off(call: Callable[..., object], *args: object) -> None:
    """Let a thread do what blocks."""
    with ThreadPoolExecutor(1) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, call, *args)


def play(
    app: QApplication,
    home: Path,
    scene: Callable[[Console], Awaitable[None]],
    *,
    seconds: float = 100,
    **request: object,
) -> Console:
    """Run the console, let ``scene`` use it, and end it as its window being closed does."""

    opened: list[Console] = []

    async def both() -> None:
        wanted = {"settings": config.load(home=home), "first_run": True, **request}
        console = Console(app, ConsoleRequest(**wanted))  # type: ignore[arg-type]
        opened.append(console)
        running = asyncio.ensure_future(console.main())
        try:
            await asyncio.wait_for(scene(console), seconds)
        finally:
            console.end()
            await asyncio.wait_for(running, 60)

    try:
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            runner.run(both())
    finally:
        # also where the scene failed: windows that outlive their loop end the process, and nobody reads why
        for console in opened:
            for window in (console.opened.window if console.opened is not None else None, console.welcome):
                if window is not None:
                    window.deleteLater()
        operation.shut_down()
        operation.configure(None)
    return opened[0]


def test_first_run_then_this_machine_then_the_sample_fleet(qapp: QApplication, tmp_path: Path) -> None:
    async def scene(console: Console) -> None:
        await until(lambda: console.first_run is not None, "the first run")
        assert console.first_run is not None
        console.first_run.run_here.emit(4)
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.connection is not None
        session = console.connection
        await until(lambda: bool(session.local.name), "a local worker")
        await off(session.sample.load)
        store = session.engine.store
        await until(lambda: store.counts().status.get("succeeded", 0) >= 5, "five real tasks succeeded")
        assert len(session.shops()) == 60
        assert console.opened is not None
        desk = console.opened
        await until(lambda: desk.feed.latest.counts.status.get("succeeded", 0) >= 5, "the window counts them")
        await until(lambda: len(session.overview.series(300, 1000)) >= 2, "the charts move")
        await off(session.sample.stop)
        assert not session.sample.loaded
        told = [(entry.action, entry.outcome) for entry in store.audit(50) if entry.action.startswith("sample.")]
        assert told == [("sample.stop", "done"), ("sample.load", "done")]
        assert session.local.name, "what else comes is still worked on here"
        page = store.query(Query(terms=(equals("status", *ACTIVE),)))
        assert not page.tasks, "nothing of it waits for a storefront that is gone"
        assert len(session.shops()) == 60
        assert not store.documents("fleet").get("sample"), "it does not come back by itself"

    console = play(qapp, tmp_path, scene)
    assert console.clean
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))
    assert kept["chosen"] == "local"


def test_the_sample_fleet_is_offered_until_there_are_shops(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.connection is not None
        assert console.opened is not None
        toasts = console.opened.window.toasts

        def offered() -> bool:
            return any(toast.spec.text.startswith("Nothing here yet") for toast in toasts.toasts())

        await until(offered, "the offer")
        await off(console.connection.commands.fleet.import_shops, SHOPS)
        await until(lambda: not offered(), "it is taken back")

    play(qapp, tmp_path, scene)


def test_a_start_works_although_the_window_before_was_killed_a_moment_ago(qapp: QApplication, tmp_path: Path) -> None:
    """Its worker was heard of just now, so it was taken for one of another window, and nothing worked here."""
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")
    killed = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    gone = WorkerInfo(
        worker="killed",
        host=socket.gethostname(),
        pid=killed.pid,
        pid_started=psutil.Process(killed.pid).create_time(),
        kind="console",
    )
    killed.kill()
    killed.communicate()
    with closing(assembly.open_engine(config.load(home=tmp_path))) as engine:
        engine.store.heartbeat(gone)

    async def scene(console: Console) -> None:
        await until(lambda: console.connection is not None, "the connection")
        assert console.connection is not None
        local = console.connection.local
        await until(lambda: bool(local.name), "the worker of this window")

    play(qapp, tmp_path, scene)


@pytest.mark.parametrize(("written", "slots"), [("[worker]\nslots = 2\n", 2), ("[worker]\nlanes = ['high']\n", 3)])
def test_slots_that_an_editor_wrote_go_before_those_of_the_first_run(
    qapp: QApplication, tmp_path: Path, written: str, slots: int
) -> None:
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 3}', encoding="utf-8")
    (tmp_path / "config.toml").write_text(written, encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.connection is not None and bool(console.connection.local.name), "a local worker")
        assert console.connection is not None
        store = console.connection.engine.store
        await until(lambda: [len(one.slots) for one in store.workers()] == [slots], f"{slots} slots")

    play(qapp, tmp_path, scene)


def test_slots_that_are_set_in_the_window_hold_at_once_for_its_worker(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.connection is not None and bool(console.connection.local.name), "a local worker")
        await until(lambda: console.opened is not None, "the window")
        assert console.connection is not None
        assert console.opened is not None
        name, store = console.connection.local.name, console.connection.engine.store
        window = console.opened.window
        window.open_page("settings")
        page = window.page("settings")
        assert isinstance(page, SettingsPage)
        (tmp_path / "config.toml").write_text("[worker]\nslots = 4\n", encoding="utf-8")
        page.settings_written.emit(["worker.slots"])
        await until(lambda: [(one.worker, len(one.slots)) for one in store.workers()] == [(name, 4)], "four slots")
        assert console.connection.local.slots == 4, "one that is started later has them too"

    play(qapp, tmp_path, scene)


def test_a_dead_letter_edited_and_republished_from_the_window_succeeds(qapp: QApplication, tmp_path: Path) -> None:
    flow = tmp_path / "flow.py"
    flow.write_text(
        "import json, sys\n"
        "param = json.loads(sys.argv[1])\n"
        "if param.get('goods_id') != 'G0002': sys.exit('BadPayload: invalid parameter goods_id')\n"
        'print(json.dumps({"result": {"goods": param["goods_id"]}}))\n',
        encoding="utf-8",
    )
    command = json.dumps([__import__("sys").executable, "-S", str(flow), "{param}"])
    (tmp_path / "config.toml").write_text(f"[executors.rpa]\ncommand = {command}\n", encoding="utf-8")
    (tmp_path / "console.json").write_text('{"chosen": "local"}', encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.connection is not None
        assert console.opened is not None
        session, window = console.connection, console.opened.window
        store = session.engine.store
        session.commands.fleet.import_shops(SHOPS)
        from services.commands.tasks import TaskSpec

        spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="single_product", payload={"goods_id": "G0001"})
        dead = session.commands.tasks.create([spec], origin="console").created[0].task_id
        await off(session.local.start, 2)
        await until(lambda: store.get([dead])[0].status == Status.DEAD, "the task is dead")  # type: ignore[union-attr]
        window.open_page("dead_letters")
        page = window.page("dead_letters")
        assert isinstance(page, DeadLettersPage)
        editor = page.panel.editor
        await until(lambda: page.panel.task_id == dead and "G0001" in editor.json.toPlainText(), "the letter is open")
        editor.json.setPlainText('{"goods_id": "G0002"}')
        await until(
            lambda: editor.is_edited and editor.is_valid and page.panel.primary_button.isEnabled(), "the edit is valid"
        )
        page.panel.primary_button.click()
        await until(lambda: bool(window.toasts.toasts()), "it can be taken back")
        next(one for one in window.toasts.toasts()[-1].spec.actions if one.text == "Send now").call()
        await until(lambda: store.get([dead])[0].triage == Triage.REPUBLISHED, "it is republished")  # type: ignore[union-attr]
        successor = store.get([dead])[0].successor  # type: ignore[union-attr]
        await until(lambda: store.get([successor])[0].status == Status.SUCCEEDED, "the new task succeeded")  # type: ignore[union-attr]
        assert store.get([successor])[0].parent == dead  # type: ignore[union-attr]
        entry = next(one for one in store.audit(10) if one.action == "dead.republish")
        assert entry.target == (dead,)
        assert entry.outcome == "done"

    play(qapp, tmp_path, scene)


def test_every_page_opens_and_the_picture_is_saved(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text('{"chosen": "local"}', encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        window = console.opened.window
        assert tuple(spec.id for spec in window.specs) == pages(), "what --page takes is what the rail shows"
        for name in (*pages()[1:], pages()[0]):
            window.open_page(name)
            await asyncio.sleep(0.3)
            assert window.current == name
            picture = tmp_path / f"{name}.png"
            assert window.grab().save(str(picture))
            assert picture.stat().st_size > 10_000
        window.open_page("tasks", "status:dead")
        page = window.page("tasks")
        assert isinstance(page, TasksPage)

    play(qapp, tmp_path, scene)


@pytest.mark.parametrize("broken", ["amqp://127.0.0.1:1/%2F"])
def test_a_fleet_that_does_not_answer_is_said_and_can_be_left(qapp: QApplication, tmp_path: Path, broken: str) -> None:
    async def scene(console: Console) -> None:
        await until(lambda: console.first_run is not None, "the first run")
        assert console.first_run is not None
        console.first_run.connect_fleet.emit(broken, "redis://127.0.0.1:1/0")
        assert console.welcome is not None
        window = console.welcome
        await until(lambda: bool(window.toasts.toasts()), "the failure is shown")
        assert console.opened is None

    play(qapp, tmp_path, scene)


def test_times_are_those_of_the_fleet_s_zone_also_after_somebody_set_another_one(
    qapp: QApplication, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: shown.set_zone(""))
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")
    with closing(assembly.open_engine(config.load(home=tmp_path))) as engine:
        assembly.commands(engine).schedules.set_zone("Pacific/Kiritimati")

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        assert console.connection is not None
        engine, bar = console.connection.engine, console.opened.window.status_bar
        assert bar.part("clock").words().startswith(f"{datetime.now(ZoneInfo('Pacific/Kiritimati')):%H:}")
        for name in ("America/New_York", "Mars/Base", "Asia/Shanghai"):
            set_fleet_zone(engine.store, name)  # as another program would; of one that is newer the name is not known
            engine.registry.forget()
            await off(engine.registry.types)
            wanted = "" if name == "Mars/Base" else name
            await until(lambda wanted=wanted: shown.zone_key() == wanted, f"the times of {name}")
        await until(lambda: bar.part("clock").words().startswith(f"{datetime.now(ZoneInfo(name)):%H:}"), "its clock")

    play(qapp, tmp_path, scene)
