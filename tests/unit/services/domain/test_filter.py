"""The filter language: what it means, what it refuses with a remedy, and that text and terms meet both ways."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.task import classify
from services.domain.task.search import filter
from services.domain.task.search.filter import FilterError, by_clock, format_terms, parse
from services.domain.task.search.query import Term
from services.domain.task.status import ACTIVE, TERMINAL, Status, Triage
from tests.unit.services.domain.builders import HOUR, NOW

SHANGHAI, NEW_YORK = "Asia/Shanghai", "America/New_York"


def terms(text: str, zone: str = SHANGHAI) -> tuple[Term, ...]:
    return parse(text, now_ms=NOW, time_zone=zone)


def is_(field: str, *values: str, negated: bool = False) -> Term:
    return Term(field=field, op="=", values=values, negated=negated)


def has(field: str, value: str, negated: bool = False) -> Term:
    return Term(field=field, op="~", values=(value,), negated=negated)


def than(field: str, op: str, number: float, negated: bool = False) -> Term:
    return Term(field=field, op=op, number=float(number), negated=negated)


def at(year: int, month: int, day: int, hour: int = 0, minute: int = 0, zone: str = SHANGHAI) -> int:
    return round(datetime(year, month, day, hour, minute, tzinfo=ZoneInfo(zone)).timestamp() * 1000)


def test_the_example_of_the_contract() -> None:
    text = (
        'status:dead,held shop:shop01* platform:temu type:sync_order lane:high worker:w3 error~"login expired"'
        " fp:9ac1 batch:B age>1h created<2026-11-20 attempts>=2"
    )
    assert terms(text) == (
        is_("status", "dead", "held"),
        is_("shop", "shop01*"),
        is_("platform", "temu"),
        is_("type", "sync_order"),
        is_("lane", "high"),
        is_("worker", "w3"),
        has("error", "login expired"),
        is_("fp", "9ac1*"),
        is_("batch", "B"),
        than("created", "<", NOW - HOUR),
        than("created", "<", at(2026, 11, 20)),
        than("attempts", ">=", 2),
    )


def group(statuses: frozenset[Status]) -> Term:
    return is_("status", *(status.value for status in Status if status in statuses))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("   \t\n", ()),
        ("登录", (has("text", "登录"),)),
        ("登录失败：需要扫码", (has("text", "登录失败：需要扫码"),)),
        ("登录失败:需要扫码", (has("text", "登录失败:需要扫码"),)),
        ("超时:30秒后重试 -原因:", (has("text", "超时:30秒后重试"), has("text", "原因:", negated=True))),
        ("获取商品列表失败:timeout", (has("text", "获取商品列表失败:timeout"),)),
        (
            '"OR" or (see:above) nor',
            (has("text", "OR"), has("text", "or"), has("text", "(see:above)"), has("text", "nor")),
        ),
        ("gate:quota,home_node", (is_("gate", "quota", "home_node:*"),)),
        ("-登录 shop017", (has("text", "登录", negated=True), has("text", "shop017"))),
        ('"status:dead"', (has("text", "status:dead"),)),
        ('-"a b"', (has("text", "a b", negated=True),)),
        (r'"say \"hi\" \\ there"', (has("text", 'say "hi" \\ there'),)),
        ("“两个 词”", (has("text", "两个 词"),)),
        ("-status:dead", (is_("status", "dead", negated=True),)),
        ("STATUS:Dead", (is_("status", "dead"),)),
        ("status=dead", (is_("status", "dead"),)),
        ("status：dead，held", (is_("status", "dead", "held"),)),
        (
            "状态：dead 店铺:s1 -通道：high",
            (is_("status", "dead"), is_("shop", "s1"), is_("lane", "high", negated=True)),
        ),
        ("状态:死信，待确认 -通道:高", (is_("status", "dead", "held"), is_("lane", "high", negated=True))),
        ("triage:未处理", (is_("triage", "open"),)),
        ("error~死信", (has("error", "死信"),)),
        ("分组:east", (is_("group", "east"),)),
        ("尝试>=2", (than("attempts", ">=", 2),)),
        ("status:waiting", (is_("status", "pending", "blocked", "queued"),)),
        ("status:active", (group(ACTIVE),)),
        ("status:terminal,dead", (group(TERMINAL),)),
        ("shop:pdd:shop01", (is_("shop", "pdd:shop01"),)),
        ('shop:"a b",c', (is_("shop", "a b", "c"),)),
        ("shop:a,a,b", (is_("shop", "a", "b"),)),
        ("Shop:Shop01", (is_("shop", "Shop01"),)),
        ("id:bad_*", (is_("id", "bad_*"),)),
        ("id~1f3a", (has("id", "1f3a"),)),
        ("error:过期", (has("error", "过期"),)),
        ("kind:login_expired,captcha", (is_("kind", "login_expired", "captcha"),)),
        ("triage:open", (is_("triage", "open"),)),
        ("fp:9AC1*", (is_("fp", "9ac1*"),)),
        ("fp:0123456789abcdef", (is_("fp", "0123456789abcdef"),)),
        ("attempts:2", (Term(field="attempts", op="=", values=("2",), number=2.0),)),
        ("priority>7", (than("priority", ">", 7),)),
        ("age<=30m", (than("created", ">=", NOW - HOUR // 2),)),
        ("-age>1h30m", (than("created", "<", NOW - HOUR * 3 // 2, negated=True),)),
        ("age>2天", (than("created", "<", NOW - 48 * HOUR),)),
        ("age>1.5h", (than("created", "<", NOW - HOUR * 3 // 2),)),
        ("created>=2026-11-20", (than("created", ">=", at(2026, 11, 20)),)),
        ("created>2026-11-20", (than("created", ">=", at(2026, 11, 21)),)),
        ("created<=2026-11-20", (than("created", "<", at(2026, 11, 21)),)),
        ("created:2026-11-20", (than("created", ">=", at(2026, 11, 20)), than("created", "<", at(2026, 11, 21)))),
        ("created>2026-11-20T08:30", (than("created", ">", at(2026, 11, 20, 8, 30)),)),
        ("created<2026-11-20T08:30+00:00", (than("created", "<", at(2026, 11, 20, 16, 30)),)),
        ('created<"2026-11-20 08:30"', (than("created", "<", at(2026, 11, 20, 8, 30)),)),
        ("created>=today", (than("created", ">=", at(2026, 11, 18)),)),
        ("created:昨天", (than("created", ">=", at(2026, 11, 17)), than("created", "<", at(2026, 11, 18)))),
        ("updated<now", (than("updated", "<", NOW),)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_text_means(text: str, expected: tuple[Term, ...]) -> None:
    assert terms(text) == expected


def test_days_have_the_length_of_their_zone() -> None:
    start, end = terms("created:2026-11-01", NEW_YORK)  # the clock goes back
    assert end.number - start.number == 25 * HOUR
    assert start.number == at(2026, 11, 1, zone=NEW_YORK)


def test_an_unknown_zone_is_the_machines_own() -> None:
    assert terms("created<2026-11-20", "") == terms("created<2026-11-20", "Mars/Olympus")


@pytest.mark.parametrize(
    ("text", "position", "code", "remedy"),
    [
        ("stauts:dead", 0, "filter.unknown_field", "did you mean status?"),
        ("a  foo:bar", 3, "filter.unknown_field", '"foo:bar"'),
        ("http://x", 0, "filter.unknown_field", "quote it"),
        ("颜色:red", 0, "filter.unknown_field", "店铺, 平台"),
        ('颜色:"深 红"', 0, "filter.unknown_field", "店铺, 平台"),
        ("dead 颜色:red x", 5, "filter.unknown_field", "店铺, 平台"),
        ("颜色=红", 0, "filter.unknown_field", "店铺, 平台"),
        ("标签:east", 0, "filter.unknown_field", "店铺, 平台"),
        ("死信 -状态码=死信", 3, "filter.unknown_field", "did you mean 状态?"),
        ("status:daed", 0, "filter.unknown_word", "did you mean dead?"),
        ("状态:死", 0, "filter.unknown_word", "did you mean 死信?"),
        ("状态:没有", 0, "filter.unknown_word", "成功, 死信, 已取消"),
        ("status:dead,", 12, "filter.no_value", "status"),
        ("status:", 7, "filter.no_value", "status"),
        ("status: dead", 7, "filter.no_value", "without a space"),
        ('shop:""', 0, "filter.no_value", "shop"),
        ("lane:hihg", 0, "filter.unknown_word", "did you mean high?"),
        ("kind:capcha", 0, "filter.unknown_word", "did you mean captcha?"),
        ("gate:sesion", 0, "filter.unknown_word", "did you mean session?"),
        ("x gate:nope*", 2, "filter.unknown_word", "is no gate"),
        ("type:a OR type:b", 7, "filter.joined", "type:a,b"),
        ("NOT status:dead", 0, "filter.joined", '"NOT"'),
        ("(status:dead)", 0, "filter.joined", '"(status:dead)"'),
        ("x （状态:死信", 2, "filter.joined", "side by side"),
        ("status>dead", 0, "filter.operator", ":"),
        ("platform~pdd", 0, "filter.operator", "platform"),
        ("age:1h", 0, "filter.operator", "> >="),
        ('x "never closed', 2, "filter.open_quote", "not closed"),
        ('error~"never closed', 6, "filter.open_quote", "not closed"),
        ("-", 0, "filter.empty", "missing"),
        ('""', 0, "filter.empty", "missing"),
        ("shop:a*b", 0, "filter.star", "a*b"),
        ("fp:xyz", 0, "filter.not_hex", "0-9 a-f"),
        ("age>soon", 0, "filter.not_duration", "age>1h"),
        ("age>10", 0, "filter.not_duration", "age>90m"),
        ("created<1h", 0, "filter.not_time", "did you mean age>1h?"),
        ("created>2h", 0, "filter.not_time", "did you mean age<2h?"),
        ("created<tomorrow", 0, "filter.not_time", "created>=2026-11-20"),
        ("created<2026-13-45", 0, "filter.not_time", "created"),
        ("-created:2026-11-20", 0, "filter.negated_day", "created<"),
        ("attempts>many", 0, "filter.not_number", "attempts>=2"),
        ("attempts:1,2", 0, "filter.one_value", "attempts"),
        ("priority:high", 0, "filter.not_number", "lane:high"),
        ("error~a,b", 0, "filter.one_value", "error"),
        ("x " * 20_000, 20_000, "filter.too_long", "20000"),
        ("x " * 60, 100, "filter.too_many", "50"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_a_refusal_says_where_and_what_to_do(text: str, position: int, code: str, remedy: str) -> None:
    with pytest.raises(FilterError) as caught:
        terms(text)
    assert caught.value.position == position
    assert caught.value.message.code == code
    assert remedy in str(caught.value)
    assert "{" not in str(caught.value)


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
FREE = WORDS.filter(lambda text: "*" not in text[:-1])
INSTANTS = st.integers(at(2000, 1, 1), at(2099, 1, 1)).map(float)
ORDERED = st.sampled_from(["<", "<=", ">", ">="])


def one_of_words(field: str, words: tuple[str, ...]) -> st.SearchStrategy[Term]:
    chosen = st.lists(st.sampled_from(words), min_size=1, unique=True)
    return st.builds(lambda values, negated: is_(field, *values, negated=negated), chosen, st.booleans())


TERMS = st.one_of(
    one_of_words("status", tuple(status.value for status in Status)),
    one_of_words("lane", ("high", "normal", "low")),
    one_of_words("triage", tuple(triage.value for triage in Triage)),
    one_of_words("kind", classify.KINDS),
    one_of_words("gate", ("session", "quota", "quiet*", "home_node:desk-02", "home_node:*")),
    st.builds(
        lambda field, values, negated: is_(field, *values, negated=negated),
        st.sampled_from(["id", "shop", "platform", "type", "worker", "batch", "uniq"]),
        st.lists(WORDS, min_size=1, max_size=4, unique=True),
        st.booleans(),
    ),
    st.builds(
        has, st.sampled_from(["text", "error", "id", "shop", "type", "worker", "batch", "log"]), WORDS, st.booleans()
    ),
    st.builds(than, st.sampled_from(["created", "updated"]), ORDERED, INSTANTS, st.booleans()),
    st.builds(than, st.sampled_from(["attempts", "priority"]), ORDERED, st.integers(0, 999), st.booleans()),
    st.from_regex(r"[0-9a-f]{1,15}", fullmatch=True).map(lambda text: is_("fp", f"{text}*")),
)


@given(st.lists(TERMS, max_size=6).map(tuple), st.sampled_from(["", SHANGHAI, NEW_YORK]))
def test_terms_written_out_read_the_same(chosen: tuple[Term, ...], zone: str) -> None:
    text = format_terms(chosen, time_zone=zone)
    assert terms(text, zone) == chosen
    assert terms(text, SHANGHAI) == chosen


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_position(text: str) -> None:
    position = 0
    try:
        found = terms(text)
    except FilterError as exc:
        position, found = exc.position, ()
    assert 0 <= position <= len(text)
    assert terms(format_terms(found, time_zone=SHANGHAI)) == found


PIECES = [
    "status",
    "shop",
    "created",
    "age",
    ":",
    "~",
    "<",
    ">=",
    "-",
    '"',
    ",",
    "*",
    "dead",
    "1h",
    "2026-11-20",
    "\\",
    "：",
    " ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_pieces_of_the_grammar_in_any_order(text: str) -> None:
    test_any_text_is_read_or_refused_with_a_position.hypothesis.inner_test(text)


@pytest.mark.parametrize(
    "text", ['"' + "a" * 19_000, "status:" * 2_000, "a:" * 9_000, '"\\' * 9_000, "shop:" + "a," * 9_000]
)
def test_hostile_filters_are_answered_quickly(text: str) -> None:
    with pytest.raises(FilterError):
        terms(text)


def test_every_field_of_the_query_can_be_asked_for() -> None:
    known = {"id", "status", "shop", "platform", "type", "lane", "worker", "batch", "fp", "kind", "triage", "created",
             "updated", "age", "attempts", "priority", "error", "uniq", "gate", "text", "log", "was",
             "group"}  # fmt: skip
    assert set(filter.FIELDS) == known


def test_a_field_of_the_payload() -> None:
    text = 'payload.Order_Id:8841,88* PAYLOAD.to.city~杭州 -payload.订单号："a b" payload.amount>=-2.5'
    found = terms(text)
    assert found == (
        is_("payload.Order_Id", "8841", "88*"),
        has("payload.to.city", "杭州"),
        is_("payload.订单号", "a b", negated=True),
        than("payload.amount", ">=", -2.5),
    )
    assert terms(format_terms(found)) == found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("payload.password:x", "filter.secret"),
        ("payload.headers.Cookie~x", "filter.secret"),
        ("payload.amount>many", "filter.not_number"),
        ("payload:x", "filter.unknown_field"),
    ],
)
def test_a_field_of_the_payload_that_cannot_be_asked_for(text: str, code: str) -> None:
    with pytest.raises(FilterError) as refused:
        terms(text)
    assert refused.value.message.code == code


def test_what_was_at_a_moment() -> None:
    found = terms("was:waiting,dead@2026-11-20T03:12 -was:open@2026-11-20T03:12:00.500+08:00")
    assert [(one.field, set(one.values), one.negated) for one in found] == [
        ("was", {"pending", "queued", "blocked", "dead"}, False),
        ("was", {"open"}, True),
    ]
    assert found[1].number - found[0].number == 500
    assert terms(format_terms(found, time_zone=SHANGHAI)) == found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("was:dead", "filter.not_time"),
        ("was:dead@2026-11-20", "filter.not_time"),
        ("was:dead@", "filter.not_time"),
        ("was:gone@2026-11-20T03:12", "filter.unknown_word"),
        ("was>2026-11-20T03:12", "filter.operator"),
    ],
)
def test_what_was_needs_a_state_and_a_moment(text: str, code: str) -> None:
    with pytest.raises(FilterError) as refused:
        terms(text)
    assert refused.value.message.code == code


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("age>30m status:queued", True),
        ("created:today", True),
        ("created>=\u6628\u5929", True),
        ("-updated<now", True),
        ("created:2026-11-20 status:dead", False),
        ("status:queued", False),
        ("created:", False),
        ("", False),
    ],
)
def test_what_goes_by_the_clock_is_told_from_what_stays(text: str, moves: bool) -> None:
    assert by_clock(text) is moves
