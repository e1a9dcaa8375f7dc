"""Store or broker do not answer: every route says so in a problem document, and answers again when they do."""

from __future__ import annotations

import httpx
import pytest

from services.settings.values import ApiSettings
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration.api_rig import Api, serving
from tests.integration.test_api import problem
from tests.integration.test_api_any_input import ASKED, CHANGES, STREAMS, body, described, filled

pytestmark = [pytest.mark.fault, pytest.mark.rabbitmq, pytest.mark.redis, pytest.mark.deep]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lost", ["store", "broker"])
def test_no_route_fails_while_something_is_away(behind: Behind, lost: str) -> None:
    behind.fleet.shop("s1")
    engine = behind.fleet.open(
        broker=behind.engine.settings.broker,
        store=behind.engine.settings.store,
        api=ApiSettings(requests_per_minute=1_000_000),
    )
    with serving(behind.fleet, engine) as api:
        token = api.token("admin")
        document = described(api)
        with api.client(token) as ask:
            with (behind.store if lost == "store" else behind.broker).away():
                codes = walk(api, ask, document)
            assert set(codes.values()) <= {200, 201, 404, 409, 422, 503}, codes
            unavailable = [route for route, code in codes.items() if code == 503]
            assert len(unavailable) > (80 if lost == "store" else 2), codes
            eventually(lambda: ask.get("/api/v1/stats").status_code == 200, 60)
            assert set(walk(api, ask, document).values()) <= {200, 201, 404, 409, 422}


def walk(api: Api, ask: httpx.Client, document: dict[str, object]) -> dict[str, int]:
    """What each route answers; streams and what would reach into other machines are left out."""
    found = {}
    paths = document["paths"]
    assert isinstance(paths, dict)
    for path, methods in paths.items():
        if path in STREAMS:
            continue
        for method, one in methods.items():
            words = ASKED.get(path.rpartition("/")[2], {}) if method == "get" else {}
            content = body(document, one) if method in CHANGES and method != "delete" else None
            answer = ask.request(method.upper(), filled(path), params=words, json=content)
            found[f"{method} {path}"] = answer.status_code
            if answer.status_code >= 400:
                problem(answer, answer.status_code)
    return found
