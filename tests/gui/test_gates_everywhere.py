"""Every gate at once on one engine, on both pairs: list, panel, filter, numbers and command line say the same of a
task.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from services.domain.change import Claim, Create, Finish
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.gates import quiet_hours
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import Once, QuietHours
from services.domain.insight import gates
from services.domain.insight.wait import GateView
from services.domain.task.record import Attempt
from services.domain.task.search.query import Total
from services.domain.task.status import Status
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.engine.producer import TaskSpec
from services.messages import english
from services.settings import Settings
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from tests.integration.cli_rig import Cli
from views.pages.tasks import wait_words
from views.pages.tasks.page import TasksPage
from views.pages.tasks.panel.detail import TaskDetailPanel
from views.pages.tasks.views import BUILT_IN
from views.support import shown
from views.widgets.view_tabs import ViewTabs

pytestmark = [pytest.mark.both_pairs, pytest.mark.deep]
#: a span that goes on between two questions, with the verb that goes with it
_SPAN = re.compile(r"\d+\s?(?:d|h|min|m|s)\b(?:\s\d+\s?(?:h|min|m|s)\b)*")


@pytest.fixture(autouse=True)
def ask_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are asked for ten times a second."""
    monkeypatch.setattr("views.pages.tasks.page.ASK_MS", 100)


@dataclass
class Hall:
    """A fleet in which something waits at every gate."""

    desk: Desk
    at: dict[str, list[str]] = field(default_factory=dict)  #: gate -> tasks that wait there
    apart: list[str] = field(default_factory=list)  #: tasks that wait at none

    @property
    def store(self) -> Any:
        """Where the records are."""
        return self.desk.session.engine.store

    def create(self, shop: str, kind: str = "work", **more: Any) -> str:
        """A task, sent where it can be."""
        spec = TaskSpec(platform="pdd", shop_id=shop, task_type=kind, payload={"n": more.pop("n", 0)}, **more)
        made = self.desk.session.commands.tasks.create([spec], origin="console")
        assert made.created, (made.errors, made.duplicates)
        return str(made.created[0].task_id)

    def claim(self, task_id: str, **more: Any) -> str:
        """Whether it runs, or the gate at which it parked."""
        task = self.desk.get(task_id)
        ask = Claim(
            task_id=task_id, gen=task.gen, attempt=task.attempt, owner=task_id, worker="w1", lease_ms=600_000, **more
        )
        code = self.store.apply([ask])[0].code
        return code if code == "run" else self.desk.get(task_id).gate

    def end(self, task_id: str, to: str, kind: str = "") -> None:
        """An attempt that failed; the task goes on as ``to``."""
        task = self.desk.get(task_id)
        outcome = "timeout" if to == Status.HELD else "failed"
        attempt = Attempt(
            number=1, worker="w1", started_at=task.started_at, ended_at=task.started_at + 1, outcome=outcome,
            error_kind=kind,
        )  # fmt: skip
        more = {"delay_ms": 3_600_000} if to == Status.RETRYING else {}
        finish = Finish(task_id=task_id, owner=task_id, to=to, attempt=attempt, error="no", error_kind=kind, **more)
        answer = self.store.apply([finish])[0]
        self.desk.session.engine.steps.publish(answer.released)
        assert self.desk.get(task_id).status == to, answer.code

    def put(self, gate: str, *task_ids: str) -> None:
        """What everybody has to say of these."""
        self.at.setdefault(gate, []).extend(task_ids)

    def gate_of(self) -> dict[str, str]:
        """By task."""
        return {task_id: gate for gate, ids in self.at.items() for task_id in ids} | dict.fromkeys(self.apart, "")


@pytest.fixture
def hall(desk: Desk) -> Iterator[Hall]:
    """Everything that can be in the way, each in a shop of its own."""
    made, commands = Hall(desk), desk.session.commands
    put_type = made.store.put_document
    put_type("type", "at_home", task_type.dump(TaskType(name="at_home")))
    put_type("type", "typed", task_type.dump(TaskType(name="typed", executor="http")))
    put_type("type", "once", task_type.dump(TaskType(name="once", idempotent=False)))
    desk.session.engine.registry.forget()
    commands.breakers.set_rule(Rule(failures=2, of=3, cooldown_s=600, max_cooldown_s=600))
    commands.fleet.import_shops([Shop(platform="pdd", shop_id="twin", concurrency=2)])
    beat(made)
    for build in (plans, dependencies, closed_shops, failing, busy, limited, twins, homes, workers, in_line, unsent):
        build(made)
        beat(made)
    # all of it takes longer than a worker may be silent
    over = threading.Event()
    heart = threading.Thread(target=lambda: [beat(made) for _ in iter(lambda: over.wait(1.0), True)])
    heart.start()
    yield made
    over.set()
    heart.join()


