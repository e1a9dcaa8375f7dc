"""One of several processes that submit, claim and finish on one store; prints what it did as JSON."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish, Op, OpenShop, Published
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.ports import Store
from tests.contract.conftest import open_store


class Member:
    """Works on whatever is queued until everything that it has submitted, and everybody else has, is done."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self.random = random.Random(f"{name}{os.environ.get('FLEETDECK_TEST_SEED', '')}")
        self.done: list[str] = []
        self.ran = 0

    def submit(self, count: int, shops: int) -> None:
        """Create and confirm in small batches."""
        tasks = [
            Task(
                task_id=f"{self.name}_{number}",
                shop_id=f"s{self.random.randrange(shops)}",
                platform="pdd",
                task_type="t",
                created_by=self.name,
            )
            for number in range(count)
        ]
        for start in range(0, count, 7):
            batch: list[Op] = [Create(task=task) for task in tasks[start : start + 7]]
            self.confirm([answer.task for answer in self.store.apply(batch) if answer.task is not None])

    def confirm(self, tasks: list[Task]) -> None:
        """Play the broker."""
        ops: list[Op] = [
            Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt) for task in tasks
        ]
        if ops:
            self.store.apply(ops)

    def round(self) -> bool:
        """Claim some of what waits and finish it; tell whether anything is left in the store."""
        for task in self.store.outbox(2000, 50):
            self.confirm([task])
        waiting = self.store.oldest_queued("normal", 20)
        self.random.shuffle(waiting)
        for task in waiting[:4]:
            self._work(task)
        for shop in self.store.parked_shops(10):
            self.confirm(list(self.store.apply([OpenShop(shop=shop)])[0].released))
        status = self.store.counts().status
        return any(status.get(name) for name in (Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.RUNNING))

    def _work(self, task: Task) -> None:
        owner = f"{self.name}#{self.ran}"
        claim = Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner=owner, worker=self.name, lease_ms=60_000
        )
        answer = self.store.apply([claim])[0]
        if answer.code != "run" or answer.task is None:
            return
        self.ran += 1
        attempt = Attempt(answer.task.attempt, self.name, answer.task.started_at, answer.task.started_at, "succeeded")
        ended = self.store.apply([Finish(task_id=task.task_id, owner=owner, to="succeeded", attempt=attempt)])[0]
        if ended.code == "ok":
            self.done.append(task.task_id)
        self.confirm(list(ended.released))


def main() -> None:
    """``crowd KIND PLACE NAME TASKS SHOPS``."""
    kind, place, name, tasks, shops = sys.argv[1:]
    store = open_store(kind, Path(place) if kind == "embedded" else place, SystemClock())
    member = Member(store, name)
    member.submit(int(tasks), int(shops))
    deadline = time.monotonic() + 80
    while member.round() and time.monotonic() < deadline:
        pass
    print(json.dumps({"done": member.done, "ran": member.ran}))
    store.close()


if __name__ == "__main__":
    main()
