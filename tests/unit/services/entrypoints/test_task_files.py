"""Files of tasks: every fault names its line, one bad line spoils no other."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from services import table_files
from services.domain.errors import UsageError
from services.engine.producer import TaskSpec
from services.entrypoints import task_files
from services.entrypoints.instants import Instants

NOW = 1_763_769_600_000  #: 2025-11-22T00:00:00Z


def read(path: Path) -> tuple[list[TaskSpec], list[task_files.Fault]]:
    return task_files.read(path, Instants("Asia/Shanghai", NOW))


def csv(folder: Path, text: str, encoding: str = "utf-8", name: str = "tasks.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def test_columns_have_several_names_and_any_case(tmp_path: Path) -> None:
    specs, faults = read(csv(tmp_path, "Platform, SHOP_ID ,task_type,Priority,DELAY_S,other\npdd,s1,work,high,2.5,x\n"))
    assert faults == []
    (spec,) = specs
    assert (spec.platform, spec.shop_id, spec.task_type, spec.priority, spec.delay_s, spec.line) == (
        "pdd", "s1", "work", "high", 2.5, 2,
    )  # fmt: skip


def test_a_shop_may_name_its_platform(tmp_path: Path) -> None:
    (spec,), _ = read(csv(tmp_path, "shop,type\ntemu:s1,work\n"))
    assert (spec.platform, spec.shop_id) == ("temu", "s1")


def test_payload_comes_from_one_column_and_from_many(tmp_path: Path) -> None:
    text = 'shop,type,payload,payload.page,payload.text,payload.empty\npdd:s1,work,"{""a"": 1}",2,hello,\n'
    (spec,), _ = read(csv(tmp_path, text))
    assert spec.payload == {"a": 1, "page": 2, "text": "hello"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_encodings_of_spreadsheets_are_known(tmp_path: Path, encoding: str) -> None:
    (spec,), _ = read(csv(tmp_path, "shop,type,payload.text\npdd:s1,work,你好\n", encoding))
    assert spec.payload == {"text": "你好"}


def test_tabs_and_windows_lines(tmp_path: Path) -> None:
    (spec,), _ = read(csv(tmp_path, "shop\ttype\r\npdd:s1\twork\r\n", name="tasks.tsv"))
    assert spec.task_type == "work"


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (",work,,", "shop"),
        ("pdd:s1,,,", "type"),
        ("s1,work,,", "platform"),
        ("pdd:s1,work,{,", "payload"),
        ("pdd:s1,work,[1],", "payload"),
        ('pdd:s1,work,"{""a"":1,""a"":2}",', "payload"),
        ("pdd:s1,work,,soon", "delay"),
        ("pdd:s1,work,,,too,many", "line"),
    ],
)
def test_a_fault_names_its_line_and_its_field(tmp_path: Path, row: str, field: str) -> None:
    specs, faults = read(csv(tmp_path, f"shop,type,payload,delay\npdd:a,work,,\n{row}\npdd:b,work,,\n"))
    assert [spec.shop_id for spec in specs] == ["a", "b"]
    assert [(line, name) for line, name, _ in faults] == [(3, field)]


def test_a_quote_that_is_never_closed_is_one_fault(tmp_path: Path) -> None:
    specs, faults = read(csv(tmp_path, 'shop,type\npdd:s1,work\npdd:s2,"work\npdd:s3,work\n'))
    assert [spec.shop_id for spec in specs] == ["s1"]
    assert [(name, "not valid CSV" in text) for _, name, text in faults] == [("line", True)]


def test_nul_and_giant_cells_are_faults(tmp_path: Path) -> None:
    for text in ("shop,type\npdd:s1,wo\0rk\n", f"shop,type,payload.x\npdd:s1,work,{'x' * 200_000}\n"):
        specs, faults = read(csv(tmp_path, text))
        assert faults or specs[0].task_type == "wo\0rk", "what is read is judged by the producer"


def test_jsonl_keeps_strange_ends_of_line_inside_a_text(tmp_path: Path) -> None:
    first = '{"shop": "pdd:s1", "type": "work", "payload": {"t": "a\u2028b\x85c"}}\r\n'
    rows = first + '\n{"shop": 1}\n[1]\n{"a": 1, "a": 2}\n'
    specs, faults = read(csv(tmp_path, rows, name="tasks.jsonl"))
    assert [spec.payload for spec in specs] == [{"t": "a\u2028b\x85c"}]
    assert [(line, name) for line, name, _ in faults] == [(3, "type"), (4, "line"), (5, "line")]


def book(folder: Path, *rows: list[Any]) -> Path:
    made = openpyxl.Workbook()
    assert made.active is not None
    for row in rows:
        made.active.append(row)
    made.save(folder / "tasks.xlsx")
    return folder / "tasks.xlsx"


def test_a_workbook_is_read_cell_by_cell(tmp_path: Path) -> None:
    header = ["platform", "shop", "type", "priority", "delay", "payload.n", "payload.flag"]
    path = book(tmp_path, header, ["pdd", 17, "work", 5, 2, 1.5, True], [None] * 7, ["pdd", "s2", "work"])
    specs, faults = read(path)
    assert faults == []
    assert [(spec.shop_id, spec.priority, spec.delay_s, spec.payload, spec.line) for spec in specs] == [
        ("17", 5, 2.0, {"n": 1.5, "flag": True}, 2),
        ("s2", "", 0.0, {}, 4),
    ]


def test_a_date_in_a_payload_is_left_to_the_producer_to_refuse(tmp_path: Path) -> None:
    path = book(tmp_path, ["shop", "type", "payload.at"], ["pdd:s1", "work", dt.date(2026, 11, 20)])
    (spec,), _ = read(path)
    assert isinstance(spec.payload["at"], dt.datetime)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"x", "known endings"),
        ("a.csv", b"", "no task"),
        ("a.csv", b"shop,type\n", "no task"),
        ("a.csv", b"\xff\xfe\x00", "UTF-8"),
        ("a.csv", b"shop,type\npdd:s1,\xff\xff\xff\n", "UTF-8"),
        ("a.xlsx", b"no zip at all", "workbook"),
        ("a.xlsx", b"PK\x03\x04 a zip that is none", "workbook"),
        ("a.jsonl", b"\n\n", "no task"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=says) as caught:
        read(tmp_path / name)
    assert caught.value.field == "--file"


def test_a_file_that_is_not_there_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="not a file"):
        read(tmp_path)
    path = csv(tmp_path, "shop,type\npdd:s1,work\n")
    monkeypatch.setattr(table_files, "MAX_BYTES", 5)
    with pytest.raises(UsageError, match="split it"):
        read(path)


@pytest.mark.parametrize("cell", ["a b", "a,b", " a ; b ", "a，b", "a\tb"])
def test_a_cell_names_what_its_row_waits_for(tmp_path: Path, cell: str) -> None:
    text = f'shop,type,Key,depends_on,on_dependency_failure\npdd:s1,work,c,"{cell}",Cancel\n'
    ((spec,), faults) = read(csv(tmp_path, text))
    assert faults == []
    assert (spec.key, spec.depends_on, spec.on_dependency_failure) == ("c", ("a", "b"), "cancel")


def test_a_row_that_waits_for_nobody(tmp_path: Path) -> None:
    ((spec,), _) = read(csv(tmp_path, "shop,type,key,depends_on\npdd:s1,work,,\n"))
    assert (spec.key, spec.depends_on, spec.on_dependency_failure) == ("", (), "hold")


def test_a_line_of_json_names_a_list(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        '{"shop": "pdd:s1", "type": "work", "depends_on": ["a", "b"]}\n'
        '{"shop": "pdd:s1", "type": "work", "depends_on": [1]}\n',
        encoding="utf-8",
    )
    ((spec,), ((line, field, _),)) = read(path)
    assert (spec.depends_on, line, field) == (("a", "b"), 2, "depends_on")


def test_a_row_may_say_when(tmp_path: Path) -> None:
    text = "shop,type,not_before,deadline\npdd:s1,work,2025-11-22T09:00,2h\npdd:s2,work,,\n"
    (first, second), faults = read(csv(tmp_path, text))
    assert faults == []
    assert (first.at_ms, first.deadline_ms) == (NOW + 3_600_000, NOW + 7_200_000)
    assert (second.at_ms, second.deadline_ms) == (0, 0)


@pytest.mark.parametrize("word", ["soon", "2025-11-22", "2025-11-22T07:59", "2025-11-21T23:59:00Z", "0s"])
def test_a_time_that_is_none_or_past_is_a_fault_of_its_field(tmp_path: Path, word: str) -> None:
    specs, faults = read(csv(tmp_path, f"shop,type,deadline\npdd:s1,work,{word}\n"))
    assert specs == []
    assert [(line, field) for line, field, _ in faults] == [(2, "deadline")]
