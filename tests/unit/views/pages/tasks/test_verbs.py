"""Each verb on a task in each state: offered where it does something, and refused with nothing changed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from services.commands.outcome import Outcome
from services.domain.change import Cancel, Claim
from services.domain.fleet.shop import Pause
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.monitor.tasks import Pick, pick
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room, opened
from views.kit.task_verb import Chosen, TaskVerb, standing_of
from views.kit.verb import Place
from views.pages.tasks.verbs import DECISIONS, TRY_ANYWAY, VERBS, lower_priority, raise_priority
from views.support.priorities import back

REPUBLISHED = "republished"
WAITS = {Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.SCHEDULED, Status.RETRYING}
#: what each verb is for
SUITS: dict[str, set[str]] = {
    "retry": {Status.DEAD, Status.HELD, Status.RETRYING},
    "cancel": {*WAITS, Status.HELD, Status.RUNNING},
    "raise": {*WAITS},
    "lower": {*WAITS},
    "run_now": {*WAITS},
    Status.SUCCEEDED: {Status.HELD},
    Status.PENDING: {Status.HELD},
    Status.DEAD: {Status.HELD},
    "create_again": {Status.CANCELLED},
    "try_anyway": WAITS - {Status.SCHEDULED},
}
#: what becomes of a task by each verb; of a dead one by its triage
AFTER: dict[str, set[str]] = {
    "retry": {"pending", "queued", REPUBLISHED},
    "cancel": {"cancelled", "running"},
    "raise": {"pending", "queued", "blocked", "scheduled", "retrying"},
    "lower": {"pending", "queued", "blocked", "scheduled", "retrying"},
    "run_now": {"pending", "queued", "blocked"},
    Status.SUCCEEDED: {"succeeded"},
    Status.PENDING: {"pending", "queued"},
    Status.DEAD: {"dead"},
    "create_again": {"cancelled"},
    "try_anyway": {"pending", "queued", "retrying"},
}


def blocked(room: Room, **fields: Any) -> Task:
    task = room.create(**fields)
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann", at=room.store.now_ms()))
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w1#1", worker="w1", lease_ms=60_000)
    assert room.ask(claim).code == "blocked"
    return room.task(task.task_id)


def cancelled(room: Room, **fields: Any) -> Task:
    task = room.create(**fields)
    assert room.ask(Cancel(task_id=task.task_id, by="ann")).code == "ok"
    return room.task(task.task_id)


def republished(room: Room, **fields: Any) -> Task:
    task = room.dead(**fields)
    assert desk_of(room).dead_letters.republish([task.task_id]).done
    return room.task(task.task_id)


MAKE: dict[str, Callable[..., Task]] = {
    Status.PENDING: lambda room, **fields: room.recorded(**fields),
    Status.QUEUED: lambda room, **fields: room.create(**fields),
    Status.BLOCKED: blocked,
    Status.SCHEDULED: lambda room, **fields: room.create(at_ms=room.store.now_ms() + 3_600_000, **fields),
    Status.RUNNING: lambda room, **fields: room.running(**fields),
    Status.RETRYING: lambda room, **fields: room.finish(room.running(**fields), "retrying", delay_ms=30_000),
    Status.HELD: lambda room, **fields: room.finish(room.running(**fields), "held"),
    Status.SUCCEEDED: lambda room, **fields: room.finish(room.running(**fields), "succeeded"),
    Status.DEAD: lambda room, **fields: room.dead(**fields),
    Status.CANCELLED: cancelled,
    REPUBLISHED: republished,
}


def act(verb: TaskVerb, desk: Desk, one: Pick) -> Outcome:
    """What the page sends for a verb."""
    if verb in DECISIONS or (verb.decides and one.status == Status.HELD):  # that asks with the evidence
        return desk.tasks.resolve([one.task_id], verb.decides, note="seen")
    if verb.noted is not None:
        return verb.noted(desk, [one], "it cannot wait")  # type: ignore[arg-type]
    return verb.run(desk, [one])  # type: ignore[arg-type]


def test_every_state_and_every_verb_is_here() -> None:
    assert set(MAKE) == {*Status, REPUBLISHED}
    assert {verb.key for verb in VERBS} == set(SUITS) == set(AFTER)


@pytest.mark.parametrize(
    ("verb", "state"), [pytest.param(*pair, id=f"{pair[0].key}-{pair[1]}") for pair in product(VERBS, MAKE)]
)
def test_a_verb_acts_on_what_it_is_for_and_on_nothing_else(verb: TaskVerb, state: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        before = MAKE[state](room)
        if verb is TRY_ANYWAY:  # elsewhere there is nothing to pass
            room.store.set_pause(Pause(scope="all", by="ann"))
        one, twin = pick(before), pick(before)
        fits = state in SUITS[verb.key]
        assert (before.triage if state == REPUBLISHED else before.status) == state
        assert verb.fits(one.status, one.triage) == fits, "what the page offers"
        assert (verb.reason(standing_of([one])) == "") == fits
        assert (verb.reason(standing_of([one, twin])) == "") == fits
        chosen = Chosen(standing=standing_of([one]), picks=lambda: [one], waits_at="paused")
        assert verb.offered(Place.PALETTE, chosen) == (fits or not verb.special)
        outcome = act(verb, desk_of(room), one)
        after = room.task(before.task_id)
        entry = room.store.audit(1)[0]
        assert bool(outcome.done or outcome.pending) == fits, "what the services do"
        if fits:
            assert (after.triage if after.triage == REPUBLISHED else after.status) in AFTER[verb.key]
            assert "refused" not in entry.outcome
            assert not outcome.skipped
        else:
            assert after == before
            assert [refusal.task_id for refusal in outcome.skipped] == [before.task_id]
            assert str(outcome.skipped[0].why.code)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: str(verb.key))
def test_few_that_do_not_fit_forbid_it_and_among_many_they_are_left_alone(verb: TaskVerb, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        fit = pick(MAKE[min(SUITS[verb.key])](room))
        misfit = pick(MAKE[Status.SUCCEEDED](room, shop_id="s2"))
    assert verb.reason(standing_of([fit] * 9)) == ""
    assert verb.reason(standing_of([fit] * 8 + [misfit])) != "", "up to nine are acted on without a preview"
    assert verb.reason(standing_of([fit] * 9 + [misfit])) == "", "a preview names what is left alone"
    assert verb.reason(standing_of([misfit] * 10)) != ""
    assert verb.reason(standing_of([])) == "Select a task first"


def test_undo_of_a_raise_gives_back_what_was_raised_and_nothing_else(tmp_path: Path) -> None:
    """What ran just then was left alone; somebody else may have given it another priority since."""
    with opened(tmp_path) as room:
        desk = desk_of(room)
        waits, runs = room.create(priority=2), room.running(shop_id="s2", priority=2)
        desk.tasks.place({waits.task_id: ("normal", 2)})  # as of another program, which chose a lane of its own
        picks = [pick(room.task(waits.task_id)), pick(runs)]
        outcome = raise_priority(desk, picks)  # type: ignore[arg-type]
        assert (outcome.done, room.task(waits.task_id).priority) == ((waits.task_id,), 6)
        room.finish(runs, "retrying", delay_ms=30_000)
        assert desk.tasks.prioritize([runs.task_id], 9).done
        found = back(desk, picks).call(outcome)  # type: ignore[arg-type]
        assert (found.done, found.skipped) == ((waits.task_id,), ())
        waits, runs = room.task(waits.task_id), room.task(runs.task_id)
        assert (waits.lane, waits.priority, runs.priority) == ("normal", 2, 9)


@pytest.mark.parametrize(("before", "after"), [(10, 6), (9, 6), (6, 2), (4, 2), (2, 2), (1, 1)])
def test_lower_is_one_step_down_and_undo_gives_back(tmp_path: Path, before: int, after: int) -> None:
    with opened(tmp_path) as room:
        desk = desk_of(room)
        task = room.create(priority=before)
        outcome = lower_priority(desk, [pick(task)])  # type: ignore[arg-type]
        assert room.task(task.task_id).priority == after
        back(desk, [pick(task)]).call(outcome)  # type: ignore[arg-type]
        assert room.task(task.task_id).priority == before
