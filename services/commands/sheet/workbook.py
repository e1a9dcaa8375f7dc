"""Reads a sheet of an .xlsx workbook cell by cell, within bounds: what unpacks to something huge is refused first."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from services.commands.sheet import digits
from services.domain.errors import UsageError
from services.domain.text.said import said

#: bytes that the parts of a workbook may have when unpacked; the texts are held in memory, the sheet is not
MAX_UNPACKED, MAX_TEXTS = 256 * 1024 * 1024, 64 * 1024 * 1024
MOST_LINES = 1_048_576  #: rows that a sheet can have
#: texts of a workbook, and tags within one row or text: the reader keeps an object for each
MOST_TEXTS, MOST_TAGS = 3_000_000, 1_000_000
_FORMULA = re.compile(rb"<(?:[\w.\-]{1,40}:)?f[\s>/]")
_ROW, _TEXT = (re.compile(rb"<(?:[\w.\-]{1,40}:)?" + name + rb"(?=[\s>/])") for name in (b"row", b"si"))
_OVERLAP = 48  #: as long as a tag that is looked for may be
_PIECE = 1 << 20
_UNREADABLE = (
    OSError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    SyntaxError,
    BadZipFile,
    NotImplementedError,
    zlib.error,
)


class Uncomputed:
    """A formula whose value the file does not hold: no program has computed it yet."""

    def __str__(self) -> str:
        return ""


UNCOMPUTED = Uncomputed()


class Workbook:
    """One sheet of a workbook; ``sheet`` "" means the one that was in front."""

    def __init__(self, path: Path, sheet: str = "") -> None:
        """Open it.

        Raises:
            UsageError: it is no workbook, is too large, or has no such sheet.
        """
        self._path = path
        try:
            with ZipFile(path) as archive:
                self._check(archive)
                self._formulas = _looked_at(archive, path.name)
            book = self._open(values=True)
            self.sheets = tuple(one.title for one in book.worksheets)
            front = book.active.title if book.active is not None else ""
            book.close()
        except _UNREADABLE as exc:
            raise self._refusal(exc) from exc
        if not self.sheets:
            raise UsageError(said("table.empty", name=path.name), field="--file")
        self.sheet = sheet or (front if front in self.sheets else next(iter(self.sheets), ""))
        if self.sheet not in self.sheets:
            there = ", ".join(self.sheets)
            raise UsageError(said("table.no_sheet", name=path.name, sheet=sheet, sheets=there), field="--sheet")

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Every row with its number; numbers, dates and truths as such, formulas as the value last computed.

        Raises:
            UsageError: the sheet is damaged.
        """
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
            raise self._refusal(exc) from exc

    def _read(self, *, values: bool) -> Iterator[tuple[int, Sequence[Any]]]:
        book = self._open(values=values)
        try:
            sheet = book[self.sheet]
            # some programs write a wrong extent, and rows outside of it would silently be left out
            sheet.reset_dimensions()
            for place, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
                if place > MOST_LINES:
                    raise UsageError(said("table.rows", name=self._path.name, most=MOST_LINES), field="--file")
                yield place, cells
        finally:
            book.close()

    def _open(self, *, values: bool) -> Any:
        from openpyxl import load_workbook

        return load_workbook(self._path, read_only=True, data_only=values, keep_links=False)

    def _check(self, archive: ZipFile) -> None:
        # The reader stops each part at the size that its directory states, so what is stated is what can come.
        parts = archive.infolist()
        whole = sum(part.file_size for part in parts)
        texts = sum(part.file_size for part in parts if "sharedstrings" in part.filename.lower())
        for size, most in ((whole, MAX_UNPACKED), (texts, MAX_TEXTS)):
            if size > most:
                found, bound = size // 1024 // 1024, most // 1024 // 1024
                raise UsageError(said("table.unpacked", name=self._path.name, size=found, most=bound), field="--file")

    def _refusal(self, exc: Exception) -> UsageError:
        return UsageError(said("table.workbook", name=self._path.name, error=str(exc)[:250]), field="--file")


def _looked_at(archive: ZipFile, name: str) -> bool:
    """Whether the sheets have formulas; refuses parts of so many rows, texts or tags that reading them takes minutes.

    Raises:
        UsageError: a bound is passed.
    """
    formulas = False
    for part in archive.infolist():
        if part.filename.lower().endswith((".xml", ".rels")):
            with archive.open(part) as stream:
                found = _count(stream, name)
            formulas = formulas or (found and part.filename.startswith("xl/worksheets/"))
    return formulas


def _count(stream: IO[bytes], name: str) -> bool:
    rows = texts = tags = 0
    formulas, rest = False, b""
    while piece := stream.read(_PIECE):
        piece = rest + piece
        # what is cut in two belongs to the next piece
        cut = piece.rfind(b"<", max(len(piece) - _OVERLAP, 1))
        piece, rest = (piece[:cut], piece[cut:]) if cut > 0 else (piece, b"")
        formulas = formulas or _FORMULA.search(piece) is not None
        places = [*(found.start() for found in _ROW.finditer(piece))]
        rows += len(places)
        others = [*(found.start() for found in _TEXT.finditer(piece))]
        texts += len(others)
        places = sorted((*places, *others))
        tags = piece.count(b"<", places[-1]) if places else tags + piece.count(b"<")
        if rows > MOST_LINES or texts > MOST_TEXTS or tags > MOST_TAGS:
            raise UsageError(said("table.parts", name=name), field="--file")
    return formulas or _FORMULA.search(rest) is not None


def _computed(value: Any, source: Any) -> Any:
    unknown = value is None and isinstance(source, str) and source.startswith("=")
    return UNCOMPUTED if unknown else digits.of_sheet(value)
