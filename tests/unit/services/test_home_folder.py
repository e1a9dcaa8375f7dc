"""The folder of configuration and data."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path

import pytest

from services import assembly, home_folder
from services import settings as config
from services.clock import SystemClock
from services.domain.errors import StoreUnavailable, UsageError
from services.store.sqlite.store import EmbeddedStore


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
@pytest.mark.parametrize("mask", [0, 0o277, 0o777])
def test_a_new_home_and_what_is_written_there_is_this_users_alone(tmp_path: Path, mask: int) -> None:
    """And this user's to write, whatever the mask leaves out: what nobody may read again would be lost."""
    old = os.umask(mask)
    try:
        home = tmp_path / "new"
        engine = assembly.open_engine(config.load(home=home))
        engine.close()
    finally:
        os.umask(old)
    (home / "config.toml").write_text("")
    assert home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in home.glob("*.sqlite*")} == {0o600}
    assert {path.name: oct(path.stat().st_mode & 0o077) for path in home.glob("*.sqlite*")} == {
        path.name: "0o0" for path in home.glob("*.sqlite*")
    }
    assert list(home.glob("*.sqlite")), "there is a database to speak of"
    assert home_folder.open_to_others(home) == [], "the folder is closed, whatever the configuration's own mode"


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes and devices in folders")
@pytest.mark.parametrize("what", ["pipe", "device", "circle", "folder"])
@pytest.mark.timeout(20)
def test_a_configuration_that_is_no_file_is_not_waited_for(tmp_path: Path, what: str) -> None:
    path = tmp_path / "config.toml"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if what == "device" else path)
    with pytest.raises(UsageError, match=r"config\.toml cannot be read") as caught:
        home_folder.read_config(path)
    assert caught.value.field == "config.toml"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", ["a" + ".a" * 20_000 + "=1", "[" + ".".join(["'a b'"] * 20_000) + "]", "a = 1\na.b" + " . c" * 99]
)
def test_a_key_of_thousands_of_parts_is_named_at_once(tmp_path: Path, text: str) -> None:
    """Reading it would take a time that grows with the square of its parts."""
    (tmp_path / "config.toml").write_text(f"x = 'a.b.c.d'\n{text}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"line [23]: a key of more than 32 parts"):
        home_folder.read_config(tmp_path / "config.toml")


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


@pytest.mark.timeout(60)
@pytest.mark.parametrize("value", ["x" * 900_000, "x " * 450_000, "x-" * 450_000, ". " * 450_000, "\t" * 900_000])
def test_a_long_value_is_read_at_once(tmp_path: Path, value: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f'note = "{value}"\n', encoding="utf-8")
    assert home_folder.read_config(path) == {"note": value}


@pytest.mark.skipif(sys.platform == "win32", reason="flock")
def test_only_a_lock_that_is_held_counts_as_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A share that takes no locks says so; it does not say that another program runs."""
    lock = home_folder.locked(tmp_path / "one.lock")
    assert lock is not None
    assert home_folder.locked(tmp_path / "one.lock") is None
    lock.close()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="no locks available"):
        home_folder.locked(tmp_path / "one.lock")


def test_a_home_that_vanished_is_not_made_anew_until_it_is_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home_folder.make(home)
    away = home.rename(tmp_path / "away")
    for act in (lambda: home_folder.make(home), lambda: EmbeddedStore(home / "local.sqlite", SystemClock())):
        with pytest.raises((UsageError, OSError, StoreUnavailable), match="was there and is gone"):
            act()
    assert "was there and is gone" in home_folder.unwritable(home / "spool")
    assert home_folder.node_name(home)
    assert not home.exists()
    away.rename(home)
    assert home_folder.unwritable(home / "spool") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="links are for administrators")
def test_an_empty_place_where_a_disk_was_taken_off_is_no_home(tmp_path: Path) -> None:
    here, others = tmp_path.stat().st_dev, [Path("/dev/shm"), Path("/var/tmp")]
    elsewhere = next((one for one in others if one.is_dir() and one.stat().st_dev != here), None)
    if elsewhere is None:
        pytest.skip("all is on one disk here")
    with tempfile.TemporaryDirectory(dir=elsewhere) as disk:
        home, place = tmp_path / "home", tmp_path / "place"
        place.mkdir()
        home.symlink_to(disk)
        home_folder.make(home)
        home_folder.make_private(home / "spool")
        home.unlink()
        home.symlink_to(place)
        with pytest.raises(FileNotFoundError, match="was there and is gone"):
            home_folder.make_private(home / "spool" / "queue")
        home.unlink()
        home.symlink_to(disk)
        home_folder.make_private(home / "spool" / "queue")
    assert not any(place.iterdir())
