"""Counts beside the values of the filter."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.fleet.shop import Shop
from services.domain.task.search.query import Counts
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.monitor.live import Snapshot
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import WAIT_MS
from views.kit.filter_choices import FilterChoices, counted, some_of
from views.support import safe, shown
from views.support.feed import Feed
from views.widgets.filter.bar import FilterBar


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


@pytest.mark.one_pair
def test_types_and_shops_are_put_into_words_beside_the_window(
    qtbot: QtBot, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be thousands, and each is looked through for secrets."""
    kind = TaskType(name="sync_stock", title={"en": "Stock of all", "zh_CN": "全部库存"})
    fleet.store.put_document("type", kind.name, task_type.dump(kind))
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"s{n}", name=f"Shop {n}") for n in range(200)])
    fleet.engine.registry.forget()
    here: list[str] = []
    one_line = safe.one_line

    def noted(text: object, limit: int = safe.MAX_LINE) -> str:
        if threading.current_thread() is threading.main_thread():
            here.append(str(text))
        return one_line(text, limit)

    monkeypatch.setattr(safe, "one_line", noted)
    bar = FilterBar(some_of("type", "shop"))
    qtbot.addWidget(bar)
    choices = FilterChoices(fleet.context, bar, bar, some_of("type", "shop"))
    choices.refresh()
    qtbot.waitUntil(lambda: bool(bar.chips.fields["type"].values), timeout=WAIT_MS)
    assert "sync_stock  Stock of all" in [one.word for one in bar.chips.fields["type"].values]
    assert "Shop 7  s7" in [one.word for one in bar.chips.fields["shop"].values]
    i18n.set_language("zh_CN")
    choices.retranslate()
    qtbot.waitUntil(
        lambda: "sync_stock  全部库存" in [one.word for one in bar.chips.fields["type"].values], timeout=WAIT_MS
    )
    assert not [words for words in here if words.startswith(("Stock of", "全部", "Shop "))]


@pytest.mark.one_pair
def test_of_very_many_shops_the_busiest_are_offered_and_counted_once(
    qtbot: QtBot, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of those counted need be known: that was asked again with each look at the fleet."""
    kind = TaskType(name="sync_stock", title={"en": "Stock of all"})
    fleet.store.put_document("type", kind.name, task_type.dump(kind))
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"s{n}", name=f"Shop {n}") for n in range(400)])
    fleet.engine.registry.forget()
    gone = Snapshot(at_ms=1, taken=0.0, counts=Counts(shops={"pdd:gone": {"queued": 3}}))
    monkeypatch.setattr(Feed, "latest", gone)
    said: list[str] = []
    title_of = shown.title_of

    def noted(titles: dict[str, str], name: str, language: str) -> str:
        said.append(name)
        return title_of(titles, name, language)

    monkeypatch.setattr(shown, "title_of", noted)
    bar = FilterBar(some_of("type", "shop", "group"))
    qtbot.addWidget(bar)
    choices = FilterChoices(fleet.context, bar, bar, some_of("type", "shop", "group"))
    choices.refresh()
    qtbot.waitUntil(lambda: bool(bar.chips.fields["type"].values), timeout=WAIT_MS)
    for number in range(3):
        choices.offer("group", {f"east {number}": 1})
    fleet.store.put_document("type", "sync_price", task_type.dump(TaskType(name="sync_price")))
    fleet.engine.registry.forget()
    choices.refresh()
    qtbot.waitUntil(lambda: "sync_price" in [one.value for one in bar.chips.fields["type"].values], timeout=WAIT_MS)
    assert said.count("sync_stock") == 2, "once for each time that it was asked for"
    find = bar.chips.fields["shop"].find
    assert find is not None, "so many are typed, not scrolled to"
    assert [one.value for one in find("shop 399")] == ["pdd:s399"]
