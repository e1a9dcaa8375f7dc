"""A Redis that comes back without its records while the fleet works: nothing runs past a pause, and it is said."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
import redis

from services import assembly, diagnosis
from services.domain.change import Published
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Pause, Shop
from services.domain.gates.limit import Limit
from services.domain.insight.connection import refused
from services.domain.plans.schedule import Schedule
from services.domain.text.said import words_of
from services.home_folder import SPOOLED
from services.monitor import attention, live
from services.monitor.overview import Attention
from tests.contract import rollback
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration.fleet_rig import Fleet, lines
from tests.support.services import Redis

pytestmark = [pytest.mark.fault, pytest.mark.rabbitmq, pytest.mark.redis]


def told(fleet: Fleet) -> list[Attention]:
    """What needs a person now."""
    engine = fleet.engine
    return list(attention.look_once(engine.store, engine.registry, engine.clock, live.look(engine.store), None))


def is_status(fleet: Fleet, task_id: str, status: str) -> bool:
    (task,) = fleet.engine.store.get([task_id])
    return task is not None and task.status == status


def started(seen: Path) -> list[str]:
    return [row[1] for row in lines(seen, "start")]


def test_after_a_loss_nothing_runs_twice_that_may_not_and_a_pause_holds(
    behind: Behind, redis_server: Redis, tmp_path: Path
) -> None:
    """What runs goes on and is recorded, what waits is made again of its message, what may not run twice is held."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    running = [
        fleet.create("s1", seen=str(seen), until=str(gate)),
        fleet.create("s2", "once", seen=str(seen), until=str(gate)),
    ]
    failing = fleet.create("s3", fail="network", fail_first=1, seen=str(seen))
    fleet.steward()
    worker = fleet.worker(3, lease_s=2.0)
    for one in running:
        fleet.wait(one, "running")
    fleet.wait(failing, "retrying")
    worker.drain()
    queued = [fleet.create("s4", seen=str(seen)), fleet.create("s5", "once", seen=str(seen))]
    paused = fleet.create("s6", seen=str(seen))
    store.set_pause(Pause(scope="shop:pdd:s6", by="ann", reason="it asks for a code"))
    store.put_limit(Limit(scope="platform:pdd", concurrency=7))
    store.lead("test", "me", 1000)  # as its leader does every few seconds
    redis_server.flush()
    eventually(lambda: is_status(fleet, running[0], "running") and is_status(fleet, running[1], "running"), 30)
    worker.resume()
    assert {task.status for task in fleet.wait_ended([queued[0], failing])} == {"succeeded"}
    eventually(lambda: is_status(fleet, queued[1], "held") and is_status(fleet, paused, "blocked"), 30)
    assert [(one.scope, one.by, one.reason) for one in store.pauses()] == [("shop:pdd:s6", "ann", "it asks for a code")]
    assert [(one.limit.scope, one.limit.concurrency) for one in store.limits()] == [("platform:pdd", 7)]
    lost = next(one for one in told(fleet) if one.code == "attention.store_lost")
    assert (lost.severity, lost.params) == ("dead", {"tasks": 1})
    assert [one.code for one in lost.facts] == ["store.gone", "store.held"]
    gate.touch()
    assert {task.status for task in fleet.wait_ended(running)} == {"succeeded"}
    assert started(seen).count(running[0]) == started(seen).count(running[1]) == 1
    assert not {queued[1], paused} & {*started(seen)}
    store.clear_pause("shop:pdd:s6")
    assert fleet.wait_ended([paused])[0].status == "succeeded"


