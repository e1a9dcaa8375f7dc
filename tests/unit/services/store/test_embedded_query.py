"""Whichever way the planner goes, the answer is the same; a million tasks would take each of them by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings

from services.clock import ManualClock
from services.domain.query import Query, Term
from services.domain.task import Task
from services.ports import Store
from services.store import embedded_plan, embedded_query
from services.store.embedded import EmbeddedStore
from tests.contract import model

HUGE = 10**9
WAYS = {
    "along the order": {"FEW_ROWS": 0, "WALK_STEPS": HUGE},
    "given up on the way": {"FEW_ROWS": 0, "WALK_STEPS": 0, "STEPS_PER_LOOK": 1},
    "few rows": {"FEW_ROWS": HUGE, "WALK_STEPS": 0, "STEPS_PER_LOOK": 1},
    "few arms": {"MANY_ARMS": 1, "FEW_ROWS": 0},
    "no arms": {"MANY_ARMS": 0},
    "counting given up": {"COUNT_STEPS": 0, "INDEX_STEPS": 0, "STEPS_PER_LOOK": 1},
    "few looked at": {
        "FEW_ROWS": 0,
        "WALK_STEPS": 0,
        "STEPS_PER_LOOK": 1,
        "FETCHED": 0,
        "LOOKED": 7,
    },
    "few looked at in order": {"WALK_STEPS": 0, "STEPS_PER_LOOK": 1, "LOOKED": 3},
    "short scans": {"SCAN_LIMIT": 20, "SCAN_SLICE": 5},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, list[Task]]]:
    store = EmbeddedStore(tmp_path_factory.mktemp("query") / "fleet.sqlite", ManualClock())
    yield store, model.fill(store, 120)
    store.close()


@contextmanager
def forced(**numbers: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in numbers.items():
            module = embedded_plan if name == "MANY_ARMS" else embedded_query
            patch.setattr(module, name, value)
        yield


@pytest.mark.parametrize("way", list(WAYS))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(query=model.queries())
def test_every_way_gives_the_same_answer(filled: tuple[Store, list[Task]], way: str, query: Query) -> None:
    store, tasks = filled
    with forced(**WAYS[way]):
        found, total = model.everything(store, query)
    expected = model.answer(tasks, query)
    assert found == expected
    assert total in (None, len(expected))


def test_counting_is_given_up_where_it_would_take_long(filled: tuple[Store, list[Task]]) -> None:
    store, _ = filled
    terms = (Term(field="kind", op="=", values=("timeout",)), Term(field="batch", op="=", values=("B1",)))
    with forced(COUNT_STEPS=0, STEPS_PER_LOOK=1):
        assert store.query(Query(terms=terms)).total is None
        assert store.query(Query(terms=(Term(field="status", op="=", values=("queued",)),))).total is not None
    assert store.query(Query(terms=terms)).total is not None
