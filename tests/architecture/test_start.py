"""What the first sight of the window needs: nothing that is loaded before it may be there for something else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: what takes a good part of a second together, and is wanted by nobody before the first page shows its numbers
LATER = (
    "pyqtgraph",
    "qtawesome",
    "jsonschema",
    "openpyxl",
    "keyring",
    "pika",
    "redis",
    "numpy.ma",
    "services.cli.commands.workers",
    "services.cli.run",
    "services.executors.browser.executor",
    "services.executors.http.executor",
    "services.executors.rpa",
    "services.sample.fleet",
    "services.watch.recorder",
    "services.workers.host",
    "services.workers.worker",
    "services.workforce",
    "views.dialogs.new_task.dialog",
    "views.pages.dead_letters.page",
    "views.pages.first_run.page",
    "views.pages.schedules.page",
    "views.pages.settings.page",
    "views.pages.tasks.page",
    "views.pages.workers.page",
)
#: dataclasses that are made before the same moment: each takes a millisecond, a struct of msgspec a tenth of that.
#: Those that are copied with changes are left
DATACLASSES = 180
#: the program from its first line on, until the first page has its answers and what leads here is begun
STARTED = """
import dataclasses, json, sys
from services.cli import program

def made():
    kinds = [kind for module in list(sys.modules.values()) for kind in vars(module).values() if isinstance(kind, type)]
    return sorted({kind.__module__ + "." + kind.__name__ for kind in kinds if dataclasses.is_dataclass(kind)})

def window(request):
    import asyncio
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop
    from console.connection.open_connection import OpenConnection
    from console import lifecycle
    from console.lifecycle import Console

    lifecycle.PATIENCE_S = 60.0  # a busy machine would get the page of a connection that takes long to open
    app = QApplication([])
    console = Console(app, request)
    lead = OpenConnection.lead

    def noted(connection):
        loaded.extend(name for name in json.loads(sys.argv[1]) if name in sys.modules)
        found.extend(made())
        lead(connection)
        later.extend(name for name in json.loads(sys.argv[1]) if name in sys.modules)
        loop.call_soon_threadsafe(console.end)

    OpenConnection.lead = noted
    loop = QEventLoop(app)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(console.main())
    return 0

loaded, found, later = [], [], []
code = program.run([], window)
print(json.dumps([loaded, found, later]))
sys.exit(code)
"""


def test_the_window_loads_only_what_its_first_page_needs(tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text('{"chosen": "local"}', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", STARTED, json.dumps(LATER)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "FLEETDECK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    loaded, dataclasses, later = json.loads(done.stdout.splitlines()[-1])
    assert loaded == []
    assert len(dataclasses) <= DATACLASSES, "a value that is not copied with changes is a msgspec.Struct"
    assert "services.workforce" in later, "what leads is loaded in time"
