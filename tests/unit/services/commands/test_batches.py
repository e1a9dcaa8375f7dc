"""What a plan of a batch is about."""

from __future__ import annotations

from services.commands.audit import Audit
from services.commands.batches import BatchCommands
from services.commands.bulk.plan import Plan
from services.commands.operator import Operator
from tests.unit.services.commands.conftest import desk_of
from tests.unit.services.engine.room import Room


def test_a_retry_is_about_open_letters_and_what_waits_for_its_next_attempt_alone(room: Room) -> None:
    letter, put_away, other = (room.dead(shop_id=f"s{n}", batch="night" if n < 2 else "day").task_id for n in range(3))
    room.triage(put_away, "archived")
    waits = room.finish(room.running(shop_id="s3", batch="night"), "retrying", delay_ms=60_000, error_kind="network")
    room.finish(room.running(shop_id="s4", batch="night"), "held", error_kind="worker_lost")
    audit, who = Audit(room.store, "ann@desk"), Operator(who="ann@desk", role="operator")
    tasks = desk_of(room).tasks
    batches = BatchCommands(room.store, tasks, audit, who, lambda _ids: Plan(), lambda _names: [{"dead": 2}])
    plan = batches.plan_retry("night")
    assert set(plan.task_ids) == {letter, waits.task_id}
    assert batches.plan_retry("day").task_ids == (other,)
