"""``worker list|show|drain|resume|stop|slots|refuse|forget``: what other workers do, and what they are told."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec

from services import assembly, spans
from services.cli import lexicon, spoken
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, seconds, table
from services.domain.errors import NotFound, UsageError
from services.domain.fleet import autoscale
from services.domain.fleet.worker import BrowserState, WorkerInfo
from services.domain.gates import home, lane_share
from services.domain.insight import worker as insight
from services.domain.insight.worker import FleetNow, WorkerNow
from services.domain.task import ids
from services.domain.text.words import between_commas
from services.engine import fates
from services.i18n import N_

SLOTS_FORM = "N[,LANE=LEAST-MOST...]|auto[:LEAST-MOST]"
SLOTS_HELP = (
    "8, or 8,low=1-3,high=-6: for low at least 1 and at most 3, for high at most 6; or auto, auto:2-16: as many as work"
    " waits for and the machine has room for"
)


def add(verbs: Any) -> None:
    """Declare the verbs beside the worker itself."""
    verbs.add_parser("list", handler=list_workers, help="workers and their slots")
    parser = verbs.add_parser("show", handler=show_worker, help="one worker: what runs in its slots, and its browsers")
    parser.add_argument("workers", nargs=1, metavar="WORKER", help="its name, or a beginning that only one has")
    for name, text in (
        ("drain", "take no new tasks"),
        ("resume", "take tasks again"),
        ("stop", "finish and leave"),
    ):
        parser = verbs.add_parser(name, help=text)
        parser.add_argument("workers", nargs="*", metavar="WORKER", help="its name, or a beginning that only one has")
        parser.add_argument("--all", action="store_true", help="every worker that is alive")
        parser.add_argument("--yes", action="store_true", help="do not ask, where it is more than one")
        if name == "stop":
            text = "how long running tasks may go on before they go back to their queue (default: the worker's own)"
            parser.add_argument("--grace", type=seconds, default=None, metavar="SECONDS", help=text)
        parser.set_defaults(handler=tell, verb=name)
    text = "take a worker that is gone off the list; it is back if it beats again"
    parser = verbs.add_parser("forget", handler=forget, help=text)
    parser.add_argument("workers", nargs=1, metavar="WORKER", help="its name, or a beginning that only one has")
    text = "change how many tasks a worker runs at once, and how its lanes share the slots"
    parser = verbs.add_parser("slots", help=text)
    parser.add_argument("workers", nargs=1, metavar="WORKER", help="its name, or a beginning that only one has")
    parser.add_argument("count", type=slots, help=SLOTS_HELP)
    parser.set_defaults(handler=tell, verb="slots", all=False)
    text = "start no tasks of these types, and only of these, from now on; they go to other workers or wait"
    parser = verbs.add_parser("refuse", help=text)
    parser.add_argument("workers", nargs=1, metavar="WORKER", help="its name, or a beginning that only one has")
    parser.add_argument("types", nargs="*", metavar="TYPE", type=task_types)
    parser.add_argument("--none", action="store_true", help="refuse nothing any more")
    parser.set_defaults(handler=tell, verb="refuse", all=False)


def list_workers(context: Context) -> int:
    """Print workers."""
    with context.engine(looking=True) as engine:
        fleet, now = fates.look(engine.store), engine.store.now_ms()
    last = insight.last(fleet, now)
    ended = [spoken.say(last)] if last is not None else []
    document = {
        "workers": [_document(one) for one in fleet.workers],
        "summary": _summary(fleet),
        "last": "".join(ended),
    }
    rows = [
        (
            one.name,
            _state(one),
            f"{one.busy}/{len(one.slots)}" + (f" {one.info.auto}" if one.info.auto else ""),
            spoken.span(one.silence_ms / 1000),
            one.info.done,
            one.info.failed,
            _lanes(one.info),
            one.info.node,
            one.info.version,
            _runs(one.info),
        )
        for one in fleet.workers
    ]
    header = ("worker", "state", "busy", "heartbeat", "done", "failed", "lanes", "node", "version", "runs")
    apart = [one for one in fleet.workers if one.missing or one.state == insight.CUT_OFF]
    told = [f"{one.name}: {words}" for one in apart for words in _facts(one)]
    context.show(document, [*table(header, rows), *told, _summary(fleet), *ended])
    return EXIT_OK


def show_worker(context: Context) -> int:
    """Print one worker."""
    with context.engine(looking=True) as engine:
        fleet, now = fates.look(engine.store), engine.store.now_ms()
        info = only([one.info for one in fleet.workers], context.args.workers[0])
    one, browsers = fleet.find(info.worker), max(info.browsers, len(info.pool))
    assert one is not None
    lines = [
        spoken.phrase(
            "{worker}: {state}, heard {span} ago, on {host}",
            worker=info.worker,
            state=lexicon.called("state", _state(one)),
            span=spoken.span(one.silence_ms / 1000),
            host=info.host,
        ),
        *[f"  {told}" for told in _facts(one)],
        spoken.phrase("  node {name}", name=info.node or spoken.phrase("without a name")),
        spoken.phrase("  runs {what}", what=_runs(info)),
        spoken.phrase(
            N_("  {busy} of {slots} slots unconfirmed") if one.missing else N_("  {busy} of {slots} slots busy"),
            busy=one.busy,
            slots=len(one.slots),
        ),
        *[
            spoken.phrase(
                "    {task_type} of {shop}: {task_id}", task_type=slot.task_type, shop=slot.shop, task_id=slot.task_id
            )
            for slot in one.slots
            if slot.task_id
        ],
        *_link(info, now),
        spoken.phrase(
            N_("  1 browser")
            if browsers == 1
            else N_("  {number} browsers, among them")
            if browsers > len(info.pool)
            else N_("  {number} browsers"),
            number=browsers,
        ),
        *[f"    {_browser(place, info.seen_at)}" for place in info.pool],
    ]
    context.show({"worker": _document(one)}, lines)
    return EXIT_OK


def forget(context: Context) -> int:
    """Strike a worker off the list that is gone."""
    with context.engine() as engine:
        info = only(engine.store.workers(), context.args.workers[0])
        assembly.commands(engine).fleet.forget_worker(info.worker)
    context.show(
        {"worker": info.worker, "forgotten": True},
        [spoken.phrase("{worker} is forgotten; it is back if it beats again", worker=info.worker)],
    )
    return EXIT_OK


def _document(one: WorkerNow) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(one.info)
    return told | {
        "silent_ms": one.silence_ms,
        "silent": one.state in (insight.SILENT, insight.GONE),
        "standing": one.state,
        "facts": _facts(one),
        "tasks": [{name: value for name, value in msgspec.to_builtins(fate).items() if value} for fate in one.fates],
    }


def _summary(fleet: FleetNow) -> str:
    return ", ".join(map(spoken.say, insight.summary(fleet)))


def _state(one: WorkerNow) -> str:
    """Its state in one word; ``running`` is what was always said of one that is well."""
    return "running" if one.state == insight.FINE else one.state


def _facts(one: WorkerNow) -> list[str]:
    return [spoken.say(fact.message) for fact in one.facts]


def _link(info: WorkerInfo, now: int) -> list[str]:
    """What its connections to the broker meet."""
    link, found = info.link, []
    if link.blocked_at:
        since, why = spoken.span(max(0, now - link.blocked_at) / 1000), link.why or spoken.phrase("no reason given")
        found.append(spoken.phrase("  the broker holds its messages back for {since}: {why}", since=since, why=why))
    if link.unanswered:
        found.append(
            spoken.plural(
                "  {count} message without a confirm", "  {count} messages without a confirm", link.unanswered
            )
        )
    if link.error:
        found.append(spoken.phrase("  broker: {error}", error=link.error))
    return found


def _browser(one: BrowserState, now: int) -> str:
    """A browser in words, at the instant of the heartbeat."""
    shop, span = one.shop or spoken.phrase("shared"), spoken.span(max(0, now - one.since) / 1000)
    state = lexicon.called("browser", one.state)
    told = [spoken.phrase("{shop}: {state} for {span}", shop=shop, state=state, span=span)]
    told += [spoken.plural("used {count} time", "used {count} times", one.uses)]
    told += [f"{one.memory_mb:.0f} MB"] if one.memory_mb >= 0 else []
    told += [spoken.phrase("port {port}", port=one.port)] if one.port else []
    told += [spoken.phrase("profile {profile}", profile=one.profile)] if one.profile else []
    return ", ".join(told)


def slots(text: str) -> str:
    """Slots and shares of the lanes, as they were written.

    Raises:
        argparse.ArgumentTypeError: the text says what is wrong.
    """
    try:
        if autoscale.parse(text) is None:
            lane_share.parse_slots(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(spoken.told(exc)) from exc
    return text.strip()


def task_types(text: str) -> list[str]:
    """The names of task types, one or with commas, as the window takes them.

    Raises:
        argparse.ArgumentTypeError: one cannot be such a name.
    """
    names = between_commas(text) or [text]
    if bad := next((name for name in names if not ids.valid_task_type(name)), None):
        raise argparse.ArgumentTypeError(
            spoken.phrase("a task type is 1-64 of A-Z a-z 0-9 _ -, not {text}", text=f"{bad!r:.60}")
        )
    return names


def node(text: str) -> str:
    """The name of a node.

    Raises:
        argparse.ArgumentTypeError: it cannot be one.
    """
    if not home.valid_node(text):
        raise argparse.ArgumentTypeError(
            spoken.phrase("a node is 1-64 of A-Z a-z 0-9 . _ -, not {text}", text=f"{text!r:.60}")
        )
    return text


def _order(args: argparse.Namespace) -> str:
    """The order in words that the worker knows.

    Raises:
        UsageError: the words of the command do not fit together.
    """
    if args.verb == "slots":
        return f"slots={args.count}"
    if args.verb == "refuse":
        if bool(args.types) == args.none:
            raise UsageError(spoken.phrase("name task types, or say --none (not both)"), field="type")
        return f"refuse={','.join(chain.from_iterable(args.types))}"
    if args.verb == "stop" and args.grace is not None:
        return f"stop={args.grace:g}"
    return str(args.verb)


def _lanes(info: WorkerInfo) -> str:
    """The lanes with what deviates from all slots: at least so many of them, at most so many."""
    words = []
    for lane in info.open_lanes:
        least, most = info.shares.get(lane, (0, 0))
        bound = most if most < len(info.slots) else 0
        words.append(lane + (f">={least}" if least else "") + (f"<={bound}" if bound else ""))
    return ",".join(words)


def _runs(info: WorkerInfo) -> str:
    own = {"python": len(info.handlers), "rpa": len(info.commands)}
    words = [
        spoken.plural("{name} ({count} type)", "{name} ({count} types)", own[name], name=name)
        if own.get(name)
        else name
        for name in info.executors
    ]
    words += [
        spoken.phrase("no {name}: {what} is missing", name=name, what=what) for name, what in sorted(info.lacks.items())
    ]
    words += [spoken.phrase("refuses {names}", names=", ".join(info.declines))] if info.declines else []
    return ", ".join(words) or spoken.phrase("nothing")


def tell(context: Context) -> int:
    """Order workers to drain, resume, stop, change their slots or refuse types."""
    args = context.args
    order = _order(args)
    with context.engine() as engine:
        now = engine.store.now_ms()
        chosen = _chosen(engine.store.workers(), args.workers, now, everyone=args.all)
        if len(chosen) > 1 and not context.confirm(
            spoken.phrase("{verb} {count} workers", verb=args.verb, count=len(chosen))
        ):
            return EXIT_FAILED
        fleet = assembly.commands(engine).fleet
        for info in chosen:
            fleet.tell_worker(info.worker, order)
    names = [info.worker for info in chosen]
    warnings = [
        spoken.phrase(
            "{worker} is silent for {span}; it obeys only if it comes back",
            worker=info.worker,
            span=spans.of_seconds((now - info.seen_at) // 1000),
        )
        for info in chosen
        if _silent(info, now)
    ]
    context.warn(warnings)
    context.show(
        {"worker": names[0] if len(names) == 1 else None, "workers": names, "order": order, "warnings": warnings},
        [
            spoken.phrase("{name}: {order} asked for; it obeys at its next heartbeat", name=name, order=order)
            for name in names
        ],
    )
    return EXIT_OK


def _chosen(workers: Sequence[WorkerInfo], words: Sequence[str], now: int, *, everyone: bool) -> list[WorkerInfo]:
    """The workers that are meant.

    Raises:
        UsageError: neither names nor --all, or a name fits none or several.
    """
    if bool(words) == everyone:
        raise UsageError(spoken.phrase("name workers, or say --all (not both)"), field="worker")
    if everyone:
        alive = [info for info in workers if not _silent(info, now)]
        if not alive:
            raise UsageError(spoken.phrase("no worker is alive"), field="worker")
        return alive
    return list({info.worker: info for info in (only(workers, word) for word in words)}.values())


def only(workers: Sequence[WorkerInfo], word: str) -> WorkerInfo:
    """The worker of this name, or with this beginning.

    Raises:
        UsageError: none is called so, or several are.
    """
    exact = [info for info in workers if info.worker == word]
    found = exact or [info for info in workers if word and info.worker.startswith(word)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(info.worker for info in found)
        raise UsageError(
            spoken.phrase(
                "{word} is the beginning of several workers: {names}", word=f"{word!r:.80}", names=f"{names:.300}"
            ),
            field="worker",
        )
    raise NotFound(spoken.phrase("there is no worker {word}; see `worker list`", word=f"{word!r:.80}"), field="worker")


def _silent(info: WorkerInfo, now: int) -> bool:
    return insight.missed(info, now)
