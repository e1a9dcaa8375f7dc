"""Any file of rows as one table: CSV, TSV, XLSX, JSON lines; no row of it is lost, a fault names its row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from services import plain_file
from services.commands.sheet import digits, text_file
from services.commands.sheet.workbook import Workbook
from services.domain.errors import UsageError
from services.domain.text.message import Message
from services.domain.text.said import said

MAX_BYTES = 64 * 1024 * 1024
MAX_ROWS, MAX_COLUMNS = 100_000, 200
MOST_CELLS = 1_000  #: a row with more is no slip: the file is refused before its other rows are kept
MOST_WIDE = 3_000_000  #: cells, empty ones too, in all rows that are wider than they may be; going on takes minutes
TABLES, OBJECTS = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm"), (".jsonl", ".ndjson", ".json")
ENDINGS = (*TABLES, *OBJECTS)
#: rows among which the one that names the columns is looked for; sheets often begin with a title
_HEADER_WITHIN = 10
#: rows of a list that may have a title, and those that are looked at for it
_LIST_ROWS, _LIST_LOOKED = 3, 200
_HEADER_NAMES = 2


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row that could be read; its number is that of the sheet or of the file, from 1."""

    number: int
    cells: tuple[Any, ...]  #: one for each column; None or "" where it holds nothing


class BadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row that could not be read at all."""

    number: int
    reason: Message


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A file whole."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    bad: tuple[BadRow, ...] = ()
    empty: int = 0  #: rows below the header that hold nothing
    above: int = 0  #: rows above the header that hold something: titles
    encoding: str = ""  #: of a text file, see ``text_file.ENCODINGS``
    sheet: str = ""  #: of a workbook
    sheets: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """All rows below the header."""
        return len(self.rows) + len(self.bad) + self.empty

    def column(self, at: int) -> list[str]:
        """The cells of a column as text; -1 for none."""
        return [shown(row.cells[at]) for row in self.rows] if at >= 0 else []

    def with_cells(self, written: Mapping[tuple[int, int], str]) -> Table:
        """The same with other words in cells, by (number of the row, column); what lies beyond its end is added.

        Rows that stay as they were are the same objects.

        Raises:
            UsageError: it would be larger than a file may be.
        """
        width = max((len(self.columns), *(at + 1 for _number, at in written)))
        last = max((self.rows[-1].number if self.rows else 1, *(number for number, _at in written)))
        first = self.rows[0].number if self.rows else 2
        if width > MAX_COLUMNS:
            raise UsageError(said("table.columns", name=self.name, most=MAX_COLUMNS), field="--file")
        if last - first >= MAX_ROWS:
            raise UsageError(said("table.rows", name=self.name, most=MAX_ROWS), field="--file")
        changed: dict[int, dict[int, str]] = {}
        for (number, at), word in written.items():
            changed.setdefault(number, {})[at] = word
        names = (*self.columns, *(f"({letter(at)})" for at in range(len(self.columns), width)))
        wide = [row if width == len(row.cells) else replace(row, cells=_padded(row.cells, width)) for row in self.rows]
        end = wide[-1].number if wide else first - 1
        wide += [Row(number=number, cells=(None,) * width) for number in range(end + 1, last + 1)]
        rows = tuple(_written(row, changed[row.number]) if row.number in changed else row for row in wide)
        return replace(self, columns=names, rows=rows)


def empty(name: str, titles: Sequence[str], rows: int) -> Table:
    """A table that a person fills: rows that hold nothing."""
    blanks = tuple(Row(number=number, cells=(None,) * len(titles)) for number in range(2, rows + 2))
    return Table(name=name, columns=tuple(titles), rows=blanks)


def pasted(text: str, name: str, known: Callable[[str], bool]) -> Table:
    """Rows that were copied out of a spreadsheet. The first of them names the columns if it reads like that.

    Raises:
        UsageError: nothing is there, or more than a file may hold.
    """
    whole = text_file.Text.of(text)
    text_file.check(whole, name, MAX_ROWS, MAX_COLUMNS, objects=False)
    # what comes out of a text editor has no tabs
    head, below = ("\t", "\t") if "\t" in whole else text_file.delimiters(whole, known)
    rows = list(text_file.records(whole, below, head))
    width = max((len(row) for row in rows if not isinstance(row, Message)), default=0)
    first = next((row for row in rows if not isinstance(row, Message) and not all(map(blank, row))), ())
    if not any(known(shown(cell)) for cell in first):
        rows.insert(0, [f"({letter(at)})" for at in range(width)])
    return _Assembly(name, known).of(enumerate(rows, start=1))


def read(
    path: Path,
    *,
    endings: Sequence[str] = ENDINGS,
    known: Callable[[str], bool] = lambda _name: False,
    encoding: str = "",
    sheet: str = "",
) -> Table:
    """All rows of a file. ``known`` tells names of columns, by which header and delimiter are found. Blocking.

    Raises:
        UsageError: the file cannot be read at all, holds nothing, or is beyond a bound; the sentence names the bound.
    """
    check(path, endings)
    kind = path.suffix.lower()
    if kind in (".xlsx", ".xlsm"):
        book = Workbook(path, sheet)
        return _Assembly(path.name, known, ragged=True).of(book.rows(), sheet=book.sheet, sheets=book.sheets)
    if sheet:  # left aside in silence it would look as if those rows had been taken
        raise UsageError(said("table.sheetless", name=path.name, sheet=sheet), field="--sheet")
    text, codec = text_file.decode(_bytes_of(path), path.name, encoding)
    text_file.check(text, path.name, MAX_ROWS, MAX_COLUMNS, objects=kind in OBJECTS)
    if kind in OBJECTS:
        found = list(itertools.islice(text_file.objects(text, whole=kind == ".json"), MAX_ROWS + 1))
        return _of_objects(path.name, found, codec)
    if kind == ".tsv":
        rows: Iterable[text_file.Record] = text_file.records(text, "\t")
    else:
        head, below = text_file.delimiters(text, known)
        rows = text_file.records(text, below, head)
    return _Assembly(path.name, known).of(enumerate(rows, start=1), encoding=codec)


def check(path: Path, endings: Sequence[str]) -> None:
    """Refuse what is no file, is too large, or ends otherwise.

    Raises:
        UsageError: with the remedy.
    """
    try:
        if not path.is_file():
            raise UsageError(said("table.no_file", path=str(path)), field="--file")
        size = path.stat().st_size
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    if size > MAX_BYTES:
        raise _large(path)
    if path.suffix.lower() == ".xls":
        raise UsageError(said("table.old_workbook", name=path.name), field="--file")
    if path.suffix.lower() not in endings:
        raise UsageError(said("table.ending", name=path.name, endings=", ".join(sorted(endings))), field="--file")


def _bytes_of(path: Path) -> bytes:
    try:
        data = plain_file.read(path, MAX_BYTES)
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    if len(data) > MAX_BYTES:  # some files tell no size, or go on growing
        raise _large(path)
    return data


def _unreadable(path: Path, exc: OSError) -> UsageError:
    return UsageError(said("table.unreadable", path=str(path), error=exc.strerror or str(exc)), field="--file")


def _large(path: Path) -> UsageError:
    return UsageError(said("table.large", path=str(path), most=MAX_BYTES // 1024 // 1024), field="--file")


def shown(cell: object) -> str:
    """A cell as people see it: a spreadsheet keeps the id 10021 as the number 10021.0."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return digits.plain(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ", "minutes" if not cell.second else "seconds")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return "" if cell is None else str(cell).strip()


