"""What an action applies to: the ticked tasks, loaded or not, else the one under the cursor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from services.monitor.tasks import Pick, TaskQueries, pick
from views.pages.tasks.rows import TaskRow
from views.pages.tasks.verbs import Standing
from views.support.operation import Operation
from views.tables.table_view import TableView


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
        self._picks: dict[str, Pick] = {}
        self._frozen: dict[str, Pick] = {}
        self._standing: Counter[tuple[str, str]] = Counter()
        self._all = Operation(self, latest=True)
        self._all.busy_changed.connect(self.busy_changed)
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
        return tuple(self._picks[str(key)] for key in self._table.target_keys() if key in self._picks)

    def picks_at(self, key: object) -> tuple[Pick, ...]:
        """What the menu of a row means: the selection where the row is part of it, else this row alone."""
        row = self._model.find(str(key))
        if row is None or str(key) in self._picks:
            return self.picks()
        return (pick(row.task),)

    def standing(self) -> Standing:
        """Where they stand."""
        if self._picks:
            return self._standing
        return Counter((one.status, one.triage) for one in self.picks())

    def select_all(self, expression: str) -> None:
        """Tick everything that matches now, loaded or not; what comes later is not in it."""
        self._all.start(partial(self._queries.picks, expression), self.take)

    def take(self, picks: Sequence[Pick]) -> None:
        """Tick these."""
        self._frozen = {one.task_id: one for one in picks}
        self._model.set_ticked(self._frozen)
        self._frozen = {}

    def clear(self) -> None:
        """Untick everything."""
        self._model.untick_all()

    def refresh(self, rows: Iterable[TaskRow]) -> None:
        """Rows changed: those that are ticked stand elsewhere now."""
        changed = False
        for row in rows:
            old = self._picks.get(row.key)
            if old is None:
                continue
            new = pick(row.task)
            if new != old:
                self._count(old, -1)
                self._picks[row.key] = new
                self._count(new, 1)
                changed = True
        if changed:
            self.changed.emit()

    def _current(self) -> TaskRow | None:
        key = self._table.current_key()
        row: TaskRow | None = self._model.find(key) if key is not None else None
        return row

    def _follow(self) -> None:
        """Take over what is ticked now; a hundred thousand at once must not hold up the window."""
        ticked = self._model.ticked()
        gone = [self._picks.pop(key) for key in [key for key in self._picks if key not in ticked]]
        came = [key for key in ticked if key not in self._picks]
        shown = {row.key: row for row in self._model.records()} if came else {}
        found = [pick(shown[key].task) if key in shown else self._frozen.get(str(key)) for key in came]
        new = [one for one in found if one is not None]
        self._picks.update((one.task_id, one) for one in new)
        self._standing.update((one.status, one.triage) for one in new)
        self._standing.subtract((one.status, one.triage) for one in gone)
        self._standing = +self._standing
        self.changed.emit()

    def _count(self, one: Pick, by: int) -> None:
        place = (one.status, one.triage)
        self._standing[place] += by
        if not self._standing[place]:
            del self._standing[place]
