"""How often a rule would have told somebody: by the judge's rules, and nothing made up for what nobody recorded."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from services.domain.alerts.dry_run import DryRun, dry_run
from services.domain.past.frame import UNTOLD, Gap, Numbers
from services.watch.alerts.rules import BY_NAME, PAST

MINUTE = 60_000
RULE = replace(BY_NAME["lane_depth"].default, limits={"tasks": 100.0}, for_s=120, calm_s=180)


def rows(*depths: int | None, at: int = 0) -> list[Numbers]:
    """One a minute of the lane high; None: nobody recorded."""
    found, known = [], 0
    for number, depth in enumerate(depths, 1):
        now = at + number * MINUTE
        if depth is not None:
            found.append(Numbers(at_ms=now, since_ms=known or now - MINUTE, high=depth))
        known = now if depth is not None else 0
    return found


def tried(seen: Iterable[Numbers], minutes: int, rule: object = RULE) -> DryRun:
    assert isinstance(rule, type(RULE))
    return dry_run(list(seen), 0, minutes * MINUTE, rule, PAST[rule.measure])


def spans(found: DryRun) -> list[tuple[int, int, str]]:
    return [(one.begin // MINUTE, one.end // MINUTE, one.name) for one in found.told]


def test_it_tells_once_it_held_for_long_enough_and_ends_when_it_stayed_calm() -> None:
    found = tried(rows(0, 200, 200, 200, 50, 200, 50, 50, 50, 50, 50), 11)
    assert spans(found) == [(4, 10, "high")], "a dip that is shorter than its calm is the same incident"
    assert not found.gaps
    assert found.recorded


def test_what_is_shorter_than_its_patience_stays_silent() -> None:
    seen = rows(0, 200, 200, 0, 200, 200, 0)
    assert spans(tried(seen, 7)) == []
    assert spans(tried(seen, 7, replace(RULE, for_s=60))) == [(3, 7, "high")], "the second is told within its calm"
    assert spans(tried(seen, 7, replace(RULE, for_s=60, calm_s=0))) == [(3, 4, "high"), (6, 7, "high")]


def test_what_nobody_recorded_stays_a_gap() -> None:
    found = tried(rows(200, 200, None, None, 200, 200, 0), 9)
    assert spans(found) == [], "nobody knows that it held in between"
    assert found.gaps == (Gap(2 * MINUTE, 4 * MINUTE), Gap(7 * MINUTE, 9 * MINUTE))
    nothing = tried((), 9)
    assert nothing.gaps == (Gap(0, 9 * MINUTE),)
    assert not nothing.recorded


def test_a_lane_that_the_broker_did_not_tell_changes_nothing() -> None:
    assert spans(tried(rows(200, 200, UNTOLD, 200, 200), 5)) == [(4, 5, "high")]
    assert spans(tried(rows(200, 200, 200, UNTOLD, UNTOLD), 5)) == [(3, 5, "high")]
