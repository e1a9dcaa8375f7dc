"""Steady work: tasks that succeed, fail, are tried again or die, batches, a schedule, other programs, and a person."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import pika
from pika.exceptions import AMQPError

from services import assembly
from services.domain.errors import ConsoleError
from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Schedule
from services.domain.task.search.query import Query, equals
from services.engine.producer import TaskSpec
from tests.integration.fleet_rig import channel
from tests.soak.account import Account
from tests.soak.world import World

SHOPS = 40
#: seconds between batches, and of the schedule; how many of a batch
BATCH_S, BATCH, SCHEDULE_S = 60.0, 100, 60
#: seconds between looks of a person, between messages of another program, and how many of them at once
PERSON_S, FOREIGN_S, FOREIGN = 10.0, 5.0, 5
LETTERS = 200


class Every:
    """Says when it is time again; what was missed is not made up for."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._at = seconds, time.monotonic() + seconds

    def __call__(self) -> bool:
        now = time.monotonic()
        if now < self._at:
            return False
        self._at = now + self._seconds
        return True


class Load(threading.Thread):
    """Submits so many tasks a second until it is told to stop."""

    def __init__(self, world: World, account: Account, rate: float, seed: int) -> None:
        super().__init__(name="load", daemon=True)
        self._world, self._account, self._rate = world, account, rate
        self._rng = random.Random(seed)
        self._engine = world.fleet.open()
        self._commands = assembly.commands(self._engine)
        self._mended = world.machine.directory / "mended"  #: while it lies there, nothing is missing
        self._number = self._batches = self._messages = 0
        self.stop = threading.Event()
        self.refused = 0  #: calls that the program answered with an error of its own
        self.republished = self.archived = 0
        self.error: BaseException | None = None

    def prepare(self) -> None:
        """Shops, and a schedule of one task for each every minute."""
        shops = [Shop(platform="pdd", shop_id=f"s{number}") for number in range(SHOPS)]
        self._commands.fleet.import_shops(shops)
        payload = {"sleep": 0.05}
        made = Schedule(name="every-minute", task_type="single", payload=payload, every_s=SCHEDULE_S, all_shops=True)
        self._commands.schedules.add(made)

    def pause(self) -> None:
        """No more runs of the schedule."""
        self._commands.schedules.switch(["every-minute"], enabled=False)

    def run(self) -> None:
        batch, person, foreign = Every(BATCH_S), Every(PERSON_S), Every(FOREIGN_S)
        begun, sent = time.monotonic(), 0
        try:
            while not self.stop.wait(0.5):
                due = int((time.monotonic() - begun) * self._rate) - sent
                sent += due
                # a machine that stood still is not given all of it at once
                self._try(partial(self._submit, min(due, round(10 * self._rate))))
                if batch():
                    self._batches += 1
                    self._try(partial(self._submit, BATCH, f"soak-{self._batches}"))
                if person():
                    self._try(self._decide)
                if self._world.kind == "fleet" and foreign():
                    self._try(self._send)
        except BaseException as exc:
            self.error = exc

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except (ConsoleError, AMQPError):
            self.refused += 1

    def _submit(self, count: int, batch: str = "") -> None:
        done = self._engine.producer.submit([self._spec(batch) for _ in range(count)])
        self._account.asked(task.task_id for task in done.created)

    def _spec(self, batch: str) -> TaskSpec:
        self._number += 1
        rng, kind = self._rng, "work"
        payload: dict[str, Any] = {"n": self._number, "sleep": round(rng.uniform(0.01, 0.2), 3)}
        draw = rng.random()
        if draw < 0.1:
            payload |= {"fail": "network", "fail_first": 1}
        elif draw < 0.13:
            payload |= {"fail": "missing_secret", "unless": str(self._mended)}
        elif draw < 0.14:
            kind = "flow"
        return TaskSpec(
            platform="pdd",
            shop_id=f"s{rng.randrange(SHOPS)}",
            task_type=kind,
            payload=payload,
            priority=rng.choice(("high", "normal", "normal", "low")),
            if_duplicate="queue",
            batch=batch,
            origin="soak",
        )

    def _decide(self) -> None:
        """In turns: mend what was missing, republish half of what died of it, put the rest away; and break it again."""
        if self._mended.exists():
            self._mended.unlink()
            return
        self._mended.touch()
        query = Query(terms=(equals("status", "dead"), equals("triage", "open")), limit=LETTERS, want_total=False)
        letters = [task.task_id for task in self._engine.store.query(query).tasks]
        again, away = letters[::2], letters[1::2]
        if again:
            made = self._commands.dead_letters.republish(again, if_duplicate="queue").made
            self._account.asked(made.values())
            self.republished += len(made)
        if away:
            self.archived += len(self._commands.dead_letters.set_triage(away, "archived").done)

    def _send(self) -> None:
        """As a program does that knows the exchange and nothing else."""
        with ExitStack() as closing:
            raw = closing.enter_context(channel(self._world.amqp))
            raw.confirm_delivery()
            for _ in range(FOREIGN):
                self._messages += 1
                name = f"pdd_work_foreign_{self._messages:08x}"
                body = {
                    "task_id": name,
                    "platform": "pdd",
                    "shop_id": f"s{self._messages % SHOPS}",
                    "task_type": "work",
                    "payload": {"foreign": self._messages, "sleep": 0.02},
                }
                told = pika.BasicProperties(content_type="application/json", delivery_mode=2, message_id=name)
                raw.basic_publish("rpa_task_exchange", "task.pdd.high", json.dumps(body).encode(), told, mandatory=True)
                self._account.asked([name])