def test_after_a_loss_a_batch_holds_what_was_made_again_of_it(behind: Behind, redis_server: Redis) -> None:
    """Or who cancels it would leave its tasks at work."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    shops = [f"s{number}" for number in range(4)]
    made = [fleet.create(shop, batch="night \u591c") for shop in shops]
    for shop in shops:
        store.set_pause(Pause(scope=f"shop:pdd:{shop}", by="ann"))
    store.lead("test", "me", 1000)
    redis_server.flush()
    store.lead("test", "me", 1000)
    fleet.worker(3)
    eventually(lambda: all(is_status(fleet, one, "blocked") for one in made), 30)
    (view,), _after = assembly.queries(fleet.engine).batches.page(10)
    assert (view.batch, dict(view.counts)) == ("night \u591c", {"blocked": 4})
    commands = assembly.commands(fleet.engine).batches
    commands.cancel(commands.plan_cancel(view.batch))
    assert {task.status for task in fleet.wait_ended(made)} == {"cancelled"}


def test_after_a_loss_nothing_starts_in_a_shop_where_something_runs(
    behind: Behind, redis_server: Redis, tmp_path: Path
) -> None:
    """Two flows in one shop would take the login from each other: starts wait until what runs is recorded again, which
    is not left to the next renewal.
    """
    fleet, seen, gate = behind.fleet, tmp_path / "seen.txt", tmp_path / "gate"
    fleet.worker(3, lease_s=60.0)
    runs = fleet.create("s1", seen=str(seen), until=str(gate))
    fleet.wait(runs, "running")
    redis_server.flush()
    behind_it = fleet.create("s1", seen=str(seen), n=2)
    fleet.wait(behind_it, "blocked", seconds=10.0)
    assert (fleet.task(runs).status, started(seen)) == ("running", [runs])
    gate.touch()
    assert {task.status for task in fleet.wait_ended([runs, behind_it])} == {"succeeded"}


def test_who_knew_the_store_before_it_was_emptied_says_so_once(behind: Behind, redis_server: Redis) -> None:
    """Also a program that begins after the loss, on a machine that has seen the store before. What a person has lifted
    since stays lifted, whoever notices late.
    """
    fleet = behind.fleet
    fleet.create("s1")
    first, second = fleet.open(), fleet.open()
    first.store.set_pause(Pause(scope="platform:temu", by="ann"))
    for one in (first, second):
        one.store.lead("test", "me", 1000)
    redis_server.flush()
    late = fleet.open()
    late.store.lead("engine", "late", 1000)
    assert [one.code for one in told(fleet)] == ["attention.store_lost"]
    first.store.lead("test", "me", 1000)
    assert [pause.scope for pause in late.store.pauses()] == ["platform:temu"]
    late.store.clear_pause("platform:temu")
    second.store.lead("test", "me", 1000)
    fleet.create("s1", n=2)
    assert late.store.pauses() == []


def test_a_loss_while_a_schedule_fires_starts_nothing_twice_and_is_seen_in_the_audit(
    behind: Behind, redis_server: Redis, tmp_path: Path
) -> None:
    """Some of the run are recorded and sent, some not yet; whatever becomes of them, nothing is done a second time."""
    fleet, store, seen = behind.fleet, behind.fleet.engine.store, tmp_path / "seen.txt"
    shops = [Shop(platform="pdd", shop_id=f"q{number}") for number in range(300)]
    store.put_shops(shops)
    fleet.steward()
    fleet.worker(4)
    plan = Schedule(
        name="orders", task_type="once", every_s=3600, first_at=store.now_ms() + 1000, all_shops=True,
        payload={"seen": str(seen)},
    )  # fmt: skip
    fleet.commands().schedules.add(plan)
    eventually(lambda: started(seen), 30)
    redis_server.flush()
    eventually(lambda: "attention.store_lost" in [one.code for one in told(fleet)], 30)
    store.put_shops(shops)
    fleet.commands().schedules.add(plan)  # as whoever puts it back
    last = fleet.create("s1", seen=str(seen))
    fleet.wait_ended([last])
    counts = Counter(started(seen))
    assert counts
    assert set(counts.values()) == {1}
    found = {one.message.code for one in diagnosis.examine(fleet.settings).findings}
    assert "doctor.audit_wrong" in found


def test_who_has_not_looked_for_long_puts_nothing_back(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """He may be the first to notice: what people have switched since he looked is known by who looks all the time."""
    idle = behind.fleet.open(home=str(tmp_path / "elsewhere")).store
    idle.set_pause(Pause(scope="platform:temu", by="ann"))
    assert idle.apply([Published(task_id="t1", status="queued", gen=1, attempt=0)])[0].code == "stale"
    leads = behind.fleet.engine.store
    leads.clear_pause("platform:temu")
    leads.set_pause(Pause(scope="platform:pdd", by="ann"))
    leads.lead("test", "me", 1000)
    redis_server.flush()
    idle.apply([Published(task_id="t1", status="queued", gen=1, attempt=0)])
    leads.lead("test", "me", 1000)
    assert [pause.scope for pause in leads.pauses()] == ["platform:pdd"]


def test_a_mark_of_the_data_that_cannot_be_read_stops_nobody(behind: Behind, redis_server: Redis) -> None:
    """It is spoilt, and so no mark to go by."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    fleet.create("s1")
    for number, spoilt in enumerate(('""', r'"\xff"')):
        redis_server.command(f"HSET {{rpa}}:meta epoch {spoilt}")
        fleet.create("s1", n=number)
        assert store.lead("test", "me", 1000)


