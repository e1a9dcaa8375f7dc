"""The wire message: what is accepted, what is refused and how, and that both ways meet."""

from __future__ import annotations

import json
import pickle
import zlib
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import BadMessage
from services.domain.task import classify, envelope, own_words
from services.domain.task.order import GivenUp
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from tests.unit.services.domain.builders import NOW, body, message, task

WORDS = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
SHOPS = WORDS.filter(lambda word: word not in ("high", "normal", "low", "dead"))
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)
EIGHT = timezone(timedelta(hours=8))


def parse(data: bytes, headers: dict[str, Any] | None = None, **more: Any) -> envelope.Parsed:
    return envelope.parse(data, headers, **({"now_ms": NOW} | more))


def refused(data: bytes, headers: Any = None, **more: Any) -> BadMessage:
    with pytest.raises(BadMessage) as caught:
        parse(data, headers, **more)
    assert caught.value.kind in classify.PERMANENT
    assert len(str(caught.value)) < 400
    return caught.value


# ------------------------------------------------------------------------------------------------------ accepted
def test_the_example_of_the_contract() -> None:
    parsed = parse(body(), routing_key="task.pdd.high", content_type="application/json")
    assert parsed.foreign
    assert (parsed.gen, parsed.attempt) == (0, 0)
    record = parsed.task
    assert record.task_id == "pdd_sync_order_shop017_1f3a9c20"
    assert (record.shop_id, record.platform, record.task_type) == ("shop017", "pdd", "sync_order")
    assert json.loads(record.payload) == {"since": "2026-11-20"}
    assert (record.lane, record.priority, record.queue, record.max_retries) == ("high", 10, "", 3)
    assert record.created_at == 1_795_219_200_000
    assert record.extra == ""


@pytest.mark.parametrize("missing", [..., None])
def test_five_fields_may_be_missing(missing: object) -> None:
    left_out = dict.fromkeys(("payload", "priority", "created_at", "retry_count", "max_retries"), missing)
    record = parse(body(**left_out)).task
    assert (record.payload, record.lane, record.priority, record.retries, record.max_retries) == (
        "{}",
        "normal",
        6,
        0,
        3,
    )
    assert record.created_at == NOW


def test_unknown_fields_are_kept_and_travel_on() -> None:
    more = {"trace": {"id": 7}, "worker": "their own word", "x": None, "备注": "加急"}
    record = parse(body(**more)).task
    assert json.loads(record.extra) == more
    again, headers = envelope.build(record)
    assert {name: json.loads(again)[name] for name in more} == more
    assert json.loads(parse(again, headers).task.extra) == more


def test_kept_fields_never_replace_ours() -> None:
    built, _ = envelope.build(task(extra='{"shop_id":"other","trace":1}'))
    assert json.loads(built)["shop_id"] == "shop017"
    assert json.loads(built)["trace"] == 1


@pytest.mark.parametrize(
    ("said", "key", "lane", "priority", "queue"),
    [
        ("high", "", "high", 10, ""),
        ("low", "task.pdd.low", "low", 2, ""),
        (7, "", "normal", 7, ""),
        ("9", "", "high", 9, ""),
        ("low", "task.pdd.high", "high", 10, ""),
        (2, "task.pdd.high", "high", 2, ""),
        (..., "task.pdd.low", "low", 2, ""),
        ("high", "task.pdd.shop017", "high", 10, "shop017"),
        ("high", "task.pdd.other", "high", 10, ""),
        ("high", "dead", "high", 10, ""),
        ("high", "a.b.c.d", "high", 10, ""),
    ],
)
def test_the_lane_is_that_of_the_routing_key(said: Any, key: str, lane: str, priority: int, queue: str) -> None:
    record = parse(body(priority=said), routing_key=key).task
    assert (record.lane, record.priority, record.queue) == (lane, priority, queue)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21T08:00:00+08:00", 1_795_219_200_000),
        ("2026-11-21T00:00:00Z", 1_795_219_200_000),
        ("2026-11-21T08:00:00", 1_795_219_200_000),
        ("2026-11-21 08:00:00.250", 1_795_219_200_250),
        ("", NOW),
    ],
)
def test_created_at(text: str, expected: int) -> None:
    assert parse(body(created_at=text), local_tz=EIGHT).task.created_at == expected