def beat(hall: Hall) -> None:
    """A worker of the lanes normal and high, that is heard of; one of the lane low cannot reach the broker."""
    hall.store.heartbeat(
        WorkerInfo(
            worker="w1", host="h", pid=1, node="desk", executors=("rpa",), lends=("at_home",), lanes=("high", "normal"),
            slots=(SlotState(task_id="another", task_type="work", shop="pdd:x", since=1), SlotState()),
        )
    )  # fmt: skip
    link = LinkState(error="refused", lost_at=1)
    hall.store.heartbeat(WorkerInfo(worker="w2", host="h", pid=2, executors=("rpa",), lanes=("low",), link=link))


def plans(hall: Hall) -> None:
    failed = hall.create("retry")
    assert hall.claim(failed) == "run"
    hall.end(failed, Status.RETRYING, "bad_payload")
    hall.put(gates.NOT_DUE, hall.create("plan", delay_s=3600), failed)


def dependencies(hall: Hall) -> None:
    before, dead = hall.create("before", n=1), hall.create("dies")
    assert (hall.claim(before), hall.claim(dead)) == ("run", "run")
    hall.end(dead, Status.DEAD, "bad_payload")
    hall.put(
        gates.DEPENDENCY, hall.create("behind", depends_on=(before,)), hall.create("behind-dead", depends_on=(dead,))
    )
    held = hall.create("held", kind="once")
    assert hall.claim(held) == "run"
    hall.end(held, Status.HELD, "timeout")
    hall.apart += [before, dead, held]


def closed_shops(hall: Hall) -> None:
    commands = hall.desk.session.commands
    commands.fleet.pause("shop:pdd:paused", reason="sale")
    hall.put(gates.PAUSED, *(hall.create("paused", n=n) for n in range(2)))
    assert hall.claim(hall.at[gates.PAUSED][0]) == "paused"
    now = hall.store.now_ms()
    window = Once(start=now - 1000, end=now + 3_600_000)
    commands.quiet.set(QuietHours(name="sale", scope="shop:pdd:quiet", once=(window,), reason="sale"))
    hall.put(quiet_hours.GATE, *(hall.create("quiet", n=n) for n in range(2)))
    assert hall.claim(hall.at[quiet_hours.GATE][0]) == quiet_hours.GATE
    commands.sessions.close("pdd:login", note="no phone")
    hall.put(gates.SESSION, *(hall.create("login", n=n) for n in range(2)))


def failing(hall: Hall) -> None:
    for n in range(2):
        bad = hall.create("breaker", n=n)
        assert hall.claim(bad) == "run"
        hall.end(bad, Status.DEAD, "network")
        hall.apart.append(bad)
    hall.put(gates.BREAKER, hall.create("breaker", n=9))


def busy(hall: Hall) -> None:
    runs, parked, late = (hall.create("busy", n=n) for n in range(3))
    assert (hall.claim(runs), hall.claim(parked)) == ("run", "shop_busy")
    hall.apart.append(runs)
    hall.put(gates.SHOP_BUSY, parked, late)


def limited(hall: Hall) -> None:
    hall.store.put_limit(Limit(scope="type:capped", concurrency=1))
    runs, parked, late = (hall.create(f"quota-{n}", kind="capped") for n in range(3))
    assert (hall.claim(runs), hall.claim(parked)) == ("run", "quota")
    hall.apart.append(runs)
    hall.put(gates.QUOTA, parked, late)


def twins(hall: Hall) -> None:
    runs = hall.create("twin", n=1)
    assert hall.claim(runs) == "run"
    same, late = (hall.create("twin", n=1, if_duplicate="queue") for _ in range(2))
    assert hall.claim(same) == "twin"
    hall.apart.append(runs)
    hall.put(gates.TWIN, same, late)


def homes(hall: Hall) -> None:
    hall.store.put_home("pdd:home", "cellar")
    parked, late = (hall.create("home", kind="at_home", n=n) for n in range(2))
    assert hall.claim(parked, home="desk") == "home_node:cellar"
    hall.put(gates.HOME, parked, late)


def workers(hall: Hall) -> None:
    hall.put(gates.BROKER, hall.create("slow", priority="low"))
    hall.put(gates.NO_WORKER, hall.create("typed", kind="typed"))


def in_line(hall: Hall) -> None:
    hall.put(gates.LANE_ORDER, hall.create("first", priority="high"), hall.create("second", priority="high"))


def unsent(hall: Hall) -> None:
    """A record whose message was never sent, as after the broker took none."""
    like = hall.desk.get(hall.at[gates.LANE_ORDER][0])
    made = msgspec.structs.replace(
        like, task_id="unsent", shop_id="unsent", status=Status.PENDING, steps=(), uniq="unsent"
    )
    hall.store.apply([Create(task=made)])
    hall.put(gates.MESSAGE, "unsent")


def timeless(sentence: str) -> str:
    """A sentence without how long something has been so, which goes on between two questions."""
    return _SPAN.sub("…", sentence)


def bare(gate: str) -> str:
    """A gate without the machine, which other programs are told with it."""
    return gate.partition(":")[0]


def cell(page: TasksPage, task_id: str) -> str:
    """What the list says of a task."""
    records = page.table.records
    column = records.column(records.section_of("progress"))
    return next((str(column.value(row).text) for row in records.records() if row.key == task_id), "")


