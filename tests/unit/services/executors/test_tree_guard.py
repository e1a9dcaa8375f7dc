"""What a process has started ends with it, whoever refuses to; nobody else is needed for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from services.executors import process_tree, tree_guard
from tests.unit.services.executors.builders import eventually, is_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kill -9 and /proc")

#: a flow that ignores SIGTERM with a child in its group and one in a session of its own, whose environment is empty
FLOW = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
near = subprocess.Popen([sys.executable, "-S", "-E", "-c", code], env={})
far = subprocess.Popen([sys.executable, "-S", "-E", "-c", code], start_new_session=True, env={})
print(os.getpid(), near.pid, far.pid, flush=True)
time.sleep(600)
"""
#: a flow that becomes another program with an empty environment, whose child is nobody's child in the same session
WIPED = """
import os, subprocess, sys
code = "import os, subprocess, sys, time\\n"
code += "stray = subprocess.Popen([sys.executable, '-S', '-E', '-c', 'import time; time.sleep(600)'], env={})\\n"
code += "print(os.getppid(), stray.pid, os.getpid(), flush=True)"
again = "import subprocess, sys, time; subprocess.run([sys.executable, '-S', '-E', '-c', %r], env={}); time.sleep(600)"
os.execve(sys.executable, [sys.executable, "-S", "-E", "-c", again % code], {})
"""
#: a worker as far as the guard knows: it starts flows, tells who they are, and waits
WORKER = f"""
import os, sys
from services.executors import process_tree, tree_guard
flow = {FLOW!r}
for _ in range(2):
    tree = tree_guard.begin([sys.executable, "-c", flow], environment=dict(os.environ))
    print(tree.process.stdout.readline().decode().strip(), flush=True)
print(tree_guard._guard.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def worker(code: str = WORKER) -> Iterator[tuple[subprocess.Popen[str], list[int], int]]:
    """A worker with two flows of three processes each: itself, those six, and its guard."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert process.stdout is not None
    assert process.stdin is not None
    flows: list[int] = []
    try:
        for _ in range(2):
            flows += map(int, process.stdout.readline().split())
        yield process, flows, int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()
        for number in flows:
            if not is_gone(number):
                psutil.Process(number).kill()


def test_all_that_a_killed_process_started_is_ended() -> None:
    mine = process_tree.ProcessTree([sys.executable, "-c", FLOW], environment=dict(os.environ))
    try:
        with worker() as (process, flows, guard):
            assert len(flows) == 6
            assert not any(map(is_gone, flows))
            process.send_signal(signal.SIGKILL)
            eventually(lambda: all(map(is_gone, flows)))
            eventually(lambda: is_gone(guard))
        assert not mine.exited(), "what belongs to others goes on"
    finally:
        mine.kill()
        mine.reap()
        for stream in (mine.process.stdout, mine.process.stderr):
            assert stream is not None
            stream.close()


def test_a_flow_that_wiped_its_environment_ends_with_its_worker() -> None:
    with worker(WORKER.replace(repr(FLOW), repr(WIPED))) as (process, flows, _):
        roots, strays = flows[0::3], flows[1::3]
        eventually(lambda: all(map(is_gone, flows[2::3])))
        assert not any(map(is_gone, [*roots, *strays]))
        for number in (*roots, *strays):
            assert not psutil.Process(number).environ(), "nothing tells whose they are"
        process.send_signal(signal.SIGKILL)
        eventually(lambda: all(map(is_gone, [*roots, *strays])))


def test_a_guard_that_takes_anothers_place_knows_what_began_before_it() -> None:
    code = WORKER.replace(repr(FLOW), repr(WIPED)).replace(
        "print(tree_guard._guard.pid",
        "first = tree_guard._guard\nfirst.kill()\nfirst.wait()\ntree_guard.ensure()\nprint(tree_guard._guard.pid",
    )
    with worker(code) as (process, flows, _):
        lasting = [*flows[0::3], *flows[1::3]]
        assert not any(map(is_gone, lasting))
        process.send_signal(signal.SIGKILL)
        eventually(lambda: all(map(is_gone, lasting)))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_the_guard_outlives_what_is_meant_for_its_worker(name: str) -> None:
    number = signal.Signals[name]
    with worker() as (process, flows, guard):
        eventually(lambda: "tree_guard" in " ".join(psutil.Process(guard).cmdline()))
        eventually(lambda: _ignores(guard, number))
        os.kill(guard, number)
        process.send_signal(signal.SIGKILL)
        eventually(lambda: all(map(is_gone, flows)))


def test_there_is_one_for_all_and_another_when_it_is_gone() -> None:
    tree_guard.ensure()
    first = tree_guard._guard
    tree_guard.ensure()
    assert first is not None
    assert tree_guard._guard is first
    assert os.getsid(first.pid) != os.getsid(0)
    first.kill()
    first.wait()
    tree_guard.ensure()
    assert tree_guard._guard is not first


def _ignores(pid: int, number: int) -> bool:
    """Whether a process has got as far as to ignore a signal."""
    words = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    mask = next(line.split()[1] for line in words if line.startswith("SigIgn"))
    return bool(int(mask, 16) >> (number - 1) & 1)
