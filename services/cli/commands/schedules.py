"""``schedule``: list, show, add, remove, enable, disable, skip, run, backfill, zone."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from services import assembly, i18n
from services.cli import json_text, lexicon, spoken, tables
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, plain, several, table, whole
from services.cli.guesses import Doubt
from services.domain.errors import NotFound, UsageError
from services.domain.plans import recurrence, repeats
from services.domain.plans.schedule import MISSED, OVERLAP, Schedule, Tally
from services.domain.task.search import filter_time
from services.domain.text.said import said
from services.engine.lead.backfill import Gap
from services.engine.zone import fleet_zone
from services.i18n import N_, NP_
from services.monitor.schedules import ScheduleRow

EXAMPLES = (
    "schedule add nightly --type sync_order --cron '30 2 * * *' --platform pdd --spread 20m --dry-run",
    "schedule add prices --type refresh_goods --every 30m --group vip --missed skip",
    "schedule list",
    "schedule run nightly --dry-run",
    "schedule skip nightly",
    "schedule backfill nightly --since 2026-11-20 --dry-run",
    "schedule zone Asia/Shanghai",
)
#: verb → (its help, what it did)
_SWITCHES = {
    "enable": ("let them run again, from their next time on", "enabled"),
    "disable": ("keep them and run them no more", "disabled"),
    "skip": ("leave their next run out", "skipped"),
}
#: what is said of one that this was done to, and of one to which it was done already
_SAID = {
    "enabled": (N_("enabled"), N_("is enabled already")),
    "disabled": (N_("disabled"), N_("is disabled already")),
    "skipped": (N_("skipped"), N_("is skipped already")),
}
#: what of its last run a line tells
LAST = N_("last {what}")
#: of the span between two runs
_UNITS = ((3600, NP_("unit", "h")), (60, NP_("unit", "min")), (1, NP_("unit", "s")))


def add(nouns: Any) -> None:
    noun = nouns.add_parser("schedule", help="tasks that repeat", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_schedules, help="all schedules")
    showing = verbs.add_parser("show", handler=show, help="one schedule with its next runs")
    showing.add_argument("name")
    showing.add_argument("--next", type=whole(1, 1000), default=5, dest="count", help="how many next runs")
    _add_add(verbs.add_parser("add", help="a new schedule, or with --replace another in its place"))
    for name, (text, _) in _SWITCHES.items():
        parser = verbs.add_parser(name, help=text)
        parser.add_argument("names", nargs="+", metavar="NAME")
        parser.set_defaults(handler=switch, verb=name)
    removing = verbs.add_parser("remove", handler=remove, help="strike them off; the tasks they have made stay")
    removing.add_argument("names", nargs="+", metavar="NAME")
    removing.add_argument("--yes", action="store_true", help="do not ask")
    running = verbs.add_parser("run", handler=run, help="run one now; its next run stays as planned")
    running.add_argument("name")
    running.add_argument("--yes", action="store_true", help="do not ask")
    running.add_argument("--dry-run", action="store_true", help="show for which shops")
    _add_backfill(verbs.add_parser("backfill", help="make up for runs that are missing"))
    zone = verbs.add_parser("zone", handler=set_zone, help="show or set the time zone of the fleet")
    zone.add_argument("zone", nargs="?", default="", metavar="ZONE", help="for example Asia/Shanghai")


def _add_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--type", dest="task_type", required=True)
    parser.add_argument("--payload", default="{}", help="JSON object")
    parser.add_argument("--priority", default="", help="high, normal, low or 1-10 (default: the type's)")
    when = parser.add_argument_group("when")
    when.add_argument(
        "--cron", default="", metavar="EXPR", help="minute hour day month weekday; @daily …; or weekdays 9:00"
    )
    when.add_argument("--every", default="", metavar="DURATION", help="for example 30m or 2h")
    when.add_argument(
        "--start", default="", metavar="TIME", help="first run of --every (default: one interval from now)"
    )
    when.add_argument("--zone", default="", help="time zone (default: the fleet's, see `schedule zone`)")
    when.add_argument("--missed", choices=MISSED, default="once", help="runs that nobody could start in time")
    who = parser.add_argument_group("for which shops (one way)")
    who.add_argument("--shop", action="append", default=[], metavar="SHOP", help="several: again, or with commas")
    who.add_argument("--platform", action="append", default=[], metavar="P", help="several: any of them")
    who.add_argument("--group", action="append", default=[], metavar="G", help="with --platform: both must fit")
    who.add_argument("--all", action="store_true", dest="all_shops", help="all that are registered and enabled")
    parser.add_argument(
        "--spread", "--jitter", default="0s", metavar="DURATION", help="start the shops evenly over this time"
    )
    parser.add_argument("--overlap", choices=OVERLAP, default="skip", help="where the run before is not through")
    parser.add_argument("--note", default="")
    parser.add_argument("--disabled", action="store_true", help="keep it, but do not run it yet")
    parser.add_argument("--replace", action="store_true", help="change the schedule of this name")
    parser.add_argument("--dry-run", action="store_true", help="show the next 5 runs and change nothing")
    parser.set_defaults(handler=add_schedule)


def _add_backfill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--since", required=True, metavar="TIME", help="first day or moment, such as 2026-11-20")
    parser.add_argument("--until", default="now", metavar="TIME", help="last day, or the moment before which (now)")
    parser.add_argument("--each", action="store_true", help="a task for each run that a shop lacks, not one for all")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what is missing and create nothing")
    parser.set_defaults(handler=backfill)


def list_schedules(context: Context) -> int:
    """Print all schedules."""
    with context.engine() as engine:
        rows = assembly.queries(engine).schedules.rows()
        zone = assembly.commands(engine).schedules.zone()
    header = ("name", "type", "when", "shops", "next run", "last run", "created", "left out", "failed")
    document = {"schedules": [_document(row) for row in rows], "time_zone": zone}
    lines = table(header, [_line(row) for row in rows]) if rows else [spoken.phrase("no schedules; see `schedule add`")]
    reasons = dict.fromkeys(spoken.say(row.now.why) for row in rows if row.now.why is not None)
    context.show(document, [*lines, *reasons])
    return EXIT_OK


def show(context: Context) -> int:
    """Print one schedule."""
    with context.engine() as engine:
        row = _find(engine, context.args.name, context.args.count)
    document = _document(row)
    shown = {name: value for name, value in document.items() if name not in ("upcoming", "last")}
    lines = [tables.fact(name, value, 12) for name, value in shown.items() if value not in (None, "", 0, [], (), {})]
    lines += [
        tables.fact("" if place else "runs next", instant, 12) for place, instant in enumerate(document["upcoming"])
    ]
    last = (document["last"] or {}).items()
    lines += [
        f"{tables.padded(spoken.phrase(LAST, what=lexicon.head(name)), 12)} {plain(value)}" for name, value in last
    ]
    context.show({"schedule": document}, lines)
    return EXIT_OK


def add_schedule(context: Context) -> int:
    """Keep a schedule, or only show when it would run."""
    args = context.args
    with context.engine() as engine:
        commands, queries = assembly.commands(engine).schedules, assembly.queries(engine).schedules
        wanted = commands.checked(_schedule(args, commands.zone(), engine.store.now_ms()))
        doubt = [] if commands.knows_type(wanted.task_type) else [Doubt(field="--type", word=wanted.task_type).sentence]
        if args.dry_run:
            row, load = queries.collided(wanted, commands.zone()), queries.load(wanted, commands.zone())
            conflicts = [spoken.say(one) for one in row.conflicts]
        else:
            commands.add(wanted, replace=args.replace)
            row, load, conflicts = _find(engine, wanted.name), None, []
    warnings = doubt + ([] if row.shops else [spoken.phrase("no enabled shop fits its selection now")])
    context.warn(warnings)
    document = {"dry_run": args.dry_run, "schedule": _document(row), "warnings": warnings}
    head = (
        spoken.phrase("{name}: {when} for 1 shop", name=wanted.name, when=_when(row))
        if row.shops == 1
        else spoken.phrase("{name}: {when} for {shops} shops", name=wanted.name, when=_when(row), shops=row.shops)
    )
    told = [spoken.say(one) for one in load.said] if load is not None else []
    if args.dry_run:
        document |= {"load": told, "conflicts": conflicts}
    context.show(document, [head, *(f"  {instant}" for instant in _document(row)["upcoming"]), *told, *conflicts])
    return EXIT_OK


def switch(context: Context) -> int:
    """Enable, disable, or leave the next run out."""
    args = context.args
    with context.engine() as engine:
        commands = assembly.commands(engine).schedules
        if args.verb == "skip":
            changed = commands.skip(args.names)
        else:
            changed = commands.switch(args.names, enabled=args.verb == "enable")
        rows = [_find(engine, name) for name in dict.fromkeys(args.names)]
    done = _SWITCHES[args.verb][1]
    told, already = _SAID[done]
    next_runs = {row.schedule.name: _iso(row, row.upcoming[0]) if row.upcoming else None for row in rows}
    lines = [
        f"{name}: {spoken.phrase(told if name in changed else already)}"
        + (spoken.phrase(", next run {instant}", instant=instant) if instant else "")
        for name, instant in next_runs.items()
    ]
    context.show({done: list(changed), "next": next_runs}, lines)
    return EXIT_OK


def remove(context: Context) -> int:
    """Strike schedules off."""
    args = context.args
    if not context.confirm(spoken.phrase("remove {names}", names=", ".join(args.names))):
        return EXIT_FAILED
    with context.engine() as engine:
        removed = assembly.commands(engine).schedules.remove(args.names)
    context.show({"removed": list(removed)}, [spoken.phrase("{name}: removed", name=name) for name in removed])
    return EXIT_OK


def run(context: Context) -> int:
    """Run one now; exit code 1 when a shop was left out."""
    args = context.args
    with context.engine() as engine:
        row = _find(engine, args.name)
        if args.dry_run:
            shops = assembly.queries(engine).schedules.shops(row.schedule)
            tally = assembly.commands(engine).schedules.foresee(args.name)
            created = spoken.plural("{count} task would be created", "{count} tasks would be created", tally.created)
            counts = _counted(tally, created)
            lines = [
                spoken.plural(
                    "{name}: {count} shop; {counts}",
                    "{name}: {count} shops; {counts}",
                    len(shops),
                    name=args.name,
                    counts=counts,
                )
            ]
            lines += [tally.error] if tally.error else []
            told = {"dry_run": True, "shops": shops, "run": _tally(tally, row) | {"label": ""}}
            context.show(told, [*lines, *shops])
            return EXIT_OK
        if not context.confirm(spoken.phrase("run {name} now:", name=args.name), row.shops):
            return EXIT_FAILED
        tally = assembly.commands(engine).schedules.run(args.name)
    counts = _counted(tally, spoken.plural("{count} task created", "{count} tasks created", tally.created))
    text = f"{args.name}: {counts}"
    lines = [text, tally.error] if tally.error else [text]
    context.show(
        {"run": _tally(tally, row)},
        [*lines, spoken.phrase("see `task list --filter batch:{label}`", label=tally.label)],
    )
    return EXIT_OK if tally.created and not tally.active + tally.failed else EXIT_FAILED


def backfill(context: Context) -> int:
    """Make up for the runs of a span that are missing by the ledger; exit code 1 when a shop was left out."""
    args = context.args
    with context.engine() as engine:
        row = _find(engine, args.name)
        since, until = _span(args, row.zone, engine.store.now_ms())
        plan = assembly.queries(engine).schedules.missing(args.name, since, until, each=args.each)
        runs = [_gap(gap, row) for gap in plan.gaps]
        if args.dry_run or not plan.tasks:
            told = [_gap_line(gap) for gap in runs]
            head = spoken.phrase(
                "{name}: {tasks} for {shops}, {done} done already",
                name=args.name,
                tasks=spoken.plural("{count} task", "{count} tasks", plan.tasks),
                shops=spoken.plural("{count} shop", "{count} shops", plan.shops),
                done=plan.done,
            )
            context.show({"dry_run": args.dry_run, "tasks": plan.tasks, "runs": runs}, [head, *told])
            return EXIT_OK
        if not context.confirm(
            spoken.plural(
                "make up for {count} run of {name}:",
                "make up for {count} runs of {name}:",
                sum(1 for gap in plan.gaps if gap.missing),
                name=args.name,
            ),
            plan.tasks,
        ):
            return EXIT_FAILED
        tally = assembly.commands(engine).schedules.backfill(args.name, since, until, each=args.each)
    text = spoken.phrase(
        "{name}: {created} tasks created, {done} done already, {failed} failed",
        name=args.name,
        created=tally.created,
        done=tally.done,
        failed=tally.failed,
    )
    counted = {"created": tally.created, "done": tally.done, "failed": tally.failed, "error": tally.error}
    context.show(
        {"backfill": counted, "runs": runs},
        [text, *([tally.error] if tally.error else [])],
    )
    return EXIT_OK if tally.created and not tally.failed else EXIT_FAILED


def _span(args: argparse.Namespace, zone: str, now: int) -> tuple[int, int]:
    times = filter_time.Times(now, zone)
    found = {name: times.span(word) for name, word in (("since", args.since), ("until", args.until))}
    for name, span in found.items():
        if span is None:
            raise UsageError(
                spoken.phrase("--{name} takes a day or a moment, such as 2026-11-20 or 2026-11-20T08:00", name=name),
                field=name,
            )
    assert found["since"] is not None
    assert found["until"] is not None
    return found["since"][0], found["until"][1]


def _gap(gap: Gap, row: ScheduleRow) -> dict[str, Any]:
    return {
        "at": _iso(row, gap.at),
        "missing": [shop.key for shop in gap.missing],
        "made_up_later": gap.later,
        "done": gap.done,
        "there": gap.there,
    }


def _gap_line(gap: dict[str, Any]) -> str:
    names = ", ".join(gap["missing"][:5]) + (" …" if len(gap["missing"]) > 5 else "")
    missing = spoken.phrase("{number} missing", number=len(gap["missing"])) + (f" ({names})" if names else "")
    line = spoken.phrase("{at}: {missing}, {done} done", at=gap["at"], missing=missing, done=gap["done"])
    later = gap["made_up_later"]
    return line + (spoken.phrase(", {number} made up for by a later run", number=later) if later else "")


def set_zone(context: Context) -> int:
    """Show or set the fleet's time zone."""
    with context.engine() as engine:
        commands = assembly.commands(engine).schedules
        followers = commands.set_zone(context.args.zone) if context.args.zone else 0
        zone, chosen = commands.zone(), bool(fleet_zone(engine.store))
    lines = (
        [zone]
        if not context.args.zone
        else [spoken.phrase("{zone}; schedules that follow it: {followers}", zone=zone, followers=followers)]
    )
    if not chosen:
        lines.append(
            spoken.phrase("nobody has set it yet; until then typed and printed times are meant so on this machine")
        )
    context.show({"time_zone": zone, "set": chosen, "schedules": followers}, lines)
    return EXIT_OK


