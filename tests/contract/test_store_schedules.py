"""Schedules in the store: compare-and-set, and finding what is due."""

from __future__ import annotations

import threading

from services.ports import ScheduleEntry, Store
from tests.contract.rig import Rig


def entry(name: str = "nightly", next_at: int = 0, body: str = "{}") -> ScheduleEntry:
    return ScheduleEntry(name=name, body=body, next_at=next_at)


def test_a_schedule_is_written_changed_and_struck_off(rig: Rig) -> None:
    assert rig.store.schedules() == []
    first = rig.store.put_schedule(entry("\u6bcf\u65e5\u540c\u6b65", 5, '{"a": 1}'), 0)
    other = rig.store.put_schedule(entry("a"), 0)
    second = rig.store.put_schedule(entry("\u6bcf\u65e5\u540c\u6b65", 6, '{"a": "\u4e00"}'), first)
    assert 0 < first < second
    assert rig.store.schedules() == [
        ScheduleEntry(name="a", body="{}", version=other),
        ScheduleEntry(name="\u6bcf\u65e5\u540c\u6b65", body='{"a": "\u4e00"}', next_at=6, version=second),
    ]
    assert rig.store.remove_schedule("a", other) is True
    assert rig.store.remove_schedule("a", other) is False
    assert [one.name for one in rig.store.schedules()] == ["\u6bcf\u65e5\u540c\u6b65"]


def test_who_has_not_seen_the_last_change_changes_nothing(rig: Rig) -> None:
    first = rig.store.put_schedule(entry(next_at=1), 0)
    assert rig.store.put_schedule(entry(next_at=9), 0) == 0, "there is one of this name"
    second = rig.store.put_schedule(entry(next_at=2), first)
    assert rig.store.put_schedule(entry(next_at=9), first) == 0
    assert rig.store.remove_schedule("nightly", first) is False
    assert rig.store.put_schedule(entry("nobody", next_at=9), first) == 0, "what is struck off does not come back"
    assert [(one.next_at, one.version) for one in rig.store.schedules()] == [(2, second)]


def test_a_new_one_of_an_old_name_is_not_the_old_one(rig: Rig) -> None:
    seen = [rig.store.put_schedule(entry(), 0)]
    seen.append(rig.store.put_schedule(entry(), seen[-1]))
    assert rig.store.remove_schedule("nightly", seen[-1])
    rig.pass_time(0.02)
    fresh = rig.store.put_schedule(entry(body='{"new": 1}'), 0)
    assert fresh not in seen
    assert [rig.store.put_schedule(entry(), version) for version in seen] == [0, 0]
    assert [one.body for one in rig.store.schedules()] == ['{"new": 1}']


def test_the_due_ones_come_earliest_first(rig: Rig) -> None:
    now = rig.store.now_ms()
    late, early = (
        rig.store.put_schedule(entry("late", now - 10), 0),
        rig.store.put_schedule(entry("early", now - 20), 0),
    )
    rig.store.put_schedule(entry("off", 0), 0)
    rig.store.put_schedule(entry("soon", now + 600), 0)
    rig.store.put_schedule(entry("tomorrow", now + 86_400_000), 0)
    assert [one.name for one in rig.store.due_schedules(10)] == ["early", "late"]
    assert [one.name for one in rig.store.due_schedules(1)] == ["early"]
    rig.pass_time(0.7)
    assert [one.name for one in rig.store.due_schedules(10)] == ["early", "late", "soon"]
    assert rig.store.put_schedule(entry("early", now + 86_400_000), early)
    assert rig.store.put_schedule(entry("late", 0), late)
    assert [one.name for one in rig.store.due_schedules(10)] == ["soon"]


def test_one_of_many_wins(rig: Rig, second_store: Store) -> None:
    """Two processes, several threads: each version is followed by exactly one other."""
    version = rig.store.put_schedule(entry(), 0)
    for _ in range(20):
        start, won = threading.Barrier(4), []

        def attempt(store: Store, start: threading.Barrier = start, won: list[int] = won, seen: int = version) -> None:
            start.wait(10)
            if found := store.put_schedule(entry(), seen):
                won.append(found)

        threads = [threading.Thread(target=attempt, args=(store,)) for store in (rig.store, second_store) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(won) == 1
        version = won[0]
