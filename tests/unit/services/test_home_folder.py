"""The folder of configuration and data."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from services import assembly, home_folder
from services import settings as config
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


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_new_home_and_what_is_written_there_is_this_users_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        home = tmp_path / "new"
        engine = assembly.open_engine(config.load(home=home))
        (home / "config.toml").write_text("")
        engine.close()
    finally:
        os.umask(old)
    assert home.stat().st_mode & 0o777 == 0o700
    assert {path.name: oct(path.stat().st_mode & 0o077) for path in home.glob("*.sqlite*")} == {
        path.name: "0o0" for path in home.glob("*.sqlite*")
    }
    assert list(home.glob("*.sqlite")), "there is a database to speak of"
    assert home_folder.open_to_others(home) == [], "the folder is closed, whatever the configuration's own mode"


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_what_others_may_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "notes.txt").write_text("")
    for path, mode in ((tmp_path, 0o755), (tmp_path / "config.toml", 0o644)):
        path.chmod(mode)
    assert home_folder.open_to_others(tmp_path) == [tmp_path, tmp_path / "config.toml"]
    (tmp_path / "config.toml").chmod(0o600)
    assert home_folder.open_to_others(tmp_path) == [tmp_path]
    for mode in (0o740, 0o720, 0o710, 0o704, 0o702, 0o701):  # a group's right is as good as everybody's
        tmp_path.chmod(mode)
        assert home_folder.open_to_others(tmp_path) == [tmp_path], oct(mode)