def _schedule(args: argparse.Namespace, fleet_zone: str, now: int) -> Schedule:
    every_s = _seconds(args.every, "every", least=1) if args.every else 0
    if args.start and not every_s:
        raise UsageError(spoken.phrase("--start is the first run of --every"), field="start")
    return Schedule(
        name=args.name,
        task_type=args.task_type,
        payload=json_text.read_object(args.payload, "--payload"),
        priority=args.priority,
        cron=repeats.cron(args.cron) if args.cron else "",
        every_s=every_s,
        first_at=_start(args.start, args.zone or fleet_zone, now) if args.start else 0,
        zone=args.zone,
        shops=several(args.shop),
        platforms=several(args.platform),
        groups=tuple(args.group),
        all_shops=args.all_shops,
        spread_s=_seconds(args.spread, "spread"),
        missed=args.missed,
        overlap=args.overlap,
        enabled=not args.disabled,
        note=args.note,
    )


def _seconds(text: str, field: str, *, least: int = 0) -> int:
    found = filter_time.duration_ms(text)
    if found is None or found % 1000 or found < least:
        raise UsageError(
            spoken.phrase(
                "--{field} takes whole seconds, such as 90s, 30m or 2h, not {text}", field=field, text=f"{text!r:.40}"
            ),
            field=field,
        )
    return found // 1000


