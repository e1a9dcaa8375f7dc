"""What Windows keeps and other systems do not: job objects. Run by ``make windows-test``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.executors.process_tree import ProcessTree
from tests.unit.services.executors.builders import eventually, is_gone

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="job objects")

#: a flow that starts another one, which nobody waits for, and ends or stays
FLOW = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"], env={})
print(child.pid, flush=True)
time.sleep(%d)
"""
WORKER = f"""
import os, sys, time
from services.executors import tree_guard
tree = tree_guard.begin([sys.executable, "-c", {FLOW % 600!r}], environment=dict(os.environ))
print(tree.pid, tree.process.stdout.readline().decode().strip(), flush=True)
time.sleep(600)
"""


def begun(seconds: int) -> tuple[ProcessTree, int]:
    tree = ProcessTree([sys.executable, "-c", FLOW % seconds], environment=dict(os.environ))
    assert tree.process.stdout is not None
    return tree, int(tree.process.stdout.readline())


def end(tree: ProcessTree) -> None:
    tree.kill()
    tree.reap()
    for stream in (tree.process.stdout, tree.process.stderr):
        assert stream is not None
        stream.close()


def test_what_a_flow_started_is_a_member_and_ends_with_it() -> None:
    tree, child = begun(600)
    assert {tree.pid, child} <= {member.pid for member in tree.members()}
    assert not tree.exited()
    end(tree)
    assert is_gone(child)


def test_what_a_flow_leaves_behind_ends_when_it_is_collected() -> None:
    tree, child = begun(0)
    eventually(tree.exited)
    assert not is_gone(child)
    assert tree.reap() == 0
    eventually(lambda: is_gone(child))
    end(tree)


def test_a_killed_worker_takes_its_flows_with_it() -> None:
    argv = [sys.executable, "-c", WORKER]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()) as worker:
        assert worker.stdout is not None
        flows = [int(number) for number in worker.stdout.readline().split()]
        assert len(flows) == 2
        assert not any(map(is_gone, flows))
        worker.kill()
        eventually(lambda: all(map(is_gone, flows)))
