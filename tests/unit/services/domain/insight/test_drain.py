"""When what waits will have run: three shapes of load, each played through task by task, and what an instant misses."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence

import pytest

from services.domain.insight.forecast import drain
from services.domain.insight.forecast.drain import Line, Miss
from services.messages import english

ORDER = ("high", "normal", "low")


def line(lane: str, shop: str, waiting: int, mean_s: float, *, concurrency: int = 1, arrivals: float = 0.0) -> Line:
    """What waits of a shop, written ``platform:id``."""
    return Line(
        lane=lane, platform=shop.partition(":")[0], shop=shop, waiting=waiting, mean_s=mean_s,
        concurrency=concurrency, arrivals=arrivals,
    )  # fmt: skip


def played(
    lines: Sequence[Line], slots: int, seed: int, ends_s: float = 1e9
) -> tuple[dict[str, float], dict[str, int]]:
    """Task by task with durations that vary by half: when each name is clear, and what is left of it at an instant."""
    chance = random.Random(seed)
    waiting = [int(one.waiting) for one in lines]
    busy = {one.shop: 0 for one in lines}
    wanted = {name for one in lines for name in drain.names(one)}
    free, at, clear, left = slots, 0.0, dict[str, float](), dict[str, int]()
    running: list[tuple[float, int]] = []
    coming = sorted(
        (sum(chance.expovariate(one.arrivals) for _ in range(number + 1)), place)
        for place, one in enumerate(lines)
        if one.arrivals
        for number in range(60)
    )

    def start() -> None:
        nonlocal free
        for lane in ORDER:
            places = [place for place, one in enumerate(lines) if one.lane == lane]
            chance.shuffle(places)
            for place in places:
                one = lines[place]
                while free and waiting[place] and busy[one.shop] < one.concurrency:
                    waiting[place] -= 1
                    busy[one.shop] += 1
                    free -= 1
                    heapq.heappush(running, (at + one.mean_s * chance.lognormvariate(-0.125, 0.5), place))

    start()
    while running and len(clear) < len(wanted):
        if coming and coming[0][0] < running[0][0]:
            at, place = coming.pop(0)
            waiting[place] += 1
        else:
            at, place = heapq.heappop(running)
            busy[lines[place].shop] -= 1
            free += 1
        if at >= ends_s and not left:
            left = {n: sum(w for w, one in zip(waiting, lines, strict=True) if n in drain.names(one)) for n in wanted}
        start()
        for name in wanted - clear.keys():
            own = [place for place, one in enumerate(lines) if name in drain.names(one)]
            runs = {place for _end, place in running}
            if not any(waiting[place] for place in own) and (lines[own[0]].arrivals or not runs & set(own)):
                clear[name] = at
    return clear, left


BURST = [line("normal", f"{platform}:{n}", 4, 6.0) for platform in ("pdd", "temu") for n in range(40)]
LARGE = [
    line("normal", "pdd:large", 120, 5.0, concurrency=2),
    *(line("normal", f"temu:{number}", 3, 8.0) for number in range(30)),
]
LANES = [
    *(line("high", f"pdd:{number}", 2, 3.0, arrivals=0.01) for number in range(30)),
    *(line("low", f"jd:{number}", 10, 12.0) for number in range(20)),
]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("lines", "slots"), [(BURST, 16), (LARGE, 8), (LANES, 10)], ids=["a burst", "one large shop", "lanes with arrivals"]
)
def test_the_forecast_is_within_a_quarter(lines: Sequence[Line], slots: int, seed: int) -> None:
    course = drain.follow(lines, slots, ORDER)
    clear, _left = played(lines, slots, seed)
    assert clear.keys() == course.seconds.keys()
    for name, seconds in clear.items():
        told = course.seconds[name]
        assert told is not None
        assert abs(told - seconds) <= max(0.25 * seconds, 4.0), name


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_an_instant_misses_is_about_what_is_left_then(seed: int) -> None:
    miss = drain.by(BURST, 16, ORDER, "platform:pdd", 60.0)
    _clear, left = played(BURST, 16, seed, 60.0)
    assert miss.left == pytest.approx(left["platform:pdd"], rel=0.25)
    assert drain.by(BURST, 16 + miss.more, ORDER, "platform:pdd", 60.0) == Miss()
    assert drain.by(BURST, 16 + miss.more - 1, ORDER, "platform:pdd", 60.0).left > 0


def test_more_slots_do_not_help_a_shop_at_its_own_limit() -> None:
    miss = drain.by([line("normal", "pdd:1", 100, 10.0, concurrency=2)], 50, ORDER, "", 100.0)
    assert (miss.more, miss.limit) == (0, 2)
    assert 75 <= miss.left <= 85
    assert "more slots do not help, a shop runs 2 at a time" in english(drain.sentence(miss, "14:00"))


@pytest.mark.parametrize(
    ("miss", "said"),
    [
        (Miss(), "done by 14:00"),
        (Miss(left=37, more=3), "misses 14:00 by 37 tasks; 3 more slots would do"),
        (Miss(left=37), "misses 14:00 by 37 tasks"),
    ],
)
def test_an_instant_in_words(miss: Miss, said: str) -> None:
    assert english(drain.sentence(miss, "14:00")) == said


def test_what_grows_is_never_clear() -> None:
    course = drain.follow([line("normal", "pdd:1", 5, 10.0, arrivals=1.0)], 4, ORDER)
    assert course.seconds[""] is None
    assert english(drain.clears(None, measured=True, slots=4)) == "never at this pace: more comes than goes"


def test_without_slots_nothing_goes() -> None:
    assert drain.follow(BURST, 0, ORDER).seconds[""] is None
    assert english(drain.clears(None, measured=True, slots=0)) == "no worker takes them"
    assert drain.follow([], 4, ORDER).seconds == {}


def test_many_shops_are_followed_as_few() -> None:
    lines = [line("normal", f"pdd:{number}", 3, 5.0) for number in range(900)]
    few = drain.few(lines, 100)
    assert len(few) <= 100
    assert sum(one.waiting for one in few) == pytest.approx(2_700)
    whole, part = drain.follow(lines, 20, ORDER).seconds[""], drain.follow(few, 20, ORDER).seconds[""]
    assert whole is not None
    assert part == pytest.approx(whole, rel=0.05)


def test_slots_that_cannot_run_it_do_not_clear_it() -> None:
    """Ten slots, of which the shops of one pool can use two, those of the other eight."""
    few = [
        Line(lane="normal", platform="pdd", shop=f"pdd:{n}", waiting=5, mean_s=10, pool="a", barred=8) for n in range(8)
    ]
    most = [
        Line(lane="low", platform="temu", shop=f"temu:{n}", waiting=5, mean_s=10, pool="b", barred=2) for n in range(8)
    ]
    course = drain.follow([*few, *most], 10, ORDER)
    assert course.seconds["lane:normal"] == pytest.approx(200, rel=0.1)
    assert course.seconds["lane:low"] == pytest.approx(55, rel=0.25)
    # what is added can run all of it
    assert drain.by(few, 10, ORDER, "platform:pdd", 105).more == 2
    joined = drain.few([*few, *most], 4)
    assert {(one.pool, one.barred) for one in joined} == {("a", 8), ("b", 2)}
    assert drain.follow(joined, 10, ORDER).seconds["lane:normal"] == pytest.approx(200, rel=0.1)
