"""Reads JSON that a person has typed or put into a file: what JSON cannot mean exactly is refused, not guessed."""

from __future__ import annotations

from typing import Any

from services.cli import spoken
from services.domain.errors import UsageError
from services.domain.text import mask
from services.domain.text.said import said
from services.domain.types import strict_json

#: characters of a document that is longer than a payload: the record of a task, the task types of a fleet
MAX_DOCUMENT = 8 * 1024 * 1024


def read_object(text: str, name: str, *, dots: bool = False) -> dict[str, Any]:
    """The object of a JSON text. ``dots``: those that hide secrets are put back by whoever asks, who has the original.

    Raises:
        UsageError: it is none; the sentence begins with ``name``. Or dots stand in place of a secret, which nobody
            would put back; ``field`` is then the path of the first.
    """
    try:
        value = strict_json.loads(text)
    except RecursionError as exc:
        raise UsageError(spoken.phrase("{name} is nested too deeply", name=name), field="payload") from exc
    except ValueError as exc:
        raise UsageError(
            spoken.phrase("{name} is not JSON: {error}", name=name, error=spoken.told(exc))[:300], field="payload"
        ) from exc
    if not isinstance(value, dict):
        raise UsageError(
            spoken.phrase("{name} must be a JSON object, e.g. '{{\"page_size\": 50}}'", name=name), field="payload"
        )
    if not dots and (path := mask.still_masked(value, {})):
        raise UsageError(said("payload.masked", path=path), field=path)
    return value


def read_document(text: str) -> Any:
    """The value of a whole JSON text.

    Raises:
        UsageError: it is not JSON.
    """
    if not text.strip():
        raise UsageError(spoken.phrase("it is empty"), field="FILE")
    try:
        return strict_json.loads(text, most=MAX_DOCUMENT)
    except RecursionError as exc:
        raise UsageError(spoken.phrase("nested too deeply"), field="FILE") from exc
    except ValueError as exc:
        raise UsageError(spoken.phrase("not JSON: {error}", error=spoken.told(exc))[:300], field="FILE") from exc
