"""All mistakes of a text at once, and what it probably means."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from views.widgets.json.problems import DEEPEST, Mistake, read


@pytest.mark.parametrize(
    ("text", "value", "mistakes"),
    [
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, [("no_comma", 1, "")]),
        ('{"a": 1,\n}', {"a": 1}, [("last_comma", 1, "")]),
        ('{"a" 1}', {"a": 1}, [("no_colon", 1, '"a"')]),
        ('{"a": }', {"a": None}, [("no_value", 1, "")]),
        ('{"a":\n}', {"a": None}, [("no_value", 1, "")]),
        ("{a: 'x'}", {"a": "x"}, [("unquoted", 1, "a"), ("unquoted", 1, "'x'")]),
        ('{"a": "x\n, "b": True}', {"a": "x", "b": "True"}, [("no_quote", 1, '"x'), ("word", 2, "True")]),
        ('{"a": [1, 2', {"a": [1, 2]}, [("unclosed", 1, "["), ("unclosed", 1, "{")]),
        ('{"a": [1, 2}', {"a": [1, 2]}, [("other_bracket", 1, "]"), ("unclosed", 1, "{")]),
        ('{"a": 1,, "b": 01}', {"a": 1, "b": "01"}, [("extra", 1, ","), ("word", 1, "01")]),
        ('{"a": 1}\n}', {"a": 1}, [("extra", 2, "}")]),
        ('{"a": 1, "a": 2}', {"a": 2}, [("twice", 1, "a")]),
        ('{"a": "\\q"}', {"a": "\\q"}, [("escape", 1, '"\\q"')]),
        ('{{"a": 1}}', {"a": 1}, [("no_name", 1, "{"), ("extra", 1, "}")]),
    ],
)
def test_mistakes_are_told_one_by_one(text: str, value: object, mistakes: list[tuple[str, int, str]]) -> None:
    assert read(text) == (value, [Mistake(*one) for one in mistakes])


def test_a_text_nested_without_end_is_left() -> None:
    value, mistakes = read("[" * 100_000)
    assert len(mistakes) <= 20
    assert any(one.code == "deep" for one in mistakes)
    assert json.dumps(value).count("[") == DEEPEST


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=12)


@given(VALUES, st.booleans())
def test_what_is_json_is_read_as_json_reads_it(value: object, plain: bool) -> None:
    text = json.dumps(value, indent=2 if plain else None, ensure_ascii=plain)
    assert read(text) == (value, [])


@given(st.text(alphabet="{}[],:\"'\\ \n1ab-.e\u00a0truefalsn"))
def test_it_always_comes_to_an_end(text: str) -> None:
    _value, mistakes = read(text)
    lines = [one.line for one in mistakes]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
