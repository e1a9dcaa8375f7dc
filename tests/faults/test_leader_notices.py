"""The leader is killed while it reads what other programs send: nothing of it is lost, and nothing is done twice."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet, lines
from tests.integration.foreign_rig import message, send

pytestmark = [pytest.mark.fault, pytest.mark.parametrize("pair", ["fleet"], indirect=True)]
MANY, AT_A_TIME = 900, 100


def recorded(fleet: Fleet) -> list[Task]:
    """What is known of the messages; no worker of their lane runs."""
    terms = (equals("status", "queued", "blocked", "running", "succeeded"), equals("type", "work"))
    return list(fleet.engine.store.query(Query(terms=terms, limit=MANY + 1)).tasks)


def test_kill_9_of_the_leader_while_it_reads_notices_loses_and_doubles_nothing(
    cli: Cli, fleet: Fleet, tmp_path: Path
) -> None:
    """Killed twice, each time after some were recorded and while more are coming in; the last one reads the rest."""
    seen = tmp_path / "seen.txt"
    bodies = [message(task_id=f"f{n}", shop_id=f"s{n % 300}", payload={"n": n, "seen": str(seen)}) for n in range(MANY)]
    hurry = threading.Event()

    def produce() -> None:
        for start in range(0, MANY, AT_A_TIME):
            send(fleet, *bodies[start : start + AT_A_TIME], lane="normal")
            hurry.wait(0.2)

    cli.run("worker", "list")
    producer = threading.Thread(target=produce)
    read = 0
    for round_ in range(2):
        with cli.start("worker", "--slots", "1", "--lanes", "low") as leader:
            eventually(lambda: fleet.engine.store.leader("engine"), 90)
            if not round_:
                producer.start()
            eventually(lambda before=read: len(recorded(fleet)) > before, 60)
            leader.send_signal(signal.SIGKILL)
            leader.wait(30)
        read = len(recorded(fleet))
        assert read > 0
        eventually(lambda: not fleet.engine.store.leader("engine"), 60)
        if not round_:
            assert read < MANY, "it was to die in the middle"
    hurry.set()
    producer.join(60)
    with cli.start("worker", "--slots", "1", "--lanes", "low"):
        eventually(lambda: len(recorded(fleet)) == MANY, 90)
        made = recorded(fleet)
        assert {one.task_id for one in made} == {f"f{n}" for n in range(MANY)}
        assert all([step.from_ for step in one.steps].count("") == 1 for one in made), "each was created once"
        assert not lines(seen, "start"), "a notice starts nothing"
        assert sum(one.ready for one in fleet.engine.broker.depths() if one.kind == "lane") == MANY
        fleet.worker(8, lanes=("normal",))
        fleet.wait_ended([one.task_id for one in made])
    done = fleet.engine.store.counts().status
    assert done["succeeded"] == MANY
    runs = Counter(row[1] for row in lines(seen, "start"))
    assert runs == {f"f{n}": 1 for n in range(MANY)}
