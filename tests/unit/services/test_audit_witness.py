"""What a machine remembers of an audit: the last marks, whatever else lies in the file, and never in the way."""

from __future__ import annotations

import stat
import sys
import threading
from pathlib import Path

import pytest

from services import home_folder
from services.audit_witness import KEPT, Witness
from services.domain.audit import Mark, entry_id


def mark(number: int) -> str:
    return str(Mark(entry_id(number, "abcdef", number), number, f"{number:064x}"))


def test_the_last_marks_are_kept(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "home", "store")
    assert witness.marks() == []
    for number in range(1, 5 * KEPT):
        witness.note([mark(number)])
    found = Witness(tmp_path / "home", "store").marks()
    assert found[-1] == mark(5 * KEPT - 1)
    assert KEPT <= len(found) <= 2 * KEPT
    assert found == sorted(found)


def seen_file(home: Path) -> Path:
    return home / "audit" / "store.seen"


def test_a_file_that_is_removed_is_missed_until_that_is_settled(tmp_path: Path) -> None:
    witness = Witness(tmp_path, "store")
    assert (witness.sight().lost, witness.sight().since) == (False, 0)
    for number in range(1, 4):
        witness.note([mark(number)])
    assert (witness.sight().lost, witness.sight().since) == (False, 1)
    seen_file(tmp_path).unlink()
    assert witness.sight().lost
    witness.note([mark(4)])
    assert (witness.sight().lost, witness.sight().since) == (True, 4)
    witness.note([mark(number) for number in range(5, 5 + 3 * KEPT)])
    assert witness.sight().lost
    witness.settle()
    assert not Witness(tmp_path, "store").sight().lost
    witness.note([mark(9000)])
    assert not witness.sight().lost


@pytest.mark.parametrize("left", [slice(0, -1), slice(1, None), slice(0, 1), slice(0, 0)])
@pytest.mark.parametrize("noted", [5, KEPT // 2])
def test_lines_that_are_cut_off_either_end_are_missed(tmp_path: Path, left: slice, noted: int) -> None:
    witness = Witness(tmp_path, "store")
    for number in range(noted):
        witness.note([mark(number)])
    lines = seen_file(tmp_path).read_bytes().splitlines(keepends=True)
    seen_file(tmp_path).write_bytes(b"".join(lines[left]))
    assert witness.sight().lost
    witness.note([mark(noted)])
    assert witness.sight().lost, "also when others were written since"


def test_a_tail_is_missed_however_long_the_file_is(tmp_path: Path) -> None:
    witness = Witness(tmp_path, "store")
    for first in (0, KEPT // 2, KEPT):
        witness.note([mark(number) for number in range(first, first + KEPT // 2)])
    seen_file(tmp_path).write_bytes(b"".join(seen_file(tmp_path).read_bytes().splitlines(keepends=True)[:-3]))
    assert len(witness.marks()) > KEPT
    assert witness.sight().lost


def test_what_an_older_program_kept_is_taken_over(tmp_path: Path) -> None:
    seen_file(tmp_path).parent.mkdir()
    seen_file(tmp_path).write_text(f"{mark(2)}\n{mark(3)}\n")
    first = tmp_path / "audit" / "store.first"
    first.write_text(f"{mark(2)}\n")
    witness = Witness(tmp_path, "store")
    assert not witness.sight().lost
    first.write_text(f"{mark(1)}\n")
    assert witness.sight().lost
    witness.settle()
    assert not witness.sight().lost


def test_a_file_that_its_own_program_shortened_is_whole(tmp_path: Path) -> None:
    witness = Witness(tmp_path, "store")
    for first in range(0, 5 * KEPT, 100):
        witness.note([mark(number) for number in range(first, first + 100)])
    assert len(witness.sight().marks) < 4 * KEPT
    assert mark(1) not in witness.sight().marks
    assert not witness.sight().lost


def test_lines_that_end_as_those_of_windows_are_whole(tmp_path: Path) -> None:
    witness = Witness(tmp_path, "store")
    witness.note([mark(1), mark(2)])
    seen_file(tmp_path).write_bytes(seen_file(tmp_path).read_bytes().replace(b"\n", b"\r\n"))
    assert witness.sight().marks == (mark(1), mark(2))
    assert not witness.sight().lost
    witness.note([mark(3)])
    assert not witness.sight().lost


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_nobody_else_reads_it(tmp_path: Path) -> None:
    Witness(tmp_path / "home", "store").note([mark(1)])
    for file in (tmp_path / "home" / "audit").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_nonsense_in_it_is_passed_over(tmp_path: Path) -> None:
    witness = Witness(tmp_path, "store")
    witness.note([mark(1)])
    with (tmp_path / "audit" / "store.seen").open("ab") as file:
        file.write(b"\xff\x00 nonsense\n\n" + mark(2).encode() + b"\n" + mark(3).encode()[:-9])
    assert witness.marks() == [mark(1), mark(2)]


def test_a_home_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    witness = Witness(tmp_path / "home", "store")
    witness.note([mark(1)])
    assert witness.marks() == []


def test_what_is_noted_while_another_program_shortens_the_file_is_kept(tmp_path: Path) -> None:
    first = Witness(tmp_path, "store")
    first.note([mark(1)])
    lock = home_folder.locked(tmp_path / "audit" / "store.lock")
    assert lock is not None
    other = threading.Thread(target=Witness(tmp_path, "store").note, args=([mark(2)],))
    other.start()
    shortened = seen_file(tmp_path).read_bytes()
    other.join(0.1)
    assert other.is_alive(), "it waits"
    seen_file(tmp_path).unlink()
    seen_file(tmp_path).write_bytes(shortened)
    lock.close()
    other.join()
    assert first.marks() == [mark(1), mark(2)]
    assert not first.sight().lost
