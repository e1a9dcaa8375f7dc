"""Writes one sheet of text and numbers as XLSX, row by row, into a file of constant memory.

A library makes an object of each cell, which takes ten times as long and keeps a window beside it waiting; only what an
export needs is written here: no styles, no formulas, texts beside their cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from services.i18n import _

#: characters that a cell may hold
MOST_CELL = 32_767
#: of those for the words that a text is cut
_ROOM = 40
_AT_ONCE = 200
#: XML has no place for these
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEETML = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEETML}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEETML}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}


def write(path: Path, name: str, rows: Iterable[Sequence[str | int | float]]) -> None:
    """Write ``rows`` to ``path`` as the sheet ``name`` (plain letters). Of longer texts than
    ``MOST_CELL`` characters the cell says that it is cut, and by how many.

    Raises:
        OSError: the file cannot be written.
    """
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for part, words in _PARTS.items():
            archive.writestr(part, _HEAD + words)
        sheets = f'<sheets><sheet name="{name}" sheetId="1" r:id="rId1"/></sheets>'
        archive.writestr("xl/workbook.xml", f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{sheets}</workbook>')
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as stream:
            stream.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            lines: list[str] = []
            for number, row in enumerate(rows, start=1):
                lines.append(_row(number, row))
                if len(lines) >= _AT_ONCE:
                    # in large pieces, so that the interpreter is free while they are packed
                    stream.write("".join(lines).encode())
                    lines.clear()
            stream.write(("".join(lines) + "</sheetData></worksheet>").encode())


def _row(number: int, row: Sequence[str | int | float]) -> str:
    cells = [_cell(f"{_column(place)}{number}", value) for place, value in enumerate(row) if value != ""]
    return f'<row r="{number}">{"".join(cells)}</row>'


def _cell(place: str, value: str | int | float) -> str:
    if not isinstance(value, str):
        return f'<c r="{place}"><v>{value}</v></c>'
    text = _CONTROLS.sub("\ufffd", _whole_or_told(value)).translate(_ESCAPES)
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _whole_or_told(value: str) -> str:
    if len(value) <= MOST_CELL:
        return value
    kept = MOST_CELL - _ROOM
    rest = _("[{n} more characters]").format(n=f"{len(value) - kept:,}")
    return f"{value[:kept]} … {rest}"


def _column(place: int) -> str:
    """0 is A, 26 is AA."""
    before, letter = divmod(place, 26)
    return (_column(before - 1) if before else "") + chr(65 + letter)
