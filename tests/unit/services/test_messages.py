"""Sentences by code: every code has a text, whatever is in its parameters."""

from __future__ import annotations

import re
import string

import pytest

from services import i18n, messages
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.insight.forecast import flow
from services.domain.task.search.filter import FilterError
from services.domain.text import kinds
from services.domain.text.message import Message
from services.domain.text.refusals import REFUSALS
from services.domain.text.said import said


def test_a_message_becomes_its_sentence() -> None:
    message = Message("task.duplicate", {"id": "t1", "status": "queued"})
    assert messages.english(message) == "The same task is active already: t1 (queued)."


def test_an_unknown_code_shows_itself_and_a_missing_parameter_its_place() -> None:
    assert messages.english(Message("no.such.code")) == "no.such.code"
    assert messages.english(Message("task.unknown", {})) == "There is no task {id}."


def test_values_are_never_taken_for_templates() -> None:
    assert messages.english(Message("task.unknown", {"id": "{id} {0} %s"})) == "There is no task {id} {0} %s."


@pytest.mark.parametrize(("seconds", "words"), [(0, "0 s"), (41, "41 s"), (451, "7 m 31 s"), (90_000, "1 d 1 h")])
def test_a_count_down_is_said_in_the_units_of_its_size(seconds: int, words: str) -> None:
    message = Message("gate.scheduled", {"seconds": seconds, "due_at": 0})
    assert messages.english(message) == f"Starts in {words}, as planned."
    assert messages.render(message) == messages.english(message).replace(words, words.replace(" ", "\u202f"))


def test_spans_are_said_in_the_language_but_english_stays_english() -> None:
    message = Message("gate.retry_delay", {"seconds": 451, "attempt": 2, "due_at": 0})
    i18n.set_language("zh_CN")
    try:
        assert "7\u202f分 31\u202f秒后" in messages.render(message)
        assert messages.english(message) == "Attempt 2 failed; the next one starts in 7 m 31 s."
    finally:
        i18n.set_language("en")


def test_a_clock_may_be_behind_and_keeps_its_decimal() -> None:
    assert messages.english(Message("doctor.clock", {"seconds": -3.24})).endswith("by -3.2 s")
    assert messages.english(Message("doctor.clock", {"seconds": 75.0})).endswith("by 1 m 15 s")


def test_an_error_is_english_for_machines_and_said_in_the_language_of_the_window() -> None:
    error = StoreUnavailable(said("store.silent", address="redis://r:6379/0", error="Timeout"))
    inner = Message("doctor.store_gone", {"error": said("file.silent", error="disk I/O error")})
    assert str(error) == "redis://r:6379/0 does not answer: Timeout"
    assert messages.told(UsageError("--shop is missing", field="shop")) == "--shop is missing"
    assert messages.english(inner) == "The store cannot be used: the local database does not answer: disk I/O error"
    i18n.set_language("zh_CN")
    try:
        assert messages.told(error) == "redis://r:6379/0 没有响应：Timeout"
        assert messages.told(FilterError("filter.empty", 3)) == messages.render(Message("filter.empty"))
        assert "本机数据库没有响应" in messages.render(inner)
        assert str(error) == "redis://r:6379/0 does not answer: Timeout"
    finally:
        i18n.set_language("en")


#: whose words are all in their places
WORDLESS = frozenset({"payload.bad", "lanes.of"})


@pytest.mark.deep
@pytest.mark.parametrize("code", REFUSALS)
def test_every_refusal_keeps_its_places_in_chinese(code: str) -> None:
    places = {name for _, name, _, _ in string.Formatter().parse(REFUSALS[code]) if name}
    i18n.set_language("zh_CN")
    try:
        text = messages.told(said(code, **{name: f"<{name}>" for name in places}))
    finally:
        i18n.set_language("en")
    assert all(f"<{name}>" in text for name in places)
    assert any("\u4e00" <= letter <= "\u9fff" for letter in text) or code in WORDLESS


def test_a_promise_names_a_failure_as_people_know_it() -> None:
    def said(kind: str) -> str:
        return messages.render(Message("promise.failing", {"n": 2, "kind": kind}))

    assert said("element_not_found") == "its last 2 runs failed (Page element missing)"
    assert said("of_another_program") == "its last 2 runs failed (of_another_program)"
    with i18n.speaking("zh_CN"):
        assert said("risk_control") == "最近 2 次失败（风控）"


def test_the_headline_of_the_fleet_is_said_within_a_sentence_in_the_language_of_the_window() -> None:
    person = flow.Clause(Message("flow.person", {"n": 3}), (Message("drain.nobody"), Message("drain.unknown")))
    clauses = (flow.Clause(Message("flow.waiting", {"n": 9})), person)
    found = Message("doctor.flow", {"what": messages.headline_within(clauses, str)})
    english = f"Work: {messages.english_headline(clauses)}"
    assert messages.english(found) == english
    i18n.set_language("zh_CN")
    try:
        said = messages.render(found)
        assert messages.headline(clauses) in said
        assert not re.search("[a-z]", said)
        assert messages.english(found) == english
    finally:
        i18n.set_language("en")


