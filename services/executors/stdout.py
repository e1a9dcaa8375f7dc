"""What a child process prints: cut into lines, kept within limits, and read by threads that never fall behind."""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from services.domain.task import classify, own_words
from services.domain.task.record import ERROR_LIMIT

log = logging.getLogger(__name__)
CHUNK = 64 * 1024
RESULT_LIMIT = 256 * 1024  #: bytes of JSON that a record keeps as its result

_RESULT = re.compile(rb'\{\s*"result"\s*:')

Log = Callable[[str, str], None]
Progress = Callable[[int, str], None]


class OutputLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one attempt's output is kept; the rest is read and dropped."""

    line_bytes: int = 10_000
    lines: int = 5_000
    total_bytes: int = 1_000_000
    tail_lines: int = 500  #: of ``lines``, kept for the end of a flood
    tail_bytes: int = 200_000  #: of ``total_bytes``, likewise


class LineSplitter:
    """Bytes to lines ended by LF, CR or CRLF, each cut at its limit; protocol lines have a limit of their own."""

    def __init__(self, limit: int, protocol_limit: int = 0) -> None:
        self._limit, self._protocol_limit = limit, max(protocol_limit, limit)
        self._rest = bytearray()
        self._overlong = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[tuple[bytes, bool]]:
        """Lines that are complete now, each with whether it was cut."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *others = chunk.split(b"\n")
        self._extend(first)
        if not others:
            return []
        lines = [self._take()]
        for part in others[:-1]:
            self._extend(part)
            lines.append(self._take())
        self._extend(others[-1])
        return lines

    def flush(self) -> list[tuple[bytes, bool]]:
        """The last line, if it had no end."""
        return [self._take()] if self._rest else []

    def _extend(self, part: bytes) -> None:
        limit = self._protocol_limit if (self._rest or part)[:1] == b"{" else self._limit
        room = limit - len(self._rest)
        self._overlong = self._overlong or len(part) > room
        self._rest += part[: max(0, room)]

    def _take(self) -> tuple[bytes, bool]:
        line, cut = bytes(self._rest), self._overlong
        self._rest.clear()
        self._overlong = False
        return line, cut


class BoundedLog:
    """Hands lines on until the limits are reached, then keeps only the newest and hands those on at the end."""

    def __init__(self, log: Log, limits: OutputLimits) -> None:
        self._log, self._limits = log, limits
        self._lock = threading.Lock()
        self._lines_left = limits.lines - limits.tail_lines
        self._bytes_left = limits.total_bytes - limits.tail_bytes
        self._tail: collections.deque[tuple[str, str, int]] = collections.deque()
        self._tail_bytes = self._dropped = 0

    def add(self, stream: str, text: str, size: int) -> None:
        """One line of ``size`` bytes."""
        with self._lock:
            if self._lines_left > 0 and self._bytes_left >= size and not self._tail:
                self._lines_left -= 1
                self._bytes_left -= size
            else:
                self._keep(stream, text, size)
                return
        self._log(stream, text)

    def close(self) -> None:
        """Hand on what was kept of a flood, with a line that tells how much is missing."""
        with self._lock:
            tail, dropped = list(self._tail), self._dropped
            self._tail.clear()
        if dropped:
            self._log(own_words.OWN_STREAMS["err"], own_words.write("line.left_out", size=f"{dropped:,}"))
        for stream, text, _ in tail:
            self._log(stream, text)

    def _keep(self, stream: str, text: str, size: int) -> None:
        self._tail.append((stream, text, size))
        self._tail_bytes += size
        while len(self._tail) > self._limits.tail_lines or self._tail_bytes > self._limits.tail_bytes:
            self._tail_bytes -= self._tail.popleft()[2]
            self._dropped += 1


class Output:
    """Both streams of one attempt: stdout is the log or speaks the protocol, the end of stderr is the error text."""

    def __init__(
        self,
        log: Log,
        progress: Progress,
        limits: OutputLimits,
        encoding: str = "utf-8",
        artifact: Callable[[Mapping[str, Any]], bool] = lambda said: False,
    ) -> None:
        """``artifact`` takes lines that speak of a file; it says whether one really does."""
        self._log, self._artifact = BoundedLog(log, limits), artifact
        self._progress, self._limits, self._encoding = progress, limits, encoding
        self._errors: collections.deque[str] = collections.deque()
        self._error_size = 0
        self.result = ""  #: JSON of the last result line
        self.last_line = ""  #: last line of plain output

    def out(self, line: bytes, cut: bool) -> None:
        """One line of stdout."""
        if line.startswith(b"{") and not cut and self._protocol(line):
            return
        if cut and _RESULT.match(line):
            self.result = _beginning(line[line.index(b":") + 1 :], self._encoding)
            return
        if text := self._show("out", line, cut):
            self.last_line = text

    def err(self, line: bytes, cut: bool) -> None:
        """One line of stderr."""
        text = self._show("err", line, cut)
        self._errors.append(text)
        self._error_size += len(text) + 1
        while self._errors and self._error_size - len(self._errors[0]) - 1 >= 2 * ERROR_LIMIT:
            self._error_size -= len(self._errors.popleft()) + 1

    def note(self, text: str) -> None:
        """One line of log that was not printed."""
        self._log.add("out", text, len(text))

    def error_text(self) -> str:
        """The end of stderr, at most as long as a record keeps."""
        return classify.clean("\n".join(self._errors)).strip()[-ERROR_LIMIT:]

    def close(self) -> None:
        """Nothing more comes."""
        self._log.close()

    def _show(self, stream: str, line: bytes, cut: bool) -> str:
        cut = cut or len(line) > self._limits.line_bytes
        shown = line[: self._limits.line_bytes]
        text = decode(shown, self._encoding, whole=not cut).rstrip()
        if text:
            self._log.add(stream, f"{text}…" if cut else text, len(shown))
        return text

    def _protocol(self, line: bytes) -> bool:
        """Obey a progress, artifact or result line; False for a line that only looks like one."""
        if b'"progress"' not in line and b'"result"' not in line and b'"artifact"' not in line:
            return False
        try:
            said = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            said = _decoded(line, self._encoding)
        if not isinstance(said, dict):
            return False
        if "result" in said:
            self.result = bounded_json(said["result"])
            return True
        if "artifact" in said:
            return self._artifact(said)
        percent = said.get("progress")
        if isinstance(percent, bool) or not isinstance(percent, int | float):
            return False
        note = said.get("note", "")
        self._progress(round(min(100.0, max(0.0, percent))), note if isinstance(note, str) else "")
        return True


class Pipe:
    """One pipe of a child, read to its end and closed; ``on_end`` is called last."""

    def __init__(
        self, stream: Any, splitter: LineSplitter, line: Callable[[bytes, bool], None], on_end: Callable[[], None]
    ) -> None:
        self._stream, self._splitter, self._line, self._on_end = stream, splitter, line, on_end
        self.number: int = stream.fileno()
        self.whole = False  #: all that was ever written to it has been handed on

    def take(self) -> bool:
        """Wait for the next bytes and hand their lines on; False at the end."""
        try:
            chunk = os.read(self.number, CHUNK)
            for line, cut in self._splitter.feed(chunk) if chunk else self._splitter.flush():
                self._line(line, cut)
            self.whole = not chunk
        except OSError:  # the pipe was taken away: nothing more to read
            return False
        except Exception:  # what one pipe brings must not leave the others unread
            log.exception("what a child printed")
            return False
        return bool(chunk)

    def leave(self) -> None:
        """Close it."""
        with contextlib.suppress(OSError):
            self._stream.close()
        self._on_end()


class Pump(threading.Thread):
    """Reads pipes until nobody can write to them any more, each as soon as it has something: one thread that is woken
    once for what a child writes to all of them.
    """

    def __init__(self, *pipes: Pipe) -> None:
        super().__init__(name="child-output", daemon=True)
        self._pipes = pipes

    def run(self) -> None:
        """Read them to their ends."""
        if len(self._pipes) == 1:
            _read(self._pipes[0])
        else:
            _read_all(self._pipes)


def pump(*pipes: Pipe) -> None:
    """Begin to read them: in one thread, on Windows in one for each, where nobody can wait for several pipes."""
    for together in [(pipe,) for pipe in pipes] if sys.platform == "win32" else [pipes]:
        Pump(*together).start()


def _read(pipe: Pipe) -> None:
    while pipe.take():
        pass
    pipe.leave()


def _read_all(pipes: Sequence[Pipe]) -> None:
    if sys.platform == "win32":
        return
    left = {pipe.number: pipe for pipe in pipes}
    ready = select.poll()
    for number in left:
        ready.register(number, select.POLLIN)
    while left:
        for number, _ in ready.poll():
            if not left[number].take():
                ready.unregister(number)
                left.pop(number).leave()


def decode(data: bytes, encoding: str = "utf-8", *, whole: bool = True) -> str:
    """Text of a line; ``whole`` ones are tried as GBK too, which Chinese programs on Windows often print."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        if not whole:
            return data.decode(encoding, "ignore")
    try:
        return data.decode("gb18030")
    except UnicodeDecodeError:
        return data.decode(encoding, "replace")


def _decoded(line: bytes, encoding: str) -> object:
    """A protocol line in another encoding than that of JSON; None for one that is no JSON at all."""
    try:
        return msgspec.json.decode(decode(line, encoding))
    except (msgspec.DecodeError, RecursionError):
        return None


def _beginning(line: bytes, encoding: str) -> str:
    """JSON that stands for a result whose end was left out: the work was done, and it must not look like none."""
    shown = decode(line[: ERROR_LIMIT // 2], encoding, whole=False).strip()
    return msgspec.json.encode({"text": shown, "longer_than_bytes": len(line)}).decode()


def bounded_json(value: object) -> str:
    """JSON of a result; what is no JSON or too large is kept as text, for the work itself was done."""
    try:
        body = msgspec.json.encode(value, enc_hook=repr)
    except (TypeError, ValueError, RecursionError, OverflowError) as exc:
        body = msgspec.json.encode({"text": repr(value)[: ERROR_LIMIT // 2], "not_json": str(exc)[:200]})
    if len(body) > RESULT_LIMIT:
        shown = body[: ERROR_LIMIT // 2].decode("utf-8", "ignore")
        body = msgspec.json.encode({"text": shown, "left_out_bytes": len(body) - len(shown.encode())})
    return body.decode()
