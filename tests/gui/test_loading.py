"""In which thread the window loads what it is made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: everything that makes classes of Qt, or asks for names of it
QT = ("PySide6", "shiboken6", "pyqtgraph", "qtawesome", "qasync", "views", "console")
WATCHED = """
import asyncio, json, sys, threading
elsewhere = []
def heard(event, args):
    if event == "import" and threading.current_thread() is not threading.main_thread():
        elsewhere.append(str(args[0]))
sys.addaudithook(heard)
from pathlib import Path
import pytest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop
from console.lifecycle import Console
from services import settings
from services.cli.context import ConsoleRequest

async def look(app):
    console = Console(app, ConsoleRequest(settings=settings.load(home=Path(sys.argv[1])), first_run=True))
    running = asyncio.ensure_future(console.main())
    while console.opened is None or len(console.opened.window._pages) < len(console.opened.window.specs):
        await asyncio.sleep(0.1)
    console.end()
    await running

app = QApplication([])
with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
    runner.run(look(app))
print(json.dumps([elsewhere, [name for name in sys.modules if name in ("pyqtgraph", "views.dialogs.new_task.dialog")]]))
"""


@pytest.mark.deep
def test_classes_of_qt_are_made_in_the_gui_thread_alone(tmp_path: Path) -> None:
    """Qt asks PySide about types without the interpreter's lock; a type made in another thread ends the program."""
    (tmp_path / "console.json").write_text('{"chosen": "local"}', encoding="utf-8")
    around = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "FLEETDECK_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)],
        cwd=ROOT,
        env=around,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    elsewhere, loaded = json.loads(done.stdout.splitlines()[-1])
    assert sorted(loaded) == ["pyqtgraph", "views.dialogs.new_task.dialog"], "what comes later is loaded ahead"
    assert [name for name in elsewhere if name.partition(".")[0] in QT] == []
