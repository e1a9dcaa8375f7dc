"""What a cell means: ids, priorities, times, parameters as people and spreadsheets write them; never a guess."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, time, tzinfo
from typing import Any

import msgspec

from services.commands.sheet import digits
from services.commands.sheet.digits import Rounded
from services.commands.sheet.table import shown
from services.domain.task import lane
from services.domain.task.search import filter_time
from services.domain.text.cells import bared
from services.domain.text.message import Message
from services.domain.text.words import folded
from services.domain.types import strict_json
from services.domain.types.task_type import TaskType

MAX_AHEAD_MS = 366 * 86_400_000
#: digits that a number may have: what is longer is a slip, and some programs cannot read it
MAX_DIGITS = 64
#: how a spreadsheet shows a number that is too long for it, and writes it into a text file
_SHORTENED = re.compile(r"[+-]?\d(\.\d+)?E\+\d{2,}\Z")
_SCIENTIFIC = re.compile(r"[+-]?\d+(\.\d+)?[eE][+]?\d+\Z")
_WHOLE = re.compile(r"\d+\.0+\Z")
_NUMBER_LIKE = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?\Z")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?\Z")
_PAIRS, _COMMAS, _SIGN = re.compile(r"[;；\n]+"), re.compile(r"[,，]"), re.compile(r"[=＝]")
_LIST = re.compile(r"[,，、;；\n]+")
_NAMES = re.compile(r"[\s,;，；、]+")
_CURLY = re.compile(r"[“”‘’：，｛｝]")
_DAY = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?")
_TIME = re.compile(r"[T\s]*(\d{1,2})[:：时点](\d{1,2})?分?(?:[:：]?(\d{1,2})(?:\.\d+)?秒?)?\s*(Z|[+-]\d{2}:?\d{2})?\Z")
_TRUE, _FALSE = (
    frozenset({"true", "yes", "on", "y", "是", "对", "√", "开"}),
    frozenset({"false", "no", "off", "n", "否", "×", "关"}),
)
_LANES = {
    lane.Lane.HIGH: ("high", "高", "高优先级"),
    lane.Lane.NORMAL: ("normal", "medium", "普通", "普通优先级", "中", "中等", "中优先级", "正常", "一般"),
    lane.Lane.LOW: ("low", "低", "低优先级"),
}
_LANE_OF = {folded(word): name for name, words in _LANES.items() for word in words}


class Bad(Exception):
    """A cell does not mean what its column is for."""

    def __init__(self, code: str, **params: str | int | float) -> None:
        super().__init__(code)
        self.reason = Message(code, params)


class Loose(msgspec.Struct, frozen=True):
    """A value written as bare text, whose kind the type decides."""

    text: str


def plain(cell: object) -> str:
    """A cell as one word or line: full-width letters made plain, blanks at the ends and guards taken away."""
    text = text_of(cell)
    text = unicodedata.normalize("NFKC", text).strip()
    return bared(text)


def text_of(cell: object) -> str:
    """A cell as it is shown beside its fault."""
    return json.dumps(cell, ensure_ascii=False, default=str) if isinstance(cell, dict | list) else shown(cell)


def whole(cell: object) -> None:
    """Refuse a cell that has lost digits, or has too many; of a JSON value each part.

    Raises:
        Bad: a spreadsheet has rounded it or written it shortened, or it is a number of absurd length.
    """
    parts = [cell]
    while parts:
        one = parts.pop()
        if isinstance(one, dict):
            parts += one.values()
        elif isinstance(one, list):
            parts += one
        elif isinstance(one, str | int | float | Rounded) and not isinstance(one, bool):
            _check_digits(one)


def _check_digits(one: str | float | Rounded) -> None:
    text = shown(one)
    count = sum(map(str.isdigit, text))
    if count > MAX_DIGITS and _NUMBER_LIKE.match(text):
        raise Bad("sheet.digits", digits=count, most=MAX_DIGITS)
    if isinstance(one, Rounded) or _SHORTENED.match(text):
        raise Bad("sheet.rounded")


def word(cell: object) -> str:
    """A cell as one word of which no digit is lost.

    Raises:
        Bad: see ``whole``.
    """
    whole(cell)
    return plain(cell)


def identity(cell: object) -> str:
    """The id or name of a shop.

    Raises:
        Bad: a spreadsheet has lost digits of it, or it is no word at all.
    """
    if isinstance(cell, bool | datetime | date | time | dict | list):
        raise Bad("sheet.shop_word")
    whole(cell)
    if isinstance(cell, float) and not cell.is_integer():
        raise Bad("sheet.shop_word")
    text = plain(cell)
    if _SCIENTIFIC.match(text):
        raise Bad("sheet.rounded")
    return text.partition(".")[0] if _WHOLE.match(text) else text


def lane_named(word: str) -> lane.Lane | None:
    """The lane of a word in English or Chinese, None for none."""
    return _LANE_OF.get(folded(word))


def priority(cell: object) -> int | None:
    """1 to 10, None for what is no priority."""
    text = plain(cell)
    named = lane_named(text)
    if named is not None:
        return lane.DEFAULT_PRIORITY[named]
    try:
        return lane.parse_priority(text.partition(".")[0] if _WHOLE.match(text) else text)[1]
    except ValueError:
        return None


def delay(cell: object) -> float:
    """Seconds of a number, or of a duration such as ``30m``.

    Raises:
        Bad: it is neither.
    """
    text = plain(cell)
    span = filter_time.duration_ms(text)
    if span is not None:
        return span / 1000
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if isinstance(cell, bool) or not 0 <= seconds < float("inf"):
        raise Bad("sheet.delay")
    return seconds


def retries(cell: object) -> int:
    """0 to 20.

    Raises:
        Bad: it is no such number.
    """
    text = plain(cell)
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= 20):
        raise Bad("sheet.retries")
    return int(text)


def names(cell: object) -> tuple[str, ...]:
    """Ids and keys: a JSON list, or one cell that separates them by blanks, commas or semicolons.

    Raises:
        Bad: the list holds something else.
    """
    whole(cell)
    if isinstance(cell, list):
        if not all(isinstance(name, str) and name for name in cell):
            raise Bad("sheet.depends_on")
        return tuple(cell)
    return tuple(_NAMES.sub(" ", plain(cell)).split())


class Clock:
    """Reads instants in the fleet's zone; durations begin when this was made."""

    def __init__(self, zone: tzinfo, now_ms: int) -> None:
        self._zone, self.now_ms = zone, now_ms

    def start(self, cell: object) -> int:
        """Not before this instant, UTC milliseconds; a day of a sheet is its first minute.

        Raises:
            Bad: it is no time, or past.
        """
        return self._future(cell, whole_days=isinstance(cell, datetime))

    def end(self, cell: object) -> int:
        """Before this instant, UTC milliseconds.

        Raises:
            Bad: it is no time, a whole day, or past.
        """
        return self._future(cell, whole_days=False)

    def _future(self, cell: object, *, whole_days: bool) -> int:
        if isinstance(cell, bool | int | float | dict | list):
            raise Bad("sheet.time")
        text = plain(cell)
        span = filter_time.duration_ms(text)
        found = self.now_ms + span if span is not None else self._instant(cell, text, whole_days=whole_days)
        if found <= self.now_ms:
            raise Bad("sheet.time_past")
        return found

    def _instant(self, cell: object, text: str, *, whole_days: bool) -> int:
        if isinstance(cell, datetime):
            if not whole_days and (cell.hour, cell.minute, cell.second) == (0, 0, 0):
                raise Bad("sheet.time_day")
            return self._ms(cell)
        day = _DAY.match(text)
        if day is None:
            return self._worded(f"{cell:%H:%M}" if isinstance(cell, time) else text)
        rest = text[day.end() :].strip()
        numbers = _on_calendar(day)
        if not rest:
            raise Bad("sheet.time_day")
        hour = _TIME.match(rest)
        try:
            if hour is None:
                raise Bad("sheet.time")
            numbers += [int(part or 0) for part in hour.groups()[:3]]
            moment = datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - the zone is given to it below
            if hour[4]:
                offset = datetime.fromisoformat(f"2000-01-01T00:00{hour[4]}").tzinfo
                moment = moment.replace(tzinfo=offset)
            return self._ms(moment)
        except (ValueError, OverflowError, OSError) as exc:
            raise Bad("sheet.time") from exc

    def _worded(self, text: str) -> int:
        """What the form of New task takes as well: ``in 2 h``, ``18:00``, ``tomorrow 9:00``, ``明天 9点``."""
        found = filter_time.Times(self.now_ms, self._zone).coming(text)
        if found is None:
            raise Bad("sheet.time_day" if filter_time.is_day(text) else "sheet.time")
        return found

    def _ms(self, moment: datetime) -> int:
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=self._zone)
        return round(moment.timestamp() * 1000)


