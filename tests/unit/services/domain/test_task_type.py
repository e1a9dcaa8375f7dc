"""Task types: reading, refusing, uniqueness, and checking payloads."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.types import task_type
from services.domain.types.task_type import TaskType, parse, uniqueness_key, validate_payload

RESOURCES = Path(__file__).resolve().parents[4] / "resources" / "task_types"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=5)
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "since": {"type": "string", "minLength": 10},
        "pages": {"type": "integer", "minimum": 1, "maximum": 50},
        "mode": {"enum": ["fast", "full"]},
        "items": {"type": "array", "items": {"type": "object", "required": ["id"]}},
    },
    "required": ["since"],
    "additionalProperties": False,
}


def document(**fields: Any) -> str:
    return json.dumps({"name": "sync_order", **fields})


def test_an_undefined_type_has_the_contract_defaults() -> None:
    kind = TaskType.default("sync_order")
    assert (kind.name, kind.executor, kind.timeout_s, kind.max_retries) == ("sync_order", "rpa", 600, 3)
    assert kind.idempotent
    assert (kind.uniqueness, kind.lane, kind.version, kind.schema) == ("shop_type_payload", "normal", 0, {})
    assert task_type.renamed(kind, "other") == TaskType.default("other")


@pytest.mark.parametrize("path", sorted(RESOURCES.glob("*.json")), ids=lambda path: path.stem)
def test_the_shipped_types_are_readable(path: Path) -> None:
    kind = parse(path.read_bytes())
    assert kind.name == path.stem
    assert set(kind.title) == {"en", "zh_CN"}


def test_a_dumped_type_reads_the_same() -> None:
    kind = parse(document(schema=ORDER, title={"en": "Orders"}, retry_base_s=5, idempotent=False))
    assert parse(task_type.dump(kind)) == kind
    assert type(kind) is TaskType


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", ""),
        ("[]", ""),
        ("{}", "name"),
        ('{"name": "os.system"}', "name"),
        (document(timeout_s="600"), "timeout_s"),
        (document(timeout_s=0), "timeout_s"),
        (document(timeout_s=-1), "timeout_s"),
        (document(timeout_s=315_360_000), "timeout_s"),
        (document(max_retries=21), "max_retries"),
        (document(retry_base_s=0), "retry_base_s"),
        (document(retry_base_s=500, retry_cap_s=10), "retry_base_s"),
        (document(retry_cap_s=10**6), "retry_cap_s"),
        (document(expected_s=-0.5), "expected_s"),
        (document(idempotent="no"), "idempotent"),
        (document(idempotant=False), "idempotant"),
        (document(uniqueness="shop"), "uniqueness"),
        (document(lane="urgent"), "lane"),
        (document(executor="os.system"), "executor"),
        (document(title="Orders"), "title"),
        (document(title={"en": 1}), "title"),
        (document(schema=[]), "schema"),
        (document(schema={"type": "objekt"}), "schema"),
        (document(schema={"pattern": "("}), "schema"),
        (document(schema={"$ref": "https://x.example/s.json"}), "schema"),
        (document(schema={"$ref": "file:///etc/passwd"}), "schema"),
        (document(schema={"properties": {"a": {"$dynamicRef": "other.json"}}}), "schema"),
        (document(schema={"description": "x" * 70_000}), "schema"),
    ],
)
def test_a_refusal_names_the_field(text: str, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.field == field
    assert field in str(caught.value)


def test_a_deep_schema_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"not": deep}
    with pytest.raises(UsageError, match="nested"):
        parse(document(schema=deep))
    with pytest.raises(UsageError):
        parse('{"name": "x", "schema": ' + '{"a":' * 100_000)


def test_keys_of_a_newer_program_may_be_passed_over() -> None:
    assert parse(document(colour="red"), known_only=False).name == "sync_order"


@given(st.text() | st.binary())
def test_no_text_raises_anything_else(text: str | bytes) -> None:
    with contextlib.suppress(UsageError):
        parse(text)


@given(OBJECTS)
def test_the_order_of_keys_does_not_matter_for_uniqueness(payload: dict[str, Any]) -> None:
    kind = TaskType.default("t")
    turned = dict(reversed(payload.items()))
    spaced, tight = json.dumps(payload, indent=1), json.dumps(turned, ensure_ascii=False, separators=(",", ":"))
    try:
        tight.encode()
    except UnicodeEncodeError:
        return
    assert uniqueness_key(kind, "pdd", "s", spaced) == uniqueness_key(kind, "pdd", "s", tight)


@pytest.mark.parametrize("other", ['{"n":1.0,"l":[{"m":1e3}]}', '{"l":[{"m":1000.00}],"n":1}'])
def test_a_whole_number_is_the_same_however_a_program_writes_it(other: str) -> None:
    kind = TaskType(name="t")
    typed = uniqueness_key(kind, "pdd", "s1", '{"n":1,"l":[{"m":1000}]}')
    assert uniqueness_key(kind, "pdd", "s1", other) == typed
    assert uniqueness_key(kind, "pdd", "s1", '{"n":1.5,"l":[{"m":1000}]}') != typed
    assert uniqueness_key(kind, "pdd", "s1", '{"n":"1.0","l":[{"m":1000}]}') != typed


def test_what_uniqueness_covers() -> None:
    def key(uniqueness: str, platform: str = "pdd", shop: str = "s", payload: str = '{"a":1}', name: str = "t") -> str:
        return uniqueness_key(TaskType(name=name, uniqueness=uniqueness), platform, shop, payload)

    assert key("none") == ""
    assert len(key("shop_type")) == 24
    assert key("shop_type") == key("shop_type", payload='{"a":2}')
    assert key("shop_type_payload") != key("shop_type_payload", payload='{"a":2}')
    for uniqueness in ("shop_type", "shop_type_payload"):
        others = {key(uniqueness, platform="temu"), key(uniqueness, shop="s2"), key(uniqueness, name="t2")}
        assert len(others | {key(uniqueness)}) == 4
    assert key("shop_type_payload", payload="not json") == key("shop_type_payload", payload="not json")


def test_every_object_suits_a_type_without_schema() -> None:
    assert validate_payload(TaskType.default("t"), {"a": 1}) == []


@pytest.mark.parametrize("payload", [[], "x", None, 3])
def test_a_payload_is_an_object(payload: object) -> None:
    (problem,) = validate_payload(TaskType.default("t"), payload)
    assert problem.code == "type"


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({"since": "2026-11-20"}, set()),
        ({}, {("since", "required")}),
        ({"since": 3}, {("since", "type")}),
        ({"since": "x"}, {("since", "minLength")}),
        ({"since": "2026-11-20", "pages": 0}, {("pages", "minimum")}),
        ({"since": "2026-11-20", "pages": 1.5}, {("pages", "type")}),
        ({"since": "2026-11-20", "mode": "slow"}, {("mode", "enum")}),
        ({"since": "2026-11-20", "page": 1}, {("page", "additionalProperties")}),
        ({"since": "2026-11-20", "items": [{"id": 1}, {}]}, {("items[1].id", "required")}),
        ({"pages": "a", "x": 1}, {("since", "required"), ("pages", "type"), ("x", "additionalProperties")}),
    ],
)
def test_problems_name_place_and_rule(payload: dict[str, Any], found: set[tuple[str, str]]) -> None:
    problems = validate_payload(TaskType(name="t", schema=ORDER), payload)
    assert {(problem.path, problem.code) for problem in problems} == found
    assert all(problem.message for problem in problems)


def test_a_problem_does_not_repeat_the_value() -> None:
    kind = TaskType(name="t", schema={"properties": {"password": {"type": "integer"}}})
    (problem,) = validate_payload(kind, {"password": "hunter2"})
    assert "hunter2" not in problem.message
    assert problem.params == {"expected": "integer"}


def test_a_stored_schema_that_cannot_be_applied_is_a_problem_not_a_crash() -> None:
    for schema in ({"$ref": "https://x.example/never"}, {"$ref": "#/nowhere"}, {"$ref": "#"}):
        problems = validate_payload(TaskType(name="t", schema=schema), {"a": {"b": 1}})
        assert [problem.code for problem in problems] == ["schema"], schema


@given(OBJECTS, OBJECTS)
def test_validation_never_raises(schema: dict[str, Any], payload: dict[str, Any]) -> None:
    try:
        kind = parse(json.dumps({"name": "t", "schema": schema}))
    except UsageError:
        return
    assert isinstance(validate_payload(kind, payload), list)


@pytest.mark.parametrize(
    ("fields", "asks_ms"),
    [
        ({}, 0),
        ({"unique_for": "1h"}, 3_600_000),
        ({"idempotent": False}, 120_000),
        ({"idempotent": False, "unique_for": "1s"}, 1_000),
        ({"idempotent": False, "uniqueness": "none"}, 0),
    ],
)
def test_what_may_not_run_twice_asks_why_when_it_has_just_succeeded(fields: dict[str, Any], asks_ms: int) -> None:
    now = 1_900_000_000_000
    since = task_type.done_since(TaskType(name="t", **fields), now)
    assert since == (now - asks_ms if asks_ms else 0)


def test_fields_of_the_payload_are_named_for_the_index() -> None:
    kind = parse(document(schema=ORDER, indexed=["since", "items.id"]))
    assert kind.indexed == ("since", "items.id")
    assert parse(task_type.dump(kind)) == kind


@pytest.mark.parametrize(
    ("indexed", "words"),
    [
        ([str(n) for n in range(9)], "8 fields at most"),
        (["a", "a"], "twice"),
        (["a b"], "such as order_id"),
        (["a|b"], "such as order_id"),
        (["a*"], "such as order_id"),
        (["a..b"], "such as order_id"),
        ([""], "such as order_id"),
        (["x" * 65], "such as order_id"),
        (["login.password"], "a secret"),
        (["sinse"], "it has since, pages, mode, items"),
    ],
)
def test_an_index_that_could_find_nothing_is_refused(indexed: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        parse(document(schema=ORDER, indexed=indexed))
    assert refused.value.field == "indexed"
