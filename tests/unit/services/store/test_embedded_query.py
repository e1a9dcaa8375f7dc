"""Whichever way the planner goes, the answer is the same; a million tasks would take each of them by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from services.clock import ManualClock
from services.domain.change import Create
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals, excludes
from services.ports import Store
from services.sqlite.setup import connect
from services.store.sqlite import plan
from services.store.sqlite import query as embedded_query
from services.store.sqlite.store import EmbeddedStore
from tests.contract import model

HUGE = 10**9
WAYS = {
    "along the order": {"FEW_ROWS": 0, "WALK_STEPS": HUGE},
    "given up on the way": {"FEW_ROWS": 0, "WALK_STEPS": 0, "STEPS_PER_LOOK": 1},
    "few rows": {"FEW_ROWS": HUGE, "WALK_STEPS": 0, "STEPS_PER_LOOK": 1},
    "few arms": {"MANY_ARMS": 1, "FEW_ROWS": 0},
    "no arms": {"MANY_ARMS": 0},
    "long pages": {"MANY_ARMS": 1, "LONG_PAGE": 1, "FEW_ROWS": 0},
    "long pages of few looks": {"MANY_ARMS": 1, "LONG_PAGE": 1, "WALK_STEPS": 0, "STEPS_PER_LOOK": 1, "LOOKED": 3},
    "counting given up": {"COUNT_STEPS": 0, "INDEX_STEPS": 0, "STEPS_PER_LOOK": 1},
    "few looked at": {
        "FEW_ROWS": 0,
        "WALK_STEPS": 0,
        "STEPS_PER_LOOK": 1,
        "FETCHED": 0,
        "LOOKED": 7,
    },
    "few looked at in order": {"WALK_STEPS": 0, "STEPS_PER_LOOK": 1, "LOOKED": 3},
    "many indexes": {"FEW_ARMS": 0, "FEW_ROWS": HUGE},
    "many indexes, counting given up": {"FEW_ARMS": 0, "COUNTED": 2, "FEW_ROWS": 0, "WALK_STEPS": 0, "LOOKED": 5},
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
            module = plan if name in ("MANY_ARMS", "LONG_PAGE") else embedded_query
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


def test_a_long_page_of_many_kinds_is_full_where_few_are_of_them(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "fleet.sqlite", ManualClock())
    try:
        tasks = [
            Task(
                task_id=f"t{n:04d}", platform="p", shop_id="s", task_type=f"k{n // 10 % 80}", created_at=n,
                status="cancelled" if n % 10 else "held",
            )
            for n in range(1, 2_401)
        ]  # fmt: skip
        store.apply([Create(task=task, on_duplicate="force") for task in tasks])
        held = Query(terms=(equals("status", "held"),), limit=60, want_total=False)
        with forced(LONG_PAGE=60, FEW_ROWS=0, FETCHED=0, WALK_STEPS=0, STEPS_PER_LOOK=1, LOOKED=100):
            page = store.query(held)
            short = store.query(replace(held, limit=50))
    finally:
        store.close()
    assert [task.task_id for task in page.tasks] == [f"t{n:04d}" for n in range(2_400, 1_800, -10)]
    assert len(short.tasks) < 50, "a short page does not ask eighty indexes"


@pytest.mark.parametrize("descending", [False, True])
def test_what_comes_next_is_found_without_a_look_at_all_that_comes_at_no_time(tmp_path: Path, descending: bool) -> None:
    """They stand before it in the order, and may be a million."""
    store = EmbeddedStore(tmp_path / "fleet.sqlite", ManualClock())
    try:
        tasks = [Task(task_id=f"t{n:03d}", platform="p", shop_id="s", task_type="k") for n in range(200)]
        soon = [replace(one, task_id=f"r{n}", status="retrying", due_at=9_000 - n) for n, one in enumerate(tasks[:3])]
        store.apply([Create(task=task, on_duplicate="force") for task in [*tasks, *soon]])
        with forced(FEW_ROWS=0, FETCHED=0, WALK_STEPS=0, STEPS_PER_LOOK=1, LOOKED=5):
            terms = (equals("status", "scheduled", "retrying"),)
            page = store.query(Query(terms=terms, sort="due", descending=descending, limit=9, want_total=False))
    finally:
        store.close()
    wanted = ["r0", "r1", "r2"] if descending else ["r2", "r1", "r0"]
    assert ([task.task_id for task in page.tasks], page.next) == (wanted, None)


@pytest.mark.parametrize("way", ["few looked at", "few looked at in order"])
def test_groups_go_on_behind_a_look_that_was_cut_short(filled: tuple[Store, list[Task]], way: str) -> None:
    store, tasks = filled
    terms = (Term(field="id", op="~", values=("1",)),)
    with forced(**WAYS[way]):
        found = store.grouped(terms, "type", 1_000_000)
    assert found.whole
    assert sum(one.total for one in found.groups) == len(model.answer(tasks, Query(terms=terms)))


def test_counting_is_given_up_where_it_would_take_long(filled: tuple[Store, list[Task]]) -> None:
    store, _ = filled
    terms = (Term(field="kind", op="=", values=("timeout",)), Term(field="attempts", op=">=", number=0))
    with forced(COUNT_STEPS=0, STEPS_PER_LOOK=1):
        assert store.query(Query(terms=terms, limit=1)).total is None
        assert store.query(Query(terms=(Term(field="status", op="=", values=("queued",)),))).total is not None
    assert store.query(Query(terms=terms, limit=1)).total is not None


@pytest.mark.parametrize(("found", "said"), [(15, 10), (97, 90), (250, 200)])
def test_a_count_that_is_given_up_says_most_of_what_was_found(tmp_path: Path, found: int, said: int) -> None:
    path = tmp_path / "fleet.sqlite"
    store = EmbeddedStore(path, ManualClock())
    tasks = [
        Task(task_id=f"t{n}", platform="p", shop_id="s", task_type="k", attempt=int(n < found)) for n in range(3_000)
    ]
    store.apply([Create(task=task, on_duplicate="force") for task in tasks])
    conn = connect(path, read_only=True)
    try:
        with forced(COUNT_STEPS=5_000, INDEX_STEPS=5_000, STEPS_PER_LOOK=100):
            page = embedded_query.run(conn, Query(terms=(Term(field="attempts", op=">=", number=1),), limit=1))
    finally:
        conn.close()
        store.close()
    assert (page.total, page.number.number) == (None, said)


def test_a_list_that_ends_says_its_number_without_counting(filled: tuple[Store, list[Task]]) -> None:
    store, tasks = filled
    terms = (Term(field="kind", op="=", values=("timeout",)), Term(field="attempts", op=">=", number=0))
    with forced(COUNT_STEPS=0, STEPS_PER_LOOK=1):
        page = store.query(Query(terms=terms, limit=len(tasks)))
    assert page.total == len(page.tasks) == len(model.answer(tasks, Query(terms=terms)))


@pytest.mark.parametrize("descending", [True, False])
def test_what_changed_before_is_not_looked_at_for_what_changed_since(
    filled: tuple[Store, list[Task]], descending: bool
) -> None:
    store, tasks = filled
    since = Term(field="updated", op=">", number=max(task.updated_at for task in tasks))
    with forced(**WAYS["few looked at"]):
        page = store.query(Query(terms=(since,), sort="updated", descending=descending, limit=5))
    assert (page.tasks, page.next) == ((), None), "there is nothing to go on with"


@pytest.mark.parametrize("sort", ["created", "updated", "priority", "due"])
def test_lists_of_shops_are_taken_in_by_few_statements(tmp_path: Path, sort: str) -> None:
    path = tmp_path / "fleet.sqlite"
    store = EmbeddedStore(path, ManualClock())
    statuses = ("pending", "queued", "scheduled", "retrying")
    tasks = [
        Task(task_id=f"t{n}", platform="pdd", shop_id=f"s{n}", task_type=f"type{n % 10}", status=statuses[n % 4])
        for n in range(200)
    ]
    store.apply([Create(task=task) for task in tasks])
    shops = tuple(f"pdd:s{n}" for n in range(100))
    query = Query(terms=(equals("status", *statuses), excludes("shop", *shops)), sort=sort, limit=10)
    conn, asked = connect(path, read_only=True), list[str]()
    conn.set_trace_callback(asked.append)
    try:
        with forced(WALK_STEPS=0, STEPS_PER_LOOK=1, FEW_ROWS=0):
            page = embedded_query.run(conn, query)
    finally:
        conn.close()
        store.close()
    assert len(page.tasks) == 10
    assert sum("pdd:s42" in statement for statement in asked) <= 8


def test_all_letters_are_read_by_one_index_also_in_a_file_of_before(tmp_path: Path) -> None:
    path = tmp_path / "fleet.sqlite"
    store = EmbeddedStore(path, ManualClock())
    tasks = [
        Task(
            task_id=f"t{n:03d}", platform=f"p{n % 3}", shop_id="s", task_type=f"type{n % 40}", created_at=n + 1,
            status="dead", triage=("open", "archived")[n % 2],
        )
        for n in range(200)
    ]  # fmt: skip
    store.apply([Create(task=task) for task in tasks])
    store.close()
    with closing(connect(path)) as conn:
        conn.execute("DROP INDEX tasks_letters")
        conn.execute("ALTER TABLE shop_tallies DROP COLUMN worker")
        conn.execute("UPDATE meta SET value = '22' WHERE key IN ('schema.store', 'writer.store')")
    EmbeddedStore(path, ManualClock()).close()
    query = Query(terms=(equals("status", "dead"), equals("triage", "open")), limit=60, want_total=False)
    conn, asked = connect(path, read_only=True), list[str]()
    conn.set_trace_callback(asked.append)
    with closing(conn), forced(LONG_PAGE=60):
        first = embedded_query.run(conn, query)
        second = embedded_query.run(conn, replace(query, cursor=first.next or ""))
    found = [task.task_id for task in (*first.tasks, *second.tasks)]
    assert (found, second.next) == ([f"t{n:03d}" for n in range(198, -1, -2)], None)
    assert len(asked) < 20, "not one for each platform and type"
