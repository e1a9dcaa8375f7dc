"""``queue``: depths, what waits in one and how it is emptied, and the switches that hold a platform, a type or all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from services import assembly, i18n
from services.cli import choose, guesses, progress, shapes, spoken
from services.cli.commands import limits
from services.cli.commands.records import check_file, write_file
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, table, whole
from services.domain.errors import UsageError
from services.domain.fleet import holders, shop_queue
from services.domain.fleet.holders import Hold, QueueHolders
from services.domain.fleet.shop import SCOPE_ALL
from services.domain.gates import standing
from services.domain.gates.standing import Standing
from services.domain.task.lane import LANES
from services.domain.task.search.query import Query, equals
from services.domain.task.status import WAITING
from services.i18n import N_, ngettext
from services.monitor.queues import holders as questions
from services.monitor.queues.queries import PEEK

EXAMPLES = (
    "queue list",
    "queue peek rpa_tasks_normal",
    "queue held",
    "queue purge rpa_tasks_low --export low.jsonl --reason 'wrong prices'",
    "queue pause platform:temu --note 'maintenance there' --yes",
    "queue pause type:batch_reply",
    "queue resume all",
    *limits.EXAMPLES,
)
MOST = 1000
#: so many of what is closed are shown to people
SHOWN = 50
SCOPE_HELP = N_("all, platform:PLATFORM or type:TYPE (for one shop: shop pause)")
HOLD_STATES = {
    holders.RUNS: "runs",
    holders.TAKEN: "in no slot",
    holders.UNHEARD: "worker not heard of",
    holders.GIVEN_ON: "given to others since",
}
UNTOLD = N_("the broker does not tell how many messages are held: what is listed is what workers and records say")
QUEUE_HELP = "as queue list shows it, or high, normal, low"


def add(nouns: Any) -> None:
    noun = nouns.add_parser("queue", help="queues, and what is held back", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_queues, help="live depths, and what holds tasks back")
    for name, handler, text in (
        ("pause", pause, "start no tasks of a platform, a type, or any; running ones go on, waiting ones stay"),
        ("resume", resume, "start them again"),
    ):
        parser = verbs.add_parser(name, handler=handler, help=text)
        parser.add_argument("scope", help=SCOPE_HELP)
        parser.add_argument("--note", default="", help="why; shown and kept in the audit")
        parser.add_argument("--yes", action="store_true", help="do not ask")
    peeking = verbs.add_parser(
        "peek", handler=peek, help="the tasks that wait in one, by the records; no message is taken off it"
    )
    peeking.add_argument("name", metavar="QUEUE", help=QUEUE_HELP)
    peeking.add_argument("--limit", type=whole(1, MOST), default=PEEK)
    add_held(verbs)
    add_purge(verbs)
    limits.add(verbs)


def list_queues(context: Context) -> int:
    """Print queue depths, and what holds tasks back."""
    with context.engine() as engine:
        depths = engine.broker.depths()
        store = engine.store
        pauses, known = store.pauses(), store.limits()
        closed = standing.standing(store.switches(), store.sessions(), store.breakers())
        zone = shapes.zone(engine)
    document = {
        "queues": [
            {"name": one.name, "kind": one.kind, "ready": one.ready, "unacked": one.unacked, "consumers": one.consumers}
            for one in depths
        ],
        "pauses": [msgspec.to_builtins(one) | {"at": shapes.iso(one.at)} for one in pauses],
        "closed": [_closed(one) for one in closed],
        "limits": [limits.row(one) for one in known],
    }
    rows = [
        (one.name, one.kind, one.ready, "?" if one.unacked is None else one.unacked, one.consumers) for one in depths
    ]
    lines = table(("queue", "kind", "ready", "unacked", "consumers"), rows)
    lines += [_line(one, zone) for one in closed[:SHOWN]]
    lines += (
        [spoken.phrase("and {count} more that hold tasks back", count=len(closed) - SHOWN)]
        if len(closed) > SHOWN
        else []
    )
    lines += [limits.words(one) for one in known]
    context.show(document, lines)
    return EXIT_OK


def peek(context: Context) -> int:
    """Print what waits in one."""
    args = context.args
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine)
        found = questions.queues.peek(args.name, args.limit)
        gates, zone = questions.tasks.gates(found.tasks), shapes.zone(engine)
    tasks = [shapes.task(task, gates.get(task.task_id, "")) for task in found.tasks]
    document = {"queue": found.queue.name, "tasks": tasks, "more": found.more}
    rows = [
        (
            one["task_id"],
            one["status"],
            one["gate"],
            one["task_type"],
            task.shop,
            task.priority,
            shapes.clock(task.created_at, zone),
        )
        for one, task in zip(tasks, found.tasks, strict=True)
    ]
    lines = table(("id", "status", "gate", "type", "shop", "priority", "created"), rows)
    lines = lines if rows else [spoken.phrase("nothing waits in {name}", name=found.queue.name)]
    context.show(document, [*lines, *([spoken.phrase("and more behind them; see --limit")] if found.more else [])])
    return EXIT_OK


def _closed(one: Standing) -> dict[str, Any]:
    times = {"since": shapes.iso(one.since), "until": shapes.iso(one.until)}
    return {"gate": one.gate, "scope": one.scope, "by": one.by, "reason": one.reason} | times


def _line(one: Standing, zone: str) -> str:
    words = [f"{i18n._(one.word)}: {one.scope}"]
    words += [spoken.phrase("by {by}", by=one.by)] if one.by else []
    words += [spoken.phrase("since {at}", at=shapes.clock(one.since, zone))] if one.since else []
    words += [spoken.phrase("until {at}", at=shapes.clock(one.until, zone))] if one.until else []
    return " ".join([*words, one.reason]).rstrip()


def pause(context: Context) -> int:
    """Close a switch."""
    scope = _scope(context.args.scope, "pause")
    with context.engine() as engine:
        waiting = _waiting(engine, scope)
        warnings = guesses.unheard(engine, scope) if not waiting else []
        context.warn(warnings)
        words = ngettext("pause {scope} ({waiting} waiting task)", "pause {scope} ({waiting} waiting tasks)", waiting)
        if not context.confirm(words.format(scope=scope, waiting=waiting)):
            return EXIT_FAILED
        was = assembly.commands(engine).fleet.pause(scope, reason=context.args.note)
    told = (
        spoken.plural(
            "{scope} is paused, {count} waiting task stays; running tasks go on",
            "{scope} is paused, {count} waiting tasks stay; running tasks go on",
            waiting,
            scope=scope,
        )
        if was is None
        else shapes.paused_before(scope, was, context.args.note)
    )
    context.show({"paused": scope, "waiting": waiting, "was_paused": was is not None, "warnings": warnings}, [told])
    return EXIT_OK


def resume(context: Context) -> int:
    """Open a switch."""
    scope = _scope(context.args.scope, "resume")
    with context.engine() as engine:
        closed = {one.scope for one in engine.store.pauses()}
        waiting = _waiting(engine, scope) if scope in closed else 0
        words = ngettext("resume {scope} ({waiting} waiting task)", "resume {scope} ({waiting} waiting tasks)", waiting)
        asked = words.format(scope=scope, waiting=waiting)
        if scope in closed and not context.confirm(asked):
            return EXIT_FAILED
        was = assembly.commands(engine).fleet.resume(scope, note=context.args.note)
        others = sorted(one.scope for one in engine.store.pauses())
    told = (
        spoken.phrase("{scope} runs again", scope=scope)
        if was
        else spoken.phrase("{scope} was not paused", scope=scope)
    )
    lines = [told, *([spoken.phrase("still paused: {scopes}", scopes=", ".join(others))] if others else [])]
    context.show({"resumed": scope, "was_paused": was, "still_paused": others}, lines)
    return EXIT_OK


def _scope(text: str, verb: str) -> str:
    """The scope as the engine writes it.

    Raises:
        UsageError: lanes and queues have no switch of their own, and a shop has its own verb.
    """
    head, _, rest = text.partition(":")
    if text in LANES or head == "lane" or text.startswith("rpa_"):
        raise UsageError(
            spoken.phrase(
                "a lane or queue cannot be {verb}d, only {scopes}", verb=verb, scopes=spoken.phrase(SCOPE_HELP)
            ),
            field="scope",
        )
    if head == "shop":
        raise UsageError(
            spoken.phrase("use: fleetdeck shop {verb} {shop}", verb=verb, shop=rest or "SHOP"), field="scope"
        )
    if text != SCOPE_ALL and (head not in ("platform", "type") or not rest):
        raise UsageError(
            spoken.phrase(
                "what to {verb} is {scopes}, not {text}",
                verb=verb,
                scopes=spoken.phrase(SCOPE_HELP),
                text=f"{text!r:.80}",
            ),
            field="scope",
        )
    return text


def _waiting(engine: assembly.Engine, scope: str) -> int:
    if scope == SCOPE_ALL:
        counts = engine.store.counts().status
        return sum(counts.get(status, 0) for status in WAITING)
    head, _, name = scope.partition(":")
    terms = (equals("status", *sorted(WAITING)), equals(head, name))
    return engine.store.query(Query(terms=terms, limit=1)).number.number


def add_held(verbs: Any) -> None:
    text = "who holds which message that is not settled, since when, and what nobody can explain"
    parser = verbs.add_parser("held", handler=show_holders, help=text)
    parser.add_argument("name", metavar="QUEUE", nargs="?", default="", help="only of this one, or of this lane")


def show_holders(context: Context) -> int:
    """Print what is held, the longest first."""
    with context.engine(looking=True) as engine:
        engine.broker.know(key.partition(":")[2] for key in engine.store.documents(shop_queue.KIND))
        queries, depths, name = assembly.queries(engine).queues, engine.broker.depths(), context.args.name
        if name and name not in {one.name for one in depths}:
            queries.named(name)  # no such queue
        found, zone = questions.look(queries, depths, name), shapes.zone(engine)
    holds = [one for queue in found.queues for one in queue.holds]
    rows = [hold_row(one) for one in holds]
    queues = [_queue(one, found.at_ms) for one in found.queues]
    cells = [
        (
            one["queue"], one["task_id"], one["task_type"], one["shop"], one["worker"], one["slot"] or "",
            shapes.clock(hold.since, zone), shapes.clock(hold.lease_until, zone), HOLD_STATES[one["state"]],
        )
        for one, hold in zip(rows, holds, strict=True)
    ]  # fmt: skip
    lines = table(("queue", "task", "type", "shop", "worker", "slot", "since", "lease until", "state"), cells)
    lines = lines if rows else [spoken.phrase("no task is in anybody's hands")]
    lines += [f"{one['queue']}: {note}" for one in queues for note in one["notes"]]
    lines += [] if found.told else [spoken.phrase(UNTOLD)]
    lines += [spoken.phrase("more tasks run than were looked at")] if found.more else []
    document = {"queues": queues, "held": rows, "at": shapes.iso(found.at_ms), "told": found.told, "more": found.more}
    context.show(document, lines)
    return EXIT_OK


def hold_row(one: Hold) -> dict[str, Any]:
    """One message in somebody's hands."""
    return {
        "queue": one.queue,
        "task_id": one.task_id,
        "task_type": one.task_type,
        "shop": one.shop,
        "attempt": one.attempt,
        "worker": one.worker,
        "slot": one.slot,
        "since": shapes.iso(one.since),
        "lease_until": shapes.iso(one.lease_until),
        "heard_at": shapes.iso(one.seen_at),
        "state": one.state,
    }


