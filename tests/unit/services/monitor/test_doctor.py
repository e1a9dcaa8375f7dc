"""The doctor's look at a small fleet of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services import messages
from services.domain.change import Claim, CloseSession
from services.domain.errors import BrokerUnavailable, TopologyMismatch
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.gates.quiet_hours import WINDOWS
from services.domain.promises import promise as promises
from services.domain.task.order import BrokerHealth
from services.domain.text.message import Message
from services.domain.text.said import said
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.domain.upkeep.health import ERROR, NOTE, OK, WARNING, Finding
from services.monitor.doctor import Doctor
from tests.unit.services.engine.room import Room, opened


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with opened(tmp_path) as found:
        yield found


def look(room: Room, folder: Path) -> dict[str, Finding]:
    doctor = Doctor(room.store, room.broker, room.clock, version="1.0", production=True)
    return {one.message.code.removeprefix("doctor."): one for one in doctor.look(folder, (30,))}


def levels(found: dict[str, Finding], *codes: str) -> list[str]:
    return [found[code].level for code in codes]


def test_quiet_hours_that_nobody_can_read_are_told_so(room: Room, tmp_path: Path) -> None:
    room.store.put_document(WINDOWS, "night", "{")
    found = look(room, tmp_path)
    assert found["quiet_hours_unread"].message.params["name"] == "night"
    assert "quiet_hours" not in found, "of ? until ?"


def test_a_fleet_that_is_well(room: Room, tmp_path: Path) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, version="1.0", slots=(SlotState(),)))
    room.store.lead("engine", "w1", 10_000)
    room.create()
    found = look(room, tmp_path)
    assert set(found) == {
        "disk",
        "store",
        "clock_ok",
        "broker",
        "leader",
        "flow",
        "workers_together",
        "compared",
        "audit",
    }
    assert {one.level for one in found.values()} == {OK}


def test_a_promise_that_nobody_can_keep(room: Room, tmp_path: Path) -> None:
    def promise(name: str, **fields: Any) -> None:
        words = {"task_type": "work", "limit_s": 3600, "version": 1, **fields}
        made = promises.Promise(name=name, **words)
        room.store.put_document(promises.KIND, name, promises.DOCUMENT.dump(made))

    room.store.put_document("type", "work", task_type.dump(TaskType(name="work", version=1)))
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    promise("fine", platforms=("pdd",))
    assert "promise_nobody" not in look(room, tmp_path)
    promise("mistyped", task_type="wrok", all_shops=True)
    promise("gone", shops=("pdd:s1", "pdd:old"))
    promise("empty", platforms=("temu",))
    promise("off", platforms=("temu",), enabled=False)
    found = look(room, tmp_path)
    assert found["promise_type"].message.params == {"name": "mistyped", "type": "wrok"}
    assert found["promise_shop"].message.params == {"name": "gone", "shop": "pdd:old", "n": 1}
    assert found["promise_nobody"].message.params == {"name": "empty"}
    assert levels(found, "promise_type", "promise_shop", "promise_nobody") == [WARNING] * 3


def test_work_without_anybody_to_do_it(room: Room, tmp_path: Path) -> None:
    assert levels(look(room, tmp_path), "no_leader_idle", "no_workers_idle") == [NOTE, NOTE]
    room.running(lease_ms=1000)
    room.recorded(shop_id="s2")
    room.store.put_document("type", "bad", "{nonsense")
    room.store.set_pause(Pause(scope="platform:pdd", by="ann"))
    away = room.create(platform="temu", shop_id="s3")
    room.store.put_home(away.shop, "desk")
    room.ask(Claim(task_id=away.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1, home="hall"))
    room.clock.advance(61)
    room.ask(CloseSession(shop=away.shop, kind="captcha", by="ann"))
    found = look(room, tmp_path)
    assert found["session"].message.params == {"shops": 1, "shop": "temu:s3", "tasks": 1}
    assert levels(found, "no_leader", "no_workers", "home_silent", "orphans", "outbox", "unreadable", "paused") == [
        ERROR, ERROR, WARNING, WARNING, WARNING, ERROR, NOTE,
    ]  # fmt: skip
    assert found["home_silent"].message.params == {"node": "desk", "tasks": 1}
    assert found["orphans"].message.params == {"tasks": 1}
    assert room.store.get_letter("x") is None
    assert len(room.store.expired(10)) == 1, "a doctor repairs nothing"


def test_records_that_an_index_does_not_know(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = room.create()
    with room.store._file.reader() as conn:
        name = conn.execute("PRAGMA database_list").fetchone()[2]
    with closing(sqlite3.connect(name)) as conn, conn:
        conn.execute("UPDATE tasks SET status = 'held'")
        conn.execute("UPDATE tallies SET n = 7")
    found = look(room, tmp_path)
    assert levels(found, "repair.index", "repair.counter") == [WARNING, WARNING]
    assert found["repair.index"].message.params == {"count": 1, "where": task.task_id}
    assert found["repair.index"].remedy == Message("doctor.damage.remedy")
    monkeypatch.setattr("services.monitor.doctor.COMPARED", 0)
    found = look(room, tmp_path)
    assert (found["not_compared"].level, "repair.index" in found) == (NOTE, False)
    with closing(sqlite3.connect(name)) as conn, conn:
        conn.execute("UPDATE tallies SET n = -1")
    found = look(room, tmp_path)
    assert (found["counters_lost"].level, found["counters_lost"].remedy) == (WARNING, Message("doctor.damage.remedy"))
    assert not any(name.startswith("repair.") for name in found), "not all records are looked at"


def test_a_broker_that_is_gone_or_has_other_queues(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(error: Exception) -> None:
        def inspect(_delays: object) -> None:
            raise error

        monkeypatch.setattr(room.broker, "inspect", inspect)

    fails(BrokerUnavailable("nobody at port 5672"))
    found = look(room, tmp_path)
    assert (found["broker_gone"].level, found["broker_gone"].message.params) == (
        ERROR,
        {"error": "nobody at port 5672"},
    )
    assert found["broker_gone"].remedy == Message("doctor.broker_gone.remedy")
    for code in ("nobody", "user", "vhost_refused", "not_amqp"):
        fails(BrokerUnavailable(said(f"broker.{code}", place="h:5672", user="ann", vhost="v", error="")))
        remedy = look(room, tmp_path)["broker_gone"].remedy
        assert remedy is not None
        assert remedy.code == f"broker.{code}.remedy"
    fails(BrokerUnavailable(said("tls.name", place="h:5671", why="other")))
    remedy = look(room, tmp_path)["broker_gone"].remedy
    assert remedy is not None
    assert remedy.code == "tls.remedy"
    found = look(room, tmp_path)
    assert "lost.broker" in found
    assert "lost.perhaps" not in found, "no worker is there that could go on"
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, link=LinkState(error="refused", lost_at=1)))
    room.create()
    monkeypatch.setattr(room.broker, "health", lambda: BrokerHealth(connected=False, error="nobody at port 5672"))
    found = look(room, tmp_path)
    assert messages.english(found["lost.others"].message).startswith("It is not only this computer: 1 worker reports")
    assert found["flow"].level == WARNING
    assert "the broker cannot be reached" in messages.english(found["flow"].message)
    doctor = Doctor(room.store, room.broker, room.clock, version="1.0", production=True)
    assert [item.key for item in doctor.attention()] == ["broker_lost"], "and nobody is sent to start a worker"
    fails(TopologyMismatch("Queue rpa_tasks_high exists with other arguments"))
    found = look(room, tmp_path)
    assert found["topology"].level == ERROR
    assert "lost.broker" not in found


def test_a_store_that_is_gone_hides_only_what_it_knows(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room.store, "health", lambda: (False, -1.0, "refused"))
    found = look(room, tmp_path)
    assert set(found) == {"disk", "store_gone", "broker", "lost.store", "lost.perhaps"}
    assert messages.english(found["lost.store"].message).startswith("Workers finish what they hold")
    monkeypatch.undo()
    room.store.silent = 1
    assert look(room, tmp_path)["store_gone"].level == ERROR


def test_outcomes_that_lie_on_this_disk(room: Room, tmp_path: Path) -> None:
    doctor = Doctor(room.store, room.broker, room.clock, version="1.0", production=True)
    for folder, name in (("mine", "1-2-a.spool"), ("mine", "1-2-b.aside"), ("other", "3-4-c.spool")):
        (tmp_path / "spool" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "spool" / folder / name).touch()
    found = {one.message.code: one for one in doctor.look(tmp_path, (30,), mark="mine")}
    assert found["doctor.spool"].message.params == {"files": 1, "folder": str(tmp_path / "spool" / "mine")}
    assert {"doctor.spool_other", "doctor.spool_aside"} <= set(found)
    assert all(found[code].remedy is not None for code in found if "spool" in code)
