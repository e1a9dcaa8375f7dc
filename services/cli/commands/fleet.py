"""``stats`` and ``audit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from services import act_words, assembly, i18n, spans
from services.cli import lexicon, shapes, spoken, tables
from services.cli.commands.task import duplicates as cli_duplicates
from services.cli.context import EXIT_FAILED, EXIT_OK, MAX_ROWS, Context, examples, table, whole
from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.errors import NotFound
from services.domain.insight import depth
from services.domain.insight import worker as insight
from services.domain.insight.audit import Verdict, Wrong
from services.domain.insight.forecast import flow
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.worker import STATES
from services.domain.task.search.query import Total
from services.domain.task.status import Status
from services.domain.text.said import said
from services.i18n import N_
from services.monitor.forecast.flow import numbers
from services.monitor.live import Snapshot

VERIFY_EXAMPLES = ("audit verify", "audit accept --note 'the backup of Monday was put back'")
AUDIT_EXAMPLES = (
    "audit list --limit 20",
    "audit list --filter 'who:ann* action:dead.republish age<1d'",
    "audit list --filter state:unknown",
    "audit list --filter 'undo:possible since:1h'",
    *VERIFY_EXAMPLES,
)
#: how an act ended of which there is something to take back
_TAKEN = ("done", "partly")


def add(nouns: Any) -> None:
    numbers = nouns.add_parser("stats", handler=stats, help="counts by status and lane, or of one batch")
    numbers.add_argument("--batch", default="", metavar="NAME", help="how the tasks of this batch stand")
    trail = nouns.add_parser("audit", help="who did what", **examples(AUDIT_EXAMPLES))
    verbs = trail.add_subparsers(required=True, metavar="VERB")
    listing = verbs.add_parser("list", handler=audit_list, help="newest first")
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.add_argument(
        "--filter",
        metavar="EXPR",
        default="",
        help="who: action: target: outcome: detail: state: from: age<2h, or words",
    )
    listing.add_argument("--before", metavar="ID", default="", help="`next` of the page before")
    add_verify(verbs)


def stats(context: Context) -> int:
    """Print the numbers that the console shows."""
    if context.args.batch:
        return _batch_stats(context, context.args.batch)
    with context.engine(looking=True) as engine:
        snapshot, told, found = assembly.standing(engine)
        duplicates = cli_duplicates.totals(engine.store.suppressed_counts())
        gates = assembly.queries(engine).tasks.gate_counts()
        items = [shapes.attention(item) for item in found]
    counts = snapshot.counts
    rows = depth.lanes(counts, snapshot.depths)
    known = depth.unacked_told(snapshot.depths)
    scaling = _scaling(snapshot)
    lanes = {
        row.lane: {
            "ready": row.ready,
            "blocked": row.blocked,
            "unacked": row.unacked if known else None,
            "retrying": row.retrying,
        }
        for row in rows
    }
    fleet, way = snapshot.fleet(), snapshot.publisher()
    document = {
        "headline": spoken.headline(flow.headline(told)),
        "flow": _flow(told),
        "status": counts.status,
        "lanes": lanes,
        "work_queues": {
            one.name: {"ready": one.ready, "unacked": one.unacked, "consumers": one.consumers}
            for one in snapshot.depths
            if one.kind == "foreign"
        },
        "gates": {gate: found.number for gate, found in gates.items()},
        "gates_at_least": [gate for gate, found in gates.items() if not found.exact],
        "fetched_ahead": depth.ahead(rows, snapshot.workers, told=known),
        "dead_open": counts.triage.get("open", 0),
        "workers": fleet.living,
        "machines": fleet.machines,
        "workers_by_state": {state: number for state in STATES if (number := fleet.number(state))},
        "slots_apart": fleet.apart,
        "unsent": counts.unsent,
        "unrecorded": told.facts.unrecorded,
        "publisher": _publisher(way),
        "scaling": scaling,
        "total": counts.total,
        "duplicates": duplicates,
        "attention": items,
    }
    lines = [str(document["headline"])]
    for name, number in sorted(counts.status.items()):
        line = tables.counted("status", name, number)
        if name == Status.DEAD and number != document["dead_open"]:  # records count closed letters, too
            line += spoken.phrase(", {count} of them open", count=document["dead_open"])
        lines.append(line)
    lines += table(
        ("lane", "ready", "blocked", "unacked", "retrying"),
        [(lane, *("?" if value is None else value for value in row.values())) for lane, row in lanes.items()],
    )
    lines += at_gates(gates)
    lines += [
        spoken.phrase(
            "work queue {name}: {ready} wait, read by {readers}", name=one.name, ready=one.ready, readers=one.consumers
        )
        for one in snapshot.depths
        if one.kind == "foreign"
    ]
    lines.append(spoken.phrase("fetched ahead: {n}", n=document["fetched_ahead"]))
    figures = {"letters": document["dead_open"], "workers": document["workers"]}
    lines.append(spoken.phrase("dead letters open: {letters}, workers: {workers}", **figures))
    lines.append(", ".join(map(spoken.say, insight.summary(fleet))))
    foreign = told.facts.unrecorded
    lines += [spoken.phrase("from other programs, not yet recorded: {n}", n=foreign)] if foreign else []
    skipped = depth.skipped(counts, snapshot.depths) if snapshot.told else 0
    lines += [spoken.phrase("ready, but of no task that waits: {n}; workers skip them", n=skipped)] if skipped else []
    lines += [spoken.phrase("recorded, not sent: {n}", n=counts.unsent)] if counts.unsent else []
    lines += (
        [spoken.phrase("{what}. {remedy}", what=spoken.say(way.message), remedy=spoken.say(way.remedy))]
        if way.kind
        else []
    )
    slots = N_("slots: {slots}, busy: {busy}, could start now: {runnable}, wanted: {wanted_slots}")
    lines.append(spoken.phrase(slots, **scaling))
    lines.append(spoken.phrase("suppressed duplicates: {n}", n=sum(duplicates.values())))
    lines += [spoken.phrase("needs attention: {what}", what=item["text"]) for item in items]
    context.show(document, lines)
    return EXIT_OK


def _flow(told: flow.Flow) -> dict[str, Any]:
    """The judgement for machines; spans in seconds, rates in tasks a second."""
    facts, spread = told.facts, told.estimate
    return {
        "state": told.state,
        "waiting": facts.waiting,
        "could_start": told.runnable,
        "for_person": dict(facts.persons),
        "later": facts.later,
        "held": facts.held,
        "unsent": facts.unsent,
        "workers_cut_off": facts.cut_off,
        "in_per_s": round(facts.rates.in_s, 3),
        "out_per_s": round(facts.rates.out_s, 3),
        "measured_over_s": round(facts.rates.window_s),
        "slots": facts.slots,
        "busy": facts.busy,
        "estimate_s": None
        if spread is None
        else {"low": round(spread.low_s, 1), "mid": round(spread.mid_s, 1), "high": round(spread.high_s, 1)},
        "no_estimate": told.reason,
        "would_help": list(told.helps),
    }


def _publisher(way: PublisherNow) -> dict[str, Any]:
    """The way to the broker: what is wrong, since when, who meets it, and what helps."""
    if not way.kind:
        return {"ok": True}
    return {
        "ok": False,
        "kind": way.kind,
        "why": way.why,
        "since": shapes.iso(way.since_ms),
        "who": [name or spoken.phrase("this command") for name in way.who],
        "message": spoken.say(way.message),
        "remedy": spoken.say(way.remedy),
    }


def _scaling(snapshot: Snapshot) -> dict[str, int]:
    """What decides about more or fewer workers: tasks in queues, recorded or not (what waits at a gate could not start
    on more workers either), and the slots of those who take tasks. Not the messages that lie there: those of tasks that
    were cancelled, moved or given up start nothing.
    """
    facts = numbers(snapshot)
    runnable = snapshot.counts.status.get(Status.QUEUED, 0) + facts.unrecorded
    return {"runnable": runnable, "slots": facts.slots, "busy": facts.busy, "wanted_slots": facts.busy + runnable}


def at_gates(gates: Mapping[str, Total]) -> list[str]:
    """How many tasks wait at each gate, a line each."""
    return [
        spoken.phrase(
            N_("at gate {gate}: {n}") if found.exact else N_("at gate {gate}: at least {n}"),
            gate=lexicon.called("gate", gate),
            n=found.number,
        )
        for gate, found in gates.items()
    ]


def _batch_stats(context: Context, batch: str) -> int:
    with context.engine(looking=True) as engine:
        view = assembly.queries(engine).batches.show(batch)
    if not view.total:
        raise NotFound(said("batch.unknown", name=batch[:80] or "''"), field="--batch")
    document = {
        "batch": batch,
        "status": dict(view.counts),
        "total": view.total,
        "ended": view.ended,
        "progress": view.progress,
    }
    lines = [tables.counted("status", name, number) for name, number in sorted(view.counts.items())]
    context.show(
        document,
        [
            *lines,
            spoken.phrase(
                "{ended} of {total} ended ({share})",
                ended=view.ended,
                total=view.total,
                share=spans.percent(view.share),
            ),
        ],
    )
    return EXIT_OK


def audit_list(context: Context) -> int:
    """Print the audit trail."""
    args = context.args
    with context.engine(looking=True) as engine:
        trail = assembly.queries(engine).audit.entries(args.filter, limit=args.limit, before=args.before)
        now, zone = engine.store.now_ms(), shapes.zone(engine)
    entries = trail.entries
    undone = {one.entry_id: trail.undone.get(one.entry_id, 0) for one in entries if audit.state(one, now) in _TAKEN}
    document = {
        "entries": [
            msgspec.to_builtins(entry)
            | {"at": shapes.iso(entry.at), "closed_at": shapes.iso(entry.closed_at)}
            | {"from": audit.origin(entry), "state": audit.state(entry, now)}
            | {"undone_at": shapes.iso(undone.get(entry.entry_id, 0)), "undoes": list(audit.undoes(entry))}
            | ({"undone_partly": True} if undone.get(entry.entry_id) and entry.entry_id in trail.partly else {})
            for entry in entries
        ],
        "next": trail.next or None,
    }
    rows = [
        (
            shapes.clock(entry.at, zone),
            entry.who,
            audit.origin(entry),
            act_words.act(entry.action) if i18n.is_chinese() else entry.action,
            _targets(entry),
            _undone(at, zone, part=entry.entry_id in trail.partly)
            if (at := undone.get(entry.entry_id, 0))
            else _outcome(entry, now),
            audit.detail_of(entry),
        )
        for entry in entries
    ]
    context.show(
        document,
        table(("at", "who", "from", "action", "targets", "outcome", "detail"), rows, meant={"from": "through"}),
    )
    return EXIT_OK


def _outcome(entry: AuditEntry, now: int) -> str:
    """In words; one that says no more than its code as the code, which the table calls by its word."""
    if entry.outcome:
        return act_words.ended(entry.outcome) if ":" in entry.outcome else entry.outcome
    return "open" if audit.state(entry, now) == "open" else "outcome unknown"


def _undone(at_ms: int, zone: str, *, part: bool) -> str:
    time = shapes.clock(at_ms, zone)
    return spoken.phrase("partly undone {time}", time=time) if part else spoken.phrase("undone {time}", time=time)


def _targets(entry: AuditEntry) -> str:
    """The one thing, else how many; of a batch its name with how many tasks."""
    number = audit.count_of(entry)
    if number == 1:
        return entry.target[0]
    if entry.action.startswith("batch."):
        return spoken.plural("{name}, {count} task", "{name}, {count} tasks", number - 1, name=entry.target[0])
    return str(number)


LIMITS = (
    "Who may write to the store may write the whole trail anew: then only a machine finds it that has seen a later"
    " entry (its home keeps the last ones). The very last entries, taken away with the list that names them, are missed"
    " by such a machine only."
)


def add_verify(verbs: Any) -> None:
    verbs.add_parser(
        "verify",
        handler=verify,
        help="find what was altered, removed, moved or put in; exit code 1 when something was",
        description=f"Reads the whole trail, outcomes included. {LIMITS}",
    )
    accepting = verbs.add_parser(
        "accept", handler=accept, help="say that what is wrong now is known, as after a backup was put back"
    )
    accepting.add_argument("--note", required=True, help="why; kept in the audit")
    accepting.add_argument("--yes", action="store_true", help="do not ask")


def verify(context: Context) -> int:
    """Print what is wrong with the trail, the first fault first."""
    with context.engine() as engine:
        found, zone = assembly.queries(engine).audit.verify(), shapes.zone(engine)
    context.show(_verdict(found), _verdict_lines(found, zone))
    return EXIT_OK if found.ok else EXIT_FAILED


def accept(context: Context) -> int:
    """Say that it is known."""
    with context.engine() as engine:
        found, zone = assembly.queries(engine).audit.verify(), shapes.zone(engine)
        if (found.wrong or found.sight_lost) and not context.confirm(
            spoken.plural("accept {count} fault of the audit", "accept {count} faults of the audit", len(found.wrong))
            if found.wrong
            else spoken.phrase("accept that what this machine had seen of the audit is gone"),
            preview=_verdict_lines(found, zone),
        ):
            return EXIT_FAILED
        found = assembly.commands(engine).audit.accept(note=context.args.note)
    names = [_wrong_row(one) for one in found.wrong]
    lines = [spoken.phrase("accepted: {text}", text=one["text"]) for one in names]
    if found.sight_lost:
        lines.append(spoken.phrase("what this machine sees of the audit is kept anew from here"))
    context.show({"accepted": names, "sight_lost": found.sight_lost}, lines)
    return EXIT_OK


def _verdict(found: Verdict) -> dict[str, Any]:
    rows = [_wrong_row(one) for one in found.wrong]
    return {
        "ok": found.ok,
        "entries": found.rows,
        "writers": found.writers,
        "before_chain": found.before,
        "outcome_unknown": found.unknown,
        "seen_since": shapes.iso(found.seen_since),
        "sight_lost": found.sight_lost,
        "first": rows[0] if rows else None,
        "wrong": rows,
        "accepted": [_wrong_row(one) for one in found.accepted],
        "limits": LIMITS,
    }


def _wrong_row(one: Wrong) -> dict[str, Any]:
    told = one.witness
    return {
        "wrong": one.what,
        "part": one.part,
        "entry": one.entry_id,
        "writer": one.writer,
        "who": one.who,
        "action": one.action,
        "at": shapes.iso(one.at),
        "text": spoken.phrase("{what}. {remedy}", what=spoken.say(one.message), remedy=spoken.say(told))
        if told is not None
        else spoken.say(one.message),
    }


def _verdict_lines(found: Verdict, zone: str) -> list[str]:
    lines = [f"{one['wrong']:<12} {one['text']}" for one in map(_wrong_row, found.wrong)]
    lines += [tables.fact("accepted", one["text"], 12) for one in map(_wrong_row, found.accepted)]
    told = spoken.phrase(
        "{entries} of {writers}",
        entries=spoken.plural("{count} entry", "{count} entries", found.rows),
        writers=spoken.plural("{count} writer", "{count} writers", found.writers),
    )
    well, faults = (
        spoken.phrase("as they were written"),
        spoken.plural("{count} fault", "{count} faults", len(found.wrong)),
    )
    lines.append(f"{told}: {well if found.ok else faults}")
    if found.before:
        lines.append(
            spoken.phrase(
                "{before} of them are from before the chain began: their outcomes are not sealed", before=found.before
            )
        )
    if found.unknown:
        lines.append(
            spoken.phrase(
                "{unknown} of them have no outcome: what became of the act nobody knows", unknown=found.unknown
            )
        )
    if found.sight_lost:
        lines.append(
            spoken.phrase("what this machine had seen of the audit was removed from its home, or cut short there")
        )
    if found.seen_since:
        since = shapes.clock(found.seen_since, zone)
        lines.append(spoken.phrase("this machine keeps what it sees of it since {time}", time=since))
    else:
        lines.append(
            spoken.phrase("this machine had kept nothing of it before: this is its first look, or it was removed")
        )
    return lines
