"""Whatever is sent to whatever route of the description, on both pairs: a person or a program made a mistake, never the
server; and a viewer's token changes nothing by any of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from services import assembly
from services.domain.gates.quiet_hours import Once, QuietHours
from services.domain.plans.schedule import Schedule
from services.domain.task.search.shared_view import SharedView
from services.settings.values import ApiSettings
from tests.integration.api_rig import Api, serving
from tests.integration.fleet_rig import Fleet
from tests.integration.test_api import died, problem
from tests.integration.test_promises import Desk

pytestmark = pytest.mark.deep

#: answers without end
STREAMS = {"/api/v1/events"}
CHANGES = {"post", "put", "patch", "delete"}
EXAMPLES = 6
KINDS = (
    "type", "promise", "alert_rule", "alert_channel", "handover", "fleet", "quiet_hours", "role", "breaker", "view",
    "cause", "alert_answer", "queue",
)  # fmt: skip


@pytest.fixture
def api(fleet: Fleet) -> Iterator[Api]:
    desk = Desk(fleet)
    desk.shops("s1")
    desk.promise()
    fleet.create(n=1)
    died(fleet)
    free = msgspec.structs.replace(fleet.settings, api=ApiSettings(requests_per_minute=1_000_000))
    with serving(fleet, fleet.open(api=free.api)) as found:
        yield found


def described(api: Api) -> dict[str, Any]:
    with api.client() as ask:
        answer = ask.get("/api/v1/openapi.json")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert isinstance(found, dict)
    return found


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("pair", "mode"),
    [
        ("embedded", GenerationMode.POSITIVE),
        ("fleet", GenerationMode.POSITIVE),
        ("embedded", GenerationMode.NEGATIVE),  # what is wrong in itself is refused before a driver hears of it
    ],
    indirect=["pair"],
)
def test_no_input_is_a_fault_of_the_server(api: Api, mode: GenerationMode) -> None:
    document = described(api)
    for path in STREAMS:
        del document["paths"][path]
    token = api.token("admin")
    tried = 0
    with api.client(token) as ask:
        for found in schemathesis.openapi.from_dict(document).get_all_operations():
            operation = found.ok()

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
            def tell(case: Any) -> None:
                sent = case.as_transport_kwargs(base_url=api.address)
                try:
                    answer = ask.request(
                        sent["method"],
                        sent["url"],
                        params=sent.get("params"),
                        headers={**sent.get("headers", {}), "authorization": f"Bearer {token}"},
                        json=sent.get("json"),
                    )
                except httpx.InvalidURL:  # longer than this client sends; `test_api` writes such a line itself
                    return
                assert answer.status_code < 500, (sent, answer.text)
                if answer.status_code >= 400:
                    problem(answer, answer.status_code)

            with suppress(Unsatisfiable):  # a question without parameters cannot be put wrongly
                tell()
                tried += 1
    assert tried > (60 if mode is GenerationMode.POSITIVE else 40)


def everything(api: Api) -> dict[str, Any]:
    """All that the store knows which a request might change; what is noted of the tokens themselves is left out."""
    store = api.fleet.engine.store
    return {
        "counts": msgspec.to_builtins(store.counts()),
        "pauses": msgspec.to_builtins(list(store.switches())),
        "shops": msgspec.to_builtins(list(store.shops())),
        "schedules": msgspec.to_builtins(list(store.schedules())),
        "workers": [one.worker for one in store.workers()],
        "limits": msgspec.to_builtins(store.limits()),
        "audit": [one.entry_id for one in store.audit(1000) if not one.outcome.startswith("refused")],
        "documents": {kind: dict(store.documents(kind)) for kind in KINDS},
    }


def test_a_viewer_changes_nothing_by_any_route(api: Api) -> None:
    """Each is refused for the role of the token and not for its words: whoever adds a route shows here a request that
    an operator could make.
    """
    one_of_each(api.fleet)
    document = described(api)
    changing = [(method, path) for path, found in document["paths"].items() for method in found if method in CHANGES]
    assert len(changing) > 70
    text = api.token("viewer")
    before, other = everything(api), []
    with api.client(text) as ask:
        for method, path in sorted(set(changing) - LOOKS):
            names, more = WHOLE.get((method, path.removeprefix("/api/v1")), ({}, {}))
            sent = body(document, document["paths"][path][method]) | more
            answer = ask.request(method.upper(), filled(path, names), json=sent)
            if (method, path) in EMPTY and answer.status_code == 200:
                continue
            if (answer.status_code, answer.json().get("code")) != (403, "role.needed"):
                other.append((method, path, answer.text))
    assert other == []
    assert everything(api) == before


def one_of_each(fleet: Fleet) -> None:
    """What routes change that is there already, all by the name ``orders``."""
    commands, now = assembly.commands(fleet.engine), fleet.engine.store.now_ms()
    commands.schedules.add(Schedule(name="orders", task_type="work", every_s=3600, all_shops=True))
    night = Once(start=now + 3_600_000, end=now + 7_200_000)
    commands.quiet.set(QuietHours(name="orders", scope="type:other", once=(night,), reason="stock-taking"))
    commands.views.share(SharedView(key="orders", title="orders", filter="status:dead"))


def test_who_may_only_look_may_look_everywhere(api: Api) -> None:
    document = described(api)
    with api.by("viewer") as ask:
        for path, found in document["paths"].items():
            if "get" in found and path not in STREAMS:
                asked = [one["name"] for one in found["get"].get("parameters", ()) if one.get("required")]
                words = ASKED.get(path.rpartition("/")[2], {})
                assert {one for one in asked if f"{{{one}}}" not in path} == words.keys(), path
                answer: httpx.Response = ask.get(filled(path), params=words)
                assert answer.status_code in {200, 404}, (path, answer.text)


#: what some questions need
ASKED = {"work": {"shop": "pdd:s1", "type": "work"}, "at": {"when": "5m"}}
#: by method and path: names and words of a request that the least one of its kind has not
WHOLE: dict[tuple[str, str], tuple[dict[str, str], dict[str, Any]]] = {
    ("post", "/tasks/prioritize"): ({}, {"priority": "high"}),
    ("post", "/tasks/resolve"): ({}, {"note": "seen"}),
    ("post", "/tasks/try"): ({}, {"reason": "the buyer waits"}),
    ("put", "/causes/{fingerprint}"): ({}, {"owner": "ann"}),
    ("post", "/causes/{fingerprint}/merge"): ({}, {"into": "9ac19ac19ac19ac1"}),
    ("put", "/shops/{shop}/limits"): ({}, {"concurrency": 1}),
    ("put", "/breakers/rule"): ({}, {"failures": 3}),
    ("post", "/queues/{scope}/pause"): ({"scope": "platform:pdd"}, {}),
    ("post", "/queues/{scope}/resume"): ({"scope": "platform:pdd"}, {}),
    ("put", "/queues/{scope}/limits"): ({"scope": "platform:pdd"}, {"concurrency": 1}),
    ("put", "/workers/{worker}/slots"): ({}, {"slots": "2"}),
    ("put", "/workers/{worker}/refuses"): ({}, {"types": ["work"]}),
    ("put", "/schedules/{name}"): ({"name": "late"}, {"every": "30m"}),
    ("post", "/schedules/{name}/backfill"): ({}, {"since": "yesterday"}),
    ("put", "/promises/{name}"): ({}, {"never_older_than": "60m"}),
    ("put", "/alerts/rules/{name}"): ({"name": "dead_letters"}, {}),
    ("post", "/alerts/rules/{name}/enable"): ({"name": "dead_letters"}, {}),
    ("post", "/alerts/rules/{name}/disable"): ({"name": "dead_letters"}, {}),
    ("post", "/types"): ({}, {"types": [{"name": "work"}]}),
    ("put", "/quiet-hours/{name}"): ({}, {"scope": "all", "weekly": ["mon-fri 22:00-06:00"]}),
    ("put", "/handover/plan"): ({}, {"at": ["08:00"]}),
}
#: where nothing is to be done, nobody is asked for a role: a schedule of this moment has missed nothing
EMPTY = {("post", "/api/v1/schedules/{name}/backfill")}
#: what asks a process to show something: a viewer may
LOOKS = {("post", "/api/v1/workers/{worker}/log")}
NAMES = {
    "shop": "pdd:s1",
    "worker": "w",
    "view": "orders",
    "task_id": "nobody",
    "name": "orders",
    "incident": "INC-1",
    "fingerprint": "9ac19ac19ac19ac1",
    "scope": "shop:pdd:s1",
}


def filled(path: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    return re.sub(r"{(\w+)}", lambda found: {**NAMES, **names}.get(found[1], "pdd:s1"), path)


def body(document: dict[str, Any], operation: dict[str, Any]) -> Any:
    """The least that a route takes."""
    asked = operation.get("requestBody")
    if asked is None:
        return {}
    return least(document, asked["content"]["application/json"]["schema"])


def least(document: dict[str, Any], schema: dict[str, Any], name: str = "") -> Any:
    if "$ref" in schema:
        return least(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], name)
    if "anyOf" in schema:
        return least(document, schema["anyOf"][0], name)
    if schema.get("type") == "object":
        needed = dict.fromkeys(schema.get("required", ()))
        known = schema.get("properties", {})
        wanted = [one for one in known if one in needed or one in {"ids", "yes", "shops", "type"}]
        return {one: least(document, known[one], one) for one in wanted}
    if schema.get("type") == "array":
        return [least(document, schema["items"], name)] if name in {"ids", "shops"} else []
    if schema.get("type") == "boolean":
        return True
    if schema.get("type") in {"integer", "number"}:
        return schema.get("minimum", 1)
    if "enum" in schema:
        return schema["enum"][0]
    return {"shops": "pdd:s1", "type": "work", "until": "2h", "when": "2h"}.get(name, "nobody")


def test_the_description_says_how_to_show_a_token(api: Api) -> None:
    found = described(api)
    assert found["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert "cdn" not in json.dumps(found)
    with api.client() as ask:
        page = ask.get("/docs")
        assert ask.get("/openapi.json").json() == found, "where programs look for it"
    assert page.status_code == 200
    assert "web/reference.js" in page.text
    assert "//" not in re.sub(r"<!.*?>", "", page.text)
