"""``task create``: one task, the same for several shops, or what each row of a file says."""

from __future__ import annotations

import argparse
import difflib
import hashlib
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from services import assembly
from services.cli import guesses, json_text, lexicon, progress, shapes, spoken, task_sheet
from services.cli.context import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Context, seconds, several
from services.cli.instants import Instants
from services.commands.sheet import text_file
from services.commands.sheet.orders import Defaults, Orders
from services.domain.errors import UsageError
from services.domain.fleet import platforms
from services.domain.fleet.shop import valid_word
from services.domain.gates import dependency
from services.domain.task import ids, lane, ledger
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.said import Said, said
from services.domain.types import task_type
from services.domain.types.schema import Problem
from services.engine import fates
from services.engine.lead import leader
from services.engine.producer import SLICE, Submitted, TaskSpec
from services.i18n import N_, ngettext

#: created tasks of which it is asked whether their work was done before; sentences about that
TOLD, SHOWN = 200, 10


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its options."""
    parser.add_argument(
        "--shop", action="append", default=[], help="shop id, or platform:shop_id; several: again, or with commas"
    )
    parser.add_argument("--platform", default="")
    parser.add_argument("--type", dest="task_type", default="")
    parser.add_argument("--payload", default="{}", help="JSON object")
    parser.add_argument("--priority", default="")
    parser.add_argument("--delay", type=seconds, default=0.0, metavar="DURATION", help="10m, 2h, or seconds")
    parser.add_argument(
        "--not-before", default="", metavar="TIME", help="2026-11-22T08:00, 18:00, tomorrow 9:00 (fleet time zone), 2h"
    )
    parser.add_argument(
        "--deadline",
        default="",
        metavar="TIME",
        help="a time or a duration from now; what has not started by then becomes a dead letter",
    )
    parser.add_argument(
        "--depends-on",
        "--after",
        action="append",
        default=[],
        metavar="ID|TYPE",
        help="start when this one has succeeded; a task type: what is open of it for the same shop; repeatable",
    )
    parser.add_argument(
        "--on-dependency-failure",
        choices=dependency.POLICIES,
        default="",
        help="when one of those is dead or cancelled: wait on (default), or be cancelled too",
    )
    parser.add_argument("--batch", default="", metavar="NAME", help="default: a new one where there are several tasks")
    parser.add_argument("--if-duplicate", choices=("reject", "queue", "force"), default="reject")
    parser.add_argument(
        "--reason", default="", help="needed with --if-duplicate force, and where the type asks for one (unique_for)"
    )
    parser.add_argument(
        "--file",
        default="",
        metavar="tasks.xlsx|.csv|.jsonl",
        help="a task for each row, as the row says; the options above count where a row says nothing",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=FIELD",
        help="what a column of the file is, e.g. 店号=shop, 页数=payload.page_size, or =- to ignore it; repeatable",
    )
    parser.add_argument(
        "--encoding", choices=tuple(text_file.ENCODINGS), default="", help="of the file, where found wrongly"
    )
    parser.add_argument("--sheet", default="", metavar="NAME", help="of the workbook; default: the one in front")
    parser.add_argument("--dry-run", action="store_true", help="tell what the file asks for and create nothing")
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="create the good rows all the same; without it one bad row (exit code 2) keeps all from being created",
    )
    parser.add_argument(
        "--allow-unknown", action="store_true", help="accept types and shops in the file that nobody has defined"
    )
    parser.add_argument("--strict", action="store_true", help="refuse types that nobody has defined and new platforms")
    parser.add_argument("--yes", action="store_true", help="do not ask about words that look misspelt")
    parser.set_defaults(handler=create)


def create(context: Context) -> int:
    """Create tasks; exit 2 when an input was not acceptable, 1 when one was a duplicate."""
    args = context.args
    try:
        lane.parse_priority(args.priority or lane.MIN_PRIORITY)
    except ValueError as exc:
        raise UsageError(exc.args[0], field="priority") from exc
    if args.file:
        return _create_of_file(context)
    for option in ("map", "encoding", "sheet", "skip_bad", "dry_run", "allow_unknown"):
        if getattr(args, option):
            name = f"--{option.replace('_', '-')}"
            raise UsageError(spoken.phrase("{name} goes with --file", name=name), field=name)
    specs = _of_shops(args)
    batch = _batch(args, len(specs), context.origin, context.once)
    with context.engine(looking=True) as engine:  # what the broker does not take now is recorded, as by the window
        instants = Instants.of(engine)
        plan = instants.read(args.not_before, "--not-before"), instants.read(args.deadline, "--deadline")
        specs = [_with_platform(_with_options(_planned(spec, *plan), args, batch), engine) for spec in specs]
        specs = _made_once(specs, context.once)
        warnings = _look_at(context, guesses.doubts(engine, specs))
        if warnings is None:
            return EXIT_FAILED
        with progress.of_portions("create", len(specs), quiet=context.json):
            done = (
                _there(engine, specs)
                if context.told
                else assembly.commands(engine).tasks.create(specs, origin=context.origin)
            )
        errors = sorted(_faults(engine, done), key=lambda error: error["line"])
        before, zone = _before(context, engine, done), shapes.zone(engine)
        why = _why_unsent(engine, done)
    batch = batch if done.created else ""
    told = _created(done, errors) | {"warnings": warnings, "batch": batch, "same_work": before, "unsent": why}
    context.warn(task_sheet.after(done.after))
    context.show(told, _lines(done, errors, batch, zone, why))
    return EXIT_USAGE if errors else EXIT_FAILED if done.duplicates or done.done else EXIT_OK


def _create_of_file(context: Context) -> int:
    """A task for each row of a file; with a bad row nothing, unless that is asked for."""
    args = context.args
    if args.shop:
        raise UsageError(spoken.phrase("--file brings the shop of every task; leave --shop out"), field="--file")
    with context.engine(looking=True) as engine:
        defaults = _defaults(args, Instants.of(engine))
        asked = task_sheet.read(engine, args, defaults)
        # also what is active or done already: the guard looks once more, and notes whom it turned away
        every = (*asked.specs, *(one.spec for one in asked.active), *(one.spec for one in asked.again))
        batch = _batch(args, len(every), "file")
        specs = [
            replace(spec, if_duplicate=args.if_duplicate, reason=args.reason, batch=batch)
            for spec in sorted(every, key=lambda spec: spec.line)
        ]
        warnings = _look_at(context, guesses.doubts(engine, specs))
        if warnings is None:
            return EXIT_FAILED
        goes = bool(specs) and not args.dry_run and (args.skip_bad or not asked.faults)
        with progress.of_portions("create", len(specs) if goes else 0, quiet=context.json):
            done = assembly.commands(engine).tasks.create(specs, origin="file") if goes else Submitted()
        errors = [*_row_errors(asked), *_faults(engine, done)]
        before, zone = _before(context, engine, done), shapes.zone(engine)
        why = _why_unsent(engine, done)
    batch = batch if done.created else ""
    told = _created(done, errors) | task_sheet.document(asked) | {"warnings": warnings, "batch": batch}
    told |= {"dry_run": args.dry_run, "same_work": before, "unsent": why}
    words = [
        *task_sheet.lines(asked, created=goes),
        *_lines(done, errors[len(asked.faults) :], batch, zone, why),
        *task_sheet.active(len(done.duplicates), args.if_duplicate),
    ]
    if asked.faults and not goes:
        told |= {"error": task_sheet.first_fault(asked), "field": asked.faults[0].field}
        words.append(spoken.phrase("nothing was created; mend these rows, or create the others with --skip-bad"))
    elif args.dry_run:
        would = ngettext(
            "{n} task would be created; nothing was created",
            "{n} tasks would be created; nothing was created",
            len(asked.going),
        )
        words.append(would.format(n=len(asked.going)))
    context.show(told, words)
    left = (asked.active and asked.fate == "reject") or (asked.again and not asked.reason)
    doubled = done.duplicates or done.done or asked.twins or left
    unsure = args.dry_run and not asked.reason and any(ledger.unread(one.done) for one in asked.again)
    return EXIT_USAGE if errors or unsure else EXIT_FAILED if doubled else EXIT_OK


def _before(context: Context, engine: assembly.Engine, done: Submitted) -> list[dict[str, Any]]:
    """Of what was created, whose work had succeeded before: told, for somebody may not know it."""
    found = assembly.queries(engine).tasks.done_before(done.created[:TOLD])
    context.warn([f"{task_id}: {spoken.say(said)}" for task_id, said in found.items()][:SHOWN])
    return [{"task_id": task_id, **shapes.same_work(said)} for task_id, said in found.items()]


def _defaults(args: argparse.Namespace, instants: Instants) -> Defaults:
    """What the options say for rows that say nothing."""
    return Defaults(
        platform=args.platform,
        task_type=args.task_type,
        priority=args.priority,
        delay_s=args.delay,
        at_ms=instants.read(args.not_before, "--not-before"),
        deadline_ms=instants.read(args.deadline, "--deadline"),
        depends_on=tuple(args.depends_on),
        policy=args.on_dependency_failure,
        payload=json_text.read_object(args.payload, "--payload"),
    )


def _row_errors(asked: Orders) -> list[dict[str, Any]]:
    return [
        {"line": fault.row, "field": fault.field, "error": f"{fault.where}: {spoken.say(fault.reason)}".lstrip(": ")}
        for fault in asked.faults
    ]


def _faults(engine: assembly.Engine, done: Submitted) -> Iterator[dict[str, Any]]:
    """What was refused; of a payload everything that is wrong with it, once for all tasks that have the same."""
    told: set[tuple[str, str]] = set()
    for spec, field, text in done.errors:
        found = [Problem(path=field, message="", code="")]
        same = spec.task_type, repr(spec.payload)
        if same not in told:
            told.add(same)
            found = task_type.validate_payload(engine.registry.task_type(spec.task_type), spec.payload) or found
        if (found[0].path or "payload") != field or not found[0].message:
            yield {"line": spec.line, "field": field, "error": _told(engine, text)}
            continue
        for one in found:
            where = one.path or "payload"
            words = spoken.told(said("payload.bad", field=where, problem=one.message))
            yield {"line": spec.line, "field": where, "error": words}


def _told(engine: assembly.Engine, text: str) -> str:
    """Why one was refused; who wrote no platform's code is told which there are."""
    words = spoken.told(text)
    if not isinstance(text, Said) or text.message.code != "platform.name":
        return words
    there = {shop.platform for shop in engine.registry.shops().values()} or platforms.NAMES
    return spoken.phrase("{what}; there are {known}", what=words, known=platforms.listed(there))


