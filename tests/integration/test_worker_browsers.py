"""The browser of a shop on the machine of a worker, as a person at another one has it: seen, gone on with, mended."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec
import pytest

from services import assembly
from services import log as logs
from services.domain.errors import OperatorError
from services.domain.fleet.shop import Shop
from services.domain.task import classify, ids
from services.executors.browser.executor import NAMES
from services.executors.browser.profile import Profile
from services.workers.worker import Worker
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet
from tests.support.browser_lab import Lab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not any(shutil.which(name) for name in NAMES), reason="there is no Chromium here"),
]
SHOP = "lab:s1"
T = TypeVar("T")


@pytest.fixture
def lab() -> Iterator[Lab]:
    lab = Lab()
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def worker(fleet: Fleet, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """At work with browsers, on a machine without a screen."""
    monkeypatch.delenv("DISPLAY", raising=False)
    executors = msgspec.structs.replace(
        fleet.settings.executors,
        browser=msgspec.structs.replace(
            fleet.settings.executors.browser,
            sites={"lab": f"{lab.url}/login?to=1"},
            hosts=("127.0.0.1",),
            acquire_seconds=5.0,
        ),
    )
    fleet.engine.store.put_shops([Shop(platform="lab", shop_id="s1")])
    return fleet.worker(slots=1, engine=fleet.open(executors=executors), name="desk")


def test_a_login_on_another_machine_is_seen_here_and_gone_on_with(fleet: Fleet, worker: Worker) -> None:
    commands, told, store = fleet.commands(), assembly.queries(fleet.engine).remote, fleet.engine.store
    commands.sessions.close(SHOP, kind=classify.LOGIN_EXPIRED)
    commands.fleet.tell_worker("desk", f"open_window={SHOP}")
    seen = some(lambda: told.window(SHOP), lambda one: bool(one.picture))
    assert seen.picture.startswith(b"\xff\xd8"), "a JPEG"
    assert (seen.worker, seen.visible) == ("desk", False)
    assert "window" in {one.state for one in worker.info().pool if one.shop == SHOP}
    some(lambda: told.window(SHOP), lambda one: one.logged_in)  # the page of the lab logs in by itself

    began = store.now_ms()
    commands.sessions.login(SHOP, lambda: True, node=worker.info().node)
    commands.fleet.tell_worker("desk", f"close_window={SHOP}")
    assert some(lambda: told.answer("desk", f"close_window={SHOP}", began), lambda one: True) == ""
    eventually(lambda: told.window(SHOP) is None and not store.documents("window"))
    assert not store.sessions()
    assert store.homes([SHOP])[SHOP].node == worker.info().node, "its first task starts with this login"


@pytest.mark.parametrize("pair", ["embedded"], indirect=True)
def test_a_profile_that_somebody_holds_is_released(fleet: Fleet, worker: Worker) -> None:
    commands, told, store = fleet.commands(), assembly.queries(fleet.engine).remote, fleet.engine.store
    commands.fleet.tell_worker("desk", f"open_window={SHOP}")
    some(lambda: told.window(SHOP), lambda one: bool(one.picture))
    began = store.now_ms()
    commands.fleet.tell_worker("desk", f"release_profile={SHOP}")
    assert some(lambda: told.answer("desk", f"release_profile={SHOP}", began), lambda one: True) == ""
    folder = fleet.settings.home_path / "browser" / "profiles" / ids.profile_id("lab", "s1")
    free = Profile(folder)
    free.take()
    free.leave()
    began = store.now_ms()
    commands.fleet.tell_worker("desk", f"restart_browser={SHOP}")
    why = some(lambda: told.answer("desk", f"restart_browser={SHOP}", began), lambda one: True)
    assert why == f"no browser of {SHOP} runs here"


@pytest.mark.parametrize("pair", ["embedded"], indirect=True)
def test_a_shop_at_home_elsewhere_is_not_opened_here(fleet: Fleet, worker: Worker) -> None:
    fleet.engine.store.put_home(SHOP, "far-away")
    with pytest.raises(OperatorError, match="lives on far-away; choose a worker there"):
        fleet.commands().fleet.tell_worker("desk", f"open_window={SHOP}")


def test_the_log_of_a_worker_is_shown_while_somebody_wants_it(fleet: Fleet, worker: Worker) -> None:
    told = assembly.queries(fleet.engine).remote
    logs.set_up()
    assert told.log("desk") is None
    fleet.commands().fleet.tell_worker("desk", "log=2")
    fleet.commands().fleet.tell_worker("desk", f"close_window={SHOP}")
    log = some(lambda: told.log("desk"), lambda one: any("no window" in line.text for line in one.lines))
    assert log.worker == "desk"
    eventually(lambda: told.log("desk") is None)


def some(ask: Callable[[], T | None], fits: Callable[[T], bool]) -> T:
    """What it tells as soon as that fits."""
    found: list[T] = []

    def asked() -> bool:
        one = ask()
        if one is not None and fits(one):
            found.append(one)
        return bool(found)

    eventually(asked)
    return found[-1]
