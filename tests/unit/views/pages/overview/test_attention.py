"""Items in words."""

from __future__ import annotations

import pytest
from msgspec import structs
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.alerts.incident import Words
from services.domain.insight import cause
from services.domain.past.marks import ALERT, DEPLOY, PAUSE, SILENT, Mark
from services.domain.text.message import Message
from services.domain.types.task_type import TaskType
from services.monitor.attention import WORDS, english
from services.monitor.overview import Attention
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource, attention
from views.pages.overview.words import markers, row_of
from views.support.text import THIN
from views.support.words import type_names
from views.support.words.way import VERBS
from views.widgets.attention.item import AttentionItem


def test_every_item_has_a_title_a_sentence_an_age_and_verbs() -> None:
    rows = {row.key: row for row in (row_of(item, NOW_MS) for item in attention())}
    login = rows["dead:login_expired::"]
    assert (login.title, login.sentence) == ("Seller login expired", "58 dead letters in 9 shops")
    assert login.age == f"34{THIN}min"
    assert [words for _verb, _target, words in login.verbs] == ["See the cause", "Show tasks"]
    flow = rows["dead:element_not_found:sync_order:"]
    assert flow.title == "Page element missing: .order-list in sync_order"
    assert flow.sentence.endswith("all on Pinduoduo")
    assert flow.verbs[-1] == ("pause", "platform:pdd", "Pause all of Pinduoduo")
    assert rows["silent:rpa-06"].title == "Worker rpa-06 is silent"
    assert rows["silent:rpa-06"].sentence == (
        f"2 tasks will be held in 46{THIN}s: a person decides. 5 tasks go to others in 46{THIN}s."
    )
    assert rows["blocked"].title == "Broker takes no messages: 212 tasks not sent"
    assert rows["blocked"].sentence == (
        "None is lost: all are recorded, new ones too, and sent later."
        " The broker is out of disk and takes no new messages."
        " Whoever runs rabbit@mq-01 must free disk there; then everything is sent by itself."
    )
    assert rows["silent:rpa-06"].age.replace(THIN, " ") == "1 m 14 s"
    assert rows["stuck"].sentence == "悦己服饰旗舰店, 青柠母婴专营店 and 2 more"


def test_an_error_that_nobody_named_speaks_for_itself() -> None:
    params = {"kind": "unknown", "type": "sync_order", "count": 1, "shop": "柚子"}
    cause = Message("cause.other", {"what": "ValueError"})
    row = row_of(Attention(key="x", severity="dead", code="attention.dead_shop", params=params, cause=cause), NOW_MS)
    assert row.title == "ValueError in sync_order"
    assert row.sentence == "1 dead letter in 柚子"


def test_a_pause_is_named_with_its_reason_and_taken_back() -> None:
    item = Attention(
        key="paused:platform:pdd",
        severity="paused",
        code="attention.paused_platform",
        params={"which": "pdd", "platform": "pdd", "who": "chen@desk", "reason": "sale", "waiting": 4},
        verbs=(("resume", "platform:pdd"),),
    )
    row = row_of(item, NOW_MS)
    assert (row.title, row.sentence) == ("Pinduoduo is paused", "4 tasks waiting; paused by chen@desk: sale")
    assert row.verbs[0][2] == "Resume Pinduoduo"


def test_an_unknown_code_falls_back_to_the_message() -> None:
    row = row_of(Attention(key="x", severity="dead", code="no.such.code", verbs=(("odd", "1"),)), NOW_MS)
    assert row.title == "no.such.code"
    assert row.verbs == (("odd", "1", "odd"),)
    assert row.age == ""


@pytest.mark.parametrize("code", sorted(WORDS))
def test_a_missing_parameter_stays_visible(code: str) -> None:
    row = row_of(Attention(key="x", severity="dead", code=code), NOW_MS)
    assert row.title


def test_long_names_leave_room_for_the_words_that_decide_and_are_whole_in_the_tool_tip(qtbot: QtBot) -> None:
    worker, shop = "warehouse-hangzhou-building-7-rpa-06.corp", "云杉户外用品专营旗舰店华东区第十二号分店"
    params = {"type": "sync_order", "shop": shop, "worker": worker}
    row = row_of(Attention(key="x", severity="held", code="attention.held_task", params=params), NOW_MS)
    assert row.title == "sync_order of 云杉户外用品专…第十二号分店: did it run?"
    assert row.sentence.startswith("Worker warehouse-hang…7-rpa-06.corp was lost while it ran.")
    assert row.sentence.endswith("nothing runs until then")
    item = AttentionItem(row)
    qtbot.addWidget(item)
    assert item.title.text() == row.title
    assert shop in item.title.toolTip()
    assert worker in item.sentence.toolTip()
    assert shop in item.told(), "what is copied has no gap"
    short = row_of(Attention(key="x", severity="held", code="attention.held_task", params={"worker": "w1"}), NOW_MS)
    assert short.whole == ""


