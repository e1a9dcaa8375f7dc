"""Task types in files: what ``type import`` takes and ``type export`` writes, each a JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec

from services import plain_file, whole_file
from services.domain.errors import UsageError
from services.domain.text.said import said
from services.domain.types import strict_json
from services.domain.types.task_type import TaskType

MOST = 8 * 1024 * 1024


def read(path: Path) -> list[str]:
    """The documents of a file: one type, a list of them, or ``{"types": [...]}``. Blocking.

    Raises:
        UsageError: it cannot be read, or is not JSON; the sentence names the file.
    """
    try:
        text = plain_file.read(path, MOST).decode("utf-8-sig")
    except OSError as exc:
        raise UsageError(
            said("table.unreadable", path=str(path), error=str(exc.strerror or exc)), field="file"
        ) from exc
    except UnicodeDecodeError as exc:
        raise UsageError(said("file.not_text", name=path.name), field="file") from exc
    if not text.strip():
        raise UsageError(said("file.no_text", name=path.name), field="file")
    try:
        value = strict_json.loads(text, most=MOST)
    except RecursionError as exc:
        raise UsageError(said("file.deep", name=path.name), field="file") from exc
    except ValueError as exc:
        raise UsageError(said("file.not_json", name=path.name, error=str(exc)[:200]), field="file") from exc
    if isinstance(value, dict) and isinstance(value.get("types"), list) and "name" not in value:
        value = value["types"]
    rows = value if isinstance(value, list) else [value]
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def write(path: Path, kinds: Iterable[TaskType]) -> int:
    """Write types so that they can be imported again; whole or not at all. Returns how many. Blocking.

    Raises:
        OSError: the file cannot be written.
    """
    documents = [msgspec.to_builtins(kind) for kind in kinds]
    plain = documents[0] if len(documents) == 1 else documents
    with whole_file.written(path) as file:
        file.write(json.dumps(plain, ensure_ascii=False, indent=2) + "\n")
    return len(documents)
