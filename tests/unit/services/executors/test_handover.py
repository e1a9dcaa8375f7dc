"""What a flow prints is taken out of the folder of its attempt, and from nowhere else."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services.artifacts import caps
from services.domain.task.artifact import Artifact, Source
from services.executors.handover import Handover

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links are a right of their own")
SECRET = b"of somebody else"


@dataclass
class Kept:
    """Reads what it is given after somebody else had a moment for what he likes."""

    meanwhile: Callable[[], None] = lambda: None
    files: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, source: Source, *, name: str = "", kind: str = "", step: str = "") -> Artifact | None:
        self.meanwhile()
        with caps.opened(source) as stream:
            self.files.append(stream.read())
        return None

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the attempt; beside it lies what is none of its business."""
    (tmp_path / "secret.txt").write_bytes(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "page.txt").write_bytes(SECRET)
    made = tmp_path / "attempt"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "page.txt").write_bytes(b"page")
    (made / "page.txt").write_bytes(b"page")
    return made


def handed(folder: Path, kept: Kept, *paths: str) -> Kept:
    hand = Handover(kept, folder)
    for path in paths:
        assert hand.printed({"artifact": path})
    hand.finish()
    return kept


def test_its_own_files_are_taken(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder / "sub" / "page.txt")
    own = ("page.txt", "sub/page.txt", "sub/../page.txt", str(folder / "page.txt"), "link.txt")
    assert handed(folder, Kept(), *own).files == [b"page"] * len(own)


@pytest.mark.timeout(20)
def test_nothing_else_is(folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    (folder / "link").symlink_to(secret)
    (folder / "chain").symlink_to("link")
    (folder / "away").symlink_to(folder.parent)
    (folder / "circle").symlink_to("circle")
    os.link(secret, folder / "hard")
    os.mkfifo(folder / "pipe")
    (folder / "device").symlink_to("/dev/zero")
    names = [
        "link",
        "chain",
        "away/secret.txt",
        "circle",
        "hard",
        "pipe",
        "device",
        "sub",
        ".",
        "..",
        "/dev/zero",
        "gone",
    ]
    names += ["../secret.txt", str(secret), "/proc/self/environ", "/proc/self/fd/0", "x" * 5000, "a/" * 3000, "\ud800"]
    kept = handed(folder, Kept(), *names)
    assert kept.files == []
    assert len(kept.notes) == len(names)
    assert all("is left out" in note and len(note) < 500 for note in kept.notes)


def test_what_is_put_in_its_place_after_the_look_is_not_taken(folder: Path) -> None:
    def swap() -> None:
        (folder / "page.txt").unlink()
        (folder / "page.txt").symlink_to(folder.parent / "secret.txt")

    assert handed(folder, Kept(swap), "page.txt").files == [b"page"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_put_in_its_place_all_the_time_is_not_taken(folder: Path, what: str) -> None:
    over = threading.Event()
    good, bad = folder.parent / "good", folder.parent / "bad"
    place = folder / ("page.txt" if what == "file" else "sub")
    target = folder.parent / ("secret.txt" if what == "file" else "outside")

    def change() -> None:
        place.replace(good)
        for number in itertools.count():
            if over.is_set():
                return
            bad.symlink_to(target)
            with contextlib.suppress(OSError):
                bad.replace(place)
                place.unlink()
            if number % 2:
                good.replace(place)
                place.replace(good)

    other = threading.Thread(target=change)
    other.start()
    try:
        kept = handed(folder, Kept(), *["page.txt" if what == "file" else "sub/page.txt"] * 900)
    finally:
        over.set()
        other.join()
    assert SECRET not in kept.files
