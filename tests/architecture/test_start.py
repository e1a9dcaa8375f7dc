"""What the first sight of the window needs: nothing that is loaded before it may be there for something else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: each of them takes a tenth of a second or more of every start
LATER = (
    "pyqtgraph",
    "qtawesome",
    "jsonschema",
    "openpyxl",
    "keyring",
    "pika",
    "redis",
    "views.dialogs.new_task.dialog",
    "views.pages.dead_letters.page",
    "views.pages.first_run.page",
    "views.pages.schedules.page",
    "views.pages.settings.page",
    "views.pages.tasks.page",
    "views.pages.workers.page",
)


def test_the_window_loads_only_what_its_first_page_needs() -> None:
    words = (
        f"import json, sys, console.lifecycle\nprint(json.dumps([name for name in {LATER!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
