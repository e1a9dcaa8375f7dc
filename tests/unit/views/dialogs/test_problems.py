"""Problems of payloads in words and places."""

from __future__ import annotations

import pytest

from services import i18n
from services.domain.types.schema import Problem
from services.domain.types.task_type import TaskType
from views.dialogs.new_task import problems

KIND = TaskType(
    name="x",
    schema={
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 9}, "day": {"type": "string", "format": "date"}},
        "required": ["n"],
    },
)


def test_paths_become_parts() -> None:
    assert problems.path_of("items[0].id") == ("items", 0, "id")
    assert problems.path_of("") == ()


def test_a_problem_is_said_with_its_place() -> None:
    (found,) = problems.payload_problems(KIND, {"n": 10})
    assert problems.placed(found) == "n: must be at most 9"


def test_a_code_without_a_sentence_keeps_its_own() -> None:
    assert problems.sentence(Problem(path="", message="does not satisfy if", code="if")) == "does not satisfy if"


@pytest.mark.parametrize(("value", "count"), [("2026-11-21", 0), ("20261121", 1), ("soon", 1), ("2026-13-01", 1)])
def test_dates_are_held_to_their_form(value: str, count: int) -> None:
    assert len(problems.payload_problems(KIND, {"n": 1, "day": value})) == count


def test_a_bad_format_names_field_value_and_an_example_in_both_languages() -> None:
    (found,) = problems.payload_problems(KIND, {"n": 1, "day": "soon"})
    assert problems.placed(found) == "day: must be a day such as 2026-11-22, not soon"
    i18n.set_language("zh_CN")
    said = problems.placed(found)
    assert "2026-11-22" in said
    assert "soon" in said
    assert "must" not in said


def test_an_unknown_type_takes_every_object_and_nothing_else() -> None:
    assert problems.payload_problems(None, {"any": 1}) == []
    assert problems.payload_problems(None, [1])


def test_the_editor_gets_lines_for_what_has_none() -> None:
    check = problems.editor_validator(lambda: KIND)
    assert [(one.line, one.text) for one in check({})] == [(1, "n: is missing")]
    assert check([1])[0].line == 1
    assert [one.line for one in check({"n": 10})] == [0], "the editor finds the line by the path"


def test_sentences_are_translated() -> None:
    i18n.set_language("zh_CN")
    (found,) = problems.payload_problems(KIND, {"n": 10})
    assert problems.placed(found) != "n: must be at most 9"
