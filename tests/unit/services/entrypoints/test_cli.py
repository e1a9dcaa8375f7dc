"""What the words of the command line lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.entrypoints import cli


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[cli.ConsoleRequest]:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    return []


def test_no_word_at_all_opens_the_window(opened: list[cli.ConsoleRequest]) -> None:
    assert cli.run([], lambda request: opened.append(request) or 7) == 7
    assert [request.page for request in opened] == [""]


def test_an_option_without_its_value_is_refused(opened: list[cli.ConsoleRequest]) -> None:
    assert cli.run(["--page", ""], lambda request: opened.append(request) or 0) == 2
    assert not opened