def _start(text: str, zone: str, now: int) -> int:
    recurrence.zone_named(zone)
    times = filter_time.Times(now, zone)
    span = times.span(text)  # also one that is past: what repeats keeps in step with it
    found = span[0] if span is not None else times.coming(text)
    if found is None:
        raise UsageError(
            spoken.phrase(
                "--start takes a time such as 2026-11-22T08:00, tomorrow 9:00 or now, not {text}", text=f"{text!r:.40}"
            ),
            field="start",
        )
    return found


def _find(engine: assembly.Engine, name: str, count: int = 5) -> ScheduleRow:
    found = assembly.queries(engine).schedules.row(name, count)
    if found is None:
        raise NotFound(said("schedule.unknown", name=f"{name!r:.80}"), field="name")
    return found


def _document(row: ScheduleRow) -> dict[str, Any]:
    """Instants with the offset of the schedule's zone, "" where there is none."""
    fields: dict[str, Any] = msgspec.to_builtins(row.schedule)
    for name in ("first_at", "created_at", "updated_at"):
        fields[name] = _iso(row, fields[name])
    last = row.planned.last
    return fields | {
        "time_zone": row.zone,
        "shop_count": row.shops,
        "upcoming": [_iso(row, instant) for instant in row.upcoming],
        "problem": row.problem,
        "planned_for": _iso(row, row.now.due_ms),
        "late_s": row.now.late_ms // 1000,
        "why_late": spoken.say(row.now.why) if row.now.why is not None else "",
        "ran_late_s": row.now.ran_late_ms // 1000,
        "last": _tally(last, row) if last is not None else None,
    }


