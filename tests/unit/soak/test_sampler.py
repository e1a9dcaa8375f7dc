"""What is measured of processes and folders, and the file of the samples."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.sampler import Table, of_processes, percentile, size_of


def test_the_file_has_every_sample_and_a_column_that_came_later(tmp_path: Path) -> None:
    table = Table(tmp_path / "new" / "soak.csv")
    table.add(0.5, {"a": 1.0})
    table.add(1.0, {"a": 2.0, "b": 3.5})
    table.add(1.5, {"b": 4.0})
    with table.path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["hours", "a", "b"], ["0.5000", "1", ""], ["1.0000", "2", "3.5"], ["1.5000", "", "4"]]
    assert table.series() == {"a": [(0.5, 1.0), (1.0, 2.0)], "b": [(1.0, 3.5), (1.5, 4.0)]}


def test_a_process_is_measured_and_one_that_has_gone_is_left_out() -> None:
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    gone.wait(30)
    assert of_processes("gone", [gone.pid]) == {}
    before = of_processes("own", [os.getpid(), gone.pid])
    with Path(os.devnull).open("rb"), Path(os.devnull).open("rb"):
        after = of_processes("own", [os.getpid()])
    assert before["own.rss_mb"] > 1
    assert before["own.threads"] >= 1
    assert after["own.fds"] == before["own.fds"] + 2


def test_of_several_the_sum_or_the_largest() -> None:
    own = of_processes("one", [os.getpid()])
    both = of_processes("both", [os.getpid(), os.getpid()])
    most = of_processes("most", [os.getpid(), os.getpid()], most=True)
    assert both["both.fds"] == 2 * own["one.fds"]
    assert most["most.fds"] == own["one.fds"]


def test_a_folder_is_what_its_files_take(tmp_path: Path) -> None:
    before = size_of(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_bytes(b"x" * 100_000)
    assert size_of(tmp_path) - before >= 100_000


@pytest.mark.parametrize(("share", "value"), [(0.5, 51.0), (0.99, 100.0), (1.0, 100.0)])
def test_a_percentile(share: float, value: float) -> None:
    assert percentile([float(number) for number in range(1, 101)], share) == value
