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

from services.executors.base import Flag
from services.executors.browser.lending import LendingRpaExecutor
from services.executors.browser.profile import Profile, ProfileInUse, running_on
from services.executors.rpa import RpaExecutor
from tests.support.browser_lab import Lab
from tests.unit.services.executors.browser.conftest import Desk
from tests.unit.services.executors.builders import Listener, eventually, job, start

pytestmark = pytest.mark.browser


@pytest.fixture
def small(lab: Lab, tmp_path: Path) -> Iterator[Desk]:
    """A pool of one, whose tasks wait a moment only."""
    desk = Desk(tmp_path, lab, max_total=1, acquire_seconds=0.3, cancel_grace_seconds=1.0)
    yield desk
    desk.close()
    assert not running(desk), "a Chromium was left behind"


def running(desk: Desk) -> list[psutil.Process]:
    """Chromium processes on profiles of this desk."""
    folders = [path for path in (desk.folder / "profiles").glob("*") if path.is_dir()]
    return [process for folder in folders for process in running_on(folder)]


def flow(*steps: dict[str, Any], shop: str = "s1", kind: str = "browser_flow") -> Any:
    """A job against the lab."""
    return job(kind, platform="lab", shop_id=shop, payload={"steps": list(steps)}, timeout_s=90.0)


#: an RPA product: attaches to the debug port that it was given, and works for a moment
ATTACH = """
import json, sys, time, urllib.request
param = json.loads(sys.argv[1])
with urllib.request.urlopen(f"http://127.0.0.1:{param['debug_port']}/json/version", timeout=20) as answer:
    print("attached to", json.load(answer)["Browser"], flush=True)
time.sleep(3)
print(json.dumps({"result": {"profile": param["profile_id"]}}))
"""
LOOK = ({"do": "goto", "url": "/echo"}, {"do": "wait_for", "selector": "#field"})
WAIT = (*LOOK, {"do": "sleep", "seconds": 60})


def test_a_killed_chromium_fails_its_task_only_and_a_new_one_takes_its_place(small: Desk) -> None:
    assert small.run(*LOOK).ok
    waiting = start(small.executor, flow(*WAIT))
    eventually(lambda: (66, "3 sleep") in waiting.listener.shown or (67, "3 sleep") in waiting.listener.shown)

    refused = small.executor.run(flow(*LOOK, shop="s2"), Listener().context)
    assert (refused.error_kind, refused.unable) == ("no_browser", True)
    assert "all 1 browsers are at work (lab:s1)" in refused.error

    (chromium,) = running(small)
    chromium.kill()
    outcome = waiting.outcome()
    assert outcome.error_kind == "crashed", outcome.error
    assert small.run(*LOOK).ok

    # the place of an idle shop goes to the next
    assert small.run(*LOOK, shop="s2").ok
    assert [process.is_running() for process in running(small)] == [True]


def test_a_cancelled_flow_ends_and_leaves_its_browser_usable(small: Desk) -> None:
    listener, flag = Listener(), Flag()
    listener.context.cancelled = flag
    listener_shown = listener.shown
    outcomes: list[Any] = []
    thread = threading.Thread(target=lambda: outcomes.append(small.executor.run(flow(*WAIT), listener.context)))
    thread.start()
    eventually(lambda: any(note == "3 sleep" for _, note in listener_shown))
    flag.set()
    thread.join(30)
    assert outcomes[0].cancelled
    assert listener.stops == 1
    assert small.run(*LOOK).ok
    assert len(running(small)) == 1


def test_a_killed_host_fails_what_it_did_and_leaves_no_chromium(small: Desk) -> None:
    waiting = start(small.executor, flow(*WAIT))
    eventually(lambda: any(note == "3 sleep" for _, note in waiting.listener.shown))
    host = small.executor._host
    assert host is not None
    host.tree.process.kill()
    assert waiting.outcome().error_kind == "crashed"
    assert small.run(*LOOK).ok
    assert len(running(small)) == 1
    assert not host.folder.exists()


def test_a_lent_browser_answers_at_its_debug_port_and_is_nobody_elses(small: Desk) -> None:
    rpa = RpaExecutor([sys.executable, "-S", "-c", ATTACH, "{param}"])
    running_flow = start(LendingRpaExecutor(rpa, small.executor.lend, ["sync_order"]), flow(kind="sync_order"))
    running_flow.listener.wait_for("attached to Chrome")
    assert small.run(*LOOK).error_kind == "no_browser"
    outcome = running_flow.outcome()
    assert json.loads(outcome.result) == {"profile": "lab_s1"}, outcome.error
    eventually(lambda: small.run(*LOOK).ok)


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
