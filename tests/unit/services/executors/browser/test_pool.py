"""The pool of browsers from outside: who gets which, what happens when one is killed, and that nothing stays."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.domain.gates import ability
from services.domain.task import own_words
from services.executors.base import Executor, Flag, Job, Outcome
from services.executors.browser.lending import LendingRpaExecutor
from services.executors.browser.profile import Profile, ProfileInUse, running_on
from services.executors.rpa import RpaExecutor
from tests.contract.waiting import eventually
from tests.support.browser_lab import Lab
from tests.unit.services.executors.browser.conftest import Desk
from tests.unit.services.executors.builders import Listener, job

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def small(lab: Lab, tmp_path: Path) -> Iterator[Desk]:
    """A pool of one, whose tasks wait a moment only."""
    schemes = ("http", "chrome")
    desk = Desk(tmp_path, lab, max_total=1, acquire_seconds=0.3, cancel_grace_seconds=30.0, allowed_schemes=schemes)
    yield desk
    desk.close()
    assert not running(desk), "a Chromium was left behind"


def running(desk: Desk) -> list[psutil.Process]:
    """Chromium processes on profiles of this desk."""
    folders = [path for path in (desk.folder / "profiles").glob("*") if path.is_dir()]
    return [process for folder in folders for process in running_on(folder)]


def flow(*steps: dict[str, Any], shop: str = "s1", kind: str = "browser_flow", **more: str) -> Any:
    """A job against the lab."""
    return job(kind, platform="lab", shop_id=shop, payload={"steps": list(steps), **more}, timeout_s=120.0)


#: an RPA product: attaches to the debug port that it was given, and works for a moment
ATTACH = """
import json, os, sys, time, urllib.request
param = json.loads(sys.argv[1])
with urllib.request.urlopen(f"http://127.0.0.1:{param['debug_port']}/json/version", timeout=20) as answer:
    print("attached to", json.load(answer)["Browser"], flush=True)
while not os.path.exists(param["go"]):
    time.sleep(0.05)
