"""What a killed worker leaves running on its machine."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest

from services.executors import process_tree
from tests.contract.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there nothing outlives it: see test_windows")

_LEAVE = """
import os, sys
# no guard: a machine that ran out of memory may have ended it too
from services.executors.process_tree import ProcessTree
flow = (
    "import subprocess, sys, time\\n"
    "nap = [sys.executable, '-c', 'import time; time.sleep(600)']\\n"
    "print(subprocess.Popen(nap, start_new_session=True, env={}).pid, flush=True); time.sleep(600)"
)
tree = ProcessTree([sys.executable, "-c", flow], environment=dict(os.environ))
print(tree.pid, tree.process.stdout.readline().decode(), flush=True)
os.kill(os.getpid(), 9)
"""


def _sleeps(number: int) -> bool:
    try:
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_what_outlives_its_worker_is_ended_and_what_is_at_work_is_not() -> None:
    mine = process_tree.ProcessTree(
        [sys.executable, "-c", "import time; time.sleep(600)"], environment=dict(os.environ)
    )
    try:
        left = subprocess.run([sys.executable, "-c", _LEAVE], capture_output=True, text=True, check=False)
        orphan, far = map(int, left.stdout.split())
        assert _sleeps(orphan)
        assert _sleeps(far)
        # not how many: a worker beside this test may have found it first
        process_tree.end_orphans()
        eventually(lambda: not _sleeps(orphan), 30)
        eventually(lambda: not _sleeps(far), 30)
        assert not mine.exited()
    finally:
        mine.kill()
        mine.reap()
        for stream in (mine.process.stdout, mine.process.stderr):
            assert stream is not None
            stream.close()
