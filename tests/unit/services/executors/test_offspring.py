"""Who was started by whom."""

from __future__ import annotations

import itertools
import subprocess
import sys

import psutil
import pytest

from services.executors.offspring import offspring

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import sys; sys.stdin.read()"], start_new_session=True)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_descendants_are_found_whatever_the_kernel_says_of_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    boot = itertools.count(1_000_000_000, -1)  # each answer is a second earlier than the one before
    monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: next(boot))
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        far = int(process.stdout.readline())
        here = psutil.Process(process.pid)
        assert here.children(recursive=True) == [], "as psutil sees it"
        assert [one.pid for one in offspring(here)] == [far]
        assert far in [one.pid for one in offspring(psutil.Process())]
        process.communicate()
    assert offspring(here) == [], "it is gone"
