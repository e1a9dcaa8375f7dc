"""What a doctor makes of facts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from services import messages
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.gates import ability
from services.domain.insight import worker as insight
from services.domain.task import own_words
from services.domain.task.order import Inspection
from services.domain.text.said import said
from services.domain.upkeep import health
from services.domain.upkeep.health import ERROR, NOTE, OK, WARNING

GOOD = {
    "kind": "redis", "version": "7.0.15", "role": "master", "maxmemory": "0", "maxmemory_policy": "noeviction",
    "appendonly": "yes", "appendfsync": "always", "aof_last_write_status": "ok", "rdb_last_bgsave_status": "ok",
}  # fmt: skip


def codes(found: list[health.Finding]) -> list[tuple[str, str]]:
    return [(one.level, one.message.code.removeprefix("doctor.")) for one in found]


@pytest.mark.parametrize(
    ("change", "level", "production", "code"),
    [
        ({"version": "6.2.14"}, ERROR, ERROR, "redis_old"),
        ({"version": ""}, ERROR, ERROR, "redis_old"),
        ({"role": "slave"}, ERROR, ERROR, "replica"),
        ({"maxmemory_policy": "allkeys-lru"}, WARNING, ERROR, "evicts"),
        ({"maxmemory_policy": "allkeys-lru", "maxmemory": "1000"}, ERROR, ERROR, "evicts"),
        ({"appendonly": "no"}, WARNING, ERROR, "not_kept"),
        ({"appendfsync": "everysec"}, WARNING, ERROR, "fsync"),
        ({"no_appendfsync_on_rewrite": "yes"}, WARNING, ERROR, "fsync_rewrite"),
        ({"appendfsync": ""}, NOTE, NOTE, "fsync_unknown"),
        ({"aof_last_write_status": "err"}, ERROR, ERROR, "writes_fail"),
    ],
)
def test_what_redis_may_lose_or_refuse(change: dict[str, str], level: str, production: str, code: str) -> None:
    assert health.of_store(GOOD, production=True) == []
    assert codes(health.of_store(GOOD | change, production=False)) == [(level, code)]
    assert codes(health.of_store(GOOD | change, production=True)) == [(production, code)]
    assert health.of_store({"kind": "sqlite", "version": "3.40"}, production=True) == []


def test_what_stands_at_the_broker() -> None:
    def found(seen: Inspection) -> list[tuple[str, str]]:
        return codes(health.of_broker("x 1", seen))

    assert found(Inspection(present=5)) == [(OK, "broker")]
    assert found(Inspection(present=5, compared=False)) == [(OK, "broker_seen")]
    assert found(Inspection(present=4, missing=("q",))) == [(OK, "broker_seen"), (WARNING, "not_declared")]
    assert found(Inspection(missing=("q",))) == [(OK, "broker_seen"), (NOTE, "not_declared")]
    assert found(Inspection(present=4, unbound=("e → q",))) == [(OK, "broker"), (WARNING, "unbound")]


@pytest.mark.parametrize(
    ("skew", "trip", "level"),
    [(0, 0, OK), (1999, 0, OK), (-3000, 0, WARNING), (3000, 2500, OK), (70_000, 0, ERROR), (-70_000, 20_000, WARNING)],
)
def test_clocks(skew: int, trip: int, level: str) -> None:
    assert health.of_clock(skew, trip).level == level


@pytest.mark.parametrize(("free", "level"), [(5 * health.GIB, OK), (health.GIB - 1, WARNING), (health.MIB, ERROR)])
def test_disk(free: int, level: str) -> None:
    made = health.of_disk(free, "/data")
    assert (made.level, made.remedy is None) == (level, level == OK)


def test_a_leader_is_missed_where_there_is_work() -> None:
    assert codes([health.of_leader("w1", 5), health.of_leader("", 5), health.of_leader("", 0)]) == [
        (OK, "leader"), (ERROR, "no_leader"), (NOTE, "no_leader_idle"),
    ]  # fmt: skip


def test_workers() -> None:
    now = 10_000_000
    busy = (SlotState(task_id="t"),)
    good = WorkerInfo(worker="a", host="h", pid=1, version="1.0", seen_at=now, slots=busy)
    old = WorkerInfo(worker="b", host="h", pid=1, version="0.9", seen_at=now, lacks={"rpa": "no such program"})
    gone = WorkerInfo(worker="c", host="h", pid=1, version="1.0", seen_at=now - 90_000, slots=busy)
    left = WorkerInfo(worker="d", host="h", pid=1, version="1.0", seen_at=now - 90_000)
    assert codes(health.of_workers(insight.look([], now), 0, "1.0")) == [(NOTE, "no_workers_idle")]
    assert codes(health.of_workers(insight.look([], now), 3, "1.0")) == [(ERROR, "no_workers")]
    late = WorkerInfo(worker="e", host="h", pid=1, version="1.0", seen_at=now - 20_000)
    fates = {"d": (), "e": ()}
    found = health.of_workers(insight.look([good, old, gone, left, late], now, fates), 3, "1.0")
    assert codes(found) == [
        (OK, "workers_together"), (WARNING, "silent"), (NOTE, "gone"), (WARNING, "late_free"),
        (WARNING, "other_version"), (WARNING, "lacks"),
    ]  # fmt: skip
    assert messages.english(found[0].message) == "Workers alive: 2 on 1 machine, slots busy: 1 of 1"
    assert messages.english(found[3].message) == "Worker e was not heard of for 20 s; it has no task in hand"
    assert found[3].remedy is not None
    assert messages.english(found[3].remedy) == "Look at its machine, or start it again."
    assert "worker forget d" in messages.english(found[2].remedy or found[2].message)


def test_a_worker_whose_chromium_may_not_wall_its_pages_in_is_named_with_the_way_out() -> None:
    now = 10_000_000
    lacks = {"browser": ability.SANDBOX, "rpa": "no such program"}
    info = WorkerInfo(worker="a", host="h", pid=1, version="1.0", seen_at=now, lacks=lacks)
    _, found, other = health.of_workers(insight.look([info], now), 0, "1.0")
    assert codes([found, other]) == [(WARNING, "no_sandbox"), (WARNING, "lacks")]
    assert found.remedy is not None
    remedy = messages.english(found.remedy)
    place = re.findall(r"resources/\S+\.json", remedy)[0]
    assert (Path(__file__).resolve().parents[4] / place).is_file()
    assert "executors.browser.arguments" in remedy
    assert "chromium-sandbox" in own_words.write("own.no_sandbox")


def test_what_many_workers_lack_is_one_finding_with_its_extent() -> None:
    now = 10_000_000
    lacks = [{"rpa": "flowrun"}] * 30 + [{"rpa": "other"}, {"browser": ability.SANDBOX}, {"browser": ability.SANDBOX}]
    rows = [
        WorkerInfo(worker=f"w{number:02}", host="h", pid=1, version="1.0", seen_at=now, lacks=one)
        for number, one in enumerate(lacks)
    ]
    gone = WorkerInfo(worker="x", host="h", pid=1, version="1.0", seen_at=now - 90_000, lacks={"rpa": "flowrun"})
    found = [one for one in health.of_workers(insight.look([*rows, gone], now), 0, "1.0") if one.level == WARNING]
    assert codes(found) == [(WARNING, "lacks_many"), (WARNING, "lacks"), (WARNING, "no_sandbox_many")]
    assert [messages.english(one.message) for one in found] == [
        "30 workers cannot run rpa: flowrun (w00, w01, w02, …)",
        "Worker w30 cannot run rpa: other",
        "Chromium of 2 workers does not start: its sandbox is forbidden there (w31, w32)",
    ]
    assert all(one.remedy is not None for one in found)


def test_machines_of_workers_whose_clock_is_off_are_named_once_each_but_this_one() -> None:
    now = 10_000_000

    def worker(name: str, host: str, off_s: float, silent_s: int = 0) -> WorkerInfo:
        seen = now - 1_000 * silent_s
        return WorkerInfo(worker=name, host=host, pid=1, seen_at=seen, wall_at=seen + round(off_s * 1_000))

    rows = [
        worker("a", "desk-1", -7.0),
        worker("b", "desk-1", 6.0),
        worker("c", "desk-2", 90.0),
        worker("d", "desk-3", -4.9),  # a heartbeat may have waited so long
        worker("e", "here", 600.0),
        worker("f", "desk-4", 600.0, silent_s=90),
        WorkerInfo(worker="g", host="desk-5", pid=1, seen_at=now),  # of before: it does not tell
    ]
    found = health.of_clocks_there(insight.look(rows, now), "here")
    assert codes(found) == [(WARNING, "clock_there"), (ERROR, "clock_there")]
    assert [messages.english(one.message) for one in found] == [
        "The clock of machine desk-1 (worker a) differs from the store's by -7.0 s",
        "The clock of machine desk-2 (worker c) differs from the store's by 1 m 30 s",
    ]
    assert all(one.remedy is not None for one in found)


def test_many_workers_that_went_with_nothing_in_hand_are_one_finding() -> None:
    now = 10_000_000
    rows = [WorkerInfo(worker=f"w{number}", host="h", pid=1, seen_at=now - 90_000) for number in range(40)]
    held = WorkerInfo(worker="x", host="h", pid=1, seen_at=now - 90_000, slots=(SlotState(task_id="t"),))
    found = health.of_workers(insight.look([*rows, held], now), 0, "1.0")
    assert codes(found) == [(NOTE, "no_workers_idle"), (WARNING, "silent"), (NOTE, "silent_idle")]
    assert found[-1].message.params == {"workers": 40, "names": "w0, w1, w2, …"}


def test_everything_that_is_not_well_has_a_remedy_and_every_code_a_sentence() -> None:
    for code in health.SENTENCES:
        assert messages.TEMPLATES[code]
    for made in (
        *health.of_store({"kind": "redis", "version": "6", "role": "slave", "maxmemory_policy": "x"}, production=True),
        health.of_leader("", 1), health.of_disk(0, "/"), health.of_clock(10**6, 0),
    ):  # fmt: skip
        assert made.level == ERROR
        assert made.remedy is not None
        assert "{" not in messages.english(made.message) + messages.english(made.remedy)


def test_of_a_redis_that_still_reads_its_data_nobody_has_to_do_anything() -> None:
    found = health.of_lost_store(said("store.loading", address="desk:6379"))
    assert found.remedy is not None
    assert messages.english(found.remedy).startswith("Wait: ")
    refuses = health.of_lost_store(said("store.no_writes", address="desk:6379", error="MISCONF"))
    assert refuses.remedy is not None
    assert messages.english(refuses.remedy).startswith("Set that right")


def test_rights_that_a_redis_user_lacks_are_named_with_how_to_give_them() -> None:
    facts = {"kind": "redis", "version": "7.2.0", "appendonly": "", "refused": "SETRANGE, ZINTERCARD"}
    found = health.of_store(facts, production=True)
    assert [one.message.code for one in found] == ["doctor.redis_commands", "doctor.fsync_unknown"]
    assert found[0].remedy is not None
    assert "+setrange +zintercard" in messages.english(found[0].remedy)
    (keys, _) = health.of_store(facts | {"refused": "", "refused_keys": "yes"}, production=True)
    assert keys.remedy is not None
    assert "~{rpa}:* ~executed:*" in messages.english(keys.remedy)


def test_a_queue_that_one_worker_may_not_take_from_is_a_finding() -> None:
    """It looks well and takes from the others; what waits in that one looked as if it began at once."""
    link = LinkState(error="403 ACCESS_REFUSED - access to queue 'rpa_tasks_normal' refused for user 'w'")
    info = WorkerInfo(worker="w1", host="h", pid=1, version="1", seen_at=1_000, slots=(SlotState(),), link=link)
    found = health.of_workers(insight.look([info], 1_000), 5, "1")
    assert codes(found) == [(OK, "workers_together"), (WARNING, "link")]
    assert "closed to worker w1: 403 ACCESS_REFUSED" in messages.english(found[1].message)


def test_a_worker_that_cannot_reach_the_broker_is_a_finding_with_its_reason() -> None:
    link = LinkState(error="RabbitMQ at mq:5672 cannot be reached.", lost_at=1)
    info = WorkerInfo(worker="w1", host="h", pid=1, version="1", seen_at=1_000, slots=(SlotState(),), link=link)
    found = health.of_workers(insight.look([info], 1_000), 5, "1")
    assert codes(found) == [(OK, "workers_together"), (WARNING, "cut_off")]
    assert messages.english(found[1].message).endswith(
        "w1 cannot reach the broker and takes no tasks: RabbitMQ at mq:5672 cannot be reached."
    )
