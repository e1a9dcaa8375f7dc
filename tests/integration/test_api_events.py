"""The stream of events and the metrics of the server of ``api``, on both pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from services import assembly
from services.domain.change import Claim, Create, Finish
from services.domain.errors import BrokerUnavailable
from services.domain.promises import standing
from services.domain.promises.promise import STATE
from services.domain.task.record import Attempt
from services.settings.values import ApiSettings
from tests.contract.waiting import eventually
from tests.integration.api_rig import Api, serving
from tests.integration.fleet_rig import Fleet
from tests.integration.test_api import problem
from tests.integration.test_promises import Desk


@pytest.fixture
def api(fleet: Fleet) -> Iterator[Api]:
    fleet.shop("s1")
    with serving(fleet) as found:
        yield found


class Stream:
    """Reads events one by one, as the standard says."""

    def __init__(self, answer: httpx.Response) -> None:
        self.last = ""
        self._lines = answer.iter_lines()

    def next(self) -> tuple[str, dict[str, Any]]:
        """Name and data of the next one; signs of life and places without data are passed over."""
        name, data = "message", ""
        for line in self._lines:
            if not line:
                if data:
                    return name, json.loads(data)
                name = "message"
                continue
            word, _, value = line.partition(":")
            if word == "id":
                self.last = value.strip()
            elif word == "event":
                name = value.strip()
            elif word == "data":
                data += value.strip()
        raise AssertionError("the stream has ended")

    def begun(self) -> str:
        """The place that is told at once."""
        for line in self._lines:
            if line.startswith("id:"):
                self.last = line.partition(":")[2].strip()
                return self.last
        raise AssertionError("the stream has ended")


@contextmanager
def stream(api: Api, last: str = "", token: str = "", **words: str) -> Iterator[Stream]:
    headers = {"last-event-id": last} if last else {}
    with api.client(token) as ask, ask.stream("GET", "/api/v1/events", params=words, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Stream(answer)


def test_who_comes_back_hears_what_happened_meanwhile_and_nothing_twice(api: Api) -> None:
    with stream(api) as first:
        first.begun()
        ids = [api.fleet.create(n=1)]
        name, told = first.next()
        assert (name, told["task_id"], told["from"], told["to"]) == ("task", ids[0], "", "pending")
        place = first.last
    ids += [api.fleet.create(n=number) for number in range(2, 5)]
    heard: list[tuple[str, str]] = []
    with stream(api, place) as again:
        while ("task", ids[-1]) not in heard or len({one for _, one in heard}) < 4:
            name, told = again.next()
            heard.append((name, told["task_id"]))
            if told["task_id"] == ids[-1] and told["to"] == "queued":
                break
    assert list(dict.fromkeys(one for _, one in heard)) == ids
    rest = [one for one in heard if one[1] == ids[0]]
    assert len(rest) <= 1, "the creation was heard already; only that it was sent was not"


def test_only_what_was_asked_for_comes(api: Api) -> None:
    api.fleet.shop("s2")
    with stream(api, shop="pdd:s2", to="queued") as found:
        found.begun()
        api.fleet.create("s1", n=1)
        task_id = api.fleet.create("s2", n=2)
        assert found.next()[1]["task_id"] == task_id


def test_a_status_that_is_none_is_refused_rather_than_waited_for(api: Api) -> None:
    with api.client() as ask:
        problem(ask.get("/api/v1/events", params={"to": "dead,succeded"}), 422, "usage")


@pytest.mark.parametrize("cursor", ["nonsense", "0123456789abcdef/999999999", "0123456789abcdef/1-1"])
def test_a_place_of_another_life_is_answered_by_a_reset(api: Api, cursor: str) -> None:
    with stream(api, cursor) as found:
        name, told = found.next()
        assert (name, told["code"]) == ("reset", "gap")
        task_id = api.fleet.create(n=1)
        assert found.next()[1]["task_id"] == task_id


def test_a_stream_ends_when_its_token_does(api: Api) -> None:
    token = api.token("viewer", "watcher")
    with stream(api, token=token) as found:
        found.begun()
        assembly.commands(api.fleet.engine).tokens.revoke("watcher")
        api.fleet.create(n=1)
        with pytest.raises(AssertionError, match="has ended"):
            found.next()


def test_so_many_streams_and_no_more(fleet: Fleet) -> None:
    few = msgspec.structs.replace(fleet.settings, api=ApiSettings(streams=1))
    with serving(fleet, fleet.open(api=few.api)) as api:
        with stream(api) as found:
            found.begun()
            with api.client() as ask:
                answer = ask.get("/api/v1/events")
            assert (answer.status_code, answer.json()["code"]) == (429, "too_many_streams")

        def free() -> bool:
            with stream(api) as again:
                return bool(again.begun())

        eventually(lambda: _quietly(free), 30.0)


def _quietly(ask: Any) -> bool:
    try:
        return bool(ask())
    except AssertionError:
        return False


def test_metrics_tell_lanes_waits_and_how_long_attempts_took(api: Api) -> None:
    fleet = api.fleet
    task = fleet.task(fleet.create(n=1))
    fleet.create(n=2, priority="high")
    claim = Claim(task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=60_000)
    taken = fleet.apply(claim).task
    assert taken is not None
    attempt = Attempt(number=taken.attempt, worker="w", started_at=1, ended_at=2, outcome="succeeded")
    fleet.apply(Finish(task_id=task.task_id, owner="w#1", to="succeeded", attempt=attempt))

    def told() -> dict[str, Any] | None:
        with api.client() as ask:
            answer = ask.get("/metrics")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/plain")
        found = {
            (one.name, *sorted(one.labels.values())): one.value
            for family in text_string_to_metric_families(answer.text)
            for one in family.samples
        }
        return found if ("fleetdeck_attempt_seconds_count", "succeeded", "work") in found else None

    found = eventually(told, 30.0)
    assert found is not None
    assert found["fleetdeck_attempt_seconds_bucket", "+Inf", "succeeded", "work"] == 1
    assert found["fleetdeck_lane_depth", "high"] == 1
    assert found["fleetdeck_lane_depth", "dedicated"] == 0
    assert found["fleetdeck_lane_oldest_wait_seconds", "high"] >= 0
    assert found["fleetdeck_lane_retrying", "normal"] == 0
    assert found["fleetdeck_tasks", "succeeded"] == 1


def test_what_was_planned_long_ahead_has_not_waited_since_then(api: Api) -> None:
    now = api.fleet.engine.store.now_ms()
    made = api.fleet.task(api.fleet.create())
    fields = {"task_id": "planned", "created_at": now - 86_400_000, "due_at": now - 5_000, "uniq": ""}
    assert api.fleet.apply(Create(task=msgspec.structs.replace(made, **fields))).code == "created"
    with api.client() as ask:
        text = ask.get("/metrics").text
    found = {one.labels["lane"]: one.value for family in text_string_to_metric_families(text)
             if family.name == "fleetdeck_lane_oldest_wait_seconds" for one in family.samples}  # fmt: skip
    assert 0 <= found["normal"] < 3_600


def test_metrics_go_on_while_the_broker_is_away(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent() -> None:
        raise BrokerUnavailable("nobody answers")

    engine = api.fleet.open()
    with serving(api.fleet, engine) as server, server.client() as ask:
        monkeypatch.setattr(engine.broker, "depths", silent)
        answer = ask.get("/metrics")
    assert answer.status_code == 200
    found = {family.name: family.samples for family in text_string_to_metric_families(answer.text)}
    assert [one.value for one in found["fleetdeck_broker_up"]] == [0]
    assert "fleetdeck_lane_depth" not in found, "what nobody told is not told as nothing"
    assert found["fleetdeck_lane_parked"]


def test_metrics_tell_how_promises_stand_and_not_how_they_stood(api: Api) -> None:
    desk = Desk(api.fleet)
    desk.shops("s1", "s2")
    desk.promise()
    desk.promise(name="fresh", task_type="once", ago=0)
    desk.done("s1", 90)
    desk.done("s2", 1)
    assert promised(api)["fleetdeck_promises", "unjudged"] == 2
    desk.keeper.tick()
    with serving(api.fleet) as later:  # what was told a moment ago is told again
        found = promised(later)
    assert found["fleetdeck_promises", "broken"] == 1
    assert (
        found["fleetdeck_promise_shops", "orders", "broken"],
        found["fleetdeck_promise_shops", "orders", "kept"],
    ) == (1, 1)
    store = api.fleet.engine.store
    body = store.documents(STATE)["orders"]
    old = standing.DOCUMENT.load(body)
    store.put_document(
        STATE, "orders", standing.DOCUMENT.dump(msgspec.structs.replace(old, judged_at=old.judged_at - 3_600_000))
    )
    with serving(api.fleet) as later:
        found = promised(later)
    assert (found["fleetdeck_promises", "stale"], found["fleetdeck_promises", "broken"]) == (1, 0)
    assert ("fleetdeck_promise_shops", "orders", "broken") not in found


def promised(api: Api) -> dict[tuple[str, ...], float]:
    with api.client() as ask:
        answer = ask.get("/metrics")
    return {
        (one.name, *(one.labels[name] for name in sorted(one.labels))): one.value
        for family in text_string_to_metric_families(answer.text)
        for one in family.samples
    }
