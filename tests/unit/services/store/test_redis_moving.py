"""What goes from one status to the next while a page is read is on that page, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish, Op, Published
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.store.redis.client import Link
from services.store.redis.store import RedisStore

TASKS = 300
#: so many tasks take a step before each question of the reader
AT_ONCE = 40
Between = Callable[[Callable[[], None]], None]


class Fleet:
    """Tasks of one batch, each of which goes from pending to its end, one step at a time."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        begin = store.now_ms() - 1_000_000
        made = [
            Task(
                task_id=f"t{number:03d}", shop_id=f"s{number}", platform="pdd", task_type="sync", created_by="ann",
                batch="b", created_at=begin + number // 3 * 1000,
            )
            for number in range(TASKS)
        ]  # fmt: skip
        self._apply([Create(task=task) for task in made])
        self.ids = sorted(task.task_id for task in made)
        self._taken = 0
        self.moved = 0

    def _apply(self, ops: list[Op]) -> list[Task]:
        return [answer.task for answer in self._store.apply(ops) if answer.task is not None]

    def step(self) -> None:
        """Each of the next tasks goes one status on, in an order that has nothing to do with their age."""
        ids = [f"t{(self._taken + number) * 7 % TASKS:03d}" for number in range(AT_ONCE)]
        self._taken += AT_ONCE
        ops = [_next(task) for task in self._store.get(ids) if task is not None]
        self.moved += len(self._apply([op for op in ops if op is not None]))


def _next(task: Task) -> Op | None:
    if task.status == Status.PENDING:
        return Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt)
    if task.status == Status.QUEUED:
        return Claim(task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=60_000)
    if task.status == Status.RUNNING:
        attempt = Attempt(task.attempt, "w", task.started_at, task.started_at + 5, "succeeded")
        return Finish(task_id=task.task_id, owner="w#1", to=Status.SUCCEEDED, attempt=attempt)
    return None


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Between:
    """Has something done before each question that anybody asks Redis."""
    doing = False

    def before_each(act: Callable[[], None]) -> None:
        def wrap(name: str) -> None:
            real = getattr(Link, name)

            def asked(self: Link, *args: Any, **named: Any) -> Any:
                nonlocal doing
                if not doing:
                    doing = True
                    try:
                        act()
                    finally:
                        doing = False
                return real(self, *args, **named)

            monkeypatch.setattr(Link, name, asked)

        for name in ("call", "many", "run"):
            wrap(name)

    return before_each


@pytest.fixture
def fleet(redis_url: str) -> Iterator[Fleet]:
    """As another program sees it."""
    other = RedisStore(redis_url, SystemClock())
    yield Fleet(other)
    other.close()


def rows(store: RedisStore, query: Query) -> Iterator[Task]:
    """Of all pages."""
    page = store.query(query)
    yield from page.tasks
    while page.next is not None:
        page = store.query(replace(query, cursor=page.next))
        yield from page.tasks


@pytest.mark.parametrize("limit", [20, 1000])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("terms", [(), (equals("status", *map(str, Status)),)])
def test_who_moves_while_pages_are_read_is_on_them_once(
    store: RedisStore, fleet: Fleet, between: Between, terms: tuple[Term, ...], descending: bool, limit: int
) -> None:
    between(fleet.step)
    met = Counter(task.task_id for task in rows(store, Query(terms=terms, descending=descending, limit=limit)))
    assert fleet.moved >= AT_ONCE
    assert (len(met), max(met.values())) == (TASKS, 1)


@pytest.mark.parametrize(("few", "most"), [(0, 1000), (0, 50), (5000, 1000)])
@pytest.mark.parametrize("sort", ["priority", "due", "updated"])
def test_who_moves_is_on_a_page_of_another_order_once(
    store: RedisStore, fleet: Fleet, between: Between, monkeypatch: pytest.MonkeyPatch, sort: str, few: int, most: int
) -> None:
    monkeypatch.setattr("services.store.redis.query.FEW", few)
    monkeypatch.setattr("services.store.redis.upkeep.walk.MOST", most)
    between(fleet.step)
    page = store.query(Query(sort=sort, limit=1000, descending=True))
    assert fleet.moved >= AT_ONCE
    assert sorted(task.task_id for task in page.tasks) == fleet.ids
    assert page.total == TASKS


def test_who_moves_while_it_is_counted_is_counted_once(store: RedisStore, fleet: Fleet, between: Between) -> None:
    between(fleet.step)
    terms = (equals("batch", "b"), equals("status", *map(str, Status)))
    assert store.query(Query(terms=terms, limit=5)).total == TASKS
    assert sum(group.total for group in store.grouped(terms, "shop", 10_000).groups) == TASKS
    assert fleet.moved >= AT_ONCE
