"""What the command line prints is UTF-8, whatever code page the machine has."""

from __future__ import annotations

import io
import sys

import pytest

from services.cli import output


def test_a_pipe_in_a_code_page_gets_utf8_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding="cp1252", newline="\n"))
    output.speak_utf8()
    output.out(["旗舰店 ✓"])
    assert pipe.getvalue().decode("utf-8") == "旗舰店 ✓\n"


#: a sign, a thin blank and dots in place of a secret are in no code page
TOLD = "旗舰店 ✓ 3\u2009分 •••\n"


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("gbk", "旗舰店 ? 3 分 ***\n"), ("gb18030", TOLD), ("utf-8", TOLD), ("ascii", TOLD)],
)
def test_a_terminal_gets_what_it_is_set_to(encoding: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(written, encoding=encoding, newline="\n"))
    output.speak_utf8()
    output.out([TOLD.rstrip()])
    assert written.getvalue().decode("utf-8" if encoding == "ascii" else encoding) == shown


def test_a_window_without_outputs_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    output.speak_utf8()
