"""The XLSX writer, read back by a spreadsheet library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services import i18n
from services.monitor.files import sheet


def read(path: Path) -> list[tuple[object, ...]]:
    """All rows of the only sheet."""
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["tasks"]
    return [tuple(row) for row in book["tasks"].iter_rows(values_only=True)]


def test_texts_and_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    rows: list[Sequence[str | int | float]] = [
        ("微光数码专卖店", 6, 0.5, "", " two\nlines ", "<b>&amp;"),
        ("", "", "", "", "", "last"),
    ]
    sheet.write(path, "tasks", rows)
    assert read(path) == [
        ("微光数码专卖店", 6, 0.5, None, " two\nlines ", "<b>&amp;"),
        (None, None, None, None, None, "last"),
    ]


def test_columns_beyond_z_and_many_rows_keep_their_place(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sheet.write(path, "tasks", ([f"{row}-{column}" for column in range(60)] for row in range(450)))
    assert read(path) == [tuple(f"{row}-{column}" for column in range(60)) for row in range(450)]


def test_a_text_that_no_cell_can_hold_is_cut_and_says_so(tmp_path: Path) -> None:
    path, full = tmp_path / "t.xlsx", "x" * sheet.MOST_CELL
    sheet.write(path, "tasks", [("x" * 40_000, full, "a\x00b\ud800")])
    ((cut, whole, odd),) = read(path)
    kept, _dots, told = str(cut).partition(" … ")
    assert set(kept) == {"x"}
    assert told == f"[{40_000 - len(kept):,} more characters]"
    assert len(str(cut)) <= sheet.MOST_CELL
    assert (whole, odd) == (full, "a\ufffdb\ufffd")
    i18n.set_language("zh_CN")
    try:
        sheet.write(path, "tasks", [("x" * 40_000,)])
    finally:
        i18n.set_language("en")
    ((cut,),) = read(path)
    assert str(cut).endswith(f"［还有 {40_000 - len(kept):,} 个字符］")


@settings(max_examples=30, deadline=None)
@given(text=st.text(min_size=1, max_size=60))
def test_any_text_makes_a_file_that_can_be_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("sheet") / "t.xlsx"
    sheet.write(path, "tasks", [(text,)])
    (row,) = read(path)
    assert len(row) == 1
