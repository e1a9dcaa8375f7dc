"""Reads tables from CSV, TSV and XLSX files; a fault names its line and does not spoil the others."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from services.domain.errors import UsageError
from services.domain.said import said

MAX_BYTES = 200 * 1024 * 1024
MAX_ROWS = 100_000
ENDINGS = (".csv", ".tsv", ".xlsx")

Row = tuple[int, dict[str, Any] | str]  #: line, and its cells by column or what is wrong with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file whole: names of its columns, its rows (line, cells in that order), and what could not be read."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    faults: tuple[tuple[int, str], ...] = ()

    def column(self, at: int) -> list[str]:
        """The cells of a column; -1 for none."""
        return [cells[at] for _line, cells in self.rows] if at >= 0 else []


def read(path: Path) -> Table:
    """All rows of a file as text.

    Raises:
        UsageError: the file cannot be read at all, holds nothing, or has more than ``MAX_ROWS`` rows.
    """
    check(path, ENDINGS)
    columns: tuple[str, ...] = ()
    rows: list[tuple[int, tuple[str, ...]]] = []
    faults: list[tuple[int, str]] = []
    for line, cells in rows_of(path):
        if isinstance(cells, str):
            faults.append((line, cells))
            continue
        columns = columns or tuple(name for name in cells if name)
        rows.append((line, tuple(_text(cells.get(name)) for name in columns)))
        if len(rows) > MAX_ROWS:
            raise UsageError(said("table.rows", name=path.name, most=MAX_ROWS), field="--file")
    if not rows and not faults:
        raise UsageError(said("table.empty", name=path.name), field="--file")
    return Table(name=path.name, columns=columns, rows=tuple(rows), faults=tuple(faults))


def check(path: Path, endings: tuple[str, ...]) -> None:
    """Refuse what is no file, is too large, or ends otherwise.

    Raises:
        UsageError: with the remedy.
    """
    if not path.is_file():
        raise UsageError(said("table.no_file", path=str(path)), field="--file")
    if path.stat().st_size > MAX_BYTES:
        raise UsageError(said("table.large", path=str(path), most=MAX_BYTES // 1024 // 1024), field="--file")
    if path.suffix.lower() not in endings:
        raise UsageError(said("table.ending", name=path.name, endings=", ".join(sorted(endings))), field="--file")


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a table; the first line of the file names the columns."""
    return _xlsx(path) if path.suffix.lower() == ".xlsx" else _csv(path)


def decode(path: Path) -> str:
    """The text of a file in UTF-8 (with or without BOM), UTF-16 with BOM, or GB18030.

    Raises:
        UsageError: none of them fits.
    """
    data = path.read_bytes()
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "gb18030")
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise UsageError(said("table.encoding", name=path.name), field="--file")


def _csv(path: Path) -> Iterator[Row]:
    text = decode(path)
    dialect = "excel-tab" if path.suffix.lower() == ".tsv" else "excel"
    rows = csv.DictReader(io.StringIO(text, newline=""), dialect=dialect, strict=True)
    try:
        for row in rows:
            if None in row:
                yield rows.line_num, "more cells than the header has; quote cells that contain commas"
            else:
                yield rows.line_num, dict(row)
    except csv.Error as exc:
        yield rows.line_num, f"not valid CSV: {exc}"


def _xlsx(path: Path) -> Iterator[Row]:
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            rows = book.active.iter_rows(values_only=True) if book.active is not None else iter(())
            header = [str(cell or "") for cell in next(rows, ())]
            for number, cells in enumerate(rows, start=2):
                if any(cell is not None for cell in cells):
                    yield number, dict(zip(header, cells, strict=False))
        finally:
            book.close()
    except (OSError, LookupError, ValueError, TypeError, SyntaxError, BadZipFile) as exc:
        raise UsageError(said("table.workbook", name=path.name, error=str(exc)[:250]), field="--file") from exc


def _text(cell: object) -> str:
    """A cell as people see it: a spreadsheet keeps the id 10021 as the number 10021.0."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()
