"""Tables of any program, as columns and rows of text."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from services import table_files
from services.domain.errors import UsageError


def test_a_table_keeps_its_columns_in_order_and_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "shops.csv"
    path.write_text("店铺,平台,备注\n10021,pdd, x \n,temu,\n", encoding="gb18030")
    table = table_files.read(path)
    assert (table.name, table.columns) == ("shops.csv", ("店铺", "平台", "备注"))
    assert table.rows == ((2, ("10021", "pdd", "x")), (3, ("", "temu", "")))
    assert table.column(1) == ["pdd", "temu"]
    assert table.column(-1) == []


def test_a_bad_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "shops.csv"
    path.write_text("shop,name\na,b\nc,d,e\nf,g\n")
    table = table_files.read(path)
    assert [line for line, _cells in table.rows] == [2, 4]
    assert [line for line, _words in table.faults] == [3]


def test_a_workbook_gives_whole_numbers_as_people_see_them(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (("shop", "name"), (10021.0, "柚子"), (None, None), ("pdd-7", None)):
        book.active.append(row)
    book.save(tmp_path / "shops.xlsx")
    table = table_files.read(tmp_path / "shops.xlsx")
    assert table.rows == ((2, ("10021", "柚子")), (4, ("pdd-7", "")))


@pytest.mark.parametrize("name", ["missing.csv", "shops.txt", "empty.csv", "broken.xlsx"])
def test_what_is_no_table_is_refused_in_words(tmp_path: Path, name: str) -> None:
    if name != "missing.csv":
        (tmp_path / name).write_text("shop\n" if name == "empty.csv" else "x")
    with pytest.raises(UsageError, match=name):
        table_files.read(tmp_path / name)


def test_a_table_of_any_length_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "MAX_ROWS", 2)
    (tmp_path / "shops.csv").write_text("shop\na\nb\nc\n")
    with pytest.raises(UsageError, match="more than 2 rows"):
        table_files.read(tmp_path / "shops.csv")