def _look_at(context: Context, doubts: Sequence[guesses.Doubt]) -> list[str] | None:
    """Warn of words that look misspelt; None when the person at the terminal does not go on.

    Raises:
        UsageError: with ``--strict``.
    """
    args = context.args
    if doubts and args.strict:
        raise UsageError(doubts[0].sentence, field=doubts[0].field)
    sentences = [doubt.sentence for doubt in doubts]
    context.warn(sentences)
    if (
        any(doubt.near for doubt in doubts)
        and context.person
        and not args.yes
        and not context.confirm(spoken.phrase("create it"))
    ):
        return None
    return sentences


def _of_shops(args: argparse.Namespace) -> list[TaskSpec]:
    """The same task for each of the shops."""
    payload = json_text.read_object(args.payload, "--payload")
    shops = several(args.shop)
    for name, value in (("--shop", shops), ("--type", args.task_type)):
        if not value:
            raise UsageError(spoken.phrase("{name} is missing (or use --file)", name=name), field=name)
    specs = []
    for name in shops:
        platform, shop = _placed(name, args.platform)
        specs.append(
            TaskSpec(
                platform=platform,
                shop_id=shop,
                task_type=args.task_type,
                payload=payload,
                priority=args.priority,
                delay_s=args.delay,
            )
        )
    return specs


