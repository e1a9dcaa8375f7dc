"""What is wrong with a text, and where."""

from __future__ import annotations

import pytest

from views.widgets.json_problems import Problem, line_of, parse

TEXT = '{\n  "a": 1,\n  "b": {\n    "a": 2,\n    "名": [3]\n  }\n}'


@pytest.mark.parametrize(
    ("path", "line"),
    [((), 1), (("a",), 2), (("b",), 3), (("b", "a"), 4), (("b", "名", 0), 5), (("gone",), 1), (("b", "gone"), 3)],
)
def test_lines_are_found(path: tuple[str | int, ...], line: int) -> None:
    assert line_of(TEXT, path) == line


def test_valid_text_is_parsed() -> None:
    assert parse('{"a": [1, null]}') == ({"a": [1, None]}, None)


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
    value, problem = parse(text)
    assert value is None
    assert problem is not None
    assert problem.line in (line, line + 1)
    assert words in problem.text


def test_problems_are_spoken_with_their_line() -> None:
    assert Problem(text="x", line=3).spoken() == "Line 3: x"
