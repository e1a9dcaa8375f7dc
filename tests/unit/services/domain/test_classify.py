"""Kinds of failure, read from the texts that flows and libraries really print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.task import classify

TEXTS = [
    ("NetworkError: connect to api.example:443 timed out after 10000 ms", "network"),
    ("ConnectionError: the other side is gone", "network"),
    ("TimeoutError: the page took 30 s", "timeout"),
    ("BadPayload: unknown goods_id", "bad_payload"),
    ("登录已过期，请重新登录", "login_expired"),
    ("店铺未登录", "login_expired"),
    ("cookie已失效", "login_expired"),
    ("LoginError: session expired for shop017", "login_expired"),
    ("Error: redirected to login page", "login_expired"),
    ("出现滑块验证码", "captcha"),
    ("Captcha required before continuing", "captcha"),
    ("触发风控，请稍后再试", "risk_control"),
    ("The account has been suspended", "risk_control"),
    ("操作频繁，请稍后再试", "rate_limited"),
    ("HTTP 429 Too Many Requests", "rate_limited"),
    ("NoSuchElementException: no such element: .order-row", "element_not_found"),
    ("ElementNotFound: #orders", "element_not_found"),
    ("flows.errors.ElementNotFoundError", "element_not_found"),
    ("页面元素未找到: #submit", "element_not_found"),
    ("找不到“发货”按钮", "element_not_found"),
    ("选择器 '.goods-table .ant-table-row' 未找到，已等待 30 秒（第 3 页）", "element_not_found"),
    ('TimeoutError: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator("#a")', "element_not_found"),
    ("requests.exceptions.ConnectionError: Max retries exceeded with url: /x", "network"),
    ("Error: net::ERR_CONNECTION_RESET at https://mms.pinduoduo.com", "network"),
    ("socket.gaierror: [Errno -2] Name or service not known", "network"),
    ("connect ECONNREFUSED 127.0.0.1:9222", "network"),
    ("网络异常，请检查网络", "network"),
    ("TimeoutError: timed out", "timeout"),
    ("执行超时（600秒）", "timeout"),
    ("参数错误：缺少 since", "bad_payload"),
    ("ValueError: 参数 low_stock 必须是整数", "bad_payload"),
    ("参数“page_size”不能大于 100", "bad_payload"),
    ("ValueError: missing required parameter since", "bad_payload"),
    ("unknown flow: pdd_sync_ordr", "unknown_type"),
    ("流程 pdd_sync_ordr 不存在", "unknown_type"),
    ("Error: browserType.launch: Executable doesn't exist at /x/chrome", "no_browser"),
    ("浏览器启动失败", "no_browser"),
    ("missing secret shop017/password", "missing_secret"),
    ("MemoryError", "crashed"),
    ("Segmentation fault (core dumped)", "crashed"),
    ("程序崩溃", "crashed"),
    ("KeyError: 'orders'", "unknown"),
    ("OSError: [Errno 22] Invalid argument", "unknown"),
    ("", "unknown"),
]


@pytest.mark.parametrize(("text", "kind"), TEXTS, ids=[text[:30] for text, _ in TEXTS])
def test_kind_of_a_text(text: str, kind: str) -> None:
    assert classify.classify(text) == kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [(-9, "crashed"), (-11, "crashed"), (137, "crashed"), (139, "crashed"), (124, "timeout"), (0xC0000005, "crashed"),
     (1, "unknown"), (0, "unknown"), (None, "unknown"), (127, "unknown"), (255, "unknown")],
)  # fmt: skip
def test_a_silent_end_is_judged_by_its_code(code: int | None, kind: str) -> None:
    assert classify.classify("", code) == kind


def test_the_last_error_counts_not_the_noise_before_it() -> None:
    text = "warning: connection reset, trying again\nwarning: connection reset, trying again\nError: 登录已过期"
    assert classify.classify(text, 1) == "login_expired"


def test_every_kind_in_the_table_is_known() -> None:
    assert {kind for _, kind in TEXTS} <= set(classify.KINDS)
    assert set(classify.KINDS) >= classify.PERMANENT
    assert not classify.PERMANENT & {"timeout", "network", "crashed", "worker_lost", "unknown", "no_browser"}


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nValueError: bad',
            "ValueError: bad",
        ),
        ("Error: first\n    at f (x.js:1:2)\n    at g (x.js:3:4)", "Error: first"),
        ("TimeoutError: Timeout 3ms exceeded.\nCall log:\n  - waiting for x", "TimeoutError: Timeout 3ms exceeded."),
        ("步骤一\n同步失败：订单为空\n\n", "同步失败：订单为空"),
        ("plain\nlast words\n   ", "last words"),
        ("\x1b[31mError: red\x1b[0m", "Error: red"),
        ("a\u202eb", "ab"),
        ("=====\n-----", "-----"),
        ("", ""),
    ],
)
def test_headline(error: str, line: str) -> None:
    assert classify.headline(error) == line


@given(st.text())
def test_any_text_has_a_kind_and_a_short_headline(text: str) -> None:
    assert classify.classify(text) in classify.KINDS
    line = classify.headline(text)
    assert len(line) <= classify.HEADLINE_LIMIT
    assert "\n" not in line
    assert "\x1b" not in line


@pytest.mark.parametrize("text", ["a" * 200_000, "element " * 30_000, "\x1b]" * 50_000, "A." * 50_000, "( " * 100_000])
def test_hostile_texts_are_judged_quickly(text: str) -> None:
    assert classify.classify(text) in classify.KINDS
    assert len(classify.headline(text)) <= classify.HEADLINE_LIMIT
