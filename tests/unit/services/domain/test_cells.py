"""No text of a cell is run, none is changed by going out and coming in again."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.text.cells import bared, guarded
from services.monitor.files import sheet

LEADS = "=+-@\t\r\n＝＋－＠"
TEXTS = [
    f"{quotes}{lead}{rest}"
    for quotes in ("", "'", "''")
    for lead in LEADS
    for rest in ("", "cmd", "1+1", "SUM(A1)|x!A1")
]
NUMBERS = ["-5", "+5", "-1.5", "-1,000", "-.5", "-12%", "+1e5", "-1.5E-3", "0", "5", "1,000.50", "-", "+", ""]


@pytest.mark.parametrize("text", [*TEXTS, *NUMBERS, "it's", "'", "'x", "柚子", "a=b"])
def test_what_goes_out_comes_back_as_it_was(text: str) -> None:
    shown = guarded(text)
    assert bared(shown) == text
    assert shown in NUMBERS or shown[:1] not in LEADS, "nothing that a spreadsheet runs"


@given(st.text(alphabet=st.sampled_from(LEADS + "'5.,%eE x"), max_size=8))
def test_any_text_comes_back_and_is_not_run(text: str) -> None:
    shown = guarded(text)
    assert bared(shown) == text
    assert shown[:1] not in LEADS or not set(shown) & set("= \t\r\n＝＋－＠@x'")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_stays_one(number: str) -> None:
    assert guarded(number) == number


def test_files_bring_them_back(tmp_path: Path) -> None:
    rows = [[guarded(text)] for text in TEXTS if "\r" not in text]  # a spreadsheet turns that one into a line end
    sheet.write(tmp_path / "a.xlsx", "tasks", rows)
    page = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert page is not None
    cells = [row[0] for row in page.iter_rows()]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}, "a formula would be f"
    assert [bared(str(cell.value)) for cell in cells] == [text for text in TEXTS if "\r" not in text]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([guarded(text)] for text in TEXTS)
    assert [bared(row[0]) for row in csv.reader(io.StringIO(out.getvalue(), newline=""))] == TEXTS
