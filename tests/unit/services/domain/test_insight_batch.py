"""What a batch is made of: boxes, what waits for what, and what holds what is not done."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from services.domain.insight import batch
from services.domain.insight.batch import Chances, Edge, foretold, of_back_off
from services.domain.task.record import Attempt, Task


def task(name: str, status: str = "queued", kind: str = "sync", platform: str = "pdd", **fields: Any) -> Task:
    words = {"shop_id": f"s-{name}", "created_at": 1_000, **fields}
    return Task(task_id=name, platform=platform, task_type=kind, status=status, **words)


def chain() -> list[Task]:
    """Two of each platform, each with a follower, and one report behind all of a platform."""
    made = []
    for platform in ("pdd", "temu"):
        for n in (1, 2):
            name = f"{platform}{n}"
            made.append(task(name, "succeeded" if name == "pdd1" else "queued", platform=platform))
            made.append(task(f"{name}b", "blocked", "goods", platform, depends_on=(name,), gate="dependency"))
        ends = (f"{platform}1b", f"{platform}2b")
        made.append(task(f"{platform}r", "blocked", "report", platform, depends_on=ends, gate="dependency"))
    return made


def test_boxes_stand_behind_what_they_wait_for() -> None:
    found = batch.story(chain(), {})
    assert [(box.key, box.depth, box.done, box.total) for box in found.boxes] == [
        (("sync", "pdd"), 0, 1, 2),
        (("sync", "temu"), 0, 0, 2),
        (("goods", "pdd"), 1, 0, 2),
        (("goods", "temu"), 1, 0, 2),
        (("report", "pdd"), 2, 0, 1),
        (("report", "temu"), 2, 0, 1),
    ]
    assert Edge(("sync", "pdd"), ("goods", "pdd"), all_to_one=False) in found.edges
    assert Edge(("goods", "temu"), ("report", "temu"), all_to_one=True) in found.edges
    assert len(found.edges) == 4
    assert (found.total, found.counts) == (10, {"done": 1, "waiting": 3, "held": 6})


def test_what_a_retry_releases_is_counted_once_and_not_behind_what_stays() -> None:
    tasks = [
        task("a", "dead", triage="open"),
        task("b", "retrying"),
        task("c", "held"),
        task("d", "dead", triage="archived"),
    ]
    tasks.append(task("ab", "blocked", "goods", depends_on=("a", "b"), gate="dependency"))
    tasks += [task(f"{one}x", "blocked", "goods", depends_on=(one,), gate="dependency") for one in "cd"]
    assert batch.story(tasks, {}).behind_retried == 1


def test_a_cancelled_task_that_was_created_again_stands_as_its_successor() -> None:
    gone, alone = (task(name, "cancelled", platform="pdd") for name in ("t1", "t2"))
    behind = task("t4", "blocked", "goods", depends_on=("t1",), gate="dependency")
    found = batch.story(iter([gone, alone, task("t3", parent="t1"), behind]), {})
    assert found.counts == {"waiting": 1, "cancelled": 1, "held": 1}
    assert found.by_itself == 2
    assert found.edges == (Edge(("sync", "pdd"), ("goods", "pdd")),)


def test_many_platforms_are_drawn_by_type_alone() -> None:
    found = batch.story([task(f"t{n}", platform=f"p{n}") for n in range(batch.MOST_BOXES + 1)], {})
    assert [(box.key, box.total) for box in found.boxes] == [(("sync", ""), 25)]


def test_what_is_left_of_a_shop_says_why_and_what_waits_for_it_unless_there_are_too_many_shops() -> None:
    found = batch.story([*chain(), task("dead", "dead", shop_id="s-temu1b", platform="temu")], {})
    first = found.left[0]
    assert (first.shop, first.person, first.reasons) == ("temu:s-temu1b", True, (("dead", 1), ("dependency", 1)))
    assert {one.shop: one.behind for one in found.left}["pdd:s-pdd2"] == 2, "its follower, and the report"
    many = batch.story([task(f"t{n}") for n in range(batch.MOST_SHOPS + 1)], {})
    assert {one.behind for one in many.left} == {batch.UNTOLD}


def test_what_needs_a_person_comes_first_with_what_it_holds_behind() -> None:
    tasks = chain()
    tasks[2] = task("pdd2", "dead", triage="open")
    found = batch.story(tasks, {"temu1": "session", "temu2": "session", **{f"{p}r": "dependency" for p in "ab"}})
    assert [(one.key, len(one.ids), one.behind, one.person) for one in found.holds] == [
        ("session", 2, 3, True),
        ("dead", 1, 2, True),
        ("dependency", 6, 0, False),
    ]
    assert (found.needs_person, found.behind_person, found.by_itself) == (3, 5, 2)


def test_what_waits_at_a_gate_by_its_row_is_held_up_by_its_number() -> None:
    tasks = [task(name) for name in "abcd"] + [task("e", "blocked", gate="shop_busy"), task("f", "retrying")]
    found = batch.story(tasks, {"a": "shop_busy", "b": "paused:pdd", "c": "lane_order", "f": "paused:pdd"})
    assert found.counts == {"held": 3, "waiting": 3}
    assert {one.key: len(one.ids) for one in found.holds} == {
        "shop_busy": 2, "paused": 1, "lane_order": 1, "queued": 1, "retrying": 1,
    }  # fmt: skip
    assert [one.key for one in found.holds if one.person] == ["paused"], "a pause ends when somebody ends it"
    assert (found.needs_person, found.by_itself) == (1, 5)


def test_what_parked_and_waits_for_nothing_but_a_slot_is_not_held_up() -> None:
    parked = [task(name, "blocked", gate="no_worker") for name in "ab"]
    found = batch.story(parked, {"a": "lane_order", "b": "no_worker"})
    assert found.counts == {"waiting": 1, "held": 1}
    assert [(one.key, one.person) for one in found.holds] == [("no_worker", True), ("lane_order", False)]


def test_what_waits_as_its_shop_keeps_failing_goes_on_by_itself() -> None:
    tasks = [task("a"), task("b"), task("dead", "dead", triage="open")]
    found = batch.story(tasks, {"a": "breaker", "b": "breaker"})
    assert [(one.key, len(one.ids), one.person) for one in found.holds] == [("dead", 1, True), ("breaker", 2, False)]
    assert (found.needs_person, found.by_itself) == (1, 2), "one of them tries now and then"


def test_what_was_cancelled_behind_a_dead_one_stays_open_no_more() -> None:
    tasks = [
        task("a", "dead", triage="open"),
        task("b", "cancelled", "goods", depends_on=("a",)),
        task("c", "blocked", "goods", depends_on=("a",), gate="dependency"),
        task("d"),
        task("e", "succeeded"),
    ]
    found = batch.story(tasks, {})
    assert (found.stays, found.behind_person, found.by_itself) == (2, 1, 2)


def test_what_was_sent_again_stands_as_its_successor() -> None:
    tasks = [
        task("a", "dead", triage="republished", successor="a2"),
        task("a2", "running", parent="a"),
        task("b", "blocked", "goods", depends_on=("a",), gate="dependency"),
    ]
    found = batch.story(tasks, {})
    assert found.counts == {"running": 1, "held": 1}
    assert found.edges == (Edge(("sync", "pdd"), ("goods", "pdd")),)
    assert {one.key: one.behind for one in found.holds} == {"running": 1, "dependency": 0}


def test_a_circle_of_boxes_ends() -> None:
    tasks = [task("a", kind="x"), task("b", kind="y", depends_on=("a",)), task("c", kind="x", depends_on=("b",))]
    found = batch.story(tasks, {})
    assert {box.task_type for box in found.boxes} == {"x", "y"}
    assert all(box.depth < 2 for box in found.boxes)


def test_the_last_deadline_of_what_has_not_begun_counts() -> None:
    tasks = [task("a", deadline=5), task("b", "running", attempt=1, deadline=9), task("c", deadline=7)]
    assert batch.story(tasks, {}).deadline == 7
    assert batch.story([], {}) == batch.Story()


def test_what_goes_on_after_a_failure_is_told_by_enough_others() -> None:
    def ended(status: str, number: int, kind: str = "network") -> list[Task]:
        attempts = (Attempt(1, "w", 0, 0, "failed", kind), Attempt(2, "w", 0, 0, "succeeded"))
        return [replace(task("x"), status=status, attempts=attempts) for _ in range(number)]

    assert of_back_off(3, "network", ended("succeeded", 4)) == Chances(unknown=3)
    assert of_back_off(3, "network", ended("succeeded", 5)) == Chances(passes=3)
    assert of_back_off(3, "network", [*ended("succeeded", 2), *ended("dead", 3)]) == Chances(again=3)
    assert of_back_off(3, "network", ended("succeeded", 9, "timeout")) == Chances(unknown=3)
    assert of_back_off(3, "network", [*ended("succeeded", 3), *ended("dead", 3)]) == Chances(passes=3)
    last = [replace(one, attempts=one.attempts[:1]) for one in ended("dead", 9)]
    assert of_back_off(3, "network", last) == Chances(unknown=3), "no attempt came after the one that failed"


def test_what_its_pace_had_said_half_way_is_told_of_a_batch_that_has_ended() -> None:
    ends = [task(f"t{n}", "succeeded", ended_at=1_000_000 + n * 10_000) for n in range(8)]
    said = foretold(ends)
    assert said is not None
    # four had ended in 30 s, so the four that were left were said to take as long
    assert (said.at_ms, said.left.mid_s, said.end_ms) == (1_030_000, 30.0, 1_060_000)
    assert said.left.low_s < 30 < said.left.high_s
    assert foretold(ends[:3]) is None, "too few"
    assert foretold([*ends, task("c", "cancelled")]) is None, "it was not let end by itself"
    assert foretold([*ends, task("q")]) is None, "it has not ended"


def test_causes_beyond_the_first_stand_as_one_that_names_those() -> None:
    tasks = [task(f"t{n}", "dead", triage="open", fingerprint=f"fp{n:02}") for n in range(batch.MOST_CAUSES + 2)]
    (hold,) = batch.story(tasks, {}).holds
    *first, rest = hold.parts
    assert [one.cause for one in first] == [f"fp{n:02}" for n in range(batch.MOST_CAUSES)]
    assert (rest.cause, len(rest.ids)) == ("", 2)
    assert list(rest.apart) == [one.cause for one in first]
