"""The sample flows: real processes that fetch over HTTP and write SQLite; what they leave equals what was served."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from services.domain.task import classify
from tests.unit.resources.sample_fleet import Fleet, finish, launch

PDD = "pdd-10021"


def test_sync_order_leaves_exactly_what_was_served(fleet: Fleet) -> None:
    first = fleet.run("pdd_sync_order", PDD, page_size=20, task_id="one")
    assert (first.code, first.stderr) == (0, "")
    truth = fleet.truth("pdd", PDD)
    assert fleet.stored("pdd", PDD) == truth
    assert first.result == {"orders": len(truth), "new": len(truth), "changed": 0, "pages": -(-len(truth) // 20)}
    again = fleet.run("pdd_sync_order", PDD, task_id="two")
    assert (again.result["new"], again.result["changed"]) == (0, 0)
    assert fleet.stored("pdd", PDD) == truth


def test_sync_order_brings_changes(fleet: Fleet) -> None:
    fleet.run("pdd_sync_order", PDD)
    before = {order["order_no"]: order for order in fleet.truth("pdd", PDD)}
    fleet.ask("/_control", {"shop": f"pdd:{PDD}", "advance": 2})
    result = fleet.run("pdd_sync_order", PDD, since="2026-11-21").result
    truth = fleet.truth("pdd", PDD)
    assert fleet.stored("pdd", PDD) == truth
    assert result["new"] == 6
    changed = [order for order in truth if before.get(order["order_no"], order) != order]
    assert result["changed"] == len(changed) > 0


def test_progress_and_log_are_live_lines(fleet: Fleet) -> None:
    run = fleet.run("pdd_sync_order", PDD, page_size=20)
    progress = [json.loads(line)["progress"] for line in run.lines if line.startswith('{"progress"')]
    assert progress == sorted(progress)
    assert progress[-1] == 100
    assert run.lines[0] == f"[pdd:{PDD}] sync_order as profile {PDD}, port 9222"
    assert run.lines[-1].startswith('{"result"')


def test_two_runs_of_one_shop_at_the_same_time(fleet: Fleet) -> None:
    runs = [fleet.start("pdd_sync_order", PDD, page_size=5, task_id=f"t{number}") for number in range(2)]
    assert [finish(run).code for run in runs] == [0, 0]
    assert fleet.stored("pdd", PDD) == fleet.truth("pdd", PDD)


def test_many_processes_on_one_new_file(fleet: Fleet) -> None:
    shops = [
        ("pdd", PDD),
        ("pdd", PDD),
        ("temu", "temu-20117"),
        ("tiktok", "tts-30042"),
        ("pdd", "pdd-10025"),
        ("x", "y"),
    ]
    runs = [fleet.start(f"{platform}_sync_order", shop, page_size=10) for platform, shop in shops]
    assert [(run.code, run.stderr) for run in map(finish, runs)] == [(0, "")] * 6
    for platform, shop in set(shops):
        assert fleet.stored(platform, shop) == fleet.truth(platform, shop)


@pytest.mark.parametrize(
    ("trouble", "reason", "kind"),
    [
        ("login_expired", "LoginExpired: redirected to /login", classify.LOGIN_EXPIRED),
        ("captcha", "Captcha: slider wanted at /captcha", classify.CAPTCHA),
        ("risk_control", "RiskControl: account restricted by the platform (HTTP 403)", classify.RISK_CONTROL),
        ("rate_limited", "HTTP 429 from open API, retry after 7 s", classify.RATE_LIMITED),
        ("unavailable", "HTTP 503 from open API", classify.NETWORK),
        (
            "selector",
            "SelectorNotFound: .order-list__row (waiting for selector on /pdd/pdd-10021/orders)",
            classify.ELEMENT_NOT_FOUND,
        ),
        ("reset", "ConnectionError: connection reset by peer at /pdd/pdd-10021/orders", classify.NETWORK),
        ("hang", "TimeoutError: page.goto /pdd/pdd-10021/orders exceeded 0.3 s", classify.TIMEOUT),
    ],
)
def test_trouble_is_told_by_exit_code_and_stderr(fleet: Fleet, trouble: str, reason: str, kind: str) -> None:
    fleet.trouble(f"pdd:{PDD}", trouble)
    run = fleet.run("pdd_sync_order", PDD, page_timeout=0.3 if trouble == "hang" else 30)
    assert (run.code, run.reason) == (1, reason)
    assert classify.classify(run.stderr, run.code) == kind
    fleet.trouble(f"pdd:{PDD}", "none")
    assert fleet.run("pdd_sync_order", PDD).code == 0
    assert fleet.stored("pdd", PDD) == fleet.truth("pdd", PDD)


def test_a_slow_page_is_late_but_right(fleet: Fleet) -> None:
    fleet.trouble(f"pdd:{PDD}", "slow")
    assert fleet.run("pdd_sync_order", PDD).code == 0
    assert fleet.stored("pdd", PDD) == fleet.truth("pdd", PDD)


def test_a_poisoned_page_fails_half_way_and_again(usual_fleet: Fleet) -> None:
    for _ in range(2):
        run = usual_fleet.run("pdd_sync_order", "pdd-10139", page_size=20)
        assert run.code == 1
        assert run.reason.startswith("SelectorNotFound: .order-list__row .order-no (waiting for selector in row ")
        assert run.reason.endswith(" of page 2)")
        assert len(usual_fleet.stored("pdd", "pdd-10139")) == 20
    assert usual_fleet.run("pdd_get_content", "pdd-10139").code == 0
    usual_fleet.trouble("pdd:pdd-10139", "none")
    assert usual_fleet.run("pdd_sync_order", "pdd-10139").code == 0
    assert usual_fleet.stored("pdd", "pdd-10139") == usual_fleet.truth("pdd", "pdd-10139")


def test_nobody_answers(fleet: Fleet) -> None:
    fleet.url = "http://127.0.0.1:1"
    run = fleet.run("pdd_sync_order", PDD)
    assert run.code == 1
    assert run.reason.startswith("ConnectionError: ")
    assert classify.classify(run.stderr, run.code) == classify.NETWORK


def test_the_flow_has_a_time_limit_of_its_own(fleet: Fleet) -> None:
    fleet.trouble(f"pdd:{PDD}", "hang")
    run = fleet.run("pdd_sync_order", PDD, timeout="0.4")
    assert (run.code, run.reason) == (1, f"TimeoutError: flow not finished in time, was at /pdd/{PDD}/orders")


def test_the_failing_page_is_kept(fleet: Fleet) -> None:
    fleet.trouble(f"pdd:{PDD}", "captcha")
    fleet.run("pdd_sync_order", PDD, task_id="t1", screenshot_on_failure=False)
    assert not (fleet.folder / "out").exists()
    fleet.run("pdd_sync_order", PDD, task_id="t1")
    assert "captcha-slider" in (fleet.folder / "out" / "t1.failed.html").read_text(encoding="utf-8")
    assert (fleet.folder / "out" / "t1.failed.sketch.png").stat().st_size > 100


def test_goods_flows_share_one_table(fleet: Fleet) -> None:
    served = fleet.ask("/api/temu/temu-20117/goods?page_size=100")["goods"]
    assert fleet.run("temu_single_product", "temu-20117", goods_id="G0003").result["goods_id"] == "G0003"
    assert [row["goods_id"] for row in fleet.rows("SELECT goods_id FROM goods")] == ["G0003"]
    assert fleet.run("temu_refresh_goods", "temu-20117").result["goods"] == len(served)
    crawl = fleet.run("temu_shop_crawl", "temu-20117", max_products=5)
    assert crawl.result == {"pages": 7, "goods": 5}
    kept = fleet.rows("SELECT goods_id, title, price_cents, stock FROM goods ORDER BY goods_id")
    assert [tuple(row) for row in kept] == [(g["goods_id"], g["title"], g["price_cents"], g["stock"]) for g in served]


def test_many_products_a_search_and_all_at_once(fleet: Fleet) -> None:
    served = fleet.ask("/api/temu/temu-20117/goods?page_size=100")["goods"]
    some = fleet.run("temu_batch_products", "temu-20117", goods_ids=["G0003", "G0001"])
    assert some.result["goods"] == 2
    assert [row["goods_id"] for row in fleet.rows("SELECT goods_id FROM goods ORDER BY goods_id")] == ["G0001", "G0003"]
    word = served[2]["title"].split()[0]
    found = fleet.run("temu_search_keywords", "temu-20117", keywords=[word.upper(), "no such thing"]).result["found"]
    assert {"goods_id": served[2]["goods_id"], "place": 3} in found[word.upper()]
    assert found["no such thing"] == []
    both = fleet.run("temu_full_sync", "temu-20117").result
    assert (both["orders"], both["goods"]) == (len(fleet.truth("temu", "temu-20117")), len(served))
    assert fleet.stored("temu", "temu-20117") == fleet.truth("temu", "temu-20117")
    assert fleet.run("temu_batch_products", "temu-20117", goods_ids=[]).code == 1


def test_batch_reply_answers_again_when_run_again(fleet: Fleet) -> None:
    waiting = [message["message_id"] for message in fleet.ask(f"/api/pdd/{PDD}/messages")["messages"]]
    assert fleet.run("pdd_batch_reply", PDD, text="亲 {buyer}，今天发货").result == {
        "replied": len(waiting),
        "messages": waiting,
    }
    fleet.run("pdd_batch_reply", PDD, text="hi", message_ids=waiting[:1])
    replies = fleet.ask("/_control")["replies"][f"pdd:{PDD}"]
    assert replies == {message: 2 if message == waiting[0] else 1 for message in waiting}


@pytest.mark.parametrize(("task_type", "suffix"), [("screenshot", "screenshot"), ("get_content", "content")])
def test_pages_are_kept_as_files(fleet: Fleet, task_type: str, suffix: str) -> None:
    url = f"{fleet.url}/pdd/{PDD}/orders"
    run = fleet.run(f"pdd_{task_type}", PDD, task_id="../a/b", url=url, wait_for=".order-list__row")
    page, sketch = (json.loads(line) for line in run.lines if line.startswith('{"artifact"'))
    path, drawn = Path(page["artifact"]), Path(sketch["artifact"])
    assert (path.parent, page["name"], page["kind"]) == (fleet.folder / "out", f"{suffix}.html", "html")
    assert run.result == {"url": url, "bytes": path.stat().st_size}, "no path of this machine stands in a result"
    assert "order-list__row" in path.read_text(encoding="utf-8")
    assert (sketch["kind"], drawn.read_bytes()[:8]) == ("image", b"\x89PNG\r\n\x1a\n")
    assert sorted(path.parent.iterdir()) == sorted([path, drawn])


def test_a_welcome_is_sent_once_for_good(fleet: Fleet) -> None:
    buyers = {buyer["email"] for buyer in fleet.ask(f"/api/pdd/{PDD}/buyers")["buyers"]}
    runs = [fleet.start("pdd_send_welcome_email", PDD, language="zh_CN", task_id=f"t{number}") for number in range(3)]
    results = [finish(run).result for run in runs]
    assert sum(result["sent"] for result in results) == len(buyers) > 0
    assert {row["address"] for row in fleet.rows("SELECT address FROM outbox")} == buyers
    assert len(fleet.rows("SELECT * FROM outbox")) == len(buyers)


@pytest.mark.parametrize(
    ("flow", "param"),
    [
        ("pdd_sync_order", {"page_size": 0}),
        ("pdd_sync_order", {"page_size": True}),
        ("pdd_sync_order", {"since": "yesterday"}),
        ("pdd_sync_order", {"since": "2026-13-20"}),
        ("pdd_sync_order", {"status": "paid"}),
        ("pdd_single_product", {}),
        ("pdd_single_product", {"goods_id": "G9999"}),
        ("pdd_batch_reply", {"text": "  "}),
        ("pdd_get_content", {"url": "https://elsewhere.example/"}),
        ("pdd_send_welcome_email", {"template": "spam"}),
    ],
)
def test_bad_payload_is_said_and_changes_nothing(fleet: Fleet, flow: str, param: dict[str, object]) -> None:
    run = fleet.run(flow, PDD, **param)
    assert run.code == 1
    assert run.reason.startswith("BadPayload: invalid parameter: ")
    assert classify.classify(run.stderr, run.code) == classify.BAD_PAYLOAD
    assert not fleet.database.exists() or not fleet.rows("SELECT * FROM orders")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ([], "wrong command"),
        (["run", "--flow"], "wrong command"),
        (["run", "--flow", "pdd_nothing", "--param", "{}"], "unknown flow 'pdd_nothing'"),
        (["run", "--flow", "sync_order", "--param", "{}"], "unknown flow 'sync_order'"),
        (["run", "--flow", "pdd_sync_order", "--speed", "9"], "unknown option --speed"),
        (["run", "--flow", "pdd_sync_order", "--param", "{"], "invalid parameter: --param is not JSON"),
        (
            ["run", "--flow", "pdd_sync_order", "--param", '{"shop_id": "a/b"}'],
            "invalid parameter: --param is not a JSON",
        ),
        (["run", "--flow", "pdd_sync_order", "--param", '{"shop_id": "a"}'], "FLEETDECK_SAMPLE_URL is not set"),
    ],
)
def test_wrong_usage_is_exit_code_2(command: list[str], reason: str) -> None:
    run = finish(
        launch(command, {name: text for name, text in os.environ.items() if not name.startswith("FLEETDECK_")})
    )
    assert run.code == 2
    assert run.reason.startswith(reason)


def test_unknown_flow_is_known_as_such() -> None:
    run = finish(launch(["run", "--flow", "pdd_nothing"], dict(os.environ)))
    assert classify.classify(run.stderr, run.code) == classify.UNKNOWN_TYPE


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
def test_sigterm_ends_it_cleanly(fleet: Fleet) -> None:
    fleet.run("pdd_sync_order", PDD)
    fleet.trouble(f"pdd:{PDD}", "hang")
    run = fleet.start("pdd_sync_order", PDD)
    assert run.stdout is not None
    assert "sync_order" in run.stdout.readline()  # from here on it listens
    run.send_signal(signal.SIGTERM)
    ended = finish(run)
    assert (ended.code, ended.reason) == (143, "Stopped: signal 15")
    assert fleet.stored("pdd", PDD) == fleet.truth("pdd", PDD)


def test_a_platform_and_shop_that_nobody_listed(fleet: Fleet) -> None:
    assert fleet.run("lazada_sync_order", "shop_17").code == 0
    assert fleet.stored("lazada", "shop_17") == fleet.truth("lazada", "shop_17")
