"""The folder of configuration, data and logs: whether it can be one, and the file in it."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import secrets
import socket
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from services import plain_file
from services.domain.errors import UsageError
from services.domain.gates import home
from services.domain.text.said import said

#: answers to who wants a lock that another one has; whatever else is said, there are no locks to be had
_HELD = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)

#: how long what another program writes is waited for, and how often it is looked
_PATIENCE_S, _PAUSE_S = 3.0, 0.005
#: outcomes that the store has not taken: a folder, the endings of its files, and of those that cannot be read
SPOOL, SPOOLED, ASIDE = "spool", ".spool", ".aside"
#: bytes that are written to see whether a disk takes any: more than a file without contents needs
PROBED = 8192
MAX_CONFIG = 1_000_000
#: a key of so many parts is none; the reader's time grows with their square
_MAX_PARTS = 32
# what a part has taken it does not give back, and none begins in the middle of a word: a long value is looked at once
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MAX_PARTS}}}")
#: what holds addresses with passwords, payloads or outcomes
_SECRET = ("config.toml", "*.sqlite*", f"{SPOOL}/*/*")
log = logging.getLogger(__name__)
NODE_FILE = "node"
_MOST_NAME_BYTES = 1000
_there: dict[Path, int] = {}  #: homes that this process has seen, and on which device


def check(folder: Path) -> None:
    """Refuse a home that is no folder; whether it can be written is seen by who writes.

    Raises:
        UsageError: with the remedy.
    """
    try:
        no_folders = [place for place in (folder, *folder.parents) if place.exists() and not place.is_dir()]
    except OSError as exc:
        raise UsageError(
            said("home.unseen", folder=str(folder), why=exc.strerror or str(exc)), field="FLEETDECK_HOME"
        ) from exc
    if no_folders:
        raise UsageError(said("home.no_folder", folder=str(no_folders[0])), field="FLEETDECK_HOME")
    with contextlib.suppress(OSError):  # not made yet
        _there[folder] = folder.stat().st_dev


def make(folder: Path) -> None:
    """Make it where it does not exist yet.

    Raises:
        UsageError: it cannot be made or written.
    """
    try:
        make_private(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(said("home.no_right", folder=str(folder)), field="FLEETDECK_HOME")
        _there[folder] = folder.stat().st_dev
    except OSError as exc:
        text = said("home.unusable", folder=str(folder), why=exc.strerror or str(exc))
        raise UsageError(text, field="FLEETDECK_HOME") from exc


def unwritable(folder: Path) -> str:
    """Why a file of this folder would not reach the disk now, "" where it does."""
    probe = folder / f".probe-{os.getpid()}"
    try:
        make_private(folder)
        try:
            with probe.open("wb") as file:
                file.write(bytes(PROBED))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)
    except OSError as exc:
        return f"{folder} takes no files: {exc.strerror or exc}"
    return ""


def check_there(place: Path) -> None:
    """Refuse to make anything in a home that was there and is gone, as with a disk that was taken off: an empty one in
    its place would hide that all is lost, or take in what is found by nobody once the disk is back.

    Raises:
        FileNotFoundError: with that as its reason.
    """
    for folder in (place, *place.parents):
        if folder in _there and not _is_there(folder, _there[folder]):
            why = f"{folder} was there and is gone: put it back"
            raise FileNotFoundError(errno.ENOENT, why)


def _is_there(folder: Path, device: int) -> bool:
    """Whether it is; where a disk was taken off, its place is an empty folder of another one."""
    try:
        return folder.stat().st_dev == device or any(folder.iterdir())
    except OSError:
        return False


def make_private(folder: Path) -> None:
    """Make a folder that this user alone may use, where there is none yet, whatever the mask of this process is.

    Raises:
        OSError: it cannot be made.
    """
    check_there(folder)
    with contextlib.suppress(FileExistsError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)
        return
    folder.mkdir(exist_ok=True)  # says so where something else stands there


def keep_private(path: Path) -> None:
    """Make an empty file that only this user may read, where there is none yet; whoever writes it then keeps that.

    Raises:
        OSError: it cannot be made.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        path.chmod(0o600)  # a mask may have taken the right to write away


