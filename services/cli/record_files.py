"""Records as JSON lines: what ``task show`` shows, one record a line, readable again."""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from services import plain_file
from services.cli import json_text, output, shapes, spoken
from services.domain.errors import UsageError
from services.domain.task.artifact import ArtifactMark
from services.domain.task.record import Attempt, Step, Task
from services.ports import Letter

#: bytes of a record: its payload, its message in base64, what came along with it, its steps and attempts
MAX_LINE = json_text.MAX_DOCUMENT
_TEXTS = frozenset({"payload", "result", "extra"})
_FIELDS = Task.__struct_fields__
#: what a record of these programs always has
_NEEDED = ("task_id", "shop_id", "platform", "task_type", "status")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A line that could be read, or why not."""

    line: int
    task: Task | None = None
    letter: Letter | None = None
    error: str = ""


def write(task: Task, letter: Letter | None) -> str:
    """The line of a record; of a dead one with its message, byte for byte where no secret is hidden in it."""
    document = shapes.document(task, [])
    del document["gates"]
    if letter is not None:
        fields = msgspec.structs.asdict(letter)
        document["letter"] = {**fields, "headers": output.masked_text(letter.headers), "body": _body(letter.body)}
    return output.document(document, separators=(",", ":")) + "\n"


def _body(body: bytes) -> str:
    """Byte for byte where nothing of it is hidden."""
    text = body.decode("utf-8", "surrogateescape")
    shown = output.masked_text(text)
    return base64.b64encode(body if shown == text else shown.encode("utf-8", "surrogateescape")).decode()


def read(path: Path) -> Iterator[Row]:
    """The rows of a file in their order; one bad line does not spoil the others.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        with plain_file.opened(path) as file:
            for number, raw in enumerate(plain_file.lines(file, MAX_LINE), start=1):
                if raw.strip():
                    yield _row(number, raw)
    except OSError as exc:
        raise UsageError(
            spoken.phrase("{path} cannot be read: {error}", path=path, error=spoken.told(exc)), field="FILE"
        ) from exc


def _row(number: int, raw: bytes) -> Row:
    if len(raw) > MAX_LINE:
        return Row(line=number, error=spoken.phrase("more than {most} bytes, which no record has", most=MAX_LINE))
    try:
        document = json_text.read_document(raw.decode("utf-8-sig"))
        if not isinstance(document, dict) or not isinstance(document.get("task"), dict):
            raise UsageError(
                spoken.phrase('no record: a line is {{"task": {{…}}, …}} as `export` writes it'), field="task"
            )
        return Row(line=number, task=_task(document), letter=_letter(document.get("letter")))
    except UnicodeDecodeError:
        return Row(line=number, error=spoken.phrase("not UTF-8 text"))
    except (UsageError, ValueError, TypeError, LookupError, AttributeError) as exc:
        return Row(line=number, error=str(exc)[:300] or type(exc).__name__)


def _task(document: dict[str, Any]) -> Task:
    given = document["task"]
    missing = [name for name in _NEEDED if not given.get(name)]
    if missing:
        raise UsageError(spoken.phrase("{names} is missing", names=" and ".join(missing)), field=missing[0])
    fields = {name: _value(name, given[name]) for name in _FIELDS if name in given}
    defaults = msgspec.to_builtins(Task(task_id="", shop_id="", platform="", task_type=""))
    whole = [fields.get(name, default) for name, default in zip(_FIELDS, defaults, strict=True)]
    task = msgspec.convert(whole, Task, strict=True)
    task = msgspec.structs.replace(task, attempts=_attempts(document), steps=_steps(document))
    return msgspec.convert(msgspec.to_builtins(task), Task, strict=True)  # what is stored must be readable again


def _value(name: str, value: Any) -> Any:
    if name in shapes.INSTANTS:
        return _instant(value)
    if name in _TEXTS and not isinstance(value, str):
        return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


def _attempts(document: dict[str, Any]) -> tuple[Attempt, ...]:
    rows = document.get("attempts") or []
    return tuple(
        Attempt(
            **{
                **row,
                "started_at": _instant(row["started_at"]),
                "ended_at": _instant(row["ended_at"]),
                "artifacts": tuple(
                    ArtifactMark(**{**file, "at": _instant(file["at"])}) for file in row.get("artifacts") or []
                ),
            }
        )
        for row in rows
    )


def _steps(document: dict[str, Any]) -> tuple[Step, ...]:
    rows = [
        {"from_" if name == "from" else name: value for name, value in row.items()}
        for row in document.get("events") or []
    ]
    return tuple(Step(**{**row, "at": _instant(row["at"])}) for row in rows)


def _letter(value: Any) -> Letter | None:
    if value is None:
        return None
    letter = msgspec.convert({**value, "body": b""}, Letter)
    return msgspec.structs.replace(letter, body=base64.b64decode(value["body"], validate=True))


def _instant(value: Any) -> int:
    if value in (None, 0):
        return 0
    moment = dt.datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise UsageError(spoken.phrase("{time} has no time zone", time=f"{value!r:.40}"), field="created_at")
    return round(moment.timestamp() * 1000)
