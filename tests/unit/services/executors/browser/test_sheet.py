"""A table of a page becomes a file in which no cell is a formula."""

from __future__ import annotations

import csv
import io

import pytest

from services.executors.browser.actions import sheet


@pytest.mark.parametrize("lead", list("=+-@\t\r＝＋－＠"))
def test_headings_and_cells_of_a_page_are_text(lead: str) -> None:
    words = sheet([{f"{lead}cmd": f"{lead}1+1", "n": "-5"}])
    assert list(csv.reader(io.StringIO(words.removeprefix("\ufeff"), newline=""))) == [
        [f"'{lead}cmd", "n"],
        [f"'{lead}1+1", "-5"],
    ]