def _on_calendar(day: re.Match[str]) -> list[int]:
    numbers = [int(part) for part in day.groups()]
    try:
        date(*numbers)
    except ValueError as exc:
        raise Bad("sheet.no_day") from exc
    return numbers


def parameters(cell: object) -> dict[str, Any]:
    """A JSON object, or ``name=value;name=value``, whose values are ``Loose``.

    Raises:
        Bad: it is neither.
    """
    whole(cell)
    if isinstance(cell, dict):
        return dict(cell)
    text = shown(cell)
    if text in ("{}", "-", "无"):
        return {}
    if _SIGN.search(text) and not text.startswith(("{", "[", "｛")):
        return _pairs(text)
    try:
        value = strict_json.loads(text, number=digits.of_text)
    except (ValueError, RecursionError) as exc:
        if _CURLY.search(text):
            raise Bad("sheet.payload_quotes") from exc
        if isinstance(exc, json.JSONDecodeError):
            raise Bad("sheet.payload_at", at=exc.pos + 1) from exc
        why = "nested too deeply" if isinstance(exc, RecursionError) else str(exc)
        raise Bad("sheet.payload", error=why[:160]) from exc
    if not isinstance(value, dict):
        raise Bad("sheet.payload_object")
    whole(value)
    return value


def _pairs(text: str) -> dict[str, Any]:
    parts = [part for part in _PAIRS.split(text) if part.strip()]
    if len(parts) == 1:
        split = _COMMAS.split(parts[0])
        parts = split if all(_SIGN.search(part) for part in split) else parts
    found: dict[str, Any] = {}
    for part in parts:
        name, *value = _SIGN.split(part, maxsplit=1)
        if not value or not name.strip():
            raise Bad("sheet.pair", part=part.strip()[:60])
        if name.strip() in found:
            raise Bad("sheet.pair_twice", name=name.strip()[:60])
        found[name.strip()] = Loose(value[0].strip())
    return found


