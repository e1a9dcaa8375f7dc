"""Every line of the READMEs and of resources/docs for a terminal is typed as it stands there."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.readme.blocks import Command, all_commands, blocks
from tests.e2e.readme.plan import PLAN, PROGRAM, Entry, Way, entry_of, following
from tests.e2e.readme.prepared import Prepared
from tests.e2e.readme.terminal import Said, Terminal
from tests.support.front_door import END_S, OPEN_S
from tests.support.pages import PAGES

pytestmark = pytest.mark.timeout(400)
DEMO = "demo --seconds 60 --json"


def lines(way: Way, page: str = "") -> list[Command]:
    """The commands of one way; without a page each wording once, for most stand in both languages."""
    found = [one for one in all_commands() if entry_of(one).way is way and (not page or one.page == page)]
    return found if page else list({one.text: one for one in found}.values())


def test_every_command_has_its_way_and_every_way_its_command() -> None:
    fitting = [entry_of(command) for command in all_commands()]
    assert [entry.looks for entry in PLAN if entry not in fitting] == [], "these stand in no page any more"
    assert [entry.looks for entry in PLAN if entry.way is Way.NOT_HERE and not entry.why] == []


def test_every_follower_in_a_comment_is_known() -> None:
    for command in all_commands():
        following(command)


@pytest.mark.parametrize("page", PAGES)
def test_no_block_is_of_a_kind_that_nobody_tries(page: str) -> None:
    kinds = {block.where: block.language for block in blocks(page)}
    assert {where: kind for where, kind in kinds.items() if kind not in ("shell", "toml", "json", "python")} == {}


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if lines(Way.LINE, page)])
def test_every_line_does_what_it_is_there_for(page: str, terminal: Terminal, prepared: Prepared) -> None:
    """In the order of the page, as somebody does who reads it; all that fail are told together."""
    failed = []
    for command in lines(Way.LINE, page):
        if command.text.endswith(DEMO):
            continue
        entry = entry_of(command)
        with at_work(terminal, needed=entry.works):
            said = terminal.type(filled(command, entry, prepared), answer=entry.answer)
        failed += told(command.where, command.text, said, entry.code)
        for one in following(command):
            line = f"{PROGRAM} {one.words} {one.rest}".strip()
            failed += told(command.where, line, terminal.type(line, answer=one.answer), 0)
    assert not failed, "\n\n".join(failed)


@pytest.mark.slow
def test_the_demo_counts_right(terminal: Terminal) -> None:
    (command,) = [one for one in lines(Way.LINE) if one.text.endswith(DEMO)]
    said = terminal.type(f"{command.text} 2>/dev/null")
    assert said.code == 0, said.text[-3000:]
    assert json.loads(said.text)["ok"] is True


@pytest.mark.slow
@pytest.mark.parametrize("command", lines(Way.WORKER), ids=lambda command: command.where)
def test_a_worker_begins_and_ends(command: Command, terminal: Terminal) -> None:
    for block in blocks(command.page):
        if block.language == "python" and "@task_handler" in block.text:
            (terminal.folder / "my_handlers.py").write_text(block.text, encoding="utf-8")
    begins_and_ends(terminal, command.text)
    if "my_handlers" in command.text:
        types = terminal.type(f"{PROGRAM} type list --json")
        assert "send_welcome_email" in types.text, "the handler of the page is known with its type"


def begins_and_ends(terminal: Terminal, line: str) -> None:
    """It says that it works, and Ctrl-C ends it."""
    terminal.home.mkdir(exist_ok=True)
    with running(terminal, line) as (process, errors):
        process.send_signal(signal.SIGINT)
        assert process.wait(END_S) == 0, errors.read_text(encoding="utf-8")[-3000:]
    assert "Traceback" not in errors.read_text(encoding="utf-8")


@contextmanager
def running(terminal: Terminal, line: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A worker that has said that it works."""
    errors = terminal.folder / "errors.txt"
    process = terminal.start(line, errors)
    try:
        end = time.monotonic() + OPEN_S
        while " works, " not in errors.read_text(encoding="utf-8"):
            assert process.poll() is None, errors.read_text(encoding="utf-8")[-3000:]
            assert time.monotonic() < end, errors.read_text(encoding="utf-8")[-3000:]
            time.sleep(0.1)
        yield process, errors
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(END_S)


@contextmanager
def at_work(terminal: Terminal, *, needed: bool) -> Iterator[None]:
    """A worker beside the line, where one is needed."""
    if not needed:
        yield
        return
    with running(terminal, f"{PROGRAM} worker --slots 4 --handlers tests.integration.handlers"):
        yield


def filled(command: Command, entry: Entry, prepared: Prepared) -> str:
    """The line with an id that exists, and with a day to come where the one of the page has passed."""
    text = command.text
    if entry.known:
        text, count = re.subn(r"\bID\b", prepared.ids[entry.known], text)
        assert count == 1, command.where
    assert not re.search(r"\bID\b", text), f"{command.where}: what stands for ID?"
    year = datetime.now(UTC).year
    return re.sub(r"\b20\d\d(?=-01-01T)", lambda found: max(found[0], str(year + 1)), text)


def told(where: str, line: str, said: Said, code: int) -> list[str]:
    """What to say of a line that did not end as it should."""
    if said.code == code and "Traceback" not in said.text:
        return []
    return [f"{where}: {line}\nexit {said.code}, not {code}:\n{said.text[-2000:]}"]