def _placed(name: str, platform: str) -> tuple[str, str]:
    """Platform and id of a shop, of which the name may say both.

    Raises:
        UsageError: it says another platform than ``--platform``.
    """
    said_there, colon, shop = name.partition(":")
    if not colon:
        return platform, name
    if platform and said_there != platform:
        raise UsageError(
            spoken.phrase(
                "--platform says {platform}, --shop {shop}; leave one of them out",
                platform=f"{platform!r:.80}",
                shop=f"{name!r:.150}",
            ),
            field="--platform",
        )
    return platform or said_there, shop


def _batch(args: argparse.Namespace, count: int, origin: str, once: str = "") -> str:
    """The batch that was named, a new one for several tasks, "" for one; ``once``: the same one under the same name."""
    if args.batch and not valid_word(args.batch):
        raise UsageError(
            spoken.phrase("--batch must be 1-64 of A-Z a-z 0-9 _ -, not {batch}", batch=f"{args.batch!r:.80}"),
            field="--batch",
        )
    mark = hashlib.sha256(once.encode()).hexdigest()[:8] if once else secrets.token_hex(4)
    return args.batch or (f"{origin}-{mark}" if count > 1 else "")


def _with_options(spec: TaskSpec, args: argparse.Namespace, batch: str) -> TaskSpec:
    """What the options say about every task, those of a file too."""
    return replace(
        spec,
        if_duplicate=args.if_duplicate,
        reason=args.reason,
        batch=batch,
        depends_on=(*spec.depends_on, *args.depends_on),
        on_dependency_failure=args.on_dependency_failure or spec.on_dependency_failure,
    )


def _made_once(specs: Sequence[TaskSpec], once: str) -> list[TaskSpec]:
    """With ids that follow from the name under which they are created, if there is one."""
    if not once:
        return list(specs)
    return [
        replace(spec, task_id=ids.once_id(spec.platform, spec.task_type, spec.shop_id, f"{once}.{place}"))
        for place, spec in enumerate(specs)
    ]


