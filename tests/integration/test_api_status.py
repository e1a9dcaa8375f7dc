"""The status page, promises and alerts over REST, on both pairs: in words, in the language of who looks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from services.domain.alerts import incident as incidents
from services.domain.errors import BrokerUnavailable
from services.domain.task.order import BrokerHealth
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.api_rig import Api, serving
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook
from tests.integration.test_api import died, entry, problem
from tests.integration.test_promises import Desk

HAN = re.compile("[一-鿿]")


@pytest.fixture
def api(fleet: Fleet) -> Iterator[Api]:
    with serving(fleet) as found:
        yield found


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


@pytest.fixture
def watch(fleet: Fleet, hook: Hook) -> Iterator[Watch]:
    made = Watch(fleet, hook)
    made.channel()
    yield made
    made.stop.set()
    made.keeper.stop()


def status(api: Api, language: str = "en") -> dict[str, object]:
    with api.client(**{"accept-language": language}) as ask:
        answer = ask.get("/api/v1/status")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert isinstance(found, dict)
    return found


def numbers(told: dict[str, object]) -> dict[str, object]:
    counts = told["counts"]
    assert isinstance(counts, list)
    return {one["name"]: one["number"] for one in counts}


def test_an_empty_fleet_says_that_nothing_waits(api: Api) -> None:
    told = status(api)
    assert set(numbers(told).values()) == {0}
    assert (told["state"], told["needs_person"], told["alerts"], told["promises"]) == ("idle", [], [], [])
    assert told["headline"]


def test_two_people_are_answered_in_their_languages(api: Api) -> None:
    desk = Desk(api.fleet)
    desk.shops("s1")
    desk.promise()
    desk.done("s1", 90)
    died(api.fleet)
    desk.keeper.tick()
    english, chinese = status(api, "en-GB, zh;q=0.5"), status(api, "zh-CN,zh;q=0.9,en;q=0.8")
    assert (english["language"], chinese["language"]) == ("en", "zh_CN")
    assert numbers(english) == numbers(chinese)
    assert numbers(english)["dead"] == 1
    for told, has_han in ((english, False), (chinese, True)):
        (promise,) = told["promises"]
        assert (promise["name"], promise["state"]) == ("orders", "broken")
        said = [told["headline"], promise["word"], *(one["title"] for one in told["needs_person"])]
        assert len(said) > 3
        assert [bool(HAN.search(text)) for text in said] == [has_han] * len(said), said
        assert not any("{" in one["text"] for one in told["needs_person"]), told["needs_person"]
    assert status(api, "xx, ;;q=, en;q=none")["language"] == "en"


def test_it_says_that_the_broker_is_lost_and_what_the_records_tell(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent() -> None:
        raise BrokerUnavailable("nobody answers")

    fleet.create(n=1)
    engine = fleet.open()
    with serving(fleet, engine) as api:
        monkeypatch.setattr(engine.broker, "depths", silent)
        monkeypatch.setattr(engine.broker, "health", lambda: BrokerHealth(connected=False, error="refused"))
        told = status(api)
    assert told["state"] == "lost"
    assert numbers(told)["waiting"] == 1


def test_the_page_is_there_without_a_token_and_the_fleet_is_not(fleet: Fleet) -> None:
    with serving(fleet, host="0.0.0.0", plain_text=True) as api:
        reached = Api(fleet, f"http://127.0.0.1:{api.address.rpartition(':')[2]}")
        with reached.client() as ask:
            page = ask.get("/")
            files = re.findall(r'(?:src|href)="(web/[^"]+)"', page.text)
            loaded = [ask.get(f"/{one}") for one in files]
            problem(ask.get("/api/v1/status"), 401, "token.missing")
    assert page.headers["content-type"].startswith("text/html")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert len(files) >= 3
    assert [one.status_code for one in loaded] == [200] * len(files)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)


def test_the_page_speaks_the_language_that_is_asked_for(api: Api) -> None:
    with api.client(**{"accept-language": "zh-CN"}) as ask:
        chinese, chosen = ask.get("/").text, ask.get("/", params={"lang": "en"}).text
    assert '<html lang="zh-CN">' in chinese
    assert HAN.search(chinese)
    assert '<html lang="en">' in chosen
    assert not HAN.search(chosen.replace("简体中文", ""))
    assert not re.search(r"\{[a-z_]+\}", chosen.replace("{at}", "").replace("{n}", ""))


@pytest.mark.parametrize("name", ["page.html", "..%2fpage.html", "nope.js", "%2e%2e", ".js", "x" * 3000])
def test_only_the_files_of_the_page_are_handed_out(api: Api, name: str) -> None:
    with api.client() as ask:
        problem(ask.get(f"/web/{name}"), 404)


def test_who_loads_pages_without_end_is_told_to_wait(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.api.callers.PAGES_PER_MINUTE", 2)
    with serving(api.fleet) as few, few.client() as ask:
        answers = [ask.get("/web/page.css") for _ in range(4)]
    assert {one.status_code for one in answers} == {200, 429}


def test_a_promise_that_nobody_has_judged_yet_is_one_all_the_same(api: Api) -> None:
    desk = Desk(api.fleet)
    desk.shops("s1")
    desk.promise()
    with api.client() as ask:
        (row,) = ask.get("/api/v1/status").json()["promises"]
    assert (row["name"], row["state"], row["word"]) == ("orders", "unjudged", "Not judged yet")


def test_a_promise_is_shown_and_switched_by_who_may(api: Api) -> None:
    desk = Desk(api.fleet)
    desk.shops("s1")
    desk.promise()
    desk.done("s1", 90)
    desk.keeper.tick()
    with api.by("viewer") as ask:
        (row,) = ask.get("/api/v1/promises").json()["promises"]
        shown = ask.get("/api/v1/promises/orders").json()
        problem(ask.get("/api/v1/promises/other"), 404)
        problem(ask.post("/api/v1/promises/orders/disable", json={}), 403, "role.needed")
    assert (row["name"], row["state"]) == ("orders", "broken")
    assert [one["shop"] for one in shown["shops"]] == ["pdd:s1"]
    with api.by("admin") as ask:
        done = ask.post("/api/v1/promises/orders/disable", json={"note": "closed"})
        assert done.json() == {"name": "orders", "enabled": False, "changed": True}
        assert entry(api, "promise.enable")[0] == "a-admin@rest"
        assert ask.post("/api/v1/promises/orders/enable", json={}).json()["enabled"] is True
        assert ask.request("DELETE", "/api/v1/promises/orders").json()["removed"] == "orders"


def test_an_incident_is_answered_muted_and_shown(api: Api, watch: Watch, hook: Hook) -> None:
    watch.only("dead_letters", limits={"letters": 1.0})
    watch.turn()
    died(api.fleet)
    watch.raised()
    with api.by("viewer") as ask:
        (row,) = ask.get("/api/v1/alerts").json()["incidents"]
        problem(ask.post(f"/api/v1/alerts/{row['id']}/answer", json={}), 403, "role.needed")
    assert [one["id"] for one in status(api)["alerts"]] == [row["id"]]
    path = f"/api/v1/alerts/{row['id']}"
    with api.by("operator") as ask:
        assert ask.post(f"{path}/answer", json={"note": "looking"}).json()["answer"]["answered_by"] == "a-operator@rest"
        assert ask.get(path).json()["state"] == "answered"
        problem(ask.post(f"{path}/mute", json={"until": "2h"}), 422)
        problem(ask.post(f"{path}/mute", json={"until": "yesterday", "reason": "x"}), 422)
        assert ask.post(f"{path}/mute", json={"until": "2h", "reason": "known"}).json()["answer"]["reason"] == "known"
        assert ask.get(path).json()["state"] == "muted"
        assert ask.post(f"{path}/mute", json={"until": "changed", "reason": "known"}).status_code == 200
        assert [ask.get(path).json()[name] for name in ("state", "muted_until")] == ["muted", "changed"]
        (body,) = watch.store.documents(incidents.ANSWERS).values()
        answer = incidents.ANSWER.read(body, incidents.Answer())
        for slot, body in watch.store.documents(incidents.KIND).items():
            ended = replace(incidents.DOCUMENT.readable({slot: body})[slot], unmuted=answer.muted_at)
            watch.store.put_document(incidents.KIND, slot, incidents.DOCUMENT.dump(ended))
        assert ask.get(path).json()["muted_until"] is None, "it has changed"
        assert ask.post(f"{path}/unmute", json={}).status_code == 200
        assert ask.post(f"{path}/unanswer", json={}).status_code == 200
        problem(ask.get("/api/v1/alerts/INC-999"), 404)
        problem(ask.post("/api/v1/alerts/INC-999/answer", json={}), 404)
        assert entry(api, "alert.mute")[0] == "a-operator@rest"
        problem(ask.post("/api/v1/alerts/rules/dead_letters/disable", json={}), 403, "role.needed")
    with api.by("admin") as ask:
        off = ask.post("/api/v1/alerts/rules/dead_letters/disable", json={}).json()
        assert off["rule"]["enabled"] is False
        assert ask.get("/api/v1/alerts/rules/dead_letters").json()["enabled"] is False
        names = [one["name"] for one in ask.get("/api/v1/alerts/channels").json()["channels"]]
        assert names == ["ops"]
        problem(ask.post("/api/v1/alerts/channels/ops/test", json={}), 409)  # its address is not known to this server
        assert ask.get("/api/v1/alerts/history").json() == {"incidents": []}
