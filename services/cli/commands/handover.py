"""``handover``: on one page what who takes over must know."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from services import assembly
from services.cli import shapes
from services.cli.context import EXIT_OK, Context, examples
from services.domain.errors import UsageError
from services.monitor.alerts.wording import LANGUAGES
from services.monitor.handover import LONGEST_MS, SHORTEST_MS, Handover, Line
from services.monitor.past import queries as past

EXAMPLES = ("handover show", "handover show --since 08:00", "handover show --since 24h --language zh")


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the noun."""
    verbs = nouns.add_parser(
        "handover", help="what who takes over must know, on one page", **examples(EXAMPLES)
    ).add_subparsers(dest="verb", required=True, metavar="VERB")
    parser = verbs.add_parser(
        "show",
        parents=[common],
        help="what broke, who did what, what waits for whom, which promises are at risk",
        description="Each number has the filter that gives it again. While nobody leads, or the broker does not answer,"
        " the page says so and advises nothing.",
        **examples(EXAMPLES),
    )
    parser.add_argument("--since", default="12h", metavar="WHEN", help="from when: 12h ago, 08:00, 2026-11-20T20:00")
    parser.add_argument("--language", default="en", choices=sorted(LANGUAGES), help="of the page: en or zh")
    parser.set_defaults(handler=show)


def show(context: Context) -> int:
    """Print the page."""
    args = context.args
    with context.engine() as engine:
        zone, now = assembly.commands(engine).quiet.zone(), engine.store.now_ms()
        since = past.instant(args.since, now, zone)
        if since is None or not SHORTEST_MS <= now - since <= LONGEST_MS:
            text = f"--since takes a past time of the last week such as 12h or 08:00, not {args.since!r:.40}"
            raise UsageError(text, field="--since")
        page = assembly.queries(engine).handover.page(since, LANGUAGES[args.language])
    context.show(document(page), list(lines(page)))
    return EXIT_OK


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
    yield f"{page.title} ({page.zone})"
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
