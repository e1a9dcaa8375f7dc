"""Tasks in files: whole, without formulas, without secrets."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, timedelta, timezone
from pathlib import Path

import openpyxl
import pytest
from msgspec import structs

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.text.cells import guarded
from services.monitor.files import export

SHOPS = {"pdd:s1": Shop(platform="pdd", shop_id="s1", name='=HYPERLINK("http://127.0.0.1")')}
CHINA = timezone(timedelta(hours=8))
EVIL = Task(
    task_id="pdd_sync_order_s1_1",
    shop_id="s1",
    platform="pdd",
    task_type="sync_order",
    payload='{"cookie": "abc", "since": "2026-11-20"}',
    error="@SUM(1)\tpassword=hunter2\x07",
    error_kind="+cmd",
    created_at=1_795_000_000_000,
    priority=6,
)
PLAIN = Task(
    task_id="pdd_sync_order_s1_2", shop_id="s2", platform="temu", task_type="－1", created_at=1_795_000_000_123
)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_sheets_hold_text_not_formulas_and_no_secrets(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"tasks.{kind}"
    assert export.write([EVIL, PLAIN], path, SHOPS, CHINA) == 2
    if kind == "csv":
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [dict(row) for row in csv.DictReader(stream)]
    else:
        lines = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))  # type: ignore[union-attr]
        rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    evil, plain = rows
    assert evil["shop_name"].startswith("'=HYPERLINK")
    assert evil["error"].startswith("'@SUM(1)\t")
    assert "hunter2" not in evil["error"]
    assert "abc" not in evil["payload"]
    assert evil["error_kind"] == "'+cmd"
    assert plain["task_type"] == "'－1"
    assert evil["created_at"].endswith("+08:00")
    assert str(evil["priority"]) == "6"


@pytest.mark.parametrize("lead", list("=+-@\t\r＝＋－＠"))
def test_whatever_begins_a_formula_is_text(tmp_path: Path, lead: str) -> None:
    assert guarded(f"{lead}cmd|'/c calc'!A1") == f"'{lead}cmd|'/c calc'!A1"
    assert guarded(f"a{lead}b") == f"a{lead}b"
    path = tmp_path / "tasks.csv"
    export.write([structs.replace(PLAIN, task_type=f"{lead}cmd")], path, SHOPS, UTC)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        assert next(csv.DictReader(stream))["task_type"] == f"'{lead}cmd"


@pytest.mark.parametrize("number", ["-1", "+1.5", "-1,000"])
def test_a_number_stays_one(number: str) -> None:
    assert guarded(number) == number


@pytest.mark.parametrize("kind", export.FORMATS)
@pytest.mark.parametrize("field", ["payload", "result", "error"])
def test_no_column_holds_a_secret(tmp_path: Path, kind: str, field: str) -> None:
    words = "password=MARKER9" if field == "error" else '{"a": {"password": "MARKER9"}}'
    path = tmp_path / f"tasks.{kind}"
    export.write([structs.replace(PLAIN, **{field: words})], path, SHOPS, UTC)
    if kind == "xlsx":
        text = str(list(openpyxl.load_workbook(path).active.iter_rows(values_only=True)))  # type: ignore[union-attr]
    else:
        text = path.read_text(encoding="utf-8")
    assert "MARKER9" not in text
    assert "••••" in text


def test_json_keeps_values(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    export.write([EVIL, PLAIN], path, SHOPS, UTC)
    evil, plain = json.loads(path.read_text(encoding="utf-8"))
    assert evil["payload"] == {"cookie": "••••", "since": "2026-11-20"}
    assert evil["shop_name"] == SHOPS["pdd:s1"].name
    assert plain["result"] is None
    assert export.document(PLAIN, None, UTC) == plain
    lines = tmp_path / "tasks.jsonl"
    export.write([EVIL, PLAIN], lines, SHOPS, UTC)
    assert [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()] == [evil, plain]
    export.write([], path, SHOPS, UTC)
    assert json.loads(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("kind", export.FORMATS)
def test_where_a_task_waits_stands_beside_its_status(tmp_path: Path, kind: str) -> None:
    asked: list[int] = []

    def gates(tasks: Sequence[Task]) -> dict[str, str]:
        asked.append(len(tasks))
        return dict.fromkeys([PLAIN.task_id], "no_worker")

    path = tmp_path / f"tasks.{kind}"
    export.write([EVIL, PLAIN, *[EVIL] * 600], path, SHOPS, UTC, gates=gates)
    if kind == "xlsx":
        lines = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))  # type: ignore[union-attr]
        rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    elif kind == "csv":
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [dict(row) for row in csv.DictReader(stream)]
    else:
        text = path.read_text(encoding="utf-8")
        rows = json.loads(text) if kind == "json" else [json.loads(line) for line in text.splitlines()]
    told = [(row["gate"] or "", row["waits_for"] or "") for row in rows]
    assert told[:3] == [("", ""), ("no_worker", "no worker"), ("", "")]
    assert set(told[3:]) == {("", "")}
    assert asked == [500, 102], "in portions, of which each is asked for at once"


@pytest.mark.parametrize("kind", ["csv", "xlsx", "json"])
def test_a_broken_export_leaves_the_old_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"tasks.{kind}"
    path.write_text("old", encoding="utf-8")
    stop = threading.Event()

    def tasks() -> Iterator[Task]:
        yield EVIL
        stop.set()
        yield PLAIN

    with pytest.raises(export.Stopped):
        export.write(tasks(), path, SHOPS, UTC, stop=stop)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_foreign_ending_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.csv, \.xlsx, \.json or \.jsonl"):
        export.write(iter(()), tmp_path / "tasks.doc", SHOPS, UTC)
    assert not list(tmp_path.iterdir())


def test_progress_is_told(tmp_path: Path) -> None:
    heard: list[int] = []
    export.write([EVIL] * 1001, tmp_path / "t.csv", SHOPS, UTC, told=heard.append)
    assert heard == [500, 1000, 1001]