def _queue(one: QueueHolders, now_ms: int) -> dict[str, Any]:
    return {
        "queue": one.name,
        "unacked": one.counted,
        "consumers": one.consumers,
        "tasks": len(one.holds),
        "ahead": [
            {"worker": each.worker, "messages": each.number, "leads": each.leads, "heard_at": shapes.iso(each.seen_at)}
            for each in one.several
        ],
        "beyond": one.beyond,
        "notes": [spoken.say(each) for each in holders.notes(one, now_ms)],
    }


def add_purge(verbs: Any) -> None:
    """Declare it."""
    parser = verbs.add_parser(
        "purge",
        handler=purge,
        help="cancel all tasks that wait in one; what runs goes on",
        description="Cancels the records of what waits there, some hundreds at a time, under one audit entry. Their"
        " messages stay and are skipped by whoever takes them. task create-again makes cancelled tasks anew.",
    )
    parser.add_argument("name", metavar="QUEUE", help=QUEUE_HELP)
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--export", metavar="FILE", default="", help="write the records there first, as JSON lines")
    kept.add_argument("--no-export", action="store_true", help="do it without such a file")
    parser.add_argument("--confirm", metavar="QUEUE", default="", help="its name once more, where nobody can be asked")
    parser.add_argument("--reason", default="", help="why; kept with the tasks and in the audit")
    parser.add_argument("--dry-run", action="store_true", help="show what would be cancelled")


