"""What a preview says comes true: each door asked first and then gone through, whatever became of the work before."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from services.commands.bulk.options import Options
from services.domain.change import Claim, Finish
from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Schedule
from services.domain.task import classify
from services.domain.task.record import Attempt, Task
from services.engine.producer import TaskSpec
from services.store.redis import keys
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet, define

KIND = "sync"
NOBODY = frozenset[str]()


class Works:
    """A dead letter of each shop, and what became of its work before or after it."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.store = fleet, fleet.engine.store
        self.letters: dict[str, Task] = {}

    def create(self, shop: str, **fields: Any) -> Task:
        """One task of the work, for a reason where that is asked for."""
        spec = TaskSpec(platform="pdd", shop_id=shop, task_type=KIND, **{"reason": "a test", "batch": "b"} | fields)
        (task,) = self.fleet.submit(spec).created
        return task

    def claim(self, task: Task) -> Task:
        """A worker begins it."""
        op = Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w1#1", worker="w1", lease_ms=600_000
        )
        answer = self.fleet.apply(op)
        assert (answer.code, answer.task is not None) == ("run", True)
        return self.fleet.task(task.task_id)

    def end(self, task: Task, to: str = "succeeded") -> Task:
        """A worker runs it to its end."""
        runs = self.claim(task)
        done = to == "succeeded"
        attempt = Attempt(
            number=runs.attempt, worker="w1", started_at=runs.started_at, ended_at=self.store.now_ms(),
            outcome=to if done else "failed", error_kind="" if done else classify.BAD_PAYLOAD,
        )  # fmt: skip
        words: dict[str, Any] = (
            {} if done else {"error": "no page", "error_kind": classify.BAD_PAYLOAD, "fingerprint": "ab"}
        )
        answer = self.fleet.apply(Finish(task_id=runs.task_id, owner="w1#1", to=to, attempt=attempt, **words))
        assert answer.code == "ok"
        return self.fleet.task(task.task_id)

    def letter(self, shop: str) -> None:
        """Its letter."""
        self.letters[shop] = self.end(self.create(shop), "dead")

    def spoil(self, task: Task) -> None:
        """Nobody can read what is known of its work."""
        if self.fleet.kind == "embedded":
            with closing(sqlite3.connect(self.fleet.settings.database, timeout=30)) as db, db:
                db.execute("UPDATE works SET at = 'soon' WHERE work = ?", (task.work,))
        else:
            with closing(redis.Redis.from_url(self.fleet.settings.store.url)) as plain:
                plain.set(keys.WORK + task.work, "junk")


def never(works: Works, shop: str) -> None:
    """Nobody has done it."""
    works.letter(shop)


def ran(works: Works, shop: str) -> None:
    """It was done before its letter was asked for, but so lately that its type asks why."""
    works.end(works.create(shop))
    works.letter(shop)


def ran_after(works: Works, shop: str) -> None:
    """It was done after its letter."""
    works.letter(shop)
    works.end(works.create(shop))


def unread(works: Works, shop: str) -> None:
    """Nobody can read whether it was done."""
    works.letter(shop)
    works.spoil(works.end(works.create(shop)))


def waits(works: Works, shop: str) -> None:
    """Another task waits to do it."""
    works.letter(shop)
    works.create(shop, batch="")


def runs(works: Works, shop: str) -> None:
    """Another task does it."""
    works.letter(shop)
    works.claim(works.create(shop, batch=""))


def foreign(works: Works, shop: str) -> None:
    """Another program has asked for it."""
    works.letter(shop)
    works.create(shop, batch="", reason="", origin="foreign", unasked=True)


#: what became of the work, and what a door says of it that nobody gave a reason
STORIES: dict[str, tuple[Callable[[Works, str], None], str]] = {
    "never": (never, ""),
    "ran": (ran, "done"),
    "ranafter": (ran_after, "done"),
    "unread": (unread, "unread"),
    "waits": (waits, "active"),
    "runs": (runs, "active"),
    "foreign": (foreign, "active"),
}
#: the shops of which something is made, and of the others why not
Fates = tuple[frozenset[str], Mapping[str, str]]


@pytest.fixture
def works(fleet: Fleet) -> Works:
    """A shop for each story."""
    define(fleet, KIND, uniqueness="shop_type", unique_for="1d", executor="python")
    fleet.engine.store.put_shops([Shop(platform="pdd", shop_id=shop) for shop in STORIES])
    found = Works(fleet)
    for shop, (story, _said) in STORIES.items():
        story(found, shop)
    return found


@pytest.fixture
def there(works: Works) -> Cli:
    """The command line of that fleet."""
    settings = works.fleet.settings
    words = ("--broker", settings.broker.url, "--redis", settings.store.url) if works.fleet.kind != "embedded" else ()
    return Cli(settings.home_path, words)


def expected(wanted: str = "") -> Fates:
    """What is to become of each; with a reason (``wanted``) what is active is left out all the same."""
    left = {shop: said for shop, (_story, said) in STORIES.items() if said == "active" or (said and not wanted)}
    return frozenset(STORIES) - left.keys(), left


