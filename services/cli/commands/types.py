"""``type``: list, show, import, export. What a type is lives in the store; how it runs only on the workers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from services import assembly, plain_file
from services.cli import guesses, json_text, lexicon, output, spoken
from services.cli.context import EXIT_OK, EXIT_USAGE, Context, examples, table, whole
from services.commands import types
from services.domain.errors import NotFound, UsageError
from services.domain.task.artifact import safe_name
from services.domain.types.task_type import EXECUTORS, TaskType
from services.domain.upkeep import stored
from services.i18n import N_

EXAMPLES = (
    "type list",
    "type show sync_order",
    "type export sync_order > sync_order.json",
    "type import sync_order.json --dry-run",
    "type import my_types/",
)


class Source(msgspec.Struct, frozen=True):
    """One document and where it came from."""

    place: str
    body: str


def add(nouns: Any) -> None:
    noun = nouns.add_parser("type", help="task types: their policy", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_types, help="all task types")
    showing = verbs.add_parser("show", handler=show, help="one task type as JSON, and its versions")
    showing.add_argument("name")
    showing.add_argument("--version", type=whole(0, 2**31 - 1), default=None, dest="number", help="an earlier version")
    importing = verbs.add_parser(
        "import",
        handler=import_types,
        help="insert or change task types from JSON files",
        description='Each file is one task type, a list of them, or {"types": [...]}; a folder means its *.json, - the'
        " standard input. All or nothing: with one fault nothing is changed and every fault is listed.",
    )
    importing.add_argument("files", nargs="+", metavar="FILE")
    importing.add_argument("--dry-run", action="store_true", help="show what would change")
    importing.add_argument("--force", action="store_true", help="also over a version that the file was not made from")
    exporting = verbs.add_parser("export", handler=export, help="task types as JSON, ready to be imported")
    exporting.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    exporting.add_argument("--out", default="", metavar="FOLDER", help="write NAME.json there instead of printing")
    exporting.add_argument("--yes", action="store_true", help="replace files that are there")


def list_types(context: Context) -> int:
    """Print task types."""
    with context.engine() as engine:
        kinds = sorted(engine.registry.types().values(), key=lambda kind: kind.name)
    document = {"types": [msgspec.to_builtins(kind) for kind in kinds]}
    rows = [
        (kind.name, kind.version, kind.executor, kind.timeout_s, kind.max_retries, kind.idempotent, kind.uniqueness)
        for kind in kinds
    ]
    header = ("type", "version", "executor", "timeout", "retries", "idempotent", "uniqueness")
    context.show(document, table(header, rows))
    return EXIT_OK


def show(context: Context) -> int:
    """Print one task type."""
    name, number = context.args.name, context.args.number
    with context.engine() as engine:
        kind = _one(engine, name)
        kept = engine.store.documents(types.HISTORY)
    found: dict[str, Any] = msgspec.to_builtins(kind)
    versions = sorted({kind.version, *stored.versions(kept, name)})
    if number is not None and number != kind.version:
        if f"{name}@{number}" not in kept:
            raise NotFound(
                spoken.phrase(
                    "{name} has no version {number}; known: {names}",
                    name=name,
                    number=number,
                    names=", ".join(map(str, versions)),
                ),
                "--version",
            )
        found = json.loads(kept[f"{name}@{number}"])
    lines = [
        json.dumps(found, ensure_ascii=False, indent=2),
        spoken.phrase("versions: {names}", names=", ".join(map(str, versions))),
    ]
    context.show({"type": found, "versions": versions}, lines)
    return EXIT_OK


def import_types(context: Context) -> int:
    """Import files, all or nothing."""
    args = context.args
    sources = [source for name in args.files for source in documents_of(name)]
    if not sources:
        raise UsageError(
            spoken.phrase("there is no task type in {names}", names=f"{', '.join(args.files)!r:.200}"), field="FILE"
        )
    bodies = [source.body for source in sources]
    with context.engine() as engine:
        fleet = assembly.commands(engine).fleet
        changes, faults = fleet.plan_types(bodies, force=args.force)
        if not faults and not args.dry_run:
            changes = list(fleet.import_types(bodies, force=args.force))
    errors = [
        {"place": sources[one.place].place, "field": one.field, "error": spoken.told(one.error)} for one in faults
    ]
    done = [
        {
            "name": one.kind.name,
            "what": one.what,
            "version": one.kind.version,
            "fields": list(one.fields),
        }
        for one in changes
    ]
    warnings = [_no_executor(one.kind) for one in changes if one.kind.executor not in EXECUTORS]
    document: dict[str, Any] = {
        "types": [] if faults else done,
        "errors": errors,
        "dry_run": args.dry_run,
        "warnings": warnings,
    }
    if faults:
        document |= {"error": f"{errors[0]['place']}: {errors[0]['error']}", "field": errors[0]["field"]}
        context.show(
            document, [*(f"{one['place']}: {one['error']}" for one in errors), spoken.phrase("nothing was changed")]
        )
        return EXIT_USAGE
    context.warn(warnings)
    context.show(
        document,
        [
            spoken.phrase(
                N_("{name}: would be {what}, version {version}")
                if args.dry_run
                else N_("{name}: {what}, version {version}"),
                name=one.kind.name,
                what=lexicon.called("change", one.what),
                version=one.kind.version,
            )
            + (f" ({', '.join(one.fields)})" if one.fields else "")
            for one in changes
        ],
    )
    return EXIT_OK


def _no_executor(kind: TaskType) -> str:
    """A worker may have executors of its own, so it is told only: its tasks would wait for such a worker."""
    what = spoken.phrase("{name}: no executor here is called {executor}", name=kind.name, executor=kind.executor)
    return spoken.meant(what, guesses.near(kind.executor, EXECUTORS))


def export(context: Context) -> int:
    """Print task types, or write one file each."""
    args = context.args
    with context.engine() as engine:
        names = args.names or sorted(engine.registry.types())
        kinds = [_one(engine, name) for name in dict.fromkeys(names)]
    documents = [msgspec.to_builtins(kind) for kind in kinds]
    if not args.out:
        plain = documents[0] if len(args.names) == 1 else documents
        context.show({"types": documents}, [json.dumps(plain, ensure_ascii=False, indent=2)])
        return EXIT_OK
    folder = Path(args.out)
    paths = [folder / safe_name(f"{kind.name}.json") for kind in kinds]
    there = [path.name for path in paths if path.exists()]
    if there and not args.yes:
        raise UsageError(
            spoken.phrase(
                "{folder} has {names} already; add --yes to replace them", folder=folder, names=", ".join(there)[:200]
            ),
            field="--out",
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(spoken.phrase("{folder} is not a folder", folder=folder), field="--out")
    folder.mkdir(parents=True, exist_ok=True)
    for path, document in zip(paths, documents, strict=True):
        path.write_text(output.document(document, indent=2) + "\n", encoding="utf-8")
    context.show({"written": [str(path) for path in paths]}, [str(path) for path in paths])
    return EXIT_OK


def _one(engine: assembly.Engine, name: str) -> TaskType:
    found = engine.registry.types().get(name)
    if found is None:
        raise NotFound(
            spoken.phrase("nobody has defined the task type {name}; see `type list`", name=f"{name!r:.70}"),
            field="name",
        )
    return found


def documents_of(name: str) -> list[Source]:
    """The documents of a file, a folder or the standard input.

    Raises:
        UsageError: it cannot be read or is not JSON.
    """
    if name == "-":
        place = spoken.phrase("standard input")
        try:
            return _documents(place, sys.stdin.read(json_text.MAX_DOCUMENT + 1) if sys.stdin is not None else "")
        except UnicodeDecodeError as exc:
            raise UsageError(spoken.phrase("{one} is not UTF-8 text", one=place), field="FILE") from exc
    path = Path(name)
    paths = sorted(path.glob("*.json")) if path.is_dir() else [path]
    found: list[Source] = []
    for one in paths:
        try:
            text = plain_file.read(one, json_text.MAX_DOCUMENT).decode("utf-8-sig")
        except OSError as exc:
            raise UsageError(
                spoken.phrase("{one} cannot be read: {error}", one=one, error=spoken.told(exc)), field="FILE"
            ) from exc
        except UnicodeDecodeError as exc:
            raise UsageError(spoken.phrase("{one} is not UTF-8 text", one=one), field="FILE") from exc
        found += _documents(one.name, text)
    return found


def _documents(place: str, text: str) -> list[Source]:
    try:
        value = json_text.read_document(text)
    except UsageError as exc:
        raise UsageError(f"{place}: {spoken.told(exc)}", field="FILE") from exc
    if isinstance(value, dict) and isinstance(value.get("types"), list) and "name" not in value:
        value = value["types"]
    rows = value if isinstance(value, list) else [value]
    many = len(rows) > 1
    return [
        Source(f"{place}[{number}]" if many else place, json.dumps(row, ensure_ascii=False))
        for number, row in enumerate(rows)
    ]
