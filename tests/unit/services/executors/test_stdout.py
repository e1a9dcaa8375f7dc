"""Lines, limits and the protocol, without any process."""

from __future__ import annotations

import functools
import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executors.stdout import (
    RESULT_LIMIT,
    BoundedLog,
    LineSplitter,
    Output,
    OutputLimits,
    Pipe,
    bounded_json,
    decode,
    pump,
)


def split(*chunks: bytes, limit: int = 100, protocol: int = 0) -> list[tuple[bytes, bool]]:
    splitter = LineSplitter(limit, protocol)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.flush()


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a\nb",), [b"a", b"b"]),
        ((b"a\r\nb\r\n",), [b"a", b"b"]),
        ((b"a\r", b"\nb"), [b"a", b"b"]),
        ((b"1%\r2%\r3%",), [b"1%", b"2%", b"3%"]),
        ((b"a", b"b", b"c\nd"), [b"abc", b"d"]),
        ((b"\n\n",), [b"", b""]),
        ((b"",), []),
    ],
)
def test_lines(chunks: tuple[bytes, ...], lines: list[bytes]) -> None:
    assert split(*chunks) == [(line, False) for line in lines]


@given(st.lists(st.binary(max_size=20).map(lambda data: data.replace(b"\r", b"")), max_size=8), st.integers(1, 7))
def test_chunks_do_not_matter(parts: list[bytes], size: int) -> None:
    data = b"\n".join(parts)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    expected = data.split(b"\n")
    assert [line for line, _ in split(*pieces, limit=10_000)] == (expected if expected[-1] else expected[:-1])


def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    assert split(b"x" * 150 + b"\nnext\n") == [(b"x" * 100, True), (b"next", False)]
    assert split(*[b"x" * 60] * 50, b"\nnext") == [(b"x" * 100, True), (b"next", False)]
    assert split(b"{" + b"x" * 150 + b"\n", protocol=200) == [(b"{" + b"x" * 150, False)]
    assert split(b"{" + b"x" * 250 + b"\n", protocol=200) == [(b"{" + b"x" * 199, True)]


def test_memory_stays_small_under_one_endless_line() -> None:
    splitter = LineSplitter(1000)
    for _ in range(1000):
        assert splitter.feed(b"x" * 65_536) == []
    ((line, cut),) = splitter.flush()
    assert (len(line), cut) == (1000, True)


def logged(limits: OutputLimits, count: int, size: int = 10) -> list[str]:
    seen: list[str] = []
    log = BoundedLog(lambda _, text: seen.append(text), limits)
    for number in range(count):
        log.add("out", str(number), size)
    log.close()
    return seen


def test_a_flood_keeps_its_beginning_and_its_end() -> None:
    limits = OutputLimits(lines=10, tail_lines=4)
    assert logged(limits, 10) == [str(number) for number in range(10)]
    assert logged(limits, 100) == [*"012345", "… 90 lines are left out here …", "96", "97", "98", "99"]


def test_a_flood_is_limited_in_bytes_too() -> None:
    limits = OutputLimits(total_bytes=100, tail_bytes=40)
    assert logged(limits, 50, 20) == ["0", "1", "2", "… 45 lines are left out here …", "48", "49"]


def output(limits: OutputLimits | None = None) -> tuple[Output, list[tuple[str, str]], list[tuple[int, str]]]:
    lines: list[tuple[str, str]] = []
    shown: list[tuple[int, str]] = []
    made = Output(lambda *line: lines.append(line), lambda *step: shown.append(step), limits or OutputLimits())
    return made, lines, shown


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (b'{"progress": 50, "note": "half"}', (50, "half")),
        (b'{"progress": 12.6}', (13, "")),
        (b'{"progress": -5, "note": 3}', (0, "")),
        (b'{"progress": 1e9}', (100, "")),
        ('{"note": "一半", "progress": 50}'.encode(), (50, "一半")),
    ],
)
def test_progress_lines(line: bytes, step: tuple[int, str]) -> None:
    made, lines, shown = output()
    made.out(line, False)
    assert (lines, shown) == ([], [step])


