"""What a cause is called."""

from __future__ import annotations

import pytest

from services.domain.insight import cause
from services.messages import english


@pytest.mark.parametrize(
    ("kind", "error", "named"),
    [
        ("element_not_found", "SelectorNotFound: .order-list__row (waiting for selector /orders)", ".order-list__row"),
        ("element_not_found", "waiting for selector #pay .btn: nothing fit within 5 s", "#pay .btn"),
        ("element_not_found", "Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('#sum')\n", "#sum"),
        ("element_not_found", "NoSuchElementException: element .order-list__row not found", ".order-list__row"),
        (
            "element_not_found",
            'no such element: Unable to locate element: {"method":"css selector","selector":".total"}',
            ".total",
        ),
        ("element_not_found", "未找到元素：.订单列表，请检查页面", ".订单列表"),
        ("element_not_found", "选择器 '.goods-table .row' 未找到，已等待 30 秒（第 3 页）", ".goods-table .row"),
        ("element_not_found", "the page is not as it was", ""),
        ("bad_payload", "BadPayload: invalid parameter: since must be a date", "since"),
        ("bad_payload", "ValidationError: 'goods_ids' is a required property", "goods_ids"),
        ("bad_payload", "payload.order_id is missing and the request needs it", "order_id"),
        ("bad_payload", "since: must be a date, such as 2026-11-22", "since"),
        ("missing_secret", "there is no secret pdd:1/password on this worker", "pdd:1/password"),
        ("unknown_type", "no handler for sync_orderz", "sync_orderz"),
        ("network", "page.goto: net::ERR_TUNNEL_CONNECTION_FAILED at https://x.test/", "ERR_TUNNEL_CONNECTION_FAILED"),
        ("timeout", "TimeoutError: 60 s", ""),
        ("unknown", "StockError: nothing left of G0003", "StockError"),
        ("unknown", "Traceback: ZeroDivisionError: division by zero", "ZeroDivisionError"),
    ],
)
def test_an_error_names_what_was_missed(kind: str, error: str, named: str) -> None:
    assert cause.pattern(kind, error) == named


def test_a_cause_is_titled_by_its_pattern() -> None:
    assert english(cause.title("element_not_found", [".a"])) == "Page element missing: .a"
    assert english(cause.title("element_not_found", [".a", ".b", ".c"])) == "Page element missing: .a, .b +1"
    assert english(cause.title("element_not_found")) == "Page element missing"
    assert english(cause.title("bad_payload", ["since"])) == "Parameters refused: field “since”"
    assert english(cause.title("login_expired")) == "Seller login expired"
    assert english(cause.title("unknown", ["StockError"])) == "StockError"
    assert english(cause.title("", [])) == "Unknown error"


def test_the_most_frequent_pattern_comes_first() -> None:
    errors = [("element_not_found", f"waiting for selector {name}: nothing") for name in ("#a", "#b", "#b")]
    assert cause.patterns(errors) == ("#b", "#a")


def test_an_endless_selector_is_cut() -> None:
    error = f"waiting for selector .{'x' * 180}: nothing"
    assert len(cause.pattern("element_not_found", error)) == cause.PATTERN_LIMIT


@pytest.mark.parametrize(
    ("kind", "scope", "shops", "elsewhere", "pause"),
    [
        ("network", "shop", ["pdd:s1"], True, "shop:pdd:s1"),
        ("element_not_found", "platform", ["pdd:s1", "pdd:s2"], True, "platform:pdd"),
        ("element_not_found", "platform", ["pdd:s1", "pdd:s2"], False, "type:sync"),
        ("element_not_found", "all", ["pdd:s1", "temu:s2"], False, "type:sync"),
        ("element_not_found", "some", ["pdd:s1", "temu:s2"], True, ""),
        ("network", "platform", ["pdd:s1", "pdd:s2"], True, ""),
    ],
)
def test_the_pause_of_a_cause_is_no_wider_than_it_reaches(
    kind: str, scope: str, shops: list[str], elsewhere: bool, pause: str
) -> None:
    platforms = sorted({shop.partition(":")[0] for shop in shops})
    assert cause.pause_scope(kind, "sync", scope, shops, platforms, elsewhere=elsewhere) == pause


