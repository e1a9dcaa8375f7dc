"""``dead``: list, show, republish, archive, ignore, restore, note, runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from services import assembly
from services.cli import choose, json_text, lexicon, output, progress, shapes, signals, spoken, tables
from services.cli import progress as bars
from services.cli.context import EXIT_CONNECT, EXIT_FAILED, EXIT_OK, MAX_ROWS, Context, examples, table, whole
from services.commands.bulk.book import interrupted
from services.commands.bulk.options import MAX_PROBES, MAX_RATE
from services.commands.bulk.plan import ASKS, DONE, DUPLICATE, GONE, HELD, PAUSED, READY, SCHEMA, Item
from services.commands.bulk.republish import Control, Ended, Options, Plan, Progress, RunView
from services.domain.errors import NotFound, UsageError
from services.domain.task import classify
from services.domain.task.search import filter as filters
from services.domain.task.status import Status, Triage
from services.domain.text.visible import columns
from services.i18n import N_
from services.monitor.letters.causes import Cause

SKIPS = {
    "schema": frozenset({SCHEMA}),
    "done": frozenset({DONE}),
    "paused": frozenset({PAUSED}),
    "none": frozenset[str](),
}
STATE_WORDS = {
    READY: N_("become new tasks"),
    DUPLICATE: N_("the same work waits or runs already"),
    HELD: N_("the same work is held for a person"),
    DONE: N_("the same work has succeeded since"),
    ASKS: N_("go only one by one with --reason: the same work has just succeeded, or nobody can read whether"),
    PAUSED: N_("held back now: paused, quiet hours, needs a login or keeps failing"),
    SCHEMA: N_("the payload does not fit the task type of today"),
    GONE: N_("no open dead letter (any more)"),
}
#: a line about how far it is, at most so often where lines cannot be overwritten
LINE_S = 5.0
QUESTION_LINES = 30


def list_runs(context: Context) -> int:
    """Print the runs, the newest first."""
    with context.engine(looking=True) as engine:
        views, zone = assembly.commands(engine).bulk.runs(), shapes.zone(engine)
    header = ("run", "state", "by", "begun", "done", "skipped", "of", "ended by")
    rows = [
        (
            view.entry.run_id,
            view.state,
            view.holder or view.entry.who,
            shapes.clock(view.entry.begun_at, zone),
            view.entry.done,
            view.entry.skipped,
            view.entry.total,
            view.entry.why,
        )
        for view in views
    ]
    context.show({"runs": [_document(view) for view in views]}, table(header, rows))
    return EXIT_OK


def resume(context: Context, engine: assembly.Engine) -> int:
    """Go on with one, or with the newest that has something left.

    Raises:
        UsageError: ids, a filter or another option was named too, or there is nothing to go on with.
    """
    args = context.args
    if args.ids or args.filter or args.payload or args.probe or args.rate:
        raise UsageError(
            spoken.phrase("--resume goes on with the letters and options of its run; leave the others out"), "--resume"
        )
    bulk = assembly.commands(engine).bulk
    views = bulk.runs() if not args.resume else []
    # whoever was killed a moment ago is still taken to be at it; resuming waits for as long as that may be
    newest = interrupted(views) or next((view for view in views if view.state == "running"), None)
    if not args.resume and newest is None:
        raise UsageError(spoken.phrase("no run was stopped or fell over; `dead runs` lists them"), field="--resume")
    run_id = newest.entry.run_id if newest is not None else args.resume
    plan = bulk.plan_of(run_id)
    if args.dry_run:
        view = next(view for view in bulk.runs() if view.entry.run_id == run_id)
        return show_preview(context, plan, view.entry.options)
    if not context.confirm(spoken.phrase("go on with run {run} of", run=run_id), len(plan.items), shown_states(plan)):
        return EXIT_FAILED
    return run_on(context, engine, True, partial(bulk.resume, run_id))


def _document(view: RunView) -> dict[str, Any]:
    entry = view.entry
    return {
        "run": entry.run_id,
        "state": view.state,
        "by": entry.who,
        "at_it": view.holder,
        "begun_at": shapes.iso(entry.begun_at),
        "told_at": shapes.iso(entry.at),
        "total": entry.total,
        "done": entry.done,
        "skipped": entry.skipped,
        "left": entry.left if entry.ended else entry.total - entry.done - entry.skipped,
        "ended_by": entry.why,
        "options": entry.options.detail(entry.fields),
    }


WITHIN = "status:dead"
EXAMPLES = (
    "dead list --filter 'kind:timeout'",
    "dead show pdd_sync_order_s1_1f3a9c20",
    "dead republish --filter 'fp:9ac1' --dry-run",
    "dead republish --filter 'fp:9ac1' --probe 3 --rate 30 --yes",
    "dead note pdd_sync_order_s1_1f3a9c20 'asked the shop for a new password'",
    "dead runs",
    "dead republish --resume 3f9a01c2 --yes",
    "dead republish pdd_sync_order_s1_1f3a9c20 --payload '{\"page\": 1}'",
    "dead archive --filter 'age>7d' --note 'too old'",
)


def add(nouns: Any) -> None:
    noun = nouns.add_parser("dead", help="triage dead letters", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    listing = verbs.add_parser("list", handler=list_dead, help="dead letters, newest first, and their causes")
    listing.add_argument("--filter", metavar="EXPR", default="")
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.add_argument("--cursor", default="", help="`next` of the page before")
    listing.add_argument(
        "--triage", choices=(*map(str, Triage), "all"), help="(default: open, or what the filter says of it)"
    )
    showing = verbs.add_parser("show", handler=show, help="reason beside the original message")
    showing.add_argument("id")
    for name, text in (
        ("republish", "make a new task of each, linked to the old one"),
        ("archive", "put away"),
        ("ignore", "hide"),
        ("restore", "take archived or ignored ones back"),
    ):
        aliases = ["reopen"] if name == "restore" else []
        parser = verbs.add_parser(name, help=text, aliases=aliases)
        choose.add_choice(parser)
        if name != "republish":
            parser.add_argument("--note", default="")
        parser.set_defaults(handler=change, verb=name)
        if name == "republish":
            republish_options(parser)
    noting = verbs.add_parser("note", handler=note, help="write down what you know, for whoever looks next")
    noting.add_argument("id")
    noting.add_argument("text")
    verbs.add_parser("runs", handler=list_runs, help="bulk republishing: what went how far, and what can go on")


def list_dead(context: Context) -> int:
    """Print dead letters and causes."""
    args = context.args
    chosen = args.triage or ("all" if _names_triage(args.filter) else "open")
    triage = "" if chosen == "all" else f"triage:{chosen}"
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine)
        page = questions.tasks.page(f"{WITHIN} {triage} {args.filter}".strip(), limit=args.limit, cursor=args.cursor)
        causes = questions.causes.causes(chosen) if chosen != "all" and not args.filter else None
        zone = shapes.zone(engine)
    document = {
        "tasks": [shapes.task(task) for task in page.tasks],
        "next": page.next,
        "total": page.total,
        "at_least": page.at_least,
        "causes": [shapes.cause(one) for one in (causes.rows if causes is not None else ())],
    }
    rows = [
        (
            task.task_id,
            task.error_kind,
            task.task_type,
            task.shop,
            shapes.clock(task.ended_at, zone),
            spoken.error(classify.headline(task.error)),
        )
        for task in page.tasks
    ]
    lines = table(("id", "kind", "type", "shop", "died", "error"), rows)
    if causes is not None and causes.rows:
        lines += ["", spoken.phrase("causes, and whether their letters would pass if they ran now:")]
        lines += _cause_lines(sorted(causes.rows, key=lambda one: one.rank))
    context.show(document, lines)
    return EXIT_OK


def show(context: Context) -> int:
    """Print one dead letter."""
    detail, zone = choose.looked_up(context)
    if detail is None or detail.task.status != Status.DEAD:
        raise NotFound(
            spoken.phrase("there is no dead letter {id}; see `dead list`", id=f"{context.args.id!r:.220}"), field="id"
        )
    letter = detail.letter
    body = letter.body.decode("utf-8", "backslashreplace") if letter is not None else ""
    document = shapes.document(detail.task, []) | {
        "message": {"body": body, "headers": json.loads(letter.headers) if letter is not None else {}},
        "notes": [{"at": shapes.iso(note.at), "by": note.who, "text": note.text} for note in detail.notes],
        "verdict": shapes.verdict(detail.verdict),
        "worth": shapes.worth(detail.worth),
    }
    document |= {"same_work": shapes.same_work(detail.done)} if detail.done is not None else {}
    task = detail.task
    lines = [
        f"{task.task_id}  {task.error_kind}  {lexicon.called('triage', task.triage)}",
        spoken.error(task.error),
        "",
        body or task.payload,
    ]
    lines += ["", *shapes.again(detail)]
    lines += [tables.fact("same work", spoken.say(detail.done), 14)] if detail.done is not None else []
    lines += [f"{lexicon.called('triage', task.triage)}: {task.triage_note}"] if task.triage_note else []
    lines += (
        [spoken.phrase("overtaken by {successor}, which did the same work later", successor=task.successor)]
        if task.triage == "overtaken"
        else []
    )
    lines += [f"{shapes.clock(note.at, zone)} {note.who}: {_one_line(note.text)}" for note in detail.notes]
    context.show(document, lines)
    return EXIT_OK


def note(context: Context) -> int:
    """Write a note beside a dead letter."""
    args = context.args
    with context.engine() as engine:
        outcome = assembly.commands(engine).dead_letters.note(args.id, args.text)
    return choose.report(context, outcome, "note")


def _names_triage(text: str) -> bool:
    """Whether a filter says itself which dead letters it means: those that are overtaken are not open."""
    return any(piece.field == "triage" for piece in filters.pieces(text))


def change(context: Context) -> int:
    """Republish, archive, ignore or reopen the chosen dead letters."""
    args = context.args
    with context.engine() as engine:
        if args.verb == "republish" and args.resume is not None:
            return resume(context, engine)
        ids = choose.chosen(context, engine, within=WITHIN if args.verb == "restore" else f"{WITHIN} triage:open")
        if args.verb == "republish":
            return republish_chosen(context, engine, ids)
        if args.dry_run:
            return choose.dry_run(context, ids, args.verb)
        if (args.filter or len(ids) > 1) and not context.confirm(args.verb, len(ids)):
            return EXIT_FAILED
        word = {"archive": Triage.ARCHIVED, "ignore": Triage.IGNORED, "restore": Triage.OPEN}[args.verb]
        with progress.of_portions(args.verb, len(ids), quiet=context.json):
            outcome = assembly.commands(engine).dead_letters.set_triage(ids, word, note=args.note)
        return choose.report(context, outcome, args.verb)


def _cause_lines(causes: Sequence[Cause]) -> list[str]:
    levels = [lexicon.called("verdict", cause.worth.level) for cause in causes]
    width = max(map(columns, levels))
    return [
        f"{cause.count:>6}  {tables.padded(level, width)}"
        f"  {_one_line(spoken.say(cause.title))}: {spoken.say(cause.worth.message)}"
        for cause, level in zip(causes, levels, strict=True)
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def republish_options(parser: argparse.ArgumentParser) -> None:
    """Declare what only republishing has."""
    parser.add_argument("--payload", default="", help="edited payload (JSON object) for one dead letter")
    parser.add_argument(
        "--probe",
        type=whole(0, MAX_PROBES),
        default=0,
        metavar="N",
        help="send N from different shops first and wait for them; the rest go only if all of them succeed",
    )
    parser.add_argument(
        "--probe-wait",
        type=whole(0, 86_400),
        default=0,
        metavar="SECONDS",
        help="give up on them after so long (default: wait, Ctrl-C stops)",
    )
    parser.add_argument(
        "--rate", type=whole(0, MAX_RATE), default=0, metavar="PER_MIN", help="at most so many a minute (default: all)"
    )
    parser.add_argument(
        "--skip",
        metavar="WORDS",
        help="leave alone: schema (payloads that their type refuses today), done (work that has succeeded since),"
        " paused (also what quiet hours, a login or a failing shop hold back); or none (default: schema,done)",
    )
    parser.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="RUN",
        help="go on with a run that was stopped or killed, with its own options (default: the newest; see dead runs)",
    )
    parser.add_argument("--if-duplicate", choices=("reject", "queue", "force"), default="reject")
    parser.add_argument(
        "--overtaken",
        type=whole(0, 1_000_000),
        metavar="N",
        help="also those whose work has succeeded since, so many as --dry-run counts (done)",
    )
    parser.add_argument(
        "--reason", default="", help="needed with --if-duplicate force, and for one whose work has succeeded since"
    )


def republish_chosen(context: Context, engine: assembly.Engine, ids: tuple[str, ...]) -> int:
    """Republish the chosen dead letters."""
    args = context.args
    chosen = _options(args, one=not args.filter and len(ids) == 1)
    commands = assembly.commands(engine)
    payload = json_text.read_object(args.payload, "--payload", dots=True) if args.payload else None
    if payload is not None and (args.probe or args.rate or len(ids) != 1):
        raise UsageError(
            spoken.phrase("--payload edits exactly one dead letter; give one id, no --probe and no --rate"), "payload"
        )
    plan = commands.bulk.plan(ids).sent(chosen.if_duplicate)
    if args.dry_run:
        return show_preview(context, plan, chosen)
    many = bool(args.filter) or len(ids) > 1
    again = overtaken(plan, chosen) if many else tuple(one for one in plan.items if one.state in (DONE, ASKS))
    if many and not _agreed(context, plan, len(again)):
        return EXIT_FAILED
    if again and not many and DONE not in chosen.skip and not args.reason.strip():
        why = spoken.say(again[0].why) if again[0].why is not None else ""
        raise UsageError(
            spoken.phrase("{why}; to do it again say why with --reason", why=why.rstrip(".。")), "--reason"
        )
    if payload is not None:
        outcome = commands.dead_letters.republish(
            ids, payload=payload, if_duplicate=args.if_duplicate, reason=args.reason
        )
        return choose.report(context, outcome, "republish")
    return run_on(context, engine, bool(args.probe or args.rate), partial(commands.bulk.run, plan, chosen))


def overtaken(plan: Plan, chosen: Options) -> tuple[Item, ...]:
    """Those that go although their work has succeeded since."""
    return tuple(item for item in plan.items if item.state == DONE and DONE not in chosen.skip)


def _agreed(context: Context, plan: Plan, number: int) -> bool:
    """Whether the person lets many go. ``number``: works among them that are done once more; it is stated on the line,
    or typed after a look.

    Raises:
        UsageError: the number is another one, or nobody can be asked.
    """
    stated = context.args.overtaken
    asked = spoken.phrase(
        "the work of {number} of these has succeeded since and would be done once more", number=number
    )
    if stated is not None and stated != number:
        raise UsageError(
            spoken.phrase("{asked}, not of {stated}; look with --dry-run", asked=asked, stated=stated), "--overtaken"
        )
    if number and stated is None:
        question = spoken.phrase("{asked}; type {number} to go on", asked=asked, number=number)
        otherwise = spoken.phrase("{asked}: add --overtaken {number}", asked=asked, number=number)
        return context.typed(question, otherwise, "--overtaken", shown_states(plan)) == str(number)
    return context.confirm("republish", len(plan.items), shown_states(plan))


def run_on(context: Context, engine: assembly.Engine, tells: bool, run: Callable[..., Ended]) -> int:
    """Let a run go, tell how far it is, stop it with Ctrl-C, print what came of it."""
    control = Control()
    narrator = Narrator(engine, quiet=context.json or not tells)
    with signals.heard(control.stop):
        ended = run(on_progress=narrator.show, control=control)
    narrator.end()
    return _report(context, ended)


def show_preview(context: Context, plan: Plan, chosen: Options) -> int:
    """Print what would become of each."""
    context.show(_preview(plan, chosen), _preview_lines(plan))
    return EXIT_OK


class Narrator:
    """Tells on stderr how far a run is: over one line at a terminal, else now and then a line of its own."""

    def __init__(self, engine: assembly.Engine, *, quiet: bool) -> None:
        self._clock, self._quiet = engine.clock, quiet
        self._over = sys.stderr.isatty()
        self._last, self._phase, self._at = "", "", float("-inf")

    def show(self, progress: Progress) -> None:
        """Print where it differs from the last line."""
        told = _told(progress)
        text = f"{bars.drawn(progress.done + progress.skipped, progress.total)} {told}" if self._over else told
        now = self._clock.monotonic()
        soon = progress.phase == self._phase and now - self._at < LINE_S
        if self._quiet or text == self._last or (not self._over and soon):
            return
        width = max(columns(self._last), columns(text))
        output.err(f"{text}\n" if not self._over else tables.padded(text, width), before="\r" if self._over else "")
        self._last, self._phase, self._at = text, progress.phase, now

    def end(self) -> None:
        """Leave the line."""
        if self._over and self._last:
            sys.stderr.write("\n")


def _told(progress: Progress) -> str:
    head = spoken.phrase("republish: {done} of {total} sent", done=progress.done, total=progress.total)
    if progress.skipped:
        head += spoken.phrase(", {skipped} skipped", skipped=progress.skipped)
    if progress.phase in ("probing", "waiting"):
        passed = sum(1 for probe in progress.probes if probe.passed)
        waits = ", ".join(
            f"{probe.shop} {lexicon.called('status', probe.status)}"
            for probe in progress.probes
            if probe.passed is None
        )
        return spoken.phrase(
            "{head}; tried first: {passed} of {count} succeeded", head=head, passed=passed, count=len(progress.probes)
        ) + (f", {waits}" if waits else "")
    if progress.phase == "silent":
        return spoken.phrase("{head}; the store does not answer, asking again", head=head)
    return head


def _options(args: argparse.Namespace, *, one: bool) -> Options:
    """``one``: a single letter was named; a reason for it says that its work may be done again, unless something else
    asks for one. So does their number of many.
    """
    anyway = one and args.reason.strip() and args.if_duplicate != "force"
    default = "schema" if anyway or args.overtaken else "schema,done"
    skip = args.skip if args.skip is not None else default
    words = [word.strip() for word in skip.split(",") if word.strip()]
    if not words or not set(words) <= set(SKIPS):
        raise UsageError(
            spoken.phrase(
                "{name} takes {known}, not {given}", name="--skip", known=", ".join(SKIPS), given=f"{skip!r:.60}"
            ),
            field="--skip",
        )
    chosen = Options(
        rate=args.rate,
        probe=args.probe,
        probe_wait_s=float(args.probe_wait),
        if_duplicate=args.if_duplicate,
        reason=args.reason,
        skip=frozenset().union(*(SKIPS[word] for word in words)),
    )
    chosen.check()
    return chosen


def _preview(plan: Plan, chosen: Options) -> dict[str, Any]:
    items = [
        {
            "id": item.task_id,
            "state": item.state,
            "shop": item.shop,
            "type": item.task_type,
            "platform": item.platform,
            "existing": item.existing,
            "existing_status": item.existing_status,
            "code": item.why.code if item.why is not None else "",
            "reason": spoken.say(item.why) if item.why is not None else "",
        }
        for item in plan.items
    ]
    return {
        "dry_run": True,
        "verb": "republish",
        "count": len(plan.items),
        "ids": [item.task_id for item in plan.items],
        "states": plan.states(),
        "shops": plan.counts("shop"),
        "types": plan.counts("task_type"),
        "platforms": plan.counts("platform"),
        "seconds": round(plan.states().get(READY, 0) * 60 / chosen.rate) if chosen.rate else 0,
        "items": items,
    }


def _preview_lines(plan: Plan) -> list[str]:
    lines = [spoken.plural("republish: {count} dead letter", "republish: {count} dead letters", len(plan.items))]
    lines += [f"  {count:>6}  {spoken.phrase(STATE_WORDS[state])}" for state, count in plan.states().items()]
    for title, name in (("types", "task_type"), ("platforms", "platform"), ("shops", "shop")):
        lines += _numbers(title, plan.counts(name))
    lines += [f"  {item.task_id}: {spoken.say(item.why)}" for item in plan.items if item.why is not None]
    return lines


def shown_states(plan: Plan) -> list[str]:
    """What a person reads before the question; --dry-run shows all of it."""
    lines = _preview_lines(plan)
    more = len(lines) - QUESTION_LINES
    return (
        lines
        if more <= 0
        else [*lines[:QUESTION_LINES], spoken.phrase("  … {more} more lines, see --dry-run", more=more)]
    )


def _numbers(title: str, counts: Mapping[str, int]) -> list[str]:
    return [f"{lexicon.head(title)}:"] + [f"  {count:>6}  {name}" for name, count in counts.items()] if counts else []


def _report(context: Context, ended: Ended) -> int:
    probes = [
        {
            "id": probe.task_id,
            "new_id": probe.new_id,
            "shop": probe.shop,
            "status": probe.status,
            "kind": probe.kind,
            "same_failure": probe.same,
            "passed": probe.passed,
        }
        for probe in ended.probes
    ]
    why = ended.why
    document = choose.document(ended.outcome) | {
        "left": list(ended.left),
        "probes": probes,
        "stopped": {"code": why.code, "reason": spoken.say(why)} if why is not None else None,
    }
    lines = choose.lines(ended.outcome, "republish")
    if why is not None:
        done, left = len(ended.outcome.done), len(ended.left)
        lines.append(spoken.phrase("{why} {done} republished, {left} left", why=spoken.say(why), done=done, left=left))
    context.show(document, lines)
    if why is not None and why.code == "bulk.silent":
        return EXIT_CONNECT
    return EXIT_OK if ended.outcome.clean and why is None else EXIT_FAILED
