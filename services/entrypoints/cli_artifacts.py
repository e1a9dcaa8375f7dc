"""``task artifacts``: the files that a task left behind, listed or saved."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import Any

from services.domain.artifact import Artifact, ArtifactMark, marked, safe_name
from services.domain.errors import ArtifactError, UsageError
from services.domain.task import Task
from services.entrypoints import shapes
from services.entrypoints.context import EXIT_FAILED, EXIT_OK, Context, table
from services.ports import ArtifactStore

_CHUNK = 1024 * 1024


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser = verbs.add_parser("artifacts", parents=[common], help="the files that a task left behind")
    parser.add_argument("id")
    parser.add_argument("--save", metavar="DIR", default="", help="copy those that lie here into this folder")
    parser.set_defaults(handler=artifacts)


def lines(record: Task) -> list[str]:
    """What ``task show`` says about files."""
    out = []
    for attempt in record.attempts:
        out += [f"file           {attempt.number}/{one.name}  {one.kind}, {_size(one)}" for one in attempt.artifacts]
        out += [f"files          attempt {attempt.number}: {attempt.artifacts_note}"] if attempt.artifacts_note else []
    return out


def artifacts(context: Context) -> int:
    """List them, and save those that are here."""
    task_id = context.args.id
    with context.engine() as engine:
        place = engine.artifacts
        (record,) = engine.store.get([task_id])
        here = place.list(task_id) if place is not None else []
        if record is None and not here:
            raise UsageError(f"there is no task {task_id!r:.220}, and no file of it is here", field="id")
        found = _all(here, record)
        saved = _save(place, here, Path(context.args.save)) if place is not None and context.args.save else {}
    near = {(one.attempt, one.name) for one in here}
    problems = [text for text in saved.values() if isinstance(text, ArtifactError)]
    rows = [_row(one, here=(one.attempt, one.name) in near, saved=saved.get(one)) for one in found]
    header = ("attempt", "name", "kind", "bytes", "step", "at", "here", "sha256")
    document = {
        "artifacts": [_document(row) for row in rows],
        "where": place.where() if place is not None else None,
    }
    context.warn([str(problem) for problem in problems])
    shown = [[row[name] for name in header] for row in rows]
    context.show(document, table(header, shown) if rows else [f"{task_id} left no files"])
    missing = context.args.save and len(saved) - len(problems) < len(found)
    return EXIT_FAILED if missing else EXIT_OK


def _all(here: list[Artifact], record: Task | None) -> list[Artifact]:
    """Those that are here, and those that only the record knows: they lie on the machine of their worker."""
    known = {(one.attempt, one.name) for one in here}
    if record is None:
        return here
    named = [
        marked(record.task_id, attempt.number, one)
        for attempt in record.attempts
        for one in attempt.artifacts
        if (attempt.number, one.name) not in known
    ]
    return sorted([*here, *named], key=lambda one: (one.attempt, one.at, one.name))


def _save(place: ArtifactStore, here: list[Artifact], folder: Path) -> dict[Artifact, Path | ArtifactError]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UsageError(f"{folder} cannot be made: {exc.strerror or exc}", field="--save") from exc
    out: dict[Artifact, Path | ArtifactError] = {}
    for one in here:
        try:
            out[one] = _copy(place, one, folder / f"{one.attempt}-{safe_name(one.name)}")
        except (ArtifactError, OSError) as exc:
            why = exc.strerror if isinstance(exc, OSError) and exc.strerror else exc
            out[one] = ArtifactError(f"{one.name} is not saved: {why}")
    return out


def _copy(place: ArtifactStore, one: Artifact, target: Path) -> Path:
    """One file, byte by byte as it was kept.

    Raises:
        ArtifactError: it cannot be read, or is not what was kept.
        OSError: it cannot be written, or the name is taken.
    """
    digest = hashlib.sha256()
    with place.open(one) as source, target.open("xb") as out:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    if one.sha256 and digest.hexdigest() != one.sha256:
        raise ArtifactError(f"it was changed since it was kept; what is there now is in {target}")
    return target


def _row(one: Artifact, *, here: bool, saved: Path | ArtifactError | None) -> dict[str, Any]:
    return {
        "attempt": one.attempt,
        "name": one.name,
        "kind": one.kind,
        "bytes": one.size,
        "step": one.step,
        "at": shapes.iso(one.at),
        "here": here,
        "sha256": one.sha256,
        "place": one.place,
        "saved": str(saved) if isinstance(saved, Path) else None,
    }


def _document(row: dict[str, Any]) -> dict[str, Any]:
    return {("size" if name == "bytes" else name): value for name, value in row.items()}


def _size(one: ArtifactMark) -> str:
    return f"{one.size:,} bytes"
