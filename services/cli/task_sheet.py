"""``task create --file``: what a file asks for, told before anything is created: columns, counts, every bad row."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from services import assembly
from services.cli import context, shapes
from services.clock import machine_zone
from services.commands.sheet import columns, table
from services.commands.sheet.orders import Defaults, Fault, Known, Orders, checked, orders
from services.commands.sheet.shop_index import ShopIndex
from services.domain.plans import recurrence
from services.domain.task import ledger
from services.messages import english
from services.settings import Settings

_FATES = {
    "reject": ": left out (--if-duplicate queue: after those)",
    "queue": ": created to run after those",
    "force": ": created to run beside those",
}


def read(engine: assembly.Engine, args: argparse.Namespace, settings: Settings, defaults: Defaults) -> Orders:
    """The rows of a file as tasks, and why the others are none.

    Raises:
        UsageError: the file cannot be read, or an option names a column or field that is not there.
    """
    found = table.read(Path(args.file), known=columns.is_heading, encoding=args.encoding, sheet=args.sheet)
    known = Known(shops=engine.registry.shops(), types=engine.registry.types(), undefined=args.allow_unknown)
    index = ShopIndex(known.shops)
    mapped = columns.chosen(columns.guess(found, known.types, index, defaults.task_type), args.map)
    asked = orders(
        found,
        mapped,
        known,
        zone=recurrence.zone_named(settings.time_zone or machine_zone()),
        now_ms=engine.store.now_ms(),
        defaults=defaults,
        twins=args.if_duplicate != "reject",
        shops=index,
    )
    answer = assembly.commands(engine).tasks.check(asked.specs)
    return checked(asked, answer, args.if_duplicate, reason=args.reason, now_ms=engine.store.now_ms())


def document(asked: Orders) -> dict[str, Any]:
    """What a file asks for, as JSON."""
    return {
        "mapping": asked.mapping,
        "ignored": [one.title for one in asked.ignored],
        "types": dict(asked.types),
        "platforms": dict(asked.platforms),
        "rows": asked.total,
        "tasks": len(asked.going),
        "empty": asked.table.empty,
        "bad_rows": asked.bad_rows,
        "bad": [_fault(fault) for fault in asked.faults],
        "repeated": [_fault(fault) for fault in asked.repeated],
        "active": [
            {
                "row": one.spec.line,
                "shop": f"{one.spec.platform}:{one.spec.shop_id}",
                "type": one.spec.task_type,
                "existing": one.task_id,
                "status": one.status,
            }
            for one in asked.active
        ],
        "before": [
            {
                "row": one.spec.line,
                "shop": f"{one.spec.platform}:{one.spec.shop_id}",
                "type": one.spec.task_type,
                "existing": one.done.task_id,
                "at": "" if ledger.unread(one.done) else shapes.iso(one.done.at),
                "by": one.done.by,
                "needs_reason": one.asks,
            }
            for one in (*asked.again, *asked.before)
        ],
        "encoding": asked.table.encoding,
        "sheet": asked.table.sheet,
    }


def lines(asked: Orders, *, created: bool = False) -> list[str]:
    """The same for people; once the tasks are ``created``, that answer names row by row what was active already."""
    found = asked.table
    place = f"sheet {found.sheet}" if found.sheet else found.encoding
    told = [f"{found.name} ({place}): {asked.total} row{'' if asked.total == 1 else 's'}"]
    if found.above:
        told.append(f"{found.above} rows above the header are not read")
    told += [f"column {title} is {target}" for title, target in asked.mapping.items()]
    told += [f"column {one.title} is ignored: {english(one.why)}" for one in asked.ignored if one.why is not None]
    told += [f"{number} tasks of {name}" for name, number in asked.types.most_common()]
    told += [
        f"row {fault.row}: {_place(fault)}{english(fault.reason)}"
        for fault in asked.left_out
        if not created or fault.field not in ("active", "done")
    ]
    told += active(len(asked.active), asked.fate) if not created or asked.fate != "reject" else []
    told += before(asked)
    if found.empty:
        told.append(f"{found.empty} empty rows")
    return told


def before(asked: Orders) -> list[str]:
    """How many rows are work that has succeeded before, and what becomes of them; nothing for none."""
    told = []
    unread = sum(ledger.unread(one.done) for one in asked.again)
    if (number := len(asked.again) - unread) > 0:
        rows = "1 row was" if number == 1 else f"{number} rows were"
        told.append(f"{rows} done already{': done again' if asked.reason else ': left out (--reason: done again)'}")
    if unread:
        rows = "1 row" if unread == 1 else f"{unread} rows"
        fate = ": done" if asked.reason else ": left out (--reason: done)"
        told.append(f"of {rows} nobody can read whether that work was done{fate}")
    if asked.before:
        rows = "1 row is" if len(asked.before) == 1 else f"{len(asked.before)} rows are"
        told.append(f"{rows} work that has succeeded before; its type lets it be done again")
    return told


def active(number: int, fate: str) -> list[str]:
    """How many rows are active already, and what becomes of them; nothing for none."""
    if not number:
        return []
    rows = "1 row is" if number == 1 else f"{number} rows are"
    return [f"{rows} the same work as tasks that wait or run{_FATES[fate]}"]


def first_fault(asked: Orders) -> str:
    """The sentence of an error."""
    fault = asked.faults[0]
    number = asked.bad_rows
    rows = "1 bad row" if number == 1 else f"{number} bad rows, the first"
    return f"{rows} is row {fault.row}: {_place(fault)}{english(fault.reason)}"


def _place(fault: Fault) -> str:
    value = f" {context.plain(fault.value)[:60]!r}" if fault.value else ""
    return f"{fault.column}{value}: ".lstrip() if fault.column or value else ""


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "row": fault.row,
        "column": fault.column,
        "field": fault.field,
        "value": fault.value,
        "reason": english(fault.reason),
    }
