"""Causes and verdicts in words."""

from __future__ import annotations

import pytest

from services.domain.insight import reach
from services.domain.insight.cause_rule import CauseRule
from services.domain.insight.reach import Reach
from services.domain.task.artifact import ArtifactMark
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status, Triage
from services.monitor.letters.causes import Cause, Causes
from views.pages.dead_letters import words


def cause(**changes: object) -> Cause:
    values: dict[str, object] = {
        "fingerprint": "ab12",
        "kind": "login_expired",
        "headline": "LoginExpired: redirected to /login",
        "types": ("sync_order",),
        "count": 3,
        "shops": 2,
        "platforms": ("pdd",),
        "first_at": 0,
        "last_at": 0,
        "scope": "platform",
        "history": (0,) * 17,
    }
    return Cause(**{**values, **changes})  # type: ignore[arg-type]


def dead(**changes: object) -> Task:
    values = {"task_id": "t", "shop_id": "1", "platform": "pdd", "task_type": "x", "status": Status.DEAD}
    return Task(**{**values, **changes})  # type: ignore[arg-type]


def test_a_report_tells_who_makes_the_flow_what_it_needs() -> None:
    mark = ArtifactMark(name="page.png", kind="screenshot", step="open list")
    last = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="failed", artifacts=(mark,))
    changed = cause(kind="element_not_found", headline="no such element: .row", patterns=(".row",))
    lines = words.report(changed, dead(task_type="sync_order", attempts=(last,)), 0).splitlines()
    assert lines[0].startswith("Cause: Page element missing: .row")
    assert {"Platform: Pinduoduo", "Error: no such element: .row", "Task type: sync_order"} <= set(lines)
    assert "Example: t (pdd:1)" in lines
    assert lines[-1] == "Files: open list/page.png"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scope": "shop", "shops": 1}, "one shop"),
        ({"scope": "platform"}, "2 shops, all of Pinduoduo"),
        ({"scope": "all", "platforms": ("pdd", "temu")}, "2 shops, everywhere"),
        ({"scope": "some", "platforms": ("pdd", "temu")}, "2 shops"),
    ],
)
def test_the_reach_of_a_cause(changes: dict[str, object], said: str) -> None:
    assert words.scope(cause(**changes)) == said


def test_a_known_kind_names_the_cause_and_the_error_explains_it() -> None:
    assert words.title(cause()) == "Seller login expired"
    assert words.detail(cause()) == "LoginExpired: redirected to /login"


def test_what_was_split_off_at_a_shop_is_called_by_the_name_of_the_shop() -> None:
    there, named = "shop:pdd:s1", {"shop:pdd:s1": "微光"}
    assert words.title(cause(rule=CauseRule(where=there, name="captcha"), shop_names=named)) == "captcha · 微光"
    assert words.title(cause(rule=CauseRule(where=there, name="captcha"))) == "captcha · pdd:s1", "of one unknown"
    assert words.place_line(there, 2, named[there]) == "Shop: 微光, 2 dead letters"


def test_equal_errors_of_two_task_types_are_called_differently() -> None:
    assert words.heading(cause()) == "Seller login expired · sync_order"
    assert words.heading(cause(types=("shop_crawl",))) == "Seller login expired · shop_crawl"


def test_an_unknown_kind_is_called_by_its_own_first_word() -> None:
    other = cause(kind="unknown", headline="StockError: nothing left of G0003")
    assert words.title(other) == "StockError"
    assert words.detail(other) == "nothing left of G0003"
    assert words.title(cause(kind="unknown", headline="")) == "Unknown error"


def test_each_attempt_tells_when_where_and_how_long() -> None:
    task = dead(attempts=(Attempt(1, "rpa-01", 1_000, 9_200, "failed"),))
    ((name, value),) = words.attempts(task, 10_000)
    assert name == "Attempt 1"
    assert value.endswith("rpa-01, 8.2\u202fs")


def test_what_happens_next_depends_on_what_was_done() -> None:
    assert "closes as republished by chen@desk" in words.next_step(dead(triage=Triage.OPEN), "chen@desk")
    assert "republished as new-1" in words.next_step(dead(triage=Triage.REPUBLISHED, successor="new-1"), "chen@desk")
    assert "Reopen" in words.next_step(dead(triage=Triage.IGNORED), "chen@desk")
    unread = dead(task_id="bad_0123456789abcdef", triage=Triage.OPEN)
    assert "never was a readable task" in words.next_step(unread, "chen@desk")


@pytest.mark.parametrize(
    ("scanned", "said"),
    [
        (85_177, "85,177 tasks, 7,328 shops, 1 cause"),
        (50_000, "85,177 tasks; of the newest 50,000: 7,328 shops, 1 cause"),
    ],
)
def test_that_only_the_newest_letters_were_looked_at_is_told(scanned: int, said: str) -> None:
    one = Cause(
        fingerprint="", kind="", headline="", types=(), count=1, shops=1, platforms=(), first_at=0, last_at=0,
        scope="shop", history=(),
    )  # fmt: skip
    assert words.summary(Causes(rows=(one,), scanned=scanned, total=85_177, shops=7_328), 0, 0) == said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Reach(at=reach.ALL, ran=49, failed=49), "failed in 49 of 49 shops"),
        (Reach(at=reach.PLATFORM, values=("pdd",), ran=14, failed=12), "failed in 12 of 14 shops of Pinduoduo"),
        (Reach(at=reach.NODE, values=("rpa-02",), ran=5, failed=3), "failed in 3 of 5 shops on rpa-02"),
    ],
)
def test_the_short_line_of_a_cause_says_what_it_counts(found: Reach, said: str) -> None:
    assert words.short(cause(reach=found)) == said