def test_attempt_comes_from_the_header_else_from_retry_count() -> None:
    assert parse(body(retry_count=2)).attempt == 2
    ours = parse(body(retry_count=1), {"x-rpa-gen": 4, "x-rpa-attempt": 3, "x-rpa-schema": 1})
    assert (ours.gen, ours.attempt, ours.foreign, ours.task.retries) == (4, 3, False, 1)


def test_a_header_without_a_value_is_none() -> None:
    """Or a message that nobody here published would be one whose record was lost."""
    assert parse(body(), {"x-rpa-gen": None, "x-rpa-attempt": None}).foreign


def test_max_retries_of_the_message_is_capped() -> None:
    assert parse(body(max_retries=1000)).task.max_retries == 20
    assert parse(body(max_retries=0)).task.max_retries == 0


@pytest.mark.parametrize(
    "content_type", ["", "application/json", "application/json; charset=utf-8", "Application/JSON"]
)
@pytest.mark.parametrize("encoding", ["", "utf-8"])
def test_properties_that_mean_plain_json(content_type: str, encoding: str) -> None:
    assert parse(body(), content_type=content_type, content_encoding=encoding)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse(b"\xef\xbb\xbf" + body()).task.shop_id == "shop017"


def test_brackets_in_text_are_no_nesting() -> None:
    note = '[{"\\' * 500
    assert json.loads(parse(body(payload={"note": note})).task.payload) == {"note": note}
    wide = {"rows": [[number] for number in range(1000)]}
    assert json.loads(parse(body(payload=wide)).task.payload) == wide


def test_forged_broker_headers_mean_nothing() -> None:
    headers = {"x-death": [{"count": 99, "reason": "expired"}], "x-delivery-count": 50, "nested": {"a": [None]}}
    assert parse(body(), headers).foreign


# ------------------------------------------------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xff\xfe{}", "UTF-8"),
        ('{"task_id": "店"'.encode("gbk"), "UTF-8"),
        (b"null", "null"),
        (b"[]", "a list"),
        (b"3", "a number"),
        (b'"text"', "text"),
        (b"true", "true or false"),
        (b"{", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
        (body(payload={"a": 1}).replace(b'{"a": 1}', b"[" * 100_000 + b"]" * 100_000), "nested"),
        (b" " * (17 * 1024 * 1024) + b"{}", "limit is 1048576"),
        (body(payload={"x": "y" * 1_100_000}), "limit is 1048576"),
        (body()[:-1] + b', "shop_id": "other"}', "'shop_id' stands twice"),
        (body(payload={"a": 1}).replace(b'{"a": 1}', b'{"a": 1, "a": 2}'), "'a' stands twice"),
        (body(payload={"a": 1}).replace(b'"a": 1', b'"a": NaN'), "NaN"),
        (body(payload={"a": 1}).replace(b'"a": 1', b'"a": -Infinity'), "Infinity"),
        (body(payload={"a": 1}).replace(b'"a": 1', b'"a": 1e400'), "too large"),
        (body(payload={"a": 1}).replace(b'"a": 1', b'"a": "\\ud800"'), r"the field payload.a holds \ud800, which"),
        (body(payload={"a": 1}).replace(b'"a": 1', b'"\\udfff": 1'), r"the field payload holds \udfff"),
        (body(payload={"a": 1}).replace(b": 1", b": " + b"1" * 5000), "too large"),
        (pickle.dumps({"task_id": "a"}), "UTF-8"),
        (zlib.compress(b"a" * 1000), "UTF-8"),
    ],
    ids=range(26),
)
def test_bytes_that_are_no_task(data: bytes, words: str) -> None:
    assert words in str(refused(data))


@pytest.mark.parametrize("name", ["task_id", "shop_id", "platform", "task_type"])
@pytest.mark.parametrize("value", [..., None, ""])
def test_a_missing_field_is_named(name: str, value: object) -> None:
    assert str(refused(body(**{name: value}))) == f"{name} is missing"


def test_all_missing_fields_are_named_at_once() -> None:
    assert str(refused(b'{"task_id": "t1", "platform": ""}')) == "shop_id, platform, task_type are missing"


