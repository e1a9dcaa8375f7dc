"""``work``: did it run? Asked of the shop and the type, whichever task did it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from services.domain.change import Forget, SetTriage
from tests.contract.rig import Rig
from tests.integration.cli_rig import Cli, configure

CREATE = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "single")


@pytest.fixture
def cli(pair: str, place: config.Settings, tmp_path: Path) -> Cli:
    """The command line of a fleet with a type that is one work for each shop."""
    home = tmp_path / "home"
    configure(home)
    found = Cli(home, () if pair == "embedded" else ("--broker", place.broker.url, "--redis", place.store.url))
    kind = {"name": "single", "executor": "python", "uniqueness": "shop_type"}
    (home / "single.json").write_text(json.dumps(kind), encoding="utf-8")
    (home / "shops.csv").write_text("platform,shop_id\npdd,s1\n", encoding="utf-8")
    found.run("type", "import", home / "single.json")
    found.run("shop", "import", home / "shops.csv")
    return found


def test_it_has_run_or_not_whichever_task_did_it(cli: Cli) -> None:
    nothing = cli.run("work", "pdd:s1", "single")
    assert (nothing["ran"], nothing["last_success"], nothing["next"]) == ([], None, None)
    assert "has not succeeded" in cli.call("work", "pdd:s1", "single").stdout

    fails = json.dumps({"fail": "bad_payload", "text": "no such page"})
    (dead,) = cli.run(*CREATE, "--payload", fails)["created"]
    cli.drain()
    (done,) = cli.run(*CREATE)["created"]
    cli.drain()
    cli.run("schedule", "add", "nightly", "--type", "single", "--shop", "pdd:s1", "--every", "1h")
    (waits,) = cli.run(*CREATE)["created"]

    told = cli.run("work", "pdd:s1", "single", "--day", "today")
    assert [(one["id"], one["status"]) for one in told["ran"]] == [(dead, "dead"), (done, "succeeded")]
    assert (told["last_success"]["id"], told["last_failure"]["id"]) == (done, dead)
    assert [one["id"] for one in told["active"]] == [waits]
    assert (told["next"]["schedule"], told["next"]["task"]) == ("nightly", "")
    assert told["last_success"]["by"]
    people = cli.call("work", "s1", "single")
    assert people.returncode == 0
    for words in (f"succeeded ({done})", "no such page", f"queued now: {waits}", "would run next", "schedule nightly"):
        assert words in people.stdout, people.stdout

    before = cli.run("work", "pdd:s1", "single", "--day", "yesterday")
    assert before["ran"] == []
    assert before["last_success"]["id"] == done
    people = cli.call("work", "pdd:s1", "single", "--day", "yesterday").stdout
    assert "it did not succeed on that day, but later: " in people
    assert "not run since" not in people, "it has, on the day after"


def test_of_one_whose_worker_was_lost_nobody_knows(cli: Cli, pair: str, place: config.Settings) -> None:
    (twin,) = cli.run(*CREATE)["created"]
    work = cli.run("task", "show", twin)["task"]["uniq"]
    cli.run("task", "cancel", twin)
    own = config.load(home=cli.home) if pair == "embedded" else place
    with closing(assembly.open_engine(own)) as engine:
        lost = Rig(engine.store, None).held(task_type="single", uniq=work, idempotent=False).task_id
    told = cli.call("work", "pdd:s1", "single").stdout
    assert f"held, nobody knows whether it was done ({lost})" in told, told


def test_what_waits_says_where(cli: Cli) -> None:
    (waits,) = cli.run(*CREATE)["created"]
    assert "; it waits: no worker" in cli.call("work", "pdd:s1", "single").stdout
    cli.run("shop", "pause", "pdd:s1")
    assert [(one["id"], one["gate"]) for one in cli.run("work", "pdd:s1", "single")["active"]] == [(waits, "paused")]
    assert f"queued now: {waits}, by " in (people := cli.call("work", "pdd:s1", "single").stdout)
    assert "; it waits: paused" in people


def test_one_work_among_many_of_its_type(cli: Cli) -> None:
    words = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work")
    pages = [cli.run(*words, "--payload", json.dumps({"n": n}))["created"][0] for n in range(2)]
    cli.drain()
    assert len(cli.run("work", "pdd:s1", "work")["ran"]) == 2
    one = cli.run("work", "pdd:s1", "work", "--payload", '{"n": 1}')
    assert [run["id"] for run in one["ran"]] == [pages[1]]
    assert one["last_success"]["id"] == pages[1]


@pytest.mark.parametrize("words", [("pdd:s1", "single", "--day", "someday"), ("pdd:nobody", "single")])
def test_what_cannot_be_asked_is_refused(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli.run("work", *words, code=2)["error"]


def test_a_shop_tells_it_of_each_of_its_types(cli: Cli) -> None:
    (done,) = cli.run(*CREATE)["created"]
    cli.drain()
    cli.run("schedule", "add", "nightly", "--type", "never_twice", "--shop", "pdd:s1", "--every", "1h")
    types = {one["type"]: one for one in cli.run("shop", "show", "pdd:s1")["shop"]["types"]}
    assert set(types) == {"single", "never_twice"}
    assert (types["single"]["last_success"]["id"], types["single"]["next"]) == (done, None)
    assert types["never_twice"]["last_success"] is None
    assert types["never_twice"]["next"]["schedule"] == "nightly"
    assert "last_success" in cli.call("shop", "show", "pdd:s1").stdout


def test_a_day_whose_records_are_gone_is_still_told(cli: Cli, pair: str, place: config.Settings) -> None:
    fails = json.dumps({"fail": "bad_payload", "text": "no such page"})
    (first,) = cli.run(*CREATE)["created"]
    cli.drain()
    (dead,) = cli.run(*CREATE, "--payload", fails)["created"]
    cli.drain()
    (last,) = cli.run(*CREATE)["created"]
    cli.drain()
    own = config.load(home=cli.home) if pair == "embedded" else place
    forget(own, first)
    some = cli.run("work", "pdd:s1", "single")
    assert [run["id"] for run in some["ran"]] == [dead, last]
    assert (some["ended"]["count"], some["ended"]["failed"], some["ended"]["records_gone"]) == (3, 1, 1)
    assert "ran 3 times, 1 of them failed in all; the records of 1 are gone" in cli.call("work", "s1", "single").stdout

    forget(own, dead, last)
    gone = cli.run("work", "pdd:s1", "single")
    assert (gone["ran"], gone["ended"]["first"]["id"], gone["ended"]["last"]["id"]) == ([], first, last)
    assert (gone["last_success"]["id"], gone["last_failure"]["id"]) == (last, dead)
    assert (gone["last_failure"]["error_kind"], gone["last_failure"]["status"]) == ("bad_payload", "dead")
    people = cli.call("work", "pdd:s1", "single").stdout
    assert "ran 3 times, 1 of them failed, first at " in people
    assert "the records are gone" in people
    assert "not run since" not in people
    (row,) = cli.run("shop", "show", "pdd:s1")["shop"]["types"]
    assert (row["last_success"]["id"], row["last_failure"]["id"]) == (last, dead)


def test_works_that_are_told_apart_by_parameters_say_so_of_an_old_day(cli: Cli) -> None:
    (done,) = cli.run("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work")["created"]
    cli.drain()
    assert done in cli.call("work", "pdd:s1", "work").stdout
    assert "--payload" not in cli.call("work", "pdd:s1", "work").stdout
    people = cli.call("work", "pdd:s1", "work", "--day", "yesterday").stdout
    assert "not known whether it ran" in people
    assert "ask with --payload" in people
    assert "the last success that is known: " in people
    assert done in people
    assert "not run since" not in people
    one = cli.run("work", "pdd:s1", "work", "--day", "yesterday", "--payload", "{}")
    assert (one["counted"], cli.run("work", "pdd:s1", "work", "--day", "yesterday")["counted"]) == (True, False)
    assert "not known" not in cli.call("work", "pdd:s1", "work", "--day", "yesterday", "--payload", "{}").stdout


def test_days_longer_ago_than_they_are_counted_for_are_not_known(cli: Cli) -> None:
    long_ago = ("work", "pdd:s1", "single", "--day", "2020-02-03")
    assert "not known whether it ran: runs are counted for 31 days" in cli.call(*long_ago).stdout
    assert not cli.run(*long_ago)["counted"]


def forget(own: config.Settings, *ids: str) -> None:
    """What the leader does when the time of their records is over."""
    with closing(assembly.open_engine(own)) as engine:
        for task in engine.store.get(ids):
            assert task is not None
            if task.triage == "open":
                engine.store.apply([SetTriage(task_id=task.task_id, triage="archived", by="ann@desk")])
        for task in engine.store.get(ids):
            assert task is not None
            answers = engine.store.apply([Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=10_000_000)])
            assert answers[0].code == "ok"


def test_parameters_are_asked_for_only_where_they_tell_works_apart(cli: Cli) -> None:
    refused = cli.run("work", "pdd:s1", "sync_order", "--payload", '{"since": "2026-11-20"}', code=2)
    assert refused["field"] == "--payload"
    assert "sync_order" in refused["error"]
