"""Tables of any program: every encoding, delimiter and format, no row lost, nothing that eats the memory."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.chart import BarChart

from services.commands.sheet import columns, table, text_file, workbook
from services.commands.sheet.table import BadRow, Row
from services.domain.errors import UsageError
from services.messages import english, render


def read(path: Path, **more: str) -> table.Table:
    return table.read(path, known=columns.is_heading, **more)  # type: ignore[arg-type]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def book(path: Path, *rows: list[object], title: str = "Sheet") -> Path:
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.title = title
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


def test_a_table_keeps_its_columns_in_order_and_its_rows(tmp_path: Path) -> None:
    found = read(write(tmp_path / "shops.csv", "店铺,平台,备注\n10021,pdd, x \n,temu,\n", "gb18030"))
    assert (found.name, found.columns, found.encoding) == ("shops.csv", ("店铺", "平台", "备注"), "gb18030")
    assert [row.number for row in found.rows] == [2, 3]
    assert found.column(1) == ["pdd", "temu"]
    assert found.column(2) == ["x", ""]
    assert found.column(-1) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_of_spreadsheets_are_found(tmp_path: Path, encoding: str) -> None:
    found = read(write(tmp_path / "a.csv", "平台,店铺\n拼多多,柚子数码专卖店\n", encoding))
    assert (found.columns, found.column(1)) == (("平台", "店铺"), ["柚子数码专卖店"])


def test_the_mark_that_some_programs_begin_a_file_with_is_no_part_of_its_first_name(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", "\ufeff平台,店铺\n拼多多,柚子\n", "gb18030"))
    assert (found.columns, found.encoding) == (("平台", "店铺"), "gb18030")


def test_an_encoding_can_be_chosen_and_one_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "平台,備註\n拼多多,龍\n", "big5")
    assert read(path, encoding="big5").columns == ("平台", "備註")
    with pytest.raises(UsageError, match="choose another encoding"):
        read(write(tmp_path / "b.csv", "平台,店铺\n", "gbk"), encoding="utf-8")


@pytest.mark.parametrize("sign", [",", ";", "\t", "，", "|"])
def test_the_sign_between_cells_is_found(tmp_path: Path, sign: str) -> None:
    text = "\n".join(
        sign.join(row) for row in (("平台", "店铺ID", "参数"), ("pdd", "a", '"x=1;y=2"'), ("pdd", "b", ""))
    )
    found = read(write(tmp_path / "a.csv", text))
    assert found.columns == ("平台", "店铺ID", "参数")
    assert found.column(1) == ["a", "b"]


@pytest.mark.parametrize("sign", [",", ";", "，"])
def test_what_is_pasted_without_tabs_is_parted_as_a_file_is(sign: str) -> None:
    found = table.pasted(f"店铺{sign}类型\npdd:s1{sign}sync_order\n", "pasted", columns.is_heading)
    assert (found.columns, found.rows[0].cells) == (("店铺", "类型"), ("pdd:s1", "sync_order"))
    alone = table.pasted("pdd:s1\npdd:s2\n", "pasted", columns.is_heading)
    assert [row.cells for row in alone.rows] == [("pdd:s1",), ("pdd:s2",)]


@pytest.mark.parametrize("ending", ["txt", "csv", "xlsx"])
def test_a_list_without_a_title_loses_none_of_its_lines(tmp_path: Path, ending: str) -> None:
    lines, path = ["pdd:s1", "pdd:s2", "pdd:s3"], tmp_path / f"shops.{ending}"
    made = book(path, *([one] for one in lines)) if ending == "xlsx" else write(path, "\n".join(lines))
    found = read(made)
    assert (found.columns, found.column(0), found.rows[0].number) == (("(A)",), lines, 1)
    titled = read(write(tmp_path / "b.csv", "店铺\npdd:s1\n"))
    assert (titled.columns, titled.column(0)) == (("店铺",), ["pdd:s1"])


def test_a_header_may_be_written_with_full_width_commas(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", "平台，店铺ID，任务类型\npdd,a,sync_order\npdd,b,sync_order\n"))
    assert (found.columns, found.column(2)) == (("平台", "店铺ID", "任务类型"), ["sync_order"] * 2)


def test_a_title_above_the_header_is_counted_and_not_taken_for_it(tmp_path: Path) -> None:
    found = read(book(tmp_path / "a.xlsx", ["十一月任务表"], [None], ["平台", "店铺ID", "任务类型"], ["pdd", "a", "x"]))
    assert (found.columns, found.above, found.total) == (("平台", "店铺ID", "任务类型"), 1, 1)
    assert found.rows[0].number == 4, "as the sheet numbers it"


def test_rows_are_numbered_as_the_sheet_numbers_them(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", 'shop,note\na,"one\ntwo"\n\nb,x\n\n\n'))
    assert [(row.number, row.cells[0]) for row in found.rows] == [(2, "a"), (4, "b")]
    assert (found.empty, found.total) == (1, 3), "what is empty below the last row is none"


def test_a_bad_row_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    found = read(write(tmp_path / "shops.csv", "shop,name\na,b\nc,d,e\nf,g\n"))
    assert [row.number for row in found.rows] == [2, 4]
    assert [(bad.number, bad.reason.code) for bad in found.bad] == [(3, "sheet.cells")]
    (bad,) = read(write(tmp_path / "ids.csv", "shop\na,b\n")).bad
    assert render(bad.reason) == "2 cells, but there is 1 column; put a cell that contains commas in quotes"


def test_a_quote_that_is_never_closed_costs_one_row(tmp_path: Path) -> None:
    lines = "".join(f"s{n},work\n" for n in range(500))
    found = read(write(tmp_path / "a.csv", f'shop,type\na,work\nb,"work\n{lines}'))
    assert [bad.number for bad in found.bad] == [3]
    assert found.column(0) == ["a", *(f"s{n}" for n in range(500))]
    assert found.total == 502


def test_ten_thousand_quotes_that_are_never_closed_take_no_time(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", "shop,type\n" + 'x,"never closed\n' * 9_999))
    assert len(found.bad) + len(found.rows) == 9_999


def test_a_workbook_gives_numbers_dates_and_truths_as_such(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ["shop", "type", "n", "b"], [10021.0, "柚子", 1.5, True], [None] * 4, ["pdd-7"])
    found = read(path)
    assert found.rows == (
        Row(number=2, cells=(10021, "柚子", 1.5, True)),
        Row(number=4, cells=("pdd-7", None, None, None)),
    )
    assert (found.sheet, found.empty) == ("Sheet", 1)
    assert [table.shown(10021.0), table.shown(1.5), table.shown(True)] == ["10021", "1.5", "true"]


def test_a_workbook_whose_stated_extent_is_wrong_is_read_whole(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ["shop", "type"], *(["s", n] for n in range(20)))
    parts = {}
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<dimension ref="A1:B21"', b'<dimension ref="A1"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    assert read(path).total == 20


def test_another_sheet_can_be_chosen(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ["shop", "type"], ["a", "x"], title="一月")
    made = openpyxl.load_workbook(path)
    made.create_sheet("二月").append(["店铺", "任务类型"])
    made["二月"].append(["b", "y"])
    made.save(path)
    assert read(path).sheets == ("一月", "二月")
    assert read(path, sheet="二月").column(0) == ["b"]
    with pytest.raises(UsageError, match="一月, 二月") as caught:
        read(path, sheet="三月")
    assert caught.value.field == "--sheet"


def test_no_hidden_sheet_is_read_where_a_chart_is_in_front(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    lists = made.active
    assert lists is not None
    lists.title, lists.sheet_state = "lists", "hidden"
    tasks = made.create_sheet("tasks")
    for sheet in (lists, tasks):
        sheet.append(["platform", "shop_id"])
        sheet.append(["pdd", "1"])
    made.create_chartsheet("chart").add_chart(BarChart())
    made.active = 2
    made.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").sheet == "tasks"


def test_the_first_sheet_that_holds_anything_is_read_where_the_one_in_front_is_empty(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.worksheets[0].append(["  ", "\u3000"])  # blanks are nothing that anybody reads
    made.create_sheet("十二月")
    for row in (["shop", "type"], ["a", "x"]):
        made["十二月"].append(row)
    made.save(tmp_path / "a.xlsx")
    found = read(tmp_path / "a.xlsx")
    assert (found.sheet, len(found.rows)) == ("十二月", 1)
    lists = made.create_sheet("lists", 1)
    lists.append(["platform", "shop_id"])
    lists.append(["pdd", "1"])
    lists.sheet_state = "hidden"
    made.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").sheet == "十二月", "nobody sees the lists that cells are chosen from"
    made.worksheets[0].append(["shop", "type"])
    made.save(tmp_path / "a.xlsx")
    with pytest.raises(UsageError, match="no rows below its header"):
        read(tmp_path / "a.xlsx")  # what only names its columns is a form to be filled, with lists behind it


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json"])
def test_a_sheet_of_a_file_without_sheets_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_text("shop,type\na,x\n", encoding="utf-8")
    with pytest.raises(UsageError, match="has no sheets") as caught:
        read(path, sheet="二月")
    assert caught.value.field == "--sheet"


def test_a_formula_counts_as_the_value_that_was_computed_and_as_a_gap_otherwise(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ["shop", "type"], ["a", "=1+1"])
    assert read(path).rows[0].cells == ("a", workbook.UNCOMPUTED)


@pytest.mark.parametrize("formula", [False, True])
def test_zeros_that_the_format_of_a_cell_shows_in_front_are_part_of_the_number(tmp_path: Path, formula: bool) -> None:
    ids = (("00000", 7), ("[$-804]00000", 123.0), ("000", 12345), ("0", 7), ("General", 7), ("0.00", 7), ("0000", 1.5))
    path = book(tmp_path / "a.xlsx", ["shop", "type"], *(["s", number] for _code, number in ids))
    made = openpyxl.load_workbook(path)
    sheet = made["Sheet"]
    for row, (code, _number) in enumerate(ids, start=2):
        sheet.cell(row=row, column=2).number_format = code
    if formula:
        sheet.cell(row=2, column=3, value="=1+1")
    made.save(path)
    assert [row.cells[1] for row in read(path).rows] == ["00007", "00123", "12345", 7, 7, 7, 1.5]


def bomb(path: Path, name: str, size: int) -> Path:
    book(path, ["shop", "type"], ["a", "x"])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w", force_zip64=True) as part:
        for _ in range(size >> 20):
            part.write(b" " * (1 << 20))
    return path


@pytest.mark.parametrize("name", ["xl/worksheets/sheet9.xml", "xl/sharedStrings2.xml"])
def test_a_workbook_that_unpacks_to_something_huge_is_refused_by_its_bound(tmp_path: Path, name: str) -> None:
    size = workbook.MAX_TEXTS if "Strings" in name else workbook.MAX_UNPACKED
    path = bomb(tmp_path / "a.xlsx", name, size + (2 << 20))
    assert path.stat().st_size < 2 << 20, "it is small on the disk"
    with pytest.raises(UsageError, match=f"up to {size >> 20} MiB"):
        read(path)


def test_a_sheet_that_claims_rows_without_end_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ["shop", "type"], ["a", "x"])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<row r="2"', b'<row r="99999999999"').replace(b'"A2"', b'"A99999999999"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(UsageError, match="rows"):
        read(path)


def test_bounds_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = ",".join(f"c{n}" for n in range(201))
    with pytest.raises(UsageError, match="more than 200 columns"):
        read(write(tmp_path / "wide.csv", f"{wide}\n{wide}\n"))
    monkeypatch.setattr(table, "MAX_ROWS", 2)
    for path in (
        write(tmp_path / "a.csv", "shop\na\nb\nc\n"),
        write(tmp_path / "a.jsonl", '{"shop": "a"}\n' * 3),
        book(tmp_path / "a.xlsx", ["shop"], ["a"], ["b"], ["c"]),
    ):
        with pytest.raises(UsageError, match="more than 2 rows"):
            read(path)
    monkeypatch.setattr(table, "MAX_BYTES", 5)
    with pytest.raises(UsageError, match="split it"):
        read(tmp_path / "a.csv")


def test_lines_of_json_keep_their_values_and_their_numbers(tmp_path: Path) -> None:
    rows = '{"shop": "a", "payload": {"t": "a\u2028b\x85c"}}\r\n\n[1]\n{"a": 1, "a": 2}\n{"type": "x"}\n{}\n'
    found = read(write(tmp_path / "a.jsonl", rows))
    assert found.columns == ("shop", "payload", "type")
    assert found.rows == (
        Row(number=1, cells=("a", {"t": "a\u2028b\x85c"}, None)),
        Row(number=5, cells=(None, None, "x")),
    )
    assert [(bad.number, bad.reason.code) for bad in found.bad] == [(3, "sheet.no_object"), (4, "sheet.json")]
    assert (found.empty, found.total) == (1, 5)


def test_a_json_list_is_read_as_rows(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.json", json.dumps([{"shop": "a"}, 1, {"shop": "b"}])))
    assert found.column(0) == ["a", "b"]
    assert isinstance(found.bad[0], BadRow)
    assert found.bad[0].number == 2


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("missing.csv", None, "not a file"),
        ("a.doc", b"x", "known endings"),
        ("a.xls", b"x", "save it as .xlsx"),
        ("a.csv", b"", "no rows"),
        ("a.csv", b"shop,type\n", "no rows"),
        ("a.csv", b"\xff\xfe\x00", "UTF-8"),
        ("a.csv", b"shop,type\npdd:s1,\xff\xff\xff\n", "UTF-8"),
        ("a.xlsx", b"no zip at all", "workbook"),
        ("a.xlsx", b"PK\x03\x04 a zip that is none", "workbook"),
        ("a.jsonl", b"\n\n", "no rows"),
    ],
)
def test_what_is_no_table_is_refused_in_words(tmp_path: Path, name: str, data: bytes | None, says: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=says) as caught:
        read(tmp_path / name)
    assert caught.value.field == "--file"


def test_a_stray_zero_leaves_the_text_what_it_is(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", "shop,type\npdd:s\0-1,t\ntemu:s-2,t\n"))
    assert (found.encoding, found.columns, found.column(1)) == ("utf-8", ("shop", "type"), ["t", "t"])


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be"])
def test_an_encoding_of_four_bytes_is_refused_and_not_read_as_two(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(UsageError, match="save it as UTF-8"):
        read(write(tmp_path / "a.csv", "\ufeff" + "shop,type\npdd:s1,t\n" * 3, encoding))


def test_an_encoding_that_only_fails_in_its_own_way_is_refused(tmp_path: Path) -> None:
    for encoding in ("undefined", "utf\0", "idna", "zip", "hex", "unicode_escape", "rot13", "nonsense", "utf-8 "):
        with pytest.raises(UsageError, match=r"there is no encoding .*; choose one of utf-8, gb18030, utf-16, big5"):
            read(write(tmp_path / "a.csv", "shop,type\npdd:s1,t\n"), encoding=encoding)
    with pytest.raises(UsageError, match="choose another encoding"):
        read(write(tmp_path / "b.csv", "店铺,类型\npdd:s1,t\n"), encoding="utf-16")


@pytest.mark.parametrize(
    ("ending", "text", "says"),
    [
        (".csv", "shop,type\n" + "," * 8_000_000, "more than 200 columns"),
        (".csv", "shop,type\n" + "x," * 1500 + "\n", "more than 200 columns"),
        (".csv", "\n" * 8_000_000, "more than 100000 rows"),
        (".csv", '"\n' * 4_000_000, "more than 100000 rows"),
        (".csv", "\r" * 8_000_000, "more than 100000 rows"),
        (".jsonl", "\n" * 8_000_000, "more than 100000 rows"),
        (".jsonl", "{}\n" * 2_500_000, "more than 100000 rows"),
        (".json", "[" + "{}," * 6_000_000 + "{}]", "more than 100000 rows"),
        (".json", "[" + "1," * 6_000_000 + "1]", "more than 100000 rows"),
    ],
)
def test_a_text_without_end_is_refused_before_it_is_taken_apart(
    tmp_path: Path, ending: str, text: str, says: str
) -> None:
    path = write(tmp_path / f"a{ending}", text)
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=says) as caught:
            read(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.field == "--file"
    assert most < 8 * len(text) + (1 << 20), "no more than the text itself and a few copies of it"


def with_sheet(path: Path, body: str, part: str = "xl/worksheets/sheet1.xml") -> Path:
    """A workbook whose part is this one."""
    plain = book(path.with_name("plain.xlsx"), ["shop", "type"], ["pdd:s1", "t"])
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source.namelist():
            made.writestr(name, body if name == part else source.read(name))
    return path


_SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)


@pytest.mark.parametrize(
    ("part", "body"),
    [
        ("xl/worksheets/sheet1.xml", _SHEET.format("<row>" + "<c/>" * 1_100_000 + "</row>")),
        ("xl/worksheets/sheet1.xml", _SHEET.format("<row/>" * 1_100_000)),
        ("xl/worksheets/sheet1.xml", _SHEET.format("<x>" * 600_000 + "</x>" * 600_000)),
        ("xl/styles.xml", "<styleSheet><cellXfs>" + "<xf/>" * 1_100_000 + "</cellXfs></styleSheet>"),
        ("xl/_rels/workbook.xml.rels", "<Relationships>" + "<Relationship/>" * 1_100_000 + "</Relationships>"),
    ],
)
def test_a_workbook_of_too_many_parts_is_refused_before_it_is_read(tmp_path: Path, part: str, body: str) -> None:
    with pytest.raises(UsageError, match="more rows, longer texts or more cells") as caught:
        read(with_sheet(tmp_path / "a.xlsx", body, part))
    assert caught.value.field == "--file"


def wide_rows(count: int) -> str:
    """Rows whose last cell is the last that a sheet can have."""
    rows = range(1, count + 1)
    return _SHEET.format("".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="XFD{n}"/></row>' for n in rows))


def test_empty_cells_to_the_right_are_left_out(tmp_path: Path) -> None:
    found = read(with_sheet(tmp_path / "a.xlsx", wide_rows(50)))
    assert [len(row.cells) for row in found.rows] == [1] * 50


def test_too_many_empty_cells_to_the_right_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="more than 200 columns"):
        read(with_sheet(tmp_path / "a.xlsx", wide_rows(250)))


def test_formulas_with_a_prefix_are_seen(tmp_path: Path) -> None:
    body = (
        '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
        '<x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>shop</x:t></x:is></x:c></x:row>'
        '<x:row r="2"><x:c r="A2"><x:f>1+1</x:f></x:c></x:row></x:sheetData></x:worksheet>'
    )
    found = read(with_sheet(tmp_path / "a.xlsx", body))
    assert [row.cells for row in found.rows] == [(workbook.UNCOMPUTED,)]


def test_a_workbook_without_sheets_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no rows"):
        read(with_sheet(tmp_path / "a.xlsx", "<workbook/>", "xl/workbook.xml"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (".jsonl", '{"shop": "pdd:s1"}\n{' + ",".join(f'"a{n}":1' for n in range(300_000)) + "}\n"),
        (".json", '[{"shop": "pdd:s1"}, {' + ",".join(f'"a{n}":1' for n in range(300_000)) + "}]"),
    ],
    ids=["line", "value"],
)
def test_a_line_of_more_than_any_task_has_is_not_taken_apart(tmp_path: Path, ending: str, text: str) -> None:
    path = write(tmp_path / f"a{ending}", text)
    tracemalloc.start()
    try:
        (bad,) = read(path).bad
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "characters" in english(bad.reason)
    assert most < 14 * len(text), "its keys would take thirty times as much"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[{"a": 1} {"b": 2}]', "delimiter"),
        ('[{"a": 1},]', "Expecting value"),
        ('[{"a": 1}] x', "Extra data"),
        ('[{"a": 1}', "delimiter"),
        ("[" + '{"a": 1}, ' * 900 + '{"a": }]', "char 9007"),
        ('[{"a": 1, "a": 2}]', "stands twice"),
        ("[" * 50_000, "nested too deeply"),
    ],
)
def test_a_list_that_is_none_is_told_by_its_first_mistake(tmp_path: Path, text: str, says: str) -> None:
    (bad,) = read(write(tmp_path / "a.json", text)).bad
    assert says in english(bad.reason)


def test_a_list_is_read_whatever_the_length_of_its_values(tmp_path: Path) -> None:
    long = [{"shop": "x" * size, "n": 10**12 + size} for size in (1, 4060, 4070, 4080, 4090, 5000, 40_000, 400_000)]
    assert read(write(tmp_path / "a.json", "\n" + json.dumps(long) + "\n")).rows == tuple(
        Row(number=place, cells=(one["shop"], one["n"])) for place, one in enumerate(long, start=1)
    )
    with pytest.raises(UsageError, match="no rows"):
        read(write(tmp_path / "b.json", " [ ] "))


_LINES = '店铺,平台,"备\r\n注"\r\n10021,pdd,"x\ny"\r\r\n\n,temu, "open\n1,2,3\rlast,one,"a""b"'
_OBJECTS = [{"店铺": "10021", "n": 1.50}, {"店铺": 'a\n"b', "more": [1, {"x": "\u2028"}]}, {}, {"n": 123456}]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
@pytest.mark.parametrize(
    ("name", "data", "encoding"),
    [
        ("a.csv", _LINES.encode(), ""),
        ("a.tsv", _LINES.replace(",", "\t").encode("utf-8-sig"), ""),
        ("a.csv", _LINES.encode("gb18030"), ""),
        ("a.csv", _LINES.encode("big5", "replace"), "big5"),
        ("a.csv", _LINES.encode("utf-16"), ""),
        ("a.csv", _LINES.encode("utf-16-be"), ""),
        ("a.csv", _LINES.encode("utf-16-le"), "utf-16"),
        ("a.jsonl", "\r\n".join(json.dumps(one, ensure_ascii=False) for one in _OBJECTS).encode(), ""),
        ("a.json", b"\n " + json.dumps(_OBJECTS, ensure_ascii=False, indent=3).encode(), ""),
        ("a.json", b'[{"a": 12}, {"b": 1}, 3, tru', ""),
    ],
)
def test_where_a_text_is_cut_into_pieces_is_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, encoding: str, size: int
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    whole = read(path, encoding=encoding)
    monkeypatch.setattr(text_file, "_PIECE", size)
    assert read(path, encoding=encoding) == whole


def test_no_piece_of_a_text_keeps_other_threads_waiting(tmp_path: Path) -> None:
    line = "pdd,柚子数码专卖店,sync\n"
    text, known = text_file.decode((line * 200_000).encode("gb18030"), "a.csv")
    assert known == "gb18030"
    assert len(text) == 200_000 * len(line)
    assert max(map(len, text.pieces)) <= 512 * 1024
    assert sum(1 for _line in text.lines()) == 200_000