@pytest.mark.parametrize(
    "fields",
    [
        {"task_id": 7},
        {"task_id": "x" * 10_000},
        {"task_id": "a\nb"},
        {"task_id": "a\x00"},
        {"task_id": "店铺"},
        {"shop_id": 17},
        {"shop_id": "shop.1"},
        {"shop_id": "#"},
        {"shop_id": "*"},
        {"shop_id": "shop 1"},
        {"shop_id": "x" * 300},
        {"shop_id": "high"},
        {"shop_id": "dead"},
        {"shop_id": "café"},
        {"platform": "pdd.high"},
        {"platform": "x" * 65},
        {"task_type": "os.system"},
        {"task_type": "../../x"},
        {"priority": 255},
        {"priority": -1},
        {"priority": 0},
        {"priority": "urgent"},
        {"priority": 5.5},
        {"priority": True},
        {"priority": [1]},
        {"retry_count": -1},
        {"retry_count": 2**63},
        {"retry_count": "3"},
        {"retry_count": 1.0},
        {"retry_count": True},
        {"max_retries": -1},
        {"max_retries": "3"},
        {"created_at": 0},
        {"created_at": "0"},
        {"created_at": "yesterday"},
        {"created_at": "1970-01-01T00:00:00Z"},
        {"created_at": "9999-12-31T23:59:59-14:00"},
        {"created_at": "0001-01-01T00:00:00+14:00"},
        {"created_at": ["2026"]},
    ],
    ids=lambda fields: "-".join(f"{name}={value!r:.20}" for name, value in fields.items()),
)
@pytest.mark.parametrize("headers", [{}, {"x-rpa-gen": 0}], ids=["foreign", "ours"])
def test_a_bad_field_is_named(fields: dict[str, Any], headers: dict[str, Any]) -> None:
    error = refused(body(**fields), headers)
    assert error.kind == "bad_message"
    assert next(iter(fields)) in str(error)


@pytest.mark.parametrize("payload", [[], "text", 3, True])
def test_a_payload_that_is_no_object_has_its_own_kind(payload: object) -> None:
    assert refused(body(payload=payload)).kind == "bad_payload"


@pytest.mark.parametrize(
    "headers",
    [
        {"x-rpa-gen": -1},
        {"x-rpa-gen": "1"},
        {"x-rpa-gen": 2**63},
        {"x-rpa-gen": True},
        {"x-rpa-gen": 1, "x-rpa-attempt": "3"},
        {"x-rpa-gen": 1, "x-rpa-attempt": -1},
        {"x-rpa-gen": 1, "x-rpa-attempt": 2**63},
        {"x-rpa-gen": 1, "x-rpa-schema": 2},
        {"x-rpa-attempt": []},
        [("x-rpa-gen", 1)],
        "x-rpa-gen",
    ],
    ids=str,
)
def test_bad_headers(headers: Any) -> None:
    refused(body(), headers)


@pytest.mark.parametrize("content_type", ["application/x-python-serialize", "text/html", "application/data"])
def test_other_content_is_refused_by_its_name(content_type: str) -> None:
    assert "content_type" in str(refused(body(), content_type=content_type))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "base64"])
def test_nothing_is_unpacked(encoding: str) -> None:
    assert "content_encoding" in str(refused(zlib.compress(b"a" * 10**6), content_encoding=encoding))


# ----------------------------------------------------------------------------------------------------- both ways
TASKS = st.builds(
    Task,
    task_id=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=200),
    shop_id=SHOPS,
    platform=WORDS,
    task_type=WORDS,
    payload=OBJECTS.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))),
    lane=st.sampled_from(["high", "normal", "low"]),
    priority=st.integers(1, 10),
    gen=st.integers(0, 2**31 - 1),
    attempt=st.integers(0, 1000),
    retries=st.integers(0, 20),
    max_retries=st.integers(0, 20),
    created_at=st.integers(946_684_800_000, 4_102_444_799_999),
    status=st.just(Status.PENDING),
    error=TEXT,
    error_kind=st.sampled_from(["", *classify.KINDS]),
    worker=TEXT,
    ended_at=st.just(0) | st.just(NOW),
    extra=st.just("") | OBJECTS.map(lambda more: json.dumps({f"x-{name}": value for name, value in more.items()})),
)
SAME = ("task_id", "shop_id", "platform", "task_type", "lane", "priority", "gen", "attempt", "retries", "max_retries",
        "created_at")  # fmt: skip


