"""Any question to a mixed fleet has the answer that plain Python gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.clock import ManualClock, SystemClock
from services.domain.errors import UsageError
from services.domain.task.record import Task
from services.domain.task.search.query import GROUPED, Query
from services.ports import Store
from tests.contract import model
from tests.contract.conftest import STORES, _params, open_store

COUNT = 150


@pytest.fixture(scope="module", params=_params(STORES))
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, list[Task]]]:
    """A store with a fleet, never changed."""
    where: Any
    if request.param == "embedded":
        where = tmp_path_factory.mktemp("query") / "fleet.sqlite"
    else:
        server = request.getfixturevalue("redis_server")
        server.flush()
        where = server.url
    clock = ManualClock() if request.param == "embedded" else SystemClock()
    store = open_store(request.param, where, clock)
    yield store, model.fill(store, COUNT)
    store.close()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(query=model.queries())
def test_any_question(filled: tuple[Store, list[Task]], query: Query) -> None:
    store, tasks = filled
    found, total = model.everything(store, query)
    expected = model.answer(tasks, query)
    assert [task.task_id for task in found] == [task.task_id for task in expected]
    assert found == expected
    assert total in (None, len(expected))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(query=model.queries(), by=st.sampled_from(sorted(GROUPED)))
def test_any_groups(filled: tuple[Store, list[Task]], query: Query, by: str) -> None:
    store, tasks = filled
    found = store.grouped(query.terms, by, 5_000)
    counted: dict[str, Counter[str]] = {}
    for task in model.answer(tasks, query):
        counted.setdefault(getattr(task, GROUPED[by]), Counter())[str(task.status)] += 1
    assert found.whole
    assert {one.value: one.counts for one in found.groups} == counted
    assert [one.total for one in found.groups] == sorted((one.total for one in found.groups), reverse=True)


def test_groups_of_many_tell_that_there_are_more(filled: tuple[Store, list[Task]]) -> None:
    store, tasks = filled
    assert not store.grouped((), "shop", 100).whole
    for by in GROUPED:
        assert sum(one.total for one in store.grouped((), by, len(tasks)).groups) == len(tasks)
    with pytest.raises(UsageError):
        store.grouped((), "payload", 100)
