"""A shop's browser for a person: what was seen last decides, the profile keeps the login, an idle worker gives way."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from services.domain.task import ids, own_words
from services.executors.browser import profile
from services.executors.browser.installation import program
from services.executors.browser.login import LoginWindow, NoWindow, Seen
from services.executors.browser.profile import Profile
from services.messages import english
from services.settings.browser import BrowserSettings
from tests.support.browser_lab import Lab
from tests.unit.services.executors.browser.conftest import Desk

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def window(tmp_path: Path) -> LoginWindow:
    """Without a screen, for there is none."""
    settings = BrowserSettings(acquire_seconds=1.0, hosts=("127.0.0.1",))
    return LoginWindow(settings, tmp_path / "profiles", program(settings, os.environ["PATH"]), headless=True)


def test_a_login_is_seen_and_kept(window: LoginWindow, lab: Lab, tmp_path: Path) -> None:
    stop, looks = threading.Event(), list[Seen]()

    def told(seen: Seen) -> None:
        looks.append(seen)
        if seen.logged_in:
            stop.set()

    seen = window.show("lab", "s1", f"{lab.url}/login?to=1", stop=stop, told=told)
    assert all(one == Seen(logged_in=False, url=f"{lab.url}/login") for one in looks[:-1])
    assert seen == Seen(logged_in=True, url=f"{lab.url}/second")
    kept = json.loads((tmp_path / "profiles" / ids.profile_id("lab", "s1") / "fleetdeck-cookies.json").read_bytes())
    assert [(cookie["name"], cookie["value"]) for cookie in kept] == [("desk", "in")]


def test_a_page_in_a_private_network_is_refused_by_the_setting_that_opens_it(window: LoginWindow, lab: Lab) -> None:
    private = lab.url.replace("127.0.0.1", "localhost")
    with pytest.raises(NoWindow, match=r"localhost lies in a private network; executors\.browser\.hosts"):
        window.show("lab", "s1", f"{private}/login", stop=threading.Event(), told=lambda seen: None)


PRINTED = "[7:7:1128/082024.43:ERROR:ui/ozone/platform/x11/ozone_platform_x11.cc:257] "


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (f"{PRINTED}Missing X server or $DISPLAY", "there is no screen here for the window of its browser"),
        (f"{PRINTED}The profile is of a newer version", "Chromium did not start: The profile is of a newer version"),
        (
            f"{PRINTED}The profile is of a newer version\n"
            f"{PRINTED}Failed to connect to socket /run/dbus/system_bus_socket: No such file or directory\n"
            f"{PRINTED}Failed to call method: org.freedesktop.DBus.NameHasOwner: object_path= /org/freedesktop/DBus",
            "Chromium did not start: The profile is of a newer version",
        ),
        ("cannot open shared object file", "Chromium did not start: cannot open shared object file"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="a script that stands for Chromium")
def test_why_it_does_not_start_is_told_and_not_how_it_was_called(tmp_path: Path, printed: str, told: str) -> None:
    broken = tmp_path / "chromium"
    broken.write_text(f"#!/bin/sh\necho '{printed}' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    window = LoginWindow(BrowserSettings(), tmp_path / "profiles", str(broken))
    with pytest.raises(NoWindow) as refused:
        window.show("lab", "s1", "", stop=threading.Event(), told=lambda seen: None)
    said = own_words.find(str(refused.value))
    words = english(said) if said is not None else str(refused.value)
    assert words.startswith(told)
    assert "dbus" not in words.lower(), "that is so on every machine without a desktop, and hides the reason"
    assert "--no-first-run" not in words


def test_a_task_that_works_in_the_profile_is_waited_for_and_named(window: LoginWindow, tmp_path: Path) -> None:
    taken = Profile(tmp_path / "profiles" / ids.profile_id("lab", "s1"))
    taken.take()
    try:
        with pytest.raises(NoWindow, match="a task of lab:s1 works in its browser"):
            window.show("lab", "s1", "", stop=threading.Event(), told=lambda seen: None)
        assert not taken.wanted
        with taken.wish():
            assert Profile(taken.folder).wanted
    finally:
        taken.leave()


def test_a_wish_that_meets_a_look_at_it_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wish, look = Profile(tmp_path / "s1"), Profile(tmp_path / "s1")
    with wish.wish():
        pass
    began = threading.Event()
    real = profile._lock

    def locks(handle: BinaryIO) -> None:
        if not began.is_set():
            began.set()
            raise BlockingIOError
        real(handle)

    monkeypatch.setattr(profile, "_lock", locks)
    with wish.wish():
        assert look.wanted
    assert not look.wanted


def test_an_idle_browser_of_a_worker_gives_way(desk: Desk, lab: Lab) -> None:
    assert desk.run({"do": "goto", "url": f"{lab.url}/second"}, shop="warm").ok
    settings = BrowserSettings(acquire_seconds=30.0, hosts=("127.0.0.1",))
    window = LoginWindow(settings, desk.folder / "profiles", shutil.which("chromium") or "", headless=True)
    stop = threading.Event()
    seen = window.show("lab", "warm", f"{lab.url}/second", stop=stop, told=lambda _: stop.set())
    assert seen.logged_in
