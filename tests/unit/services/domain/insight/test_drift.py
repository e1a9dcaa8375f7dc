"""Whether a flow is told to have changed: soon after it has, and never because it is night or chance."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import msgspec
import pytest

from services.domain.insight import drift
from services.domain.insight.drift import Flow, RunFigures
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.messages import english

HOUR = 3_600_000
#: a Monday at midnight
T0 = 1_763_942_400_000


def steady(
    count: int, shops: Sequence[str] = ("pdd:s1",), *, start: int = T0, **figures: float
) -> Iterator[RunFigures]:
    """Runs of these shops in turn, a minute apart, that vary by a tenth."""
    chance = random.Random(7)
    for number in range(count):
        varied = {name.replace("__", ":"): value * chance.uniform(0.9, 1.1) for name, value in figures.items()}
        yield RunFigures(shop=shops[number % len(shops)], at=start + number * 60_000, figures=varied)


def after(flow: Flow, runs: Iterator[RunFigures]) -> int:
    """Of the runs that it was told after, 0 for none."""
    for number, run in enumerate(runs, 1):
        flow.add(run)
        if flow.found(run.at).found:
            return number
    return 0


@pytest.mark.parametrize("shops", [("pdd:s1",), ("pdd:s1", "pdd:s2", "pdd:s3")], ids=["one shop", "three shops"])
@pytest.mark.parametrize(
    ("figure", "usual", "now", "said"),
    [
        ("seconds", 4.0, 16.0, "sync_order on PDD became 3.8× slower at 00:30: 16 s, usually 4 s"),
        ("rows__orders", 40.0, 0.0, "sync_order on PDD: orders per run fell to 0 at 00:30, usually 40"),
        ("size", 4000.0, 30.0, "sync_order on PDD: its results fell to 30 bytes at 00:30, usually 4000"),
        (
            "step__orders page", 4.0, 16.0,
            "Step orders page of sync_order on PDD became 3.8× slower at 00:30: 16 s, usually 4 s",
        ),
    ],
)  # fmt: skip
def test_a_changed_page_is_told_within_five_runs(
    figure: str, usual: float, now: float, said: str, shops: Sequence[str]
) -> None:
    flow = Flow("sync_order", "pdd")
    assert after(flow, steady(30, shops, **{figure: usual})) == 0
    changed = [
        RunFigures(shop=shops[n % len(shops)], at=T0 + (30 + n) * 60_000, figures={figure.replace("__", ":"): now})
        for n in range(5)
    ]
    assert 0 < after(flow, iter(changed)) <= 5
    (found,) = flow.found(T0).found
    rounded = drift.Drift(
        figure=found.figure, since=found.since, factor=round(found.factor, 1), before=usual, after=found.after
    )
    clock = f"00:{(found.since - T0) // 60_000:02}"
    told = english(drift.sentence(flow.found(T0), rounded, clock))
    assert told.partition(" became ")[0] == said.partition(" became ")[0]
    assert told.rpartition("00:30")[2] == said.rpartition("00:30")[2]
    assert found.since == T0 + 30 * 60_000
    assert set(found.shops) <= set(shops)


def test_it_is_over_when_runs_are_as_before() -> None:
    flow = Flow("sync_order", "pdd")
    for run in steady(30, rows__orders=40.0):
        flow.add(run)
    for number in range(40):
        flow.add(RunFigures(shop="pdd:s1", at=T0 + (30 + number) * 60_000, figures={"rows:orders": 0.0}))
    assert flow.found(T0).found, "it stays as long as it lasts"
    for run in steady(5, start=T0 + 80 * 60_000, rows__orders=40.0):
        flow.add(run)
    assert flow.found(T0).found == ()


def test_what_is_so_for_days_is_usual() -> None:
    flow = Flow("sync_order", "pdd")
    for run in steady(30, seconds=4.0):
        flow.add(run)
    for number in range(drift.SETTLED + 10):
        flow.add(RunFigures(shop="pdd:s1", at=T0 + (30 + number * 5) * 60_000, figures={"seconds": 20.0}))
    assert flow.found(T0).found == ()


def test_one_shop_of_many_is_not_its_platform() -> None:
    flow = Flow("sync_order", "pdd")
    for run in steady(60, [f"pdd:s{number}" for number in range(6)], rows__orders=40.0):
        flow.add(run)
    empty = (RunFigures(shop="pdd:s1", at=T0 + (60 + n) * 60_000, figures={"rows:orders": 0.0}) for n in range(6))
    assert after(flow, empty) == 0


@pytest.mark.parametrize("better", [{"seconds": 0.5}, {"rows:orders": 900.0}, {"size": 90_000.0}])
def test_faster_and_more_is_no_matter(better: dict[str, float]) -> None:
    flow = Flow("sync_order", "pdd")
    for run in steady(30, seconds=4.0, rows__orders=40.0, size=900.0):
        flow.add(run)
    assert after(flow, (RunFigures(shop="pdd:s1", at=T0 + (30 + n) * 60_000, figures=better) for n in range(9))) == 0


def quiet(
    days: int, shops: int, every_min: int, seed: int, *, night: float = 0.15, closed: bool = False
) -> Iterator[RunFigures]:
    """Days on which nothing happens: large and small shops, busy noons, nights with hardly a row, machines that
    hesitate. ``closed``: nothing at all from midnight to six.
    """
    chance = random.Random(seed)
    size = {f"pdd:s{number}": math.exp(chance.gauss(3, 1)) for number in range(shops)}
    planned = []
    for shop in size:
        at = T0 + chance.randrange(every_min * 60_000)
        while at < T0 + days * 24 * HOUR:
            planned.append((at, shop))
            at += every_min * 60_000 + chance.randrange(-60_000, 60_000)
    for at, shop in sorted(planned):
        hour = at / HOUR % 24
        day = night + (1 - night) * (0.5 - 0.5 * math.cos(2 * math.pi * (hour - 3) / 24))
        if closed:
            day = max(0.0, math.sin(math.pi * (hour - 6) / 18)) if hour > 6 else 0.0
        usual = size[shop] * day
        rows = max(0, round(chance.gauss(usual, 1.3 * math.sqrt(usual + 0.01))))
        seconds = (4 + 0.05 * rows) * math.exp(chance.gauss(0, 0.35)) * (1 + 0.8 * day)
        yield RunFigures(shop=shop, at=at, figures={"seconds": seconds, "rows:orders": rows, "size": 30.0 + 40 * rows})


@pytest.mark.parametrize("seed", [3, 5, 8])
@pytest.mark.parametrize(
    ("shops", "every_min", "closed"),
    [(6, 30, False), (1, 30, False), (5, 120, False), (5, 30, True), (8, 1440, False)],
    ids=["six shops", "one shop", "every two hours", "closed at night", "once a day"],
)
def test_twenty_quiet_days_tell_nothing(shops: int, every_min: int, closed: bool, seed: int) -> None:
    flow, told = Flow("sync_order", "pdd"), []
    for run in quiet(20, shops, every_min, seed, closed=closed):
        flow.add(run)
        told += [(run.at, one) for one in flow.found(run.at).found]
    assert told == []


def steep(hours: int, seed: int) -> Iterator[RunFigures]:
    """Each hour a run of six shops, from midnight to six with a seventh of the rows, from one run to the next."""
    chance = random.Random(seed)
    size = {f"pdd:s{number}": chance.choice((20, 80, 300)) for number in range(6)}
    for hour in range(hours):
        for shop, usual in size.items():
            rows = round(usual * (0.15 if hour % 24 < 6 else 1.0) * math.exp(chance.gauss(0, 0.25)))
            yield RunFigures(shop=shop, at=T0 + hour * HOUR, figures={"rows:orders": float(rows)})


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_a_night_that_begins_at_once_is_none_of_a_changed_page(seed: int) -> None:
    flow = Flow("sync_order", "pdd")
    assert after(flow, steep(5 * 24 + 14, seed)) == 0
    at = T0 + (5 * 24 + 14) * HOUR
    empty = (RunFigures(shop=f"pdd:s{n}", at=at + n, figures={"rows:orders": 0.0}) for n in range(5))
    assert 0 < after(flow, empty) <= 5


def test_a_page_that_changes_on_a_quiet_day_is_told() -> None:
    for seed in (3, 5, 8):
        runs = list(quiet(3, 6, 30, seed, night=0.6))
        flow = Flow("sync_order", "pdd")
        for run in runs[:700]:
            flow.add(run)
        assert not flow.found(0).found
        empty = (
            RunFigures(shop=run.shop, at=run.at, figures={**run.figures, "rows:orders": 0.0}) for run in runs[700:720]
        )
        assert 0 < after(flow, empty) <= 8, "shops with hardly a row say nothing, the others tell it"


def test_what_is_measured_of_a_record() -> None:
    last = Attempt(1, "w", T0, T0 + 2_500, "succeeded", took=(("log in", 1.0), ("read orders", 1.5)))
    task = Task(
        task_id="t", shop_id="s1", platform="pdd", task_type="sync_order", status=Status.SUCCEEDED, attempts=(last,),
        result='{"orders": 12, "items": [1, 2], "title": "x", "ok": true}',
    )  # fmt: skip
    run = drift.run_of(task)
    assert run is not None
    assert run.figures == {
        "seconds": 2.5, "size": 57.0, "rows:orders": 12.0, "rows:items": 2.0, "step:log in": 1.0,
        "step:read orders": 1.5,
    }  # fmt: skip
    assert drift.run_of(Task(task_id="t", shop_id="s1", platform="pdd", task_type="x")) is None


@pytest.mark.parametrize("result", ["", "nothing", "[1, 2]", '{"a": {"b": 1}}', "7", "[" * 5000, '{"a": -1}'])
def test_a_result_of_any_kind_is_measured(result: str) -> None:
    last = Attempt(1, "w", T0, T0 + 1, "succeeded")
    base = Task(task_id="t", shop_id="s", platform="p", task_type="x", status="succeeded")
    task = msgspec.structs.replace(base, result=result, attempts=(last,))
    run = drift.run_of(task)
    assert run is not None
    assert all(value >= 0 for value in run.figures.values())
