"""Reads a sheet of an .xlsx workbook cell by cell, within bounds: what unpacks to something huge is refused first."""

from __future__ import annotations

import contextlib
import lzma
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from services import plain_file
from services.commands.sheet import digits
from services.domain.errors import UsageError
from services.domain.text.said import said

#: bytes that the parts of a workbook may have when unpacked; the texts are held in memory, the sheet is not
MAX_UNPACKED, MAX_TEXTS = 256 * 1024 * 1024, 64 * 1024 * 1024
MOST_LINES = 1_048_576  #: rows that a sheet can have
#: texts of a workbook, and tags within one row or text: the reader keeps an object for each
MOST_TEXTS, MOST_TAGS = 3_000_000, 1_000_000
#: sheets of a workbook, and tags of parts that hold no rows and no texts: twice what the formats of one may be
MOST_SHEETS, MOST_OTHER_TAGS = 1_000, 300_000
_NUMBER = re.compile(rb"<(?:[\w.\-]{1,40}:)?row\s(?:[^<>]*\s)?r=[\"'](\d{1,18})[\"']")
_BEFORE_FIRST = re.compile(rb"t=[\"']s[\"'][^<>]*>\s*<(?:[\w.\-]{1,40}:)?v>\s*-")
_SHEET = re.compile(rb"<(?:[\w.\-]{1,40}:)?sheet\s")
_FORMULA = re.compile(rb"<(?:[\w.\-]{1,40}:)?f[\s>/]")
_ROW, _TEXT = (re.compile(rb"<(?:[\w.\-]{1,40}:)?" + name + rb"(?=[\s>/])") for name in (b"row", b"si"))
#: a format that shows so many digits and fills up with zeros, as ids have them
_ZEROS = re.compile(rb"formatCode=[\"'](?:\[[^\"'\]<>]{1,20}\])?00+[\"']")
_FILLED = re.compile(r"(?:\[[^\]]*\])?(0{2,99})")
_OVERLAP = 48  #: as long as a tag that is looked for may be
_PIECE, _MOST_REMARK = 1 << 20, 1 << 16
#: what the readers of archive, markup and cells raise about a file that is none
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zlib.error,
)
#: how a file begins that holds several streams: an old workbook, or a new one behind a password
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 0x1  #: of the flags of a part
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[\w?!]")
_DECLARED = re.compile(rb"<!(?:DOCTYPE|ENTITY)")


class Uncomputed:
    """A formula whose value the file does not hold: no program has computed it yet."""

    def __str__(self) -> str:
        return ""


UNCOMPUTED = Uncomputed()


def _holds(cell: object) -> bool:
    return cell.strip() != "" if isinstance(cell, str) else cell is not None


