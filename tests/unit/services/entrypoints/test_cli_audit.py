"""``audit verify|accept``: exit code, document and sentences."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services.self_check import SelfCheck
from services.settings import Settings

Run = Callable[..., tuple[int, Any]]


def without_last(home: Path) -> str:
    """The name of the last entry, which is gone, with every head."""
    with closing(sqlite3.connect(home / "local.sqlite")) as db, db:
        db.execute("DROP TRIGGER audit_is_append_only")
        ((name,),) = db.execute("SELECT entry_id FROM audit ORDER BY id DESC LIMIT 1").fetchall()
        db.execute("DELETE FROM audit WHERE entry_id = ?", (name,))
        db.execute("DELETE FROM audit_heads")
    return str(name)


def test_what_is_gone_is_named_until_an_admin_accepts_it(run: Run, tmp_path: Path) -> None:
    for word in ("pause", "resume", "pause"):
        assert run("queue", word, "all", "--yes")[0] == 0
    code, found = run("audit", "verify")
    assert (code, found["ok"], found["entries"], found["wrong"], found["first"]) == (0, True, 3, [], None)
    assert [one["state"] for one in run("audit", "list")[1]["entries"]] == ["done"] * 3
    gone = without_last(tmp_path)
    code, found = run("audit", "verify")
    assert (code, found["ok"], found["first"]["entry"], found["first"]["wrong"]) == (1, False, gone, "writer_gone")
    assert found["first"]["text"].endswith("This machine has seen it.")
    code, text = run("audit", "verify", people=True)
    assert code == 1
    assert gone in text
    code, told = run("doctor")
    assert code == 1
    (finding,) = [one for one in told["findings"] if one["check"] == "audit"]
    assert (finding["level"], finding["code"]) == ("error", "doctor.audit_wrong")
    assert gone in finding["text"]
    assert run("audit", "accept", "--note", "")[0] == 2
    assert run("audit", "accept", "--note", "a backup")[1]["field"] == "--yes"
    code, taken = run("audit", "accept", "--note", "the backup of Monday", "--yes")
    assert (code, taken["accepted"][0]["entry"]) == (0, gone)
    code, found = run("audit", "verify")
    assert (code, found["wrong"], {one["entry"] for one in found["accepted"]} >= {gone}) == (0, [], True)
    assert run("doctor")[0] == 0


def test_it_is_told_that_what_this_machine_had_seen_was_removed(run: Run, tmp_path: Path) -> None:
    assert "this is its first look" in run("audit", "verify", people=True)[1]
    assert run("queue", "pause", "all", "--yes")[0] == 0
    found = run("audit", "verify")[1]
    assert (found["seen_since"][:2], found["sight_lost"]) == ("20", False)
    assert "this machine keeps what it sees of it since" in run("audit", "verify", people=True)[1]
    for file in (tmp_path / "audit").glob("*.seen"):
        file.unlink()
    assert run("audit", "verify")[1]["sight_lost"]
    assert "was removed from its home" in run("audit", "verify", people=True)[1]
    assert "doctor.audit_sight" in {one["code"] for one in run("doctor")[1]["findings"]}
    assert run("audit", "accept", "--note", "a new disk", "--yes", "--read-only")[1]["field"] == "role"
    assert run("audit", "verify")[1]["sight_lost"], "it takes an admin"
    assert run("audit", "accept", "--note", "a new disk")[1]["field"] == "--yes"
    assert run("audit", "accept", "--note", "a new disk", "--yes") == (0, {"accepted": [], "sight_lost": True})
    assert not run("audit", "verify")[1]["sight_lost"]
    assert "doctor.audit_sight" not in {one["code"] for one in run("doctor")[1]["findings"]}
    (entry,) = run("audit", "list", "--filter", "action:audit.accept outcome:done")[1]["entries"]
    assert "a new disk" in entry["detail"]
    assert run("audit", "accept", "--note", "again", "--yes")[0] == 2


def test_a_repair_says_through_what_somebody_asked_for_it(run: Run, tmp_path: Path) -> None:
    assert run("repair")[0] == 0
    SelfCheck(Settings(home=str(tmp_path))).repair()
    for door in ("cli", "window"):
        (entry,) = run("audit", "list", "--filter", f"from:{door}")[1]["entries"]
        assert entry["action"] == "repair"


def test_a_viewer_may_verify_and_not_accept(run: Run, tmp_path: Path) -> None:
    run("queue", "pause", "all", "--yes")
    without_last(tmp_path)
    assert run("audit", "verify", "--read-only")[0] == 1
    code, answer = run("audit", "accept", "--note", "x", "--yes", "--read-only")
    assert (code, answer["field"]) == (1, "role")


def test_how_acts_ended_is_told_in_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The codes are for programs."""
    (first,) = run("task", "create", "--shop", "pdd:s1", "--type", "work")[1]["created"]
    run("task", "cancel", first, "nobody", "--yes")
    ended = [one["outcome"] for one in run("audit", "list", "--filter", "action:task.cancel")[1]["entries"]]
    assert ended == ["partly: 1 done, 1 refused: task.unknown; not done: task.unknown 1"]
    table = run("audit", "list", people=True)[1]
    assert "1 done, 1 refused: there is no such task" in table
    assert "task.unknown" not in table
    monkeypatch.setenv("FLEETDECK_LANGUAGE", "zh_CN")
    table = run("audit", "list", people=True)[1]
    assert "task.unknown" not in table
    assert "拒绝 1 个：没有此任务" in table