def locked(path: Path) -> IO[bytes] | None:
    """The lock of a file, held until it is closed or this process ends; None: another one has it.

    Raises:
        OSError: there can be no such file, or it takes no locks.
    """
    keep_private(path)
    handle = path.open("r+b")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        with contextlib.suppress(OSError):
            handle.close()
        if exc.errno in _HELD or not exc.errno:  # wine gives no reason
            return None
        raise
    return handle


@contextlib.contextmanager
def alone(path: Path) -> Iterator[bool]:
    """No other program that asks for it writes a file of the home meanwhile; its lock lies beside it. Blocking.

    False where one goes on for too long. Where the disk takes no locks nobody is waited for: what waits for one would
    never be written.
    """
    until = time.monotonic() + _PATIENCE_S
    lock, lockless = None, False
    try:
        while (lock := locked(path.with_suffix(".lock"))) is None and time.monotonic() < until:
            time.sleep(_PAUSE_S)
    except OSError:
        lockless = True
    try:
        yield lockless or lock is not None
    finally:
        if lock is not None:
            lock.close()


def open_to_others(folder: Path) -> list[Path]:
    """What of a home other users of this machine may look into: the folder, its database, configuration and spool."""
    if sys.platform == "win32":  # the folder of the user is theirs by its access list, and modes say nothing
        return []
    inside = [each for mask in _SECRET for each in sorted(folder.glob(mask))]
    if not _is_open(folder):
        return []  # nobody comes to what lies in it
    return [folder, *filter(_is_open, inside)]


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def read_config(path: Path) -> dict[str, Any]:
    """What config.toml says, nothing where there is none.

    Raises:
        UsageError: it cannot be read or is not TOML.
    """
    try:
        data = plain_file.read(path, MAX_CONFIG)
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise UsageError(
            said("table.unreadable", path=str(path), error=exc.strerror or str(exc)), field="config.toml"
        ) from exc
    if len(data) > MAX_CONFIG:
        raise UsageError(said("config.large", path=str(path), most=MAX_CONFIG), field="config.toml")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        raise UsageError(said("config.not_text", path=str(path), line=line), field="config.toml") from exc
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise UsageError(said("config.long_key", path=str(path), line=line, most=_MAX_PARTS), field="config.toml")
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(said("config.not_toml", path=str(path), why=str(exc)), field="config.toml") from exc
    except (RecursionError, ValueError) as exc:
        why = said("config.deep") if isinstance(exc, RecursionError) else str(exc).partition(";")[0]
        raise UsageError(said("config.unreadable", path=str(path), why=why), field="config.toml") from exc


def node_name(folder: Path) -> str:
    """What is written down in the home folder; made of the host's name the first time.

    Workers of one machine that share the folder share the name. Where nothing can be written the host's name is all.
    """
    place = folder / NODE_FILE
    if known := _read(place):
        return known
    host = re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:50].strip("-.") or "node"
    name = f"{host}-{secrets.token_hex(2)}"
    try:
        make_private(folder)
        _write(place, name)
    except OSError as exc:
        log.warning("%s cannot be written, so this node is called %s: %s", place, host, exc)
        return host
    return _read(place) or name


def _write(place: Path, name: str) -> None:
    """Only one of several processes that begin together gives the name."""
    draft = place.with_name(f"{NODE_FILE}.{secrets.token_hex(4)}")
    draft.write_text(f"{name}\n", encoding="ascii")
    try:
        os.link(draft, place)
    except OSError:  # somebody was quicker, or there are no links on this disk
        if not _read(place):
            draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _read(place: Path) -> str:
    try:
        text = plain_file.read(place, _MOST_NAME_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if home.valid_node(text) else ""
