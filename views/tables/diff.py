"""Which rows left, came, moved and changed between two lists of keyed rows. Pure.

``replay(old, diff(old, new, key))`` is always ``new``; that is what the property tests hold.
Steps are given in the order in which they must be made: removals from the bottom up, then the
new order of what stayed, then insertions from the top down, then changes in place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Removal:
    """Rows `first` to `last`, both included, leave."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Insertion(Generic[R]):
    """`rows` come in before position `first`."""

    first: int
    rows: tuple[R, ...]


@dataclass(frozen=True, slots=True)
class Change(Generic[R]):
    """The row at `position` of the new list has other content than before."""

    position: int
    row: R


@dataclass(frozen=True, slots=True)
class Diff(Generic[R]):
    """The steps from one list to another."""

    removals: tuple[Removal, ...]
    order: tuple[int, ...] | None  #: for each kept row of the new order, where it stands now
    insertions: tuple[Insertion[R], ...]
    changes: tuple[Change[R], ...]

    def __bool__(self) -> bool:
        return bool(self.removals or self.order or self.insertions or self.changes)


def keyed(rows: Iterable[R], key: Callable[[R], Hashable]) -> dict[Hashable, R]:
    """Return `rows` by key in their order, without later rows of a key already seen."""
    first: dict[Hashable, R] = {}
    for row in rows:
        first.setdefault(key(row), row)
    return first


def diff(old: Sequence[R], new: Sequence[R], key: Callable[[R], Hashable]) -> Diff[R]:
    """Return the steps from `old` to `new`; keys must be unique in each."""
    before, after = [key(row) for row in old], [key(row) for row in new]
    if before == after:  # nearly always: rows change far more often than they come, leave or move
        return Diff((), None, (), changes(enumerate(zip(old, new, strict=True))))
    had, have = dict(zip(before, old, strict=True)), set(after)
    removals = _runs([position for position, name in enumerate(before) if name not in have])
    arrivals = [position for position, name in enumerate(after) if name not in had]
    stayed = ((n, (had[name], row)) for n, (name, row) in enumerate(zip(after, new, strict=True)) if name in had)
    return Diff(
        removals=tuple(Removal(first, last) for first, last in reversed(removals)),
        order=_order([name for name in before if name in have], [name for name in after if name in had]),
        insertions=tuple(Insertion(first, tuple(new[first : last + 1])) for first, last in _runs(arrivals)),
        changes=changes(stayed),
    )


def changes(pairs: Iterable[tuple[int, tuple[R, R]]]) -> tuple[Change[R], ...]:
    """Return what differs of position, row before and row after."""
    return tuple(Change(position, row) for position, (was, row) in pairs if was is not row and was != row)


def replay(old: Sequence[R], steps: Diff[R]) -> list[R]:
    """Make the steps on a copy of `old`."""
    rows = list(old)
    for removal in steps.removals:
        del rows[removal.first : removal.last + 1]
    if steps.order is not None:
        rows = [rows[position] for position in steps.order]
    for insertion in steps.insertions:
        rows[insertion.first : insertion.first] = insertion.rows
    for change in steps.changes:
        rows[change.position] = change.row
    return rows


def merge_in_place(shown: Sequence[R], incoming: Sequence[R], key: Callable[[R], Hashable]) -> list[R]:
    """Return `incoming` in the order of `shown`, each new row after the row it follows now.

    This is how a live list grows without moving what people look at.
    """
    fresh = {key(row): row for row in incoming}
    merged = [fresh[key(row)] for row in shown if key(row) in fresh]
    known = {key(row) for row in merged}
    if len(known) == len(fresh):
        return merged
    followers: dict[Hashable, list[R]] = {}
    anchor: Hashable = None
    head: list[R] = []
    for row in incoming:
        if key(row) in known:
            anchor = key(row)
        elif anchor is None:
            head.append(row)
        else:
            followers.setdefault(anchor, []).append(row)
    result = list(head)
    for row in merged:
        result.append(row)
        result.extend(followers.get(key(row), ()))
    return result


def _order(kept: list[Hashable], wanted: list[Hashable]) -> tuple[int, ...] | None:
    if kept == wanted:
        return None
    at = {name: position for position, name in enumerate(kept)}
    return tuple(at[name] for name in wanted)


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position - 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    return runs
