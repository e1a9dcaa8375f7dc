"""A connection through which nothing is changed: every verb is refused with the reason, every look answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import redis

from services import assembly
from services import settings as config
from services.clock import SystemClock
from services.commands.tasks import TaskSpec
from services.domain.change import Claim, Finish
from services.domain.errors import NotAllowed, StoreError, StoreUnavailable
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import Attempt
from services.domain.task.search.query import Query
from services.messages import english
from services.store.redis.store import RedisStore
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet
from tests.support import stock
from tests.support.services import RabbitMQ

ACTS = (
    ("task", "create", "--shop", "pdd:s1", "--type", "refresh_goods"),
    ("task", "cancel", "--yes", "ID"),
    ("task", "prioritize", "--priority", "9", "--yes", "ID"),
    ("task", "run-now", "--yes", "ID"),
    ("task", "retry", "--yes", "ID"),
    ("shop", "pause", "pdd:s1", "--yes"),
    ("queue", "pause", "platform:pdd", "--yes"),
    ("worker", "--drain"),
    ("repair",),
)
#: every command that only reads
READING = (
    *(("task", "list"), ("task", "list", "--filter", "gate:lane_order"), ("task", "show", "ID")),
    *(("task", "duplicates"), ("shop", "session", "list"), ("worker", "show", "w"), ("task", "artifacts", "ID")),
    *(("dead", "list"), ("dead", "show", "DEAD"), ("dead", "runs"), ("batch", "list"), ("shop", "list")),
    *(("shop", "show", "pdd:s1"), ("shop", "breaker"), ("queue", "list"), ("worker", "list")),
    *(("schedule", "list"), ("schedule", "zone"), ("type", "list"), ("type", "export"), ("audit", "list")),
    *(("stats",), ("doctor",), ("export",)),
)
LOOKS = (("task", "list"), ("shop", "list"), ("queue", "list"), ("stats",), ("task", "show", "ID"))


def profile(place: config.Settings) -> str:
    """The same fleet as a profile that only looks; the embedded engine's file goes by the profile's name."""
    lines = ["[profiles.look]", "read_only = true"]
    if not place.embedded:
        lines += [f"broker = '{place.broker.url}'", f"redis = '{place.store.url}'"]
        lines.append(f"broker_profile = '{place.broker.profile}'")
    return "\n".join(lines) + "\n"


@pytest.fixture
def task_id(place: config.Settings, tmp_path: Path) -> str:
    """A task that could be changed."""
    (tmp_path / "config.toml").write_text(profile(place))
    named = config.load(home=tmp_path, profile="look")
    engine = assembly.open_engine(msgspec.structs.replace(named, read_only=False))
    try:
        spec = TaskSpec(platform="pdd", shop_id="s1", task_type="refresh_goods")
        return assembly.commands(engine).tasks.create([spec], origin="cli").created[0].task_id
    finally:
        engine.close()


def test_every_verb_is_refused_and_every_look_answers(tmp_path: Path, task_id: str) -> None:
    cli = Cli(tmp_path, words=("--profile", "look"))
    for words in ACTS:
        said = cli.call(*(task_id if word == "ID" else word for word in words))
        assert said.returncode == 1, (words, said.stdout, said.stderr)
        assert "The connection look is read-only" in said.stderr, (words, said.stderr)
    for words in LOOKS:
        said = cli.call(*(task_id if word == "ID" else word for word in words))
        assert said.returncode == 0, (words, said.stderr)
    assert cli.run("task", "show", task_id)["task"]["status"] == "queued"


def test_a_worker_does_not_start_for_whoever_may_only_look(tmp_path: Path, task_id: str) -> None:
    (tmp_path / "config.toml").write_text((tmp_path / "config.toml").read_text().replace("true", "false"))
    cli = Cli(tmp_path, words=("--profile", "look"))
    named = config.load(home=tmp_path, profile="look")
    engine = assembly.open_engine(named)
    try:
        mine = assembly.commands(engine)
        mine.roles.set("ann@desk-01", "admin")
        mine.roles.set(mine.operator.who, "viewer")
    finally:
        engine.close()
    said = cli.call("worker", "--slots", "1", "--drain")
    assert said.returncode == 1
    assert "is viewer" in said.stderr
    assert cli.run("task", "show", task_id)["task"]["status"] == "queued"


def test_the_word_lowers_whatever_the_profile_permits(tmp_path: Path, task_id: str) -> None:
    (tmp_path / "config.toml").write_text((tmp_path / "config.toml").read_text().replace("true", "false"))
    cli = Cli(tmp_path, words=("--profile", "look"))
    said = cli.call("task", "cancel", task_id, "--yes", "--read-only")
    assert (said.returncode, "read-only" in said.stderr) == (1, True)
    assert cli.call("task", "cancel", task_id, "--yes").returncode == 0


def test_whoever_only_looks_leaves_no_trace(place: config.Settings, tmp_path: Path) -> None:
    assembly.bare_engine(place).close()
    engine = assembly.open_engine(msgspec.structs.replace(place, read_only=True))
    try:
        who = assembly.commands(engine).operator
        assert (who.role, who.read_only) == ("viewer", engine.closed)
        assert not engine.store.documents("role")
        assert not engine.store.documents("type")
        with pytest.raises(NotAllowed, match="no worker runs"):
            assembly.refuse_read_only(engine.settings)
    finally:
        engine.close()


@pytest.fixture
def lookers(fleet: Fleet, request: pytest.FixtureRequest) -> Iterator[config.Settings]:
    """Settings of the fleet for who only looks: on servers with accounts that may change nothing."""
    if fleet.settings.embedded:
        yield msgspec.structs.replace(fleet.settings, read_only=True)
        return
    rabbitmq: RabbitMQ = request.getfixturevalue("rabbitmq")
    vhost = fleet.settings.broker.url.rsplit("/", 1)[1]
    rabbitmq.api("PUT", "/api/users/looker", {"password": "look", "tags": ""})
    rabbitmq.api("PUT", f"/api/permissions/{vhost}/looker", {"configure": "^$", "write": "^$", "read": ".*"})
    with redis.Redis.from_url(fleet.settings.store.url) as client:
        client.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">look", "~*", "&*", "+@all", "-@write")
        yield msgspec.structs.replace(
            fleet.settings,
            read_only=True,
            broker=config.BrokerSettings(url=fleet.settings.broker.url.replace("guest:guest", "looker:look")),
            store=config.StoreSettings(url=fleet.settings.store.url.replace("redis://", "redis://looker:look@")),
        )
        client.execute_command("ACL", "DELUSER", "looker")
    rabbitmq.api("DELETE", "/api/users/looker")


def rabbit_of(settings: config.Settings, request: pytest.FixtureRequest) -> RabbitMQ | None:
    return None if settings.embedded else request.getfixturevalue("rabbitmq")


def busy(fleet: Fleet) -> tuple[str, str]:
    """A fleet with something of most kinds, and leftovers that a leader would put right; a waiting and a dead task."""
    store = fleet.engine.store
    store.heartbeat(WorkerInfo(worker="w", host="gone", pid=1, executors=("rpa",)))
    waits, dies, runs = fleet.create("s1", n=1), fleet.create("s2", n=2), fleet.create("s3", n=3)
    for one in (dies, runs):
        fleet.apply(Claim(task_id=one, gen=0, attempt=0, owner=one, worker="w", lease_ms=1))
    ended = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="failed", error="no", error_kind="crashed")
    fleet.apply(Finish(task_id=dies, owner=dies, to="dead", attempt=ended, error="no", error_kind="crashed"))
    fleet.create("s1", n=4, depends_on=(runs,))
    fleet.create("s4", n=5, batch="b")
    # a consumer of a process that is gone holds a message, and an order to a worker is not fetched yet
    consumer = fleet.engine.broker.consumer(("normal",), window=1, name="gone")
    assert consumer.take(1, 10.0)
    store.tell_worker("w", "drain")
    consumer.close()
    return waits, dies


def test_every_command_of_reading_leaves_all_as_it_was(
    fleet: Fleet, lookers: config.Settings, request: pytest.FixtureRequest
) -> None:
    waits, dead = busy(fleet)
    fleet.engine.close()
    configure(Path(fleet.settings.home))
    rabbitmq = rabbit_of(fleet.settings, request)
    before = stock.taken(fleet.settings, rabbitmq)
    drivers = () if lookers.embedded else ("--broker", lookers.broker.url, "--redis", lookers.store.url)
    cli = Cli(Path(fleet.settings.home), ("--read-only", *drivers))
    for words in READING:
        named = {"ID": waits, "DEAD": dead}
        said = cli.call(*(named.get(word, word) for word in words))
        assert said.returncode == 0 or words == ("doctor",), (words, said.stdout, said.stderr)
        assert "warning" not in said.stderr, (words, said.stderr)
        assert "NOPERM" not in said.stdout + said.stderr, words
    after = stock.taken(fleet.settings, rabbitmq)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == set()


def test_what_is_missing_is_named_and_not_made(
    fleet: Fleet, lookers: config.Settings, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rabbitmq = rabbit_of(fleet.settings, request)
    if rabbitmq is None:
        fresh = msgspec.structs.replace(lookers, home=str(tmp_path / "elsewhere"))
        with pytest.raises(StoreUnavailable, match="a read-only connection makes none"):
            assembly.open_engine(fresh)
        assert not fresh.database.exists()
        return
    vhost = fleet.settings.broker.url.rsplit("/", 1)[1]
    rabbitmq.api("DELETE", f"/api/queues/{vhost}/rpa_tasks_low")
    engine = assembly.open_engine(lookers)
    try:
        (doubt,) = engine.doubts
        assert english(doubt).startswith("the broker lacks rpa_tasks_low, and a read-only connection makes nothing")
        lanes = {one.name for one in engine.broker.depths() if one.kind == "lane"}
        assert lanes == {"rpa_tasks_high", "rpa_tasks_normal"}
        assert {one.name for one in engine.broker.depths() if one.kind == "delay"}
    finally:
        engine.close()
    assert "rpa_tasks_low" not in {row["name"] for row in rabbitmq.api("GET", f"/api/queues/{vhost}")}
    configure(Path(fleet.settings.home))
    drivers = ("--broker", lookers.broker.url, "--redis", lookers.store.url)
    said = Cli(Path(fleet.settings.home), ("--read-only", *drivers)).call("task", "list")
    assert (said.returncode, "warning: the broker lacks rpa_tasks_low" in said.stderr) == (0, True)


@pytest.mark.redis
def test_looking_at_an_empty_redis_begins_no_life_there(redis_url: str) -> None:
    store = RedisStore(redis_url, SystemClock(), read_only=True)
    try:
        assert store.counts().total == 0
        assert store.events("", 1, 0.0).events == ()
        assert store.unserved_tasks([("normal", "work")], 5) == []
        with redis.Redis.from_url(redis_url) as client:
            assert client.dbsize() == 0
    finally:
        store.close()


def test_a_driver_that_only_looks_refuses_to_write(fleet: Fleet) -> None:
    """Whatever may forget to ask for the right: the drivers do not."""
    engine = assembly.open_engine(msgspec.structs.replace(fleet.settings, read_only=True))
    try:
        waits = engine.store.query(Query()).total
        for write in (
            lambda: engine.store.put_document("type", "t", "{}"),
            lambda: engine.store.set_pause(Pause(scope="all", by="ann")),
            lambda: engine.store.lead("leader", "me", 1000),
            lambda: fleet_create(engine),
        ):
            with pytest.raises((NotAllowed, StoreError), match="was opened read-only; nothing is written to it"):
                write()
        assert (engine.store.query(Query()).total, engine.store.leader("leader"), engine.store.pauses()) == (
            waits,
            "",
            [],
        )
    finally:
        engine.close()


def fleet_create(engine: assembly.Engine) -> None:
    engine.producer.submit([TaskSpec(platform="pdd", shop_id="s1", task_type="work")])
