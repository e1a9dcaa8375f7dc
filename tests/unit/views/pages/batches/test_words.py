"""Words of batches."""

from __future__ import annotations

from collections import Counter

from services.domain.insight import batch as insight
from services.domain.insight.forecast.flow import Spread
from services.domain.task.record import Task
from services.domain.text.message import Message
from services.monitor.batches import BatchView
from services.monitor.forecast.drain import Raised
from views.pages.batches.words import (
    BatchNow,
    chances,
    goes_on,
    headline,
    late,
    name,
    off_by,
    others,
    parts_of,
    raised,
    state,
)
from views.support import shown
from views.support.text import THIN


def test_a_status_that_nobody_knows_counts_as_waiting() -> None:
    view = BatchView(batch="b1", counts={"succeeded": 2, "{not json": 1, "queued": 2})
    assert parts_of(BatchNow(view=view)) == {insight.DONE: 2, insight.WAITING: 3}


def test_the_row_of_a_batch_says_what_the_pane_beside_it_says() -> None:
    tasks = [
        Task(task_id=f"t{n}", platform="pdd", task_type="sync_order", shop_id=f"s{n}", status="queued") for n in "ab"
    ]
    story = insight.story(tasks, dict.fromkeys(("ta", "tb"), "paused:pdd"))
    view = BatchView("b1", {"queued": 2})
    assert state(BatchNow(view=view)) == ("waiting", "text3")
    assert state(BatchNow(view=view, story=story)) == ("held up", "retrying")
    assert headline(BatchNow(view=view, story=story)) == "0 of 2 done, 2 stay open"
    assert [goes_on(hold) for hold in story.holds] == ["once it is resumed"]


def test_the_batch_of_a_run_is_called_by_its_schedule_and_its_time() -> None:
    assert name(BatchView(batch="orders@20201126T115505+0000", counts={})) == "orders, 2020-11-26"
    for other in ("b1", "mail@example", "orders@20209999T115505+0000"):
        assert name(BatchView(batch=other, counts={})) == other


def test_what_may_be_a_secret_in_the_name_of_a_batch_is_not_shown() -> None:
    assert "hunter2" not in name(BatchView(batch="nightly password=hunter2", counts={}))


def test_who_waits_behind_what_needs_a_person_is_told_with_it() -> None:
    fails = insight.Hold(key="breaker", ids=("f",), types=(), shops=1, oldest_at=0, behind=0, person=False)
    assert goes_on(fails) == "one tries now and then"
    held = insight.Hold(key="held", ids=("h",) * 3, types=(), shops=1, oldest_at=0, behind=1, person=True)
    story = insight.Story(counts={insight.HELD: 4}, holds=(held,), behind_person=1)
    said = others(BatchNow(view=BatchView("b1", {"held": 3, "blocked": 1}), story=story))
    assert said.startswith("3 need a person (")
    assert said.endswith("1 waits behind them")


def test_of_a_batch_that_brought_dead_letters_only_nobody_says_that_the_rest_is_likely_done() -> None:
    """29 of 58 had died of a changed page, and the other 29 were likely done in three minutes."""

    def said(*statuses: str) -> str:
        tasks = [
            Task(task_id=f"t{n}", platform="pdd", task_type="sync_order", shop_id=f"s{n}", status=status)
            for n, status in enumerate(statuses)
        ]
        view = BatchView("b1", dict(Counter(statuses)), left=Spread(low_s=60, mid_s=120, high_s=180))
        return headline(BatchNow(view=view, story=insight.story(tasks, {}), at_ms=1_700_000_000_000))

    assert "; none is done so far, 3 died" in said("dead", "dead", "dead", "queued", "queued")
    with_cancelled = said("dead", "dead", "dead", "queued", "cancelled", "cancelled")
    assert with_cancelled.endswith("; none is done so far, 3 died, 2 cancelled"), "these have ended too"
    assert said("dead", "dead", "dead", "queued", "queued").startswith("2 of 5 likely at their end at ")
    assert said("dead", "dead", "dead", "succeeded", "queued").startswith("2 of 5 likely done at ")
    assert said("dead", "queued", "queued").startswith("2 of 3 likely done at ")


def test_what_was_cancelled_of_an_open_batch_is_told_with_the_rest() -> None:
    tasks = [
        Task(task_id=f"t{n}", platform="pdd", task_type="sync_order", shop_id=f"s{n}", status=status)
        for n, status in enumerate(("succeeded", "queued", "cancelled"))
    ]
    now = BatchNow(view=BatchView("b1", {"succeeded": 1, "queued": 1, "cancelled": 1}), story=insight.story(tasks, {}))
    assert headline(now) == "2 of 3 can end by themselves; too early to say when, 1 cancelled"


def test_a_batch_that_was_cancelled_says_so_behind_what_it_has_done() -> None:
    counts = {"succeeded": 3, "cancelled": 1_200}
    assert headline(BatchNow(view=BatchView("b1", counts))) == "Ended: 3 of 1,203 done, 1,200 cancelled"
    assert headline(BatchNow(view=BatchView("b1", {"succeeded": 3, "dead": 2}))) == "Ended: 3 of 5 done"


