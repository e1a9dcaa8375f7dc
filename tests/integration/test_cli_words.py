"""Words and exit codes of the command line: wrong usage is 2, cannot connect 3; stdout is for answers alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli_rig import ROOT, Cli, configure
from tests.support.services import free_port


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The command line with a home that no test of this module changes."""
    home = tmp_path_factory.mktemp("home")
    configure(home)
    return Cli(home)


#: words → field that the answer names
WRONG: list[tuple[tuple[str, ...], str]] = [
    (("task",), "VERB"),
    (("task", "frobnicate"), "VERB"),
    (("frobnicate",), "COMMAND"),
    (("stats", "--frobnicate"), "--frobnicate"),
    (("task", "list", "--limit", "many"), "--limit"),
    (("task", "list", "--limit", "0"), "--limit"),
    (("task", "list", "--sort", "colour"), "--sort"),
    (("task", "list", "--filter", "colour:red"), "filter"),
    (("task", "list", "--filter", "status:sleeping"), "filter"),
    (("task", "list", "--cursor", "nonsense"), "cursor"),
    (("task", "show", "nobody"), "id"),
    (("task", "cancel"), "ids"),
    (("task", "cancel", "a", "--filter", "status:queued"), "ids"),
    (("task", "prioritize", "a"), "--priority"),
    (("task", "prioritize", "a", "--priority", "11"), "priority"),
    (("task", "create", "--type", "work"), "--shop"),
    (("task", "create", "--shop", "pdd:s1"), "--type"),
    (("task", "create", "--shop", "s1", "--type", "work"), "--shop"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--priority", "255"), "priority"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--priority", "-1"), "priority"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--payload", "{"), "payload"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--payload", "[1]"), "payload"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--payload", '{"n": NaN}'), "payload"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--payload", '{"a": 1, "a": 2}'), "payload"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--delay", "soon"), "--delay"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--delay", "1e12"), "--delay"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--delay", "nan"), "--delay"),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--delay", "-1"), "--delay"),
    (
        ("task", "create", "--shop", "pdd:s1", "--type", "work", "--on-dependency-failure", "x"),
        "--on-dependency-failure",
    ),
    (("task", "create", "--shop", "pdd:s1", "--type", "work", "--batch", "a b"), "--batch"),
    (("stats", "--batch", "nobody"), "--batch"),
    (("task", "create", "--file", "/nowhere/tasks.csv"), "--file"),
    (("dead", "list", "--limit", "-3"), "--limit"),
    (("dead", "show", "nobody"), "id"),
    (("dead", "republish", "a", "b", "--yes", "--payload", "{}"), "payload"),
    (("dead", "list", "--triage", "lost"), "--triage"),
    (("dead", "republish", "a", "--rate", "-1"), "--rate"),
    (("dead", "republish", "a", "--rate", "fast"), "--rate"),
    (("dead", "republish", "a", "--probe", "101"), "--probe"),
    (("dead", "republish", "a", "--skip", "everything"), "--skip"),
    (("dead", "republish", "a", "--payload", "{}", "--probe", "1"), "payload"),
    (("dead", "republish", "a", "--if-duplicate", "force"), "reason"),
    (("dead", "republish", "a", "b"), "--yes"),
    (("shop", "show", "nobody"), "shop"),
    (("shop", "import", "/nowhere/shops.csv"), "file"),
    (("audit", "list", "--limit", "-1"), "--limit"),
    (("schedule",), "VERB"),
    (("schedule", "add", "n", "--cron", "@daily", "--all"), "--type"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "61 * * * *", "--all"), "cron"),
    (("schedule", "add", "n", "--type", "sync_order", "--all"), "cron"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily", "--every", "1h", "--all"), "cron"),
    (("schedule", "add", "n", "--type", "sync_order", "--every", "often", "--all"), "every"),
    (("schedule", "add", "n", "--type", "sync_order", "--every", "5s", "--all"), "every"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily", "--zone", "Mars/Base", "--all"), "zone"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily", "--start", "now", "--all"), "start"),
    (("schedule", "add", "n", "--type", "sync_order", "--every", "1h", "--start", "soon", "--all"), "start"),
    (("schedule", "add", "n", "--type", "sync_oder", "--cron", "@daily", "--all"), "type"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily", "--shop", "nobody"), "shop"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily"), "shop"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@hourly", "--all", "--spread", "2h"), "spread"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily", "--all", "--missed", "all"), "--missed"),
    (("schedule", "add", "a b", "--type", "sync_order", "--cron", "@daily", "--all"), "name"),
    (("schedule", "add", "n", "--type", "sync_order", "--cron", "@daily", "--all", "--payload", "{"), "payload"),
    (("schedule", "show", "nobody"), "name"),
    (("schedule", "enable", "nobody"), "name"),
    (("schedule", "run", "nobody"), "name"),
    (("schedule", "remove", "nobody"), "--yes"),
    (("schedule", "remove", "nobody", "--yes"), "name"),
    (("schedule", "zone", "Mars/Base"), "zone"),
    (("queue", "pause", "high"), "scope"),
    (("queue", "pause", "rpa_tasks_low", "--yes"), "scope"),
    (("queue", "pause", "shop:pdd:s1"), "scope"),
    (("queue", "pause", "platform:"), "scope"),
    (("queue", "pause", "platform:a b", "--yes"), "scope"),
    (("queue", "pause", "all"), "--yes"),
    (("worker", "drain"), "worker"),
    (("worker", "drain", "--all"), "worker"),
    (("worker", "stop", "nobody"), "worker"),
    (("worker", "slots", "nobody", "0"), "count"),
    (("audit", "list", "--filter", "colour:red"), "filter"),
    (("type", "import"), "FILE"),
    (("export",), "--out"),
    (("export", "--filter", "colour:red", "--out", "/nowhere/x.jsonl"), "--out"),
    (("import", "/nowhere/x.jsonl"), "FILE"),
    (("type", "show", "nothing"), "name"),
    (("worker", "--slots", "0"), "--slots"),
    (("worker", "--slots", "513"), "--slots"),
    (("worker", "--slots", "2,low=3"), "--slots"),
    (("worker", "--lanes", "fast"), "--lanes"),
    (("worker", "--handlers", "no.such.module"), "worker.handlers"),
    (("demo", "--shops", "0"), "--shops"),
    (("demo", "--seconds", "-1"), "--seconds"),
    (("demo", "--seconds", "0"), "--seconds"),
    (("demo", "--seconds", "nan"), "--seconds"),
    (("stats", "--profile", "nobody"), "--profile"),
    (("stats", "--broker", "amqp://localhost"), "--redis"),
    (("stats", "--broker", "http://localhost", "--redis", "redis://localhost"), "--broker"),
    (("stats", "--broker", "amqp://localhost", "--redis", "ftp://localhost"), "--redis"),
    (("stats", "--broker", "foo", "--redis", "redis://localhost"), "--broker"),
    (("stats", "--broker", "amqp://localhost", "--redis", "foo"), "--redis"),
    (("stats", "--broker", "amqp://localhost?frame=1", "--redis", "redis://localhost"), "--broker"),
    (("task", "create", "--shop", "pdd:s1", "--type", "sync_oder", "--strict"), "--type"),
]
#: fields of a new task that are refused one by one → field in ``errors``
REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("--shop", "pdd:s#1", "--type", "work"), "shop"),
    (("--shop", "pdd:" + "s" * 300, "--type", "work"), "shop"),
    (("--shop", "pdd:high", "--type", "work"), "shop"),
    (("--shop", "pdd:Ｓ１", "--type", "work"), "shop"),
    (("--shop", "p.d.d:s1", "--type", "work"), "platform"),
    (("--shop", "pdd:s1", "--type", "os.system"), "type"),
    (("--shop", "pdd:s1", "--type", "work", "--payload", '{"a":' * 70 + "1" + "}" * 70), "payload"),
    (("--shop", "pdd:s1", "--type", "work", "--payload", '{"a": "\\ud800"}'), "payload"),
    (("--shop", "pdd:s1", "--type", "sync_order", "--payload", '{"page_size": 0}'), "page_size"),
    (("--shop", "pdd:s1", "--type", "batch_reply"), "text"),
]
INSIDE = """
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import main
answers = []
for words in json.loads(sys.stdin.read()):
    sys.argv = ["main.py", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.main()
    answers.append([code, out.getvalue(), err.getvalue()])
qt = [name for name in sys.modules if name.partition(".")[0] in ("PySide6", "shiboken6", "qasync", "pyqtgraph")]
print(json.dumps({"answers": answers, "qt": qt}))
"""


