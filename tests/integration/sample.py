"""A fleet with something of everything in it: tasks in every state, and every kind of thing that the store keeps."""

from __future__ import annotations

import json
from typing import Any

from services.commands.operator import current
from services.domain.change import (
    Annotate,
    Cancel,
    Claim,
    CloseSession,
    Create,
    Finish,
    Forget,
    OpenSession,
    OpenShop,
    Published,
    SetTriage,
)
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import breaker
from services.domain.gates.limit import Limit
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.ports import AuditEntry, Letter, LogLine, ScheduleEntry, Store

DAY_MS = 86_400_000
SCHEDULE: dict[str, Any] = {
    "schedule": {"name": "nightly", "task_type": "work", "cron": "0 3 * * *", "shops": ["pdd:s1"]},
}


def fill(store: Store, safe: str) -> None:
    """Everything; ``safe``: the shop that nothing is done to, whose tasks must go on."""
    current(store)
    shops = [Shop(platform="pdd", shop_id=f"s{n}", name=f"shop {n}", concurrency=2) for n in range(9)]
    store.put_shops([*shops, Shop(platform="temu", shop_id=safe)])
    _fleet(store)
    _tasks(store)
    _papers(store)


def _fleet(store: Store) -> None:
    store.set_pause(Pause(scope="shop:pdd:s7", by="ann@desk", reason="stock"))
    store.set_pause(Pause(scope="type:unheard", by="ann@desk"))
    store.put_home("pdd:s1", "desk-01")
    store.put_home("pdd:s8", "desk-02")
    store.put_limit(Limit(scope="type:work", concurrency=50, per_minute=500))
    store.put_limit(Limit(scope="platform:pdd", concurrency=40))
    store.put_document("type_version", "work@1", json.dumps({"name": "work", "version": 1}))
    store.put_document("type", "other", json.dumps({"name": "other", "version": 1}))
    store.put_document("queue", "pdd:s6", json.dumps({"state": "open", "since": store.now_ms()}))
    store.put_document(
        "cause", "0123456789abcdef", json.dumps({"ignored": True, "by": "ann@desk", "at": store.now_ms()})
    )
    store.put_document(breaker.DOCUMENT, breaker.NAME, json.dumps({"failures": 2, "of": 3}))
    store.put_document("fleet", "time_zone", '"Asia/Shanghai"')
    store.put_document("role", "bob@desk", json.dumps({"role": "viewer"}))
    store.put_document("leader", "link", "{}")
    store.put_document("relay", "results", store.events("", 1, 0.0).cursor)
    store.put_document("bulk", "run1", json.dumps({"run_id": "run1"}))
    store.put_document("bulk_ids:run1", "ids", '["a", "b"]')
    store.put_document("move", "pdd:s8", json.dumps({"node": "desk-03", "by": "ann@desk"}))
    store.heartbeat(WorkerInfo(worker="desk-01/1", host="desk-01", pid=1, node="desk-01", executors=("rpa",)))
    store.tell_worker("desk-01/1", "slots=3")
    store.lead("bulk:run1", "ann@desk#1", 600_000)
    store.put_schedule(ScheduleEntry(name="nightly", body=json.dumps(SCHEDULE), next_at=store.now_ms() + DAY_MS), 0)
    store.apply([CloseSession(shop="pdd:s5", kind="captcha", by="ann@desk", note="")])
    store.apply([OpenSession(shop="pdd:s4", by="ann@desk")])


def _task(name: str, shop: str, **fields: Any) -> Task:
    base: dict[str, Any] = {
        "task_id": f"pdd_work_{shop}_{name}",
        "shop_id": shop,
        "platform": "pdd",
        "task_type": "work",
        "payload": json.dumps({"name": name}),
        "origin": "cli",
        "created_by": "ann@desk",
    }
    return Task(**(base | fields))


