"""No schema and no payload holds its checker up: each of these ended a worker, or would have taken it years."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.types import formats, schema

EVIL = r"^(\w+\s?)*$"
UNLUCKY = "a" * 60 + "!"


def diamond(keyword: str, count: int = 60) -> dict[str, Any]:
    """Each definition names the next one twice: 2 to the 60 ways through it."""

    def part(number: int) -> dict[str, Any]:
        following = {"$ref": f"#/$defs/d{number + 1}"}
        twice: Any = {"a": following, "b": following} if keyword == "dependentSchemas" else [following, following]
        return {keyword: twice}

    definitions = {f"d{number}": part(number) for number in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{count}": {}}}


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


#: schema, payload, what its only or first problem says; "" for none
TRIALS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "pattern": ({"properties": {"a": {"pattern": EVIL}}}, {"a": UNLUCKY}, "must match"),
    "pattern, long text": ({"properties": {"a": {"pattern": EVIL}}}, {"a": "a" * 500_000 + "!"}, "must match"),
    "pattern in items": ({"properties": {"a": {"items": {"pattern": EVIL}}}}, {"a": [UNLUCKY] * 500}, "must match"),
    "pattern behind a reference": (
        {"$defs": {"t": {"pattern": EVIL}}, "properties": {"a": {"$ref": "#/$defs/t"}}},
        {"a": UNLUCKY},
        "must match",
    ),
    "pattern behind an anchor": (
        {"$defs": {"t": {"$anchor": "t", "pattern": EVIL}}, "properties": {"a": {"$ref": "#t"}}},
        {"a": UNLUCKY},
        "must match",
    ),
    "pattern outside the keywords": (
        {"own_words": {"pattern": EVIL}, "properties": {"a": {"$ref": "#/own_words"}}},
        {"a": UNLUCKY},
        "must match",
    ),
    "pattern under not": ({"properties": {"a": {"not": {"pattern": EVIL}}}}, {"a": UNLUCKY}, ""),
    "pattern under if": (
        {"properties": {"a": {"if": {"pattern": EVIL}, "then": False, "else": {"maxLength": 3}}}},
        {"a": UNLUCKY},
        "at most 3",
    ),
    "patternProperties": (
        {"patternProperties": {EVIL: {"type": "string"}}, "additionalProperties": False},
        {UNLUCKY: 1},
        "not known",
    ),
    "patternProperties, met": ({"patternProperties": {EVIL: {"type": "string"}}}, {"a b": 1}, "type string"),
    "patternProperties, unevaluated": (
        {"patternProperties": {EVIL: {"type": "string"}}, "unevaluatedProperties": False},
        {UNLUCKY: 1},
        "Unevaluated",
    ),
    "patternProperties of a part, unevaluated": (
        {"allOf": [{"patternProperties": {EVIL: {"type": "string"}}}], "unevaluatedProperties": False},
        {UNLUCKY: 1},
        "Unevaluated",
    ),
    "propertyNames": ({"propertyNames": {"pattern": EVIL}}, {UNLUCKY: 1}, "must match"),
    "another draft inside": (
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-04/schema#", "pattern": EVIL}}},
        {"a": UNLUCKY},
        "must match",
    ),
    "another draft at the root": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "pattern": EVIL,
            "additionalProperties": {"$ref": "#"},
        },
        {"a": UNLUCKY},
        "must match",
    ),
    "large pattern, large text": (
        {"properties": {"a": {"pattern": "(a|b)*a" + "(a|b)" * 200}}},
        {"a": "ab" * 200_000},
        "too many steps",
    ),
    "format regex": ({"properties": {"a": {"format": "regex"}}}, {"a": "(" * 50_000}, "regular expression"),
    "reference to itself": ({"$ref": "#"}, {}, "in a circle"),
    "two references in a circle": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {},
        "in a circle",
    ),
    "circle with branches": ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, {}, "in a circle"),
    "dynamic circle": ({"$dynamicAnchor": "x", "$dynamicRef": "#x"}, {}, "in a circle"),
    "unknown reference": ({"$ref": "#/$defs/none"}, {}, "cannot be applied"),
    "unknown anchor": ({"$ref": "#none"}, {}, "cannot be applied"),
    "allOf diamond": (diamond("allOf"), {}, "too many steps"),
    "anyOf diamond": (diamond("anyOf") | {"unevaluatedProperties": False}, {"a": 1}, "too many steps"),
    "oneOf diamond": (diamond("oneOf"), {}, "too many steps"),
    "dependentSchemas diamond": (
        diamond("dependentSchemas") | {"unevaluatedProperties": False},
        {"a": 1, "b": 2},
        "too many steps",
    ),
    "anchors in a large schema": (
        {
            "$defs": {f"x{n}": {"type": "string"} for n in range(1_500)} | {"y": {"$anchor": "y", "type": "integer"}},
            "properties": {"a": {"items": {"$ref": "#y"}}},
        },
        {"a": list(range(5_000))},
        "",
    ),
    "enum of thousands": (
        {"properties": {"a": {"items": {"enum": [[n] for n in range(9_000)]}}}},
        {"a": [[-1]] * 60_000},
        "too many steps",
    ),
    "enum, usual": ({"properties": {"a": {"enum": [1, "b", [2], {"c": None}]}}}, {"a": {"c": None}}, ""),
    "enum, true is not 1": ({"properties": {"a": {"enum": [1]}}}, {"a": True}, "one of"),
    "enum, 1.0 is 1": ({"properties": {"a": {"enum": [1]}}}, {"a": 1.0}, ""),
    "const": ({"properties": {"a": {"const": {"b": [1]}}}}, {"a": {"b": [2]}}, "must be"),
    "uniqueItems of all kinds": (
        {"properties": {"a": {"uniqueItems": True}}},
        {"a": [[n] if n % 2 else {"x": n} for n in range(40_000)]},
        "",
    ),
    "uniqueItems, one twice": (
        {"properties": {"a": {"uniqueItems": True}}},
        {"a": [1, {"x": 1}, {"x": 1.0}]},
        "repeat",
    ),
    "uniqueItems of one hash": (
        {"properties": {"a": {"uniqueItems": True}}},
        {"a": [float(n * (2**61 - 1)) for n in range(1, 4)] + [n * (2**61 - 1) for n in range(1, 4)]},
        "",
    ),
    "many alternatives": (
        {"properties": {"a": {"items": {"oneOf": [{"const": n} for n in range(400)]}}}},
        {"a": [399] * 20_000},
        "too many steps",
    ),
    "a megabyte told a thousand times": ({"allOf": [{"type": "string"}] * 1_500}, {"a": "x" * 500_000}, "too many"),
    "many words in each part": (
        {"properties": {"a": {"items": {f"k{n}": 1 for n in range(4_000)}}}},
        {"a": [1] * 100_000},
        "too many steps",
    ),
    "multipleOf, huge": ({"properties": {"a": {"multipleOf": 0.01}}}, {"a": 1e308}, ""),
    "multipleOf, tiny": ({"properties": {"a": {"multipleOf": 5e-324}}}, {"a": 1e308}, ""),
    "multipleOf, no": ({"properties": {"a": {"multipleOf": 7}}}, {"a": 10**18}, "multiple"),
    "multipleOf of tenths": ({"properties": {"a": {"multipleOf": 0.1}}}, {"a": 0.3}, ""),
    "multipleOf true": ({"properties": {"a": {"multipleOf": 2}}}, {"a": True}, ""),
    "maximum, huge": ({"properties": {"a": {"maximum": 1e308}}}, {"a": 2**63}, ""),
    "deep payload": ({"additionalProperties": {"$ref": "#"}}, nested(400), "too deep"),
}


@pytest.mark.timeout(90)
@pytest.mark.parametrize("name", TRIALS)
def test_a_check_ends(name: str) -> None:
    document, payload, says = TRIALS[name]
    found = [problem.message for problem in schema.problems(document, payload)]
    assert schema.problem_of_schema(document) == "", "such a type can be saved"
    if says:
        assert found
        assert says in found[0]
    else:
        assert found == []


#: schemas that are refused when they are saved, and where the sentence says it stands
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "look-ahead": ({"properties": {"sku": {"pattern": "^(?!x)"}}}, "properties.sku.pattern: ", "without (?="),
    "back-reference": ({"items": [], "$defs": {"t": {"pattern": r"(a)\1"}}}, "$defs.t.pattern: ", "refers back"),
    "broken": ({"pattern": "("}, "pattern: ", "correct it"),
    "huge": ({"properties": {"a": {"pattern": r"(\w{1,900}){1,900}"}}}, "properties.a.pattern: ", "too large"),
    "patternProperties": ({"patternProperties": {"^(?=a)": {}}}, "patternProperties: ", "without (?="),
    "propertyNames": ({"propertyNames": {"pattern": "(?<=a)b"}}, "propertyNames.pattern: ", "without (?="),
    "in a list": ({"anyOf": [{}, {"pattern": "(?=a)"}]}, "anyOf[1].pattern: ", "without (?="),
    "names of every kind": ({"required": [str(n) if n % 2 else n for n in range(9_000)]}, "required[0]: ", "string"),
    "null for a part": ({"properties": {"a": None}}, "properties.a: ", "object"),
    "type unknown": ({"type": "text"}, "type: ", "text"),
}


@pytest.mark.timeout(90)
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_run_is_not_saved_and_never_applied(name: str) -> None:
    document, place, says = REFUSED[name]
    problem = schema.problem_of_schema(document)
    assert problem.startswith(place)
    assert says in problem


@pytest.mark.parametrize("name", ["look-ahead", "patternProperties", "broken"])
def test_an_old_schema_with_such_a_pattern_refuses_every_payload(name: str) -> None:
    document = REFUSED[name][0]
    (problem,) = schema.problems(document, {"sku": "x", "b": 1})
    assert (problem.code, problem.path) == ("schema", "")
    assert "the pattern" in problem.message


@pytest.mark.parametrize(
    "document",
    [
        {"not": {"not": {"$ref": "#/not"}}},
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#"}}, "if": {"$ref": "#"}},
    ],
)
def test_a_schema_that_leads_into_itself_is_said_to(
    document: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    """The registry of references, which is not written in Python, must not be what meets the end of the stack."""
    assert "circle" in schema.problems(document, {"a": 1})[0].message
    assert capfd.readouterr().err == ""


def test_a_payload_as_deep_as_the_wire_takes_is_checked_by_a_schema_that_follows_it() -> None:
    tree = {"type": "object", "anyOf": [{"properties": {"a": {"$ref": "#/$defs/t"}}}]}
    document = {"$defs": {"t": tree}, "$ref": "#/$defs/t"}
    assert schema.problems(document, nested(62)) == []


def test_a_schema_of_too_many_patterns_is_not_saved_and_never_applied() -> None:
    few = {"patternProperties": {f"(a*)*{number}": {} for number in range(schema.MAX_PATTERNS)}}
    many = {"patternProperties": {f"(a*)*{number}": {} for number in range(schema.MAX_PATTERNS + 1)}}
    assert schema.problem_of_schema(few) == ""
    assert f"more than {schema.MAX_PATTERNS} patterns" in schema.problem_of_schema(many)
    assert "patterns" in schema.problems(many, {"a": 1})[0].message


@pytest.mark.parametrize(
    "document", [{"properties": {"a": {"const": "\ud800"}}}, {"title": "x" * schema.MAX_SCHEMA_BYTES}]
)
def test_what_can_be_no_schema_refuses_every_payload(document: dict[str, Any]) -> None:
    assert "cannot be applied" in schema.problems(document, {})[0].message


def test_a_rule_that_says_the_same_thousands_of_times_is_heard_a_while() -> None:
    """Stored by another way than as a checked type: each sentence about it costs the length of the rule."""
    document = {"dependentRequired": {"a": ["b"] * 15_000}}
    assert [problem.code for problem in schema.problems(document, {"a": 1})] == ["dependentRequired"]


def test_values_that_look_like_patterns_are_values() -> None:
    document = {"properties": {"a": {"enum": [{"pattern": "(?=a)"}], "default": {"pattern": "("}}}}
    assert schema.problem_of_schema(document) == ""
    assert schema.problems(document, {"a": {"pattern": "(?=a)"}}) == []


@pytest.mark.parametrize("value", [10**308, 10**400, -(10**400), 10**4000])
@pytest.mark.parametrize("rule", [{"multipleOf": 0.3}, {"maximum": 1.5, "minimum": -1.5}, {"const": 1.5}])
def test_numbers_that_no_float_holds_are_judged_by_the_rule(rule: dict[str, Any], value: int) -> None:
    (problem,) = schema.problems({"properties": {"n": rule}}, {"n": value})
    assert problem.path == "n"
    assert problem.code in rule


UNLUCKY_TEXTS = [
    "a" * 300_000 + "!", "1" * 300_000 + "x", "a." * 150_000 + "!", "/~" * 150_000, "P" + "1" * 300_000,
    "2026-11-22T" + "0" * 300_000, "http://" + "a." * 150_000 + "!", "(" * 300_000, "~1/" * 100_000, "::" * 150_000,
    "a@" + "a." * 150_000 + "<", "-" * 300_000, "\u0660" * 1_000, "http://[" + ":" * 100_000, "1" * 5_000 + "." * 5_000,
]  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", list(formats.names()))
def test_no_format_takes_long(name: str) -> None:
    assert [formats.fits(name, text) in (True, False) for text in UNLUCKY_TEXTS]