@pytest.mark.parametrize(
    "line",
    [
        b'{"progress": "50"}',
        b'{"progress": true}',
        b'{"progress": NaN}',
        b'{"progress"',
        b"{}",
        b"[1]",
        b'{"a": {"progress": 1}}',
        b'{"result"',
        b"{" * 1000,
    ],
)
def test_lines_that_only_look_like_the_protocol_are_log(line: bytes) -> None:
    made, lines, shown = output()
    made.out(line, False)
    assert lines == [("out", line.decode())]
    assert (shown, made.result) == ([], "")


def test_the_last_result_counts() -> None:
    made, lines, _ = output()
    made.out(b'{"result": {"n": 1}}', False)
    made.out(b"after", False)
    made.out(b'{"result": [1, 2.50, null]}', False)
    assert (json.loads(made.result), lines) == ([1, 2.5, None], [("out", "after")])


def test_of_a_result_that_is_too_long_to_be_read_the_beginning_is_kept() -> None:
    made, lines, _ = output()
    for line, cut in split(b'{ "result": {"rows": "' + b"x" * 5000 + b'"}}\n', limit=100, protocol=3000):
        made.out(line, cut)
    made.out(b'{"rows": "' + b"y" * 90, True)
    kept = json.loads(made.result)
    assert kept["text"].startswith('{"rows": "xxx')
    assert kept["longer_than_bytes"] > 2900
    assert [stream for stream, _text in lines] == ["out"]
    assert lines[0][1].startswith('{"rows": "yyy')


def test_a_result_on_stderr_is_no_result() -> None:
    made, lines, _ = output()
    made.err(b'{"result": 1}', False)
    assert (made.result, lines) == ("", [("err", '{"result": 1}')])


def test_the_error_text_is_the_end_of_stderr() -> None:
    made, _, _ = output()
    for number in range(10_000):
        made.err(f"\x1b[31mline {number}\x1b[0m".encode(), False)
    made.out(b"not this", False)
    text = made.error_text()
    assert text.endswith("line 9998\nline 9999")
    assert len(text) == 4000
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("登录过期".encode(), "登录过期"),
        ("登录过期".encode("gb18030"), "登录过期"),
        (b"\xff\xffa", "\ufffd\ufffda"),
        (b"", ""),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_a_line_cut_inside_a_character_stays_readable() -> None:
    made, lines, _ = output(OutputLimits(line_bytes=10))
    made.out("登录过期了".encode(), False)
    assert lines == [("out", "登录过…")]


class Hostile:
    def __repr__(self) -> str:
        return "<hostile>"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ({"a": Hostile()}, {"a": "<hostile>"}),
        (float("nan"), None),
        ({1: "x"}, {"1": "x"}),
    ],
)
def test_results_that_json_can_hold(value: object, expected: object) -> None:
    assert json.loads(bounded_json(value)) == expected


def test_other_results_are_kept_as_text() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert "[[...]]" in json.loads(bounded_json(endless))["text"]
    large = json.loads(bounded_json("x" * (RESULT_LIMIT + 10)))
    assert large["text"].startswith('"xxx')
    assert large["left_out_bytes"] > RESULT_LIMIT - 2100


def test_pipes_are_read_to_their_ends_whatever_one_of_them_brings() -> None:
    heard: dict[str, list[bytes]] = {"good": [], "bad": [], "late": []}
    ended = {name: threading.Event() for name in heard}
    writers: dict[str, int] = {}

    def hear(name: str, line: bytes, _cut: bool) -> None:
        heard[name].append(line)
        if name == "bad":
            raise ValueError(line)

    pipes = []
    for name in heard:
        reading, writers[name] = os.pipe()
        stream = open(reading, "rb", buffering=0)  # noqa: PTH123, SIM115 - the pump closes it
        pipes.append(Pipe(stream, LineSplitter(100), functools.partial(hear, name), ended[name].set))
    pump(*pipes)
    os.write(writers["bad"], b"no message\nnever heard\n")
    assert ended["bad"].wait(20.0)
    os.write(writers["good"], b"one\ntwo\nhalf")
    os.close(writers["good"])
    assert ended["good"].wait(20.0)
    assert not ended["late"].is_set()
    os.write(writers["late"], b"three\n")
    os.close(writers["late"])
    assert ended["late"].wait(20.0)
    os.close(writers["bad"])
    assert heard == {"good": [b"one", b"two", b"half"], "bad": [b"no message"], "late": [b"three"]}