def _there(engine: assembly.Engine, specs: Sequence[TaskSpec]) -> Submitted:
    """What was created of these before, by their ids."""
    asked = [spec.task_id for spec in specs]
    parts = (asked[start : start + SLICE] for start in range(0, len(asked), SLICE))
    return Submitted(created=tuple(task for part in parts for task in engine.store.get(part) if task is not None))


def _planned(spec: TaskSpec, at_ms: int, deadline_ms: int) -> TaskSpec:
    """What a row of a file says for itself comes before what the options say for all."""
    if at_ms and not spec.at_ms:
        spec = replace(spec, at_ms=at_ms)
    return replace(spec, deadline_ms=spec.deadline_ms or deadline_ms)


def _with_platform(spec: TaskSpec, engine: assembly.Engine) -> TaskSpec:
    """A bare shop id is accepted where only one platform has it."""
    if spec.platform:
        return spec
    there = [shop for shop in engine.registry.shops().values() if not shop.nowhere]
    found = [shop.platform for shop in there if shop.shop_id == spec.shop_id]
    if not found:
        near = difflib.get_close_matches(spec.shop_id, [shop.shop_id for shop in there], 1)
        what = spoken.phrase(
            "shop {shop_id} is not registered; give --platform too if it is meant all the same, see `shop list`",
            shop_id=f"{spec.shop_id!r:.80}",
        )
        raise UsageError(spoken.meant(what, next(iter(near), "")), field="--shop")
    if len(found) != 1:
        known = ", ".join(sorted(found))
        raise UsageError(
            spoken.phrase(
                "--platform is needed for shop {shop_id} (platforms with this id: {known})",
                shop_id=f"{spec.shop_id!r:.80}",
                known=known,
            ),
            field="--platform",
        )
    return replace(spec, platform=found[0])


def _created(done: Submitted, errors: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "created": [task.task_id for task in done.created],
        "duplicates": [
            {
                "shop": task.shop,
                "type": spec.task_type,
                "existing": task.task_id,
                "status": task.status,
                "line": spec.line,
            }
            for spec, task in done.duplicates
        ],
        "done": [
            {
                "shop": f"{spec.platform}:{spec.shop_id}",
                "type": spec.task_type,
                "existing": one.task_id,
                "at": shapes.iso(one.at),
                "by": one.by,
                "line": spec.line,
            }
            for spec, one in done.done
        ],
        "errors": errors,
        "unconfirmed": done.unconfirmed,
        "after": [task_sheet.after_document(one) for one in done.after],
    }


def _why_unsent(engine: assembly.Engine, done: Submitted) -> str:
    """What keeps messages from the broker; "" where none is left or nobody knows."""
    if not done.unconfirmed:
        return ""
    health, store = engine.broker.health(), engine.store
    if health.error and not health.connected:
        return spoken.told(health.error)
    way = fates.way(store, store.now_ms(), store.leader(leader.ROLE), health)
    return spoken.say(way.message) if way.kind else ""


def _lines(done: Submitted, errors: Sequence[dict[str, Any]], batch: str, zone: str, why: str) -> list[str]:
    lines = [task.task_id for task in done.created]
    lines += [_at_line(spec.line, _duplicate(task, zone)) for spec, task in done.duplicates]
    again = N_("done already: the same work succeeded at {at} as {task}, by {by}; to do it again say why with --reason")
    lines += [
        _at_line(spec.line, spoken.phrase(again, at=shapes.clock(one.at, zone), task=one.task_id, by=one.by))
        for spec, one in done.done
    ]
    lines += [
        _at_line(error["line"], error["error"]) if error["line"] else spoken.phrase("error: {why}", why=error["error"])
        for error in errors
    ]
    if done.unconfirmed:
        told = N_("{count} recorded and not sent yet ({why}); they are sent by themselves once that is set right")
        known = why or spoken.phrase(N_("the broker has not confirmed them"))
        lines.append(spoken.phrase(told, count=done.unconfirmed, why=known.rstrip(".")))
    return lines + ([spoken.phrase("batch {batch}: batch show {batch}", batch=batch)] if batch else [])


def _at_line(line: int, told: str) -> str:
    return spoken.phrase("line {line}: {why}", line=line, why=told) if line else told


def _duplicate(task: Task, zone: str) -> str:
    """Which task does the same work now, and how to go on."""
    known: dict[str, object] = {"task": task.task_id, "status": lexicon.called("status", task.status)}
    if task.status != Status.RUNNING:
        return spoken.phrase("duplicate: {task} is {status}; use --if-duplicate queue, or force with --reason", **known)
    return spoken.phrase(
        "duplicate: {task} is {status} since {at} on {worker}; use --if-duplicate queue, or force with --reason",
        at=shapes.clock(task.started_at, zone),
        worker=task.worker,
        **known,
    )
