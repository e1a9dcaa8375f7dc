"""What a killed worker leaves running on its machine."""

from __future__ import annotations

import os
import shutil
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

_APART = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
_WORK_APART = """
import os, sys
from services.executors.process_tree import ProcessTree
tree = ProcessTree([sys.executable, "-c", "import time; time.sleep(600)"], environment=dict(os.environ))
print("up", flush=True)
sys.stdin.readline()
print(tree.exited(), flush=True)
tree.process.kill()
"""


def _may_be_apart() -> bool:
    tool = shutil.which(_APART[0])
    return tool is not None and subprocess.run([*_APART, "true"], capture_output=True, check=False).returncode == 0


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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no start of a process moves with the clock")
def test_what_carries_no_mark_is_ended_also_after_the_clock_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import time; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-S", "-E", "-c", code], start_new_session=True, env={})
    try:
        begun = {child.pid: process_tree.started_at(child.pid)}
        monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 1.0)
        assert process_tree.end_owned("1:1.0", begun) == 1
        assert child.wait(10) != 0
    finally:
        child.kill()
        child.wait()


def test_what_is_at_work_in_a_container_of_this_machine_is_left_alone() -> None:
    """Its owner has another number there than here."""
    if not _may_be_apart():
        pytest.skip("no process may have a namespace of its own here")
    with subprocess.Popen(
        [*_APART, sys.executable, "-c", _WORK_APART], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as there:
        assert there.stdin is not None
        assert there.stdout is not None
        assert there.stdout.readline() == "up\n"
        process_tree.end_orphans()
        there.stdin.write("\n")
        there.stdin.flush()
        assert there.stdout.readline() == "False\n", "its flow was ended"
