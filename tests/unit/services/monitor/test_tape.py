"""The recorder's file tells any moment of the last 30 days as it was, and what it did not see stays unknown."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.past.frame import SHOP, Change, Frame, Gap, Numbers
from services.monitor.past import tape as tapes
from services.monitor.past.tape import Moment, Tape

ROOT = Path(__file__).resolve().parents[4]
T0 = 1_795_000_000_000 - 1_795_000_000_000 % 900_000  #: the begin of a quarter of an hour
STEP, MINUTE, QUARTER, HOUR, DAY = 5_000, 60_000, 900_000, 3_600_000, 86_400_000


def look(at: int, *, waiting: int = 0, came: int = 0, **shops: str) -> Frame:
    things = {(SHOP, name): state for name, state in shops.items()}
    numbers = Numbers(at_ms=at, since_ms=at, waiting=waiting, came=came, peak_waiting=waiting)
    return Frame(numbers, things)


def at(tape: Tape, instant: int) -> Moment:
    found = tape.at(instant)
    assert found is not None
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recorder" / "one.sqlite"


@pytest.fixture
def tape(path: Path) -> Iterator[Tape]:
    made = Tape(path)
    yield made
    made.close()


def test_a_moment_is_as_it_was_then_and_not_as_it_is_now(tape: Tape) -> None:
    tape.add(look(T0, waiting=3, a="dead"))
    tape.add(look(T0 + STEP, waiting=4, a="dead", b="stuck"))
    tape.add(look(T0 + 2 * STEP, waiting=5, b="stuck"))
    first, second, third = (at(tape, T0 + place * STEP) for place in range(3))
    assert [one.numbers.waiting for one in (first, second, third)] == [3, 4, 5]
    assert first.things == {(SHOP, "a"): "dead"}
    assert second.things == {(SHOP, "a"): "dead", (SHOP, "b"): "stuck"}
    assert third.things == {(SHOP, "b"): "stuck"}
    assert tape.changes(T0, T0 + HOUR) == [
        Change(T0 + STEP, SHOP, "b", "", "stuck"),
        Change(T0 + 2 * STEP, SHOP, "a", "dead", ""),
    ]


def test_what_changed_at_one_instant_is_read_whole_however_many_are_read_at_a_time(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape.add(look(T0))
    tape.add(look(T0 + STEP, a="dead", b="dead", c="dead", d="dead"))
    tape.add(look(T0 + 2 * STEP, a="dead"))
    monkeypatch.setattr("services.monitor.past.tape.MAX_CHANGES", 3)
    found = list(tape.every_change(T0, T0 + HOUR))
    assert [one.name for one in found] == ["a", "b", "c", "d", "b", "c", "d"]
    assert found == tape.changes(T0, T0 + HOUR, 100)


def test_between_two_looks_the_states_are_those_of_the_first(tape: Tape) -> None:
    tape.add(look(T0))
    tape.add(look(T0 + STEP, a="dead"))
    between = tape.at(T0 + STEP - 1)
    assert between is not None
    assert between.things == {}


def test_what_nobody_saw_stays_a_gap(tape: Tape) -> None:
    tape.add(look(T0, a="dead"))
    tape.add(look(T0 + STEP, a="dead"))
    tape.add(look(T0 + HOUR, b="stuck"))
    assert tape.gaps(T0, T0 + HOUR) == [Gap(T0 + STEP, T0 + HOUR)]
    assert tape.at(T0 + HOUR // 2) is None
    assert tape.changes(T0, T0 + HOUR) == [], "nobody saw when that changed"
    after = tape.at(T0 + HOUR)
    assert after is not None
    assert after.things == {(SHOP, "b"): "stuck"}
    assert tape.gaps(T0 - HOUR, T0 + STEP) == [Gap(T0 - HOUR, T0)]


def test_another_program_goes_on_without_a_gap(path: Path, tape: Tape) -> None:
    tape.add(look(T0, a="dead"))
    tape.close()
    other = Tape(path)
    other.add(look(T0 + 2 * STEP, a="dead", b="stuck"))
    reader = Tape(path, read_only=True)
    assert reader.gaps(T0, T0 + 2 * STEP) == []
    assert reader.changes(T0, T0 + DAY) == [Change(T0 + 2 * STEP, SHOP, "b", "", "stuck")]
    reader.close()
    other.close()


def test_it_gets_coarser_with_time_and_keeps_sums_and_peaks(tape: Tape) -> None:
    for place in range(0, 2 * DAY, 3 * STEP):
        absent = DAY < place % (2 * DAY) < DAY + HOUR
        if not absent:
            tape.add(look(T0 + place, waiting=9 if place == HOUR else 1, came=2))
    end = T0 + 2 * DAY
    assert at(tape, end - HOUR).step_ms == STEP
    assert at(tape, T0 + HOUR).step_ms == MINUTE
    rows = tape.series(T0 + HOUR + 45_001, T0 + 2 * HOUR + 45_000)
    assert sum(row.came for row in rows) == 2 * 4 * 60
    assert len(rows) == 60
    assert tape.gaps(T0, end - 3 * STEP) == [Gap(T0 + DAY, T0 + DAY + HOUR)]
    few = tape.series(T0, end, most=400)
    assert len(few) < 400
    assert sum(row.came for row in few) == 2 * 4 * 60 * 47 + 2
    assert max(row.peak_waiting for row in few) == 9


@pytest.mark.parametrize("back", [2_000, 2 * HOUR, 2 * DAY])
def test_a_clock_that_is_behind_for_a_moment_spoils_nothing(tape: Tape, back: int) -> None:
    tape.add(look(T0, a="dead"))
    tape.add(look(T0 + STEP, a="dead"))
    assert tape.add(look(T0 + STEP - back, b="stuck")) is False
    assert tape.add(look(T0 + 2 * STEP, a="dead")) is True
    assert tape.gaps(T0, T0 + 2 * STEP) == []
    assert tape.changes(T0 - DAY, T0 + DAY) == []


@pytest.mark.parametrize("back", [HOUR, 2 * DAY])
def test_a_clock_that_was_set_back_for_good_is_recorded_after_minutes(tape: Tape, back: int) -> None:
    tape.add(look(T0 - back - STEP, a="dead"))
    tape.add(look(T0, c="stuck"))
    for place in range(60):
        assert tape.add(look(T0 - back + place * STEP, b="stuck")) is False
    begin = T0 - back + 60 * STEP
    assert tape.add(look(begin, b="stuck")) is True
    assert tape.add(look(begin + STEP, b="stuck")) is True
    assert tape.span() == (T0 - back - STEP, begin + STEP), "what is stamped later never was"
    assert at(tape, begin).things == {(SHOP, "b"): "stuck"}


def test_a_clock_that_was_far_ahead_takes_nothing_away(tape: Tape) -> None:
    for place in range(10):
        tape.add(look(T0 + place * STEP, a="dead"))
    for place in range(400):
        tape.add(look(T0 + 400 * DAY + place * STEP, a="dead"))
    assert at(tape, T0 + STEP).things == {(SHOP, "a"): "dead"}
    for place in range(900):
        tape.add(look(T0 + 400 * DAY + (400 + place) * STEP, a="dead"))
    assert tape.at(T0 + STEP) is None, "after an hour the clock is believed"


def test_states_that_had_to_go_are_not_told_as_none(tape: Tape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tapes, "MOST_BYTES", 100_000)
    for place in range(0, 40 * QUARTER, STEP):
        flip = "dead" if place // STEP % 2 else "stuck"
        tape.add(look(T0 + place, waiting=7, **{f"shop{n}": flip for n in range(8)}))
    early = at(tape, T0 + QUARTER)
    assert (early.numbers.waiting, early.told) == (7, False)
    assert at(tape, T0 + 40 * QUARTER - STEP).told


def test_a_damaged_file_is_put_aside_and_a_busy_one_is_not(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(sqlite3.Error) as told:
        Tape(path)
    assert tapes.set_aside(path, told.value) is True
    assert path.with_name("one.sqlite.damaged").exists()
    begun = Tape(path)
    begun.add(look(T0))
    assert begun.is_at(path)
    assert tapes.set_aside(path, sqlite3.OperationalError("database is locked")) is False
    path.unlink()
    assert not begun.is_at(path)
    begun.close()


FULL_DISK = """
import resource, sqlite3, sys
from pathlib import Path
from tests.unit.services.monitor.test_tape import STEP, T0, Tape, look
path = Path(sys.argv[1])
tape = Tape(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
kept = 0
try:
    for place in range(5_000):
        tape.add(look(T0 + place * STEP, **{f"shop{n}": str(place) for n in range(20)}))
        kept = place
except sqlite3.Error as exc:
    print(str(exc))
tape.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
again = Tape(path)
again.add(look(T0 + (kept + 10) * STEP))
print(again.gaps(T0, T0 + (kept + 10) * STEP) == [(T0 + kept * STEP, T0 + (kept + 10) * STEP)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on files there")
def test_a_full_disk_is_told_as_that_and_is_a_gap(path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=90, check=False
    )
    assert said.returncode == 0, said.stderr
    why, alone = said.stdout.splitlines()
    assert why in {"database or disk is full", "disk I/O error"}
    assert alone == "True"


def test_nobody_has_recorded_here(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Tape(path, read_only=True)
    assert not path.exists(), "who only reads makes no file"


def test_a_file_that_is_none_is_told(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(sqlite3.Error):
        Tape(path)


def test_rows_that_cannot_be_read_are_gaps(path: Path, tape: Tape) -> None:
    for place in range(3):
        tape.add(look(T0 + place * STEP))
    with closing(sqlite3.connect(path)) as spoilt, spoilt:
        spoilt.execute("UPDATE numbers SET body = x'c1ff' WHERE at = ?", (T0 + STEP,))
    assert tape.gaps(T0, T0 + 2 * STEP) == [Gap(T0, T0 + STEP)]


def test_many_changes_do_not_fill_the_disk(path: Path, tape: Tape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tapes, "MOST_BYTES", 400_000)
    for place in range(0, 40 * QUARTER, STEP):
        flip = "dead" if place // STEP % 2 else "stuck"
        tape.add(look(T0 + place, **{f"shop{n}": flip for n in range(8)}))
    assert path.stat().st_size < 3_000_000
    last = tape.at(T0 + 40 * QUARTER - STEP)
    assert last is not None
    assert len(last.things) == 8
    assert tape.changes(T0, T0 + QUARTER) == [], "the oldest went first"
    assert tape.changes(T0 + 39 * QUARTER, T0 + 40 * QUARTER)


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(1, 30_000), st.dictionaries(st.sampled_from("abc"), st.sampled_from(["dead", "stuck"]))),
        min_size=1,
        max_size=40,
    )
)
def test_any_history_is_told_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, dict[str, str]]]
) -> None:
    tape = Tape(tmp_path_factory.mktemp("tape") / "one.sqlite")
    now, seen = T0, []
    for wait, shops in steps:
        now += wait
        seen.append((now, {(SHOP, name): state for name, state in shops.items()}))
        tape.add(look(now, **shops))
    for (begin, things), (end, _after) in zip(seen, [*seen[1:], (now + 2, {})], strict=True):
        assert at(tape, begin).things == things
        middle = (begin + end) // 2
        between = tape.at(middle)
        if end - begin > tapes.ABSENT_MS:
            assert between is None
        elif between is not None and middle < end:
            assert between.things == things
    tape.close()
