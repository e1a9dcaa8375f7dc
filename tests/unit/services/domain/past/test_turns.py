"""What changed is told in few sentences: what needs nobody is left out, one cause in many shops is one line."""

from __future__ import annotations

from msgspec.structs import replace

from services import i18n
from services.domain.audit import TARGETS_KEPT, AuditEntry, unnamed
from services.domain.past.frame import BROKER, LEADER, SHOP, SWITCH, WORKER, Change, Gap
from services.domain.past.turns import by_state, turns
from services.messages import english, render

T0 = 1_795_000_000_000


def said(*changes: Change) -> list[str]:
    return [english(turn.message) for turn in turns(changes)]


def test_the_same_of_many_shops_is_one_line() -> None:
    changes = [Change(T0 + n * 1_000, SHOP, f"temu:{n}", "", "dead") for n in range(12)]
    changes.append(Change(T0 + 13_000, SHOP, "pdd:1", "retrying", "login"))
    changes += [Change(T0 + 300_000, SHOP, "temu:1", "dead", ""), Change(T0 + 300_000, SHOP, "temu:2", "dead", "")]
    assert said(*changes) == [
        "12 shops have dead letters: temu:0, temu:1, temu:2 …",
        "pdd:1 must be logged in",
        "2 shops are well again: temu:1, temu:2",
    ]
    assert turns(changes)[0].names == tuple(f"temu:{n}" for n in range(12))


def test_what_mends_itself_is_left_out() -> None:
    assert said(Change(T0, SHOP, "a", "", "retrying"), Change(T0 + 5, SHOP, "a", "retrying", "")) == []
    assert said(Change(T0, SHOP, "a", "paused", "paused/dead")) == [], "the pause is still what holds it"


def test_a_new_version_is_told_however_fast_the_worker_came_back() -> None:
    assert said(
        Change(T0, WORKER, "w1", "running 0.4.2 5", "running 0.5.0 5"),
        Change(T0 + 1, WORKER, "w2", "silent 0.4.2 5", "running 0.5.0 8"),
        Change(T0 + 2, WORKER, "w1", "running 0.5.0 5", "running 0.5.0 6"),
    ) == [
        "w1 works with version 0.5.0, before 0.4.2: 5 slots",
        "w2 works with version 0.5.0, before 0.4.2: 8 slots",
        "w1 has 6 slots, before 5",
    ]


def test_a_worker_that_was_killed_has_not_left_and_its_shops_were_never_ill() -> None:
    assert said(
        Change(T0, WORKER, "w1", "running 0.4.2 5", "silent 0.4.2 5"),
        Change(T0 + 1, SHOP, "temu:1", "", "unknown"),
        Change(T0 + 2, WORKER, "w1", "silent 0.4.2 5", "gone 0.4.2 5"),
        Change(T0 + 3, SHOP, "temu:1", "unknown", ""),
        Change(T0 + 4, WORKER, "w1", "gone 0.4.2 5", ""),
    ) == [
        "w1 is not heard of",
        "Nobody knows how temu:1 does",
        "w1 is given up: nothing was heard of it",
        "It is known again how temu:1 does",
    ]


def test_workers_switches_leader_and_broker() -> None:
    assert said(
        Change(T0, WORKER, "w1", "", "running 0.4.2 5"),
        Change(T0 + 1, WORKER, "w1", "running 0.4.2 5", "late 0.4.2 5"),
        Change(T0 + 2, WORKER, "w1", "late 0.4.2 5", "silent 0.4.2 5"),
        Change(T0 + 3, WORKER, "w1", "silent 0.4.2 5", "running 0.4.2 5"),
        Change(T0 + 4, WORKER, "w1", "running 0.4.2 5", "running 0.4.2 8"),
        Change(T0 + 5, WORKER, "w1", "running 0.4.2 8", ""),
        Change(T0 + 6, SWITCH, "paused platform:temu", "", "ann"),
        Change(T0 + 7, SWITCH, "paused platform:temu", "ann", ""),
        Change(T0 + 8, SWITCH, "quiet_hours all", "", "bo"),
        Change(T0 + 9, LEADER, "leader", "w1", ""),
        Change(T0 + 10, LEADER, "leader", "", "w2"),
        Change(T0 + 11, BROKER, "broker", "", "lost"),
        Change(T0 + 12, BROKER, "broker", "lost", ""),
    ) == [
        "w1 has begun to work: version 0.4.2, 5 slots",
        "w1 is not heard of",
        "w1 is heard of again",
        "w1 has 8 slots, before 5",
        "w1 has left",
        "platform:temu is paused by ann",
        "platform:temu is not paused any more",
        "Quiet hours of all have begun",
        "Nobody leads",
        "w2 leads",
        "The broker does not answer",
        "The broker answers again",
    ]


def act(at: int, action: str, *target: str, outcome: str = "done", who: str = "ann") -> AuditEntry:
    return AuditEntry(entry_id=str(at), at=at, who=who, action=action, target=target, outcome=outcome)


