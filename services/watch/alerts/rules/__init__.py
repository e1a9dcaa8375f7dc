"""The rules of alerts: a file each, and their order. What several see of one matter is told by the first."""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.alerts.dry_run import Past
from services.domain.alerts.rule import Rule
from services.watch.alerts.rules import (
    broker_alarm,
    dead_letters,
    drift,
    failure_rate,
    lane_depth,
    lane_unserved,
    needs_login,
    no_leader,
    oldest_wait,
    promise_at_risk,
    promise_broken,
    publisher_blocked,
    recorder_gap,
    redis_forgets,
    running_long,
    schedule_late,
    shop_failing,
    silent_worker,
    unacked_age,
)
from services.watch.alerts.rules.rule_base import Measure

LISTED: tuple[Measure, ...] = (
    no_leader.MEASURE,
    broker_alarm.MEASURE,
    publisher_blocked.MEASURE,
    lane_unserved.MEASURE,
    needs_login.MEASURE,
    dead_letters.MEASURE,
    shop_failing.MEASURE,
    failure_rate.MEASURE,
    drift.MEASURE,
    schedule_late.MEASURE,
    promise_broken.MEASURE,
    promise_at_risk.MEASURE,
    silent_worker.MEASURE,
    oldest_wait.MEASURE,
    lane_depth.MEASURE,
    running_long.MEASURE,
    unacked_age.MEASURE,
    redis_forgets.MEASURE,
    recorder_gap.MEASURE,
)
#: what can be told of the past, by measure
PAST: Mapping[str, Past] = {one.name: one.past for one in LISTED if one.past is not None}
BY_NAME: Mapping[str, Measure] = {one.name: one for one in LISTED}
DEFAULTS: tuple[Rule, ...] = tuple(one.default for one in LISTED)
