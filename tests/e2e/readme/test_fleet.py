"""The lines of the pages for a fleet, on a real RabbitMQ and Redis: only the two addresses are others."""

from __future__ import annotations

import re

import pytest

from tests.e2e.readme.blocks import Block, Command, blocks
from tests.e2e.readme.plan import Way
from tests.e2e.readme.terminal import Terminal
from tests.e2e.readme.test_lines import begins_and_ends, lines, told
from tests.support.front_door import open_by
from tests.support.pages import DOCS
from tests.support.screen import Screen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def fleet(amqp_vhost: str, redis_url: str, terminal: Terminal) -> Terminal:
    """A terminal whose home has the profile of the page, with the addresses of the servers of this run."""
    blocks_ = [one for page in DOCS for one in blocks(page) if one.language == "toml"]
    block = next(one for one in blocks_ if "[profiles.shops]" in one.text)
    terminal.home.mkdir()
    (terminal.home / "config.toml").write_text(at(block, amqp_vhost, redis_url), encoding="utf-8")
    return terminal


def at(block: Block, amqp: str, redis: str) -> str:
    """The first profile of the block with other addresses."""
    text, brokers = re.subn(r'^broker = "[^"]*"', f'broker = "{amqp}"', block.text, flags=re.MULTILINE)
    text, stores = re.subn(r'^redis = "[^"]*"', f'redis = "{redis}"', text, flags=re.MULTILINE)
    assert brokers >= 1
    assert stores >= 1
    return text


def test_the_lines_of_a_fleet(fleet: Terminal) -> None:
    failed = []
    for command in lines(Way.FLEET_LINE):
        failed += told(command.where, command.text, fleet.type(command.text), 0)
    assert not failed, "\n\n".join(failed)
    for command in lines(Way.FLEET_WORKER):
        begins_and_ends(fleet, command.text)


@pytest.mark.parametrize("command", lines(Way.FLEET_WINDOW), ids=lambda command: command.text)
def test_the_window_of_a_fleet(command: Command, fleet: Terminal, desk_screen: Screen) -> None:
    line = ["bash", "-c", f"cd {fleet.folder} && exec {command.text}"]
    with open_by(line, desk_screen, fleet.home) as window:
        (shown,) = window.shown()
        assert shown.within(desk_screen.width, desk_screen.height)
        window.stays(5.0)
        assert window.close() == 0, window.errors
    assert window.errors == ""
