"""``doctor`` on both pairs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import redis

from services import diagnosis, messages
from services import settings as config
from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.worker import LinkState, WorkerInfo
from services.domain.task.record import Attempt, Task
from services.domain.upkeep import tuning
from services.monitor.attention import broker as unsent
from services.store.redis.store import RedisStore
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet, channel, vhost
from tests.support.heartbeats import beat_ago
from tests.support.services import RabbitMQ, free_port


def test_a_machine_of_its_own(tmp_path: Path) -> None:
    configure(tmp_path)
    cli = Cli(tmp_path)
    document = cli.run("doctor")
    assert document["errors"] == 0
    assert {one["check"] for one in document["findings"]} >= {"store", "broker", "clock", "disk", "leader", "workers"}
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "work")
    document = cli.run("doctor", code=1)
    errors = {one["code"]: one["remedy"] for one in document["findings"] if one["level"] == "error"}
    assert set(errors) == {"doctor.no_leader", "doctor.no_workers"}
    assert all(errors.values())
    people = cli.call("doctor")
    assert people.returncode == 1
    assert people.stdout.startswith("error ")
    assert "fleetdeck worker" in people.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_what_closes_an_open_folder_is_one_word_of_a_shell(tmp_path: Path) -> None:
    home = tmp_path / "data of ann's 店铺"
    home.mkdir()
    configure(home)
    cli = Cli(home)
    cli.run("doctor")
    home.chmod(0o755)
    (told,) = [one for one in cli.run("doctor")["findings"] if one["check"] == "home"]
    assert shlex.split(told["remedy"].partition(": ")[2]) == ["chmod", "-R", "go=", str(home)]


def test_services_that_are_not_there_are_3(tmp_path: Path) -> None:
    nobody = free_port()
    words = (
        "--broker",
        f"amqp://ann:hunter2@127.0.0.1:{nobody}/v",
        "--redis",
        f"redis://:hunter2@127.0.0.1:{nobody}/0",
    )
    done = Cli(tmp_path).call("doctor", *words, "--json")
    assert done.returncode == 3
    found = {one["code"]: one for one in json.loads(done.stdout)["findings"]}
    assert {"doctor.store_gone", "doctor.broker_gone"} <= set(found)
    assert all(one["remedy"] for one in found.values() if one["level"] == "error")
    assert "hunter2" not in done.stdout + done.stderr


def test_a_fleet_at_work_is_well(fleet: Fleet) -> None:
    fleet.worker()
    fleet.steward()
    fleet.wait(fleet.create(), "succeeded")
    found = diagnosis.examine(fleet.settings).findings
    assert {one.check for one in found if one.level == "ok"} >= {"store", "broker", "clock", "workers"}
    assert not [one for one in found if one.level == "error"]


@pytest.mark.rabbitmq
def test_a_queue_with_other_arguments_is_named(
    tmp_path: Path, rabbitmq: RabbitMQ, amqp_vhost: str, redis_url: str
) -> None:
    with channel(amqp_vhost) as raw:
        raw.queue_declare("rpa_tasks_high", durable=True, arguments={"x-max-priority": 3})
    words = ("--broker", amqp_vhost, "--redis", redis_url)
    environment = {"FLEETDECK_BROKER__MANAGEMENT_URL": rabbitmq.management_url}
    document = Cli(tmp_path, words, environment).run("doctor", code=1)
    (broker,) = [one for one in document["findings"] if one["check"] == "broker"]
    assert (broker["level"], broker["code"]) == ("error", "doctor.topology")
    assert "rpa_tasks_high" in broker["text"]
    assert broker["remedy"]


@pytest.mark.rabbitmq
def test_a_policy_that_overrides_the_queues_and_a_stray_queue(
    tmp_path: Path, rabbitmq: RabbitMQ, amqp_vhost: str, redis_url: str
) -> None:
    words = ("--broker", amqp_vhost, "--redis", redis_url)
    cli = Cli(tmp_path, words, {"FLEETDECK_BROKER__MANAGEMENT_URL": rabbitmq.management_url})
    cli.run("task", "list")  # declares the queues
    with channel(amqp_vhost) as raw:
        raw.queue_declare("single_shop_lost", durable=True)
    definition = {"message-ttl": 86_400_000, "max-length": 1_000_000}
    policy = {"pattern": "^rpa_tasks_", "definition": definition, "apply-to": "queues"}
    rabbitmq.api("PUT", f"/api/policies/{vhost(amqp_vhost)}/ops", policy)

    def told() -> bool:
        """The management API tells what a policy does to one queue after the other."""
        queues = rabbitmq.api("GET", f"/api/queues/{vhost(amqp_vhost)}")
        lanes = [one for one in queues if one["name"].startswith("rpa_tasks_")]
        return all(one.get("policy") == "ops" and one.get("effective_policy_definition") for one in lanes)

    eventually(told, 60)
    findings = json.loads(cli.call("doctor", "--json").stdout)["findings"]
    found = {one["code"]: one for one in findings if one["check"] in ("queues", "orphans")}
    assert found["doctor.policy_max_length"]["level"] == "error"
    assert "ops" in str(found["doctor.policy_message_ttl"]["text"])
    assert "rpa_tasks_low" in str(found["doctor.policy_message_ttl"]["text"])
    assert found["doctor.stray_queue"]["params"] == {"count": 1, "queues": "single_shop_lost"}
    assert all(one["remedy"] for one in found.values())


def test_records_are_read_while_the_broker_is_gone_and_it_is_named_as_the_cause(
    tmp_path: Path, amqp_vhost: str, redis_url: str
) -> None:
    configure(tmp_path)
    cli, redis = Cli(tmp_path), ("--redis", redis_url)
    created = cli.run("task", "create", "--shop", "pdd:s1", "--type", "work", "--broker", amqp_vhost, *redis)
    (task_id,) = created["created"]
    info = WorkerInfo(worker="w1", host="h", pid=1, link=LinkState(error="refused", lost_at=1))
    # heard of in an hour, so that it is not silent before the last of these commands is through
    beat_ago(config.load(home=tmp_path, broker=amqp_vhost, redis=redis_url), info, -3_600_000)
    lost = ("--broker", f"amqp://127.0.0.1:{free_port()}/", *redis)
    stats = cli.run("stats", *lost)
    assert stats["headline"].startswith("1 task waiting; the broker cannot be reached: none starts")
    assert [item["key"] for item in stats["attention"]] == ["broker_lost"]
    (listed,) = cli.run("task", "list", *lost)["tasks"]
    assert (listed["task_id"], listed["gate"]) == (task_id, "broker")
    (shop,) = cli.run("shop", "list", *lost)["shops"]
    assert [one["code"] for one in shop["reasons"]] == ["shop.waiting_broker"]
    assert shop["reasons"][0]["text"] in shop["reason"]
    people = cli.call("worker", "list", *lost)
    assert "cut_off" in people.stdout
    assert people.stderr.startswith("fleetdeck: warning: The broker does not answer, nothing new starts until it is")
    refused = cli.call("task", "cancel", task_id, "--yes", *lost)
    assert refused.returncode == 3, "what has to reach a worker does not pass for done"


def test_advice_comes_with_what_was_measured(fleet: Fleet) -> None:
    """One hung until its time-out where all others take no time."""
    for number in range(tuning.ENOUGH + 1):
        task = fleet.task(fleet.create(n=number))
        claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=600_000)
        taken = fleet.apply(claim).task
        assert taken is not None
        good = number > 0
        times = {"started_at": taken.started_at, "ended_at": taken.started_at + (500 if good else 600_000)}
        kind = "" if good else "timeout"
        attempt = Attempt(1, "w", outcome="succeeded" if good else "failed", error_kind=kind, **times)
        end = Finish(task_id=task.task_id, owner="w#1", to="succeeded" if good else "dead", attempt=attempt)
        assert fleet.apply(msgspec.structs.replace(end, error_kind=kind)).code == "ok"
    found = [one for one in diagnosis.examine(fleet.settings).findings if one.check == "tuning"]
    assert [one.message.code for one in found] == ["tuning.timeout_far"]
    params = found[0].message.params
    assert (params["type"], params["timeout"], params["cut"]) == ("work", 600, 1)
    assert (params["count"], params["ended"]) == (tuning.ENOUGH, tuning.ENOUGH + 1)
    assert found[0].level == "note"
    assert found[0].remedy is not None


@pytest.mark.one_pair
def test_a_user_whose_rights_were_taken_away_is_told_with_the_words_that_give_them_back(
    rabbitmq: RabbitMQ, amqp_vhost: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsent, "UNSENT_MS", 0)
    place = f"/api/permissions/{vhost(amqp_vhost)}/emptied"
    rabbitmq.api("PUT", "/api/users/emptied", {"password": "pw", "tags": ""})
    rabbitmq.api("PUT", place, dict.fromkeys(("configure", "write", "read"), ""))
    settings = config.Settings(
        home=str(tmp_path),
        broker=config.BrokerSettings(url=amqp_vhost.replace("guest:guest", "emptied:pw")),
        store=config.StoreSettings(url=redis_url),
    )
    try:
        with closing(RedisStore(redis_url, SystemClock())) as store:
            store.apply([Create(task=Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work"))])
        told = diagnosis.examine(settings)
        found = {one.message.code: one for one in told.findings}
        looks = msgspec.structs.replace(settings, read_only=True)
        only = {one.message.code for one in diagnosis.examine(looks).findings}
        rabbitmq.api("PUT", "/api/users/emptied", {"password": "another", "tags": ""})
        gone = {one.message.code: one for one in diagnosis.examine(settings).findings}
    finally:
        rabbitmq.api("DELETE", "/api/users/emptied")
    assert unsent.UNSENT not in {one.code for one in told.attention}, "it is no matter of the broker's disk"
    assert found["doctor.unsent"].message.params == {"tasks": 1}
    remedy = found["doctor.broker_rights"].remedy
    assert remedy is not None
    assert "rabbitmqctl set_permissions -p" in messages.english(remedy)
    assert "doctor.broker_rights" not in only, "who only looks needs none"
    remedy = gone["doctor.broker_gone"].remedy
    assert remedy is not None
    assert remedy.code == "broker.user.remedy"


@pytest.mark.redis
@pytest.mark.parametrize("right", ["zcard", "time", "zrangebyscore"])
def test_a_redis_that_lets_its_user_not_do_all_is_not_called_one_that_does_not_answer(
    amqp_vhost: str, redis_url: str, tmp_path: Path, right: str
) -> None:
    named = redis_url.replace("redis://", "redis://fewer:pw@")
    settings = config.Settings(
        home=str(tmp_path), broker=config.BrokerSettings(url=amqp_vhost), store=config.StoreSettings(url=named)
    )
    with closing(RedisStore(redis_url, SystemClock())) as store:
        store.apply([Create(task=Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work"))])
    with redis.Redis.from_url(redis_url) as client:
        client.execute_command("ACL", "SETUSER", "fewer", "reset", "on", ">pw", "~*", "&*", "+@all", f"-{right}")
        try:
            found = {one.message.code: one for one in diagnosis.examine(settings).findings}
        finally:
            client.execute_command("ACL", "DELUSER", "fewer")
    assert found["doctor.redis_commands"].message.params["commands"] == right.upper()
    assert "doctor.not_looked" in found
    assert not {"doctor.store_gone", "lost.store"} & found.keys()


def test_a_store_that_takes_no_writes_is_named_and_no_worker_is_asked_for(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.create("s1")
    runs = fleet.task(fleet.create("s2"))
    claim = Claim(task_id=runs.task_id, gen=runs.gen, attempt=runs.attempt, owner="w9#1", worker="w9", lease_ms=1)
    assert fleet.engine.store.apply([claim])[0].code == "run"
    of_silence = {"doctor.no_leader", "doctor.no_workers", "doctor.orphans"}
    eventually(lambda: of_silence <= codes(fleet), 10)
    if fleet.settings.embedded:
        monkeypatch.setattr("shutil.disk_usage", lambda _place: SimpleNamespace(total=1, used=1, free=0))
        found = codes(fleet)
    else:
        with redis.Redis.from_url(fleet.settings.store.url) as client:
            client.config_set("min-replicas-to-write", 3)
            try:
                found = codes(fleet)
            finally:
                client.config_set("min-replicas-to-write", 0)
    assert "doctor.no_writes" in found
    assert not of_silence & found


def codes(fleet: Fleet) -> set[str]:
    return {one.message.code for one in diagnosis.examine(fleet.settings).findings}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("repair", "--dry-run"), "looking at every record"),
        (("doctor", "--deep"), "looking at every record"),
        (("doctor",), "looking at the fleet"),
    ],
)
def test_who_waits_at_a_terminal_sees_what_is_done(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    pty = pytest.importorskip("pty")
    configure(tmp_path)
    cli = Cli(tmp_path, environment={"TERM": "xterm"})
    for more, shown in (((), True), (("--json",), False)):
        ours, theirs = pty.openpty()
        argv = [sys.executable, *cli.argv(*words, *more)]
        subprocess.run(argv, env=cli.variables(), stdout=subprocess.DEVNULL, stderr=theirs, check=False, timeout=60)
        os.set_blocking(ours, False)
        try:
            printed = os.read(ours, 65_536).decode()
        except BlockingIOError:
            printed = ""
        os.close(ours)
        os.close(theirs)
        assert (told in printed) is shown, printed