class _Hand:
    """Takes tasks through their lives."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, task: Task) -> Task:
        (answer,) = self._store.apply([Create(task=task, on_duplicate="queue")])
        assert answer.code == "created", answer
        assert answer.task is not None
        return answer.task

    def queue(self, task: Task) -> Task:
        made = self.create(task)
        op = Published(task_id=made.task_id, status=made.status, gen=made.gen, attempt=made.attempt)
        (answer,) = self._store.apply([op])
        assert answer.task is not None
        return answer.task

    def claim(self, task: Task, **fields: Any) -> Task:
        owner: dict[str, Any] = {"owner": "desk-01/1#1", "worker": "desk-01/1", "lease_ms": 600_000}
        op = Claim(task_id=task.task_id, gen=task.gen, attempt=task.attempt, **(owner | fields))
        (answer,) = self._store.apply([op])
        assert answer.task is not None, answer
        return answer.task

    def finish(self, task: Task, to: str, **fields: Any) -> Task:
        now = self._store.now_ms()
        attempt = Attempt(task.attempt, task.worker, now, now, "succeeded" if to == "succeeded" else "failed")
        (answer,) = self._store.apply(
            [Finish(task_id=task.task_id, owner=task.owner, to=to, attempt=attempt, **fields)]
        )
        assert answer.task is not None, answer
        return answer.task

    def run(self, task: Task, to: str, **fields: Any) -> Task:
        return self.finish(self.claim(self.queue(task)), to, **fields)


def _tasks(store: Store) -> None:
    hand = _Hand(store)
    now = store.now_ms()
    bad = {"error": "it broke", "error_kind": "timeout", "fingerprint": "0123456789abcdef"}
    hand.run(_task("done", "s0", batch="B1"), "succeeded")
    gone = hand.run(_task("gone", "s0", batch="B1"), "succeeded")
    store.apply([Forget(task_id=gone.task_id, updated_at=gone.updated_at, tomb_ms=DAY_MS)])
    dead = [hand.run(_task(f"dead{n}", "s1", batch="B1"), "dead", **bad) for n in range(2)]
    store.apply([Annotate(task_id=dead[0].task_id, note_id="n1", by="ann@desk", text="look at this")])
    store.apply([SetTriage(task_id=dead[1].task_id, triage="archived", by="ann@desk", note="")])
    hand.run(_task("again", "s1"), "retrying", delay_ms=DAY_MS, **bad)
    hand.claim(hand.queue(_task("running", "s2", uniq="one", deadline=now + DAY_MS)))
    hand.queue(_task("twin", "s2", uniq="one"))
    hand.create(_task("planned", "s3", status=Status.SCHEDULED, due_at=now + DAY_MS, deadline=now + 2 * DAY_MS))
    hand.create(_task("waits", "s3", depends_on=("pdd_work_s3_planned",)))
    hand.claim(hand.queue(_task("paused", "s7")))
    hand.claim(hand.queue(_task("elsewhere", "s8")), home="desk-01")
    hand.claim(hand.queue(_task("nobody", "s4", task_type="other")), able=False)
    hand.create(_task("login", "s5"))
    hand.create(_task("unsent", "s4", priority=9))
    stopped = hand.create(_task("stopped", "s4"))
    store.apply([Cancel(task_id=stopped.task_id, by="ann@desk")])
    held = hand.claim(hand.queue(_task("held", "s4", idempotent=False)))
    hand.finish(held, "held")
    store.apply([Create(task=_task("refused", "s2", uniq="one"), on_duplicate="reject")])
    for number in range(3):
        hand.queue(_task(f"queued{number}", "s0"))
    store.apply([OpenShop(shop="pdd:s7", most=1)])


def _papers(store: Store) -> None:
    letter = Letter(task_id="pdd_work_s1_dead0", body=b'{"task_id": "x"}', headers="{}", routing_key="dead")
    store.put_letter(letter)
    store.append_log("pdd_work_s0_done", 1, [LogLine(store.now_ms(), "out", "hello"), LogLine(1, "err", "oh")])
    for number in range(3):
        entry = AuditEntry(
            entry_id=f"e{number}", at=store.now_ms(), who="ann@desk", action="task.cancel", target=("x",)
        )
        store.append_audit(entry)
    store.close_audit("e1", "done", store.now_ms())
