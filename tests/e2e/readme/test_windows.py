"""Every line of the READMEs that opens a window, and every page, on a real screen and with an empty home."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from services.cli.window import pages
from services.executors.browser.executor import NAMES
from tests.e2e.readme.blocks import Command
from tests.e2e.readme.plan import Way
from tests.e2e.readme.prepared import Prepared
from tests.e2e.readme.test_lines import lines
from tests.support.front_door import END_S, open_by, open_window, remember_choice, surroundings
from tests.support.pages import ROOT
from tests.support.screen import Screen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
#: a window that ends by itself does so within the first seconds, while its pages are loaded
ALIVE_S = 5.0
#: how often a page is asked for on a crowded machine
TRIES = 5


@pytest.mark.parametrize("command", lines(Way.WINDOW), ids=lambda command: command.text)
def test_a_window_opens_stays_and_closes(command: Command, desk_screen: Screen, tmp_path: Path) -> None:
    assert command.text.startswith("make "), command.where
    words = command.text.split()
    planned = subprocess.run(
        [*words, "--dry-run"], cwd=ROOT, env=surroundings(tmp_path), capture_output=True, text=True, check=True
    )
    assert "pip install" not in planned.stdout, "the environment is that of another list; make setup brings it"
    with open_by(words, desk_screen, tmp_path) as window:
        (shown,) = window.shown()
        assert shown.within(desk_screen.width, desk_screen.height)
        window.stays(ALIVE_S)
        assert window.close() == 0, window.errors
    assert window.errors == ""


@pytest.mark.parametrize("page", pages())
def test_every_page_opens(page: str, desk_screen: Screen, tmp_path: Path) -> None:
    remember_choice(tmp_path)
    for _ in range(TRIES):
        with open_window(desk_screen, tmp_path, "--page", page) as window:
            (shown,) = window.shown()
            assert shown.within(desk_screen.width, desk_screen.height)
            assert window.close() == 0, window.errors
        assert window.errors == ""
        # where opening takes long a window says so first, and it was that one which was closed
        if window.state:
            break
    assert window.state["page"] == page


@pytest.mark.browser
@pytest.mark.skipif(not any(shutil.which(name) for name in NAMES), reason="there is no Chromium here")
@pytest.mark.parametrize("command", lines(Way.BROWSER), ids=lambda command: command.text)
def test_the_browser_of_a_shop_opens_and_is_closed(command: Command, prepared: Prepared, desk_screen: Screen) -> None:
    around = {"FLEETDECK_EXECUTORS__BROWSER__SITES": '{"pdd": "http://127.0.0.1:9"}'}
    with open_by(["bash", "-c", command.text], desk_screen, prepared.home, **around) as window:
        assert window.shown(), window.errors[-3000:]
        for shown in window.shown():
            desk_screen.ask_to_close(shown)
        window.process.wait(END_S)
    assert "Traceback" not in window.errors
