"""``handover``: on one page what who takes over must know."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from services import assembly, i18n
from services.cli import shapes, spoken
from services.cli.context import EXIT_OK, Context, examples
from services.domain.alerts import rule as rules
from services.domain.alerts.incident import ROLE
from services.domain.errors import UsageError
from services.domain.plans import handover as plans
from services.domain.plans import recurrence
from services.domain.plans.handover import HandoverPlan
from services.monitor.alerts.wording import LANGUAGES
from services.monitor.handover import LONGEST_MS, SHORTEST_MS, Handover, Line
from services.monitor.past import queries as past

EXAMPLES = (
    "handover show",
    "handover show --since 08:00 --language zh",
    "handover set --at 08:00 --at 20:00 --to duty",
    "handover send --to duty --since 8h",
)
#: a page that nobody gave a time for
SPAN = "12h"


def add(nouns: Any) -> None:
    verbs = nouns.add_parser(
        "handover", help="what who takes over must know, on one page", **examples(EXAMPLES)
    ).add_subparsers(dest="verb", required=True, metavar="VERB")
    parser = verbs.add_parser(
        "show",
        handler=show,
        help="what broke, who did what, what waits for whom, which promises are at risk",
        description="Each number has the filter that gives it again. While nobody leads, or the broker does not answer,"
        " the page says so and advises nothing.",
        **examples(EXAMPLES),
    )
    _add_since(parser)
    parser.add_argument(
        "--language", default="", choices=sorted(LANGUAGES), help="of the page: en or zh (default: yours)"
    )
    verbs.add_parser("plan", handler=plan, help="when it is sent, and to whom")
    setting = verbs.add_parser("set", handler=set_, help="send it every day at these times, by channels of alerts")
    setting.add_argument("--at", action="append", required=True, metavar="HH:MM", help="repeats; on the fleet's clocks")
    sending = verbs.add_parser("send", handler=send, help="send it now")
    _add_since(sending)
    for one in (setting, sending):
        one.add_argument("--to", action="append", metavar="NAME", help="a channel or a group of them; repeats (duty)")
    verbs.add_parser("remove", handler=remove, help="send it no more")


def show(context: Context) -> int:
    """Print the page."""
    args = context.args
    with context.engine() as engine:
        page = assembly.queries(engine).handover.page(
            _since(context, engine), LANGUAGES[args.language or ("zh" if i18n.is_chinese() else "en")]
        )
    context.show(document(page), list(lines(page)))
    return EXIT_OK


def plan(context: Context) -> int:
    """Print when it is sent."""
    with context.engine() as engine:
        commands = assembly.commands(engine)
        found, zone, now = commands.handover.plan(), commands.quiet.zone(), engine.store.now_ms()
        sent = plans.LAST.read(engine.store.documents(plans.KIND).get(plans.SENT), plans.HandoverSent())
    if found is None:
        context.show({"plan": None}, [spoken.phrase("it is not sent by itself; see `handover set`")])
        return EXIT_OK
    following = plans.following(found, zone, now)
    told = [
        spoken.phrase(
            "sent every day at {times} ({zone}) to {to}, set by {by}",
            times=", ".join(found.times),
            zone=zone,
            to=", ".join(found.to),
            by=found.by,
        ),
        spoken.phrase("next: {at}", at=recurrence.iso(following, zone)),
    ]
    if sent.due:
        told.append(spoken.phrase("last: {at}", at=recurrence.iso(sent.due, zone)))
    last = shapes.iso(sent.due) if sent.due else None
    context.show({"plan": _plan(found), "next": shapes.iso(following), "last": last}, told)
    return EXIT_OK


def set_(context: Context) -> int:
    """Say when it is sent, and to whom."""
    args = context.args
    with context.engine() as engine:
        commands = assembly.commands(engine).handover
        before = commands.set(HandoverPlan(times=tuple(args.at), to=tuple(args.to or (rules.DUTY,))))
        made = commands.plan()
    assert made is not None
    context.show(
        {"plan": _plan(made), "before": _plan(before) if before is not None else None},
        [spoken.phrase("sent every day at {times} to {to}", times=", ".join(made.times), to=", ".join(made.to))],
    )
    return EXIT_OK


def send(context: Context) -> int:
    """Send it now."""
    args = context.args
    with context.engine() as engine:
        since = _since(context, engine)
        names = assembly.commands(engine).handover.send(args.to or [rules.DUTY], engine.store.now_ms() - since)
        watched = bool(engine.store.leader(ROLE))
    told = [spoken.phrase("written for {names}; whoever watches for alerts sends it", names=", ".join(names))]
    if not watched:
        told.append(spoken.phrase("nobody watches now: it is sent once a worker, or a window on one machine, does"))
    context.show({"to": list(names), "watched": watched}, told)
    return EXIT_OK


def remove(context: Context) -> int:
    """Send it no more."""
    with context.engine() as engine:
        was = assembly.commands(engine).handover.remove()
    context.show(
        {"was_set": was}, [spoken.phrase("it is not sent any more") if was else spoken.phrase("it was not sent")]
    )
    return EXIT_OK


def _plan(found: HandoverPlan) -> dict[str, Any]:
    return {"at": list(found.times), "to": list(found.to), "by": found.by, "since": shapes.iso(found.at)}


def _since(context: Context, engine: assembly.Engine) -> int:
    word, now = context.args.since, engine.store.now_ms()
    since = past.instant(word, now, assembly.commands(engine).quiet.zone())
    if since is None or not SHORTEST_MS <= now - since <= LONGEST_MS:
        text = spoken.phrase(
            "--since takes a past time of the last week such as 12h, 08:00 or yesterday 20:00, not {text}",
            text=f"{word!r:.40}",
        )
        raise UsageError(text, field="--since")
    return since


def _add_since(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", default=SPAN, metavar="WHEN", help="from when: 12h ago, 08:00, yesterday 20:00, 2026-11-20T20:00"
    )


def document(page: Handover) -> dict[str, Any]:
    """The page for programs; instants in UTC."""
    return {
        "title": page.title,
        "since": shapes.iso(page.since),
        "until": shapes.iso(page.until),
        "zone": page.zone,
        "language": page.language,
        "doubts": list(page.doubts),
        "parts": [
            {"key": part.key, "title": part.title, "empty": part.empty, "lines": [_line(line) for line in part.lines]}
            for part in page.parts
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "text": line.text,
        "number": line.number,
        "exact": line.exact if line.number is not None else None,
        "page": line.page,
        "filter": line.filter,
        "target": line.target,
    }


def lines(page: Handover) -> Iterator[str]:
    """The page for people; behind a number the filter that gives it again."""
    yield page.title
    for doubt in page.doubts:
        yield f"! {doubt}"
    for part in page.parts:
        yield ""
        yield part.title
        for line in part.lines:
            shown = f"   [{line.page}: {line.filter}]" if line.number is not None and line.filter else ""
            yield f"- {line.text}{shown}"
        if part.empty:
            yield f"- {part.empty}"
