"""The flight recorder: fine for an hour, coarse for a day, kept over a restart."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from msgspec import structs

from services import assembly
from services import settings as config
from services.monitor.history import COARSE_KEPT_S, FINE_KEPT, History, Sample, thin

NOW = 1_795_000_000_000


def sample(second: float, running: int = 0) -> Sample:
    return Sample(at_ms=NOW + round(second * 1000), running=running)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path / "history.sqlite")
    yield made
    made.close()


def test_one_a_second_is_enough(history: History) -> None:
    for tenth in range(50):
        history.add(sample(tenth / 10, tenth))
    rows = history.series(60, 100, NOW + 5_000)
    assert [row.at_ms - NOW for row in rows] == [0, 800, 1600, 2400, 3200, 4000, 4800]


def test_a_range_begins_where_it_should_and_is_thinned_from_its_end(history: History) -> None:
    for second in range(100):
        history.add(sample(second, second))
    rows = history.series(30, 1_000, NOW + 99_000)
    assert [rows[0].running, rows[-1].running, len(rows)] == [69, 99, 31]
    few = history.series(30, 10, NOW + 99_000)
    assert len(few) <= 10
    assert few[-1].running == 99


def test_a_restart_keeps_one_in_ten_with_its_peak(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.sqlite"
    first = History(path)
    for second in range(35):
        first.add(sample(second, second))
    first.close()
    second_run = History(path)
    second_run.add(sample(60, 60))
    rows = second_run.series(3_600, 1_000, NOW + 60_000)
    second_run.close()
    assert [row.running for row in rows] == [9, 19, 29, 34, 60]


def test_what_was_kept_under_another_name_goes_on_there(tmp_path: Path) -> None:
    before, now = tmp_path / "history-east.sqlite", tmp_path / "history-0123.sqlite"
    first = History(before)
    first.add(sample(0, 7))
    assert Path(f"{before}-wal").stat().st_size, "it is not in the file itself yet"
    for ending in ("", "-wal", "-shm"):  # as a program leaves it that is killed
        shutil.copy(f"{before}{ending}", f"{tmp_path / 'history-west.sqlite'}{ending}")
    first.close()
    again = History(now, tmp_path / "history-west.sqlite")
    assert [row.running for row in again.series(60, 10, NOW + 1_000)] == [7]
    again.close()
    later = History(now, before)
    assert [row.running for row in later.series(60, 10, NOW + 1_000)] == [7]
    later.close()
    assert before.exists(), "what there is already goes before"
    assert not (tmp_path / "history-west.sqlite").exists()


def test_the_past_is_forgotten_after_a_day(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    history = History(path)
    history.add(sample(0))
    history.add(sample(COARSE_KEPT_S + 60))
    history.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM samples").fetchone() == (1,)
    assert FINE_KEPT == 3_600


@pytest.mark.parametrize("spoil", ["directory", "garbage"])
def test_without_a_file_the_charts_live_as_long_as_the_program(
    tmp_path: Path, spoil: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "history.sqlite"
    if spoil == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"no database" * 1000)
    history = History(path)
    assert str(path) not in [file.path for file in psutil.Process().open_files()]
    history.add(sample(0))
    assert len(history.series(60, 10, NOW)) == 1
    history.close()
    assert "not kept" in caplog.text


def test_rows_of_another_make_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    History(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO samples VALUES (1, ?)", (b"\xc1",))
    again = History(path)
    assert again.series(60, 10, NOW) == []
    again.close()


def test_thinning_keeps_the_newest() -> None:
    rows = [sample(second) for second in range(10)]
    assert thin(rows, 10) == rows
    assert thin(rows, 3) == [rows[1], rows[5], rows[9]]
    assert thin(rows, 0) == rows
    assert thin([], 5) == []


def test_a_peak_of_one_second_outlives_a_restart_and_thinning(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    first = History(path)
    for second in range(40):
        peak = second == 17
        first.add(Sample(at_ms=NOW + second * 1000, high=500 if peak else 3, low=2, publish=30.0 if peak else 1.0))
    first.close()
    second_run = History(path)
    rows = second_run.series(3_600, 1_000, NOW + 40_000)
    second_run.close()
    assert [(row.high, row.low, row.publish) for row in rows] == [(3, 2, 1.0), (500, 2, 30.0), (3, 2, 1.0), (3, 2, 1.0)]
    assert max(row.high for row in thin(rows, 1)) == 500


def test_what_a_wrong_clock_stamped_ahead_is_not_shown_and_holds_up_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    fast = History(path)
    for second in range(0, 60, 5):
        fast.add(sample(3_600 + second, 7))
    assert fast.series(7_200, 100, NOW) == []
    for second in range(3):
        fast.add(sample(second, second))
    assert [row.running for row in fast.series(7_200, 100, NOW + 3_000)] == [0, 1, 2]
    fast.close()
    again = History(path)
    assert [row.at_ms for row in again.series(7_200, 100, NOW + 3_600_000)] == [NOW + 2_000]
    again.close()


@pytest.mark.parametrize("seen", [1, 2, 3, 20])
def test_an_absence_is_a_break_however_little_was_seen_before_it(history: History, seen: int) -> None:
    for second in range(seen):
        history.add(sample(second))
    for second in range(3):
        history.add(sample(seen + 5 + second))
    rows = history.series(60, 100, NOW + 60_000)
    assert [row.at_ms - NOW for row in rows if row.since_ms == row.at_ms] == [0, (seen + 5) * 1000]


def test_a_store_that_is_slow_from_the_start_has_a_break_at_most_there(history: History) -> None:
    for second in range(0, 40, 4):
        history.add(sample(second))
    rows = history.series(60, 100, NOW + 60_000)
    assert [row.at_ms - NOW for row in rows if row.since_ms == row.at_ms] == [0, 4_000]


def test_a_fleet_has_one_history_whatever_its_connection_is_called(tmp_path: Path) -> None:
    store, broker = config.StoreSettings(url="redis://mq:6379/0"), config.BrokerSettings(url="amqp://mq:5672")
    here = config.load(home=tmp_path)
    kept = []
    for name in ("east", "production"):
        fleet = structs.replace(here, profile=name, store=store, broker=broker)
        with closing(assembly.history(SimpleNamespace(settings=fleet))) as history:  # type: ignore[arg-type]
            kept.append([row.running for row in history.series(60, 10, NOW + 1_000)])
            history.add(sample(0, 7))
    assert kept == [[], [7]]
    with closing(assembly.history(SimpleNamespace(settings=here))) as history:  # type: ignore[arg-type]
        assert history.series(60, 10, NOW + 1_000) == [], "an engine here is another one"


def charts_of(settings: config.Settings) -> list[int]:
    """What the charts of a connection show that is opened now."""
    with closing(assembly.history(SimpleNamespace(settings=settings))) as history:  # type: ignore[arg-type]
        return [row.running for row in history.series(60, 10, NOW + 1_000)]


@pytest.mark.parametrize(
    ("name", "saved", "first_seen_s", "taken"),
    [
        ("east", "redis://mq:6379/0", -60, True),
        ("east", "redis://other:6379/0", -60, False),
        ("east", "redis://mq:6379/0", 60, False),
        (config.UNNAMED, "redis://mq:6379/0", -60, False),
        ("north", "redis://mq:6379/0", -60, False),
    ],
)
def test_charts_that_go_by_a_name_are_taken_over_only_by_the_saved_profile_that_wrote_them(
    tmp_path: Path, name: str, saved: str, first_seen_s: int, taken: bool
) -> None:
    settings = structs.replace(
        config.load(home=tmp_path),
        profile=name,
        store=config.StoreSettings(url="redis://mq:6379/0"),
        broker=config.BrokerSettings(url="amqp://mq:5672"),
        profiles=dict.fromkeys(("east", config.UNNAMED), config.ProfileSettings(broker="amqp://mq:5672", redis=saved)),
    )
    before = tmp_path / f"history-{name}.sqlite"
    with closing(History(before)) as history:
        history.add(sample(0, 7))
    seen = tmp_path / "stores" / f"{settings.store_mark}.known"
    seen.parent.mkdir()
    seen.write_text("life", "ascii")
    at = before.stat().st_mtime + first_seen_s
    os.utime(seen, (at, at))
    assert charts_of(settings) == ([7] if taken else [])
    assert before.exists() is not taken
