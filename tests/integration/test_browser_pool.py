"""A whole engine with browsers: no profile has two tasks at once, and nothing is left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from services.executors.browser.executor import NAMES
from tests.support.browser_soak import soak

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not any(shutil.which(name) for name in NAMES), reason="there is no Chromium here"),
]


def test_no_profile_has_two_tasks_at_once_and_nothing_is_left_though_chromium_is_killed(tmp_path: Path) -> None:
    done = soak(tmp_path, tasks=9, shops=3, max_total=2, slots=3, kill_s=0.5, most_kills=2, patience_s=240.0)
    assert done.succeeded == 9, [(task.status, task.error) for task in done.tasks]
    assert done.kills == 2
    assert done.shared == []
    assert (done.processes, done.folders) == (0, 0)
