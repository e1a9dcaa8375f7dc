"""``shop session`` and what ``shop show`` tells of logins, on a machine of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services import assembly
from services import settings as config
from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import Attempt, Task
from services.store.sqlite.store import EmbeddedStore

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """A command, on a fleet where task t1 of pdd:s1 met a captcha and t0 had succeeded before."""
    store = EmbeddedStore(tmp_path / "local.sqlite", SystemClock())
    store.put_shops([Shop(platform="pdd", shop_id="s1"), Shop(platform="pdd", shop_id="s2")])
    _ends(store, "t0", "succeeded", "")
    _ends(store, "t1", "blocked", "captcha")
    store.close()
    return run


def _ends(store: EmbeddedStore, task_id: str, to: str, kind: str) -> None:
    task = Task(task_id=task_id, platform="pdd", shop_id="s1", task_type="work")
    claim = Claim(task_id=task_id, gen=0, attempt=0, owner=task_id, worker="w", lease_ms=60_000)
    ended = Attempt(1, "w", 1, 2, "failed" if kind else "succeeded", kind)
    store.apply([Create(task=task), claim])
    store.apply([Finish(task_id=task_id, owner=task_id, to=to, attempt=ended, error_kind=kind)])


def test_who_waits_is_listed_and_opened_and_closed_again(run: Run) -> None:
    code, shown = run("shop", "session", "list")
    (one,) = shown["sessions"]
    assert (code, one["shop"], one["session"], one["task"], one["waiting"]) == (0, "pdd:s1", "captcha", "t1", 1)
    assert (one["since"] is None, one["login_at"], one["success_at"] is None) == (False, None, False)
    found = [told["text"] for told in run("doctor")[1]["findings"] if told["check"] == "sessions"]
    assert found == ["1 shop waits for a login: pdd:s1; parked tasks: 1"]
    assert run("shop", "session", "open", "s1", "--note", "moved it")[1] == {"opened": "pdd:s1", "was_closed": True}
    assert run("shop", "session", "list")[1]["sessions"] == []
    assert run("shop", "session", "open", "s2")[1] == {"opened": "pdd:s2", "was_closed": False}
    everybody = run("shop", "session", "list", "--all")[1]["sessions"]
    assert [(each["shop"], each["session"], each["login_at"] is None) for each in everybody] == [
        ("pdd:s1", None, False), ("pdd:s2", None, False),
    ]  # fmt: skip
    assert run("shop", "session", "close", "s2", "--note", "away")[1] == {"closed": "pdd:s2", "was_open": True}
    assert run("shop", "session", "close", "s2")[1]["was_open"] is False
    (one,) = run("shop", "session", "list")[1]["sessions"]
    assert (one["shop"], one["session"], one["note"]) == ("pdd:s2", "login_expired", "away")
    acts = [(entry["action"], entry["outcome"]) for entry in run("audit", "list")[1]["entries"]]
    assert acts[0] == ("session.close", "refused: it is closed already")
    assert [action for action, _ in acts[1:4]] == ["session.close", "session.open", "session.open"]


def test_a_shop_tells_its_login_and_its_last_success(run: Run) -> None:
    shown = run("shop", "show", "s1")[1]["shop"]
    assert (shown["session"], shown["login_at"], shown["login_age_s"]) == ("captcha", None, None)
    assert shown["success_at"] is not None
    run("shop", "session", "open", "s1")
    shown = run("shop", "show", "s1")[1]["shop"]
    assert (shown["session"], shown["login_age_s"] >= 0, "@" in shown["login_by"]) == (None, True, True)


def test_a_login_in_a_browser_opens_it_only_when_it_succeeded(run: Run, tmp_path: Path) -> None:
    engine = assembly.open_engine(config.load(home=tmp_path))
    try:
        sessions = assembly.commands(engine).sessions
        assert sessions.login("pdd:s1", lambda: False) is False
        assert len(engine.store.sessions()) == 1
        assert sessions.login("pdd:s1", lambda: True, note="by hand") is True
        assert (engine.store.sessions(), list(engine.store.logins())) == ([], ["pdd:s1"])
        acts = [(one.action, one.outcome) for one in engine.store.audit(5)]
    finally:
        engine.close()
    assert acts == [
        ("session.login", "done"),
        ("session.login", "refused: the browser was closed before the shop was logged in"),
    ]


def test_a_shop_is_at_home_where_it_was_logged_in_first(run: Run, tmp_path: Path) -> None:
    engine = assembly.open_engine(config.load(home=tmp_path))
    try:
        sessions, store = assembly.commands(engine).sessions, engine.store
        store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, node="desk"))
        sessions.login("pdd:s1", lambda: True, node="attic")
        assert store.homes() == {}, "no worker runs there"
        sessions.login("pdd:s1", lambda: False, node="desk")
        assert store.homes() == {}
        sessions.login("pdd:s1", lambda: True, node="desk")
        assert store.homes()["pdd:s1"].node == "desk"
        store.heartbeat(WorkerInfo(worker="w2", host="h", pid=1, node="hall"))
        sessions.login("pdd:s1", lambda: True, node="hall")
        assert store.homes()["pdd:s1"].node == "desk"
    finally:
        engine.close()


def test_without_a_display_the_other_way_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    code, said = run("shop", "login", "s1")
    assert (code, said["error"].endswith("say: shop session open pdd:s1")) == (1, True)
    assert run("shop", "login", "s1", "--url", "file:///etc/passwd")[0] == 2


def test_a_login_where_no_task_would_use_it_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert run("shop", "move", "s1", "--node", "far-away", "--force")[0] == 0
    code, said = run("shop", "login", "s1")
    assert (code, "lives on the node far-away" in said["error"]) == (1, True)
    assert "far-away" not in run("shop", "login", "s1", "--here")[1]["error"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("open", "nobody"), 2),
        (("open", "s1", "--note", "x" * 501), 2),
        (("close", "s1", "--kind", "tired"), 2),
        (("close", "s1", "--note", "x" * 501), 2),
    ],
)
def test_what_cannot_be_is_refused(
    run: Run, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int
) -> None:
    assert run("shop", "session", *words)[0] == code
