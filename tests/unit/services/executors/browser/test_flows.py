"""Flows in real Chromium: what they bring home, how each kind of trouble is called, and what is left as evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.domain.text.mask import DOTS
from tests.unit.services.executors.browser.conftest import Desk

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

DESK = "/desk/pdd/s1"
LOGIN: tuple[dict[str, Any], ...] = (
    {"do": "goto", "url": f"{DESK}/orders"},
    {
        "do": "if_visible",
        "selector": ".login-form",
        "then": [
            {"do": "fill", "selector": "[name=user]", "value": "{{payload.user}}"},
            {"do": "fill", "selector": "[name=password]", "value": "{{secret.password}}"},
            {"do": "click", "selector": "button"},
            {"do": "wait_for", "url": "/desk/*/orders", "selector": "table.orders"},
        ],
    },
)


def result(outcome: Any) -> dict[str, Any]:
    """What a flow brought home."""
    assert outcome.ok, outcome.error
    return json.loads(outcome.result)


def test_a_shop_logs_in_pages_through_its_orders_and_brings_everything_home(desk: Desk) -> None:
    take = {"do": "extract", "as": "orders", "selector": "table.orders", "what": "table", "append": True}
    found = result(
        desk.run(
            *LOGIN,
            take,
            {
                "do": "if_visible",
                "selector": "a.next",
                "repeat": 20,
                "then": [{"do": "click", "selector": "a.next"}, take],
            },
            {"do": "download", "selector": "a.export", "name": "export"},
            {"do": "goto", "url": f"{DESK}/stats"},
            {"do": "extract", "as": "numbers", "selector": "table.stats", "what": "table"},
            {
                "do": "extract",
                "as": "buttons",
                "selector": "header a",
                "what": "attribute",
                "attribute": "href",
                "all": True,
            },
            {"do": "screenshot", "name": "figures", "full_page": True},
            platform="pdd",
            user="me",
        )
    )
    orders = desk.lab.front.catalogue.orders("pdd", "s1")
    assert sorted(row["No."] for row in found["orders"]) == sorted(order["order_no"] for order in orders)
    assert sum(int(row["Orders"]) for row in found["numbers"]) == len(orders)
    assert found["buttons"] == [f"{DESK}/orders", f"{DESK}/stats"]
    assert desk.files["orders-s1.csv"][0].count(b"\n") == len(orders) + 1
    assert desk.files["orders-s1.csv"][1:] == ("download", "export")
    assert desk.files["figures.png"][0].startswith(b"\x89PNG")
    assert desk.files["figures.png"][1:] == ("image", "figures")
    assert desk.files["orders.csv"][0].count(b"\n") == len(orders) + 1
    assert len(desk.listener.shown) == 9

    # the shop gets its browser back, still logged in; another shop has one of its own and is not
    page = result(desk.run(kind="screenshot", platform="pdd", url=f"{DESK}/orders"))
    assert page["title"] == "s1"
    assert desk.files["screenshot.png"][1] == "image"
    stranger = desk.run(kind="get_content", platform="pdd", shop="s2", url=f"{DESK}/orders")
    assert stranger.error_kind == "login_expired"


def test_every_other_kind_of_step(desk: Desk) -> None:
    found = result(
        desk.run(
            {"do": "goto", "url": "/form"},
            {"do": "select", "selector": "#one", "value": "b"},
            {"do": "extract", "as": "chosen", "selector": "#one", "what": "value"},
            {"do": "scroll", "to": "bottom"},
            {"do": "scroll", "by": -100},
            {"do": "scroll", "selector": "#low"},
            {"do": "sleep", "seconds": 0.01},
            {"do": "goto", "url": "/echo"},
            {"do": "fill", "selector": "#field", "value": "ab"},
            {"do": "press", "selector": "#field", "key": "Backspace"},
            {"do": "assert_text", "selector": "p", "text": "a", "match": "equals"},
            {"do": "goto", "url": "/upload"},
            {"do": "upload", "selector": "#file", "file": "prices.csv"},
            {"do": "assert_text", "text": "prices.csv"},
            {"do": "upload", "selector": "#file", "file": "made.txt", "text": "for {{payload.who}}"},
            {"do": "extract", "as": "file", "selector": "p"},
            {"do": "goto", "url": "/popup"},
            {"do": "click", "selector": "#open"},
            {"do": "extract", "as": "second", "selector": "#second"},
            {"do": "extract", "as": "where", "what": "url"},
            {"do": "if_visible", "selector": "#gone", "then": [{"do": "click", "selector": "#gone"}], "else": [
                {"do": "extract", "as": "rows", "what": "count", "selector": "p"}
            ]},
            who="you",
        )
    )  # fmt: skip
    assert found.pop("where").endswith("/second")
    assert found == {"chosen": "b", "file": "made.txt", "second": "second page", "rows": 1}


@pytest.mark.parametrize("high", [70_000, 3_000_000])
def test_a_page_too_high_for_one_picture_is_kept_as_far_as_one_goes(desk: Desk, high: int) -> None:
    outcome = desk.run({"do": "goto", "url": f"/tall?{high}"}, {"do": "screenshot", "name": "all", "full_page": True})
    assert outcome.ok, outcome.error
    kept = int.from_bytes(desk.files["all.png"][0][20:24])
    assert kept in (60_000, 16_384), "where a picture is cut; the second where Chromium has no memory for the first"
    said = f"the page is {high} pixels high; the picture shows the first {kept} of them"
    assert [line for line in desk.listener.out() if "the picture shows" in line] == [said]


def test_a_page_that_no_picture_can_be_taken_of_is_named_by_its_size(desk: Desk) -> None:
    outcome = desk.run({"do": "goto", "url": "/wide"}, {"do": "screenshot", "name": "all", "full_page": True})
    assert (outcome.ok, outcome.error_kind) == (False, "unknown")
    assert "Chromium takes no picture of a page of 3000000 × " in outcome.error
    assert desk.files["all.png"][0][16:20] == (1366).to_bytes(4), "what was to be seen is kept"


def test_a_dialog_is_dismissed_and_noted(desk: Desk) -> None:
    assert desk.run({"do": "goto", "url": "/dialog"}, {"do": "wait_for", "selector": "#after"}).ok
    assert any("are you there?" in line for line in desk.listener.out())


def test_a_failed_step_leaves_picture_page_and_console_under_its_name(desk: Desk) -> None:
    missing = {
        "do": "click",
        "name": "press send",
        "selector": "#send",
        "timeout_s": 0.3,
        "retries": 1,
        "retry_wait_s": 0,
    }
    outcome = desk.run({"do": "goto", "url": "/links"}, missing | {"retry_wait_s": 0})
    assert outcome.error_kind == "element_not_found"
    assert outcome.error.startswith("step 2 press send: waiting for selector #send")
    assert desk.files["press send.png"][0].startswith(b"\x89PNG")
    assert {step for _, _, step in desk.files.values()} == {"press send"}
    assert b"<a id" in desk.files["press send.html"][0]
    assert b"hello from the page" in desk.files["console.txt"][0]
    assert any("trying again" in text for _, text in desk.listener.lines)


def test_no_secret_leaves_in_any_form(desk: Desk) -> None:
    steps = (
        {"do": "goto", "url": "/echo"},
        {"do": "fill", "selector": "#field", "value": "{{secret.pin}}"},
        {"do": "extract", "as": "said", "selector": "p"},
        {"do": "extract", "as": "html", "selector": "p", "what": "html"},
    )
    assert result(desk.run(*steps)) == {"said": DOTS, "html": DOTS}
    failing = (
        {"do": "goto", "url": "/echo?{{secret.pin}}"},
        *steps[1:],
        {"do": "assert_text", "text": "{{secret.pin}}!", "timeout_s": 0.3},
    )
    outcome = desk.run(*failing)
    assert outcome.error_kind == "element_not_found"
    told = [outcome.error, *(text for _, text in desk.listener.lines), *(note for _, note in desk.listener.shown)]
    told += [content.decode("utf-8", "replace") for content, kind, _ in desk.files.values() if kind != "image"]
    assert len(told) > 3
    for form in ('a"b<c&d 9', "a&quot;b", 'a"b&lt;c', "a%22b"):
        assert not [text for text in told if form in text], form


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        ([{"do": "goto", "url": "http://127.0.0.1:9/"}], "network", "net::ERR_"),
        ([{"do": "goto", "url": "http://no-such-host.invalid/"}], "network", "host name is unknown"),
        ([{"do": "goto", "url": "/loop"}], "network", "redirects for ever"),
        ([{"do": "goto", "url": "/status/503"}], "network", "answered 503"),
        ([{"do": "goto", "url": "/status/429"}], "rate_limited", "answered 429"),
        ([{"do": "goto", "url": "/hang", "timeout_s": 0.5}], "timeout", "did not load within 0.5 s"),
        ([{"do": "goto", "url": "file:///etc/passwd"}], "bad_payload", "addresses with file: are not opened"),
        ([{"do": "goto", "url": "chrome://version"}], "bad_payload", "addresses with chrome: are not opened"),
        ([{"do": "goto", "url": "data:text/html,x"}], "bad_payload", "addresses with data: are not opened"),
        ([{"do": "goto", "url": "{{payload.evil}}"}], "bad_payload", "addresses with file: are not opened"),
        ([{"do": "goto", "url": "/to-file"}], "bad_payload", "not opened"),
        ([{"do": "goto", "url": "/big"}], "bad_payload", "/big is a file to download and no page"),
        ([{"do": "click", "selector": "[[["}], "bad_payload", "cannot be read"),
        ([{"do": "fill", "selector": "#x", "value": "{{secret.nobody}}"}], "missing_secret", "no secret nobody"),
        ([{"do": "upload", "selector": "#x", "file": "none.csv"}], "bad_payload", "not in the upload folder"),
        ([{"do": "click", "selector": "#x", "timeout_s": 0.2, "fails_as": "captcha"}], "captcha", "#x"),
        (
            [{"do": "goto", "url": "/links"}, {"do": "download", "selector": "#big"}],
            "bad_payload",
            "larger than 1 MB",
        ),
    ],
)  # fmt: skip
def test_each_trouble_has_its_kind(desk: Desk, steps: list[dict[str, Any]], kind: str, words: str) -> None:
    outcome = desk.run(*steps, evil="file:///etc/shadow")
    assert not outcome.ok
    assert outcome.error_kind == kind, outcome.error
    assert words in outcome.error


def test_what_a_foreign_producer_sent_is_checked_before_it_runs(desk: Desk) -> None:
    outcome = desk.run({"do": "click"})
    assert (outcome.error_kind, outcome.error) == ("bad_payload", "steps[0].selector: is missing")
