"""Browsers of shops for a person: each once at a time, ended with the console, at home on one machine."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from console.logins import ShopLogins
from services import assembly
from services import settings as config
from services.domain.errors import OperatorError
from services.domain.fleet.worker import WorkerInfo
from services.sample.fleet import SampleFleet

SHOP = "pdd:s1"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[assembly.Engine]:
    """On one file."""
    opened = assembly.open_engine(config.load(home=tmp_path))
    yield opened
    opened.close()


def test_a_shop_of_the_sample_is_logged_in_at_its_storefront(tmp_path: Path) -> None:
    fleet = SampleFleet(tmp_path)
    fleet.start()
    try:
        with urllib.request.urlopen(fleet.page("pdd:pdd-10021"), timeout=30) as page:
            assert b"pdd-10021" in page.read()
        sites = fleet.equip(config.load(home=tmp_path)).executors.browser.sites
        assert sites["pdd"] == fleet.url
    finally:
        fleet.close()


def test_one_window_a_shop_and_none_is_left_behind(engine: assembly.Engine) -> None:
    sessions, shown = assembly.commands(engine).sessions, threading.Event()

    def browse(platform: str, shop_id: str, url: str, stop: threading.Event) -> bool:
        assert (platform, shop_id, url) == ("pdd", "s1", "http://sample/pdd:s1")
        shown.set()
        return stop.wait(60) and False

    sessions.close(SHOP)
    logins = ShopLogins(engine, sessions, browse, page=lambda shop: f"http://sample/{shop}")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(logins.log_in, SHOP)
        assert shown.wait(60)
        with pytest.raises(OperatorError, match="open already"):
            logins.log_in(SHOP)
        logins.close()
        assert first.result(60) is False
    assert [one.shop for one in engine.store.sessions()] == [SHOP], "nobody has logged in"


def test_a_login_opens_the_gate_and_a_profile_elsewhere_is_named(engine: assembly.Engine) -> None:
    sessions = assembly.commands(engine).sessions
    sessions.close(SHOP)
    logins = ShopLogins(engine, sessions, lambda *_: True)
    assert logins.elsewhere(SHOP) == "", "it has no home yet"
    node = assembly.node_of(engine.settings)
    engine.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, node=node))
    assert logins.log_in(SHOP) is True
    assert engine.store.homes()[SHOP].node == node, "its tasks need the profile that was logged in"
    sessions.close(SHOP)
    engine.store.put_home(SHOP, "desk-02")
    assert logins.elsewhere(SHOP) == "desk-02"
    engine.store.put_home(SHOP, node)
    assert logins.elsewhere(SHOP) == ""
    assert logins.log_in(SHOP) is True
    assert engine.store.sessions() == []