def test_a_spoilt_note_of_what_was_known_here_is_no_loss(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """It would send people for a backup of a store that is well."""
    behind.fleet.create("s1")
    (home := tmp_path / "spoilt").mkdir()
    behind.fleet.open(home=str(home)).store.lead("test", "me", 1000)
    (note,) = home.glob("stores/*.known")
    note.write_text(note.read_text()[:5])
    behind.fleet.open(home=str(home)).store.lead("test", "me", 1000)
    assert "attention.store_lost" not in [one.code for one in told(behind.fleet)]


def test_the_first_who_records_something_in_an_emptied_store_says_so(behind: Behind, redis_server: Redis) -> None:
    """Before it is recorded: no leader need have looked."""
    behind.fleet.create("s1")
    redis_server.flush()
    behind.fleet.create("s1", n=2)
    assert told(behind.fleet)[0].code == "attention.store_lost"


def test_who_only_looks_says_so_too(behind: Behind, redis_server: Redis) -> None:
    """Where nothing works at all, an empty list would be all that a person sees."""
    behind.fleet.create("s1")
    store = behind.fleet.engine.store
    assert store.counts().total == 1
    redis_server.flush()
    assert store.counts().total == 0
    assert "attention.store_lost" in [one.code for one in told(behind.fleet)]


def test_a_backup_that_is_put_back_is_no_loss(behind: Behind, redis_server: Redis) -> None:
    """What was switched since it was made holds there too, of those who were there all the time."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    fleet.create("s1")
    store.lead("test", "me", 1000)
    restore = rollback.of_redis(fleet.engine.settings.store.url)
    redis_server.flush()
    store.lead("test", "me", 1000)
    assert [one.code for one in told(fleet)] == ["attention.store_lost"]
    store.set_pause(Pause(scope="platform:temu", by="ann"))
    store.lead("test", "me", 1000)
    restore()
    store.lead("test", "me", 1000)
    assert [pause.scope for pause in store.pauses()] == ["platform:temu"]
    assert "attention.store_lost" not in [one.code for one in told(fleet)]


def test_another_fleets_data_are_left_as_they_are(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """The address leads elsewhere for a while, as by a slip in a name server: what runs is recorded when it is back."""
    fleet, seen, gate = behind.fleet, tmp_path / "seen.txt", tmp_path / "gate"
    fleet.worker(lease_s=2.0)
    runs = fleet.create("s1", "once", seen=str(seen), until=str(gate))
    fleet.wait(runs, "running")
    store = fleet.engine.store
    store.lead("test", "me", 1000)
    back = rollback.of_redis(redis_server.url)
    with closing(redis.Redis.from_url(redis_server.url, decode_responses=True)) as server:
        theirs = {"epoch": "0123456789ab", "born": "1000"}
        with server.pipeline() as both:
            both.flushdb().hset("{rpa}:meta", mapping=theirs).hset("{rpa}:pauses", "platform:temu", "{}").execute()
        with pytest.raises(StoreUnavailable, match="another fleet") as caught:
            fleet.create("s2", seen=str(seen))
        assert refused(words_of(caught.value))  # and not silent
        with pytest.raises(StoreUnavailable, match="another fleet"):
            store.lead("test", "me", 1000)
        with pytest.raises(StoreUnavailable, match="another fleet"):  # its figures would be taken for ours
            store.counts()
        gate.touch()
        eventually(lambda: lines(seen, "end"), 30)
        assert (server.hgetall("{rpa}:meta"), sorted(server.keys())) == (theirs, ["{rpa}:meta", "{rpa}:pauses"])
    back()
    assert fleet.wait_ended([runs])[0].status == "succeeded"
    assert (started(seen), store.pauses()) == ([runs], [])
    assert "attention.store_lost" not in [one.code for one in told(fleet)]


def test_a_loss_while_others_leave_what_may_wait_holds_nobody_up(behind: Behind, redis_server: Redis) -> None:
    """What waits for the next batch meets the loss in a thread of its own, while another thread puts things right."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    task_id = fleet.create("s1")
    go, over = threading.Event(), threading.Event()

    def leave() -> None:
        while not over.is_set():
            if go.wait(0.1):
                store.apply_soon([Published(task_id=task_id, status="queued", gen=1, attempt=0)])
                over.wait(0.0002)

    def lose_and_lead() -> None:
        for _ in range(60):
            go.clear()
            store.get([task_id])  # nothing waits now
            redis_server.command("FLUSHALL")
            go.set()
            store.lead("test", "me", 1000)

    others = [threading.Thread(target=leave, daemon=True) for _ in range(4)]
    leads = threading.Thread(target=lose_and_lead, daemon=True)
    for one in (*others, leads):
        one.start()
    leads.join(60)
    stuck = leads.is_alive()
    over.set()
    assert not stuck
    for one in others:
        one.join(30)
        assert not one.is_alive()


def test_a_message_older_than_the_data_tells_of_the_loss(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """Where nobody is left who knew: all that there was before is gone, also what a type was."""
    fleet, seen = behind.fleet, tmp_path / "seen.txt"
    waits, once = fleet.create("s1", seen=str(seen)), fleet.create("s2", "once", seen=str(seen))
    created = fleet.task(once).created_at
    redis_server.flush()
    with closing(redis.Redis.from_url(redis_server.url)) as server:  # what a program reckons may be ahead of it
        eventually(lambda: 1000 * server.time()[0] > created, 30)
    stranger = fleet.open(home=str(tmp_path / "elsewhere"))
    fleet.worker(engine=stranger)
    eventually(lambda: is_status(fleet, waits, "succeeded") and is_status(fleet, once, "held"), 30)
    assert "attention.store_lost" in [one.code for one in told(fleet)]
    assert started(seen) == [waits]


def test_an_outcome_is_kept_while_the_data_are_those_of_a_newer_program(
    behind: Behind, redis_server: Redis, tmp_path: Path
) -> None:
    """They were taken over as it ran: what is done is not done again for that."""
    fleet, seen, gate = behind.fleet, tmp_path / "seen.txt", tmp_path / "gate"
    fleet.worker(1)
    task_id = fleet.create("s1", seen=str(seen), until=str(gate))
    fleet.wait(task_id, "running")
    redis_server.command("HSET {rpa}:meta writer 99")
    gate.touch()
    kept = Path(fleet.settings.home)
    eventually(lambda: any(task_id.encode() in one.read_bytes() for one in kept.rglob(f"*{SPOOLED}")), 15)
    redis_server.command("HSET {rpa}:meta writer 5")
    assert fleet.wait_ended([task_id])[0].status == "succeeded"
    assert started(seen) == [task_id]
