"""Flows of the browser: which payloads are refused, where the fault stands, and what the others ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.domain.types import flow, flow_text, task_type
from services.domain.types.flow_steps import STEPS, Click, Goto, IfVisible, Screenshot, WaitFor

FILE = Path(__file__).parents[4] / "resources" / "task_types" / "browser_flow.json"
KIND = task_type.parse(FILE.read_bytes())
GOTO = {"do": "goto", "url": "/orders"}


def faults(*steps: object, **payload: Any) -> list[tuple[str, str]]:
    """Path and sentence of everything that is wrong."""
    found = task_type.validate_payload(KIND, {"steps": list(steps), **payload})
    return [(problem.path, problem.message) for problem in found]


def nested(depth: int) -> dict[str, Any]:
    """Steps within steps."""
    inner = nested(depth - 1) if depth else {"do": "click", "selector": "a"}
    return {"do": "if_visible", "selector": ".next", "then": [inner]}


def test_the_type_carries_the_schema_of_the_steps() -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"))
    assert document["schema"]["$defs"]["step"] == flow.step_schema(), (
        "write resources/task_types/browser_flow.json anew"
    )
    assert list(STEPS) == document["schema"]["$defs"]["step"]["properties"]["do"]["enum"]
    assert len(STEPS) == 14


@pytest.mark.parametrize(
    ("steps", "path", "words"),
    [
        ([], "steps", "at least 1"),
        ([GOTO, GOTO, GOTO, {"do": "click"}], "steps[3].selector", "is missing"),
        ([{"url": "/"}], "steps[0].do", "is missing"),
        ([{"do": "fly"}], "steps[0].do", "must be one of goto"),
        ([GOTO, "click"], "steps[1]", "must be of type object"),
        ([GOTO | {"colour": "red"}], "steps[0].colour", "is not known"),
        ([GOTO | {"timeout_s": 0}], "steps[0].timeout_s", "more than 0"),
        ([GOTO | {"timeout_s": 10**9}], "steps[0].timeout_s", "at most"),
        ([GOTO | {"retries": 99}], "steps[0].retries", "at most"),
        ([{"do": "sleep", "seconds": 10**6}], "steps[0].seconds", "at most"),
        ([{"do": "wait_for"}], "steps[0].selector", "selector, url"),
        ([{"do": "scroll"}], "steps[0].selector", "selector, to, by"),
        ([{"do": "download", "selector": "a", "url": "/b"}], "steps[0].url", "not both"),
        ([{"do": "extract", "as": "x"}], "steps[0].selector", "is missing"),
        ([{"do": "extract", "as": "x", "what": "attribute", "selector": "a"}], "steps[0].attribute", "is missing"),
        ([{"do": "extract", "as": "1 x", "selector": "a"}], "steps[0].as", "must match"),
        ([{"do": "upload", "selector": "a", "file": "../../etc/passwd"}], "steps[0].file", "upload folder"),
        ([{"do": "upload", "selector": "a", "file": "C:\\x"}], "steps[0].file", "upload folder"),
        ([{"do": "download", "selector": "a", "file": "../x"}], "steps[0].file", "must match"),
        ([{"do": "if_visible", "selector": "a", "then": [{"do": "click"}]}], "steps[0].then[0].selector", "missing"),
        ([{"do": "if_visible", "selector": "a", "then": []}], "steps[0].then", "at least 1"),
        ([GOTO | {"url": "{{payload.shop"}], "steps[0].url", "is no template"),
        ([GOTO | {"url": "{{env.PATH}}"}], "steps[0].url", "is no template"),
        ([GOTO | {"url": "{{payload.lost}}"}], "steps[0].url", "payload.lost is not in the payload"),
        ([GOTO | {"url": "{{payload.steps}}"}], "steps[0].url", "not a single value"),
        ([{"do": "click", "selector": "{{secret.password}}"}], "steps[0].selector", "a secret goes only into"),
        ([GOTO | {"url": " java\tscript:alert(1)"}], "steps[0].url", "javascript: are not opened"),
        ([nested(6)], "steps[0].then[0].then[0].then[0].then", "more than 4 deep"),
    ],
)
def test_a_fault_is_told_with_its_place(steps: list[object], path: str, words: str) -> None:
    (found,) = faults(*steps)
    assert found[0] == path
    assert words in found[1]


def test_what_is_filled_in_is_looked_at_too() -> None:
    assert faults(GOTO | {"url": "{{payload.u}}"}, u="javascript:1")[0][0] == "steps[0].url"
    assert not faults(GOTO | {"url": "/{{payload.deep.0.id}}"}, deep=[{"id": 7}])


def test_too_many_steps_in_all_are_refused() -> None:
    many = {"do": "if_visible", "selector": "a", "then": [{"do": "click", "selector": "a"}] * 200}
    assert faults(many, many, many)[0][0] == "steps"


def test_steps_become_values_with_their_place() -> None:
    steps = flow.steps_of(
        "browser_flow",
        {
            "steps": [
                GOTO,
                {"do": "if_visible", "selector": "a", "then": [{"do": "click", "selector": "b", "name": "n"}]},
            ]
        },
    )
    assert [step.title for step in flow.walk(steps)] == ["1 goto", "2 if_visible", "n"]
    assert isinstance(steps[1], IfVisible)
    assert steps[1].then == (Click(place="2.then.1", name="n", selector="b"),)


def test_the_short_types_are_flows_too() -> None:
    steps = flow.steps_of("screenshot", {"url": "/a", "wait_for": ".row"})
    assert [type(step) for step in steps] == [Goto, WaitFor, Screenshot]
    assert isinstance(steps[2], Screenshot)
    assert steps[2].full_page
    assert [type(step) for step in flow.steps_of("get_content", {"url": ""})] == [Goto]


def test_a_type_of_ones_own_needs_steps() -> None:
    own = task_type.TaskType(name="mine", executor="browser")
    (problem,) = task_type.validate_payload(own, {})
    assert problem.path == "steps"
    assert task_type.validate_payload(own, {"steps": [{"do": "click"}]})[0].path == "steps[0].selector"


def test_secrets_are_named_once() -> None:
    fill = {"do": "fill", "selector": "a", "value": "{{secret.password}}"}
    inside = {"do": "if_visible", "selector": "a", "then": [fill, fill | {"value": "{{ secret.pin }}"}]}
    assert flow.secrets_of(flow.steps_of("x", {"steps": [fill, inside]})) == ["password", "pin"]


def test_filling_does_not_look_into_what_it_filled() -> None:
    payload = {"a": "{{secret.b}}", "n": 1.5, "none": None, "yes": True}
    assert flow_text.fill("{{payload.a}}/{{payload.n}}{{payload.none}}{{payload.yes}}", payload, {"b": "x"}) == (
        "{{secret.b}}/1.5true"
    )
    with pytest.raises(flow_text.MissingSecret):
        flow_text.fill("{{secret.c}}", payload, {"b": "x"})


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://shop.example/x", True),
        ("HTTP://shop.example", True),
        ("about:blank", True),
        ("file:///etc/passwd", False),
        ("FiLe:/etc/passwd", False),
        ("data:text/html,x", False),
        ("\x01javascript:1", False),
        ("java\nscript:1", False),
        ("chrome://settings", False),
        ("view-source:http://x", False),
        ("/path", False),
    ],
)
def test_only_addresses_of_the_web_are_opened(url: str, allowed: bool) -> None:
    assert (flow_text.refused(url) == "") is allowed
    assert flow_text.refused("file:///a", ("file",)) == ""
