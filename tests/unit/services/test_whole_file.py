"""Files that take the place of others: whole, and not where another program has that open."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from services import whole_file


class Draft:
    """A finished file of Windows whose place is taken for the first ``times`` that it wants it."""

    def __init__(self, times: int, winerror: int = 32) -> None:
        self.tries, self._times, self._winerror = 0, times, winerror

    def replace(self, _path: Path) -> None:
        self.tries += 1
        if self.tries <= self._times:
            error = PermissionError(13, "Permission denied")
            error.winerror = self._winerror
            raise error


def put(draft: Draft, **options: float) -> None:
    whole_file.put(draft, Path("orders.csv"), **options)  # type: ignore[arg-type]


def test_what_a_scanner_holds_for_a_moment_is_waited_for() -> None:
    draft = Draft(2)
    put(draft)
    assert draft.tries == 3


def test_what_stays_open_is_an_error_with_its_name_and_the_remedy() -> None:
    with pytest.raises(PermissionError) as caught:
        put(Draft(9), patience_s=0.0)
    assert str(caught.value).startswith("orders.csv is open in another program")
    assert caught.value.args[0].message.code == "file.in_use", "a window can say it in its language"


def test_what_nobody_holds_is_not_waited_for() -> None:
    draft = Draft(9, winerror=0)
    with pytest.raises(PermissionError, match="Permission denied"):
        put(draft)
    assert draft.tries == 1


def test_an_error_half_way_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text("before", encoding="utf-8")

    def write() -> None:
        with whole_file.written(file) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [("orders.csv", "before")]


@pytest.mark.skipif(sys.platform == "win32", reason="its pipes are no files")
def test_a_pipe_or_a_device_stays_what_it_is(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for place in (pipe, link):
        with pytest.raises(OSError, match="it is no plain file"), whole_file.written(place) as file:
            file.write("orders")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(sys.platform != "win32", reason="only there a file that is open keeps its place")
def test_a_file_that_a_program_has_open_keeps_its_contents(tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text("before", encoding="utf-8")
    draft = whole_file.draft_of(file)
    draft.write_text("after", encoding="utf-8")
    with file.open("rb"):
        with pytest.raises(PermissionError, match=r"orders\.csv is open in another program"):
            whole_file.put(draft, file, patience_s=0.0)
        assert file.read_text(encoding="utf-8") == "before"
    whole_file.put(draft, file)
    assert file.read_text(encoding="utf-8") == "after"
