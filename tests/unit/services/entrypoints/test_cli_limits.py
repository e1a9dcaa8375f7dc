"""``queue limit`` and ``shop breaker``: what they change and show, and what they refuse, on a machine of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish
from services.domain.fleet.shop import Shop
from services.domain.task.record import Attempt, Task
from services.store.sqlite.store import EmbeddedStore

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """A command, on a fleet with a shop whose last five tasks met a captcha."""
    store = EmbeddedStore(tmp_path / "local.sqlite", SystemClock())
    store.put_shops([Shop(platform="pdd", shop_id="s1")])
    for number in range(5):
        _fail(store, f"t{number}")
    store.close()
    return run


def _fail(store: EmbeddedStore, task_id: str) -> None:
    task = Task(task_id=task_id, platform="pdd", shop_id="s1", task_type="work")
    claim = Claim(task_id=task_id, gen=0, attempt=0, owner=task_id, worker="w", lease_ms=60_000)
    ended = Attempt(1, "w", 1, 2, "failed", "captcha")
    store.apply([Create(task=task), claim])
    store.apply([Finish(task_id=task_id, owner=task_id, to="dead", attempt=ended, error_kind="captcha")])


def test_a_limit_is_set_changed_shown_and_taken_away(run: Run) -> None:
    code, shown = run("queue", "limit", "platform:pdd", "--concurrency", "20")
    assert (code, shown["limit"]["concurrency"], shown["limit"]["per_minute"]) == (0, 20, 0)
    assert run("queue", "limit", "platform:pdd", "--per-minute", "300")[1]["limit"]["concurrency"] == 20
    (one,) = run("queue", "list")[1]["limits"]
    assert (one["scope"], one["concurrency"], one["per_minute"], one["running"]) == ("platform:pdd", 20, 300, 0)
    assert (one["started"], one["resets_at"], one["full"]) == (0, None, False)
    assert run("queue", "limit", "platform:pdd", "--concurrency", "none", "--per-minute", "none")[0] == 0
    assert run("queue", "list")[1]["limits"] == []
    entries = run("audit", "list")[1]["entries"]
    assert [entry["action"] for entry in entries[:3]] == ["limit"] * 3


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("queue", "limit", "platform:pdd", "--concurrency", "0"), "--concurrency"),
        (("queue", "limit", "platform:pdd", "--per-minute", "-5"), "--per-minute"),
        (("queue", "limit", "platform:pdd", "--per-minute", "many"), "--per-minute"),
        (("queue", "limit", "type:work", "--concurrency", "2"), "scope"),
        (("queue", "limit", "pdd", "--concurrency", "2"), "scope"),
        (("queue", "limit", "platform:pdd"), "--concurrency"),
        (("shop", "breaker", "--close"), "shop"),
        (("shop", "breaker", "nobody", "--close"), "shop"),
        (("shop", "breaker", "s1", "--of", "5"), "shop"),
        (("shop", "breaker", "--failures", "11"), "failures"),
        (("shop", "breaker", "--failures", "0"), "--failures"),
        (("shop", "breaker", "--cooldown", "soon"), "--cooldown"),
        (("shop", "breaker", "--max-cooldown", "5"), "max_cooldown"),
    ],
)
def test_what_cannot_be_is_wrong_usage_and_names_the_field(run: Run, words: tuple[str, ...], field: str) -> None:
    code, answer = run(*words)
    assert (code, answer["field"]) == (2, field), answer


def test_a_breaker_is_shown_and_closed(run: Run) -> None:
    code, shown = run("shop", "breaker")
    (one,) = shown["breakers"]
    assert (code, one["shop"], one["failed"], one["attempts"], one["kind"]) == (0, "pdd:s1", 5, 5, "captcha")
    assert shown["rule"] == {"failures": 5, "of": 10, "cooldown_s": 60, "max_cooldown_s": 1800}
    assert run("shop", "breaker", "s1", "--close", "--note", "logged in again")[1] == {
        "closed": "pdd:s1",
        "was_open": True,
    }
    assert run("shop", "breaker", "s1", "--close")[1]["was_open"] is False
    assert run("shop", "breaker")[1]["breakers"] == []


def test_the_rule_is_changed(run: Run) -> None:
    _, shown = run("shop", "breaker", "--failures", "off", "--cooldown", "2m")
    assert shown["rule"] == {"failures": 0, "of": 10, "cooldown_s": 120, "max_cooldown_s": 1800}