def blank(cell: object) -> bool:
    """Whether a cell holds nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def title_of_list(table: Table) -> int:
    """The row of a list of one nameless column that may be its title rather than one of it, 0 for none: it alone has
    no digit.
    """
    if table.columns != (f"({letter(0)})",) or len(table.rows) < _LIST_ROWS:
        return 0
    first, *others = (any(map(str.isdigit, shown(row.cells[0]))) for row in table.rows[:_LIST_LOOKED])
    return table.rows[0].number if not first and all(others) else 0


def letter(at: int) -> str:
    """How a spreadsheet calls a column: 0 is A, 26 is AA."""
    before, rest = divmod(at, 26)
    return (letter(before - 1) if before else "") + chr(65 + rest)


class _Assembly:
    """Puts records together: finds the row that names the columns, counts what is empty, keeps to the bounds."""

    def __init__(self, name: str, known: Callable[[str], bool], *, ragged: bool = False) -> None:
        self._name, self._known, self._ragged = name, known, ragged
        self._rows: list[Row] = []
        self._bad: list[BadRow] = []
        self._empty = self._trailing = self._wide = 0

    def of(self, records: Iterable[tuple[int, text_file.Record]], **more: Any) -> Table:
        rest = map(self._narrow, records)
        head, above, first = self._header(rest)
        for number, cells in itertools.chain(first, rest):
            self._take(number, cells)
        if not self._rows and not self._bad:
            raise UsageError(said("table.empty", name=self._name), field="--file")
        columns, rows = self._trimmed(head)
        return Table(
            name=self._name, columns=columns, rows=rows, bad=tuple(self._bad), empty=self._empty, above=above, **more
        )

    def _narrow(self, record: tuple[int, text_file.Record]) -> tuple[int, text_file.Record]:
        """Without the empty cells at its end: a sheet may have sixteen thousand of them in each row."""
        number, cells = record
        if isinstance(cells, Message):
            return record
        filled = len(cells)
        self._wide += filled if filled > MAX_COLUMNS else 0
        while filled and (cells[filled - 1] is None or blank(cells[filled - 1])):
            filled -= 1
        if filled > MOST_CELLS or self._wide > MOST_WIDE:
            raise UsageError(said("table.columns", name=self._name, most=MAX_COLUMNS), field="--file")
        return number, cells[:filled]

    def _header(
        self, records: Iterator[tuple[int, text_file.Record]]
    ) -> tuple[list[str], int, list[tuple[int, text_file.Record]]]:
        """Names of the columns, how many rows stand above them, and the rows below that were looked at."""
        seen: list[tuple[int, text_file.Record]] = []
        filled = 0
        for number, cells in records:
            seen.append((number, cells))
            if isinstance(cells, Message) or all(map(blank, cells)):
                continue
            filled += 1
            if self._names_known(cells) >= _HEADER_NAMES or filled >= _HEADER_WITHIN:
                break
        places = [at for at, (_n, cells) in enumerate(seen) if self._names_columns(cells)]
        named = [at for at in places if self._names_known(seen[at][1]) >= _HEADER_NAMES]
        at = (named or places or [-1])[0]
        if at < 0:
            return [], 0, seen
        if self._is_list(seen):
            return [f"({letter(0)})"], 0, seen
        cells = seen[at][1]
        names = [] if isinstance(cells, Message) else [shown(cell) for cell in cells]
        return names, sum(place < at for place in places), seen[at + 1 :]

    def _is_list(self, seen: Sequence[tuple[int, text_file.Record]]) -> bool:
        """Whether it is a list of one column that nobody gave a name: its first line is as good as the others."""
        cells = [cells for _number, cells in seen if not isinstance(cells, Message)]
        return all(len(one) <= 1 and not self._names_known(one) for one in cells) and [f"({letter(0)})"] not in cells

    def _names_known(self, cells: text_file.Record) -> int:
        return 0 if isinstance(cells, Message) else sum(self._known(shown(cell)) for cell in cells)

    @staticmethod
    def _names_columns(cells: text_file.Record) -> bool:
        return not isinstance(cells, Message) and not all(map(blank, cells))

    def _take(self, number: int, cells: text_file.Record) -> None:
        if isinstance(cells, Message):
            self._settle()
            self._bad.append(BadRow(number=number, reason=cells))
        elif all(map(blank, cells)):
            self._trailing += 1
        else:
            self._settle()
            self._rows.append(Row(number=number, cells=tuple(cells)))
        if len(self._rows) + len(self._bad) > MAX_ROWS:
            raise UsageError(said("table.rows", name=self._name, most=MAX_ROWS), field="--file")

    def _settle(self) -> None:
        """Empty rows count only where something stands below them."""
        self._empty, self._trailing = self._empty + self._trailing, 0

    def _trimmed(self, head: list[str]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        """As many columns as hold something or have a name; rows with more cells than that are bad ones."""
        most = max(map(_filled, self._rows), default=0)
        named = max((at + 1 for at, name in enumerate(head) if name), default=0)
        # in a text file more cells than the header has is a slip; in a sheet it is a column without a name
        width = max(named, most if self._ragged else min(most, len(head)))
        wide = [row for row in self._rows if _filled(row) > width]
        if max(width, most) > MAX_COLUMNS:
            raise UsageError(said("table.columns", name=self._name, most=MAX_COLUMNS), field="--file")
        names = tuple((head[at] if at < len(head) else "") or f"({letter(at)})" for at in range(width))
        lost = {row.number for row in wide}
        reason = {row.number: Message("sheet.cells", {"count": _filled(row), "columns": width}) for row in wide}
        self._bad = sorted(
            (*self._bad, *(BadRow(number=row.number, reason=reason[row.number]) for row in wide)),
            key=lambda row: row.number,
        )
        rows = tuple(
            Row(number=row.number, cells=_padded(row.cells, width)) for row in self._rows if row.number not in lost
        )
        _let_go(self._rows)
        return names, rows


def _let_go(held: list[Any]) -> None:
    """Some at a time: to free a hundred thousand in one call keeps all other threads waiting, the window's too."""
    while held:
        del held[-1_000:]


