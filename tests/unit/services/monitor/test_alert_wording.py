"""What a message of an incident says: instants of its day without that day, and how far it reached at its worst."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from services import i18n, messages
from services.clock import SystemClock
from services.domain.alerts.incident import RAISED, RESOLVED, Words
from services.domain.alerts.outbox import Letter
from services.domain.errors import BrokerUnavailable
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import reach
from services.domain.insight.reach import Reach
from services.domain.task.order import BrokerHealth, QueueDepth
from services.domain.text.message import Message
from services.monitor.alerts import wording
from services.monitor.letters.causes import Cause, CauseQueries
from services.watch.alerts.look import Eyes, Gap
from services.watch.alerts.rules import dead_letters, no_leader, publisher_blocked, silent_worker
from tests.unit.services.engine.room import opened

DAY, NOON = 86_400_000, 1_795_694_400_000  #: 2026-11-26 12:00 UTC
SILENT = Message("alert.silent", {"n": 1, "worker": "w2", "machine": "desk"})
LETTER = Letter(
    incident="INC-1",
    step=1,
    what=RAISED,
    channel="ops",
    severity="warning",
    rule="silent_worker",
    words=Words(title=SILENT),
    first_at=NOON,
    at=NOON + 60_000,
)


def body(letter: Letter) -> list[str]:
    return wording.letter_text(letter, "en", "UTC").body.splitlines()


def test_a_title_leaves_out_the_day_on_which_it_began() -> None:
    for instant, said in ((NOON, "12:00"), (NOON - DAY, "11-25 12:00"), (NOON + 400 * DAY, "2027-12-31 12:00")):
        words = Words(title=Message("alert.leaderless_now", {"from_at": instant}))
        assert wording.title(words, "UTC", NOON) == f"Nobody leads the fleet since {said}"
    assert wording.title(words, "UTC") == "Nobody leads the fleet since 2027-12-31 12:00", "nothing else says the day"
    assert body(LETTER)[0].startswith("Since 2026-11-26 12:00, for ")
    assert re.search(r"; figures as of [0-9: -]+$", body(LETTER)[0]), "a page that is read later has others"


def test_of_a_broken_promise_in_chinese_since_is_said_once() -> None:
    """The message and the handover put when the incident began before it."""
    title = Message("alert.promise_broken", {"name": "orders", "n": 2, "total": 15, "from_at": NOON})
    letter = replace(LETTER, words=Words(title=title), rule="promise_broken")
    with i18n.speaking("zh_CN"):
        assert wording.title(letter.words, "UTC", NOON) == "承诺已违约：orders，15 家店铺中有 2 家，始于 12:00"
    told = wording.letter_text(letter, "zh", "UTC")
    assert "始于 12:00" in told.title
    assert (told.title + told.body.splitlines()[0]).count("起") <= 1


def test_what_is_over_says_how_far_it_had_reached() -> None:
    over = replace(LETTER, what=RESOLVED, count=1, worst=2)
    assert body(over)[1] == "At its worst it was 2"
    assert not any("worst" in line for line in body(replace(over, count=2)))


def test_codes_are_said_in_the_words_of_who_reads() -> None:
    told = {"platforms": "pdd, temu", "types": "sync_order, try", "types_zh": "同步订单、try"}
    words = Words(
        title=Message("alert.depth", {"n": 2, "lane": "high", "limit": 1}),
        facts=(Message("alert.fact_platforms", told), Message("issue.parks", {"seconds": 60})),
        cause=Message("alert.cause_lanes", {"lanes": "normal, low"}),
        next=Message("alert.next_pause_platform", {"name": "pdd"}),
    )
    letter = replace(LETTER, words=words, rule="lane_depth")
    english = body(letter)
    assert "Platforms: Pinduoduo, TEMU; task types: sync_order, try" in english
    assert any(line.startswith("Next step: Pause the platform Pinduoduo until") for line in english)
    assert english[-1] == "Rule “Tasks in a lane”, warning"
    text = wording.letter_text(letter, "zh", "UTC")
    assert text.title == "INC-1 “高”通道中有 2 个任务（限 1 个）"
    assert "平台：拼多多、TEMU；任务类型：同步订单、try" in text.body
    assert "普通、低" in text.body
    assert text.body.endswith("规则“通道内的任务数”，级别：警告")
    assert body(replace(letter, rule="nights"))[-1] == "Rule “nights”, warning", "one that people added"


def test_what_a_pause_covers_is_said_in_words() -> None:
    pause = Message("doctor.paused", {"who": "ann@desk", "scope": "platform:pdd"})
    with i18n.speaking("zh_CN"):
        assert messages.render(pause) == "由 ann@desk 暂停：拼多多"
        assert messages.render(Message(pause.code, {"who": "ann@desk", "scope": "all"})) == "由 ann@desk 暂停：全部"
        waits = wording.say(Message("promise.gate", {"gate": "lane_order"}))
        assert "lane_order" not in waits, waits
    assert messages.render(Message(pause.code, {"who": "ann@desk", "scope": "shop:pdd:s1"})).endswith(": pdd:s1")
    assert messages.render(Message(pause.code, {"who": "ann@desk", "scope": "同步订单"})).endswith(": 同步订单")


def test_task_types_are_told_with_their_titles(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.store.put_document(
            "type", "sync_order", json.dumps({"name": "sync_order", "title": {"zh_CN": "同步订单"}})
        )
        causes = CauseQueries(room.store)
        eyes = Eyes(room.store, room.broker, room.registry, causes, room.clock, production=False)
        words = Words(
            title=Message("task.long_of", {"type": "sync_order", "shop": "s1", "seconds": 5}),
            facts=(Message("alert.fact_platforms", {"platforms": "pdd", "types": "try, sync_order"}),),
            next=Message("alert.next_pause_type", {"name": "sync_order"}),
        )
        told = eyes.titled(words)
    with i18n.speaking("zh_CN"):
        assert "同步订单" in wording.title(told, "UTC")
        assert wording.facts(told, "UTC") == ["平台：拼多多；任务类型：try、同步订单"]
        assert "同步订单" in wording.next_step(told, "UTC")
    assert wording.title(told, "UTC").startswith("sync_order of s1")


@pytest.mark.parametrize(("lost", "said"), [(False, "Look why the processes"), (True, "Whoever runs RabbitMQ")])
def test_who_can_act_where_nobody_leads_is_not_told_to_look_at_processes_while_the_broker_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: bool, said: str
) -> None:
    with opened(tmp_path) as room:
        eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), room.clock, production=False)
        if lost:
            monkeypatch.setattr(room.broker, "health", lambda: BrokerHealth(connected=False, error="refused"))
        look = eyes.look()
        eyes.gap = Gap(since=look.now_ms - 120_000, until=0, unfinished=3)
        (found,) = no_leader.find(look, no_leader.DEFAULT)
        assert found.words.next is not None
        assert messages.render(found.words.next).startswith(said)


@pytest.mark.parametrize("error", ["", "database is locked"])
def test_without_a_server_an_alert_speaks_of_this_computer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    health = BrokerHealth(connected=not error, error=error, embedded=True)
    with opened(tmp_path) as room:
        room.recorded()
        room.clock.advance(11)
        monkeypatch.setattr(room.broker, "health", lambda: health)
        eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), room.clock, production=False)
        (found,) = publisher_blocked.find(eyes.look(), publisher_blocked.DEFAULT)
    told = [messages.render(one) for one in (found.words.title, found.words.cause, found.words.next) if one is not None]
    lost = "The database of this computer does not answer: 1 task waits"
    assert told[0] == (lost if error else "1 task is not in its lane yet")
    assert "this computer" in told[2]
    told += body(replace(LETTER, rule="publisher_blocked", words=found.words))
    assert "Rule “An engine that takes no tasks”" in told[-1]
    assert not re.search("broker|RabbitMQ|server", " ".join(told))


def test_no_number_is_told_of_a_broker_that_keeps_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = []
    with opened(tmp_path) as room:
        for health in (
            BrokerHealth(connected=True, blocked=True, why="low on memory", blocked_ms=1),
            BrokerHealth(connected=False, error="connection refused"),
            BrokerHealth(connected=False, error="database is locked", embedded=True),
        ):
            monkeypatch.setattr(room.broker, "health", lambda health=health: health)
            eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), room.clock, production=False)
            (found,) = publisher_blocked.find(eyes.look(), publisher_blocked.DEFAULT)
            titles.append(messages.render(found.words.title))
    assert titles == [
        "The broker takes no messages",
        "The broker does not answer",
        "The database of this computer does not answer",
    ]


def test_a_silent_worker_is_told_with_the_name_that_people_gave_its_machine(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        for number, (host, node) in enumerate((("vm-7635", "rpa-02"), ("vm-7635", "rpa-02"), ("desk", ""))):
            room.store.heartbeat(WorkerInfo(worker=f"{host}-{number}", host=host, node=node, pid=1))
        room.clock.advance(120.0)
        room.store.heartbeat(WorkerInfo(worker="vm-7635-0", host="vm-7635", node="rpa-02", pid=1))
        eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), room.clock, production=False)
        found = {one.key: one.words for one in silent_worker.find(eyes.look(), silent_worker.DEFAULT)}
    assert {key: wording.title(words, "UTC") for key, words in found.items()} == {
        "silent:rpa-02": "Worker vm-7635-1 of rpa-02 is silent",
        "silent:desk": "Worker desk-2 of desk is silent",
    }
    assert "rpa-02" in wording.next_step(found["silent:rpa-02"], "UTC")


@pytest.mark.parametrize(
    ("kind", "types", "values", "said", "pause"),
    [
        ("element_not_found", ("sync_order",), ("rpa-02",), "Let the workers on rpa-02 refuse sync_order", ""),
        ("element_not_found", ("sync_order",), ("rpa-02", "rpa-03"), "Pause the task type", "type:sync_order"),
        ("network", ("get_content", "sync_order"), ("rpa-02",), "Look at its dead letters", ""),
    ],
)
def test_what_fails_on_one_machine_alone_is_left_to_the_others(
    tmp_path: Path, kind: str, types: tuple[str, ...], values: tuple[str, ...], said: str, pause: str
) -> None:
    lies = Reach(at=reach.NODE, values=values, failed=3, ran=3, out_ran=20)
    one = Cause(
        fingerprint="ab12", kind=kind, headline="", types=types, count=9, shops=2, platforms=("pdd", "temu"),
        first_at=NOON, last_at=NOON, scope="all", history=(), shop_keys=("pdd:1", "temu:2"), reach=lies,
    )  # fmt: skip
    with opened(tmp_path) as room:
        eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), room.clock, production=False)
        look = eyes.look()
        look.__dict__["causes"] = (one,)
        (found,) = dead_letters.find(look, dead_letters.DEFAULT)
    assert wording.next_step(found.words, "UTC").startswith(said)
    assert found.pause == pause, "what is offered beside it is what it says"


class Noticed(SystemClock):
    """Says that somebody has asked for the time."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)

    def monotonic(self) -> float:
        self.asked.release()
        return super().monotonic()


def test_a_broker_that_is_silent_is_asked_once_by_all_who_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules of alerts and the record each have a turn of five seconds: one of them is not to wait twice."""
    go_on, asked = threading.Event(), list[int]()

    def silent() -> Sequence[QueueDepth]:
        asked.append(1)
        assert go_on.wait(20)
        raise BrokerUnavailable("nobody answers")

    with opened(tmp_path) as room:
        monkeypatch.setattr(room.broker, "depths", silent)
        clock = Noticed()
        eyes = Eyes(room.store, room.broker, room.registry, CauseQueries(room.store), clock, production=False)
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(eyes.depths)
            assert clock.asked.acquire(timeout=10)
            assert clock.asked.acquire(timeout=10)  # it has the turn
            second = threads.submit(eyes.depths)
            assert clock.asked.acquire(timeout=10)  # the other one has come
            go_on.set()
            assert (first.result(20), second.result(20), len(asked)) == (None, None, 1)
        assert (eyes.depths(), len(asked)) == (None, 2), "who comes later asks anew"