@given(TASKS, st.booleans())
def test_what_is_built_reads_the_same(record: Task, dead: bool) -> None:
    data, headers = envelope.build_dead(record) if dead else envelope.build(record)
    parsed = parse(data, headers, routing_key=f"task.{record.platform}.{record.lane}")
    assert not parsed.foreign
    assert {name: getattr(parsed.task, name) for name in SAME} == {name: getattr(record, name) for name in SAME}
    assert json.loads(parsed.task.payload) == json.loads(record.payload)
    assert json.loads(parsed.task.extra or "{}") == json.loads(record.extra or "{}")
    # Another program that strips our headers still gets the whole contract.
    assert set(message()) <= set(json.loads(data))
    assert parse(data, {}).task.task_id == record.task_id


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_random_bytes_are_refused_politely(data: bytes) -> None:
    _never_crashes(data, {})


@given(
    st.integers(0, len(body()) - 1),
    st.binary(max_size=6),
    st.integers(0, 12),
    st.sampled_from([{}, {"x-rpa-gen": 1}, {"x-rpa-gen": 1, "x-rpa-attempt": 2}]),
)
def test_mutated_messages_are_read_or_refused(at: int, patch: bytes, cut: int, headers: dict[str, Any]) -> None:
    data = body()
    _never_crashes(data[:at] + patch + data[at + cut :], headers)


@given(st.dictionaries(st.sampled_from(sorted(message())), JSON), st.dictionaries(TEXT, JSON, max_size=3), JSON)
def test_fields_of_any_kind_are_read_or_refused(fields: dict[str, Any], headers: dict[str, Any], gen: Any) -> None:
    _never_crashes(body(**fields), headers)
    _never_crashes(body(**fields), {**headers, "x-rpa-gen": gen})


def _never_crashes(data: bytes, headers: dict[str, Any]) -> None:
    try:
        built = envelope.build(parse(data, headers, routing_key="task.pdd.high").task)
        assert parse(*built).task.shop_id
    except BadMessage as exc:
        record = envelope.bad_record(data, kind=exc.kind, error=str(exc), now_ms=NOW)
        assert record.task_id.startswith("bad_")
    assert envelope.dead_reason(data, headers).kind in classify.KINDS


# -------------------------------------------------------------------------------------------------------- orders
@pytest.mark.parametrize("status", [Status.PENDING, Status.QUEUED])
def test_a_waiting_task_goes_to_its_lane(status: Status) -> None:
    order = envelope.order_for(task(status=status, lane="high", priority=9, gen=2, attempt=1), NOW, (30, 60, 120))
    assert (order.kind, order.routing_key, order.priority, order.delay_s) == ("work", "task.pdd.high", 8, 0)
    assert order.message_id == "pdd_sync_order_shop017_1f3a9c20"
    assert order.headers == {"x-rpa-gen": 2, "x-rpa-attempt": 1, "x-rpa-schema": 1}
    assert order.platform == "pdd"


def test_a_dedicated_shop_has_its_own_key() -> None:
    assert envelope.order_for(task(queue="shop017"), NOW, ()).routing_key == "task.pdd.shop017"


@pytest.mark.parametrize(
    ("wait_ms", "level"),
    [(30_000, 30), (30_900, 30), (31_500, 60), (29_000, 30), (1, 30), (60_000, 60), (120_000, 120), (500_000, 120)],
)
def test_a_retry_waits_at_least_as_long_as_asked(wait_ms: int, level: int) -> None:
    order = envelope.order_for(task(status=Status.RETRYING, due_at=NOW + wait_ms), NOW, (120, 30, 60))
    assert (order.kind, order.delay_s, order.routing_key) == ("delay", level, "task.pdd.normal")


def test_a_retry_that_is_due_goes_straight_to_its_lane() -> None:
    order = envelope.order_for(task(status=Status.RETRYING, due_at=NOW), NOW, (30, 60))
    assert (order.kind, order.delay_s) == ("work", 0)


