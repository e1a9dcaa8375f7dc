"""REST, on both pairs: it says and does what the command line does, for whom it may, and refuses the rest in words."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from services import assembly
from services.api.runner import IN_HEAP, KEPT_MS, KIND, MOST_KEPT, Requests
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.task.record import Task
from services.engine.steps import Steps
from services.settings.values import ApiSettings
from tests.integration.api_rig import Api, serving
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet, define


@pytest.fixture
def api(fleet: Fleet) -> Iterator[Api]:
    fleet.shop("s1")
    with serving(fleet) as found:
        yield found


def problem(answer: httpx.Response, status: int, code: str = "") -> dict[str, object]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    found = answer.json()
    assert isinstance(found, dict)
    assert (found["status"], found["request_id"]) == (status, answer.headers["x-request-id"])
    assert found["detail"]
    assert found["remedy"]
    assert not code or found["code"] == code
    return found


def entry(api: Api, action: str) -> tuple[str, str]:
    """Who did it last, and how it ended."""
    found = next(one for one in api.fleet.engine.store.audit(100) if one.action == action)
    return found.who, found.outcome


def recorded(api: Api) -> list[str]:
    """Ids of all tasks there are."""
    return list(assembly.queries(api.fleet.engine).tasks.ids(""))


def test_what_an_operator_creates_is_there_and_is_told_under_the_name_of_its_token(api: Api) -> None:
    with api.by("operator") as ask:
        made = ask.post("/api/v1/tasks", json={"shops": ["pdd:s1"], "type": "work", "payload": {"n": 1}})
        assert made.status_code == 201, made.text
        (task_id,) = made.json()["created"]
        shown = ask.get(f"/api/v1/tasks/{task_id}").json()
        page = ask.get("/api/v1/tasks", params={"filter": "status:waiting shop:s1"}).json()
    assert shown["task"]["payload"] == {"n": 1}
    assert (shown["task"]["created_by"], shown["task"]["origin"]) == ("a-operator@rest", "rest")
    assert [one["task_id"] for one in page["tasks"]] == [task_id]
    assert entry(api, "task.create") == ("a-operator@rest", "done")


def test_a_port_that_another_program_has_is_refused_with_the_remedy(fleet: Fleet) -> None:
    with serving(fleet) as first:
        port = httpx.URL(first.address).port
        with (
            pytest.raises(UsageError, match=f"on port {port}: end that, or take another --port"),
            serving(fleet, port=port),
        ):
            raise AssertionError("it listens twice")


def test_a_viewer_looks_and_changes_nothing(api: Api) -> None:
    with api.by("viewer") as ask:
        assert ask.get("/api/v1/stats").status_code == 200
        refused = ask.post("/api/v1/tasks", json={"shops": ["pdd:s1"], "type": "work"})
    told = problem(refused, 403, "role.needed")
    assert told["params"] == {"who": "a-viewer@rest", "role": "viewer", "needed": "operator"}
    assert api.fleet.engine.store.counts().total == 0


def test_who_is_on_this_machine_looks_without_a_token_and_acts_only_where_that_was_said(api: Api) -> None:
    with api.client() as ask:
        assert ask.get("/api/v1/shops").status_code == 200
        problem(ask.post("/api/v1/shops/pdd:s1/pause", json={}), 403, "role.needed")
    with serving(api.fleet, open_loopback=True) as opened, opened.client() as ask:
        for note, was in (("stock", False), ("", True)):
            told = ask.post("/api/v1/shops/pdd:s1/pause", json={"note": note}).json()
            assert told == {"paused": "pdd:s1", "was_paused": was}
    assert [(one.scope, one.reason) for one in api.fleet.engine.store.pauses()] == [("shop:pdd:s1", "stock")]


def test_a_text_of_two_dashes_is_a_text(api: Api) -> None:
    with api.by("operator") as ask:
        assert ask.post("/api/v1/shops/pdd:s1/pause", json={"note": "--"}).json() == {
            "paused": "pdd:s1",
            "was_paused": False,
        }
        problem(ask.get("/api/v1/tasks", params={"filter": "--"}), 422)
        problem(ask.get("/api/v1/shops/--"), 404)
    assert [one.reason for one in api.fleet.engine.store.pauses()] == ["--"]


def test_a_request_that_came_through_a_proxy_is_not_from_this_machine(api: Api) -> None:
    for name in ("x-forwarded-for", "X-Real-IP", "X-Forwarded-Proto", "Forwarded", "Via"):
        with api.client(**{name: "203.0.113.9"}) as ask:
            problem(ask.get("/api/v1/stats"), 401, "token.missing")


def test_a_token_ends_when_it_is_revoked(api: Api) -> None:
    commands = assembly.commands(api.fleet.engine).tokens
    with api.client(api.token("operator", "short")) as ask:
        assert ask.get("/api/v1/types").status_code == 200
        (known,) = commands.known()
        assert (known.name, known.role) == ("short", "operator")
        assert known.used
        commands.revoke("short")
        told = problem(ask.get("/api/v1/types"), 401, "token.wrong")
    assert "token create" in str(told["remedy"])


def test_a_token_ends_in_time(api: Api) -> None:
    store = api.fleet.engine.store
    text = api.token("viewer", "brief", lasts_ms=1)
    begun = store.now_ms()
    while store.now_ms() <= begun + 1:
        pass
    with api.client(text) as ask:
        problem(ask.get("/api/v1/types"), 401, "token.wrong")


def test_what_is_no_token_opens_nothing(api: Api) -> None:
    api.token("admin")
    with api.client() as ask:
        for given in ("Bearer x", "Bearer", "Basic YTpi", "fleetdeck_x", "Bearer " + "x" * 5000):
            problem(ask.get("/api/v1/stats", headers={"authorization": given}), 401, "token.wrong")


def test_the_text_of_a_token_is_kept_nowhere(api: Api) -> None:
    text = api.token("admin")
    store = api.fleet.engine.store
    kept = json.dumps([dict(store.documents("token")), [one.detail for one in store.audit(100)]])
    assert text not in kept
    assert text.removeprefix("fleetdeck_") not in kept


def test_it_says_what_the_command_line_says(api: Api, cli: Cli) -> None:
    """The same documents: the fleet of the test is that of the command line's profile."""
    settings = api.fleet.settings
    cli.environment["FLEETDECK_HOME"] = settings.home
    if settings.embedded:
        cli.words = ("--profile", settings.profile)
    else:
        cli.words = ("--broker", settings.broker.url, "--redis", settings.store.url)
    task_id = api.fleet.create(n=1)
    with api.client() as ask:
        for path, words in (
            ("/api/v1/tasks", ("task", "list")),
            (f"/api/v1/tasks/{task_id}", ("task", "show", task_id)),
            ("/api/v1/types/work", ("type", "show", "work")),
            ("/api/v1/dead", ("dead", "list")),
        ):
            said = ask.get(path).json()
            assert said.keys() == cli.run(*words).keys(), path
            if "tasks" in said:
                assert said["tasks"] == cli.run(*words)["tasks"]


