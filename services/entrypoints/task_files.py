"""Reads tasks from CSV, XLSX and JSON-lines files; every fault names its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from services import table_files
from services.domain import dependency
from services.domain.errors import UsageError
from services.engine.producer import TaskSpec
from services.entrypoints import json_text
from services.entrypoints.instants import Instants

JSON_LINES = (".jsonl", ".ndjson")
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
    "not_before": "not_before",
    "deadline": "deadline",
    "key": "key",
    "depends_on": "depends_on",
    "on_dependency_failure": "on_dependency_failure",
}
_BETWEEN = re.compile(r"[\s,;，；、]+")
Fault = tuple[int, str, str]  #: line, field, sentence


def read(path: Path, instants: Instants) -> tuple[list[TaskSpec], list[Fault]]:
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
            specs.append(spec(row, line, instants))
        except UsageError as exc:
            faults.append((line, exc.field, str(exc)))
    if not specs and not faults:
        raise UsageError(f"{path.name} holds no task; the header must name platform, shop and type", field="--file")
    return specs, faults


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    table_files.check(path, (*table_files.ENDINGS, *JSON_LINES))
    table = path.suffix.lower() not in JSON_LINES
    for line, row in table_files.rows_of(path) if table else _jsonl(path):
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


def spec(row: Mapping[str, Any], line: int, instants: Instants) -> TaskSpec:
    """One row as a spec; columns named ``payload.NAME`` fill the payload, ``key`` names it for others' ``depends_on``.

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
        at_ms=instants.read(str(known.get("not_before") or ""), "not_before"),
        deadline_ms=instants.read(str(known.get("deadline") or ""), "deadline"),
        line=line,
        key=str(known.get("key") or "").strip(),
        depends_on=_names(known.get("depends_on")),
        on_dependency_failure=str(known.get("on_dependency_failure") or "").strip().lower() or dependency.HOLD,
    )


def _payload(value: Any) -> dict[str, Any]:
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        return json_text.read_object(value, "payload")
    if not isinstance(value, dict):
        raise UsageError("payload must be a JSON object", field="payload")
    return dict(value)


def _names(value: Any) -> tuple[str, ...]:
    """Ids and keys: a JSON list, or one cell that separates them by spaces, commas or semicolons."""
    if isinstance(value, list):
        if not all(isinstance(name, str) and name for name in value):
            raise UsageError("depends_on must be a list of ids and keys", field="depends_on")
        return tuple(value)
    return tuple(_BETWEEN.sub(" ", str(value)).split()) if value not in (None, "") else ()


def _number(value: Any) -> float:
    if value in (None, ""):
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError) as exc:
        raise UsageError(f"delay must be seconds, not {value!r:.40}", field="delay") from exc


def _jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    # only these end a line: a text inside may hold the other ends of line that Unicode knows
    for number, line in enumerate(table_files.decode(path).replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json_text.read_object(line, "the line", field="line")
        except UsageError as exc:
            yield number, str(exc)
