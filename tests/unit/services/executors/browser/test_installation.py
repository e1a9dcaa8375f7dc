"""Where a browser is on Windows, and the mark that a killed one leaves there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.executors.browser import installation
from services.executors.browser.profile import Profile
from tests.unit.services.executors.builders import is_gone


def test_chrome_is_found_before_edge_in_whichever_folder_it_is(tmp_path: Path) -> None:
    own, common, old = (tmp_path / name for name in ("own", "common", "old"))
    edge, chrome = old / "Microsoft/Edge/Application/msedge.exe", common / "Google/Chrome/Application/chrome.exe"
    folders = [str(own), str(common), str(old)]
    assert installation.below(folders) == ""
    for file in (edge, chrome):
        file.parent.mkdir(parents=True)
        file.touch()
        assert installation.below(folders) == str(file)


@pytest.mark.parametrize("mark", ["SingletonLock", "lockfile"])
def test_who_still_runs_on_a_profile_is_ended_when_it_is_taken(mark: str, tmp_path: Path) -> None:
    folder = tmp_path / "pdd_s1"
    folder.mkdir()
    (folder / mark).touch()
    argv = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)", f"--user-data-dir={folder}"]
    with subprocess.Popen(argv, env=dict(os.environ)) as browser:
        try:
            profile = Profile(folder)
            profile.take()
            profile.leave()
            assert is_gone(browser.pid)
        finally:
            browser.kill()
    assert not (folder / mark).exists()