def test_a_dead_letter_carries_its_error() -> None:
    record = task(
        status=Status.DEAD, error="登录已过期", error_kind="login_expired", fingerprint="ab", worker="w", ended_at=NOW
    )
    order = envelope.order_for(record, NOW, (30,))
    assert (order.kind, order.routing_key) == ("dead", "dead")
    said = json.loads(order.body)
    assert said["error"] == "登录已过期"
    assert (said["error_kind"], said["fingerprint"], said["worker"]) == ("login_expired", "ab", "w")
    assert said["failed_at"] == "2026-11-18T11:06:40.000+00:00"
    assert envelope.dead_reason(order.body, order.headers) == envelope.DeadReason("login_expired", "登录已过期")


@pytest.mark.parametrize("status", [Status.RUNNING, Status.BLOCKED, Status.SCHEDULED, Status.HELD, Status.SUCCEEDED])
def test_other_states_have_no_message(status: Status) -> None:
    with pytest.raises(ValueError, match="has no message"):
        envelope.order_for(task(status=status), NOW, (30,))


# -------------------------------------------------------------------------------------------------- dead letters
def test_the_record_of_a_bad_message_is_named_after_its_bytes() -> None:
    data = body(task_id="x" * 300)
    record = envelope.bad_record(data, kind="bad_message", error="task_id is too long", now_ms=NOW)
    assert record == envelope.bad_record(data, kind="bad_message", error="task_id is too long", now_ms=NOW)
    assert record.task_id == envelope.bad_record(data, kind="bad_payload", error="", now_ms=1).task_id
    assert (record.status, record.triage, record.error_kind) == (Status.DEAD, Triage.OPEN, "bad_message")
    assert (record.shop_id, record.platform, record.task_type) == ("shop017", "pdd", "sync_order")
    other = envelope.bad_record(b"\xff" * 20, kind="bad_message", error="x" * 9000, now_ms=NOW)
    assert (other.shop_id, other.platform, other.task_type) == ("unknown",) * 3
    assert len(other.task_id) == len("bad_") + 16
    assert len(other.error) == 4000


def test_the_record_of_a_bad_message_tells_the_id_that_its_sender_knows() -> None:
    refusal = "payload must be a JSON object, not text"
    record = envelope.bad_record(body(task_id="order 7", payload="{}"), kind="bad_payload", error=refusal, now_ms=NOW)
    assert record.error == f"in the message the task is called order 7\n{refusal}"
    assert classify.headline(record.error) == refusal
    long = envelope.bad_record(body(task_id="order 7"), kind="bad_message", error="x" * 9000, now_ms=NOW)
    assert (len(long.error), long.error[:15]) == (4000, "in the message ")
    assert json.loads(envelope.build_dead(record)[0])["message_task_id"] == "order 7"


@pytest.mark.parametrize("task_id", ["", "\n", "x" * 300, 7, None, "一"])
def test_what_is_no_id_is_not_told_as_one(task_id: object) -> None:
    record = envelope.bad_record(body(task_id=task_id), kind="bad_message", error="no", now_ms=NOW)
    assert (record.error, record.extra) == ("no", "")


@pytest.mark.parametrize(
    ("headers", "broker", "kind", "words"),
    [
        ({"x-rpa-error": "boom", "x-rpa-error-kind": "captcha"}, None, "captcha", "boom"),
        ({"x-rpa-error": "network unreachable"}, GivenUp("rejected"), "network", "network"),
        ({}, GivenUp("expired", "rpa_tasks_low"), "expired", "expired in its queue"),
        (None, GivenUp("rejected", "q"), "unknown", "rejected"),
        (None, GivenUp("as it likes"), "unknown", "nobody recorded why"),
        (None, None, "unknown", "nobody recorded why"),
    ],
)
def test_why_a_letter_is_dead(headers: Any, broker: GivenUp | None, kind: str, words: str) -> None:
    reason = envelope.dead_reason(body(), headers, broker)
    assert reason.kind == kind
    assert words in reason.error


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (b'"note": "\\udc00", ', r"the field note holds \udc00"),
        (b'"\\udc00": 1, ', r"the field \udc00 holds \udc00"),
        (b'"rows": [{"a": 1}, {"b": ["\\ud834"]}], ', r"the field rows.b holds \ud834"),
    ],
)
def test_half_of_a_character_is_told_with_its_place_and_in_every_language(extra: bytes, says: str) -> None:
    told = str(refused(b"{" + extra + body()[1:]))
    assert told.startswith(says)
    assert "codec" not in told
    found = own_words.find(told)
    assert found is not None
    assert found.code == "own.msg_half"