def answers(cli: Cli, commands: list[tuple[str, ...]]) -> list[tuple[int, str, str]]:
    """Codes and outputs of many commands in one process, which spares a second for each; and no Qt in it."""
    done = subprocess.run(
        [sys.executable, "-c", INSIDE, str(ROOT)],
        input=json.dumps([["--json", *words] for words in commands]),
        env=cli.variables(),
        cwd=cli.home,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["qt"] == [], "headless commands load no Qt"
    return [(code, out, err) for code, out, err in found["answers"]]


def helps(cli: Cli, nouns: list[str]) -> list[tuple[int, str, str]]:
    """What ``--help`` of each noun prints; it leaves the process, so each has one."""
    found = [cli.call(noun, "--help") for noun in nouns]
    return [(done.returncode, done.stdout, done.stderr) for done in found]


def test_wrong_usage_is_2_and_names_the_field(cli: Cli) -> None:
    faults = []
    for (words, field), (code, out, err) in zip(WRONG, answers(cli, [words for words, _ in WRONG]), strict=True):
        try:
            document = json.loads(out)
        except ValueError:
            faults.append((words, code, out[-300:], err[-300:]))
            continue
        if (code, document.get("field")) != (2, field) or not document.get("error"):
            faults.append((words, code, document, err[-300:]))
    assert not faults


def test_an_option_before_a_verb_that_is_missing_is_told_apart_from_a_misspelt_verb(cli: Cli) -> None:
    told = cli.run("handover", "--since", "12h", code=2)["error"]
    assert "--since stands behind the verb: say first which of show, plan" in told
    assert "did you mean show" in cli.run("handover", "shwo", code=2)["error"]


def test_a_batch_without_a_name_is_named_as_such(cli: Cli) -> None:
    assert "no batch '';" in cli.run("batch", "show", "", code=2)["error"]


def test_a_task_that_cannot_be_is_2_and_names_the_field(cli: Cli) -> None:
    commands = [("task", "create", *words) for words, _ in REFUSED]
    faults = []
    for (words, field), (code, out, _) in zip(REFUSED, answers(cli, commands), strict=True):
        document = json.loads(out)
        named = [one["field"] for one in document.get("errors", [])]
        if (code, named, document.get("created")) != (2, [field], []):
            faults.append((words, code, document))
    assert not faults
    assert cli.run("stats")["total"] == 0


def test_options_may_stand_before_and_after_the_verb(cli: Cli) -> None:
    for words in (
        ("--json", "task", "list"),
        ("task", "--json", "list"),
        ("task", "list", "--json"),
        ("--profile", "local", "task", "list", "--json"),
        ("task", "list", "--json", "--profile", "local"),
    ):
        done = cli.call(*words)
        nothing = {"tasks": [], "next": None, "total": 0, "at_least": 0}
        assert (done.returncode, json.loads(done.stdout)) == (0, nothing), words


def test_without_json_people_read_it(cli: Cli) -> None:
    done = cli.call("stats")
    assert (done.returncode, done.stderr) == (0, "")
    assert "dead letters open: 0" in done.stdout
    wrong = cli.call("task", "show", "nobody")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "there is no task" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    version = cli.call("--version")
    assert (version.returncode, version.stdout.split()[0]) == (0, "fleetdeck")


def test_bytes_that_are_no_text_are_refused(cli: Cli) -> None:
    done = subprocess.run(
        [sys.executable.encode(), str(ROOT / "main.py").encode(), b"--json", b"task", b"list", b"--filter", b"\xff"],
        env=cli.variables() | {"LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "not text" in json.loads(done.stdout)["error"]


def test_a_service_that_is_not_there_is_3(cli: Cli) -> None:
    nobody = free_port()
    words = ("stats", "--broker", f"amqp://127.0.0.1:{nobody}", "--redis", f"redis://127.0.0.1:{nobody}/0")
    document = cli.run(*words, code=3)
    assert str(nobody) in document["error"]


def test_a_broker_that_is_not_there_keeps_nobody_from_looking_nor_from_creating(
    cli: Cli, redis_url: str, amqp_vhost: str
) -> None:
    nobody = free_port()
    where = ("--broker", f"amqp://user:secret@127.0.0.1:{nobody}/v", "--redis", redis_url)
    looked = cli.call("stats", *where)
    assert looked.returncode == 0, "records are read all the same"
    assert str(nobody) in looked.stdout + looked.stderr
    assert "secret" not in looked.stdout + looked.stderr
    done = cli.call("task", "create", "--shop", "pdd:s1", "--type", "work", *where, "--json")
    assert done.returncode == 0, "it is recorded as by a window, and sent when the broker is back"
    document = json.loads(done.stdout)
    assert (len(document["created"]), document["unconfirmed"]) == (1, 1)
    assert str(nobody) in document["unsent"]
    assert "secret" not in done.stdout + done.stderr
    told = cli.call("task", "create", "--shop", "pdd:s2", "--type", "work", *where)
    assert "1 recorded and not sent yet (Nothing listens at" in told.stdout
    assert told.stderr.count("Nothing listens at") == 1, "why is told once, before it is tried"
    refused = cli.call("stats", "--broker", amqp_vhost.replace("guest:guest", "guest:other"), "--redis", redis_url)
    assert "The broker refuses this program" in refused.stderr
    resent = cli.call("task", "retry", document["created"][0], *where, "--json")
    assert resent.returncode == 3, "what only sends cannot be done"


@pytest.mark.parametrize(
    ("environment", "field"),
    [
        ({"FLEETDECK_BROKER__URL": "foo", "FLEETDECK_STORE__URL": "redis://localhost"}, "broker.url"),
        ({"FLEETDECK_BROKER__URL": "amqp://localhost", "FLEETDECK_STORE__URL": "foo"}, "store.url"),
        (
            {"FLEETDECK_PROFILES": '{"x": {"broker": "foo", "redis": "redis://h"}}', "FLEETDECK_PROFILE": "x"},
            "profiles.x.broker",
        ),
    ],
)
def test_an_address_that_is_none_is_2_wherever_it_comes_from(
    tmp_path: Path, environment: dict[str, str], field: str
) -> None:
    document = Cli(tmp_path, environment=environment).run("stats", code=2)
    assert document["field"] == field
    assert "://" in document["error"]


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_home_that_is_a_file_is_2(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    document = Cli(tmp_path / "file" / inside).run("stats", code=2)
    assert document["field"] == "FLEETDECK_HOME"
    assert "is not a folder" in document["error"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("words", [["queue", "list"], ["queue", "list", "--json"]])
def test_an_answer_that_the_disk_does_not_take_is_told_in_a_sentence(tmp_path: Path, words: list[str]) -> None:
    here = Cli(tmp_path)
    with Path("/dev/full").open("wb") as full:
        argv = [sys.executable, *here.argv(*words)]
        done = subprocess.run(
            argv, env=here.variables(), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr.endswith("fleetdeck: there is no room left on the disk\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of folders are text")
def test_a_home_whose_name_is_no_text_is_used(tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode("店铺".encode("gbk"))
    here = Cli(home)
    (task_id,) = here.run("task", "create", "--shop", "pdd:s1", "--type", "flow")["created"]
    assert here.run("task", "show", task_id)["task"]["task_id"] == task_id
    assert (home / "local.sqlite").is_file()


def test_a_misspelt_type_is_told_and_runs(tmp_path: Path) -> None:
    configure(tmp_path)
    here = Cli(tmp_path)
    document = here.run("task", "create", "--shop", "pdd:s1", "--type", "sync_oder")
    assert len(document["created"]) == 1
    assert "did you mean sync_order?" in document["warnings"][0]
    told = here.call("task", "create", "--shop", "pdd:s2", "--type", "sync_oder")
    assert (told.returncode, "warning" in told.stderr, "warning" in told.stdout) == (0, True, False)


def test_of_a_type_that_cannot_be_it_is_not_said_that_it_runs(cli: Cli) -> None:
    said = cli.call("task", "create", "--shop", "pdd:s1", "--type", "a b")
    assert said.returncode == 2
    assert "type must be" in said.stdout + said.stderr
    assert "it runs on" not in said.stdout + said.stderr


def test_every_noun_shows_examples(cli: Cli) -> None:
    nouns = ["task", "dead", "shop", "worker", "queue", "type", "audit"]
    for noun, (code, out, _) in zip(nouns, helps(cli, nouns), strict=True):
        assert code == 0
        assert f"  fleetdeck {noun} " in out.partition("examples:")[2], noun


def test_a_home_that_is_none_is_3(tmp_path: Path) -> None:
    (tmp_path / "local.sqlite").write_bytes(b"this is no database at all, but long enough to look at" * 100)
    done = Cli(tmp_path).call("stats", "--json")
    assert done.returncode in (1, 3), done.stderr
    assert "local.sqlite" in json.loads(done.stdout)["error"] or "database" in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[worker]\nslots = 'many'\n", "slots"),
        (b"[worker]\nsloots = 3\n", "sloots"),
        (b"[worker\n", "TOML"),
        (b"\xff\xfe", "UTF-8"),
        (b"worker = 3\n", "worker"),
    ],
)
def test_a_bad_configuration_is_2_and_names_the_field(tmp_path: Path, text: bytes, says: str) -> None:
    (tmp_path / "config.toml").write_bytes(text)
    document = Cli(tmp_path).run("stats", code=2)
    assert says in document["error"]


def test_a_configuration_of_windows_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbf[worker]\r\nslots = 3\r\n")
    assert Cli(tmp_path).run("stats")["total"] == 0


def test_the_second_pair_answers_the_same_words(cli: Cli, amqp_vhost: str, redis_url: str) -> None:
    there = Cli(cli.home, words=("--broker", amqp_vhost, "--redis", redis_url))
    (task_id,) = there.run("task", "create", "--shop", "pdd:s1", "--type", "flow")["created"]
    assert there.run("worker", "--drain")["clean"] is True
    assert there.run("task", "show", task_id)["task"]["status"] == "succeeded"
    assert {one["name"] for one in there.run("queue", "list")["queues"]} >= {"rpa_tasks_high", "rpa_dead_queue"}
    assert there.run("stats")["status"] == {"succeeded": 1}


def test_the_demo_leaves_a_fleet_in_use_alone(cli: Cli, amqp_vhost: str, redis_url: str) -> None:
    there = Cli(cli.home, words=("--broker", amqp_vhost, "--redis", redis_url))
    (task_id,) = there.run("task", "create", "--shop", "pdd:s1", "--type", "flow")["created"]
    refused = there.run("demo", "--seconds", 1, code=2)
    assert "in use" in refused["error"]
    assert there.run("task", "show", task_id)["task"]["status"] == "queued"