def listed(page: TasksPage) -> set[str]:
    """Ids of the rows."""
    return {row.key for row in page.table.records.records()}


def sentences(page: TasksPage) -> list[str]:
    """What the panel says."""
    return [timeless(one.text()) for one in page.findChild(TaskDetailPanel).findChildren(QLabel) if one.text()]


def test_every_surface_says_the_same_of_every_waiting_task(
    hall: Hall, page: TasksPage, qtbot: QtBot, place: Settings
) -> None:
    asked, wanted = hall.desk.session.queries.tasks, hall.gate_of()
    assert set(hall.at) == set(gates.GATES), "a gate that nobody waits at here"
    drivers = () if place.embedded else ("--broker", place.broker.url, "--redis", place.store.url)
    cli = Cli(Path(place.home), drivers)

    # numbers, asked once for all gates
    numbers = {gate: len(ids) for gate, ids in hall.at.items()}
    assert asked.gate_counts() == {gate: Total(number) for gate, number in numbers.items()}
    assert cli.run("stats")["gates"] == numbers
    everything = cli.run("task", "list", "--limit", 200)["tasks"]
    assert {row["task_id"]: bare(row["gate"]) for row in everything} == wanted
    assert Counter(bare(row["gate"]) for row in everything if row["gate"]) == numbers

    tabs_count_alike(page, qtbot, asked, cli)

    views = asked.waits(asked.get(list(wanted)))
    assert {task_id: view.gate.name for task_id, view in views.items()} == {k: v for k, v in wanted.items() if v}
    for gate, ids in hall.at.items():
        # the filter: command line, questions and window
        found = cli.run("task", "list", "--filter", f"gate:{gate}")
        assert (found["total"], {row["task_id"] for row in found["tasks"]}) == (len(ids), set(ids))
        assert set(asked.ids(f"-gate:{gate} status:waiting")).isdisjoint(ids)
        filtered(page, qtbot, gate, set(ids), of=len(wanted))
        for task_id in ids:
            same_words(page, qtbot, gate, task_id, views[task_id].gate)
            told = cli.run("task", "show", task_id)
            assert (told["gate"], bare(told["task"]["gate"])) == (gate, gate)
            assert timeless(told["sentence"]) == timeless(english(views[task_id].gate.message))
            closed = [(one["name"], one["code"]) for one in told["gates"] if one["state"] == "closed"]
            assert closed == [(gate, views[task_id].gate.code)]


def tabs_count_alike(page: TasksPage, qtbot: QtBot, asked: Any, cli: Cli) -> None:
    """The number beside each view of the design is that of its list and of the command line."""
    page.show_request("")
    tabs = page.findChild(ViewTabs)
    told = {
        view.key: cli.run("task", "list", "--filter", view.filter)["total"] if view.filter else len(asked.ids(""))
        for view in BUILT_IN
    }
    assert {view.key: len(asked.ids(view.filter)) for view in BUILT_IN} == told
    wait(qtbot, lambda: {view.key: tab_number(tabs, view.key) for view in BUILT_IN} == told)


def tab_number(tabs: ViewTabs, key: str) -> int:
    """What stands beside the title of a tab, 0 for nothing."""
    found = re.search(r"[\d,]+$", tabs.text_of(key))
    return int(found[0].replace(",", "")) if found else 0


def filtered(page: TasksPage, qtbot: QtBot, gate: str, ids: set[str], *, of: int) -> None:
    """The window under the filter of a gate: its rows, and the number above them."""
    page.show_request(f"gate:{gate}")
    wait(qtbot, lambda: listed(page) == ids)
    head = f"{len(ids)} match, of {of} kept"
    wait(qtbot, lambda: head in [one.text() for one in page.findChildren(QLabel)])


def same_words(page: TasksPage, qtbot: QtBot, gate: str, task_id: str, view: GateView) -> None:
    """Cell and panel of a task: the few words and the sentence are of one answer."""
    if gate != gates.NOT_DUE:  # its cell says when
        words = (wait_words.words(gate, view), "starts now" if gate == gates.LANE_ORDER else "")
        wait(qtbot, lambda: cell(page, task_id).partition(" · ")[0] in words)
    sentence = timeless(shown.say(view.message))  # with shops and types as the window calls them
    page.show_task(task_id)
    wait(qtbot, lambda: sentence in sentences(page))


def test_what_runs_is_held_or_has_ended_waits_at_no_gate_for_anybody(
    hall: Hall, page: TasksPage, place: Settings
) -> None:
    asked = hall.desk.session.queries.tasks
    drivers = () if place.embedded else ("--broker", place.broker.url, "--redis", place.store.url)
    cli = Cli(Path(place.home), drivers)
    assert asked.waits(asked.get(hall.apart)) == {}
    assert set(asked.ids(f"gate:{','.join(gates.GATES)}")).isdisjoint(hall.apart)
    for task_id in hall.apart:
        told = cli.run("task", "show", task_id)
        assert (told["task"]["gate"], told.get("gate"), told["gates"]) == ("", None, [])
