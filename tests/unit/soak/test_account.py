"""What an endurance run counts as lost and as done twice."""

from __future__ import annotations

from typing import Any

from services.domain.task.event import Event
from tests.soak import account as accounts
from tests.soak.account import Account


def event(task_id: str, from_: str, to: str, at: int = 0) -> Event:
    fields: dict[str, Any] = {"cursor": "", "shop_id": "s", "platform": "pdd", "task_type": "work", "worker": ""}
    return Event(task_id=task_id, from_=from_, to=to, at=at, gen=0, attempt=0, **fields)


def life(task_id: str, *statuses: str, at: int = 0) -> list[Event]:
    """An event for each move, a second apart."""
    moves = zip(("", *statuses), statuses, strict=False)
    return [event(task_id, before, after, at + 1000 * place) for place, (before, after) in enumerate(moves)]


def test_what_ends_once_is_counted_and_no_longer_waited_for() -> None:
    account = Account()
    account.asked(["a", "b"])
    account.note(life("a", "pending", "queued", "running", "retrying", "queued", "running", "succeeded"), 9_000)
    assert account.unfinished() == ["b"]
    assert (account.created, account.ended) == (1, {"succeeded": 1})
    account.close({"b": "succeeded"})
    assert (account.lost, account.twice, account.ended["succeeded"]) == ([], [], 2)


def test_the_wait_is_that_for_the_first_start_and_is_told_once() -> None:
    account = Account()
    account.note(life("a", "pending", "queued", "running", "retrying", "queued", "running"), 5_250)
    assert account.take() == ([2_000.0], 250.0)
    assert account.take() == ([], 0.0)


def test_a_second_end_is_told() -> None:
    account = Account()
    account.note(life("a", "pending", "queued", "running", "succeeded"), 0)
    account.note([event("a", "running", "dead")], 0)
    assert account.twice == ["a"]


def test_a_decision_about_a_letter_and_its_removal_are_no_ends() -> None:
    account = Account()
    account.note(life("a", "pending", "queued", "running", "dead"), 0)
    account.note([event("a", "dead", "dead"), event("a", "dead", "")], 0)
    assert (account.twice, account.unfinished()) == ([], [])


def test_what_was_accepted_and_never_ended_is_lost_unless_a_person_is_asked() -> None:
    account = Account()
    account.asked(["never", "stuck", "held"])
    account.note(life("stuck", "pending", "queued"), 0)
    account.close({"never": "", "stuck": "queued", "held": "held"})
    assert account.lost == ["never", "stuck"]


def test_after_a_gap_the_store_tells_how_things_stand() -> None:
    account = Account()
    account.note([*life("done", "pending"), *life("gone", "pending"), *life("waits", "pending")], 0)
    account.asked(["not yet recorded"])
    account.missed()
    account.looked_up({"done": "succeeded", "gone": "", "waits": "queued", "not yet recorded": ""})
    assert (account.gaps, account.lost, account.ended) == (1, ["gone"], {"succeeded": 1})
    assert sorted(account.unfinished()) == ["not yet recorded", "waits"]
    # what the store told of is heard of as well, where its event was not among those that were missed
    account.note([event("done", "running", "succeeded")], 0)
    assert account.twice == []


def test_what_is_told_of_before_the_answer_of_its_submission_is_not_waited_for_again() -> None:
    account = Account()
    account.note(life("a", "pending", "queued", "running", "succeeded"), 0)
    account.asked(["a"])
    assert account.unfinished() == []


def test_it_does_not_grow_with_the_run() -> None:
    account = Account()
    for number in range(accounts.REMEMBERED + 10):
        account.note([event(str(number), "", "queued"), event(str(number), "queued", "succeeded")], 0)
    assert account.ended["succeeded"] == accounts.REMEMBERED + 10
    # so long ago that its second end could not be told from a first one
    account.note([event("0", "running", "succeeded")], 0)
    assert account.twice == []
