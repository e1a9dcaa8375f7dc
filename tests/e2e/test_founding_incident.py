"""The incident this product exists to prevent: one work of one shop, asked for by another program, by an operator and
by a schedule, in every order, also where the worker is killed after the work was done and before that was recorded. It
is done once; a second time only with a reason that a person gave.
"""

from __future__ import annotations

import itertools
import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Schedule
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, define, lines

#: what may not run twice: not within a day of a success either, or without such a window
KIND, PLAIN = "never_twice", "once"
#: who asks first, second and third; the number is part of the name of a shop
ORDERS = tuple(itertools.permutations(("foreign", "operator", "schedule")))
#: all ask before anybody works | each asks when the one before is through | the worker of the first is killed
TOGETHER, IN_TURN, KILLED = "together", "inturn", "killed"
COURSES = (TOGETHER, IN_TURN, KILLED)
SLOTS = 3 * len(ORDERS)
PATIENCE = 90


class Incident:
    """A fleet in which everybody asks for the same."""

    def __init__(self, fleet: Fleet, folder: Path) -> None:
        for kind, window in ((KIND, "1d"), (PLAIN, "")):
            define(fleet, kind, idempotent=False, uniqueness="shop_type", unique_for=window, expected_s=0.01)
        self.fleet, self._folder = fleet, folder
        shops = [Shop(platform="pdd", shop_id=shop) for when in COURSES for shop in self.shops(when)]
        fleet.engine.store.put_shops(shops)
        fleet.engine.broker.ensure(platforms={"pdd"})
        fleet.engine.registry.forget()
        self._numbers = itertools.count(1)

    def shops(self, when: str) -> list[str]:
        """The shops of one course of events, in the order of ``ORDERS``."""
        return [f"{when}-{number}" for number in range(len(ORDERS))]

    def effects(self, shop: str) -> int:
        """How often the work was done in the shop."""
        return len(lines(self._folder / shop, "start"))

    def ask(self, when: str, *places: int) -> None:
        """Let those at these places of every order ask for their shops."""
        for shop, order in zip(self.shops(when), ORDERS, strict=True):
            for place in places:
                getattr(self, f"_by_{order[place]}")(shop, self._payload(when, shop))

    def _payload(self, when: str, shop: str) -> dict[str, str]:
        effect = {"seen": str(self._folder / shop)}
        return effect | {"until": str(self._folder / "never")} if when == KILLED else effect

    def _kind(self, shop: str) -> str:
        """The window answers for who asks after a success; what waited behind one needs none."""
        return KIND if shop.startswith(IN_TURN) else PLAIN

    def _by_foreign(self, shop: str, payload: dict[str, str]) -> None:
        body = {
            "task_id": f"f-{shop}-{next(self._numbers)}",
            "platform": "pdd",
            "shop_id": shop,
            "task_type": self._kind(shop),
            "payload": payload,
        }
        self.fleet.publish(json.dumps(body).encode())

    def _by_operator(self, shop: str, payload: dict[str, str]) -> None:
        # one that queues behind what waits or runs is the harder one
        how = "reject" if shop.startswith(IN_TURN) else "queue"
        spec = TaskSpec(platform="pdd", shop_id=shop, task_type=self._kind(shop), payload=payload, if_duplicate=how)
        done = self.fleet.commands().tasks.create([spec], origin="console")
        assert not done.errors

    def _by_schedule(self, shop: str, payload: dict[str, str]) -> None:
        name = f"n-{shop}-{next(self._numbers)}"
        schedules = self.fleet.commands().schedules
        overlap = "queue" if shop.startswith(TOGETHER) else "skip"
        schedules.add(
            Schedule(
                name=name,
                task_type=self._kind(shop),
                payload=payload,
                every_s=86_400,
                shops=(f"pdd:{shop}",),
                overlap=overlap,
            )
        )
        assert schedules.run(name).failed == 0

    def tasks(self, shop: str) -> list[Task]:
        """Everything that is known for a shop."""
        query = Query(terms=(equals("shop", f"pdd:{shop}"),), limit=50)
        return list(self.fleet.engine.store.query(query).tasks)

    def ran(self, shop: str) -> bool:
        """Whether a success is recorded for it."""
        return any(task.status == "succeeded" for task in self.tasks(shop))

    def held(self, shop: str) -> bool:
        """Whether one of its tasks waits for a person because another one has done its work."""
        return any(task.status == "held" and task.error_kind == "already_done" for task in self.tasks(shop))

    def settled(self, when: str, statuses: set[str]) -> bool:
        """Whether all lanes are empty, and every task of one course stands in one of these statuses."""
        idle = not any(one.ready or one.unacked for one in self.fleet.engine.broker.depths() if one.kind == "lane")
        found = [task.status for shop in self.shops(when) for task in self.tasks(shop)]
        return idle and bool(found) and set(found) <= statuses


