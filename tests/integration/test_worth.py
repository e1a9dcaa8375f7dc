"""Whether running a dead letter again would help, from what the store holds; both pairs answer alike."""

from __future__ import annotations

import json

import pytest

from services import assembly
from services.domain.fleet.shop import Shop
from services.domain.insight import cause, verdict
from services.domain.task.record import Task
from services.messages import english
from services.monitor.letters import shown
from services.monitor.letters.causes import Cause
from services.monitor.tasks import TaskDetail
from tests.integration.fleet_rig import Fleet, define

MISSING = "SelectorNotFound: .order-list__row (waiting for selector /orders)"


@pytest.fixture
def working(fleet: Fleet) -> Fleet:
    """A fleet with one worker."""
    fleet.worker()
    return fleet


def dead(fleet: Fleet, shop: str = "s1") -> Task:
    return fleet.wait(fleet.create(shop, fail="element_not_found", text=MISSING, max_retries=0), "dead")


def detail(fleet: Fleet, task_id: str) -> TaskDetail:
    found = assembly.queries(fleet.engine).tasks.detail(task_id)
    assert found is not None
    return found


def only_cause(fleet: Fleet) -> Cause:
    (found,) = assembly.queries(fleet.engine).causes.causes().rows
    return found


def first_verb(fleet: Fleet) -> str:
    """The first way out that the item of the dead letters offers."""
    (item,) = [one for one in assembly.standing(fleet.engine).attention if one.key.startswith("dead:")]
    return item.verbs[0][0]


def test_a_missing_element_fails_again_although_nothing_would_be_done_twice(working: Fleet) -> None:
    task = dead(working)
    found = detail(working, task.task_id)
    assert found.verdict is not None
    assert found.verdict.level == verdict.SAFE
    assert found.worth is not None
    assert (found.worth.level, found.refusal) == (cause.AGAIN, None)
    assert only_cause(working).worth.level == cause.AGAIN
    assert only_cause(working).patterns == (".order-list__row",)
    assert first_verb(working) == "triage", "nothing that would fail again is offered to be run again"


def test_that_shops_which_never_failed_go_on_well_shows_nothing(working: Fleet) -> None:
    first, _second = dead(working, "s1"), dead(working, "s2")
    working.wait(working.create("s3"), "succeeded")
    assert only_cause(working).worth.level == cause.AGAIN
    of_one = detail(working, first.task_id).worth
    assert of_one is not None
    assert of_one.level == cause.AGAIN
    working.wait(working.create("s1"), "succeeded")
    assert only_cause(working).worth.code == "worth.succeeded_since"


def test_what_was_republished_and_died_again_says_so_until_something_passes(working: Fleet) -> None:
    first = dead(working)
    made = working.commands().dead_letters.republish([first.task_id]).made[first.task_id]
    second = working.wait(made, "dead")
    found = detail(working, second.task_id)
    assert found.worth is not None
    assert (found.worth.code, found.worth.params["count"]) == ("worth.letter_again", 1)
    assert only_cause(working).worth.code == "worth.failed_again"
    closed = detail(working, first.task_id)
    assert closed.refusal is not None
    assert closed.refusal.code == "dead.already"

    working.wait(working.create("s1"), "succeeded")
    assert only_cause(working).worth.level == cause.NOW
    assert first_verb(working) == "triage_now"
    healed = detail(working, second.task_id)
    assert healed.worth is not None
    assert healed.worth.level == cause.NOW


def test_a_type_that_was_defined_when_they_died_is_no_reason_to_retry_now(working: Fleet) -> None:
    define(working, "work")
    task_id = working.create("s1", fail="unknown_type", text="unknown flow 'pdd_work'", max_retries=0)
    working.wait(task_id, "dead")
    assert (only_cause(working).worth.level, only_cause(working).worth.code) == (cause.UNKNOWN, "worth.no_flow")


def test_what_died_of_something_else_was_republished_too(working: Fleet) -> None:
    letters = [dead(working, shop) for shop in ("s1", "s2", "s3")]
    again = working.commands().dead_letters
    made = again.republish([letters[0].task_id]).made[letters[0].task_id]
    other = again.republish([letters[1].task_id], payload={"fail": "bad_payload", "text": "no"}).made
    working.wait(made, "dead")
    working.wait(other[letters[1].task_id], "dead")
    causes = assembly.queries(working.engine).causes.causes().rows
    found = next(one for one in causes if one.kind == "element_not_found")
    assert english(found.worth.message).startswith("1 of 2 that were republished died of it again")


def test_of_what_was_split_off_only_its_own_letters_were_republished(working: Fleet) -> None:
    letters = [dead(working, shop) for shop in ("s1", "s2", "s2")]
    working.engine.store.put_shops([Shop(platform="pdd", shop_id="s1", name="微光")])
    working.engine.registry.forget()
    commands, queries = working.commands(), assembly.queries(working.engine)
    part = commands.causes.split_off(letters[0].fingerprint, "shop:pdd:s1")
    made = commands.dead_letters.republish([letters[1].task_id]).made[letters[1].task_id]
    working.wait(made, "dead")
    worth = {one.fingerprint: one.worth.code for one in queries.causes.causes().rows}
    alone, beside = (detail(working, letters[n].task_id).worth for n in (0, 2))
    assert alone is not None
    assert beside is not None
    assert (alone.code, beside.code) == (worth[part], "worth.failed_again"), "one letter is judged as its part"
    assert worth.pop(part) != "worth.failed_again", "none of the shop's own was republished"
    assert list(worth.values()) == ["worth.failed_again"]
    assert queries.causes.called([part])[part].place_name == "微光"


def test_of_more_than_are_followed_the_last_are_told_as_that(working: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "FOLLOWED", 2)
    letters = [dead(working, shop) for shop in ("s1", "s2")]
    made = working.commands().dead_letters.republish([task.task_id for task in letters]).made
    ended = [working.wait(task_id, "dead") for task_id in made.values()]
    assert english(only_cause(working).worth.message).startswith("2 of 2 that were republished died of it again")
    again = working.commands().dead_letters.republish([ended[0].task_id]).made
    working.wait(again[ended[0].task_id], "dead")
    assert english(only_cause(working).worth.message).startswith("2 of the last 2 that were republished died of it")


def test_that_a_message_was_changed_before_it_failed_again_is_told(working: Fleet) -> None:
    first = dead(working)
    changed = {**json.loads(first.payload), "n": 5}
    made = working.commands().dead_letters.republish([first.task_id], payload=changed).made
    found = detail(working, working.wait(made[first.task_id], "dead").task_id)
    assert found.worth is not None
    assert found.worth.code == "worth.letter_edited"
    assert (only_cause(working).worth.code, only_cause(working).worth.params["edited"]) == ("worth.edited_again", 1)


def test_what_its_type_refuses_now_is_told_before_the_click(fleet: Fleet) -> None:
    fleet.worker()
    task = dead(fleet)
    again = fleet.commands()
    define(fleet, "work", schema={"type": "object", "required": ["page"], "properties": {"page": {"type": "integer"}}})
    found = detail(fleet, task.task_id)
    assert found.refusal is not None
    assert found.refusal.code == "dead.refused_field"
    assert found.worth is not None
    assert found.worth.code == "worth.refused"
    (refused,) = again.dead_letters.republish([task.task_id]).skipped
    assert refused.why.code == "dead.schema"
