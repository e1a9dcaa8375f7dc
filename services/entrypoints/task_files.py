"""Reads tasks from CSV, XLSX and JSON-lines files; every fault names its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from services.domain.errors import UsageError
from services.engine.producer import TaskSpec
from services.entrypoints import json_text

MAX_BYTES = 200 * 1024 * 1024
COLUMNS = {
    "platform": "platform",
    "shop": "shop",
    "shop_id": "shop",
    "type": "type",
    "task_type": "type",
    "payload": "payload",
    "priority": "priority",
    "delay": "delay",
    "delay_s": "delay",
}
Fault = tuple[int, str, str]  #: line, field, sentence


def read(path: Path) -> tuple[list[TaskSpec], list[Fault]]:
    """Specs and faulty lines of a file; one bad line does not spoil the others.

    Raises:
        UsageError: the file cannot be read at all, or holds nothing.
    """
    specs: list[TaskSpec] = []
    faults: list[Fault] = []
    for line, row in _rows(path):
        if isinstance(row, str):
            faults.append((line, "line", row))
            continue
        try:
            specs.append(spec(row, line))
        except UsageError as exc:
            faults.append((line, exc.field, str(exc)))
    if not specs and not faults:
        raise UsageError(f"{path.name} holds no task; the header must name platform, shop and type", field="--file")
    return specs, faults


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    if not path.is_file():
        raise UsageError(f"{path} is not a file", field="--file")
    if path.stat().st_size > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB; split it", field="--file")
    readers = {".csv": _csv, ".tsv": _csv, ".xlsx": _xlsx, ".jsonl": _jsonl, ".ndjson": _jsonl}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path.name}: known endings are {', '.join(sorted(readers))}", field="--file")
    table = reader is not _jsonl
    for line, row in reader(path):
        if table and not isinstance(row, str):
            _check_header(path, row)
            table = False
        yield line, row


def _check_header(path: Path, row: Mapping[str, Any]) -> None:
    """Refuse a table whose columns are called otherwise, once instead of at every line."""
    names = {COLUMNS.get(key.strip().lower(), "") for key in row if key}
    missing = [name for name in ("shop", "type") if name not in names]
    if missing:
        given = ", ".join(str(key) for key in row if key)
        raise UsageError(
            f"{path.name}: the header must name platform, shop and type; {' and '.join(missing)} is missing, "
            f"it names {given!r:.120}",
            field="--file",
        )


def spec(row: Mapping[str, Any], line: int) -> TaskSpec:
    """One row as a spec; columns named ``payload.NAME`` fill the payload.

    Raises:
        UsageError: a column is missing or not readable.
    """
    known = {
        COLUMNS[key.strip().lower()]: value for key, value in row.items() if key and key.strip().lower() in COLUMNS
    }
    for name in ("shop", "type"):
        if not str(known.get(name) or "").strip():
            raise UsageError(f"column {name} is empty", field=name)
    shop = str(known["shop"]).strip()
    platform = str(known.get("platform") or "").strip()
    if not platform and ":" in shop:
        platform, _, shop = shop.partition(":")
    if not platform:
        raise UsageError("column platform is empty", field="platform")
    payload = _payload(known.get("payload"))
    for key, value in row.items():
        if key and key.startswith("payload.") and value not in (None, ""):
            payload[key[8:]] = json_text.read_value(value) if isinstance(value, str) else value
    return TaskSpec(
        platform=platform,
        shop_id=shop,
        task_type=str(known["type"]).strip(),
        payload=payload,
        priority=known.get("priority") or "",
        delay_s=_number(known.get("delay")),
        line=line,
    )


def _payload(value: Any) -> dict[str, Any]:
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        return json_text.read_object(value, "payload")
    if not isinstance(value, dict):
        raise UsageError("payload must be a JSON object", field="payload")
    return dict(value)


def _number(value: Any) -> float:
    if value in (None, ""):
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError) as exc:
        raise UsageError(f"delay must be seconds, not {value!r:.40}", field="delay") from exc


def _csv(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
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
    raise UsageError(f"{path.name} is neither UTF-8 nor GB18030 text; save it as UTF-8", field="--file")


def _xlsx(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
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
        raise UsageError(f"{path.name} is not a readable workbook: {exc}"[:300], field="--file") from exc


def _jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    # only these end a line: a text inside may hold the other ends of line that Unicode knows
    for number, line in enumerate(decode(path).replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json_text.read_object(line, "the line", field="line")
        except UsageError as exc:
            yield number, str(exc)