def test_the_same_act_of_one_person_to_many_things_is_one_line() -> None:
    made = [act(T0 + n * 1_000, "pause", f"shop:pdd:{n}") for n in range(40)]
    other = act(T0 + 500, "pause", "shop:pdd:7", who="bo")
    refused = act(T0 + 600, "pause", "shop:pdd:8", "shop:pdd:9", outcome="refused: no right")
    found = turns([], sorted([*made, other, refused], key=lambda one: one.at))
    assert [english(turn.message) for turn in found] == [
        "ann: pause shop:pdd:0 and 39 more",
        "bo: pause shop:pdd:7",
        "ann: pause shop:pdd:8 and 1 more, refused: no right",
    ]
    assert found[0].names == tuple(f"shop:pdd:{n}" for n in range(40))


def test_an_act_on_very_many_things_counts_those_that_its_entry_does_not_name() -> None:
    names = [f"pdd:{n}" for n in range(2 * TARGETS_KEPT)]
    first = act(T0, "shop.import", *names[:TARGETS_KEPT])
    second = act(T0 + 1, "shop.import", *names[TARGETS_KEPT:])
    found = turns([], [replace(first, detail='{"count": 6000}'), replace(second, detail='{"count": 4000}')])
    assert [english(turn.message) for turn in found] == ["ann: shop.import pdd:0 and 9,999 more"]
    few = turns([], [replace(act(T0, "shop.import", "pdd:1", "pdd:2"), detail='{"count": 6000}')])
    assert english(few[0].message) == "ann: shop.import pdd:1 and 1 more", "that count is of something else"


def test_what_is_named_again_is_counted_once() -> None:
    names = [f"pdd:{n % 40}" for n in range(TARGETS_KEPT)]
    made = replace(act(T0, "task.create", *names), detail='{"count": 500}')
    assert english(turns([], [made])[0].message) == "ann: task.create pdd:0 and 39 more", "it counts tasks"
    some = [f"pdd:{n}" for n in range(TARGETS_KEPT)]
    again = [replace(act(T0 + n, "shop.import", *some), detail=f'{{"count": {300 + n}}}') for n in range(3)]
    assert unnamed(again) == 302 - TARGETS_KEPT


def test_what_was_done_again_to_one_thing_says_how_often_and_much_later_it_is_told_anew() -> None:
    again = [act(T0 + n, "create", "pdd:1") for n in range(12)]
    others = [act(T0 + 20 + n, "create", f"pdd:{n + 2}") for n in range(3)]
    late = [act(T0 + 90_000, "create", "pdd:1"), act(T0 + 90_001, "create", "pdd:1", "pdd:2")]
    assert [english(turn.message) for turn in turns([], [*again, *others, *late])] == [
        "ann: create pdd:1, 12 times",
        "ann: create pdd:2 and 2 more",
        "ann: create pdd:1",
        "ann: create pdd:1 and 1 more",
    ]


def test_what_came_after_the_moment_is_not_told_as_before_it() -> None:
    acts = [act(T0 + n * 1_000, "pause", f"shop:pdd:{n}") for n in range(4)]
    changes = [Change(T0 + n * 1_000, SHOP, f"temu:{n}", "", "dead") for n in range(4)]
    found = turns(changes, acts, moment_ms=T0 + 1_500)
    assert [(turn.at_ms - T0, len(turn.names)) for turn in found] == [(0, 2), (0, 2), (2_000, 2), (2_000, 2)]


def test_acts_and_gaps_stand_among_them_in_order() -> None:
    found = turns(
        [Change(T0 + 10, LEADER, "leader", "a", "b")],
        [
            act(T0 + 20, "task.cancel", "t1", "t2", "t3", outcome="partly; not done: task.refused 1-2"),
            act(T0 + 30, "pause", "platform:pdd"),
            act(T0 + 40, "audit.verify"),
        ],
        [Gap(T0 - 60_000, T0)],
    )
    assert [english(turn.message) for turn in found] == [
        "Nothing was recorded for 1 min",
        "b leads",
        "ann: task.cancel t1 and 2 more, partly",
        "ann: pause platform:pdd",
    ]


def test_shops_by_state_the_most_first() -> None:
    things = {(SHOP, "a"): "dead", (SHOP, "b"): "paused/dead", (SHOP, "c"): "dead", (WORKER, "w"): "running 1 2"}
    assert by_state(things) == {"dead": ("a", "c"), "paused": ("b",)}


def test_every_sentence_can_be_said_in_chinese() -> None:
    found = turns([Change(T0, SHOP, "a", "", "stuck"), Change(T0 + 1, LEADER, "leader", "", "w")])
    i18n.set_language("zh_CN")
    try:
        assert [render(turn.message) for turn in found] == ["1 家店铺卡住：a", "w 成为主节点"]
    finally:
        i18n.set_language("en")
