"""Reads text files of tables: their encoding, the sign between the cells, the records; nothing is lost."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import re
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

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
#: bytes or characters for one call of the interpreter: no other thread runs meanwhile, that of the window neither
_PIECE = 512 * 1024
_BLANKS = re.compile(r"[ \t\r\n]*")
Record = Sequence[object] | Message


class Text:
    """A text that is never gone through in one call."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = tuple(pieces)
        self._ends = tuple(itertools.accumulate(map(len, self.pieces)))

    @classmethod
    def of(cls, text: str) -> Text:
        """A text that is there whole."""
        return cls(text[at : at + _PIECE] for at in range(0, len(text), _PIECE))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __contains__(self, sign: str) -> bool:
        return any(sign in piece for piece in self.pieces)

    def count(self, sign: str) -> int:
        """How often one character stands in it."""
        return sum(piece.count(sign) for piece in self.pieces)

    def find(self, sign: str) -> int:
        """Where one character stands first, -1 for nowhere."""
        found = ((piece.find(sign), end - len(piece)) for piece, end in zip(self.pieces, self._ends, strict=True))
        return next((begin + at for at, begin in found if at >= 0), -1)

    def first(self) -> str:
        """Its first character that is no blank, "" for none."""
        return next((rest[0] for piece in self.pieces if (rest := piece.lstrip())), "")

    def part(self, at: int, size: int) -> str:
        """So many characters of it."""
        place, found = bisect_right(self._ends, at), []
        while size > 0 and place < len(self.pieces):
            begin = at - (self._ends[place] - len(self.pieces[place]))
            found.append(self.pieces[place][begin : begin + size])
            at, size, place = at + len(found[-1]), size - len(found[-1]), place + 1
        return "".join(found)

    def whole(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def lines(self, ends: str = "\r\n") -> Iterator[str]:
        """Its lines with their ends, of which these are known."""
        begun: list[str] = []
        newline = "" if "\r" in ends else "\n"
        for piece in self.pieces:
            begun.append(piece)
            if any(end in piece for end in ends):
                found = list(io.StringIO("".join(begun), newline=newline))
                begun = [found.pop()]  # the next piece may go on within it, or between the two signs of its end
                yield from found
        yield from io.StringIO("".join(begun), newline=newline)


def decode(data: bytes, name: str, encoding: str = "") -> tuple[Text, str]:
    """The text, and which of ``ENCODINGS`` it is in; ``encoding`` says it beforehand.

    Raises:
        UsageError: none of them fits.
    """
    if encoding and encoding not in ENCODINGS:  # others exist that make any bytes of a text, or call for a program
        names = ", ".join(ENCODINGS)
        raise UsageError(said("table.no_encoding", encoding=encoding, known=names), field="--encoding")
    for codec in (encoding,) if encoding else _probable(data):
        try:
            pieces = list(_decoded(data, "utf-8-sig" if codec == "utf-8" else codec))
        except (UnicodeError, LookupError):
            continue
        known = codec.removesuffix("-le").removesuffix("-be")
        return Text([*(piece.removeprefix("\ufeff") for piece in pieces[:1]), *pieces[1:]]), known
    if encoding:
        raise UsageError(said("table.other_encoding", name=name, encoding=ENCODINGS[encoding]), field="--file")
    raise UsageError(said("table.encoding", name=name), field="--file")


def _decoded(data: bytes, codec: str) -> Iterator[str]:
    """Piece by piece; one that ends within a character keeps what it has of it for the next."""
    if codec == "utf-16" and data[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        codec = f"utf-16-{sys.byteorder[0]}e"  # in pieces none is read that does not say which byte comes first
    decoder = codecs.getincrementaldecoder(codec)()
    for at in range(0, len(data), _PIECE):
        yield decoder.decode(data[at : at + _PIECE])
    yield decoder.decode(b"", final=True)


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
        deque(_decoded(data, "utf-8"), maxlen=0)
    except UnicodeDecodeError:
        return False
    return True


def check(text: Text, name: str, most_rows: int, most_columns: int, *, objects: bool) -> None:
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
    for line in text.lines():
        if len(line) > MOST_CELLS and any(line.count(sign) > MOST_CELLS for sign in DELIMITERS):
            raise UsageError(said("table.columns", name=name, most=most_columns), field="--file")


def delimiters(text: Text, known: Callable[[str], bool]) -> tuple[str, str]:
    """The sign between the names of the columns, and that between the cells below them."""
    sample = Text.of(text.part(0, _SAMPLE))
    found = {sign: _widths(sample, sign, known) for sign in DELIMITERS}
    head = max(DELIMITERS, key=lambda sign: found[sign][:2])
    width = found[head][1]
    below = max(DELIMITERS, key=lambda sign: (found[sign][2].count(width) if width > 1 else 0, sign == head))
    return head, below


def _widths(text: Text, sign: str, known: Callable[[str], bool]) -> tuple[int, int, list[int]]:
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


def records(text: Text, delimiter: str, head: str = "") -> Iterator[Record]:
    """Every record in order, empty ones too; one that is not readable as what is wrong with its first line.

    Reading goes on in the line after it, so that a quote that is never closed costs one line and not the file.
    """
    lines = _Lines(text.lines())
    first = bool(head) and head != delimiter
    while lines.more():
        reader = csv.reader(lines, delimiter=head if first else delimiter, strict=True)
        try:
            for cells in reader:
                yield cells
                lines.begin()
                if first and any(cells):
                    first = False
                    break
            else:
                return
        except csv.Error as exc:
            yield Message("sheet.csv", {"error": str(exc), "line": lines.skip().strip()[:80]})


class _Lines:
    """Lines for a reader that may not go on for ever within one record, and may be read again from its second one."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._rest = lines
        self._again: deque[str] = deque()  #: what was read before, and comes first
        self._record: list[str] = []  #: lines of the record that is being read

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if len(self._record) > MOST_LINES:
            raise StopIteration
        self._record.append(self._again.popleft() if self._again else next(self._rest))
        return self._record[-1]

    def more(self) -> bool:
        """Whether there is another line; it begins a record."""
        if self._again:
            return True
        self._again.extend(itertools.islice(self._rest, 1))
        return bool(self._again)

    def begin(self) -> None:
        """The next line begins a record."""
        self._record.clear()

    def skip(self) -> str:
        """The first line of the record, which is left out: the next one begins another."""
        first, *others = self._record
        self._again.extendleft(reversed(others))
        self._record.clear()
        return first


def objects(text: Text, *, whole: bool) -> Iterator[tuple[int, dict[str, object] | Message]]:
    """The objects of a JSON-lines text with their lines, or with their places of one JSON list (``whole``)."""
    if whole and text.first() == "[":
        yield from _of_list(text)
        return
    # only these end a line: a text inside may hold the other ends of line that Unicode knows
    for place, line in enumerate(text.lines("\n"), start=1):
        if line.strip():
            yield place, _object(line.removesuffix("\n").removesuffix("\r"))


def _of_list(text: Text) -> Iterator[tuple[int, dict[str, object] | Message]]:
    try:
        found = list(_items(text))
    except (ValueError, RecursionError) as exc:
        yield 1, Message("sheet.json", {"error": _why(exc)})
        return
    for place, value in enumerate(found, start=1):
        yield place, value if isinstance(value, dict) else Message("sheet.no_object")


def _items(text: Text) -> Iterator[object]:
    """The values of a JSON list one after the other, none of them longer than a line may be.

    Raises:
        ValueError: it is no JSON, or one is longer.
        RecursionError: it is nested too deeply.
    """
    at = _past_blanks(text, text.find("[") + 1)
    if text.part(at, 1) == "]":
        at += 1
    else:
        while True:
            value, at = _item(text, at)
            yield value
            at = _past_blanks(text, at)
            sign, at = text.part(at, 1), at + 1
            if sign == "]":
                break
            if sign != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", text.whole(), at - 1)
            at = _past_blanks(text, at)
    if (end := _past_blanks(text, at)) < len(text):
        raise json.JSONDecodeError("Extra data", text.whole(), end)


def _item(text: Text, at: int) -> tuple[object, int]:
    """One value and where it ends; looked for in ever more of the text, so that a long one is not read whole."""
    size = _FIRST_LOOK
    while True:
        piece = text.part(at, size)
        whole = at + len(piece) == len(text)
        try:
            value, end = strict_json.first(piece, number=digits.of_text)
        except strict_json.Inexact:
            raise
        except json.JSONDecodeError as exc:
            if whole:
                raise json.JSONDecodeError(exc.msg, text.whole(), at + exc.pos) from exc
        else:
            if end < len(piece) or whole:  # a number may go on behind the piece
                return value, at + end
        if size >= strict_json.MAX_TEXT:
            why = f"the value that begins at character {at + 1} has more than {size} characters"
            raise ValueError(why)
        size = min(size * 8, strict_json.MAX_TEXT)


def _past_blanks(text: Text, at: int) -> int:
    while True:
        piece = text.part(at, _FIRST_LOOK)
        found = _BLANKS.match(piece)
        blanks = found.end() if found else 0
        at += blanks
        if blanks < _FIRST_LOOK:
            return at


def _object(line: str) -> dict[str, object] | Message:
    try:
        value = strict_json.loads(line, number=digits.of_text)
    except (ValueError, RecursionError) as exc:
        return Message("sheet.json", {"error": _why(exc), "line": line.strip()[:80]})
    return value if isinstance(value, dict) else Message("sheet.no_object", {"line": line.strip()[:80]})


def _why(exc: Exception) -> str:
    return "nested too deeply" if isinstance(exc, RecursionError) else str(exc)[:200]
