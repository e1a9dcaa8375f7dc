"""A fleet on one machine in which everything exists that the READMEs name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services import assembly
from services import settings as config
from services.commands.tasks import TaskSpec
from services.domain.change import Claim, Finish
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from tests.integration.cli_rig import configure

SHOPS = (("pdd", "s1"), ("pdd", "s2"), ("pdd", "s3"), ("pdd", "shop017"), ("temu", "t1"))
#: as the READMEs call them
BATCH, WORKER, NODE = "cli-1f3a9c20", "desk-01-4711", "desk-02-91ab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The home folder and the ids that stand in for ``ID``."""

    home: Path
    ids: dict[str, str]


def prepare(home: Path) -> Prepared:
    """Make the fleet: shops, a batch, a task that waits, one that is held, dead letters after a time-out, a worker."""
    configure(home)
    engine = assembly.open_engine(config.load(home=home))
    try:
        commands = assembly.commands(engine)
        commands.fleet.import_shops(tuple(Shop(platform=platform, shop_id=shop) for platform, shop in SHOPS))
        lived = WorkerInfo(worker=WORKER, host="desk-01", pid=4711, node=NODE, slots=(SlotState(),))
        engine.store.heartbeat(lived)

        def made(task_type: str, place: int, **more: Any) -> Task:
            platform, shop = SHOPS[place]
            spec = TaskSpec(platform=platform, shop_id=shop, task_type=task_type, payload={"n": place}, **more)
            answer = commands.tasks.create([spec], origin="cli")
            assert answer.created, answer
            return answer.created[0]

        def ended(task: Task, to: Status) -> str:
            claim = Claim(
                task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=60_000
            )
            running = engine.store.apply([claim])[0].task
            assert running is not None
            attempt = Attempt(
                number=1,
                worker="w",
                started_at=running.started_at,
                ended_at=running.started_at + 900,
                outcome="timeout",
                error="no answer within 60 s",
                error_kind="timeout",
            )
            end = Finish(
                task_id=task.task_id,
                owner="w#1",
                to=to,
                attempt=attempt,
                error="no answer within 60 s",
                error_kind="timeout",
                fingerprint="0123456789abcdef",
            )
            assert engine.store.apply([end])[0].task is not None
            return task.task_id

        dead = [ended(made("fine", place), Status.DEAD) for place in (0, 1, 2, 4)]
        held = ended(made("refresh_goods", 3), Status.HELD)
        waiting = made("shop_crawl", 1).task_id
        made("fine", 0, batch=BATCH)
    finally:
        engine.close()
    return Prepared(home=home, ids={"dead": dead[0], "held": held, "waiting": waiting})