@pytest.fixture
def incident(fleet: Fleet, tmp_path: Path) -> Incident:
    """The same fleet, for all courses at once: they share servers and workers."""
    return Incident(fleet, tmp_path)


@pytest.mark.slow
@pytest.mark.fault
def test_whoever_asks_in_whatever_order_the_work_is_done_once(cli: Cli, fleet: Fleet, incident: Incident) -> None:
    worker = ("worker", "--slots", SLOTS, "--handlers", HANDLERS)
    incident.ask(TOGETHER, 0, 1, 2)
    incident.ask(IN_TURN, 0)
    incident.ask(KILLED, 0)
    with cli.start(*worker) as process:
        eventually(lambda: all(incident.effects(shop) for shop in incident.shops(KILLED)), PATIENCE)
        for when in (TOGETHER, IN_TURN):
            eventually(lambda when=when: all(incident.ran(shop) for shop in incident.shops(when)), PATIENCE)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    for shop in incident.shops(KILLED):
        assert [task.status for task in incident.tasks(shop)] == ["running"], "nobody recorded its end"
    incident.ask(KILLED, 1, 2)
    with cli.start(*worker):
        ended = {"succeeded", "held"}
        for place in (1, 2):
            eventually(lambda: incident.settled(IN_TURN, ended), PATIENCE)
            incident.ask(IN_TURN, place)
        # one that was asked for behind a success is held, and what came after it waits for that answer
        eventually(lambda: incident.settled(TOGETHER, ended | {"blocked"}), PATIENCE)
        eventually(lambda: incident.settled(IN_TURN, ended), PATIENCE)
        # what was lost waits for a person, and its twins wait for that
        eventually(lambda: incident.settled(KILLED, {"held", "blocked"}), PATIENCE)
        once(incident)
        lost = [task.task_id for shop in incident.shops(KILLED) for task in incident.tasks(shop) if task.attempts]
        assert len(lost) == len(ORDERS)
        fleet.commands().tasks.resolve(lost, "succeeded", note="looked into the shop: it is done")
        # the next in line is held, for it is done, and who came after waits for the answer
        eventually(lambda: all(incident.held(shop) for shop in incident.shops(KILLED)), PATIENCE)
        eventually(lambda: incident.settled(KILLED, ended | {"blocked"}), PATIENCE)
    once(incident)
    for when in COURSES:
        for shop in incident.shops(when):
            counted = Counter(task.status for task in incident.tasks(shop))
            assert counted["succeeded"] == 1, (shop, counted)
            assert not any(task.reason for task in incident.tasks(shop)), "nobody gave one"
    for shop, order in zip(incident.shops(IN_TURN), ORDERS, strict=True):
        if order[0] == "foreign":
            assert len(incident.tasks(shop)) == 1, "operator and schedule were told, and made none"


def once(incident: Incident) -> None:
    """The work of every shop was done exactly once."""
    done = {shop: incident.effects(shop) for when in COURSES for shop in incident.shops(when)}
    assert done == dict.fromkeys(done, 1)
