"""A process dies between two steps: whatever had happened by then, the task ends once and nothing is told twice."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec import structs

from services import assembly
from services.domain.task.order import Delivery
from services.workers.worker import Worker
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines

pytestmark = pytest.mark.fault
LANE = "rpa_tasks_normal"


def mute(_: Iterable[Delivery]) -> None:
    """An acknowledgement that never left."""


def dying(fleet: Fleet) -> Worker:
    """A worker that will be gone before it acknowledges anything."""
    worker = fleet.worker(1)
    worker._consumer.ack = mute  # type: ignore[method-assign]
    return worker


def settled(fleet: Fleet) -> bool:
    """Whether no lane and no dead-letter queue has a message left."""
    depths = [depth for depth in fleet.engine.broker.depths() if depth.kind in ("lane", "dead")]
    return not any(depth.ready or depth.unacked for depth in depths)


def test_before_the_claim(fleet: Fleet, tmp_path: Path) -> None:
    """Its message was taken, and comes back with the connection's end."""
    seen = tmp_path / "seen.txt"
    task_id = fleet.create(seen=str(seen))
    (delivery,) = fleet.take(LANE, 1)
    assert delivery.message_id == task_id
    fleet.worker()
    assert fleet.wait(task_id, "succeeded").attempt == 1
    assert len(lines(seen, "start")) == 1
    eventually(lambda: settled(fleet), 30)


def test_after_the_record_before_the_acknowledgement(fleet: Fleet, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    worker = dying(fleet)
    task_id = fleet.create(seen=str(seen))
    done = fleet.wait(task_id, "succeeded")
    worker.stop(0.0)
    eventually(lambda: fleet.ready(LANE) == 1, 30)
    fleet.worker()
    eventually(lambda: settled(fleet), 30)
    assert fleet.task(task_id) == done
    assert len(lines(seen, "start")) == 1


def test_after_the_retry_is_published_before_the_acknowledgement(fleet: Fleet, tmp_path: Path) -> None:
    """Two messages are there: the one in the delay queue is alive, the one that comes back is of an older attempt."""
    seen = tmp_path / "seen.txt"
    worker = dying(fleet)
    task_id = fleet.create(fail="network", fail_first=1, seen=str(seen))
    fleet.wait(task_id, "retrying")
    worker.stop(0.0)
    fleet.worker()
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, task.retries, [one.outcome for one in task.attempts]) == (2, 1, ["failed", "succeeded"])
    assert len(lines(seen, "start")) == 2
    eventually(lambda: settled(fleet), 30)


def test_after_the_dead_letter_is_published_before_the_acknowledgement(fleet: Fleet) -> None:
    worker = dying(fleet)
    task_id = fleet.create(fail="missing_secret")
    fleet.wait(task_id, "dead")
    eventually(lambda: fleet.ready("rpa_dead_queue") == 1, 30)
    worker.stop(0.0)
    fleet.worker()
    fleet.archiver()
    eventually(lambda: fleet.engine.store.get_letter(task_id), 30)
    eventually(lambda: settled(fleet), 30)
    counts = fleet.engine.store.counts()
    assert (counts.total, counts.triage) == (1, {"open": 1})


def test_an_archiver_between_the_letter_and_its_acknowledgement(fleet: Fleet) -> None:
    task_id = fleet.create(fail="missing_secret")
    fleet.worker()
    fleet.wait(task_id, "dead")
    eventually(lambda: fleet.ready("rpa_dead_queue") == 1, 30)
    dead_letters = fleet.engine.broker.dead_letters(name="looks")
    (delivery,) = eventually(lambda: dead_letters.take(1, 0.2), 30)
    first = fleet.archiver()
    assert first.archive([delivery]) == [delivery]
    first.stop()
    letter = fleet.engine.store.get_letter(task_id)
    dead_letters.close()  # it died here
    fleet.archiver()
    eventually(lambda: settled(fleet), 30)
    again = fleet.engine.store.get_letter(task_id)
    assert letter is not None
    assert again is not None
    assert structs.replace(again, stored_at=0) == structs.replace(letter, stored_at=0)
    counts = fleet.engine.store.counts()
    assert (counts.total, counts.triage) == (1, {"open": 1})


def test_two_consoles_republish_the_same_letters_at_once(fleet: Fleet) -> None:
    ids = [fleet.create(f"s{number}", fail="missing_secret") for number in range(20)]
    worker = fleet.worker()
    fleet.wait_ended(ids)
    worker.stop()
    desks = [assembly.commands(engine).dead_letters for engine in (fleet.open(), fleet.open())]
    start, outcomes = threading.Barrier(2), []

    def republish(number: int) -> None:
        start.wait()
        outcomes.append(desks[number].republish(ids))

    threads = [threading.Thread(target=republish, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    made = [new for outcome in outcomes for new in outcome.made.values()]
    told = [one.why.code for outcome in outcomes for one in outcome.skipped]
    assert (len(made), len(set(made)), told) == (20, 20, ["dead.already"] * 20)
    assert fleet.engine.store.counts().total == 40
    assert {fleet.task(old).successor for old in ids} == set(made)


def test_looking_at_dead_letters_takes_none_away(fleet: Fleet) -> None:
    """Nobody archives them yet; records, counts, doctor and depths are looked at again and again."""
    task_id = fleet.create(fail="missing_secret")
    fleet.worker()
    fleet.wait(task_id, "dead")
    eventually(lambda: fleet.ready("rpa_dead_queue") == 1, 30)
    queries = assembly.queries(fleet.engine)
    for _ in range(100):
        assert queries.tasks.detail(task_id) is not None
        assert fleet.engine.store.counts().triage == {"open": 1}
        assert fleet.ready("rpa_dead_queue") == 1
    consumer = fleet.engine.broker.dead_letters(name="looks")
    (delivery,) = eventually(lambda: consumer.take(1, 0.2), 30)
    consumer.close()
    assert (delivery.message_id, delivery.redelivered) == (task_id, False)
