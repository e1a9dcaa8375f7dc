"""Files that a person or a flow names: only plain ones are read, none of them is waited for."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from services import home_folder, plain_file, tls
from services.artifacts import caps
from services.audit_witness import Witness
from services.cli import record_files
from services.cli.commands import types
from services.commands.sheet import shop_file, table
from services.domain.errors import ArtifactError, UsageError
from services.profiles.book import Book
from services.workers.spool import Spool

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no pipes and devices in folders"),
    pytest.mark.timeout(20),
]


def stand_in(path: Path, what: str) -> Path:
    """What stands in the place of a file."""
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "socket":
        here = Path.cwd()
        os.chdir(path.parent)  # their names are short
        try:
            with socket.socket(socket.AF_UNIX) as own:
                own.bind(path.name)
        finally:
            os.chdir(here)
    elif what == "kernel":
        path.symlink_to("/proc/kmsg")
    else:
        path.symlink_to("/dev/zero")
    return path


def _sheet(path: Path) -> None:
    table.read(path)


def _workbook(path: Path) -> None:
    table.read(path.rename(path.with_suffix(".xlsx")))


def _shops(path: Path) -> None:
    shop_file.read(path.rename(path.with_suffix(".tsv")))


def _import(path: Path) -> None:
    list(record_files.read(path))


def _authority(path: Path) -> None:
    tls.check_files({"cacertfile": str(path)}, tls.AMQP, "broker.url")


def _config(path: Path) -> None:
    home_folder.read_config(path)


def _artifact(path: Path) -> None:
    caps.opened(path)


READERS: tuple[Callable[[Path], None], ...] = (_sheet, _workbook, _shops, _import, _authority, _config, _artifact)


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "socket"])
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_what_is_no_plain_file_is_refused_in_words(tmp_path: Path, reader: Callable[[Path], None], what: str) -> None:
    path = stand_in(tmp_path / "named.csv", what)
    with pytest.raises((UsageError, ArtifactError)) as caught:
        reader(path)
    assert "named" in str(caught.value.args), "the sentence names the file"


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="the log of the kernel is for its administrator")
@pytest.mark.parametrize("reader", [_sheet, _workbook, _import, _authority, _config])
def test_a_log_of_the_kernel_is_not_waited_for(tmp_path: Path, reader: Callable[[Path], None]) -> None:
    path = stand_in(tmp_path / "named.csv", "kernel")
    with pytest.raises(UsageError, match="named"):
        reader(path)


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_task_types_are_read_of_plain_files(tmp_path: Path, what: str) -> None:
    inside = tmp_path / "types"
    inside.mkdir()
    stand_in(inside / "named.json", what)
    with pytest.raises(UsageError, match=r"named\.json cannot be read"):
        types.documents_of(str(inside))


@pytest.mark.parametrize("what", ["pipe", "device"])
def test_what_lies_in_a_home_is_not_waited_for(tmp_path: Path, what: str) -> None:
    stand_in(tmp_path / home_folder.NODE_FILE, what)
    assert home_folder.node_name(tmp_path), "the node has a name all the same"
    stand_in(tmp_path / "profiles.json", what)
    assert Book(tmp_path).profiles() == {}
    (tmp_path / "audit").mkdir()
    stand_in(tmp_path / "audit" / "store.seen", what)
    assert Witness(tmp_path, "store").marks() == []
    spool = tmp_path / "spool"
    spool.mkdir()
    stand_in(spool / "1-1-abcd.spool", what)
    assert Spool(spool).adopt() == []


def test_no_more_than_asked_for_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"a" * 100)
    assert plain_file.read(path, 100) == b"a" * 100
    assert plain_file.read(path, 9) == b"a" * 10, "one more tells that there is more"
    with plain_file.opened(path) as stream:
        assert stream.read() == b"a" * 100


def test_of_a_long_line_only_the_beginning_is_held(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\n" + b"b" * 95 + b"\n" + b"c" * 10 + b"\n\n" + b"d" * 30)
    with plain_file.opened(path) as stream:
        found = list(plain_file.lines(stream, 10))
    assert found == [b"a\n", b"b" * 11, b"c" * 10 + b"\n", b"\n", b"d" * 11]