def test_new_tasks(works: Works) -> None:
    specs = [TaskSpec(platform="pdd", shop_id=shop, task_type=KIND) for shop in STORIES]
    tasks = works.fleet.commands().tasks
    looked = tasks.check(specs)
    told = {one.spec.shop_id: "done" if one.done.task_id else "unread" for one in looked.before if one.asks}
    told |= {one.spec.shop_id: "active" for one in looked.twins}
    assert (looked.errors, told) == ((), expected()[1])
    made = tasks.create(specs, origin="cli")
    left = {spec.shop_id: "active" for spec, _twin in made.duplicates}
    left |= {spec.shop_id: "done" for spec, _done in made.done}
    left |= {spec.shop_id: "unread" for spec, field, _why in made.errors if field == "reason"}
    assert (frozenset(one.shop_id for one in made.created), left) == expected()


@pytest.mark.parametrize("more", [(), ("--reason", "the shop lost it"), ("--if-duplicate", "queue")], ids=str)
def test_a_file(works: Works, there: Cli, tmp_path: Path, more: tuple[str, ...]) -> None:
    sheet = tmp_path / "wanted.csv"
    sheet.write_text("shop,type\n" + "".join(f"pdd:{shop},{KIND}\n" for shop in STORIES), encoding="utf-8")
    words = ("task", "create", "--file", sheet, *more)
    exit_of = (
        1 if "--reason" in more else 2
    )  # of which nobody can read whether it was done is an input without a reason
    looked = there.run(*words, "--dry-run", code=exit_of)
    made = there.run(*words, code=exit_of)
    assert len(made["created"]) == looked["tasks"]
    goes = {
        (): expected()[0],
        ("--reason", "the shop lost it"): expected("why")[0],
        ("--if-duplicate", "queue"): expected()[0] | {"waits", "runs", "foreign"},
    }[more]
    assert looked["tasks"] == len(goes)
    assert {works.fleet.task(one).shop_id for one in made["created"]} == goes


def test_a_schedule(works: Works, there: Cli) -> None:
    schedule = Schedule(
        name="nightly", uid="n", task_type=KIND, cron="0 3 * * *", shops=tuple(f"pdd:{s}" for s in STORIES)
    )
    works.fleet.commands().schedules.add(schedule)
    words = ("schedule", "run", "nightly")
    looked = there.run(*words, "--dry-run")["run"]
    made = there.run(*words, "--yes", code=1)["run"]
    counted = ("created", "active", "done", "failed", "error")
    assert {name: looked[name] for name in counted} == {name: made[name] for name in counted}
    assert [made[name] for name in counted[:4]] == [1, 3, 2, 1]


def test_letters_in_bulk(works: Works) -> None:
    ids = [letter.task_id for letter in works.letters.values()]
    bulk = works.fleet.commands().bulk
    plan = bulk.plan(ids)
    states = {"ready": "", "done": "done", "asks": "asks", "duplicate": "active"}
    shops = {letter.task_id: shop for shop, letter in works.letters.items()}
    told = {shops[one.task_id]: states[one.state] for one in plan.items}
    assert {one.existing for one in plan.items if shops[one.task_id] == "unread"} == {""}
    asks = {"ran": "asks", "unread": "asks"}
    assert told == {shop: asks.get(shop, said) for shop, (_story, said) in STORIES.items()}
    ended = bulk.run(plan, Options()).outcome
    assert {shops[one] for one in ended.done} == expected()[0]
    left = bulk.plan([one for one in ids if shops[one] != "never"])
    again = bulk.run(left, Options(skip=NOBODY, reason="the shop lost them")).outcome
    assert {shops[one] for one in again.done} == {"ranafter"}, "a number is enough for what has run since"
    for shop in asks:
        (one,) = (letter.task_id for letter in works.letters.values() if letter.shop_id == shop)
        assert not bulk.run(bulk.plan([one]), Options(skip=NOBODY)).outcome.done
        made = bulk.run(bulk.plan([one]), Options(skip=NOBODY, reason="the shop lost it")).outcome.made
        assert works.fleet.task(made[one]).reason == "the shop lost it"


def test_one_letter(works: Works) -> None:
    """The verdict of its panel, and what becomes of it without a reason."""
    commands = works.fleet.commands()
    for shop, letter in works.letters.items():
        (item,) = commands.bulk.plan([letter.task_id]).items
        outcome = commands.dead_letters.republish([letter.task_id])
        assert bool(outcome.done) == (item.state == "ready"), shop


def test_a_batch(works: Works, there: Cli) -> None:
    """What is left open of it; what a later success overtook is no part of it."""
    looked = there.run("batch", "retry", "b", "--dry-run")
    left = {one["id"] for one in looked["left_alone"]}
    made = there.run("batch", "retry", "b", "--yes", code=1)
    assert set(made["done"]) == set(looked["ids"]) - left
    assert {one["id"] for one in made["skipped"]} == left
    assert left == {works.letters[shop].task_id for shop in ("ran", "waits", "runs", "foreign")}


def test_whether_it_ran(there: Cli) -> None:
    """The question is answered as the doors answer it."""
    told = {shop: there.run("work", f"pdd:{shop}", KIND) for shop in ("never", "ranafter", "unread")}
    assert {shop: (one["counted"], one["last_success"] is not None) for shop, one in told.items()} == {
        "never": (True, False),
        "ranafter": (True, True),
        "unread": (False, True),  # its record tells it
    }
