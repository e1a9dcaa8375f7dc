"""Writes the audit to a file, a table or lines of JSON: whole or not at all, no formulas, no secrets."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterable
from datetime import tzinfo
from pathlib import Path

from services import whole_file
from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.text.cells import guarded
from services.domain.text.mask import masked_json, masked_text
from services.monitor.files.export import Stopped as Stopped
from services.monitor.files.export import moment

COLUMNS = (
    *("time", "person", "act", "objects", "state", "outcome", "ended", "details"),
    *("entry", "seal", "outcome_seal", "from"),
)


JSONL = ".jsonl"


def write(
    entries: Iterable[AuditEntry], path: Path, zone: tzinfo, now_ms: int, *, stop: threading.Event | None = None
) -> int:
    """Write entries to ``path`` and return how many they were; times are ISO 8601 with offset. A name that ends in
    ``.jsonl`` gets one JSON object a line, every other a table. Blocking.

    Raises:
        Stopped: ``stop`` was set; the file is as it was before.
        OSError: the file cannot be written.
    """
    lines = path.suffix.lower() == JSONL
    count = 0
    with whole_file.written(path, encoding="utf-8" if lines else "utf-8-sig", newline="") as file:
        table = csv.writer(file)
        if not lines:
            table.writerow(COLUMNS)
        for entry in entries:
            _go_on(stop)
            if lines:
                file.write(json.dumps(_object(entry, zone, now_ms), ensure_ascii=False) + "\n")
            else:
                table.writerow([guarded(cell) for cell in _cells(entry, zone, now_ms)])
            count += 1
        _go_on(stop)
    return count


def _object(entry: AuditEntry, zone: tzinfo, now_ms: int) -> dict[str, object]:
    """The same as a row, and what the seals bind it to: the entry before, and per side the link of its writer."""
    told: dict[str, object] = dict(zip(COLUMNS, _cells(entry, zone, now_ms), strict=True))
    told["objects"] = [masked_text(one) for one in entry.target]
    told["details"] = _read(str(told["details"]))
    return {
        **told,
        "before": entry.previous,
        "link": _link(entry.link),
        "outcome_link": _link(entry.end),
    }


def _link(link: audit.Link | None) -> dict[str, object] | None:
    if link is None:
        return None
    return {"number": link.number, "seen": list(link.seen), "unsure": list(link.unsure)}


def _read(detail: str) -> object:
    try:
        return json.loads(detail) if detail else None
    except (ValueError, RecursionError):
        return detail


def _go_on(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped("the export was stopped; nothing was written")


def _cells(entry: AuditEntry, zone: tzinfo, now_ms: int) -> tuple[str, ...]:
    return (
        moment(entry.at, zone),
        entry.who,
        entry.action,
        masked_text(" ".join(entry.target)),
        audit.state(entry, now_ms),
        masked_text(entry.outcome),
        moment(entry.closed_at, zone),
        masked_json(entry.detail) if entry.detail else "",
        entry.entry_id,
        entry.link.digest if entry.link is not None else entry.digest,
        entry.end.digest if entry.end is not None else "",
        audit.origin(entry),
    )
