"""Machines as rows of a table: load, versions, and where these differ from those of the others."""

from __future__ import annotations

from functools import partial

from services.domain.insight.machines import Difference, MachineNow
from services.i18n import N_, _
from views.support import instant, safe, shown, text
from views.tables.column import Column, measured

#: what a part is called
NAMES = {
    "fleetdeck": N_("Program"),
    "python": "Python",
    "playwright": "Playwright",
    "chromium": N_("Browser"),
}


def difference(one: Difference) -> str:
    """One of them in words."""
    words = {"part": _(NAMES[one.part]), "own": text.listed(one.own), "others": one.others}
    if len(one.own) > 1:
        return _("{part} is of several versions here: {own}").format(**words)
    return _("{part} {own}, most others {others}").format(**words)


def _note(row: MachineNow) -> str:
    if row.heard_at:
        silent = shown.span(max(0, instant.now_ms() - row.heard_at))
        return _("not heard of for {span}").format(span=text.duration(silent))
    return text.listed(map(difference, row.differs))


def _note_tip(row: MachineNow) -> str:
    return _note(row) if row.heard_at else "\n".join(map(difference, row.differs))


def sentence(row: MachineNow) -> str:
    """The row for a screen reader."""
    if row.heard_at:
        return _("{name}, {note}").format(name=row.name, note=_note(row))
    words = {"name": row.name, "busy": row.busy, "slots": row.slots, "note": _note(row) or _("same versions")}
    return _("{name}, {busy} of {slots} slots busy, {note}").format(**words)


def _busy(row: MachineNow) -> str:
    return "" if row.heard_at else f"{row.busy} / {row.slots}"


def _share(value: float) -> str:
    return text.percent(value / 100) if value >= 0 else ""


def _version(part: str, row: MachineNow) -> str:
    return safe.one_line(row.version(part), 60)


def _version_tone(part: str, row: MachineNow) -> str:
    return "retrying" if any(one.part == part for one in row.differs) else "text2"


def _of_part(part: str, width: int, hide_rank: int) -> Column[MachineNow]:
    return Column(
        key=part,
        title=NAMES[part],
        value=partial(_version, part),
        tone=partial(_version_tone, part),
        width=width,
        sortable=True,
        hide_rank=hide_rank,
    )


COLUMNS: tuple[Column[MachineNow], ...] = (
    Column(
        key="state",
        title="",
        value=lambda row: "warning" if row.differs or row.heard_at else "healthy",
        kind="glyph",
        width=30,
        live=True,
        speech=sentence,
    ),
    Column(
        key="machine",
        title=N_("Machine"),
        value=lambda row: row.name,
        kind="strong",
        names=True,
        width=130,
        sortable=True,
    ),
    measured(
        "workers", N_("Workers"), lambda row: len(row.workers), lambda row: text.count(len(row.workers)), width=76
    ),
    measured("busy", N_("Busy"), lambda row: row.busy, _busy, width=76),
    measured("cpu", N_("CPU"), lambda row: row.cpu, lambda row: _share(row.cpu), width=80),
    measured("memory", N_("Memory"), lambda row: row.memory, lambda row: _share(row.memory), width=80, hide_rank=4),
    measured(
        "browsers",
        N_("Open browsers"),
        lambda row: row.browsers,
        lambda row: "" if row.heard_at else text.count(row.browsers),
        width=108,
        hide_rank=3,
    ),
    _of_part("fleetdeck", 84, 0),
    _of_part("python", 72, 6),
    _of_part("chromium", 110, 5),
    _of_part("playwright", 84, 1),
    Column(
        key="system",
        title=N_("System"),
        value=lambda row: safe.one_line(row.system, 60),
        tone="text2",
        width=110,
        hide_rank=2,
    ),
    Column(
        key="note",
        title=N_("Note"),
        value=_note,
        tone="retrying",
        width=180,
        stretch=True,
        live=True,
        tooltip=_note_tip,
    ),
)
