"""Servers and accounts that a Redis address may lead to: what cannot hold a fleet is named, what can is enough."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from services import assembly, diagnosis
from services import settings as config
from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Pause
from services.domain.insight.connection import STORE
from services.messages import english
from services.monitor.doctor import Doctor
from services.store.redis import server as redis_server
from services.store.redis.store import RedisStore
from tests.contract.waiting import eventually
from tests.integration import fleet_rig
from tests.support.services import Redis, free_port, redis_program

pytestmark = [pytest.mark.redis]


def refused(url: str) -> str:
    store = RedisStore(url, SystemClock())
    try:
        answers, _, error = store.health()
        assert not answers
        with pytest.raises(StoreUnavailable):
            store.counts()
        return error
    finally:
        store.close()


@pytest.fixture
def master() -> Iterator[Redis]:
    with Redis() as server:
        yield server


def test_a_cluster_of_several_shards_is_refused_and_one_of_one_is_not() -> None:
    nodes = [Redis("--cluster-node-timeout", "2000", cluster=True) for _ in range(3)]
    try:
        for node in nodes:
            node.start()
        spans = ("0 5461", "5462 10922", "10923 16383")
        whole = Redis(cluster=True).start()
        nodes.append(whole)
        whole.command("CLUSTER ADDSLOTSRANGE 0 16383")
        for node, span in zip(nodes, spans, strict=False):
            node.command(f"CLUSTER ADDSLOTSRANGE {span}")
        for node in nodes[1:3]:
            node.command(f"CLUSTER MEET 127.0.0.1 {nodes[0].port} {nodes[0].bus_port}")
        eventually(lambda: all(b"cluster_size:3" in node.command("CLUSTER INFO") for node in nodes[:3]), 30)
        for node in nodes[:3]:
            assert "several shards" in refused(node.url)
        eventually(lambda: b"cluster_state:ok" in whole.command("CLUSTER INFO"), 30)
        store = RedisStore(whole.url, SystemClock())
        assert store.health()[0]
        assert store.counts().total == 0
        store.close()
    finally:
        for node in nodes:
            node.close()


def test_a_sentinel_is_named(master: Redis, tmp_path: Path) -> None:
    port = free_port()
    settings = tmp_path / "sentinel.conf"
    settings.write_text(f"port {port}\nbind 127.0.0.1\nsentinel monitor fleet 127.0.0.1 {master.port} 1\n")
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([str(redis_program()), str(settings), "--sentinel"], stdout=log, cwd=tmp_path)
    try:
        told = eventually(lambda: text if "Sentinel" in (text := refused(f"redis://127.0.0.1:{port}/0")) else "", 20)
        assert "master" in told
    finally:
        process.kill()
        process.wait()


def told_by_doctor(url: str, home: Path) -> str:
    """The remedy beside a store that cannot be used."""
    settings = config.Settings(
        broker=config.BrokerSettings(url=f"amqp://127.0.0.1:{free_port()}"),
        store=config.StoreSettings(url=url),
        home=str(home),
    )
    (gone,) = [one for one in diagnosis.examine(settings).findings if one.message.code == "doctor.store_gone"]
    assert "does not answer" not in english(gone.message)
    assert gone.remedy is not None
    return english(gone.remedy)


def test_a_redis_that_still_reads_its_data_needs_nobody_to_start_it(master: Redis, tmp_path: Path) -> None:
    for number in range(500):  # of letters that cannot be packed: it looks up from reading after some of them only
        master.command(f"SET key{number} {secrets.token_urlsafe(300)}")
    master.command("SAVE")
    port = free_port()
    slow = ("--key-load-delay", "30000", "--loading-process-events-interval-bytes", "1024")
    words = ("--dir", str(master.directory), "--port", str(port), "--bind", "127.0.0.1", *slow)
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([str(redis_program()), *words], stdout=log, cwd=tmp_path)
    try:
        url = f"redis://127.0.0.1:{port}/0"
        told = eventually(lambda: text if "listens" not in (text := refused(url)) else "", 20)
        assert "still reads its data; it answers by itself" in told
        assert "nothing has to be done" in told_by_doctor(url, tmp_path)
    finally:
        process.kill()
        process.wait()


def test_a_redis_that_cannot_save_is_read_on(tmp_path: Path) -> None:
    """It takes no writes then (stop-writes-on-bgsave-error), and answers everything else but PING."""
    in_the_way = tmp_path / "dump.rdb"
    with Redis("--dir", str(tmp_path), "--appendonly", "no", "--save", "3600 1") as server:
        store = RedisStore(server.url, SystemClock())
        try:
            assert (store.health()[::2], store.counts().total) == ((True, ""), 0)
            store.set_pause(Pause(scope="all", by="ann"))
            in_the_way.mkdir()
            server.command("BGSAVE")
            answers, _, why = eventually(lambda: found if (found := store.health())[2] else None, 20)
            assert (answers, store.counts().total) == (True, 0)
            assert "refuses writes for now: MISCONF" in why
            in_the_way.rmdir()
            server.command("BGSAVE")
            eventually(lambda: store.health()[::2] == (True, ""), 20)
        finally:
            store.close()


def test_a_replica_is_named_until_it_is_the_master(master: Redis, tmp_path: Path) -> None:
    with Redis("--replicaof", "127.0.0.1", str(master.port)) as replica:
        assert "replica" in refused(replica.url)
        store = RedisStore(replica.url, SystemClock())
        try:
            assert not store.health()[0]
            assert told_by_doctor(replica.url, tmp_path) == "Let the address of the store name the master."
            replica.command("REPLICAOF NO ONE")
            assert store.health()[0]
        finally:
            store.close()
        replica.command(f"REPLICAOF 127.0.0.1 {master.port}")
        looking = RedisStore(replica.url, SystemClock(), read_only=True)
        try:
            assert looking.counts().total == 0
        finally:
            looking.close()


def acl(server: Redis, *rights: str) -> str:
    """The address for a user with these rights."""
    answer = server.command(f"ACL SETUSER ann reset on >secret {' '.join(rights)}")
    assert answer.startswith(b"+OK"), answer
    return f"redis://ann:secret@127.0.0.1:{server.port}/0"


NEEDED = tuple(f"+{command[0].casefold()}" for command in redis_server.NEEDED)
ALWAYS = ("+multi", "+exec", "+discard", "+hello", "+client|setname", "+select")


@pytest.mark.rabbitmq
@pytest.mark.parametrize(
    "rights",
    [("~{rpa}:*", "~executed:*", "+@all", "-@dangerous"), ("~{rpa}:*", "~executed:*", "-@all", *ALWAYS, *NEEDED)],
    ids=["not dangerous", "what is listed"],
)
def test_a_fleet_needs_no_more_than_is_listed(
    master: Redis, rights: tuple[str, ...], amqp_vhost: str, tmp_path: Path
) -> None:
    place = fleet_rig.settings_for("fleet", tmp_path, amqp=amqp_vhost, redis=acl(master, *rights))
    with fleet_rig.opened("fleet", place, tmp_path) as fleet:
        fleet.steward()
        fleet.worker()
        ids = [fleet.create(f"s{n}", n=n) for n in range(3)]
        ids += [fleet.create("s4", fail="network", fail_first=1), fleet.create("s5", fail="missing_secret")]
        fleet.wait_ended(ids)
        eventually(lambda: fleet.engine.store.get_letter(ids[-1]), 30)
        engine = fleet.engine
        doctor = Doctor(engine.store, engine.broker, engine.clock, version="", production=True)
        found = doctor.look(tmp_path, place.delays, deep=True)
        assert not [english(one.message) for one in found if one.level == "error"]
        assert "The store answers: redis" in " ".join(english(one.message) for one in found if one.check == "store")


def test_doctor_names_the_commands_that_are_missing(master: Redis, amqp_vhost: str, tmp_path: Path) -> None:
    store = RedisStore(
        acl(master, "~{rpa}:*", "~executed:*", "+@all", "-@dangerous", "-zinterCARD", "-setrange"), SystemClock()
    )
    try:
        facts = store.facts()
        assert (facts["refused"], facts["refused_keys"]) == ("SETRANGE, ZINTERCARD", "")
        assert facts["version"].startswith(("6", "7", "8"))
    finally:
        store.close()
    for keys in ("~other:*", "~{rpa}:*"):
        store = RedisStore(acl(master, keys, "+@all"), SystemClock())
        try:
            assert store.facts()["refused_keys"] == "yes"
        finally:
            store.close()


def test_a_connection_that_is_tried_tells_what_its_account_and_its_server_let_nobody_do(master: Redis) -> None:
    def tried(user: str = "", database: int = 0, *, url: str = master.url, read_only: bool = False) -> str:
        at = url.replace("redis://", f"redis://{user}:pw@" if user else "redis://").rpartition("/")[0]
        settings = config.Settings(
            broker=config.BrokerSettings(url=f"amqp://127.0.0.1:{free_port()}"),
            store=config.StoreSettings(url=f"{at}/{database}"),
            read_only=read_only,
        )
        return next(str(answer.words) for answer in assembly.probe(settings) if answer.part == STORE)

    there = master.command("DBSIZE")
    assert not tried()
    assert master.command("DBSIZE") == there, "what is tried changes nothing"
    master.command("CONFIG SET maxmemory 100kb")
    assert "is out of memory and refuses writes" in tried()
    master.command("CONFIG SET maxmemory 0")
    assert not tried()
    master.command("ACL SETUSER ann on >pw ~* +@all -zadd -xadd")
    assert "use XADD, ZADD: permit it by ACL SETUSER USER +xadd +zadd" in tried("ann")
    master.command("ACL SETUSER bob on >pw ~foo:* +@all")
    assert "~{rpa}:* ~executed:*" in tried("bob")
    assert "end the address of the store with a lower one" in tried(database=99)
    master.command("ACL SETUSER looker on >pw ~{rpa}:* ~executed:* +@all -@write")
    assert "permit it by ACL SETUSER USER +del" in tried("looker")
    assert not tried("looker", read_only=True), "who only looks needs no writes"
    master.command("ACL SETUSER blind on >pw ~{rpa}:* ~executed:* +@all -@write -zrange -eval_ro")
    assert "use EVAL_RO, ZRANGE: permit" in tried("blind", read_only=True)
    master.command("CLIENT PAUSE 60000 WRITE")
    try:
        assert "refuses writes for now: no answer to a write within" in tried()
        assert not tried(read_only=True)
    finally:
        master.command("CLIENT UNPAUSE")
    assert not tried()
    with Redis("--replicaof", "127.0.0.1", str(master.port)) as copy:
        assert "give the address of its master" in tried(url=copy.url)
        assert not tried(url=copy.url, read_only=True), "whoever only looks may look there"
    master.command("CONFIG SET min-replicas-to-write 3")
    assert "refuses writes for now" in tried()
    assert not tried(read_only=True)
