"""What is true of the whole fleet, in states, in numbers and in words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from services.domain.fleet.shop import Pause
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.durations import Measured
from services.domain.insight.forecast.flow import Facts, Line, Rates
from services.messages import english_headline

TOOK = Measured(count=30, mean_s=10.0, deviation_s=3.0)
GROWS = Rates(in_s=3.2, out_s=2.8, recent_in=3.3, recent_out=2.8, steady_in=3.2, window_s=60.0)
CALM = Rates(in_s=0.1, out_s=0.1, recent_in=0.1, recent_out=0.1, steady_in=0.1, window_s=60.0)


def line(waiting: int, *, running: int = 1, arrivals_s: float = 0.0, shop: str = "微光") -> Line:
    return Line(shop=shop, waiting=waiting, running=running, took=TOOK, arrivals_s=arrivals_s)


SIX = tuple(line(7, arrivals_s=0.12, shop=str(n)) for n in range(6))
PAUSE = Pause(scope="type:sync_order", by="li@ops-02", reason="sale")
OTHER = Pause(scope="platform:temu", by="wang")
BOTH = ((PAUSE, 7), (OTHER, 2))


@pytest.mark.parametrize(
    ("facts", "state", "words"),
    [
        (Facts(known=False), flow.LOADING, "Loading…"),
        (
            Facts(store=False, waiting=4, running=2),
            flow.LOST,
            "The records cannot be reached; how the fleet stands is not known",
        ),
        (Facts(), flow.IDLE, "Nothing is waiting and nothing is running"),
        (
            Facts(writes=False, dead=1),
            flow.BLOCKED,
            "The store takes no writes: nothing new starts, and nothing can be changed; 1 dead letter needs a person",
        ),
        (
            Facts(writes=False, waiting=5),
            flow.BLOCKED,
            "5 tasks waiting; the store takes no writes: none starts until it does, then all go on",
        ),
        (
            Facts(answers=False, waiting=42, slots=4, workers=1, rates=CALM, lines=SIX),
            flow.STEADY,
            "42 tasks waiting; the broker does not answer: when they start is not known",
        ),
        (
            Facts(answers=False, waiting=9, laters=(("limit", 2),), slots=4, workers=1, lines=(line(7),)),
            flow.DRAINING,
            "9 tasks waiting; 2 of them go on later by themselves (2 at a limit);"
            " the broker does not answer: when the other 7 start is not known",
        ),
        (
            Facts(running=3, dead=201, slots=4, busy=3),
            flow.FINE,
            "Nothing is waiting; 3 running; 201 dead letters need a person",
        ),
        (
            Facts(dead=1, held=1),
            flow.IDLE,
            "Nothing is waiting and nothing is running; 1 task to confirm (did it run?); 1 dead letter needs a person",
        ),
        (Facts(retrying=3), flow.FINE,
         "Nothing is waiting and nothing is running; 3 tasks failed and try again by themselves"),
        (
            Facts(running=7, unconfirmed=6, slots=4),
            flow.FINE,
            "Nothing is waiting; 7 running; of 6 nobody knows whether they still run: no word from their worker",
        ),
        (
            Facts(waiting=2, running=1, persons=(("hung", 2),), slots=4, busy=1),
            flow.PERSON,
            "2 tasks waiting; all of them for a person (2 behind a task that seems to hang)",
        ),
        (
            Facts(waiting=2, running=1, slots=4, busy=1, lines=(Line(shop="微光", waiting=2, running=1),)),
            flow.STEADY,
            "2 tasks waiting; 3 of 4 slots free, but 微光 runs 1 at a time; how long they take was not measured yet",
        ),
        (
            Facts(waiting=1, persons=(("login", 1),), slots=4),
            flow.PERSON,
            "1 task waiting; for a person (1 needs a login)",
        ),
        (
            Facts(waiting=1, persons=(("twin", 1),), slots=4),
            flow.PERSON,
            "1 task waiting; for a person (1 behind a task to confirm)",
        ),
        (
            Facts(waiting=4, laters=(("breaker", 3), ("limit", 1)), slots=4),
            flow.LATER,
            "4 tasks waiting; all go on later by themselves (3 in shops that fail too often, 1 at a limit)",
        ),
        (
            Facts(waiting=4, laters=(("breaker", 4),), slots=4, opens_s=48.2),
            flow.LATER,
            "4 tasks waiting; all go on later by themselves"
            " (4 in shops that fail too often, the first tries again in 49 s)",
        ),
        (
            Facts(waiting=4, laters=(("quiet", 4),), slots=4, opens=(("quiet", 0.02),)),
            flow.LATER,
            "4 tasks waiting; all go on later by themselves (4 in quiet hours, the first of which end in 1 s)",
        ),
        (
            Facts(waiting=42, slots=1, busy=1, lane="low", elsewhere=5, rates=GROWS, lines=SIX),
            flow.GROWING,
            "42 tasks waiting and growing: in 3.2/s, out 2.8/s;"
            " the only slot for the lane low is busy, 5 free ones do not take it;"
            " about 8 more that take it would keep up",
        ),
        (
            Facts(waiting=42, running=1, slots=1, busy=1, rates=GROWS, lines=SIX),
            flow.GROWING,
            "42 tasks waiting and growing: in 3.2/s, out 2.8/s; the only slot is busy, about 8 more would keep up",
        ),
        (
            Facts(waiting=42, running=6, slots=6, busy=6, rates=GROWS, lines=SIX),
            flow.GROWING,
            "42 tasks waiting and growing: in 3.2/s, out 2.8/s; all 6 slots busy, about 2 more would keep up",
        ),
        (
            Facts(waiting=6, held=6, persons=(("login", 2),), slots=4, busy=1, rates=CALM, lines=(line(4),)),
            flow.STEADY,
            "6 tasks waiting; 2 of them for a person (2 need a login); the other 4 start within about 25–65 s;"
            " 6 tasks to confirm (did they run?)",
        ),
        (
            Facts(waiting=5, persons=(("login", 3), ("paused", 2)), slots=3),
            flow.PERSON,
            "5 tasks waiting; all of them for a person (3 need a login, 2 paused)",
        ),
        (
            Facts(waiting=8, persons=(("paused", 8),), slots=3, pause=PAUSE, paused_s=12),
            flow.PERSON,
            "8 tasks waiting; paused by li@ops-02 for 12 s (sale): resume when that is over",
        ),
        (
            Facts(
                waiting=5, persons=(("login", 3), ("paused", 2)), slots=3, paused_s=12,
                pause=Pause(scope="all", by="li@ops-02"),
            ),
            flow.PERSON,
            "5 tasks waiting; 3 of them for a person (3 need a login); 2 of them paused by li@ops-02 for 12 s",
        ),
        (
            Facts(waiting=9, persons=(("paused", 9),), slots=3, pauses=BOTH, paused_s=12),
            flow.PERSON,
            "9 tasks waiting; 2 pauses hold them, the largest type:sync_order: 7, by li@ops-02 for 12 s",
        ),
        (
            Facts(waiting=12, persons=(("login", 3), ("paused", 9)), slots=3, pauses=BOTH, paused_s=12),
            flow.PERSON,
            "12 tasks waiting; 3 of them for a person (3 need a login); 2 pauses hold 9 of them, the largest"
            " type:sync_order: 7, by li@ops-02 for 12 s",
        ),
        (
            Facts(waiting=200, running=1, slots=20, busy=1, lines=(line(200),)),
            flow.DRAINING,
            "200 tasks waiting; clear in about 25–45 min; 19 of 20 slots free, but 微光 runs 1 at a time",
        ),
        (
            Facts(waiting=286, running=2, slots=4, busy=2, lines=(line(143), line(143, shop="云杉"))),
            flow.DRAINING,
            "286 tasks waiting; clear in about 20–30 min; 2 of 4 slots free, but 2 shops are at their own limit",
        ),
        (Facts(waiting=200), flow.NO_WORKER, "200 tasks waiting; no worker takes tasks: start one"),
        (
            Facts(waiting=200, drained=1),
            flow.NO_WORKER,
            "200 tasks waiting; 1 worker drains and takes no more: resume it",
        ),
        (
            Facts(waiting=200, drained=2),
            flow.NO_WORKER,
            "200 tasks waiting; 2 workers drain and take no more: resume one",
        ),
        (Facts(waiting=200, cut_off=3), flow.NO_WORKER, "200 tasks waiting; 3 workers cannot reach the broker"),
        (
            Facts(waiting=2, cut_off=1, workers=1, slots=4, lines=(line(1, running=0), line(1, running=0))),
            flow.DRAINING,
            "2 tasks waiting; they start now; 1 worker cannot reach the broker",
        ),
        (
            Facts(waiting=42, unsent=42, blocked=True, slots=3),
            flow.BLOCKED,
            "42 tasks waiting; the broker takes no new messages: 42 tasks recorded, not sent",
        ),
        (
            Facts(blocked=True, running=3, slots=3),
            flow.BLOCKED,
            "The broker takes no new messages: what is created is recorded, and sent later; nothing is waiting;"
            " 3 running",
        ),
        (
            Facts(waiting=7, slots=1, busy=1, lines=(Line(shop="s", waiting=7, running=1),)),
            flow.STEADY,
            "7 tasks waiting; how long they take was not measured yet",
        ),
        (
            Facts(waiting=1, unsent=1, slots=4, lines=(line(1, running=0),)),
            flow.LATER,
            "1 task waiting; 1 task recorded, not sent",
        ),
        (
            Facts(waiting=3, unsent=1, slots=4, lines=(line(1, running=0), line(1, running=0))),
            flow.DRAINING,
            "3 tasks waiting; 1 task recorded, not sent; the other 2 start now",
        ),
        (Facts(waiting=2, slots=4, lines=(line(1, running=0), line(1, running=0))), flow.DRAINING,
         "2 tasks waiting; they start now"),
        (
            Facts(waiting=11, persons=(("login", 10),), slots=4, lines=(line(1, running=0),)),
            flow.DRAINING,
            "11 tasks waiting; 10 of them for a person (10 need a login); the other one starts now",
        ),
        (
            Facts(waiting=12, persons=(("login", 10),), slots=4, lines=(line(1, running=0), line(1, running=0))),
            flow.DRAINING,
            "12 tasks waiting; 10 of them for a person (10 need a login); the other 2 start now",
        ),
        (
            Facts(waiting=3, laters=(("others", 3),), slots=4, lines=()),
            flow.LATER,
            "3 tasks waiting; all go on later by themselves (3 behind other tasks)",
        ),
    ],
)  # fmt: skip
def test_what_is_said(facts: Facts, state: str, words: str) -> None:
    found = flow.judge(facts)
    assert (found.state, english_headline(flow.headline(found))) == (state, words)


def test_in_brief_one_reason_stands_for_itself_and_several_for_what_they_come_to() -> None:
    persons, laters = (("login", 21), ("paused", 9)), (("breaker", 23), ("limit", 9))
    facts = Facts(waiting=66, persons=persons, laters=laters, pauses=BOTH, paused_s=60, dead=3, unconfirmed=2)
    brief = flow.in_brief(flow.headline(flow.judge(facts)))
    assert english_headline(brief) == (
        "66 tasks waiting; 21 need a login; 9 paused; 32 go on by themselves;"
        " no worker takes tasks: start one; 2 not confirmed; 3 dead letters"
    )
    several = flow.judge(Facts(waiting=5, persons=(("login", 3), ("twin", 2))))
    assert english_headline(flow.in_brief(flow.headline(several))) == "5 tasks waiting; 5 for a person"


@pytest.mark.parametrize(
    ("facts", "helps"),
    [
        (Facts(waiting=42, slots=6, busy=6, rates=GROWS, lines=SIX), (flow.MORE_SLOTS,)),
        (Facts(waiting=9), (flow.START_WORKER,)),
        (Facts(waiting=9, cut_off=1), (flow.REACH_BROKER,)),
        (Facts(waiting=9, blocked=True), (flow.FREE_BROKER,)),
        (Facts(store=False), (flow.RECONNECT,)),
        (
            Facts(waiting=9, persons=(("login", 4), ("paused", 5)), held=1, dead=2),
            (flow.LOG_IN, flow.RESUME, flow.DECIDE, flow.LOOK_AT_CAUSE),
        ),
    ],
)
def test_what_would_help(facts: Facts, helps: tuple[str, ...]) -> None:
    assert flow.judge(facts).helps == helps


def test_shops_that_were_not_measured_yet_need_slots_too() -> None:
    fresh = tuple(Line(shop=str(n), waiting=7, arrivals_s=0.2) for n in range(10))
    facts = Facts(waiting=77, slots=1, busy=1, rates=GROWS, lines=(line(7, arrivals_s=0.2), *fresh))
    assert flow.judge(facts).more_slots == 24, "eleven shops with a task of ten seconds every five"


def test_a_queue_that_grew_until_a_moment_ago_is_not_told_with_rates_that_say_otherwise() -> None:
    paused = Rates(in_s=0.8, out_s=0.2, recent_in=0.0, recent_out=0.2, steady_in=0.4, window_s=60.0)
    found = flow.judge(Facts(waiting=42, running=6, slots=6, busy=6, rates=paused, lines=SIX))
    words = english_headline(flow.headline(found))
    assert (found.state != flow.GROWING, "not growing" in words) == (True, False)


def test_two_tasks_behind_a_busy_shop_are_no_queue_that_grows() -> None:
    busy = Rates(in_s=0.037, out_s=0.027, recent_in=0.037, recent_out=0.027, steady_in=0.037, window_s=300.0)
    shop = line(2, arrivals_s=0.01)
    assert flow.judge(Facts(waiting=2, running=1, slots=4, busy=1, rates=busy, lines=(shop,))).state != flow.GROWING
    queue = line(12, arrivals_s=0.01)
    assert flow.judge(Facts(waiting=12, running=1, slots=4, busy=1, rates=busy, lines=(queue,))).state == flow.GROWING


@pytest.mark.parametrize(("free", "grows"), [(1, False), (6, False), (60, True)])
def test_what_comes_to_a_pause_is_no_growth_of_the_others(free: int, grows: bool) -> None:
    """Sixty came more than went: of few that nothing holds hardly any can be among them."""
    rates = Rates(in_s=1.2, out_s=0.2, recent_in=1.2, recent_out=0.2, steady_in=1.2, window_s=60.0)
    shop = line(free, arrivals_s=0.01)
    held = Facts(waiting=300 + free, running=1, slots=1, busy=1, persons=(("paused", 300),), rates=rates, lines=(shop,))
    assert (flow.judge(held).state == flow.GROWING) == grows


def test_growth_is_not_told_of_what_is_left_once_the_others_are_held() -> None:
    facts = Facts(waiting=42, running=6, slots=6, busy=6, rates=GROWS, lines=SIX, persons=(("login", 20),))
    before = flow.judge(facts)
    after = flow.again(before, replace(facts, waiting=21))
    assert (before.state, after.state == flow.GROWING) == (flow.GROWING, False)


def test_a_burst_that_has_ended_is_not_called_growth() -> None:
    burst = Rates(in_s=5.0, out_s=2.8, recent_in=0.0, recent_out=2.8, steady_in=0.1, window_s=60.0)
    assert flow.judge(Facts(waiting=42, slots=6, busy=6, rates=burst, lines=SIX)).state != flow.GROWING


TWO = Rates(in_s=0.8, out_s=0.4, recent_in=1.2, recent_out=0.6, steady_in=0.48, window_s=60.0, parts_in=2)


def test_two_bursts_are_no_growth_though_more_came_than_went() -> None:
    facts = Facts(waiting=12, running=6, slots=6, busy=6, lines=tuple(line(2, shop=str(n)) for n in range(6)))
    just = flow.judge(replace(facts, rates=replace(TWO, quiet_s=1.0)))
    assert "growing" not in english_headline(flow.headline(just))
    after = flow.judge(replace(facts, rates=replace(TWO, quiet_s=9.0)))
    assert english_headline(flow.headline(after)).startswith(
        "12 tasks waiting, hardly any new ones now; clear in about"
    )


def test_a_queue_grows_only_as_long_as_tasks_go_on_coming() -> None:
    facts = Facts(waiting=42, running=6, slots=6, busy=6, lines=SIX)
    states = [flow.judge(replace(facts, rates=replace(GROWS, quiet_s=quiet))).state for quiet in (8.0, 16.0)]
    assert (states[0], states[1] == flow.GROWING) == (flow.GROWING, False)


def test_a_shop_without_measured_tasks_gets_no_estimate() -> None:
    lines = (line(4), Line(shop="new", waiting=4, running=1))
    found = flow.judge(Facts(waiting=8, slots=2, busy=2, lines=lines))
    assert (found.estimate, found.reason) == (None, flow.NOT_MEASURED)


def test_newer_numbers_keep_the_judgement_until_they_contradict_it() -> None:
    before = flow.judge(Facts(waiting=6, persons=(("login", 2),), slots=4, busy=1, rates=CALM, lines=(line(4),)))
    more = flow.again(before, Facts(waiting=7, slots=4, busy=1, rates=CALM))
    assert (more.state, more.runnable, more.for_person) == (before.state, 5, 2)
    assert flow.again(before, Facts(running=1)).state == flow.FINE
    assert flow.again(before, Facts(store=False)).state == flow.LOST


def test_a_pause_that_has_ended_is_told_no_longer() -> None:
    both = frozenset({PAUSE.scope, OTHER.scope})
    facts = Facts(waiting=9, persons=(("paused", 9),), slots=3, pauses=BOTH, scopes=both, lines=(line(1),))
    before = flow.judge(facts)
    fewer = flow.again(before, Facts(waiting=9, slots=3, scopes=frozenset({OTHER.scope})))
    assert (fewer.facts.pause, fewer.for_person, fewer.runnable) == (OTHER, 2, 7)
    none = flow.again(before, Facts(waiting=9, slots=3))
    assert (none.for_person, none.runnable, none.facts.pauses) == (0, 9, ())
    more = flow.again(before, Facts(waiting=9, slots=3, scopes=both | {"all"}))
    assert (more.facts.pauses, more.for_person) == (BOTH, 9), "what it holds nobody has counted yet"


def test_a_worker_that_loses_its_broker_is_judged_anew() -> None:
    before = flow.judge(Facts(waiting=2, workers=1, slots=4, lines=(line(1, running=0), line(1, running=0))))
    after = flow.again(before, Facts(waiting=2, cut_off=1))
    assert (before.state, after.state, after.estimate) == (flow.DRAINING, flow.NO_WORKER, None)


def test_what_a_silent_broker_hands_out_is_foretold_no_longer_and_again_once_it_answers() -> None:
    answering = Facts(waiting=6, workers=1, slots=4, rates=CALM, lines=(line(4),))
    before = flow.judge(answering)
    silent = flow.again(before, replace(answering, answers=False))
    assert before.estimate is not None
    assert (silent.estimate, silent.reason) == (None, flow.UNKNOWN)
    assert flow.again(silent, answering).estimate == before.estimate
