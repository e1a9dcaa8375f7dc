"""The folder of configuration and data."""

from __future__ import annotations

from pathlib import Path

import pytest

from services import home_folder
from services.domain.errors import UsageError


def test_a_folder_is_made(tmp_path: Path) -> None:
    home_folder.check(tmp_path / "a" / "b")
    home_folder.make(tmp_path / "a" / "b")
    home_folder.make(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_file_is_no_home(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a folder") as caught:
        home_folder.check(tmp_path / "file" / inside)
    assert caught.value.field == "FLEETDECK_HOME"
    with pytest.raises(UsageError, match="cannot be used") as caught:
        home_folder.make(tmp_path / "file" / inside)
    assert caught.value.field == "FLEETDECK_HOME"


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A superuser may write everywhere, so the answer of the system is put in his place."""
    monkeypatch.setattr("services.home_folder.os.access", lambda *_: False)
    with pytest.raises(UsageError, match=r"no right to write there.*FLEETDECK_HOME") as caught:
        home_folder.make(tmp_path)
    assert caught.value.field == "FLEETDECK_HOME"
