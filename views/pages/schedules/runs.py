"""The last runs of a schedule as bars in a cell: height and colour both tell what became of each."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from services.domain.insight import schedule as insight
from services.domain.plans import schedule as schedules
from services.i18n import N_, _, ngettext
from services.monitor.schedules import RunView, ScheduleRow
from views.support import shown, text
from views.tables import painters
from views.tables.painters import Cell, Ink
from views.theme import theme

BAR, STEP, HIGHEST = 6, 9, 16
#: state of a run: its word, colour role, height in pixels; a hollow bar made nothing
_LOOK: dict[str, tuple[str, str, int]] = {
    "succeeded": (N_("done"), "succeeded", 7),
    "dead": (N_("with failures"), "dead", 16),
    "running": (N_("not through yet"), "running", 11),
    "missed": (N_("missed"), "retrying", 13),
    "skipped": (N_("skipped"), "text3", 4),
    "empty": (N_("no task was needed"), "text3", 7),
    "gone": (N_("its records are no more"), "text3", 7),
}
_HOLLOW = frozenset({"missed", "skipped", "empty"})
_KINDS = {schedules.HAND: N_("by hand"), schedules.BACKFILL: N_("made up for")}


def words(run: RunView, now_ms: int) -> str:
    """One planned time and what became of it."""
    past = run.past
    parts = [_(_LOOK[run.state][0])]
    if (late := insight.ran_late(past.late_ms)) is not None:
        parts.append(shown.told(late, now_ms))
    parts += _numbers(run)
    if past.kind in _KINDS:
        parts.append(_(_KINDS[past.kind]))
    if past.by:
        parts.append(past.by)
    return _("{name}: {value}").format(name=shown.clock(past.at, now_ms), value=text.listed(parts))


def _numbers(run: RunView) -> Iterator[str]:
    past = run.past
    if run.succeeded or run.dead or run.open:
        yield ngettext("{n} done", "{n} done", run.succeeded).format(n=text.count(run.succeeded))
    if run.dead:
        yield ngettext("{n} dead", "{n} dead", run.dead).format(n=text.count(run.dead))
    if run.open:
        yield ngettext("{n} open", "{n} open", run.open).format(n=text.count(run.open))
    if past.left_out:
        yield ngettext("{n} shop left out", "{n} shops left out", past.left_out).format(n=text.count(past.left_out))
    if past.failed:
        yield ngettext("{n} failed", "{n} failed", past.failed).format(n=text.count(past.failed))


def summary(row: ScheduleRow) -> str:
    """The runs in a few words, for a screen reader and for copying."""
    if not row.runs:
        return ""
    counts: dict[str, int] = {}
    for run in row.runs:
        counts[run.state] = counts.get(run.state, 0) + 1
    return text.listed([f"{text.count(number)} {_(_LOOK[state][0])}" for state, number in counts.items()])


def lines(row: ScheduleRow, now_ms: int) -> str:
    """All of them, the last one first, one a line."""
    return "\n".join(words(run, now_ms) for run in reversed(row.runs))


def at(row: ScheduleRow, x: int) -> RunView | None:
    """The run whose bar stands at so many pixels from where they begin."""
    place = x // STEP
    return row.runs[place] if 0 <= place < len(row.runs) else None


def _paint(painter: QPainter, room: QRect, cell: Cell, _ink: Ink) -> None:
    row: ScheduleRow = cell.record
    base = room.center().y() + HIGHEST // 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    for place, run in enumerate(row.runs):
        _word, role, height = _LOOK[run.state]
        box = QRect(room.left() + place * STEP, base - height, BAR, height)
        if run.state in _HOLLOW:
            painter.setPen(theme().color(role))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        else:
            painter.fillRect(box, theme().color(role))


painters.register("runs", _paint)
