"""What can happen to a folder of artifacts and to nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from services.artifacts.caps import Caps
from services.artifacts.folder import FolderArtifacts
from services.clock import ManualClock
from services.domain.errors import ArtifactError


def test_a_disk_that_is_nearly_full_takes_nothing(tmp_path: Path) -> None:
    place = FolderArtifacts(tmp_path, ManualClock(), Caps(free_bytes=1 << 60))
    with pytest.raises(ArtifactError, match="nearly full"):
        place.put("t", 1, "a.txt", b"x")


def test_a_file_without_bound_leaves_the_disk_its_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1_500))
    place = FolderArtifacts(tmp_path, ManualClock(), Caps(file_bytes=0, task_bytes=0, free_bytes=1_000))
    huge = tmp_path / "huge.bin"
    with huge.open("wb") as stream:
        stream.truncate(10 << 30)
    with pytest.raises(ArtifactError, match=r"huge\.bin is left out: it would fill the disk"):
        place.put("t", 1, "huge.bin", huge)
    assert place.list("t") == []
    assert place.put("t", 1, "small.bin", b"x" * 500).size == 500


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match="could not be kept"):
        FolderArtifacts(tmp_path / "file" / "deeper", ManualClock()).put("t", 1, "a.txt", b"x")


def test_a_writer_that_was_killed_in_between_leaves_a_file_that_is_shown(tmp_path: Path) -> None:
    place = FolderArtifacts(tmp_path, ManualClock(), Caps(free_bytes=0))
    one = place.put("t", 1, "a.png", b"xyz")
    (tmp_path / one.place).parent.joinpath(".cards", "a.png.json").unlink()
    (tmp_path / one.place).parent.joinpath(".part-1234").write_bytes(b"half")
    (found,) = place.list("t")
    assert (found.name, found.kind, found.size, found.sha256) == ("a.png", "image", 3, "")
    with place.open(found) as stream:
        assert stream.read() == b"xyz"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_leads_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "kept"
    place = FolderArtifacts(root, ManualClock(), Caps(free_bytes=0))
    one = place.put("t", 1, "a.png", b"xyz")
    (tmp_path / "secret").write_text("s")
    (root / one.place).unlink()
    (root / one.place).symlink_to(tmp_path / "secret")
    assert place.list("t") == []
    with pytest.raises(ArtifactError):
        place.open(one)
