"""Whatever is sent to whatever route of the description, on both pairs: a person or a program made a mistake, never the
server; and a viewer's token changes nothing by any of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from services.settings.values import ApiSettings
from tests.integration.api_rig import Api, serving
from tests.integration.fleet_rig import Fleet
from tests.integration.test_api import died, problem
from tests.integration.test_promises import Desk

#: answers without end
STREAMS = {"/api/v1/events"}
CHANGES = {"post", "put", "patch", "delete"}
EXAMPLES = 6
KINDS = (
    "type", "promise", "alert_rule", "alert_channel", "schedule", "handover", "fleet", "quiet_hours", "role", "breaker"
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
        "audit": [one.entry_id for one in store.audit(1000) if not one.outcome.startswith("refused")],
        "documents": {kind: dict(store.documents(kind)) for kind in KINDS},
    }


def test_a_viewer_changes_nothing_by_any_route(api: Api) -> None:
    document = described(api)
    routes = [(method, path, one) for path, found in document["paths"].items() for method, one in found.items()]
    changing = [found for found in routes if found[0] in CHANGES]
    assert len(changing) > 30
    text = api.token("viewer")
    before = everything(api)
    with api.client(text) as ask:
        for method, path, one in changing:
            answer = ask.request(method.upper(), filled(path), json=body(document, one))
            assert answer.status_code in {403, 404, 409, 422}, (method, path, answer.text)
    assert everything(api) == before


def test_a_viewer_is_refused_for_the_role_where_the_request_is_whole(api: Api) -> None:
    """The routes of the walk above are not refused for their words alone."""
    document = described(api)
    refused = set()
    with api.by("viewer") as ask:
        for path, found in document["paths"].items():
            for method in CHANGES & found.keys():
                answer = ask.request(method.upper(), filled(path), json=body(document, found[method]))
                if answer.json().get("code") == "role.needed":
                    refused.add((method, path))
    assert len(refused) > 25, sorted(refused)


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
NAMES = {
    "shop": "pdd:s1",
    "task_id": "nobody",
    "name": "orders",
    "incident": "INC-1",
    "fingerprint": "9ac19ac19ac19ac1",
    "scope": "shop:pdd:s1",
}


def filled(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: NAMES.get(found[1], "pdd:s1"), path)


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
    assert page.status_code == 200
    assert "web/reference.js" in page.text
    assert "//" not in re.sub(r"<!.*?>", "", page.text)
