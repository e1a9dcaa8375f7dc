"""Copied rows are one line each and harmless in a spreadsheet."""

from __future__ import annotations

import pytest

from views.tables.column import Column, tick_column
from views.tables.copying import cell_text, to_tsv


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("plain", "plain"),
        ("a\tb\r\nc", "a b  c"),
        ("=1+1", "'=1+1"),
        ("@cmd", "'@cmd"),
        ("＝1", "'＝1"),
        ("\t=1", "' =1"),
        ("-cmd|x", "'-cmd|x"),
        ("-12", "-12"),
        ("+1,284.5", "+1,284.5"),
        ("", ""),
    ],
)
def test_cells(text: str, copied: str) -> None:
    assert cell_text(text) == copied


def test_titles_come_first_and_boxes_are_left_out() -> None:
    columns = (
        tick_column(),
        Column[str](key="status", title="", value=str),
        Column[str](key="n", title="Name", value=str),
    )
    assert to_tsv(columns, ["x"]) == "status\tName\nx\tx\n"