def _filled(row: Row) -> int:
    return max(at + 1 for at, cell in enumerate(row.cells) if not blank(cell))


def _written(row: Row, words: Mapping[int, str]) -> Row:
    return replace(row, cells=tuple(words.get(at, cell) for at, cell in enumerate(row.cells)))


def _padded(cells: Sequence[Any], width: int) -> tuple[Any, ...]:
    return (*cells[:width], *(None,) * (width - len(cells)))


def _of_objects(name: str, found: list[tuple[int, dict[str, object] | Message]], codec: str) -> Table:
    if not found:
        raise UsageError(said("table.empty", name=name), field="--file")
    if len(found) > MAX_ROWS:
        raise UsageError(said("table.rows", name=name, most=MAX_ROWS), field="--file")
    columns = tuple(dict.fromkeys(key for _number, one in found if not isinstance(one, Message) for key in one))
    if len(columns) > MAX_COLUMNS:
        raise UsageError(said("table.columns", name=name, most=MAX_COLUMNS), field="--file")
    rows = [(n, tuple(one.get(key) for key in columns)) for n, one in found if not isinstance(one, Message)]
    read = Table(
        name=name,
        columns=columns,
        rows=tuple(Row(number=n, cells=cells) for n, cells in rows if not all(map(blank, cells))),
        bad=tuple(BadRow(number=number, reason=one) for number, one in found if isinstance(one, Message)),
        empty=sum(all(map(blank, cells)) for _n, cells in rows),
        encoding=codec,
    )
    _let_go(found)
    _let_go(rows)
    return read
