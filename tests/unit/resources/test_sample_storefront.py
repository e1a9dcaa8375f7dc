"""The storefront: the same for the same seed, misbehaving as it is told, and healed by a word."""

from __future__ import annotations

import http.client
import importlib
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable

import pytest

from tests.unit.resources.sample_fleet import SAMPLE, Fleet

PAGES = ("/", "/orders", "/goods", "/goods/G0003", "/messages")
DATA = ("/orders?page_size=100", "/goods", "/goods/G0003", "/messages", "/buyers")
TASKS = [f"pdd_sync_order_pdd-10021_{number:08x}" for number in range(3000)]


def answers(fleet: Fleet) -> list[tuple[int, str]]:
    """What three shops serve on every address."""
    shops = ("pdd/pdd-10021", "temu/temu-20117", "tiktok/tts-30042")
    paths = [f"/{shop}{path}" for shop in shops for path in PAGES] + [
        f"/api/{shop}{path}" for shop in shops for path in DATA
    ]
    return [(status, text) for status, _, text in map(fleet.fetch, paths)]


def test_same_seed_same_shops(open_fleet: Callable[..., Fleet]) -> None:
    one, again, other = (open_fleet("--profile", "healthy", "--seed", seed) for seed in ("7", "7", "8"))
    assert answers(one) == answers(again)
    assert answers(one) != answers(other)
    assert {status for status, _ in answers(one)} == {200}


def test_pages_hold_the_whole_truth_once(fleet: Fleet) -> None:
    truth = fleet.truth("pdd", "pdd-10021")
    paged, page, pages = [], 1, 1
    while page <= pages:
        answer = fleet.ask(f"/api/pdd/pdd-10021/orders?page={page}&page_size=7")
        paged, page, pages = paged + answer["orders"], page + 1, answer["pages"]
    assert sorted(paged, key=lambda order: order["order_no"]) == truth
    assert len({order["order_no"] for order in truth}) == len(truth) >= 32


def test_since_until_and_status_select(fleet: Fleet) -> None:
    truth = fleet.truth("temu", "temu-20117")
    recent = fleet.ask("/api/temu/temu-20117/orders?since=2026-11-20&page_size=100")["orders"]
    assert {order["order_no"] for order in recent} == {o["order_no"] for o in truth if o["updated_at"] >= "2026-11-20"}
    assert 0 < len(recent) < len(truth)
    early = fleet.ask("/api/temu/temu-20117/orders?until=2026-11-19&page_size=100")["orders"]
    assert len(early) + len(recent) == len(truth)
    paid = fleet.ask("/api/temu/temu-20117/orders?status=paid,shipped&page_size=100")["orders"]
    assert len(paid) == sum(order["status"] in ("paid", "shipped") for order in truth) > 0


@pytest.mark.parametrize("query", ["page=0", "page=x", "page_size=101", "page_size=0"])
def test_bad_paging_is_refused(fleet: Fleet, query: str) -> None:
    assert fleet.fetch(f"/api/pdd/pdd-10021/orders?{query}")[0] == 400


def test_a_shop_lives_on_when_told(fleet: Fleet) -> None:
    before = {order["order_no"]: order for order in fleet.truth("pdd", "pdd-10021")}
    fleet.ask("/_control", {"platform": "pdd", "shop": "pdd-10021", "advance": 2})
    after = {order["order_no"]: order for order in fleet.truth("pdd", "pdd-10021")}
    assert before.keys() < after.keys()
    assert len(after) == len(before) + 6
    moved = [number for number in before if before[number] != after[number]]
    assert moved
    assert all(before[number]["updated_at"] < after[number]["updated_at"] for number in moved)
    assert all(before[number]["items"] == after[number]["items"] for number in before)


def test_each_reply_counts(fleet: Fleet) -> None:
    for text in ("one", "two"):
        fleet.ask("/api/pdd/pdd-10021/messages/M00001/reply", {"text": text})
    fleet.ask("/api/pdd/pdd-10021/messages/M00002/reply", {"text": "one"})
    assert fleet.ask("/_control")["replies"] == {"pdd:pdd-10021": {"M00001": 2, "M00002": 1}}


def test_served_orders_are_counted(fleet: Fleet) -> None:
    fleet.ask("/api/pdd/pdd-10021/orders?page_size=20")
    fleet.ask("/api/pdd/pdd-10021/orders?page_size=5")
    assert fleet.ask("/_control")["orders_served"] == {"pdd:pdd-10021": 25}


def test_lasting_trouble_of_the_usual_profile(usual_fleet: Fleet) -> None:
    status, headers, _ = usual_fleet.fetch("/pdd/pdd-10093/orders")
    assert (status, headers["location"].partition("?")[0]) == (302, "/login")
    assert usual_fleet.fetch("/api/tiktok/tts-30117/orders")[0] == 302
    assert "captcha-slider" in usual_fleet.fetch("/pdd/pdd-10180/")[2]
    poisoned = usual_fleet.ask("/api/pdd/pdd-10139/orders?page=2")["orders"]
    assert sum(order["order_no"] is None for order in poisoned) == 1
    assert all(order["order_no"] for order in usual_fleet.ask("/api/pdd/pdd-10139/orders?page=1")["orders"])


