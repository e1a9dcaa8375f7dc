"""What is wrong with a payload, said in the language of the moment and at its place in the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from services.domain.text import mask
from services.domain.text.said import said
from services.domain.types import schema, task_type
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.messages import told
from views.widgets.json import problems

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_NOT_OBJECT = N_("The payload must be a JSON object: { … }")


def sentence(problem: schema.Problem) -> str:
    """The problem without its place."""
    return told(problem.message)


def placed(problem: schema.Problem) -> str:
    """The problem with the name of its field, once."""
    if not problem.path or problem.code == "payload.masked":
        return sentence(problem)
    return _("{name}: {value}").format(name=problem.path, value=sentence(problem))


def path_of(text: str) -> tuple[str | int, ...]:
    """``items[0].id`` as parts."""
    return tuple(int(index) if index else name for name, index in _PART.findall(text))


def top_name(path: str) -> str:
    """The field of the form in which a path lies: ``items`` of ``items[0].id``."""
    return path.partition(".")[0].partition("[")[0]


def payload_problems(kind: TaskType | None, document: Any, original: Any = None) -> list[schema.Problem]:
    """What is wrong with a payload for its type; an unknown type takes every object.

    Dots in it stand for the secrets of the ``original``, a value or a ``mask.Original``, and for nothing where that has
    none.
    """
    before = original if isinstance(original, mask.Original) else mask.Original(original)
    found = task_type.validate_payload(kind or TaskType.default("unknown"), before.put_back(document))
    if path := before.still_masked(document):
        message = said("payload.masked", path=path)
        found = [*found, schema.Problem(path=path, message=message, code="payload.masked")]
    return found


def editor_validator(
    kind: Callable[[], TaskType | None],
    *,
    quiet: Callable[[schema.Problem], bool] = lambda _problem: False,
    original: Callable[[], Any] = lambda: None,
) -> problems.Validator:
    """A validator for ``JsonEditor`` that follows the type of the moment and passes over what is ``quiet``. Dots in the
    text stand for the secrets of the ``original``.
    """

    def check(document: Any) -> Sequence[problems.Problem]:
        if not isinstance(document, dict):
            return [problems.Problem(text=_(_NOT_OBJECT), line=1)]
        found = [one for one in payload_problems(kind(), document, original()) if not quiet(one)]
        return [problems.Problem(text=placed(one), path=path_of(one.path), line=_line(one)) for one in found]

    return check


def _line(problem: schema.Problem) -> int:
    """A missing field of the whole has no line of its own, as the whole has none: it is told at the first one."""
    alone = problem.code == "required" and problem.path == top_name(problem.path)
    return 1 if alone or not problem.path else 0
