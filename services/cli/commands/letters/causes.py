"""``causes``: why tasks died, how far each cause reaches, and whether its letters would pass now."""

from __future__ import annotations

from typing import Any

from services import assembly
from services.cli import shapes, spoken, tables
from services.cli.context import EXIT_OK, Context, examples, table
from services.domain.errors import NotFound, UsageError
from services.domain.task.search.filter import format_terms
from services.domain.task.status import Triage
from services.domain.text import shell
from services.monitor.letters.causes import Cause

EXAMPLES = ("causes", "causes 9ac1", "causes --triage archived --json")


def add(nouns: Any) -> None:
    parser = nouns.add_parser(
        "causes",
        handler=causes,
        help="why tasks died: equal failures as one, the worst first",
        description="Dead letters whose errors differ only in ids, numbers and addresses have one cause, named by its"
        " fingerprint. With a fingerprint, or a beginning that only one has: that cause alone.",
        **examples(EXAMPLES),
    )
    parser.add_argument("fingerprint", nargs="?", default="", metavar="FINGERPRINT")
    parser.add_argument("--triage", choices=[*map(str, Triage)], default="open", help="of letters in this state")


def causes(context: Context) -> int:
    """Print causes, or one of them."""
    args = context.args
    with context.engine(looking=True) as engine:
        found = assembly.queries(engine).causes.causes(args.triage)
        zone = shapes.zone(engine)
    rows = sorted(found.rows, key=lambda one: one.rank)
    if args.fingerprint:
        one = _one(rows, args.fingerprint)
        told = shapes.cause(one)
        facts = {
            **shapes.local(told, zone, "first_at", "last_at"),
            "reach": told["reach"]["text"],
            "known": told["known"]["text"],
        }
        lines = [tables.fact(name, value, 14) for name, value in facts.items() if value not in ("", [], None, {})]
        lines += [
            tables.fact("letters", f"task list --filter {shell.line([format_terms(one.terms)])}", 14),
            *_matrix(told["reach"]),
        ]
        context.show({"cause": told}, lines)
        return EXIT_OK
    header = ("cause", "letters", "shops", "goes", "worth it", "kind", "last", "what", "where it lies", "known")
    cells = [
        (
            one.fingerprint,
            one.count,
            one.shops,
            one.trend,
            one.worth.level,
            one.kind,
            shapes.clock(one.last_at, zone),
            " ".join(filter(None, (one.rule.name or spoken.say(one.title), _place(one)))),
            shapes.reach(one.reach)["text"],
            "; ".join(filter(None, (shapes.cause(one)["known"]["text"], *one.rule.note.splitlines()))),
        )
        for one in rows
    ]
    more = (
        [spoken.phrase("of the newest {scanned} of {total} letters", scanned=found.scanned, total=found.total)]
        if found.scanned < found.total
        else []
    )
    lines = [*table(header, cells), *more] if rows else [spoken.phrase("nothing died")]
    context.show({"causes": [shapes.cause(one) for one in rows], "scanned": found.scanned, "total": found.total}, lines)
    return EXIT_OK


def _place(one: Cause) -> str:
    """Where it was split off."""
    return f"({one.place_name or one.rule.where})" if one.rule.where else ""


def _matrix(reach: dict[str, Any]) -> list[str]:
    """Of each platform, machine, proxy, version and shop how many failed of those that ran."""
    lines: list[str] = []
    tables = {**reach["by"], "shop (attempts)": reach["shops"]}
    for name, rows in tables.items():
        if rows:
            lines += ["", *table((name, "failed", "of"), [(row["name"], row["failed"], row["ran"]) for row in rows])]
    return lines


def _one(rows: list[Cause], word: str) -> Cause:
    found = [one for one in rows if one.fingerprint == word] or [
        one for one in rows if one.fingerprint.startswith(word)
    ]
    if len(found) > 1:
        names = ", ".join(one.fingerprint for one in found)
        raise UsageError(
            spoken.phrase(
                "{word} is the beginning of several causes: {names}", word=f"{word!r:.40}", names=f"{names:.300}"
            ),
            field="fingerprint",
        )
    if not found:
        raise NotFound(
            spoken.phrase("there is no cause {word} of these letters; see `causes`", word=f"{word!r:.40}"),
            field="fingerprint",
        )
    return found[0]
