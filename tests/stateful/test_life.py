"""Random lives of a fleet; see ``machine`` for what happens and ``rules`` for what must be true all the time.

Other lives each time, by the seed that ``tests.flaky`` prints (``--hypothesis-seed=N``).
``FLEETDECK_TEST_DEEP=200`` plays so many of 100 steps, ``FLEETDECK_TEST_SHRINK=1`` makes one that fails shorter, which
takes minutes.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.stateful.machine import Life
from tests.support.services import Redis

DEEP = int(os.environ.get("FLEETDECK_TEST_DEEP", "0"))
SHRINK = bool(os.environ.get("FLEETDECK_TEST_SHRINK"))


def _live(examples: int, steps: int, **fields: object) -> None:
    machine = type("Life", (Life,), fields)
    chosen = settings(
        max_examples=DEEP or examples,
        stateful_step_count=100 if DEEP else steps,
        deadline=None,
        database=None,
        phases=[Phase.generate, *([Phase.shrink] if SHRINK else [])],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.timeout(0 if DEEP else 300)
def test_a_fleet_on_one_machine() -> None:
    _live(6, 40)


@pytest.mark.redis
@pytest.mark.timeout(0 if DEEP else 300)
def test_a_fleet_on_both_stores_tells_one_story(redis_server: Redis) -> None:
    _live(10, 40, redis_url=redis_server.url)