def seen(**changes: object) -> cause.Evidence:
    values: dict[str, object] = {"kind": "element_not_found", "letters": 51, "shops": 9, "died_at": 100}
    return cause.Evidence(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "level", "code"),
    [
        ({}, cause.AGAIN, "worth.page"),
        ({"type_changed": True}, cause.UNKNOWN, "worth.type_changed"),
        ({"success_at": 99}, cause.AGAIN, "worth.page"),
        ({"success_at": 101}, cause.NOW, "worth.succeeded_since"),
        ({"kind": "timeout"}, cause.UNKNOWN, "worth.unknown"),
        ({"kind": "timeout", "success_at": 101}, cause.NOW, "worth.succeeded_since"),
        ({"kind": "network", "failed_again": 3, "failed_at": 120}, cause.AGAIN, "worth.failed_again"),
        ({"failed_again": 3, "failed_at": 120, "edited": 1}, cause.AGAIN, "worth.edited_again"),
        ({"failed_again": 3, "failed_at": 120, "success_at": 121}, cause.NOW, "worth.succeeded_since"),
        ({"passed": 3, "passed_at": 120}, cause.NOW, "worth.passed"),
        ({"passed": 3, "passed_at": 99}, cause.AGAIN, "worth.page"),
        ({"kind": "network", "passed": 3, "passed_at": 120, "failing": 4}, cause.WAIT, "worth.failing"),
        ({"kind": "network", "success_at": 101, "failing": 1}, cause.WAIT, "worth.failing"),
        ({"failing": 2}, cause.AGAIN, "worth.failing"),
        ({"failed_again": 60, "failed_at": 120, "older": True}, cause.AGAIN, "worth.failed_again_last"),
        ({"failed_again": 60, "failed_at": 120, "edited": 1, "older": True}, cause.AGAIN, "worth.edited_again_last"),
        ({"failing": 2, "older": True}, cause.AGAIN, "worth.failing_last"),
        ({"passed": 60, "passed_at": 120, "older": True}, cause.NOW, "worth.passed_last"),
        ({"kind": "timeout", "older": True}, cause.UNKNOWN, "worth.unknown"),
        ({"kind": "network", "tries": 2}, cause.AGAIN, "worth.letter_again"),
        ({"kind": "login_expired", "closed": 9}, cause.LOGIN, "worth.login"),
        ({"kind": "captcha", "closed": 9}, cause.LOGIN, "worth.captcha"),
        ({"kind": "timeout", "closed": 9, "success_at": 101}, cause.LOGIN, "worth.login"),
        ({"kind": "login_expired"}, cause.UNKNOWN, "worth.login_unknown"),
        ({"kind": "login_expired", "opened": 9}, cause.NOW, "worth.logged_in"),
        ({"kind": "bad_payload"}, cause.AGAIN, "worth.flow_refused"),
        ({"kind": "bad_payload", "refused": 51, "refused_field": "since"}, cause.AGAIN, "worth.refused"),
        ({"kind": "timeout", "refused": 51, "success_at": 101}, cause.AGAIN, "worth.refused"),
        ({"kind": "unknown_type", "type_known": False}, cause.AGAIN, "worth.no_type"),
        ({"kind": "unknown_type"}, cause.NOW, "worth.type_known"),
        ({"kind": "unknown_type", "type_before": True}, cause.UNKNOWN, "worth.no_flow"),
        ({"kind": "missing_secret"}, cause.AGAIN, "worth.secret"),
        ({"kind": "expired"}, cause.UNKNOWN, "worth.expired"),
        ({"kind": "bad_message"}, cause.AGAIN, "worth.unreadable"),
        ({"kind": "bad_payload", "unread": True, "success_at": 101}, cause.AGAIN, "worth.unreadable"),
        ({"kind": "id_conflict", "unread": True}, cause.AGAIN, "worth.id_conflict"),
        ({"kind": "id_conflict"}, cause.AGAIN, "worth.id_conflict"),
        ({"kind": "unknown"}, cause.UNKNOWN, "worth.unknown"),
    ],
)
def test_whether_letters_would_pass_now(changes: dict[str, object], level: str, code: str) -> None:
    found = cause.worth(seen(**changes))
    assert (found.level, found.code) == (level, code)
    assert "{" not in english(found.message)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"failed_at": 120, "failed_again": 2, "otherwise": 1}, "2 of 3 that were republished died of it again"),
        ({"passed_at": 120, "passed": 47, "failed_again": 2, "otherwise": 1}, "47 of 50 that were republished"),
        ({"failing": 1, "passed": 1, "otherwise": 2}, "1 of 4 that were republished fail again so far"),
    ],
)
def test_what_ended_in_another_way_was_republished_too(changes: dict[str, object], words: str) -> None:
    assert english(cause.worth(seen(**changes)).message).startswith(words)


def test_what_does_not_hold_for_all_is_said_beside_it() -> None:
    found = cause.worth(seen(kind="login_expired", opened=7, closed=2))
    assert found.level == cause.NOW
    assert found.but is not None
    assert english(found.but) == "2 of 9 shops need a login first."


def test_only_what_is_worth_it_goes_without_a_probe() -> None:
    assert not cause.worth(seen(success_at=101)).probe_first
    assert cause.worth(seen()).probe_first
