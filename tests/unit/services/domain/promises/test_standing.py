"""How a promise stands after a look: counts, causes, strip and breaks, bounded."""

from __future__ import annotations

from typing import Any

from services.domain.promises import standing
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, Due, Forecast, Hold, Judged
from services.domain.promises.promise import Promise
from services.domain.promises.standing import HALF_HOUR_MS, KEPT_BREAKS_MS, MOST_ROWS, STRIP, Standing

MINUTE = 60_000
NOW = 1_800_000_000_000 - 1_800_000_000_000 % HALF_HOUR_MS
PROMISE = Promise(name="orders", task_type="work", limit_s=3600, all_shops=True, version=2)


def shop(number: int, state: str, minutes: float = 5, **fields: Any) -> Judged:
    return Judged(shop=f"pdd:{number}", state=state, break_at=NOW + round(minutes * MINUTE), **fields)


def after(*found: Judged, before: Standing | None = None, now: int = NOW) -> Standing:
    return standing.after(PROMISE, Due(), found, before, now=now, by="desk")


def test_it_counts_all_and_keeps_rows_of_the_most_urgent() -> None:
    many = [shop(number, AT_RISK, 20 + number) for number in range(10_000)]
    found = after(*many, shop(20_000, BROKEN, -5), shop(20_001, KEPT))
    assert (found.total, found.kept, found.at_risk, found.broken) == (10_002, 1, 10_000, 1)
    assert len(found.rows) == MOST_ROWS
    assert [one.shop for one in found.rows[:2]] == ["pdd:20000", "pdd:0"]
    assert (found.first_break, found.first_shops) == (NOW + 20 * MINUTE, 1)
    assert after(*(shop(number, AT_RISK, 20 + 0.4 * number) for number in range(9))).first_shops == 3, "in a minute"
    assert len(standing.DOCUMENT.dump(found)) < 60_000
    assert standing.DOCUMENT.load(standing.DOCUMENT.dump(found)) == found


def test_one_cause_of_many_shops_is_one_with_its_extent() -> None:
    paused = Hold("gates", "promise.paused", {"scope": "all", "by": "ann", "reason": ""}, verb="resume", target="all")
    logins = [Hold("login", "promise.login", {"since": n}, verb="login_shop", target=f"pdd:{n}") for n in range(3)]
    found = after(
        *(shop(number, AT_RISK, hold=paused) for number in range(7)),
        *(shop(10 + number, AT_RISK, 3, hold=one) for number, one in enumerate(logins)),
        shop(20, BROKEN, -1, hold=paused),
    )
    assert [(one.code, one.shops, one.broken) for one in found.causes] == [
        ("promise.paused", 8, 1),
        ("promise.login", 3, 0),
    ]
    assert found.causes[1].named == ("pdd:10", "pdd:11", "pdd:12")
    assert found.causes[1].first_at == NOW + 3 * MINUTE


def test_it_keeps_how_old_the_oldest_was_as_far_back_as_is_drawn() -> None:
    step = standing.past_step(PROMISE)
    assert step == 90_000
    found = after(shop(1, KEPT, 50))
    found = after(shop(1, KEPT, 50), before=found, now=NOW + step // 2)
    assert found.past == ((NOW, 600),), "not at every look"
    found = after(before=found, now=NOW + step)
    assert found.past == ((NOW, 600),), "nothing is open"
    found = after(shop(1, KEPT, 50), before=found, now=NOW + 2 * step)
    assert found.past == ((NOW, 600), (NOW + 2 * step, 780))
    found = after(shop(1, KEPT, 50), before=found, now=NOW + 41 * step)
    assert [at for at, _ in found.past] == [NOW + 2 * step, NOW + 41 * step]
    assert standing.renewed(found).past == ()


def test_the_strip_keeps_the_worst_of_each_half_hour_and_its_gaps() -> None:
    found = after(shop(1, AT_RISK))
    found = after(shop(1, KEPT), before=found, now=NOW + MINUTE)
    assert found.strip == ((NOW, AT_RISK),)
    found = after(shop(1, KEPT), before=found, now=NOW + 3 * HALF_HOUR_MS)
    assert found.strip == ((NOW, AT_RISK), (NOW + 3 * HALF_HOUR_MS, KEPT))  # nobody judged in between
    found = after(shop(1, BROKEN), before=found, now=NOW + STRIP * HALF_HOUR_MS)
    assert [at for at, _ in found.strip] == [NOW + 3 * HALF_HOUR_MS, NOW + STRIP * HALF_HOUR_MS]


def test_a_break_lasts_until_no_shop_is_broken_and_knows_since_when_it_was_said() -> None:
    found = after(shop(1, KEPT))
    found = after(shop(1, AT_RISK), before=found, now=NOW + MINUTE)
    found = after(shop(1, BROKEN, 6), shop(2, AT_RISK, 9), before=found, now=NOW + 6 * MINUTE)
    found = after(shop(1, BROKEN, 6), shop(2, BROKEN, 9), before=found, now=NOW + 9 * MINUTE)
    (one,) = found.breaks
    assert (one.at, one.until, one.shops, one.first) == (NOW + 6 * MINUTE, 0, 2, "pdd:1")
    assert one.warned_at == NOW + MINUTE
    found = after(shop(1, KEPT), shop(2, KEPT), before=found, now=NOW + 12 * MINUTE)
    assert found.breaks[0].until == NOW + 12 * MINUTE
    assert found.risk_since == 0
    assert after(shop(1, KEPT), before=found, now=NOW + 13 * MINUTE + KEPT_BREAKS_MS).breaks == ()


def test_the_forecast_of_the_most_urgent_shop_stands_for_all() -> None:
    ends = Forecast(low=NOW + MINUTE, mid=NOW + 2 * MINUTE, high=NOW + 4 * MINUTE)
    near = Forecast(low=NOW + MINUTE, mid=NOW + 7 * MINUTE, high=NOW + 9 * MINUTE)
    found = after(shop(1, KEPT, 30, forecast=ends), shop(2, KEPT, 12, forecast=near))
    assert (found.low, found.mid, found.high) == (near.low, near.mid, near.high)
    assert (found.worst_at, found.worst_break) == (NOW + 12 * MINUTE - 60 * MINUTE, NOW + 12 * MINUTE)
    assert after(shop(1, KEPT, 30, forecast=ends), shop(3, AT_RISK, 50)).worst_break == NOW + 50 * MINUTE


def test_another_promise_under_its_name_keeps_strip_and_breaks() -> None:
    found = after(shop(1, BROKEN))
    kept = standing.renewed(found)
    assert (kept.strip, kept.breaks, kept.gaps, kept.total) == (found.strip, found.breaks, (), 0)