def test_pages_follow_each_other(api: Api) -> None:
    ids = {api.fleet.create(n=number) for number in range(5)}
    seen: list[str] = []
    cursor = ""
    with api.client() as ask:
        for _ in range(3):
            page = ask.get("/api/v1/tasks", params={"limit": 2, "cursor": cursor}).json()
            seen += [one["task_id"] for one in page["tasks"]]
            cursor = page["next"] or ""
        problem(ask.get("/api/v1/tasks", params={"limit": 1001}), 422, "usage")
        problem(ask.get("/api/v1/tasks", params={"cursor": "nonsense"}), 422)
        first = ask.get("/api/v1/tasks", params={"limit": 1, "filter": "status:active"}).json()["next"]
        for other in ({"filter": "status:waiting"}, {}, {"filter": "status:active", "reverse": True}):
            told = problem(ask.get("/api/v1/tasks", params={"cursor": first, **other}), 422)
            assert (told["code"], told["field"]) == ("query.cursor_filter", "cursor")
        again = ask.get("/api/v1/tasks", params={"cursor": first, "filter": " status:active "})
        assert again.status_code == 200, "it is the same filter"
    assert sorted(seen) == sorted(ids)
    assert cursor == ""


def test_several_are_cancelled_only_with_a_yes_and_one_without(api: Api) -> None:
    first, second, third = (api.fleet.create(n=number) for number in range(3))
    with api.by("operator") as ask:
        told = problem(ask.post("/api/v1/tasks/cancel", json={"filter": "shop:s1"}), 422)
        assert told["field"] == "yes"
        looked = ask.post("/api/v1/tasks/cancel", json={"filter": "shop:s1", "dry_run": True}).json()
        assert looked["count"] == 3
        one = ask.post("/api/v1/tasks/cancel", json={"ids": [first], "reason": "twice"}).json()
        assert one["done"] == [first]
        rest = ask.post("/api/v1/tasks/cancel", json={"filter": "shop:s1 status:waiting", "yes": True}).json()
        assert sorted(rest["done"]) == sorted([second, third])
        told = problem(ask.post("/api/v1/tasks/cancel", json={"ids": [first]}), 409)
        problem(ask.post("/api/v1/tasks/cancel", json={"ids": ["nobody"]}), 404)
    assert told["outcome"]
    assert {task.status for task in map(api.fleet.task, (first, second, third))} == {"cancelled"}


def test_an_admin_promises_and_plans_as_on_the_command_line(api: Api) -> None:
    new = {"type": "work", "never_older_than": "60m", "shops": ["pdd:s1"], "days": "mon-fri", "note": "audit"}
    plan = {"type": "work", "every": "30m", "all": True, "payload": {"n": 1}, "spread": "5m"}
    with api.by("admin") as ask:
        looked = ask.put("/api/v1/promises/fresh", json=new | {"dry_run": True})
        assert looked.status_code == 200, looked.text
        assert ask.get("/api/v1/promises").json()["promises"] == []
        made = ask.put("/api/v1/promises/fresh", json=new)
        assert made.status_code == 200, made.text
        assert [one["name"] for one in ask.get("/api/v1/promises").json()["promises"]] == ["fresh"]
        told = problem(ask.put("/api/v1/promises/other", json=new | {"by": "08:00"}), 422)
        assert told["field"]
        made = ask.put("/api/v1/schedules/half-hourly", json=plan)
        assert made.status_code == 200, made.text
        problem(ask.put("/api/v1/schedules/half-hourly", json=plan), 422)
        assert ask.put("/api/v1/schedules/half-hourly", json=plan | {"replace": True, "every": "1h"}).status_code == 200
        shown = ask.get("/api/v1/schedules/half-hourly").json()["schedule"]
    assert (shown["every_s"], shown["payload"]) == (3600, {"n": 1})
    assert next(one.who for one in api.fleet.engine.store.audit(1)) == "a-admin@rest"


