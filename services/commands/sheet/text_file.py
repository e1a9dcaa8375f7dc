"""Reads text files of tables: their encoding, the sign between the cells, the records; nothing is lost."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence

from services.commands.sheet import digits
from services.domain.errors import UsageError
from services.domain.text.message import Message
from services.domain.text.said import said
from services.domain.types import strict_json

#: what a person may choose; the codec, and its name on a screen
ENCODINGS = {"utf-8": "UTF-8", "gb18030": "GBK (GB18030)", "utf-16": "UTF-16", "big5": "Big5"}
DELIMITERS = (",", ";", "\t", "，", "；", "|")
#: lines that one record may take; a quote that is never closed would swallow the rest of the file otherwise
MOST_LINES = 200
_TRIED = 20  #: records by which the delimiter is found
_SAMPLE = 256 * 1024  #: characters of the text that they are looked for in
#: what a text may have before it is taken apart, for each of it takes many times its own size: lines, cells of a line,
#: values of a JSON text
MOST_TEXT_LINES, MOST_CELLS, MOST_VALUES = 2_000_000, 200_000, 5_000_000
_FIRST_LOOK = 4096  #: characters in which the end of a value of a list is looked for first
_BLANKS = re.compile(r"[ \t\r\n]*")
Record = Sequence[object] | Message


def decode(data: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    """The text, and which of ``ENCODINGS`` it is in; ``encoding`` says it beforehand.

    Raises:
        UsageError: none of them fits.
    """
    if encoding and encoding not in ENCODINGS:  # others exist that make any bytes of a text, or call for a program
        names = ", ".join(ENCODINGS)
        raise UsageError(said("table.no_encoding", encoding=encoding, known=names), field="--encoding")
    for codec in (encoding,) if encoding else _probable(data):
        try:
            text = data.decode("utf-8-sig" if codec == "utf-8" else codec)
        except (UnicodeError, LookupError):
            continue
        known = codec.removesuffix("-le").removesuffix("-be")
        return text.removeprefix("\ufeff"), known
    if encoding:
        raise UsageError(said("table.other_encoding", name=name, encoding=ENCODINGS[encoding]), field="--file")
    raise UsageError(said("table.encoding", name=name), field="--file")


def _probable(data: bytes) -> tuple[str, ...]:
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return ()  # UTF-32, which would read as UTF-16 with a blank between its letters
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ("utf-16",)
    head = data[:400]
    # a few zeros in what is UTF-8 all the same are slips in its cells
    if b"\0" in head and len(head) >= 4 and (head.count(0) * 4 > len(head) or not _is_utf8(data)):
        return ("utf-16-le", "utf-16-be") if head[1::2].count(0) >= head[::2].count(0) else ("utf-16-be", "utf-16-le")
    return ("utf-8", "gb18030")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def check(text: str, name: str, most_rows: int, most_columns: int, *, objects: bool) -> None:
    """Refuse what would take minutes and gigabytes to take apart, by a count that takes neither.

    Raises:
        UsageError: it has too many lines, cells in one, or values; the bound that is named is that of a table.
    """
    if text.count("\n") + text.count("\r") > MOST_TEXT_LINES:
        raise UsageError(said("table.rows", name=name, most=most_rows), field="--file")
    if objects:
        if sum(map(text.count, ",[{")) > MOST_VALUES:
            raise UsageError(said("table.rows", name=name, most=most_rows), field="--file")
        return
    for line in io.StringIO(text, newline=""):
        if len(line) > MOST_CELLS and any(line.count(sign) > MOST_CELLS for sign in DELIMITERS):
            raise UsageError(said("table.columns", name=name, most=most_columns), field="--file")


def delimiters(text: str, known: Callable[[str], bool]) -> tuple[str, str]:
    """The sign between the names of the columns, and that between the cells below them."""
    found = {sign: _widths(text[:_SAMPLE], sign, known) for sign in DELIMITERS}
    head = max(DELIMITERS, key=lambda sign: found[sign][:2])
    width = found[head][1]
    below = max(DELIMITERS, key=lambda sign: (found[sign][2].count(width) if width > 1 else 0, sign == head))
    return head, below


def _widths(text: str, sign: str, known: Callable[[str], bool]) -> tuple[int, int, list[int]]:
    """Names known in the best record, its width, and the widths of the records below it."""
    best, widths = (0, 0, 0), []
    for place, cells in enumerate(records(text, sign)):
        if place >= _TRIED:
            break
        filled = [] if isinstance(cells, Message) else [str(cell) for cell in cells]
        widths.append(len(filled))
        best = max(best, (sum(map(known, filled)), len(filled) if place == 0 else 0, -place))
    width = widths[-best[2]] if widths else 0
    return best[0], width, widths[1 - best[2] :]


def records(text: str, delimiter: str, head: str = "") -> Iterator[Record]:
    """Every record in order, empty ones too; one that is not readable as what is wrong with its first line.

    Reading goes on in the line after it, so that a quote that is never closed costs one line and not the file.
    """
    lines = _Lines(list(io.StringIO(text, newline="")))
    first = bool(head) and head != delimiter
    while lines.began < len(lines.all):
        lines.at = lines.began
        reader = csv.reader(lines, delimiter=head if first else delimiter, strict=True)
        try:
            for cells in reader:
                yield cells
                lines.began = lines.at
                if first and any(cells):
                    first = False
                    break
            else:
                return
        except csv.Error as exc:
            yield Message("sheet.csv", {"error": str(exc), "line": lines.all[lines.began].strip()[:80]})
            lines.began += 1


class _Lines:
    """Lines for a reader that may not go on for ever within one record."""

    def __init__(self, lines: list[str]) -> None:
        self.all, self.at, self.began = lines, 0, 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self.at >= len(self.all) or self.at - self.began > MOST_LINES:
            raise StopIteration
        self.at += 1
        return self.all[self.at - 1]


def objects(text: str, *, whole: bool) -> Iterator[tuple[int, dict[str, object] | Message]]:
    """The objects of a JSON-lines text with their lines, or with their places of one JSON list (``whole``)."""
    if whole and text.lstrip().startswith("["):
        yield from _of_list(text)
        return
    # only these end a line: a text inside may hold the other ends of line that Unicode knows
    for place, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if line.strip():
            yield place, _object(line)


def _of_list(text: str) -> Iterator[tuple[int, dict[str, object] | Message]]:
    try:
        found = list(_items(text))
    except (ValueError, RecursionError) as exc:
        yield 1, Message("sheet.json", {"error": _why(exc)})
        return
    for place, value in enumerate(found, start=1):
        yield place, value if isinstance(value, dict) else Message("sheet.no_object")


def _items(text: str) -> Iterator[object]:
    """The values of a JSON list one after the other, none of them longer than a line may be.

    Raises:
        ValueError: it is no JSON, or one is longer.
        RecursionError: it is nested too deeply.
    """
    at = _past_blanks(text, text.index("[") + 1)
    if text[at : at + 1] == "]":
        at += 1
    else:
        while True:
            value, at = _item(text, at)
            yield value
            at = _past_blanks(text, at)
            sign, at = text[at : at + 1], at + 1
            if sign == "]":
                break
            if sign != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at - 1)
            at = _past_blanks(text, at)
    if (end := _past_blanks(text, at)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _item(text: str, at: int) -> tuple[object, int]:
    """One value and where it ends; looked for in ever more of the text, so that a long one is not read whole."""
    size = _FIRST_LOOK
    while True:
        piece = text[at : at + size]
        whole = at + len(piece) == len(text)
        try:
            value, end = strict_json.first(piece, number=digits.of_text)
        except strict_json.Inexact:
            raise
        except json.JSONDecodeError as exc:
            if whole:
                raise json.JSONDecodeError(exc.msg, text, at + exc.pos) from exc
        else:
            if end < len(piece) or whole:  # a number may go on behind the piece
                return value, at + end
        if size >= strict_json.MAX_TEXT:
            why = f"the value that begins at character {at + 1} has more than {size} characters"
            raise ValueError(why)
        size = min(size * 8, strict_json.MAX_TEXT)


def _past_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _object(line: str) -> dict[str, object] | Message:
    try:
        value = strict_json.loads(line, number=digits.of_text)
    except (ValueError, RecursionError) as exc:
        return Message("sheet.json", {"error": _why(exc), "line": line.strip()[:80]})
    return value if isinstance(value, dict) else Message("sheet.no_object", {"line": line.strip()[:80]})


def _why(exc: Exception) -> str:
    return "nested too deeply" if isinstance(exc, RecursionError) else str(exc)[:200]
