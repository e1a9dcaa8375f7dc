"""What a newer program wrote is opened by an older one to look at it, and only for that: with a sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from services import assembly
from services.commands.operator import person
from services.domain.change import Claim, Finish
from services.domain.errors import NotAllowed, SchemaTooNew
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import Attempt
from services.engine.producer import TaskSpec
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet
from tests.support import newer, stock
from tests.support.services import RabbitMQ

NEWER = "were written by a newer program"
REMEDY = "To act, update Fleetdeck on this machine to at least 9.9.0."
READING = (
    *(("task", "list"), ("task", "list", "--filter", "status:dead"), ("task", "show", "WAITS"), ("task", "duplicates")),
    *(("dead", "list"), ("dead", "show", "DEAD"), ("batch", "list"), ("shop", "list"), ("shop", "show", "pdd:s3")),
    *(("queue", "list"), ("worker", "list"), ("schedule", "list"), ("type", "list"), ("type", "export")),
    *(("audit", "list"), ("role", "list"), ("stats",), ("export",)),
)
WRITING = (
    *(("task", "create", "--shop", "pdd:s1", "--type", "work"), ("task", "cancel", "--yes", "WAITS")),
    *(("dead", "republish", "--yes", "DEAD"), ("shop", "pause", "pdd:s1", "--yes"), ("role", "set", "ann", "viewer")),
    *(("worker", "--drain"), ("api", "--port", "0"), ("repair",)),
)


@pytest.fixture
def tasks(fleet: Fleet, request: pytest.FixtureRequest) -> tuple[str, str]:
    """A task that waits and one that is dead, in a fleet that a newer program has taken over; beside them one of which
    this program cannot know what it is.
    """
    store = fleet.engine.store
    store.heartbeat(WorkerInfo(worker="w", host="gone", pid=1, executors=("rpa",)))
    waits, dies = fleet.create("s3", n=1, batch="b", delay_s=3600.0), fleet.create("s2", n=2)
    fleet.create("s1", n=3, batch="b")
    fleet.apply(Claim(task_id=dies, gen=0, attempt=0, owner=dies, worker="w", lease_ms=60_000))
    ended = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="failed", error="no", error_kind="crashed")
    fleet.apply(Finish(task_id=dies, owner=dies, to="dead", attempt=ended, error="no", error_kind="crashed"))
    fleet.engine.close()
    newer.make(fleet.settings)
    configure(Path(fleet.settings.home))
    return waits, dies


def cli_of(fleet: Fleet) -> Cli:
    place = fleet.settings
    drivers = () if place.embedded else ("--broker", place.broker.url, "--redis", place.store.url)
    return Cli(Path(place.home), drivers)


def test_every_look_answers_every_act_is_refused_and_nothing_changes(
    fleet: Fleet, tasks: tuple[str, str], request: pytest.FixtureRequest
) -> None:
    rabbitmq: RabbitMQ | None = None if fleet.settings.embedded else request.getfixturevalue("rabbitmq")
    before = stock.taken(fleet.settings, rabbitmq)
    cli, named = cli_of(fleet), {"WAITS": tasks[0], "DEAD": tasks[1]}
    for words in READING:
        said = cli.call(*(named.get(word, word) for word in words))
        assert said.returncode == 0, (words, said.stdout, said.stderr)
        assert NEWER in said.stderr, (words, said.stderr)
    for words in WRITING:
        said = cli.call(*(named.get(word, word) for word in words))
        assert said.returncode == 1, (words, said.stdout, said.stderr)
        assert REMEDY in said.stderr, (words, said.stderr)
        assert "Traceback" not in said.stderr, (words, said.stderr)
    assert cli.run("task", "show", tasks[0])["task"]["status"] == "scheduled"
    after = stock.taken(fleet.settings, rabbitmq)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == set()


def test_what_it_alone_knows_is_shown_as_it_is(fleet: Fleet, tasks: tuple[str, str]) -> None:
    cli = cli_of(fleet)
    (strange,) = cli.run("task", "list", "--filter", "shop:pdd:s1")["tasks"]
    assert strange["status"] == newer.NEW
    for words in (("task", "show", strange["task_id"]), ("shop", "show", "pdd:s1"), ("batch", "show", "b")):
        said = cli.call(*words)
        assert said.returncode == 0, (words, said.stdout, said.stderr)
    assert newer.NEW in cli.call("task", "show", strange["task_id"]).stdout


@pytest.mark.parametrize("only", [(), ("--read-only",)])
def test_the_doctor_names_it_first(fleet: Fleet, tasks: tuple[str, str], only: tuple[str, ...]) -> None:
    told = cli_of(fleet).run(*only, "doctor", code=1)
    first = told["findings"][0]
    assert (first["level"], first["code"]) == ("error", "doctor.newer")
    assert NEWER in first["text"]
    assert first["remedy"]


def test_nothing_leads_or_works_over_it(fleet: Fleet, tasks: tuple[str, str]) -> None:
    engine = fleet.open()
    assert engine.settings.read_only
    assert NEWER in engine.newer
    who = assembly.commands(engine).operator
    assert (who.who, who.role, who.read_only) == (person(), "viewer", engine.newer)
    with pytest.raises(NotAllowed, match=NEWER):
        assembly.refuse_read_only(engine.settings, engine.newer)
    with pytest.raises(NotAllowed, match=NEWER):
        assembly.commands(engine).fleet.pause("all")


def test_a_file_that_lacks_what_is_read_here_is_refused(fleet: Fleet, tasks: tuple[str, str]) -> None:
    if not fleet.settings.embedded:
        return
    with closing(sqlite3.connect(fleet.settings.database)) as db, db:
        db.execute("ALTER TABLE workers RENAME COLUMN seen_at TO heard_at")
    for only in (False, True):
        with pytest.raises(SchemaTooNew, match="cannot even read it"):
            assembly.open_engine(msgspec.structs.replace(fleet.settings, read_only=only))


def test_who_has_them_open_writes_no_more(fleet: Fleet) -> None:
    store = fleet.engine.store
    fleet.create("s1", n=1)
    early = fleet.open()
    newer.make(fleet.settings)
    with pytest.raises(SchemaTooNew, match=NEWER):
        early.producer.submit([TaskSpec(platform="pdd", shop_id="s2", task_type="work")])
    with pytest.raises(SchemaTooNew, match=NEWER):
        early.store.put_document("note", "n", "{}")
    assert "pdd:s2" not in store.counts().shops
    assert not store.documents("note")


@pytest.mark.parametrize("program", ["", "a\nb", "x" * 200])
def test_a_program_that_is_not_named_is_not_made_up(fleet: Fleet, program: str) -> None:
    fleet.engine.close()
    newer.make(fleet.settings, program=program)
    assert fleet.open().newer.endswith("To act, update Fleetdeck on this machine.")
