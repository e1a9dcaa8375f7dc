"""One window for each connection of a home: a second start shows there what it was asked for."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QApplication

from console.desk import MAIN, Console
from console.instance import Asked, Instance
from services import settings as config
from services.cli.context import ConsoleRequest
from tests.gui.test_console import play, until


def remember(home: Path) -> None:
    """It was opened before."""
    (home / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")


def places(home: Path) -> list[Path]:
    """Where the windows of a home listen."""
    return list((home / "windows").glob("*.json"))


async def second(app: QApplication, home: Path, **request: object) -> Console:
    """One more start; returns once it has a window or has ended."""
    wanted = {"settings": config.load(home=home), "first_run": True, **request}
    console = Console(app, ConsoleRequest(**wanted))  # type: ignore[arg-type]
    running = asyncio.ensure_future(console.main())
    await until(lambda: running.done() or console.desk is not None, "a window or an end")
    return console


def test_a_second_start_shows_in_the_first_window_what_it_was_asked_for(qapp: QApplication, tmp_path: Path) -> None:
    remember(tmp_path)

    async def scene(console: Console) -> None:
        await until(lambda: console.desk is not None and console.desk.window.isVisible(), "the window")
        assert console.desk is not None
        window = console.desk.window
        window.showMinimized()
        again = await second(qapp, tmp_path, page="tasks", show="status:dead")
        assert again.ended
        assert again.desk is None
        assert window.current == "tasks"
        assert window.page("tasks").shown_request() == "status:dead"
        assert not window.isMinimized()
        with ThreadPoolExecutor(1) as pool:
            apart = Instance(tmp_path, partial(asyncio.get_running_loop().run_in_executor, pool))
            looking = msgspec.structs.replace(config.load(home=tmp_path), read_only=True)
            assert await apart.take(looking, Asked()), "who only wants to look is no second start of it"
            apart.close()
            apart.deleteLater()

    assert play(qapp, tmp_path, scene).clean


def test_one_that_was_killed_is_in_nobodys_way(qapp: QApplication, tmp_path: Path) -> None:
    remember(tmp_path)
    around = os.environ | {"FLEETDECK_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    child = subprocess.Popen([sys.executable, str(MAIN)], env=around, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not places(tmp_path):
            assert time.monotonic() < end, "it never listened"
            time.sleep(0.05)
        os.kill(child.pid, signal.SIGSTOP)
        (place,) = places(tmp_path)
        assert place.stat().st_mode & 0o077 == 0, "the word is for its own user alone"
        told = json.loads(place.read_text(encoding="ascii"))
    finally:
        child.kill()
        child.wait()

    async def scene(console: Console) -> None:
        began = time.monotonic()
        await until(lambda: console.desk is not None and console.desk.window.isVisible(), "the window")
        assert time.monotonic() - began < 20
        assert json.loads(places(tmp_path)[0].read_text(encoding="ascii")) != told
        assert console.desk is not None
        stranger, there = QLocalSocket(), json.loads(places(tmp_path)[0].read_text(encoding="ascii"))
        stranger.setSocketOptions(QLocalSocket.SocketOption.AbstractNamespaceOption)
        stranger.connectToServer(there["name"])
        stranger.write(b'{"word": "guessed", "page": "audit", "show": ""}\n')
        await until(lambda: stranger.state() == QLocalSocket.LocalSocketState.UnconnectedState, "it is not heard")
        assert console.desk.window.current != "audit"

    play(qapp, tmp_path, scene)
