"""The console that an endurance run has beside it opens, asks what its pages ask, and leaves when told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.waiting import eventually
from tests.integration.cli_rig import ROOT


@pytest.mark.skipif(sys.platform == "win32", reason="it is told by SIGTERM")
def test_it_opens_looks_and_leaves(tmp_path: Path) -> None:
    seen, said = tmp_path / "watched.json", tmp_path / "said.txt"
    around = {**os.environ, "FLEETDECK_HOME": str(tmp_path / "home"), "QT_QPA_PLATFORM": "offscreen"}
    words = [sys.executable, "-m", "tests.soak.watcher", "1", str(seen), "", ""]
    with said.open("wb") as file, subprocess.Popen(words, cwd=ROOT, env=around, stdout=file, stderr=file) as watcher:
        try:
            eventually(lambda: seen.exists() or watcher.poll() is not None, 60)
            watcher.terminate()
            ended = watcher.wait(60)
        finally:
            watcher.kill()
    assert ended == 0, said.read_text("utf-8")
    assert json.loads(seen.read_text("utf-8"))["failed"] == 0