print(json.dumps({"result": {"profile": param["profile_id"]}}))
"""
PATIENCE_S = 90.0  #: a Chromium that starts beside a full machine takes its time


class Running:
    """A job in a thread of its own."""

    def __init__(self, executor: Executor, work: Job, flag: Flag | None = None) -> None:
        self.listener = Listener()
        self.listener.context.cancelled = flag or Flag()
        self._outcomes: list[Outcome] = []
        self._thread = threading.Thread(target=lambda: self._outcomes.append(executor.run(work, self.listener.context)))
        self._thread.start()

    def outcome(self) -> Outcome:
        """Wait for the end."""
        self._thread.join(PATIENCE_S)
        assert self._outcomes, "it does not end"
        return self._outcomes[0]

    def wait_for_step(self, title: str) -> None:
        """Until it does this step."""
        eventually(lambda: any(note == title for _, note in self.listener.shown), PATIENCE_S)


LOOK = ({"do": "goto", "url": "/echo"}, {"do": "wait_for", "selector": "#field"})
WAIT = (*LOOK, {"do": "sleep", "seconds": 60})


def test_a_killed_chromium_fails_its_task_only_and_a_new_one_takes_its_place(small: Desk) -> None:
    assert small.run(*LOOK).ok
    waiting = Running(small.executor, flow(*WAIT))
    waiting.wait_for_step("3 sleep")

    refused = small.executor.run(flow(*LOOK, shop="s2"), Listener().context)
    assert (refused.error_kind, refused.unable) == ("no_browser", True)
    assert "all 1 browsers are at work (lab:s1)" in refused.error

    (chromium,) = running(small)
    chromium.kill()
    outcome = waiting.outcome()
    assert outcome.error_kind == "crashed", outcome.error
    assert small.run(*LOOK).ok

    # so does a page that crashes
    assert small.run({"do": "goto", "url": "chrome://crash"}).error_kind == "crashed"

    # the place of an idle shop goes to the next
    assert small.run(*LOOK, shop="s2").ok
    assert [process.is_running() for process in running(small)] == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="a program of the shell's")
@pytest.mark.parametrize("said", ["No usable sandbox! If you are running", "Failed to move to new namespace: PID"])
def test_a_forbidden_sandbox_is_named_and_others_get_the_task(said: str, lab: Lab, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\necho '[7:7:FATAL:zygote_host_impl_linux.cc(128)] {said}' >&2\nexit 133\n")
    program.chmod(0o755)
    desk = Desk(tmp_path, lab, path=str(program))
    try:
        assert desk.executor.fitness().lacks == {}
        outcome = desk.run({"do": "goto", "url": "/second"})
        assert (outcome.error_kind, outcome.unable) == ("no_browser", True)
        assert outcome.error == own_words.write("own.no_sandbox")
        assert desk.executor.fitness().lacks == {"": ability.SANDBOX}
    finally:
        desk.close()


def test_a_cancelled_flow_ends_and_leaves_its_browser_usable(small: Desk) -> None:
    flag = Flag()
    waiting = Running(small.executor, flow(*WAIT), flag)
    waiting.wait_for_step("3 sleep")
    flag.set()
    assert waiting.outcome().cancelled
    assert waiting.listener.stops == 1
    assert small.run(*LOOK).ok
    assert len(running(small)) == 1


def test_a_killed_host_fails_what_it_did_and_leaves_no_chromium(small: Desk) -> None:
    waiting = Running(small.executor, flow(*WAIT))
    waiting.wait_for_step("3 sleep")
    host = small.executor._host
    assert host is not None
    host.tree.process.kill()
    assert waiting.outcome().error_kind == "crashed"
    assert small.run(*LOOK).ok
    assert len(running(small)) == 1
    assert not host.folder.exists()


def test_a_lent_browser_answers_at_its_debug_port_and_is_nobody_elses(small: Desk, tmp_path: Path) -> None:
    rpa = RpaExecutor([sys.executable, "-S", "-c", ATTACH, "{param}"])
    attached = Running(
        LendingRpaExecutor(rpa, small.executor.lend, ["sync_order"]), flow(kind="sync_order", go=str(tmp_path / "go"))
    )
    eventually(lambda: "attached to Chrome" in " ".join(attached.listener.out()), PATIENCE_S)
    assert small.run(*LOOK).error_kind == "no_browser"
    (told,) = eventually(lambda: [one for one in small.executor.fitness().pool if one.uses], PATIENCE_S)
    assert (told.shop, told.profile, told.state) == ("lab:s1", "lab_s1", "lent")
    assert told.port > 0
    (tmp_path / "go").touch()
    outcome = attached.outcome()
    assert json.loads(outcome.result) == {"profile": "lab_s1"}, outcome.error
    eventually(lambda: small.run(*LOOK).ok, PATIENCE_S)
    eventually(lambda: [(one.state, one.uses) for one in small.executor.fitness().pool] == [("idle", 2)], PATIENCE_S)
    assert small.executor.fitness().browsers == 1


def test_a_light_type_keeps_nothing_and_has_no_profile(small: Desk) -> None:
    probe = {"do": "goto", "url": "/probe?shop=light&task={{payload.n}}"}
    for number in ("1", "2"):
        outcome = small.run(probe, {"do": "wait_for", "selector": "#done"}, kind="light", n=number)
        assert outcome.ok, outcome.error
    profiles = {profile for _, _, profile in small.lab.pings["light"]}
    assert len(profiles) == 2
    assert not (small.folder / "profiles" / "lab_s1").exists()


def test_a_profile_belongs_to_one_process(small: Desk) -> None:
    assert small.run(*LOOK).ok
    folder = next((small.folder / "profiles").iterdir())
    with pytest.raises(ProfileInUse):
        Profile(folder).take()