def purge(context: Context) -> int:
    """Empty a queue."""
    args = context.args
    if not (args.export or args.no_export or args.dry_run):
        raise UsageError(
            spoken.phrase("say where the records are kept: add --export FILE, or --no-export"), field="--export"
        )
    if args.export:
        check_file(Path(args.export), "--export", spoken.phrase("name another file"))
    with context.engine() as engine:
        commands = assembly.commands(engine).queues
        plan = commands.plan_purge(args.name)
        name, count = plan.queue.name, len(plan.task_ids)
        if args.dry_run:
            return choose.dry_run(context, plan.task_ids, spoken.phrase("purge {name}", name=name))
        preview = [
            spoken.plural(
                "{count} task waits in {name}; it is cancelled, what runs goes on",
                "{count} tasks wait in {name}; they are cancelled, what runs goes on",
                count,
                name=name,
            )
        ]
        typed = args.confirm or context.typed(
            spoken.phrase("type {name} to cancel them", name=name),
            spoken.plural(
                "{count} task waits in {name}: add --confirm {name}",
                "{count} tasks wait in {name}: add --confirm {name}",
                count,
                name=name,
            ),
            "--confirm",
            preview,
        )
        if typed != name:
            if args.confirm:
                raise UsageError(
                    spoken.phrase(
                        "--confirm takes the name of the queue, {name}, not {typed}", name=name, typed=f"{typed!r:.80}"
                    ),
                    field="--confirm",
                )
            return EXIT_FAILED
        if args.export:
            write_file(engine, plan.task_ids, Path(args.export), "--export")
        with progress.of_portions("purge", count, quiet=context.json):
            outcome = commands.purge(plan, typed=typed, reason=args.reason)
    file = {"file": args.export} if args.export else {}
    lines = (
        [spoken.plural("{count} record in {path}", "{count} records in {path}", count, path=args.export)]
        if args.export
        else []
    )
    context.show({"queue": name} | file | choose.document(outcome), [*lines, *choose.lines(outcome, "purge")])
    return EXIT_OK if outcome.clean else EXIT_FAILED
