"""``audit verify`` and ``audit accept``: whether the trail is as it was written, and that a fault of it is known."""

from __future__ import annotations

import argparse
from typing import Any

from services import assembly
from services.cli import shapes
from services.cli.context import EXIT_FAILED, EXIT_OK, Context
from services.domain.insight.audit import Verdict, Wrong
from services.messages import english

EXAMPLES = ("audit verify", "audit accept --note 'the backup of Monday was put back'")
LIMITS = (
    "Who may write to the store may write the whole trail anew: then only a machine finds it that has seen a later"
    " entry (its home keeps the last ones). The very last entries, taken away with the list that names them, are missed"
    " by such a machine only."
)


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verifying = verbs.add_parser(
        "verify",
        parents=[common],
        help="find what was altered, removed, moved or put in; exit code 1 when something was",
        description=f"Reads the whole trail, outcomes included. {LIMITS}",
    )
    verifying.set_defaults(handler=verify)
    accepting = verbs.add_parser(
        "accept", parents=[common], help="say that what is wrong now is known, as after a backup was put back"
    )
    accepting.add_argument("--note", required=True, help="why; kept in the audit")
    accepting.add_argument("--yes", action="store_true", help="do not ask")
    accepting.set_defaults(handler=accept)


def verify(context: Context) -> int:
    """Print what is wrong with the trail, the first fault first."""
    with context.engine() as engine:
        found = assembly.queries(engine).audit.verify()
    context.show(_document(found), _lines(found))
    return EXIT_OK if found.ok else EXIT_FAILED


def accept(context: Context) -> int:
    """Say that it is known."""
    with context.engine() as engine:
        found = assembly.queries(engine).audit.verify()
        if found.wrong and not context.confirm(f"accept {len(found.wrong)} faults of the audit", preview=_lines(found)):
            return EXIT_FAILED
        found = assembly.commands(engine).audit.accept(note=context.args.note)
    names = [_row(one) for one in found.wrong]
    context.show({"accepted": names}, [f"accepted: {one['text']}" for one in names])
    return EXIT_OK


def _document(found: Verdict) -> dict[str, Any]:
    rows = [_row(one) for one in found.wrong]
    return {
        "ok": found.ok,
        "entries": found.rows,
        "writers": found.writers,
        "before_chain": found.before,
        "outcome_unknown": found.unknown,
        "first": rows[0] if rows else None,
        "wrong": rows,
        "accepted": [_row(one) for one in found.accepted],
        "limits": LIMITS,
    }


def _row(one: Wrong) -> dict[str, Any]:
    told = one.witness
    return {
        "wrong": one.what,
        "part": one.part,
        "entry": one.entry_id,
        "writer": one.writer,
        "who": one.who,
        "action": one.action,
        "at": shapes.iso(one.at),
        "text": english(one.message) + (f". {english(told)}" if told is not None else ""),
    }


def _lines(found: Verdict) -> list[str]:
    lines = [f"{one['wrong']:<12} {one['text']}" for one in map(_row, found.wrong)]
    lines += [f"{'accepted':<12} {one['text']}" for one in map(_row, found.accepted)]
    told = f"{found.rows} entries of {found.writers} writers"
    lines.append(f"{told}: {'as they were written' if found.ok else f'{len(found.wrong)} faults'}")
    if found.before:
        lines.append(f"{found.before} of them are from before the chain began: their outcomes are not sealed")
    if found.unknown:
        lines.append(f"{found.unknown} of them have no outcome: what became of the act nobody knows")
    return lines
