"""What is active already, judged as the store judges."""

from __future__ import annotations

from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.new_task.twins import find

SHOPS = ("pdd:pdd-10021", "pdd:pdd-10025")


def create(fleet: Fleet, kind: str, payload: dict[str, object]) -> None:
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type=kind, payload=payload)
    assert fleet.context.commands.tasks.create([spec], origin="cli").created


def test_one_at_a_time_per_shop_whatever_the_payload(fleet: Fleet) -> None:
    create(fleet, "sync_order", {"page_size": 9})
    twins = find(fleet.context.tasks, fleet.context.types()["sync_order"], SHOPS, {"page_size": 50}, 5)
    assert list(twins.by_shop) == ["pdd:pdd-10021"]
    assert twins.words() == "1 waiting"


def test_the_payload_counts_where_the_type_says_so(fleet: Fleet) -> None:
    create(fleet, "get_content", {"url": "/a", "wait_for": ".x"})
    kind = fleet.context.types()["get_content"]
    assert find(fleet.context.tasks, kind, SHOPS, {"wait_for": ".x", "url": "/a"}, 5).by_shop
    assert not find(fleet.context.tasks, kind, SHOPS, {"url": "/b"}, 5).by_shop


def test_no_shop_no_twin(fleet: Fleet) -> None:
    assert not find(fleet.context.tasks, fleet.context.types()["sync_order"], (), {}, 5).by_shop
