"""What is wrong with a text, and where."""

from __future__ import annotations

import pytest

from views.widgets.json.problems import Problem, Reading, check, line_of, parse

TEXT = '{\n  "a": 1,\n  "b": {\n    "a": 2,\n    "名": [3]\n  }\n}'


@pytest.mark.parametrize(
    ("path", "line"),
    [((), 1), (("a",), 2), (("b",), 3), (("b", "a"), 4), (("b", "名", 0), 5), (("gone",), 1), (("b", "gone"), 3)],
)
def test_lines_are_found(path: tuple[str | int, ...], line: int) -> None:
    assert line_of(TEXT, path) == line


STEPS = '{\n "steps": [\n  {"do": "goto",\n   "url": "x"},\n  {"do": "clik"},\n  {\n   "do": "click"}\n ],\n "do": 1\n}'


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("steps", 0, "url"), 4),
        (("steps", 1, "do"), 5),
        (("steps", 2, "do"), 7),
        (("steps", 2, "selector"), 6),
        (("steps", 9), 2),
        (("do",), 9),
    ],
)
def test_lines_of_list_entries_are_found(path: tuple[str | int, ...], line: int) -> None:
    assert line_of(STEPS, path) == line


def test_of_a_broken_text_the_names_are_found() -> None:
    assert line_of('{\n "a": [1,\n "b"', ("b",)) == 3


def test_valid_text_is_parsed() -> None:
    assert parse('{"a": [1, null]}') == Reading(value={"a": [1, None]})


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "Expecting value"),
        ('{\n  "a": 1,\n}', 2, ""),
        ("NaN", 1, "NaN is not JSON"),
        ("-Infinity", 1, "-Infinity"),
        ("[" * 100_000, 1, ""),
    ],
)
def test_broken_text_is_explained(text: str, line: int, words: str) -> None:
    found = parse(text)
    assert found.value is None
    problem = found.problems[0]
    assert problem.line in (line, line + 1)
    assert words in problem.text
    assert problem.text.startswith("Not valid JSON: ")


def test_problems_are_spoken_with_their_line() -> None:
    assert Problem(text="x", line=3).spoken() == "Line 3: x"


def test_mistakes_and_what_the_type_refuses_are_told_together() -> None:
    def validator(document: object) -> list[Problem]:
        assert isinstance(document, dict)
        return [Problem(text=f"{name}: refused", path=(name,)) for name in document if name != "a"]

    text = '{\n  "a": 1\n  "b": 2,\n  "c": nil,\n  "d": 4\n}'
    value, problems = check(text, validator)
    assert value is None
    assert [(one.line, one.text) for one in problems] == [
        (2, "Not valid JSON: a comma is missing"),
        (3, "b: refused"),
        (4, "Not valid JSON: nil is not JSON"),
        (5, "d: refused"),
    ]
    assert check('{\n  "a": 1,\n  "b": 2\n}', validator)[1] == [Problem(text="b: refused", path=("b",), line=3)]
