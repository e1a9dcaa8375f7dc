"""A real engine with a few shops and dead letters, and the context that pages get from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from services import assembly, workforce
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.role import ADMIN, VIEWER
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task import classify, fingerprint
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status, Triage
from services.monitor.overview_source import OverviewQueries
from services.monitor.queues.board import QueueBoard
from services.ports import Letter
from services.sample.fleet import sample_shops
from services.self_check import SelfCheck
from services.settings import Settings
from views.context import PageContext
from views.support import operation
from views.support.feed import Feed
from views.widgets.toast import ToastSpec

MINUTE = 60_000

LOGIN = "LoginExpired: redirected to /login, a QR code is wanted"
SELECTOR = "SelectorNotFound: .order-list__row not found in page after 30 s"
LIMITED = "HttpError: 429 too many requests from open API"
PAYLOAD = "ValidationError: invalid payload: goods_id is missing"
DEATHS: tuple[tuple[str, str, int, tuple[int, ...], int, dict[str, Any]], ...] = (
    # error, type, how many, places of the shops, minutes since the last, payload
    (LOGIN, "sync_order", 18, (0, 1, 2), 1, {"since": "2026-11-21", "status": ["paid", "shipped"], "page_size": 50}),
    (SELECTOR, "get_content", 9, (0, 1, 2, 3, 4, 5), 12, {"url": "/orders", "wait_for": ".order-list__row"}),
    (LIMITED, "refresh_goods", 5, (1, 25, 45), 40, {"page_size": 20}),
    (PAYLOAD, "single_product", 1, (3,), 90, {"goods_id": "G0003"}),
)


class NoSample:
    """A sample fleet that remembers being loaded."""

    def __init__(self) -> None:
        self.loaded = False

    def load(self) -> None:
        """Load it."""
        self.loaded = True

    def stop(self) -> int:
        """Stop it; three tasks waited."""
        self.loaded = False
        return 3


class Logins:
    """Browsers of shops in which somebody logs in at once; ``homes``: where profiles of other machines lie."""

    def __init__(self, engine: assembly.Engine) -> None:
        self._engine = engine
        self.homes: dict[str, str] = {}
        self.logged_in = True

    def elsewhere(self, shop: str) -> str:
        """The machine of its profile."""
        return self.homes.get(shop, "")

    def log_in(self, shop: str) -> bool:
        """What a person did there."""
        return assembly.commands(self._engine).sessions.login(shop, lambda: self.logged_in)


class Local:
    """Local workers as the console offers them."""

    def __init__(self, engine: assembly.Engine) -> None:
        self._workers = workforce.local_workers(engine)
        self.slots = 4

    def start(self, slots: int, lanes: tuple[str, ...] = ("high", "normal", "low")) -> object:
        """Start working."""
        return self._workers.start(slots, lanes)

    def stop(self, grace_s: float | None = None) -> bool:
        """Stop working."""
        return self._workers.stop(grace_s)

    @property
    def name(self) -> str:
        """Name of the worker, "" for none."""
        worker = self._workers.worker
        return worker.name if worker is not None else ""


@dataclass(slots=True)
class Fleet:
    """Engine, feed and context of one test."""

    engine: assembly.Engine
    context: PageContext
    toasts: list[ToastSpec] = field(default_factory=list)
    wanted: list[Mapping[str, object]] = field(default_factory=list)

    @property
    def store(self) -> Any:
        """The store driver."""
        return self.engine.store

    def may_only_look(self) -> None:
        """Somebody else takes the right to act away from whoever sits here."""
        mine = self.context.commands
        mine.roles.set("cleo@desk", ADMIN)
        assembly.commands(self.engine, name="cleo@desk").roles.set(mine.operator.who, VIEWER)

    def seed_shops(self, count: int = 60) -> None:
        """Register the shops of the sample."""
        self.store.put_shops(sample_shops(count))
        self.engine.broker.ensure(platforms={shop.platform for shop in self.store.shops()})
        self.engine.registry.forget()

    def seed_deaths(self) -> list[str]:
        """Record dead letters with a history; returns their ids."""
        shops, now = sample_shops(60), self.store.now_ms()
        made = []
        for error, kind, count, places, minutes, payload in DEATHS:
            for number in range(count):
                shop = shops[places[number % len(places)]]
                ended = now - (minutes + number * 3) * MINUTE
                made.append(self.die(shop.platform, shop.shop_id, kind, error, payload, ended_at=ended))
        return made

    def die(
        self, platform: str, shop_id: str, kind: str, error: str, payload: dict[str, Any], *, ended_at: int = 0
    ) -> str:
        """Record one dead letter after three attempts."""
        ended = ended_at or self.store.now_ms()
        cause = classify.classify(error)
        number = self.store.counts().total
        task_id = f"{platform}_{kind}_{shop_id}_{number:012x}"
        attempts = tuple(
            Attempt(
                number=n,
                worker=f"rpa-0{n}",
                started_at=ended - (4 - n) * 2 * MINUTE,
                ended_at=ended - (4 - n) * 2 * MINUTE + 8_200 if n < 3 else ended,
                outcome="failed",
                error_kind=cause,
                error=error,
            )
            for n in (1, 2, 3)
        )
        task = Task(
            task_id=task_id,
            platform=platform,
            shop_id=shop_id,
            task_type=kind,
            payload=json.dumps(payload),
            status=Status.DEAD,
            triage=Triage.OPEN,
            attempt=3,
            retries=3,
            created_at=ended - 10 * MINUTE,
            started_at=ended - 8_000,
            ended_at=ended,
            updated_at=ended,
            error=f"Traceback (most recent call last):\n{error}",
            error_kind=cause,
            fingerprint=fingerprint.fingerprint(kind, cause, error),
            attempts=attempts,
            origin="cli",
            created_by="chen@desk-01",
            idempotent=kind != "batch_reply",
        )
        self.store.put_letter(
            Letter(
                task_id=task_id,
                body=json.dumps({"task": kind, "shop_id": shop_id, **payload}).encode(),
                headers=json.dumps({"x-rpa-error-kind": cause, "x-death-count": 3, "x-created-by": "chen@desk-01"}),
                routing_key=f"task.{platform}.normal",
                queue="rpa.dead",
            )
        )
        self.store.apply([Create(task=task)])
        return task_id

    def succeed(self, platform: str, shop_id: str, kind: str) -> str:
        """Let a task run to its end as a worker does."""
        made = self.context.commands.tasks.create(
            [TaskSpec(platform=platform, shop_id=shop_id, task_type=kind)], origin="cli"
        )
        self.finish(made.created[0].task_id)
        return made.created[0].task_id

    def finish(self, task_id: str, to: str = Status.SUCCEEDED, error: str = "") -> None:
        """Run a waiting task to an end as a worker does."""
        (task,) = self.store.get([task_id])
        owner = f"rpa-01#{task_id}"
        claim = Claim(
            task_id=task_id, gen=task.gen, attempt=task.attempt, owner=owner, worker="rpa-01", lease_ms=60_000
        )
        (answer,) = self.store.apply([claim])
        assert answer.code == "run", answer.code
        now, kind = self.store.now_ms(), classify.classify(error) if error else ""
        print_ = fingerprint.fingerprint(task.task_type, kind, error) if error else ""
        outcome = "failed" if error else "succeeded"
        done = Attempt(
            number=1, worker="rpa-01", started_at=now, ended_at=now, outcome=outcome, error_kind=kind, error=error
        )
        self.store.apply(
            [
                Finish(
                    task_id=task_id, owner=owner, to=to, attempt=done, error=error, error_kind=kind, fingerprint=print_
                )
            ]
        )

    def heartbeat(self, name: str, *, slots: int = 4, busy: int = 2, **more: Any) -> WorkerInfo:
        """Let a pretended worker of another machine report itself."""
        shops, now = sample_shops(60), self.store.now_ms()
        states = tuple(
            SlotState(
                task_id=f"pdd_sync_order_{shops[n % 60].shop_id}_{n:012x}",
                task_type=("sync_order", "get_content", "refresh_goods", "batch_reply")[n % 4],
                shop=shops[(n * 7) % 60].key,
                lane="normal",
                attempt=1,
                since=now - n * 7_000,
                progress=(n * 23) % 100,
            )
            if n < busy
            else SlotState()
            for n in range(slots)
        )
        info = WorkerInfo(
            worker=name, host=name, pid=4711, version="0.1.0", system="Windows 11", slots=states, seen_at=now, cpu=46.0,
            memory_mb=412.0, executors=("rpa",), started_at=now - 90 * MINUTE,
        )  # fmt: skip
        info = msgspec.structs.replace(info, **more)
        self.store.heartbeat(info)
        return info


@contextmanager
def open_fleet(settings: Settings) -> Iterator[Fleet]:
    """Open an engine and everything pages ask for; closed in good order."""
    engine = assembly.open_engine(settings)
    live = assembly.live(engine)
    history = assembly.history(engine)
    questions = assembly.queries(engine)
    toasts: list[ToastSpec] = []
    wanted: list[Mapping[str, object]] = []
    local = Local(engine)
    context = PageContext(
        tasks=questions.tasks,
        causes=questions.causes,
        schedules=questions.schedules,
        batches=questions.batches,
        queues=QueueBoard(questions.queues, live, history, engine.clock),
        promises=questions.promises,
        policies=questions.types,
        promise_tried=workforce.promise_keeper(engine).tried,
        limits=questions.shops,
        artifacts=questions.artifacts,
        letters=questions.letters,
        roles=questions.roles,
        audit=questions.audit,
        past=questions.past,
        handover=questions.handover,
        logs=questions.logs,
        remote=questions.remote,
        alerts=questions.alerts,
        overview=OverviewQueries(
            engine.store,
            engine.registry,
            live,
            history,
            questions.causes,
            engine.clock,
            questions.shops.states,
            past=questions.past,
        ),
        commands=assembly.commands(engine),
        feed=Feed(live),
        local=local,
        logins=Logins(engine),
        doctor=SelfCheck(settings),
        sample=NoSample(),
        types=engine.registry.types,
        shops=engine.registry.shops,
        toast=toasts.append,
        new_task=wanted.append,
    )
    live.start()
    try:
        yield Fleet(engine=engine, context=context, toasts=toasts, wanted=wanted)
    finally:
        local.stop(0.0)
        live.close()
        operation.shut_down()
        history.close()
        engine.close()