def test_at_the_instant_it_tells_of_the_time_has_come() -> None:
    params = {"shop": "s1", "failed": 3, "of": 5, "until": NOW_MS, "left_ms": 1000}
    item = Attention(key="x", severity="breaker", code="attention.breaker", params=params)
    assert row_of(item, NOW_MS - 1000).sentence.endswith("next try in 1\u202fs")
    assert row_of(item, NOW_MS).sentence.endswith("one task may try now")


#: as the leader tells it: the cause stands beside the sentence that names it
FAILING = Words(title=Message("alert.shop_failing", {"n": 1}), cause=cause.title("rate_limited"))


def test_machines_read_the_same_in_english() -> None:
    told = {item.key: english(item) for item in attention()}
    assert told["dead:element_not_found:sync_order:"] == (
        "Page element missing: .order-list: 34 dead letters in 14 shops, all on pdd"
    )
    assert (
        told["silent:rpa-06"]
        == "Worker rpa-06 is silent: 2 tasks will be held in 46 s: a person decides; 5 tasks go to others in 46 s"
    )
    assert all("{" not in text for text in told.values())


def test_a_verb_about_one_shop_does_not_say_its_key() -> None:
    verbs = (("pause", "shop:pdd:s1"), ("resume", "shop:pdd:s1"), ("open_shop", "pdd:s1"), ("decide", "status:held"))
    row = row_of(Attention(key="x", severity="dead", code="attention.growing", verbs=verbs), NOW_MS)
    assert [words for _verb, _target, words in row.verbs] == ["Pause shop", "Resume shop", "Open shop", "Decide"]
    assert set(VERBS) >= {verb for verb, _ in verbs}


def test_silence_and_blocking_are_marked_in_the_chart() -> None:
    marks = markers(SampleSource().now())
    assert [mark.text for mark in marks] == ["rpa-06 silent", "broker takes no messages"]
    assert marks[0].at_ms == NOW_MS - 74_000


def test_the_rest_of_many_silent_workers_is_marked_as_a_number() -> None:
    item = Attention(
        key="silent:others",
        severity="warning",
        code="attention.workers_silent",
        params={"workers": 27, "names": "desk-05\ndesk-06", "more": 25},
        since_ms=NOW_MS - 60_000,
    )
    now = structs.replace(SampleSource().now(), attention=(item,))
    assert [mark.text for mark in markers(now)] == ["27 silent"]


def test_a_paused_type_is_called_what_people_call_it() -> None:
    item = Attention(
        key="paused:type:sync_order",
        severity="paused",
        code="attention.paused_type",
        params={"type": "sync_order", "who": "chen@desk", "waiting": 4},
        verbs=(("resume", "type:sync_order"),),
    )
    type_names.know({"sync_order": TaskType(name="sync_order", title={"zh_CN": "同步订单"})})
    i18n.set_language("zh_CN")
    try:
        row = row_of(item, NOW_MS)
    finally:
        i18n.set_language("en")
        type_names.know({})
    assert "同步订单" in row.title
    assert "sync_order" not in row.title
    assert "同步订单" in row.verbs[0][2]


def test_the_note_of_a_pause_is_said_first_and_once(language: str) -> None:
    item = Attention(
        key="paused:platform:temu", severity="paused", code="attention.paused_platform_noted", since_ms=1,
        params={"platform": "temu", "who": "li@desk", "reason": "ask Li first", "waiting": 2},
    )  # fmt: skip
    sentence = row_of(item, 2).sentence
    assert sentence.startswith("“ask Li first”")
    assert sentence.count("ask Li") == 1


def test_what_was_recorded_is_marked_beside_what_holds_now_and_nothing_twice() -> None:
    now = SampleSource().now()
    recorded = (
        Mark(now.at_ms - 80_000, SILENT, "rpa-06"),
        Mark(now.at_ms - 900_000, DEPLOY, "0.4.3"),
        Mark(now.at_ms - 1_000_000, PAUSE, "shop:pdd:pdd-10021"),
        Mark(now.at_ms - 2_000_000, PAUSE, "platform:temu", number=3),
        Mark(now.at_ms - 2_500_000, ALERT, "shop_failing", FAILING),
    )
    marks = markers(now, recorded, 3600)
    assert [mark.text for mark in marks] == [
        "rpa-06 silent", "broker takes no messages", "0.4.3", "pdd-10021 paused", "3 pauses",
        "1 shop fails…any requests",
    ]  # fmt: skip
