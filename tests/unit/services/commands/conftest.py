"""A room for each test, and what an operator may do in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.commands.audit import Audit
from services.commands.bulk.republish import BulkRepublish
from services.commands.dead_letters import DeadLetterCommands
from services.commands.fleet import FleetCommands
from services.commands.operator import Operator
from services.commands.records import RecordCommands
from services.commands.tasks import TaskCommands
from services.engine.lead.shop_queues import ShopQueues
from tests.unit.services.engine.room import Room, opened


@dataclass(frozen=True)
class Desk:
    """The commands of one person."""

    tasks: TaskCommands
    dead_letters: DeadLetterCommands
    bulk: BulkRepublish
    fleet: FleetCommands
    records: RecordCommands


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """The embedded pair and a clock that is turned by hand."""
    with opened(tmp_path) as found:
        yield found


def desk_of(room: Room, role: str = "admin", *, known: bool = False, name: str = "ann@desk") -> Desk:
    """What a person of this role may do; one that is ``known`` has the role that the store says."""
    who = Operator(who=name, role=role, known=known)
    audit = Audit(room.store, who.who)
    letters = DeadLetterCommands(room.store, room.steps, room.registry, audit, who)
    queues = ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock)
    return Desk(
        TaskCommands(room.store, room.producer, room.steps, audit, who, letters.republish),
        letters,
        BulkRepublish(room.store, room.steps, room.registry, room.clock, audit, who),
        FleetCommands(room.store, room.broker, room.steps, room.registry, queues, audit, who),
        RecordCommands(room.store, room.steps, room.registry, audit, who),
    )


@pytest.fixture
def desk(room: Room) -> Desk:
    """An admin's."""
    return desk_of(room)