def test_log_in_and_slider_heal(usual_fleet: Fleet) -> None:
    assert "login-form" in usual_fleet.fetch("/login?platform=pdd&shop=pdd-10093")[2]
    assert usual_fleet.fetch("/login", "platform=pdd&shop=pdd-10093&password=x")[0] == 302
    assert usual_fleet.fetch("/pdd/pdd-10093/orders")[0] == 200
    assert usual_fleet.fetch("/login", "platform=pdd&shop=pdd-10180")[0] == 302
    assert "captcha-slider" in usual_fleet.fetch("/pdd/pdd-10180/")[2]
    assert usual_fleet.fetch("/captcha", "platform=pdd&shop=pdd-10180")[0] == 302
    assert "captcha-slider" not in usual_fleet.fetch("/pdd/pdd-10180/")[2]


def test_control_reaches_shop_platform_and_all(fleet: Fleet) -> None:
    fleet.ask("/_control", {"platform": "*", "trouble": "unavailable"})
    fleet.ask("/_control", {"platform": "temu", "trouble": "rate_limited"})
    fleet.ask("/_control", {"platform": "temu", "shop": "temu-20117", "trouble": "none"})
    assert fleet.fetch("/pdd/pdd-10021/")[0] == 503
    status, headers, _ = fleet.fetch("/temu/temu-20131/")
    assert (status, headers["retry-after"]) == (429, "7")
    assert fleet.fetch("/temu/temu-20117/")[0] == 200


@pytest.mark.parametrize(
    "order",
    [
        {"shop": "pdd-10021", "trouble": "none"},
        {"trouble": "none"},
        {"shop": "pdd:a", "trouble": "x"},
        {"advance": 1},
        [],
    ],
)
def test_control_refuses_what_it_cannot_do(fleet: Fleet, order: object) -> None:
    assert fleet.fetch("/_control", order)[0] == 400


def test_some_task_runs_fail_at_first_and_pass_on_a_retry(open_fleet: Callable[..., Fleet]) -> None:
    fleet = open_fleet("--profile", "storm", "--slow", "0")
    fleet.ask("/_control", {"shop": "pdd:pdd-10021", "trouble": "none"})
    seen: dict[str, list[str]] = {}
    for task_id in (f"task-{number}" for number in range(40)):
        attempts: list[str] = []
        while not attempts or attempts[-1] != "succeeded":
            run = fleet.run("pdd_sync_order", "pdd-10021", task_id=task_id, page_timeout=3)
            attempts.append("succeeded" if run.code == 0 else run.reason.split(" ")[0])
        seen[task_id] = attempts
    tries = Counter(map(len, seen.values()))
    assert set(tries) <= {1, 2, 3}
    assert 4 <= 40 - tries[1] <= 20
    assert {word for attempts in seen.values() for word in attempts} >= {"HTTP", "SelectorNotFound:", "succeeded"}
    assert fleet.stored("pdd", "pdd-10021") == fleet.truth("pdd", "pdd-10021")


def test_the_same_task_runs_are_hit_in_every_storefront(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SAMPLE))
    trouble = importlib.import_module("sample_storefront.trouble")

    def hits(seed: int) -> list[str]:
        book = trouble.TroubleBook(seed, trouble.PROFILES["usual"])
        harmless = trouble.Trouble.NONE, trouble.Trouble.SLOW
        asked = [(task, book.decide("pdd", "pdd-10021", task, page=True)) for task in TASKS for _ in range(2)]
        return [f"{task} {kind}" for task, kind in asked if kind not in harmless]

    assert hits(7) == hits(7) != hits(8)
    assert 0.04 < len(hits(7)) / len(TASKS) < 0.08


def test_the_class_leaves_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SAMPLE))
    storefront = importlib.import_module("storefront").Storefront(7, profile="healthy")
    before = threading.active_count()
    storefront.start()
    connection = http.client.HTTPConnection("127.0.0.1", storefront.port, timeout=30)
    connection.request("GET", "/pdd/pdd-10021/")
    assert connection.getresponse().status == 200
    storefront.stop()  # the connection is still open
    connection.close()
    assert threading.active_count() == before


def test_it_ends_while_a_page_hangs(fleet: Fleet) -> None:
    fleet.trouble("pdd:pdd-10021", "hang")
    connection = http.client.HTTPConnection(fleet.url.removeprefix("http://"), timeout=60)
    connection.request("GET", "/pdd/pdd-10021/orders")
    assert fleet.ask("/_control")["seed"] == 7  # the fixture ends the storefront now and wants exit code 0
    connection.close()


def test_wrong_options_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(SAMPLE / "storefront.py"), "--profile", "sunny"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    assert "--profile" in done.stderr
