"""A desk for GUI tests: a real session on either pair of drivers, and tasks in any state a test needs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from console.connection.open_connection import OpenConnection
from services.commands.tasks import TaskSpec
from services.domain.change import Claim, Finish, Progress
from services.domain.fleet.shop import Shop
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.settings import Settings
from views.context import PageContext
from views.support.feed import Feed
from views.widgets.toast import ToastSpec

SHOPS = (
    Shop(platform="pdd", shop_id="pdd-10021", name="微光数码专卖店"),
    Shop(platform="pdd", shop_id="pdd-10025", name="柚子数码专卖店"),
    Shop(platform="temu", shop_id="temu-20117", name="Lumo Home"),
)


@dataclass(slots=True)
class Desk:
    """The session, the context of pages, and everything they said."""

    session: OpenConnection
    feed: Feed
    context: PageContext
    toasts: list[ToastSpec] = field(default_factory=list)
    asked: list[Mapping[str, object]] = field(default_factory=list)
    ways: list[tuple[str, str]] = field(default_factory=list)  #: verbs that were wanted, with what about
    _owners: Any = field(default_factory=lambda: itertools.count(1))

    def create(self, shop: int = 0, task_type: str = "refresh_goods", **more: Any) -> Task:
        """A queued task."""
        spec = TaskSpec(
            platform=SHOPS[shop].platform,
            shop_id=SHOPS[shop].shop_id,
            task_type=task_type,
            payload=more.pop("payload", {}),
            **more,
        )
        made = self.session.commands.tasks.create([spec], origin="console")
        assert made.created, (made.errors, made.duplicates)
        return made.created[0]

    def claim(self, task: Task, worker: str = "w1") -> Task:
        """The same task running on a worker that is not there."""
        owner = f"{worker}#{next(self._owners)}"
        claim = Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner=owner, worker=worker, lease_ms=60_000
        )
        answer = self.session.engine.store.apply([claim])[0]
        assert answer.code == "run", answer.code
        assert answer.task is not None
        return answer.task

    def fail(self, task: Task, error: str = "LoginExpired: redirected to /login", kind: str = "login_expired") -> Task:
        """The same task as an open dead letter."""
        running = self.claim(task)
        attempt = Attempt(
            number=1,
            worker="w1",
            started_at=running.started_at,
            ended_at=running.started_at + 900,
            outcome="failed",
            error=error,
        )
        finish = Finish(
            task_id=task.task_id,
            owner=running.owner,
            to=Status.DEAD,
            attempt=attempt,
            error=error,
            error_kind=kind,
            fingerprint="0123456789abcdef",
        )
        answer = self.session.engine.store.apply([finish])[0]
        assert answer.task is not None
        return answer.task

    def hold(self, task: Task, progress: int = -1) -> Task:
        """The same task with an outcome that nobody knows."""
        running = self.claim(task)
        store = self.session.engine.store
        if progress > 0:
            store.apply([Progress(task_id=task.task_id, owner=running.owner, progress=progress)])
        attempt = Attempt(
            number=1,
            worker="w1",
            started_at=running.started_at,
            ended_at=running.started_at + 900,
            outcome="timeout",
            error_kind="timeout",
        )
        held = Finish(task_id=task.task_id, owner=running.owner, to=Status.HELD, attempt=attempt, error_kind="timeout")
        answer = store.apply([held])[0]
        assert answer.task is not None
        assert answer.task.status == Status.HELD, answer.code
        return answer.task

    def succeed(self, task: Task) -> Task:
        """The same task, done."""
        running = self.claim(task)
        attempt = Attempt(
            number=1, worker="w1", started_at=running.started_at, ended_at=running.started_at + 900, outcome="succeeded"
        )
        finish = Finish(task_id=task.task_id, owner=running.owner, to=Status.SUCCEEDED, attempt=attempt)
        answer = self.session.engine.store.apply([finish])[0]
        assert answer.task is not None
        return answer.task

    def get(self, task_id: str) -> Task:
        """The record as it stands."""
        task = self.session.engine.store.get([task_id])[0]
        assert task is not None
        return task


def open_desk(settings: Settings) -> Desk:
    """A session with three shops, watching; close it with ``close_desk``."""
    session = OpenConnection(settings)
    session.commands.fleet.import_shops(SHOPS)
    feed = Feed(session.live)
    toasts: list[ToastSpec] = []
    asked: list[Mapping[str, object]] = []
    ways: list[tuple[str, str]] = []
    context = PageContext(
        tasks=session.queries.tasks,
        causes=session.queries.causes,
        schedules=session.queries.schedules,
        queues=session.queues,
        batches=session.queries.batches,
        promises=session.queries.promises,
        policies=session.queries.types,
        promise_tried=session.promise_tried,
        limits=session.queries.shops,
        artifacts=session.queries.artifacts,
        letters=session.queries.letters,
        roles=session.queries.roles,
        audit=session.queries.audit,
        past=session.queries.past,
        handover=session.queries.handover,
        logs=session.queries.logs,
        remote=session.queries.remote,
        alerts=session.queries.alerts,
        overview=session.overview,
        commands=session.commands,
        feed=feed,
        local=session.local,
        logins=session.logins,
        doctor=session.doctor,
        sample=session.sample,
        types=session.types,
        shops=session.shops,
        toast=toasts.append,
        new_task=asked.append,
        way_out=lambda verb, target: ways.append((verb, target)),
    )
    session.live.start()
    return Desk(session=session, feed=feed, context=context, toasts=toasts, asked=asked, ways=ways)
