"""Writes tasks to a file for a spreadsheet or another program: whole or not at all, no formulas, no secrets."""

from __future__ import annotations

import csv
import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import IO, Any

from services import called, whole_file
from services.domain.errors import ConsoleError, UsageError
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.text.cells import guarded
from services.domain.text.mask import masked_json, masked_text
from services.domain.text.said import said
from services.monitor.files import sheet

FORMATS = ("csv", "xlsx", "json", "jsonl")
#: what a sheet can hold
MOST_SHEET_ROWS = 1_048_576
_TOLD_EVERY = 500


class Stopped(ConsoleError):
    """The person did not want it any more; nothing was written."""


def fields(task: Task, shop: Shop | None, zone: tzinfo, gate: str = "") -> dict[str, Any]:
    """A task as it is exported: names of the record, times as ISO 8601 with offset, secrets as dots. ``gate``: where it
    waits now, told by its name and in words; "" where it does not.
    """
    return {
        "task_id": task.task_id,
        "status": str(task.status),
        "gate": gate,
        "waits_for": called.gate(gate),
        "task_type": task.task_type,
        "platform": task.platform,
        "shop_id": task.shop_id,
        "shop_name": shop.name if shop is not None else "",
        "lane": str(task.lane),
        "priority": task.priority,
        "attempt": task.attempt,
        "max_retries": task.max_retries,
        "worker": task.worker,
        "created_at": moment(task.created_at, zone),
        "due_at": moment(task.due_at, zone),
        "started_at": moment(task.started_at, zone),
        "ended_at": moment(task.ended_at, zone),
        "updated_at": moment(task.updated_at, zone),
        "error_kind": task.error_kind,
        "error": masked_text(task.error),
        "triage": task.triage,
        "created_by": task.created_by,
        "origin": task.origin,
        "batch": task.batch,
        "parent": task.parent,
        "successor": task.successor,
        "payload": masked_json(task.payload),
        "result": masked_json(task.result),
    }


def write(
    tasks: Iterable[Task],
    path: Path,
    shops: Mapping[str, Shop],
    zone: tzinfo,
    *,
    gates: Callable[[Sequence[Task]], Mapping[str, str]] = lambda _tasks: {},
    told: Callable[[int], None] = lambda _number: None,
    stop: threading.Event | None = None,
) -> int:
    """Write ``tasks`` to ``path``, whose ending names the format, and return how many they were. Blocking.

    ``gates`` tells by id where tasks wait now, ``told`` hears now and then how many are written. The file is there
    whole or, after an error or ``stop``, as before.

    Raises:
        UsageError: the ending is no known format, or there are more tasks than a sheet has rows.
        Stopped: ``stop`` was set.
        OSError: the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(said("export.ending", name=path.name), field="file")
    count = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal count
        left = iter(tasks)
        while some := list(itertools.islice(left, _TOLD_EVERY)):
            waits = gates(some)
            for task in some:
                if stop is not None and stop.is_set():
                    raise Stopped("the export was stopped; nothing was written")
                yield fields(task, shops.get(task.shop), zone, waits.get(task.task_id, ""))
            count += len(some)
            if len(some) == _TOLD_EVERY:
                told(count)

    draft = whole_file.draft_of(path)
    try:
        {"csv": _csv, "xlsx": _xlsx, "json": _json, "jsonl": _jsonl}[kind](rows(), draft)
        whole_file.put(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    told(count)
    return count


def document(task: Task, shop: Shop | None, zone: tzinfo, gate: str = "") -> dict[str, Any]:
    """A task as JSON: payload and result are values, not texts."""
    return _with_values(fields(task, shop, zone, gate))


def moment(instant_ms: int, zone: tzinfo) -> str:
    """An instant as files tell it, "" for none."""
    if not instant_ms:
        return ""
    return datetime.fromtimestamp(instant_ms / 1000, UTC).astimezone(zone).isoformat(timespec="milliseconds")


def _cells(row: Mapping[str, Any]) -> list[Any]:
    return [guarded(value) if isinstance(value, str) else value for value in row.values()]


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[IO[str]]:
    with path.open("w", encoding=encoding, errors="replace", newline="") as stream:
        yield stream


def _names() -> list[str]:
    return list(fields(Task(task_id="", shop_id="", platform="", task_type=""), None, UTC))


def _csv(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    # the mark at the beginning tells spreadsheets that the Chinese names are UTF-8
    with _opened(path, "utf-8-sig") as stream:
        writer = csv.writer(stream)
        writer.writerow(_names())
        for row in rows:
            writer.writerow(_cells(row))


def _json(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    with _opened(path, "utf-8") as stream:
        lead = "["
        for row in rows:
            stream.write(f"{lead}\n{json.dumps(_with_values(row), ensure_ascii=False)}")
            lead = ","
        stream.write("[]\n" if lead == "[" else "\n]\n")


def _jsonl(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    with _opened(path, "utf-8") as stream:
        for row in rows:
            stream.write(f"{json.dumps(_with_values(row), ensure_ascii=False)}\n")


def _with_values(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "payload": _value(row["payload"]), "result": _value(row["result"])}


def _value(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _xlsx(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    def lines() -> Iterator[list[Any]]:
        yield _names()
        for number, row in enumerate(rows, start=2):
            if number > MOST_SHEET_ROWS:
                most = MOST_SHEET_ROWS - 1
                raise UsageError(said("export.rows", most=f"{most:,}"), field="file")
            yield _cells(row)

    sheet.write(path, "tasks", lines())
