"""Nodes as rows of a table, for fleets that do not fit as cards."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from services.domain.fleet.worker import SlotState
from services.domain.insight.worker import WorkerNow
from services.i18n import N_, _
from views.pages.workers import nodes
from views.support import instant, shown, text
from views.tables import painters
from views.tables.column import Column, measured
from views.tables.painters import Cell, Ink
from views.theme import theme

STRIP, MARK = 120, 7


def _note(row: WorkerNow) -> str:
    return nodes.note(row)[0]


def _need(row: WorkerNow) -> tuple[bool, bool, str]:
    """How much a person should look, and what is noted: what is sorted by."""
    words, tone = nodes.note(row)
    return row.missing, tone == "retrying", words


def _note_tone(row: WorkerNow) -> str:
    return nodes.note(row)[1].replace("text3", "text2")


def _beat(row: WorkerNow) -> str:
    return text.age(shown.span(nodes.silence_ms(row, instant.now_ms())))


def _beat_tone(row: WorkerNow) -> str:
    return nodes.heartbeat(row)[1].replace("text3", "text2")


def sentence(row: WorkerNow) -> str:
    """The row for a screen reader."""
    words = {"name": row.name, "busy": row.busy, "slots": len(row.slots), "note": _note(row)}
    return _("{name}, {busy} of {slots} slots busy, {note}").format(**words)


def _paint_strip(painter: QPainter, room: QRect, cell: Cell, _ink: Ink) -> None:
    slots: tuple[SlotState, ...] = cell.column.value(cell.record)
    if not slots:
        return
    busy = "text3" if cell.record.missing else "running"
    width = min(MARK, max(1.0, STRIP / len(slots) - 1))
    top = room.y() + (room.height() - 10) / 2
    painter.setPen(Qt.PenStyle.NoPen)
    for number, slot in enumerate(slots):
        painter.setBrush(theme().color(busy if slot.task_id else "line2"))
        painter.drawRoundedRect(QRectF(room.x() + number * (width + 1), top, width, 10), 1, 1)


painters.register("slots", _paint_strip)


def _busy(row: WorkerNow) -> str:
    return f"{row.busy} / {len(row.slots)}"


def _load(row: WorkerNow, value: float) -> float:
    """What it told of its machine; of one that is not heard of nobody knows it now."""
    return -1.0 if row.missing else value


def _cpu(row: WorkerNow) -> str:
    value = _load(row, row.info.cpu)
    return text.percent(value / 100) if value >= 0 else ""


def _memory(row: WorkerNow) -> str:
    value = _load(row, row.info.memory_mb)
    return text.join(text.count(round(value)), "MB") if value >= 0 else ""


def _done(row: WorkerNow) -> str:
    return text.count(row.info.done)


COLUMNS: tuple[Column[WorkerNow], ...] = (
    Column(key="state", title="", value=nodes.glyph, kind="glyph", width=30, live=True, speech=sentence),
    Column(
        key="worker",
        title=N_("Worker"),
        value=lambda row: row.name,
        kind="strong",
        names=True,
        width=190,
        sortable=True,
    ),
    measured("busy", N_("Busy"), lambda row: row.busy, _busy, width=76),
    Column(
        key="slots",
        title=N_("Slots"),
        value=lambda row: row.slots,
        text=_busy,
        kind="slots",
        width=STRIP + 24,
    ),
    Column(
        key="seen",
        title=N_("Heartbeat"),
        value=lambda row: row.silence_ms,
        text=_beat,
        tone=_beat_tone,
        width=116,
        live=True,
        sortable=True,
    ),
    measured("cpu", N_("CPU"), lambda row: _load(row, row.info.cpu), _cpu, width=80),
    measured("memory", N_("Memory"), lambda row: _load(row, row.info.memory_mb), _memory, width=92, hide_rank=2),
    measured("done", N_("Done"), lambda row: row.info.done, _done, width=80, hide_rank=1),
    Column(
        key="note",
        title=N_("Note"),
        value=_need,
        text=_note,
        tone=_note_tone,
        width=160,
        stretch=True,
        live=True,
        sortable=True,
        descending_first=True,
    ),
)
