"""Browser work as values: what a payload of the browser executor asks for, and everything that is wrong with it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

from msgspec import NODEFAULT
from msgspec.structs import fields

from services.domain.text.said import said
from services.domain.types import flow_text, schema
from services.domain.types.flow_steps import (
    STEPS,
    Download,
    Extract,
    Goto,
    IfVisible,
    Screenshot,
    Scroll,
    Step,
    Upload,
    WaitFor,
)
from services.domain.types.schema import Problem

EXECUTOR = "browser"
SCREENSHOT, GET_CONTENT = "screenshot", "get_content"
MAX_STEPS, MAX_DEPTH = 500, 4


def step_schema() -> dict[str, Any]:
    """The definition of one step, for the ``$defs`` of a task type's schema; ``if_visible`` refers to it again."""
    rules = [
        {
            "if": {"type": "object", "properties": {"do": {"const": word}}, "required": ["do"]},
            "then": _schema_of(kind),
        }
        for word, kind in STEPS.items()
    ]
    return {
        "type": "object",
        "required": ["do"],
        "properties": {"do": {"enum": list(STEPS)}},
        "allOf": rules,
    }


def steps_of(task_type: str, payload: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps that a payload without problems asks for. ``screenshot`` and ``get_content`` are short for some."""
    if "steps" in payload or task_type not in (SCREENSHOT, GET_CONTENT):
        return _parse_all(payload.get("steps", ()), "")
    url = str(payload.get("url") or "/")
    steps: list[Step] = [Goto(place="1", name="open", url=url)]
    if payload.get("wait_for"):
        steps.append(WaitFor(place="2", name="wait", selector=str(payload["wait_for"])))
    if task_type == SCREENSHOT:
        full = bool(payload.get("full_page", True))
        steps.append(Screenshot(place=str(len(steps) + 1), name="screenshot", full_page=full))
    return tuple(steps)


def problems(task_type: str, payload: Mapping[str, Any]) -> list[Problem]:
    """What no schema can say: templates that lead nowhere, addresses that are never opened, fields that exclude others.

    Asked after the schema of the type has been satisfied; a schema that lets bad steps pass is made up for here.
    """
    raw = payload.get("steps")
    if raw is None and task_type in (SCREENSHOT, GET_CONTENT):
        return list(flow_text.problems_of_text(payload, "url", str(payload.get("url", "")), address=True))
    if raw is None:
        return [Problem(path="steps", message=said("schema.missing"), code="required")]
    found = schema.problems(payload_schema(), payload)
    if found:
        return found
    count = sum(1 for _ in walk(_parse_all(raw, "")))
    if count > MAX_STEPS:
        text = said("flow.many", count=count, most=MAX_STEPS)
        return [Problem(path="steps", message=text, code="maxItems")]
    return list(_problems_of_steps(payload, raw, "steps", 1))[: schema.MAX_PROBLEMS]


@functools.cache
def payload_schema() -> dict[str, Any]:
    """The schema of ``browser_flow`` without words for people."""
    return {
        "type": "object",
        "required": ["steps"],
        "properties": {"steps": {"type": "array", "minItems": 1, "maxItems": 200, "items": {"$ref": "#/$defs/step"}}},
        "$defs": {"step": step_schema()},
    }


def walk(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step, also those inside others."""
    for step in steps:
        yield step
        if isinstance(step, IfVisible):
            yield from walk(step.then)
            yield from walk(step.otherwise)


def secrets_of(steps: Sequence[Step]) -> list[str]:
    """Names of the secrets that the steps fill in, each once."""
    names = [name for step in walk(steps) for text in texts_of(step).values() for name in flow_text.secrets_in(text)]
    return list(dict.fromkeys(names))


def texts_of(step: Step) -> dict[str, str]:
    """The fields of a step in which templates are filled, by their Python names."""
    return {
        name: value
        for name in step.__struct_fields__
        if name in flow_text.FILLED and isinstance(value := getattr(step, name), str)
    }


def _schema_of(kind: type[Step]) -> dict[str, Any]:
    described = [one for one in fields(kind) if get_origin(one.type) is Annotated]
    return {
        "required": [one.encode_name for one in described if one.default is NODEFAULT],
        "properties": {"do": True} | {one.encode_name: get_args(one.type)[1] for one in described},
        "additionalProperties": False,
    }


def _parse_all(raw: Sequence[Mapping[str, Any]], before: str) -> tuple[Step, ...]:
    return tuple(_parse(one, f"{before}{number}") for number, one in enumerate(raw, 1))


def _parse(raw: Mapping[str, Any], place: str) -> Step:
    kind = STEPS[raw["do"]]
    values: dict[str, Any] = {"place": place}
    for own, name in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        if name not in raw:
            continue
        value = raw[name]
        values[own] = _parse_all(value, f"{place}.{name}.") if isinstance(value, list) else value
    return kind(**values)


def _problems_of_steps(
    payload: Mapping[str, Any], raw: Sequence[Mapping[str, Any]], path: str, depth: int
) -> Iterator[Problem]:
    if depth > MAX_DEPTH:
        yield Problem(path=path, message=said("flow.deep", most=MAX_DEPTH), code="depth")
        return
    for number, one in enumerate(raw):
        at = f"{path}[{number}]"
        step = _parse(one, str(number + 1))
        yield from _problems_of_fields(step, at)
        for name, text in texts_of(step).items():
            yield from flow_text.problems_of_text(payload, f"{at}.{name}", text, address=name == "url")
        for name in ("then", "else"):
            if name in one:
                yield from _problems_of_steps(payload, one[name], f"{at}.{name}", depth + 1)


def _problems_of_fields(step: Step, at: str) -> Iterator[Problem]:
    """Fields of one step that need or exclude each other."""
    if isinstance(step, WaitFor | Download) and not step.selector and not step.url:
        yield Problem(path=f"{at}.selector", message=said("flow.one_of", names="selector, url"), code="required")
    if isinstance(step, Download) and step.selector and step.url:
        yield Problem(path=f"{at}.url", message=said("flow.not_both", name="selector"), code="conflict")
    if isinstance(step, Scroll) and not (step.selector or step.to or step.by):
        yield Problem(path=f"{at}.selector", message=said("flow.one_of", names="selector, to, by"), code="required")
    if isinstance(step, Extract) and step.what not in ("url", "title") and not step.selector:
        yield Problem(path=f"{at}.selector", message=said("schema.missing"), code="required")
    if isinstance(step, Extract) and step.what == "attribute" and not step.attribute:
        yield Problem(path=f"{at}.attribute", message=said("schema.missing"), code="required")
    if isinstance(step, Upload) and not flow_text.is_inside(step.file):
        yield Problem(path=f"{at}.file", message=said("flow.file"), code="file")
