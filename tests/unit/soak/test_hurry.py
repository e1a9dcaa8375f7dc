"""What an endurance run shortens is still there under its name, in every module that reads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.integration.cli_rig import ROOT
from tests.soak.sampler import bound_of

LOOK = """
from tests.soak import hurry
hurry.apply(50)
from services import workforce
from services.settings.values import RetentionSettings
from services.domain.task import ledger
from services.monitor.past import tape
from services.store.redis import keys, script
from services.store.sqlite.upkeep import forget
kept = workforce.retention(RetentionSettings(finished_days=0.1, tombstone_days=1))
rows = dict((table, past) for table, _, _, past in forget._OLD)
print(kept.finished_ms, kept.tombstone_ms, keys.EVENTS_KEPT, keys.EXECUTED_S, script.KEPT_MS == ledger.KEPT_MS,
      rows["work_days"] == ledger.KEPT_MS, tape.KEPT_MS == tape.LEVELS[-1].kept, tape.LEVELS[0].kept)
"""


def test_everything_kept_is_let_go_so_much_sooner() -> None:
    """In a process of its own: numbers that other modules have copied by now cannot be shortened here any more."""
    words = [sys.executable, "-c", LOOK]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "172800 1728000 5000 72 True True True 1728000", done.stderr


@pytest.mark.parametrize("series", ["elder.rss_mb", "rabbitmq.rss_mb", "watcher.lag_ms", "rows.tasks", "home_mb"])
def test_a_series_is_judged(series: str) -> None:
    assert bound_of(series) is not None


def test_what_nothing_trims_is_not() -> None:
    assert bound_of("rows.audit") is None


def test_the_most_particular_bound_holds() -> None:
    bound, other = bound_of("rabbitmq.rss_mb"), bound_of("elder.rss_mb")
    assert bound is not None
    assert other is not None
    assert bound.floor > other.floor


def test_a_series_without_a_bound_is_refused() -> None:
    with pytest.raises(KeyError):
        bound_of("something.new")
