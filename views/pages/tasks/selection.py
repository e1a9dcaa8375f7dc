"""What an action applies to: the ticked tasks, loaded or not, else the one under the cursor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QObject, Signal

from services.domain.insight.wait import GateView
from services.domain.task.record import Task
from services.monitor.tasks import Pick, TaskQueries, pick
from views.kit.task_verb import Standing
from views.pages.tasks.rows import TaskRow
from views.support.operation import Operation, report
from views.support.words import verdicts
from views.tables.table_view import TableView


class Picked(msgspec.Struct, frozen=True):
    """Everything that matched at one moment, with what a selection keeps of it counted beside the window."""

    picks: dict[Hashable, Pick]
    keys: frozenset[Hashable]
    standing: Counter[tuple[str, str]]


def picked(picks: Iterable[Pick]) -> Picked:
    """Count them; for a hundred thousand that takes tenths of a second."""
    found: dict[Hashable, Pick] = {one.task_id: one for one in picks}
    return Picked(found, frozenset(found), Counter(map(_place, found.values())))


class Selection(QObject):
    """Follows the ticks of a table; "Select all" freezes the ids that match on the server at that moment.

    Signals:
        changed: other tasks, or the same ones in another state.
        busy_changed: the ids of everything that matches are being asked for.
    """

    changed = Signal()
    busy_changed = Signal(bool)

    def __init__(self, queries: TaskQueries, table: TableView) -> None:
        super().__init__(table)
        self._queries, self._table = queries, table
        self._model = table.records
        self._picks: dict[Hashable, Pick] = {}
        self._frozen: Picked | None = None
        self._standing: Counter[tuple[str, str]] = Counter()
        self._all = Operation(self, latest=True)
        self._model.ticked_changed.connect(self._follow)

    @property
    def count(self) -> int:
        """How many tasks are ticked."""
        return len(self._picks)

    def picks(self) -> tuple[Pick, ...]:
        """The tasks an action applies to, those on screen first in their order."""
        if not self._picks:
            row = self._current()
            return (pick(row.task),) if row is not None else ()
        return tuple(filter(None, map(self._picks.get, self._table.target_keys())))

    def ids(self) -> list[str]:
        """Ids of ``picks``."""
        return [one.task_id for one in self.picks()]

    def picks_at(self, key: object) -> tuple[Pick, ...]:
        """What the menu of a row means: the selection where the row is part of it, else this row alone."""
        row = self._model.find(str(key))
        if row is None or str(key) in self._picks:
            return self.picks()
        return (pick(row.task),)

    def refused(self, picks: Sequence[Pick]) -> str:
        """Why none of these could be run again, as far as their rows tell; "" where one could."""
        rows = (self._model.find(one.task_id) for one in picks)
        return verdicts.barred(row.refusal if row is not None else None for row in rows)

    def refusal(self) -> str:
        """The same of ``picks``, without going through a hundred thousand: one that is not loaded tells nothing."""
        return "" if self.count > self._model.rowCount() else self.refused(self.picks())

    def gate(self) -> GateView | None:
        """Where the one task under the cursor waits, as far as that was asked; None while tasks are ticked."""
        row = self._current() if not self._picks else None
        return row.wait.gate if row is not None and row.wait is not None else None

    def waits_at(self, picks: Sequence[Pick]) -> str:
        """The gate at which the only one of these waits, "" for several, or where it does not wait."""
        row = self._model.find(picks[0].task_id) if len(picks) == 1 else None
        return row.gate if row is not None else ""

    def one(self) -> Task | None:
        """The one task under the cursor; None while tasks are ticked."""
        row = self._current() if not self._picks else None
        return row.task if row is not None else None

    def standing(self) -> Standing:
        """Where they stand."""
        if self._picks:
            return self._standing
        return Counter(map(_place, self.picks()))

    def select_all(self, expression: str) -> None:
        """Tick everything that matches now, loaded or not; what comes later is not in it."""
        self.busy_changed.emit(True)
        self._all.start(partial(_everything, self._queries, expression), self._take_all, self._fail)

    def _take_all(self, found: Picked) -> None:
        self.busy_changed.emit(False)
        self.take(found)

    def _fail(self, error: BaseException) -> None:
        self.busy_changed.emit(False)
        report(error)

    def take(self, found: Picked) -> None:
        """Tick these."""
        self._frozen = found
        self._model.set_ticked(found.keys)
        self._frozen = None

    def clear(self) -> None:
        """Untick everything, and tick nothing of what is still asked for."""
        self.give_up()
        self._model.untick_all()

    def give_up(self) -> None:
        """Another list is shown: tick no more what matched the one before."""
        if self._all.awaited:
            self._all.drop()
            self.busy_changed.emit(False)

    def refresh(self, rows: Iterable[TaskRow]) -> None:
        """Rows changed: those that are ticked, or the one under the cursor, stand elsewhere now."""
        rows = tuple(rows)
        at = self._table.current_key() if not self._picks else None
        if self._restate(rows) if self._picks else any(row.key == at for row in rows):
            self.changed.emit()

    def _restate(self, rows: Iterable[TaskRow]) -> bool:
        changed = False
        for row in rows:
            old = self._picks.get(row.key)
            if old is not None and (new := pick(row.task)) != old:
                self._count(old, -1)
                self._picks[row.key] = new
                self._count(new, 1)
                changed = True
        return changed

    def _current(self) -> TaskRow | None:
        key = self._table.current_key()
        row: TaskRow | None = self._model.find(key) if key is not None else None
        return row

    def _follow(self) -> None:
        """Take over what is ticked now; a hundred thousand at once must not hold up the window."""
        ticked = self._model.ticked()
        if not ticked:
            self._picks, self._standing = {}, Counter()
        for key in self._picks.keys() - ticked:
            self._count(self._picks.pop(key), -1)
        if self._frozen is not None:
            self._add(self._frozen)
        else:
            rows = map(self._model.find, ticked.difference(self._picks))
            for one in [pick(row.task) for row in rows if row is not None]:
                self._picks[one.task_id] = one
                self._count(one, 1)
        self.changed.emit()

    def _add(self, found: Picked) -> None:
        """Those that matched, as they stood then: what was known of them before is older, but for what is on screen."""
        others = {key: one for key, one in self._picks.items() if key not in found.picks}
        self._picks, self._standing = {**found.picks, **others}, Counter(found.standing)
        for one in others.values():
            self._count(one, 1)
        self._restate(self._model.records())

    def _count(self, one: Pick, by: int) -> None:
        place = _place(one)
        self._standing[place] += by
        if not self._standing[place]:
            del self._standing[place]


def _everything(queries: TaskQueries, expression: str) -> Picked:
    return picked(queries.picks(expression))


def _place(one: Pick) -> tuple[str, str]:
    return one.status, one.triage