def _counted(tally: Tally, created: str) -> str:
    done = spoken.phrase(", {number} done already", number=tally.done) if tally.done else ""
    return (
        spoken.plural(
            "{created}, {count} shop not through yet, {failed} failed",
            "{created}, {count} shops not through yet, {failed} failed",
            tally.active,
            created=created,
            failed=tally.failed,
        )
        + done
    )


def _tally(tally: Tally, row: ScheduleRow) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(tally)
    return fields | {"at": _iso(row, tally.at), "base": _iso(row, tally.base)}


def _line(row: ScheduleRow) -> tuple[object, ...]:
    last = row.planned.last
    return (
        row.schedule.name,
        row.schedule.task_type,
        _when(row),
        row.shops,
        row.problem or _next(row),
        _ran(row) if last else "",
        last.created if last else "",
        last.active + last.done if last else "",
        last.failed if last else "",
    )


def _next(row: ScheduleRow) -> str:
    """When it runs next; a planned time that has passed, with how late it is."""
    if not row.upcoming:
        return spoken.phrase("disabled")
    late = f", {spoken.say(row.now.late)}" if row.now.late is not None else ""
    return f"{_iso(row, row.upcoming[0])}{late}"


def _ran(row: ScheduleRow) -> str:
    assert row.planned.last is not None
    late = f", {spoken.say(row.now.ran_late)}" if row.now.ran_late is not None else ""
    return f"{_iso(row, row.planned.last.at)}{late}"


def _when(row: ScheduleRow) -> str:
    if row.schedule.cron:
        return f"{row.schedule.cron} {row.zone}"
    seconds = row.schedule.every_s
    size, unit = next((size, unit) for size, unit in _UNITS if not seconds % size)
    return spoken.phrase("every {number} {unit}", number=seconds // size, unit=i18n.pgettext("unit", unit))


def _iso(row: ScheduleRow, instant: int) -> str | None:
    try:
        return recurrence.iso(instant, row.zone) if instant else None
    except UsageError:
        return recurrence.iso(instant, "UTC")