def fitting(cell: object, kind: TaskType, name: str) -> Any:
    """The value of a parameter in the form that its type wants; what does not fit is left for the schema to refuse.

    Raises:
        Bad: it has lost digits, see ``whole``.
    """
    whole(cell)
    properties = kind.schema.get("properties")
    part = properties.get(name) if isinstance(properties, Mapping) else None
    if isinstance(cell, dict | list | bool):
        return cell
    if isinstance(part, Mapping):
        return _of_schema(cell, part)
    return _bare(cell)


def _bare(cell: object) -> Any:
    if isinstance(cell, datetime | date | time):
        return shown(cell)
    if isinstance(cell, str):
        try:
            value = strict_json.loads(cell, number=digits.of_text)
        except (ValueError, RecursionError):
            return bared(cell.strip())
        whole(value)
        return value
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _of_schema(cell: object, part: Mapping[str, Any]) -> Any:
    wanted, text = part.get("type"), plain(cell)
    if "enum" in part:
        return _choice(text, part)
    if wanted == "string":
        if isinstance(cell, datetime):
            return cell.date().isoformat() if part.get("format") == "date" else shown(cell)
        return bared(shown(cell))
    if wanted == "boolean":
        word = text.casefold()
        return True if word in _TRUE | {"1"} else False if word in _FALSE | {"0"} else text
    if wanted in ("integer", "number"):
        return _number(text, integer=wanted == "integer")
    if wanted == "array" and not text.startswith("["):
        items = part.get("items")
        inner = items if isinstance(items, Mapping) else {}
        parts = [one.strip() for one in _LIST.split(text) if one.strip()]
        whole(parts)
        return [_of_schema(one, inner) for one in parts]
    return _bare(cell)


def _number(text: str, *, integer: bool) -> Any:
    if not _NUMBER.match(text):
        return text
    if "." not in text:
        return int(text)
    found = float(text)
    if abs(found) >= digits.MOST:
        raise Bad("sheet.rounded")
    return int(found) if found.is_integer() and integer else found


def _choice(text: str, part: Mapping[str, Any]) -> Any:
    """A value of an enum by itself or by its title in any language."""
    values = list(part.get("enum", ()))
    for titles in ([str(value) for value in values], part.get("x-enum-titles", ()), part.get("x-enum-titles-zh", ())):
        for value, title in zip(values, titles, strict=False):
            if folded(str(title)) == folded(text):
                return value
    return text