def test_what_was_done_in_part_is_not_told_as_refused(api: Api) -> None:
    """A program that is told that nothing was done asks again, and what was done is done twice."""
    api.fleet.shop("s2")
    with api.by("admin") as ask:
        made = ask.post("/api/v1/tasks", json={"shops": ["pdd:s1", "pdd:no way"], "type": "work"})
        assert made.status_code == 201, made.text
        assert (len(made.json()["created"]), len(made.json()["errors"])) == (1, 1)
        plan = {"type": "work", "every": "30m", "shops": ["pdd:s1", "pdd:s2"]}
        assert ask.put("/api/v1/schedules/both", json=plan).status_code == 200
        ran = ask.post("/api/v1/schedules/both/run", json={})
        assert ran.status_code == 200, ran.text
        assert (ran.json()["run"]["created"], ran.json()["run"]["active"]) == (1, 1)
        told = problem(ask.post("/api/v1/schedules/both/run", json={}), 409, "refused")
    assert told["detail"] == "nothing was created: of its tasks there are 2 active"


def test_what_to_correct_is_named_as_the_request_names_it(api: Api) -> None:
    plan = {"type": "work", "every": "30m", "shops": ["pdd:s1"]}
    shops = [{"platform": "pdd", "shop_id": "s7"}, {"platform": "no such", "shop_id": "x"}]
    with api.by("admin") as ask:
        assert ask.put("/api/v1/schedules/one", json=plan).status_code == 200
        for method, path, body, field, words in (
            ("POST", "tasks", {"shops": ["pdd:no way"], "type": "work"}, "shops", "shop must be"),
            ("POST", "tasks", {"shops": ["s1"], "type": "work", "not_before": "soon"}, "not_before", "`not_before` "),
            ("POST", "tasks/cancel", {}, "ids", "by `filter`"),
            ("POST", "tasks/resolve", {"ids": ["x"], "decision": "succeeded"}, "note", "`decision` succeeded needs"),
            ("PUT", "schedules/one", plan, "name", "use `replace`"),
            ("PUT", "schedules/two", plan | {"shops": ["pdd:s9"]}, "shops", "there is no shop"),
            ("PUT", "schedules/two", plan | {"shops": [], "platforms": ["pd"]}, "platforms", "did you mean pdd"),
            ("PUT", "promises/new", {"type": "work", "all": True}, None, "`never_older_than` or `by`"),
            ("PUT", "workers/w/refuses", {"types": ["x y"]}, "types", "types: a task type is"),
            ("PUT", "breakers/rule", {"cooldown_s": 9, "max_cooldown_s": 1}, "max_cooldown_s", "must be 9 to"),
            ("POST", "shops", {"shops": shops}, "shops.1.platform", "platform must be"),
            ("POST", "tasks", None, "", "must be a JSON object"),
            ("POST", "tasks", [1], "", "must be a JSON object"),
        ):
            sent = {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
            told = problem(ask.request(method, f"/api/v1/{path}", **sent), 422)
            assert field is None or told["field"] == field, told
            assert words in str(told["detail"]), told
    assert [shop.key for shop in api.fleet.engine.store.shops()] == ["pdd:s1"]


def test_nothing_is_planned_over_a_time_zone_that_cannot_be_read(api: Api) -> None:
    api.fleet.engine.store.put_document("fleet", "time_zone", "{half")
    new = {"type": "work", "never_older_than": "60m", "shops": ["pdd:s1"], "days": "mon-fri", "note": "audit"}
    with api.by("admin") as ann:
        answers = [
            ann.put(
                "/api/v1/quiet-hours/night", json={"scope": "all", "weekly": ["mon-fri 22:00-06:00"], "note": "nights"}
            ),
            ann.put("/api/v1/promises/daily", json=new),
            ann.put("/api/v1/schedules/nightly", json={"type": "work", "every": "30m", "all": True}),
        ]
    for answer in answers:
        problem(answer, 409, "zone.unreadable")
        assert "retry-after" not in answer.headers
    assert api.fleet.engine.store.document("fleet", "time_zone") == "{half"


def test_a_shop_is_logged_in_its_failures_forgotten_and_its_home_moved(api: Api) -> None:
    store = api.fleet.engine.store
    with api.by("operator") as ask:
        path = "/api/v1/shops/pdd:s1"
        assert ask.post(f"{path}/session/close", json={"kind": "captcha", "note": "phone"}).json()["was_open"]
        assert [one.kind for one in store.sessions()] == ["captcha"]
        assert ask.post(f"{path}/session/open", json={}).json() == {"opened": "pdd:s1", "was_closed": True}
        assert ask.post(f"{path}/breaker/close", json={}).json() == {"closed": "pdd:s1", "was_open": False}
        problem(ask.put(f"{path}/home", json={"node": "desk-09"}), 422)
        moved = ask.put(f"{path}/home", json={"node": "desk-09", "force": True})
        assert moved.status_code == 200, moved.text
        problem(ask.post("/api/v1/shops/nobody/session/open", json={}), 404)
    assert {shop: home.node for shop, home in store.homes().items()} == {"pdd:s1": "desk-09"}


def test_causes_and_shops_are_chosen(api: Api) -> None:
    died(api.fleet)
    with api.by("viewer") as ask:
        assert ask.get("/api/v1/causes/9ac1").json()["cause"]["count"] == 1
        problem(ask.get("/api/v1/causes/ffff"), 404)
        assert [one["shop_id"] for one in ask.get("/api/v1/shops", params={"filter": "dead>0"}).json()["shops"]] == [
            "s1"
        ]
        assert ask.get("/api/v1/shops", params={"filter": "platform:temu"}).json()["shops"] == []
        told = problem(ask.get("/api/v1/shops", params={"filter": "nonsense:1"}), 422)
    assert told["field"] == "filter"


def test_a_duplicate_is_a_conflict_that_names_the_other(api: Api) -> None:
    with api.by("operator") as ask:
        new = {"shops": ["pdd:s1"], "type": "single"}
        (task_id,) = ask.post("/api/v1/tasks", json=new).json()["created"]
        told = problem(ask.post("/api/v1/tasks", json=new), 409, "task.duplicates")
        assert task_id in str(told["detail"])
        bad = ask.post("/api/v1/tasks", json={"shops": ["pdd:s1"], "type": "checked", "payload": {"page": 0}})
        assert problem(bad, 422)["field"] == "page"


def test_a_request_that_is_sent_again_creates_nothing_more_and_is_answered_the_same(api: Api) -> None:
    new = {"shops": ["pdd:s1", "pdd:s2"], "type": "work", "payload": {"n": 1}, "delay": 60}
    with api.by("operator") as ask:
        named = {"Idempotency-Key": "order-7"}
        first = ask.post("/api/v1/tasks", json=new, headers=named)
        again = ask.post("/api/v1/tasks", json=dict(reversed(new.items())), headers=named)
        assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
        assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
        told = problem(ask.post("/api/v1/tasks", json=new | {"delay": 61}, headers=named), 422, "idempotency.other")
        assert told["field"] == "Idempotency-Key"
        other = ask.post("/api/v1/tasks", json=new | {"payload": {}}, headers={"Idempotency-Key": "order-8"})
        assert (other.status_code, len(other.json()["created"])) == (201, 2)
        assert problem(ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "x" * 201}), 422)
    with api.by("viewer") as ask:
        problem(ask.post("/api/v1/tasks", json=new, headers=named), 403)
    with api.client(api.token("operator", "another")) as ask:
        mine = ask.post("/api/v1/tasks", json=new | {"payload": {"n": 3}}, headers=named).json()
        assert not set(mine["created"]) & set(first.json()["created"]), "each caller has keys of its own"
    assert len(recorded(api)) == 6