class Workbook:
    """One sheet of a workbook; ``sheet`` "" means the one that was in front, where a chart was the first that a person
    sees.
    """

    def __init__(self, path: Path, sheet: str = "") -> None:
        """Open it.

        Raises:
            UsageError: it is no workbook, is too large, or has no such sheet.
        """
        self._path = path
        try:
            with plain_file.opened(path) as stream:
                if stream.read(len(_OLE)) == _OLE:
                    raise self._locked()
                archive = ZipFile(stream)
                self._check(archive)
                self._formulas, self._zeros = _looked_at(archive, path.name)
            with self._open(values=True) as book:
                self.sheets: tuple[str, ...] = tuple(one.title for one in book.worksheets)
                seen = [one.title for one in book.worksheets if one.sheet_state == "visible"]
                front = book.active.title if book.active is not None else ""
        except _UNREADABLE as exc:
            raise self._refusal(exc) from exc
        if not self.sheets:
            raise UsageError(said("table.empty", name=path.name), field="--file")
        self.sheet = sheet or (front if front in self.sheets else next(iter(seen or self.sheets)))
        if self.sheet not in self.sheets:
            there = ", ".join(self.sheets)
            raise UsageError(said("table.no_sheet", name=path.name, sheet=sheet, sheets=there), field="--sheet")
        if not sheet:
            self.sheet = self._filled(seen)

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Every row with its number; numbers, dates and truths as such, formulas as the value last computed.

        Raises:
            UsageError: the sheet is damaged.
        """
        place = 0
        try:
            if not self._formulas:
                for place, cells in self._read(values=True):
                    yield place, [digits.of_sheet(cell) for cell in cells]
                return
            for (place, cells), (_place, sources) in zip(
                self._read(values=True), self._read(values=False), strict=True
            ):
                yield place, [_computed(*pair) for pair in zip(cells, sources, strict=True)]
        except _UNREADABLE as exc:
            raise self._refusal(exc, place + 1) from exc

    def _filled(self, seen: Sequence[str]) -> str:
        """The sheet in front; where it holds nothing at all, the first one that does of those that a person sees: the
        others hold lists to choose from.
        """
        front = self.sheet
        for name in (front, *seen):
            self.sheet = name
            if any(_holds(cell) for _place, cells in self.rows() for cell in cells):
                return name
        return front

    def _read(self, *, values: bool) -> Iterator[tuple[int, Sequence[Any]]]:
        with self._open(values=values) as book:
            sheet = book[self.sheet]
            # some programs write a wrong extent, and rows outside of it would silently be left out
            sheet.reset_dimensions()
            zeros = values and self._zeros
            for place, cells in enumerate(sheet.iter_rows(values_only=not zeros), start=1):
                if place > MOST_LINES:
                    raise UsageError(said("table.rows", name=self._path.name, most=MOST_LINES), field="--file")
                yield place, [_filled_up(cell) for cell in cells] if zeros else cells

    @contextlib.contextmanager
    def _open(self, *, values: bool) -> Iterator[Any]:
        from openpyxl import load_workbook

        with plain_file.opened(self._path) as stream:
            book = load_workbook(stream, read_only=True, data_only=values, keep_links=False)
            try:
                yield book
            finally:
                book.close()

    def _check(self, archive: ZipFile) -> None:
        # The reader stops each part at the size that its directory states, so what is stated is what can come.
        parts = archive.infolist()
        if any(part.flag_bits & _ENCRYPTED for part in parts):
            raise self._locked()
        if twice := [name for name, count in Counter(part.filename for part in parts).items() if count > 1]:
            raise ValueError(f"two parts of it are called {twice[0]:.100}")
        whole = sum(part.file_size for part in parts)
        texts = sum(part.file_size for part in parts if "sharedstrings" in part.filename.lower())
        for size, most in ((whole, MAX_UNPACKED), (texts, MAX_TEXTS)):
            if size > most:
                found, bound = size // 1024 // 1024, most // 1024 // 1024
                raise UsageError(said("table.unpacked", name=self._path.name, size=found, most=bound), field="--file")

    def _refusal(self, exc: Exception, row: int = 0) -> UsageError:
        error = " ".join(str(exc).split())[:250]
        if row:
            return UsageError(said("table.workbook_row", name=self._path.name, row=row, error=error), field="--file")
        if isinstance(exc, BadZipFile):  # that a workbook is a zip file is nothing to tell an operator
            return UsageError(said("table.no_workbook", name=self._path.name), field="--file")
        return UsageError(said("table.workbook", name=self._path.name, error=error), field="--file")

    def _locked(self) -> UsageError:
        return UsageError(said("table.locked", name=self._path.name), field="--file")


def _filled_up(cell: Any) -> Any:
    """The value of a cell; a whole number as the text that a person sees where its format fills it up with zeros."""
    value = cell.value
    whole = type(value) in (int, float) and 0 <= value < digits.MOST and value == int(value)
    shown = _FILLED.fullmatch(cell.number_format or "") if whole else None
    return value if shown is None else str(int(value)).zfill(len(shown[1]))


def _looked_at(archive: ZipFile, name: str) -> tuple[bool, bool]:
    """Whether the sheets have formulas, and a format fills numbers up with zeros; refuses parts of so many rows, texts
    or tags that reading them takes minutes.

    Raises:
        UsageError: a bound is passed.
    """
    formulas = zeros = False
    for part in archive.infolist():
        if part.filename.lower().endswith((".xml", ".rels")):
            with archive.open(part) as stream:
                found = _count(stream, name)
            formulas = formulas or (found.formulas and part.filename.startswith("xl/worksheets/"))
            zeros = zeros or found.zeros
    return formulas, zeros


def _count(stream: IO[bytes], name: str) -> _Counted:
    found = _Counted(str(stream.name))
    rest = b""
    while piece := stream.read(_PIECE):
        piece = rest + piece
        # what is cut in two belongs to the next piece
        cut = piece.rfind(b"<", max(len(piece) - _OVERLAP, 1))
        remark = _unended(piece)
        # the reader of markup begins anew with each few bytes more of what has no end yet
        if len(piece) - remark > _MOST_REMARK or (len(piece) >= _PIECE and b"<" not in piece):
            raise UsageError(said("table.parts", name=name), field="--file")
        cut = min(cut, remark) if cut > 0 else remark
        piece, rest = (piece[:cut], piece[cut:]) if 0 < cut < len(piece) else (piece, b"")
        if found.passed(piece):
            raise UsageError(said("table.parts", name=name), field="--file")
    found.passed(rest)
    return found


class _Counted:
    """What a part holds, counted without taking it apart."""

    def __init__(self, name: str) -> None:
        self.formulas = self.zeros = False
        self._name, self._last, self._first = name, -1, True
        self._rows = self._texts = self._tags = self._sheets = 0

    def passed(self, piece: bytes) -> bool:
        """Whether with this piece more is there than a workbook may have.

        Raises:
            ValueError: no workbook has it, or its reader would read it wrongly without a word.
        """
        self._refuse(piece)
        self.formulas = self.formulas or _FORMULA.search(piece) is not None
        self.zeros = self.zeros or _ZEROS.search(piece) is not None
        rows, texts = ([found.start() for found in each.finditer(piece)] for each in (_ROW, _TEXT))
        self._rows += len(rows)
        self._texts += len(texts)
        self._sheets += len(_SHEET.findall(piece))
        last = max((*rows[-1:], *texts[-1:]), default=-1)
        self._tags = piece.count(b"<", last) if last >= 0 else self._tags + piece.count(b"<")
        most = MOST_TAGS if self._rows or self._texts else MOST_OTHER_TAGS
        many = self._rows > MOST_LINES or self._texts > MOST_TEXTS
        return many or self._tags > most or self._sheets > MOST_SHEETS

    def _refuse(self, piece: bytes) -> None:
        if self._first and piece and not _BEGINS.match(piece):  # its tags would be written otherwise
            raise ValueError(f"{self._name} is no markup in UTF-8")
        self._first = False
        if _DECLARED.search(piece):  # what it declares could stand for any number of texts
            raise ValueError(f"{self._name} holds a DOCTYPE, which no workbook has")
        if _BEFORE_FIRST.search(piece):  # it would be taken for one of the last texts
            raise ValueError("a cell names a text before the first one")
        for number in map(int, _NUMBER.findall(piece)):
            if number <= self._last:  # such a row would be passed over
                raise ValueError(f"row {number} stands below row {self._last}")
            self._last = number


def _unended(piece: bytes) -> int:
    """Where a comment or an instruction begins that does not end here; the length of the piece for none."""
    last = max(piece.rfind(b"<!--"), piece.rfind(b"<?"))
    return last if last >= 0 and piece.find(b"-->" if piece[last + 1] == 33 else b"?>", last) < 0 else len(piece)


def _computed(value: Any, source: Any) -> Any:
    # one of a formula for several cells is an object of its own
    formula = source.startswith("=") if isinstance(source, str) else hasattr(source, "ref")
    unknown = value is None and formula
    return UNCOMPUTED if unknown else digits.of_sheet(value)