def test_one_thing_is_said_otherwise_than_many_whichever_number_counts() -> None:
    lanes = {"lane": "low", "slots": 4}
    said = [messages.english(Message("flow.lane_full", {**lanes, "free": free})).rpartition("; ")[2] for free in (1, 2)]
    assert said == ["1 free one does not take it", "2 free ones do not take it"]
    assert (
        messages.english(Message("gate.front_full", {"slots": "1"})) == "It is next in its lane; the only slot is busy."
    )
    assert (
        messages.english(Message("past.worker_slots", {"name": "w1", "slots": "", "before": "5"}))
        == "w1 has  slots, before 5"
    )


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (said("schema.type", expected=kinds.of_schema("integer")), "类型必须是整数"),
        (said("schema.type", expected=kinds.of_schema(["integer", "string"])), "类型必须是整数或文本"),
        (
            said("policy.kind", where="timeout_s", wanted=kinds.wanted("int"), given=kinds.given("str")),
            "timeout_s 必须是整数，例如 3，而不是文本",
        ),
    ],
)
def test_a_kind_of_value_is_called_as_people_call_it_in_chinese(what: str, words: str) -> None:
    assert messages.told(what) == str(what)
    i18n.set_language("zh_CN")
    try:
        assert messages.told(what) == words
    finally:
        i18n.set_language("en")


def test_a_refusal_names_roles_as_they_are_typed_and_in_chinese_as_the_window_calls_them() -> None:
    refused = said("role.needed", who="ann@desk-02", role="viewer", needed="operator")
    assert messages.told(refused).startswith("ann@desk-02 is viewer; this needs the role operator.")
    with i18n.speaking("zh_CN"):
        assert messages.told(refused) == "ann@desk-02 是查看者，此操作需要操作员角色。请管理员更改。"


def test_what_the_system_refuses_is_said_in_words() -> None:
    """An operator makes nothing of ``[Errno 28]``, nor of the name of a draft that is gone already."""
    full, unusual = OSError(28, "No space left on device", "/x/.tasks.draft"), OSError(99, "Something else", "/x")
    assert messages.told(full) == "there is no room left on the disk"
    with i18n.speaking("zh_CN"):
        assert messages.told(full) == "\u78c1\u76d8\u6ca1\u6709\u5269\u4f59\u7a7a\u95f4"
    assert messages.told(unusual) == str(unusual)


def test_the_headline_names_shops_as_people_call_them() -> None:
    limit = Message("flow.shop_limit", {"free": 2, "slots": 5, "shop": "pdd:s1", "limit": 1})
    paused = Message("flow.pauses_all", {"pauses": 2, "scope": "shop:pdd:s1", "most": 3, "who": "ann", "span": "5 min"})
    clauses = (flow.Clause(limit), flow.Clause(Message("flow.waiting", {"n": 3}), (paused,)))
    said = messages.english(Message("doctor.flow", {"what": messages.headline_within(clauses, lambda _key: "Tea")}))
    assert "but Tea runs 1 at a time" in said
    assert "pdd:s1" not in said


def test_what_follows_in_a_sentence_begins_small_unless_a_name_begins_it() -> None:
    told = [
        Message("shop.dead", {"count": 1}),
        Message("shop.off"),
        Message("shop.paused_type", {"type": "Sync", "who": "ann", "seconds": 60}),
    ]
    said = messages.in_one(told, messages.english)
    assert said[:2] == ["1 dead, not looked at yet", "switched off: schedules and promises leave it out"]
    assert said[2].startswith("Sync is paused by ann")
    assert messages.in_one(told[1:2], messages.english) == ["Switched off: schedules and promises leave it out"]


def test_who_begins_what_follows_in_chinese_is_called_as_they_are() -> None:
    told = [Message("shop.off"), Message("shop.paused_shop", {"who": "Ann", "seconds": 60, "span": "1 min"})]
    assert messages.in_one(told, messages.english)[1].startswith("the shop is paused by Ann")
    i18n.set_language("zh_CN")
    try:
        assert messages.in_one(told, messages.render)[1].startswith("Ann")
    finally:
        i18n.set_language("en")


def test_the_time_of_an_incident_stands_with_the_incident_and_not_with_what_its_title_counts() -> None:
    """What several rules see of one matter begins before its first dead letter, and a title may tell a time itself."""
    title = "Promise broken: orders, in 9 shops of 18 since 02:12"
    told = {"id": "INC-6", "title": title, "at": "02:11", "who": "ann", "until": "04:00"}
    for state in ("open", "answered", "muted", "muted_changed", "calming"):
        said = messages.english(Message(f"handover.incident_{state}", told))
        assert said.startswith(f"INC-6 since 02:11: {title}; ")
