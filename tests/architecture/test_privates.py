"""Tests ask as a user or a caller does: what they reach through an underscore is counted, and may only become less."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT

TESTS = ROOT / "tests"
#: public in spite of their names
PUBLIC = frozenset({"_exit", "_replace"})
#: how often a file still reaches into something: who takes one away lowers its number, nobody raises one
HELD = {
    "bench/bare.py": 1,
    "contract/test_store_breakers.py": 1,
    "contract/test_store_limits.py": 1,
    "contract/test_store_limits_random.py": 2,
    "faults/test_connections.py": 1,
    "faults/test_crash_points.py": 1,
    "faults/test_store.py": 2,
    "gui/test_browser_flow.py": 1,
    "gui/test_connections.py": 1,
    "gui/test_loss.py": 1,
    "gui/test_tasks_detail.py": 1,
    "integration/test_engine_capable.py": 1,
    "integration/test_engine_homes.py": 1,
    "integration/test_engine_lanes.py": 1,
    "integration/test_engine_repair.py": 2,
    "integration/test_engine_repairs.py": 3,
    "integration/test_engine_shops.py": 1,
    "integration/test_rabbitmq_recovery.py": 4,
    "stateful/drivers.py": 4,
    "stateful/world.py": 3,
    "support/grammar.py": 4,
    "support/services.py": 2,
    "support/warm_server.py": 2,
    "unit/services/broker/test_embedded.py": 2,
    "unit/services/broker/test_rabbitmq.py": 1,
    "unit/services/broker/test_rabbitmq_consumer.py": 2,
    "unit/services/broker/test_rabbitmq_management.py": 1,
    "unit/services/broker/test_rabbitmq_publisher.py": 1,
    "unit/services/broker/test_rabbitmq_rota.py": 2,
    "unit/services/broker/test_rabbitmq_subscription.py": 6,
    "unit/services/broker/test_rabbitmq_wire.py": 30,
    "unit/services/engine/test_leader.py": 3,
    "unit/services/entrypoints/test_guesses.py": 1,
    "unit/services/executors/browser/test_login.py": 1,
    "unit/services/executors/browser/test_pool.py": 1,
    "unit/services/executors/builders.py": 1,
    "unit/services/executors/test_offspring.py": 1,
    "unit/services/executors/test_tree_guard.py": 3,
    "unit/services/monitor/test_attention.py": 2,
    "unit/services/monitor/test_doctor.py": 1,
    "unit/services/profiles/test_book.py": 3,
    "unit/services/scheduler/test_loop.py": 1,
    "unit/services/store/test_redis_client.py": 3,
    "unit/services/store/test_redis_faults.py": 2,
    "unit/services/workers/test_finisher.py": 2,
    "unit/services/workers/test_runner.py": 1,
    "unit/views/charts/test_plot.py": 3,
    "unit/views/dialogs/republish/test_dialog.py": 1,
    "unit/views/dialogs/republish/test_runner.py": 2,
    "unit/views/dialogs/republish/test_runs.py": 1,
    "unit/views/dialogs/test_new_task.py": 10,
    "unit/views/dialogs/test_new_task_file.py": 6,
    "unit/views/dialogs/test_schema_form.py": 3,
    "unit/views/pages/dead_letters/test_editor.py": 1,
    "unit/views/pages/dead_letters/test_page.py": 1,
    "unit/views/pages/first_run/test_page.py": 1,
    "unit/views/pages/fleet_shots.py": 8,
    "unit/views/pages/overview/test_page.py": 10,
    "unit/views/pages/schedules/test_editor.py": 1,
    "unit/views/pages/shops/test_page.py": 1,
    "unit/views/pages/workers/test_page.py": 1,
    "unit/views/shell/test_connection.py": 5,
    "unit/views/shell/test_status_bar.py": 3,
    "unit/views/support/test_throttle.py": 1,
    "unit/views/tables/test_painters.py": 1,
    "unit/views/widgets/test_heat_map.py": 2,
    "unit/views/widgets/test_kpi_tile.py": 3,
    "unit/views/charts/test_sparkline.py": 3,
    "unit/views/widgets/test_toast.py": 4,
    "unit/views/widgets/test_view_tabs.py": 1,
}


def reaches(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every ``x._y`` where x is neither self nor cls."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr in PUBLIC:
            continue
        private = node.attr.startswith("_") and not node.attr.startswith("__") and node.attr != "_"
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if private and not own:
            yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize(
    "text", ["page._model", "page._model.rowCount()", "self.page._model", "shown(qtbot)._model", "page._model = None"]
)
def test_a_reach_is_seen(text: str) -> None:
    assert [said.rpartition(".")[2] for _line, said in reaches(ast.parse(text))] == ["_model"]


@pytest.mark.parametrize(
    "text", ["self._model", "cls._model", "page.model", "page.__class__", "os._exit(1)", "i18n._('Stop')", "_model"]
)
def test_what_is_none_is_not(text: str) -> None:
    assert not list(reaches(ast.parse(text)))


def test_tests_reach_through_public_behaviour() -> None:
    found: dict[str, list[tuple[int, str]]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        if seen := sorted(reaches(ast.parse(path.read_text(encoding="utf-8")))):
            found[path.relative_to(TESTS).as_posix()] = seen
    more = [
        f"tests/{name}:{line}: {said}"
        for name, seen in found.items()
        if len(seen) > HELD.get(name, 0)
        for line, said in seen
    ]
    assert not more, "give it a public name of the page's own words, find the widget, or wait for a signal"