def test_what_was_refused_is_looked_at_anew_under_its_key(api: Api) -> None:
    new = {"shops": ["pdd:s1"], "type": "single"}
    with api.by("operator") as ask:
        (task_id,) = ask.post("/api/v1/tasks", json=new).json()["created"]
        problem(ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"}), 409, "task.duplicates")
        api.fleet.commands().tasks.cancel([task_id])
        made = ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
        assert (made.status_code, "idempotency-replayed" in made.headers) == (201, False)


def test_who_heard_no_answer_asks_again_and_it_is_made_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records are there, and the server lost the store before it could say so."""
    new = {"shops": ["pdd:s1", "pdd:s2"], "type": "work", "payload": {"n": 1}}
    lost = ["once"]
    follow = Steps.follow

    def fail(self: Steps, *given: Any, **more: Any) -> Any:
        if lost:
            lost.clear()
            raise StoreUnavailable("gone")
        return follow(self, *given, **more)

    monkeypatch.setattr(Steps, "follow", fail)
    with api.by("operator") as ask:
        problem(ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"}), 503)
        made = ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
    assert sorted(recorded(api)) == sorted(made.json()["created"])
    assert {task.batch for task in api.fleet.engine.store.get(recorded(api)) if task} == {made.json()["batch"]}


def test_an_answer_too_long_to_be_kept_is_told_again_by_what_was_made_and_makes_nothing(api: Api) -> None:
    """One of the shops was busy with the same work; when that is over the request asks for nothing any more."""
    with api.by("operator") as ask:
        (busy,) = ask.post("/api/v1/tasks", json={"shops": ["pdd:s0"], "type": "single"}).json()["created"]
        new = {"shops": [f"pdd:s{number}" for number in range(80)], "type": "single"}
        first = ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
        assert (first.status_code, len(first.json()["created"])) == (201, 79)
        assert len(first.text) > MOST_KEPT
        api.fleet.commands().tasks.cancel([busy, first.json()["created"][0]])
        again = ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    told = ("created", "batch")
    assert [again.json()[name] for name in told] == [first.json()[name] for name in told]
    assert sorted(recorded(api)) == sorted([busy, *first.json()["created"]])


def test_earlier_requests_that_cannot_be_read_are_not_taken_for_none(api: Api) -> None:
    """Else one that comes again would be made once more."""
    new, store = {"shops": ["pdd:s1"], "type": "work"}, api.fleet.engine.store
    with api.by("operator") as ask:
        first = ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"}).json()["created"]
        ((name, body),) = store.documents(KIND).items()
        assert store.swap_document(KIND, name, body, "[{")
        again = ask.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
    told = problem(again, 409, "idempotency.unreadable")
    assert (told["field"], "repair" in told["remedy"]) == ("Idempotency-Key", True)
    assert (recorded(api), store.document(KIND, name)) == (first, "[{")


def test_of_very_many_keys_the_oldest_are_forgotten(api: Api) -> None:
    store = api.fleet.engine.store
    requests = Requests(store)
    for number in range(2 * IN_HEAP):
        sent, fresh = requests.begin(f"aaa{number}", "x")
        assert fresh
        requests.end(sent, "y" * MOST_KEPT)
    assert requests.begin(f"aaa{2 * IN_HEAP - 1}", "x") == (
        replace(sent, answer="y" * MOST_KEPT, ended=True),
        False,
    )
    assert list(store.documents(KIND)) == ["aaa"]
    assert len(store.documents(KIND)["aaa"]) < IN_HEAP * (MOST_KEPT + 500)
    store.put_document(KIND, "aaa", json.dumps([{"key": "aaa1", "asked": "x", "at": store.now_ms() - KEPT_MS}]))
    assert requests.begin("aaa1", "z")[1], "it is a day old"


def test_what_was_done_lately_is_a_conflict_that_names_who_did_it(api: Api) -> None:
    """A program that looks at the status alone must not take it for created."""
    define(api.fleet, "lately", uniqueness="shop_type", unique_for="1d")
    with api.by("operator") as ask:
        new = {"shops": ["pdd:s1"], "type": "lately"}
        (task_id,) = ask.post("/api/v1/tasks", json=new).json()["created"]
        ended(api.fleet, task_id, "succeeded")
        told = problem(ask.post("/api/v1/tasks", json=new), 409, "task.done")
        assert task_id in str(told["detail"])
        some = ask.post("/api/v1/tasks", json=new | {"shops": ["pdd:s1", "pdd:s2"]})
        assert (some.status_code, len(some.json()["created"]), len(some.json()["done"])) == (201, 1, 1)
        assert ask.post("/api/v1/tasks", json=new | {"reason": "an order came meanwhile"}).status_code == 201


def test_a_dead_letter_is_republished_as_by_anybody(api: Api) -> None:
    letter = died(api.fleet)
    with api.by("operator") as ask:
        (shown,) = ask.get("/api/v1/dead").json()["tasks"]
        assert shown["task_id"] == letter.task_id
        (cause,) = ask.get("/api/v1/causes").json()["causes"]
        assert cause["count"] == 1
        done = ask.post("/api/v1/dead/republish", json={"ids": [letter.task_id], "payload": {"page": 2}}).json()
    new = done["created"][letter.task_id]
    assert json.loads(api.fleet.task(new).payload) == {"page": 2}
    assert entry(api, "dead.republish")[0] == "a-operator@rest"


def died(fleet: Fleet, shop: str = "s1") -> Task:
    why = {"error": "no such button", "error_kind": "flow", "fingerprint": "9ac19ac19ac19ac1"}
    return ended(fleet, fleet.create(shop, page=1), "dead", **why)


def ended(fleet: Fleet, task_id: str, to: str, **why: Any) -> Task:
    """The task after an attempt of it that ended so."""
    from services.domain.change import Claim, Finish
    from services.domain.task.record import Attempt

    task = fleet.task(task_id)
    claim = Claim(task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=60_000)
    taken = fleet.apply(claim).task
    assert taken is not None
    outcome = "succeeded" if to == "succeeded" else "failed"
    attempt = Attempt(number=taken.attempt, worker="w", started_at=1, ended_at=2, outcome=outcome)
    assert fleet.apply(Finish(task_id=task.task_id, owner="w#1", to=to, attempt=attempt, **why)).code == "ok"
    return fleet.task(task.task_id)


#: body, headers and the status that says so
NO_GOOD: tuple[tuple[bytes, dict[str, str], int], ...] = (
    (b"{}", {"content-type": "text/plain"}, 415),
    (b"{}", {"content-type": "application/x-www-form-urlencoded"}, 415),
    (b"{", {}, 400),
    (b'{"ids": ["a"], "ids": ["b"]}', {}, 400),
    (b'{"ids": NaN}', {}, 400),
    (b'{"ids": ["\\u0000"]}', {}, 400),
    (b'{"ids": ["\\ud800"]}', {}, 400),
    (b"\xff\xfe", {}, 400),
    (b"[" * 100_000, {}, 400),
    (b'{"ids": ["x"], "reazon": "misspelt"}', {}, 422),
    (b'{"ids": ["x"], "filter": "shop:s1"}', {}, 422),
    (b'{"ids": ["x"], "yes": "off"}', {}, 422),
    (b'{"ids": ["x"], "dry_run": 0}', {}, 422),
    (b"{}", {"content-encoding": "gzip"}, 415),
    (b'{"filter": "' + b"x" * 1_000_001 + b'"}', {}, 413),
    (b'{"filter": "' + b"x" * 5_000_000 + b'"}', {}, 413),
    (b"{}", {"origin": "https://evil.example"}, 403),
    (b"{}", {"host": "evil.example"}, 421),
)


def test_what_is_no_good_request_is_refused_in_words(api: Api) -> None:
    token = api.token("operator")
    for body, headers, status in NO_GOOD:
        sent = {"content-type": "application/json"} | headers
        with api.client(token) as ask:  # each anew: the server closes where it does not read to the end
            problem(ask.post("/api/v1/tasks/cancel", content=body, headers=sent), status)


def test_a_page_of_another_server_is_not_sent_for_a_token(api: Api) -> None:
    with api.client(api.token("admin"), origin="https://evil.example") as ask:
        told = problem(ask.post("/api/v1/shops/pdd:s1/pause", json={}), 403, "foreign_origin")
    assert "Origin" in told["remedy"]
    assert "token" not in told["remedy"]


def test_who_may_change_nothing_through_a_read_only_server_is_not_sent_for_a_token(api: Api) -> None:
    fleet = api.fleet
    token, place = api.token("admin"), replace(fleet.settings, read_only=True)
    engine = assembly.open_engine(place)
    try:
        with serving(fleet, engine) as closed, closed.client(token) as ask:
            told = problem(ask.post("/api/v1/shops/pdd:s1/pause", json={}), 403, "role.read_only")
    finally:
        engine.close()
    assert told["remedy"] == "Ask a server that was not started read-only; no token changes that."
    with api.by("viewer") as ask:
        told = problem(ask.post("/api/v1/shops/pdd:s1/pause", json={}), 403)
    assert "Ask an admin for a token" in str(told["remedy"]), "there a token does"


def test_the_field_with_what_no_text_shows_is_named(api: Api) -> None:
    with api.client(api.token("operator")) as ask:
        for body, field, what in (
            ('{"shops": ["pdd:s1", "pdd:\\u0000"], "type": "work"}', "shops.1", "NUL"),
            ('{"type": "work", "payload": {"a": {"b": "x\\ud800"}}}', "payload.a.b", "surrogate"),
            ('{"type": "work", "payload": {"\\udfff": 1}}', "payload", "surrogate"),
        ):
            answer = ask.post("/api/v1/tasks", content=body, headers={"content-type": "application/json"})
            found = problem(answer, 400, "malformed")
            assert found["field"] == field, found
            assert what in found["detail"]
            assert field in found["remedy"]


def test_a_body_that_is_no_json_is_told_with_its_place(api: Api) -> None:
    with api.client(api.token("operator")) as ask:
        for body, told in (
            ('{"type": "work"\n "shops": []}', "a , is missing in line 2, at character 2"),
            ('{"type": }', "a value is missing in line 1, at character 10"),
            ("{'type': 1}", "a name in double quotes is missing in line 1, at character 2"),
            ('{"type": "work}', "the quotation mark in line 1, at character 10, is never closed"),
            ('{"type": 1, "type": 2}', "the key 'type' stands twice"),
            ("\ufeff{}", "byte order mark"),
            ("[" * 100_000, "nested too deeply"),
        ):
            answer = ask.post("/api/v1/tasks", content=body.encode(), headers={"content-type": "application/json"})
            found = problem(answer, 400, "malformed")
            assert f"the body is not JSON: {told}"[:20] in found["detail"]
            assert told in found["detail"], found
            assert "send it again" in found["remedy"]
        answer = ask.get("/api/v1/work", params={"shop": "pdd:s1", "type": "work", "payload": '{"a"}'})
        assert problem(answer, 422)["detail"] == "payload is not JSON: a : is missing in line 1, at character 5"


def test_a_priority_may_come_as_the_number_it_is(api: Api) -> None:
    with api.client(api.token("operator")) as ask:
        for given, status in ((7, 201), ("7", 201), (11, 422), (True, 422), (1.5, 422)):
            body = {
                "shops": ["pdd:s1"],
                "type": "work",
                "priority": given,
                "payload": {"n": str(given) + str(type(given))},
            }
            answer = ask.post("/api/v1/tasks", json=body)
            assert answer.status_code == status, (given, answer.text)


def test_a_misspelt_word_of_an_address_is_refused(api: Api) -> None:
    """Without its filter a question is about everything."""
    with api.client() as ask:
        for address, field in (
            ("/api/v1/tasks?filtr=status:dead", "filtr"),
            ("/api/v1/tasks?filter=shop:s1&filter=shop:s2", "filter"),
            ("/api/v1/tasks/nobody/log?atempt=1", "atempt"),
            ("/api/v1/stats?x", "x"),
            ("/metrics?x=1", "x"),
            ("/api/v1/events?shops=s1", "shops"),
        ):
            assert problem(ask.get(address), 422, "usage")["field"] == field, address


def test_what_is_wrong_with_a_body_is_told_in_words(api: Api) -> None:
    with api.client(api.token("operator")) as ask:
        for body, field, told in (
            ({"shops": ["pdd:s1"], "type": "work", "payloat": {}}, "payloat", "did you mean payload?"),
            ({"shops": ["pdd:s1"], "type": "work", "x": 1}, "x", "there is batch, deadline, delay,"),
            ({"shops": [], "type": "work"}, "shops", "must have at least 1 item, not 0"),
            ({"shops": "pdd:s1", "type": "work"}, "shops", "must be a list"),
            ({"shops": ["pdd:s1"], "type": 1}, "type", "must be a text"),
            ({"shops": ["pdd:s1"], "type": "work", "payload": []}, "payload", "must be a JSON object"),
            ({"shops": ["pdd:s1"], "type": "work", "strict": "yes"}, "strict", "must be true or false"),
        ):
            found = problem(ask.post("/api/v1/tasks", json=body), 422, "usage")
            assert found["field"] == field
            assert told in str(found["detail"]), found


def test_strange_addresses_find_nothing(api: Api) -> None:
    with api.client() as ask:
        for path in ("/nope", "/api/v1/tasks/..%2f..%2fetc", "/api/v1/shops/%E2%80%AE", "/api/v1/schedules/-x"):
            problem(ask.get(path), 404)
        problem(ask.get("/api/v1/shops/a%00b"), 400)
        problem(ask.get("/api/v1/tasks", params={"filter": "x" * 20_000}), 413)
        problem(ask.delete("/api/v1/stats"), 405)


def test_who_asks_too_often_is_told_to_wait(fleet: Fleet) -> None:
    # an engine of the fleet's own, which closes it: what pika leaves open is found at any later collection
    with serving(fleet, fleet.open(api=ApiSettings(requests_per_minute=3))) as api, api.client() as ask:
        answers = [ask.get("/api/v1/types") for _ in range(5)]
    told = [one for one in answers if one.status_code == 429]
    assert told
    problem(told[0], 429, "too_many")
    assert int(told[0].headers["retry-after"]) >= 1


def test_a_lost_store_is_an_outage_and_no_fault(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object, **_words: object) -> None:
        raise StoreUnavailable("nobody answers")

    engine = api.fleet.open()
    with serving(api.fleet, engine) as lost, lost.client() as ask:
        assert ask.get("/api/v1/types").status_code == 200
        monkeypatch.setattr(engine.store, "query", silent)
        answer = ask.get("/api/v1/tasks")
    problem(answer, 503)
    assert int(answer.headers["retry-after"]) >= 1


def test_on_another_address_it_needs_tls_or_a_word_and_every_request_a_token(fleet: Fleet) -> None:
    with pytest.raises(UsageError, match="--plain-text"), serving(fleet, host="0.0.0.0"):
        pass
    with serving(fleet, host="0.0.0.0", plain_text=True) as api:
        port = api.address.rpartition(":")[2]
        reached = Api(fleet, f"http://127.0.0.1:{port}")
        with reached.client() as ask:
            problem(ask.get("/api/v1/stats"), 401, "token.missing")
        with reached.by("viewer") as ask:
            assert ask.get("/api/v1/stats").status_code == 200


def test_a_body_that_never_comes_holds_nobody_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.api.entrance.BODY_S", 0.2)
    host, _, port = api.address.removeprefix("http://").partition(":")
    head = (
        f"POST /api/v1/tasks HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        "Content-Length: 10\r\n\r\n{"
    )
    with socket.create_connection((host, int(port)), timeout=30) as slow:
        slow.sendall(head.encode())
        assert slow.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_line_without_end_is_refused(api: Api) -> None:
    host, _, port = api.address.removeprefix("http://").partition(":")
    for length in (17_000, 70_000, 1_000_000):
        head = f"GET /api/v1/tasks?filter={'x' * length} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
        with socket.create_connection((host, int(port)), timeout=30) as long:
            with suppress(OSError):  # it need not read all of it
                long.sendall(head.encode())
            with suppress(ConnectionResetError):
                assert long.recv(4096).startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 ")), length
        with api.client() as ask:
            assert ask.get("/api/v1/types").status_code == 200


def test_who_says_nothing_holds_no_connection(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.api.server.HEAD_S", 0.3)
    host, _, port = api.address.removeprefix("http://").partition(":")
    begun = f"GET /api/v1/time-zone HTTP/1.1\r\nHost: {host}:{port}\r\n".encode()
    for first in (b"", b"GET / HT", begun + b"\r\n"):
        with socket.create_connection((host, int(port)), timeout=30) as idle:
            idle.sendall(first)
            if begun in first:
                assert idle.recv(65_536).startswith(b"HTTP/1.1 200 ")
                idle.sendall(begun)
            told = b""
            while part := idle.recv(65_536):
                told += part
        head, _, body = told.rpartition(b"\r\n\r\n")
        assert b"HTTP/1.1 408 " in head, told[:300]
        assert json.loads(body)["code"] == "too_slow"


def test_one_connection_too_many_is_told_to_come_back(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.api.server.CONNECTIONS", 2)
    host, _, port = api.address.removeprefix("http://").partition(":")
    with (
        socket.create_connection((host, int(port)), timeout=30),
        socket.create_connection((host, int(port)), timeout=30) as second,
        api.client() as ask,
    ):
        told = problem(ask.get("/api/v1/types"), 503, "busy")
        assert "2 connections" in str(told["detail"])
        second.close()
        for _ in range(200):  # the server hears of it a moment later
            if (answer := ask.get("/api/v1/types")).status_code == 200:
                break
    assert answer.status_code == 200


def test_a_watcher_that_asks_for_heads_is_answered(api: Api) -> None:
    with api.client() as ask:
        got, head = ask.get("/api/v1/types"), ask.head("/api/v1/types")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == got.headers["content-length"]
        assert ask.head("/").status_code == 200
        assert ask.head("/api/v1/nothing").status_code == 404
        assert ask.head("/api/v1/events").status_code == 405


def test_what_is_no_request_is_answered_by_a_problem_too(api: Api) -> None:
    host, _, port = api.address.removeprefix("http://").partition(":")
    for sent in (b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01 a TLS client\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=30) as raw:
            raw.sendall(sent)
            said = b""
            while part := raw.recv(4096):
                said += part
        head, _, body = said.partition(b"\r\n\r\n")
        status, *lines = head.decode().splitlines()
        told = dict(line.split(": ", 1) for line in lines)
        assert status.startswith("HTTP/1.1 400 "), sent
        assert told["content-type"] == "application/problem+json"
        found = json.loads(body)
        assert (found["status"], found["code"], found["request_id"]) == (400, "malformed", told["x-request-id"])


def test_it_says_nothing_of_secrets(api: Api) -> None:
    task_id = api.fleet.create(password="hunter2-and-more")
    with api.by("admin") as ask:
        said = ask.get(f"/api/v1/tasks/{task_id}").text
    assert "hunter2-and-more" not in said


def test_rules_and_channels_of_alerts_are_changed_by_an_admin(api: Api) -> None:
    words = {"limits": {"high_minutes": 7}, "for_s": 0, "severity": "warning", "channels": ["ops"], "enabled": False}
    with api.by("admin") as ask:
        made = ask.put("/api/v1/alerts/channels/ops", json={"kind": "mail", "to": "duty@fleet.example", "rate": 3})
        assert made.status_code == 200, made.text
        assert (made.json()["replaced"], made.json()["address"]) == (False, False)
        rule = ask.put("/api/v1/alerts/rules/oldest_wait", json=words).json()["rule"]
        again = ask.put("/api/v1/alerts/rules/oldest_wait", json=words).json()["rule"]
        assert again["version"] == rule["version"], "what is so already is no new version"
        assert (rule["limits"]["high_minutes"], rule["for_s"], rule["severity"], rule["enabled"]) == (
            7,
            0,
            "warning",
            0,
        )
        added = ask.put("/api/v1/alerts/rules/night", json={"measure": "oldest_wait"})
        assert added.json()["rule"]["name"] == "night"
        problem(ask.put("/api/v1/alerts/rules/nothing", json={}), 404, "alert.no_rule")
        problem(ask.put("/api/v1/alerts/rules/oldest_wait", json={"limits": {"a=1": 2}}), 422)
        problem(ask.put("/api/v1/alerts/channels/ops", json={"kind": "pigeon"}), 422)
        assert ask.post("/api/v1/alerts/rules/night/reset", json={}).json()["rule"] is None
        assert ask.post("/api/v1/alerts/rules/oldest_wait/reset", json={}).json()["rule"]["enabled"]
        assert ask.delete("/api/v1/alerts/channels/ops").json() == {"removed": "ops"}
        problem(ask.delete("/api/v1/alerts/channels/ops"), 404, "alert.no_channel")
    assert entry(api, "alert.channel_remove")[0] == "a-admin@rest"
    with api.by("viewer") as ask:
        problem(ask.put("/api/v1/alerts/channels/ops", json={"kind": "mail", "to": "duty@fleet.example"}), 403)


def test_shops_and_types_come_from_another_program(api: Api) -> None:
    rows = [{"platform": "pdd", "shop_id": "s1", "group": "a"}, {"platform": "temu", "shop_id": "t9", "concurrency": 2}]
    with api.by("admin") as ask:
        assert ask.post("/api/v1/shops", json={"shops": rows}).json()["imported"] == 2
        shown = ask.get("/api/v1/shops/temu:t9").json()["shop"]
        assert (shown["concurrency"], ask.get("/api/v1/shops/pdd:s1").json()["shop"]["group"]) == (2, "a")
        problem(ask.post("/api/v1/shops", json={"shops": [rows[0], rows[0]]}), 422)
        problem(ask.post("/api/v1/shops", json={"shops": [{"platform": "no such", "shop_id": "x"}]}), 422)
        kind = ask.get("/api/v1/types/work").json()["type"]
        look = ask.post("/api/v1/types", json={"types": [kind | {"timeout_s": 77}], "dry_run": True}).json()
        assert look["types"] == [{"name": "work", "what": "changed", "version": 2, "fields": ["timeout_s"]}]
        assert ask.get("/api/v1/types/work").json()["type"]["version"] == 1, "that was only a look"
        assert ask.post("/api/v1/types", json={"types": [kind | {"timeout_s": 77}]}).status_code == 200
        assert ask.get("/api/v1/types/work").json()["type"]["timeout_s"] == 77
        told = problem(ask.post("/api/v1/types", json={"types": [{"name": "bad", "timeout_s": -1}]}), 422)
        assert told["field"] == "timeout_s"
    with api.by("operator") as ask:
        problem(ask.post("/api/v1/types", json={"types": [kind]}), 403)


def test_what_was_and_who_takes_over(api: Api) -> None:
    with api.by("admin") as ask:
        then = ask.get("/api/v1/at", params={"when": "5m"}).json()
        assert (then["recorded"], then["numbers"]) == (False, None), "nobody has recorded here"
        problem(ask.get("/api/v1/at", params={"when": "tomorrow"}), 422)
        problem(ask.get("/api/v1/at"), 422)
        page = ask.get("/api/v1/handover", params={"since": "8h", "language": "zh"}).json()
        assert page["language"].startswith("zh")
        assert page["doubts"], "nobody leads"
        problem(ask.put("/api/v1/handover/plan", json={"at": ["08:00"]}), 404, "alert.no_channel")
        ask.put("/api/v1/alerts/channels/ops", json={"kind": "mail", "to": "duty@fleet.example"})
        made = ask.put("/api/v1/handover/plan", json={"at": ["08:00", "20:00"], "to": ["ops"]}).json()
        assert made["plan"]["at"] == ["08:00", "20:00"]
        assert ask.get("/api/v1/handover/plan").json()["plan"]["to"] == ["ops"]
        assert ask.post("/api/v1/handover/send", json={"to": ["ops"]}).json()["to"] == ["ops"]
        assert ask.delete("/api/v1/handover/plan").json() == {"was_set": True}
        assert ask.put("/api/v1/time-zone", json={"zone": "Asia/Shanghai"}).status_code == 200
        assert ask.get("/api/v1/time-zone").json()["time_zone"] == "Asia/Shanghai"
        problem(ask.put("/api/v1/time-zone", json={"zone": "Mars/Base"}), 422)


def test_the_audit_is_proved_and_breakers_have_their_rule(api: Api) -> None:
    task_id = api.fleet.create()
    with api.by("admin") as ask:
        assert ask.get("/api/v1/audit/verify").json()["ok"] is True
        problem(ask.post("/api/v1/audit/accept", json={"note": "why"}), 422, "audit.nothing_wrong")
        rule = ask.put("/api/v1/breakers/rule", json={"failures": 0, "max_cooldown_s": 600}).json()["rule"]
        assert (rule["failures"], rule["max_cooldown_s"]) == (0, 600)
        problem(ask.put("/api/v1/breakers/rule", json={}), 422)
        assert ask.get("/api/v1/breakers").json()["breakers"] == []
        ask.post("/api/v1/shops/pdd:s1/session/close", json={"kind": "captcha"})
        assert [one["session"] for one in ask.get("/api/v1/sessions").json()["sessions"]] == ["captcha"]
        assert ask.get(f"/api/v1/tasks/{task_id}/artifacts").json()["artifacts"] == []
        assert "roles" in ask.get("/api/v1/roles").json()


def test_a_few_dead_letters_are_tried_before_the_rest(api: Api) -> None:
    dead = [died(api.fleet, shop).task_id for shop in ("s1", "s2")]
    with api.by("operator") as ask:
        chosen = {"ids": dead, "yes": True, "probe": 1, "probe_wait_s": 1}
        said = ask.post("/api/v1/dead/republish", json=chosen).json()
        assert len(said["probes"]) == 1
        assert said["left"], "nobody runs it, so the rest stays dead"
        problem(ask.post("/api/v1/dead/republish", json=chosen | {"probe_wait_s": 3600}), 422)
