"""The trickle of the sample fleet asks for what a well-run fleet asks for."""

from __future__ import annotations

from collections import Counter

from services.engine.producer import Submitted, TaskSpec
from services.sample.fleet import MIX, SYNC, SYNC_EVERY_S, Trickle, sample_shops


def test_a_shop_is_not_synced_again_and_again_and_other_work_takes_the_place() -> None:
    """Its type asks for a reason so soon after a success: a demo of refused rows would show nothing."""
    asked: list[TaskSpec] = []
    now = 1_000.0

    def create(specs: list[TaskSpec]) -> Submitted:
        asked.extend(specs)
        return Submitted()

    def synced() -> Counter[str]:
        return Counter(one.shop_id for one in asked if one.task_type == SYNC)

    shops = sample_shops(5)
    trickle = Trickle(create, shops, per_second=1.0, clock=lambda: now)
    once = dict.fromkeys((shop.shop_id for shop in shops), 1)
    trickle.burst(200)
    assert synced() == once
    assert len(asked) == 200
    assert {one.task_type for one in asked} == set(MIX)
    now += SYNC_EVERY_S - 1
    trickle.burst(50)
    assert synced() == once
    now += 1
    trickle.burst(50)
    assert synced() == dict.fromkeys(once, 2)
