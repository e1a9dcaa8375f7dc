"""One window for each connection of a home: a second start shows there what it was asked for."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QAbstractButton, QApplication
from qasync import QEventLoop

from console.instance import Asked, Instance
from console.lifecycle import MAIN, Console
from services import assembly, home_folder
from services import settings as config
from services.cli import program
from services.cli.context import ConsoleRequest
from services.domain.text.view_link import ViewLink
from tests.contract.waiting import eventually
from tests.gui.test_console import play, until
from tests.support.stopped import stop
from views.page import Page
from views.support import instant


def remember(home: Path) -> None:
    """It was opened before."""
    (home / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")


def places(home: Path) -> list[Path]:
    """Where the windows of a home listen."""
    return list((home / "windows").glob("*.json"))


def caller(name: str) -> QLocalSocket:
    """Connected to what listens by this name."""
    socket = QLocalSocket()
    socket.setSocketOptions(QLocalSocket.SocketOption.AbstractNamespaceOption)
    socket.connectToServer(name)
    return socket


def is_over(socket: QLocalSocket) -> bool:
    """Whether nobody listens to it any more."""
    return socket.state() == QLocalSocket.LocalSocketState.UnconnectedState


def words_of(console: Console) -> list[str]:
    """What the page of a connection that is not open says."""
    return list(console.unopened.words()) if console.unopened is not None else []


async def second(app: QApplication, home: Path, **request: object) -> Console:
    """One more start; returns once it has a window or has ended."""
    wanted = {"settings": config.load(home=home), "first_run": True, **request}
    console = Console(app, ConsoleRequest(**wanted))  # type: ignore[arg-type]
    running = asyncio.ensure_future(console.main())
    await until(lambda: running.done() or console.opened is not None, "a window or an end")
    return console


def test_a_second_start_shows_in_the_first_window_what_it_was_asked_for(qapp: QApplication, tmp_path: Path) -> None:
    remember(tmp_path)

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        window = console.opened.window
        window.showMinimized()
        again = await second(qapp, tmp_path, page="tasks", show="status:dead")
        assert again.ended
        assert again.opened is None
        assert window.current == "tasks"
        assert window.page("tasks").shown_request() == "status:dead"
        assert not window.isMinimized()
        assert (await second(qapp, tmp_path, link="fleetdeck://elsewhere/tasks")).ended
        told = [toast.spec.text for toast in window.toasts.toasts()]  # the offer to an empty fleet comes when it will
        assert any("elsewhere" in words for words in told), "who clicked on it sees no terminal"
        with ThreadPoolExecutor(1) as pool:
            apart = Instance(tmp_path, partial(asyncio.get_running_loop().run_in_executor, pool))
            looking = msgspec.structs.replace(config.load(home=tmp_path), read_only=True)
            assert await apart.take(looking, Asked()), "who only wants to look is no second start of it"
            apart.close()
            apart.deleteLater()

    assert play(qapp, tmp_path, scene).clean


@pytest.mark.parametrize("told", [("{link}",), ("--open", "{link}")], ids=["clicked", "named"])
def test_a_link_to_a_moment_leads_to_it_from_wherever_it_comes(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: tuple[str, ...]
) -> None:
    remember(tmp_path)
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    at = instant.now_ms() - 3_600_000

    def started(at_ms: int) -> dict[str, object]:
        asked: list[ConsoleRequest] = []
        link = str(ViewLink("", "tasks", "status:dead", at_ms, "status:held"))
        assert program.run([word.format(link=link) for word in told], lambda request: asked.append(request) or 0) == 0
        return {name: getattr(asked[0], name) for name in ("page", "show", "at", "now", "link")}

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        window = console.opened.window
        page = window.page("tasks")
        assert (window.current, window.past_ms, page.filter_shown()) == ("tasks", at, "status:dead"), "at the start"
        assert (await second(qapp, tmp_path, **started(at - 60_000))).ended
        assert window.past_ms == at - 60_000, "in the window that is open"
        (banner,) = page.past_panes()
        next(one for one in banner.findChildren(QAbstractButton) if one.text() == "Back to now").click()
        assert (window.past_ms, page.filter_shown()) == (0, "status:held")
        for never in (instant.now_ms() + 3_600_000, 99_999_999_999_999):
            assert (await second(qapp, tmp_path, **started(never))).ended
            assert (window.past_ms, page.filter_shown()) == (0, "status:dead"), "what is yet to come is no moment"

    play(qapp, tmp_path, scene, **started(at))


def test_what_is_asked_of_a_connection_that_is_not_open_yet_is_shown_once_it_is(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(tmp_path)
    opened, failures = assembly.open_engine, ["the disk said no"]

    def open_engine(settings: config.Settings, *, via: str = "") -> assembly.Engine:
        if failures:
            raise OSError(failures.pop())
        return opened(settings, via=via)

    monkeypatch.setattr(assembly, "open_engine", open_engine)

    async def scene(console: Console) -> None:
        await until(lambda: any("the disk said no" in one for one in words_of(console)), "why it is not open")
        again = await second(qapp, tmp_path, page="tasks", show="status:dead")
        assert again.opened is None, "the first one has it"
        assert console.unopened is not None
        console.unopened.again.emit()
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        window = console.opened.window
        assert (window.current, window.page("tasks").shown_request()) == ("tasks", "status:dead")

    play(qapp, tmp_path, scene)


def test_the_first_run_opens_no_second_window_of_what_is_open_elsewhere(qapp: QApplication, tmp_path: Path) -> None:
    async def scene(console: Console) -> None:
        await until(lambda: console.first_run is not None, "the first run")
        page = console.first_run
        assert page is not None
        with ThreadPoolExecutor(1) as pool:
            other, asked = Instance(tmp_path, partial(asyncio.get_running_loop().run_in_executor, pool)), list[Asked]()
            other.asked.connect(asked.append)
            assert await other.take(config.load(home=tmp_path), Asked())
            before = asyncio.all_tasks()
            page.run_here.emit(1)
            await until(lambda: bool(asked), "the other one comes to the front")
            if opening := asyncio.all_tasks() - before:
                await asyncio.wait(opening, timeout=10)
            assert console.opened is None
            assert console.first_run is page, "something else can be chosen"
            other.close()
            other.deleteLater()

    play(qapp, tmp_path, scene)


def test_one_that_was_killed_is_in_nobodys_way(qapp: QApplication, tmp_path: Path) -> None:
    remember(tmp_path)
    around = os.environ | {"FLEETDECK_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    child = subprocess.Popen([sys.executable, str(MAIN)], env=around, stderr=subprocess.DEVNULL)
    try:
        (place,) = eventually(lambda: places(tmp_path), 60)
        stop(child.pid)
        assert place.stat().st_mode & 0o077 == 0, "the word is for its own user alone"
        told = json.loads(place.read_text(encoding="ascii"))
    finally:
        child.kill()
        child.wait()

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert json.loads(places(tmp_path)[0].read_text(encoding="ascii")) != told
        assert console.opened is not None
        (place,) = places(tmp_path)
        there = json.loads(place.read_text(encoding="ascii"))
        for word, key in (("guessed", place.stem), (there["word"], "of another connection")):
            stranger = caller(there["name"])
            stranger.write(json.dumps({"word": word, "key": key, "page": "audit", "show": ""}).encode() + b"\n")
            await until(lambda stranger=stranger: is_over(stranger), "it is not heard")
            assert console.opened.window.current != "audit"

    play(qapp, tmp_path, scene)


def in_loop(app: QApplication, home: Path, scene: Callable[[Callable[[], Instance]], Awaitable[None]]) -> None:
    """Play with what programs of a home hold, without their windows."""
    made: list[Instance] = []

    async def run() -> None:
        with ThreadPoolExecutor(1) as pool:

            def make() -> Instance:
                made.append(Instance(home, partial(asyncio.get_running_loop().run_in_executor, pool)))
                return made[-1]

            try:
                await scene(make)
            finally:
                for one in made:
                    one.close()
                    one.deleteLater()

    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(run())


def test_who_goes_where_another_one_hangs_answers_no_more_for_where_it_was(qapp: QApplication, tmp_path: Path) -> None:
    """Else a link to the connection it left would be opened in a window that shows the other one."""
    before = config.load(home=tmp_path)
    after = msgspec.structs.replace(before, read_only=True)

    async def scene(make: Callable[[], Instance]) -> None:
        hanging = make()
        assert await hanging.take(after, Asked())
        (place,) = places(tmp_path)
        hanging.close()
        place.unlink()
        with closing(home_folder.locked(place.with_suffix(".lock")) or pytest.fail("the lock")):
            first, links = make(), list[Asked]()
            first.asked.connect(links.append)
            assert await first.take(before, Asked())
            assert first.holds(before)
            assert await first.take(after, Asked()), "a window is opened all the same"
            assert not first.holds(before)
            assert await make().take(before, Asked(page="tasks")), "nobody is asked to show it"
            assert links == []

    in_loop(qapp, tmp_path, scene)


def test_who_connects_and_says_nothing_is_cut_off(qapp: QApplication, tmp_path: Path) -> None:
    """Nobody fills the window with connections that stay."""

    async def scene(make: Callable[[], Instance]) -> None:
        holder, here = make(), config.load(home=tmp_path)
        assert await holder.take(here, Asked())
        name = json.loads(places(tmp_path)[0].read_text(encoding="ascii"))["name"]
        silent = [caller(name) for _number in range(12)]
        await until(lambda: sum(map(is_over, silent)) >= 4, "no more than eight are listened to")
        await until(lambda: all(map(is_over, silent)), "and those not for long")
        asked: list[Asked] = []
        holder.asked.connect(asked.append)
        assert not await make().take(here, Asked(page="tasks")), "one that has something to say is heard"
        assert asked == [Asked(page="tasks")]

    in_loop(qapp, tmp_path, scene)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs another user to be")
def test_another_user_is_not_listened_to(qapp: QApplication, tmp_path: Path) -> None:
    async def scene(make: Callable[[], Instance]) -> None:
        holder, here = make(), config.load(home=tmp_path)
        assert await holder.take(here, Asked())
        (place,) = places(tmp_path)
        there = json.loads(place.read_text(encoding="ascii"))
        words = json.dumps({"word": there["word"], "key": place.stem, "page": "audit", "show": ""})
        script = (
            "import os, socket, sys; os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + sys.argv[1])\n"
            "s.sendall(sys.argv[2].encode() + bytes([10])); print(s.recv(9))"
        )
        asked: list[Asked] = []
        holder.asked.connect(asked.append)
        child = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", script, there["name"], words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "shown" not in child.stdout
        assert asked == []

    in_loop(qapp, tmp_path, scene)


def test_what_the_start_was_to_show_is_shown_once_and_what_does_not_open_holds_nothing(
    qapp: QApplication, tmp_path: Path
) -> None:
    remember(tmp_path)
    (tmp_path / "config.toml").write_text("[profiles.tryout]\n[profiles.attic]\n", encoding="utf-8")
    heard: list[Asked] = []

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        first = console.opened
        assert first is not None
        assert first.window.current == "tasks"
        with ThreadPoolExecutor(1) as pool:
            apart = Instance(tmp_path, partial(asyncio.get_running_loop().run_in_executor, pool))
            apart.asked.connect(heard.append)
            try:
                assert await apart.take(config.load(home=tmp_path, profile="attic"), Asked())
                console.connections.wanted.emit("attic")
                await until(lambda: bool(heard), "the other program is asked")
                assert heard == [Asked()]
                first.window.open_page("workers")
                console.connections.wanted.emit("tryout")
                await until(lambda: console.opened not in (None, first), "the next connection")
                await until(lambda: not console.entering, "its window")
                assert console.opened is not None
                assert console.opened.window.current != "tasks", "it was shown that already"
                console.connections.wanted.emit("West")
                await until(
                    lambda: console.unopened is not None and "was removed" in " ".join(console.unopened.words()), "why"
                )
                assert await apart.take(config.load(home=tmp_path, profile="tryout"), Asked()), "it is free"
            finally:
                apart.close()
                apart.deleteLater()

    play(qapp, tmp_path, scene, page="tasks")


def test_the_page_left_last_is_not_made_when_another_one_is_wanted(qapp: QApplication, tmp_path: Path) -> None:
    kept = {"chosen": "local", "slots": 1, "window": {"page": "shops", "show": ""}}
    (tmp_path / "console.json").write_text(json.dumps(kept), encoding="utf-8")
    made: list[list[str]] = []

    def shown(console: Console) -> bool:
        if console.opened is None or not console.opened.window.isVisible():
            return False
        pages = console.opened.window.stack.findChildren(Page, options=Qt.FindChildOption.FindDirectChildrenOnly)
        made.append([page.page_id for page in pages])
        return True

    async def scene(console: Console) -> None:
        await until(lambda: shown(console), "the window")
        assert console.opened is not None
        assert console.opened.window.current == "tasks"
        assert "shops" not in made[0]

    play(qapp, tmp_path, scene, page="tasks")


@pytest.mark.parametrize("page", ["shops", "of another version", ""])
def test_the_window_opens_on_the_page_left_last(qapp: QApplication, tmp_path: Path, page: str) -> None:
    kept = {"chosen": "local", "slots": 1, "window": {"page": page, "show": ""}}
    (tmp_path / "console.json").write_text(json.dumps(kept), encoding="utf-8")

    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.opened is not None
        assert console.opened.window.current == (page if page == "shops" else "overview")

    play(qapp, tmp_path, scene)
