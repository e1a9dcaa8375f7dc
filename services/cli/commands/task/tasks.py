"""``task``: list, show, cancel, retry, run-now, prioritize, resolve, log, artifacts; ``create`` is in ``create``."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from services import assembly
from services.cli import choose, lexicon, output, progress, shapes, spoken, tables
from services.cli.commands.task import create, duplicates
from services.cli.context import EXIT_FAILED, EXIT_OK, MAX_ROWS, Context, examples, table, whole
from services.domain.errors import ArtifactError, NotFound, UsageError
from services.domain.insight import attempts, same_work, wait
from services.domain.insight.forecast import estimate
from services.domain.task import classify, own_words
from services.domain.task.artifact import Artifact, safe_name
from services.domain.task.record import Task
from services.domain.task.search.query import SORTS
from services.domain.task.status import TERMINAL, Status
from services.monitor.artifacts import ArtifactQueries, Found
from services.monitor.tasks import TaskDetail, refuse_unread
from services.ports import LogLine

EXAMPLES = (
    'task create --platform pdd --shop s1 --type sync_order --payload \'{"since": "2026-11-20"}\'',
    "task create --file tasks.csv --strict",
    "task list --filter 'status:running,retrying platform:temu age>1h'",
    "task show pdd_sync_order_s1_1f3a9c20",
    "task log pdd_sync_order_s1_1f3a9c20 --follow",
    "task artifacts pdd_sync_order_s1_1f3a9c20 --save files",
    "task duplicates",
    "task resolve pdd_batch_reply_s1_1f3a9c20 --as succeeded --note 'the buyers have the answer'",
    "task cancel --filter 'batch:B1 status:waiting' --dry-run",
    "task try pdd_sync_order_s1_1f3a9c20 --reason 'the buyer is on the phone'",
    "task prioritize pdd_sync_order_s1_1f3a9c20 --priority high",
)
#: words of the command line -> what the record becomes
DECISIONS = {"succeeded": Status.SUCCEEDED, "again": Status.PENDING, "dead": Status.DEAD}
#: what stands in the list beside the usual, where that is its order
_SORTED_BY = {"updated": "updated_at", "priority": "priority", "due": "due_at"}
_CHUNK = 1024 * 1024
#: seconds between two looks at a task that is followed
PACE_S = 0.5
#: nothing more is printed while a task is in one of these, and nobody knows for how long
OVER = TERMINAL | {Status.HELD}
HIGHEST = 2**31 - 1


def add(nouns: Any) -> None:
    noun = nouns.add_parser("task", help="create, look at and change tasks", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    create.add(verbs.add_parser("create", help="create one task, or many from a file"))
    listing = verbs.add_parser("list", handler=list_tasks, help="tasks that match a filter")
    listing.add_argument("--filter", metavar="EXPR", default="")
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.add_argument("--sort", default="created", help=f"{', '.join(SORTS)}; the last first")
    listing.add_argument("--reverse", action="store_true", help="the first first")
    listing.add_argument("--cursor", default="", help="`next` of the page before")
    showing = verbs.add_parser("show", handler=show, help="one task with attempts, gates and events")
    showing.add_argument("id")
    add_log(verbs)
    add_artifacts(verbs)
    duplicates.add(verbs)
    add_resolve(verbs)
    trying = verbs.add_parser(
        "try",
        handler=try_anyway,
        help="let one attempt through a pause, quiet hours or a failing shop",
        description="The next attempt of one task starts although a pause, quiet hours or the breaker of its shop holds"
        " it back. Who did it and why is kept with the task and in the audit. The gate stays closed for all others, an"
        " attempt after that waits again, and every other gate holds: a busy shop, a login, limits, the same work.",
    )
    trying.add_argument("id")
    chosen = trying.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--reason", help="why this one cannot wait; kept with the task")
    chosen.add_argument("--undo", action="store_true", help="take it back, while no attempt has begun with it")
    for name, text in (
        ("cancel", "end waiting tasks, ask running ones to stop"),
        ("retry", "next attempt now; a dead task is republished under a new id"),
        ("create-again", "make cancelled tasks again: the same work under new ids, linked to the old ones"),
        ("run-now", "put waiting tasks at the front"),
        ("prioritize", "change priority and lane"),
    ):
        parser = verbs.add_parser(name, help=text)
        choose.add_choice(parser)
        parser.set_defaults(handler=change, verb=name)
        if name == "prioritize":
            parser.add_argument("--priority", required=True, help="high, normal, low or 1-10")
        if name == "cancel":
            parser.add_argument("--reason", default="", help="needed for held tasks whose work may be done already")
        if name == "retry":
            parser.add_argument("--reason", default="", help="needed for held tasks, whose work may be done already")
        if name == "create-again":
            parser.add_argument(
                "--reason",
                default="",
                help="needed where the work has succeeded since, or so lately that its type asks for one",
            )


def list_tasks(context: Context) -> int:
    """Print one page."""
    args = context.args
    if args.sort not in SORTS:
        raise UsageError(
            spoken.phrase(
                "{name} takes {known}, not {given}", name="--sort", known=", ".join(SORTS), given=f"{args.sort!r}"
            ),
            field="--sort",
        )
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine).tasks
        page = questions.page(
            args.filter, sort=args.sort, descending=not args.reverse, limit=args.limit, cursor=args.cursor
        )
        gates = questions.gates(page.tasks)
        zone = shapes.zone(engine)
    tasks = [shapes.task(task, gates.get(task.task_id, "")) for task in page.tasks]
    document = {"tasks": tasks, "next": page.next, "total": page.total, "at_least": page.at_least}
    by = _SORTED_BY.get(args.sort, "")
    header = ("id", "status", "gate", "type", "shop", "lane", "attempt", "created", *([by] if by else []), "error")
    rows = [_row(task, gates.get(task.task_id, ""), zone, by) for task in page.tasks]
    context.show(document, table(header, rows))
    return EXIT_OK


def show(context: Context) -> int:
    """Print one task."""
    detail, zone = choose.looked_up(context)
    if detail is None:
        raise NotFound(
            spoken.phrase("there is no task {id}; see `task list`", id=f"{context.args.id!r:.220}"), field="id"
        )
    gates = [{"name": gate.name, "state": gate.state, **shapes.message(gate.message)} for gate in detail.gates]
    gate = wait.closed(detail.gates)
    record = shapes.task(detail.task, gate.name if gate is not None else "")
    told = record | {name: shapes.clock(getattr(detail.task, name), zone) for name in record if name in shapes.INSTANTS}
    told |= {"error": spoken.error(detail.task.error)}
    told |= {"losses": [shapes.clock(at, zone) for at in detail.task.losses]}
    if not detail.task.depends_on:
        told.pop("on_dependency_failure")
    lines = [tables.fact(name, value, 14) for name, value in told.items() if value not in (None, "", [], 0, -1)]
    lines += [
        tables.fact("waits for", spoken.say(gate.message), 14)
        for gate in detail.gates
        if gate.state in ("closed", "next")
    ]
    if detail.starts is not None:
        lines.append(tables.fact("starts", spoken.say(estimate.sentence(detail.starts)), 14))
    beside = (detail.done, detail.suppressed)
    lines += [tables.fact("same work", spoken.say(one), 14) for one in beside if one is not None]
    lines += [tables.fact("unconfirmed", spoken.say(one), 14) for one in detail.unheard]
    lines += [tables.fact("runs long", spoken.say(one), 14) for one in (detail.long,) if one is not None]
    ended = attempts.cancelled(detail.task)
    asked = (same_work.asked(detail.task), same_work.let_run(detail.task))
    notes = [*asked, attempts.last(detail.task), ended.sentence if ended is not None else None]
    lines += [tables.fact("note", spoken.say(note), 14) for note in notes if note is not None]
    lines += [
        spoken.phrase(
            "attempt {number}: {outcome} on {worker} {error}",
            number=one["number"],
            outcome=lexicon.called("outcome", one["outcome"]),
            worker=one["worker"],
            error=spoken.error(output.masked_text(classify.telling_line(one["error"])))[:200],
        )
        for one in shapes.attempts(detail.task)
    ]
    lines += artifact_lines(detail.task)
    created = lexicon.called("change", "created")
    lines += [
        f"{shapes.clock(one.at, zone)}  {_status(one.from_) or created} -> {_status(one.to)} {one.note}"
        for one in detail.task.steps
    ]
    more = shapes.wait(gate, detail.starts) | _beside(detail)
    lines = [*shapes.again(detail), *lines]
    context.show(shapes.document(detail.task, gates, gate.name if gate is not None else "") | more, lines)
    return EXIT_OK


def _status(code: str) -> str:
    return lexicon.called("status", code)


def _beside(detail: TaskDetail) -> dict[str, Any]:
    """What is known of a task beside its record."""
    ended = attempts.cancelled(detail.task)
    more: dict[str, Any] = {"last_attempt": attempts.last(detail.task) is not None}
    if ended is not None:
        more["cancelled_by"] = ended.by
        more["cancelled"] = spoken.say(ended.sentence)
    if detail.unheard:
        more["unconfirmed"] = [spoken.say(one) for one in detail.unheard]
    if detail.long is not None:
        more["runs_long"] = spoken.say(detail.long)
    if detail.done is not None:
        more["same_work"] = shapes.same_work(detail.done)
    if detail.suppressed is not None:
        more["same_work_refused"] = spoken.say(detail.suppressed)
    if detail.verdict is not None:
        more["verdict"] = shapes.verdict(detail.verdict)
    if detail.worth is not None:
        more["worth"] = shapes.worth(detail.worth)
    return more


def try_anyway(context: Context) -> int:
    """Let one attempt of a task through."""
    args = context.args
    with context.engine() as engine:
        tasks = assembly.commands(engine).tasks
        outcome = tasks.take_back_try(args.id) if args.undo else tasks.try_anyway(args.id, reason=args.reason)
    return choose.report(context, outcome, "try")


def change(context: Context) -> int:
    """Cancel, retry, create again, run now or re-prioritise the chosen tasks."""
    args = context.args
    with context.engine() as engine:
        ids = choose.chosen(context, engine)
        if args.dry_run:
            return choose.dry_run(context, ids, args.verb)
        if (args.filter or len(ids) > 1) and not context.confirm(args.verb, len(ids)):
            return EXIT_FAILED
        tasks = assembly.commands(engine).tasks
        with progress.of_portions(args.verb, len(ids), quiet=context.json):
            if args.verb == "cancel":
                outcome = tasks.cancel(ids, reason=args.reason)
            elif args.verb == "retry":
                outcome = tasks.retry_waiting(ids, reason=args.reason)
            elif args.verb == "create-again":
                outcome = tasks.create_again(ids, reason=args.reason)
            elif args.verb == "run-now":
                outcome = tasks.run_now(ids)
            else:
                outcome = tasks.prioritize(ids, args.priority)
        return choose.report(context, outcome, args.verb)


def _row(task: Task, gate: str, zone: str, by: str) -> tuple[object, ...]:
    attempt = f"{task.attempt}/{attempts.most(task)}"
    order = [shapes.clock(getattr(task, by), zone) if by in shapes.INSTANTS else getattr(task, by)] if by else []
    return (
        task.task_id,
        task.status,
        gate,
        task.task_type,
        task.shop,
        task.lane,
        attempt,
        shapes.clock(task.created_at, zone),
        *order,
        spoken.error(classify.headline(task.error)),
    )


def add_resolve(verbs: Any) -> None:
    parser = verbs.add_parser(
        "resolve", handler=resolve, help="decide about held tasks: it ran, run it again, or a dead letter"
    )
    choose.add_choice(parser)
    parser.add_argument("--as", dest="decision", choices=sorted(DECISIONS), required=True)
    parser.add_argument("--note", default="", help="how you know, why again, or why it is given up")


def resolve(context: Context) -> int:
    """Record the decision for each of them; exit 1 when one was not held."""
    args = context.args
    if args.decision == "succeeded" and not args.note.strip():
        raise UsageError(spoken.phrase("--as succeeded needs --note: say how you know that it ran"), field="--note")
    if args.decision == "again" and not args.note.strip():
        raise UsageError(
            spoken.phrase("--as again needs --note: its work may be done already, say why it runs again"),
            field="--note",
        )
    with context.engine() as engine:
        ids = choose.chosen(context, engine, within="status:held")
        if args.dry_run:
            return choose.dry_run(context, ids, "resolve")
        if (args.filter or len(ids) > 1) and not context.confirm(
            spoken.phrase("resolve as {decision}", decision=args.decision), len(ids)
        ):
            return EXIT_FAILED
        with progress.of_portions("resolve", len(ids), quiet=context.json):
            outcome = assembly.commands(engine).tasks.resolve(ids, DECISIONS[args.decision], note=args.note.strip())
    return choose.report(context, outcome, "resolve")


def add_artifacts(verbs: Any) -> None:
    parser = verbs.add_parser("artifacts", handler=artifacts, help="the files that a task left behind")
    parser.add_argument("id")
    parser.add_argument("--save", metavar="DIR", default="", help="copy those that lie here into this folder")


def artifact_lines(record: Task) -> list[str]:
    """What ``task show`` says about files."""
    out = []
    for attempt in record.attempts:
        number, note = attempt.number, attempt.artifacts_note
        for one in attempt.artifacts:
            size = spoken.phrase("{kind}, {size} bytes", kind=one.kind, size=f"{one.size:,}")
            out.append(tables.fact("file", f"{number}/{one.name}  {size}", 14))
        if note:
            out.append(tables.fact("files", spoken.phrase("attempt {number}: {note}", number=number, note=note), 14))
    return out


def artifacts(context: Context) -> int:
    """List them, and save those that are here."""
    task_id, folder = context.args.id, context.args.save
    with context.engine() as engine:
        (record,) = engine.store.get([task_id])
        questions = assembly.queries(engine).artifacts
        found = questions.of(task_id, record)
        if record is None and not found:
            refuse_unread(engine.store, task_id)
            raise NotFound(
                spoken.phrase("there is no task {task_id}, and no file of it is here", task_id=f"{task_id!r:.220}"),
                field="id",
            )
        saved = _save(questions, found, Path(folder)) if folder else {}
    context.warn([str(problem) for problem in saved.values() if isinstance(problem, ArtifactError)])
    rows = [_artifact_row(one, saved.get(one.artifact)) for one in found]
    header = ("attempt", "name", "kind", "size", "step", "at", "here", "sha256")
    shown = (
        table(header, [[row[name] for name in header] for row in rows])
        if rows
        else [spoken.phrase("{task_id} left no files", task_id=task_id)]
    )
    context.show({"artifacts": rows, "where": questions.where()}, shown)
    return EXIT_FAILED if folder and not all(row["saved"] for row in rows) else EXIT_OK


def _save(questions: ArtifactQueries, found: Iterable[Found], folder: Path) -> dict[Artifact, Path | ArtifactError]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UsageError(
            spoken.phrase("{folder} cannot be made: {error}", folder=folder, error=spoken.told(exc)), field="--save"
        ) from exc
    out: dict[Artifact, Path | ArtifactError] = {}
    for one in (each.artifact for each in found):
        try:
            out[one] = _copy(questions, one, folder / f"{one.attempt}-{safe_name(one.name)}")
        except (ArtifactError, OSError) as exc:
            out[one] = ArtifactError(spoken.phrase("{name} is not saved: {why}", name=one.name, why=spoken.told(exc)))
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
        raise ArtifactError(
            spoken.phrase("it was changed since it was kept; what is there now is in {target}", target=target)
        )
    return target


def _artifact_row(found: Found, saved: Path | ArtifactError | None) -> dict[str, Any]:
    one = found.artifact
    names = ("attempt", "name", "kind", "size", "step", "sha256", "place")
    return {name: getattr(one, name) for name in names} | {
        "at": shapes.iso(one.at),
        "here": found.here,
        "saved": str(saved) if isinstance(saved, Path) else None,
    }


def add_log(verbs: Any) -> None:
    parser = verbs.add_parser(
        "log",
        handler=show_log,
        help="what an attempt has printed",
        description="The lines of the last attempt, or of --attempt. With --follow it goes on until the task has ended,"
        " attempt after attempt; with --json the document comes at the end then.",
    )
    parser.add_argument("id")
    parser.add_argument("--attempt", type=whole(0, 1000), default=0, metavar="N", help="0: the last one")
    parser.add_argument(
        "--start", type=whole(0, HIGHEST), default=0, metavar="PLACE", help="`next` of the lines before"
    )
    parser.add_argument("--follow", action="store_true", help="go on until the task, or that attempt, has ended")


def show_log(context: Context) -> int:
    """Print lines."""
    args = context.args
    with context.engine(looking=True) as engine:
        task = _found(engine, args.id)
        if args.attempt > task.attempt and not args.follow:
            raise UsageError(
                spoken.plural(
                    "{id} has had {count} attempt", "{id} has had {count} attempts", task.attempt, id=args.id
                ),
                field="--attempt",
            )
        reader, zone = _LogReader(engine, task, args.attempt, args.start), shapes.zone(engine)
        if not args.follow:
            found = list(reader.new())
            context.show(reader.document(found), [_log_line(one, zone) for one in found])
            return EXIT_OK
        kept: list[LogLine] = []
        for lines in reader.follow():
            if context.json:
                kept += lines
            else:
                output.out(_log_line(one, zone) for one in lines)
    if context.json:
        context.show(reader.document(kept), [])
    return EXIT_OK


class _LogReader:
    """Reads on from where it was."""

    def __init__(self, engine: assembly.Engine, task: Task, attempt: int, start: int) -> None:
        self._engine, self._task, self._only = engine, task, attempt
        self._number, self._place = attempt or task.attempt, start

    def new(self) -> Iterator[LogLine]:
        """Lines of the attempt since the last look."""
        while True:
            tail = assembly.queries(self._engine).tasks.log(self._task.task_id, self._number, self._place)
            yield from tail.lines
            if tail.place == self._place or not tail.lines:
                return
            self._place = tail.place

    def follow(self) -> Iterator[list[LogLine]]:
        """What comes, until nothing more can come."""
        pause = threading.Event()
        while True:
            task = _found(self._engine, self._task.task_id)
            # looked at before its lines are: what an attempt printed is stored before its end is
            over = task.status in OVER if not self._only else task.attempt > self._only or task.status in OVER
            if lines := list(self.new()):
                yield lines
            if not self._only and task.attempt > self._number:
                self._number, self._place = self._number + 1, 0
            elif over:
                return
            else:
                pause.wait(PACE_S)

    def document(self, lines: list[LogLine]) -> dict[str, Any]:
        """As it is told to programs."""
        told = [{"at": shapes.iso(one.at), "stream": one.stream, "text": one.text} for one in lines]
        return {"task_id": self._task.task_id, "attempt": self._number, "lines": told, "next": self._place}


def _found(engine: assembly.Engine, task_id: str) -> Task:
    record = engine.store.get([task_id])[0]
    if record is None:
        refuse_unread(engine.store, task_id)
        raise NotFound(
            spoken.phrase("there is no task {task_id}; see `task list`", task_id=f"{task_id!r:.220}"), field="task_id"
        )
    return record


def _log_line(one: LogLine, zone: str) -> output.Line:
    at = f"{shapes.clock(one.at, zone)[11:19]}.{one.at % 1000:03}"
    text, bad = f"{at}  {one.text}", one.stream in ("err", own_words.OWN_STREAMS["err"])
    return output.Line(text, [(0, len(at), "dim"), *([(len(at), len(text), "red")] if bad else [])])
