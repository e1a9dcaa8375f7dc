"""Heartbeats in words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.forecast.durations import MEASURED, Runs
from services.domain.insight.worker import AGAIN, HELD, Fate, WorkerNow
from views.pages.workers import nodes
from views.pages.workers.nodes import NO_NAMES, Names

NOW = 1_000_000


def worker(**changes: object) -> WorkerInfo:
    values: dict[str, object] = {"worker": "rpa-01", "host": "rpa-01", "pid": 1, "seen_at": NOW, "system": "Debian 12"}
    return WorkerInfo(**{**values, **changes})  # type: ignore[arg-type]


def now(*fates: Fate, **changes: object) -> WorkerNow:
    """What is true of a worker of whose tasks this is known, beside one that takes work."""
    other = worker(worker="rpa-02")
    found = insight.look((worker(**changes), other), NOW, {"rpa-01": fates}, leader="rpa-02").find("rpa-01")
    assert found is not None
    return found


BUSY = SlotState(task_id="t", task_type="sync_order", shop="pdd:1", since=NOW - 61_000, attempt=2, progress=40)


UNCONFIRMED = Fate(task_id="t", what=insight.UNCONFIRMED, until=NOW + 39_000, then=AGAIN)


@pytest.mark.parametrize(
    ("silence", "tone", "glyph"),
    [
        (14_000, "text3", "healthy"),
        (15_000, "retrying", "warning"),
        (61_000, "retrying", "warning"),
    ],
)
def test_silence_turns_amber_with_a_warning_at_once(silence: int, tone: str, glyph: str) -> None:
    one = now(UNCONFIRMED, seen_at=NOW - silence, slots=(BUSY,))
    assert nodes.heartbeat(one)[1] == tone
    assert nodes.glyph(one) == glyph


def test_the_age_of_a_missing_worker_is_counted_to_the_instant_of_all_ages_on_screen() -> None:
    one = now(UNCONFIRMED, seen_at=NOW - 37_000, slots=(BUSY,))
    assert nodes.silence_ms(one, NOW + 2_000) == 39_000
    assert nodes.heartbeat(one, NOW + 2_000)[0] == nodes.heartbeat(one)[0].replace("37", "39")
    assert nodes.silence_ms(now(seen_at=NOW - 900), NOW + 2_000) == 900, "that of a living one is measured"


def test_the_note_says_what_a_person_should_know() -> None:
    assert nodes.note(now()) == ("Debian 12", "text3")
    assert nodes.note(now(node="rpa-01"))[0] == "Debian 12", "its name says it"
    assert nodes.note(now(node="desk-7"))[0] == "desk-7, Debian 12", "as causes and homes call the machine"
    assert nodes.note(now(state="draining", slots=(BUSY,)))[0] == "draining, 1 task left"
    assert nodes.note(now(cpu=99.0))[0] == "one core is full"
    assert nodes.note(now(UNCONFIRMED, seen_at=NOW - 20_000, slots=(BUSY,)))[0] == "1 task unconfirmed"
    assert nodes.note(now(seen_at=NOW - 300_000)) == ("gone without a farewell", "retrying")
    blocked = LinkState(blocked_at=1, why="low on disk")
    assert nodes.note(now(link=blocked)) == ("its messages are held back", "retrying")


def test_lanes_that_it_may_not_read_are_named_also_where_it_may_read_none() -> None:
    assert nodes.note(now(closed=("normal",))) == ("may not read lane normal", "retrying")
    assert nodes.note(now(closed=("high", "low"))) == ("may not read lanes high, low", "retrying")
    assert nodes.note(now(closed=("high", "normal", "low"))) == ("may not read lanes high, normal, low", "retrying")


def test_what_became_of_its_tasks_leads_to_them() -> None:
    assert nodes.facts(now(slots=(BUSY,))) == ()
    restart = (
        "Start it again on the machine rpa-01 (python main.py worker, or its service), or start one here",
        "text2",
        "",
    )
    assert nodes.facts(now(UNCONFIRMED, seen_at=NOW - 20_000, slots=(BUSY,)), NOW) == (
        ("1 task goes to another worker in 40\u202fs", "retrying", "id:t"),
        restart,
    )
    fates = (Fate(task_id="a", what=AGAIN, worker="rpa-02"), Fate(task_id="b", what=HELD))
    told = nodes.facts(now(*fates, seen_at=NOW - 90_000, slots=(BUSY,)), NOW)
    assert [(words, door) for words, _tone, door in told] == [
        ("1 task is held: a person decides", "id:b"),
        ("1 task was started again (on rpa-02)", "id:a"),
        (restart[0], ""),
    ]


def test_a_late_worker_says_once_that_it_held_no_task() -> None:
    late = now(seen_at=NOW - 20_000)
    assert nodes.note(late)[0] == "late; it held no task"
    assert "it held no task" not in [words for words, _tone, _door in nodes.facts(late, NOW)]
    gone = now(seen_at=NOW - 300_000)
    assert next(words for words, _tone, _door in nodes.facts(gone, NOW)) == "it held no task"


def test_a_worker_without_its_program_says_so_and_what_it_can_run() -> None:
    one = now(executors=("python",), handlers=("mail", "work"), lacks={"rpa": "flowrun"}, node="desk")
    info = one.info
    assert nodes.note(one) == ("flowrun is not found here", "retrying")
    lines = nodes.abilities(info).splitlines()
    assert lines == ["Runs: python", "Types of its own: mail, work", "flowrun is not found here", "Machine: desk"]
    assert nodes.abilities(worker()) == ""


def test_a_task_is_slow_past_the_95th_percentile_of_its_type_on_its_platform() -> None:
    ran_s = (NOW - BUSY.since) / 1000
    seconds = tuple(ran_s - 40 + step for step in range(30))
    kind = nodes.kind_of(BUSY)
    names = Names(shops={}, types={}, usual={kind: Runs(seconds, MEASURED)})
    assert nodes.is_slow(BUSY, names, NOW)
    assert "takes longer than 95 of 100 of its type, " in nodes.slot_words(BUSY, names, NOW)
    for usual in ({}, {kind: Runs(seconds[:5], MEASURED)}, {("sync_order", "other"): Runs(seconds, MEASURED)}):
        assert not nodes.is_slow(BUSY, replace(names, usual=usual), NOW)
    assert not nodes.is_slow(BUSY, replace(names, usual={kind: Runs((*seconds, ran_s + 9, ran_s + 9), MEASURED)}), NOW)
    assert nodes.slot_words(SlotState(), names, NOW) == "Free slot"


def test_what_a_stop_interrupts() -> None:
    rows = nodes.running_rows(worker(slots=(BUSY, SlotState())), NO_NAMES, NOW)
    assert rows == (("sync_order  1", "1\u202fm\u202f01\u202fs"),)


def test_a_worker_that_cannot_reach_the_broker_says_so_and_why() -> None:
    info = worker(link=LinkState(error="Connection to RabbitMQ at mq:5672 lost.", lost_at=NOW))
    (one,) = insight.look([info], NOW).workers
    assert nodes.note(one) == ("it cannot reach the broker and takes no tasks", "retrying")
    assert nodes.glyph(one) == "warning"
    assert nodes.abilities(info).splitlines()[0] == "Connection to RabbitMQ at mq:5672 lost."
