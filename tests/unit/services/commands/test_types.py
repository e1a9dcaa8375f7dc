"""Importing task types: versions, conflicts, what is kept, all or nothing."""

from __future__ import annotations

import json

import pytest

from services.commands import types
from services.domain.errors import UsageError
from services.domain.types import task_type
from services.monitor.types import PAGE, TypeQueries
from services.ports import AuditEntry
from tests.support.counting import CountingStore
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room


def body(name: str = "work", **fields: object) -> str:
    return json.dumps({"name": name} | fields)


def test_each_change_is_the_next_version_and_the_replaced_one_is_kept(room: Room, desk: Desk) -> None:
    desk.fleet.import_types([body(timeout_s=5)])
    (change,) = desk.fleet.import_types([body(timeout_s=6, max_retries=1)])
    assert (change.what, change.kind.version, change.fields) == ("changed", 2, ("timeout_s", "max_retries"))
    (same,) = desk.fleet.import_types([body(timeout_s=6, max_retries=1)])
    assert (same.what, same.kind.version) == ("unchanged", 2)
    assert room.registry.task_type("work").version == 2
    kept = room.store.documents(types.HISTORY)
    assert {name: task_type.parse(text).timeout_s for name, text in kept.items()} == {"work@1": 5}
    entries = room.store.audit(10)
    assert [entry.action for entry in entries] == ["type.import", "type.import"], "nothing changed: no act"
    assert json.loads(entries[0].detail) == {"versions": {"work": 2}}


def test_a_document_made_from_an_older_version_is_refused(room: Room, desk: Desk) -> None:
    desk.fleet.import_types([body(timeout_s=5)])
    exported = task_type.dump(room.registry.task_type("work"))
    desk.fleet.import_types([body(timeout_s=6)])
    edited = json.dumps(json.loads(exported) | {"timeout_s": 7})
    with pytest.raises(UsageError, match="made from version 1, the stored one is version 2") as caught:
        desk.fleet.import_types([edited])
    assert caught.value.field == "version"
    (forced,) = desk.fleet.import_types([edited], force=True)
    assert (forced.kind.version, forced.kind.timeout_s) == (3, 7)


def test_with_one_fault_nothing_is_changed_and_all_are_listed(room: Room, desk: Desk) -> None:
    bodies = [body("good"), body("bad", timeout_s=0), body("good"), "no json", body("odd", schema={"type": "nothing"})]
    changes, faults = desk.fleet.plan_types(bodies)
    assert [change.kind.name for change in changes] == ["good"]
    assert [(fault.place, fault.field) for fault in faults] == [(1, "timeout_s"), (2, "name"), (3, ""), (4, "schema")]
    with pytest.raises(UsageError):
        desk.fleet.import_types(bodies)
    assert room.store.documents("type") == {}
    assert room.store.audit(10) == []


def test_what_somebody_wrote_by_hand_is_replaced_and_kept(room: Room, desk: Desk) -> None:
    room.store.put_document("type", "work", "{nonsense")
    (change,) = desk.fleet.import_types([body()])
    assert (change.what, change.kind.version) == ("changed", 1)
    assert room.store.documents(types.HISTORY) == {"work@0": "{nonsense"}


def test_who_made_the_versions_is_read_from_the_audit_once(room: Room, desk: Desk) -> None:
    desk.fleet.import_types([body(timeout_s=5)])
    for number in range(2 * PAGE):
        room.store.append_audit(AuditEntry(entry_id=f"b{number}", at=room.store.now_ms(), who="eve", action="x"))
    room.clock.advance(1)
    desk.fleet.import_types([body(timeout_s=6), body("other")])
    counting = CountingStore(room.store)
    ask = TypeQueries(counting.port, room.registry)

    def told(name: str) -> tuple[list[tuple[int, str]], int]:
        counting.spent()
        found = [(one.number, one.who) for one in ask.versions(name) if one.at]
        return found, counting.spent()["audit"]

    found, pages = told("work")
    assert found == [(2, "ann@desk"), (1, "ann@desk")]
    assert pages >= 3, "the first version lies behind what was done since"
    assert told("other") == ([(1, "ann@desk")], 1)
    room.clock.advance(1)
    desk_of(room, name="bob@desk").fleet.import_types([body(timeout_s=7)])
    assert told("work") == ([(3, "bob@desk"), (2, "ann@desk"), (1, "ann@desk")], 1)
