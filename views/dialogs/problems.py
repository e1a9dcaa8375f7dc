"""What is wrong with a payload, said in the language of the moment and at its place in the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from services.domain import schema, task_type
from services.domain.task_type import TaskType
from services.i18n import N_, _
from views.widgets import json_problems

_SENTENCES: dict[str, str] = {
    "required": N_("is missing"),
    "additionalProperties": N_("is not known to this task type"),
    "type": N_("must be of type {expected}"),
    "enum": N_("must be one of {expected}"),
    "const": N_("must be {expected}"),
    "minimum": N_("must be at least {expected}"),
    "maximum": N_("must be at most {expected}"),
    "exclusiveMinimum": N_("must be more than {expected}"),
    "exclusiveMaximum": N_("must be less than {expected}"),
    "multipleOf": N_("must be a multiple of {expected}"),
    "minLength": N_("must have at least {expected} characters"),
    "maxLength": N_("must have at most {expected} characters"),
    "pattern": N_("must match {expected}"),
    "format": N_("must be a {expected}"),
    "minItems": N_("must have at least {expected} entries"),
    "maxItems": N_("must have at most {expected} entries"),
    "uniqueItems": N_("must not repeat an entry"),
    "date": N_("must be a day such as 2026-11-21"),
}
_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_NOT_OBJECT = N_("The payload must be a JSON object: { … }")


def sentence(problem: schema.Problem) -> str:
    """The problem without its place."""
    template = _SENTENCES.get(problem.code)
    if template is None or ("{expected}" in template and "expected" not in problem.params):
        return problem.message
    return _(template).replace("{expected}", str(problem.params.get("expected", "")))


def placed(problem: schema.Problem) -> str:
    """The problem with the name of its field."""
    if not problem.path:
        return sentence(problem)
    return _("{name}: {value}").format(name=problem.path, value=sentence(problem))


def path_of(text: str) -> tuple[str | int, ...]:
    """``items[0].id`` as parts."""
    return tuple(int(index) if index else name for name, index in _PART.findall(text))


def top_name(path: str) -> str:
    """The field of the form in which a path lies: ``items`` of ``items[0].id``."""
    return path.partition(".")[0].partition("[")[0]


def payload_problems(kind: TaskType | None, document: Any, *, dates: bool = False) -> list[schema.Problem]:
    """What is wrong with a payload for its type; an unknown type takes every object.

    With ``dates`` fields of the format date are held to it, which JSON Schema itself leaves open.
    """
    found = task_type.validate_payload(kind or TaskType.default("unknown"), document)
    if dates and kind is not None and isinstance(document, dict):
        found += _no_dates(kind.schema, document)
    return found


def _no_dates(document_schema: Mapping[str, Any], document: Mapping[str, Any]) -> list[schema.Problem]:
    properties = document_schema.get("properties", {})
    return [
        schema.Problem(path=name, message="must be a date", code="date")
        for name, value in document.items()
        if isinstance(value, str) and properties.get(name, {}).get("format") == "date" and not _is_date(value)
    ]


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2026-11-21")


def editor_validator(
    kind: Callable[[], TaskType | None],
    *,
    dates: bool = False,
    quiet: Callable[[schema.Problem], bool] = lambda _problem: False,
) -> json_problems.Validator:
    """A validator for ``JsonEditor`` that follows the type of the moment and passes over what is ``quiet``."""

    def check(document: Any) -> Sequence[json_problems.Problem]:
        if not isinstance(document, dict):
            return [json_problems.Problem(text=_(_NOT_OBJECT), line=1)]
        found = [one for one in payload_problems(kind(), document, dates=dates) if not quiet(one)]
        return [json_problems.Problem(text=placed(one), path=path_of(one.path), line=_line(one)) for one in found]

    return check


def _line(problem: schema.Problem) -> int:
    """A missing field of the whole has no line of its own, as the whole has none: it is told at the first one."""
    alone = problem.code == "required" and problem.path == top_name(problem.path)
    return 1 if alone or not problem.path else 0
