"""Shops from a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.domain.errors import UsageError
from services.entrypoints.cli_fleet import read_shops

HEADER = "platform,shop_id,name,name_en,group,concurrency,dedicated,enabled\n"


def shops(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "shops.csv"
    path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_every_column_is_read(tmp_path: Path) -> None:
    first, second = read_shops(shops(tmp_path, "pdd, s1 ,一号店,First,a,3,yes,no", "pdd,s2,,,,,,"))
    assert (first.key, first.name, first.name_en, first.group) == ("pdd:s1", "一号店", "First", "a")
    assert (first.concurrency, first.dedicated, first.enabled) == (3, True, False)
    assert (second.concurrency, second.dedicated, second.enabled) == (1, False, True)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (("pdd,,x",), "line 2"),
        ((",s1,x",), "line 2"),
        (("pdd,s1,,,,many",), "line 2: concurrency"),
        (("pdd,s1,,,,-1",), "concurrency"),
        (("pdd,s1,,,,١",), "concurrency"),
        (("pdd,s1", "pdd,s1"), "line 3: pdd:s1 stands twice"),
        (('pdd,"s1',), "not valid CSV"),
        ((), "holds no shop"),
    ],
)
def test_a_fault_names_its_line(tmp_path: Path, rows: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_shops(shops(tmp_path, *rows))


def test_a_table_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a file"):
        read_shops(tmp_path / "nowhere.csv")
    with pytest.raises(UsageError, match="must not be empty"):
        read_shops(shops(tmp_path, "1,2", header="a,b\n"))
