"""``task artifacts``: the files that a task left behind, listed or saved."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from services import assembly
from services.cli import shapes
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, table
from services.domain.errors import ArtifactError, NotFound, UsageError
from services.domain.task.artifact import Artifact, safe_name
from services.domain.task.record import Task
from services.monitor.artifacts import ArtifactQueries, Found

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
        number, note = attempt.number, attempt.artifacts_note
        out += [f"{'file':<14} {number}/{one.name}  {one.kind}, {one.size:,} bytes" for one in attempt.artifacts]
        out += [f"{'files':<14} attempt {number}: {note}"] if note else []
    return out


def artifacts(context: Context) -> int:
    """List them, and save those that are here."""
    task_id, folder = context.args.id, context.args.save
    with context.engine() as engine:
        (record,) = engine.store.get([task_id])
        questions = assembly.queries(engine).artifacts
        found = questions.of(task_id, record)
        if record is None and not found:
            raise NotFound(f"there is no task {task_id!r:.220}, and no file of it is here", field="id")
        saved = _save(questions, found, Path(folder)) if folder else {}
    context.warn([str(problem) for problem in saved.values() if isinstance(problem, ArtifactError)])
    rows = [_row(one, saved.get(one.artifact)) for one in found]
    header = ("attempt", "name", "kind", "size", "step", "at", "here", "sha256")
    shown = table(header, [[row[name] for name in header] for row in rows]) if rows else [f"{task_id} left no files"]
    context.show({"artifacts": rows, "where": questions.where()}, shown)
    return EXIT_FAILED if folder and not all(row["saved"] for row in rows) else EXIT_OK


def _save(questions: ArtifactQueries, found: Iterable[Found], folder: Path) -> dict[Artifact, Path | ArtifactError]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UsageError(f"{folder} cannot be made: {exc.strerror or exc}", field="--save") from exc
    out: dict[Artifact, Path | ArtifactError] = {}
    for one in (each.artifact for each in found):
        try:
            out[one] = _copy(questions, one, folder / f"{one.attempt}-{safe_name(one.name)}")
        except (ArtifactError, OSError) as exc:
            why = exc.strerror if isinstance(exc, OSError) and exc.strerror else exc
            out[one] = ArtifactError(f"{one.name} is not saved: {why}")
    return out


def _copy(questions: ArtifactQueries, one: Artifact, target: Path) -> Path:
    """One file, byte by byte as it was kept.

    Raises:
        ArtifactError: it cannot be read, or is not what was kept.
        OSError: it cannot be written, or the name is taken.
    """
    digest = hashlib.sha256()
    with questions.open(one) as source, target.open("xb") as out:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    if one.sha256 and digest.hexdigest() != one.sha256:
        raise ArtifactError(f"it was changed since it was kept; what is there now is in {target}")
    return target


def _row(found: Found, saved: Path | ArtifactError | None) -> dict[str, Any]:
    one = found.artifact
    names = ("attempt", "name", "kind", "size", "step", "sha256", "place")
    return {name: getattr(one, name) for name in names} | {
        "at": shapes.iso(one.at),
        "here": found.here,
        "saved": str(saved) if isinstance(saved, Path) else None,
    }
