"""Whatever stands in the store that is none of ours: no command ends in a traceback, the others' work goes on, the
doctor names it, and repair sets it aside.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import random
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from services import settings as config
from services.cli import program
from services.commands.operator import person
from services.domain.fleet import role
from services.domain.task.status import Status
from services.engine import people
from services.engine.producer import TaskSpec
from services.store.redis import keys
from tests.contract.waiting import eventually
from tests.integration import fleet_rig, sample
from tests.integration.fleet_rig import HANDLERS
from tests.support.spoil import RedisSpoiler, Spoiled, Spoiler, SqliteSpoiler

pytestmark = pytest.mark.deep

SAFE = "healthy"
#: what reads; a name is of a task of the sample
READING: tuple[tuple[str, ...], ...] = (
    ("task", "list"),
    ("task", "list", "--sort", "priority", "--filter", "status:queued,blocked,dead,retrying"),
    ("task", "list", "--sort", "due"),
    ("task", "list", "--sort", "updated", "--filter", "shop:s0"),
    ("task", "list", "--filter", "batch:B1"),
    ("task", "show", "pdd_work_s0_done"),
    ("task", "show", "pdd_work_s1_dead0"),
    ("task", "show", "pdd_work_s2_twin"),
    ("task", "show", "pdd_work_s3_waits"),
    ("task", "show", "pdd_work_s5_login"),
    ("task", "show", "pdd_work_s8_elsewhere"),
    ("task", "duplicates"),
    ("dead", "list"),
    ("dead", "show", "pdd_work_s1_dead0"),
    ("dead", "runs"),
    ("batch", "list"),
    ("batch", "show", "B1"),
    ("shop", "list"),
    ("shop", "show", "pdd:s1"),
    ("shop", "session", "list", "--all"),
    ("shop", "breaker", "pdd:s1"),
    ("type", "list"),
    ("type", "show", "work"),
    ("type", "export", "work"),
    ("schedule", "list"),
    ("schedule", "show", "nightly"),
    ("queue", "list"),
    ("stats",),
    ("worker", "list"),
    ("audit", "list"),
    ("export",),
    ("repair", "--dry-run"),
    ("repair", "--list-aside"),
)
#: what these say nobody knows once they are something else: nobody starts until that is mended
HOLDS_ALL = frozenset({"{rpa}:pauses", "{rpa}:limits", "{rpa}:sessions", "{rpa}:doc:type", "{rpa}:doc:queue"})
#: wrong wherever they stand
ALWAYS = frozenset({"no text", "a name that is no text", "another kind of key"})


@dataclass
class Done:
    """What a command said."""

    words: tuple[str, ...]
    code: int
    out: str
    errors: str


@dataclass
class Desk:
    """The command line within this process."""

    settings: config.Settings
    environment: dict[str, str]

    def run(self, *words: str) -> Done:
        """One command; an exception is a failure of the test."""
        out, errors = io.StringIO(), io.StringIO()
        kept = dict(os.environ)
        os.environ.update(self.environment)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                code = program.run([*words], lambda request: 0)
        except BaseException:
            code = -1
            errors.write(traceback.format_exc())
        finally:
            os.environ.clear()
            os.environ.update(kept)
        return Done(words, code, out.getvalue(), errors.getvalue())


@pytest.fixture
def desk(pair: str, place: config.Settings, tmp_path: Path) -> tuple[Desk, Spoiler]:
    """The sample fleet, kept as it is, and the hand that spoils it."""
    with fleet_rig.opened(pair, place, tmp_path) as fleet:
        sample.fill(fleet.engine.store, SAFE)
    home = Path(place.home)
    environment = {"FLEETDECK_HOME": str(home), "FLEETDECK_WORKER__HANDLERS": json.dumps([HANDLERS])}
    spoiler: Spoiler = SqliteSpoiler(place.database, SAFE)
    if pair == "fleet":
        environment |= {"FLEETDECK_BROKER__URL": place.broker.url, "FLEETDECK_BROKER__PROFILE": place.broker.profile}
        environment["FLEETDECK_STORE__URL"] = place.store.url
        spoiler = RedisSpoiler(place.store.url, SAFE)
    made = Desk(place, environment)
    assert made.run("stats").code == 0
    spoiler.keep()
    return made, spoiler


def no_traceback(done: Done) -> list[str]:
    """What is wrong with an answer."""
    wrong = []
    if done.code not in (0, 1, 2, 3):
        wrong.append(f"exit code {done.code}")
    if "Traceback" in done.errors or "Traceback" in done.out:
        wrong.append("a traceback")
    if done.code == 0 and done.words[0] != "type" and not done.out:
        wrong.append("nothing said")
    return [f"{' '.join(done.words)}: {one}\n{done.errors[-3000:]}" for one in wrong]


def work_of_the_others(desk: Desk) -> list[str]:
    """A task of the healthy shop, from its creation to its end."""
    fleet = fleet_rig.Fleet("", desk.settings, Path(desk.settings.home))
    try:
        worker = fleet.worker(2)
        done = fleet.engine.producer.submit([TaskSpec(platform="temu", shop_id=SAFE, task_type="healthy", payload={})])
        if not done.created:
            return [f"not created: {done.errors} {done.duplicates}"]
        task_id = done.created[0].task_id

        def ended() -> bool:
            (task,) = fleet.engine.store.get([task_id])
            return task is not None and task.status == Status.SUCCEEDED

        eventually(ended, 15.0)
        assert worker.state == "running"
    except BaseException:
        return [f"the work of the others: {traceback.format_exc()}"]
    finally:
        fleet.close()
    return []


def holds_all(one: Spoiled) -> bool:
    """Whether nobody may start before it is mended."""
    return one.place == "{rpa}:meta" or (one.how == "another kind of key" and one.place in HOLDS_ALL)


def round_of(desk: Desk, spoiler: Spoiler, wanted: Sequence[tuple[str, str]], rng: random.Random) -> list[str]:
    """Spoil all of these, look at everything, work, repair, and look again; what is wrong with the answers."""
    spoiler.restore()
    spoiled = [one for target, how in wanted if (one := spoiler.spoil(target, how, rng)) is not None]
    if not spoiled:
        return []
    told = desk.run("doctor", "--json")
    wrong = [fault for done in (told, *(desk.run(*words) for words in READING)) for fault in no_traceback(done)]
    wrong += [f"the doctor does not name {one}" for one in spoiled if one.how in ALWAYS and not names(told, one)]
    holds = any(map(holds_all, spoiled))
    wrong += [] if holds else work_of_the_others(desk)
    mended = desk.run("repair", "--json")
    wrong += no_traceback(mended)
    if mended.code != 0:
        wrong.append(f"repair: exit code {mended.code}: {mended.out} {mended.errors[-2000:]}")
    after = findings(desk.run("doctor", "--json"))
    wrong += [f"after the repair: {one['text']}" for one in after if one["code"].startswith("doctor.unreadable")]
    wrong += work_of_the_others(desk) if holds and not wrong else []
    return wrong


def names(told: Done, one: Spoiled) -> bool:
    """Whether the doctor says where it lies; what follows from a record is told with its indexes."""
    found = findings(told)
    if any(finding["params"].get("place") == one.place for finding in found):
        return True
    return one.place == "tasks" and any(finding["code"].startswith("repair.") for finding in found)


def findings(done: Done) -> list[dict[str, Any]]:
    """Of a doctor."""
    try:
        return list(json.loads(done.out)["findings"])
    except (ValueError, KeyError):
        text = f"no document: {done.out[:500]} {done.errors[-1500:]}"
        return [{"code": "doctor.unreadable", "text": text, "params": {}}]


def seeded() -> random.Random:
    """Other examples each time, and the same ones again where somebody says so."""
    seed = int(os.environ.get("FLEETDECK_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
    print(f"the same again: FLEETDECK_TEST_SEED={seed}", file=sys.stderr)
    return random.Random(seed)


def told(wrong: Sequence[str], wanted: object) -> str:
    """What a failure says."""
    return f"{wanted}\n" + "\n\n".join(wrong)


def test_one_of_everything_at_once(desk: tuple[Desk, Spoiler]) -> None:
    """One spoiled entry in each family of keys, or column of a table."""
    hand, spoiler = desk
    rng = seeded()
    hows = [how for how in spoiler.hows if how != "another kind of key"]
    wanted = [(target, rng.choice(hows)) for target in spoiler.targets()]
    wrong = round_of(hand, spoiler, wanted, rng)
    assert not wrong, told(wrong, wanted)


def test_a_key_of_another_kind(desk: tuple[Desk, Spoiler]) -> None:
    """Among the keys that only Redis has; one at a time, for each may hide what the next would show."""
    hand, spoiler = desk
    if "another kind of key" not in spoiler.hows:
        pytest.skip("a table has no kind")
    rng = seeded()
    for target in rng.sample(spoiler.targets(), 3):
        wrong = round_of(hand, spoiler, [(target, "another kind of key")], rng)
        assert not wrong, told(wrong, target)


@pytest.mark.harsh
@pytest.mark.timeout(3600)
def test_every_wrong_value_everywhere(desk: tuple[Desk, Spoiler]) -> None:
    """Each kind of wrong value in each family, many at a time."""
    hand, spoiler = desk
    rng = seeded()
    faults: list[str] = []
    for first in range(len(spoiler.hows)):
        hows = spoiler.hows
        wanted = [(target, hows[(first + n) % len(hows)]) for n, target in enumerate(spoiler.targets())]
        wanted = [(target, how) for target, how in wanted if how != "another kind of key"]
        wrong = round_of(hand, spoiler, wanted, rng)
        faults += [told(wrong, wanted)] if wrong else []
    assert not faults, "\n\n".join(faults)


@pytest.mark.harsh
@pytest.mark.timeout(3600)
def test_every_key_of_another_kind(desk: tuple[Desk, Spoiler]) -> None:
    hand, spoiler = desk
    faults: list[str] = []
    for target in spoiler.targets() if "another kind of key" in spoiler.hows else ():
        wrong = round_of(hand, spoiler, [(target, "another kind of key")], random.Random(1))
        faults += [told(wrong, target)] if wrong else []
    assert not faults, "\n\n".join(faults)


def test_who_was_the_admin_may_repair_that_nobody_can_read_it(desk: tuple[Desk, Spoiler]) -> None:
    """And nothing else before: what cannot be read permits least."""
    hand, _ = desk
    me = person()
    fleet = fleet_rig.Fleet("", hand.settings, Path(hand.settings.home))
    try:
        store = fleet.engine.store
        store.put_document("role", me, "[]")
        assert hand.run("queue", "pause", "all", "--yes").code == 1
        assert hand.run("repair").code == 0
        assert people.roles(store).admins() == (me,), "or nobody could ever give a role again"
        assert hand.run("doctor").code in (0, 1)
        store.put_document("role", "ann@desk", '{"role": "admin"}')
        store.put_document("role", me, "[]")
        assert hand.run("repair").code == 1, "there is an admin who can be asked"
    finally:
        fleet.close()


def test_the_first_person_gets_back_the_role_of_an_admin_that_was_lost(desk: tuple[Desk, Spoiler]) -> None:
    """Also where it stands under another name, so that nothing of it cannot be read. Nobody else may take it."""
    hand, _ = desk
    me = person()
    fleet = fleet_rig.Fleet("", hand.settings, Path(hand.settings.home))
    try:
        store = fleet.engine.store
        store.remove_document("role", me)
        store.put_document("fleet", role.FIRST, '"ann@desk"')
        assert hand.run("repair").code == 1
        assert people.roles(store).admins() == ()
        store.put_document("fleet", role.FIRST, json.dumps(me))
        assert hand.run("repair", "--dry-run").code == 0
        assert people.roles(store).admins() == ()
        assert hand.run("repair").code == 0
        assert people.roles(store).admins() == (me,)
        assert people.role_of(store, "bob@desk") == "viewer", "the others keep theirs"
    finally:
        fleet.close()


def test_a_batch_whose_beginning_is_no_instant(desk: tuple[Desk, Spoiler]) -> None:
    hand, spoiler = desk
    if isinstance(spoiler, RedisSpoiler):
        redis.Redis.from_url(hand.settings.store.url).zadd(keys.BATCHES, {"B1": "inf"})
    else:
        with contextlib.closing(sqlite3.connect(hand.settings.database)) as conn, conn:
            conn.execute("UPDATE tasks SET created_at = ? WHERE batch = 'B1'", (2**60,))
    done = hand.run("batch", "list", "--json")
    assert done.code == 0, done.errors
    assert [one["batch"] for one in json.loads(done.out)["batches"]] == ["B1"]
    assert hand.run("batch", "list").code == 0


def test_what_repair_set_aside_is_listed_and_written_to_a_file(desk: tuple[Desk, Spoiler], tmp_path: Path) -> None:
    hand, _ = desk
    fleet = fleet_rig.Fleet("", hand.settings, Path(hand.settings.home))
    try:
        fleet.engine.store.put_document("type", "other", '{"password": "hunter22-and-more", oops')
    finally:
        fleet.close()
    assert json.loads(hand.run("repair", "--list-aside", "--json").out) == {"aside": []}
    assert hand.run("repair").code == 0
    listed = hand.run("repair", "--list-aside", "--json")
    (found,) = json.loads(listed.out)["aside"]
    assert (found["by"], "other" in found["entry"]) == (person(), True)
    assert found["at"]
    assert found["why"]
    file = tmp_path / "aside.jsonl"
    assert hand.run("repair", "--export-aside", str(file)).code == 0
    assert file.stat().st_mode & 0o077 == 0
    for text in (listed.out, hand.run("repair", "--list-aside").out, file.read_text(encoding="utf-8")):
        assert "other" in text
        assert "hunter22" not in text, "what nobody could read may be a secret all the same"
    assert hand.run("repair", "--export-aside", str(file)).code == 2, "never over another file"
    whole = tmp_path / "whole.jsonl"
    assert hand.run("repair", "--export-aside", str(whole), "--reveal").code == 0
    (entry,) = map(json.loads, whole.read_text(encoding="utf-8").splitlines())
    assert any(b"hunter22-and-more" in base64.b64decode(part["base64"]) for part in entry["parts"])
    assert hand.run("repair", "--list-aside", "--dry-run").code == 2
