"""How a shop stands now, by its own tasks."""

from __future__ import annotations

import msgspec
import pytest

from services.domain import shop_now
from services.domain.session import ClosedSession
from services.domain.shop import Shop
from services.domain.status import Status
from services.domain.task import Attempt, Task
from tests.unit.services.domain.builders import NOW, task

KEY = "pdd:shop017"


def failed(kind: str, ended_at: int) -> Task:
    one = Attempt(number=1, worker="w", started_at=NOW, ended_at=ended_at, outcome="failed", error_kind=kind)
    return task(status=Status.DEAD, attempts=(one,), ended_at=ended_at)


def succeeded(ended_at: int) -> Task:
    return task(status=Status.SUCCEEDED, ended_at=ended_at)


@pytest.mark.parametrize(
    ("tasks", "state"),
    [
        ([], shop_now.NOT_KNOWN),
        ([succeeded(NOW)], shop_now.LOGGED_IN),
        ([failed("login_expired", NOW)], shop_now.LOGGED_OUT),
        ([failed("captcha", NOW)], shop_now.CAPTCHA),
        ([failed("login_expired", NOW), succeeded(NOW + 1)], shop_now.LOGGED_IN),
        ([succeeded(NOW), failed("login_expired", NOW + 1)], shop_now.LOGGED_OUT),
        ([succeeded(NOW), failed("network", NOW + 1)], shop_now.LOGGED_IN),
        ([failed("network", NOW)], shop_now.NOT_KNOWN),
        ([task(status=Status.RUNNING)], shop_now.RUNNING),
        ([task(status=Status.RUNNING), failed("login_expired", NOW)], shop_now.LOGGED_OUT),
    ],
)
def test_the_newest_evidence_counts(tasks: list[Task], state: str) -> None:
    for some in (tasks, tasks[::-1]):
        assert shop_now.judge(KEY, None, some, ()).state == state


def test_a_pause_hides_everything_and_a_switch_the_rest() -> None:
    shop = Shop(platform="pdd", shop_id="shop017", enabled=False)
    assert shop_now.judge(KEY, shop, [succeeded(NOW)], ()).state == shop_now.OFF
    for scope in ("all", "platform:pdd", f"shop:{KEY}"):
        assert shop_now.judge(KEY, shop, [succeeded(NOW)], {scope}).state == shop_now.PAUSED
    assert shop_now.judge(KEY, None, [succeeded(NOW)], {"shop:pdd:other"}).state == shop_now.LOGGED_IN


def test_a_closed_session_is_the_truth_and_a_login_opens_it() -> None:
    closed = ClosedSession(shop=KEY, kind="captcha", since=NOW)
    now = shop_now.judge(KEY, None, [succeeded(NOW + 1)], (), session=closed)
    assert (now.state, now.failure_at, now.failure_kind) == (shop_now.CAPTCHA, NOW, "captcha")
    now = shop_now.judge(KEY, None, [failed("captcha", NOW)], (), login_at=NOW + 1)
    assert (now.state, now.login_at) == (shop_now.LOGGED_IN, NOW + 1)


def test_the_evidence_is_told() -> None:
    now = shop_now.judge(KEY, None, [succeeded(NOW), failed("network", NOW + 5)], ())
    assert (now.success_at, now.failure_at, now.failure_kind) == (NOW, NOW + 5, "network")
    assert not now.closed
    closed = shop_now.judge(KEY, None, [msgspec.structs.replace(failed("captcha", NOW))], ())
    assert closed.closed
