"""Promises reach a person before they break, when they do, and when they are kept."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from services.domain.alerts.incident import ANSWERED
from services.domain.promises import standing
from services.domain.promises.promise import STATE
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook
from tests.integration.promise_rig import Desk


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


@pytest.fixture
def desk(fleet: Fleet) -> Desk:
    return Desk(fleet)


@pytest.fixture
def watch(fleet: Fleet, hook: Hook) -> Iterator[Watch]:
    made = Watch(fleet, hook)
    made.channel()
    yield made
    made.stop.set()
    made.keeper.stop()


def test_a_promise_is_told_at_risk_then_broken_then_kept(desk: Desk, watch: Watch, hook: Hook) -> None:
    watch.only("promise_at_risk", "promise_broken")
    desk.shops("s1", "s2")
    desk.done("s1", 59.5)
    desk.done("s2", 1)
    desk.promise()
    watch.turn()
    assert hook.told == [], "nobody has judged it yet"
    desk.stands()
    watch.turn()
    (risky,) = hook.told
    assert risky["title"].startswith("INC-1 Promise at risk: orders breaks at ")
    assert risky["title"].endswith(" in 1 shop of 2")
    assert "1 of 2: s1" in risky["message"]
    assert "Cause: no run waits and none is planned" in risky["message"]
    assert "Who can act: who creates these tasks." in risky["message"]
    assert watch.commands().alerts.answer("INC-1", "on it").answer.answered_by
    desk.promise(limit_s=3500)  # as if half an hour had passed
    desk.stands()
    now = watch.turn()
    assert hook.titles[1].startswith("INC-1 worse: Promise broken: orders, in 1 shop of 2 since ")
    assert hook.told[1]["type"] == "failure"
    (one,) = now.incidents
    assert (one.state, one.incident.rule.name, one.incident.stage) == (ANSWERED, "promise_broken", 1)
    desk.stands()
    watch.turn()
    desk.done("s1", 0)
    desk.stands()
    watch.resolved()
    assert len(hook.told) == 3, hook.titles
    assert hook.titles[2].startswith("INC-1 resolved: ")


def test_a_run_that_was_never_created_is_told_and_survives_the_watcher(desk: Desk, watch: Watch, hook: Hook) -> None:
    watch.only("promise_at_risk", "promise_broken")
    desk.shops("s1")
    desk.done("s1", 10)
    desk.promise()
    desk.plan(minutes=-0.75, name="late")
    desk.stands()
    watch.turn()
    assert "schedule late did not fire" in hook.told[0]["message"]
    watch.store.resign("watch", "w1")  # as its lease runs out after a kill
    after = Watch(desk.fleet, hook, holder="w2")
    for _ in range(3):
        after.turn()
    assert len(hook.told) == 1
    desk.done("s1", 0)
    desk.stands()
    desk.plan(minutes=1, name="late")
    desk.stands()
    after.resolved()
    assert [one["type"] for one in hook.told] == ["warning", "success"]


def test_what_nobody_judges_any_more_stays_as_it_was(desk: Desk, watch: Watch, hook: Hook) -> None:
    watch.only("promise_at_risk", "promise_broken")
    desk.shops("s1")
    desk.done("s1", 61)
    desk.promise()
    found = desk.stands()
    watch.turn()
    assert hook.titles[0].startswith("INC-1 Promise broken: orders, in 1 shop of 1")
    stale = msgspec.structs.replace(found, judged_at=found.judged_at - 60_000, broken=0, kept=1, rows=())
    watch.store.put_document(STATE, "orders", standing.DOCUMENT.dump(stale))
    now = watch.turn()
    assert len(now.incidents) == 1, "an old judgement resolves nothing"
    desk.done("s1", 0)
    desk.stands()
    watch.resolved()
    assert len(hook.told) == 2
