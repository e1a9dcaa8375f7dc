"""``export`` and ``import``: records as JSON lines, to keep or to move what is left to another fleet."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from services import assembly, whole_file
from services.cli import choose, progress, record_files, spoken
from services.cli.context import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Context, examples
from services.commands.records import as_it_should_be, left_out
from services.domain.errors import UsageError
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.ports import Letter

EXAMPLES = (
    "export --filter 'status:dead triage:open' --out dead.jsonl",
    "export > everything.jsonl",
    "import dead.jsonl --profile shops --dry-run",
)
#: what the help adds
MASKED = (
    "\nSecrets are dots, and import leaves such records out. To move records with their secrets, add --reveal,\n"
    "which goes into the audit.\n"
)

#: bad lines of a file that a person is told
LISTED = 20


def add(nouns: Any) -> None:
    """Declare both verbs."""
    exporting = nouns.add_parser(
        "export", handler=export, help="records as JSON lines, dead ones with their messages", **examples(EXAMPLES)
    )
    exporting.add_argument("--filter", metavar="EXPR", default="", help="default: every record")
    exporting.add_argument("--out", metavar="FILE", default="", help="default: print them (not with --json)")
    exporting.epilog = f"{exporting.epilog}{MASKED}"
    exporting.add_argument("--yes", action="store_true", help="replace a file that is there")
    importing = nouns.add_parser(
        "import",
        handler=import_records,
        help="take over waiting tasks and open dead letters from an export",
        description="Waiting tasks are created under their own ids, open dead letters with their story. What has ended,"
        " runs or is held there is left out and named. The other fleet must not run them any more: stop it first.",
        **examples(EXAMPLES),
    )
    importing.add_argument("file", metavar="FILE")
    importing.add_argument("--dry-run", action="store_true", help="show what would be taken over")
    importing.add_argument("--yes", action="store_true", help="do not ask")


def export(context: Context) -> int:
    """Write records."""
    args = context.args
    if context.json and not args.out:
        raise UsageError(spoken.phrase("with --json the records need a file: add --out FILE"), field="--out")
    path = Path(args.out) if args.out else None
    if path is not None:
        check_file(path, "--out", "" if args.yes else spoken.phrase("add --yes to replace it"))
    with context.engine() as engine:
        if path is None:
            _write(engine, args.filter, sys.stdout)
            return EXIT_OK
        with _whole(path, "--out") as file:
            count = _write(engine, args.filter, file)
    told = spoken.plural("{count} record in {path}", "{count} records in {path}", count, path=path)
    context.show({"exported": count, "file": str(path)}, [told])
    return EXIT_OK


def check_file(path: Path, field: str, otherwise: str) -> None:
    """Whether records may be written there; ``otherwise``: what to do where it is there already, "" to replace it.

    Raises:
        UsageError: it is a folder, or there already and not to be replaced; ``field`` is the option.
    """
    if path.is_dir():
        raise UsageError(spoken.phrase("{path} cannot be written: it is a folder; name a file", path=path), field=field)
    if path.exists() and otherwise:
        raise UsageError(
            spoken.phrase("{path} is there already; {otherwise}", path=path, otherwise=otherwise), field=field
        )


def write_file(engine: assembly.Engine, task_ids: Sequence[str], path: Path, field: str) -> None:
    """Write these records as JSON lines.

    Raises:
        UsageError: the file cannot be written; ``field`` is the option.
    """
    with _whole(path, field) as file:
        for task in assembly.queries(engine).tasks.each_of(task_ids):
            file.write(record_files.write(task, None))


@contextmanager
def _whole(path: Path, field: str) -> Iterator[TextIO]:
    """A file of that name is always whole."""
    try:
        with whole_file.written(path, newline="\n") as file:
            yield file
    except OSError as exc:
        raise UsageError(
            spoken.phrase("{path} cannot be written: {error}", path=path, error=spoken.told(exc)), field=field
        ) from exc


def import_records(context: Context) -> int:
    """Take records over."""
    args = context.args
    rows = list(record_files.read(Path(args.file)))
    if not rows:
        raise UsageError(spoken.phrase("{file} holds no record", file=args.file), field="FILE")
    errors = [{"line": row.line, "error": row.error} for row in rows if row.error]
    tasks = [row.task for row in rows if row.task is not None]
    letters = {row.letter.task_id: row.letter for row in rows if row.letter is not None}
    lines = [spoken.phrase("line {line}: {error}", line=one["line"], error=one["error"]) for one in errors[:LISTED]]
    if len(errors) > LISTED:
        lines.append(spoken.phrase("and {n} more such lines; --json names them all", n=f"{len(errors) - LISTED:,}"))
    if args.dry_run:
        return _foresee(context, tasks, letters, lines, errors)
    wanted = [task for task in tasks if left_out(task, letters.get(task.task_id)) is None]
    with context.engine() as engine:
        if not context.confirm("import", len(wanted)):
            return EXIT_FAILED
        with progress.of_portions("import", len(tasks), quiet=context.json):
            outcome = assembly.commands(engine).records.import_records(tasks, letters)
    context.show(choose.document(outcome) | {"errors": errors}, [*lines, *choose.lines(outcome, "import")])
    clean = not outcome.failed and all(as_it_should_be(one.why) for one in outcome.skipped)
    return EXIT_USAGE if errors else EXIT_OK if clean else EXIT_FAILED


def _foresee(
    context: Context,
    tasks: Sequence[Task],
    letters: Mapping[str, Letter],
    lines: Sequence[str],
    errors: Sequence[Mapping[str, Any]],
) -> int:
    """Show what would be taken over, what is here already among what would not."""
    with context.engine(looking=True) as engine:
        faults = assembly.commands(engine).records.foresee(tasks, letters)
    reasons = Counter(spoken.say(why) for why in faults if why is not None)
    count = faults.count(None)
    context.show(
        {"dry_run": True, "count": count, "left_out": dict(reasons), "errors": errors},
        [
            *lines,
            spoken.plural("import: {count} record", "import: {count} records", count),
            *(f"{number:>8}  {why}" for why, number in reasons.items()),
        ],
    )
    return EXIT_USAGE if errors else EXIT_OK


def _write(engine: assembly.Engine, text: str, file: TextIO) -> int:
    count = 0
    for line in _lines(engine, text):
        file.write(line)
        count += 1
    return count


def _lines(engine: assembly.Engine, text: str) -> Iterator[str]:
    """Oldest first; what is created meanwhile comes at the end."""
    for task in assembly.queries(engine).tasks.each(text, descending=False):
        letter = engine.store.get_letter(task.task_id) if task.status == Status.DEAD else None
        yield record_files.write(task, letter)
