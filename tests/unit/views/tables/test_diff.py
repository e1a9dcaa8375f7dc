"""Whatever changed, the steps lead from the old list to the new one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from views.tables.keyed_rows import Change, Diff, Insertion, Removal, diff, keyed, merge_in_place

Row = tuple[int, str]
ROWS = st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abc")), unique_by=lambda row: row[0], max_size=25)


def key(row: Row) -> int:
    return row[0]


def replay(old: list[Row], steps: Diff[Row]) -> list[Row]:
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


@given(ROWS, ROWS)
def test_replaying_the_steps_gives_the_new_list(old: list[Row], new: list[Row]) -> None:
    assert replay(old, diff(keyed(old, key), keyed(new, key))) == new


@given(ROWS)
def test_nothing_changed_means_no_step(rows: list[Row]) -> None:
    assert not diff(keyed(rows, key), keyed(list(rows), key))


@given(ROWS, st.randoms())
def test_mere_order_is_one_move(rows: list[Row], dice: object) -> None:
    mixed = list(rows)
    dice.shuffle(mixed)  # type: ignore[attr-defined]
    steps = diff(keyed(rows, key), keyed(mixed, key))
    assert not steps.removals
    assert not steps.insertions
    assert not steps.changes


@given(ROWS, ROWS)
def test_steps_are_runs_in_the_order_to_make_them(old: list[Row], new: list[Row]) -> None:
    steps = diff(keyed(old, key), keyed(new, key))
    firsts = [removal.first for removal in steps.removals]
    assert firsts == sorted(firsts, reverse=True)
    places = [insertion.first for insertion in steps.insertions]
    assert places == sorted(places)
    assert all(insertion.rows for insertion in steps.insertions)


def test_one_example_in_full() -> None:
    old = [(1, "a"), (2, "a"), (3, "a"), (4, "a")]
    new = [(9, "a"), (4, "a"), (1, "b"), (8, "a"), (7, "a")]
    steps = diff(keyed(old, key), keyed(new, key))
    assert steps.removals == (Removal(1, 2),)
    assert steps.order == (1, 0)
    assert steps.insertions == (Insertion(0, ((9, "a"),)), Insertion(3, ((8, "a"), (7, "a"))))
    assert steps.changes == (Change(2, (1, "b")),)


def test_a_key_counts_once() -> None:
    assert list(keyed([(1, "a"), (2, "b"), (1, "c")], key).values()) == [(1, "a"), (2, "b")]


@given(ROWS, ROWS)
def test_merging_keeps_the_order_on_screen(shown: list[Row], incoming: list[Row]) -> None:
    merged = list(merge_in_place(map(key, shown), keyed(incoming, key)).values())
    assert sorted(merged) == sorted(incoming)
    kept = [row[0] for row in merged if row[0] in {r[0] for r in shown}]
    assert kept == [row[0] for row in shown if row[0] in {r[0] for r in incoming}]


def test_arrivals_come_after_the_row_they_follow() -> None:
    incoming = keyed([(0, "a"), (1, "b"), (2, "a"), (3, "a")], key)
    assert list(merge_in_place((3, 1), incoming)) == [0, 3, 1, 2]
