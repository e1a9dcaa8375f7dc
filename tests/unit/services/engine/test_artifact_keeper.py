"""Files of tasks go with their records, and not before."""

from __future__ import annotations

import os
from pathlib import Path

from services.artifacts.caps import Caps
from services.artifacts.folder import FolderArtifacts
from services.domain.change import Forget
from services.engine.lead.artifact_keeper import FIRST_S, LOST_MS, REST_S, YOUNG_MS, ArtifactKeeper
from tests.unit.services.engine.room import Room


def test_files_go_with_the_record(room: Room, tmp_path: Path) -> None:
    place = FolderArtifacts(tmp_path / "kept", room.clock, Caps(free_bytes=0))
    keeper = ArtifactKeeper(room.store, place, room.clock)
    alive, over, wiped = room.running(), room.running(shop_id="s2"), "never-recorded"
    done = room.finish(over, "succeeded")
    for task_id in (alive.task_id, over.task_id, wiped):
        place.put(task_id, 1, "a.png", b"x")
    for folder, _, _ in os.walk(tmp_path / "kept"):
        os.utime(folder, (room.clock.now_ms() / 1000,) * 2)
    room.ask(Forget(task_id=over.task_id, updated_at=done.updated_at, tomb_ms=10 * LOST_MS))
    assert keeper.tick() == 0  # nothing is touched at once
    room.clock.advance(FIRST_S)
    assert keeper.tick() == 0  # and nothing that is young
    room.clock.advance(YOUNG_MS / 1000 + REST_S)
    assert keeper.tick() == 1
    assert [len(place.list(task_id)) for task_id in (alive.task_id, over.task_id, wiped)] == [1, 0, 1]
    room.clock.advance(LOST_MS / 1000)
    assert keeper.tick() == 1
    assert [len(place.list(task_id)) for task_id in (alive.task_id, wiped)] == [1, 0]
