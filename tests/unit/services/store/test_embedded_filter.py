"""Terms as SQL: bounds of prefixes, partial indexes, what is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.task.search import match
from services.domain.task.search.query import Term
from services.store.sqlite import filter as filters

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(values=st.lists(TEXT, max_size=30), prefix=TEXT)
def test_a_prefix_finds_what_begins_with_it(values: list[str], prefix: str) -> None:
    (part,) = filters.alternatives(Term(field="id", op="=", values=(f"{prefix}*",)))
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE t (task_id TEXT)")
        conn.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        found = [value for (value,) in conn.execute(f"SELECT task_id FROM t WHERE {part.sql}", part.values)]
    assert sorted(found) == sorted(value for value in values if value.startswith(prefix))


@pytest.mark.parametrize(
    ("field", "value", "column", "exact"),
    [
        ("worker", "w1", "worker", True),
        ("worker", "w*", "worker", False),
        ("worker", "", "", True),  # the empty worker is not in its index
        ("worker", "*", "", False),
        ("shop", "s1", "shop_id", True),
        ("shop", "pdd:s1", "shop_id", True),
        ("shop", "pdd:s*", "shop_id", False),
        ("shop", "pdd:*", "", False),
        ("kind", "timeout", "", True),
    ],
)
def test_which_index_serves_a_value(field: str, value: str, column: str, exact: bool) -> None:
    part = filters.alternatives(Term(field=field, op="=", values=(value,)))[0]
    assert (part.column, part.exact) == (column, exact)


@pytest.mark.parametrize(
    "term",
    [
        Term(field="nonsense", op="=", values=("x",)),
        Term(field="status", op="<", values=("x",)),
        Term(field="created", op="~", values=("x",)),
        Term(field="priority", op="=", values=("high",)),
        Term(field="priority", op="!", number=1),
    ],
    ids=str,
)
def test_nonsense_is_refused(term: Term) -> None:
    with pytest.raises(UsageError):
        match.condition(term) if match.is_scan(term) else filters.condition(term)
