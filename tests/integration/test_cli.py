"""The command line on one machine: every verb, its document, its exit code."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import openpyxl
import pytest

from services.broker.sqlite.broker import EmbeddedBroker
from services.clock import ManualClock, SystemClock
from services.commands.audit import Audit, heard, undoing
from services.domain.change import Create
from services.domain.errors import UsageError
from services.domain.task.order import Order
from services.domain.task.record import Task
from services.store.sqlite.store import EmbeddedStore
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli, eventually_ended
from tests.integration.fleet_rig import HANDLERS, lines

LANES = {"high", "normal", "low", "dedicated"}


def create(cli: Cli, shop: str = "s1", kind: str = "work", payload: object = None, *words: object) -> str:
    """A new task."""
    text = json.dumps(payload or {})
    document = cli.run("task", "create", "--shop", f"pdd:{shop}", "--type", kind, "--payload", text, *words)
    (task_id,) = document["created"]
    assert (document["duplicates"], document["errors"]) == ([], [])
    return str(task_id)


# ----------------------------------------------------------------------------------------------------------------- task
def test_what_lies_ahead_goes_by_the_clock_of_the_store(cli: Cli) -> None:
    create(cli)
    ahead = EmbeddedStore(cli.home / "local.sqlite", ManualClock(SystemClock().now_ms() + 3_600_000))
    ahead.apply([Create(task=Task(task_id="x", shop_id="s", platform="pdd", task_type="work"))])
    ahead.close()
    planned = create(cli, "s2", "work", {}, "--not-before", "2h", "--deadline", "3h")
    task = cli.run("task", "show", planned)["task"]
    created, due, deadline = (datetime.fromisoformat(task[name]) for name in ("created_at", "due_at", "deadline"))
    assert abs((due - created).total_seconds() - 7_200) < 60
    assert abs((deadline - created).total_seconds() - 10_800) < 60


def test_a_task_from_creation_to_its_end(cli: Cli) -> None:
    task_id = create(cli, "s1", "work", {"n": 1}, "--priority", "8")
    shown = cli.run("task", "show", task_id)
    assert set(shown) == {"task", "attempts", "gates", "events", "gate", "sentence", "estimate", "last_attempt"}
    assert (shown["gate"], shown["estimate"]) == ("no_worker", None)
    task = shown["task"]
    assert (task["task_id"], task["status"], task["priority"], task["lane"]) == (task_id, "queued", 8, "high")
    assert (task["payload"], task["result"], task["started_at"]) == ({"n": 1}, None, None)
    assert task["created_at"].endswith("+00:00")
    assert [gate["name"] for gate in shown["gates"] if gate["state"] == "closed"] == ["no_worker"]
    assert [(event["from"], event["to"]) for event in shown["events"]] == [("", "pending"), ("pending", "queued")]

    drained = cli.drain()
    assert drained["clean"] is True
    shown = cli.run("task", "show", task_id)
    assert (shown["task"]["status"], shown["task"]["result"]) == ("succeeded", {"attempt": 1, "shop": "s1"})
    assert [(one["number"], one["outcome"], one["worker"]) for one in shown["attempts"]] == [
        (1, "succeeded", drained["worker"])
    ]
    assert shown["gates"] == []

    listed = cli.run("task", "list", "--filter", "status:succeeded shop:s1", "--limit", 10, "--sort", "updated")
    assert set(listed) == {"tasks", "next", "total", "at_least"}
    assert ([one["task_id"] for one in listed["tasks"]], listed["next"], listed["total"]) == ([task_id], None, 1)
    assert cli.run("task", "list", "--filter", "status:dead")["tasks"] == []
    people = cli.call("task", "show", task_id)
    assert (people.returncode, people.stderr) == (0, "")
    assert "succeeded" in people.stdout


def test_pages_follow_each_other(cli: Cli) -> None:
    for number in range(3):
        create(cli, f"s{number}")
    first = cli.run("task", "list", "--limit", 2, "--sort", "created")
    second = cli.run("task", "list", "--limit", 2, "--sort", "created", "--cursor", first["next"])
    assert [one["shop_id"] for one in [*first["tasks"], *second["tasks"]]] == ["s2", "s1", "s0"]
    assert second["next"] is None
    oldest = cli.run("task", "list", "--limit", 1, "--reverse")
    assert [one["shop_id"] for one in oldest["tasks"]] == ["s0"]


@pytest.mark.parametrize("order", ["created", "updated", "priority", "due"])
def test_a_list_shows_what_it_is_sorted_by(cli: Cli, order: str) -> None:
    create(cli, "s1", "work", None, "--delay", "3m")
    heads = cli.call("task", "list", "--sort", order).stdout.splitlines()[0].lower().split()
    assert any(head.startswith(order) for head in heads), heads


def test_duplicates_are_refused_queued_or_forced(cli: Cli) -> None:
    words = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "sync_order")
    (first,) = cli.run(*words)["created"]
    refused = cli.run(*words, code=1)
    assert refused["created"] == []
    assert [(one["existing"], one["status"]) for one in refused["duplicates"]] == [(first, "queued")]
    assert len(cli.run(*words, "--if-duplicate", "queue")["created"]) == 1
    assert cli.run(*words, "--if-duplicate", "force", code=2)["errors"][0]["field"] == "reason"
    (forced,) = cli.run(*words, "--if-duplicate", "force", "--reason", "the first hangs")["created"]
    task = cli.run("task", "show", forced)["task"]
    assert (task["marks"], task["reason"]) == (["forced"], "the first hangs")
    told = cli.run("task", "duplicates")
    assert [(one["outcome"], one["holder"], one["holder_status"]) for one in told["duplicates"]] == [
        (outcome, first, "queued") for outcome in ("forced", "queued", "refused")
    ]
    assert all(one["by"] and one["at"] and one["shop"] == "pdd:s1" for one in told["duplicates"])
    total = {"refused": 1, "queued": 1, "forced": 1, "waits": 0, "held": 0}
    assert told["total"] == cli.run("stats")["duplicates"] == total
    assert {(one["type"], one["count"]) for one in told["counts"]} == {("sync_order", 1)}


def test_waiting_tasks_are_changed_in_bulk(cli: Cli) -> None:
    ids = [create(cli, f"s{number}", "work", None, "--priority", "low") for number in range(4)]
    assert cli.run("task", "prioritize", ids[0], "--priority", "high")["done"] == [ids[0]]
    assert cli.run("task", "show", ids[0])["task"]["gen"] == 1
    preview = cli.run("task", "cancel", "--filter", "lane:low", "--dry-run")
    assert (preview["dry_run"], preview["count"], sorted(preview["ids"])) == (True, 3, sorted(ids[1:]))
    refused = cli.run("task", "cancel", "--filter", "lane:low", code=2)
    assert refused["field"] == "--yes"
    assert cli.run("stats")["status"] == {"queued": 4}, "nothing has happened so far"
    assert cli.run("task", "run-now", ids[1])["done"] == [ids[1]]
    done = cli.run("task", "cancel", "--filter", "lane:low", "--yes", "--reason", "not today")
    assert sorted(done["done"]) == sorted(ids[2:])
    again = cli.run("task", "cancel", ids[2], ids[3], "nobody", "--yes", code=1)
    assert again["done"] == [], "cancelled already is not done once more"
    assert [(one["id"], one["code"]) for one in again["skipped"]] == [
        (ids[2], "task.already_cancelled"),
        (ids[3], "task.already_cancelled"),
        ("nobody", "task.unknown"),
    ]
    assert cli.run("task", "retry", ids[2], code=1)["skipped"][0]["code"] == "retry.use_duplicate"
    assert cli.run("stats")["status"] == {"queued": 2, "cancelled": 2}


def test_a_person_is_asked_before_a_bulk_act(cli: Cli) -> None:
    ids = [create(cli, f"s{number}") for number in range(2)]
    done = cli.call("task", "cancel", *ids)
    assert done.returncode == 2, "nobody sits at this terminal"
    assert "cancel 2 tasks: add --yes" in done.stderr
    assert "cancel 1 task: add --yes" in cli.call("task", "cancel", "--filter", "shop:s0").stderr
    assert cli.call("task", "cancel", *ids, "--yes").returncode == 0


def test_a_delayed_task_waits_in_the_store(cli: Cli) -> None:
    task_id = create(cli, "s1", "work", None, "--delay", "3600")
    shown = cli.run("task", "show", task_id)
    assert shown["task"]["status"] == "scheduled"
    (closed,) = [gate for gate in shown["gates"] if gate["state"] == "closed"]
    assert closed["code"] == "gate.scheduled"
    assert closed["text"].startswith("Starts in "), "a code, what it is about, and the English of both"
    assert cli.drain()["clean"] is True, "a plan keeps no worker from leaving"
    assert cli.run("task", "run-now", task_id)["done"] == [task_id]
    cli.drain()
    assert cli.run("task", "show", task_id)["task"]["status"] == "succeeded"


def test_what_a_handler_prints_is_no_part_of_the_answer(cli: Cli) -> None:
    task_id = create(cli, "s1", "work", {"say": "hello"})
    assert cli.drain()["clean"]
    assert cli.run("task", "show", task_id)["task"]["status"] == "succeeded"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_worker_whose_handlers_hang_when_they_are_imported_is_ended_by_ctrl_c(cli: Cli) -> None:
    with cli.start("worker", "--handlers", "tests.integration.hanging_handlers") as process:
        eventually(lambda: "hangs" in (cli.home / "stderr.txt").read_text(encoding="utf-8"), 60)
        process.send_signal(signal.SIGINT)
        assert eventually_ended(process) == 1


def test_a_draining_worker_stays_for_what_is_due_in_a_moment(cli: Cli) -> None:
    soon = create(cli, "s1", "work", None, "--delay", "8")
    later = create(cli, "s2", "work", None, "--delay", "3600")
    assert cli.drain()["gates"] == {"not_due": 1}
    assert cli.run("task", "show", soon)["task"]["status"] == "succeeded"
    assert cli.run("task", "show", later)["task"]["status"] == "scheduled"


def test_a_draining_worker_waits_for_no_breaker_and_says_so(cli: Cli) -> None:
    cli.run("shop", "breaker", "--failures", "1", "--of", "1", "--cooldown", "20m", "--yes")
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "work", "--payload", '{"fail": "risk_control"}')
    told = cli.call("worker", "--drain", "--handlers", HANDLERS).stdout.splitlines()
    assert told[1:] == ["these wait on, and it has not waited for them:", "at gate breaker: 1"]


def test_a_task_that_may_not_begin_any_more_ends_as_a_dead_letter(cli: Cli) -> None:
    words = ("task", "create", "--shop", "pdd:s1", "--type", "work")
    refused = cli.run(*words, "--not-before", "2020-01-01T00:00", code=2)
    assert refused["field"] == "--not-before"
    assert "past" in refused["error"]
    (never,) = cli.run(*words, "--not-before", "2h", "--deadline", "1h", code=2)["errors"]
    assert never["field"] == "deadline"
    (task_id,) = cli.run(*words, "--deadline", "4s", "--if-duplicate", "queue")["created"]
    shown = cli.run("task", "show", task_id)["task"]
    deadline = datetime.fromisoformat(shown["deadline"])
    assert deadline.tzinfo is not None
    cli.run("shop", "pause", "pdd:s1", "--reason", "stock")
    eventually(lambda: datetime.now(UTC) > deadline, 30)
    cli.drain()
    shown = cli.run("task", "show", task_id)["task"]
    assert (shown["status"], shown["error_kind"], shown["attempt"]) == ("dead", "expired", 0)


# ---------------------------------------------------------------------------------------------------------------- files
def test_tasks_from_a_file_tell_the_line_of_each_fault(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "tasks.csv"
    table.write_text(
        "platform,shop,type,payload,priority,payload.page\n"
        'pdd,s1,work,"{""n"": 1}",high,2\n'
        "pdd,s#2,work,,,\n"
        "pdd,s3,,,,\n"
        'pdd,s4,work,"{""a"":1,""a"":2}",,\n'
        "pdd,s5,work,,urgent,\n"
        'pdd,s1,work,"{""n"": 1}",high,2\n'
        "temu,s6,work,,3,\n",
        encoding="utf-8-sig",
    )
    words = ("task", "create", "--file", table, "--allow-unknown")
    document = cli.run(*words, code=2)
    assert (document["created"], document["bad_rows"], document["rows"]) == ([], 4, 7)
    assert [(one["row"], one["field"]) for one in document["bad"]] == [
        (3, "shop"),
        (4, "type"),
        (5, "payload"),
        (6, "priority"),
    ]
    assert "row 3" in document["error"]
    document = cli.run(*words, "--skip-bad", code=2)
    assert len(document["created"]) == 2
    assert [one["row"] for one in document["repeated"]] == [7]
    first = cli.run("task", "show", document["created"][0])["task"]
    assert (first["payload"], first["origin"]) == ({"n": 1, "page": 2}, "file")


def test_tasks_from_jsonl_and_xlsx(cli: Cli, tmp_path: Path) -> None:
    rows = tmp_path / "tasks.jsonl"
    rows.write_text(
        '{"platform": "pdd", "shop": "s1", "type": "work", "payload": {"text": "a\u2028b"}, "priority": 9}\n\n'
        '{"shop": "pdd:s2", "type": "work"}\n',
        encoding="utf-8",
    )
    assert len(cli.run("task", "create", "--file", rows, "--allow-unknown")["created"]) == 2
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["platform", "shop", "type", "payload.n", "delay"], ["pdd", 17, "work", 1, None], [None] * 5):
        sheet.append(row)
    book.save(tmp_path / "tasks.xlsx")
    (task_id,) = cli.run("task", "create", "--file", tmp_path / "tasks.xlsx", "--allow-unknown")["created"]
    task = cli.run("task", "show", task_id)["task"]
    assert (task["shop_id"], task["payload"]) == ("17", {"n": 1})


def test_a_file_that_is_none_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"no zip at all")
    document = cli.run("task", "create", "--file", tmp_path / "a.xlsx", code=2)
    assert document["field"] == "--file"
    assert "a.xlsx" in document["error"]


# ----------------------------------------------------------------------------------------------------------------- dead
def test_dead_letters_are_triaged(cli: Cli) -> None:
    fails = {"fail": "missing_secret", "text": "the secret desk/password is missing"}
    ids = [create(cli, f"s{number}", "work", fails | {"n": number}) for number in range(4)]
    cli.drain()
    listed = cli.run("dead", "list")
    assert {one["task_id"] for one in listed["tasks"]} == set(ids)
    (cause,) = listed["causes"]
    assert (cause["kind"], cause["count"], cause["shops"], cause["scope"]) == ("missing_secret", 4, 4, "platform")
    shown = cli.run("dead", "show", ids[0])
    assert shown["task"]["error_kind"] == "missing_secret"
    assert json.loads(shown["message"]["body"])["task_id"] == ids[0]
    assert set(shown) == {"task", "attempts", "gates", "events", "message", "verdict", "worth", "notes"}

    republished = cli.run("dead", "republish", ids[0], "--payload", '{"n": 0}')
    new = republished["created"][ids[0]]
    assert cli.run("task", "show", new)["task"]["parent"] == ids[0]
    assert cli.run("dead", "republish", ids[0], code=1)["skipped"][0]["code"] == "dead.already"
    assert cli.run("dead", "archive", ids[1], "--note", "known")["done"] == [ids[1]]
    assert cli.run("dead", "ignore", ids[2])["done"] == [ids[2]]
    preview = cli.run("dead", "republish", "--filter", "kind:missing_secret", "--dry-run")
    assert preview["ids"] == [ids[3]], "a filter means the open ones"
    retried = cli.run("task", "retry", ids[3])
    assert set(retried["created"]) == {ids[3]}
    assert cli.run("dead", "list")["tasks"] == []
    assert [one["task_id"] for one in cli.run("dead", "list", "--triage", "archived")["tasks"]] == [ids[1]]
    assert cli.run("dead", "restore", ids[1], ids[2], "--yes")["done"] == [ids[1], ids[2]]
    assert cli.run("dead", "note", ids[1], " asked for a\nnew password ")["done"] == [ids[1]]
    (note,) = cli.run("dead", "show", ids[1])["notes"]
    assert (note["text"], "@" in note["by"]) == ("asked for a\nnew password", True)
    assert "asked for a new password" in cli.call("dead", "show", ids[1]).stdout
    assert cli.run("dead", "note", ids[1], "  ", code=2)["field"] == "text"
    assert cli.run("dead", "note", new, "x", code=1)["skipped"][0]["code"] == "dead.not_dead"
    assert cli.run("stats")["dead_open"] == 2
    told = cli.call("stats").stdout.splitlines()
    assert "dead       4, 2 of them open" in told, "what is closed counts apart"
    cli.drain()
    assert cli.run("task", "show", new)["task"]["status"] == "succeeded"
    assert cli.run("dead", "show", new, code=2)["field"] == "id"


# ---------------------------------------------------------------------------------------------------------------- fleet
def test_shops_are_imported_paused_and_shown(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "shops.csv"
    table.write_text(
        "platform,shop_id,name,name_en,group,concurrency\npdd,s1,一号店,First,a,2\ntemu,s1,,,,\ntemu,s2,,,,\n",
        encoding="utf-8",
    )
    assert cli.run("shop", "import", table) == {"imported": 3, "errors": [], "warnings": []}
    shops = cli.run("shop", "list")["shops"]
    assert [(one["platform"], one["shop_id"], one["concurrency"]) for one in shops] == [
        ("pdd", "s1", 2),
        ("temu", "s1", 1),
        ("temu", "s2", 1),
    ]
    assert cli.run("shop", "show", "pdd:s1")["shop"]["name"] == "一号店"
    assert cli.run("shop", "show", "s2")["shop"]["platform"] == "temu"
    assert "several platforms" in cli.run("shop", "show", "s1", code=2)["error"]
    assert cli.run("shop", "pause", "pdd:s1", "--reason", "login")["paused"] == "pdd:s1"
    task_id = create(cli)
    create(cli, "s2")
    cli.drain()
    shown = cli.run("task", "show", task_id)
    assert shown["task"]["status"] == "blocked"
    closed = [gate for gate in shown["gates"] if gate["state"] == "closed"]
    assert [(gate["code"], gate["params"]["reason"]) for gate in closed] == [("gate.paused", "login")]
    shop = cli.run("shop", "show", "pdd:s1")["shop"]
    assert (shop["paused"], shop["active"], shop["dead"]) == (True, 1, 0)
    assert (shop["state"], shop["state_word"], shop["under"]) == ("paused", "Paused", "waiting")
    assert shop["reason"].startswith("The shop is paused by ")
    assert [(one["scope"], one["reason"], bool(one["by"] and one["since"])) for one in shop["held_by"]] == [
        ("shop:pdd:s1", "login", True)
    ]
    assert shop["can"][0] == {"verb": "resume", "target": "shop:pdd:s1"}
    listed = {one["shop_id"]: one for one in cli.run("shop", "list")["shops"] if one["platform"] == "pdd"}
    assert listed["s1"]["state"] == "paused"
    people = cli.call("shop", "show", "pdd:s1").stdout
    assert "Paused" in people
    assert "shop resume pdd:s1" in people
    chinese = Cli(cli.home, environment=cli.environment | {"FLEETDECK_LANGUAGE": "zh_CN"})
    heads = [line.split()[0] for line in chinese.call("shop", "show", "pdd:s1").stdout.splitlines() if line]
    assert heads.count("状态") == 1
    assert cli.run("shop", "resume", "pdd:s1") == {"resumed": "pdd:s1", "was_paused": True}
    assert cli.run("shop", "resume", "pdd:s1")["was_paused"] is False
    cli.drain()
    assert cli.run("task", "show", task_id)["task"]["status"] == "succeeded"


def test_a_bad_shop_file_names_its_line(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "shops.csv"
    for row, says in (("pdd,s#1,1", "s#1"), ("pdd,,1", "line 2"), ("pdd,s1,many", "line 2"), ("pdd,s1,0", "1 to 64")):
        table.write_text(f"platform,shop_id,concurrency\n{row}\n", encoding="utf-8")
        assert says in cli.run("shop", "import", table, code=2)["error"]
    table.write_text("platform,shop_id,concurrency\npdd,s1,1\npdd,s#2,1\npdd,s3,2\npdd,s4,99\n", encoding="utf-8")
    refused = cli.run("shop", "import", table, code=2)
    assert (refused["imported"], [(one["line"], one["field"]) for one in refused["errors"]]) == (
        0,
        [(3, "shop_id"), (5, "concurrency")],
    )
    assert cli.run("shop", "list")["shops"] == [], "nothing of a file with bad lines is imported"
    partly = cli.run("shop", "import", table, "--skip-bad", code=2)
    assert (partly["imported"], len(partly["errors"])) == (2, 2)
    assert [one["shop_id"] for one in cli.run("shop", "list")["shops"]] == ["s1", "s3"]


def test_a_shop_that_only_tasks_tell_of_is_paused_and_registered(cli: Cli) -> None:
    task_id = create(cli, "s1")
    assert cli.run("shop", "list")["shops"][0]["unregistered"] is True
    assert cli.run("shop", "pause", "s1", "--note", "login expired", "--yes") == {
        "paused": "pdd:s1",
        "was_paused": False,
    }
    shop = cli.run("shop", "show", "s1")["shop"]
    assert (shop["platform"], shop["unregistered"], shop["paused"]) == ("pdd", True, True)
    assert cli.run("shop", "pause", "temu:s1", code=2)["field"] == "shop"
    assert "no task of it" in cli.run("shop", "pause", "s9", code=2)["error"]
    cli.run("task", "cancel", task_id)
    assert cli.run("shop", "resume", "s1", "--note", "signed in")["was_paused"] is True
    resumed, paused = [
        one for one in cli.run("audit", "list", "--limit", 10)["entries"] if one["action"] in ("pause", "resume")
    ]
    assert (json.loads(resumed["detail"]), json.loads(paused["detail"])) == (
        {"note": "signed in", "was": {"by": paused["who"], "reason": "login expired"}, "via": "cli"},
        {"reason": "login expired", "was": {}, "via": "cli"},
    )


def test_numbers_types_and_the_audit_trail(cli: Cli) -> None:
    task_id = create(cli, "s1", "work", {"token": "abc", "n": 1})
    queues = cli.run("queue", "list")["queues"]
    assert {one["name"]: one["ready"] for one in queues}["rpa_tasks_normal"] == 1
    assert set(queues[0]) == {"name", "kind", "ready", "unacked", "consumers"}
    stats = cli.run("stats")
    assert set(stats) >= {"status", "lanes", "dead_open", "workers"}
    assert set(stats["lanes"]) == LANES
    assert stats["lanes"]["normal"] == {"ready": 1, "blocked": 0, "unacked": 0, "retrying": 0}
    types = {one["name"]: one for one in cli.run("type", "list")["types"]}
    assert types["sync_order"]["uniqueness"] == "shop_type"
    assert types["batch_reply"]["idempotent"] is False
    cli.run("task", "cancel", task_id, "--reason", "test")
    entries = cli.run("audit", "list", "--limit", 5)["entries"]
    assert [(one["action"], one["outcome"]) for one in entries] == [("task.cancel", "done"), ("task.create", "done")]
    assert entries[0]["target"] == [task_id]
    assert entries[0]["at"].endswith("+00:00")
    assert entries[0]["digest"]
    cli.environment["FLEETDECK_LANGUAGE"] = "zh_CN"
    table = cli.call("audit", "list", "--limit", 5, "--no-color").stdout
    assert "取消任务" in table, "an act is called by its words, as in the window"
    assert "task.cancel" not in table


def test_an_act_that_was_refused_is_not_told_as_taken_back(cli: Cli) -> None:
    create(cli)
    store = EmbeddedStore(cli.home / "local.sqlite", SystemClock())
    writer = Audit(store, "ann@desk", via="window")
    with heard() as acts:
        with writer.act("pause", ["shop:pdd:s1"]):
            pass
        with suppress(UsageError), writer.act("pause", ["shop:pdd:s1"]):
            raise UsageError("no")
    with undoing(acts), writer.act("resume", ["shop:pdd:s1"]):
        pass
    store.close()
    back, refused, done = cli.run("audit", "list", "--limit", 3)["entries"]
    assert (refused["outcome"], refused["undone_at"], done["undone_at"]) == ("refused: no", None, back["at"])
    table = cli.call("audit", "list", "--limit", 3, "--no-color").stdout
    assert table.count("undone") == 1


# --------------------------------------------------------------------------------------------------------------- worker
def test_a_worker_listens_to_other_processes(cli: Cli, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    with cli.start("worker", "--slots", "2", "--handlers", HANDLERS, "--refuse", "nightly,weekly") as process:
        (worker,) = eventually(lambda: cli.run("worker", "list")["workers"], 60)
        assert (worker["state"], len(worker["slots"]), worker["kind"]) == ("running", 2, "headless")
        assert worker["declines"] == ["nightly", "weekly"]
        assert cli.run("stats")["workers"] == 1
        task_id = create(cli, "s1", "work", {"sleep": 600, "seen": str(seen)})
        eventually(lambda: lines(seen, "start"), 60)
        assert cli.run("task", "cancel", task_id)["requested"] == [task_id]
        eventually(lambda: lines(seen, "stopped"), 60)
        eventually(lambda: cli.run("task", "show", task_id)["task"]["status"] == "cancelled", 60)
        cli.run("worker", "slots", worker["worker"], 3)
        eventually(lambda: len(cli.run("worker", "list")["workers"][0]["slots"]) == 3, 60)
        cli.run("worker", "refuse", worker["worker"], "nightly,weekly", "yearly")
        eventually(lambda: cli.run("worker", "list")["workers"][0]["declines"] == ["nightly", "weekly", "yearly"], 60)
        assert cli.run("worker", "drain", "nobody", code=2)["field"] == "worker"
        assert cli.run("worker", "stop", worker["worker"][:-1])["workers"] == [worker["worker"]]
        assert process.wait(60) == 0
    assert cli.run("worker", "list")["workers"] == []


def test_a_draining_worker_takes_what_other_programs_left_without_a_record(cli: Cli, tmp_path: Path) -> None:
    """Messages alone, bad ones among them: no counter knows of them before they are read."""
    cli.run("stats")
    broker = EmbeddedBroker(cli.home / "local.sqlite", SystemClock())
    same = {"platform": "pdd", "task_type": "work"}
    good = [json.dumps(same | {"task_id": f"f{number}", "shop_id": f"s{number}"}) for number in range(5)]
    bodies = [b"no task", *(one.encode() for one in good)]
    orders = [Order(kind="work", routing_key="task.pdd.low", body=body, message_id="") for body in bodies]
    assert all(receipt.ok for receipt in broker.publish(orders))
    broker.close()
    cli.drain()
    stats = cli.run("stats")
    assert stats["status"] == {"succeeded": 5, "dead": 1}
    assert stats["dead_open"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--screenshot", "{home}/no.png/window.png"), ("这里没有显示器", "无法写入")),
        (("api", "--host", "0.0.0.0"), ("其他机器可以访问",)),
        (("demo", "--rate", "0"), ("--rate 须为大于 0",)),
    ],
)
def test_what_keeps_a_program_from_beginning_is_told_in_the_language_of_its_user(
    tmp_path: Path, words: tuple[str, ...], told: tuple[str, ...]
) -> None:
    (tmp_path / "no.png").touch()
    cli = Cli(tmp_path, environment={"FLEETDECK_LANGUAGE": "zh_CN", "QT_QPA_PLATFORM": "", "DISPLAY": ""})
    done = cli.call(*(word.format(home=tmp_path) for word in words))
    assert done.returncode != 0
    assert all(sentence in done.stderr for sentence in told), done.stderr
