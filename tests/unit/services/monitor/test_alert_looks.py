"""What several looks at the fleet tell together."""

from __future__ import annotations

from services.domain.fleet.worker import WorkerInfo
from services.monitor.letters.causes import CauseQueries
from services.watch.alerts.look import Attempts, Eyes
from tests.unit.services.engine.room import Room


def test_what_a_worker_ended_counts_also_when_it_is_gone(room: Room) -> None:
    eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), room.clock, production=False)
    found = Attempts(0, 0, 0)
    for at, (done, failed) in enumerate(((10, 2), (15, 3), (0, 0))):
        if at < 2:
            room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, done=done, failed=failed))
        else:
            room.store.forget_worker("w1")
        found = eyes.attempts(600_000, eyes.look().now_ms)
        room.clock.advance(10)
    assert found == Attempts(5, 1, 20_000)