def test_a_batch_that_has_ended_says_when_and_how_far_from_its_deadline() -> None:
    begun, minute = 1_700_000_000_000, 60_000

    def said(*due: int, open_: int = 0) -> tuple[str, bool]:
        tasks = [
            Task(
                task_id=f"t{n}",
                platform="pdd",
                task_type="sync_order",
                shop_id=f"s{n}",
                status="succeeded",
                ended_at=begun + (n + 1) * 11 * minute,
                deadline=begun + minutes * minute if minutes else 0,
            )
            for n, minutes in enumerate(due)
        ]
        counts = {"succeeded": len(due)} | ({"queued": open_} if open_ else {})
        view = BatchView("b1", counts, begun_at=begun)
        one = BatchNow(view=view, story=insight.story(tasks, {}), at_ms=begun + 60 * minute)
        return headline(one).replace(THIN, " "), late(one)

    clock = shown.clock(begun + 22 * minute, begun + 60 * minute)
    assert said(0, 0) == (f"All 2 done, at {clock} after 22 m 00 s", False)
    assert said(30, 20) == (f"All 2 done, at {clock} after 22 m 00 s, 8 m 00 s before its deadline", False)
    assert said(10, 20) == (f"All 2 done, at {clock} after 22 m 00 s, 2 m 00 s past its deadline", True)
    assert "deadline" not in said(30, 20, open_=1)[0]


def ended(*minutes: float, begun: int = 1_700_000_000_000, **fields: object) -> BatchNow:
    """A batch whose tasks ended so many minutes after it began."""
    tasks = [
        Task(
            task_id=f"t{n}", platform="pdd", task_type="sync_order", shop_id=f"s{n}", status="succeeded",
            ended_at=begun + round(at * 60_000),
        )
        for n, at in enumerate(minutes)
    ]  # fmt: skip
    return BatchNow(
        view=BatchView("b1", {"succeeded": len(tasks)}, begun_at=begun),
        story=insight.story(tasks, {}),
        foretold=insight.foretold(tasks),
        ends=tuple(sorted(task.ended_at for task in tasks)),
        at_ms=begun + 3_600_000,
    )


def test_a_batch_that_has_ended_says_how_far_off_its_forecast_was() -> None:
    def said(*minutes: float) -> str:
        return off_by(ended(*minutes)).replace(THIN, " ")

    # half-way, after four minutes, four tasks are left, and the last four took three minutes
    assert said(1, 2, 3, 4, 6, 8, 10, 12) == "5 m 00 s later than its pace foretold half-way"
    assert said(12, 10, 8, 6, 4, 3, 2, 1) == said(1, 2, 3, 4, 6, 8, 10, 12), "in whatever order they are read"
    assert said(1, 2, 3, 4, 5, 6, 6, 6.5) == "30 s earlier than its pace foretold half-way"
    assert said(1, 2, 3, 4, 5, 6, 6.5, 7) == "as its pace foretold half-way"
    assert said(1, 2, 3) == "", "too few to have told anything"
    whole = headline(ended(1, 2, 3, 4, 6, 8, 10, 12)).replace(THIN, " ")
    assert whole.endswith("after 12 m 00 s, 5 m 00 s later than its pace foretold half-way")


def test_of_a_batch_that_was_partly_cancelled_nothing_is_said_that_its_pace_foretold() -> None:
    tasks = [
        Task(task_id=f"t{n}", platform="pdd", task_type="t", shop_id="s", status=status, ended_at=60_000 * (n + 1))
        for n, status in enumerate(["succeeded"] * 6 + ["cancelled"])
    ]
    assert insight.foretold(tasks) is None
    assert insight.foretold(tasks[:6]) is not None


def test_what_is_likely_to_pass_is_told_with_what_is_not_and_of_what_nobody_knows() -> None:
    assert chances(insight.Chances(passes=2, again=4)) == "2 likely pass, 4 likely fail again"
    assert chances(insight.Chances(passes=1, login=1, unknown=3)) == (
        "1 likely passes, 1 needs a log-in, of 3 there is not enough record"
    )
    assert chances(insight.Chances(unknown=3)) == "not enough record to say what passes"
    assert chances(insight.Chances()) == ""


def test_what_a_raise_changes_is_told_with_what_it_costs_others() -> None:
    now = 1_795_000_000_000
    clock = [shown.clock(now + at * 1000, now) for at in (60, 120)]
    found = Raised(number=3, raised_s=60, as_is_s=120, later_s=40, others=9)
    said = f"through at {clock[0]} instead of {clock[1]}, other work waits 40{THIN}s longer on average"
    assert raised(found, now) == said
    found = Raised(number=3, raised_s=60, as_is_s=60)
    assert raised(found, now) == f"through at {clock[0]}, no earlier than as it is, no other work waits longer"
    assert raised(Raised(number=3, raised_s=60), now).startswith(f"through at {clock[0]}; as it is, never at this pace")
    assert raised(Raised(), now) == "nothing of it waits for a slot now"
    assert raised(Raised(why=Message("drain.nobody")), now) == "no worker takes them"
