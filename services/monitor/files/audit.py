"""Writes the audit to a file for a spreadsheet: whole or not at all, no formulas, no secrets."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from services import whole_file
from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.text.cells import guarded
from services.domain.text.mask import masked_json, masked_text
from services.monitor.files.export import Stopped as Stopped

COLUMNS = (
    *("time", "person", "act", "objects", "state", "outcome", "ended", "details"),
    *("entry", "seal", "outcome_seal", "from"),
)


def write_csv(
    entries: Iterable[AuditEntry], path: Path, zone: tzinfo, now_ms: int, *, stop: threading.Event | None = None
) -> int:
    """Write entries to ``path`` and return how many they were; times are ISO 8601 with offset. Blocking.

    Raises:
        Stopped: ``stop`` was set; the file is as it was before.
        OSError: the file cannot be written.
    """
    count = 0
    with whole_file.written(path, encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for entry in entries:
            _go_on(stop)
            writer.writerow([guarded(cell) for cell in _cells(entry, zone, now_ms)])
            count += 1
        _go_on(stop)
    return count


def _go_on(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped("the export was stopped; nothing was written")


def _cells(entry: AuditEntry, zone: tzinfo, now_ms: int) -> tuple[str, ...]:
    return (
        _moment(entry.at, zone),
        entry.who,
        entry.action,
        masked_text(" ".join(entry.target)),
        audit.state(entry, now_ms),
        masked_text(entry.outcome),
        _moment(entry.closed_at, zone),
        masked_json(entry.detail) if entry.detail else "",
        entry.entry_id,
        entry.link.digest if entry.link is not None else entry.digest,
        entry.end.digest if entry.end is not None else "",
        audit.origin(entry),
    )


def _moment(instant_ms: int, zone: tzinfo) -> str:
    if not instant_ms:
        return ""
    return datetime.fromtimestamp(instant_ms / 1000, UTC).astimezone(zone).isoformat(timespec="milliseconds")
