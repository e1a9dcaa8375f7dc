"""A worker is killed while Redis is away: its outcomes are recorded by the next one, and nothing runs again."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, lines
from tests.support.services import Redis

pytestmark = [
    pytest.mark.fault,
    pytest.mark.parametrize(
        "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
    ),
]


def test_an_outcome_outlives_redis_and_its_worker(cli: Cli, fleet: Fleet, redis_server: Redis, tmp_path: Path) -> None:
    """Leases of two seconds run out meanwhile; the one that comes back speaks before anybody judges them."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    fields = {"seen": str(seen), "until": str(gate)}
    done = [fleet.create("s1", **fields), fleet.create("s2", "once", **fields)]
    failed = fleet.create("s3", fail="missing_secret", **fields)
    with cli.start("worker", "--slots", "3", "--handlers", HANDLERS) as worker:
        eventually(lambda: len(lines(seen, "start")) == 3, 90)
        redis_server.kill()
        gate.touch()
        eventually(lambda: len(lines(seen, "end")) == 2 and lines(seen, "fail"), 30)
        eventually(lambda: sum(map(_lines, _spooled(tmp_path))) == 3, 30)
        worker.send_signal(signal.SIGKILL)
        worker.wait(30)
    redis_server.start()
    assert {fleet.task(task_id).status for task_id in (*done, failed)} == {"running"}
    with cli.start("worker", "--slots", "3", "--handlers", HANDLERS) as worker:
        tasks = fleet.wait_ended([*done, failed], 60)
        eventually(lambda: not _spooled(tmp_path), 30)
        eventually(
            lambda: (
                not any(
                    depth.unacked or depth.ready for depth in fleet.engine.broker.depths() if depth.kind != "notice"
                )
            ),
            30,
        )
        worker.send_signal(signal.SIGTERM)
        worker.wait(60)
    assert [task.status for task in tasks] == ["succeeded", "succeeded", "dead"]
    assert [[one.outcome for one in task.attempts] for task in tasks] == [["succeeded"], ["succeeded"], ["failed"]]
    assert tasks[0].result == '{"attempt":1,"shop":"s1"}'
    assert len(lines(seen, "start")) == 3, "nothing ran again, whether it may or not"


def _spooled(home: Path) -> list[Path]:
    return list((home / "spool").glob("*/*"))


def _lines(path: Path) -> int:
    """Outcomes in a file, behind its first line."""
    return path.read_bytes().count(b"\n") - 1
