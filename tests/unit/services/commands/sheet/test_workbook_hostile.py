"""Workbooks that are damaged, locked, or made to be read otherwise than they look: read right, or refused in words."""

from __future__ import annotations

import io
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from services.commands.sheet import columns, table
from services.domain.errors import UsageError
from services.domain.text.said import words_of

Parts = dict[str, bytes]
SHEET, BOOK, RELS = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
STYLES, TYPES = "xl/styles.xml", "[Content_Types].xml"
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def parts() -> Parts:
    """Of a workbook with two rows."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["shop", "type", "page_size"], ["temu:s1", "t", 50], ["temu:s2", "t", 60]):
        sheet.append(row)
    made = io.BytesIO()
    book.save(made)
    with zipfile.ZipFile(made) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(found: Parts, more: tuple[tuple[str, bytes], ...] = ()) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in found.items():
            archive.writestr(name, data)
        for name, data in more:
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr(name, data)
    return made.getvalue()


def text(ref: str, value: str) -> str:
    return f'<c r="{ref}" t="inlineStr"><is><t>{value}</t></is></c>'


def sheet(rows: str, before: str = "", after: str = "") -> bytes:
    """A sheet with its header and these rows."""
    head = '<row r="1">' + text("A1", "shop") + text("B1", "type") + text("C1", "page_size") + "</row>"
    whole = f"<worksheet {_MAIN}><sheetData>{head}{rows}</sheetData>{after}</worksheet>"
    return f'<?xml version="1.0"?>{before}{whole}'.encode()


def row(number: int, last: str = "<v>50</v>", kind: str = "", shop: str = "s1") -> str:
    cells = text(f"A{number}", f"temu:{shop}") + text(f"B{number}", "t")
    return f'<row r="{number}">{cells}<c r="C{number}"{kind}>{last}</c></row>'


def of_sheet(data: bytes) -> bytes:
    return packed({**parts(), SHEET: data})


def changed(part: str, old: bytes, new: bytes) -> bytes:
    found = parts()
    assert re.search(old, found[part], re.DOTALL), "there is something to change"
    found[part] = re.sub(old, lambda _match: new, found[part], flags=re.DOTALL)
    return packed(found)


def in_directory(data: bytes, offset: int, form: str, value: int) -> bytes:
    """An archive whose directory says something else of each part."""
    raw = bytearray(data)
    at = raw.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into(form, raw, at + offset, value)
        at = raw.find(b"PK\x01\x02", at + 4)
    return bytes(raw)


_LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)
_AGAIN = "open it in Excel and save it again"

REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "encrypted": (lambda: _OLE + "EncryptedPackage".encode("utf-16-le"), "locked with a password"),
    "old": (lambda: _OLE + "Workbook".encode("utf-16-le"), r"old workbook \(\.xls\)"),
    "locked parts": (lambda: in_directory(packed(parts()), 8, "<H", 1), "locked with a password"),
    "no archive": (lambda: b"<html><table/></html>", _AGAIN),
    "nothing": (lambda: b"", _AGAIN),
    "cut": (lambda: packed(parts())[:-30], _AGAIN),
    "half": (lambda: packed(parts())[:2000], _AGAIN),
    "other packing": (lambda: in_directory(packed(parts()), 10, "<H", 99), _AGAIN),
    "smaller than it says": (lambda: in_directory(packed(parts()), 24, "<I", 10), _AGAIN),
    "larger than it says": (lambda: in_directory(packed(parts()), 24, "<I", 0xFFFFFFFF), "unpacks to"),
    "a part twice": (lambda: packed(parts(), ((SHEET, sheet(row(2, shop="s9"))),)), "two parts of it are called"),
    "absolute names": (lambda: packed({f"/{name}": data for name, data in parts().items()}), _AGAIN),
    "names above": (lambda: packed({f"../{name}": data for name, data in parts().items()}), _AGAIN),
    "no types": (lambda: packed({name: data for name, data in parts().items() if name != TYPES}), _AGAIN),
    "no book": (lambda: packed({name: data for name, data in parts().items() if name != BOOK}), _AGAIN),
    "no links": (lambda: packed({name: data for name, data in parts().items() if name != RELS}), _AGAIN),
    "no sheet": (lambda: packed({name: data for name, data in parts().items() if name != SHEET}), "no rows"),
    "empty book": (lambda: packed({**parts(), BOOK: b""}), _AGAIN),
    "empty links": (lambda: packed({**parts(), RELS: b""}), _AGAIN),
    "empty styles": (lambda: packed({**parts(), STYLES: b""}), _AGAIN),
    "empty sheet": (lambda: packed({**parts(), SHEET: b""}), _AGAIN),
    "broken styles": (lambda: packed({**parts(), STYLES: b"<a>"}), _AGAIN),
    "broken book": (lambda: packed({**parts(), BOOK: b"<a>"}), _AGAIN),
    "unknown link": (lambda: changed(BOOK, rb'id="rId1"', b'id="rId999"'), _AGAIN),
    "unknown state": (lambda: changed(BOOK, rb'state="visible"', b'state="bogus"'), _AGAIN),
    "unknown date": (lambda: changed("docProps/core.xml", rb"20\d\d-", b"99999-"), _AGAIN),
    "sheet outside": (lambda: changed(RELS, rb'Target="[^"]*sheet1.xml"', b'Target="../../etc/passwd"'), "no rows"),
    "sheet at the root": (lambda: changed(RELS, rb'Target="[^"]*sheet1.xml"', b'Target="/etc/passwd"'), "no rows"),
    "sheet by address": (
        lambda: changed(RELS, rb'Target="[^"]*sheet1.xml"', b'Target="file:///etc/passwd"'),
        "no rows",
    ),
    "laughs": (lambda: of_sheet(sheet(row(2, shop="&j;"), _LAUGHS)), "DOCTYPE"),
    "laughs of styles": (lambda: changed(STYLES, b"<styleSheet", _LAUGHS.encode() + b"<styleSheet"), "DOCTYPE"),
    "laughs of types": (lambda: changed(TYPES, b"<Types", _LAUGHS.encode() + b"<Types"), "DOCTYPE"),
    "outer entity": (
        lambda: of_sheet(sheet(row(2, shop="&x;"), '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]>')),
        "DOCTYPE",
    ),
    "outer declarations": (lambda: of_sheet(sheet(row(2), '<!DOCTYPE l SYSTEM "http://127.0.0.1:9/x">')), "DOCTYPE"),
    "two bytes a letter": (lambda: of_sheet(sheet(row(2)).decode().encode("utf-16")), "UTF-8"),
    "no such encoding": (
        lambda: of_sheet(sheet(row(2)).replace(b'"1.0"', b'"1.0" encoding="idna"')),
        _AGAIN,
    ),
    "not a number": (lambda: of_sheet(sheet(row(2) + row(3, "<v>NaN</v>"))), "from row 3 on"),
    "without end": (lambda: of_sheet(sheet(row(2) + row(3, "<v>Infinity</v>"))), "from row 3 on"),
    "digits": (lambda: of_sheet(sheet(row(2, f"<v>{'1' * 5000}</v>"))), "from row 2 on"),
    "blank number": (lambda: of_sheet(sheet(row(2, "<v> </v>"))), "from row 2 on"),
    "no such text": (lambda: of_sheet(sheet(row(2, "<v>99</v>", ' t="s"'))), "from row 2 on"),
    "text before the first": (lambda: of_sheet(sheet(row(2, "<v>-1</v>", ' t="s"'))), "before the first"),
    "text by name": (lambda: of_sheet(sheet(row(2, "<v>abc</v>", ' t="s"'))), "from row 2 on"),
    "text beyond numbers": (lambda: of_sheet(sheet(row(2, f"<v>{10**30}</v>", ' t="s"'))), "from row 2 on"),
    "no truth": (lambda: of_sheet(sheet(row(2, "<v>x</v>", ' t="b"'))), "from row 2 on"),
    "no day": (lambda: of_sheet(sheet(row(2, "<v>2026-99-99</v>", ' t="d"'))), "from row 2 on"),
    "no style": (lambda: of_sheet(sheet(row(2, kind=' s="x"'))), "from row 2 on"),
    "no place": (lambda: of_sheet(sheet(row(2) + '<row r="3"><c r="3A"><v>1</v></c></row>')), "from row 3 on"),
    "no column": (lambda: of_sheet(sheet(row(2) + '<row r="3"><c r="ZZZZZ3"/></row>')), "from row 3 on"),
    "no row": (lambda: of_sheet(sheet(row(2) + '<row r="x"/>')), "from row 3 on"),
    "row backward": (lambda: of_sheet(sheet(row(5) + row(3))), "row 3 stands below row 5"),
    "row twice": (lambda: of_sheet(sheet(row(2) + row(2, shop="s2"))), "row 2 stands below row 2"),
    "letter of none": (lambda: of_sheet(sheet(row(2, shop="&#0;"))), _AGAIN),
    "half a letter": (lambda: of_sheet(sheet(row(2, shop="&#xD800;"))), _AGAIN),
    "long text": (lambda: of_sheet(sheet(row(2, shop="x" * 5_000_000))), "longer texts"),
    "long name": (lambda: of_sheet(sheet(f'<row r="2" spans="{"1" * 20_000_000}"/>')), "longer texts"),
    "long remark": (lambda: of_sheet(sheet(row(2) + "<!--" + "x" * 3_000_000 + "-->")), "longer texts"),
    "long instruction": (lambda: of_sheet(sheet(row(2), "<?pi " + "< x" * 1_000_000 + "?>")), "longer texts"),
    "sheets": (lambda: changed(BOOK, rb"<sheets>.*</sheets>", b'<sheets><sheet name="a"/>' * 1100), "longer texts"),
    "styles": (lambda: changed(STYLES, rb"<cellXfs.*</cellXfs>", b"<xf/>" * 400_000), "longer texts"),
    "header alone": (lambda: of_sheet(sheet("")), "no rows"),
    "no rows": (lambda: of_sheet(f"<worksheet {_MAIN}/>".encode()), "no rows"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path, name: str) -> None:
    make, says = REFUSED[name]
    path = tmp_path / "orders.xlsx"
    path.write_bytes(make())
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=says) as caught:
            table.read(path, known=columns.is_heading)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.field == "--file"
    assert "orders.xlsx" in words_of(caught.value)
    assert most < 32 << 20


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "more than 200 columns"),
        ('<row r="2000000000"/>', "rows"),
    ],
)
def test_a_cell_at_the_end_of_the_sheet_or_beyond_is_not_waited_for(tmp_path: Path, cell: str, says: str) -> None:
    path = tmp_path / "orders.xlsx"
    path.write_bytes(of_sheet(sheet(row(2) + cell)))
    with pytest.raises(UsageError, match=says):
        table.read(path, known=columns.is_heading)


READ: dict[str, tuple[Callable[[], bytes], str]] = {
    "as it is": (lambda: packed(parts()), "50"),
    "no styles": (lambda: packed({name: data for name, data in parts().items() if name != STYLES}), "50"),
    "a file above": (lambda: packed({**parts(), "../../evil": b"x"}), "50"),
    "another book": (
        lambda: changed(
            RELS,
            b"</Relationships>",
            b'<Relationship Id="rIdX" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
            b'externalLink" Target="http://127.0.0.1:9/book.xlsx" TargetMode="External"/></Relationships>',
        ),
        "50",
    ),
    "hidden sheet": (lambda: changed(BOOK, rb'state="visible"', b'state="hidden"'), "50"),
    "front beyond": (lambda: changed(BOOK, rb'activeTab="\d+"', b'activeTab="77"'), "50"),
    "merged header": (
        lambda: of_sheet(sheet(row(2), after='<mergeCells><mergeCell ref="A1:C1"/></mergeCells>')),
        "50",
    ),
    "protected sheet": (lambda: of_sheet(sheet(row(2), after='<sheetProtection sheet="1" password="CC1A"/>')), "50"),
    "hidden row": (lambda: of_sheet(sheet(row(2).replace('r="2">', 'r="2" hidden="1">', 1))), "50"),
    "style beyond": (lambda: of_sheet(sheet(row(2, kind=' s="99999"'))), "50"),
    "rich text": (lambda: of_sheet(sheet(row(2, "<is><r><t>5</t></r><r><t>0</t></r></is>", ' t="inlineStr"'))), "50"),
    "not available": (lambda: of_sheet(sheet(row(2, "<v>#N/A</v>", ' t="e"'))), "#N/A"),
    "huge number": (lambda: of_sheet(sheet(row(2, "<v>1e400</v>"))), "inf"),
    "minus nothing": (lambda: of_sheet(sheet(row(2, "<v>-0</v>"))), "0"),
    "computed": (lambda: of_sheet(sheet(row(2, "<f>25+25</f><v>50</v>"))), "50"),
    "short remark": (lambda: of_sheet(sheet("<!-- made < here -->" + row(2), "<!-- and > here -->")), "50"),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_whole(tmp_path: Path, name: str) -> None:
    make, cell = READ[name]
    path = tmp_path / "orders.xlsm"
    path.write_bytes(make())
    found = table.read(path, known=columns.is_heading)
    assert found.columns == ("shop", "type", "page_size")
    assert (found.rows[0].number, table.shown(found.rows[0].cells[2])) == (2, cell)


@pytest.mark.parametrize(
    "formula",
    ["<f>1+1</f>", '<f t="array" ref="C2:C9">A1</f>', '<f t="dataTable" ref="C2:C9"/>', '<f t="shared" si="9"/>'],
)
def test_a_formula_that_nobody_computed_is_no_empty_cell(tmp_path: Path, formula: str) -> None:
    path = tmp_path / "orders.xlsx"
    path.write_bytes(of_sheet(sheet(row(2, formula))))
    (found,) = table.read(path, known=columns.is_heading).rows
    assert type(found.cells[2]).__name__ == "Uncomputed"


@pytest.mark.parametrize(("system", "day"), [(b"", "2026-11-23 00:00"), (b'date1904="1"', "2030-11-24 00:00")])
def test_days_are_counted_from_where_the_book_says(tmp_path: Path, system: bytes, day: str) -> None:
    found = parts()
    found[BOOK] = re.sub(rb"<workbookPr[^>]*/>", b"<workbookPr " + system + b"/>", found[BOOK])
    formats = b'<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>'
    found[STYLES] = re.sub(rb"<cellXfs.*?</cellXfs>", formats, found[STYLES], flags=re.DOTALL)
    found[SHEET] = sheet(row(2, "<v>46349</v>", ' s="1"'))
    path = tmp_path / "orders.xlsx"
    path.write_bytes(packed(found))
    (one,) = table.read(path, known=columns.is_heading).rows
    assert table.shown(one.cells[2]) == day
