"""``task create --file``: what a file asks for, told before anything is created: columns, counts, every bad row."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services import assembly
from services.cli import context, shapes, spoken
from services.cli.instants import zone_of
from services.commands.sheet import columns, table
from services.commands.sheet.orders import Defaults, Fault, Known, Orders, checked, orders
from services.commands.sheet.shop_index import ShopIndex
from services.domain.plans import recurrence
from services.domain.task import ledger
from services.engine.spec import After
from services.i18n import N_, ngettext

_FATES = {
    "reject": N_("{what}: left out (--if-duplicate queue: after those)"),
    "queue": N_("{what}: created to run after those"),
    "force": N_("{what}: created to run beside those"),
}


def read(engine: assembly.Engine, args: argparse.Namespace, defaults: Defaults) -> Orders:
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
        zone=recurrence.zone_named(zone_of(engine)),
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
        "after": [after_document(one) for one in asked.after],
        "encoding": asked.table.encoding,
        "sheet": asked.table.sheet,
    }


def lines(asked: Orders, *, created: bool = False) -> list[str]:
    """The same for people; once the tasks are ``created``, that answer names row by row what was active already."""
    found = asked.table
    place = spoken.phrase("sheet {name}", name=found.sheet) if found.sheet else found.encoding
    head = ngettext("{name} ({place}): {n} row", "{name} ({place}): {n} rows", asked.total)
    told = [head.format(name=found.name, place=place, n=asked.total)]
    if found.above:
        above = ngettext(
            "{n} line above the header is not read", "{n} lines above the header are not read", found.above
        )
        told.append(above.format(n=found.above))
    told += [spoken.phrase("column {title} is {target}", title=title, target=to) for title, to in asked.mapping.items()]
    told += [
        spoken.phrase("column {title} is ignored: {why}", title=one.title, why=spoken.say(one.why))
        for one in asked.ignored
        if one.why is not None
    ]
    told += [
        ngettext("{n} task of {type}", "{n} tasks of {type}", number).format(n=number, type=name)
        for name, number in asked.types.most_common()
    ]
    told += [
        spoken.phrase("row {row}: {why}", row=fault.row, why=f"{_place(fault)}{spoken.say(fault.reason)}")
        for fault in asked.left_out
        if not created or fault.field not in ("active", "done")
    ]
    told += active(len(asked.active), asked.fate) if not created or asked.fate != "reject" else []
    told += before(asked)
    told += after(asked.after)
    if found.empty:
        told.append(ngettext("{n} empty row", "{n} empty rows", found.empty).format(n=found.empty))
    return told


def before(asked: Orders) -> list[str]:
    """How many rows are work that has succeeded before, and what becomes of them; nothing for none."""
    told = []
    unread = sum(ledger.unread(one.done) for one in asked.again)
    if (number := len(asked.again) - unread) > 0:
        what = ngettext("{n} row was done already", "{n} rows were done already", number).format(n=number)
        fate = N_("{what}: done again") if asked.reason else N_("{what}: left out (--reason: done again)")
        told.append(spoken.phrase(fate, what=what))
    if unread:
        what = ngettext(
            "of {n} row nobody can read whether that work was done",
            "of {n} rows nobody can read whether that work was done",
            unread,
        ).format(n=unread)
        fate = N_("{what}: done") if asked.reason else N_("{what}: left out (--reason: done)")
        told.append(spoken.phrase(fate, what=what))
    if number := len(asked.before):
        told.append(
            ngettext(
                "{n} row is work that has succeeded before; its type lets it be done again",
                "{n} rows are work that has succeeded before; its type lets it be done again",
                number,
            ).format(n=number)
        )
    return told


def after(found: Sequence[After]) -> list[str]:
    """What the types mean that tasks come after."""
    told = []
    for one in found:
        many = ngettext("{n} task", "{n} tasks", one.tasks).format(n=one.tasks)
        waits = ngettext("{n} waits for {tasks}", "{n} wait for {tasks}", one.waiting).format(n=one.waiting, tasks=many)
        none = ngettext("{n} has none open", "{n} have none open", one.free).format(n=one.free)
        what = ", ".join([waits] * bool(one.waiting) + [none] * bool(one.free))
        told.append(spoken.phrase("after {type}: {what}", type=one.task_type, what=what))
    return told


def after_document(one: After) -> dict[str, Any]:
    """The same as JSON."""
    return {"type": one.task_type, "waiting": one.waiting, "tasks": one.tasks, "free": one.free}


def active(number: int, fate: str) -> list[str]:
    """How many rows are active already, and what becomes of them; nothing for none."""
    if not number:
        return []
    what = ngettext(
        "{n} row is the same work as tasks that wait or run",
        "{n} rows are the same work as tasks that wait or run",
        number,
    ).format(n=number)
    return [spoken.phrase(_FATES[fate], what=what)]


def first_fault(asked: Orders) -> str:
    """The sentence of an error."""
    fault = asked.faults[0]
    number = asked.bad_rows
    told = ngettext("{n} bad row is row {row}: {why}", "{n} bad rows, the first is row {row}: {why}", number)
    return told.format(n=number, row=fault.row, why=f"{_place(fault)}{spoken.say(fault.reason)}")


def _place(fault: Fault) -> str:
    value = f" {context.plain(fault.value)[:60]!r}" if fault.value else ""
    return f"{fault.column}{value}: ".lstrip() if fault.column or value else ""


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "row": fault.row,
        "column": fault.column,
        "field": fault.field,
        "value": fault.value,
        "reason": spoken.say(fault.reason),
    }
