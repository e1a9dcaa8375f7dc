"""Counts beside the values of the filter."""

from __future__ import annotations

from services.domain.fleet.shop import Shop
from services.domain.task.search.query import Counts
from views.kit.filter_choices import counted


def test_counts_come_per_field() -> None:
    counts = Counts(
        status={"queued": 3, "dead": 2},
        lanes={"high": {"queued": 1, "running": 2}},
        shops={"pdd:a": {"queued": 1, "dead": 2}, "pdd:b": {"running": 4}, "temu:a": {"queued": 1}},
        triage={"open": 2},
        total=9,
    )
    shops = {
        key: Shop(platform="pdd", shop_id=key, group=group) for key, group in (("pdd:a", "east"), ("temu:a", "east"))
    }
    found = counted(counts, shops)
    assert found["status"] == {"queued": 3, "dead": 2, "waiting": 3, "flight": 3, "active": 3, "terminal": 2}
    assert found["lane"] == {"high": 3}
    assert found["shop"] == {"pdd:a": 3, "pdd:b": 4, "temu:a": 1}
    assert found["group"] == {"east": 4}
    assert found["platform"] == {"pdd": 7, "temu": 1}
    assert found["triage"] == {"open": 2}
